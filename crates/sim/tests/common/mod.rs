//! Configurations that several tests start from.

#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]

use lasthop_sim::medium::impairments::ImpairmentConfig;
use lasthop_sim::medium::loss::LossConfig;
use lasthop_sim::medium::radio::config::RadioConfig;
use lasthop_sim::model::{
    AgentConfig, Config, DirectionConfig, FlowConfig, LinkConfig, LinkKind, NodeConfig, PointToPoint,
    ReverseConfig, RunConfig, Sends, SinkConfig, TransportConfig, WifiConfig,
};
use lasthop_sim::traffic::{AppConfig, AppKind};
use lasthop_sim::{Outcome, Request, RunError};
use lasthop_stack::hooks::Criterion;
use lasthop_stack::link::dot11::{MacConfig, PcfConfig};
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::registry;
use lasthop_stack::registry::tcp::{self, Profile};
use lasthop_stack::schemes::lle_tcp::{self, Mode};
use lasthop_stack::units::{Bytes, Rate, Span, Time};

/// A direction of a link with room for 100 packets and no loss.
pub fn direction(rate_bps: u64, delay: Span) -> DirectionConfig {
    DirectionConfig {
        rate: Rate(rate_bps),
        delay,
        queue: QueueLimit::Packets(100),
        policer: None,
        loss: LossConfig::None,
        impairments: ImpairmentConfig::default(),
        delays: None,
    }
}

/// Nodes in a row, joined by these links, and one bulk TCP flow `main` from the first to the last.
pub fn chain(links: &[(u64, Span)], tcp: tcp::Config, duration: Span) -> Config {
    let nodes = (0..=links.len())
        .map(|node| NodeConfig { name: format!("n{node}"), ..NodeConfig::default() })
        .collect();
    let links: Vec<LinkConfig> = links
        .iter()
        .enumerate()
        .map(|(number, &(rate, delay))| {
            let directions = [direction(rate, delay), direction(rate, delay)];
            let kind = LinkKind::PointToPoint(PointToPoint {
                nodes: [number, number + 1],
                directions,
                rtt: None,
                sends: Sends::Wires,
            });
            LinkConfig { name: format!("l{number}"), group: None, kind, outages: None, aqm: None }
        })
        .collect();
    let run = RunConfig {
        bin: None,
        duration,
        warmup: Span::ZERO,
        max_events: None,
        max_wall: None,
        max_memory: Bytes(4_000_000_000),
        plain: false,
    };
    let flows = vec![FlowConfig {
        dscp: 0,
        encrypted: false,
        is_outside: false,
        name: "main".into(),
        group: None,
        from: 0,
        to: links.len(),
        app: source(AppKind::Bulk),
        sink: SinkConfig::default(),
        transport: TransportConfig::Tcp(tcp),
        reverse: None,
    }];
    Config { run, nodes, links, flows, agents: Vec::new() }
}

/// An 802.11 link `wlan` between these nodes, with ns-2's radio.
pub fn wlan(
    nodes: Vec<usize>,
    access_point: Option<usize>,
    mac: MacConfig,
    pcf: Option<PcfConfig>,
) -> LinkConfig {
    let radio = RadioConfig::ns2();
    let wifi = WifiConfig {
        outer: Vec::new(),
        is_secret: false,
        nodes,
        access_point,
        pcf,
        observer: None,
        mac,
        own_rates: Vec::new(),
        without_ofdma: Vec::new(),
        single_radios: Vec::new(),
        multi_link: None,
        further_bps: 0.0,
        radio,
        arq: None,
    };
    LinkConfig {
        name: "wlan".into(),
        group: None,
        kind: LinkKind::Wifi(Box::new(wifi)),
        outages: None,
        aqm: None,
    }
}

/// Flows like the first between these nodes, in its place.
pub fn flows_between(config: &mut Config, ends: &[(usize, usize)]) {
    let first = config.flows[0].clone();
    let flow = |(number, &(from, to))| FlowConfig { name: format!("f{number}"), from, to, ..first.clone() };
    config.flows = ends.iter().enumerate().map(flow).collect();
}

/// Lets an LLE-TCP agent serve all flows, if there is a mode.
pub fn snoop(config: &mut Config, mode: Option<Mode>) {
    config.agents.extend(mode.map(|mode| AgentConfig {
        name: "snoop".into(),
        scheme: registry::AgentConfig::LleTcp(lle_tcp::Config::new(mode, Criterion::default())),
        flows: (0..config.flows.len()).collect(),
        nodes: None,
        links: None,
    }));
}

/// A source that starts at once and does not stop.
pub fn source(kind: AppKind) -> AppConfig {
    AppConfig { start: Time::ZERO, spread: Span::ZERO, stop: None, kind }
}

/// A source of a file of this many bytes.
pub fn file(size: u64) -> AppConfig {
    source(AppKind::File { size: Bytes(size) })
}

