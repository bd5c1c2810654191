//! Acknowledgements of the receiver: which of them pass, and how the other end treats them.

use super::super::Config;
use super::bench::{
    Bench, RECEIVER, SENDER, ack, data, packet, paper, relay, sack, safe, segment, syn, told,
};
use crate::packet::{Flags, Segment};
use crate::signal::Signal;
use crate::units::Span;

#[test]
fn a_redundant_acknowledgement_stays_off_the_air() {
    let mut bench = Bench::at_receiver(safe(RECEIVER), 40_000);
    bench.up(data(1000, 1000));
    assert!(bench.down(ack(2000, 40_000)).is_empty());
    assert_eq!(bench.counters().suppressed, 1);
}

#[test]
fn what_tells_more_than_progress_always_passes() {
    let fin = Segment { flags: Flags::ACK.with(Flags::FIN), ..ack(2000, 40_000) };
    let reset = Segment { flags: Flags::RST, ..ack(2000, 40_000) };
    for (what, segment) in [
        ("data", Segment { len: 10, ..ack(2000, 40_000) }),
        ("FIN", fin),
        ("RST", reset),
        ("the number said before", ack(1000, 40_000)),
        ("a window update", ack(1000, 44_000)),
        ("SACK", sack(2000, 40_000, &[(3000, 4000)])),
        ("a window of less than four segments", ack(2000, 3_996)),
        ("more than half of the credit used", ack(22_000, 40_000)),
    ] {
        let mut bench = Bench::at_receiver(safe(RECEIVER), 40_000);
        assert_eq!(bench.down(segment).len(), 1, "{what}");
    }
}

#[test]
fn the_segments_of_an_a_mpdu_are_acknowledged_one_after_the_other_and_tell_of_no_hole() {
    let mut bench = Bench::at_receiver(safe(RECEIVER), 20_000);
    bench.wait(Span::from_millis(1));
    for start in [1000, 2000, 3000] {
        bench.up(data(start, 1000));
    }
    for end in [2000, 3000, 4000] {
        assert!(bench.down(ack(end, 19_000)).is_empty());
    }
}

#[test]
fn an_acknowledgement_that_ends_before_what_came_over_the_link_tells_of_a_hole_and_passes() {
    let mut bench = Bench::at_receiver(safe(RECEIVER), 20_000);
    bench.up(data(3000, 1000));
    bench.wait(Span::from_millis(1));
    bench.up(data(1000, 1000));
    assert_eq!(bench.down(ack(2000, 19_000)).len(), 1);
    bench.up(data(2000, 1000));
    assert!(bench.down(ack(4000, 17_000)).is_empty());
}

#[test]
fn a_single_segment_beyond_a_hole_is_not_taken_for_one_of_an_a_mpdu() {
    let mut bench = Bench::at_receiver(safe(RECEIVER), 20_000);
    bench.up(data(1000, 1000));
    bench.wait(Span::from_millis(1));
    bench.up(data(3000, 1000));
    assert_eq!(bench.down(ack(2000, 19_000)).len(), 1, "it was delayed, and reports the hole");
}

#[test]
fn the_end_of_the_handshake_passes_also_when_the_receiver_opened() {
    let mut bench = Bench::new(safe(RECEIVER));
    let opening = Segment { flags: Flags::SYN, ..super::bench::syn_ack(super::bench::offer()) };
    let answer = Segment {
        flags: Flags::SYN.with(Flags::ACK),
        ack: super::bench::RECEIVER_ZERO,
        ..syn(super::bench::offer())
    };
    bench.down(opening);
    bench.up(answer);
    assert_eq!(bench.down(ack(0, 40_000)).len(), 1);
    bench.up(answer);
    assert_eq!(bench.down(ack(0, 40_000)).len(), 1, "again, if it was lost");
}

#[test]
fn the_filter_counts_the_credit_that_was_passed_and_not_what_it_saw() {
    let mut bench = Bench::at_receiver(safe(RECEIVER), 40_000);
    let mut passed = Vec::new();
    for offset in (2000..60_000).step_by(1000) {
        bench.up(data(offset - 1000, 1000));
        if !bench.down(ack(offset, 40_000)).is_empty() {
            passed.push(offset);
        }
    }
    // With 41 000 reported, less than half of the window is left beyond 21 000, and so on.
    assert_eq!(passed, [22_000, 43_000]);
}

#[test]
fn an_acknowledgement_that_the_link_lost_was_not_told() {
    let mut bench = Bench::at_receiver(safe(RECEIVER), 40_000);
    bench.signal(ack(1000, 40_000), Signal::Undelivered);
    assert_eq!(bench.down(ack(2000, 40_000)).len(), 1);
}

#[test]
fn answers_to_window_probes_pass_however_often() {
    let mut bench = Bench::at_receiver(safe(RECEIVER), 40_000);
    assert_eq!(bench.down(ack(41_000, 0)).len(), 1);
    for _ in 0..5 {
        bench.up(data(41_000, 1));
        assert_eq!(bench.down(ack(41_000, 0)).len(), 1);
    }
}

