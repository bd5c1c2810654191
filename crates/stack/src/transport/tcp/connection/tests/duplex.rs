//! Data in both directions on one connection: what rides on what, and how the two directions end.

use super::*;
use crate::registry::CongestionKind;

/// A pair whose ends both write; the passive one closes on request.
fn both_write(config: &Config) -> Pair {
    let mut pair = Pair::new(config);
    pair.ends[SERVER].close_by_hand();
    pair.open();
    pair.run(Span::from_millis(100));
    pair
}

/// A segment that goes to `to`, from the other end in its present state: its next number, with this acknowledgement.
fn segment_to(pair: &Pair, to: usize, acknowledged: u32, len: u32) -> Segment {
    let (here, there) = (&pair.ends[to], &pair.ends[1 - to]);
    Segment {
        src_port: there.local.1,
        dst_port: here.local.1,
        seq: there.iss.plus(1),
        ack: here.iss.plus(1).plus(acknowledged),
        flags: Flags::ACK,
        window: 60_000,
        len,
        ..Segment::default()
    }
}

fn hand(pair: &mut Pair, to: usize, segment: Segment) {
    let packet = Packet::new(NodeId(1 - to as u32), NodeId(to as u32), Body::Tcp(segment));
    pair.with(to, |end, now, out| end.up(&packet, now, out));
}

fn pure_acks(pair: &Pair, side: usize) -> usize {
    pair.sent_by(side).iter().filter(|segment| segment.len == 0 && segment.flags == Flags::ACK).count()
}

#[test]
fn data_that_arrives_with_room_for_data_is_answered_by_data() {
    let mut pair = both_write(&Config { ack_every: 2, window: 1, ..modern() });
    pair.write(CLIENT, 20_000);
    while pair.ends[SERVER].receiver().in_order() == 0 {
        assert!(pair.step());
    }
    pair.write(SERVER, 20_000);
    pair.run(Span::from_secs(5));
    // Each segment opens the window for one that acknowledges it. Alone go the end of the handshake and the client's
    // answer to the last segment.
    assert_eq!((pair.data_of(CLIENT).len(), pair.data_of(SERVER).len()), (20, 20));
    assert_eq!((pure_acks(&pair, CLIENT), pure_acks(&pair, SERVER)), (2, 0));
}

#[test]
fn stamps_never_ride_on_data_and_each_segment_has_its_own_sent_back() {
    for congestion in [CongestionKind::Jtcp, CongestionKind::Ejtcp] {
        let config = Config {
            parts: Parts::new(RecoveryKind::Reno, congestion.config()),
            sack: false,
            timestamps: false,
            ..modern()
        };
        let mut pair = both_write(&Config { ack_every: 2, window: 1, ..config });
        pair.write(CLIENT, 20_000);
        while pair.ends[SERVER].receiver().in_order() == 0 {
            assert!(pair.step());
        }
        pair.write(SERVER, 20_000);
        pair.run(Span::from_secs(5));
        for side in [CLIENT, SERVER] {
            let zero = pair.ends[1 - side].iss.plus(1);
            let echoes = pair.sent_by(side).into_iter().filter(|segment| segment.len == 0);
            let triggers: Vec<u32> = echoes
                .filter_map(|segment| segment.options.extension)
                .map(|echo| echo.trigger.0.wrapping_sub(zero.0))
                .collect();
            assert_eq!(
                triggers,
                (0..20).map(|number| 1000 * number).collect::<Vec<_>>(),
                "{congestion:?} {side}"
            );
        }
        let answers = pair.sent_by(SERVER);
        let first = answers.iter().position(|segment| segment.len > 0).expect("data");
        assert_eq!(
            (answers[first - 1].len, answers[first - 1].ack),
            (0, answers[first].ack),
            "ahead of the data"
        );
    }
}

#[test]
fn data_that_crosses_on_its_way_is_answered_alone() {
    let mut pair = both_write(&Config { ack_every: 1, window: 1, ..modern() });
    pair.write(CLIENT, 20_000);
    pair.write(SERVER, 20_000);
    pair.run(Span::from_secs(5));
    assert_eq!((pure_acks(&pair, CLIENT), pure_acks(&pair, SERVER)), (21, 20));
}

#[test]
fn data_takes_a_held_acknowledgement_with_it_and_its_timer_ends() {
    let mut pair = both_write(&Config { ack_every: 2, ..modern() });
    pair.write(CLIENT, 1_000);
    while pair.ends[SERVER].receiver().in_order() < 1_000 {
        assert!(pair.step());
    }
    assert!(pair.sides[SERVER].delayed_ack.is_some());
    pair.write(SERVER, 300);
    assert_eq!(pair.sides[SERVER].delayed_ack, None);
    pair.run(Span::from_secs(1));
    assert_eq!(pure_acks(&pair, SERVER), 0);
    assert_eq!(pair.ends[CLIENT].sender().board().una(), 1_000);
}

#[test]
fn an_acknowledgement_repeated_on_data_is_no_duplicate() {
    // RFC 5681 (2): a duplicate carries no data.
    for (len, losses) in [(500, 0), (0, 1)] {
        let config = Config {
            parts: Parts::new(RecoveryKind::NewReno, LawConfig::Reno(())),
            timestamps: false,
            sack: false,
            ..modern()
        };
        let mut pair = both_write(&config);
        pair.write(CLIENT, 10_000);
        let start = segment_to(&pair, CLIENT, 0, len);
        // The window last advertised, so that none of the four updates it.
        let window = (config.receive_buffer_bytes() >> config.window_scale_shift()) as u16;
        for number in 0..4 {
            hand(&mut pair, CLIENT, Segment { seq: start.seq.plus(number * len), window, ..start });
        }
        assert_eq!(pair.ends[CLIENT].counters(pair.now).fast_retransmits, losses, "{len} bytes");
    }
}

