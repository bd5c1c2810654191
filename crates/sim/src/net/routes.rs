//! Static routes: fewest hops, the edge named first where paths tie.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;

use lasthop_stack::packet::NodeId;
use lasthop_stack::units::Metres;

use crate::medium::radio::propagation::received_power_w;
use crate::scenario::config::{Config, LinkKind, WifiConfig};

/// A way out of a node: a channel of a point-to-point link, or a station of a medium.
///
/// Ports are numbered over the links in order: two channels for a point-to-point link, one station for each node of a
/// medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Port(pub(crate) u32);

/// Where a packet goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hop {
    /// Through which port.
    pub(crate) port: Port,
    /// To which node.
    pub(crate) next: NodeId,
}

/// One hop that can be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    from: usize,
    hop: Hop,
}

/// For each destination in use and each node, the hop to make.
#[derive(Clone, Debug)]
pub(crate) struct Routes {
    row_of: Vec<u32>,
    rows: Vec<Option<Hop>>,
    nodes: usize,
}

/// There is no path between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreachable {
    /// Index of the node that cannot send.
    pub from: usize,
    /// Index of the node it cannot reach.
    pub to: usize,
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no path from node {} to node {}", self.from, self.to)
    }
}

impl Routes {
    /// Routes for all flows of a scenario, both ways.
    pub(crate) fn of(config: &Config) -> Result<Routes, Unreachable> {
        let pairs: Vec<(usize, usize)> = config.flows.iter().map(|flow| (flow.from, flow.to)).collect();
        Routes::shortest(config.nodes.len(), &edges(config), &pairs)
    }

    /// Routes among `nodes` nodes for packets between the `pairs`, both ways.
    pub(super) fn shortest(
        nodes: usize,
        edges: &[Edge],
        pairs: &[(usize, usize)],
    ) -> Result<Routes, Unreachable> {
        let incoming = incoming(nodes, edges);
        let mut routes = Routes::none(nodes);
        for &(from, to) in pairs {
            for (source, destination) in [(from, to), (to, from)] {
                routes.add_row(destination, &incoming);
                if source != destination && routes.hop(source, destination).is_none() {
                    return Err(Unreachable { from: source, to: destination });
                }
            }
        }
        Ok(routes)
    }

    /// The flows of a scenario whose ends no path joins, by their place.
    pub(crate) fn unjoined(config: &Config) -> BTreeSet<usize> {
        let incoming = incoming(config.nodes.len(), &edges(config));
        let mut routes = Routes::none(config.nodes.len());
        let mut found = BTreeSet::new();
        for (number, flow) in config.flows.iter().enumerate() {
            for (source, destination) in [(flow.from, flow.to), (flow.to, flow.from)] {
                routes.add_row(destination, &incoming);
                if source != destination && routes.hop(source, destination).is_none() {
                    found.insert(number);
                }
            }
        }
        found
    }

    fn none(nodes: usize) -> Routes {
        Routes { row_of: vec![u32::MAX; nodes], rows: Vec::new(), nodes }
    }

    fn add_row(&mut self, destination: usize, incoming: &[Vec<Edge>]) {
        if self.row_of[destination] != u32::MAX {
            return;
        }
        self.row_of[destination] = (self.rows.len() / self.nodes) as u32;
        let mut row = vec![None; self.nodes];
        let mut left = self.nodes - 1;
        let mut front = VecDeque::from([destination]);
        // Where all hear each other, the first node looked at has found everyone.
        while left > 0
            && let Some(node) = front.pop_front()
        {
            for edge in &incoming[node] {
                if edge.from != destination && row[edge.from].is_none() {
                    row[edge.from] = Some(edge.hop);
                    left -= 1;
                    front.push_back(edge.from);
                }
            }
        }
        self.rows.extend(row);
    }

    /// The hop from `node` towards a destination in use, if it is not there and there is a path.
    #[inline]
    pub(super) fn hop(&self, node: usize, destination: usize) -> Option<Hop> {
        self.rows[self.row_of[destination] as usize * self.nodes + node]
    }

    /// The hop from `node` towards `destination`.
    ///
    /// # Panics
    /// When no route was asked for: packets travel between the ends of flows only.
    #[must_use]
    #[inline]
    pub(crate) fn next_hop(&self, node: NodeId, destination: NodeId) -> Hop {
        self.hop(node.0 as usize, destination.0 as usize).expect("a route for each flow")
    }

