//! Snoop, WTCP and the ARQ proxy end to end: what they gain, and that no byte is lost or acknowledged too early.

use crate::common::{metric, run_replication};
use lasthop_sim::Outcome;
use lasthop_sim::scenario::Scenario;

/// A fixed host, a base station, and a mobile behind a lossy link of 2 Mbit/s.
const WIRE: &str = r#"
[run]
duration = "60 s"
[nodes]
host = {}
base = {}
mobile = {}
[links.core]
kind = "wired"
nodes = ["host", "base"]
rate = "10 Mbit/s"
delay = "20 ms"
[links.air]
kind = "lossy"
nodes = ["base", "mobile"]
rate = "2 Mbit/s"
delay = "2 ms"
loss = { model = "packet", direction = "both", rate = "3 %" }
[flows.main]
from = "host"
to = "mobile"
tcp = { profile = "modern", variant = "newreno", window = "40 segments", growth = "acks", rto-floor = "timeout", whole-window = false, growth-at-recovery-end = false, quick-acks = 0, dsack = false }
[agents.station]
kind = "none"
node = "base"
link = "air"
"#;

/// The same with an access point and a mobile in an 802.11b cell instead of the lossy link.
const CELL: &str = r#"
[run]
duration = "60 s"
warmup = "2 s"
[nodes]
host = {}
base = { position = ["0 m", "0 m"] }
mobile = { position = ["20 m", "0 m"] }
[links.core]
kind = "wired"
nodes = ["host", "base"]
rate = "100 Mbit/s"
delay = "5 ms"
[links.air]
kind = "wifi"
nodes = ["base", "mobile"]
access-point = "base"
standard = "802.11b"
rate = "11 Mbit/s"
[flows.main]
from = "host"
to = "mobile"
tcp = { profile = "modern", variant = "sack", window = "40 segments", growth = "acks", rto-floor = "timeout", whole-window = false, growth-at-recovery-end = false, quick-acks = 0, dsack = false, prr = false, loss-detection = "rfc6675" }
[agents.station]
kind = "none"
"#;

fn outcome(text: &str, sets: &[(&str, &str)], replication: u64) -> Outcome {
    let overrides: Vec<(String, String)> =
        sets.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    let scenario =
        Scenario::from_text(text, "station.toml", &overrides).unwrap_or_else(|error| panic!("{error}"));
    run_replication(&scenario.config(0), replication)
}

/// Each packet is delivered, lost or on its way, and no byte is acknowledged to the sender that the receiver lacks.
fn is_sound(outcome: &Outcome) {
    for (name, account) in &outcome.accounts {
        let terms = account.terms().map(|(_, tally)| tally.packets);
        assert_eq!(
            terms[0] + terms[1] + terms[2],
            terms[3] + terms[4] + terms[5] + terms[6],
            "{name}: {account:?}"
        );
        if let Some(stream) = account.stream {
            assert!(stream.acknowledged <= stream.received, "{name}: {stream:?}");
        }
    }
}

const GOODPUT: &str = "flows.main.goodput_bps";

fn with<'a>(kind: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [("agents.station.kind", kind)].into_iter().chain(more.iter().copied()).collect()
}

#[test]
fn on_a_lossy_wire_snoop_and_wtcp_keep_the_losses_from_the_sender() {
    let none = outcome(WIRE, &with("none", &[]), 0);
    for kind in ["snoop", "wtcp"] {
        let found = outcome(WIRE, &with(kind, &[]), 0);
        is_sound(&found);
        let (plain, gained) = (metric(&none, GOODPUT), metric(&found, GOODPUT));
        assert!(gained > 1.3 * plain, "{kind}: {gained} and {plain}");
        assert!(metric(&found, "agents.station.repaired") > 100.0);
        let told = |outcome| metric(outcome, "flows.main.fast_retransmits");
        assert!(told(&found) < 0.1 * told(&none), "{kind}: {} and {}", told(&found), told(&none));
        assert!(metric(&found, "agents.station.state_max") > 10_000.0);
    }
}

