//! Groups: tables that stand for many nodes, links or flows.

use super::{line_of, read, resolved, with};
use crate::model::Config;
use crate::scenario::Scenario;
use crate::{Request, run};

/// A cell of stations around an access point.
pub(super) const CELL: &str = r#"[run]
duration = "10 s"

[nodes]
ap  = { position = ["100 m", "50 m"] }
sta = { count = 4, around = "ap", place = { kind = "circle", circle = { radius = "20 m" } } }

[links.air]
kind         = "wifi"
nodes        = ["ap", "sta"]
access-point = "ap"

[flows.up]
from = "sta"
to   = "ap"
"#;

/// Two groups of wired hosts, and routers between them.
pub(super) const WIRED: &str = r#"[run]
duration = "10 s"

[nodes]
host = { count = 6 }
edge = { count = 3 }
core = {}

[links.access]
kind  = "wired"
nodes = ["host", "edge"]
rate  = "1 Mbit/s"

[links.up]
kind  = "wired"
nodes = ["edge", "core"]
rate  = "1 Mbit/s"

[flows.load]
from  = "host"
to    = "host"
count = 40
"#;

fn node_names(config: &Config) -> Vec<&str> {
    config.nodes.iter().map(|node| node.name.as_str()).collect()
}

/// Each flow by its name and the names of its ends.
fn flows(config: &Config) -> Vec<[&str; 3]> {
    let names = node_names(config);
    config.flows.iter().map(|flow| [flow.name.as_str(), names[flow.from], names[flow.to]]).collect()
}

fn positions(config: &Config) -> Vec<(i64, i64)> {
    let rounded = |metres: f64| libm::round(metres) as i64;
    let place =
        |(x, y): (lasthop_stack::units::Metres, lasthop_stack::units::Metres)| (rounded(x.0), rounded(y.0));
    config.nodes.iter().map(|node| place(node.position.expect("a position"))).collect()
}

fn changed(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from:?} stands once in the scenario");
    text.replace(from, to)
}

/// The one fault of a scenario.
fn fault(text: &str) -> String {
    match read(text) {
        Ok(_) => panic!("it is legal:\n{text}"),
        Err(error) => error.to_string(),
    }
}

fn cell_fault(from: &str, to: &str, piece: &str, expected: &str) {
    let text = changed(CELL, from, to);
    assert_eq!(fault(&text), format!("x.toml:{}: {expected}", line_of(&text, piece)));
}

#[test]
fn a_group_of_nodes_makes_a_flow_for_each_and_all_are_stations() {
    let scenario = read(CELL).unwrap();
    let config = scenario.config(0);
    assert_eq!(node_names(&config), ["ap", "sta1", "sta2", "sta3", "sta4"]);
    assert_eq!(positions(&config), [(100, 50), (120, 50), (100, 70), (80, 50), (100, 30)]);
    let expected =
        [["up1", "sta1", "ap"], ["up2", "sta2", "ap"], ["up3", "sta3", "ap"], ["up4", "sta4", "ap"]];
    assert_eq!(flows(&config), expected);
    assert_eq!(config.flows[2].table(), "up");
    let (_, air) = config.wifi().next().expect("a medium");
    assert_eq!((air.nodes.as_slice(), air.access_point), ([0, 1, 2, 3, 4].as_slice(), Some(0)));
    assert_eq!(resolved(&scenario, 0, "nodes.sta.place.circle.radius"), Some(("20 m".into(), "file".into())));
}

#[test]
fn the_number_of_stations_can_be_swept_and_each_flow_of_any_point_is_measured() {
    let text = format!("{CELL}\n[sweep]\n\"nodes.sta.count\" = [1, 3]\n");
    let scenario = read(&text).unwrap();
    assert_eq!(flows(&scenario.config(0)), [["up1", "sta1", "ap"]]);
    assert_eq!(scenario.config(1).flows.len(), 3);
    let metrics = scenario.metrics();
    for name in ["flows.up1.goodput_bps", "flows.up3.goodput_bps", "flows.up.goodput_bps", "jain_index"] {
        assert!(metrics.iter().any(|metric| metric == name), "{name}");
    }
    assert!(!metrics.iter().any(|metric| metric == "flows.up4.goodput_bps"));
    assert_ne!(scenario.point_key(0), scenario.point_key(1));
}

