//! The network configuration table of a node: neighbours by hops to each destination.

use super::routing::{Heard, Routing, Tried};
use crate::hooks::parameter::words;
use crate::packet::NodeId;

/// Maximum number of neighbours used towards one destination.
const MOST: usize = 64;

/// Which neighbours may take a packet after the forward ones, which are one hop closer to its destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alternatives {
    /// None.
    Forward,
    /// If there is only one forward neighbour: the sideward ones, as far from the destination as the node itself.
    #[default]
    Sideward,
    /// As `Sideward`, and then the backward ones, one hop farther away.
    Backward,
}

words! { Alternatives: Forward = "forward", Sideward = "sideward", Backward = "backward" }

/// The table of one node.
#[derive(Clone, Debug, Default)]
pub struct NetworkTable {
    /// Ascending by destination.
    rows: Vec<Row>,
}

/// The neighbours towards one destination, in the order in which they are tried.
#[derive(Clone, Debug)]
struct Row {
    destination: NodeId,
    neighbours: Vec<NodeId>,
    /// Whether several are forward; then all are.
    has_choice: bool,
    /// The packets sent by [`Routing::Turn`].
    turns: usize,
}

impl NetworkTable {
    /// Enters a destination `hops` away. The neighbours are given with their own distances from it, in the order of the
    /// table.
    pub fn enter(
        &mut self,
        destination: NodeId,
        hops: u32,
        neighbours: &[(NodeId, u32)],
        alternatives: Alternatives,
    ) {
        let at = |hops: u32| neighbours.iter().filter(move |(_, away)| *away == hops).map(|(node, _)| *node);
        let mut tried: Vec<NodeId> = at(hops.saturating_sub(1)).collect();
        let has_choice = tried.len() > 1;
        if !has_choice && alternatives != Alternatives::Forward {
            tried.extend(at(hops));
            if alternatives == Alternatives::Backward {
                tried.extend(at(hops + 1));
            }
        }
        tried.truncate(MOST);
        let place = self.rows.partition_point(|row| row.destination < destination);
        self.rows.insert(place, Row { destination, neighbours: tried, has_choice, turns: 0 });
    }

    /// The place of the neighbour to which a packet for `destination`, which must have been entered, is sent now.
    pub(super) fn next(
        &mut self,
        destination: NodeId,
        tried: Tried,
        routing: Routing,
        heard: &Heard,
    ) -> (usize, NodeId) {
        let Ok(at) = self.rows.binary_search_by_key(&destination, |row| row.destination) else {
            unreachable!("a packet without a neighbour towards its destination")
        };
        let Row { neighbours, has_choice, turns, .. } = &mut self.rows[at];
        let place = match routing {
            Routing::Turn if *has_choice && tried.times == 0 => {
                *turns += 1;
                (*turns - 1) % neighbours.len()
            }
            Routing::Turn if *has_choice => (tried.last as usize + 1) % neighbours.len(),
            Routing::Load { .. } if *has_choice => least_loaded(neighbours, tried, heard),
            _ => tried.times as usize % neighbours.len(),
        };
        (place, neighbours[place])
    }

    /// The neighbours to which a packet for `destination` is sent in turn; none if the destination was not entered.
    #[must_use]
    pub fn towards(&self, destination: NodeId) -> &[NodeId] {
        match self.rows.binary_search_by_key(&destination, |row| row.destination) {
            Ok(place) => &self.rows[place].neighbours,
            Err(_) => &[],
        }
    }
}

/// The place of the neighbour heard least, of those that have not had the packet if there are any; the first of equals.
fn least_loaded(neighbours: &[NodeId], tried: Tried, heard: &Heard) -> usize {
    let places = 0..neighbours.len();
    let is_new = places.clone().any(|place| !tried.has(place));
    let open = places.filter(|place| !is_new || !tried.has(*place));
    open.min_by_key(|place| heard.of(neighbours[*place])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: NodeId = NodeId(9);

    fn tried(neighbours: &[(u32, u32)], alternatives: Alternatives) -> Vec<u32> {
        let mut table = NetworkTable::default();
        let neighbours: Vec<_> = neighbours.iter().map(|&(node, hops)| (NodeId(node), hops)).collect();
        table.enter(FAR, 3, &neighbours, alternatives);
        table.towards(FAR).iter().map(|node| node.0).collect()
    }

    #[test]
    fn forward_neighbours_come_in_table_order_and_spare_the_sideward_ones() {
        let neighbours = [(5, 3), (2, 2), (7, 4), (1, 2)];
        assert_eq!(tried(&neighbours, Alternatives::Sideward), [2, 1]);
        assert_eq!(tried(&neighbours, Alternatives::Backward), [2, 1]);
    }

    #[test]
    fn a_single_forward_neighbour_has_the_others_behind_it_as_far_as_allowed() {
        let neighbours = [(5, 3), (2, 2), (7, 4)];
        assert_eq!(tried(&neighbours, Alternatives::Forward), [2]);
        assert_eq!(tried(&neighbours, Alternatives::Sideward), [2, 5]);
        assert_eq!(tried(&neighbours, Alternatives::Backward), [2, 5, 7]);
    }

    #[test]
    fn destinations_are_found_whatever_order_they_were_entered_in() {
        let mut table = NetworkTable::default();
        for destination in [8, 3, 5] {
            let neighbour = (NodeId(destination + 10), 0);
            table.enter(NodeId(destination), 1, &[neighbour], Alternatives::Sideward);
        }
        for destination in [3, 5, 8] {
            assert_eq!(table.towards(NodeId(destination)), [NodeId(destination + 10)]);
        }
        assert!(table.towards(NodeId(4)).is_empty());
    }
}
