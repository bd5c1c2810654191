//! The nodes of a point, and where those of groups stand.

use super::{Name, Node, Reader};
use crate::scenario::placement::{Placement, lengths};
use crate::scenario::value::Value;
use lasthop_stack::units::Metres;

/// A position in metres, or none.
type Spot = Option<(f64, f64)>;

impl Reader<'_> {
    pub(super) fn all_nodes(&mut self) {
        for (table, name) in self.sheet.plan.layout.nodes.iter().enumerate() {
            let count = self.get(&format!("nodes.{name}.count")).and_then(Value::count);
            let position = self.get(&format!("nodes.{name}.position")).and_then(lengths);
            let positions = match count {
                None => Some(vec![position]),
                Some(count) => self.group(table, name, count, position),
            };
            let Some(positions) = positions else { return };
            let key = format!("nodes.{name}");
            if !self.fits(self.members.nodes.len(), positions.len(), format!("{key}.count")) {
                return;
            }
            let names: Vec<Name> = Name::all(name, positions.len(), count.is_some()).collect();
            if let Err(text) = self.nodes.add(&names.iter().collect::<Vec<_>>(), count.is_some()) {
                return self.fault(key, text);
            }
            let node = |(name, position): (Name, Spot)| Node {
                name,
                position: position.map(|(x, y)| (Metres(x), Metres(y))),
            };
            self.members.nodes.extend(names.into_iter().zip(positions).map(node));
        }
    }

    /// The positions of a group's nodes, around each of its hubs in turn.
    fn group(&mut self, table: usize, name: &str, count: u64, position: Spot) -> Option<Vec<Spot>> {
        let mut placement = Placement::of(self.sheet, name);
        let is_placed = position.is_some() || !matches!(placement, Placement::Point);
        let hubs: Vec<Spot> = match self.get(&format!("nodes.{name}.around")) {
            None => vec![is_placed.then_some((0.0, 0.0))],
            Some(hub) => self.hubs(table, name, hub, is_placed)?,
        };
        let all = hubs.len().saturating_mul(usize::try_from(count).unwrap_or(usize::MAX));
        if !self.fits(self.members.nodes.len(), all, format!("nodes.{name}.count")) {
            return None;
        }
        let (x, y) = position.unwrap_or_default();
        let mut positions = Vec::with_capacity(all);
        for (number, hub) in (0..).zip(hubs) {
            for node in 0..count {
                let (right, up) = placement.at(node, count, number);
                positions.push(hub.map(|hub| (hub.0 + x + right, hub.1 + y + up)));
            }
        }
        Some(positions)
    }

    /// Where the nodes stand around which a group has its members.
    fn hubs(&mut self, table: usize, name: &str, hub: &Value, is_placed: bool) -> Option<Vec<Spot>> {
        let key = format!("nodes.{name}.around");
        let hub_name = hub.text();
        if self.sheet.plan.layout.nodes.place(&hub_name).is_some_and(|hub| hub >= table) {
            self.fault(key, format!("\"{hub_name}\" stands no earlier; expected a node that does"));
            return None;
        }
        let (range, _) = self.named(&key, hub)?;
        let metres = |node: &Node| node.position.map(|(x, y)| (x.0, y.0));
        let hubs: Vec<_> = self.members.nodes[range].iter().map(metres).collect();
        if is_placed && hubs.contains(&None) {
            self.fault(key, format!("\"{hub_name}\" has no position; expected a node that has one"));
            return None;
        }
        Some(hubs)
    }
}
