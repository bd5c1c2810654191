//! The medium of an 802.11 link: propagation, reception and losses.

use super::super::{read, resolved};
use super::{CELL, FIG05, cell, cell_config, placed, wifi};
use crate::medium::loss::PacketClass;
use crate::medium::radio::config::{
    ErrorConfig, ErrorLaw, LossMeaning, LossOf, Propagation, RadioConfig, Reception, dbm_to_watts,
};
use lasthop_stack::units::{Metres, Span};

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
    let law = ErrorLaw::List { from: 2, of: PacketClass::Data, drop: vec![2, 5] };
    assert_eq!((found.law, found.meaning), (law, LossMeaning::ForGood));
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
        // The name of the model does not change what it computes.
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
fn levels_can_be_swept_by_a_range() {
    let text = format!(
        "{CELL}[sweep]\n\"links.cell.reception.receive-threshold\" = \"-90 dBm .. -82 dBm step 4 dBm\"\n"
    );
    let scenario = read(&text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scenario.axes()[0].rows, [["-90 dBm"], ["-86 dBm"], ["-82 dBm"]]);
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
