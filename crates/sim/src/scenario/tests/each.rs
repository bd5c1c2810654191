//! Groups whose members differ: lists that give each member its value.

use super::groups::{CELL, WIRED};
use super::{line_of, read, resolved, with};
use crate::model::{Config, LinkKind, TransportConfig};
use crate::{Request, run};

fn laws(config: &Config) -> Vec<&'static str> {
    let law = |transport: &TransportConfig| match transport {
        TransportConfig::Tcp(tcp) => tcp.parts.law.kind().entry().name,
        TransportConfig::Udp { .. } => "udp",
        TransportConfig::Quic(_) => "quic",
    };
    config.flows.iter().map(|flow| law(&flow.transport)).collect()
}

/// The cell with more keys of its flows.
fn flows(more: &str) -> String {
    format!("{CELL}{more}\n")
}

fn fault(text: &str) -> String {
    read(text).err().unwrap_or_else(|| panic!("it is legal:\n{text}")).to_string()
}

#[test]
fn the_flows_of_a_group_have_the_values_of_a_list_in_turn() {
    let scenario =
        read(&flows("tcp.variant = [\"cubic\", \"bbr\", \"reno\"]\napp.start = [\"0 s\", \"2 s\"]")).unwrap();
    let config = scenario.config(0);
    assert_eq!(laws(&config), ["cubic", "bbr", "reno", "cubic"]);
    let starts: Vec<u64> = config.flows.iter().map(|flow| flow.app.start.0 / 1_000_000_000).collect();
    assert_eq!(starts, [0, 2, 0, 2]);
    let text = |key| resolved(&scenario, 0, key).unwrap();
    assert_eq!(text("flows.up.tcp.variant"), ("[\"cubic\", \"bbr\", \"reno\"]".into(), "file".into()));
    // The two lists together repeat after six members.
    let congestion = "[\"cubic\", \"bbr\", \"reno\", \"cubic\", \"bbr\", \"reno\"]";
    assert_eq!(text("flows.up.tcp.congestion").0, congestion);
    assert_eq!(text("flows.up.tcp.cubic.beta").0, text("flows.up.tcp.cubic.beta").0);
    assert!(scenario.warnings().is_empty());
}

#[test]
fn what_a_value_of_a_list_requires_holds_for_its_member_alone() {
    let cbr = "app.kind = [\"bulk\", \"cbr\"]\napp.cbr.rate = \"1 Mbit/s\"";
    let config = read(&flows(cbr)).unwrap().config(0);
    assert_eq!(laws(&config), ["cubic", "udp", "cubic", "udp"]);
    let metrics = run(&Request::new(&config, 1, 0)).unwrap().metrics;
    let has =
        |name: &str| metrics.iter().any(|metric| metric.0 == name && metric.1.is_some_and(|it| it > 0.0));
    assert!(has("flows.up2.goodput_bps") && has("flows.up1.rtt_mean_s") && !has("flows.up2.rtt_mean_s"));
    assert!(has("flows.up.goodput_bps") && has("flows.up.rtt_mean_s"));
    let text = flows("app.kind = [\"bulk\", \"cbr\"]");
    let missing = fault(&text);
    assert!(missing.contains("flows.up.app.cbr.rate: missing"), "{missing}");
    let unused = fault(&flows("tcp.variant = [\"cubic\", \"reno\"]\ntcp.bbr.segment = \"1 B\""));
    assert!(unused.contains("flows.up.tcp.bbr"), "{unused}");
}

#[test]
fn every_member_is_checked() {
    let text = flows("tcp.min-rto = [\"200 ms\", \"100 s\"]\ntcp.max-rto = \"60 s\"");
    let line = line_of(&text, "tcp.min-rto");
    assert_eq!(
        fault(&text),
        format!("x.toml:{line}: flows.up.tcp.min-rto: 100 s is above tcp.max-rto, 60 s; expected less")
    );
}

