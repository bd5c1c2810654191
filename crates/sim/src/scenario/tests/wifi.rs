//! 802.11 links and agents: what legal ones come out as.

use super::{read, resolved, with};
use crate::medium::radio::config::{
    ErrorConfig, ErrorLaw, LossMeaning, LossOf, PayloadOf, Propagation, RadioConfig, Reception, dbm_to_watts,
};
use crate::model::{AgentConfig, LinkKind, WifiConfig};
use crate::scenario::{Scenario, explain};
use lasthop_stack::hooks::Criterion;
use lasthop_stack::link::dot11::{
    AccessRules, BackoffDraw, MacConfig, PhyRate, PhyTiming, Preset, RateSet, Reassembly, ResponseTimeout,
};
use lasthop_stack::registry::{self, AgentKind};
use lasthop_stack::schemes::lle_tcp::{self, AckScheme, Mode, OnUndelivered};
use lasthop_stack::units::{Metres, Span};
use serde_json::Value as Json;

/// The example of the interfaces' description.
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

/// The same with its stations in their places, 10 m apart.
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

/// What the agent of a point is, if that is LLE-TCP's.
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
fn a_link_that_says_nothing_is_802_11b_with_the_radio_of_ns2() {
    let found = cell_config("");
    assert_eq!((found.nodes, found.access_point), (vec![1, 2, 3], None));
    assert_eq!((found.mac, found.radio), (Preset::Dot11b.config(), RadioConfig::ns2()));
}

#[test]
fn every_standard_and_flavour_comes_out_with_its_constants() {
    let of = |standard: &str, flavour: &str| {
        cell_config(&format!("standard = \"{standard}\"\nflavour = \"{flavour}\"")).mac
    };
    for preset in [Preset::Dot11, Preset::Dot11b, Preset::Dot11bShort, Preset::Dot11a] {
        let (name, constants) = (preset.name(), preset.config());
        assert_eq!(of(name, "standard"), constants, "{name}");
        assert_eq!(of(name, "model"), constants.under_model_assumptions(), "{name}");
    }
    assert_eq!(of("802.11", "ns2"), Preset::Ns2.config());
    assert_eq!(of("802.11b", "ns2"), Preset::Ns2b.config());
    assert_eq!(of("802.11b-short", "ns2"), Preset::Dot11bShort.config().as_ns2());
    assert_eq!(of("802.11a", "ns2"), Preset::Dot11a.config().as_ns2());
    assert_eq!(of("bianchi", "model"), Preset::Bianchi.config());
    let table = Preset::Bianchi.config();
    let MacConfig { short_retry, long_retry, access, .. } = Preset::Dot11.config();
    let rules = MacConfig { short_retry, long_retry, access, ..table };
    assert_eq!(of("bianchi", "standard"), rules);
    assert_eq!(of("bianchi", "ns2"), rules.as_ns2());
}

#[test]
fn bianchis_constants_bring_the_assumptions_of_his_model_unless_told_otherwise() {
    let scenario = read(&cell("standard = \"bianchi\"")).unwrap();
    let found = wifi(&scenario, 0);
    assert_eq!((found.mac, found.radio), (Preset::Bianchi.config(), RadioConfig::bianchi()));
    let of = |key: &str| resolved(&scenario, 0, &format!("links.cell.{key}")).unwrap();
    assert_eq!(of("flavour"), ("model".into(), "standard bianchi".into()));
    assert_eq!(of("radio"), ("bianchi".into(), "flavour model".into()));
    assert_eq!(of("short-retry"), ("none".into(), "flavour model".into()));
    assert_eq!(of("slot"), ("50 us".into(), "standard bianchi".into()));
    assert_eq!(of("reception.capture"), ("none".into(), "radio bianchi".into()));
}

#[test]
fn every_radio_comes_out_with_its_constants() {
    let of = |standard: &str, radio: &str| {
        cell_config(&format!("standard = \"{standard}\"\nradio = \"{radio}\"")).radio
    };
    assert_eq!(of("802.11b", "ns2"), RadioConfig::ns2());
    assert_eq!(of("802.11b", "bianchi"), RadioConfig::bianchi());
    assert_eq!(of("802.11a", "ns3"), RadioConfig::ns3());
    assert_eq!(of("802.11a", "ns2"), RadioConfig { bandwidth_hz: 20e6, ..RadioConfig::ns2() });
}

