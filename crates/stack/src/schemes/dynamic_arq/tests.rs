//! Algorithm 1 line by line, on queues made by hand. Times are milliseconds.

mod controls;

use super::*;

/// Units of packets that came in the order of their numbers, with one fragment each.
struct Bench {
    arq: DynamicArq,
    now: Time,
}

fn ms(time: u64) -> Time {
    Time::ZERO + Span::from_millis(time)
}

fn timing(rtt: u64, rto: u64, fires_at: u64) -> Timing {
    Timing { rtt: Span::from_millis(rtt), rto: Span::from_millis(rto), fires_at: ms(fires_at) }
}

impl Bench {
    fn new(options: Options) -> Bench {
        Bench { arq: DynamicArq::new(options), now: ms(10_000) }
    }

    /// Sets the round trip of a flow, and the time left until its timer fires.
    fn flow(&mut self, flow: u32, rtt: u64, left: u64) {
        let fires_at = self.now.0 / 1_000_000 + left;
        self.arq.on_timing(flow, timing(rtt, 1_000, fires_at));
    }

    /// Holds the only unit of a packet that was retransmitted `n` times. Returns whether it is held.
    fn hold(&mut self, packet: u32, flow: u32, n: u8) -> bool {
        let fires_at = self.arq.fires_at(flow);
        let unit = Unit { packet, fragment: 0, flow, serial: u64::from(packet), fires_at, sent: n + 1 };
        self.arq.hold(unit) == ArqVerdict::Held
    }

    /// The packet that is served next, and the reason.
    fn serve(&mut self) -> Option<(u32, Reason)> {
        match self.arq.next(Newcomer::Absent, self.now)? {
            Choice::Send(unit, reason) => Some((unit.packet, reason)),
            Choice::New | Choice::GiveUp(_) => None,
        }
    }

    fn serve_all(&mut self) -> Vec<u32> {
        std::iter::from_fn(|| self.serve()).map(|(packet, _)| packet).collect()
    }
}

#[test]
fn lines_1_to_4_put_a_unit_into_the_queue_of_the_thousands_of_its_weight_or_drop_it() {
    for (n, time) in [(0, 0), (0, 9_999), (1, 0), (1, 9_999), (2, 9_999), (3, 0)] {
        let weight = weight(n, Span::from_millis(time));
        let mut bench = Bench::new(Options::default());
        bench.flow(0, 50, time);
        assert_eq!(bench.hold(0, 0, n), weight < 30_000, "line 4 at {weight}");
        let expected = match weight {
            0..10_000 => [1, 0, 0],
            10_000..20_000 => [0, 1, 0],
            20_000..30_000 => [0, 0, 1],
            _ => [0, 0, 0],
        };
        assert_eq!(bench.arq.waiting(bench.now).units, expected, "weight {weight}");
        assert_eq!(bench.arq.counters().dropped, u64::from(weight >= 30_000));
    }
}

#[test]
fn a_timeout_of_ten_seconds_or_more_does_not_pass_for_a_retransmission() {
    assert_eq!(weight(0, Span::from_secs(60)), 9_999);
    assert_eq!(weight(2, Span::from_secs(60)), 29_999);
    let mut bench = Bench::new(Options::default());
    bench.flow(0, 50, 60_000);
    bench.flow(1, 50, 9_000);
    assert!(bench.hold(0, 0, 0) && bench.hold(1, 1, 1));
    assert_eq!(bench.serve_all(), [0, 1]);
}

#[test]
fn lines_5_to_7_sort_each_queue_by_the_time_left() {
    for n in 0..3 {
        let mut bench = Bench::new(Options::default());
        for (flow, left) in [(0, 900), (1, 300), (2, 600)] {
            bench.flow(flow, 10, left);
            assert!(bench.hold(flow, flow, n));
        }
        assert_eq!(bench.serve_all(), [1, 2, 0]);
    }
}

#[test]
fn lines_8_and_10_serve_q1_then_q2_then_q3_when_nothing_is_urgent() {
    let mut bench = Bench::new(Options::default());
    bench.flow(0, 10, 900);
    bench.flow(1, 10, 500);
    bench.flow(2, 10, 100);
    for (packet, flow, n) in [(0, 0, 0), (1, 1, 1), (2, 2, 2), (3, 0, 0)] {
        assert!(bench.hold(packet, flow, n));
    }
    // The less time a unit has left, the later it is served: strict priority.
    let served: Vec<_> = std::iter::from_fn(|| bench.serve()).collect();
    assert_eq!(served, [0, 3, 1, 2].map(|packet| (packet, Reason::Turn)));
}

#[test]
fn line_9_serves_an_urgent_head_of_any_queue_first() {
    for n in 0..3 {
        let mut bench = Bench::new(Options::default());
        bench.flow(0, 10, 500);
        bench.flow(1, 100, 199);
        assert!(bench.hold(0, 0, 0) && bench.hold(1, 1, n));
        assert_eq!(bench.serve(), Some((1, Reason::Urgent)), "in Q{}", n + 1);
        assert_eq!(bench.serve(), Some((0, Reason::Turn)));
        assert_eq!(bench.arq.counters().urgent, 1);
    }
}

