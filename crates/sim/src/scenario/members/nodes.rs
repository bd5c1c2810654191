//! The nodes of a point, the positions of those in groups, and their movement.

use super::{Name, Node, Reader};
use crate::medium::motion::{Area, Motion};
use crate::scenario::keys::words::Movement;
use crate::scenario::layout::Section;
use crate::scenario::placement::{Placement, lengths};
use crate::scenario::sheet::Table;
use crate::scenario::value::Value;
use lasthop_stack::units::{Metres, Span};
use std::f64::consts::TAU;
use std::ops::Range;

/// The least width of an area to walk in, m: legs without length would never come to an end.
const LEAST_AREA_M: f64 = 0.01;

/// A position in metres, or none.
type Spot = Option<(f64, f64)>;

impl<'a> Reader<'a> {
    pub(super) fn all_nodes(&mut self) {
        for (table, name) in self.sheet.plan.layout.nodes.iter().enumerate() {
            let keys = self.sheet.table(Section::Nodes, table);
            let count = keys.get("count").and_then(Value::count);
            let position = keys.get("position").and_then(lengths);
            if count.is_none() {
                self.one_of_each(Section::Nodes, table, name);
            }
            let Some(middle) = self.middle(table, keys) else { return };
            let is_alone = keys.get("distance").or(keys.get("around")).is_none();
            let places = match count {
                None if is_alone => Some(vec![Place { spot: position.or(middle), hub: middle.or(position) }]),
                _ => self.group((table, keys), name, count, position, middle),
            };
            let Some(places) = places else { return };
            if !self.fits(self.members.nodes.len(), places.len(), keys, "count") {
                return;
            }
            let names: Vec<Name> = Name::all(name, places.len(), count.is_some()).collect();
            if let Err(text) = self.nodes.add(&names.iter().collect::<Vec<_>>(), count.is_some()) {
                return self.fault(format!("nodes.{name}"), text);
            }
            for (name_of_one, place) in names.into_iter().zip(places) {
                let Some(motion) = self.motion((name, keys), &place) else { return };
                let position = place.spot.map(|(x, y)| (Metres(x), Metres(y)));
                self.members.nodes.push(Node { name: name_of_one, position, motion });
            }
        }
    }