    /// The hops from one end of a flow to the other, each with the node it is made from.
    #[must_use]
    pub(crate) fn path(&self, from: usize, to: usize) -> Vec<(usize, Hop)> {
        let mut hops = Vec::new();
        let mut node = from;
        while node != to
            && let Some(hop) = self.hop(node, to)
        {
            hops.push((node, hop));
            node = hop.next.0 as usize;
        }
        hops
    }
}

/// The edges that lead to each node. An edge leads from a node; for a path towards a destination the search goes against
/// it.
fn incoming(nodes: usize, edges: &[Edge]) -> Vec<Vec<Edge>> {
    let mut incoming = vec![Vec::new(); nodes];
    for edge in edges {
        incoming[edge.hop.next.0 as usize].push(*edge);
    }
    incoming
}

/// All hops that can be made in a scenario, in the order of its links.
fn edges(config: &Config) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut port = 0;
    for link in &config.links {
        match &link.kind {
            LinkKind::PointToPoint(link) => {
                for direction in 0..2 {
                    let next = NodeId(link.nodes[1 - direction] as u32);
                    edges.push(Edge { from: link.nodes[direction], hop: Hop { port: Port(port), next } });
                    port += 1;
                }
            }
            LinkKind::Wifi(wifi) => {
                for (place, &from) in wifi.nodes.iter().enumerate() {
                    for &to in &wifi.nodes {
                        if from != to && reaches(config, wifi, from, to) {
                            let hop = Hop { port: Port(port + place as u32), next: NodeId(to as u32) };
                            edges.push(Edge { from, hop });
                        }
                    }
                }
                port += wifi.nodes.len() as u32;
            }
            LinkKind::Frn(frn) => {
                for (place, &from) in frn.nodes.iter().enumerate() {
                    for &to in &frn.nodes {
                        let in_range = |away| away <= frn.medium.range_m;
                        if from != to && distance_m(config, from, to).is_some_and(in_range) {
                            let hop = Hop { port: Port(port + place as u32), next: NodeId(to as u32) };
                            edges.push(Edge { from, hop });
                        }
                    }
                }
                port += frn.nodes.len() as u32;
            }
        }
    }
    edges
}

/// Whether a frame can go from one node of a medium to another: both are in reach, or one may come into it, and one is the
/// access point if there is any.
fn reaches(config: &Config, wifi: &WifiConfig, from: usize, to: usize) -> bool {
    if wifi.access_point.is_some_and(|ap| ap != from && ap != to) {
        return false;
    }
    if [from, to].iter().any(|node| config.nodes[*node].motion.is_some()) {
        return true;
    }
    let Some(distance_m) = distance_m(config, from, to) else { return true };
    received_power_w(&wifi.radio, distance_m) >= wifi.radio.receive_threshold_w
}

/// How far two nodes are apart, m, if both have a place.
fn distance_m(config: &Config, from: usize, to: usize) -> Option<f64> {
    let (here, there) = (config.nodes[from].position?, config.nodes[to].position?);
    let metres = |one: Metres, other: Metres| one.0 - other.0;
    Some(libm::hypot(metres(here.0, there.0), metres(here.1, there.1)))
}

#[cfg(test)]
pub(super) mod testing {
    //! What the tests of routes and ways share.

    use super::*;

    /// The edges of these wires, two channels for each.
    pub(in crate::net) fn wires(links: &[[usize; 2]]) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (place, ends) in links.iter().enumerate() {
            for direction in 0..2 {
                let hop = Hop {
                    port: Port((2 * place + direction) as u32),
                    next: NodeId(ends[1 - direction] as u32),
                };
                edges.push(Edge { from: ends[direction], hop });
            }
        }
        edges
    }

    /// The ports on the way from one node to another.
    pub(in crate::net) fn ports(routes: &Routes, from: usize, to: usize) -> Vec<u32> {
        routes.path(from, to).iter().map(|(_, hop)| hop.port.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{ports, wires};
    use super::*;

    #[test]
    fn the_path_with_fewest_hops_is_taken_and_the_first_link_breaks_a_tie() {
        let edges = wires(&[[0, 1], [1, 3], [0, 2], [2, 3], [0, 3], [0, 3]]);
        let routes = Routes::shortest(4, &edges, &[(0, 3), (1, 2)]).expect("connected");
        assert_eq!(ports(&routes, 0, 3), [8]);
        assert_eq!(ports(&routes, 3, 0), [9]);
        assert_eq!(ports(&routes, 1, 2), [1, 4]);
    }

    #[test]
    fn nodes_without_a_path_are_named() {
        let unreachable = Routes::shortest(3, &wires(&[[0, 1]]), &[(0, 2)]).expect_err("not connected");
        assert_eq!(unreachable, Unreachable { from: 0, to: 2 });
    }
}
