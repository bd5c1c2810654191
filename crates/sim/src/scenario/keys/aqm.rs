//! The key of the management of queues; the others come from each law.

use super::kinds::QUEUED;
use super::{Key, Kind};
use lasthop_stack::registry::AqmKind;

/// The key.
pub(super) const LAW: Key = Key::new(
    "links.*.aqm.law",
    Kind::Word("AQM", laws),
    "management of each queue of the link; unset and none mean a queue that drops when it is full and does nothing else",
)
.absent()
.only(&[QUEUED]);

fn laws() -> Vec<&'static str> {
    std::iter::once("none").chain(AqmKind::ALL.iter().map(|kind| kind.entry().name)).collect()
}
