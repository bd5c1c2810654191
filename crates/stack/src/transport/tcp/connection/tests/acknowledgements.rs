//! When acknowledgements leave, and what they carry.

use super::*;
use crate::hooks::Congestion;
use crate::packet::Form;
use crate::transport::congestion::JtcpConfig;

/// As the laws for Linux: the times of the first segment acknowledged and of the acknowledgement, without an option.
#[test]
fn timestamps_tell_a_law_of_jitter_and_count_the_time_for_which_an_acknowledgement_waits() {
    let ratio = |ack_every| {
        let law = LawConfig::Jtcp(JtcpConfig { header: Form::Timestamps, ..JtcpConfig::default() });
        let parts = Parts::new(RecoveryKind::Sack, law);
        let config = Config { parts, ack_every, tick: Span::ZERO, nagle: false, ..modern() };
        let mut pair = Pair::new(&config);
        pair.open();
        pair.run(Span::from_millis(100));
        pair.write(CLIENT, 3_000);
        pair.run(Span::from_secs(1));
        assert!(pair.log.iter().all(|(.., segment)| segment.options.extension.is_none()));
        let sender = pair.ends[CLIENT].sender();
        sender.law().jitter(sender.window()).expect("a law that measures it").ratio
    };
    // All three leave and arrive together. With pairs, the third waits for 40 ms.
    assert_eq!([1, 2].map(ratio), [0.0, 1.0]);
}

/// When the acknowledgement of one segment leaves that arrives at this time, in microseconds.
fn acknowledged_at(config: &Config, arrives_us: u64) -> u64 {
    let mut pair = Pair::new(config);
    pair.open();
    pair.run(Span::from_millis(100));
    pair.now = Time(arrives_us * 1000 - ONE_WAY.0);
    pair.write(CLIENT, 1_000);
    pair.run(Span::from_secs(1));
    let (at, ..) = pair.log.iter().rev().find(|(_, side, _)| *side == SERVER).expect("it acknowledges");
    at.0 / 1000
}

#[test]
fn an_acknowledgement_waits_to_the_tick_after_its_time() {
    let left = |tick_ms, arrives_us| {
        let ack_tick = Span::from_millis(tick_ms);
        acknowledged_at(&Config { ack_every: 2, nagle: false, ack_tick, ..modern() }, arrives_us)
    };
    assert_eq!([200_000, 201_500].map(|at| left(0, at)), [240_000, 241_500]);
    assert_eq!([200_000, 201_500].map(|at| left(4, at)), [244_000, 244_000]);
}

#[test]
fn after_a_gap_longer_than_its_timeout_a_receiver_acknowledges_at_once_again() {
    let waits = |again, gap_ms| {
        let config =
            Config { ack_every: 2, quick_acks: 2, quick_acks_again: again, nagle: false, ..modern() };
        let mut pair = Pair::new(&config);
        pair.open();
        pair.run(Span::from_millis(100));
        pair.write(CLIENT, 4_000);
        pair.run(Span::from_millis(100));
        let before = pair.now.after(Span::from_millis(gap_ms));
        pair.now = before;
        pair.write(CLIENT, 1_000);
        pair.run(Span::from_secs(2));
        let (at, ..) =
            pair.log.iter().rev().find(|(_, side, _)| *side == SERVER).expect("an acknowledgement");
        at.since(before) > ONE_WAY
    };
    // A round trip of 20 ms gives a timeout of 200 ms or more.
    assert_eq!([waits(false, 900), waits(true, 100), waits(true, 900)], [true, true, false]);
}

#[test]
fn acknowledgements_ride_on_data_that_goes_the_other_way() {
    let config = Config { ack_every: 2, ..modern() };
    let mut pair = Pair::new(&config);
    pair.open();
    pair.run(Span::from_millis(100));
    pair.write(CLIENT, 1_000);
    // The answer leaves while the acknowledgement is held back.
    pair.now = pair.now.after(Span::from_millis(15));
    while pair.ends[SERVER].receiver().in_order() < 1_000 {
        assert!(pair.step());
    }
    pair.write(SERVER, 500);
    pair.run(Span::from_secs(1));
    let server = pair.sent_by(SERVER);
    let answer = server.iter().find(|segment| segment.len == 500).expect("the answer");
    assert_eq!(answer.ack, pair.ends[CLIENT].iss.plus(1).plus(1_000));
    assert_eq!(server.len(), 2, "the SYN and the answer alone");
}

#[test]
fn a_held_acknowledgement_leaves_when_its_timer_fires() {
    let config = Config { ack_every: 2, ack_delay: Span::from_millis(40), ..modern() };
    let mut pair = Pair::new(&config);
    pair.open();
    pair.run(Span::from_millis(100));
    pair.write(CLIENT, 1_000);
    let sent = pair.now;
    pair.run(Span::from_secs(1));
    let (time, ..) = pair.log.last().expect("an acknowledgement");
    assert_eq!(*time, sent.after(ONE_WAY).after(Span::from_millis(40)));
}

