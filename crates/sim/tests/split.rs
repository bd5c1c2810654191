//! Stations that end connections, end to end: I-TCP and M-TCP over wires and 802.11, with losses, outages, hand-offs and
//! restarts.

use std::collections::BTreeMap;

use crate::common::run;
use lasthop_sim::scenario::Scenario;
use lasthop_sim::{Outcome, Request};

/// A fixed host, a base station with an agent, and a mobile; `air` and `node` say more of the link and of the station.
fn wire(kind: &str, air: &str, node: &str, flow: &str) -> String {
    let air = match air.strip_prefix("wifi") {
        Some(air) => {
            format!("kind = \"wifi\"\nnodes = [\"base\", \"mobile\"]\naccess-point = \"base\"\n{air}")
        }
        None => format!(
            "kind = \"lossy\"\nnodes = [\"base\", \"mobile\"]\nrate = \"2 Mbit/s\"\ndelay = \"5 ms\"\n{air}"
        ),
    };
    format!(
        r#"
        [run]
        duration = "120 s"
        [nodes]
        host = {{}}
        base = {{ {node} }}
        mobile = {{}}
        [links.core]
        kind = "wired"
        nodes = ["host", "base"]
        rate = "10 Mbit/s"
        delay = "20 ms"
        [links.air]
        {air}
        [agents.station]
        kind = "{kind}"
        node = "base"
        link = "air"
        [flows.main]
        {flow}
        "#
    )
}

const TO: &str =
    "from = \"host\"\nto = \"mobile\"\ntcp = { variant = \"newreno\", window = \"20 segments\" }\n";
const FROM: &str =
    "from = \"mobile\"\nto = \"host\"\ntcp = { variant = \"newreno\", window = \"20 segments\" }\n";
const FILE: &str = "app = { kind = \"file\", file = { size = \"3 MB\" } }\n";

