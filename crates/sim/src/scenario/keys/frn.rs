//! The keys of a slotted network: `links.NAME.frn.*`, with those of its parameters ([`super::described`]).

use super::shared::before;
use super::{Key, Kind, Only, described};
use lasthop_stack::registry::IntervalKind;

const INTERVAL: Key = Key::new(
    "links.*.frn.interval",
    Kind::Word("retransmission interval", || {
        IntervalKind::ALL.iter().map(|kind| kind.entry().name).collect()
    }),
    "rule for the time before a retransmission",
)
.default("fixed")
.source("Yamamoto et al. (2)")
.only(&[described::FRN]);

const WINDOWS: Key = Key::new(
    "links.*.frn.windows",
    Kind::Integers,
    "upper bound of the window of each station in order, in slots; none means frn.window for all",
)
.or(&["none"])
.default("none")
.only(&[Only::Is("links.*.frn.interval", &["fixed"])]);

/// The keys.
pub(super) fn keys() -> Vec<Key> {
    let mut keys = described::frn();
    before("links.*.frn.service", INTERVAL, &mut keys);
    before("links.*.frn.window", WINDOWS, &mut keys);
    keys
}
