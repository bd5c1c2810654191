//! When paced segments leave.

use super::*;
use crate::registry::CongestionKind;
use crate::transport::congestion::Bbr3Config;
use crate::transport::tcp::Pacing;

/// A sender of this law and pacing, which has written enough.
fn sending(law: LawConfig, pacing: Pacing, ssthresh: Option<f64>) -> Pair {
    let parts = Parts::new(RecoveryKind::Sack, law);
    let config = Config {
        parts,
        pacing,
        initial_ssthresh: ssthresh,
        ack_every: 1,
        tick: Span::ZERO,
        window: 400,
        ..modern()
    };
    let mut pair = Pair::new(&config);
    pair.open();
    pair.write(CLIENT, 10_000_000);
    pair
}

/// The gaps between the departures of data from one time to another, in seconds.
fn gaps(pair: &Pair, from_ms: u64, until_ms: u64) -> Vec<f64> {
    let within = from_ms * 1_000_000..until_ms * 1_000_000;
    let sent =
        pair.log.iter().filter(|line| line.1 == CLIENT && line.2.len > 0 && within.contains(&line.0.0));
    let times: Vec<u64> = sent.map(|line| line.0.0).collect();
    times.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e9).collect()
}

/// Linux: `tcp_update_pacing_rate`. The round trip is 20 ms throughout; the window grows by a segment each round trip.
#[test]
fn in_avoidance_a_segment_leaves_each_round_trip_over_one_point_two_windows() {
    let mut pair = sending(LawConfig::Reno(()), Pacing::All, Some(4.0));
    pair.run(Span::from_secs(2));
    let window = pair.ends[CLIENT].sender().window();
    let expected = (8.0 * 1000.0 * 1.2 * window.cwnd / 0.02) as u64;
    assert_eq!(window.pacing.map(|rate| rate.0), Some(expected));
    let gaps = gaps(&pair, 1900, 1990);
    let least = gaps.iter().copied().fold(f64::INFINITY, f64::min);
    assert!((least / (0.02 / 1.2 / window.cwnd) - 1.0).abs() < 0.03, "{least} at {}", window.cwnd);
}

#[test]
fn below_half_of_ssthresh_the_pace_is_two_windows_a_round_trip() {
    let pace = |cwnd: f64| {
        let mut pair = sending(LawConfig::Reno(()), Pacing::All, Some(64.0));
        while pair.ends[CLIENT].sender().window().cwnd < cwnd {
            assert!(pair.step());
        }
        let window = pair.ends[CLIENT].sender().window();
        window.pacing.map_or(0.0, |rate| rate.0 as f64) * 0.02 / 8000.0 / window.cwnd
    };
    assert!((pace(20.0) - 2.0).abs() < 1e-3, "{}", pace(20.0));
    assert!((pace(40.0) - 1.2).abs() < 1e-3, "{}", pace(40.0));
}

#[test]
fn what_sets_its_own_pace_keeps_it_and_pacing_that_is_off_spaces_nothing() {
    let paces = |law: CongestionKind, pacing: Pacing| {
        let mut pair = sending(law.config(), pacing, None);
        pair.run(Span::from_millis(500));
        pair.ends[CLIENT].sender().window().pacing
    };
    for law in [CongestionKind::Bbr, CongestionKind::Bbr3] {
        assert!(paces(law, Pacing::ByLaw).is_some());
        assert_eq!(paces(law, Pacing::All), paces(law, Pacing::ByLaw));
        assert_eq!(paces(law, Pacing::None), None);
    }
    assert_eq!(paces(CongestionKind::Cubic, Pacing::ByLaw), None);
    assert!(paces(CongestionKind::Cubic, Pacing::All).is_some());
}

/// draft-ietf-ccwg-bbr-06 (5.6.2, 5.6.3): quanta of two segments, as far apart as the pace of their bytes.
#[test]
fn a_pace_in_quanta_lets_two_segments_leave_at_once_and_is_as_fast_as_one_in_segments() {
    let departures = |quantum: Span| {
        let law = LawConfig::Bbr3(Bbr3Config { quantum, ..Bbr3Config::default() });
        let parts = Parts::new(RecoveryKind::Sack, law);
        let config = Config { parts, unpaced_start: 0, initial_window: 6, ..modern() };
        let mut pair = Pair::new(&config);
        pair.open();
        pair.write(CLIENT, 6_000);
        pair.run(Span::from_secs(1));
        let sent = pair.log.iter().filter(|line| line.1 == CLIENT && line.2.len > 0);
        let times: Vec<u64> = sent.map(|line| line.0.0 - 20_000_000).collect();
        let rate = pair.ends[CLIENT].sender().window().pacing;
        (times, rate)
    };
    // 2.77 windows of six segments in the 20 ms of the handshake: 1.203 ms a segment.
    let gap = 20e6 / 6.0 / 2.77;
    let near = |times: &[u64], expected: [f64; 6]| {
        times.len() == 6
            && times.iter().zip(expected).all(|(time, gaps)| (*time as f64 - gaps * gap).abs() < 2e3)
    };
    let (singles, pairs) = (departures(Span::ZERO).0, departures(Span::from_millis(1)).0);
    assert!(near(&singles, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), "{singles:?}");
    assert!(near(&pairs, [0.0, 0.0, 2.0, 2.0, 4.0, 4.0]), "{pairs:?}");
}

/// Linux: `tcp_update_skb_after_send` spaces nothing before ten segments have left.
#[test]
fn the_first_segments_of_a_connection_leave_without_a_pace() {
    let departures = |unpaced_start: u32| {
        let parts = Parts::new(RecoveryKind::Sack, CongestionKind::Bbr.config());
        let config = Config { parts, unpaced_start, initial_window: 6, ..modern() };
        let mut pair = Pair::new(&config);
        pair.open();
        pair.write(CLIENT, 6_000);
        pair.run(Span::from_secs(1));
        let sent = pair.log.iter().filter(|line| line.1 == CLIENT && line.2.len > 0);
        sent.map(|line| line.0.0 - 20_000_000).collect::<Vec<u64>>()
    };
    // draft-cardwell-iccrg-bbr-congestion-control-00 (4.2.1): 2.89 windows of six segments in the 20 ms of the handshake.
    let gap = 20e6 / 6.0 / 2.885_39;
    for (unpaced, paced) in [(0, [1.0, 2.0, 3.0, 4.0, 5.0]), (3, [0.0, 0.0, 0.0, 1.0, 2.0]), (6, [0.0; 5])] {
        let times = departures(unpaced);
        let near = |(time, gaps): (&u64, f64)| (*time as f64 - gaps * gap).abs() < 2e3;
        assert!(times.len() == 6 && times[1..].iter().zip(paced).all(near), "{unpaced}: {times:?}");
    }
}