fn outcome(text: &str, replication: u64) -> Outcome {
    let scenario =
        Scenario::from_text(text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let config = scenario.config(0);
    run(&Request::new(&config, 1, replication)).expect("it runs")
}

fn metrics(text: &str) -> BTreeMap<String, f64> {
    outcome(text, 0).metrics.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// How many bytes are acknowledged to the sender, and how many have come to the receiver.
fn stream(outcome: &Outcome) -> (u64, u64) {
    let stream = outcome.accounts[0].1.stream.expect("over tcp");
    (stream.acknowledged, stream.received)
}

#[test]
fn a_file_arrives_whole_either_way_over_a_lossy_hop_of_any_kind() {
    let lossy = "loss = { rate = \"5 %\" }";
    let wifi = "wifi\nloss = { model = \"packet\", rate = \"5 %\", above-mac = true }";
    for kind in ["i-tcp", "m-tcp"] {
        for air in [lossy, wifi] {
            for flow in [TO, FROM] {
                let outcome = outcome(&wire(kind, air, "", &format!("{flow}{FILE}")), 1);
                assert_eq!(stream(&outcome), (3_000_001, 3_000_001), "{kind} {air} {flow}");
                let terms = outcome.accounts[0].1.terms().map(|(_, tally)| tally.packets);
                assert_eq!(terms[0] + terms[1] + terms[2], terms[3] + terms[4] + terms[5] + terms[6]);
            }
        }
    }
}

#[test]
fn a_lossy_hop_costs_a_split_connection_less_than_a_whole_one() {
    let lossy = "loss = { rate = \"5 %\" }";
    let split = metrics(&wire("i-tcp", lossy, "", TO));
    let whole = metrics(&wire("none", lossy, "", TO));
    assert!(split["flows.main.goodput_bps"] > 1.3 * whole["flows.main.goodput_bps"], "{split:?}");
    assert_eq!(split["flows.main.loss_indications"], 0.0, "the host sees no loss of the hop");
    assert!(split["agents.station.repaired"] > 100.0);
    assert!(split["agents.station.unconfirmed"] > 0.0);
    assert!(split["agents.station.i-tcp.unconfirmed_max"] <= 131_072.0);
    assert!(split["agents.station.i-tcp.held_max"] >= split["agents.station.i-tcp.unconfirmed_max"]);
}

#[test]
fn nothing_is_acknowledged_that_the_mobile_has_not_with_an_end_to_end_meaning() {
    for lasts in ["7.3 s", "20.05 s", "33 s", "61.7 s"] {
        let air = "loss = { rate = \"3 %\" }\noutages = { law = \"periodic\", periodic = { first = \"6 s\", every = \"14 s\", for = \"2 s\" } }";
        let text = wire("m-tcp", air, "", TO).replace("\"120 s\"", &format!("\"{lasts}\""));
        let run = outcome(&text, 0);
        let (acknowledged, received) = stream(&run);
        assert!(acknowledged <= received && acknowledged > 100_000, "{lasts}: {acknowledged} {received}");
        let text = text.replace("m-tcp", "i-tcp");
        let (acknowledged, received) = stream(&outcome(&text, 0));
        assert!(acknowledged > received, "{lasts}: I-TCP is ahead of its mobile");
    }
}

#[test]
fn a_station_that_dies_loses_what_it_had_acknowledged_and_that_is_counted() {
    // It dies within an outage, when nothing is on the hop.
    let air = "outages = { law = \"script\", script = \"4 s at 10 s\" }";
    let found = metrics(&wire("i-tcp", air, "restart = \"12 s\"", TO));
    let lost = found["agents.station.i-tcp.lost_bytes"];
    assert!(lost >= 65_536.0, "{lost}");
    // Of the last segments on the hop the acknowledgements were cut off.
    let gone = found["agents.station.false_positives"];
    assert!(gone > 0.0 && gone <= lost && lost - gone <= 40_000.0, "{gone} of {lost}");
    assert_eq!(found["agents.station.unconfirmed"], 0.0);
    let (acknowledged, received) = stream(&outcome(&wire("i-tcp", air, "restart = \"12 s\"", TO), 0));
    assert_eq!((acknowledged - received) as f64, gone);
    let found = metrics(&wire("m-tcp", air, "restart = \"12 s\"", TO));
    assert_eq!(
        (found["agents.station.m-tcp.lost_bytes"], found["agents.station.false_positives"]),
        (0.0, 0.0)
    );
}

#[test]
fn the_loss_equals_the_counter_where_all_that_the_mobile_has_is_acknowledged() {
    // The mobile's link goes down while the flow pauses: the hop is empty, and what comes then stays at the station.
    let air = "outages = { law = \"script\", script = \"40 s at 10 s\" }";
    let flow = format!(
        "{TO}app = {{ kind = \"cbr\", start = \"1 s\", cbr = {{ rate = \"8 kbit/s\", packet = \"500 B\" }} }}\n"
    );
    let text = wire("i-tcp", air, "restart = \"30 s\"", &flow);
    let found = metrics(&text);
    let lost = found["agents.station.i-tcp.lost_bytes"];
    assert!((19_000.0..=21_000.0).contains(&lost), "20 s at 1 kB/s: {lost}");
    assert_eq!(found["agents.station.false_positives"], lost);
    let (acknowledged, received) = stream(&outcome(&text, 0));
    assert_eq!((acknowledged - received) as f64, lost);
}

#[test]
fn a_frozen_sender_keeps_its_window_and_timeout_over_a_disconnection() {
    for lasts in ["500 ms", "5 s"] {
        let air = format!("outages = {{ law = \"script\", script = \"{lasts} at 10 s\" }}");
        let plain = metrics(&wire("none", &air, "", TO));
        let frozen =
            metrics(&wire("m-tcp", &air, "", &TO.replace("window =", "reaction = \"m-tcp\", window =")));
        assert_eq!(frozen["flows.main.timeouts"], 0.0, "{lasts}");
        assert_eq!(frozen["agents.station.m-tcp.freezes"], 1.0);
        assert!(frozen["flows.main.outages.resume_mean_s"] < 0.03, "{lasts}: {frozen:?}");
        assert_eq!(frozen["flows.main.outages.resume_window_mean_segments"], 20.0);
        assert!(plain["flows.main.outages.resume_mean_s"] > 0.1);
    }
}

/// Two stations at which a mobile is in turn.
fn handoff(kind: &str, more: &str, flow: &str) -> String {
    let mut text = vec![String::from(
        "[run]\nduration = \"200 s\"\n[nodes]\nhost = {}\nrouter = {}\nb1 = {}\nb2 = {}\n",
    )];
    text.push(format!(
        "[nodes.mobile.handoff]\nlaw = \"periodic\"\nperiodic = {{ first = \"5 s\", every = \"8 s\" }}\nfrom = \"air1\"\nto = \"air2\"\n{more}\n"
    ));
    for (name, ends, how) in [
        ("core", "\"host\", \"router\"", "kind = \"wired\"\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\""),
        ("w1", "\"router\", \"b1\"", "kind = \"wired\"\nrate = \"10 Mbit/s\"\ndelay = \"2 ms\""),
        ("w2", "\"router\", \"b2\"", "kind = \"wired\"\nrate = \"10 Mbit/s\"\ndelay = \"2 ms\""),
        (
            "air1",
            "\"b1\", \"mobile\"",
            "kind = \"lossy\"\nrate = \"2 Mbit/s\"\ndelay = \"5 ms\"\nloss = { rate = \"1 %\" }",
        ),
        (
            "air2",
            "\"b2\", \"mobile\"",
            "kind = \"lossy\"\nrate = \"2 Mbit/s\"\ndelay = \"5 ms\"\nloss = { rate = \"1 %\" }",
        ),
    ] {
        text.push(format!("[links.{name}]\nnodes = [{ends}]\n{how}\n"));
    }
    for (agent, node, link) in [("one", "b1", "air1"), ("two", "b2", "air2")] {
        text.push(format!("[agents.{agent}]\nkind = \"{kind}\"\nnode = \"{node}\"\nlink = \"{link}\"\n"));
    }
    text.concat() + "[flows.main]\n" + flow
}

#[test]
fn a_hand_off_takes_both_ends_with_it_however_long_their_state_takes() {
    for kind in ["i-tcp", "m-tcp"] {
        for more in ["gap = \"200 ms\"", "gap = \"1 s\"\nstate-rate = \"1 Mbit/s\"", "state-delay = \"3 s\""]
        {
            for flow in [TO, FROM] {
                let outcome = outcome(&handoff(kind, more, &format!("{flow}{FILE}")), 3);
                assert_eq!(stream(&outcome), (3_000_001, 3_000_001), "{kind} {more} {flow}");
            }
        }
    }
}

#[test]
fn state_that_comes_after_its_node_has_gone_on_follows_it() {
    let periodic = "law = \"periodic\"\nperiodic = { first = \"5 s\", every = \"8 s\" }";
    let text = handoff("i-tcp", "state-delay = \"4 s\"", &format!("{TO}{FILE}"))
        .replace(periodic, "law = \"script\"\nscript = \"5 s, 8 s\"");
    assert!(!text.contains("periodic"));
    let outcome = outcome(&text, 0);
    assert_eq!(stream(&outcome), (3_000_001, 3_000_001));
}

#[test]
fn state_that_moves_is_the_data_held_and_a_constant() {
    let found = metrics(&handoff("i-tcp", "gap = \"100 ms\"", TO));
    let (moved, count) = (found["nodes.mobile.handoff.state"], found["nodes.mobile.handoff.count"]);
    assert!(moved > 512.0 * count && moved < (512.0 + 131_072.0) * count, "{moved} in {count}");
}

#[test]
fn a_station_without_an_agent_that_ends_connections_is_reported() {
    let text = handoff("i-tcp", "", TO);
    let wrong = |text: &str| Scenario::from_text(text, "test.toml", &[]).expect_err("wrong").to_string();
    let one = text.split("[agents.two]").next().expect("text").to_string() + "[flows.main]\n" + TO;
    let found = wrong(&one);
    assert!(found.contains("agents.one.kind") && found.contains("air2"), "{found}");
    let other = text.replacen("kind = \"i-tcp\"", "kind = \"none\"", 1);
    assert!(wrong(&other).contains("agents.two.kind"));
    let short = wire("i-tcp", "", "", TO)
        .replace("link = \"air\"", "link = \"air\"\ni-tcp = { wireless-max-rto = \"100 ms\" }");
    assert!(wrong(&short).contains("agents.station.i-tcp.wireless-max-rto"));
}

#[test]
fn two_stations_in_a_row_and_other_agents_beside_them_deliver_all() {
    let wifi = "wifi\nloss = { model = \"packet\", rate = \"2 %\" }";
    for other in ["lle-tcp", "proxy-tcp"] {
        let both = wire("i-tcp", wifi, "", &format!("{TO}{FILE}"))
            + "[agents.core]\nkind = \"m-tcp\"\nnode = \"host\"\nlink = \"core\"\n"
            + &format!("[agents.more]\nkind = \"{other}\"\n");
        let outcome = outcome(&both, 0);
        assert_eq!(stream(&outcome).1, 3_000_001, "{other}");
    }
}

#[test]
fn users_with_many_sessions_are_split_one_by_one() {
    let flow = TO.to_string()
        + "app = { kind = \"mix\", ftp = { size = \"20 kB\", pause = \"300 ms\" }, web = { reading = \"300 ms\" }, mail = { pause = \"300 ms\" } }\n";
    for kind in ["i-tcp", "m-tcp"] {
        let text = wire(kind, "loss = { rate = \"1 %\" }", "", &flow);
        let (found, transfers) = (metrics(&text), outcome(&text, 0).transfers);
        let done = transfers.iter().filter(|transfer| transfer.ended.is_some()).count();
        assert!(done > 60, "{kind}: {done}");
        assert_eq!(found[&format!("agents.station.{kind}.refused")], 0.0);
    }
}
