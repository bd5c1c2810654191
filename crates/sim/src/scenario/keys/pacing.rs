//! The keys of the spacing of segments.

use super::table::{IF_TCP, TIME_MS};
use super::{Key, Kind};
use lasthop_stack::hooks::parameter::words;
use lasthop_stack::transport::tcp::Pacing;

/// The keys of pacing, under `[flows.NAME.tcp]`.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "flows.*.tcp.pacing",
        Kind::Word("choice", words::<Pacing>),
        "whether segments are spaced: by laws that set a pace themselves (auto), by all laws, or by none",
    )
    .follows("flows.*.tcp.congestion", "prague", "on", "auto")
    .source("Linux without the queueing discipline fq: of its laws, BBR alone paces; L4S4: TCP Prague does, too")
    .only(IF_TCP),
    Key::new(
        "flows.*.tcp.pacing-slow-start",
        Kind::Number,
        "pace in windows per smoothed round trip below half of ssthresh, of a law that sets none itself",
    )
    .default("2")
    .source("Linux: tcp_pacing_ss_ratio")
    .above("0")
    .at_most("100")
    .only(IF_TCP),
    Key::new(
        "flows.*.tcp.pacing-avoidance",
        Kind::Number,
        "pace in windows per smoothed round trip from there on, of a law that sets none itself",
    )
    .default("1.2")
    .source("Linux: tcp_pacing_ca_ratio")
    .above("0")
    .at_most("100")
    .only(IF_TCP),
    Key::new(
        "flows.*.tcp.unpaced-start",
        Kind::Integer,
        "number of segments at the start of a connection that leave without pacing",
    )
    .profile(|tcp| tcp.unpaced_start.to_string(), "none is described", "Linux: tcp_update_skb_after_send")
    .rfc("none is described")
    .at_least("0")
    .at_most("1000000")
    .only(IF_TCP),
    Key::new(
        "flows.*.tcp.small-queue",
        TIME_MS,
        "maximum time of the pace that may wait of a connection in the first link of its host, at least two packets; none sets no bound",
    )
    .or(&["none"])
    .default("none")
    .source("Linux: TCP small queues; sk_pacing_shift is 10 (1 ms), 7 or 8 for Wi-Fi (8 or 4 ms)")
    .above("0 s")
    .at_most("10 s")
    .only(IF_TCP),
];
