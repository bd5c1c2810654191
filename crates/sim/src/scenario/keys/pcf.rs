//! The keys of the point coordination function of an 802.11 link: `links.NAME.pcf.*`.

use super::super::quantity::Dim;
use super::table::{SIZE, TIME_MS, quantity, time};
use super::{Key, Kind, Only};
use lasthop_stack::link::dot11::PcfConfig;

const WIFI: &[Only] = &[Only::Is("links.*.kind", &["wifi"])];
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
        Kind::Word("coordination function", || vec!["dcf", "pcf"]),
        "whether stations contend all the time, or the access point also polls them in contention-free periods",
    )
    .default("dcf")
    .source("IEEE 802.11-2012 (9.2)")
    .only(WIFI),
    Key::new("links.*.pcf.interval", TIME_MS, "from one contention-free period to the next")
        .pcf(|pcf| time(pcf.interval))
        .source("hostapd: beacon_int, 100 TU")
        .above("0 s")
        .at_most("60 s"),
    Key::new("links.*.pcf.max-duration", TIME_MS, "longest contention-free period, from when it is due")
        .pcf(|pcf| time(pcf.duration))
        .source("half of the interval")
        .above("0 s")
        .at_most("60 s"),
    Key::new(
        "links.*.pcf.largest-packet",
        SIZE,
        "largest IP packet that a polled station may answer with; time is held free for one",
    )
    .pcf(|pcf| size(pcf.largest_packet))
    .source("RFC 894: the MTU of Ethernet")
    .at_least("1 B")
    .at_most("65535 B"),
    Key::new("links.*.pcf.beacon", SIZE, "a beacon, header and check sequence included")
        .pcf(|pcf| size(pcf.beacon))
        .source("IEEE 802.11-2012 (8.3.3.2): SSID of 7 B, rates, channel, CF parameters, TIM")
        .at_least("1 B")
        .at_most("2346 B"),
    Key::new("links.*.pcf.cf-end", SIZE, "a CF-End, check sequence included")
        .pcf(|pcf| size(pcf.end))
        .source("IEEE 802.11-2012 (8.3.1.6)")
        .at_least("1 B")
        .at_most("100 B"),
];

fn size(bytes: u32) -> String {
    quantity(Dim::Size, bytes.into())
}