#[test]
fn copies_ahead_of_the_queue_repair_sooner() {
    // A window that fills the queue at the station.
    let more = [("flows.main.tcp.window", "60 segments")];
    let [ahead, behind] = ["true", "false"].map(|ahead| {
        let sets = with("snoop", &[more[0], ("agents.station.snoop.ahead", ahead)]);
        outcome(WIRE, &sets, 0)
    });
    is_sound(&ahead);
    let goodput = |outcome| metric(outcome, GOODPUT);
    assert!(goodput(&ahead) > 1.02 * goodput(&behind), "{} and {}", goodput(&ahead), goodput(&behind));
}

#[test]
fn losses_above_the_mac_of_a_cell_are_repaired_there() {
    let loss = [
        ("links.air.loss.model", "packet"),
        ("links.air.loss.rate", "3 %"),
        ("links.air.loss.above-mac", "true"),
    ];
    let plain = metric(&outcome(CELL, &with("none", &loss), 0), GOODPUT);
    for kind in ["snoop", "wtcp"] {
        let found = outcome(CELL, &with(kind, &loss), 0);
        is_sound(&found);
        assert!(metric(&found, GOODPUT) > 1.2 * plain, "{kind}: {} and {plain}", metric(&found, GOODPUT));
    }
}

#[test]
fn a_mobile_that_sends_learns_of_its_losses_by_eln() {
    let up = [("flows.main.from", "mobile"), ("flows.main.to", "host")];
    let run = |kind, eln| outcome(WIRE, &with(kind, &[up[0], up[1], ("flows.main.tcp.eln", eln)]), 0);
    let [none, deaf, both] = [run("none", "true"), run("snoop", "false"), run("snoop", "true")];
    is_sound(&both);
    assert_eq!(metric(&deaf, GOODPUT), metric(&none, GOODPUT), "the mark alone changes nothing");
    assert!(metric(&deaf, "agents.station.snoop.marked") > 100.0);
    assert!(metric(&both, GOODPUT) > 1.5 * metric(&none, GOODPUT));
    // Losses behind the station are not marked.
    let wired = [
        ("links.air.loss.model", "none"),
        ("links.core.kind", "lossy"),
        ("links.core.loss.rate", "2 %"),
        ("links.core.loss.direction", "both"),
    ];
    let sets: Vec<_> = up.iter().chain(&wired).copied().collect();
    let found = outcome(WIRE, &with("snoop", &sets), 0);
    assert!(metric(&found, "flows.main.fast_retransmits") > 20.0);
    assert_eq!(metric(&found, "agents.station.snoop.marked"), 0.0);
}

#[test]
fn wtcp_keeps_the_local_recovery_out_of_the_senders_round_trip() {
    // With copies at the end of the queue a repair takes long; an outage makes the sender's timer fire.
    let more = [
        ("flows.main.tcp.window", "60 segments"),
        ("agents.station.wtcp.ahead", "false"),
        ("links.air.loss.rate", "8 %"),
        ("links.air.outages.law", "script"),
        ("links.air.outages.script", "5 s at 20 s, 5 s at 30 s, 5 s at 40 s, 5 s at 50 s"),
    ];
    let [hidden, shown] = ["true", "false"].map(|hide| {
        let sets: Vec<_> = more.iter().copied().chain([("agents.station.wtcp.hide-time", hide)]).collect();
        outcome(WIRE, &with("wtcp", &sets), 0)
    });
    assert!(metric(&hidden, "agents.station.wtcp.restamped") > 50.0);
    assert_eq!(metric(&shown, "agents.station.wtcp.restamped"), 0.0);
    let rto = |outcome| metric(outcome, "flows.main.timeout_first_mean_s");
    assert!(rto(&hidden) < rto(&shown), "{} and {}", rto(&hidden), rto(&shown));
}

#[test]
fn wtcp_without_timestamps_is_an_error_at_its_flows() {
    let sets = with("wtcp", &[("flows.main.tcp.timestamps", "false")]);
    let overrides: Vec<(String, String)> =
        sets.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    let error = Scenario::from_text(WIRE, "station.toml", &overrides).expect_err("wrong").to_string();
    assert!(
        error.contains("agents.station.flows") && error.contains("flows.main.tcp.timestamps = true"),
        "{error}"
    );
}

