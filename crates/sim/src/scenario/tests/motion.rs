//! Moving nodes: the results of legal settings, and the errors for others.

use super::wifi_errors::refused;
use super::{read, resolved};
use crate::medium::motion::{Area, Motion};
use crate::medium::radio::config::{Redraw, Shadowing};
use crate::model::Config;
use lasthop_stack::units::Span;

/// A cell of one access point; its stations `sta` replace NODES.
const CELL: &str = r#"[run]
duration = "10 s"

[nodes]
ap = { position = ["100 m", "50 m"] }
NODES

[links.air]
kind = "wifi"
nodes = ["ap", "sta"]
access-point = "ap"

[flows.down]
from = "ap"
to = "sta"
"#;

fn cell(nodes: &str) -> String {
    CELL.replace("NODES", nodes)
}

fn config(nodes: &str) -> Config {
    read(&cell(nodes)).unwrap_or_else(|error| panic!("{error}")).config(0)
}

fn motion(config: &Config, node: usize) -> Motion {
    config.nodes[node].motion.clone().expect("a motion")
}

fn is_refused(nodes: &str, piece: &str, expected: &str) {
    refused(&cell(nodes), piece, expected);
}

#[test]
fn the_members_of_a_group_circle_around_its_hub_from_where_they_stand() {
    let config = config(
        r#"sta = { count = 4, around = "ap", place = { kind = "circle", circle = { radius = "55 m" } }, move = { kind = "circle", speed = "1.5 m/s" } }"#,
    );
    for (place, expected) in [0.0, 0.25, 0.5, -0.25].into_iter().enumerate() {
        let Motion::Circle { centre, radius_m, speed_mps, turn } = motion(&config, place + 1) else {
            panic!("a circle");
        };
        assert_eq!((centre, speed_mps), ((100.0, 50.0), 1.5));
        assert!((radius_m - 55.0).abs() < 1e-9);
        assert!((turn.unwrap_or(9.0) - expected).abs() < 1e-9, "{turn:?} {expected}");
    }
    assert_eq!(config.nodes[0].motion, None);
}

#[test]
fn a_node_needs_no_position_to_move_around_another() {
    let config = config(
        r#"sta = { move = { kind = "circle", around = "ap", speed = "2 m/s", circle = { radius = "10 m" } } }"#,
    );
    let expected = Motion::Circle { centre: (100.0, 50.0), radius_m: 10.0, speed_mps: 2.0, turn: None };
    assert_eq!(motion(&config, 1), expected);
}

#[test]
fn a_group_walks_over_the_area_around_its_hub_or_its_position() {
    let disc = config(
        r#"sta = { count = 2, around = "ap", move = { kind = "waypoint", speed = "3 m/s", waypoint = { radius = "40 m", slowest = "1 m/s", pause = "5 s" } } }"#,
    );
    let expected = Motion::Waypoint {
        centre: (100.0, 50.0),
        area: Area::Disc(40.0),
        slowest_mps: 1.0,
        fastest_mps: 3.0,
        pause: Span::from_secs(5),
    };
    assert_eq!([motion(&disc, 1), motion(&disc, 2)], [expected.clone(), expected]);
    let rectangle = config(
        r#"sta = { position = ["7 m", "8 m"], move = { kind = "waypoint", speed = "3 m/s", waypoint = { area = "rectangle", size = ["30 m", "20 m"] } } }"#,
    );
    let Motion::Waypoint { centre, area, slowest_mps, pause, .. } = motion(&rectangle, 1) else {
        panic!("a way-point");
    };
    assert_eq!((centre, area), ((7.0, 8.0), Area::Rectangle(30.0, 20.0)));
    assert_eq!((slowest_mps, pause), (3.0, Span::ZERO));
}