#[test]
fn what_comes_back_on_the_flows_of_a_group_is_summed_by_itself() {
    let scenario = with(CELL, &[("flows.up.app.reverse.kind", "bulk"), ("run.duration", "1 s")]).unwrap();
    let config = scenario.config(0);
    let request = Request::new(&config, 1, 0);
    let metrics = run(&request).unwrap().metrics;
    assert!(metrics.iter().map(|(name, _)| name).eq(scenario.metrics()));
    let of = |name: &str| metrics.iter().find(|metric| metric.0 == name).and_then(|metric| metric.1).unwrap();
    for measured in ["goodput_bps", "throughput_bps", "reverse.goodput_bps", "reverse.throughput_bps"] {
        let sum: f64 = (1..=4).map(|member| of(&format!("flows.up{member}.{measured}"))).sum();
        assert!(sum > 0.0);
        assert_eq!(of(&format!("flows.up.{measured}")), sum);
    }
    assert_ne!(of("flows.up.goodput_bps"), of("flows.up.reverse.goodput_bps"));
}

#[test]
fn a_setting_of_a_table_of_flows_holds_for_all_its_flows() {
    let scenario = with(CELL, &[("flows.up.app.start", "3 s"), ("nodes.sta.count", "2")]).unwrap();
    let starts: Vec<u64> = scenario.config(0).flows.iter().map(|flow| flow.app.start.0).collect();
    assert_eq!(starts, [3_000_000_000; 2]);
}

#[test]
fn each_cell_has_its_own_stations_and_they_send_to_its_access_point() {
    let text = changed(
        CELL,
        "ap  = { position",
        "ap  = { count = 2, place = { kind = \"line\", line = { step = [\"1 km\", \"0 m\"] } }, position",
    );
    let text = changed(&text, "count = 4", "count = 2");
    let text = changed(&text, "access-point = \"ap\"\n", "");
    let config = read(&text).unwrap().config(0);
    assert_eq!(node_names(&config), ["ap1", "ap2", "sta1", "sta2", "sta3", "sta4"]);
    assert_eq!(positions(&config), [(100, 50), (1100, 50), (120, 50), (80, 50), (1120, 50), (1080, 50)]);
    let expected =
        [["up1", "sta1", "ap1"], ["up2", "sta2", "ap1"], ["up3", "sta3", "ap2"], ["up4", "sta4", "ap2"]];
    assert_eq!(flows(&config), expected);
}

#[test]
fn a_medium_is_flat_unless_it_is_given_where_some_of_its_groups_stand() {
    let model = |text: &str| resolved(&read(text).unwrap(), 0, "links.air.propagation.model").unwrap().0;
    assert_eq!(model(CELL), "two-ray");
    let hubs = changed(CELL, ", place = { kind = \"circle\", circle = { radius = \"20 m\" } }", "");
    assert_eq!(
        model(&changed(&hubs, "[\"ap\", \"sta\"]", "[\"sta1\", \"ap\"]").replace("\"sta\"\n", "\"sta1\"\n")),
        "two-ray"
    );
    let nowhere = changed(&hubs, "{ position = [\"100 m\", \"50 m\"] }", "{}");
    assert_eq!(model(&nowhere), "flat");
    let line = "{ count = 1, place = { kind = \"line\", line = { step = [\"1 m\", \"0 m\"] } } }";
    assert_eq!(model(&changed(&nowhere, "ap  = {}", &format!("ap  = {line}"))), "two-ray");
}

/// The cell with other tables of nodes.
fn nodes_of(nodes: &str) -> String {
    let table =
        "sta = { count = 4, around = \"ap\", place = { kind = \"circle\", circle = { radius = \"20 m\" } } }";
    changed(CELL, table, nodes)
}