#[test]
fn the_newest_acknowledgement_held_back_goes_after_forty_milliseconds() {
    let mut bench = Bench::at_receiver(safe(RECEIVER), 40_000);
    bench.down(ack(2000, 40_000));
    bench.wait(Span::from_millis(30));
    bench.down(ack(3000, 40_000));
    bench.wait(Span::from_millis(39));
    assert!(bench.handed.down.is_empty());
    bench.wait(Span::from_millis(1));
    assert_eq!(bench.handed.down.iter().map(told).collect::<Vec<_>>(), [(3000, 40_000)]);
    assert_eq!((bench.counters().suppressed, bench.counters().passed), (1, 2));
    bench.wait(Span::from_secs(1));
    assert_eq!(bench.handed.down.len(), 1, "once");
}

#[test]
fn on_a_flow_whose_own_are_further_apart_than_that_it_waits_for_the_next_one() {
    let mut bench = Bench::at_receiver(safe(RECEIVER), 60_000);
    for step in 2..20 {
        bench.wait(Span::from_millis(90));
        assert!(bench.down(ack(1000 * step, 61_000 - 1000 * step)).is_empty());
    }
    assert!(bench.handed.down.is_empty());
    bench.wait(Span::from_millis(150));
    assert_eq!(told(&bench.handed.down[0]).0, 19_000, "the last one goes");
    let limited = Config { max_hold: Config::HOLD, ..safe(RECEIVER) };
    let mut bench = Bench::at_receiver(limited, 60_000);
    for step in 2..20 {
        bench.down(ack(1000 * step, 61_000 - 1000 * step));
        bench.wait(Span::from_millis(90));
    }
    assert_eq!(bench.handed.down.len(), 18);
}

/// Linux retransmits 200 ms after a round trip, of which the receiver may use 40 ms to delay its acknowledgement.
#[test]
fn however_slow_a_flow_is_nothing_is_held_until_its_sender_sends_again() {
    for (spacing, steps) in [(300, 20), (900, 20), (149, 20), (99, 20), (60, 3)] {
        let mut bench = Bench::at_receiver(safe(RECEIVER), 60_000);
        for step in 2..2 + steps {
            bench.wait(Span::from_millis(spacing));
            bench.down(ack(1000 * step, 61_000 - 1000 * step));
        }
        bench.handed.down.clear();
        bench.wait(Span::from_millis(150));
        assert_eq!(bench.handed.down.len(), 1, "{spacing} ms apart");
    }
}

#[test]
fn what_is_held_back_is_old_when_data_carries_the_number() {
    let mut bench = Bench::at_receiver(safe(RECEIVER), 40_000);
    bench.down(ack(2000, 40_000));
    bench.down(Segment { len: 10, ..ack(2000, 40_000) });
    bench.wait(Span::from_secs(1));
    assert!(bench.handed.down.is_empty());
}

#[test]
fn the_acknowledgement_of_a_fin_passes() {
    for config in [safe(RECEIVER), paper(RECEIVER)] {
        let mut bench = Bench::at_receiver(config, 40_000);
        bench.up(Segment { flags: Flags::ACK.with(Flags::FIN), ..data(1000, 1000) });
        assert_eq!(bench.down(ack(2001, 40_000)).len(), 1);
    }
}

#[test]
fn paper_mode_drops_every_segment_that_only_acknowledges() {
    let mut bench = Bench::at_receiver(paper(RECEIVER), 40_000);
    for segment in [ack(0, 40_000), ack(2000, 0), ack(2000, 40_000), sack(2000, 40_000, &[(3000, 4000)])] {
        assert!(bench.down(segment).is_empty());
    }
    bench.wait(Span::from_secs(1));
    assert!(bench.handed.down.is_empty());
    assert_eq!(bench.down(Segment { len: 10, ..ack(2000, 40_000) }).len(), 1, "data is left alone");
}

#[test]
fn paper_mode_drops_them_however_far_the_stream_has_come() {
    let mut bench = Bench::at_receiver(paper(RECEIVER), 40_000);
    for offset in [1_000_000_000, 2_000_000_000, 3_000_000_000, 4_000_000_000] {
        bench.up(data(offset - 1000, 1000));
        assert!(bench.down(ack(offset, 40_000)).is_empty(), "{offset}");
    }
}

#[test]
fn a_passed_acknowledgement_ends_at_the_agent_and_a_fresh_one_takes_its_place() {
    let mut bench = Bench::at_sender(safe(SENDER));
    for offset in [0, 1000, 2000] {
        bench.deliver(data(offset, 1000));
    }
    let up = bench.up(ack(1000, 30_000));
    assert_eq!(up.iter().map(told).collect::<Vec<_>>(), [(3000, 28_000)]);
    assert!(bench.up(ack(2000, 29_000)).is_empty(), "it tells nothing new");
}

