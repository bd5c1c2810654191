//! `BBRv3` clause by clause (draft-ietf-ccwg-bbr-06), on states and samples made by hand.

use super::losses::Bounds;
use super::*;
use crate::hooks::testing::{loss, mark};
use crate::units::Rate;

const SEGMENT: u32 = 1000;
const RTT: Span = Span::from_millis(100);
/// Segments a second: a bandwidth-delay product is a hundred segments.
const BW: f64 = 1000.0;

fn at(ms: u64) -> Time {
    Time(Span::from_millis(ms).0)
}

fn window(cwnd: f64) -> Window {
    Window::new(cwnd, None, 10_000.0)
}

/// A flow that has found the path, in this state.
fn flow(state: State) -> Bbr3 {
    let mut bbr = Bbr3::new(&Bbr3Config::default(), BbrConfig { segment: SEGMENT, draw: 7 });
    bbr.on_start(Time::ZERO, Some(RTT), &mut window(10.0));
    bbr.rates = [BW, BW];
    (bbr.bw, bbr.cwnd, bbr.state) = (BW, 200.0, state);
    bbr.full.reached = state != State::Startup;
    bbr.full.rate = BW;
    bbr
}

fn sample(ms: u64) -> Sample {
    Sample {
        now: at(ms),
        rate: Some(BW),
        delivered: 100.0,
        newly: 1.0,
        prior_delivered: 0,
        rtt: Some(RTT),
        sending: Sending { in_flight: 100, lost: 0, app_limited: false },
        pipe: 100.0,
    }
}

/// Lets segments leave, all but the last of them already lost or not.
fn send(bbr: &mut Bbr3, numbers: std::ops::Range<u64>, pipe: u32) {
    for (place, number) in numbers.enumerate() {
        let pipe = pipe + place as u32;
        let outstanding = u64::from(pipe + 1) * u64::from(SEGMENT);
        bbr.on_sent(&Departure { now: at(1), number, base: 0, pipe, outstanding, backlog: 1 });
    }
}

/// 5.6.1: the table of gains.
#[test]
fn each_state_has_its_gains() {
    let expected = [
        (State::Startup, 2.77, 2.0),
        (State::Drain, 0.5, 2.0),
        (State::Down, 0.9, 2.0),
        (State::Cruise, 1.0, 2.0),
        (State::Refill, 1.0, 2.0),
        (State::Up, 1.25, 2.25),
        (State::ProbeRtt, 1.0, 0.5),
    ];
    for (state, pace, cwnd) in expected {
        assert_eq!(flow(state).gains(), (pace, cwnd), "{state:?}");
    }
}

/// 5.6.2: a hundredth below the rate; in Startup the pace never falls; before a rate it follows from the first window.
#[test]
fn the_pace_is_a_hundredth_below_the_rate_times_the_gain() {
    let mut window = window(10.0);
    let mut bbr = Bbr3::new(&Bbr3Config::default(), BbrConfig { segment: SEGMENT, draw: 7 });
    bbr.on_start(Time::ZERO, Some(RTT), &mut window);
    assert_eq!(window.pacing, Some(Rate((2.77 * 10.0 * 8000.0 / 0.1) as u64)));
    bbr.on_start(Time::ZERO, None, &mut window);
    assert_eq!(window.pacing, Some(Rate((2.77 * 10.0 * 8000.0 / 0.001) as u64)));
    flow(State::Up).set_pace(1.25, &mut window);
    assert_eq!(window.pacing, Some(Rate(9_900_000)));
    flow(State::Startup).set_pace(0.5, &mut window);
    assert_eq!(window.pacing, Some(Rate(9_900_000)));
}

