//! The kinds of values, the limits and the conditions that keys of several files share.

use super::super::quantity::Dim;
use super::{Key, Kind, Only};

pub(super) use lasthop_stack::hooks::parameter::LONGEST;

pub(super) const TIME_S: Kind = Kind::Quantity(&[Dim::Time], "s");
pub(super) const TIME_US: Kind = Kind::Quantity(&[Dim::Time], "us");
pub(super) const TIME_MS: Kind = Kind::Quantity(&[Dim::Time], "ms");
pub(super) const RATE: Kind = Kind::Quantity(&[Dim::Rate], "Mbit/s");
pub(super) const SIZE: Kind = Kind::Quantity(&[Dim::Size], "B");
pub(super) const FREQUENCY: Kind = Kind::Quantity(&[Dim::Frequency], "MHz");
pub(super) const SHARE: Kind = Kind::Quantity(&[Dim::Share], "%");

/// The greatest number that is read exactly.
pub(super) const MOST_COUNT: &str = "999999999999999999";
pub(super) const FASTEST: &str = "1000 Gbit/s";

/// Flows over TCP.
pub(super) const IF_TCP: &[Only] = &[Only::Tcp];

/// Puts a key before the one of this path.
pub(super) fn before(path: &str, key: Key, keys: &mut Vec<Key>) {
    let place = keys.iter().position(|other| other.path == path);
    keys.insert(place.unwrap_or(keys.len()), key);
}
