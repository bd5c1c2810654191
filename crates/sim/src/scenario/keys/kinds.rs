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
    pub(super) keys: fn() -> &'static [Key],
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

/// Every kind of link.
pub const LINKS: &[LinkKind] = &[
    kind("wired", "wire", ENDS | QUEUES | RATE | DELAYS | WIRES, || &[])
        .means("rate, delay and drop-tail queue in each direction; no losses on the wire"),
    kind("lossy", "wire with losses", ENDS | QUEUES | RATE | DELAYS | LOSSES | WIRES, || &[])
        .means("a wired link with a loss model"),
    kind("wifi", "802.11", QUEUES | RATE | LOSSES, || &[]).means("an 802.11 medium shared by its stations"),
    kind("frn", "slotted network", 0, || &[])
        .means("a slotted multi-hop network of its stations, the Flexible Radio Network"),
    kind("wimax", "802.16", ENDS | QUEUES | LOSSES, || air::KEYS)
        .means("an 802.16 link from a base station, the first node, to a subscriber station"),
    kind("trace", "recorded link", ENDS | QUEUES | DELAYS | LOSSES, || records::KEYS)
        .means("a link whose delivery opportunities are read from a file, as those of Mahimahi"),
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

const fn kind(
    name: &'static str,
    title: &'static str,
    properties: u8,
    keys: fn() -> &'static [Key],
) -> LinkKind {
    LinkKind { name, title, summary: "", properties, keys }
}

impl LinkKind {
    const fn means(self, summary: &'static str) -> LinkKind {
        LinkKind { summary, ..self }
    }

    /// The kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static LinkKind> {
        LINKS.iter().find(|kind| kind.name == name)
    }

    /// Whether it has all these properties.
    #[must_use]
    pub const fn has(&self, properties: u8) -> bool {
        self.properties & properties == properties
    }
}

/// The condition that a link is of a kind with these properties.
const fn with<const PROPERTIES: u8>() -> Only {
    Only::Is("links.*.kind", With::<PROPERTIES>::NAMES)
}

struct With<const PROPERTIES: u8>;

impl<const PROPERTIES: u8> With<PROPERTIES> {
    /// The names of the kinds, and how many they are.
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