/// Lets the receiving node of the first flow send as well, on the same connection.
pub fn back(config: &mut Config, app: AppConfig) -> &mut ReverseConfig {
    let reverse = ReverseConfig { app, sink: SinkConfig::default(), buffer: None };
    config.flows[0].reverse.insert(Box::new(reverse))
}

/// The path of EJTCP's Fig. 9 with this loss on the data of its last hop.
pub fn ejtcp_fig9(tcp: tcp::Config, loss: f64, duration: Span) -> Config {
    let links = [
        (100_000_000, Span::from_millis(5)),
        (5_000_000, Span::from_millis(40)),
        (10_000_000, Span::from_micros(10)),
    ];
    let mut config = chain(&links, tcp, duration);
    wire(&mut config, 2, 0).loss = LossConfig::Packet { rate: loss };
    config
}

/// A direction of a point-to-point link.
pub fn wire(config: &mut Config, link: usize, direction: usize) -> &mut DirectionConfig {
    match &mut config.links[link].kind {
        LinkKind::PointToPoint(ends) => &mut ends.directions[direction],
        LinkKind::Wifi(_) | LinkKind::Frn(_) => panic!("a medium has no directions"),
    }
}

/// ns-2's TCP of 2004 with the window and timer of the baseline figure.
pub fn ns2_tcp() -> tcp::Config {
    tcp::Config { window: 2000, min_rto: Span::from_millis(200), ..Profile::Ns2Of2004.config() }
}

/// Runs as requested, and once more by the plain path, which must give the same.
///
/// # Errors
/// Those of the run.
pub fn run(request: &Request) -> Result<Outcome, RunError> {
    let outcome = lasthop_sim::run(request)?;
    let mut config = request.config.clone();
    config.run.plain = true;
    let plain = lasthop_sim::run(&Request { config: &config, trace: &[], pcap: &[], ..*request })?;
    assert_eq!(outcome.metrics, plain.metrics, "a shortcut changes a metric");
    assert_eq!(outcome.events, plain.events, "a shortcut changes the number of events");
    assert_eq!(outcome.accounts, plain.accounts, "a shortcut changes an account");
    assert_eq!(outcome.transfers, plain.transfers, "a shortcut changes a transfer");
    Ok(outcome)
}

/// Runs replication 0 of seed 1, without the plain path: for what a run itself takes.
pub fn run_alone(config: &Config) -> Outcome {
    lasthop_sim::run(&Request::new(config, 1, 0)).expect("the run succeeds")
}

/// Runs replication 0 of seed 1.
pub fn run_once(config: &Config) -> Outcome {
    run_replication(config, 0)
}

/// Runs one replication of seed 1.
pub fn run_replication(config: &Config, replication: u64) -> Outcome {
    run_seed(config, 1, replication)
}

/// Runs one replication of a seed.
pub fn run_seed(config: &Config, seed: u64, replication: u64) -> Outcome {
    let request = Request::new(config, seed, replication);
    run(&request).expect("the run succeeds")
}

/// A metric of an outcome.
pub fn metric(outcome: &Outcome, name: &str) -> f64 {
    let value = outcome.metrics.iter().find(|(key, _)| key == name).and_then(|(_, value)| *value);
    value.unwrap_or_else(|| panic!("no value for {name} in {:?}", outcome.metrics))
}

/// Three clients of an access point with dynamic ARQ, each with a host of its own behind a wire, and files both ways.
pub const CELL: &str = r#"
title = "A cell"

[run]
duration = "40 s"

[nodes]
ap = { position = ["0 m", "0 m"] }
a = { position = ["5 m", "0 m"] }
b = { position = ["0 m", "5 m"] }
c = { position = ["-5 m", "0 m"] }
x = {}
y = {}
z = {}

[links.air]
kind = "wifi"
nodes = ["ap", "a", "b", "c"]
access-point = "ap"
standard = "802.11a"
rate = "6 Mbit/s"
queue = "32 kB"
fragment-threshold = "320 B"
short-retry = 4
loss = { model = "bit", bit = { ber = 2e-4 } }
arq = { kind = "dynamic" }

[links.wx]
kind = "wired"
nodes = ["x", "ap"]
rate = "10 Mbit/s"
delay = "5 ms"

[links.wy]
kind = "wired"
nodes = ["y", "ap"]
rate = "10 Mbit/s"
delay = "20 ms"

[links.wz]
kind = "wired"
nodes = ["z", "ap"]
rate = "10 Mbit/s"
delay = "50 ms"

[flows.fa]
from = "x"
to = "a"
app = { kind = "file", file = { size = "300 kB" } }
tcp = { variant = "reno", packet = "1460 B" }

[flows.fb]
from = "y"
to = "b"
app = { kind = "file", file = { size = "300 kB" } }
tcp = { variant = "reno", packet = "1460 B" }

[flows.fc]
from = "z"
to = "c"
app = { kind = "file", file = { size = "300 kB" } }
tcp = { variant = "reno", packet = "1460 B" }

[flows.up]
from = "a"
to = "x"
app = { kind = "file", file = { size = "50 kB" } }
tcp = { variant = "reno", packet = "1460 B" }
"#;
