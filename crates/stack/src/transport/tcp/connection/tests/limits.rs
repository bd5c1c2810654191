//! What limits a sender.

use super::*;
use crate::transport::tcp::Pacing;
use crate::transport::tcp::sender::Limit::{self, Application, Pace, Receiver, Window};

const OPEN: Span = Span::from_millis(50);
const SECOND: Span = Span::from_secs(1);

/// Reno, with an acknowledgement for each segment of 1000 bytes.
fn reno() -> Config {
    let parts = Parts::new(RecoveryKind::Sack, LawConfig::Reno(()));
    let base = Profile::Rfc.config();
    Config { parts, ack_every: 1, packet: 1000, initial_window: 4, initial_ssthresh: Some(8.0), ..base }
}

/// A connection that is open for 30 ms.
fn opened(config: &Config) -> Pair {
    let mut pair = Pair::new(config);
    pair.open();
    pair.run(OPEN);
    pair.now = Time(OPEN.0);
    pair
}

/// The shares of the second after it has written this much.
fn after_writing(mut pair: Pair, bytes: u64) -> [f64; 4] {
    let begin = pair.now;
    let before = pair.ends[CLIENT].counters(begin).limited;
    pair.write(CLIENT, bytes);
    pair.run(Span(begin.after(SECOND).0));
    // The last step may lead beyond the second.
    let end = pair.now.max(begin.after(SECOND));
    let after = pair.ends[CLIENT].counters(end).limited;
    [0, 1, 2, 3].map(|limit| (after[limit] - before[limit]).as_secs() / end.since(begin).as_secs())
}

fn spent(config: &Config, bytes: u64) -> [f64; 4] {
    after_writing(opened(config), bytes)
}

fn of(spent: [f64; 4], limit: Limit) -> f64 {
    spent[limit as usize]
}

#[test]
fn each_time_has_one_limit() {
    let paced = Config { pacing: Pacing::All, ..reno() };
    for (config, bytes) in [(reno(), 0), (reno(), 3000), (reno(), 10_000_000), (paced, 10_000_000)] {
        let all: f64 = spent(&config, bytes).iter().sum();
        assert!((all - 1.0).abs() < 1e-9, "{all}");
    }
}

#[test]
fn an_application_that_writes_little_is_the_limit() {
    assert_eq!(of(spent(&reno(), 0), Application), 1.0);
    assert_eq!(of(spent(&reno(), 3000), Application), 1.0);
    // Six segments take a round trip more than the first four.
    let six = spent(&reno(), 6000);
    assert!((of(six, Window) - 0.02).abs() < 1e-3, "{six:?}");
}

#[test]
fn a_window_at_its_maximum_is_the_receivers() {
    let narrow = Config { window: 4, ..reno() };
    assert_eq!(spent(&narrow, 10_000_000), [0.0, 1.0, 0.0, 0.0]);
    let buffer = Config { receive_buffer: Some(4000), ..reno() };
    assert!(of(spent(&buffer, 10_000_000), Receiver) > 0.9);
    assert_eq!(of(spent(&reno(), 10_000_000), Window), 1.0);
}

#[test]
fn spaced_segments_wait_for_the_pace() {
    let paced = Config { pacing: Pacing::All, pacing_factors: (0.5, 0.5), ..reno() };
    let spent = spent(&paced, 10_000_000);
    assert!(of(spent, Pace) > 0.5, "{spent:?}");
}

/// The first of five segments is lost, and nothing more is written: until it has arrived the sender repairs.
#[test]
fn a_repair_waits_for_the_window() {
    let mut pair = opened(&Config { initial_window: 5, ..reno() });
    pair.lost[CLIENT] = vec![pair.seen[CLIENT]];
    let spent = after_writing(pair, 5000);
    assert!((of(spent, Window) - 0.02).abs() < 1e-3, "{spent:?}");
}

#[test]
fn a_connection_is_open_before_it_is_limited() {
    let mut pair = opened(&reno());
    let now = pair.now;
    assert_eq!(pair.ends[CLIENT].counters(now).limited[Application as usize], Span::from_millis(30));
}
