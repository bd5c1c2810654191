//! The keys of 802.11n, ac and ax links, and what is refused there.

use super::wifi::{cell, cell_config};
use super::wifi_errors::refused;
use lasthop_stack::link::dot11::{
    Acknowledgement, AfterLoss, Aggregate, Category, EdcaAccess, EdcaConfig, Family, Guard, Mode, MuEdca,
    Ofdma, PhyRate, Preset, Protection, RateControl, Ru, Scheduler, Uplink,
};
use lasthop_stack::units::Span;

fn refused_of(standard: &str, line: &str, expected: &str) {
    let text = cell(&format!("standard = \"{standard}\"\n{line}"));
    refused(&text, line, expected);
}

#[test]
fn a_standard_of_today_has_the_constants_of_its_preset() {
    for preset in [Preset::Dot11g, Preset::Dot11n, Preset::Dot11ac, Preset::Dot11ax] {
        let found = cell_config(&format!("standard = \"{}\"", preset.name()));
        assert_eq!(found.mac, preset.config(), "{preset:?}");
    }
    let ax = Preset::Dot11ax.config();
    assert_eq!((ax.slot, ax.sifs), (Span::from_micros(9), Span::from_micros(16)));
    assert_eq!(cell_config("standard = \"802.11ax\"\nwidth = \"40 MHz\"").radio.bandwidth_hz, 40e6);
    let g = Preset::Dot11g.config();
    assert_eq!(g.phy.airtime(14, 0, PhyRate::Ofdm24).total, Span::from_micros(34));
}

#[test]
fn every_constant_of_edca_can_be_set() {
    let found = cell_config(
        r#"standard = "802.11ax"
mcs = 5
width = "160 MHz"
guard-interval = "3.2 us"
streams = 2
aggregate = { count = 32, bytes = "100 kB", time = "2 ms" }
block-ack = { window = 64, spacing = "8 us", after-loss = "data", reorder-timeout = "20 ms" }
protection = "cts-to-self"
access-point = "ap"
ofdma = { scheduler = "longest-queue", acknowledgement = "requests", stations = 12, least-ru = 52, uplink = "round-robin", report-interval = "2 ms", edca = "mu", mu-edca = { aifsn = 0, cw-min = 15, cw-max = 31, timer = "16.384 ms" } }
[links.cell.edca]
best-effort = { aifsn = 4, cw-min = 31, cw-max = 63, txop = "2528 us" }
access-point = "own"
lifetime = "500 ms"
voice = { aifsn = 1 }
[links.cell.rate-control]
kind = "ideal"
[links.cell.loss]
model = "snr""#,
    );
    let mut access = EdcaConfig::of(Family::He).access;
    access[Category::BestEffort as usize] =
        EdcaAccess { aifsn: 4, cw_min: 31, cw_max: 63, txop: Span::from_micros(2_528) };
    access[Category::Voice as usize].aifsn = 1;
    let expected = EdcaConfig {
        mode: Mode {
            family: Family::He,
            mcs: 5,
            width: 160,
            guard: Guard::Quadruple,
            streams: 2,
            ru: Ru::Whole,
        },
        access,
        aggregate: Aggregate { count: 32, bytes: 100_000, time: Span::from_millis(2) },
        window: 64,
        spacing: Span::from_micros(8),
        after_loss: AfterLoss::Data,
        reorder_timeout: Span::from_millis(20),
        own_set: true,
        lifetime: Some(Span::from_millis(500)),
        rate_control: RateControl::Ideal,
        ofdma: Some(Ofdma {
            scheduler: Some(Scheduler::LongestQueue),
            acknowledgement: Acknowledgement::Requests,
            most: 12,
            least: Ru::Tones52,
            uplink: Some(Uplink {
                scheduler: Scheduler::RoundRobin,
                requests: Some(Span::from_millis(2)),
                mu_edca: Some(MuEdca { aifsn: 0, cw_min: 15, cw_max: 31, timer: Span::from_micros(16_384) }),
            }),
        }),
    };
    assert_eq!(found.mac.edca, Some(expected));
    assert_eq!(found.mac.data_rate, PhyRate::Ofdm48);
    assert_eq!(found.mac.protection, Protection::CtsToSelf);
}

