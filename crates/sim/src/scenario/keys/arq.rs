//! The keys of the ARQ of an 802.11 link: `links.NAME.arq.*`, and of its buffers in bytes.

use super::table::TIME_MS;
use super::{Key, Kind, Only};
use lasthop_stack::registry::ArqKind;

const WIFI: &[Only] = &[Only::Is("links.*.kind", &["wifi"])];
const DYNAMIC: &[Only] = &[Only::Is("links.*.arq.kind", &["dynamic"])];

const ESTIMATE: &[Only] = &[Only::Is("links.*.arq.timing", &["estimate"])];

const SLIDES: &str = "Mahmoodi et al. (Algorithm 1)";

/// The keys.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "links.*.arq.kind",
        Kind::Word("ARQ", || ArqKind::ALL.iter().map(|kind| kind.entry().name).collect()),
        "how the access point repeats what was not acknowledged; not set it is fixed, and its metrics are left out",
    )
    .absent()
    .only(WIFI),
    Key::new(
        "links.*.arq.timing",
        Kind::Word("source", || vec!["oracle", "estimate"]),
        "where the timing of TCP senders comes from: the simulator, or what the access point sees pass",
    )
    .default("oracle")
    .source("lasthop: dynamic-arq choice 5")
    .only(DYNAMIC),
    Key::new(
        "links.*.arq.assumed-min-rto",
        TIME_MS,
        "least retransmission timeout that the access point takes the senders to have",
    )
    .default("200 ms")
    .source("Linux: TCP_RTO_MIN")
    .at_most("60 s")
    .only(ESTIMATE),
    Key::new(
        "links.*.arq.order",
        Kind::Word("order", || vec!["together", "new-first", "retransmissions-first"]),
        "whether first transmissions stand in Q1, go before what is not urgent, or after all retransmissions",
    )
    .default("together")
    .source("lasthop: dynamic-arq choice 3")
    .only(DYNAMIC),
    Key::new(
        "links.*.arq.time",
        Kind::Word("reading", || vec!["left", "rto"]),
        "what RTO is in a weight: the time left until the timer fires, or the timeout",
    )
    .default("left")
    .source("lasthop: dynamic-arq choice 1")
    .only(DYNAMIC),
    Key::new(
        "links.*.arq.urgent",
        Kind::Word("choice", || vec!["heads", "all"]),
        "which units are looked at for a timer that is about to fire: the first of each queue, or all",
    )
    .default("heads")
    .source(SLIDES)
    .only(DYNAMIC),
    Key::new(
        "links.*.arq.hopeless",
        Kind::Word("choice", || vec!["send", "demote", "drop"]),
        "what becomes of a head with less than half a round trip left: sent, sent last, or given up",
    )
    .default("send")
    .source(SLIDES)
    .only(DYNAMIC),
    Key::new(
        "links.*.arq.restart",
        Kind::Bool,
        "a packet's deadline is its flow's timer, which restarts; or else its own, a timeout after it was sent",
    )
    .default("true")
    .source("RFC 6298 (5)")
    .only(DYNAMIC),
    Key::new(
        "links.*.buffer.shared-by",
        Kind::Word("choice", || vec!["all", "receiver"]),
        "whether a queue in bytes is one for a station, or one for each receiver",
    )
    .default("all")
    .only(WIFI),
    Key::new(
        "links.*.buffer.counts",
        Kind::Word("choice", || vec!["packets", "frames"]),
        "whether a queue in bytes counts IP packets, or the frames they are sent in with their headers",
    )
    .default("packets")
    .only(WIFI),
];
