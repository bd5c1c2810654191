//! TCP/HACK, the ACK filter, LLE-TCP and the ARQ proxy on links that acknowledge in blocks, end to end. Dynamic ARQ as
//! the order of packets in an A-MPDU, and flows that agents cannot read.

use crate::accounts::balanced;
use crate::common::{metric, run_replication};
use lasthop_sim::Outcome;
use lasthop_sim::scenario::Scenario;

/// A download through an access point. By the RFCs: after a recovery that was not needed Linux's CUBIC grows slowly for seconds.
const CELL: &str = r#"
[run]
duration = "2 s"
warmup = "1 s"
[nodes]
host = {}
ap = {}
a = {}
[links.wire]
kind = "wired"
nodes = ["host", "ap"]
rate = "10 Gbit/s"
delay = "5 ms"
queue = "2000 packets"
[links.air]
kind = "wifi"
nodes = ["ap", "a"]
access-point = "ap"
standard = "802.11ax"
queue = "1000 packets"
[flows.main]
from = "host"
to = "a"
app = { kind = "bulk" }
tcp = { variant = "cubic", profile = "rfc" }
[agents.x]
kind = "none"
flows = ["main"]
"#;

fn run(set: &[(&str, &str)]) -> Outcome {
    replication(set, 0)
}

fn replication(set: &[(&str, &str)], number: u64) -> Outcome {
    let mut set: Vec<_> = set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    if set.contains(&("agents.x.kind".into(), "lle-tcp".into())) {
        set.push(("agents.x.lle-tcp.mode".into(), "safe".into()));
    }
    let scenario =
        Scenario::from_text(CELL, "descendants.toml", &set).unwrap_or_else(|error| panic!("{error}"));
    let outcome = run_replication(&scenario.config(0), number);
    balanced(&outcome);
    outcome
}

fn goodput(outcome: &Outcome) -> f64 {
    metric(outcome, "flows.main.goodput_bps")
}

#[test]
fn acknowledgements_leave_the_air_with_each_agent_and_aggregate() {
    for count in ["1", "8", "64"] {
        for loss in ["0 %", "10 %"] {
            let with = |agent| {
                let count = ("links.air.aggregate.count", count);
                run(&[count, ("links.air.loss.rate", loss), ("agents.x.kind", agent)])
            };
            let alone = goodput(&with("none"));
            for agent in ["hack", "lle-tcp", "arq-proxy"] {
                let outcome = with(agent);
                let [suppressed, passed] =
                    ["suppressed", "passed"].map(|name| metric(&outcome, &format!("agents.x.{name}")));
                assert!(goodput(&outcome) > 1.08 * alone, "{agent} {count} {loss}: {alone}");
                assert!(suppressed > 2.0 * passed, "{agent} {count} {loss}: {suppressed} and {passed}");
            }
        }
    }
}

#[test]
fn on_an_ideal_link_every_acknowledgement_rides_and_arrives() {
    let outcome = run(&[("links.air.aggregate.count", "64"), ("agents.x.kind", "hack")]);
    let [made, kept] = ["generated", "suppressed"].map(|name| metric(&outcome, &format!("agents.x.{name}")));
    // The measurement can begin while those of one A-MPDU of 64 are on the air.
    assert!(made > 10_000.0 && (made - kept).abs() <= 32.0, "{made} of {kept}");
    assert!(metric(&outcome, "agents.x.hack.unknown").abs() < 0.5);
    assert!(metric(&outcome, "links.air.airtime_tcp_ack_payload_s").abs() < 1e-9);
}

#[test]
fn the_filter_keeps_the_newest_acknowledgement_of_a_burst() {
    let outcome = run(&[("links.air.aggregate.count", "64"), ("agents.x.kind", "ack-filter")]);
    let [suppressed, passed] =
        ["suppressed", "passed"].map(|name| metric(&outcome, &format!("agents.x.{name}")));
    assert!(suppressed > 10.0 * passed, "{suppressed} and {passed}");
}

#[test]
fn agents_pass_the_packets_of_an_encrypted_flow_on() {
    let plain = goodput(&run(&[("agents.x.kind", "none")]));
    for agent in ["hack", "lle-tcp", "arq-proxy", "ack-filter"] {
        let outcome = run(&[("agents.x.kind", agent), ("flows.main.encrypted", "true")]);
        assert!((goodput(&outcome) - plain).abs() < 1e-9, "{agent}");
        let touched =
            ["suppressed", "generated", "passed"].map(|name| metric(&outcome, &format!("agents.x.{name}")));
        assert!(touched.iter().all(|count| *count < 0.5), "{agent}: {touched:?}");
    }
}

#[test]
fn every_order_of_packets_carries_all_of_them_with_and_without_reordering() {
    let orders = [
        ("fixed", "three", "left"),
        ("dynamic", "three", "left"),
        ("dynamic", "three", "none"),
        ("dynamic", "one", "left"),
        ("dynamic", "flows", "left"),
    ];
    for reorder in ["100 ms", "0 s"] {
        for (kind, queues, time) in orders {
            let mut set = vec![
                ("flows.main.tcp.profile", "modern"),
                ("links.air.aggregate.count", "8"),
                ("links.air.loss.rate", "10 %"),
                ("links.air.block-ack.reorder-timeout", reorder),
                ("links.air.arq.kind", kind),
            ];
            if kind == "dynamic" {
                set.push(("links.air.arq.queues", queues));
            }
            if (kind, queues) == ("dynamic", "three") {
                set.push(("links.air.arq.time", time));
            }
            // The goodput of a second varies by a third.
            let runs = [0, 1, 2].map(|number| replication(&set, number));
            let found = runs.iter().map(goodput).sum::<f64>() / 3.0;
            let late = runs.iter().map(|outcome| metric(outcome, "links.air.reordering_late")).sum::<f64>();
            assert!(found > 5e7, "{kind} {queues} {time} {reorder}: {found}");
            assert!(late < 0.5, "{kind} {queues} {time} {reorder}: {late} late");
        }
    }
}
