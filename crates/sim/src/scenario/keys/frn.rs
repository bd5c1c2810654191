//! The keys of a slotted network: `links.NAME.frn.*`.

use super::table::{SHARE, TIME_MS};
use super::{Key, Kind, Only};
use crate::scenario::quantity::Dim;
use lasthop_stack::registry::IntervalKind;

const LENGTH: Kind = Kind::Quantity(&[Dim::Length], "m");
const RATIO: Kind = Kind::Quantity(&[Dim::Gain], "dB");

const FRN: &[Only] = &[Only::Is("links.*.kind", &["frn"])];
const BY_COUNT: &[Only] = &[Only::Is("links.*.frn.discard", &["count"])];
const BY_LIFETIME: &[Only] = &[Only::Is("links.*.frn.discard", &["lifetime"])];
const GROWING: &[Only] = &[Only::Is("links.*.frn.interval", &["backoff", "load-adaptive"])];

/// More slots than any wait or lifetime.
const MOST_SLOTS: &str = "1000000000";

/// The keys.
pub(super) const KEYS: &[Key] = &[
    Key::new("links.*.frn.slot-length", TIME_MS, "length of a slot, which holds one packet of any length")
        .default("10 ms")
        .source("lasthop: no source gives it; a retransmission timeout of 1 s is 100 slots")
        .at_least("1 us")
        .at_most("1000 s")
        .only(FRN),
    Key::new(
        "links.*.frn.sense",
        Kind::Word("choice", || vec!["committed", "random", "nothing"]),
        "what carrier sense hears at the start of a slot: who forwards or acknowledges, who has drawn an earlier \
         instant, or nobody",
    )
    .default("committed")
    .source("lasthop: load-adaptive choice 2")
    .only(FRN),
    Key::new("links.*.frn.range", LENGTH, "how far a frame is received")
        .default("250 m")
        .source("Yamamoto et al. (4.1)")
        .above("0 m")
        .at_most("1000 km")
        .only(FRN),
    Key::new("links.*.frn.carrier-sense-range", LENGTH, "how far carrier sense hears")
        .default("550 m")
        .source("ns-2: CSThresh_")
        .at_most("1000 km")
        .only(FRN),
    Key::new("links.*.frn.interference-range", LENGTH, "how far a frame can spoil another")
        .default("550 m")
        .source("ns-2: CSThresh_")
        .at_most("1000 km")
        .only(FRN),
    Key::new(
        "links.*.frn.interference",
        Kind::Word("choice", || vec!["pairwise", "summed"]),
        "whether other frames are held against the wanted one each by itself, or their powers summed",
    )
    .default("pairwise")
    .source("ns-2: WirelessPhy")
    .only(FRN),
    Key::new("links.*.frn.capture", RATIO, "power ratio from which the stronger of two frames is received")
        .or(&["none"])
        .default("10 dB")
        .source("ns-2: CPThresh_")
        .above("0 dB")
        .at_most("100 dB")
        .only(FRN),
    Key::new(
        "links.*.frn.error-rate",
        SHARE,
        "probability that chance loses a frame, at each listener by itself",
    )
    .default("0 %")
    .at_most("100 %")
    .only(FRN),
    Key::new(
        "links.*.frn.error-at",
        Kind::Word("choice", || vec!["listeners", "addressee"]),
        "who loses frames by chance: whoever hears them, so that relay echoes are lost too, or the node they are for",
    )
    .default("listeners")
    .source("lasthop: load-adaptive choice 12")
    .only(FRN),
    Key::new(
        "links.*.frn.discard",
        Kind::Word("rule", || vec!["count", "lifetime"]),
        "whether packets are discarded by their count of retransmissions or by their age",
    )
    .default("count")
    .source("Yamamoto et al. (3.2)")
    .only(FRN),
    Key::new("links.*.frn.max-retransmissions", Kind::Integer, "maximum count of retransmission of a packet")
        .default("4")
        .source("Yamamoto et al. (4.2)")
        .at_most(MOST_SLOTS)
        .only(BY_COUNT),
    Key::new(
        "links.*.frn.count-over",
        Kind::Word("scope", || vec!["path", "hop"]),
        "over what they are counted",
    )
    .default("path")
    .source("Yamamoto et al. (3.2)")
    .only(BY_COUNT),
    Key::new("links.*.frn.max-lifetime", Kind::Integer, "maximum lifetime of a packet, in slots")
        .default("100")
        .source("lasthop: no source gives it")
        .at_least("1")
        .at_most(MOST_SLOTS)
        .only(BY_LIFETIME),
    Key::new(
        "links.*.frn.remembered",
        Kind::Integer,
        "packets that each node remembers, to discard one that comes again; 0 suppresses no duplicate",
    )
    .default("0")
    .source("Yamamoto et al. (3.1)")
    .at_most("10000")
    .only(FRN),
    Key::new(
        "links.*.frn.alternatives",
        Kind::Word("choice", || vec!["forward", "sideward", "backward"]),
        "the farthest neighbours that a packet is sent to when there is one forward neighbour only",
    )
    .default("sideward")
    .source("lasthop: load-adaptive choice 5")
    .only(FRN),
    Key::new(
        "links.*.frn.interval",
        Kind::Word("retransmission interval", || {
            IntervalKind::ALL.iter().map(|kind| kind.entry().name).collect()
        }),
        "how long a node waits before it sends a packet again",
    )
    .default("fixed")
    .source("Yamamoto et al. (2)")
    .only(FRN),
    Key::new(
        "links.*.frn.service",
        Kind::Word("choice", || vec!["parallel", "serial"]),
        "whether a packet that waits for its echo holds up none behind it, or all that are to be sent or sent again",
    )
    .default("parallel")
    .source("lasthop: load-adaptive choice 6")
    .only(FRN),
    Key::new(
        "links.*.frn.wait-from",
        Kind::Word("choice", || vec!["transmission", "echo"]),
        "whether the wait begins with a transmission, which has failed at its end, or when the echo has not come",
    )
    .default("transmission")
    .source("lasthop: load-adaptive choice 13")
    .only(FRN),
    Key::new("links.*.frn.least-wait", Kind::Integer, "lower end of every window, in slots")
        .default("3")
        .source("Yamamoto et al. (2)")
        .at_least("2")
        .at_most("1000000")
        .only(FRN),
    Key::new("links.*.frn.window", Kind::Integer, "upper end of the window without failures, in slots")
        .default("5")
        .source("Yamamoto et al. (2)")
        .at_least("2")
        .at_most("1000000")
        .only(FRN),
    Key::new(
        "links.*.frn.max-window",
        Kind::Integer,
        "upper end of the widest window, in slots; one no wider than frn.window leaves that fixed",
    )
    .default("17")
    .source("Yamamoto et al. (4.3)")
    .at_least("2")
    .at_most("1000000")
    .only(GROWING),
];
