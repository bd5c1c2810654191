//! Agents on any interface of any link: where they sit, in which order, and what they see.

use crate::common::{metric, run_once};
use lasthop_sim::Outcome;
use lasthop_sim::model::{AgentConfig, Config};
use lasthop_sim::probe::accounts::Account;
use lasthop_sim::scenario::Scenario;
use lasthop_stack::hooks::{Activity, Agent, AgentOut, Count, Criterion, Needs};
use lasthop_stack::packet::Packet;
use lasthop_stack::registry::{self, CustomAgentConfig};
use lasthop_stack::signal::Signal;
use lasthop_stack::units::{Span, Time};

/// Two wires, an 802.11 cell and a slotted chain in a row, with one flow through all of them and one over the first two
/// wires.
const ROW: &str = r#"
[run]
duration = "20 s"
[nodes]
server = {}
router = {}
ap     = { position = ["0 m", "0 m"] }
relay  = { position = ["20 m", "0 m"] }
s = { count = 3, place = { kind = "line", line = { step = ["200 m", "0 m"] } } }
[links.up]
kind  = "wired"
nodes = ["server", "router"]
rate  = "10 Mbit/s"
delay = "5 ms"
[links.down]
kind  = "wired"
nodes = ["router", "ap"]
rate  = "1 Mbit/s"
delay = "10 ms"
queue = "8 packets"
[links.wlan]
kind  = "wifi"
nodes = ["ap", "relay"]
[links.bridge]
kind  = "wired"
nodes = ["relay", "s1"]
rate  = "10 Mbit/s"
delay = "1 ms"
[links.frn]
kind  = "frn"
nodes = ["s"]
[flows.main]
from = "server"
to   = "s3"
app  = { kind = "bulk" }
tcp  = { profile = "ns2-2004", variant = "newreno" }
[flows.beside]
from = "server"
to   = "ap"
app  = { kind = "bulk" }
tcp  = { profile = "ns2-2004", variant = "newreno" }
"#;

fn config(agents: &str) -> Config {
    let text = format!("{ROW}{agents}");
    Scenario::from_text(&text, "agents.toml", &[]).unwrap_or_else(|error| panic!("{error}")).config(0)
}

fn place_of(names: impl Iterator<Item = String>, name: &str) -> Vec<usize> {
    let found: Vec<usize> =
        names.enumerate().filter(|(_, other)| other == name).map(|(place, _)| place).collect();
    assert!(!found.is_empty(), "{name}");
    found
}

/// Adds an agent of the test's own at an interface, for these flows.
fn add(
    config: &mut Config,
    (node, link): (&str, &str),
    flows: &[usize],
    make: impl Fn(&Criterion) -> Probe + Send + Sync + 'static,
) {
    let scheme = registry::AgentConfig::Custom(CustomAgentConfig::new(Needs::default(), make));
    let nodes = place_of(config.nodes.iter().map(|node| node.name.clone()), node);
    let links = place_of(config.links.iter().map(|link| link.name.clone()), link);
    let name = format!("probe{}", config.agents.len());
    config.agents.push(AgentConfig {
        name,
        scheme,
        flows: flows.to_vec(),
        nodes: Some(nodes),
        links: Some(links),
    });
}

/// What a [`Probe`] does with what goes down.
#[derive(Clone, Copy, Debug)]
enum Does {
    Pass,
    /// Each packet once more.
    Double,
    /// Each packet delayed by this much.
    Hold(Span),
}

/// An agent that counts what it sees.
#[derive(Clone, Debug)]
struct Probe {
    does: Does,
    down: u64,
    up: u64,
    signals: [u64; 3],
    held: Vec<(Time, Packet)>,
}

impl Probe {
    fn new(does: Does) -> Probe {
        Probe { does, down: 0, up: 0, signals: [0; 3], held: Vec::new() }
    }
}

