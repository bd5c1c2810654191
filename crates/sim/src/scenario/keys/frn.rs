//! The keys of a slotted network: `links.NAME.frn.*`.

use super::shared::{SHARE, TIME_MS};
use super::words::{DiscardRule, RoutingRule};
use super::{Key, Kind, Only};
use crate::medium::slots::Interference;
use crate::model::{ErrorAt, Sense};
use crate::scenario::quantity::Dim;
use lasthop_stack::hooks::parameter::words;
use lasthop_stack::link::slotted::{Alternatives, CountScope, Service, WaitFrom};
use lasthop_stack::registry::IntervalKind;

const LENGTH: Kind = Kind::Quantity(&[Dim::Length], "m");
const RATIO: Kind = Kind::Quantity(&[Dim::Gain], "dB");

const FRN: &[Only] = &[Only::Is("links.*.kind", &["frn"])];
const BY_COUNT: &[Only] = &[Only::Is("links.*.frn.discard", &["count"])];
const BY_LIFETIME: &[Only] = &[Only::Is("links.*.frn.discard", &["lifetime"])];
const FIXED: &[Only] = &[Only::Is("links.*.frn.interval", &["fixed"])];
const BY_LOAD: &[Only] = &[Only::Is("links.*.frn.routing", &["load"])];
const GROWING: &[Only] = &[Only::Is("links.*.frn.interval", &["backoff", "blind", "load-adaptive"])];

/// More slots than any wait or lifetime.
const MOST_SLOTS: &str = "1000000000";