#[test]
fn the_nodes_of_a_group_have_distances_positions_and_rates_of_their_own() {
    let places = |nodes: &str| -> Vec<(i64, i64)> {
        let table = "sta = { count = 4, around = \"ap\", place = { kind = \"circle\", circle = { radius = \"20 m\" } } }";
        let text = CELL.replace(table, nodes);
        let rounded = |metres: f64| libm::round(metres) as i64;
        let nodes = read(&text).unwrap().config(0).nodes;
        nodes.iter().map(|node| node.position.map(|(x, y)| (rounded(x.0), rounded(y.0))).unwrap()).collect()
    };
    let distances = places("sta = { count = 4, distance = [\"3 m\", \"6 m\"] }");
    assert_eq!(distances[1..], [(103, 50), (100, 56), (97, 50), (100, 44)]);
    let positions = places(
        "sta = { count = 3, position = [[\"1 m\", \"2 m\"], [\"3 m\", \"4 m\"], [\"5 m\", \"6 m\"]] }",
    );
    assert_eq!(positions[1..], [(1, 2), (3, 4), (5, 6)]);
    assert_eq!(places("sta = { count = 2, position = [\"1 m\", \"2 m\"] }")[1..], [(1, 2), (1, 2)]);
    let rates = with(CELL, &[("nodes.sta.wifi.rate", "[\"1 Mbit/s\", \"2 Mbit/s\"]")]).unwrap().config(0);
    let own: Vec<_> = rates.nodes.iter().skip(1).map(|node| node.own_rate.rate).collect();
    assert!(own[0] == own[2] && own[1] == own[3] && own[0] != own[1], "{own:?}");
    let fastest = |of: &str| {
        let config =
            with(CELL, &[("links.air.rate", "2 Mbit/s"), ("nodes.sta.wifi.rate", of)]).unwrap().config(0);
        let wifi = |kind| if let LinkKind::Wifi(wifi) = kind { Some(wifi.fastest_bps()) } else { None };
        config.links.into_iter().find_map(|link| wifi(link.kind)).unwrap()
    };
    assert_eq!([fastest("1 Mbit/s"), fastest("5.5 Mbit/s")], [2e6, 5.5e6]);
    let wrong =
        with(CELL, &[("nodes.sta.wifi.rate", "[\"1 Mbit/s\", \"3 Mbit/s\"]")]).unwrap_err().to_string();
    assert!(
        wrong.contains("nodes.sta.wifi.rate=") && wrong.contains(": \"3 Mbit/s\" is not a rate"),
        "{wrong}"
    );
}

#[test]
fn a_list_and_the_number_of_members_can_be_swept_and_set() {
    let sweep = "[sweep]\n\"nodes.sta.count\" = [1, 4]\n\"flows.up.tcp.variant\" = [\"reno\", [\"cubic\", \"bbr\"]]\n";
    let scenario = read(&flows(sweep)).unwrap();
    assert_eq!(scenario.points(), 4);
    let laws_at = |point| laws(&scenario.config(point));
    assert_eq!(laws_at(0), ["reno"]);
    assert_eq!(laws_at(1), ["cubic"]);
    assert_eq!(laws_at(3), ["cubic", "bbr", "cubic", "bbr"]);
    assert_eq!(scenario.point(3)[1].1, "[\"cubic\", \"bbr\"]");
    assert!(scenario.metrics().iter().any(|name| name == "flows.up4.goodput_bps"));
    for text in ["[\"cubic\", \"bbr\"]", "[cubic, bbr]"] {
        let set = with(CELL, &[("flows.up.tcp.variant", text)]).unwrap();
        assert_eq!(laws(&set.config(0)), ["cubic", "bbr", "cubic", "bbr"]);
    }
}

#[test]
fn the_links_of_a_group_have_rates_delays_and_queues_of_their_own() {
    let access = "nodes = [\"host\", \"edge\"]\nrate  = \"1 Mbit/s\"";
    let differing = "nodes = [\"host\", \"edge\"]\nrate = [\"1 Mbit/s\", \"2 Mbit/s\"]\ndelay = [\"1 ms\", \"5 ms\", \"9 ms\"]";
    let text = WIRED.replace(access, differing);
    let config = read(&text).unwrap().config(0);
    let ways: Vec<(u64, u64)> = config
        .point_to_point()
        .take(6)
        .map(|(_, ends)| {
            let [there, back] = &ends.directions;
            assert_eq!((there.rate, there.delay), (back.rate, back.delay));
            (there.rate.0 / 1_000_000, there.delay.0 / 1_000_000)
        })
        .collect();
    assert_eq!(ways, [(1, 1), (2, 5), (1, 9), (2, 1), (1, 5), (2, 9)]);
    let single = text.replace("[\"host\", \"edge\"]", "[\"host1\", \"edge1\"]");
    let expected = "links.access.rate: a list, and \"access\" is not a group; expected a rate";
    assert!(fault(&single).contains(expected), "{}", fault(&single));
}

