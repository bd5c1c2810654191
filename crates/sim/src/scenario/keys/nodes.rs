//! The keys of nodes: where one stands, how it moves, and how many a table stands for.

use super::super::quantity::Dim;
use super::table::{LONGEST, MOST_COUNT, TIME_S};
use super::words::{MOVES, PLACES, names};
use super::{Key, Kind, Only};

const LENGTH: Kind = Kind::Quantity(&[Dim::Length], "m");
const SPEED: Kind = Kind::Quantity(&[Dim::Speed], "m/s");
const FASTEST: &str = "10000 m/s";

const IF_GROUP: &[Only] = &[Only::Given("nodes.*.count")];
const IF_LINE: &[Only] = &[Only::Is("nodes.*.place.kind", &["line"])];
const IF_GRID: &[Only] = &[Only::Is("nodes.*.place.kind", &["grid"])];
const IF_HEXAGON: &[Only] = &[Only::Is("nodes.*.place.kind", &["hexagon"])];
const IF_CIRCLE: &[Only] = &[Only::Is("nodes.*.place.kind", &["circle"])];
const IF_DISC: &[Only] = &[Only::Is("nodes.*.place.kind", &["disc"])];
const IF_RECTANGLE: &[Only] = &[Only::Is("nodes.*.place.kind", &["rectangle"])];
const IF_RANDOM: &[Only] = &[Only::Is("nodes.*.place.kind", &["disc", "rectangle"])];
const IF_MOVES: &[Only] = &[Only::Is("nodes.*.move.kind", &["circle", "waypoint"])];
const IF_CIRCLES: &[Only] = &[Only::Is("nodes.*.move.kind", &["circle"])];
const IF_WAYPOINT: &[Only] = &[Only::Is("nodes.*.move.kind", &["waypoint"])];
const IF_IN_DISC: &[Only] = &[Only::Is("nodes.*.move.waypoint.area", &["disc"])];
const IF_IN_RECTANGLE: &[Only] = &[Only::Is("nodes.*.move.waypoint.area", &["rectangle"])];

/// The keys under `[nodes]`.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "nodes.*.position",
        Kind::Position,
        "where the node stands, or where the place of a group begins",
    )
    .absent(),
    Key::new(
        "nodes.*.count",
        Kind::Integer,
        "makes it a group: so many nodes NAME1, NAME2 …, or so many around each node of nodes.NAME.around",
    )
    .absent()
    .at_least("1")
    .at_most("10000"),
    Key::new(
        "nodes.*.around",
        Kind::Node,
        "an earlier node or group; each of its nodes has a whole group of its own, in place relative to it",
    )
    .absent()
    .only(IF_GROUP),
    Key::new(
        "nodes.*.place.kind",
        Kind::Word("kind of place", || names(PLACES)),
        "where the nodes of a group stand",
    )
    .default("point")
    .only(IF_GROUP),
    Key::new("nodes.*.place.line.step", Kind::Position, "from each node to the next, to the right and up")
        .only(IF_LINE),
    Key::new("nodes.*.place.grid.columns", Kind::Integer, "nodes in a row")
        .at_least("1")
        .at_most("10000")
        .only(IF_GRID),
    Key::new("nodes.*.place.grid.step", Kind::Position, "from column to column and from row to row")
        .only(IF_GRID),
    Key::new("nodes.*.place.hexagon.spacing", LENGTH, "between neighbours").above("0 m").only(IF_HEXAGON),
    Key::new("nodes.*.place.circle.radius", LENGTH, "of the circle").above("0 m").only(IF_CIRCLE),
    Key::new("nodes.*.place.disc.radius", LENGTH, "of the disc").above("0 m").only(IF_DISC),
    Key::new("nodes.*.place.rectangle.size", Kind::Position, "width and height").only(IF_RECTANGLE),
    Key::new(
        "nodes.*.place.seed",
        Kind::Integer,
        "seed of random places, which are the same in each replication; sweep it to see several",
    )
    .default("1")
    .at_least("0")
    .at_most(MOST_COUNT)
    .only(IF_RANDOM),
    Key::new(
        "nodes.*.move.kind",
        Kind::Word("kind of movement", || names(MOVES)),
        "how it moves, if it does",
    )
    .absent(),
    Key::new(
        "nodes.*.move.around",
        Kind::Node,
        "an earlier node in the middle; else the node that its group is around, or else where it stands",
    )
    .absent()
    .only(IF_MOVES),
    Key::new("nodes.*.move.speed", SPEED, "speed; between way-points the greatest")
        .above("0 m/s")
        .at_most(FASTEST)
        .only(IF_MOVES),
    Key::new(
        "nodes.*.move.circle.radius",
        LENGTH,
        "of the circle; else how far from the middle the node stands",
    )
    .absent()
    .above("0 m")
    .only(IF_CIRCLES),
    Key::new(
        "nodes.*.move.waypoint.area",
        Kind::Word("area", || vec!["disc", "rectangle"]),
        "the area of the way-points",
    )
    .default("disc")
    .only(IF_WAYPOINT),
    Key::new("nodes.*.move.waypoint.radius", LENGTH, "of the disc").at_least("0.01 m").only(IF_IN_DISC),
    Key::new("nodes.*.move.waypoint.size", Kind::Position, "width and height").only(IF_IN_RECTANGLE),
    Key::new("nodes.*.move.waypoint.slowest", SPEED, "least speed; each leg has one between both, evenly")
        .like("nodes.*.move.speed")
        .above("0 m/s")
        .at_most(FASTEST)
        .only(IF_WAYPOINT),
    Key::new("nodes.*.move.waypoint.pause", TIME_S, "how long it stays at each way-point")
        .default("0 s")
        .at_most(LONGEST)
        .only(IF_WAYPOINT),
];