#[test]
fn a_distance_is_from_the_access_point_wherever_that_is() {
    let places = |nodes: &str| positions(&read(&nodes_of(nodes)).unwrap().config(0));
    assert_eq!(places("sta = { distance = \"3 m\" }"), [(100, 50), (103, 50)]);
    assert_eq!(places("sta = { count = 2, distance = \"3 m\" }"), [(100, 50), (103, 50), (97, 50)]);
    let spread = |kind: &str| format!("sta = {{ count = 2, distance = \"3 m\", place = {{ {kind} }} }}");
    assert_eq!(places(&spread("kind = \"line\"")), [(100, 50), (103, 50), (106, 50)]);
    let grid = spread("kind = \"grid\", grid.columns = 1");
    assert_eq!(places(&grid), [(100, 50), (103, 50), (103, 53)]);
    assert_eq!(places(&spread("kind = \"hexagon\"")).len(), 3);
    assert!(!places(&spread("kind = \"hexagon\""))[1..].contains(&(100, 50)));
    for (x, y) in places(&spread("kind = \"disc\"")) {
        assert!((x - 100).pow(2) + (y - 50).pow(2) <= 10);
    }
    let nowhere =
        nodes_of("sta = { distance = \"3 m\" }").replace("{ position = [\"100 m\", \"50 m\"] }", "{}");
    assert_eq!(positions(&read(&nowhere).unwrap().config(0)), [(0, 0), (3, 0)]);
    let model = resolved(&read(&nowhere).unwrap(), 0, "links.air.propagation.model").unwrap().0;
    assert_eq!(model, "two-ray");
}

#[test]
fn a_distance_from_another_node_can_be_swept() {
    let text =
        nodes_of("hub = { position = [\"0 m\", \"7 m\"] }\nsta = { around = \"hub\", distance = \"3 m\" }");
    let text = format!("{text}\n[sweep]\n\"nodes.sta.distance\" = [\"3 m\", \"5 m\"]\n");
    let scenario = read(&text).unwrap();
    assert_eq!(positions(&scenario.config(0)), [(100, 50), (0, 7), (3, 7)]);
    assert_eq!(positions(&scenario.config(1)), [(100, 50), (0, 7), (5, 7)]);
}

#[test]
fn a_distance_needs_a_node_and_excludes_a_position_and_a_radius() {
    let said = |nodes: &str| fault(&nodes_of(nodes));
    let both = said("sta = { distance = \"3 m\", position = [\"0 m\", \"0 m\"] }");
    assert!(both.ends_with("nodes.sta.distance: beside a position; expected one of them"), "{both}");
    let radius = "place = { kind = \"circle\", circle = { radius = \"2 m\" } }";
    let radius = said(&format!("sta = {{ count = 2, distance = \"3 m\", {radius} }}"));
    assert!(radius.contains("nodes.sta.place.circle.radius"), "{radius}");
    let alone = nodes_of("sta = { distance = \"3 m\" }").replace("access-point = \"ap\"\n", "");
    let alone = fault(&alone);
    let expected =
        "nodes.sta.distance: from no node; expected nodes.sta.around, or a link with an access-point";
    assert!(alone.ends_with(expected), "{alone}");
    let many = said("hub = { count = 2 }\nsta = { around = \"hub\", distance = \"3 m\" }");
    assert!(many.contains("nodes.sta.around"), "{many}");
    let position = said("sta = { position = \"3 m\" }");
    assert!(position.contains("distance = \"3 m\""), "{position}");
}

#[test]
fn a_group_of_no_nodes_has_no_flows_and_its_sum_is_zero() {
    let text = format!(
        "{}\n[flows.none]\nfrom = \"gone\"\nto = \"ap\"\n\n[sweep]\n\"nodes.gone.count\" = [0, 1]\n",
        nodes_of("sta = { count = 1, distance = \"3 m\" }\ngone = { count = 0, distance = \"3 m\" }")
            .replace("[\"ap\", \"sta\"]", "[\"ap\", \"sta\", \"gone\"]")
            .replace("\"10 s\"", "\"1 s\"")
    );
    let scenario = read(&text).unwrap();
    assert_eq!(scenario.config(0).flows.len(), 1);
    assert_eq!(scenario.config(1).flows.len(), 2);
    let config = scenario.config(0);
    assert!(run(&Request::new(&config, 1, 0)).is_ok());
    assert!(scenario.metrics().iter().any(|metric| metric == "flows.none.goodput_bps"));
}

