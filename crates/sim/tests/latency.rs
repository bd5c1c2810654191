//! Delays, round trips and queues, as metrics report them.

use crate::common::{metric, run};
use lasthop_sim::scenario::Scenario;
use lasthop_sim::{Outcome, Request};

/// Two nodes and a wire with 100 packets of room.
const WIRE: &str = r#"
[run]
duration = "20 s"
warmup = "2 s"

[nodes]
a = {}
b = {}

[links.wire]
kind = "wired"
nodes = ["a", "b"]
rate = "1 Mbit/s"
delay = "10 ms"
queue = "100 packets"
"#;

/// Two stations of 802.11b whose queues have room for 10 packets.
const AIR: &str = r#"
[run]
duration = "10 s"

[nodes]
a = { position = ["0 m", "0 m"] }
b = { position = ["5 m", "0 m"] }

[links.air]
kind = "wifi"
nodes = ["a", "b"]
queue = "10 packets"
"#;

fn traced(scenario: &str, trace: &[&str]) -> Outcome {
    let scenario = Scenario::from_text(scenario, "x.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let config = scenario.config(0);
    let trace: Vec<String> = trace.iter().map(ToString::to_string).collect();
    let request = Request { trace: &trace, ..Request::new(&config, 1, 0) };
    run(&request).unwrap_or_else(|error| panic!("{error}"))
}

fn with(scenario: &str, flows: &str) -> Outcome {
    traced(&format!("{scenario}{flows}"), &[])
}

fn near(found: f64, expected: f64, share: f64) {
    assert!((found / expected - 1.0).abs() <= share, "{found} {expected}");
}

#[test]
fn the_round_trips_of_a_group_are_those_of_all_its_flows_together() {
    let flows = "\n[flows.g]\nfrom = \"a\"\nto = \"b\"\ncount = 3\napp = { spread = \"1 s\" }\n";
    let outcome = traced(&format!("{WIRE}{flows}"), &["rtt"]);
    let trace = &outcome.traces[0];
    let (times, of) = (trace.floats("time_s"), trace.words("of"));
    let every = trace.floats("rtt_s").iter().zip(times).zip(&of);
    let mut measured: Vec<f64> =
        every.filter(|((_, time), of)| **time >= 2.0 && **of == "data").map(|((rtt, _), _)| *rtt).collect();
    measured.sort_unstable_by(f64::total_cmp);
    let mean = measured.iter().sum::<f64>() / measured.len() as f64;
    near(metric(&outcome, "flows.g.rtt_mean_s"), mean, 1e-9);
    for (percentile, share) in [(50, 0.5), (95, 0.95), (99, 0.99)] {
        let exact = measured[(share * measured.len() as f64) as usize];
        near(metric(&outcome, &format!("flows.g.rtt_p{percentile}_s")), exact, 1.0 / 32.0);
    }
}

#[test]
fn the_rate_of_a_transfer_is_that_of_the_file_alone_however_long_the_run_lasts() {
    let flows = "\n[flows.f]\nfrom = \"a\"\nto = \"b\"\napp = { kind = \"file\", start = \"3 s\", file = { size = \"100 kB\" } }\n";
    let outcome = with(WIRE, flows);
    let rate = metric(&outcome, "flows.f.transfer_bps");
    near(rate, 8e5 / metric(&outcome, "flows.f.completion_s"), 1e-12);
    // It takes less than 2 of the 18 seconds.
    assert!(rate > 0.6e6 && metric(&outcome, "flows.f.goodput_bps") < 0.05e6, "{rate}");
    let none = |flows: &str| {
        let outcome = with(WIRE, flows);
        let rate = outcome.metrics.iter().find(|(name, _)| name == "flows.f.transfer_bps");
        assert_eq!(rate.map(|(_, value)| *value), Some(None), "{flows}");
    };
    none("\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n");
    none("\n[flows.f]\nfrom = \"a\"\nto = \"b\"\napp = { stop = \"9 s\" }\n");
    none(&flows.replace("100 kB", "100 MB"));
}

#[test]
fn datagrams_at_equal_distances_over_an_empty_wire_have_one_delay_and_no_jitter() {
    let flows = "\n[flows.u]\nfrom = \"a\"\nto = \"b\"\nudp = {}\n\
                 app = { kind = \"cbr\", cbr = { rate = \"80 kbit/s\", packet = \"972 B\" } }\n";
    let outcome = with(WIRE, flows);
    // 1000 B at 1 Mbit/s are 8 ms, and the wire takes 10 ms.
    for name in ["delay_mean_s", "delay_p50_s", "delay_p95_s", "delay_p99_s", "delay_max_s"] {
        near(metric(&outcome, &format!("flows.u.{name}")), 0.018, 1e-9);
    }
    assert_eq!(metric(&outcome, "flows.u.jitter_s"), 0.0);
}

#[test]
fn datagrams_that_come_by_chance_wait_for_each_other() {
    let flows = "\n[flows.u]\nfrom = \"a\"\nto = \"b\"\nudp = {}\n\
                 app = { kind = \"poisson\", poisson = { rate = \"800 kbit/s\", packet = \"972 B\" } }\n";
    let outcome = with(WIRE, flows);
    let told = |name: &str| metric(&outcome, &format!("flows.u.{name}_s"));
    let ordered = [told("delay_p50"), told("delay_p95"), told("delay_p99"), told("delay_max")];
    assert!(ordered.is_sorted() && ordered[0] < ordered[3], "{ordered:?}");
    // The wait in an M/D/1 queue: rho / (1 - rho) services, half of that; rho is 0.823.
    let wait = 0.5 * 0.823 / 0.177 * 0.008;
    near(told("delay_mean"), 0.018 + wait, 0.25);
    // The delays of neighbours differ by one interarrival time at most, of 9.7 ms on average.
    assert!(told("jitter") > 1e-3 && told("jitter") < 9.7e-3, "{}", told("jitter"));
}

/// A probe between two nodes.
const PING: &str = "\n[flows.p]\nfrom = \"a\"\nto = \"b\"\napp = { kind = \"ping\" }\n";

#[test]
fn a_probe_of_an_empty_wire_measures_its_round_trip_exactly() {
    let outcome = with(WIRE, PING);
    let told = |name: &str| metric(&outcome, &format!("flows.p.{name}"));
    // 56 B and 28 B of headers at 1 Mbit/s take 0.672 ms, and the wire 10 ms, each way.
    for name in ["rtt_mean_s", "rtt_p50_s", "rtt_p95_s", "rtt_p99_s", "rtt_max_s"] {
        near(told(name), 2.0 * 0.010_672, 1e-9);
    }
    // One a second from the end of the warm-up to that of the run, when the last is on its way.
    assert_eq!((told("requests_sent"), told("requests_answered")), (19.0, 18.0));
    assert_eq!(told("lost_share"), 0.0);
}

#[test]
fn a_probe_beside_a_bulk_transfer_measures_the_delay_of_the_queue() {
    let load =
        "\n[flows.f]\nfrom = \"a\"\nto = \"b\"\ntcp = { window = \"60 segments\", packet = \"1000 B\" }\n";
    let often = PING.replace('}', ", ping = { interval = \"20 ms\" } }");
    let outcome = with(WIRE, &format!("{load}{often}"));
    let told = |name: &str| metric(&outcome, name);
    assert!(told("links.wire.drops_queue") == 0.0 && told("links.wire.queue_mean_packets") > 50.0);
    // A window of 60 segments of 1052 B, less what is in transit, waits in the queue.
    let queued_s = 60.0 * 1052.0 * 8.0 / 1e6;
    near(told("flows.p.rtt_p50_s"), queued_s, 0.05);
    near(told("flows.p.rtt_mean_s"), told("flows.f.rtt_mean_s"), 0.05);
    assert!(told("flows.p.rtt_p95_s") < told("flows.p.rtt_max_s") * 1.000_001);
    // A probe is not part of the load: neither its bytes nor its share count.
    assert_eq!(told("goodput_bps"), told("flows.f.goodput_bps"));
    assert!(!outcome.metrics.iter().any(|(name, _)| name == "jain_index"));
}

#[test]
fn what_a_probe_loses_on_both_ways_is_its_lost_share() {
    let lossy = WIRE
        .replace("kind = \"wired\"", "kind = \"lossy\"\nloss = { rate = \"10 %\", direction = \"both\" }");
    let often = PING.replace('}', ", ping = { interval = \"2 ms\", packet = \"100 B\" } }");
    let outcome = with(&lossy, &often);
    let told = |name: &str| metric(&outcome, &format!("flows.p.{name}"));
    // Lost there, or there and not back, of 9000: three standard deviations are 1.2 %.
    near(told("lost_share"), 1.0 - 0.9 * 0.9, 0.012 / 0.19);
    let lost = told("lost_share") * told("requests_sent");
    assert!((told("requests_sent") - told("requests_answered") - lost).abs() < 15.0, "{lost}");
}

#[test]
fn what_is_in_transit_at_the_end_is_neither_lost_nor_answered() {
    let loss = "kind = \"lossy\"\nloss = { model = \"list\", list = { drop = [5], of = \"all\" } }";
    let outcome = with(&WIRE.replace("kind = \"wired\"", loss), PING);
    let told = |name: &str| metric(&outcome, &format!("flows.p.{name}"));
    assert_eq!((told("requests_sent"), told("requests_answered")), (19.0, 17.0));
    assert_eq!(told("lost_share"), 1.0 / 18.0);
}

#[test]
fn the_probes_of_a_group_are_counted_together() {
    let outcome = with(WIRE, &PING.replace("to = \"b\"", "to = \"b\"\ncount = 3"));
    let told = |name: &str| metric(&outcome, name);
    let each = (1..=3).map(|number| told(&format!("flows.p{number}.rtt_mean_s"))).sum::<f64>() / 3.0;
    near(told("flows.p.rtt_mean_s"), each, 1e-9);
    assert_eq!(told("flows.p.requests_sent"), 3.0 * 19.0);
    // The second and the third wait for those before them.
    near(told("flows.p.rtt_max_s"), 2.0 * 0.010_672 + 2.0 * 0.000_672, 1e-9);
}

#[test]
fn a_probe_is_answered_over_links_of_every_kind() {
    let mesh = AIR.replace("kind = \"wifi\"", "kind = \"frn\"").replace("queue = \"10 packets\"", "");
    let wimax = WIRE.replace("kind = \"wired\"", "kind = \"wimax\"").replace("rate = \"1 Mbit/s\"", "");
    let often = PING.replace('}', ", ping = { interval = \"100 ms\" } }");
    for (scenario, least_s, most_s) in
        [(AIR, 0.5e-3, 10e-3), (mesh.as_str(), 1e-3, 0.5), (wimax.as_str(), 20e-3, 60e-3)]
    {
        let outcome = with(scenario, &often);
        let told = |name: &str| metric(&outcome, &format!("flows.p.{name}"));
        assert!(told("requests_answered") >= 0.95 * told("requests_sent"), "{scenario}");
        let found = told("rtt_mean_s");
        assert!(found > least_s && found < most_s, "{found} {scenario}");
    }
}

#[test]
fn a_probe_elsewhere_changes_nothing() {
    let lossy = WIRE.replace("kind = \"wired\"", "kind = \"lossy\"\nloss = { rate = \"2 %\" }");
    let both = lossy.replace("b = {}", "b = {}\nc = {}\nd = {}")
        + "\n[links.other]\nkind = \"lossy\"\nnodes = [\"c\", \"d\"]\nrate = \"1 Mbit/s\"\nloss = { rate = \"2 %\" }\n";
    let load = "\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n";
    let elsewhere = PING.replace("\"a\"", "\"c\"").replace("\"b\"", "\"d\"");
    let (alone, beside) = (with(&lossy, load), with(&both, &format!("{load}{elsewhere}")));
    for (name, value) in &alone.metrics {
        let found = beside.metrics.iter().find(|(other, _)| other == name);
        assert_eq!(found.map(|(_, value)| *value), Some(*value), "{name}");
    }
}

#[test]
fn an_802_11_station_with_time_to_spare_holds_no_queue() {
    let flows = "\n[flows.u]\nfrom = \"a\"\nto = \"b\"\nudp = {}\n\
                 app = { kind = \"cbr\", cbr = { rate = \"80 kbit/s\", packet = \"1000 B\" } }\n";
    let outcome = with(AIR, flows);
    let told = |name: &str| metric(&outcome, &format!("links.air.{name}"));
    assert_eq!((told("queue_max_packets"), told("queue_full_share")), (1.0, 0.0));
    assert_eq!((told("queue_delay_mean_s"), told("queue_delay_max_s")), (0.0, 0.0));
    // Ten packets a second, each there for as long as its service lasts.
    near(told("queue_mean_packets"), 10.0 * told("service_mean_s"), 1e-3);
}

#[test]
fn the_queue_of_an_802_11_station_fills_and_its_packets_wait() {
    let flows = "\n[flows.u]\nfrom = \"a\"\nto = \"b\"\nudp = {}\n\
                 app = { kind = \"cbr\", cbr = { rate = \"50 Mbit/s\", packet = \"1000 B\" } }\n";
    let outcome = traced(&format!("{AIR}{flows}"), &["queue"]);
    let told = |name: &str| metric(&outcome, &format!("links.air.{name}"));
    // Ten wait, and one is in service.
    assert_eq!(told("queue_max_packets"), 11.0);
    assert!(told("queue_mean_packets") > 10.9, "{}", told("queue_mean_packets"));
    // It was never below ten once it was full, so that the mean gives the share.
    near(told("queue_full_share"), told("queue_mean_packets") - 10.0, 0.02);
    // A packet waits for all before it and is then sent; its service ends with the acknowledgement.
    let (waits, lasts) = (told("queue_delay_mean_s"), told("service_mean_s"));
    near(waits / lasts, 10.0 / 11.0, 0.03);
    assert!(told("queue_delay_p95_s") > waits && told("queue_delay_max_s") >= told("queue_delay_p95_s"));
    let trace = &outcome.traces[0];
    let packets = trace.ints("packets");
    assert_eq!(packets.iter().max(), Some(&11));
    assert!(trace.words("node").iter().all(|node| *node == "a"));
    assert!(trace.words("direction").iter().all(|direction| *direction == "-"));
    assert!(trace.words("link").iter().all(|link| *link == "air"));
    // The packets that it accepted are those that left it and those that it still holds.
    let taken = packets.len() as f64;
    let sent = metric(&outcome, "flows.u.packets_received") + told("drops_retry");
    assert!(taken >= sent && taken <= sent + 11.0, "{taken} {sent}");
}

#[test]
fn the_trace_of_a_queue_names_the_node_that_holds_it() {
    let outcome = traced(&format!("{WIRE}\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n"), &["queue"]);
    let trace = &outcome.traces[0];
    for (direction, node) in trace.words("direction").iter().zip(trace.words("node")) {
        assert_eq!(node, if *direction == "forward" { "a" } else { "b" });
    }
}