impl Agent for Probe {
    fn down(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        self.down += 1;
        match self.does {
            Does::Pass => out.down(packet),
            Does::Double => {
                out.down(packet);
                out.down(packet);
            }
            Does::Hold(time) => {
                self.held.push((now.after(time), *packet));
                out.set_timer(self.held[0].0);
            }
        }
    }

    fn up(&mut self, packet: &Packet, _now: Time, out: &mut impl AgentOut) {
        self.up += 1;
        out.up(packet);
    }

    fn on_signal(&mut self, signal: Signal, _packet: &Packet, _now: Time, _out: &mut impl AgentOut) {
        self.signals[signal as usize] += 1;
    }

    fn on_timer(&mut self, now: Time, out: &mut impl AgentOut) {
        while self.held.first().is_some_and(|(at, _)| *at <= now) {
            out.down(&self.held.remove(0).1);
        }
        if let Some((at, _)) = self.held.first() {
            out.set_timer(*at);
        }
    }

    fn activity(&self) -> Activity {
        Activity { passed: self.down + self.up, ..Activity::default() }
    }

    fn counts(&self) -> Vec<Count> {
        let count = |name, value| Count { name, unit: "packets", meaning: "seen", value };
        vec![
            count("down", self.down),
            count("up", self.up),
            count("delivered", self.signals[Signal::Delivered as usize]),
            count("undelivered", self.signals[Signal::Undelivered as usize]),
            count("refused", self.signals[Signal::Refused as usize]),
        ]
    }
}

/// What probe `number` has counted.
fn seen(outcome: &Outcome, number: usize, name: &str) -> f64 {
    metric(outcome, &format!("agents.probe{number}.custom.{name}"))
}

fn balanced(outcome: &Outcome) {
    for (name, account) in &outcome.accounts {
        let Account { entered, made, repeated, delivered, lost, taken, on_the_way, .. } = *account;
        let sum = |tallies: &[u64]| tallies.iter().sum::<u64>();
        assert_eq!(
            sum(&[entered.packets, made.packets, repeated.packets]),
            sum(&[delivered.packets, lost.packets, taken.packets, on_the_way.packets]),
            "{name}: {account:?}"
        );
    }
}

#[test]
fn an_agent_that_passes_all_changes_nothing_on_any_interface() {
    let plain = run_once(&config(""));
    let goodput = metric(&plain, "flows.main.goodput_bps");
    assert!(goodput > 10_000.0, "{goodput}");
    for (node, link) in [
        ("server", "up"),
        ("router", "up"),
        ("router", "down"),
        ("ap", "down"),
        ("ap", "wlan"),
        ("relay", "wlan"),
        ("relay", "bridge"),
        ("s1", "frn"),
        ("s3", "frn"),
    ] {
        let mut config = config("");
        add(&mut config, (node, link), &[0, 1], |_| Probe::new(Does::Pass));
        let outcome = run_once(&config);
        balanced(&outcome);
        for (name, value) in &plain.metrics {
            let with = outcome.metrics.iter().find(|(other, _)| other == name).expect("the same metrics");
            assert_eq!(with.1, *value, "{name} with an agent at {node} on {link}");
        }
        let both = [seen(&outcome, 0, "down"), seen(&outcome, 0, "up")];
        assert!(both.into_iter().all(|seen| seen > 50.0), "{node} on {link}: {both:?}");
    }
}

#[test]
fn the_first_agent_of_the_file_is_the_nearest_to_the_network() {
    for (order, times) in [([Does::Double, Does::Pass], 2.0), ([Does::Pass, Does::Double], 1.0)] {
        for place in [("router", "down"), ("ap", "wlan"), ("s1", "frn")] {
            let mut config = config("");
            for does in order {
                add(&mut config, place, &[0, 1], move |_| Probe::new(does));
            }
            let outcome = run_once(&config);
            balanced(&outcome);
            let down = [0, 1].map(|number| seen(&outcome, number, "down"));
            assert_eq!(down[1], times * down[0], "{order:?} at {place:?}");
            assert_eq!(seen(&outcome, 0, "up"), seen(&outcome, 1, "up"));
        }
    }
}

