//! ECN, clause by clause of RFC 3168 (6.1).

use super::*;
use crate::registry::CongestionKind;
use crate::transport::tcp::EcnMode;

/// Both ends use ECN; each segment is acknowledged, and a window of four is in avoidance.
fn classic() -> Config {
    Config {
        parts: Parts::new(RecoveryKind::NewReno, LawConfig::Reno(())),
        ecn: EcnMode::Classic,
        initial_ssthresh: Some(4.0),
        ack_every: 1,
        timestamps: false,
        sack: false,
        nagle: false,
        limited_transmit: false,
        window_validation: false,
        ..modern()
    }
}

/// A connection that is open and has nothing to send: its SYN and the third packet of the handshake are the segments 0
/// and 1 of the client.
fn open(config: &Config) -> Pair {
    let mut pair = Pair::new(config);
    pair.open();
    pair.run(Span::from_millis(100));
    assert_eq!(pair.sent_by(CLIENT).len(), 2);
    pair
}

fn flags(pair: &Pair, side: usize) -> Vec<Flags> {
    pair.sent_by(side).iter().map(|segment| segment.flags.without(Flags::PSH)).collect()
}

fn fields(pair: &Pair, side: usize) -> Vec<Ecn> {
    let of = pair.log.iter().zip(&pair.fields).filter(|(line, _)| line.1 == side);
    of.map(|(_, ecn)| *ecn).collect()
}

fn cwnd(pair: &Pair) -> f64 {
    pair.ends[CLIENT].sender().window().cwnd
}

fn answered(pair: &mut Pair) -> u64 {
    pair.ends[CLIENT].counters(pair.now).marks_answered
}

const ECHO: Flags = Flags(Flags::ACK.0 | Flags::ECE.0);
const REDUCED: Flags = Flags(Flags::ACK.0 | Flags::CWR.0);

#[test]
fn the_syn_has_both_flags_and_the_answer_ece_alone() {
    // RFC 3168 (6.1.1): ECN-setup SYN and SYN-ACK; neither is ECN-capable in its IP header.
    let pair = open(&classic());
    let setup = Flags::SYN.with(Flags::ECE).with(Flags::CWR);
    assert_eq!(flags(&pair, CLIENT), [setup, Flags::ACK]);
    assert_eq!(flags(&pair, SERVER), [Flags::SYN.with(Flags::ACK).with(Flags::ECE)]);
    assert!(pair.fields.iter().all(|ecn| *ecn == Ecn::NotEct));
}

#[test]
fn what_one_end_does_not_offer_is_not_used() {
    for mute in [CLIENT, SERVER] {
        let off = Config { ecn: EcnMode::Off, ..classic() };
        let mut pair = Pair::new(&classic());
        let (role, address) = ([Role::Active, Role::Passive][mute], [(NodeId(0), 1000), (NodeId(1), 2000)]);
        pair.ends[mute] = Connection::new(&off, role, address[mute], address[1 - mute], SeqNo(7));
        pair.open();
        pair.run(Span::from_millis(100));
        pair.write(CLIENT, 3_000);
        pair.write(SERVER, 3_000);
        pair.run(Span::from_secs(1));
        assert_eq!(pair.ends[CLIENT].receiver().in_order(), 3_000);
        assert_eq!(flags(&pair, SERVER)[0], Flags::SYN.with(Flags::ACK));
        assert!(pair.fields.iter().all(|ecn| *ecn == Ecn::NotEct));
    }
}

#[test]
fn a_syn_ack_with_both_flags_is_not_an_answer_to_the_offer() {
    // RFC 3168 (6.1.1): broken hosts reflect the reserved bits of a SYN.
    let mut pair = Pair::new(&classic());
    pair.open();
    pair.with(SERVER, |_, _, out| out.wire.clear());
    let reflected = Flags::SYN.with(Flags::ACK).with(Flags::ECE).with(Flags::CWR);
    let ack = pair.ends[CLIENT].iss.plus(1);
    let segment = Segment {
        src_port: 2000,
        dst_port: 1000,
        ack,
        flags: reflected,
        window: 9_000,
        ..Segment::default()
    };
    let packet = Packet::new(NodeId(1), NodeId(0), Body::Tcp(segment));
    pair.with(CLIENT, |end, now, out| {
        end.up(&packet, now, out);
        end.write(1_000, now, out);
    });
    let sent: Vec<Ecn> = pair.sides[CLIENT].wire.iter().map(|(_, packet)| packet.ecn).collect();
    assert_eq!(sent, [Ecn::NotEct; 3]);
}

