//! The keys of the air interface of an 802.16 link.

use super::shared::{FASTEST, LONGEST, RATE, SHARE, TIME_MS, TIME_S};
use super::words::ModulationModel;
use super::{Key, Kind, Only};
use crate::scenario::quantity::Dim;
use lasthop_stack::hooks::parameter::words;
use lasthop_stack::packet::Modulation;

const TIME_US: Kind = Kind::Quantity(&[Dim::Time], "us");
const RATIO: Kind = Kind::Quantity(&[Dim::Gain], "dB");

const WIMAX: &[Only] = &[Only::Is("links.*.kind", &["wimax"])];
const SCRIPT: &[Only] = &[Only::Is("links.*.modulation.law", &["script"])];
const MARKOV: &[Only] = &[Only::Is("links.*.modulation.law", &["markov"])];
const SNR: &[Only] = &[Only::Is("links.*.modulation.law", &["snr"])];

const RATES: &str = "Eklund et al. 2002; EJTCP (1.2)";

/// The keys.
pub(super) const KEYS: &[Key] = &[
    Key::new("links.*.frame.length", TIME_MS, "length of a frame")
        .default("1 ms")
        .source("IEEE 802.16-2004 (8.1): 0.5, 1 or 2 ms")
        .above("0 s")
        .at_most("20 ms")
        .only(WIMAX),
    Key::new("links.*.frame.downlink", SHARE, "share of a frame for the downlink")
        .default("50 %")
        .source("lasthop: no published value")
        .above("0 %")
        .at_most("99 %")
        .only(WIMAX),
    Key::new(
        "links.*.frame.maps",
        TIME_US,
        "duration of preamble, DL-MAP and UL-MAP at the start of a frame",
    )
    .default("20 us")
    .source("lasthop: about 70 bytes with QPSK")
    .at_most("10 ms")
    .only(WIMAX),
    Key::new(
        "links.*.frame.requests",
        TIME_US,
        "duration of gap and request region at the start of the uplink sub-frame",
    )
    .default("20 us")
    .source("lasthop: about 70 bytes with QPSK")
    .at_most("10 ms")
    .only(WIMAX),
    rate("links.*.rates.qpsk", "bit rate with QPSK", "32 Mbit/s"),
    rate("links.*.rates.16-qam", "bit rate with 16-QAM", "64 Mbit/s"),
    rate("links.*.rates.64-qam", "bit rate with 64-QAM", "96 Mbit/s"),
    Key::new(
        "links.*.modulation.start",
        Kind::Word("modulation", words::<Modulation>),
        "modulation at the start",
    )
    .default("16-qam")
    .source("EJTCP (4): 64 Mbit/s")
    .only(WIMAX),
    Key::new(
        "links.*.modulation.law",
        Kind::Word("law", words::<ModulationModel>),
        "rule by which the modulation changes at the beginning of a frame",
    )
    .default("fixed")
    .only(WIMAX),
    Key::new(
        "links.*.modulation.script",
        Kind::Text,
        "modulation changes with their times, such as \"qpsk at 60 s, 64-qam at 90 s\"",
    )
    .only(SCRIPT),
    Key::new(
        "links.*.modulation.markov.mean",
        TIME_S,
        "mean time between changes; each change is to an adjacent modulation",
    )
    .default("5 s")
    .source("lasthop: no published value")
    .at_least("1 ms")
    .at_most(LONGEST)
    .only(MARKOV),
    Key::new("links.*.modulation.snr.mean", RATIO, "mean signal-to-noise ratio").default("18 dB").only(SNR),
    Key::new(
        "links.*.modulation.snr.deviation",
        RATIO,
        "standard deviation of the signal-to-noise ratio in decibels",
    )
    .default("4 dB")
    .at_least("0 dB")
    .only(SNR),
    Key::new(
        "links.*.modulation.snr.coherence",
        TIME_MS,
        "duration of one draw of the signal-to-noise ratio",
    )
    .default("100 ms")
    .at_least("1 ms")
    .at_most(LONGEST)
    .only(SNR),
    Key::new("links.*.modulation.snr.16-qam", RATIO, "minimum signal-to-noise ratio for 16-QAM")
        .default("16.4 dB")
        .source("IEEE 802.16-2004 (table 266)")
        .only(SNR),
    Key::new("links.*.modulation.snr.64-qam", RATIO, "minimum signal-to-noise ratio for 64-QAM")
        .default("22.7 dB")
        .source("IEEE 802.16-2004 (table 266)")
        .only(SNR),
];

const fn rate(path: &'static str, meaning: &'static str, default: &'static str) -> Key {
    Key::new(path, RATE, meaning).default(default).source(RATES).above("0 bit/s").at_most(FASTEST).only(WIMAX)
}
