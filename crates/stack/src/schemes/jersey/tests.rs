//! The rules of TCP-Jersey, with numbers computed by hand.

use super::*;
use crate::hooks::testing::{ack, loss, mark};

fn at(ms: u64) -> Time {
    Time(Span::from_millis(ms).0)
}

/// TCP-Jersey on a path of 80 ms that delivers a segment every 2 ms, with a recent round trip of 100 ms. The rate is
/// 500 segments per second, which fills 40 segments in the minimum round trip.
fn jersey(response: WarningResponse, window: &mut Window) -> Jersey {
    let mut jersey = Jersey::new(&JerseyConfig { response, ..JerseyConfig::default() });
    for tick in 0..1_000 {
        let rtt = Span::from_millis(if tick == 0 { 80 } else { 100 });
        let (rtt, srtt) = (Some(rtt), Some(rtt));
        jersey.on_ack(&Ack { now: at(2 * tick), rtt, srtt, ..ack(Progress::Unlimited(1)) }, window);
    }
    jersey
}

/// An acknowledgement 2 ms after the last one.
fn next(progress: Progress, ecn: EcnEcho) -> Ack {
    Ack { now: at(2_000), srtt: Some(Span::from_millis(100)), ecn, ..ack(progress) }
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 0.01, "{found}, not {expected}");
}

const MARKED: EcnEcho = EcnEcho::Marked;
const UNMARKED: EcnEcho = EcnEcho::Unmarked;

#[test]
fn an_acknowledgement_with_a_warning_sets_the_window_that_the_rate_fills_in_the_least_round_trip() {
    // In congestion avoidance the window becomes 40 from either side; in slow start a window below 40 is kept.
    for (cwnd, ssthresh, left) in
        [(60.0, 50.0, 40.0), (30.0, 20.0, 40.0), (30.0, 90.0, 30.0), (60.0, 90.0, 40.0)]
    {
        let mut window = Window::new(cwnd, Some(ssthresh), 100.0);
        let mut jersey = jersey(WarningResponse::EveryAck, &mut window);
        jersey.on_ack(&next(Progress::Unlimited(1), MARKED), &mut window);
        close(window.cwnd, left);
        close(window.ssthresh, 40.0);
        assert_eq!(jersey.on_mark(&mark(60), &mut window), Reduction::Reduced);
        close(window.cwnd, left);
        assert_eq!(jersey.counts()[0].value, 1);
    }
}

#[test]
fn the_first_of_a_window_alone_sets_it_where_the_scenario_says_so() {
    let mut window = Window::new(60.0, Some(50.0), 100.0);
    let mut jersey = jersey(WarningResponse::OnceAWindow, &mut window);
    jersey.on_ack(&next(Progress::Unlimited(1), MARKED), &mut window);
    assert_eq!(window.cwnd, 60.0);
    jersey.on_mark(&mark(60), &mut window);
    close(window.cwnd, 40.0);
}

#[test]
fn a_third_duplicate_with_a_warning_is_congestion_and_one_without_leaves_the_window() {
    for (ecn, left, reduction, judgement) in [
        (MARKED, 40.0, Reduction::Reduced, Judgement::Congestion),
        (UNMARKED, 60.0, Reduction::Kept, Judgement::Random),
    ] {
        for answered in [false, true] {
            let mut window = Window::new(60.0, Some(50.0), 100.0);
            let mut jersey = jersey(WarningResponse::EveryAck, &mut window);
            jersey.on_ack(&next(Progress::Duplicate, ecn), &mut window);
            assert_eq!(window.cwnd, 60.0, "a duplicate alone sets nothing");
            let lost = loss(LossCause::Duplicates, 60);
            let answer = if answered {
                jersey.on_answered_loss(&lost, &mut window)
            } else {
                jersey.on_loss(&lost, &mut window)
            };
            close(window.cwnd, left);
            assert_eq!(answer, LossResponse { reduction, copies: 1, judgement: Some(judgement) });
        }
    }
}

#[test]
fn a_timeout_leaves_one_segment_and_the_estimate_as_threshold() {
    for (ecn, judgement) in [(UNMARKED, Judgement::Random), (MARKED, Judgement::Congestion)] {
        let mut window = Window::new(60.0, Some(50.0), 100.0);
        let mut jersey = jersey(WarningResponse::EveryAck, &mut window);
        jersey.on_ack(&next(Progress::Duplicate, ecn), &mut window);
        let answer = jersey.on_loss(&loss(LossCause::Timeout, 60), &mut window);
        close(window.ssthresh, 40.0);
        assert_eq!((window.cwnd, answer.judgement), (1.0, Some(judgement)));
    }
}

#[test]
fn it_grows_as_reno_does_and_not_at_a_warning() {
    let mut window = Window::new(10.0, Some(10.0), 100.0);
    let mut jersey = Jersey::new(&JerseyConfig::default());
    jersey.on_ack(&ack(Progress::Open(1)), &mut window);
    assert_eq!(window.cwnd, 10.1);
    jersey.on_ack(&Ack { ecn: MARKED, ..ack(Progress::Recovering(1)) }, &mut window);
    assert_eq!(window.cwnd, 10.1);
}

#[test]
fn before_a_rate_and_a_round_trip_are_known_it_is_reno() {
    let mut window = Window::new(20.0, Some(100.0), 100.0);
    let mut jersey = Jersey::new(&JerseyConfig::default());
    jersey.on_ack(&Ack { ecn: MARKED, ..ack(Progress::Unlimited(1)) }, &mut window);
    assert_eq!((window.cwnd, jersey.estimate(Time::ZERO)), (20.0, None));
    assert_eq!(jersey.on_mark(&mark(20), &mut window), Reduction::Reduced);
    assert_eq!((window.cwnd, window.ssthresh), (10.0, 10.0));
    let answer = jersey.on_loss(&loss(LossCause::Duplicates, 10), &mut window);
    assert_eq!((window.cwnd, answer.judgement), (5.0, Some(Judgement::Congestion)));
}

#[test]
fn a_slow_path_leaves_two_segments() {
    let mut window = Window::new(20.0, Some(10.0), 100.0);
    let mut jersey = Jersey::new(&JerseyConfig::default());
    let rtt = Some(Span::from_millis(100));
    for tick in 0..200 {
        // 10 segments per second times 0.1 s = 1.
        let now = at(100 * tick);
        jersey.on_ack(&Ack { now, rtt, srtt: rtt, ecn: MARKED, ..ack(Progress::Unlimited(1)) }, &mut window);
    }
    assert_eq!((window.cwnd, window.ssthresh), (2.0, 2.0));
}
