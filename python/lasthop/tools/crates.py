"""The files of the crates that `lasthop new` writes outside of a checkout: of a law, and of an agent.

NAME, MODULE, TITLE and SOURCE stand for the names of what is new and for the sources of lasthop.
"""

from __future__ import annotations

CRATE = {
    "Cargo.toml": """[package]
name = "NAME"
version = "0.1.0"
edition = "2024"
publish = false

[lib]
name = "MODULE"
crate-type = ["cdylib"]
# The tests are in Python: what is tested is the class.
test = false
doctest = false

[dependencies]
pyo3 = { version = "0.30", features = ["abi3-py311"] }

# A workspace of its own, also inside of another one.
[workspace]
""",
    "pyproject.toml": """[build-system]
requires = ["maturin>=1.16,<2"]
build-backend = "maturin"

[project]
name = "NAME"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = ["lasthop"]

# `lasthop run --law NAME` finds the class here.
[project.entry-points."lasthop.laws"]
NAME = "MODULE:TITLE"
""",
    "src/lib.rs": """//! A congestion law for an installed lasthop: a class of Python.
//!
//! The window grows by `increase` segments per round trip, and a loss multiplies it by `decrease`.

use pyo3::prelude::*;

/// The window, as `lasthop.laws.Window` has it.
#[derive(Clone, Copy)]
struct Window {
    cwnd: f64,
    ssthresh: f64,
}

impl Window {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Window> {
        let number = |name| object.getattr(name)?.extract();
        Ok(Window { cwnd: number("cwnd")?, ssthresh: number("ssthresh")? })
    }

    fn put(self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        object.setattr("cwnd", self.cwnd)?;
        object.setattr("ssthresh", self.ssthresh)
    }
}

/// The law of one connection.
#[pyclass(module = "MODULE")]
struct TITLE {
    increase: f64,
    decrease: f64,
}

#[pymethods]
impl TITLE {
    #[new]
    fn new() -> TITLE {
        TITLE { increase: 0.3125, decrease: 0.875 }
    }

    fn on_ack(&mut self, ack: &Bound<'_, PyAny>, window: &Bound<'_, PyAny>) -> PyResult<()> {
        let progress: String = ack.getattr("progress")?.extract()?;
        if progress == "open" {
            let counted: f64 = ack.getattr("counted")?.extract()?;
            let mut edited = Window::of(window)?;
            edited.cwnd += if edited.cwnd < edited.ssthresh {
                counted
            } else {
                counted * self.increase / edited.cwnd
            };
            edited.put(window)?;
        }
        Ok(())
    }

    fn on_loss(&mut self, loss: &Bound<'_, PyAny>, window: &Bound<'_, PyAny>) -> PyResult<()> {
        let base: f64 = loss.getattr("base")?.extract()?;
        let left = (self.decrease * base).max(2.0);
        Window { cwnd: left, ssthresh: left }.put(window)
    }

    fn on_timeout(&mut self, timeout: &Bound<'_, PyAny>, window: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut edited = Window::of(window)?;
        if !timeout.getattr("is_repeated")?.extract::<bool>()? {
            edited.ssthresh = (timeout.getattr("base")?.extract::<f64>()? / 2.0).max(2.0);
        }
        edited.cwnd = 1.0;
        edited.put(window)
    }
}

/// The module that Python imports.
#[pymodule]
fn MODULE(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<TITLE>()
}
""",
    "tests/test_MODULE.py": '''"""The law by hand, and in a run."""

import lasthop as lh
from lasthop.laws import Ack, Loss, Timeout, Window
from MODULE import TITLE


def test_a_round_trip_adds_the_increase_and_a_loss_leaves_the_share() -> None:
    law, window = TITLE(), Window(cwnd=8.0, ssthresh=4.0, limit=100.0)
    for _ in range(8):
        law.on_ack(Ack(0.1), window)
    assert abs(window.cwnd - 8.3125) < 0.02
    law.on_loss(Loss(0.2, base=8.0), window)
    assert (window.cwnd, window.ssthresh) == (7.0, 7.0)
    law.on_timeout(Timeout(0.3, base=7.0), window)
    assert (window.cwnd, window.ssthresh) == (1.0, 3.5)


def test_it_runs_in_a_scenario() -> None:
    lh.law("NAME", TITLE, recovery="newreno")
    sc = lh.load("ejtcp/fig10-baselines").set({"run.duration": "5 s", "flows.main.tcp.variant": "NAME"})
    run = sc.run()
    assert run.laws["NAME"].acks > 100
''',
}