/// 5.6.2: a handshake that lost a segment measures nothing, and the first pace is that of a millisecond until the first sample.
#[test]
fn the_first_round_trip_sets_the_first_pace_where_the_handshake_measured_none() {
    let mut window = window(10.0);
    let mut bbr = Bbr3::new(&Bbr3Config::default(), BbrConfig { segment: SEGMENT, draw: 7 });
    bbr.on_start(Time::ZERO, None, &mut window);
    send(&mut bbr, 0..2, 0);
    let ack = |ms, newest, srtt| Ack {
        now: at(ms),
        srtt,
        delivered: Delivered { bytes: u64::from(SEGMENT), segments: 1, newest: Some(newest) },
        ..crate::hooks::testing::ack(crate::hooks::Progress::Open(1))
    };
    let first = Rate((2.77 * 10.0 * 8000.0 / 0.1) as u64);
    for (ms, newest, srtt) in [(101, 0, RTT), (102, 1, Span::from_millis(200))] {
        bbr.on_ack(&ack(ms, newest, Some(srtt)), &mut window);
        assert_eq!(window.pacing, Some(first), "only the first sample does");
    }
}

/// 5.6.3: a millisecond of the pace, at least two segments, at most 64 KiB.
#[test]
fn a_quantum_is_a_millisecond_of_the_pace_of_two_segments_to_64_kib() {
    let mut bbr = flow(State::Cruise);
    for (rate, bytes) in [(8_000_000, 2000), (80_000_000, 10_000), (8_000_000_000, 65_536)] {
        let mut window = Window { pacing: Some(Rate(rate)), ..window(10.0) };
        bbr.set_quantum(&mut window);
        assert_eq!(window.quantum, bytes);
    }
    bbr.config.quantum = Span::ZERO;
    let mut window = Window { pacing: Some(Rate(80_000_000)), ..window(10.0) };
    bbr.set_quantum(&mut window);
    assert_eq!((window.quantum, bbr.losses.quantum), (0, 1.0));
}

/// 5.3.1.2, 5.3.2 (and the draft's test cases 10.1, 10.3 and 10.4).
#[test]
fn startup_ends_after_three_rounds_without_growth_and_drain_when_the_queue_is_gone_or_after_three_rounds() {
    let mut bbr = flow(State::Startup);
    bbr.rounds.starts = true;
    for rounds in 1..=3 {
        assert!(!bbr.full.reached);
        bbr.check_full(&Sample { rate: Some(1.24 * BW), ..sample(1) });
        assert_eq!(bbr.full.rounds, rounds);
    }
    bbr.check_startup_and_drain(&Sample { pipe: 101.0, ..sample(1) });
    assert_eq!((bbr.state, bbr.full.now), (State::Drain, true));
    let mut late = bbr.clone();
    bbr.check_startup_and_drain(&Sample { pipe: 100.0, ..sample(2) });
    assert_eq!(bbr.state, State::Down);
    late.rounds.count += 3;
    late.check_startup_and_drain(&Sample { pipe: 150.0, ..sample(2) });
    assert_eq!(late.state, State::Drain);
    late.rounds.count += 1;
    late.check_startup_and_drain(&Sample { pipe: 150.0, ..sample(2) });
    assert_eq!(late.state, State::Down);
}

/// 5.3.1.2: growth by a quarter begins anew, and neither a limited sample nor one without a rate counts (10.7).
#[test]
fn a_rate_that_grows_or_that_the_application_limits_does_not_fill_the_pipe() {
    let mut bbr = flow(State::Startup);
    bbr.rounds.starts = true;
    bbr.check_full(&sample(1));
    bbr.check_full(&Sample { rate: Some(1.25 * BW), ..sample(1) });
    assert_eq!((bbr.full.rounds, bbr.full.rate), (0, 1.25 * BW));
    let sending = Sending { app_limited: true, ..sample(1).sending };
    for _ in 0..9 {
        bbr.check_full(&Sample { sending, ..sample(1) });
        bbr.check_full(&Sample { rate: None, ..sample(1) });
    }
    assert_eq!(bbr.full.rounds, 0);
}