#[test]
fn data_is_capable_and_its_acknowledgement_is_not() {
    // RFC 3168 (6.1.2, 6.1.4).
    let mut pair = open(&classic());
    pair.write(CLIENT, 2_000);
    pair.run(Span::from_secs(1));
    assert_eq!(fields(&pair, CLIENT)[2..], [Ecn::Ect0, Ecn::Ect0]);
    assert_eq!(fields(&pair, SERVER)[1..], [Ecn::NotEct, Ecn::NotEct]);
}

#[test]
fn a_mark_is_echoed_until_cwr_and_halves_the_window_once() {
    let mut pair = open(&classic());
    // The second of the first four segments is marked.
    pair.marked[CLIENT] = vec![3];
    pair.write(CLIENT, 12_000);
    pair.run(Span::from_secs(1));
    // RFC 3168 (6.1.3): the echo begins with the acknowledgement of the marked segment, and ends with that of the first
    // new one after the reduction, which carries CWR (6.1.2). It is the sixth: the fifth left at the first
    // acknowledgement.
    let (client, server) = (flags(&pair, CLIENT), flags(&pair, SERVER));
    let carriers: Vec<usize> = (0..client.len()).filter(|number| client[*number] == REDUCED).collect();
    assert_eq!(carriers, [7]);
    assert_eq!(server[1..8], [Flags::ACK, ECHO, ECHO, ECHO, ECHO, Flags::ACK, Flags::ACK]);
    assert_eq!(answered(&mut pair), 1);
    assert_eq!(pair.ends[CLIENT].counters(pair.now).all_again(), 0, "nothing is sent again");
}

#[test]
fn the_window_falls_to_half_of_the_flight_and_does_not_grow_at_an_echo() {
    let mut pair = open(&classic());
    pair.marked[CLIENT] = vec![2];
    pair.write(CLIENT, 100_000);
    while answered(&mut pair) == 0 {
        assert!(pair.step());
    }
    // RFC 3168 (6.1.2): as for a loss: half of the four outstanding, with the acknowledged one; and no growth.
    let window = *pair.ends[CLIENT].sender().window();
    assert_eq!((window.cwnd, window.ssthresh), (2.0, 2.0));
    for _ in 0..3 {
        assert!(pair.step());
    }
    assert_eq!(cwnd(&pair), 2.0, "three more echoes");
}

#[test]
fn marks_of_two_windows_are_answered_twice() {
    let mut pair = open(&classic());
    // Segments 2 to 5 are the first window. At the first acknowledgement the window falls to two; 6 leaves when two
    // are left of it, with CWR, and is marked itself: another window.
    pair.marked[CLIENT] = vec![2, 3, 4, 5, 6];
    pair.write(CLIENT, 20_000);
    pair.run(Span::from_secs(1));
    assert_eq!(answered(&mut pair), 2);
    let carriers: Vec<usize> =
        (0..).zip(flags(&pair, CLIENT)).filter(|(_, flags)| *flags == REDUCED).map(|it| it.0).collect();
    assert_eq!(carriers.len(), 2);
    // RFC 3168 (6.1.3): marked and with CWR, it keeps the echo up.
    assert_eq!(carriers[0], 6);
    assert_eq!(flags(&pair, SERVER)[5], ECHO);
}

#[test]
fn what_is_sent_again_is_not_capable_and_the_first_new_segment_after_it_has_cwr() {
    let mut pair = open(&classic());
    pair.lost[CLIENT] = vec![3];
    pair.write(CLIENT, 20_000);
    pair.run(Span::from_secs(2));
    assert_eq!(pair.ends[CLIENT].counters(pair.now).fast_retransmits, 1);
    let sent = pair.sent_by(CLIENT);
    let lost = sent[3].seq;
    let again = (0..sent.len()).rfind(|number| sent[*number].seq == lost).expect("it was sent again");
    // RFC 3168 (6.1.5): not ECN-capable, and without CWR; (6.1.2): CWR after a reduction for any reason.
    assert!(again > 3);
    assert_eq!((fields(&pair, CLIENT)[again], sent[again].flags.has(Flags::CWR)), (Ecn::NotEct, false));
    let carriers: Vec<usize> = (2..sent.len()).filter(|number| sent[*number].flags.has(Flags::CWR)).collect();
    assert_eq!(carriers.len(), 1);
    let first_new = (again + 1..sent.len()).find(|number| fields(&pair, CLIENT)[*number] == Ecn::Ect0);
    assert_eq!(first_new, Some(carriers[0]));
}

