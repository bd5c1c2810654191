//! The controls, which ignore TCP, and the readings of lines 4, 8 and 10.

use super::*;

#[test]
fn without_a_time_each_queue_is_in_the_order_in_which_units_came_to_it_and_none_is_urgent() {
    let mut bench = Bench::new(Options { clock: Clock::None, ..Options::default() });
    // The later the packet, the less time it has left; the timer of packet 3 is about to fire.
    for (packet, n) in [(0, 1), (1, 0), (2, 1), (3, 0), (4, 2)] {
        bench.flow(packet, 100, 500 - 120 * u64::from(packet));
        assert!(bench.hold(packet, packet, n));
    }
    assert_eq!(bench.arq.waiting(bench.now).units, [2, 2, 1]);
    // A unit that fails again goes to the end of the next queue.
    assert_eq!(bench.serve(), Some((1, Reason::Turn)));
    assert!(bench.hold(1, 1, 1));
    assert_eq!(bench.serve_all(), [3, 0, 2, 1, 4]);
    assert_eq!((bench.arq.counters().urgent, bench.arq.counters().urgent_missed), (0, 0));
}

#[test]
fn one_queue_takes_what_failed_at_its_end_and_drops_after_the_third_retransmission() {
    let mut bench = Bench::new(Options { queues: Queues::One, ..Options::default() });
    for packet in 0..3 {
        bench.flow(packet, 100, 300 - 100 * u64::from(packet));
        assert!(bench.hold(packet, packet, 0));
    }
    assert_eq!(bench.serve(), Some((0, Reason::Turn)));
    assert!(bench.hold(0, 0, 1));
    assert_eq!(bench.serve(), Some((1, Reason::Turn)));
    assert!(bench.hold(1, 1, 2));
    assert_eq!(bench.arq.waiting(bench.now).units, [3, 0, 0]);
    assert_eq!(bench.serve_all(), [2, 0, 1]);
    assert!(!bench.hold(1, 1, 3));
    assert!(bench.arq.takes_new() && bench.arq.is_empty());
}

#[test]
fn fragments_that_were_never_sent_stand_where_their_packet_came() {
    for options in [
        Options { queues: Queues::One, ..Options::default() },
        Options { clock: Clock::None, ..Options::default() },
    ] {
        let mut arq = DynamicArq::new(options);
        let unit = |packet, fragment, sent| Unit {
            packet,
            fragment,
            flow: 0,
            serial: u64::from(packet),
            fires_at: Time::NEVER,
            sent,
        };
        let mut served = Vec::new();
        // Two packets of three fragments; the link passes the next fragment to the scheme when one was sent. Each fails
        // once.
        arq.hold(unit(0, 0, 0));
        arq.hold(unit(1, 0, 0));
        while let Some(Choice::Send(it, _)) = arq.next(Newcomer::Absent, ms(0)) {
            served.push((it.packet, it.fragment, it.sent));
            if it.sent == 0 {
                arq.hold(unit(it.packet, it.fragment, 1));
                if it.fragment < 2 {
                    arq.hold(unit(it.packet, it.fragment + 1, 0));
                }
            }
        }
        let once = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)];
        let expected: Vec<_> =
            [0, 1].iter().flat_map(|sent| once.map(|(packet, fragment)| (packet, fragment, *sent))).collect();
        assert_eq!(served, expected);
    }
}

#[test]
fn flows_are_served_in_turn_and_what_failed_stays_the_first_of_its_flow() {
    let mut bench = Bench::new(Options { queues: Queues::Flows, ..Options::default() });
    // Two packets of each of three flows, in the order of their numbers.
    for packet in 0..6 {
        assert!(bench.hold(packet, packet % 3, 0));
    }
    for n in 1..3 {
        for packet in 0..3 {
            assert_eq!(bench.serve(), Some((packet, Reason::Turn)));
            assert!(bench.hold(packet, packet, n));
        }
    }
    assert_eq!(bench.serve_all(), [0, 1, 2, 3, 4, 5]);
    // One flow alone repeats its first unit at once.
    assert!(bench.hold(6, 0, 0) && bench.hold(7, 0, 0));
    assert_eq!(bench.serve(), Some((6, Reason::Turn)));
    assert!(bench.hold(6, 0, 1));
    assert_eq!(bench.serve(), Some((6, Reason::Turn)));
}

#[test]
fn a_pass_serves_one_unit_of_each_queue_and_urgent_heads_first() {
    let mut bench = Bench::new(Options { priority: Priority::Pass, ..Options::default() });
    bench.flow(0, 10, 500);
    for (packet, n) in [(0, 0), (1, 0), (2, 0), (3, 1), (4, 2), (5, 2)] {
        assert!(bench.hold(packet, 0, n));
    }
    assert_eq!(bench.serve(), Some((0, Reason::Turn)));
    bench.flow(1, 100, 50);
    assert!(bench.hold(6, 1, 0));
    assert_eq!(bench.serve(), Some((6, Reason::Urgent)));
    // Q2, Q3, Q1, then Q2 is empty.
    assert_eq!(bench.serve_all(), [3, 4, 1, 5, 2]);
}

#[test]
fn without_a_limit_a_unit_stays_in_q3_however_often_it_failed() {
    let mut bench = Bench::new(Options { limit: Limit::Never, ..Options::default() });
    bench.flow(0, 10, 500);
    for n in [2, 3, 4, 100] {
        assert!(bench.hold(0, 0, n));
        assert_eq!(bench.arq.waiting(bench.now).units, [0, 0, 1]);
        assert_eq!(bench.serve(), Some((0, Reason::Turn)));
    }
    assert_eq!(bench.arq.counters().dropped, 0);
}