AGENT_CRATE = {
    "Cargo.toml": """[package]
name = "NAME"
version = "0.1.0"
edition = "2024"
publish = false

[dependencies]
lasthop-sim = { SOURCEsim" }
lasthop-stack = { SOURCEstack" }

# A workspace of its own, also inside of another one.
[workspace]
""",
    "src/lib.rs": """//! An agent for the simulator lasthop, which thins acknowledgements.
//!
//! Of every `every` pure acknowledgements one is forwarded, for a reverse path too slow to carry all of them.

use lasthop_stack::hooks::{Activity, Agent, AgentOut, Criterion, Needs};
use lasthop_stack::packet::{Body, Flags, Packet};
use lasthop_stack::registry::CustomAgentConfig;
use lasthop_stack::signal::Signal;
use lasthop_stack::units::Time;

/// The agent of one interface.
#[derive(Clone, Debug)]
pub struct TITLE {
    criterion: Criterion,
    every: u64,
    seen: u64,
    passed: u64,
}

impl TITLE {
    /// An agent that forwards one of `every` acknowledgements.
    #[must_use]
    pub fn new(criterion: Criterion, every: u64) -> TITLE {
        TITLE { criterion, every, seen: 0, passed: 0 }
    }

    /// How lasthop makes one for an interface, and what it needs there: nothing.
    #[must_use]
    pub fn config(every: u64) -> CustomAgentConfig {
        CustomAgentConfig::new(Needs::default(), move |criterion| TITLE::new(criterion.clone(), every))
    }
}

impl Agent for TITLE {
    fn down(&mut self, packet: &Packet, _now: Time, out: &mut impl AgentOut) {
        let Body::Tcp(segment) = &packet.body else { return out.down(packet) };
        let is_plain = segment.len == 0 && segment.flags == Flags::ACK && segment.options.sack.is_empty();
        if !is_plain || !self.criterion.is_ahead(packet.dst) {
            return out.down(packet);
        }
        self.seen += 1;
        if self.seen.is_multiple_of(self.every) {
            self.passed += 1;
            out.down(packet);
        }
    }

    fn up(&mut self, packet: &Packet, _now: Time, out: &mut impl AgentOut) {
        out.up(packet);
    }

    fn on_signal(&mut self, _signal: Signal, _packet: &Packet, _now: Time, _out: &mut impl AgentOut) {}

    fn on_timer(&mut self, _now: Time, _out: &mut impl AgentOut) {}

    fn activity(&self) -> Activity {
        Activity { suppressed: self.seen - self.passed, passed: self.passed, ..Activity::default() }
    }
}
""",
    "src/main.rs": """//! Runs a scenario that names the agent, and prints its metrics:
//!
//!     cargo run --release -- NAME.toml -s agents.thinner.kind=none

use std::path::Path;
use std::process::ExitCode;

use lasthop_sim::scenario::hosted::{self, HostedAgent};
use lasthop_sim::scenario::{Overrides, Scenario};
use lasthop_sim::{Request, run};
use MODULE::TITLE;

fn main() -> ExitCode {
    match work() {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("error: {text}");
            ExitCode::from(2)
        }
    }
}

fn work() -> Result<(), String> {
    // Scenarios call it by this name; the identity tells its versions apart.
    let (name, identity) = ("NAME".to_string(), env!("CARGO_PKG_VERSION").to_string());
    hosted::register_agent(HostedAgent { name, identity, agent: TITLE::config(4) })?;
    let mut file = None;
    let mut settings = Vec::new();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "-s" {
            let pair = words.next().unwrap_or_default();
            let (key, value) = pair.split_once('=').ok_or(format!("-s {pair}; expected KEY=VALUE"))?;
            settings.push((key.to_string(), value.to_string()));
        } else {
            file = Some(word);
        }
    }
    let file = file.ok_or("no scenario; expected a file")?;
    let scenario =
        Scenario::from_file(Path::new(&file), Overrides::new(&settings)).map_err(|error| error.to_string())?;
    for point in 0..scenario.points() {
        let config = scenario.config(point);
        let outcome = run(&Request::new(&config, 1, 0)).map_err(|error| error.to_string())?;
        for (metric, value) in outcome.metrics {
            println!("{point} {metric} {}", value.map_or("-".to_string(), |value| value.to_string()));
        }
    }
    Ok(())
}
""",
    "NAME.toml": """title = "An agent of one's own before a slow reverse path"

[run]
duration = "20 s"
warmup   = "5 s"

[nodes]
server = {}
router = {}
client = {}

[links.up]
kind    = "wired"
nodes   = ["server", "router"]
rate    = "10 Mbit/s"
delay   = "10 ms"
reverse = { rate = "28.8 kbit/s", queue = "10 packets" }

[links.down]
kind  = "wired"
nodes = ["router", "client"]
rate  = "10 Mbit/s"
delay = "10 ms"

[flows.main]
from = "server"
to   = "client"
app  = { kind = "bulk" }
tcp  = { variant = "newreno", sack = false, window = "100 segments" }

[agents.thinner]
kind = "NAME"
node = "router"
link = "up"
""",
    "tests/goodput.rs": """//! The agent at work: data waits less for acknowledgements.

use std::path::Path;

use lasthop_sim::scenario::hosted::{self, HostedAgent};
use lasthop_sim::scenario::{Overrides, Scenario};
use lasthop_sim::{Request, run};
use MODULE::TITLE;

fn goodput(kind: &str) -> f64 {
    let settings = [("agents.thinner.kind".to_string(), kind.to_string())];
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("NAME.toml");
    let config = Scenario::from_file(&file, Overrides::new(&settings)).unwrap().config(0);
    let metrics = run(&Request::new(&config, 1, 0)).unwrap().metrics;
    metrics.iter().find(|(name, _)| name == "flows.main.goodput_bps").and_then(|(_, value)| *value).unwrap()
}

#[test]
fn fewer_acknowledgements_carry_more_data() {
    let (name, identity) = ("NAME".to_string(), String::new());
    hosted::register_agent(HostedAgent { name, identity, agent: TITLE::config(8) }).unwrap();
    assert!(goodput("NAME") > 1.2 * goodput("none"));
}
""",
}
