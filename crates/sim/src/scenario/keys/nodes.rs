//! The keys of nodes: position, movement, and number of nodes in a table.

use super::super::quantity::Dim;
use super::shared::{FREQUENCY, LONGEST, MOST_COUNT, RATE, TIME_S, TIME_US};
use super::words::{Area, Arrangement, Movement, NodeStack, Radios};
use super::{Key, Kind, Only};
use lasthop_stack::hooks::parameter::words;

const LENGTH: Kind = Kind::Quantity(&[Dim::Length], "m");
const SPEED: Kind = Kind::Quantity(&[Dim::Speed], "m/s");
const FASTEST: &str = "10000 m/s";
const FARTHEST: &str = "100 km";

const ALONE: Only = Only::Without("nodes.*.distance");

const IF_GROUP: &[Only] = &[Only::Given("nodes.*.count")];
const IF_LINE: &[Only] = &[Only::Is("nodes.*.place.kind", &["line"]), ALONE];
const IF_GRID: &[Only] = &[Only::Is("nodes.*.place.kind", &["grid"])];
const IF_GRID_STEP: &[Only] = &[Only::Is("nodes.*.place.kind", &["grid"]), ALONE];
const IF_HEXAGON: &[Only] = &[Only::Is("nodes.*.place.kind", &["hexagon"]), ALONE];
const IF_CIRCLE: &[Only] = &[Only::Is("nodes.*.place.kind", &["circle"]), ALONE];
const IF_DISC: &[Only] = &[Only::Is("nodes.*.place.kind", &["disc"]), ALONE];
const IF_RECTANGLE: &[Only] = &[Only::Is("nodes.*.place.kind", &["rectangle"])];
const IF_RANDOM: &[Only] = &[Only::Is("nodes.*.place.kind", &["disc", "rectangle"])];
const IF_MOVES: &[Only] = &[Only::Is("nodes.*.move.kind", &["circle", "waypoint"])];
const IF_CIRCLES: &[Only] = &[Only::Is("nodes.*.move.kind", &["circle"])];
const IF_WAYPOINT: &[Only] = &[Only::Is("nodes.*.move.kind", &["waypoint"])];
const IF_IN_DISC: &[Only] = &[Only::Is("nodes.*.move.waypoint.area", &["disc"])];
const IF_EMLSR: &[Only] = &[Only::Is("nodes.*.wifi.multi-link", &["emlsr"])];
const EML: &str = "IEEE 802.11be-2024 (9.4.2.321, EML Capabilities); ns-3: EmlsrManager";
const IF_IN_RECTANGLE: &[Only] = &[Only::Is("nodes.*.move.waypoint.area", &["rectangle"])];

