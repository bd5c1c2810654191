//! The kinds of values, the limits and the conditions that keys of several files share.

use super::super::quantity::Dim;
use super::{Default, Key, Kind, Only};

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
    let place = keys.iter().position(|other| other.path == path).expect("the key that follows");
    keys.insert(place, key);
}

/// A key of the forward direction and that of the reverse direction, whose default is the value of the forward one. Its
/// conditions are those of the forward key, on keys of the reverse direction; the condition on the kind of link is the same.
pub(super) fn both_ways(key: &Key) -> [Key; 2] {
    let of_reverse =
        |path: &str| -> &'static str { String::leak(path.replacen("links.*.", "links.*.reverse.", 1)) };
    let only = key.only.iter().map(|only| match *only {
        Only::Is(other, words) if other != "links.*.kind" => Only::Is(of_reverse(other), words),
        Only::Given(other) => Only::Given(of_reverse(other)),
        other => other,
    });
    let back = Key {
        path: of_reverse(key.path),
        default: Default::Like(key.path),
        meaning: "the same from the second node to the first",
        source: "",
        only: Vec::leak(only.collect()),
        ..*key
    };
    [*key, back]
}