#[test]
fn every_default_of_a_wifi_link_is_listed_with_its_source() {
    for standard in ["802.11", "802.11b", "802.11b-short", "802.11a", "bianchi"] {
        for flavour in ["standard", "ns2", "model"] {
            for radio in ["ns2", "ns3", "bianchi"] {
                let lines =
                    format!("standard = \"{standard}\"\nflavour = \"{flavour}\"\nradio = \"{radio}\"");
                let lines = read(&cell(&lines)).unwrap().resolved(0);
                let of_cell = lines.iter().filter(|line| line.key.starts_with("links.cell."));
                for line in of_cell.filter(|line| line.from.contains(' ') && !line.key.contains(".loss.")) {
                    assert!(!line.source.is_empty(), "{standard} {flavour} {radio}: {}", line.key);
                }
            }
        }
    }
    let scenario = read(&placed("standard = \"802.11\"\nflavour = \"ns2\"")).unwrap();
    let line = |key: &str| {
        let found = scenario.resolved(0).into_iter().find(|line| line.key == format!("links.cell.{key}"));
        found.map(|line| (line.value, line.from, line.source)).unwrap()
    };
    assert_eq!(line("rate"), ("1 Mbit/s".into(), "flavour ns2".into(), "ns-2: Mac/802_11"));
    assert_eq!(line("frames.header").0, "30 B");
    assert_eq!(
        line("slot"),
        ("20 us".into(), "standard 802.11".into(), "IEEE 802.11-2012 (tables 16-2, 17-5)")
    );
    assert_eq!(line("basic-rates").0, "[\"1 Mbit/s\"]");
    assert_eq!(
        line("propagation.transmit-power"),
        ("281.83815 mW".into(), "radio ns2".into(), "ns-2: Phy/WirelessPhy")
    );
}

/// What [`every_constant_of_the_mac_can_be_set`] sets.
fn other_constants() -> MacConfig {
    let micros = Span::from_micros;
    MacConfig {
        slot: micros(21),
        sifs: micros(11),
        cw_min: 15,
        cw_max: 255,
        phy: PhyTiming {
            preamble: micros(100),
            preamble_at_1_mbps: micros(200),
            round_to: Span(1),
            propagation: micros(2),
        },
        data_rate: PhyRate::Cck5,
        basic_rates: RateSet::of(&[PhyRate::Dsss1, PhyRate::Cck11]),
        header: 30,
        fcs: 5,
        llc: 0,
        rts: 21,
        cts: 15,
        ack: 16,
        rts_threshold: Some(500),
        fragment_threshold: Some(800),
        fec: None,
        short_retry: Some(9),
        long_retry: None,
        access: AccessRules {
            draw: BackoffDraw::BelowWindow,
            timeout: ResponseTimeout::WholeResponse(micros(4)),
            eifs: false,
            post_backoff: false,
            immediate: false,
            nav_reset: false,
            blind_exchange: false,
            deaf_after_cts: true,
            errors_reserve: true,
            difs_after_failure: true,
        },
        queue: 7,
        buffer: None,
        reassembly: Reassembly::InOrder,
    }
}

#[test]
fn every_constant_of_the_mac_can_be_set() {
    let found = cell_config(
        r#"standard = "802.11b"
rate = "5.5 Mbit/s"
basic-rates = ["1 Mbit/s", "11 Mbit/s"]
access-point = "ap"
rts-threshold = "500 B"
fragment-threshold = "800 B"
short-retry = 9
long-retry = "none"
slot = "21 us"
sifs = "11 us"
cw-min = 15
cw-max = 255
queue = "7 packets"
phy = { preamble = "100 us", preamble-at-1-mbps = "200 us", round-to = "1 ns", propagation-delay = "2 us" }
frames = { header = "30 B", fcs = "5 B", llc = "0 B", rts = "21 B", cts = "15 B", ack = "16 B" }
[links.cell.access]
draw = "below-window"
timeout = "whole-response"
timeout-margin = "4 us"
eifs = false
post-backoff = false
immediate = false
nav-reset = false
blind-exchange = false
deaf-after-cts = true
errors-reserve = true
difs-after-failure = true"#,
    );
    assert_eq!((found.mac, found.access_point), (other_constants(), Some(1)));
}

