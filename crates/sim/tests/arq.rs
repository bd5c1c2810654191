//! An access point with dynamic ARQ, end to end.

use crate::common::{CELL, run};
use lasthop_sim::scenario::Scenario;
use lasthop_sim::{Outcome, Request};

fn cell(overrides: &[(&str, &str)], trace: &[&str]) -> Outcome {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(key, value)| (format!("links.air.{key}"), (*value).to_string())).collect();
    let scenario = Scenario::from_text(CELL, "cell", &overrides).unwrap_or_else(|error| panic!("{error}"));
    let config = scenario.config(0);
    let trace: Vec<String> = trace.iter().map(|name| (*name).to_string()).collect();
    run(&Request { trace: &trace, ..Request::new(&config, 1, 0) }).expect("a run")
}

fn metric(outcome: &Outcome, name: &str) -> f64 {
    let found = outcome.metrics.iter().find(|(known, _)| known == name);
    found.and_then(|(_, value)| *value).unwrap_or_else(|| panic!("{name}: no such value"))
}

fn arq(outcome: &Outcome, name: &str) -> f64 {
    metric(outcome, &format!("links.air.arq.{name}"))
}

/// Every reading of the algorithm, by the keys that differ from the default.
const READINGS: &[&[(&str, &str)]] = &[
    &[],
    &[("arq.order", "new-first")],
    &[("arq.order", "retransmissions-first")],
    &[("arq.time", "rto")],
    &[("arq.urgent", "all")],
    &[("arq.hopeless", "demote")],
    &[("arq.hopeless", "drop")],
    &[("arq.restart", "false")],
    &[("arq.timing", "estimate")],
    &[("arq.timing", "estimate"), ("arq.restart", "false")],
    &[("arq.time", "none")],
    &[("arq.queues", "one")],
    &[("arq.queues", "flows")],
    &[("arq.priority", "pass")],
    &[("arq.limit", "none")],
    &[("arq.limit", "none"), ("lifetime", "524.288 ms")],
    &[("arq.reorder-timeout", "100 ms")],
    &[("buffer.shared-by", "receiver")],
    &[("buffer.counts", "frames")],
];

#[test]
fn files_arrive_whole_by_every_reading() {
    for reading in READINGS {
        let outcome = cell(reading, &[]);
        for flow in ["fa", "fb", "fc", "up"] {
            let completion = metric(&outcome, &format!("flows.{flow}.completion_s"));
            assert!(completion > 0.0 && completion < 40.0, "{reading:?}: {flow} took {completion} s");
        }
        assert!(arq(&outcome, "third_retransmissions") > 0.0, "{reading:?}");
    }
}

#[test]
fn retransmissions_first_are_as_if_there_was_no_scheme() {
    let fixed = cell(&[("arq.kind", "fixed")], &[]);
    let dynamic = cell(&[("arq.order", "retransmissions-first")], &[]);
    for (name, value) in &fixed.metrics {
        let other = dynamic.metrics.iter().find(|(known, _)| known == name).expect("the same metrics");
        assert_eq!(other.1, *value, "{name}");
    }
    assert_eq!(fixed.events, dynamic.events);
}

#[test]
fn the_readings_differ() {
    let goodput = |reading: &[(&str, &str)]| cell(reading, &[]).metrics;
    let first = goodput(&[]);
    for reading in READINGS[1..].iter().filter(|reading| reading[0].0.starts_with("arq")) {
        let changed = goodput(reading).iter().any(|found| !first.contains(found));
        // No head has less than half a round trip left so often that it would matter here.
        assert!(changed || reading[0].0 == "arq.hopeless", "{reading:?} changes nothing");
    }
}

#[test]
fn the_trace_tells_each_service_and_changes_nothing() {
    let plain = cell(&[], &[]);
    let traced = cell(&[], &["arq"]);
    assert_eq!(plain.metrics, traced.metrics);
    let table = &traced.traces[0];
    let (reasons, outcomes) = (table.words("reason"), table.words("outcome"));
    let count = |words: &[&str], word: &str| words.iter().filter(|other| **other == word).count() as f64;
    assert_eq!(count(&reasons, "urgent"), arq(&plain, "urgent_served"));
    assert_eq!(count(&outcomes, "given up"), arq(&plain, "frames_dropped"));
    let served = table.words("served");
    let sent_before = table.ints("sent_before");
    let names =
        ["first_transmissions", "first_retransmissions", "second_retransmissions", "third_retransmissions"];
    for (times, name) in (0..).zip(names) {
        let services =
            sent_before.iter().zip(&served).filter(|(sent, flow)| **sent == times && **flow != "-");
        // What is of no flow is repeated without a service of its own.
        assert!(services.count() as f64 <= arq(&plain, name) + 1.0, "{name}");
    }
    for (row, reason) in reasons.iter().enumerate() {
        if *reason == "turn" {
            let queues: i64 = ["q1", "q2", "q3"].map(|queue| table.ints(queue)[row]).iter().sum();
            assert!(queues >= 1, "a turn comes of what is held");
        }
    }
    // The timer that fires first is that of a head, and an urgent one has less than two round trips left.
    let (next, rtt) = (table.floats("next_timer_s"), table.floats("next_timer_rtt_s"));
    let urgent = reasons.iter().zip(next.iter().zip(rtt)).filter(|(reason, _)| **reason == "urgent");
    assert!(urgent.clone().count() > 0);
    assert!(urgent.filter(|(_, (left, rtt))| **left >= 2.0 * **rtt).count() < reasons.len() / 10);
    let times = table.floats("time_s");
    assert!(times.is_sorted());
}

#[test]
fn an_estimate_is_not_the_oracle_but_serves_urgent_frames_too() {
    let oracle = cell(&[], &[]);
    let estimate = cell(&[("arq.timing", "estimate")], &[]);
    assert!(arq(&oracle, "urgent_served") > 0.0 && arq(&estimate, "urgent_served") > 0.0);
}

#[test]
fn a_reorder_buffer_hands_up_in_order_what_the_scheme_sends_out_of_order() {
    let duplicates = |reading: &[(&str, &str)]| {
        let outcome = cell(reading, &[]);
        ["fa", "fb", "fc"]
            .map(|flow| metric(&outcome, &format!("flows.{flow}.fast_retransmits")))
            .iter()
            .sum::<f64>()
    };
    let (without, with) = (duplicates(&[]), duplicates(&[("arq.reorder-timeout", "1 s")]));
    assert!(without > 2.0 * with, "{without} fast retransmits without a buffer, {with} with one");
}

#[test]
fn a_lifetime_takes_the_place_of_the_count() {
    let unlimited = cell(&[("arq.limit", "none")], &[]);
    let short = cell(&[("arq.limit", "none"), ("lifetime", "5 ms")], &[]);
    assert_eq!((arq(&unlimited, "frames_dropped"), arq(&unlimited, "packets_dropped")), (0.0, 0.0));
    assert_eq!(arq(&short, "frames_dropped"), 0.0);
    assert!(arq(&short, "packets_dropped") > 0.0);
}
