//! The keys of PPDUs to several stations of 802.11ax and be, and from several.

use super::shared::TIME_MS;
use super::words::{Contention, Schedule};
use super::{Key, Kind, Only};
use lasthop_stack::hooks::parameter::words;
use lasthop_stack::link::dot11::Acknowledgement;

const HE: &[Only] = &[Only::Is("links.*.standard", &["802.11ax", "802.11be"])];
const SCHEDULED: &[Only] = &[Only::Is("links.*.ofdma.scheduler", &["round-robin", "longest-queue"])];
const TRIGGERED: &[Only] = &[Only::Is("links.*.ofdma.uplink", &["round-robin", "longest-queue"])];
const DEFERRING: &[Only] = &[Only::Is("links.*.ofdma.edca", &["mu"])];
const MU_EDCA_SET: &str = "IEEE 802.11ax-2021 (9.4.2.251, 26.2.7); OpenWrt: hostapd.sh, best effort";

/// The keys.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "links.*.ofdma.scheduler",
        Kind::Word("scheduler", words::<Schedule>),
        "which stations the next PPDU of the access point to several stations (HE MU, downlink OFDMA) is for",
    )
    .default("none")
    .source("IEEE 802.11ax-2021 (26.5.1) leaves it open; ns-3: RrMultiUserScheduler is round robin")
    .only(HE),
    Key::new(
        "links.*.ofdma.acknowledgement",
        Kind::Word("acknowledgement", words::<Acknowledgement>),
        "how the stations of such a PPDU acknowledge it",
    )
    .default("trigger")
    .source("IEEE 802.11ax-2021 (26.4.2, 9.3.1.22.4); ns-3: WifiDefaultAckManager::DlMuAckSequenceType")
    .only(SCHEDULED),
    Key::new("links.*.ofdma.stations", Kind::Integer, "maximum number of stations of a PPDU to several stations or from several, below the number of RUs")
        .default("74")
        .source("IEEE 802.11ax-2021 (27.3.2.2): RUs of 26 tones in 160 MHz (144 in 320 MHz of 802.11be); ns-3: RrMultiUserScheduler::NStations, 4")
        .at_least("2")
        .at_most("144")
        .only(HE),
    Key::new("links.*.ofdma.least-ru", Kind::Integer, "tones of the smallest RU: 26, 52, 106, 242, 484, 996 or, in 320 MHz, 1992; where a packet does not fit, fewer stations get larger ones")
        .default("26")
        .source("IEEE 802.11ax-2021 (27.3.2.2), 802.11be-2024 (36.3.2.2)")
        .at_least("26")
        .at_most("1992")
        .only(HE),
    Key::new(
        "links.*.ofdma.uplink",
        Kind::Word("scheduler", words::<Schedule>),
        "which stations the next trigger of the access point is for, whose PPDUs come together (HE TB, uplink OFDMA)",
    )
    .default("none")
    .source("IEEE 802.11ax-2021 (26.5.2) leaves it open; ns-3: RrMultiUserScheduler::EnableUlOfdma")
    .only(HE),
    Key::new(
        "links.*.ofdma.report-interval",
        TIME_MS,
        "time from one request of the access point for reports of what stations hold (BSRP) to the next; none is no requests, so that it only learns from data",
    )
    .or(&["none"])
    .default("5 ms")
    .source("IEEE 802.11ax-2021 (26.5.5) leaves it open; ns-3: EnableBsrp, AccessReqInterval")
    .at_least("0.1 ms")
    .at_most("1 s")
    .only(TRIGGERED),
    Key::new(
        "links.*.ofdma.edca",
        Kind::Word("contention", words::<Contention>),
        "how stations that were triggered contend",
    )
    .default("contend")
    .source("IEEE 802.11ax-2021 (26.2.7); ns-3: HeConfiguration::BeMuEdcaTimer, 0")
    .only(TRIGGERED),
    Key::new(
        "links.*.ofdma.mu-edca.aifsn",
        Kind::Integer,
        "slots after SIFS before the first slot of a backoff, in all categories; 0 is no contention",
    )
    .default("8")
    .source(MU_EDCA_SET)
    .at_least("0")
    .at_most("15")
    .only(DEFERRING),
    Key::new("links.*.ofdma.mu-edca.cw-min", Kind::Integer, "first contention window, 2^n - 1")
        .default("511")
        .source(MU_EDCA_SET)
        .at_least("0")
        .at_most("32767")
        .only(DEFERRING),
    Key::new("links.*.ofdma.mu-edca.cw-max", Kind::Integer, "largest contention window, 2^n - 1")
        .default("1023")
        .source(MU_EDCA_SET)
        .at_least("0")
        .at_most("32767")
        .only(DEFERRING),
    Key::new(
        "links.*.ofdma.mu-edca.timer",
        TIME_MS,
        "for how long after each success a station contends so, on the air in units of 8.192 ms",
    )
    .default("2088.96 ms")
    .source(MU_EDCA_SET)
    .at_least("8.192 ms")
    .at_most("2088.96 ms")
    .only(DEFERRING),
];
