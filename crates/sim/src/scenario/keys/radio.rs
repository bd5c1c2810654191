//! The keys of propagation and reception on an 802.11 link.

use super::super::quantity::{Dim, Quantity};
use super::preset::{Source, Wifi};
use super::words::{PathLoss, ReceptionModel};
use super::{Decimal, Key, Kind, Only};
use crate::medium::radio::config::{Propagation, RadioConfig, Reception, watts_to_dbm};
use lasthop_stack::hooks::parameter::{Words, words};

const POWER: Kind = Kind::Quantity(&[Dim::Power, Dim::Level], "mW");
pub(super) const FREQUENCY: Kind = Kind::Quantity(&[Dim::Frequency], "MHz");
const LENGTH: Kind = Kind::Quantity(&[Dim::Length], "m");
const GAIN: Kind = Kind::Quantity(&[Dim::Gain], "dB");
const STRONGEST: &str = "1000000 W";
const BY_DISTANCE: &[Only] =
    &[Only::Is("links.*.propagation.model", &["two-ray", "free-space", "log-distance"])];
const TWO_RAY: &[Only] = &[Only::Is("links.*.propagation.model", &["two-ray"])];
const LOG_DISTANCE: &[Only] = &[Only::Is("links.*.propagation.model", &["log-distance"])];
const CAPTURE: &[Only] = &[Only::Is("links.*.reception.model", &["ns2", "capture"])];
const SINR: &[Only] = &[Only::Is("links.*.reception.model", &["sinr"])];
const CHANNEL: Source = Source::Mac("IEEE 802.11-2012 (16.4.6, 17.4.6)", "IEEE 802.11-2012 (18.3.8)");
const NS3_LOSS: Source = both_radios("ns-3: LogDistancePropagationLossModel");
const ANTENNA: Source = Source::Radio("ns-2: Antenna/OmniAntenna", "ns-3: WifiPhy TxGain, RxGain");
const NS2_ANTENNA: Source = both_radios("ns-2: Antenna/OmniAntenna");
const AUDIBLE: Source = both_radios("well above all thresholds");
const CP_THRESH: Source = both_radios("ns-2: Phy/WirelessPhy CPThresh_");
const INTERFERENCE: Source = both_radios("ns-3: InterferenceHelper");
const PREAMBLE: Source = both_radios("without detection; ns-3: ThresholdPreambleDetectionModel, 4 dB");
const NOISE_FIGURE: Source = both_radios("ns-3: WifiPhy RxNoiseFigure");
const POWER_FED: Source = Source::Radio("ns-2: Phy/WirelessPhy", "ns-3: WifiPhy TxPowerStart");
/// ns-3 gives them as the loss at 1 m, which is that of free space at 5.15 GHz.
const FRIIS: Source =
    Source::Radio("ns-2: Phy/WirelessPhy", "ns-3: LogDistancePropagationLossModel ReferenceLoss");

const fn both_radios(source: &'static str) -> Source {
    Source::Radio(source, source)
}