#[test]
fn a_member_can_be_named_by_itself() {
    let text = changed(CELL, "from = \"sta\"\nto   = \"ap\"", "from = \"sta4\"\nto   = \"ap\"");
    let scenario = read(&text).unwrap();
    assert_eq!(flows(&scenario.config(0)), [["up", "sta4", "ap"]]);
    assert!(scenario.metrics().iter().any(|metric| metric == "flows.up.rtt_mean_s"));
}

#[test]
fn a_wired_link_to_a_group_is_one_for_each_member() {
    let config = read(WIRED).unwrap().config(0);
    let names = node_names(&config);
    let link = |(place, ends): (usize, &crate::model::PointToPoint)| {
        (config.links[place].name.as_str(), ends.nodes.map(|node| names[node]))
    };
    let links: Vec<_> = config.point_to_point().map(link).collect();
    assert_eq!(links.len(), 9);
    assert_eq!(links[0], ("access1", ["host1", "edge1"]));
    assert_eq!(links[1], ("access2", ["host2", "edge1"]));
    assert_eq!(links[5], ("access6", ["host6", "edge3"]));
    assert_eq!(links[8], ("up3", ["edge3", "core"]));
}

#[test]
fn random_flows_join_different_nodes_and_more_of_them_begin_like_fewer() {
    let ends = |scenario: &Scenario| -> Vec<(usize, usize)> {
        scenario.config(0).flows.iter().map(|flow| (flow.from, flow.to)).collect()
    };
    let many = ends(&read(WIRED).unwrap());
    assert_eq!(many.len(), 40);
    assert!(many.iter().all(|(from, to)| from != to && *from < 6 && *to < 6));
    assert!((0..6).all(|node| many.iter().any(|pair| pair.0 == node)), "{many:?}");
    assert_eq!(ends(&with(WIRED, &[("flows.load.count", "10")]).unwrap()), many[..10]);
    assert_ne!(ends(&with(WIRED, &[("flows.load.seed", "2")]).unwrap()), many);
}

#[test]
fn an_agent_serves_a_group_of_flows_or_one_of_it() {
    let agent = "\n[agents.snoop]\nkind = \"lle-tcp\"\nflows = [\"up\"]\n";
    let text = format!("{CELL}{agent}");
    assert_eq!(read(&text).unwrap().config(0).agents[0].flows, [0, 1, 2, 3]);
    let text = changed(&text, "[\"up\"]", "[\"up3\"]");
    assert_eq!(read(&text).unwrap().config(0).agents[0].flows, [2]);
    let text = changed(&text, "[\"up3\"]", "[\"up5\"]");
    let line = line_of(&text, "flows = ");
    let expected = "agents.snoop.flows: \"up5\" does not exist, up has 4 members; expected up1 to up4";
    assert_eq!(fault(&text), format!("x.toml:{line}: {expected}"));
}

#[test]
fn a_name_that_is_no_member_is_told() {
    let from = "from = \"sta\"";
    cell_fault(
        from,
        "from = \"sta5\"",
        "from =",
        "flows.up.from: \"sta5\" does not exist, sta has 4 members; expected sta1 to sta4",
    );
    let unknown = "flows.up.from: unknown node \"ap1\"; did you mean \"ap\"? (known: ap, sta)";
    cell_fault(from, "from = \"ap1\"", "from =", unknown);
    let zero = "flows.up.from: unknown node \"sta0\"; did you mean \"sta\"? (known: sta, ap)";
    cell_fault(from, "from = \"sta0\"", "from =", zero);
}