#[test]
fn fading_follows_the_nodes_where_no_speed_is_said() {
    let text = cell(
        r#"sta = { move = { kind = "circle", around = "ap", speed = "2 m/s", circle = { radius = "10 m" } } }"#,
    );
    let more = r#"access-point = "ap"
propagation = { frequency = "5.4 GHz", fading = { model = "rayleigh" }, shadowing = { model = "log-normal", deviation = "4 dB", redraw = "5 m" } }"#;
    let scenario = read(&text.replace("access-point = \"ap\"", more)).unwrap();
    let config = scenario.config(0);
    let (_, air) = config.wifi().next().expect("a medium");
    let Some(Redraw::Moved(metres)) = air.radio.fading.map(|fading| fading.redraw) else {
        panic!("{:?}", air.radio.fading);
    };
    assert!((metres - 0.0235).abs() < 1e-12, "{metres}");
    assert_eq!(air.radio.shadowing, Some(Shadowing { deviation_db: 4.0, redraw: Redraw::Moved(5.0) }));
    let speed = resolved(&scenario, 0, "links.air.propagation.fading.speed");
    assert_eq!(speed, Some(("nodes".into(), "default".into())));
}

#[test]
fn a_radius_can_be_swept() {
    let text = cell(
        r#"sta = { move = { kind = "circle", around = "ap", speed = "2 m/s", circle = { radius = "10 m" } } }"#,
    );
    let text = format!("{text}\n[sweep]\n\"nodes.sta.move.circle.radius\" = \"20 m .. 60 m step 20 m\"\n");
    let scenario = read(&text).unwrap();
    let radius = |point| match motion(&scenario.config(point), 1) {
        Motion::Circle { radius_m, .. } => radius_m,
        Motion::Waypoint { .. } => 0.0,
    };
    assert_eq!([0, 1, 2].map(radius), [20.0, 40.0, 60.0]);
}

#[test]
fn movements_that_cannot_be_are_refused() {
    for (line, key, expected) in [
        (
            r#"sta = { position = ["0 m", "0 m"], move = { kind = "circel", speed = "1 m/s" } }"#,
            "kind",
            "unknown kind of movement \"circel\"; did you mean \"circle\"? (known: circle, waypoint)",
        ),
        (
            r#"sta = { move = { kind = "waypoint", speed = "1 m/s", waypoint = { radius = "5 m" } } }"#,
            "kind",
            "\"waypoint\" without a centre; expected a position, or nodes.sta.move.around",
        ),
        (
            r#"sta = { position = ["0 m", "0 m"], move = { kind = "circle", speed = "1 m/s" } }"#,
            "circle.radius",
            "missing; expected a length such as \"100 m\" for a node at the centre of its circle",
        ),
        (
            r#"sta = { position = ["0 m", "0 m"], move = { kind = "circle", speed = "0 m/s" } }"#,
            "speed",
            "\"0 m/s\" is too small; expected more than 0",
        ),
        (
            r#"sta = { position = ["0 m", "0 m"], move = { kind = "circle", speed = 2 } }"#,
            "speed",
            "2 has no unit; expected a speed such as \"2 m/s\"",
        ),
        (
            r#"sta = { position = ["0 m", "0 m"], move = { speed = "2 m/s" } }"#,
            "speed",
            "no point uses it; expected nodes.sta.move.kind = \"circle\" or \"waypoint\"",
        ),
        (
            r#"sta = { position = ["0 m", "0 m"], move = { kind = "waypoint", speed = "1 m/s", waypoint = { radius = "5 m", slowest = "2 m/s" } } }"#,
            "waypoint.slowest",
            "2 m/s is above move.speed, 1 m/s; expected less",
        ),
        (
            r#"sta = { position = ["0 m", "0 m"], move = { kind = "waypoint", speed = "1 m/s", waypoint = { area = "rectangle", size = ["5 m", "-1 m"] } } }"#,
            "waypoint.size",
            "too small; expected a width and a height of at least 0.01 m",
        ),
        (
            r#"sta = { move = { kind = "circle", around = "sta", speed = "1 m/s" } }"#,
            "around",
            "\"sta\" is not defined earlier; expected an earlier node",
        ),
    ] {
        is_refused(line, line, &format!("nodes.sta.move.{key}: {expected}"));
    }
}

