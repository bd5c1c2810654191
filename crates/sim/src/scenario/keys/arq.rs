//! The keys of the buffers in bytes of an 802.11 link, of the lifetime of its packets, and the kind of its ARQ.

use super::kinds::WIFI;
use super::shared::{LONGEST, TIME_MS};
use super::{Key, Kind, Only};
use lasthop_stack::hooks::parameter::words;
use lasthop_stack::link::dot11::{BufferScope, BufferUnit};
use lasthop_stack::registry::ArqKind;

const DCF: &[Only] = &[Only::Is("links.*.coordination", &["dcf"]), WIFI];
/// The keys.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "links.*.buffer.shared-by",
        Kind::Word("choice", words::<BufferScope>),
        "whether a station has one queue in bytes, or one per receiver",
    )
    .default("all")
    .only(&[WIFI]),
    Key::new(
        "links.*.buffer.counts",
        Kind::Word("choice", words::<BufferUnit>),
        "whether a queue in bytes counts IP packets, or frames with their headers",
    )
    .default("packets")
    .only(&[WIFI]),
    Key::new(
        "links.*.lifetime",
        TIME_MS,
        "maximum time from the first transmission of a packet to its last; after it the packet is given up when its turn comes",
    )
    .or(&["none"])
    .default("none")
    .source("IEEE 802.11-2012 (annex C): dot11MaxTransmitMSDULifetime, which is 512 TU there")
    .above("0 s")
    .at_most(LONGEST)
    .only(DCF),
    Key::new(
        "links.*.arq.kind",
        Kind::Word("ARQ", || ArqKind::ALL.iter().map(|kind| kind.entry().name).collect()),
        "retransmission scheme of the access point; unset means fixed without ARQ metrics",
    )
    .absent()
    .only(&[WIFI]),
];
