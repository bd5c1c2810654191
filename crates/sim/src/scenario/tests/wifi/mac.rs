//! The MAC and PHY of an 802.11 link: presets, defaults and the keys that change them.

use super::super::{read, resolved, with};
use super::{CELL, cell, cell_config, placed, wifi};
use crate::medium::radio::config::RadioConfig;
use crate::scenario::explain;
use lasthop_stack::link::dot11::{
    AccessRules, BackoffDraw, MacConfig, PhyRate, PhyTiming, Preset, Protection, RateSet, Reassembly,
    ResponseTimeout,
};
use lasthop_stack::units::Span;
use serde_json::Value as Json;

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
fn every_default_of_a_wifi_link_is_listed_with_its_source() {
    for standard in ["802.11", "802.11b", "802.11b-short", "802.11a", "802.11g", "bianchi"] {
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

/// The values that [`every_constant_of_the_mac_can_be_set`] sets.
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
            dsss_preamble: micros(100),
            round_to: Span(1),
            propagation: micros(2),
            signal_extension: micros(3),
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
        protection: Protection::CtsToSelf,
        protection_rate: Some(PhyRate::Dsss2),
        fragment_threshold: Some(800),
        fec: None,
        short_retry: Some(9),
        long_retry: None,
        lifetime: Some(micros(524_288)),
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
        edca: None,
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
protection = "cts-to-self"
protection-rate = "2 Mbit/s"
fragment-threshold = "800 B"
short-retry = 9
long-retry = "none"
lifetime = "524.288 ms"
slot = "21 us"
sifs = "11 us"
cw-min = 15
cw-max = 255
queue = "7 packets"
phy = { preamble = "100 us", preamble-at-1-mbps = "200 us", round-to = "1 ns", propagation-delay = "2 us", signal-extension = "3 us" }
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
fn a_standard_that_looks_like_a_number_needs_no_quotes_in_an_override() {
    let scenario = with(CELL, &[("links.cell.standard", "802.11")]).unwrap();
    assert_eq!(wifi(&scenario, 0).mac, Preset::Dot11.config());
}

#[test]
fn a_default_that_depends_on_the_standard_is_explained_for_each() {
    let of = |key: &str| {
        let entry: Json = serde_json::from_str(&explain(key).unwrap()).unwrap();
        entry["default"].as_str().unwrap().to_string()
    };
    assert_eq!(
        of("slot"),
        "20 us (802.11, 802.11b, 802.11b-short); 9 us (802.11a, 802.11g, 802.11n, 802.11ac, 802.11ax, 802.11be); 50 us (bianchi)"
    );
    assert_eq!(
        of("long-retry"),
        "4 (802.11, 802.11b, 802.11b-short, 802.11a, 802.11g, bianchi); 7 (802.11n, 802.11ac, 802.11ax, 802.11be); none (model)"
    );
    assert_eq!(
        of("frames.header"),
        "24 B (802.11, 802.11b, 802.11b-short, 802.11a, 802.11g); 26 B (802.11n, 802.11ac, 802.11ax, 802.11be); 30 B (bianchi, ns2)"
    );
    assert_eq!(
        of("links.NAME.queue"),
        "100 packets (other links); 1000 packets (codel); 10240 packets (fq-codel); 1000 packets (pie); 10000 packets (dualpi2); 8192 packets (mac80211); 50 packets (802.11, 802.11b, 802.11b-short, 802.11a, 802.11g, bianchi); 500 packets (802.11n, 802.11ac, 802.11ax, 802.11be)"
    );
    assert_eq!(
        of("links.NAME.rate"),
        "required (other links); 2 Mbit/s (802.11); 11 Mbit/s (802.11b, 802.11b-short); 54 Mbit/s (802.11a, 802.11g, 802.11n, 802.11ac, 802.11ax, 802.11be); \
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
