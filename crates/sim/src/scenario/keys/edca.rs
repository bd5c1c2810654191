//! The keys of an 802.11n, ac, ax or be link: the form of its frames, aggregation, block acknowledgement, access categories.

use super::super::quantity::Dim;
use super::links::TIME_US;
use super::preset::{Source, Wifi};
use super::radio::{FREQUENCY, frequency};
use super::table::{LONGEST, SIZE, TIME_MS};
use super::values::{quantity, time};
use super::words::{EDCA_STANDARDS, ParameterSet};
use super::{Key, Kind, Only};
use lasthop_stack::hooks::parameter::{Words, words};
use lasthop_stack::link::dot11::{AfterLoss, Category, EdcaAccess, EdcaConfig, RateControl};

const EDCA: &[Only] = &[Only::Is("links.*.standard", EDCA_STANDARDS)];

const MODES: Source = Source::Edca(
    "fastest mode of one stream; IEEE 802.11-2020 (19.5, 21.5), 802.11ax-2021 (27.5), 802.11be-2024 (36.5)",
);
const SETS: Source = Source::Edca("IEEE 802.11-2012 (table 8-105), WMM");
const OWN_SET: Source = Source::Edca("WMM; Linux hostapd: tx_queue parameters");
const LIMITS: Source = Source::Edca(
    "IEEE 802.11-2020 (9.4.2.55, 9.4.2.157), 802.11ax-2021 (9.4.2.248), 802.11be-2024 (9.4.2.323)",
);
const LONGEST_PPDU: Source = Source::Edca("IEEE 802.11-2020 (19.4.4, 21.4.4): aPPDUMaxTime");
const BLOCK_ACK: Source = Source::Edca("IEEE 802.11-2020 (10.25), 802.11ax-2021 and 802.11be-2024 (9.3.1.8)");
const REORDER: Source = Source::Edca("Linux mac80211: HT_RX_REORDER_BUF_TIMEOUT");
const RATE_CONTROL: Source =
    Source::Edca("ns-3: ConstantRateWifiManager, IdealWifiManager; Linux: rc80211_minstrel_ht.c");
const AFTER_LOSS: Source = Source::Edca("ns-3: UseExplicitBarAfterMissedBlockAck");

const fn edca(path: &'static str, kind: Kind, meaning: &'static str) -> Key {
    Key::new(path, kind, meaning)
}