/// The keys.
pub(super) const KEYS: &[Key] = &[
    Key::new("links.*.frn.slot-length", TIME_MS, "length of a slot; a slot carries one packet of any length")
        .default("10 ms")
        .source("lasthop: no published value; a retransmission timeout of 1 s is 100 slots")
        .at_least("1 us")
        .at_most("1000 s")
        .only(FRN),
    Key::new(
        "links.*.frn.sense",
        Kind::Word("choice", words::<Sense>),
        "which transmissions carrier sense detects at the start of a slot: those of forwarding or acknowledging nodes, those with an earlier random instant, or none",
    )
    .default("committed")
    .source("lasthop: load-adaptive choice 2")
    .only(FRN),
    Key::new("links.*.frn.range", LENGTH, "reception range")
        .default("250 m")
        .source("Yamamoto et al. (4.1)")
        .above("0 m")
        .at_most("1000 km")
        .only(FRN),
    Key::new("links.*.frn.carrier-sense-range", LENGTH, "carrier-sense range")
        .default("550 m")
        .source("ns-2: CSThresh_")
        .at_most("1000 km")
        .only(FRN),
    Key::new("links.*.frn.interference-range", LENGTH, "interference range")
        .default("550 m")
        .source("ns-2: CSThresh_")
        .at_most("1000 km")
        .only(FRN),
    Key::new(
        "links.*.frn.interference",
        Kind::Word("choice", words::<Interference>),
        "whether interfering frames are compared with the wanted frame one by one, or by the sum of their powers",
    )
    .default("pairwise")
    .source("ns-2: WirelessPhy")
    .only(FRN),
    Key::new("links.*.frn.capture", RATIO, "minimum power ratio at which the stronger of two frames is received")
        .or(&["none"])
        .default("10 dB")
        .source("ns-2: CPThresh_")
        .above("0 dB")
        .at_most("100 dB")
        .only(FRN),
    Key::new(
        "links.*.frn.error-rate",
        SHARE,
        "random loss probability of a frame, independently at each listener",
    )
    .default("0 %")
    .at_most("100 %")
    .only(FRN),
    Key::new(
        "links.*.frn.error-at",
        Kind::Word("choice", words::<ErrorAt>),
        "where random losses occur: at every listener, so relay echoes are also lost, or only at the addressee",
    )
    .default("listeners")
    .source("lasthop: load-adaptive choice 12")
    .only(FRN),
    Key::new(
        "links.*.frn.discard",
        Kind::Word("rule", words::<DiscardRule>),
        "whether packets are discarded by retransmission count or by age",
    )
    .default("count")
    .source("Yamamoto et al. (3.2)")
    .only(FRN),
    Key::new("links.*.frn.max-retransmissions", Kind::Integer, "maximum number of retransmissions of a packet")
        .default("4")
        .source("Yamamoto et al. (4.2)")
        .at_most(MOST_SLOTS)
        .only(BY_COUNT),
    Key::new(
        "links.*.frn.count-over",
        Kind::Word("scope", words::<CountScope>),
        "whether retransmissions are counted per hop or over the whole path",
    )
    .default("path")
    .source("Yamamoto et al. (3.2)")
    .only(BY_COUNT),
    Key::new("links.*.frn.max-lifetime", Kind::Integer, "maximum lifetime of a packet, in slots")
        .default("100")
        .source("lasthop: no published value")
        .at_least("1")
        .at_most(MOST_SLOTS)
        .only(BY_LIFETIME),
    Key::new(
        "links.*.frn.remembered",
        Kind::Integer,
        "number of packets that each node remembers to discard duplicates; 0 disables duplicate suppression",
    )
    .or(&["unlimited"])
    .default("0")
    .source("Yamamoto et al. (3.1)")
    .at_most("10000")
    .only(FRN),
    Key::new(
        "links.*.frn.alternatives",
        Kind::Word("choice", words::<Alternatives>),
        "the farthest neighbours to which a packet is sent if there is only one forward neighbour",
    )
    .default("sideward")
    .source("lasthop: load-adaptive choice 5")
    .only(FRN),
    Key::new(
        "links.*.frn.routing",
        Kind::Word("choice", words::<RoutingRule>),
        "which of several forward neighbours gets a packet: the first of the table, each in turn, or the one heard least of late",
    )
    .default("table")
    .source("Yamamoto et al. (5), as future work; lasthop: load-adaptive choice 14")
    .only(FRN),
    Key::new(
        "links.*.frn.heard",
        Kind::Integer,
        "number of frames heard last by which a node judges the load of its neighbours",
    )
    .default("32")
    .source("lasthop: load-adaptive choice 14")
    .at_least("1")
    .at_most("10000")
    .only(BY_LOAD),
    Key::new(
        "links.*.frn.interval",
        Kind::Word("retransmission interval", || {
            IntervalKind::ALL.iter().map(|kind| kind.entry().name).collect()
        }),
        "rule for the time before a retransmission",
    )
    .default("fixed")
    .source("Yamamoto et al. (2)")
    .only(FRN),
    Key::new(
        "links.*.frn.service",
        Kind::Word("choice", words::<Service>),
        "whether a packet that waits for its echo blocks no other packet, or all transmissions and retransmissions",
    )
    .default("parallel")
    .source("lasthop: load-adaptive choice 6")
    .only(FRN),
    Key::new(
        "links.*.frn.wait-from",
        Kind::Word("choice", words::<WaitFrom>),
        "whether the wait starts at the transmission, which has failed when the wait ends, or when the echo is missing",
    )
    .default("echo")
    .source("Yamamoto et al. (2)")
    .only(FRN),
    Key::new("links.*.frn.least-wait", Kind::Integer, "lower bound of every window, in slots")
        .default("3")
        .source("Yamamoto et al. (2)")
        .at_least("2")
        .at_most("1000000")
        .only(FRN),
    Key::new(
        "links.*.frn.windows",
        Kind::Integers,
        "upper bound of the window of each station in order, in slots; none means frn.window for all",
    )
    .or(&["none"])
    .default("none")
    .only(FIXED),
    Key::new("links.*.frn.window", Kind::Integer, "upper bound of the window without failures, in slots")
        .default("5")
        .source("Yamamoto et al. (2)")
        .at_least("2")
        .at_most("1000000")
        .only(FRN),
    Key::new(
        "links.*.frn.max-window",
        Kind::Integer,
        "upper bound of the widest window, in slots; a value up to frn.window makes the window fixed",
    )
    .default("17")
    .source("Yamamoto et al. (4.3)")
    .at_least("2")
    .at_most("1000000")
    .only(GROWING),
];