#[test]
fn an_agent_sees_the_flows_it_serves_alone() {
    let mut config = config("");
    for flows in [&[0][..], &[1], &[0, 1]] {
        add(&mut config, ("router", "down"), flows, |_| Probe::new(Does::Pass));
    }
    let outcome = run_once(&config);
    let down = [0, 1, 2].map(|number| seen(&outcome, number, "down"));
    assert!(down[0] > 50.0 && down[1] > 50.0);
    assert_eq!(down[0] + down[1], down[2]);
}

#[test]
fn the_timer_of_an_agent_fires_on_every_kind_of_link() {
    let plain = run_once(&config(""));
    let rtt = metric(&plain, "flows.main.rtt_p50_s");
    for place in [("router", "down"), ("ap", "wlan"), ("s1", "frn")] {
        let mut config = config("");
        add(&mut config, place, &[0], |_| Probe::new(Does::Hold(Span::from_secs(1))));
        let outcome = run_once(&config);
        balanced(&outcome);
        let longer = metric(&outcome, "flows.main.rtt_p50_s") - rtt;
        assert!((0.7..1.3).contains(&longer), "{place:?}: longer by {longer}");
    }
}

#[test]
fn a_wire_reports_what_it_refuses_and_an_802_11_link_the_fate_of_each_packet() {
    let mut config = config("");
    add(&mut config, ("router", "down"), &[0, 1], |_| Probe::new(Does::Pass));
    add(&mut config, ("ap", "wlan"), &[0, 1], |_| Probe::new(Does::Pass));
    let outcome = run_once(&config);
    let drops = metric(&outcome, "links.down.drops_queue");
    assert!(drops > 0.0);
    assert_eq!(seen(&outcome, 0, "refused"), drops);
    assert_eq!(seen(&outcome, 0, "delivered"), 0.0);
    // One may be on the air when the run ends.
    let told =
        seen(&outcome, 1, "delivered") + seen(&outcome, 1, "undelivered") + seen(&outcome, 1, "refused");
    assert!((0.0..=1.0).contains(&(seen(&outcome, 1, "down") - told)));
}

#[test]
fn agents_of_several_kinds_share_an_interface() {
    let cell = ROW.replace("to   = \"s3\"", "to   = \"relay\"");
    let run = |agents: &str| {
        let text = format!("{cell}{agents}");
        let scenario =
            Scenario::from_text(&text, "agents.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
        run_once(&scenario.config(0))
    };
    let lle = "[agents.lle]\nkind = \"lle-tcp\"\nflows = [\"main\"]\n";
    let proxy = "[agents.proxy]\nkind = \"proxy-tcp\"\nflows = [\"main\"]\n";
    for agents in [format!("{lle}{proxy}"), format!("{proxy}{lle}")] {
        let outcome = run(&agents);
        balanced(&outcome);
        assert!(metric(&outcome, "agents.lle.generated") > 100.0);
        assert!(metric(&outcome, "agents.lle.suppressed") > 100.0);
        assert!(metric(&outcome, "flows.main.goodput_bps") > 100_000.0);
    }
    // Nearer to the link the proxy sees what comes over it; nearer to the network, the acknowledgements of the other.
    let [behind, before] = [format!("{lle}{proxy}"), format!("{proxy}{lle}")]
        .map(|agents| metric(&run(&agents), "agents.proxy.passed"));
    assert!(before > behind, "{before} and {behind}");
}

/// An acknowledgement that was held at the end of the warm-up went out after it, and the count fell below zero.
#[test]
fn what_an_agent_has_suppressed_never_falls() {
    let text = include_str!("scenarios/held.toml");
    let scenario = Scenario::from_text(text, "held.toml", &[]).expect("it is valid");
    let outcome = crate::common::run_seed(&scenario.config(0), 216, 0);
    let suppressed = metric(&outcome, "agents.agent.suppressed");
    assert!((0.0..100.0).contains(&suppressed), "{suppressed}");
}
