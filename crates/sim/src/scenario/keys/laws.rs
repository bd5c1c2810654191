//! The keys of congestion laws: `flows.NAME.tcp.LAW.*`, legal where that law runs.

use super::{Key, Kind, Only};
use lasthop_stack::transport::congestion::Laws;

const VENO: &[Only] = &[Only::Is("flows.*.tcp.congestion", &["veno"])];

impl Key {
    /// A default of the law itself.
    const fn law(self, value: fn(&Laws) -> String) -> Key {
        Key { default: super::Default::Law(value), ..self }
    }
}

/// The keys of the laws.
pub(super) const KEYS: &[Key] = &[Key::new(
    "flows.*.tcp.veno.beta",
    Kind::Number,
    "segments in the queue from which on a loss counts as congestion",
)
.law(|laws| laws.veno.beta.to_string())
.source("Fu and Liew 2003")
.at_least("0")
.at_most("1000000")
.only(VENO)];
