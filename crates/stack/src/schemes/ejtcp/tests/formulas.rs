//! The maximum round trip, modulation, growth, bursts, the filter, and bounds that always hold.

use super::*;
use proptest::prelude::*;

#[test]
fn only_round_trips_with_growing_delays_raise_the_longest() {
    let mut window = window();
    let mut law = Ejtcp::new(&EjtcpConfig::default());
    see(&mut law, EMPTY, 300, &mut window);
    assert_eq!(law.max_rtt, Span::ZERO);
    see(&mut law, QUEUEING, 250, &mut window);
    assert_eq!(law.max_rtt, Span::from_millis(250));
    see(&mut law, QUEUEING, 200, &mut window);
    assert_eq!(law.max_rtt, Span::from_millis(250), "it does not fade");
}

#[test]
fn a_duplicate_gives_no_round_trip() {
    let (mut law, mut window) = (Ejtcp::new(&EjtcpConfig::default()), window());
    see(&mut law, QUEUEING, 100, &mut window);
    law.on_ack(&Ack { progress: Progress::Duplicate, ..stamped(400, 900, 300) }, &mut window);
    assert_eq!((law.rtt, law.max_rtt), (Span::from_millis(100), Span::from_millis(100)));
}

#[test]
fn growth_is_renos_and_bursts_are_limited_from_the_first_acknowledgement_on() {
    let mut window = window();
    let mut law = Ejtcp::new(&EjtcpConfig::default());
    law.on_ack(&ack(Progress::Open(1)), &mut window);
    assert_eq!((window.cwnd, window.burst_limit), (20.05, Some(3)));
    let mut law = Ejtcp::new(&EjtcpConfig { smooth: None, ..EjtcpConfig::default() });
    law.on_ack(&ack(Progress::Duplicate), &mut window);
    assert_eq!((window.cwnd, window.burst_limit), (20.05, None));
}

fn tell(law: &mut Ejtcp, modulation: Modulation, window: &mut Window) {
    let mut told = stamped(0, 0, 100);
    told.extension = told.extension.map(|echo| Echo { modulation: Some(modulation), ..echo });
    law.on_ack(&told, window);
}

#[test]
fn the_window_follows_the_rate_of_the_modulation() {
    use Modulation::{Qam16, Qam64, Qpsk};
    // From 96 to 32 Mbit/s the window falls to a third, and to 64 it doubles, or only falls.
    let cases = [
        (ModulationRule::Scale, [(30.0, 12.0), (10.0, 4.0), (20.0, 8.0)]),
        (ModulationRule::ScaleDown, [(30.0, 12.0), (10.0, 4.0), (10.0, 4.0)]),
        (ModulationRule::Off, [(30.0, 12.0); 3]),
    ];
    for (modulation, expected) in cases {
        let mut law = Ejtcp::new(&EjtcpConfig { modulation, ..EjtcpConfig::default() });
        let mut window = Window::new(30.0, Some(12.0), 100.0);
        for (told, left) in [Qam64, Qpsk, Qam16].into_iter().zip(expected) {
            tell(&mut law, told, &mut window);
            tell(&mut law, told, &mut window);
            assert_eq!((window.cwnd, window.ssthresh), left, "{modulation:?} {told:?}");
        }
    }
}

#[test]
fn a_change_of_modulation_leaves_two_segments_and_forgets_the_longest_round_trip() {
    let mut window = Window::new(4.0, Some(3.0), 100.0);
    let mut law = Ejtcp::new(&EjtcpConfig::default());
    tell(&mut law, Modulation::Qam64, &mut window);
    see(&mut law, QUEUEING, 250, &mut window);
    assert_eq!(law.max_rtt, Span::from_millis(250));
    law.jitter = JitterRatio::new(Attribution::Trigger, crate::estimate::Reach::Round);
    tell(&mut law, Modulation::Qpsk, &mut window);
    assert_eq!((window.cwnd, window.ssthresh, law.max_rtt), (2.0, 2.0, Span::ZERO));
}

#[test]
fn a_duplicate_triggered_by_what_is_acknowledged_already_does_not_count() {
    let echo = |trigger| Echo { trigger, ..stamped(0, 0, 1).extension.expect("stamps") };
    let law = Ejtcp::new(&EjtcpConfig::default());
    assert!(!law.heeds(&echo(999), 1000) && law.heeds(&echo(2000), 1000));
    let law = Ejtcp::new(&EjtcpConfig { filter: false, ..EjtcpConfig::default() });
    assert!(law.heeds(&echo(999), 1000));
}

/// An event, given by a few numbers.
fn step(law: &mut Ejtcp, window: &mut Window, (kind, a, b): (u8, u64, u64)) {
    match kind {
        0 => law.on_ack(&Ack { progress: Progress::Open(1), ..stamped(a, a + b, 1 + b) }, window),
        1 => {
            let modulation = [Modulation::Qpsk, Modulation::Qam16, Modulation::Qam64][(a % 3) as usize];
            tell(law, modulation, window);
        }
        _ => {
            let cause = [LossCause::Duplicates, LossCause::Timeout, LossCause::RepeatedTimeout];
            let copies = law.on_loss(&at(a, cause[(b % 3) as usize], a + 1), window).copies;
            assert!((1..=2).contains(&copies));
        }
    }
    window.clamp();
}

proptest! {
    #[test]
    fn the_window_is_never_below_one_segment_nor_above_its_limit(
        events in prop::collection::vec((0u8..3, 0u64..5000, 0u64..500), 1..300),
        choice in 0usize..4,
    ) {
        let random_timeout =
            [RandomTimeout::Keep, RandomTimeout::SlowStart, RandomTimeout::Half, RandomTimeout::Reno][choice];
        let mut law = Ejtcp::new(&EjtcpConfig { random_timeout, ..EjtcpConfig::default() });
        let mut window = window();
        for event in events {
            step(&mut law, &mut window, event);
            prop_assert!((1.0..=100.0).contains(&window.cwnd) && window.ssthresh >= 2.0);
        }
    }
}