/// The keys under `[links.NAME.propagation]` and `[links.NAME.reception]`.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "links.*.propagation.model",
        Kind::Word("model of propagation", words::<PathLoss>),
        "path-loss model; flat means equal power between all stations",
    )
    .preset(
        |wifi| propagation(&wifi.radio).word().to_string(),
        Source::Radio("ns-2: Propagation/TwoRayGround", "ns-3: LogDistancePropagationLossModel"),
    )
    .unplaced("flat"),
    Key::new(
        "links.*.propagation.exponent",
        Kind::Number,
        "path-loss exponent beyond the reference distance",
    )
    .preset(|wifi| factor(log_distance(&wifi.radio)[0]), NS3_LOSS)
    .only(LOG_DISTANCE)
    .above("0")
    .at_most("10"),
    Key::new(
        "links.*.propagation.reference-distance",
        LENGTH,
        "reference distance, up to which free-space loss applies",
    )
    .preset(|wifi| length(log_distance(&wifi.radio)[1]), NS3_LOSS)
    .only(LOG_DISTANCE)
    .above("0 m")
    .at_most("1000 km"),
    Key::new("links.*.propagation.transmit-power", POWER, "transmit power")
        .preset(|wifi| power(wifi.radio.transmit_power_w), POWER_FED)
        .only(BY_DISTANCE)
        .above("0 W")
        .at_most(STRONGEST),
    Key::new("links.*.propagation.frequency", FREQUENCY, "carrier frequency")
        .preset(|wifi| frequency(wifi.radio.frequency_hz), FRIIS)
        .only(BY_DISTANCE)
        .above("0 Hz")
        .at_most("1000 GHz"),
    Key::new(
        "links.*.propagation.transmit-gain",
        Kind::Number,
        "gain of the transmitting antenna, as a factor",
    )
    .preset(|wifi| factor(wifi.radio.transmit_gain), ANTENNA)
    .only(BY_DISTANCE)
    .above("0")
    .at_most("1000000"),
    Key::new("links.*.propagation.receive-gain", Kind::Number, "gain of the receiving antenna, as a factor")
        .preset(|wifi| factor(wifi.radio.receive_gain), ANTENNA)
        .only(BY_DISTANCE)
        .above("0")
        .at_most("1000000"),
    Key::new("links.*.propagation.antenna-height", LENGTH, "height of all antennas above ground")
        .preset(|wifi| length(wifi.radio.antenna_height_m), NS2_ANTENNA)
        .only(TWO_RAY)
        .above("0 m")
        .at_most("10 km"),
    Key::new("links.*.propagation.system-loss", Kind::Number, "system loss, as a factor")
        .preset(|wifi| factor(wifi.radio.system_loss), FRIIS)
        .only(BY_DISTANCE)
        .at_least("1")
        .at_most("1000000"),
    Key::new(
        "links.*.propagation.flat-power",
        POWER,
        "received power between all stations under the flat model",
    )
    .preset(|wifi| power(wifi.radio.flat_power_w), AUDIBLE)
    .above("0 W")
    .at_most(STRONGEST),
    Key::new(
        "links.*.reception.model",
        Kind::Word("model of reception", words::<ReceptionModel>),
        "reception of overlapping frames: by ns-2's rule, by a power ratio, or by summed interference",
    )
    .preset(
        |wifi| reception(&wifi.radio).word().to_string(),
        Source::Radio("ns-2: mac-802_11.cc", "ns-3: InterferenceHelper"),
    ),
    Key::new(
        "links.*.reception.capture",
        Kind::Number,
        "minimum power ratio at which a frame survives an overlap",
    )
    .or(&["none"])
    .preset(capture, CP_THRESH)
    .only(CAPTURE)
    .at_least("1")
    .at_most("1000000000"),
    Key::new("links.*.reception.least-sinr", Kind::Number, "SINR below which a frame is lost; 0 means never")
        .preset(|wifi| factor(least_sinr(&wifi.radio)), INTERFERENCE)
        .only(SINR)
        .at_least("0")
        .at_most("1000000000"),
    Key::new(
        "links.*.reception.preamble",
        GAIN,
        "SINR in the first 4 us from which a receiver detects a frame; below, the medium is only busy, and no EIFS follows",
    )
    .or(&["none"])
    .preset(|_| "none".to_string(), PREAMBLE)
    .at_least("-20 dB")
    .at_most("60 dB"),
    Key::new(
        "links.*.reception.receive-threshold",
        POWER,
        "receive threshold: weakest frame that can be received",
    )
    .preset(
        |wifi| power(wifi.radio.receive_threshold_w),
        Source::Radio("ns-2: Phy/WirelessPhy RXThresh_", "ns-3: ThresholdPreambleDetectionModel MinimumRssi"),
    )
    .above("0 W")
    .at_most(STRONGEST),
    Key::new(
        "links.*.reception.carrier-sense-threshold",
        POWER,
        "carrier-sense threshold: weakest frame that makes the medium busy",
    )
    .preset(
        |wifi| power(wifi.radio.carrier_sense_threshold_w),
        Source::Radio("ns-2: Phy/WirelessPhy CSThresh_", "ns-3: WifiPhy CcaSensitivity"),
    )
    .above("0 W")
    .at_most(STRONGEST),
    Key::new(
        "links.*.reception.interference-threshold",
        POWER,
        "interference threshold: weakest frame that can destroy another",
    )
    .preset(
        |wifi| power(wifi.radio.interference_threshold_w),
        Source::Radio("ns-2: Phy/WirelessPhy CSThresh_", "ns-3: WifiPhy RxSensitivity"),
    )
    .above("0 W")
    .at_most(STRONGEST),
    Key::new("links.*.reception.bandwidth", FREQUENCY, "bandwidth of the noise")
        .preset(|wifi| frequency(wifi.radio.bandwidth_hz), CHANNEL)
        .above("0 Hz")
        .at_most("1000 GHz"),
    Key::new("links.*.reception.noise-figure", GAIN, "noise figure of the receiver")
        .preset(|wifi| gain(wifi.radio.noise_figure_db), NOISE_FIGURE)
        .at_least("0 dB"),
];