#[test]
fn a_loss_in_a_window_whose_mark_was_answered_reduces_nothing_more() {
    // RFC 3168 (6.1.2): once in response to a series of dropped and marked packets of one window. Without proportional rate
    // reduction the window within the recovery is the law's.
    let newreno_counts = false;
    let config = Config { initial_window: 8, initial_ssthresh: Some(8.0), newreno_counts, ..classic() };
    let mut pair = open(&config);
    // The first of eight is marked: half of them is left. The fifth is lost, which the last three indicate, with four
    // outstanding.
    (pair.marked[CLIENT], pair.lost[CLIENT]) = (vec![2], vec![6]);
    pair.write(CLIENT, 60_000);
    while pair.ends[CLIENT].counters(pair.now).fast_retransmits == 0 {
        assert!(pair.step());
    }
    assert_eq!((cwnd(&pair), answered(&mut pair)), (4.0, 1));
    pair.run(Span::from_secs(3));
    assert_eq!(pair.ends[SERVER].receiver().in_order(), 60_000);
}

#[test]
fn an_echo_after_a_loss_of_the_same_window_is_not_answered() {
    // The first of eight is lost, the others are marked: the third duplicate halves the window, and echoes nothing new.
    let config = Config { initial_window: 8, initial_ssthresh: Some(8.0), ..classic() };
    let mut pair = open(&config);
    pair.lost[CLIENT] = vec![2];
    pair.marked[CLIENT] = vec![9];
    pair.write(CLIENT, 60_000);
    pair.run(Span::from_secs(3));
    assert_eq!((answered(&mut pair), pair.ends[CLIENT].counters(pair.now).fast_retransmits), (0, 1));
}

#[test]
fn an_echo_at_a_window_of_one_segment_withholds_new_data_until_the_timer_expires() {
    // RFC 3168 (6.1.2).
    let config = Config { initial_window: 1, initial_ssthresh: Some(1.0), ..classic() };
    let mut pair = open(&config);
    pair.marked[CLIENT] = vec![2];
    pair.write(CLIENT, 3_000);
    pair.run(Span::from_secs(3));
    let data: Vec<u64> = pair
        .log
        .iter()
        .filter(|line| line.1 == CLIENT && line.2.len > 0)
        .map(|line| line.0.0 / 1_000_000)
        .collect();
    // The first leaves at 30 ms, its echo comes at 50 ms, and the least timeout is 200 ms.
    assert_eq!(data[..2], [30, 250]);
    let counters = pair.ends[CLIENT].counters(pair.now);
    assert_eq!((counters.timeouts, counters.all_again(), counters.marks_answered), (0, 0, 1));
    assert_eq!(pair.ends[SERVER].receiver().in_order(), 3_000);
}

#[test]
fn marks_bring_the_window_to_one_segment_where_it_then_waits_and_to_two_as_in_linux() {
    // RFC 3168 (6.1.2); RFC 9438 (4.6); all data is marked.
    let laws = ["reno", "cubic", "veno", "vegas", "westwood", "westwood-plus", "dctcp"];
    for law in laws.map(|name| CongestionKind::named(name).expect("a law")) {
        for (mark_floor, least) in [(1, 1.0), (2, 2.0)] {
            let parts = Parts::new(RecoveryKind::NewReno, law.config());
            let mut pair = open(&Config { parts, mark_floor, cubic_as_linux: mark_floor == 2, ..classic() });
            pair.marked[CLIENT] = (2..200).collect();
            pair.write(CLIENT, 50_000);
            pair.run(Span::from_secs(4));
            let window = *pair.ends[CLIENT].sender().window();
            assert!((least..least + 1.0).contains(&window.cwnd), "{law:?}: {window:?}");
        }
    }
}

#[test]
fn probes_and_a_fin_alone_are_not_capable() {
    // RFC 3168 (6.1.6) on probes; a FIN without data is not a data packet.
    let config = Config { receive_buffer: Some(2_000), ..classic() };
    let mut pair = open(&config);
    pair.with(SERVER, |end, _, _| end.read_by_hand());
    pair.write(CLIENT, 4_000);
    pair.run(Span::from_secs(2));
    let (sent, ecn) = (pair.sent_by(CLIENT), fields(&pair, CLIENT));
    assert!(sent.len() > 4, "the window is closed after two segments, and probed");
    assert_eq!(ecn[2..5], [Ecn::Ect0, Ecn::Ect0, Ecn::NotEct]);
    let mut pair = open(&classic());
    pair.close(CLIENT);
    pair.run(Span::from_secs(1));
    assert!(pair.sent_by(CLIENT)[2].flags.has(Flags::FIN));
    assert_eq!(fields(&pair, CLIENT)[2], Ecn::NotEct);
}