#[test]
fn to_a_sender_some_hops_away_a_wider_window_waits_for_an_acknowledgement_that_is_due() {
    let mut bench = Bench::at_sender(relay());
    bench.deliver(data(0, 1000));
    bench.down(data(1000, 1000));
    assert!(bench.up(ack(1000, 30_000)).is_empty(), "a segment is with the link");
    let up = bench.signal(data(1000, 1000), Signal::Delivered);
    assert_eq!(up.iter().map(told).collect::<Vec<_>>(), [(2000, 29_000)]);
    assert!(bench.up(ack(2000, 31_000)).is_empty(), "the sender has room, and will use it");
    bench.wait(Span::from_millis(40));
    assert_eq!(
        bench.handed.up.iter().map(told).collect::<Vec<_>>(),
        [(2000, 31_000)],
        "or is told by itself"
    );
    bench.wait(Span::from_secs(1));
    assert_eq!(bench.handed.up.len(), 1);
}

#[test]
fn a_wider_window_is_told_at_once_when_the_sender_has_used_up_the_last_or_has_asked() {
    let mut bench = Bench::at_sender(relay());
    for step in 0..20 {
        bench.deliver(data(1000 * step, 1000));
    }
    let up = bench.up(ack(10_000, 20_000));
    assert_eq!(up.iter().map(told).collect::<Vec<_>>(), [(20_000, 10_000)]);
    bench.down(data(19_999, 0));
    let up = bench.up(ack(20_000, 20_000));
    assert_eq!(up.iter().map(told).collect::<Vec<_>>(), [(20_000, 20_000)]);
}

#[test]
fn a_duplicate_tells_of_no_other_window_than_the_one_before_it() {
    let mut bench = Bench::at_sender(relay());
    bench.deliver(data(0, 1000));
    bench.down(data(1000, 1000));
    bench.up(ack(1000, 30_000));
    bench.signal(data(1000, 1000), Signal::Undelivered);
    let up = bench.deliver(data(2000, 1000));
    assert_eq!(up.iter().map(told).collect::<Vec<_>>(), [(1000, 30_000); 2], "the window first");
}

#[test]
fn a_real_acknowledgement_may_be_ahead_of_what_the_link_noticed() {
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.carry(data(0, 1000), Signal::Undelivered);
    bench.deliver(data(1000, 1000));
    bench.down(data(2000, 1000));
    assert_eq!(told(&bench.up(ack(3000, 20_000))[0]), (3000, 20_000));
    assert_eq!(bench.counters().false_negatives, 1);
}

#[test]
fn a_copy_speaks_with_the_last_words_of_its_sender() {
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.deliver(data(0, 1000));
    let newer = Segment { ack: super::bench::RECEIVER_ZERO.plus(700), window: 123, ..data(1000, 1000) };
    bench.deliver(newer);
    bench.wait(Span::from_millis(200));
    let copy = segment(&bench.handed.down[0]);
    assert_eq!((copy.seq, copy.ack, copy.window), (data(0, 0).seq, newer.ack, 123));
    assert_eq!(copy.options.timestamps, newer.options.timestamps);
}

#[test]
fn a_range_received_twice_is_told_on_only_if_the_sender_sent_it_twice() {
    let twice = sack(2000, 18_000, &[(0, 1000)]);
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.deliver(data(0, 1000));
    bench.deliver(data(1000, 1000));
    bench.up(ack(2000, 18_000));
    assert!(bench.up(twice).iter().all(|packet| segment(packet).options.sack.is_empty()));
    bench.deliver(data(0, 1000));
    let up = bench.up(twice);
    assert_eq!(super::bench::blocks(&up[0]), [(0, 1000)]);
}

#[test]
fn a_keepalive_or_probe_of_the_receiver_goes_to_the_sender_as_it_is() {
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.deliver(data(0, 1000));
    bench.up(ack(1000, 19_000));
    bench.up(Segment { len: 1, ..ack(1000, 19_000) });
    let probe = ack(1000, 19_000);
    assert_eq!(bench.up(probe), [packet(probe)]);
    // What it says besides is not kept back.
    let wider = ack(1000, 25_000);
    let up = bench.up(wider);
    assert_eq!((up[0], told(&up[1])), (packet(wider), (1000, 25_000)));
}

#[test]
fn a_packet_of_another_protocol_passes() {
    use crate::hooks::Agent;
    let mut bench = Bench::at_sender(safe(SENDER));
    let datagram = crate::packet::Packet {
        body: crate::packet::Body::Udp(crate::packet::Datagram::default()),
        ..packet(data(0, 0))
    };
    bench.agent.down(&datagram, bench.now, &mut bench.handed);
    bench.agent.up(&datagram, bench.now, &mut bench.handed);
    bench.agent.on_signal(Signal::Delivered, &datagram, bench.now, &mut bench.handed);
    assert_eq!((bench.handed.down.len(), bench.handed.up.len()), (1, 1));
}
