//! The positions of the nodes of a group, relative to that of the group.

use super::keys::words::Arrangement;
use super::layout::Section;
use super::sheet::{Sheet, Table};
use super::value::Value;
use crate::engine::streams::Stream;
use std::f64::consts::TAU;

/// Half the square root of 3: the height of an equilateral triangle of side 1.
const HALF_ROOT_3: f64 = 0.866_025_403_784_438_6;
/// The directions from a node to its six neighbours in a hexagonal lattice, counter-clockwise.
const NEIGHBOURS: [(f64, f64); 6] = [
    (1.0, 0.0),
    (0.5, HALF_ROOT_3),
    (-0.5, HALF_ROOT_3),
    (-1.0, 0.0),
    (-0.5, -HALF_ROOT_3),
    (0.5, -HALF_ROOT_3),
];

/// A place for a group. Lengths are in metres.
#[derive(Clone, Debug)]
pub(super) enum Placement {
    Point,
    Line {
        step: (f64, f64),
    },
    Grid {
        columns: u64,
        step: (f64, f64),
    },
    /// The first is this many nodes after the middle.
    Hexagon {
        spacing: f64,
        first: u64,
    },
    Circle {
        radius: f64,
    },
    Disc {
        radius: f64,
        stream: Stream,
    },
    Rectangle {
        size: (f64, f64),
        stream: Stream,
    },
}

impl Placement {
    /// The place of a group of nodes, given the keys below its `place`, and its distance from its hub.
    pub(super) fn of(place: Table<'_>, name: &str, distance: Option<f64>) -> Placement {
        let value = |key: &str| place.get(key);
        let real = |key: &str| distance.or_else(|| value(key).and_then(Value::si)).unwrap_or(0.0);
        let pair = |key: &str| value(key).and_then(lengths).unwrap_or_default();
        let count = |key: &str| value(key).and_then(Value::count).unwrap_or(1);
        let stream = || Stream::named(count("seed"), 0, &format!("nodes.{name}.place"));
        match value("kind").and_then(Value::choice).unwrap_or(Arrangement::Point) {
            Arrangement::Line => {
                Placement::Line { step: distance.map_or_else(|| pair("line.step"), |step| (step, 0.0)) }
            }
            Arrangement::Grid => {
                let step = distance.map_or_else(|| pair("grid.step"), |step| (step, step));
                Placement::Grid { columns: count("grid.columns"), step }
            }
            Arrangement::Hexagon => {
                let first = u64::from(distance.is_some());
                Placement::Hexagon { spacing: real("hexagon.spacing"), first }
            }
            Arrangement::Circle => Placement::Circle { radius: real("circle.radius") },
            Arrangement::Disc => Placement::Disc { radius: real("disc.radius"), stream: stream() },
            Arrangement::Rectangle => Placement::Rectangle { size: pair("rectangle.size"), stream: stream() },
            Arrangement::Point => distance.map_or(Placement::Point, |radius| Placement::Circle { radius }),
        }
    }

    /// Where the place begins, at a distance from its hub: what is in rows begins to the right of it.
    pub(super) fn begin(&self, distance: f64) -> (f64, f64) {
        match self {
            Placement::Line { .. } | Placement::Grid { .. } | Placement::Rectangle { .. } => (distance, 0.0),
            Placement::Point
            | Placement::Hexagon { .. }
            | Placement::Circle { .. }
            | Placement::Disc { .. } => (0.0, 0.0),
        }
    }

    /// The position of node `number` of the `count` around hub `hub`, all counted from 0.
    ///
    /// A random place does not depend on how many others there are.
    pub(super) fn at(&mut self, number: u64, count: u64, hub: u64) -> (f64, f64) {
        let drawn = |stream: &mut Stream| {
            stream.seek((hub << 32) | number);
            (stream.uniform(), stream.uniform())
        };
        match self {
            Placement::Point => (0.0, 0.0),
            Placement::Line { step } => (number as f64 * step.0, number as f64 * step.1),
            Placement::Grid { columns, step } => {
                ((number % *columns) as f64 * step.0, (number / *columns) as f64 * step.1)
            }
            Placement::Hexagon { spacing, first } => {
                let (x, y) = hexagon(number + *first);
                (x * *spacing, y * *spacing)
            }
            Placement::Circle { radius } => around(*radius, number as f64 / count as f64),
            Placement::Disc { radius, stream } => {
                let (out, turn) = drawn(stream);
                around(*radius * out.sqrt(), turn)
            }
            Placement::Rectangle { size, stream } => {
                let (x, y) = drawn(stream);
                (x * size.0, y * size.1)
            }
        }
    }
}

/// Whether the nodes that a name denotes have given positions: by their position, their place, or that of the nodes
/// around which they are placed.
pub(super) fn is_given(sheet: &Sheet<'_>, name: &str) -> bool {
    let roster = &sheet.plan.layout.nodes;
    let table = |name: &str| roster.place(name).or_else(|| Some(roster.groups_of(name).next()?.0));
    let mut next = table(name);
    while let Some(here) = next {
        let keys = sheet.table(Section::Nodes, here);
        let value = |key: &str| keys.get(key);
        let is_spread = value("place.kind").is_some_and(|kind| kind.choice() != Some(Arrangement::Point));
        let keys = ["position", "distance", "move.kind"];
        if is_spread || keys.iter().any(|key| value(key).is_some()) {
            return true;
        }
        // A hub comes earlier; where it does not, another check reports it.
        next = value("around").and_then(|hub| table(&hub.text())).filter(|hub| *hub < here);
    }
    false
}