/// 5.3.1.3 (10.2): six ranges, more than two per cent, a round after fast recovery began, however limited the samples are.
#[test]
fn losses_end_startup_only_if_they_are_many_and_in_many_places_for_a_round() {
    let ended = |before: u64, ranges: u64, lost: u64, rounds: u64| {
        let mut bbr = flow(State::Startup);
        let window = window(200.0);
        send(&mut bbr, 0..100, 0);
        bbr.on_loss(&Loss { sent_end: 100_000, ..loss(LossCause::Duplicates, 100) }, &mut window.clone());
        (0..before).for_each(|range| bbr.on_lost(2 * range, at(100), &window));
        bbr.update_latest_signals(&sample(150));
        bbr.advance_latest_signals(&sample(150));
        (before..before + ranges).for_each(|range| bbr.on_lost(2 * range, at(100), &window));
        bbr.rounds.count += rounds;
        let sending = Sending { in_flight: 100, lost, app_limited: true };
        let sample = Sample { prior_delivered: 1, delivered: 120.0, sending, ..sample(200) };
        bbr.update_latest_signals(&sample);
        bbr.check_startup_and_drain(&sample);
        (bbr.state != State::Startup).then_some(bbr.losses.bounds.longterm)
    };
    assert_eq!(ended(0, 6, 3, 1), Some(120.0));
    assert_eq!([ended(0, 5, 3, 1), ended(0, 6, 2, 1), ended(0, 6, 3, 0)], [None; 3]);
    assert_eq!(ended(5, 5, 3, 1), None, "half of them in the round before");
}

/// 5.3.3.8.3: two to three seconds, or as many rounds as the window has segments, 62 or 63 at most.
#[test]
fn probes_come_after_two_to_three_seconds_or_63_rounds_or_a_window_of_rounds() {
    let mut waits = Vec::new();
    let mut bbr = flow(State::Up);
    for _ in 0..200 {
        bbr.start_down(at(1000));
        let rounds = (0..100).find(|_| {
            let probes = bbr.clone().probes_again(at(1000));
            bbr.cycle.rounds += 1;
            probes
        });
        assert!(matches!(rounds, Some(62 | 63)), "{rounds:?}");
        bbr.cycle.rounds = 0;
        let wait = (0..4000).find(|ms| bbr.clone().probes_again(at(1000 + ms))).expect("it probes");
        waits.push(wait);
    }
    let (least, most) = (waits.iter().min(), waits.iter().max());
    assert!(least.is_some_and(|wait| (2000..2050).contains(wait)), "{least:?}");
    assert!(most.is_some_and(|wait| (2950..3002).contains(wait)), "{most:?}");
    bbr.cwnd = 7.0;
    bbr.cycle.rounds = 7;
    assert!(bbr.probes_again(at(1000)));
    assert_eq!(bbr.state, State::Refill);
}

/// 5.3.3.1 (10.8): the queue and the headroom of the bound are free.
#[test]
fn cruise_begins_when_the_queue_and_some_headroom_are_free() {
    let cruises = |longterm: f64, pipe: f64| {
        let mut bbr = flow(State::Up);
        bbr.start_down(at(1000));
        bbr.losses.bounds.longterm = longterm;
        bbr.update_cycle(&Sample { pipe, ..sample(1001) }, &window(200.0));
        bbr.state == State::Cruise
    };
    assert!(cruises(f64::INFINITY, 100.0) && !cruises(f64::INFINITY, 101.0));
    // 15 % of the bound.
    assert!(cruises(100.0, 85.0) && !cruises(100.0, 86.0));
}

/// 5.3.3.3 and 5.3.3.4: the short-term bounds are discarded, and a round later the probe begins.
#[test]
fn refill_forgets_the_short_term_and_lasts_a_round() {
    let mut bbr = flow(State::Cruise);
    bbr.losses.bounds = Bounds { bw_shortterm: 500.0, shortterm: 50.0, longterm: 120.0 };
    bbr.start_refill();
    let Bounds { bw_shortterm, shortterm, longterm } = bbr.losses.bounds;
    assert_eq!((bw_shortterm, shortterm, longterm), (f64::INFINITY, f64::INFINITY, 120.0));
    bbr.update_cycle(&sample(1), &window(200.0));
    assert_eq!((bbr.state, bbr.cycle.is_probe), (State::Refill, false));
    bbr.rounds.starts = true;
    bbr.update_cycle(&sample(2), &window(200.0));
    assert_eq!((bbr.state, bbr.cycle.is_probe), (State::Up, true));
}

