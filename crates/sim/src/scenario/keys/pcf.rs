//! The keys of the point coordination function of an 802.11 link: `links.NAME.pcf.*`.

use super::super::quantity::Dim;
use super::kinds::WIFI;
use super::table::{SIZE, TIME_MS};
use super::values::{quantity, time};
use super::words::Coordination;
use super::{Key, Kind, Only};
use lasthop_stack::hooks::parameter::words;
use lasthop_stack::link::dot11::PcfConfig;

const PCF: &[Only] = &[Only::Is("links.*.coordination", &["pcf"])];

impl Key {
    /// A default of the point coordinator itself.
    const fn pcf(self, value: fn(&PcfConfig) -> String) -> Key {
        Key { default: super::Default::Pcf(value), ..self }.only(PCF)
    }
}

/// The keys of coordination.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "links.*.coordination",
        Kind::Word("coordination function", words::<Coordination>),
        "whether stations only contend, or the access point also polls them in contention-free periods",
    )
    .default("dcf")
    .source("IEEE 802.11-2012 (9.2)")
    .only(&[WIFI]),
    Key::new("links.*.pcf.interval", TIME_MS, "interval between contention-free periods")
        .pcf(|pcf| time(pcf.interval))
        .source("hostapd: beacon_int, 100 TU")
        .above("0 s")
        .at_most("60 s"),
    Key::new(
        "links.*.pcf.max-duration",
        TIME_MS,
        "maximum contention-free period, counted from its scheduled start",
    )
    .pcf(|pcf| time(pcf.duration))
    .source("half of the interval")
    .above("0 s")
    .at_most("60 s"),
    Key::new(
        "links.*.pcf.largest-packet",
        SIZE,
        "largest IP packet with which a polled station may answer; the schedule reserves time for one",
    )
    .pcf(|pcf| size(pcf.largest_packet))
    .source("RFC 894: the MTU of Ethernet")
    .at_least("1 B")
    .at_most("65535 B"),
    Key::new("links.*.pcf.beacon", SIZE, "size of a beacon including header and check sequence")
        .pcf(|pcf| size(pcf.beacon))
        .source("IEEE 802.11-2012 (8.3.3.2): SSID of 7 B, rates, channel, CF parameters, TIM")
        .at_least("1 B")
        .at_most("2346 B"),
    Key::new("links.*.pcf.cf-end", SIZE, "size of a CF-End including its check sequence")
        .pcf(|pcf| size(pcf.end))
        .source("IEEE 802.11-2012 (8.3.1.6)")
        .at_least("1 B")
        .at_most("100 B"),
];

fn size(bytes: u32) -> String {
    quantity(Dim::Size, bytes.into())
}