/// The keys.
pub(super) const KEYS: &[Key] = &[
    edca("links.*.mcs", Kind::Integer, "modulation and coding of each stream, from 0; of 802.11n without the stream's multiple of 8")
        .preset(|wifi| of(wifi).mode.mcs.to_string(), MODES)
        .only(EDCA)
        .at_least("0")
        .at_most("13"),
    edca("links.*.width", FREQUENCY, "width of the channel: 20, 40, 80 or 160 MHz, of 802.11be also 320 MHz")
        .preset(|wifi| frequency(f64::from(of(wifi).mode.width) * 1e6), MODES)
        .only(EDCA)
        .at_least("20 MHz")
        .at_most("320 MHz"),
    edca("links.*.guard-interval", TIME_US, "guard interval: 0.4 or 0.8 us; of 802.11ax and be 0.8, 1.6 or 3.2 us")
        .preset(|wifi| time(of(wifi).mode.guard.length()), MODES)
        .only(EDCA)
        .at_least("0.4 us")
        .at_most("3.2 us"),
    edca("links.*.streams", Kind::Integer, "spatial streams")
        .preset(|wifi| of(wifi).mode.streams.to_string(), MODES)
        .only(EDCA)
        .at_least("1")
        .at_most("4"),
    edca(
        "links.*.rate-control.kind",
        Kind::Word("rate control", words::<RateControl>),
        "how stations choose the mode of data, up to that of the link and of the two stations: always that one, the fastest that the ratio of signal to noise bears, or by what was acknowledged",
    )
    .preset(|wifi| of(wifi).rate_control.word().to_string(), RATE_CONTROL)
    .only(EDCA),
    edca(
        "links.*.multi-link",
        Kind::Link,
        "another link, whose stations send on this one too as multi-link devices: from the queues of that link, which routes lead over; each link contends for itself",
    )
    .or(&["none"])
    .default("none")
    .source("IEEE 802.11be-2024 (35.3): simultaneous transmission and reception")
    .only(&[Only::Is("links.*.standard", &["802.11be"])]),
    edca("links.*.aggregate.count", Kind::Integer, "maximum number of MPDUs in an A-MPDU; 1 means no aggregation")
        .preset(|wifi| of(wifi).aggregate.count.to_string(), LIMITS)
        .only(EDCA)
        .at_least("1")
        .at_most("1024"),
    edca("links.*.aggregate.bytes", SIZE, "maximum size of an A-MPDU")
        .preset(|wifi| quantity(Dim::Size, of(wifi).aggregate.bytes.into()), LIMITS)
        .only(EDCA)
        .above("0 B")
        .at_most("15523200 B"),
    edca("links.*.aggregate.time", TIME_US, "maximum duration of a PPDU with several MPDUs")
        .preset(|wifi| time(of(wifi).aggregate.time), LONGEST_PPDU)
        .only(EDCA)
        .above("0 s")
        .at_most("5484 us"),
    edca("links.*.block-ack.window", Kind::Integer, "block-ack window, 64 or 256 MPDUs, of 802.11be also 512 or 1024, which sets the size of a BlockAck")
        .preset(|wifi| of(wifi).window.to_string(), BLOCK_ACK)
        .only(EDCA)
        .at_least("64")
        .at_most("1024"),
    edca("links.*.block-ack.spacing", TIME_US, "minimum time between the beginnings of two MPDUs of an A-MPDU")
        .preset(|wifi| time(of(wifi).spacing), LIMITS)
        .only(EDCA)
        .at_most("16 us"),
    edca(
        "links.*.block-ack.after-loss",
        Kind::Word("choice", words::<AfterLoss>),
        "what follows an A-MPDU without BlockAck: a BlockAckReq, whose success resets the window, or the MPDUs again",
    )
    .preset(|wifi| of(wifi).after_loss.word().to_string(), AFTER_LOSS)
    .only(EDCA),
    edca("links.*.block-ack.reorder-timeout", TIME_US, "maximum time for which a receiver holds a packet for an earlier one; 0 s: packets are passed up as they come")
        .preset(|wifi| time(of(wifi).reorder_timeout), REORDER)
        .only(EDCA)
        .at_least("0 s")
        .at_most(LONGEST),
    edca(
        "links.*.edca.lifetime",
        TIME_MS,
        "maximum time of a packet in the MAC, from its arrival in the queue; after it the packet is given up when the turn of its receiver comes",
    )
    .or(&["none"])
    .default("none")
    .source("IEEE 802.11-2020 (annex C): dot11EDCATableMSDULifetime, which is 500 TU there; ns-3: WifiMacQueue::MaxDelay, 500 ms")
    .above("0 s")
    .at_most(LONGEST)
    .only(EDCA),
    edca(
        "links.*.edca.access-point",
        Kind::Word("set of parameters", words::<ParameterSet>),
        "parameters of the access point: those of the stations, or its own: best effort with cw-max 63, video and voice with aifsn 1",
    )
    .preset(|wifi| parameters(of(wifi)).word().to_string(), OWN_SET)
    .only(EDCA),
    aifsn("links.*.edca.best-effort.aifsn", |wifi| access(wifi, Category::BestEffort).aifsn.to_string()),
    window("links.*.edca.best-effort.cw-min", |wifi| access(wifi, Category::BestEffort).cw_min.to_string()),
    window("links.*.edca.best-effort.cw-max", |wifi| access(wifi, Category::BestEffort).cw_max.to_string()),
    txop("links.*.edca.best-effort.txop", |wifi| time(access(wifi, Category::BestEffort).txop)),
    aifsn("links.*.edca.background.aifsn", |wifi| access(wifi, Category::Background).aifsn.to_string()),
    window("links.*.edca.background.cw-min", |wifi| access(wifi, Category::Background).cw_min.to_string()),
    window("links.*.edca.background.cw-max", |wifi| access(wifi, Category::Background).cw_max.to_string()),
    txop("links.*.edca.background.txop", |wifi| time(access(wifi, Category::Background).txop)),
    aifsn("links.*.edca.video.aifsn", |wifi| access(wifi, Category::Video).aifsn.to_string()),
    window("links.*.edca.video.cw-min", |wifi| access(wifi, Category::Video).cw_min.to_string()),
    window("links.*.edca.video.cw-max", |wifi| access(wifi, Category::Video).cw_max.to_string()),
    txop("links.*.edca.video.txop", |wifi| time(access(wifi, Category::Video).txop)),
    aifsn("links.*.edca.voice.aifsn", |wifi| access(wifi, Category::Voice).aifsn.to_string()),
    window("links.*.edca.voice.cw-min", |wifi| access(wifi, Category::Voice).cw_min.to_string()),
    window("links.*.edca.voice.cw-max", |wifi| access(wifi, Category::Voice).cw_max.to_string()),
    txop("links.*.edca.voice.txop", |wifi| time(access(wifi, Category::Voice).txop)),
];

const fn aifsn(path: &'static str, value: fn(&Wifi) -> String) -> Key {
    edca(path, Kind::Integer, "slots between SIFS and the first slot of a backoff of this access category")
        .preset(value, SETS)
        .only(EDCA)
        .at_least("1")
        .at_most("15")
}

const fn window(path: &'static str, value: fn(&Wifi) -> String) -> Key {
    edca(
        path,
        Kind::Integer,
        "contention window of this access category, in slots: minimum (cw-min) or maximum (cw-max)",
    )
    .preset(value, SETS)
    .only(EDCA)
    .at_least("1")
    .at_most("32767")
}

const fn txop(path: &'static str, value: fn(&Wifi) -> String) -> Key {
    edca(
        path,
        TIME_US,
        "how long a station may send in this access category once it has access; 0 s means one exchange",
    )
    .preset(value, SETS)
    .only(EDCA)
    .at_most("8160 us")
}

/// The constants of the standard; without EDCA nobody reads them.
fn of(wifi: &Wifi) -> EdcaConfig {
    wifi.mac.edca.unwrap_or(EdcaConfig::of(lasthop_stack::link::dot11::Family::He))
}

fn access(wifi: &Wifi, category: Category) -> EdcaAccess {
    of(wifi).access[category as usize]
}

fn parameters(edca: EdcaConfig) -> ParameterSet {
    if edca.own_set { ParameterSet::Own } else { ParameterSet::Same }
}