/// 5.3.3.5: by 1, 2, 4 segments in the rounds of a probe whose window the bound limits.
#[test]
fn a_probe_raises_the_bound_by_twice_as_much_each_round() {
    let mut bbr = flow(State::Refill);
    let window = window(100.0);
    bbr.cwnd = 100.0;
    bbr.losses.bounds.longterm = 100.0;
    bbr.rounds.starts = true;
    bbr.update_cycle(&sample(1), &window);
    let mut bounds = Vec::new();
    for _ in 0..3 {
        bbr.full_window = Some(bbr.rounds.count);
        for acked in 0..100 {
            // The window follows the bound.
            let window = Window { cwnd: bbr.losses.bounds.longterm, ..window };
            bbr.rounds.starts = acked == 99;
            bbr.update_cycle(&sample(2), &window);
        }
        bounds.push(bbr.losses.bounds.longterm);
    }
    assert_eq!(bounds, [101.0, 103.0, 107.0]);
}

/// 5.3.3.6: after a probe that was too high the next stops where the bound is, and, if it was safe, another follows at once.
#[test]
fn the_probe_after_one_that_was_too_high_is_precautionary() {
    let mut bbr = flow(State::Up);
    bbr.losses.bounds.longterm = 120.0;
    bbr.cycle.was_too_high = true;
    bbr.update_cycle(&Sample { pipe: 119.0, ..sample(1) }, &window(200.0));
    assert_eq!(bbr.state, State::Up);
    bbr.update_cycle(&Sample { pipe: 120.0, ..sample(2) }, &window(200.0));
    assert_eq!((bbr.state, bbr.cycle.was_precautionary), (State::Down, true));
    bbr.rounds.starts = true;
    bbr.update_cycle(&sample(100), &window(200.0));
    assert_eq!((bbr.state, bbr.cycle.was_precautionary), (State::Refill, false));
}

/// 5.5.10.2 (10.21): what was in flight when the losses crossed two per cent; at least 70 % of the target.
#[test]
fn a_probe_that_loses_more_than_two_per_cent_sets_the_bound_and_ends() {
    let mut bbr = flow(State::Up);
    bbr.cycle.is_probe = true;
    send(&mut bbr, 0..150, 0);
    let window = window(200.0);
    // The third of 120 in flight: 3 > 2.4.
    for number in [118, 118, 119] {
        assert_eq!(bbr.state, State::Up);
        bbr.on_lost(number, at(200), &window);
    }
    assert_eq!((bbr.state, bbr.cycle.was_too_high, bbr.losses.too_high), (State::Down, true, 1));
    // 119 before it, two of them lost: (0.02 x 119 - 2) / 0.98 more.
    let expected = 119.0 + (0.02 * 119.0 - 2.0) / 0.98;
    assert!((bbr.losses.bounds.longterm - expected).abs() < 1e-9, "{}", bbr.losses.bounds.longterm);
    // Once a probe.
    bbr.on_lost(120, at(200), &window);
    assert_eq!(bbr.losses.too_high, 1);
    let mut bbr = flow(State::Up);
    bbr.cycle.is_probe = true;
    send(&mut bbr, 0..10, 0);
    bbr.on_lost(9, at(200), &window);
    assert_eq!(bbr.losses.bounds.longterm, 70.0);
}

/// 5.5.10.3: once a round with losses, to what is delivered, by 30 % at most; not while it probes.
#[test]
fn a_round_with_losses_lowers_rate_and_window_to_what_is_delivered() {
    let adapted = |state: State, delivered: f64| {
        let mut bbr = flow(state);
        bbr.note_loss(&window(200.0));
        let sample = Sample { rate: Some(10.0 * delivered), delivered, prior_delivered: 1, ..sample(1) };
        bbr.update_latest_signals(&sample);
        bbr.adapt_lower_bounds(&window(200.0));
        (bbr.losses.bounds.bw_shortterm, bbr.losses.bounds.shortterm)
    };
    assert_eq!(adapted(State::Cruise, 90.0), (900.0, 140.0));
    assert_eq!(adapted(State::Down, 10.0), (700.0, 140.0));
    assert_eq!(adapted(State::Cruise, 160.0), (1600.0, 160.0));
    assert_eq!(adapted(State::Up, 90.0), (f64::INFINITY, f64::INFINITY));
}