#[test]
fn the_arq_proxy_takes_the_acknowledgements_off_the_air() {
    for (packet, gain) in [("1448 B", 1.1), ("500 B", 1.2)] {
        let more = [("flows.main.tcp.packet", packet), ("flows.main.tcp.ack-every", "1")];
        let none = outcome(CELL, &with("none", &more), 0);
        let found = outcome(CELL, &with("arq-proxy", &more), 0);
        is_sound(&found);
        let share = |outcome| metric(outcome, "links.air.airtime_tcp_ack_payload_s");
        assert!(share(&found) < 0.1 * share(&none), "{} and {}", share(&found), share(&none));
        // One acknowledgement of the link for each segment instead of two, and a longer one.
        let each = |outcome| metric(outcome, "links.air.airtime_mac_ack_s") / metric(outcome, GOODPUT);
        let longer = each(&found) / (each(&none) / 2.0);
        assert!((1.03..1.1).contains(&longer), "{longer}");
        assert!(metric(&found, GOODPUT) > gain * metric(&none, GOODPUT), "{packet}");
        assert_eq!(metric(&found, "agents.station.unconfirmed"), 0.0);
        let [generated, requested] = ["generated", "arq-proxy.requested"]
            .map(|name| metric(&found, &format!("agents.station.{name}")));
        assert!(generated > 0.9 * requested && requested > 1_000.0, "{generated} of {requested}");
    }
}

/// What can go wrong for a file: losses of all kinds, outages, a slow reader, data both ways.
const TROUBLES: [&[(&str, &str)]; 5] = [
    &[("links.air.loss.model", "packet"), ("links.air.loss.rate", "20 %"), ("links.air.short-retry", "2")],
    &[
        ("links.air.loss.model", "packet"),
        ("links.air.loss.rate", "8 %"),
        ("links.air.loss.above-mac", "true"),
        ("links.air.loss.of", "packets"),
    ],
    &[("flows.main.sink.buffer", "16 kB"), ("flows.main.sink.read-rate", "800 kbit/s")],
    &[
        ("links.air.loss.model", "packet"),
        ("links.air.loss.rate", "5 %"),
        ("links.air.loss.above-mac", "true"),
        ("flows.main.tcp.variant", "reno"),
        ("flows.main.sink.buffer", "16 kB"),
        ("flows.main.sink.read-rate", "800 kbit/s"),
    ],
    &[
        ("links.air.outages.law", "random"),
        ("links.air.outages.random.mean-up", "2 s"),
        ("links.air.outages.random.mean-down", "500 ms"),
    ],
];

