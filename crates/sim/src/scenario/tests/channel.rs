//! Shadowing, fading and error correction of an 802.11 link: the results of legal settings, and the errors for others.

use super::wifi::{cell, cell_config, placed, wifi};
use super::wifi_errors::{refused, refused_line};
use super::{read, resolved};
use crate::medium::radio::config::{Fading, RadioConfig, Redraw, Shadowing, db_to_ratio};
use crate::{Request, run};
use lasthop_stack::link::fec::Code;
use lasthop_stack::units::Span;

fn radio(text: &str) -> RadioConfig {
    wifi(&read(text).unwrap_or_else(|error| panic!("{error}")), 0).radio
}

#[test]
fn a_link_that_says_nothing_neither_shadows_nor_fades() {
    let found = cell_config("").radio;
    assert_eq!((found.shadowing, found.fading), (None, None));
    let scenario = read(&cell("")).unwrap();
    let value = |key: &str| resolved(&scenario, 0, &format!("links.cell.propagation.{key}"));
    assert_eq!(value("fading.model"), Some(("none".into(), "default".into())));
    assert_eq!(value("fading.coherence"), None);
}

#[test]
fn shadowing_is_drawn_once_or_after_a_time() {
    let shadowing =
        |more: &str| cell_config(&format!("propagation.shadowing = {{ model = \"log-normal\", {more} }}"));
    let expected = |redraw| Some(Shadowing { deviation_db: 6.5, redraw });
    assert_eq!(shadowing("deviation = \"6.5 dB\"").radio.shadowing, expected(Redraw::Never));
    let drawn = shadowing("deviation = \"6.5 dB\", redraw = \"2 s\"").radio.shadowing;
    assert_eq!(drawn, expected(Redraw::After(Span::from_secs(2))));
}

#[test]
fn the_coherence_of_fading_is_given_or_follows_from_speed_and_carrier() {
    let given = cell_config("propagation.fading = { model = \"rayleigh\", coherence = \"20 ms\" }").radio;
    let expected = Fading { factor: 0.0, redraw: Redraw::After(Span::from_millis(20)) };
    assert_eq!(given.fading, Some(expected));
    let text = placed(
        "propagation = { frequency = \"5.4 GHz\", fading = { model = \"rician\", k-factor = \"6 dB\", speed = \"1.5 m/s\" } }",
    );
    let found = radio(&text).fading.expect("fading");
    assert_eq!(found.factor, db_to_ratio(6.0));
    assert_eq!(found.redraw, Redraw::After(Span(15_666_667)));
}

#[test]
fn fading_that_cannot_be_is_refused() {
    for (line, expected) in [
        (
            "propagation.fading = { model = \"rice\" }",
            "fading.model: unknown model of fading \"rice\"; expected one of none, rayleigh, rician",
        ),
        (
            "propagation.fading = { coherence = \"1 ms\" }",
            "fading.coherence: no point uses it; expected links.cell.propagation.fading.model = \"rayleigh\" or \"rician\"",
        ),
        (
            "propagation.fading = { model = \"rayleigh\", coherence = \"0 s\" }",
            "fading.coherence: \"0 s\" is too small; expected at least 1 us",
        ),
        (
            "propagation.fading = { model = \"rayleigh\", coherence = 5 }",
            "fading.coherence: 5 has no unit; expected a time such as \"5 ms\" or \"doppler\"",
        ),
        (
            "propagation.fading = { model = \"rayleigh\", speed = \"1.5 m\" }",
            "fading.speed: \"1.5 m\" is a length; expected a speed such as \"1.5 m/s\" or \"nodes\"",
        ),
        (
            "propagation.shadowing = { model = \"log-normal\", deviation = \"-3 dB\" }",
            "shadowing.deviation: \"-3 dB\" is too small; expected more than 0",
        ),
        (
            "propagation.shadowing = { deviation = \"3 dB\" }",
            "shadowing.deviation: no point uses it; expected links.cell.propagation.shadowing.model = \"log-normal\"",
        ),
    ] {
        refused_line(line, &format!("links.cell.propagation.{expected}"));
    }
}