/// The keys under `[nodes]`.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "nodes.*.position",
        Kind::Position,
        "position of the node, or origin of the place of a group; or else give its distance",
    )
    .absent(),
    Key::new(
        "nodes.*.distance",
        LENGTH,
        "distance from the node in around, or else from the access point of the 802.11 link, in place of a position; the nodes of a group are on a circle of this radius, or as place.kind says: random in a disc of this radius, or in a line, grid or hexagon of this spacing",
    )
    .absent()
    .at_least("0 m")
    .at_most(FARTHEST),
    Key::new(
        "nodes.*.count",
        Kind::Integer,
        "makes the table a group of N nodes NAME1, NAME2 …, or of N nodes around each node of nodes.NAME.around",
    )
    .absent()
    .at_least("0")
    .at_most("10000"),
    Key::new(
        "nodes.*.around",
        Kind::Node,
        "an earlier node or group; each of its nodes gets a copy of this group, placed relative to it",
    )
    .absent(),
    Key::new(
        "nodes.*.place.kind",
        Kind::Word("kind of place", words::<Arrangement>),
        "placement of the nodes of a group",
    )
    .default("point")
    .only(IF_GROUP),
    Key::new("nodes.*.place.line.step", Kind::Position, "offset from each node to the next, to the right and up")
        .only(IF_LINE),
    Key::new("nodes.*.place.grid.columns", Kind::Integer, "number of nodes in a row")
        .at_least("1")
        .at_most("10000")
        .only(IF_GRID),
    Key::new("nodes.*.place.grid.step", Kind::Position, "distance between columns and between rows")
        .only(IF_GRID_STEP),
    Key::new("nodes.*.place.hexagon.spacing", LENGTH, "distance between neighbours").above("0 m").only(IF_HEXAGON),
    Key::new("nodes.*.place.circle.radius", LENGTH, "radius of the circle").above("0 m").only(IF_CIRCLE),
    Key::new("nodes.*.place.disc.radius", LENGTH, "radius of the disc").above("0 m").only(IF_DISC),
    Key::new("nodes.*.place.rectangle.size", Kind::Position, "width and height").only(IF_RECTANGLE),
    Key::new(
        "nodes.*.place.seed",
        Kind::Integer,
        "seed of random places, which are equal in all replications; sweep it to vary the placement",
    )
    .default("1")
    .at_least("0")
    .at_most(MOST_COUNT)
    .only(IF_RANDOM),
    Key::new(
        "nodes.*.move.kind",
        Kind::Word("kind of movement", words::<Movement>),
        "kind of movement",
    )
    .absent(),
    Key::new(
        "nodes.*.move.around",
        Kind::Node,
        "an earlier node at the centre; default: the node in the group's around, or else the node's own position",
    )
    .absent()
    .only(IF_MOVES),
    Key::new("nodes.*.move.speed", SPEED, "speed; for way-points the maximum")
        .above("0 m/s")
        .at_most(FASTEST)
        .only(IF_MOVES),
    Key::new(
        "nodes.*.move.circle.radius",
        LENGTH,
        "radius of the circle; default: the distance of the node from the centre",
    )
    .absent()
    .above("0 m")
    .only(IF_CIRCLES),
    Key::new(
        "nodes.*.move.waypoint.area",
        Kind::Word("area", words::<Area>),
        "shape of the area of way-points",
    )
    .default("disc")
    .only(IF_WAYPOINT),
    Key::new("nodes.*.move.waypoint.radius", LENGTH, "radius of the disc").at_least("0.01 m").only(IF_IN_DISC),
    Key::new("nodes.*.move.waypoint.size", Kind::Position, "width and height").only(IF_IN_RECTANGLE),
    Key::new("nodes.*.move.waypoint.slowest", SPEED, "minimum speed; the speed of each leg is uniform between minimum and maximum")
        .like("nodes.*.move.speed")
        .above("0 m/s")
        .at_most(FASTEST)
        .only(IF_WAYPOINT),
    Key::new("nodes.*.move.waypoint.pause", TIME_S, "pause at each way-point")
        .default("0 s")
        .at_most(LONGEST)
        .only(IF_WAYPOINT),
    Key::new(
        "nodes.*.stack",
        Kind::Word("stack", words::<NodeStack>),
        "what is above the radio of the node on its 802.11 link: ours, or in lasthop virtual mac80211 and TCP of the kernel",
    )
    .absent(),
    Key::new(
        "nodes.*.wifi.access-point",
        Kind::Bool,
        "whether this node is a further access point of the network of its link, among which stations roam; without effect in simulations, where a link has one",
    )
    .absent()
    .only(&[Only::Is("nodes.*.stack", &["linux"])]),
    Key::new(
        "nodes.*.wifi.rate",
        RATE,
        "rate of data between this node and the other stations of its 802.11 links, in place of the link's; of two nodes that have one the slower",
    )
    .absent()
    .above("0 bit/s"),
    Key::new("nodes.*.wifi.mcs", Kind::Integer, "the same on 802.11n, ac, ax and be: modulation and coding of each stream")
        .absent()
        .at_least("0")
        .at_most("13"),
    Key::new("nodes.*.wifi.width", FREQUENCY, "the same: width of the channel, up to that of the link")
        .absent()
        .at_least("20 MHz")
        .at_most("320 MHz"),
    Key::new("nodes.*.wifi.streams", Kind::Integer, "the same: spatial streams")
        .absent()
        .at_least("1")
        .at_most("4"),
    Key::new(
        "nodes.*.wifi.transmit-power",
        Kind::Quantity(&[Dim::Power, Dim::Level], "mW"),
        "transmit power of this node on its 802.11 links, up to that of the link",
    )
    .absent()
    .above("0 W"),
    Key::new(
        "nodes.*.wifi.ofdma",
        Kind::Bool,
        "whether this station has part in PPDUs to several stations; false on 802.11ax and be is a station of an older standard in this respect",
    )
    .absent(),
    Key::new(
        "nodes.*.wifi.multi-link",
        Kind::Word("kind of device", words::<Radios>),
        "how a station on several links of multi-link devices uses them: all at the same time (str), or one radio for all of them (emlsr): it listens on all, and the access point asks it on one by an MU-RTS",
    )
    .absent(),
    Key::new(
        "nodes.*.wifi.emlsr.padding-delay",
        TIME_US,
        "duration of the padding of that MU-RTS: 0, 32, 64, 128 or 256 us",
    )
    .default("0 us")
    .source(EML)
    .at_most("256 us")
    .only(IF_EMLSR),
    Key::new(
        "nodes.*.wifi.emlsr.transition-delay",
        TIME_US,
        "time from the end of an exchange until the station listens on all links: 0, 16, 32, 64, 128 or 256 us",
    )
    .default("0 us")
    .source(EML)
    .at_most("256 us")
    .only(IF_EMLSR),
    Key::new(
        "nodes.*.wifi.emlsr.medium-sync-delay",
        TIME_US,
        "time for which an RTS precedes what the station sends on a link that it did not hear for longer than 72 us, unless it hears a frame before",
    )
    .default("5484 us")
    .source("IEEE 802.11be-2024 (35.3.16.8): aPPDUMaxTime")
    .at_most("8160 us")
    .only(IF_EMLSR),
];