#[test]
fn a_file_arrives_whole_and_acknowledged_through_every_station_whatever_happens() {
    for kind in ["snoop", "wtcp", "arq-proxy"] {
        for trouble in TROUBLES {
            for (from, to) in [("host", "mobile"), ("mobile", "host")] {
                let mut sets = with(kind, trouble);
                sets.extend([
                    ("flows.main.from", from),
                    ("flows.main.to", to),
                    ("flows.main.app.kind", "file"),
                    ("flows.main.app.file.size", "500 kB"),
                    ("flows.main.tcp.eln", "true"),
                    ("run.duration", "600 s"),
                    ("run.warmup", "0 s"),
                ]);
                for replication in 0..2 {
                    let found = outcome(CELL, &sets, replication);
                    is_sound(&found);
                    let stream = found.accounts[0].1.stream.expect("over tcp");
                    assert_eq!(
                        (stream.received, stream.acknowledged),
                        (500_001, 500_001),
                        "{kind} from {from}: {trouble:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn what_a_station_keeps_moves_with_the_mobile() {
    let wired = |name: &str, ends: &str| {
        format!(
            "[links.{name}]\nkind = \"wired\"\nnodes = [{ends}]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n"
        )
    };
    let air = |name: &str, station: &str| {
        format!(
            "[links.{name}]\nkind = \"wifi\"\nnodes = [\"{station}\", \"mobile\"]\naccess-point = \"{station}\"\n"
        )
    };
    // Reno, whose timeouts the stations avoid.
    let tcp = "tcp = { variant = \"sack\", growth = \"acks\", rto-floor = \"timeout\", whole-window = false, growth-at-recovery-end = false, quick-acks = 0, dsack = false, \
               prr = false, loss-detection = \"rfc6675\" }\n";
    let text = |kind: &str| {
        format!(
            "[run]\nduration = \"45 s\"\n[nodes]\nhost = {{}}\nrouter = {{}}\nb1 = {{}}\nb2 = {{}}\n[nodes.mobile.handoff]\n\
             law = \"periodic\"\nperiodic = {{ first = \"5 s\", every = \"5 s\" }}\nfrom = \"air1\"\nto = \"air2\"\ngap = \"50 ms\"\n\
             {}{}{}{}{}[flows.main]\nfrom = \"host\"\nto = \"mobile\"\n{tcp}[agents.station]\nkind = \"{kind}\"\n",
            wired("core", "\"host\", \"router\""),
            wired("w1", "\"router\", \"b1\""),
            wired("w2", "\"router\", \"b2\""),
            air("air1", "b1"),
            air("air2", "b2"),
        )
    };
    let none = outcome(&text("none"), &[], 0);
    for kind in ["snoop", "wtcp"] {
        let found = outcome(&text(kind), &[], 0);
        is_sound(&found);
        assert!(metric(&found, "nodes.mobile.handoff.state") > 10_000.0, "{kind}");
        let timeouts = |outcome| metric(outcome, "flows.main.timeouts");
        assert!(timeouts(&found) < timeouts(&none), "{kind}: {} and {}", timeouts(&found), timeouts(&none));
    }
}

/// Two access points, between which a mobile moves while its MAC loses packets that the link has acknowledged.
const MOVES: &str = r#"
[run]
duration = "120 s"
[nodes]
host = {}
gate = {}
one = { position = ["0 m", "0 m"] }
two = { position = ["0 m", "0 m"] }
[nodes.mobile]
position = ["20 m", "0 m"]
handoff = { law = "script", script = "500 ms", from = "air", to = "other", gap = "20 ms", state-delay = "30 ms" }
[links.core]
kind = "wired"
nodes = ["host", "gate"]
rate = "100 Mbit/s"
delay = "5 ms"
[links.to-one]
kind = "wired"
nodes = ["gate", "one"]
rate = "100 Mbit/s"
delay = "1 ms"
[links.to-two]
kind = "wired"
nodes = ["gate", "two"]
rate = "100 Mbit/s"
delay = "1 ms"
[links.air]
kind = "wifi"
nodes = ["one", "mobile"]
access-point = "one"
loss = { model = "packet", rate = "5 %", above-mac = true }
[links.other]
kind = "wifi"
nodes = ["two", "mobile"]
access-point = "two"
loss = { model = "packet", rate = "5 %", above-mac = true }
[flows.main]
from = "host"
to = "mobile"
app = { kind = "file", file = { size = "500 kB" } }
tcp = { profile = "modern" }
[agents.station]
kind = "lle-tcp"
"#;

#[test]
fn what_lle_tcp_has_acknowledged_moves_with_the_mobile_and_nothing_is_lost() {
    for replication in 0..4 {
        let found = outcome(MOVES, &[], replication);
        assert!(metric(&found, "flows.main.completion_s") < 100.0, "replication {replication}");
        assert!(metric(&found, "agents.station.repaired") > 0.0);
        assert!(metric(&found, "nodes.mobile.handoff.state") > 1_000.0);
    }
}

#[test]
fn a_restart_of_either_agent_shows_and_the_file_arrives() {
    let file = [("run.warmup", "0 s"), ("flows.main.app.kind", "file"), ("flows.main.app.file.size", "2 MB")];
    for kind in ["lle-tcp", "snoop", "wtcp", "proxy-tcp", "arq-proxy"] {
        let lossy = [("links.air.loss.model", "packet"), ("links.air.loss.rate", "20 %")];
        let with = |restarts: &[(&'static str, &'static str)]| {
            outcome(CELL, &with(kind, &[&file[..], &lossy, restarts].concat()), 0)
        };
        let found = with(&[("nodes.base.restart", "1 s"), ("nodes.mobile.restart", "1500 ms")]);
        assert!(metric(&found, "flows.main.completion_s") < 50.0, "{kind}");
        assert_ne!(found.metrics, with(&[]).metrics, "{kind}");
    }
}