#[test]
fn modes_that_a_standard_lacks_are_refused() {
    refused_of("802.11n", "mcs = 8", "links.cell.mcs: 8; 802.11n has 0 to 7");
    refused_of("802.11n", "width = \"80 MHz\"", "links.cell.width: 80 MHz; expected one of 20, 40 MHz");
    refused_of(
        "802.11ax",
        "guard-interval = \"0.4 us\"",
        "links.cell.guard-interval: 0.4 us; expected one of 0.8, 1.6, 3.2 us",
    );
    let text = cell("standard = \"802.11ac\"\nwidth = \"20 MHz\"\nmcs = 9");
    let expected = "links.cell.mcs: 9; 802.11ac has no such mode with 1 streams in 20 MHz; expected another mcs, width or streams";
    refused(&text, "mcs = 9", expected);
    refused_of("802.11ac", "block-ack = { window = 256 }", "links.cell.block-ack.window: 256; expected 64");
    refused_of(
        "802.11ax",
        "block-ack = { window = 1024 }",
        "links.cell.block-ack.window: 1024; expected 64 or 256",
    );
    let line = "block-ack = { window = 128 }";
    let text = cell(&format!("standard = \"802.11be\"\naggregate = {{ count = 64 }}\n{line}"));
    refused(&text, line, "links.cell.block-ack.window: 128; expected 64, 256, 512 or 1024");
    refused_of("802.11ax", "mcs = 12", "links.cell.mcs: 12; 802.11ax has 0 to 11");
    refused_of(
        "802.11ax",
        "width = \"320 MHz\"",
        "links.cell.width: 320 MHz; expected one of 20, 40, 80, 160 MHz",
    );
    refused_of(
        "802.11be",
        "guard-interval = \"0.4 us\"",
        "links.cell.guard-interval: 0.4 us; expected one of 0.8, 1.6, 3.2 us",
    );
    refused_of(
        "802.11n",
        "aggregate = { count = 100 }",
        "links.cell.aggregate.count: 100 is above block-ack.window, 64; expected no more",
    );
    refused_of(
        "802.11n",
        "aggregate = { bytes = \"70 kB\" }",
        "links.cell.aggregate.bytes: 70000 B; expected at most 65535 B",
    );
}

#[test]
fn limits_that_exclude_every_aggregate_and_windows_that_no_station_can_announce_are_refused() {
    refused_of(
        "802.11n",
        "aggregate = { bytes = \"100 B\" }",
        "links.cell.aggregate.bytes: 100 B; two MPDUs have at least 140 B; expected more, or aggregate.count = 1",
    );
    refused_of(
        "802.11n",
        "aggregate = { time = \"30 us\" }",
        "links.cell.aggregate.time: 30 us; two MPDUs take at least 56 us; expected more, or aggregate.count = 1",
    );
    refused_of(
        "802.11ax",
        "edca = { video = { cw-min = 8 } }",
        "links.cell.edca.video.cw-min: 8; expected 2^n - 1, such as 7 or 15",
    );
}

#[test]
fn ideal_rate_control_without_losses_by_snr_is_refused() {
    refused_of(
        "802.11n",
        "rate-control = { kind = \"ideal\" }",
        "links.cell.rate-control.kind: \"ideal\", but frames on the air do not fail by the ratio of signal to noise; expected loss.model = \"snr\"",
    );
    refused_of(
        "802.11a",
        "rate-control = { kind = \"ideal\" }",
        "links.cell.rate-control.kind: no point uses it; expected links.cell.standard = \"802.11n\" or \"802.11ac\" or \"802.11ax\" or \"802.11be\"",
    );
}

#[test]
fn keys_of_dcf_and_edca_do_not_mix() {
    // The reference rate of the mode too.
    refused_of(
        "802.11ax",
        "rate = \"48 Mbit/s\"",
        "links.cell.rate: has no effect on 802.11ax; expected mcs, width, guard-interval and streams instead",
    );
    refused_of(
        "802.11ax",
        "lifetime = \"1 s\"",
        "links.cell.lifetime: has no effect on 802.11ax; expected edca.lifetime",
    );
    refused_of(
        "802.11ax",
        "rate = \"6 Mbit/s\"",
        "links.cell.rate: has no effect on 802.11ax; expected mcs, width, guard-interval and streams instead",
    );
    refused_of(
        "802.11n",
        "cw-min = 31",
        "links.cell.cw-min: has no effect on 802.11n; expected the key of an access category, such as edca.best-effort.cw-min",
    );
    refused_of(
        "802.11ac",
        "flavour = \"ns2\"",
        "links.cell.flavour: \"ns2\", but ns-2 has no 802.11ac; expected \"standard\" or \"model\"",
    );
    refused_of(
        "802.11a",
        "mcs = 3",
        "links.cell.mcs: no point uses it; expected links.cell.standard = \"802.11n\" or \"802.11ac\" or \"802.11ax\" or \"802.11be\"",
    );
}

#[test]
fn block_acknowledgement_gives_up_packets_itself() {
    let line = "arq = { kind = \"dynamic\", hopeless = \"drop\" }";
    let text = cell(&format!("standard = \"802.11ax\"\naccess-point = \"ap\"\n{line}"));
    let expected = "links.cell.arq.hopeless: \"drop\", but block acknowledgement gives up packets itself; expected send or demote";
    refused(&text, line, expected);
}