#[test]
fn what_is_in_the_middle_stands_and_is_one() {
    let walker = r#"far = { position = ["0 m", "0 m"], move = { kind = "waypoint", speed = "1 m/s", waypoint = { radius = "5 m" } } }"#;
    let around = r#"sta = { move = { kind = "circle", around = "far", speed = "1 m/s" } }"#;
    is_refused(
        &format!("{walker}\n{around}"),
        around,
        "nodes.sta.move.around: \"far\" moves; expected a stationary node",
    );
    let group = r#"far = { count = 2, position = ["0 m", "0 m"] }"#;
    is_refused(
        &format!("{group}\n{around}"),
        around,
        "nodes.sta.move.around: \"far\" is a group; expected one node",
    );
    let nowhere = "far = {}";
    is_refused(
        &format!("{nowhere}\n{around}"),
        around,
        "nodes.sta.move.around: \"far\" has no position; expected a node with a position",
    );
    let hub =
        r#"sta = { count = 2, around = "far", place = { kind = "circle", circle = { radius = "1 m" } } }"#;
    is_refused(
        &format!("{walker}\n{hub}"),
        hub,
        "nodes.sta.around: \"far\" moves; expected a stationary node",
    );
}

#[test]
fn who_moves_needs_a_link_that_goes_by_distance() {
    let host = r#"sta = { position = ["1 m", "0 m"] }
host = { position = ["0 m", "0 m"], move = { kind = "circle", speed = "1 m/s", circle = { radius = "5 m" } } }"#;
    is_refused(
        host,
        "host =",
        "nodes.host.move.kind: \"circle\", but no 802.11 link of the node depends on distance; expected a stationary node",
    );
    let line = r#"sta = { move = { kind = "circle", around = "ap", speed = "1 m/s", circle = { radius = "5 m" } } }"#;
    let flat = "access-point = \"ap\"\npropagation.model = \"flat\"";
    refused(
        &cell(line).replace("access-point = \"ap\"", flat),
        line,
        "nodes.sta.move.kind: \"circle\", but no 802.11 link of the node depends on distance; expected a stationary node",
    );
    let slotted =
        cell(line).replace("kind = \"wifi\"", "kind = \"frn\"").replace("access-point = \"ap\"\n", "");
    refused(
        &slotted,
        line,
        "nodes.sta.move.kind: \"circle\" in the slotted network air; expected stationary nodes",
    );
}

#[test]
fn fading_and_shadowing_by_the_way_need_somebody_who_moves() {
    let standing = cell(r#"sta = { position = ["0 m", "0 m"] }"#);
    let line = "propagation.fading = { model = \"rayleigh\" }";
    refused(
        &standing.replace("access-point = \"ap\"", &format!("access-point = \"ap\"\n{line}")),
        line,
        "links.air.propagation.fading.speed: \"nodes\", but the stations of the link do not move; expected a speed such as \"1.5 m/s\"",
    );
    let line = "propagation.shadowing = { model = \"log-normal\", deviation = \"3 dB\", redraw = \"5 m\" }";
    refused(
        &standing.replace("access-point = \"ap\"", &format!("access-point = \"ap\"\n{line}")),
        line,
        "links.air.propagation.shadowing.redraw: a length, but the stations of the link do not move; expected a time or \"never\"",
    );
    let walker = cell(
        r#"sta = { move = { kind = "waypoint", around = "ap", speed = "2 m/s", waypoint = { radius = "10 m" } } }"#,
    );
    let line =
        "propagation.shadowing = { model = \"log-normal\", deviation = \"3 dB\", redraw = \"0.001 m\" }";
    refused(
        &walker.replace("access-point = \"ap\"", &format!("access-point = \"ap\"\n{line}")),
        line,
        "links.air.propagation.shadowing.redraw: too short; expected at least 0.01 m",
    );
}
