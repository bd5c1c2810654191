//! The metrics that scenarios give.

use std::collections::BTreeSet;

use super::{changed, extended, read, shipped_trace};
use crate::metrics::{Scope, named, names};
use crate::{Request, run};
use lasthop_stack::units::Span;

/// Flows of every kind over links of two nodes.
const FLOWS: &str = r#"
[links.c-d]
kind  = "wired"
nodes = ["c", "b"]
rate  = "10 Mbit/s"
rtt   = { law = "uniform", uniform = { min = "1 ms", max = "2 ms" } }

[flows.both]
from  = "a"
to    = "c"
count = 2
app   = { kind = "bulk", reverse = { kind = "bulk" } }
tcp   = { variant = "westwood" }

[flows.udp]
from      = "a"
to        = "c"
udp       = {}
app       = { kind = "cbr", cbr = { rate = "1 Mbit/s" } }

[flows.probe]
from  = "a"
to    = "c"
count = 2
app   = { kind = "ping", ping = { interval = "10 ms" } }

[flows.users]
from  = "a"
to    = "c"
count = 2
app   = { kind = "web" }
tcp   = { judges = ["veno"] }
"#;

/// An access point with dynamic ARQ and an agent.
const CELL: &str = r#"
[run]
duration = "1 s"
[nodes]
ap = { position = ["0 m", "0 m"] }
sta = { position = ["10 m", "0 m"] }
[links.air]
kind = "wifi"
nodes = ["ap", "sta"]
access-point = "ap"
arq = { kind = "dynamic" }
[flows.down]
from = "ap"
to = "sta"
[agents.end]
kind = "lle-tcp"
flows = ["down"]
"#;

/// A slotted network.
const MESH: &str = r#"
[run]
duration = "1 s"
[nodes]
a = { position = ["0 m", "0 m"] }
b = { position = ["200 m", "0 m"] }
[links.mesh]
kind  = "frn"
nodes = ["a", "b"]
[flows.main]
from = "a"
to   = "b"
"#;

/// A node that is handed off between two wires, of which one is down now and then; managed queues.
const MOVING: &str = r#"
[run]
duration = "1 s"
[nodes]
host = {}
one = {}
other = {}
mobile = { handoff = { law = "script", script = "300 ms", from = "here", to = "there" } }
[links]
w1 = { kind = "wired", nodes = ["host", "one"], rate = "1 Mbit/s", aqm = { law = "warning" } }
w2 = { kind = "wired", nodes = ["host", "other"], rate = "1 Mbit/s", aqm = { law = "fq-codel" } }
here = { kind = "wired", nodes = ["one", "mobile"], rate = "1 Mbit/s" }
[links.there]
kind    = "lossy"
nodes   = ["other", "mobile"]
rate    = "1 Mbit/s"
outages = { law = "script", script = "100 ms at 500 ms" }
[flows.main]
from = "host"
to   = "mobile"
tcp  = { variant = "jersey" }
"#;

/// A link with block acknowledgement.
const TODAY: &str = r#"
[run]
duration = "1 s"

[nodes]
a = {}
b = {}

[links.air]
kind = "wifi"
nodes = ["a", "b"]
standard = "802.11n"

[flows.f]
from = "a"
to = "b"
"#;

/// QUIC by two paths.
#[cfg(feature = "noq")]
const PATHS: &str = r#"
[run]
duration = "1 s"

[nodes]
a = {}
b = {}
c = {}

[links.a-b]
kind = "wired"
nodes = ["a", "b"]
rate = "1 Mbit/s"

[links.a-c]
kind = "wired"
nodes = ["a", "c"]
rate = "1 Mbit/s"

[flows.f]
from = "a"
to = "b"
quic = { stack = "noq", second = "c" }
"#;

/// A link with recorded delivery opportunities, a policer and duplicates.
fn recorded() -> String {
    let trace = shipped_trace();
    let more = "policer = { rate = \"1 Mbit/s\", burst = \"9 kB\" }\nduplicate.rate = \"1 %\"";
    let link = format!("kind = \"trace\"\ntrace = {{ file = {trace:?} }}\n{more}");
    changed("kind  = \"lossy\"", &link).replace("rate  = \"10 Mbit/s\"\n", "")
}

fn texts() -> Vec<String> {
    let texts = [CELL, MESH, MOVING, TODAY].map(str::to_string);
    let texts = texts.into_iter().chain([extended(FLOWS), recorded()]);
    #[cfg(feature = "noq")]
    let texts = texts.chain([PATHS.to_string()]);
    texts.collect()
}

/// Whether a scenario of this build can have the scope.
fn is_built(scope: Scope) -> bool {
    cfg!(feature = "noq") || scope != Scope::QuicPath
}

#[test]
fn every_name_in_the_results_is_that_of_a_registered_metric_and_every_scope_is_met() {
    let mut met = BTreeSet::new();
    for text in texts() {
        let scenario = read(&text).unwrap_or_else(|error| panic!("{error}"));
        let config = scenario.config(0);
        let names = names(&config);
        for name in &names {
            let scopes: Vec<_> = named(name).map(|entry| entry.scope).collect();
            assert!(!scopes.is_empty(), "{name} is not registered");
            met.extend(scopes.into_iter().map(Scope::name));
        }
        let distinct: BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len(), "a name comes twice");
    }
    let every: BTreeSet<_> =
        Scope::ALL.iter().copied().filter(|scope| is_built(*scope)).map(Scope::name).collect();
    assert_eq!(met, every);
}

#[test]
fn a_run_gives_the_metrics_that_were_announced_whether_it_measures_something_or_not() {
    for text in texts() {
        let scenario = read(&text).unwrap_or_else(|error| panic!("{error}"));
        let mut config = scenario.config(0);
        for warmup_s in [0, 5] {
            config.run.warmup = Span::from_secs(warmup_s);
            config.run.duration = Span::from_secs(1);
            let request = Request::new(&config, 1, 0);
            let outcome = run(&request).unwrap_or_else(|error| panic!("{error}"));
            for (name, value) in outcome.metrics.iter().filter(|_| warmup_s > 0) {
                let parts = ["requests_sent", "delay_p99_s", "flows.probe.rtt_p50_s", "flows.both.rtt_p50_s"];
                if parts.iter().any(|part| name.ends_with(part)) {
                    assert_eq!(value.unwrap_or(0.0), 0.0, "{name} of a run that ended in its warm-up");
                }
            }
            let measured: Vec<_> = outcome.metrics.into_iter().map(|(name, _)| name).collect();
            assert_eq!(measured, names(&config));
        }
    }
}