    /// The positions of a group's nodes, around each of its hubs in turn, or of one node around one.
    fn group(
        &mut self,
        (table, keys): (usize, Table<'a>),
        name: &str,
        count: Option<u64>,
        position: Spot,
        middle: Spot,
    ) -> Option<Vec<Place>> {
        let of_member = |number| {
            let keys = self.sheet.member(Section::Nodes, table, number);
            let distance = keys.get("distance").and_then(Value::si);
            let placement = Placement::of(keys.below("place"), name, distance);
            let begin = distance.map(|distance| placement.begin(distance));
            (placement, keys.get("position").and_then(lengths).or(begin).unwrap_or_default())
        };
        let mut kinds: Vec<_> = (0..self.sheet.kinds(Section::Nodes, table)).map(of_member).collect();
        let distance = keys.get("distance").and_then(Value::si);
        let moves = keys.get("move.kind").is_some();
        let is_placed = position.is_some() || moves || !matches!(kinds[0].0, Placement::Point);
        let hub = match distance {
            Some(_) => Some(self.centre(keys, name, position)?),
            None => keys.get("around").map(|hub| ("around", hub)),
        };
        let is_around = hub.is_some();
        let hubs: Vec<Spot> = match hub {
            None => vec![is_placed.then(|| middle.filter(|_| position.is_none()).unwrap_or_default())],
            Some((key, hub)) => self.hubs((table, keys), key, hub, is_placed)?,
        };
        if count.is_none() && hubs.len() != 1 {
            self.fault(keys.key("around"), format!("{} nodes; expected one, or a count", hubs.len()));
            return None;
        }
        let count = count.unwrap_or(1);
        let all = hubs.len().saturating_mul(usize::try_from(count).unwrap_or(usize::MAX));
        if !self.fits(self.members.nodes.len(), all, keys, "count") {
            return None;
        }
        let different = kinds.len();
        let mut places = Vec::with_capacity(all);
        for (number, hub) in (0..).zip(hubs) {
            for node in 0..count {
                let (placement, (x, y)) = &mut kinds[places.len() % different];
                let (right, up) = placement.at(node, count, number);
                let spot = hub.map(|hub| (hub.0 + *x + right, hub.1 + *y + up));
                let hub = if is_around { hub } else { hub.map(|hub| (hub.0 + *x, hub.1 + *y)) };
                places.push(Place { spot, hub: middle.or(hub) });
            }
        }
        Some(places)
    }

    /// The positions of the nodes around which a group has its members.
    fn hubs(
        &mut self,
        (table, keys): (usize, Table<'_>),
        key: &str,
        hub: &Value,
        is_placed: bool,
    ) -> Option<Vec<Spot>> {
        let range = self.earlier((table, keys), key, hub)?;
        if range.len() == 1 && keys.get("distance").is_some() {
            // Only the distance from it matters.
            let node = &mut self.members.nodes[range.start];
            node.position = node.position.or(Some((Metres(0.0), Metres(0.0))));
        }
        if is_placed {
            self.stand(keys, key, range.clone())?;
        }
        let metres = |node: &Node| node.position.map(|(x, y)| (x.0, y.0));
        Some(self.members.nodes[range].iter().map(metres).collect())
    }

    /// The node from which a distance is measured, with the key that names it: the one in `around`, or else the access
    /// point.
    fn centre(&mut self, keys: Table<'a>, name: &str, position: Spot) -> Option<(&'static str, &'a Value)> {
        if position.is_some() {
            self.fault(keys.key("distance"), "beside a position; expected one of them");
            return None;
        }
        if let Some(hub) = keys.get("around") {
            return Some(("around", hub));
        }
        let found = self.access_point_of(name);
        if found.is_none() {
            let text = format!("from no node; expected nodes.{name}.around, or a link with an access-point");
            self.fault(keys.key("distance"), text);
        }
        Some(("distance", found?))
    }

    /// The access point of the first 802.11 link that names these nodes, or one of them, among its stations.
    fn access_point_of(&self, name: &str) -> Option<&'a Value> {
        let nodes = &self.sheet.plan.layout.nodes;
        let is_here = |value: &Value| {
            let station = value.text();
            station == name || nodes.groups_of(&station).any(|(table, _)| nodes[table] == name)
        };
        (0..self.sheet.plan.layout.links.len()).find_map(|table| {
            let link = self.sheet.table(Section::Links, table);
            let Some(Value::List(stations)) = link.get("nodes") else { return None };
            link.get("access-point").filter(|point| stations.iter().any(is_here) && !point.is("none"))
        })
    }

    /// The middle of the movement that the nodes of a table name, if they do.
    fn middle(&mut self, table: usize, keys: Table<'_>) -> Option<Spot> {
        let key = "move.around";
        let Some(middle) = keys.get(key) else { return Some(None) };
        let range = self.earlier((table, keys), key, middle)?;
        if range.len() != 1 {
            let text = format!("\"{}\" is a group; expected one node", middle.text());
            self.fault(keys.key(key), text);
            return None;
        }
        self.stand(keys, key, range.clone())?;
        Some(self.members.nodes[range.start].position.map(|(x, y)| (x.0, y.0)))
    }

    /// The nodes of an earlier table that a key of this one names.
    fn earlier(
        &mut self,
        (table, keys): (usize, Table<'_>),
        key: &str,
        named: &Value,
    ) -> Option<Range<usize>> {
        let name = named.text();
        if self.sheet.plan.layout.nodes.place(&name).is_some_and(|place| place >= table) {
            self.fault(keys.key(key), format!("\"{name}\" is not defined earlier; expected an earlier node"));
            return None;
        }
        Some(self.named(keys, key, named)?.0)
    }

    /// Whether nodes that a key names have a place, and keep it.
    fn stand(&mut self, keys: Table<'_>, key: &str, nodes: Range<usize>) -> Option<()> {
        for node in nodes {
            let Node { name, position, motion } = &self.members.nodes[node];
            let text = match (position, motion) {
                (Some(_), None) => continue,
                (None, _) => format!("\"{}\" has no position; expected a node with a position", name.table()),
                (_, Some(_)) => format!("\"{}\" moves; expected a stationary node", name.table()),
            };
            self.fault(keys.key(key), text);
            return None;
        }
        Some(())
    }

    /// The movement of a node with this position.
    #[expect(clippy::option_option, reason = "the node does not move, or its movement is invalid")]
    fn motion(&mut self, (name, keys): (&str, Table<'_>), place: &Place) -> Option<Option<Motion>> {
        let Some(kind) = keys.get("move.kind") else { return Some(None) };
        let keys = keys.below("move");
        let key = |below: &str| keys.key(below);
        let (Some(spot), Some(centre)) = (place.spot, place.hub) else {
            let text = format!(
                "\"{}\" without a centre; expected a position, or nodes.{name}.move.around",
                kind.text()
            );
            self.fault(key("kind"), text);
            return None;
        };
        let real = |below: &str| keys.get(below).and_then(Value::si);
        let speed_mps = real("speed").unwrap_or_default();
        match kind.choice() {
            Some(Movement::Circle) => {
                let (right, up) = (spot.0 - centre.0, spot.1 - centre.1);
                let away = libm::hypot(right, up);
                let radius_m = real("circle.radius").unwrap_or(away);
                if radius_m == 0.0 {
                    let text =
                        "missing; expected a length such as \"100 m\" for a node at the centre of its circle";
                    self.fault(key("circle.radius"), text);
                    return None;
                }
                let turn = (away > 0.0).then(|| libm::atan2(up, right) / TAU);
                return Some(Some(Motion::Circle { centre, radius_m, speed_mps, turn }));
            }
            Some(Movement::Waypoint) | None => {}
        }
        let slowest_mps = real("waypoint.slowest").unwrap_or(speed_mps);
        if slowest_mps > speed_mps {
            let text = format!("{slowest_mps} m/s is above move.speed, {speed_mps} m/s; expected less");
            self.fault(key("waypoint.slowest"), text);
            return None;
        }
        let area = match keys.get("waypoint.size").and_then(lengths) {
            Some((width, height)) if width.min(height) >= LEAST_AREA_M => Area::Rectangle(width, height),
            Some(_) => {
                self.fault(
                    key("waypoint.size"),
                    "too small; expected a width and a height of at least 0.01 m",
                );
                return None;
            }
            None => Area::Disc(real("waypoint.radius").unwrap_or_default()),
        };
        let pause = Span(keys.get("waypoint.pause").and_then(Value::count).unwrap_or(0));
        Some(Some(Motion::Waypoint { centre, area, slowest_mps, fastest_mps: speed_mps, pause }))
    }
}

/// The position of a node, and the centre of its movement.
#[derive(Clone, Copy, Debug)]
struct Place {
    spot: Spot,
    hub: Spot,
}
