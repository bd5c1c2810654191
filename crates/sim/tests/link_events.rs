//! Outages and hand-offs end to end.

use std::collections::BTreeMap;

use crate::common::run;
use lasthop_sim::scenario::Scenario;
use lasthop_sim::{Outcome, Request};

/// A fixed host, a base station and a mobile behind a link that is down as `outages` say, and a flow to the mobile.
fn wire(outages: &str, tcp: &str) -> String {
    format!(
        r#"
        [run]
        duration = "40 s"
        [nodes]
        host = {{}}
        base = {{}}
        mobile = {{}}
        [links.core]
        kind = "wired"
        nodes = ["host", "base"]
        rate = "10 Mbit/s"
        delay = "20 ms"
        [links.air]
        kind = "lossy"
        nodes = ["base", "mobile"]
        rate = "2 Mbit/s"
        delay = "5 ms"
        {outages}
        [flows.main]
        from = "host"
        to = "mobile"
        tcp = {{ variant = "newreno", window = "20 segments", {tcp} }}
        "#
    )
}

fn outcome(text: &str, replication: u64) -> Outcome {
    let scenario = Scenario::from_text(text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let config = scenario.config(0);
    run(&Request::new(&config, 1, replication)).expect("it runs")
}

fn metrics(text: &str) -> BTreeMap<String, f64> {
    outcome(text, 0).metrics.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

const TWO_SECONDS: &str = r#"outages = { law = "script", script = "2 s at 10 s" }"#;
const WARNED: &str = r#"outages = { law = "script", script = "2 s at 10 s", warning = { lead = "120 ms" } }"#;

#[test]
fn an_outage_loses_what_it_meets_and_is_counted_as_its_own_cause() {
    let found = metrics(&wire(TWO_SECONDS, ""));
    assert_eq!((found["links.air.outages.count"], found["links.air.outages.down_s"]), (1.0, 2.0));
    assert!(found["links.air.outages.lost"] >= 10.0);
    assert_eq!(found["links.air.drops_loss"], 0.0);
    assert_eq!(found["flows.main.outages.resumed"], 1.0);
    assert!(found["flows.main.timeouts"] >= 2.0);
}

#[test]
fn an_outage_that_never_comes_changes_no_number() {
    let with = metrics(&wire(r#"outages = { law = "script", script = "1 s at 39.9999 h" }"#.replace("39.9999 h", "9000 s").as_str(), ""));
    let without = metrics(&wire("", ""));
    for (name, value) in &without {
        assert_eq!(with[name].to_bits(), value.to_bits(), "{name}");
    }
}

#[test]
fn random_outages_move_no_other_draw() {
    let lossy = |outages: &str| {
        wire(outages, "").replace("delay = \"5 ms\"", "delay = \"5 ms\"\nloss = { rate = \"1 %\" }")
    };
    let late = r#"outages = { law = "random", random = { mean-up = "1000000 s", mean-down = "1 s" } }"#;
    let (with, without) = (metrics(&lossy(late)), metrics(&lossy("")));
    assert_eq!(with["flows.main.goodput_bps"].to_bits(), without["flows.main.goodput_bps"].to_bits());
    assert!(without["links.air.drops_loss"] > 0.0);
}

#[test]
fn freezing_keeps_the_window_and_resumes_within_a_round_trip() {
    let plain = metrics(&wire(WARNED, ""));
    let frozen = metrics(&wire(WARNED, "reaction = \"freeze-tcp\""));
    assert_eq!(frozen["flows.main.timeouts"], 0.0);
    assert!(frozen["flows.main.outages.resume_mean_s"] < 0.2, "{frozen:?}");
    assert!(plain["flows.main.outages.resume_mean_s"] > 0.2);
    assert_eq!(frozen["flows.main.outages.resume_window_mean_segments"], 20.0);
    assert!(plain["flows.main.outages.resume_window_mean_segments"] < 5.0);
    // Warned too late, it is as without.
    let late = wire(&WARNED.replace("120 ms", "1 ms"), "reaction = \"freeze-tcp\"");
    assert!(metrics(&late)["flows.main.timeouts"] > 0.0);
}

#[test]
fn a_reconnected_receiver_and_sender_of_atcp_resume_at_once() {
    let to = metrics(&wire(TWO_SECONDS, "reaction = \"atcp\""));
    assert!(to["flows.main.outages.resume_mean_s"] < 0.3, "{}", to["flows.main.outages.resume_mean_s"]);
    let from = wire(TWO_SECONDS, "reaction = \"atcp\"")
        .replace("from = \"host\"", "from = \"mobile\"")
        .replace("to = \"mobile\"", "to = \"host\"");
    let from = metrics(&from);
    assert_eq!(from["flows.main.timeouts"], 0.0);
    assert!(from["flows.main.outages.resume_mean_s"] < 0.1);
}

#[test]
fn a_timer_that_a_stopped_sender_lets_pass_is_not_a_timeout() {
    let kept = r#"outages = { law = "script", script = "2 s at 10 s", queue = "kept" }"#;
    let from = wire(kept, "reaction = \"atcp\"")
        .replace("from = \"host\"", "from = \"mobile\"")
        .replace("to = \"mobile\"", "to = \"host\"");
    let found = metrics(&from);
    assert_eq!((found["flows.main.timeouts"], found["flows.main.timeouts_spurious"]), (0.0, 0.0));
}

#[test]
fn kept_packets_arrive_after_the_outage() {
    let kept = r#"outages = { law = "script", script = "2 s at 10 s", queue = "kept" }"#;
    let (sent, kept) = (metrics(&wire(TWO_SECONDS, "")), metrics(&wire(kept, "")));
    assert!(kept["links.air.outages.lost"] <= 2.0 && sent["links.air.outages.lost"] > 5.0);
}

/// Two access points or base stations at which a mobile is in turn, every 10 s, with a gap.
fn handoff(kind: &str, more: &str, gap: &str) -> String {
    let link = |name: &str, station: &str| match kind {
        "wifi" => format!(
            "[links.{name}]\nkind = \"wifi\"\nnodes = [\"{station}\", \"mobile\"]\naccess-point = \"{station}\"\n"
        ),
        _ => format!(
            "[links.{name}]\nkind = \"lossy\"\nnodes = [\"{station}\", \"mobile\"]\nrate = \"2 Mbit/s\"\ndelay = \"5 ms\"\n"
        ),
    };
    let wired = |name: &str, ends: &str| {
        format!(
            "[links.{name}]\nkind = \"wired\"\nnodes = [{ends}]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n"
        )
    };
    format!(
        "[run]\nduration = \"45 s\"\n[nodes]\nhost = {{}}\nrouter = {{}}\nb1 = {{}}\nb2 = {{}}\n[nodes.mobile.handoff]\n\
         law = \"periodic\"\nperiodic = {{ first = \"10 s\", every = \"10 s\" }}\nfrom = \"air1\"\nto = \"air2\"\ngap = \"{gap}\"\n\
         {more}\n{}{}{}{}{}[flows.main]\nfrom = \"host\"\nto = \"mobile\"\n",
        wired("core", "\"host\", \"router\""),
        wired("w1", "\"router\", \"b1\""),
        wired("w2", "\"router\", \"b2\""),
        link("air1", "b1"),
        link("air2", "b2"),
    )
}

#[test]
fn a_mobile_moves_between_two_stations_and_data_goes_on() {
    for kind in ["lossy", "wifi"] {
        let found = metrics(&handoff(kind, "", "200 ms"));
        assert_eq!(found["nodes.mobile.handoff.count"], 4.0, "{kind}");
        assert!((found["nodes.mobile.handoff.gap_s"] - 0.8).abs() < 1e-9);
        assert_eq!(found["flows.main.outages.resumed"], 4.0);
        assert!(found["flows.main.goodput_bps"] > 1e6, "{kind}: {}", found["flows.main.goodput_bps"]);
    }
}

#[test]
fn late_packets_are_dropped_or_forwarded() {
    let dropped = metrics(&handoff("lossy", "", "0 s"));
    let forwarded = metrics(&handoff("lossy", "late = \"forwarded\"", "0 s"));
    assert!(dropped["nodes.mobile.handoff.late"] > 0.0);
    assert_eq!(forwarded["nodes.mobile.handoff.late"], 0.0);
    assert!(forwarded["flows.main.retransmits"] <= dropped["flows.main.retransmits"]);
}

#[test]
fn what_waits_at_a_former_access_point_is_dropped_or_forwarded_and_not_sent_to_nobody() {
    for air in [
        "standard = \"802.11b\"",
        "standard = \"802.11ax\"\nmcs = 0\nstreams = 1\nwidth = \"20 MHz\"",
        "standard = \"802.11ax\"\nmcs = 0\naqm = { law = \"mac80211\" }",
    ] {
        let with = |late: &str| {
            let air = format!("kind = \"wifi\"\n{air}\n");
            let text = handoff("wifi", late, "0 s").replace("kind = \"wifi\"\n", &air);
            let cbr = "cbr = { packet = \"1000 B\", rate = \"9.5 Mbit/s\" }";
            let outcome = outcome(&format!("{text}udp = {{}}\napp = {{ kind = \"cbr\", {cbr} }}\n"), 0);
            let terms = outcome.accounts[0].1.terms().map(|(_, tally)| tally.packets);
            assert_eq!(terms[0] + terms[1] + terms[2], terms[3] + terms[4] + terms[5] + terms[6], "{air}");
            outcome.metrics.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
        };
        let (dropped, forwarded): (BTreeMap<String, f64>, BTreeMap<String, f64>) =
            (with(""), with("late = \"forwarded\""));
        for found in [&dropped, &forwarded] {
            // The frames under way, at two hand-offs from each.
            assert!(
                found["links.air1.drops_retry"] <= 10.0 && found["links.air2.drops_retry"] <= 10.0,
                "{air}"
            );
        }
        assert!(dropped["nodes.mobile.handoff.late"] > 50.0, "{air}");
        assert_eq!(forwarded["nodes.mobile.handoff.late"], 0.0, "{air}");
    }
}

#[test]
fn the_state_of_an_agent_moves_with_its_flow() {
    let agent = "[agents.proxy]\nkind = \"proxy-tcp\"\n";
    let with = |more: &str| handoff("wifi", more, "100 ms") + agent;
    let fast = metrics(&with(""));
    assert!(fast["nodes.mobile.handoff.state"] > 0.0);
    let slow = metrics(&with("state-rate = \"1 kbit/s\"\nstate-delay = \"1 s\""));
    assert!(slow["flows.main.goodput_bps"] > 0.0);
    // State that arrives while its node leaves goes on to the other station.
    let moved = |delay: &str| {
        let more = format!("state-delay = \"{delay}\"");
        metrics(&(handoff("wifi", &more, "2 s") + agent))["nodes.mobile.handoff.state"]
    };
    assert!(moved("11.5 s") > 1.5 * moved("9 s"), "{} {}", moved("11.5 s"), moved("9 s"));
}

#[test]
fn every_byte_of_a_file_arrives_once_with_any_reaction_outages_and_hand_offs() {
    for reaction in ["none", "freeze-tcp", "atcp", "ilc-tcp", "m-tcp"] {
        for replication in 0..6 {
            let random = "outages = { law = \"random\", random = { mean-up = \"2 s\", mean-down = \"500 ms\" }, \
                          warning = { lead = \"80 ms\", deviation = \"60 ms\", missed = \"20 %\", false-every = \"3 s\", false-for = \"200 ms\" } }";
            let text = wire(random, &format!("reaction = \"{reaction}\""))
                .replace("to = \"mobile\"\n        tcp", "to = \"mobile\"\n        app = { kind = \"file\", file = { size = \"2 MB\" } }\n        tcp")
                .replace("\"40 s\"", "\"300 s\"");
            let outcome = outcome(&text, replication);
            let (name, account) = &outcome.accounts[0];
            let stream = account.stream.expect("over tcp");
            assert_eq!(
                (stream.received, stream.acknowledged),
                (2_000_001, 2_000_001),
                "{reaction} {replication} {name}"
            );
            let terms = account.terms().map(|(_, tally)| tally.packets);
            assert_eq!(terms[0] + terms[1] + terms[2], terms[3] + terms[4] + terms[5] + terms[6]);
        }
    }
}

#[test]
fn what_does_not_go_together_is_reported_at_its_key() {
    let wrong = |text: &str| Scenario::from_text(text, "test.toml", &[]).expect_err("wrong").to_string();
    let overlapping = r#"outages = { law = "script", script = "2 s at 10 s, 1 s at 11 s" }"#;
    assert!(wrong(&wire(overlapping, "")).contains("links.air.outages.script"));
    let long = r#"outages = { law = "periodic", periodic = { first = "1 s", every = "2 s", for = "2 s" } }"#;
    assert!(wrong(&wire(long, "")).contains("links.air.outages.periodic.for"));
    assert!(wrong(&handoff("lossy", "", "10 s")).contains("nodes.mobile.handoff.gap"));
    let elsewhere = handoff("lossy", "", "0 s").replace("to = \"air2\"", "to = \"w2\"");
    assert!(wrong(&elsewhere).contains("nodes.mobile.handoff.to"));
}

#[test]
fn a_timeout_of_a_disconnected_sender_freezes_it_and_a_shorter_disconnection_does_not() {
    let from = |outages: &str, reaction: &str| {
        let text =
            wire(&format!("outages = {{ law = \"script\", script = \"{outages} at 10 s\" }}"), reaction);
        metrics(
            &text.replace("from = \"host\"", "from = \"mobile\"").replace("to = \"mobile\"", "to = \"host\""),
        )
    };
    for lasts in ["2 s", "10 s"] {
        let frozen = from(lasts, "reaction = \"ilc-tcp\"");
        let plain = from(lasts, "");
        assert_eq!(frozen["flows.main.timeouts"], 0.0, "{lasts}");
        assert!(frozen["flows.main.outages.resume_mean_s"] < 0.1, "{lasts}: {frozen:?}");
        assert_eq!(frozen["flows.main.outages.resume_window_mean_segments"], 20.0);
        assert!(plain["flows.main.outages.resume_mean_s"] > 0.1 && plain["flows.main.timeouts"] > 0.0);
    }
    // Shorter than the timeout: nothing asks the state manager, and each number is that of TCP by itself.
    let (with, without) = (from("50 ms", "reaction = \"ilc-tcp\""), from("50 ms", ""));
    for (name, value) in &without {
        assert_eq!(with[name].to_bits(), value.to_bits(), "{name}");
    }
}

/// A cell with two stations behind an access point, of which outages concern one, or all.
fn cell(station: &str) -> BTreeMap<String, f64> {
    metrics(&format!(
        r#"
        [run]
        duration = "20 s"
        [nodes]
        ap = {{}}
        one = {{}}
        two = {{}}
        [links.air]
        kind = "wifi"
        nodes = ["ap", "one", "two"]
        access-point = "ap"
        outages = {{ law = "script", script = "2 s at 10 s", {station} }}
        [flows.one]
        from = "ap"
        to = "one"
        tcp = {{ window = "4 segments" }}
        [flows.two]
        from = "ap"
        to = "two"
        tcp = {{ window = "4 segments" }}
        "#
    ))
}

#[test]
fn an_outage_of_one_station_leaves_the_others_alone() {
    let (one, all) = (cell("node = \"one\""), cell(""));
    assert_eq!((one["flows.one.outages.resumed"], one["flows.two.outages.resumed"]), (1.0, 0.0));
    assert_eq!((all["flows.one.outages.resumed"], all["flows.two.outages.resumed"]), (1.0, 1.0));
    assert_eq!(one["links.air.outages.down_s"], 2.0);
    assert!(one["flows.one.timeouts"] > 0.0 && one["flows.two.timeouts"] == 0.0);
    assert!(all["flows.two.timeouts"] > 0.0);
    assert!(one["flows.two.goodput_bps"] > all["flows.two.goodput_bps"]);
}

#[test]
fn a_hand_off_is_predicted_with_errors() {
    let timeouts = |warning: &str| {
        let text = handoff("lossy", &format!("warning = {{ {warning} }}"), "600 ms");
        metrics(&(text + "tcp = { reaction = \"freeze-tcp\", window = \"10 segments\" }\n"))["flows.main.timeouts"]
    };
    assert_eq!(timeouts("lead = \"120 ms\""), 0.0);
    assert!(timeouts("lead = \"120 ms\", missed = \"100 %\"") >= 4.0);
    assert!(timeouts("lead = \"1 ms\"") >= 4.0, "too late");
    let erring = timeouts("lead = \"120 ms\", deviation = \"2 s\"");
    assert!(erring > 0.0, "{erring}");
    let text = |warning: &str| {
        let text = handoff("lossy", &format!("warning = {{ {warning} }}"), "600 ms");
        metrics(&(text + "tcp = { reaction = \"freeze-tcp\", window = \"10 segments\" }\n"))["flows.main.goodput_bps"]
    };
    let (right, wrong) =
        (text("lead = \"120 ms\""), text("lead = \"120 ms\", false-every = \"1 s\", false-for = \"500 ms\""));
    assert!(wrong < 0.9 * right, "false warnings stop the sender: {wrong} {right}");
}

#[test]
fn a_station_of_an_outage_is_one_of_the_link() {
    let wrong = |text: &str| Scenario::from_text(text, "test.toml", &[]).expect_err("wrong").to_string();
    let base = "[run]\nduration = \"1 s\"\n[nodes]\na = {}\nb = {}\nc = {}\n[links.air]\nkind = \"wifi\"\nnodes = [\"a\", \"b\"]\n\
                outages = { law = \"script\", script = \"1 s at 1 s\", node = \"c\" }\n[links.w]\nkind = \"wired\"\nnodes = [\"b\", \"c\"]\n\
                rate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n";
    assert!(wrong(base).contains("links.air.outages.node"), "{}", wrong(base));
}
