//! 802.11 links and agents: the typed values of legal ones.

mod mac;
mod radio;

use super::read;
use crate::medium::radio::config::{ErrorConfig, ErrorLaw, LossMeaning, LossOf};
use crate::model::{AgentConfig, LinkKind, WifiConfig};
use crate::scenario::Scenario;
use lasthop_stack::hooks::Criterion;
use lasthop_stack::link::dot11::{MacConfig, PhyRate, Preset};
use lasthop_stack::registry::{self, AgentKind};
use lasthop_stack::schemes::lle_tcp::{self, AckScheme, Mode, OnUndelivered};
use lasthop_stack::units::{Metres, Span};

/// The scenario of LLE-TCP's Fig. 5.
pub(super) const FIG05: &str = r#"paper = "lle-tcp/fig05"
title = "Throughput of LLE-TCP and Tahoe against packet error rate"

[run]
duration = "300 s"
warmup   = "5 s"
seed     = 1

[nodes]
n0 = { position = ["0 m", "0 m"] }
n1 = { position = ["100 m", "0 m"] }

[links.wlan]
kind     = "wifi"
nodes    = ["n0", "n1"]
standard = "802.11"
rate     = "1 Mbit/s"
rts-threshold = "0 B"
loss     = { model = "packet", rate = "0 %", repaired-by-arq = false }

[flows.ftp]
from = "n0"
to   = "n1"
app  = { kind = "bulk", start = "1 s" }
tcp  = { profile = "ns2-2004", variant = "tahoe", packet = "1000 B", window = "20 segments" }

[agents.snoop]
kind  = "none"
lle-tcp.mode = "paper"
flows = ["ftp"]

[sweep]
"agents.snoop.kind"    = ["none", "lle-tcp"]
"links.wlan.loss.rate" = "0 % .. 20 % step 2 %"

[[figure]]
id    = "fig05"
x     = "links.wlan.loss.rate"
y     = "flows.ftp.goodput_bps"
lines = "agents.snoop.kind"
"#;

/// A wired host behind an access point, and a second station.
pub(super) const CELL: &str = r#"[run]
duration = "10 s"

[nodes]
host = {}
ap = {}
one = {}
two = {}

[links.wire]
kind = "wired"
nodes = ["host", "ap"]
rate = "10 Mbit/s"

[links.cell]
kind = "wifi"
nodes = ["ap", "one", "two"]

[flows.down]
from = "host"
to = "one"

[flows.voice]
from = "one"
to = "host"
app = { kind = "cbr", cbr = { rate = "64 kbit/s" } }

[agents.snoop]
kind = "lle-tcp"
"#;

pub(super) fn changed(from: &str, to: &str) -> String {
    assert_eq!(CELL.matches(from).count(), 1, "{from:?} stands once in the scenario");
    CELL.replace(from, to)
}

/// [`CELL`] with more lines on its 802.11 link.
pub(super) fn cell(lines: &str) -> String {
    changed("nodes = [\"ap\", \"one\", \"two\"]\n", &format!("nodes = [\"ap\", \"one\", \"two\"]\n{lines}\n"))
}

/// The same with its stations placed 10 m apart.
pub(super) fn placed(lines: &str) -> String {
    let mut text = cell(lines);
    for (place, node) in ["ap", "one", "two"].into_iter().enumerate() {
        let position = format!("{node} = {{ position = [\"{} m\", \"0 m\"] }}", 10 * place);
        text = text.replacen(&format!("{node} = {{}}"), &position, 1);
    }
    text
}

/// [`CELL`] with more lines on its agent: parameters of its kind, and its flows.
pub(super) fn snoop(lines: &str) -> String {
    let line = |line: &str| {
        let place = if line.starts_with("flows") { "" } else { "lle-tcp." };
        format!("{place}{line}\n")
    };
    format!("{CELL}{}", lines.lines().map(line).collect::<String>())
}

pub(super) fn wifi(scenario: &Scenario, point: usize) -> WifiConfig {
    let links = scenario.config(point).links;
    let found = links.into_iter().find_map(|link| match link.kind {
        LinkKind::Wifi(wifi) => Some(*wifi),
        LinkKind::PointToPoint(_) | LinkKind::Frn(_) => None,
    });
    found.expect("a wifi link")
}

pub(super) fn cell_config(lines: &str) -> WifiConfig {
    wifi(&read(&cell(lines)).unwrap_or_else(|error| panic!("{error}")), 0)
}

/// The configuration of a point's agent, which is LLE-TCP's.
fn lle(scenario: &Scenario, point: usize) -> lle_tcp::Config {
    match agent(scenario, point).scheme {
        registry::AgentConfig::LleTcp(config) => config,
        other => panic!("{other:?}"),
    }
}

