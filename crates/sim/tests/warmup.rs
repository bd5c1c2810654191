//! A run that is stopped within its warm-up has measured nothing.

use crate::common::run;
use lasthop_sim::scenario::Scenario;
use lasthop_sim::{Outcome, Request};
use lasthop_stack::units::Time;

/// A link of each kind, and over each a TCP, datagrams and a probe.
const ALL: &str = r#"
[run]
duration = "60 s"
warmup = "30 s"

[nodes]
a = {}
b = {}
c = { position = ["0 m", "0 m"] }
d = { position = ["5 m", "0 m"] }
e = { position = ["0 m", "0 m"] }
f = { position = ["5 m", "0 m"] }
g = {}
h = {}

[links.wire]
kind = "lossy"
nodes = ["a", "b"]
rate = "1 Mbit/s"
delay = "10 ms"
loss = { rate = "1 %", direction = "both" }

[links.air]
kind = "wifi"
nodes = ["c", "d"]

[links.mesh]
kind = "frn"
nodes = ["e", "f"]

[links.cell]
kind = "wimax"
nodes = ["g", "h"]
delay = "10 ms"

[agents.snoop]
kind = "lle-tcp"
"#;

fn scenario() -> String {
    let over = |from: &str, to: &str| {
        format!(
            r#"
[flows.tcp-{from}]
from = "{from}"
to = "{to}"
app = {{ kind = "bulk", reverse = {{ kind = "bulk" }} }}
tcp = {{ window = "20 segments", congestion = "veno" }}

[flows.udp-{from}]
from = "{from}"
to = "{to}"
udp = {{}}
app = {{ kind = "cbr", cbr = {{ rate = "20 kbit/s", packet = "100 B" }} }}

[flows.ping-{from}]
from = "{from}"
to = "{to}"
app = {{ kind = "ping", ping = {{ interval = "200 ms" }} }}
"#
        )
    };
    let flows = [("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")].map(|(from, to)| over(from, to));
    format!("{ALL}{}", flows.concat())
}

fn stopped_after(max_events: u64) -> Outcome {
    let scenario = Scenario::from_text(&scenario(), "x.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let config = scenario.config(0);
    let request = Request { max_events: Some(max_events), ..Request::new(&config, 1, 0) };
    run(&request).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_run_stopped_within_its_warm_up_reports_nothing_of_it() {
    let outcome = stopped_after(20_000);
    assert!(outcome.simulated > Time(2_000_000_000) && outcome.simulated < Time(30_000_000_000));
    // What agents hold, and what they owe at the end, is that of the whole run in any run.
    let is_of_the_whole_run = |name: &str| {
        ["agents.snoop.state_max", "agents.snoop.unconfirmed", "agents.snoop.false_positives"].contains(&name)
    };
    let told: Vec<_> = outcome
        .metrics
        .iter()
        .filter(|(name, value)| value.is_some_and(|value| value != 0.0) && !is_of_the_whole_run(name))
        .collect();
    assert!(told.is_empty(), "{told:?}");
    // A mean or a maximum over no time is not zero.
    let queues = outcome.metrics.iter().filter(|(name, _)| name.contains(".queue_"));
    let known: Vec<_> = queues.clone().filter(|(_, value)| value.is_some()).collect();
    assert!(queues.count() >= 8 && known.is_empty(), "{known:?}");
}
