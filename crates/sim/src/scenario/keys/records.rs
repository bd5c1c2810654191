//! The keys of a link whose capacity over time is recorded.

use super::shared::{SIZE, TIME_MS, both_ways};
use super::words::{Between, CapacityFormat};
use super::{Key, Kind, Only};
use lasthop_stack::hooks::parameter::words;

const TRACE: &[Only] = &[Only::Is("links.*.kind", &["trace"])];

const DELAYED: &[Only] = &[Only::Given("links.*.trace.delay.file")];

const LOADED: &[Only] = &[Only::Is("links.*.trace.format", &["opportunities"])];
const LIGHT: &[Only] = &[Only::Given("links.*.trace.light.file")];

const BETWEEN: Kind = Kind::Word("between", words::<Between>);
const FORMAT: Kind = Kind::Word("format", words::<CapacityFormat>);

/// The keys.
pub(super) fn keys() -> Vec<Key> {
    OF_DIRECTIONS.iter().flat_map(both_ways).chain(OF_LINK).collect()
}

const OF_DIRECTIONS: &[Key] = &[
    Key::new(
        "links.*.trace.file",
        Kind::Text,
        "file with the capacity from the first node to the second over time; relative to the folder of the scenario, in it or below it; after its last line it begins again",
    )
    .only(TRACE),
    Key::new(
        "links.*.trace.format",
        FORMAT,
        "what a line of the file is: the time of a delivery opportunity in milliseconds (Mahimahi), or a time in seconds and the rate in Mbit/s up to it (Pensieve, PiTree)",
    )
    .default("opportunities")
    .only(TRACE),
    Key::new(
        "links.*.trace.once",
        Kind::Bool,
        "whether nothing goes any more after the last line of the file, instead of from its beginning again",
    )
    .default("false")
    .source("Mahimahi: mm-link without --once")
    .only(TRACE),
    Key::new(
        "links.*.trace.delay.file",
        Kind::Text,
        "file with the delay from the first node to the second over time, in milliseconds, a line for each step; it is added to links.*.delay, and after its last line it begins again",
    )
    .absent()
    .only(TRACE),
    Key::new("links.*.trace.delay.step", TIME_MS, "time from a line of this file to the next")
        .default("10 ms")
        .source("LeoReplayer: traces/README.md")
        .at_least("1 us")
        .at_most("1000000 s")
        .only(DELAYED),
    Key::new(
        "links.*.trace.delay.between",
        BETWEEN,
        "delay between two lines: that of the line before (LeoReplayer), or on a straight line to the next (CellReplay)",
    )
    .default("steps")
    .source("LeoReplayer: delay_queue.cc")
    .only(DELAYED),
    Key::new(
        "links.*.trace.delay.keeps-order",
        Kind::Bool,
        "whether a packet waits for those that left before it where the delay falls; false lets it overtake them",
    )
    .default("false")
    .source("LeoReplayer: delay_queue.cc")
    .only(DELAYED),
    Key::new(
        "links.*.trace.light.file",
        Kind::Text,
        "file with trains of packets on the idle link, in milliseconds: on each line a time, the delay of the first packet, and the opportunities after it, of which the first is its own; trace.file is then that of the loaded link",
    )
    .absent()
    .only(LOADED),
    Key::new("links.*.trace.light.pause", TIME_MS, "time without a release after which the next packet begins a train")
        .default("0 s")
        .source("CellReplay: cellularshell.cc")
        .at_most("1000000 s")
        .only(LIGHT),
];

const OF_LINK: [Key; 2] = [
    Key::new(
        "links.*.trace.opportunity",
        SIZE,
        "bytes that may go at each opportunity, headers of the link included; rates have none",
    )
    .default("1504 B")
    .source("Mahimahi: PACKET_SIZE of link_queue.hh")
    .at_least("64 B")
    .at_most("65536 B")
    .only(TRACE),
    Key::new("links.*.trace.header", SIZE, "bytes that each packet takes of an opportunity besides its own")
        .default("4 B")
        .source("Mahimahi: packets begin with the header of a TUN device")
        .at_most("1024 B")
        .only(TRACE),
];