/// 5.5.6: the rate of the cycle before the last is forgotten, unless the last had no sample.
#[test]
fn the_rate_is_the_greatest_of_this_cycle_and_the_last() {
    let mut bbr = flow(State::Cruise);
    bbr.advance_max_bw();
    bbr.update_max_bw(&Sample { rate: Some(400.0), ..sample(1) });
    assert_eq!(bbr.max_bw(), 1000.0);
    bbr.advance_max_bw();
    assert_eq!(bbr.max_bw(), 400.0);
    bbr.advance_max_bw();
    assert_eq!(bbr.max_bw(), 400.0);
    // 5.5.4 (10.22): what the application limits counts only if it is more.
    let sending = Sending { app_limited: true, ..sample(1).sending };
    for (rate, most) in [(300.0, 400.0), (500.0, 500.0)] {
        bbr.update_max_bw(&Sample { rate: Some(rate), sending, ..sample(1) });
        assert_eq!(bbr.max_bw(), most);
    }
}

/// 5.3.4.3: five seconds without a lower round trip, whether it repeats or not; 10.11: not after an idle time.
#[test]
fn probe_rtt_begins_after_five_seconds_without_a_lower_round_trip_unless_the_flow_was_idle() {
    let probes_after = |idle: bool| {
        let mut bbr = flow(State::Cruise);
        (0..30_000).step_by(10).find(|ms| {
            bbr.restarts = idle;
            bbr.update_min_rtt(&sample(*ms));
            bbr.check_probe_rtt(&sample(*ms), &mut window(200.0));
            bbr.state == State::ProbeRtt
        })
    };
    assert_eq!((probes_after(false), probes_after(true)), (Some(5010), None));
}

/// 5.6.4.5: half a bandwidth-delay product; it ends after 200 ms and a round (5.3.4.3), in CRUISE or in Startup (10.10, 10.20).
#[test]
fn probe_rtt_holds_half_a_product_for_200_ms_and_a_round() {
    for (reached, after) in [(true, State::Cruise), (false, State::Startup)] {
        let mut bbr = flow(State::Cruise);
        bbr.full.reached = reached;
        let mut window = window(200.0);
        bbr.round_trips.begin(Time::ZERO, Some(RTT));
        bbr.update_min_rtt(&sample(5001));
        bbr.check_probe_rtt(&Sample { pipe: 51.0, ..sample(5001) }, &mut window);
        bbr.set_window(&sample(5001), &mut window);
        assert_eq!((bbr.state, window.cwnd), (State::ProbeRtt, 50.0));
        // The 200 ms begin when the segments in flight fit.
        bbr.check_probe_rtt(&Sample { pipe: 50.0, ..sample(5100) }, &mut window);
        bbr.check_probe_rtt(&sample(5301), &mut window);
        assert_eq!(bbr.state, State::ProbeRtt);
        bbr.rounds.starts = true;
        bbr.check_probe_rtt(&sample(5300), &mut window);
        assert_eq!(bbr.state, State::ProbeRtt);
        bbr.check_probe_rtt(&sample(5301), &mut window);
        assert_eq!((bbr.state, window.cwnd), (after, 200.0));
    }
}

/// 5.4.1: the pace is the rate itself, whatever the state's gain is.
#[test]
fn a_flow_that_was_idle_restarts_at_its_rate() {
    let mut bbr = flow(State::Down);
    let mut window = window(200.0);
    bbr.on_restart(at(9000), &mut window);
    assert_eq!((bbr.restarts, window.pacing), (false, None));
    bbr.sampler.limit(1);
    bbr.on_restart(at(9000), &mut window);
    assert_eq!((bbr.restarts, window.pacing, window.cwnd), (true, Some(Rate(7_920_000)), 200.0));
}