#[test]
fn propagation_and_reception_can_be_set() {
    let at = |text: String| wifi(&read(&text).unwrap_or_else(|error| panic!("{error}")), 0).radio;
    let found = at(placed(
        r#"[links.cell.propagation]
model = "log-distance"
exponent = 2.7
reference-distance = "10 m"
transmit-power = "20 dBm"
frequency = "2.4 GHz"
transmit-gain = 2
receive-gain = 3
system-loss = 1.5
flat-power = "2 nW"
[links.cell.reception]
model = "sinr"
least-sinr = 4
receive-threshold = "-82 dBm"
carrier-sense-threshold = "-90 dBm"
interference-threshold = "1 pW"
bandwidth = "20 MHz"
noise-figure = "5 dB""#,
    ));
    let expected = RadioConfig {
        transmit_power_w: dbm_to_watts(20.0),
        frequency_hz: 2.4e9,
        transmit_gain: 2.0,
        receive_gain: 3.0,
        system_loss: 1.5,
        propagation: Propagation::LogDistance { exponent: 2.7, reference_m: 10.0 },
        flat_power_w: 2e-9,
        receive_threshold_w: dbm_to_watts(-82.0),
        carrier_sense_threshold_w: dbm_to_watts(-90.0),
        interference_threshold_w: 1e-12,
        reception: Reception::Sinr { least: 4.0 },
        bandwidth_hz: 20e6,
        noise_figure_db: 5.0,
        ..RadioConfig::ns2()
    };
    assert_eq!(found, expected);
    let capture = |lines: &str| cell_config(lines).radio.reception;
    assert_eq!(capture("reception = { model = \"capture\" }"), Reception::Capture { capture: Some(10.0) });
    assert_eq!(capture("reception = { capture = \"none\" }"), Reception::Ns2 { capture: None });
    let two_ray = at(placed("propagation = { model = \"two-ray\", antenna-height = \"2 m\" }"));
    assert_eq!((two_ray.propagation, two_ray.antenna_height_m), (Propagation::TwoRay, 2.0));
}

#[test]
fn each_meaning_of_a_packet_error_rate_is_typed() {
    let errors = |loss: &str| cell_config(&format!("loss = {{ {loss} }}")).radio.errors;
    let ten = ErrorLaw::Packet { rate: 0.1 };
    for (loss, meaning, of) in [
        ("rate = \"10 %\"", LossMeaning::OnAir, LossOf::All),
        ("rate = \"10 %\", of = \"data\"", LossMeaning::OnAir, LossOf::Data),
        ("rate = \"10 %\", repaired-by-arq = false", LossMeaning::ForGood, LossOf::Packets),
        ("rate = \"10 %\", above-mac = true", LossMeaning::AboveMac, LossOf::Packets),
        (
            "rate = \"10 %\", above-mac = true, repaired-by-arq = false",
            LossMeaning::AboveMac,
            LossOf::Packets,
        ),
    ] {
        assert_eq!(errors(loss), ErrorConfig { law: ten.clone(), meaning, of, at: None }, "{loss}");
    }
}

#[test]
fn each_law_of_loss_is_typed() {
    let law = |loss: &str| cell_config(&format!("loss = {{ {loss} }}")).radio.errors.law;
    assert_eq!(law("model = \"none\""), ErrorLaw::None);
    assert_eq!(law("model = \"packet\""), ErrorLaw::None);
    assert_eq!(law("model = \"bit\", bit = { ber = 1e-5 }"), ErrorLaw::Bit { ber: 1e-5 });
    assert_eq!(law("model = \"snr\""), ErrorLaw::Snr);
    assert_eq!(
        law("model = \"gilbert-elliott\", gilbert-elliott = { mean-good = \"1 s\", mean-bad = \"50 ms\" }"),
        ErrorLaw::GilbertElliott {
            loss_good: 0.0,
            loss_bad: 1.0,
            mean_good: Span::from_secs(1),
            mean_bad: Span::from_millis(50),
        }
    );
}