#[test]
fn lists_change_the_key_of_a_point() {
    let key = |text: &str| with(CELL, &[("flows.up.tcp.variant", text)]).unwrap().point_key(0);
    assert_ne!(key("[cubic, bbr]"), key("cubic"));
    assert_ne!(key("[cubic, bbr]"), key("[bbr, cubic]"));
    assert_ne!(key("[cubic, bbr]"), key("[cubic, reno]"));
}

#[test]
fn wrong_lists_are_reported_with_line_and_key() {
    let said = |more: &str| {
        let text = flows(more);
        (fault(&text), line_of(&text, more.split(' ').next().unwrap()))
    };
    let (unknown, line) = said("tcp.variant = [\"cubic\", \"rno\"]");
    assert!(
        unknown.starts_with(&format!(
            "x.toml:{line}: flows.up.tcp.variant: unknown variant \"rno\"; did you mean \"reno\"?"
        )),
        "{unknown}"
    );
    let (empty, line) = said("tcp.variant = []");
    assert!(
        empty.starts_with(&format!("x.toml:{line}: flows.up.tcp.variant: an empty list; expected")),
        "{empty}"
    );
    let (nested, _) = said("tcp.variant = [[\"cubic\"], \"reno\"]");
    assert!(nested.contains("flows.up.tcp.variant: a list; expected"), "{nested}");
    let (probe, line) = said("app.kind = [\"bulk\", \"ping\"]");
    let expected = "flows.up.app.kind: \"ping\" beside other sources; expected it for all flows of the group, or for none";
    assert_eq!(probe, format!("x.toml:{line}: {expected}"));
    let single = flows("tcp.variant = [\"cubic\", \"bbr\"]").replace("from = \"sta\"", "from = \"sta1\"");
    let line = line_of(&single, "tcp.variant");
    let expected = "flows.up.tcp.variant: a list, and \"up\" is not a group; expected a variant";
    assert!(fault(&single).starts_with(&format!("x.toml:{line}: {expected}")), "{}", fault(&single));
    let count = fault(&CELL.replace("count = 4", "count = [4, 5]"));
    assert!(count.contains("nodes.sta.count: a list; expected"), "{count}");
}

#[test]
fn a_list_that_is_too_long_at_every_point_is_remarked() {
    let text = flows("tcp.variant = [\"cubic\", \"bbr\", \"reno\", \"vegas\", \"westwood\"]");
    let line = line_of(&text, "tcp.variant");
    let expected = "flows.up.tcp.variant: a list of 5 for a group of 4; expected at most 4 values";
    assert_eq!(read(&text).unwrap().warnings(), [format!("x.toml:{line}: {expected}")]);
    let swept = format!("{text}\n[sweep]\n\"nodes.sta.count\" = [1, 5]\n");
    assert!(read(&swept).unwrap().warnings().is_empty());
}

#[test]
fn explanation_and_schema_say_which_keys_may_be_lists() {
    let explained = |key: &str| crate::scenario::explain(key).unwrap();
    assert!(explained("flows.NAME.tcp.variant").contains("\"may_differ\":true"));
    assert!(explained("flows.NAME.to").contains("\"may_differ\":false"));
    let schema: serde_json::Value = serde_json::from_str(&crate::scenario::schema()).unwrap();
    let of = |section: &str, key: &str| {
        schema["properties"][section]["patternProperties"]["^[A-Za-z0-9_-]+$"]["properties"][key].clone()
    };
    assert_eq!(of("nodes", "distance")["anyOf"][1]["type"], "array");
    assert!(of("nodes", "around")["anyOf"].is_null() && of("nodes", "around")["type"] == "string");
}