/// 5.6.4.4: a timeout leaves one segment, and the next acknowledgement adds what proves to be in the network.
#[test]
fn a_timeout_leaves_one_segment_and_recovery_ends_with_the_window_before() {
    let mut bbr = flow(State::Cruise);
    let mut window = window(150.0);
    bbr.on_loss(&Loss { sent_end: 9000, ..loss(LossCause::Timeout, 100) }, &mut window);
    assert_eq!((window.cwnd, bbr.prior), (1.0, 150.0));
    bbr.end_recovery(8999, &mut window);
    assert_eq!(window.cwnd, 1.0);
    bbr.end_recovery(9000, &mut window);
    assert_eq!(window.cwnd, 150.0);
    let mut bbr = flow(State::Cruise);
    bbr.on_loss(&Loss { sent_end: 9000, ..loss(LossCause::Duplicates, 100) }, &mut window);
    assert_eq!((window.cwnd, bbr.losses.recovering), (150.0, Some(9000)));
}

/// 5.5.11 (10.18, 10.19): bounds, window and the state that losses ended return.
#[test]
fn a_recovery_that_was_not_needed_is_taken_back() {
    let mut bbr = flow(State::Up);
    bbr.cycle.is_probe = true;
    send(&mut bbr, 0..100, 0);
    let mut window = window(150.0);
    (0..20).for_each(|number| bbr.on_lost(number, at(100), &window));
    bbr.on_loss(&Loss { sent_end: 100_000, ..loss(LossCause::Duplicates, 100) }, &mut window);
    assert!(bbr.state == State::Down && bbr.losses.bounds.longterm < 1000.0);
    window.cwnd = 60.0;
    bbr.on_undo(&mut window);
    assert_eq!((bbr.state, bbr.losses.bounds.longterm, window.cwnd), (State::Refill, f64::INFINITY, 150.0));
    let mut bbr = flow(State::Startup);
    bbr.on_mark(&mark(100), &mut window);
    bbr.check_startup_and_drain(&Sample { pipe: 150.0, ..sample(1) });
    assert_eq!(bbr.state, State::Drain);
    bbr.on_undo(&mut window);
    assert_eq!((bbr.state, bbr.full.reached), (State::Startup, false));
}

/// 3.7: a mark is congestion: it ends Startup and a probe, and counts in its round.
#[test]
fn a_mark_counts_as_a_loss() {
    let mut window = window(200.0);
    let mut bbr = flow(State::Startup);
    assert_eq!(bbr.on_mark(&mark(80), &mut window), Reduction::Reduced);
    assert!(bbr.full.reached);
    let mut bbr = flow(State::Up);
    bbr.cycle.is_probe = true;
    bbr.on_mark(&mark(110), &mut window);
    assert_eq!((bbr.state, bbr.losses.bounds.longterm), (State::Down, 110.0));
    let mut bbr = flow(State::Cruise);
    bbr.on_mark(&mark(80), &mut window);
    bbr.update_latest_signals(&Sample { prior_delivered: 1, ..sample(1) });
    bbr.adapt_lower_bounds(&window);
    assert_eq!(bbr.losses.bounds.shortterm, 140.0);
}

/// 5.6.4.7 and 5.6.4.3.
#[test]
fn the_window_is_within_the_bounds_of_its_state_and_at_least_four_segments() {
    let cap = |state: State| {
        let mut bbr = flow(state);
        bbr.losses.bounds = Bounds { bw_shortterm: BW, shortterm: 150.0, longterm: 120.0 };
        bbr.cap()
    };
    let states = [State::Startup, State::Down, State::Cruise, State::Up, State::ProbeRtt];
    assert_eq!(states.map(cap), [150.0, 120.0, 102.0, 120.0, 102.0]);
    let mut bbr = flow(State::Cruise);
    bbr.losses.bounds.shortterm = 1.0;
    let mut window = window(200.0);
    bbr.set_window(&sample(1), &mut window);
    assert_eq!(window.cwnd, 4.0);
}