#[test]
fn what_fading_needs_is_asked_for() {
    let text = placed("propagation.fading = { model = \"rician\", speed = \"1 m/s\" }");
    refused(
        &text,
        "propagation.fading",
        "links.cell.propagation.fading.k-factor: missing; expected a gain such as \"7 dB\"",
    );
    // Stations without positions have no carrier.
    let line = "propagation.fading = { model = \"rayleigh\", speed = \"1 m/s\" }";
    refused(
        &cell(line),
        line,
        "links.cell.propagation.fading.coherence: \"doppler\" with propagation.model = \"flat\", which has no frequency; expected a time such as \"15 ms\"",
    );
}

#[test]
fn a_code_has_a_rate_and_a_rate_of_one_is_none() {
    let fec = |lines: &str| cell_config(lines).mac.fec;
    assert_eq!(fec(""), None);
    assert_eq!(fec("loss.model = \"snr\""), None);
    assert_eq!(fec("loss.model = \"none\"\nfec.rate = 1"), None);
    let code = Code::of_rate(0.75);
    assert!(code.is_some());
    assert_eq!(fec("loss = { model = \"bit\", bit = { ber = 1e-4 } }\nfec.rate = 0.75"), code);
    assert_eq!(fec("loss.model = \"snr\"\nfec.rate = \"0.75\""), code);
}

#[test]
fn a_code_that_cannot_be_is_refused() {
    let snr = |rate: &str, expected: &str| {
        let line = format!("fec.rate = {rate}");
        refused(
            &cell(&format!("loss.model = \"snr\"\n{line}")),
            &line,
            &format!("links.cell.fec.rate: {expected}"),
        );
    };
    snr("1.25", "1.25 is too large; expected at most 1");
    let long = "gives frames of 15192 B for packets of 1500 B, above the 802.11 maximum of 4095 B; expected a higher rate or shorter fragments";
    snr("0.1", long);
    snr("0", "0 is too small; expected at least 0.01");
    snr("\"3/4\"", "\"3/4\"; expected a number such as 1e-6");
    refused_line(
        "fec.rate = 0.75",
        "links.cell.fec.rate: no point uses it; expected links.cell.kind = \"wifi\" and links.cell.loss.model = \"none\" or \"bit\" or \"snr\"",
    );
    let line = "fec.rate = 0.5";
    let text =
        cell(&format!("loss = {{ model = \"bit\", above-mac = true, bit = {{ ber = 1e-4 }} }}\n{line}"));
    refused(
        &text,
        line,
        "links.cell.fec.rate: a code with loss.above-mac, where losses occur after decoding; expected 1",
    );
}

/// The goodput, bit/s, over a link of 802.11a at 6 Mbit/s in fragments of 320 bytes whose bits are wrong at a rate.
fn goodput(ber: &str, rate: &str) -> f64 {
    let text = format!(
        r#"[run]
duration = "10 s"

[nodes]
ap = {{}}
sta = {{}}

[links.air]
kind = "wifi"
nodes = ["ap", "sta"]
standard = "802.11a"
rate = "6 Mbit/s"
basic-rates = ["6 Mbit/s"]
fragment-threshold = "320 B"
loss = {{ model = "bit", of = "packets", bit = {{ ber = {ber} }} }}
fec.rate = {rate}

[flows.down]
from = "ap"
to = "sta"
"#
    );
    let config = read(&text).unwrap_or_else(|error| panic!("{error}")).config(0);
    let request = Request::new(&config, 1, 0);
    let metrics = run(&request).unwrap().metrics;
    metrics.iter().find(|metric| metric.0 == "goodput_bps").and_then(|metric| metric.1).unwrap()
}

#[test]
fn a_code_costs_airtime_where_all_bits_are_right_and_carries_data_where_many_are_wrong() {
    let (plain, coded) = (goodput("0", "1"), goodput("0", "0.75"));
    // A fragment and its ACK take 16 + 452 + 16 + 44 us, with a code 584 instead of 452.
    let expected = (16.0 + 452.0 + 16.0 + 44.0) / (16.0 + 584.0 + 16.0 + 44.0);
    assert!((coded / plain / expected - 1.0).abs() < 0.03, "{plain} {coded}");
    // One in twelve frames of 320 bytes passes, five in six of the coded ones.
    let (plain, coded) = (goodput("1e-3", "1"), goodput("1e-3", "0.75"));
    assert!(plain < 0.02 * coded && coded > 1e6, "{plain} {coded}");
}
