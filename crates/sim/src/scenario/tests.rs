//! The meaning of whole scenarios, and the errors for meaningless ones.

mod acks;
mod agent_errors;
mod arq;
mod channel;
mod each;
mod ecn;
mod errors;
mod figures;
mod flows;
mod frames;
mod frn;
mod fuzz;
mod groups;
mod handoffs;
mod hints;
mod listing;
mod metrics;
mod motion;
mod paths;
mod periods;
mod proxy_tcp;
mod queues;
mod records;
mod reverse;
mod sweep_overrides;
mod sweeps;
mod users;
mod wifi;
mod wifi_errors;
mod wifi_today;
mod wimax;

use super::{Scenario, ScenarioError, keys, nearest};

/// The keys of a link, as a message lists them for an unknown one.
fn keys_of_a_link(given: &str) -> String {
    nearest::listed(given, &keys::children(&["links", "x"]))
}

/// A small legal scenario.
const BASE: &str = r#"title = "three nodes"

[run]
duration = "10 s"

[nodes]
a = {}
b = {}
c = {}

[links.a-b]
kind  = "wired"
nodes = ["a", "b"]
rate  = "5 Mbit/s"
delay = "40 ms"

[links.b-c]
kind  = "lossy"
nodes = ["b", "c"]
rate  = "10 Mbit/s"
loss  = { rate = "1 %" }

[flows.main]
from = "a"
to   = "c"

[flows.main.tcp]
profile = "ns2-2004"
variant = "newreno"
"#;

fn read(text: &str) -> Result<Scenario, ScenarioError> {
    Scenario::from_text(text, "x.toml", &[])
}

fn with(text: &str, overrides: &[(&str, &str)]) -> Result<Scenario, ScenarioError> {
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| ((*key).to_string(), (*value).to_string())).collect();
    Scenario::from_text(text, "x.toml", &overrides)
}

/// [`BASE`] with one piece replaced.
fn changed(from: &str, to: &str) -> String {
    assert_eq!(BASE.matches(from).count(), 1, "{from:?} stands once in the scenario");
    BASE.replace(from, to)
}

/// [`BASE`] with this text at its end.
fn extended(more: &str) -> String {
    format!("{BASE}{more}")
}

/// A file of delivery opportunities that comes with lasthop, by its absolute path.
fn shipped_trace() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/examples/traces/cell.down").to_string()
}

/// The number of the line on which a piece of text starts.
fn line_of(text: &str, piece: &str) -> usize {
    1 + text[..text.find(piece).expect("the piece is there")].matches('\n').count()
}

/// The value and origin of a key at a point.
fn resolved(scenario: &Scenario, point: usize, key: &str) -> Option<(String, String)> {
    let line = scenario.resolved(point).into_iter().find(|line| line.key == key)?;
    Some((line.value, line.from))
}