/// Two lengths in metres.
pub(super) fn lengths(value: &Value) -> Option<(f64, f64)> {
    let Value::List(values) = value else { return None };
    match values.as_slice() {
        [x, y] => Some((x.si()?, y.si()?)),
        _ => None,
    }
}

/// The point at a distance from the origin, after some part of a whole turn.
fn around(radius: f64, turn: f64) -> (f64, f64) {
    let (sin, cos) = libm::sincos(TAU * turn);
    (radius * cos, radius * sin)
}

/// A node of a hexagonal lattice of spacing 1: ring after ring around the first, ring `r` of 6 `r` nodes.
fn hexagon(number: u64) -> (f64, f64) {
    let mut ring = 0;
    while 3 * ring * (ring + 1) < number {
        ring += 1;
    }
    if ring == 0 {
        return (0.0, 0.0);
    }
    let on_ring = number - 1 - 3 * ring * (ring - 1);
    let (side, along) = ((on_ring / ring) as usize, (on_ring % ring) as f64);
    let (corner, edge) = (NEIGHBOURS[side], NEIGHBOURS[(side + 2) % 6]);
    let ring = ring as f64;
    (ring * corner.0 + along * edge.0, ring * corner.1 + along * edge.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut placement: Placement, count: u64) -> Vec<(f64, f64)> {
        (0..count).map(|number| placement.at(number, count, 0)).collect()
    }

    fn near(found: (f64, f64), expected: (f64, f64)) -> bool {
        libm::hypot(found.0 - expected.0, found.1 - expected.1) < 1e-9
    }

    #[test]
    fn a_line_a_grid_and_a_circle_are_filled_in_order() {
        let line = all(Placement::Line { step: (200.0, -5.0) }, 3);
        assert_eq!(line, [(0.0, 0.0), (200.0, -5.0), (400.0, -10.0)]);
        let grid = all(Placement::Grid { columns: 2, step: (10.0, 20.0) }, 5);
        assert_eq!(grid, [(0.0, 0.0), (10.0, 0.0), (0.0, 20.0), (10.0, 20.0), (0.0, 40.0)]);
        let circle = all(Placement::Circle { radius: 5.0 }, 4);
        let expected = [(5.0, 0.0), (0.0, 5.0), (-5.0, 0.0), (0.0, -5.0)];
        assert!(circle.iter().zip(expected).all(|(found, expected)| near(*found, expected)), "{circle:?}");
    }

    #[test]
    fn nineteen_nodes_of_a_hexagon_are_rows_of_three_four_five_four_three() {
        let nodes = all(Placement::Hexagon { spacing: 200.0, first: 0 }, 19);
        let mut rows = [0; 5];
        for node in &nodes {
            rows[libm::round(node.1 / (200.0 * HALF_ROOT_3) + 2.0) as usize] += 1;
        }
        assert_eq!(rows, [3, 4, 5, 4, 3]);
        let distance = |one: &(f64, f64), other: &(f64, f64)| libm::hypot(one.0 - other.0, one.1 - other.1);
        let neighbours =
            |node| nodes.iter().filter(|other| (distance(node, other) - 200.0).abs() < 1e-6).count();
        let degrees: Vec<usize> = nodes.iter().map(neighbours).collect();
        assert_eq!(degrees[..7], [6; 7]);
        assert_eq!(degrees.iter().sum::<usize>(), 2 * 42);
    }

    #[test]
    fn a_disc_is_filled_evenly_and_a_node_stands_where_it_stood_among_fewer() {
        let disc = |count| {
            all(Placement::Disc { radius: 10.0, stream: Stream::named(3, 0, "nodes.n.place") }, count)
        };
        let nodes = disc(4000);
        assert_eq!(nodes[..50], disc(50));
        assert!(nodes.iter().all(|node| libm::hypot(node.0, node.1) <= 10.0));
        // Half of them within the radius that holds half of the area: mean 2000, standard deviation 32.
        let inner = nodes.iter().filter(|node| libm::hypot(node.0, node.1) < 10.0 / 2f64.sqrt()).count();
        assert!((1870..2130).contains(&inner), "{inner}");
    }

    #[test]
    fn each_hub_has_random_places_of_its_own_within_the_rectangle() {
        let size = (30.0, 10.0);
        let mut rectangle = Placement::Rectangle { size, stream: Stream::named(1, 0, "nodes.n.place") };
        let [one, other] = [0, 1].map(|hub| rectangle.at(0, 1, hub));
        assert_ne!(one, other);
        for (x, y) in [one, other] {
            assert!((0.0..30.0).contains(&x) && (0.0..10.0).contains(&y));
        }
    }
}