#[test]
fn exactly_two_round_trips_are_not_urgent() {
    let mut bench = Bench::new(Options::default());
    bench.flow(0, 10, 500);
    bench.flow(1, 100, 200);
    assert!(bench.hold(0, 0, 0) && bench.hold(1, 1, 1));
    assert_eq!(bench.serve(), Some((0, Reason::Turn)));
}

#[test]
fn urgency_comes_with_time() {
    let mut bench = Bench::new(Options::default());
    bench.flow(0, 10, 5_000);
    bench.flow(1, 100, 1_000);
    assert!(bench.hold(0, 0, 0) && bench.hold(1, 1, 2));
    bench.now = bench.now + Span::from_millis(801);
    assert_eq!(bench.serve(), Some((1, Reason::Urgent)));
}

#[test]
fn of_several_urgent_heads_the_one_with_the_least_time_left_goes_first() {
    let mut bench = Bench::new(Options::default());
    for (flow, left) in [(0, 90), (1, 70), (2, 80)] {
        bench.flow(flow, 100, left);
        assert!(bench.hold(flow, flow, flow as u8));
    }
    assert_eq!(bench.serve_all(), [1, 2, 0]);
}

#[test]
fn of_urgent_heads_with_equal_times_the_one_with_fewer_retransmissions_goes_first() {
    let mut bench = Bench::new(Options::default());
    for flow in 0..3 {
        bench.flow(flow, 100, 70);
        assert!(bench.hold(flow, flow, 2 - flow as u8));
    }
    assert_eq!(bench.serve_all(), [2, 1, 0]);
}

#[test]
fn of_one_queue_with_equal_times_the_older_goes_first() {
    let mut bench = Bench::new(Options::default());
    bench.flow(0, 10, 500);
    for packet in [2, 0, 1] {
        assert!(bench.hold(packet, 0, 1));
    }
    assert_eq!(bench.serve_all(), [0, 1, 2]);
}

#[test]
fn the_check_of_the_heads_misses_an_urgent_unit_that_lies_deeper() {
    let heads = Options::default();
    for (options, first) in
        [(heads, (0, Reason::Turn)), (Options { check: Check::All, ..heads }, (1, Reason::Urgent))]
    {
        let mut bench = Bench::new(options);
        bench.flow(0, 10, 100);
        // Its timer fires later, but within two round trips of its flow.
        bench.flow(1, 90, 150);
        assert!(bench.hold(0, 0, 0) && bench.hold(1, 1, 0));
        assert_eq!(bench.serve(), Some(first));
        assert_eq!(bench.arq.counters().urgent_missed, u64::from(options.check == Check::Heads));
    }
}

#[test]
fn the_static_timeout_orders_by_itself_and_is_hardly_ever_urgent() {
    let mut bench = Bench::new(Options { clock: Clock::Rto, ..Options::default() });
    // About to fire, with a timeout of 1 s and a round trip of 100 ms: not urgent in this reading.
    bench.arq.on_timing(0, timing(100, 1_000, 10_001));
    bench.arq.on_timing(1, timing(100, 400, 90_000));
    assert!(bench.hold(0, 0, 0) && bench.hold(1, 1, 0));
    assert_eq!(bench.serve(), Some((1, Reason::Turn)));
    bench.arq.on_timing(2, timing(600, 1_100, 90_000));
    assert!(bench.hold(2, 2, 2));
    assert_eq!(bench.serve(), Some((2, Reason::Urgent)));
}

#[test]
fn a_timer_that_restarts_moves_the_units_of_its_flow() {
    for (deadline, order) in [(Deadline::OfFlow, [1, 0, 2]), (Deadline::OfPacket, [0, 2, 1])] {
        let mut bench = Bench::new(Options { deadline, ..Options::default() });
        bench.flow(0, 10, 300);
        bench.flow(1, 10, 500);
        for (packet, flow) in [(0, 0), (1, 1), (2, 0)] {
            assert!(bench.hold(packet, flow, 0));
        }
        bench.flow(0, 10, 1_000);
        assert_eq!(bench.serve_all(), order, "{deadline:?}");
    }
}

#[test]
fn a_packets_own_deadline_is_that_of_when_it_came() {
    let mut bench = Bench::new(Options { deadline: Deadline::OfPacket, ..Options::default() });
    bench.flow(0, 10, 300);
    bench.flow(1, 10, 400);
    assert!(bench.hold(0, 0, 0) && bench.hold(1, 1, 0));
    bench.flow(0, 10, 900);
    assert!(bench.hold(2, 0, 0));
    assert_eq!(bench.serve_all(), [0, 1, 2]);
}

