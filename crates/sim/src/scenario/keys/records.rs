//! The keys of a link with recorded delivery opportunities.

use super::table::SIZE;
use super::{Key, Kind, Only};

const TRACE: &[Only] = &[Only::Is("links.*.kind", &["trace"])];

/// The keys.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "links.*.trace.file",
        Kind::Text,
        "file with the delivery opportunities from the first node to the second, one time in milliseconds a line; relative to the folder of the scenario, in it or below it; after its last line it begins again",
    )
    .only(TRACE),
    Key::new("links.*.reverse.trace.file", Kind::Text, "the same from the second node to the first")
        .like("links.*.trace.file")
        .only(TRACE),
    Key::new("links.*.trace.opportunity", SIZE, "bytes that may go at each time, headers of the link included")
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