#[test]
fn losses_can_be_at_some_stations_or_a_list_of_the_attempts_of_one() {
    let errors = |loss: &str| cell_config(&format!("loss = {{ {loss} }}")).radio.errors;
    // Stations are numbered as links.cell.nodes has them: ap, one, two.
    assert_eq!(errors("rate = \"10 %\", at = \"all\"").at, None);
    assert_eq!(errors("rate = \"10 %\", at = [\"ap\"]").at, Some(vec![0]));
    assert_eq!(errors("model = \"bit\", bit = { ber = 1e-5 }, at = [\"two\", \"ap\"]").at, Some(vec![2, 0]));
    let found = errors("model = \"list\", list = { from = \"two\", drop = [2, 5] }, repaired-by-arq = false");
    let law = ErrorLaw::List { from: 2, of: PayloadOf::Data, drop: vec![2, 5] };
    assert_eq!((found.law, found.meaning), (law, LossMeaning::ForGood));
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
fn a_medium_without_positions_is_listed_as_flat_and_not_by_what_it_does_not_have() {
    for lines in ["", "radio = \"ns3\"", "radio = \"bianchi\""] {
        let of = |text: &str, key: &str| {
            resolved(&read(text).unwrap(), 0, &format!("links.cell.propagation.{key}"))
        };
        assert_eq!(of(&cell(lines), "model"), Some(("flat".into(), "default".into())));
        assert_eq!(of(&cell(lines), "frequency"), None);
        assert!(of(&cell(lines), "flat-power").is_some());
        let model = of(&placed(lines), "model").unwrap();
        let expected = if lines.contains("ns3") { "log-distance" } else { "two-ray" };
        assert_eq!(model.0, expected);
        assert!(of(&placed(lines), "frequency").is_some());
        // What it is called makes no difference to what it does.
        let radio = |text: &str| wifi(&read(text).unwrap(), 0).radio;
        assert_eq!(radio(&cell(lines)), radio(&placed(lines)));
    }
}

#[test]
fn a_flat_medium_leaves_out_where_its_stations_stand() {
    let placed = |model: &str| {
        let text =
            FIG05.replace("rate     =", &format!("propagation = {{ model = \"{model}\" }}\nrate     ="));
        read(&text).unwrap().config(0).nodes[1].position
    };
    assert_eq!(placed("free-space"), Some((Metres(100.0), Metres(0.0))));
    assert_eq!(placed("flat"), None);
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

#[test]
fn levels_can_be_swept_by_a_range() {
    let text = format!(
        "{CELL}[sweep]\n\"links.cell.reception.receive-threshold\" = \"-90 dBm .. -82 dBm step 4 dBm\"\n"
    );
    let scenario = read(&text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scenario.axes()[0].rows, [["-90 dBm"], ["-86 dBm"], ["-82 dBm"]]);
}

#[test]
fn a_standard_that_looks_like_a_number_needs_no_quotes_in_an_override() {
    let scenario = with(CELL, &[("links.cell.standard", "802.11")]).unwrap();
    assert_eq!(wifi(&scenario, 0).mac, Preset::Dot11.config());
}

#[test]
fn powers_and_levels_are_told_in_watts_and_decibels() {
    let scenario = read(CELL).unwrap();
    let numeric = |below: &str, text: &str| scenario.numeric(&format!("links.cell.{below}"), text);
    assert_eq!(numeric("propagation.transmit-power", "281.83815 mW"), Some(0.281_838_15));
    assert_eq!(numeric("reception.receive-threshold", "365.2 pW"), Some(3.652e-10));
    assert_eq!(numeric("reception.receive-threshold", "-82 dBm"), Some(-82.0));
    assert_eq!(numeric("propagation.frequency", "914 MHz"), Some(914e6));
}

#[test]
fn a_default_that_depends_on_the_standard_is_explained_for_each() {
    let of = |key: &str| {
        let entry: Json = serde_json::from_str(&explain(key).unwrap()).unwrap();
        entry["default"].as_str().unwrap().to_string()
    };
    assert_eq!(of("slot"), "20 us (802.11, 802.11b, 802.11b-short); 9 us (802.11a); 50 us (bianchi)");
    assert_eq!(of("long-retry"), "4 (802.11, 802.11b, 802.11b-short, 802.11a, bianchi); none (model)");
    assert_eq!(of("frames.header"), "24 B (802.11, 802.11b, 802.11b-short, 802.11a); 30 B (bianchi, ns2)");
    assert_eq!(of("links.NAME.queue"), "100 packets (other links); 50 packets");
    assert_eq!(
        of("links.NAME.rate"),
        "required (other links); 2 Mbit/s (802.11); 11 Mbit/s (802.11b, 802.11b-short); 54 Mbit/s (802.11a); \
         1 Mbit/s (bianchi, ns2)"
    );
    assert_eq!(of("flavour"), "standard; model where links.NAME.standard is bianchi");
    assert_eq!(of("agents.NAME.lle-tcp.repair"), "200 ms");
    assert_eq!(of("propagation.exponent"), "3");
    assert_eq!(
        of("propagation.model"),
        "flat (without positions); two-ray (ns2, bianchi); log-distance (ns3)"
    );
}
