//! LLE-TCP in safe mode behind an access point: how many of the receiver's acknowledgements go over the air.

use crate::common::{metric, run_seed};
use lasthop_sim::Outcome;
use lasthop_sim::scenario::Scenario;

/// The file of `scenarios/safe-hop.toml` with these settings, over ten seeds.
fn files(overrides: &[(&str, &str)]) -> Vec<Outcome> {
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let text = include_str!("scenarios/safe-hop.toml");
    let scenario = Scenario::from_text(text, "safe-hop.toml", &overrides).expect("it is valid");
    (1..=10).map(|seed| run_seed(&scenario.config(0), seed, 0)).collect()
}

/// The sum of a counter of the agents.
fn sum(outcomes: &[Outcome], name: &str) -> f64 {
    outcomes.iter().map(|outcome| metric(outcome, &format!("agents.snoop.{name}"))).sum()
}

/// The share of the acknowledgements that were sent.
fn passed(outcomes: &[Outcome]) -> f64 {
    sum(outcomes, "passed") / (sum(outcomes, "passed") + sum(outcomes, "suppressed"))
}

/// Slow start overfills the queue of the access point, and each of some sixty holes has three words or more.
#[test]
fn few_acknowledgements_pass_though_the_queue_of_the_access_point_overflows() {
    let outcomes = files(&[]);
    assert!(outcomes.iter().map(|outcome| metric(outcome, "links.wlan.drops_queue")).sum::<f64>() > 200.0);
    assert!(passed(&outcomes) < 0.15, "{}", passed(&outcomes));
    assert_eq!(sum(&outcomes, "repaired"), 0.0);
}

#[test]
fn few_acknowledgements_pass_though_packets_are_lost_above_the_mac_and_all_of_these_are_repaired() {
    let lossy = [("links.wlan.loss.rate", "2 %"), ("flows.main.sink.buffer", "64 kB")];
    let outcomes = files(&lossy);
    assert!(passed(&outcomes) < 0.12, "{}", passed(&outcomes));
    assert!(sum(&outcomes, "repaired") > 40.0);
    for outcome in &outcomes {
        // No hole outlives the last acknowledgement by more than a silence of the receiver.
        let late = metric(outcome, "flows.main.completion_s") - metric(outcome, "flows.main.acknowledged_s");
        assert!(late < 0.3, "{late}");
    }
}
