//! The keys of shadowing, fading and error correction on an 802.11 link.

use super::super::quantity::Dim;
use super::kinds::WIFI;
use super::shared::{LONGEST, TIME_MS};
use super::words::{FadingModel, ShadowingModel};
use super::{Key, Kind, Only};
use lasthop_stack::hooks::parameter::words;

const DEVIATION: Kind = Kind::Quantity(&[Dim::Gain], "dB");
const REDRAW: Kind = Kind::Quantity(&[Dim::Time, Dim::Length], "s");
const SPEED: Kind = Kind::Quantity(&[Dim::Speed], "m/s");

const LOG_NORMAL: &[Only] = &[Only::Is("links.*.propagation.shadowing.model", &["log-normal"])];
const FADING: &[Only] = &[Only::Is("links.*.propagation.fading.model", &["rayleigh", "rician"])];
const RICIAN: &[Only] = &[Only::Is("links.*.propagation.fading.model", &["rician"])];
const WRONG_BITS: &[Only] = &[WIFI, Only::Is("links.*.loss.model", &["none", "bit", "snr"])];
const DOPPLER: &[Only] = &[Only::Is("links.*.propagation.fading.coherence", &["doppler"])];

/// The keys under `[links.NAME.propagation.shadowing]`, `[links.NAME.propagation.fading]` and `[links.NAME.fec]`.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "links.*.propagation.shadowing.model",
        Kind::Word("model of shadowing", words::<ShadowingModel>),
        "shadowing in addition to path loss, drawn per pair of stations, equal in both directions",
    )
    .default("none")
    .only(&[WIFI]),
    Key::new("links.*.propagation.shadowing.deviation", DEVIATION, "standard deviation of shadowing; the mean is 0 dB")
        .above("0 dB")
        .at_most("40 dB")
        .only(LOG_NORMAL),
    Key::new(
        "links.*.propagation.shadowing.redraw",
        REDRAW,
        "time, or distance moved by both stations together, after which shadowing is drawn again; never means once per replication",
    )
    .or(&["never"])
    .default("never")
    .above("0 s")
    .at_most(LONGEST)
    .only(LOG_NORMAL),
    Key::new(
        "links.*.propagation.fading.model",
        Kind::Word("model of fading", words::<FadingModel>),
        "multipath fading of the power, drawn per pair of stations, equal in both directions; its mean is 1",
    )
    .default("none")
    .only(&[WIFI]),
    Key::new(
        "links.*.propagation.fading.k-factor",
        DEVIATION,
        "ratio of the line-of-sight power to the scattered power",
    )
    .at_least("-40 dB")
    .at_most("40 dB")
    .only(RICIAN),
    Key::new(
        "links.*.propagation.fading.coherence",
        TIME_MS,
        "duration of a draw; doppler means the time for 0.423 wavelengths at fading.speed",
    )
    .or(&["doppler"])
    .default("doppler")
    .source("Rappaport 2002 (5.40.c)")
    .at_least("1 us")
    .at_most(LONGEST)
    .only(FADING),
    Key::new(
        "links.*.propagation.fading.speed",
        SPEED,
        "speed that determines the coherence time; nodes means the speed of both stations together, while they move",
    )
    .or(&["nodes"])
    .default("nodes")
    .above("0 m/s")
        .at_most("10000 m/s")
        .only(DOPPLER),
    Key::new(
        "links.*.fec.rate",
        Kind::Number,
        "code rate of a Reed-Solomon code on the body of each data frame; 1 means no code",
    )
    .default("1")
    .at_least("0.01")
    .at_most("1")
    .only(WRONG_BITS),
];
