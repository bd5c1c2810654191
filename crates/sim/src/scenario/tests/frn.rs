//! Slotted networks in scenarios.

use super::{line_of, read};
use crate::medium::slots::Interference;
use crate::model::{ErrorAt, FrnConfig, LinkKind, Sense};
use crate::scenario::Scenario;
use lasthop_stack::link::slotted::{
    Alternatives, CountScope, Discard, Remembered, Routing, Service, WaitFrom,
};
use lasthop_stack::registry::IntervalConfig;
use lasthop_stack::units::Span;

const MESH: &str = r#"
[run]
duration = "10 s"
[nodes]
a = { position = ["0 m", "0 m"] }
b = { position = ["200 m", "0 m"] }
c = { position = ["400 m", "0 m"] }
[links.mesh]
kind  = "frn"
nodes = ["a", "b", "c"]
# more
[flows.main]
from = "a"
to   = "c"
app  = { kind = "bulk" }
"#;

fn with(more: &str) -> String {
    MESH.replace("# more", more)
}

fn frn(scenario: &Scenario, point: usize) -> FrnConfig {
    match &scenario.config(point).links[0].kind {
        LinkKind::Frn(frn) => (**frn).clone(),
        _ => panic!("a slotted network"),
    }
}

fn refused(more: &str, piece: &str, expected: &str) {
    let text = with(more);
    let told = read(&text).map_or_else(|error| error.to_string(), |_| "no error".to_string());
    assert_eq!(told, format!("x.toml:{}: {expected}", line_of(&text, piece)));
}

#[test]
fn a_network_has_the_papers_values_by_default() {
    let frn = frn(&read(MESH).expect("legal"), 0);
    assert_eq!((frn.slot, frn.sense), (Span::from_millis(10), Sense::Committed));
    assert_eq!((frn.medium.range_m, frn.medium.carrier_sense_m, frn.medium.error), (250.0, 550.0, 0.0));
    assert_eq!((frn.medium.capture, frn.medium.interference), (Some(10.0), Interference::Pairwise));
    assert_eq!((frn.rules.discard, frn.rules.scope), (Discard::Count(4), CountScope::Path));
    assert_eq!((frn.rules.least_wait, frn.rules.remembered), (3, Remembered::NONE));
    assert_eq!((frn.rules.service, frn.rules.wait_from), (Service::Parallel, WaitFrom::Echo));
    assert_eq!(frn.error_at, ErrorAt::Listeners);
    assert_eq!((frn.alternatives, frn.rules.routing), (Alternatives::Sideward, Routing::Table));
    assert_eq!(frn.interval, IntervalConfig::Fixed(()));
    assert_eq!((frn.windows.least, frn.windows.shortest), (3, 5));
}

#[test]
fn every_open_point_can_be_set() {
    let more = r#"
[links.mesh.frn]
slot-length = "2 ms"
sense = "random"
error-at = "addressee"
service = "serial"
wait-from = "transmission"
carrier-sense-range = "250 m"
interference = "summed"
capture = "none"
error-rate = "5 %"
discard = "lifetime"
max-lifetime = 60
remembered = 8
alternatives = "backward"
routing = "load"
heard = 8
interval = "load-adaptive"
window = 9
max-window = 25
history = 12
history-expiry = 1000
saturation = "50 %"
"#;
    let frn = frn(&read(&with(more)).expect("legal"), 0);
    assert_eq!((frn.sense, frn.error_at), (Sense::Random, ErrorAt::Addressee));
    assert_eq!((frn.rules.service, frn.rules.wait_from), (Service::Serial, WaitFrom::Transmission));
    assert_eq!(frn.medium.capture, None);
    assert_eq!((frn.medium.interference, frn.medium.error), (Interference::Summed, 0.05));
    assert_eq!((frn.rules.discard, frn.rules.remembered), (Discard::Lifetime(60), Remembered::Last(8)));
    assert_eq!((frn.alternatives, frn.rules.routing), (Alternatives::Backward, Routing::Load { frames: 8 }));
    assert_eq!((frn.windows.shortest, frn.windows.longest), (9, 25));
    let IntervalConfig::LoadAdaptive(history) = frn.interval else { panic!("load-adaptive") };
    assert_eq!((history.entries, history.expiry, history.saturation), (12, Some(1000), 0.5));
}

#[test]
fn a_node_may_remember_all_packets_and_each_station_have_a_window_of_its_own() {
    let more = "frn = { remembered = \"unlimited\", windows = [17, 5, 9] }";
    let frn = frn(&read(&with(more)).expect("legal"), 0);
    assert_eq!((frn.rules.remembered, frn.uppers), (Remembered::All, Some(vec![17, 5, 9])));
}

#[test]
fn what_does_not_go_together_is_refused() {
    refused(
        "frn = { window = 2 }",
        "frn = {",
        "links.mesh.frn.window: 2 is below least-wait, 3; expected at least 3",
    );
    refused(
        "frn = { max-window = 9 }",
        "frn = {",
        "links.mesh.frn.max-window: no point uses it; expected links.mesh.frn.interval = \"backoff\" or \"blind\" or \"load-adaptive\"",
    );
    refused(
        "frn = { windows = [5, 9] }",
        "frn = {",
        "links.mesh.frn.windows: 2 windows; expected one for each of the 3 stations",
    );
    refused(
        "frn = { windows = [5, 2, 9] }",
        "frn = {",
        "links.mesh.frn.windows: 2 is below least-wait, 3; expected at least 3",
    );
    refused(
        "frn = { windows = [5, 9, 2000000] }",
        "frn = {",
        "links.mesh.frn.windows: 2000000; expected at most 1000000",
    );
    refused(
        "frn = { interval = \"blind\", windows = [5, 9, 5] }",
        "frn = {",
        "links.mesh.frn.windows: no point uses it; expected links.mesh.frn.interval = \"fixed\"",
    );
    refused(
        "queue = \"50 packets\"",
        "queue = ",
        "links.mesh.queue: no point uses it; expected links.mesh.kind = \"wired\" or \"lossy\" or \"wifi\" or \"wimax\" or \"trace\"",
    );
}

#[test]
fn a_station_needs_a_place_and_a_flow_a_path() {
    let text = MESH.replace("c = { position = [\"400 m\", \"0 m\"] }", "c = {}");
    let told = read(&text).expect_err("refused").to_string();
    assert!(told.contains("nodes.c.position: missing; expected one for each station of mesh"), "{told}");
    let text = MESH.replace("400 m", "600 m");
    let told = read(&text).expect_err("refused").to_string();
    assert!(told.contains("no path"), "{told}");
}
