//! The key of the coordination function of an 802.11 link.

use super::kinds::WIFI;
use super::words::Coordination;
use super::{Key, Kind};
use lasthop_stack::hooks::parameter::words;

/// The keys of coordination.
pub(super) const KEYS: &[Key] = &[Key::new(
    "links.*.coordination",
    Kind::Word("coordination function", words::<Coordination>),
    "whether stations only contend, or the access point also polls them in contention-free periods",
)
.default("dcf")
.source("IEEE 802.11-2012 (9.2)")
.only(&[WIFI])];