#[test]
fn a_mark_beyond_the_window_or_on_what_was_received_before_is_ignored() {
    // RFC 3168 (6.1.5).
    let mut pair = open(&classic());
    pair.write(CLIENT, 1_000);
    pair.run(Span::from_secs(1));
    let Some(segment) = pair.sent_by(CLIENT).pop() else { panic!("a segment") };
    let far = Segment { seq: segment.seq.plus(1 << 30), ..segment };
    for (segment, flags) in [(segment, Flags::ACK), (far, Flags::ACK)] {
        let packet = Packet { ecn: Ecn::Ce, ..Packet::new(NodeId(0), NodeId(1), Body::Tcp(segment)) };
        pair.with(SERVER, |end, now, out| end.up(&packet, now, out));
        let answer = pair.sides[SERVER].wire.pop_back().map(|sent| sent.1.body);
        assert!(matches!(answer, Some(Body::Tcp(answer)) if answer.flags == flags), "{answer:?}");
    }
}

#[test]
fn a_reopened_connection_negotiates_again_and_echoes_nothing_of_the_last() {
    let mut pair = open(&classic());
    pair.marked[CLIENT] = vec![2];
    pair.write(CLIENT, 1_000);
    pair.close(CLIENT);
    pair.run(Span::from_secs(1));
    for (side, role) in [(CLIENT, Role::Active), (SERVER, Role::Passive)] {
        pair.with(side, |end, _, _| end.renew(role, [(1001, 2001), (2001, 1001)][side], SeqNo(5)));
    }
    let before = pair.sent_by(CLIENT).len();
    pair.with(CLIENT, Connection::open);
    pair.run(Span::from_secs(2));
    pair.write(CLIENT, 1_000);
    pair.run(Span::from_secs(3));
    let setup = Flags::SYN.with(Flags::ECE).with(Flags::CWR);
    assert_eq!(flags(&pair, CLIENT)[before], setup);
    assert_eq!(fields(&pair, CLIENT)[before + 2], Ecn::Ect0);
    assert_eq!(flags(&pair, SERVER).last(), Some(&Flags::ACK));
}

#[test]
fn the_count_may_have_wrapped_only_while_nothing_is_missing() {
    // RFC 9768 (A.2.2): ten acknowledgements are lost, and the next one covers enough segments for the three bits to wrap.
    // If it is the first with a SACK block, each segment has an acknowledgement of its own, and nothing was marked.
    for (lost, answered_marks) in [(vec![], 1), (vec![11], 0)] {
        let config = Config {
            parts: Parts::new(RecoveryKind::Sack, LawConfig::Reno(())),
            ecn: EcnMode::Accurate,
            sack: true,
            initial_window: 24,
            ..classic()
        };
        let mut pair = Pair::new(&config);
        (pair.lost[CLIENT], pair.lost[SERVER]) = (lost, (1..=10).collect());
        pair.open();
        pair.write(CLIENT, 100_000);
        while pair.seen[SERVER] < 12 {
            assert!(pair.step());
        }
        assert_eq!(answered(&mut pair), answered_marks);
    }
}

#[test]
fn a_copy_or_an_overtaken_acknowledgement_has_no_count() {
    // The third packet of the handshake reports how the SYN-ACK arrived where others report the count. Then one of
    // three acknowledgements with the same number is late, so that its count is behind by one.
    let config = Config { ecn: EcnMode::Accurate, timestamps: true, ..classic() };
    let late = |segment: &Segment| {
        let count = super::super::ecn::count_of(segment.flags).wrapping_sub(1) & 0b111;
        Segment { flags: Flags::ACK.with(Flags((count as u16) << 6)), ..*segment }
    };
    let mut pair = open(&config);
    pair.write(CLIENT, 1_000);
    pair.run(Span::from_secs(1));
    let third = pair.sent_by(CLIENT)[1];
    let last = pair.sent_by(SERVER).pop().expect("an acknowledgement");
    for (side, segment) in [(SERVER, third), (CLIENT, late(&last))] {
        let packet = Packet::new(NodeId(0), NodeId(1), Body::Tcp(segment));
        pair.with(side, |end, now, out| end.up(&packet, now, out));
        assert_eq!(pair.ends[side].counters(pair.now).marks_answered, 0);
    }
    // With a timestamp that is newer than the last it does report.
    let mut newer = late(&last);
    if let Some(stamps) = &mut newer.options.timestamps {
        stamps.value += 1;
    }
    let packet = Packet::new(NodeId(0), NodeId(1), Body::Tcp(newer));
    pair.with(CLIENT, |end, now, out| end.up(&packet, now, out));
    assert_eq!(answered(&mut pair), 1);
}
