//! The keys of the buffers in bytes of an 802.11 link, and the kind of its ARQ.

use super::{Key, Kind, Only};
use lasthop_stack::registry::ArqKind;

const WIFI: &[Only] = &[Only::Is("links.*.kind", &["wifi"])];
/// The keys.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "links.*.buffer.shared-by",
        Kind::Word("choice", || vec!["all", "receiver"]),
        "whether a station has one queue in bytes, or one per receiver",
    )
    .default("all")
    .only(WIFI),
    Key::new(
        "links.*.buffer.counts",
        Kind::Word("choice", || vec!["packets", "frames"]),
        "whether a queue in bytes counts IP packets, or frames with their headers",
    )
    .default("packets")
    .only(WIFI),
    Key::new(
        "links.*.arq.kind",
        Kind::Word("ARQ", || ArqKind::ALL.iter().map(|kind| kind.entry().name).collect()),
        "retransmission scheme of the access point; unset means fixed without ARQ metrics",
    )
    .absent()
    .only(WIFI),
];
