//! How a connection begins and ends, and begins again.

use super::*;

#[test]
fn the_handshake_takes_three_segments_and_negotiates_the_options() {
    let mut pair = Pair::new(&modern());
    pair.open();
    pair.run(Span::from_secs(1));
    let flags: Vec<Flags> = pair.log.iter().map(|line| line.2.flags).collect();
    assert_eq!(flags, [Flags::SYN, Flags::SYN.with(Flags::ACK), Flags::ACK]);
    assert_eq!(pair.ends.each_ref().map(Connection::state), [State::Established; 2]);
    let syn = pair.log[0].2.options;
    assert!(syn.sack_permitted && syn.timestamps.is_some() && syn.mss == Some(1000));
    assert_eq!(syn.window_scale, Some(modern().window_scale_shift()));
    assert_eq!(pair.ends[CLIENT].sender().rtt().srtt(), Some(Span::from_millis(20)));
}

#[test]
fn the_windows_of_syn_segments_are_not_scaled() {
    let mut pair = Pair::new(&modern());
    pair.open();
    pair.run(Span::from_secs(1));
    let windows: Vec<u16> = pair.log.iter().map(|line| line.2.window).collect();
    assert_eq!(windows[..2], [u16::MAX; 2]);
    let (buffer, shift) = (modern().receive_buffer_bytes(), modern().window_scale_shift());
    assert_eq!(u64::from(windows[2]), buffer >> shift);
}

#[test]
fn an_option_that_one_side_lacks_is_used_by_neither() {
    let mut pair = Pair::new(&modern());
    pair.ends[SERVER].timestamps = false;
    pair.ends[SERVER].sack = false;
    pair.open();
    pair.write(CLIENT, 3_000);
    pair.run(Span::from_secs(1));
    let later = &pair.log[2..];
    assert!(later.iter().all(|line| line.2.options.timestamps.is_none()));
    assert!(!pair.ends[CLIENT].sack && !pair.ends[CLIENT].timestamps);
}

#[test]
fn a_lost_syn_is_sent_again_after_the_initial_timeout_and_leaves_a_window_of_one() {
    let mut pair = Pair::new(&modern());
    pair.lost[CLIENT] = vec![0];
    pair.open();
    pair.write(CLIENT, 10_000);
    pair.run(Span::from_millis(1_022));
    assert_eq!(pair.log[1].0, Time(1_000_000_000));
    assert_eq!(pair.ends[CLIENT].sender().window().cwnd, 1.0);
    // RFC 6298 (5.7): data starts with a timeout of three seconds.
    assert_eq!(pair.ends[CLIENT].sender().rtt().rto(), Span::from_secs(3));
}

#[test]
fn a_lost_end_of_the_handshake_is_made_good_by_the_first_data() {
    let mut pair = Pair::new(&modern());
    pair.lost[CLIENT] = vec![1];
    pair.open();
    pair.write(CLIENT, 2_500);
    pair.close(CLIENT);
    pair.run(Span::from_secs(10));
    assert!(pair.ends[CLIENT].is_done() && pair.ends[SERVER].is_done());
    assert_eq!(pair.ends[SERVER].receiver().in_order(), 2_500);
}

#[test]
fn the_fin_rides_on_the_last_segment_and_both_sides_close() {
    let mut pair = Pair::new(&modern());
    pair.open();
    pair.write(CLIENT, 1_500);
    pair.close(CLIENT);
    pair.run(Span::from_secs(5));
    let data: Vec<Segment> = pair.sent_by(CLIENT).into_iter().filter(|segment| segment.len > 0).collect();
    assert!(!data[0].flags.has(Flags::FIN) && data[1].flags.has(Flags::FIN.with(Flags::PSH)));
    assert!(pair.ends[CLIENT].is_done() && pair.ends[SERVER].is_done());
    assert!(pair.sides.iter().all(|side| side.retransmit.is_none() && side.delayed_ack.is_none()));
}

#[test]
fn a_reset_ends_the_connection() {
    let mut pair = Pair::new(&modern());
    pair.open();
    pair.write(CLIENT, 10_000);
    pair.run(Span::from_millis(25));
    let segment = Segment { flags: Flags::RST, ..Segment::default() };
    let packet = Packet::new(NodeId(1), NodeId(0), Body::Tcp(segment));
    pair.with(CLIENT, |end, now, out| end.up(&packet, now, out));
    assert_eq!(pair.ends[CLIENT].state(), State::Closed);
    assert_eq!(pair.sides[CLIENT].retransmit, None);
}

#[test]
fn a_stopped_application_forgets_what_it_had_not_sent() {
    let mut pair = Pair::new(&modern());
    pair.open();
    pair.write(CLIENT, 1_000_000);
    pair.run(Span::from_millis(25));
    pair.with(CLIENT, Connection::stop);
    pair.run(Span::from_secs(5));
    assert!(pair.ends[SERVER].is_done());
    assert!(pair.ends[SERVER].receiver().in_order() < 20_000);
}

#[test]
fn an_end_that_was_made_anew_is_like_a_new_one_but_for_what_it_has_counted() {
    let config = Config { timestamps: true, sack: true, ..Profile::Modern.config() };
    let mut pair = Pair::new(&config);
    pair.lost[CLIENT] = vec![4, 9];
    pair.ends[SERVER].close_after_peer();
    pair.open();
    pair.write(CLIENT, 100_000);
    pair.close(CLIENT);
    while pair.step() {}
    assert!(pair.ends.iter().all(Connection::is_done));
    let counted = pair.ends[CLIENT].counters(pair.now);
    assert!(counted.retransmits > 0 && counted.rtt_samples > 0, "{counted:?}");
    let iss = SeqNo(77);
    for (side, role) in [(CLIENT, Role::Passive), (SERVER, Role::Active)] {
        let other = 1 - side;
        let [near, far] = [side, other].map(|side| (NodeId(side as u32), 3000 + side as u16));
        let mut end = pair.ends[side].clone();
        end.renew(role, (near.1, far.1), iss);
        assert_eq!(end.counters(Time::ZERO).segments_sent, pair.ends[side].counters(pair.now).segments_sent);
        let mut fresh = Connection::new(&config, role, near, far, iss);
        fresh.acks_sent = end.acks_sent();
        fresh.closes_on_eof = end.closes_on_eof;
        let show = |end: &Connection| {
            let text = format!("{end:?}");
            let from = text.find("limits: ").expect("the limits of the sender, before its counters");
            let counters = from + text[from..].find("counters: ").expect("its counters");
            let to = counters + text[counters..].find('}').expect("their end");
            format!("{}{}", &text[..from], &text[to..])
        };
        assert_eq!(show(&end), show(&fresh));
    }
}