#[test]
fn acknowledgements_of_what_is_beyond_a_hole_wait_for_each_other_from_the_fourth_on() {
    let counts = [Span::ZERO, Span::from_millis(1)].map(|sack_wait| {
        let config = Config { quick_acks: 0, sack_wait, ..modern() };
        let mut pair = Pair::new(&config);
        pair.lost[CLIENT] = vec![3];
        pair.open();
        pair.write(CLIENT, 10_000);
        pair.run(Span::from_millis(70));
        let sent = |pair: &Pair| {
            let acks: Vec<_> = pair.log.iter().filter(|(_, side, _)| *side == SERVER).collect();
            let blocks = acks.iter().filter(|(.., segment)| !segment.options.sack.is_empty());
            blocks.map(|(at, _, segment)| (*at, segment.options.sack.as_slice()[0].1)).collect::<Vec<_>>()
        };
        let acks = sent(&pair);
        let [.., before, last] = acks[..] else { panic!("{acks:?}") };
        (acks.len(), last.1, last.0.since(before.0))
    });
    let [(many, all, _), (few, end, waited)] = counts;
    assert_eq!((many, few), (6, 5), "one that shows the hole, three more, and one for all others");
    assert_eq!((end, waited), (all, Span::from_millis(1)));
}

#[test]
fn repeated_acknowledgements_advertise_one_window_even_when_data_was_just_read() {
    // A window that moved between them would make them window updates, not duplicates (RFC 5681, 2).
    let config = Config { timestamps: false, sack: false, ack_every: 1, ..modern() };
    let mut pair = Pair::new(&config);
    pair.lost[CLIENT] = vec![3];
    pair.open();
    pair.write(CLIENT, 8_000);
    pair.run(Span::from_millis(95));
    let acks = pair.sent_by(SERVER);
    let repeated: Vec<&Segment> = acks.iter().filter(|segment| segment.ack == acks[2].ack).collect();
    assert!(repeated.len() >= 3, "{}", repeated.len());
    assert!(repeated.iter().all(|segment| segment.window == repeated[0].window));
}

#[test]
fn data_without_an_acknowledgement_is_dropped() {
    let mut pair = Pair::new(&modern());
    pair.open();
    pair.write(CLIENT, 1_000);
    pair.run(Span::from_secs(1));
    let Segment { seq, src_port, dst_port, .. } = *pair.sent_by(CLIENT).last().expect("sent");
    for (flags, received) in [(Flags::PSH, 1_000), (Flags::PSH.with(Flags::ACK), 1_500)] {
        let ack = pair.ends[SERVER].iss.plus(1);
        let seq = seq.plus(1_000);
        let segment = Segment { src_port, dst_port, seq, ack, flags, len: 500, ..Segment::default() };
        let packet = Packet::new(NodeId(0), NodeId(1), Body::Tcp(segment));
        pair.with(SERVER, |end, now, out| end.up(&packet, now, out));
        assert_eq!(pair.ends[SERVER].receiver().in_order(), received);
    }
}

#[test]
fn timestamps_are_learnt_from_every_segment_but_not_from_beyond_a_hole() {
    let config = Config { ack_every: 1, ..modern() };
    let mut pair = Pair::new(&config);
    pair.lost[CLIENT] = vec![6];
    pair.open();
    pair.write(CLIENT, 40_000);
    pair.run(Span::from_millis(100));
    let echoes: Vec<u32> = pair
        .sent_by(CLIENT)
        .iter()
        .filter_map(|segment| segment.options.timestamps)
        .map(|stamps| stamps.echo)
        .collect();
    assert!(echoes.last() > echoes.get(2), "pure acknowledgements carry news too: {echoes:?}");
    let acks = pair.sent_by(SERVER);
    let hole = acks.iter().find(|ack| !ack.options.sack.is_empty()).expect("a hole").ack;
    let repeated: Vec<u32> = acks
        .iter()
        .filter(|ack| ack.ack == hole)
        .filter_map(|ack| ack.options.timestamps)
        .map(|stamps| stamps.echo)
        .collect();
    assert!(repeated.len() > 2 && repeated.iter().all(|echo| *echo == repeated[0]), "{repeated:?}");
}

#[test]
fn an_outdated_timestamp_gives_way_to_any() {
    // A clock of microseconds advances by half its range in 36 minutes.
    let config = Config { tick: Span::ZERO, ..modern() };
    let mut pair = Pair::new(&config);
    pair.open();
    pair.write(CLIENT, 1_000);
    pair.run(Span::from_secs(1));
    pair.now = Time(2_400 * 1_000_000_000);
    pair.write(CLIENT, 5_000);
    pair.run(Span::from_secs(2_401));
    let srtt = pair.ends[CLIENT].sender().rtt().srtt().expect("a sample");
    assert!(srtt < Span::from_millis(100), "{srtt:?}");
}
