//! 802.11n, ac and ax links: every variant and agent runs over them, every packet and every microsecond is accounted for.

use crate::accounts::balanced;
use crate::common::{metric, run_once};
use lasthop_sim::Outcome;
use lasthop_sim::scenario::Scenario;
use lasthop_stack::registry::{AgentKind, CongestionKind, VARIANTS};

/// A wired host, an access point and two stations.
const CELL: &str = r#"
[run]
duration = "2 s"

[nodes]
host = {}
ap = {}
a = {}
b = {}

[links.wire]
kind = "wired"
nodes = ["host", "ap"]
rate = "100 Mbit/s"
delay = "5 ms"

[links.air]
kind = "wifi"
nodes = ["ap", "a", "b"]
access-point = "ap"
standard = "802.11ax"
mcs = 3
width = "20 MHz"
loss = { rate = "10 %" }

[flows.down]
from = "host"
to = "a"

[flows.up]
from = "b"
to = "host"
"#;

fn run(lines: &str, set: &[(&str, &str)]) -> Result<Outcome, String> {
    let set: Vec<_> = set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let scenario = Scenario::from_text(&format!("{CELL}{lines}"), "today.toml", &set);
    scenario.map(|scenario| run_once(&scenario.config(0))).map_err(|error| format!("{error:?}"))
}

/// The packets that arrived of both flows; every packet and microsecond has its place.
fn checked(outcome: &Outcome, what: &str) -> f64 {
    balanced(outcome);
    let classes = [
        "data_payload",
        "tcp_ack_payload",
        "headers",
        "rts_cts",
        "mac_ack",
        "block_ack",
        "interframe",
        "backoff",
        "collision",
        "errored",
        "idle",
    ];
    let all: f64 = classes.iter().map(|class| metric(outcome, &format!("links.air.airtime_{class}_s"))).sum();
    assert!((all - 2.0).abs() < 1e-6, "{what}: {all} s");
    ["down", "up"].iter().map(|flow| metric(outcome, &format!("flows.{flow}.goodput_bps"))).sum()
}

#[test]
fn every_variant_runs_over_it() {
    for standard in ["802.11n", "802.11ac", "802.11ax"] {
        for variant in VARIANTS {
            let set = [("links.air.standard", standard), ("flows.down.tcp.variant", variant.name)];
            let outcome = run("", &set).expect("a scenario");
            let goodput = checked(&outcome, variant.name);
            assert!(goodput > 2e6, "{standard} {}: {goodput}", variant.name);
        }
    }
    for law in CongestionKind::ALL.iter().map(|law| law.entry().name) {
        if let Ok(outcome) = run("", &[("flows.down.tcp.congestion", law)]) {
            assert!(checked(&outcome, law) > 2e6, "{law}");
        }
    }
}

#[test]
fn every_agent_runs_over_it() {
    let mut ran = Vec::new();
    for kind in AgentKind::ALL.iter().map(|kind| kind.entry().name) {
        for standard in ["802.11n", "802.11ax"] {
            let agent = format!("[agents.at]\nkind = \"{kind}\"\n");
            for place in ["", "node = \"ap\"\nlink = \"air\"\n", "node = \"a\"\n"] {
                let Ok(outcome) = run(&format!("{agent}{place}"), &[("links.air.standard", standard)]) else {
                    continue;
                };
                ran.push(kind);
                assert!(checked(&outcome, kind) > 2e6, "{kind}");
            }
        }
    }
    ran.dedup();
    let known = ["lle-tcp", "proxy-tcp", "arq-proxy", "snoop", "wtcp", "i-tcp", "m-tcp"];
    for kind in known {
        assert!(ran.contains(&kind), "{kind} did not run: {ran:?}");
    }
}

#[test]
fn losses_of_every_kind_are_accounted_for() {
    for loss in [
        "{ rate = \"40 %\" }",
        "{ rate = \"30 %\", repaired-by-arq = false }",
        "{ rate = \"10 %\", above-mac = true }",
        "{ model = \"bit\", bit = { ber = 1e-4 } }",
        "{ model = \"snr\" }",
        "{ model = \"gilbert-elliott\", gilbert-elliott = { mean-good = \"50 ms\", mean-bad = \"20 ms\", loss-bad = \"90 %\" } }",
    ] {
        for after in ["request", "data"] {
            let text = CELL.replace("{ rate = \"10 %\" }", loss);
            let set = [("links.air.block-ack.after-loss".to_string(), after.to_string())];
            let scenario = Scenario::from_text(&text, "today.toml", &set).expect("a scenario");
            assert!(checked(&run_once(&scenario.config(0)), loss) > 1e4, "{loss}");
        }
    }
}

#[test]
fn a_queue_law_in_front_of_it_gets_aggregates_together() {
    let set = [("links.air.aqm.law", "fq-codel"), ("links.wire.rate", "1 Gbit/s")];
    let outcome = run("", &set).expect("a scenario");
    checked(&outcome, "fq-codel");
    assert!(metric(&outcome, "links.air.aggregated_mpdus") > 4.0 * metric(&outcome, "links.air.aggregates"));
}

#[test]
fn the_code_point_of_a_flow_selects_its_category() {
    let goodputs = |down: &str, up: &str| {
        let outcome = run("", &[("flows.down.dscp", down), ("flows.up.dscp", up)]).expect("a scenario");
        checked(&outcome, down);
        ["down", "up"].map(|flow| metric(&outcome, &format!("flows.{flow}.goodput_bps")))
    };
    let [down, up] = goodputs("46", "8");
    assert!(down > 1.5 * up, "{down} {up}");
    let [down, up] = goodputs("8", "46");
    assert!(up > 1.5 * down, "{down} {up}");
}

/// RFC 8985 (6.2, step 2). A receiver that passes packets up as they arrive lets packets overtake others by the time of
/// a repetition. If the round trip of RACK stays that of a packet which has overtaken others, 12 000 of 30 000 segments
/// are sent again. A third of the path is then not used.
#[test]
fn what_arrives_in_order_behind_a_packet_that_overtook_others_is_not_sent_again() {
    let air = "\n[links.air]\n";
    let text = CELL.replacen("duration = \"2 s\"", "duration = \"10 s\"", 1);
    let (before, after) = text.split_once(air).expect("the cell has a link");
    let text = format!("{before}{air}short-retry = \"none\"\nblock-ack.reorder-timeout = \"0 s\"\n{after}");
    let [text, _] =
        text.split("\n[flows.up]").collect::<Vec<_>>().try_into().expect("the cell has a flow up");
    let set = [
        ("links.air.standard", "802.11n"),
        ("links.air.mcs", "7"),
        ("links.air.loss.rate", "20 %"),
        ("links.wire.rate", "1 Gbit/s"),
        ("links.wire.delay", "10 ms"),
        ("links.wire.queue", "2000 packets"),
    ];
    let set: Vec<_> = set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let scenario = Scenario::from_text(text, "overtaken.toml", &set).expect("it is valid");
    let outcome = run_once(&scenario.config(0));
    let [goodput, again] =
        ["goodput_bps", "retransmits"].map(|name| metric(&outcome, &format!("flows.down.{name}")));
    assert!(goodput > 30e6 && again < 1_000.0, "{goodput} with {again} sent again");
}
