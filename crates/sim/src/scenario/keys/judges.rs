//! The key of the observing laws; a law provides its own keys.

use super::{Key, Kind, Only};
use lasthop_stack::registry::CongestionKind;

/// The key.
pub(super) const KEYS: &[Key] = &[Key::new(
    "flows.*.tcp.judges",
    Kind::Words("congestion law", || CongestionKind::JUDGES.iter().map(|kind| kind.entry().name).collect()),
    "laws that classify each loss of this flow without affecting its window",
)
.or(&["none"])
.default("none")
.only(&[Only::Tcp])];