#[test]
fn two_nodes_or_flows_of_one_name_are_told() {
    cell_fault(
        "[nodes]\n",
        "[nodes]\nsta3 = {}\n",
        "sta =",
        "nodes.sta: \"sta3\" twice; expected different names",
    );
    let text = format!("{CELL}\n[flows.up2]\nfrom = \"ap\"\nto = \"sta1\"\n");
    let line = line_of(&text, "[flows.up2]");
    assert_eq!(fault(&text), format!("x.toml:{line}: flows.up2: \"up2\" twice; expected different names"));
    let nodes = "nodes        = [\"ap\", \"sta\"]";
    let twice = "nodes        = [\"ap\", \"sta\", \"sta2\"]";
    cell_fault(nodes, twice, "nodes        =", "links.air.nodes: \"sta2\" twice; expected different nodes");
}

#[test]
fn numbers_of_nodes_that_do_not_fit_together_are_told() {
    let text = changed(WIRED, "edge = { count = 3 }", "edge = { count = 4 }");
    let line = line_of(&text, "nodes = [\"host\"");
    let expected =
        "links.access.nodes: 6 nodes and 4 nodes; expected one number to be a multiple of the other";
    assert_eq!(fault(&text), format!("x.toml:{line}: {expected}"));
    let nodes = "nodes        = [\"ap\", \"sta\"]\naccess-point = \"ap\"";
    let alone = "nodes        = [\"ap\"]";
    let few = "links.air.nodes: 1 names; expected the names of two or more nodes such as [\"a\", \"b\"]";
    cell_fault(nodes, alone, "nodes        =", few);
    let several = "links.air.access-point: \"sta\" is 4 nodes; expected one";
    cell_fault("access-point = \"ap\"", "access-point = \"sta\"", "access-point", several);
    cell_fault(
        "count = 4",
        "count = 10000",
        "sta =",
        "nodes.sta.count: 10001 in total; expected at most 10000",
    );
}

#[test]
fn a_group_around_what_is_nowhere_or_later_is_told() {
    let (ap, nowhere) = ("{ position = [\"100 m\", \"50 m\"] }", "{}");
    cell_fault(
        ap,
        nowhere,
        "sta =",
        "nodes.sta.around: \"ap\" has no position; expected a node with a position",
    );
    let later = "nodes.sta.around: \"sta\" is not defined earlier; expected an earlier node";
    cell_fault("around = \"ap\"", "around = \"sta\"", "sta =", later);
    let unknown = "nodes.sta.around: unknown node \"pa\"; did you mean \"ap\"? (known: ap, sta)";
    cell_fault("around = \"ap\"", "around = \"pa\"", "sta =", unknown);
}

#[test]
fn a_place_without_a_group_and_a_parameter_of_another_place_are_told() {
    let alone = changed(CELL, "count = 4, around = \"ap\", ", "position = [\"110 m\", \"50 m\"], ");
    let at = format!("x.toml:{}: nodes.sta.place", line_of(&alone, "sta ="));
    let told = |key| format!("{at}.{key}: no point uses it; expected nodes.sta.count = a number");
    assert_eq!(fault(&alone), [told("kind"), told("circle.radius")].join("\n"));
    let other = "nodes.sta.place.disc.radius: no point uses it; expected nodes.sta.place.kind = \"disc\" and a table without nodes.sta.distance";
    cell_fault(
        "circle = { radius = \"20 m\" }",
        "circle = { radius = \"20 m\" }, disc = { radius = \"2 m\" }",
        "sta =",
        other,
    );
}

#[test]
fn flows_of_a_group_that_no_path_joins_are_told_by_their_table() {
    let far = changed(CELL, "radius = \"20 m\"", "radius = \"20 km\"");
    let line = line_of(&far, "to   =");
    let found = fault(&far);
    let expected = format!(
        "x.toml:{line}: flows.up.to: no path from \"sta1\" to \"ap\"; expected links that connect them, with stations in range"
    );
    assert_eq!(found.lines().next(), Some(expected.as_str()));
    assert_eq!(found.lines().count(), 4);
}
