//! Which acknowledgements find the window used.

use super::*;
use crate::transport::tcp::Pacing;

/// Reno in avoidance from four segments on, with an acknowledgement for each.
fn reno(config: &Config) -> Config {
    let parts = Parts::new(RecoveryKind::Sack, LawConfig::Reno(()));
    Config { parts, ack_every: 1, initial_ssthresh: Some(4.0), nagle: false, ..config.clone() }
}

fn rfc() -> Config {
    Config { packet: 1000, initial_window: 4, min_rto: Span::from_millis(200), ..Profile::Rfc.config() }
}

/// The window after a number of bursts, each of this number of segments, 50 ms apart.
fn after_bursts(config: &Config, bursts: u64, segments: u64) -> f64 {
    let mut pair = Pair::new(config);
    pair.open();
    pair.run(Span::from_millis(50));
    for _ in 0..bursts {
        pair.write(CLIENT, 1000 * segments);
        pair.run(Span(pair.now.0 + 50_000_000));
        pair.now = pair.now.after(Span::from_millis(50));
    }
    pair.ends[CLIENT].sender().window().cwnd
}

/// Linux: `tcp_is_cwnd_limited`. All acknowledgements of a burst that filled the window count, and none of one that did not; for
/// the RFCs the first alone.
#[test]
fn a_window_that_was_reached_counts_for_a_round_trip() {
    assert_eq!(after_bursts(&reno(&modern()), 1, 4), 5.0);
    assert_eq!(after_bursts(&reno(&rfc()), 1, 4), 4.25);
    for config in [modern(), rfc()] {
        assert_eq!(after_bursts(&reno(&config), 20, 3), 4.0);
        // Slow start continues to twice what was outstanding.
        let slow = Config { initial_ssthresh: None, ..reno(&config) };
        let cwnd = after_bursts(&slow, 20, 12);
        assert!((24.0..25.0).contains(&cwnd), "{cwnd}");
    }
}

/// RFC 9002 (7.8). A round trip of 20 ms and a window of segments spread over it: a segment that arrives finds others to leave.
#[test]
fn what_the_pace_holds_back_does_not_leave_the_window_unused() {
    for config in [modern(), rfc()] {
        let grown = |pacing, factors: (f64, f64)| {
            let config = Config { pacing, pacing_factors: factors, ..reno(&config) };
            let mut pair = Pair::new(&config);
            pair.open();
            pair.write(CLIENT, 10_000_000);
            pair.run(Span::from_secs(2));
            pair.ends[CLIENT].sender().window().cwnd
        };
        let free = grown(Pacing::ByLaw, (2.0, 1.2));
        let paced = grown(Pacing::All, (2.0, 1.2));
        assert!(paced > 0.9 * free, "{paced} and {free}");
    }
    // A pace that never lets the window fill is the limit itself in Linux; in RFC 9002 it is the window that is.
    let slow = |config: &Config| {
        let config = Config { pacing: Pacing::All, pacing_factors: (0.5, 0.5), ..reno(config) };
        let mut pair = Pair::new(&config);
        pair.open();
        pair.write(CLIENT, 10_000_000);
        pair.run(Span::from_secs(2));
        pair.ends[CLIENT].sender().window().cwnd
    };
    assert!(slow(&modern()) < 12.0);
    assert!(slow(&rfc()) > 12.0);
}

/// The application has less to send than the window takes: neither pace nor Nagle's rule hides that.
#[test]
fn data_that_does_not_fill_the_window_does_not_let_it_grow() {
    for config in [modern(), rfc()] {
        for (pacing, nagle) in [(Pacing::All, false), (Pacing::All, true), (Pacing::ByLaw, true)] {
            let config = Config { nagle, pacing, ..reno(&config) };
            let mut pair = Pair::new(&config);
            pair.open();
            for _ in 0..200 {
                pair.run(Span(pair.now.0 + 10_000_000));
                pair.now = pair.now.after(Span::from_millis(10));
                pair.write(CLIENT, 900);
            }
            let cwnd = pair.ends[CLIENT].sender().window().cwnd;
            assert!(cwnd <= 5.0, "{pacing:?}, {nagle}: {cwnd}");
        }
    }
}
