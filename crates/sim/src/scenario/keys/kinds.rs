//! The kinds of links: of each its names and its properties, from which the conditions of keys follow.

use super::words::{Named, choice};
use super::{Key, Only, air, records};
use lasthop_stack::hooks::parameter::{Words, words};

choice! {
    /// Kinds of links.
    Kind in KINDS {
        Wired = "wired": "rate, delay and drop-tail queue in each direction; no losses on the wire",
        Lossy = "lossy": "a wired link with a loss model",
        Wifi = "wifi": "an 802.11 medium shared by its stations",
        Frn = "frn": "a slotted multi-hop network of its stations, the Flexible Radio Network",
        Wimax = "wimax": "an 802.16 link from a base station, the first node, to a subscriber station",
        Trace = "trace": "a link whose delivery opportunities are read from a file, as those of Mahimahi",
    }
}

/// Two ends, with a queue at each; other kinds are media that their nodes share.
pub const ENDS: u8 = 1;
/// Queues whose size the scenario gives, and which may be managed.
pub const QUEUES: u8 = 1 << 1;
/// A bit rate, of each direction or of all stations.
pub const RATE: u8 = 1 << 2;
/// A delay of its own in each direction, and what Linux' netem does to packets.
pub const DELAYS: u8 = 1 << 3;
/// A model of losses.
pub const LOSSES: u8 = 1 << 4;
/// Wires, on which packets can wait for the end of an outage.
pub const WIRES: u8 = 1 << 5;

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

impl Kind {
    /// Its name in drawings.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Kind::Wired => "wire",
            Kind::Lossy => "wire with losses",
            Kind::Wifi => "802.11",
            Kind::Frn => "slotted network",
            Kind::Wimax => "802.16",
            Kind::Trace => "recorded link",
        }
    }

    const fn properties(self) -> u8 {
        match self {
            Kind::Wired => ENDS | QUEUES | RATE | DELAYS | WIRES,
            Kind::Lossy => ENDS | QUEUES | RATE | DELAYS | LOSSES | WIRES,
            Kind::Wifi => QUEUES | RATE | LOSSES,
            Kind::Frn => 0,
            Kind::Wimax => ENDS | QUEUES | LOSSES,
            Kind::Trace => ENDS | QUEUES | DELAYS | LOSSES,
        }
    }

    /// Whether it has all these properties.
    #[must_use]
    pub const fn has(self, properties: u8) -> bool {
        self.properties() & properties == properties
    }

    /// The keys that only a kind of two nodes has.
    pub(super) fn keys(self) -> Vec<Key> {
        match self {
            Kind::Wimax => air::KEYS.to_vec(),
            Kind::Trace => records::keys(),
            Kind::Wired | Kind::Lossy | Kind::Wifi | Kind::Frn => Vec::new(),
        }
    }
}

/// The condition that a link is of a kind with these properties.
const fn with<const PROPERTIES: u8>() -> Only {
    Only::Is("links.*.kind", With::<PROPERTIES>::NAMES)
}

struct With<const PROPERTIES: u8>;

impl<const PROPERTIES: u8> With<PROPERTIES> {
    /// The names of the kinds, and how many they are.
    const FOUND: ([&str; KINDS.len()], usize) = {
        let (mut names, mut found, mut place) = ([""; KINDS.len()], 0, 0);
        while place < KINDS.len() {
            let (name, kind) = Kind::WORDS[place];
            if kind.has(PROPERTIES) {
                names[found] = name;
                found += 1;
            }
            place += 1;
        }
        (names, found)
    };
    const NAMES: &'static [&'static str] = Self::FOUND.0.split_at(Self::FOUND.1).0;
}
