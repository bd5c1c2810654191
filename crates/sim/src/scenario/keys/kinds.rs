//! The kinds of links: of each its names and its properties, from which the conditions of keys follow.

use super::{Key, Only, air, records};

/// A kind of link.
#[derive(Clone, Copy, Debug)]
pub struct LinkKind {
    /// Its name in scenarios.
    pub name: &'static str,
    /// Its name in drawings.
    pub title: &'static str,
    /// Its meaning.
    pub summary: &'static str,
    properties: u8,
    /// The keys that only a kind of two nodes has.
    keys: fn() -> &'static [Key],
}

/// Two ends, with a queue at each; other kinds are media that their nodes share.
const ENDS: u8 = 1;
/// Queues whose size the scenario gives, and which may be managed.
const QUEUES: u8 = 1 << 1;
/// A bit rate, of each direction or of all stations.
const RATE: u8 = 1 << 2;
/// A delay of its own in each direction, and what Linux' netem does to packets.
const DELAYS: u8 = 1 << 3;
/// A model of losses.
const LOSSES: u8 = 1 << 4;
/// Wires, on which packets can wait for the end of an outage.
const WIRES: u8 = 1 << 5;

/// Every kind of link.
pub const LINKS: &[LinkKind] = &[
    LinkKind {
        name: "wired",
        title: "wire",
        summary: "rate, delay and drop-tail queue in each direction; no losses on the wire",
        properties: ENDS | QUEUES | RATE | DELAYS | WIRES,
        keys: || &[],
    },
    LinkKind {
        name: "lossy",
        title: "wire with losses",
        summary: "a wired link with a loss model",
        properties: ENDS | QUEUES | RATE | DELAYS | WIRES | LOSSES,
        keys: || &[],
    },
    LinkKind {
        name: "wifi",
        title: "802.11",
        summary: "an 802.11 medium shared by its stations",
        properties: QUEUES | RATE | LOSSES,
        keys: || &[],
    },
    LinkKind {
        name: "frn",
        title: "slotted network",
        summary: "a slotted multi-hop network of its stations, the Flexible Radio Network",
        properties: 0,
        keys: || &[],
    },
    LinkKind {
        name: "wimax",
        title: "802.16",
        summary: "an 802.16 link from a base station, the first node, to a subscriber station",
        properties: ENDS | QUEUES | LOSSES,
        keys: || air::KEYS,
    },
    LinkKind {
        name: "trace",
        title: "recorded link",
        summary: "a link whose delivery opportunities are read from a file, as those of Mahimahi",
        properties: ENDS | QUEUES | DELAYS | LOSSES,
        keys: || records::KEYS,
    },
];

/// The kinds of links, as conditions of keys.
pub(super) const WIFI: Only = Only::Is("links.*.kind", &["wifi"]);
pub(super) const OF_TWO_NODES: Only = with::<ENDS>();
pub(super) const QUEUED: Only = with::<QUEUES>();
pub(super) const OF_ONE_RATE: Only = with::<RATE>();
pub(super) const WITH_RATES: Only = with::<{ ENDS | RATE }>();
pub(super) const WITH_DELAYS: Only = with::<DELAYS>();
pub(super) const LOSING: Only = with::<LOSSES>();
pub(super) const LOSING_A_WAY: Only = with::<{ ENDS | LOSSES }>();
pub(super) const WIRED: Only = with::<WIRES>();

impl LinkKind {
    /// The kind of this name.
    pub(in super::super) fn named(name: &str) -> Option<&'static LinkKind> {
        LINKS.iter().find(|kind| kind.name == name)
    }

    const fn has(&self, properties: u8) -> bool {
        self.properties & properties == properties
    }

    /// Whether its nodes share a medium.
    #[must_use]
    pub const fn is_medium(&self) -> bool {
        !self.has(ENDS)
    }

    /// Whether it consists of wires.
    #[must_use]
    pub const fn is_wired(&self) -> bool {
        self.has(WIRES)
    }

    /// Whether it can lose packets at random.
    #[must_use]
    pub const fn loses(&self) -> bool {
        self.has(LOSSES)
    }

    /// Whether each direction has a delay of its own.
    pub(in super::super) const fn has_delays(&self) -> bool {
        self.has(DELAYS)
    }
}

/// The keys of all kinds.
pub(super) fn keys() -> Vec<Key> {
    LINKS.iter().flat_map(|kind| (kind.keys)()).copied().collect()
}

/// The condition that a link is of a kind with these properties.
const fn with<const PROPERTIES: u8>() -> Only {
    Only::Is("links.*.kind", With::<PROPERTIES>::NAMES)
}

struct With<const PROPERTIES: u8>;

impl<const PROPERTIES: u8> With<PROPERTIES> {
    /// The kinds, and how many they are.
    const FOUND: ([&str; LINKS.len()], usize) = {
        let (mut names, mut found, mut place) = ([""; LINKS.len()], 0, 0);
        while place < LINKS.len() {
            if LINKS[place].has(PROPERTIES) {
                names[found] = LINKS[place].name;
                found += 1;
            }
            place += 1;
        }
        (names, found)
    };
    const NAMES: &'static [&'static str] = Self::FOUND.0.split_at(Self::FOUND.1).0;
}