fn propagation(radio: &RadioConfig) -> PathLoss {
    match radio.propagation {
        Propagation::FreeSpace => PathLoss::FreeSpace,
        Propagation::TwoRay => PathLoss::TwoRay,
        Propagation::LogDistance { .. } => PathLoss::LogDistance,
    }
}

/// Exponent and reference distance; those of the one radio that has them where the preset has none.
fn log_distance(radio: &RadioConfig) -> [f64; 2] {
    match (radio.propagation, RadioConfig::ns3().propagation) {
        (Propagation::LogDistance { exponent, reference_m }, _)
        | (_, Propagation::LogDistance { exponent, reference_m }) => [exponent, reference_m],
        _ => [3.0, 1.0],
    }
}

fn reception(radio: &RadioConfig) -> ReceptionModel {
    match radio.reception {
        Reception::Ns2 { .. } => ReceptionModel::Ns2,
        Reception::Capture { .. } => ReceptionModel::Capture,
        Reception::Sinr { .. } => ReceptionModel::Sinr,
    }
}

/// The ratio of capture; that of ns-2 where the preset has none.
fn capture(wifi: &Wifi) -> String {
    let ratio = match (wifi.radio.reception, RadioConfig::ns2().reception) {
        (Reception::Ns2 { capture } | Reception::Capture { capture }, _)
        | (_, Reception::Ns2 { capture }) => capture,
        _ => None,
    };
    ratio.map_or_else(|| "none".to_string(), factor)
}

fn least_sinr(radio: &RadioConfig) -> f64 {
    match radio.reception {
        Reception::Sinr { least } => least,
        _ => 0.0,
    }
}

/// Digits that distinguish the constants of the presets from the noise of their last bits.
const DIGITS: usize = 12;

fn decimal(value: f64) -> Decimal {
    Decimal::from_f64(value, DIGITS).unwrap_or(Decimal::ZERO)
}

fn factor(value: f64) -> String {
    decimal(value).scientific()
}

fn length(metres: f64) -> String {
    Quantity { dim: Dim::Length, base: decimal(metres) }.text()
}

pub(super) fn frequency(hertz: f64) -> String {
    Quantity { dim: Dim::Frequency, base: decimal(hertz) }.text()
}

fn gain(decibels: f64) -> String {
    Quantity { dim: Dim::Gain, base: decimal(decibels) }.text()
}

/// In watts where these are a short number, else as the level it was made from.
fn power(watts: f64) -> String {
    match Decimal::from_f64(watts, DIGITS).filter(|exact| exact.as_f64() == watts) {
        Some(base) => Quantity { dim: Dim::Power, base }.text(),
        None => Quantity { dim: Dim::Level, base: decimal(watts_to_dbm(watts)) }.text(),
    }
}