fn agent(scenario: &Scenario, point: usize) -> AgentConfig {
    scenario.config(point).agents.remove(0)
}

#[test]
fn the_example_of_the_first_paper_is_what_it_says() {
    let scenario = read(FIG05).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((scenario.points(), scenario.warnings()), (22, &[] as &[String]));
    let expected = MacConfig { data_rate: PhyRate::Dsss1, rts_threshold: Some(0), ..Preset::Dot11.config() };
    for point in [0, 21] {
        let found = wifi(&scenario, point);
        assert_eq!((found.nodes, found.access_point, found.mac), (vec![0, 1], None, expected));
    }
    let errors = |point| wifi(&scenario, point).radio.errors;
    let for_good = |law| ErrorConfig { law, meaning: LossMeaning::ForGood, of: LossOf::Packets, at: None };
    assert_eq!(errors(0), for_good(ErrorLaw::None));
    assert_eq!(errors(21), for_good(ErrorLaw::Packet { rate: 0.2 }));
    let (without, with) = (agent(&scenario, 0), agent(&scenario, 21));
    assert_eq!((without.scheme.kind(), without.flows), (AgentKind::None, vec![0]));
    assert_eq!((with.scheme.kind(), with.flows), (AgentKind::LleTcp, vec![0]));
    assert_eq!(lle(&scenario, 21), lle_tcp::Config::new(Mode::Paper, Criterion::default()));
    assert_eq!(scenario.config(0).nodes[1].position, Some((Metres(100.0), Metres(0.0))));
    assert!(scenario.metrics().iter().any(|name| name == "links.wlan.frames_sent"));
    assert!(scenario.metrics().iter().any(|name| name == "agents.snoop.generated"));
}

#[test]
fn an_agent_that_says_nothing_is_safe_and_serves_all_flows_over_tcp() {
    let scenario = read(CELL).unwrap_or_else(|error| panic!("{error}"));
    let found = agent(&scenario, 0);
    assert_eq!(
        (found.name.as_str(), found.scheme.kind(), found.flows),
        ("snoop", AgentKind::LleTcp, vec![0])
    );
    assert_eq!(lle(&scenario, 0), lle_tcp::Config::new(Mode::Safe, Criterion::default()));
}

#[test]
fn every_parameter_of_an_agent_can_be_set() {
    let lines = r#"flows = ["down"]
acknowledge = "delayed"
ack-every = 3
ack-delay = "50 ms"
on-undelivered = "three-duplicates"
hold = "20 ms"
max-hold = "500 ms"
repair = "300 ms"
idle = "60 s"
max-flows = 5
max-kept = "64 kB""#;
    let expected = lle_tcp::Config {
        acknowledge: AckScheme::Delayed { every: 3, delay: Span::from_millis(50) },
        on_undelivered: OnUndelivered::ThreeDuplicates,
        hold: Span::from_millis(20),
        max_hold: Span::from_millis(500),
        repair: Span::from_millis(300),
        idle: Span::from_secs(60),
        max_flows: 5,
        max_kept: 64_000,
        ..lle_tcp::Config::new(Mode::Safe, Criterion::default())
    };
    assert_eq!(lle(&read(&snoop(lines)).unwrap(), 0), expected);
    let once = read(&snoop("mode = \"paper\"\non-undelivered = \"resubmit-once\"")).unwrap();
    assert_eq!(lle(&once, 0).on_undelivered, OnUndelivered::ResubmitOnce);
    let delayed = read(&snoop("acknowledge = \"delayed\"")).unwrap();
    let expected = AckScheme::Delayed { every: 2, delay: Span::from_millis(100) };
    assert_eq!(lle(&delayed, 0).acknowledge, expected);
}

#[test]
fn standards_meanings_of_loss_and_agents_can_be_swept() {
    let text = format!(
        "{CELL}[sweep]\n\"links.cell.standard\" = [\"802.11\", \"802.11a\"]\n\
         \"links.cell.loss.repaired-by-arq\" = [true, false]\n\"links.cell.rts-threshold\" = [\"never\", \"0 B\"]\n\
         \"links.cell.basic-rates\" = [[\"6 Mbit/s\"]]\n"
    );
    let text = text.replace("\"802.11\", ", "");
    let swept = read(&text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(swept.points(), 4);
    for point in 0..swept.points() {
        let set = swept.with_overrides(&swept.point(point)).unwrap();
        assert_eq!((set.points(), set.point_key(0)), (1, swept.point_key(point)));
    }
    assert_eq!(wifi(&swept, 0).radio.errors.of, LossOf::All);
    assert_eq!(wifi(&swept, 2).radio.errors.of, LossOf::Packets);
    assert_eq!(wifi(&swept, 1).mac.rts_threshold, Some(0));
}