#[test]
fn selective_acknowledgements_on_data_count() {
    let config =
        Config { parts: Parts::new(RecoveryKind::Sack, LawConfig::Reno(())), timestamps: false, ..modern() };
    let mut pair = both_write(&config);
    pair.write(CLIENT, 10_000);
    let mut segment = segment_to(&pair, CLIENT, 0, 500);
    let zero = pair.ends[CLIENT].iss.plus(1);
    for number in 1..=3 {
        segment.options.sack = crate::packet::SackBlocks::default();
        segment.options.sack.push(zero.plus(1_000), zero.plus(1_000 + 1_000 * number));
        hand(&mut pair, CLIENT, segment);
        segment.seq = segment.seq.plus(500);
    }
    assert_eq!(pair.ends[CLIENT].counters(pair.now).fast_retransmits, 1);
}

#[test]
fn both_sides_may_close_at_once() {
    // RFC 9293 (3.6, case 3): the FINs cross, and each is acknowledged after it arrived.
    let mut pair = both_write(&modern());
    for side in [CLIENT, SERVER] {
        pair.write(side, 700);
        pair.close(side);
    }
    pair.run(Span::from_secs(5));
    assert!(pair.ends.iter().all(Connection::is_done));
    for side in [CLIENT, SERVER] {
        assert_eq!(pair.ends[side].receiver().in_order(), 700);
        let fins: Vec<Segment> =
            pair.sent_by(side).into_iter().filter(|segment| segment.flags.has(Flags::FIN)).collect();
        assert_eq!((fins.len(), fins[0].ack), (1, pair.ends[1 - side].iss.plus(1)), "they crossed");
        let last = pair.sent_by(side).pop().expect("an answer");
        assert_eq!((last.ack, last.len), (pair.ends[1 - side].iss.plus(702), 0));
    }
    assert!(pair.sides.iter().all(|side| side.retransmit.is_none() && side.delayed_ack.is_none()));
}

#[test]
fn one_direction_goes_on_after_the_other_is_closed() {
    // RFC 9293 (3.6): "the user who CLOSEs may continue to RECEIVE".
    for closing in [CLIENT, SERVER] {
        let mut pair = both_write(&modern());
        let staying = 1 - closing;
        pair.write(closing, 1_500);
        pair.close(closing);
        pair.run(Span::from_secs(1));
        assert!(pair.ends[staying].receiver().finished() && !pair.ends[staying].is_done());
        pair.write(staying, 100_000);
        pair.close(staying);
        pair.run(Span::from_secs(20));
        assert!(pair.ends.iter().all(Connection::is_done));
        assert_eq!(pair.ends[closing].receiver().in_order(), 100_000);
        let after = pair.ends[closing].iss.plus(1).plus(1_501);
        let acks: Vec<Segment> =
            pair.sent_by(closing).into_iter().filter(|segment| segment.seq == after).collect();
        assert!(
            acks.len() >= 50 && acks.iter().all(|ack| ack.len == 0),
            "beyond its FIN it only acknowledges"
        );
    }
}

#[test]
fn a_window_too_little_opened_for_a_segment_of_its_own_is_told_on_data() {
    let config = Config { receive_buffer: Some(4_000), ack_every: 1, ..modern() };
    let mut pair = both_write(&config);
    pair.ends[SERVER].read_by_hand();
    pair.write(CLIENT, 3_000);
    pair.run(Span::from_secs(1));
    let sent = pair.sent_by(SERVER).len();
    pair.with(SERVER, |end, now, out| end.read(1_000, now, out));
    assert!(pair.sides[SERVER].wire.is_empty(), "a third of the buffer is worth no update");
    pair.write(SERVER, 100);
    pair.run(Span::from_secs(2));
    let told: Vec<(u32, u16)> =
        pair.sent_by(SERVER)[sent - 1..].iter().map(|segment| (segment.len, segment.window)).collect();
    assert_eq!(told, [(0, 1_000), (100, 2_000)]);
}

#[test]
fn a_round_trip_is_measured_right_whichever_direction_was_idle() {
    // RFC 7323 (4.1): only what advances the left edge measures; the echo on data after a silence is old.
    for timestamps in [true, false] {
        let mut pair = both_write(&Config { timestamps, ack_every: 1, ..modern() });
        for round in 1..20 {
            for side in [CLIENT, SERVER] {
                pair.now = Time(round * 5_000_000_000);
                pair.write(side, 800);
                pair.run(Span(pair.now.0 + 1_000_000_000));
            }
        }
        for end in &mut pair.ends {
            let counters = end.counters(pair.now);
            assert_eq!(counters.rtt_max, Span::from_millis(20), "timestamps {timestamps}");
            assert!(counters.rtt_samples >= 19);
        }
    }
}

#[test]
fn a_passive_end_that_writes_does_not_close_when_its_peer_does() {
    let mut pair = Pair::new(&modern());
    pair.ends[SERVER].close_by_hand();
    pair.open();
    pair.write(CLIENT, 500);
    pair.close(CLIENT);
    pair.run(Span::from_secs(5));
    assert!(pair.ends[SERVER].receiver().finished());
    assert!(pair.sent_by(SERVER).iter().all(|segment| !segment.flags.has(Flags::FIN)));
}