#[test]
fn what_comes_too_late_is_sent_demoted_or_given_up() {
    let give = |hopeless, left| {
        let mut bench = Bench::new(Options { hopeless, ..Options::default() });
        bench.flow(0, 100, left);
        bench.flow(1, 10, 500);
        for packet in 0..3 {
            assert!(bench.hold(packet, packet.min(1), 2));
        }
        bench
    };
    // Half of a round trip is enough.
    let mut kept = give(Hopeless::Send, 50);
    assert_eq!(kept.serve_all(), [0, 1, 2]);
    assert_eq!(kept.arq.counters().hopeless_sent, 0);
    let mut sent = give(Hopeless::Send, 49);
    assert_eq!(sent.serve_all(), [0, 1, 2]);
    assert_eq!(sent.arq.counters().hopeless_sent, 1);
    let mut demoted = give(Hopeless::Demote, 49);
    let served: Vec<_> = std::iter::from_fn(|| demoted.serve()).collect();
    assert_eq!(served, [(1, Reason::Turn), (2, Reason::Turn), (0, Reason::Hopeless)]);
    assert_eq!(demoted.arq.counters().hopeless_sent, 1);
    let mut dropped = give(Hopeless::Drop, 49);
    let given_up = dropped.arq.next(Newcomer::Absent, dropped.now);
    assert!(matches!(given_up, Some(Choice::GiveUp(unit)) if unit.packet == 0));
    assert_eq!(dropped.serve_all(), [1, 2]);
    assert_eq!((dropped.arq.counters().hopeless_sent, dropped.arq.counters().dropped), (0, 1));
}

#[test]
fn a_demoted_unit_comes_back_when_its_timer_restarts() {
    let mut bench = Bench::new(Options { hopeless: Hopeless::Demote, ..Options::default() });
    bench.flow(0, 100, 40);
    bench.flow(1, 10, 500);
    assert!(bench.hold(0, 0, 0) && bench.hold(1, 1, 0) && bench.hold(2, 1, 0));
    assert_eq!(bench.serve(), Some((1, Reason::Turn)));
    bench.flow(0, 100, 300);
    assert_eq!(bench.serve_all(), [0, 2]);
    assert!(bench.arq.is_empty());
}

#[test]
fn new_data_goes_before_or_after_what_is_not_urgent() {
    for (order, expected) in [
        (Order::NewFirst, Choice::New),
        (Order::RetransmissionsFirst, Choice::Send(unit_of(0), Reason::Turn)),
    ] {
        let mut bench = Bench::new(Options { order, ..Options::default() });
        bench.flow(0, 10, 500);
        assert!(bench.hold(0, 0, 0));
        assert_eq!(bench.arq.next(Newcomer::Waits, bench.now), Some(expected));
        assert!(!bench.arq.takes_new());
    }
    let mut bench = Bench::new(Options { order: Order::NewFirst, ..Options::default() });
    bench.flow(0, 300, 500);
    assert!(bench.hold(0, 0, 0));
    let choice = bench.arq.next(Newcomer::Waits, bench.now);
    assert_eq!(choice, Some(Choice::Send(Unit { fires_at: ms(10_500), ..unit_of(0) }, Reason::Urgent)));
    assert_eq!(bench.arq.next(Newcomer::Waits, bench.now), Some(Choice::New));
}

fn unit_of(packet: u32) -> Unit {
    Unit { packet, fragment: 0, flow: 0, serial: u64::from(packet), fires_at: ms(10_500), sent: 1 }
}

#[test]
fn what_is_withdrawn_is_served_no_more() {
    let mut bench = Bench::new(Options { hopeless: Hopeless::Demote, ..Options::default() });
    bench.flow(0, 100, 40);
    bench.flow(1, 10, 500);
    for packet in 0..4 {
        assert!(bench.hold(packet, packet % 2, 0));
    }
    // One is demoted already.
    assert_eq!(bench.serve(), Some((1, Reason::Turn)));
    for packet in [0, 3] {
        assert_eq!(bench.arq.withdraw(packet, 0).map(|unit| unit.packet), Some(packet));
        assert_eq!(bench.arq.withdraw(packet, 0), None);
    }
    assert_eq!(bench.serve_all(), [2]);
    assert!(bench.arq.is_empty());
}

#[test]
fn strict_priority_starves_a_unit_of_q3_until_its_timer_is_near() {
    // One unit was repeated twice; ten flows keep Q1 full with units that have more time left, and a turn takes 1 ms.
    let mut bench = Bench::new(Options::default());
    bench.flow(0, 50, 1_000);
    assert!(bench.hold(0, 0, 2));
    for packet in 1..11 {
        bench.flow(packet, 50, 5_000);
        assert!(bench.hold(packet, packet, 0));
    }
    let mut turns = 0;
    while let Some((packet, reason)) = bench.serve()
        && packet != 0
    {
        assert_eq!(reason, Reason::Turn);
        turns += 1;
        bench.now = bench.now + Span::from_millis(1);
        assert!(bench.hold(packet, packet, 0));
    }
    // It waits for all but two of its round trips, although no other unit has so little time left.
    assert_eq!(turns, 901);
}
