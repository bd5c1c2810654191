//! Static routes: minimum hops; ties prefer the edge named first.

mod graph;

use std::collections::{BTreeSet, VecDeque};
use std::fmt;

use lasthop_stack::packet::NodeId;

use super::exits::Way;
use super::pairs::{Pairs, bytes_a_pair};
use crate::model::{Config, FlowConfig};
pub(super) use graph::Graph;

/// An exit of a node: a channel of a point-to-point link, or a station of a medium.
///
/// Ports are numbered over the links in order: two channels for a point-to-point link, one station for each node of a
/// medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Port(pub(crate) u32);

/// Where a packet goes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hop {
    /// Through which port.
    pub(crate) port: Port,
    /// To which node.
    pub(crate) next: NodeId,
}

/// The hops on the paths between the ends of flows, in both directions: from each node that packets pass towards their
/// destination.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routes {
    hops: Pairs<Hop>,
}

/// Why there are no routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoutes {
    /// Two nodes are not connected.
    Unreachable(Unreachable),
    /// They take more memory than a run is allowed; the number is the bytes found so far.
    Memory(u64),
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
    /// Routes for all flows of a scenario, both ways, where nodes that are handed off are at their first links.
    pub(crate) fn of(config: &Config) -> Result<Routes, NoRoutes> {
        if config.has_handoffs() {
            return Routes::of_place(config, usize::MAX, 0, &[]);
        }
        Routes::of_places(config, &[])
    }

    /// The same where one such node is at the first or second of its links, and from these nodes to it, too.
    pub(crate) fn of_place(
        config: &Config,
        mobile: usize,
        place: usize,
        also: &[usize],
    ) -> Result<Routes, NoRoutes> {
        let mut config = config.clone();
        for node in 0..config.nodes.len() {
            if let Some(handoff) = config.nodes[node].handoff.clone() {
                let here = if node == mobile { place } else { 0 };
                config.leave(node, handoff.links[1 - here]);
            }
        }
        let also: Vec<(usize, usize)> = also.iter().map(|node| (*node, mobile)).collect();
        Routes::of_places(&config, &also)
    }

    /// Gives the hop from a node to a destination.
    pub(super) fn set(&mut self, node: u32, destination: u32, hop: Hop) {
        self.hops.set(node, destination, hop);
    }

    fn of_places(config: &Config, also: &[(usize, usize)]) -> Result<Routes, NoRoutes> {
        let mut pairs = ends(config);
        pairs.extend(also);
        let (routes, unjoined) = Routes::search(Graph::of(config), &pairs, config.run.max_memory.0)?;
        unjoined.first().map_or(Ok(routes), |(_, first)| Err(NoRoutes::Unreachable(*first)))
    }

    /// The ends of flows that no path connects; none if there are too many routes to find them.
    pub(crate) fn unjoined(config: &Config) -> BTreeSet<(usize, usize)> {
        let pairs = ends(config);
        let found = Routes::search(Graph::of(config), &pairs, config.run.max_memory.0);
        found.map_or_else(
            |_| BTreeSet::new(),
            |(_, unjoined)| unjoined.iter().map(|(pair, _)| pairs[*pair]).collect(),
        )
    }

    /// The most memory that routes and paths take.
    pub(crate) fn bytes(&self) -> f64 {
        (self.hops.len() * BYTES_A_HOP) as f64
    }

    /// Routes for packets between these pairs, both ways, in at most this many bytes; and the pairs that no path
    /// connects, by their index.
    fn search(
        graph: Graph<'_>,
        pairs: &[(usize, usize)],
        most_bytes: u64,
    ) -> Result<(Routes, Vec<(usize, Unreachable)>), NoRoutes> {
        let most = usize::try_from(most_bytes).unwrap_or(usize::MAX) / BYTES_A_HOP;
        let mut search = Search::new(graph, most);
        // All pairs with one destination follow each other.
        let mut wanted: Vec<(usize, usize, usize)> = Vec::with_capacity(2 * pairs.len());
        for (pair, &(from, to)) in pairs.iter().enumerate().filter(|(_, (from, to))| from != to) {
            wanted.extend([(to, from, 2 * pair), (from, to, 2 * pair + 1)]);
        }
        wanted.sort_unstable();
        let mut unjoined = Vec::new();
        for group in wanted.chunk_by(|one, other| one.0 == other.0) {
            let sources: Vec<usize> = group.iter().map(|(_, source, _)| *source).collect();
            for missed in search.towards(group[0].0, &sources)? {
                let (to, from, number) = group[missed];
                let pair = Unreachable { from, to };
                unjoined.push((number, pair));
            }
        }
        // The reverse direction may take another path, and the nodes on it may send data of their own.
        let mut beside: Vec<(usize, usize)> = Vec::new();
        for &(destination, source, _) in &wanted {
            let back = search.routes.path(destination, source);
            let passed = back.iter().map(|(node, _)| *node).filter(|node| *node != destination);
            beside.extend(
                passed
                    .filter(|node| search.routes.hop(*node, destination).is_none())
                    .map(|node| (destination, node)),
            );
        }
        beside.sort_unstable();
        beside.dedup();
        for group in beside.chunk_by(|one, other| one.0 == other.0) {
            let nodes: Vec<usize> = group.iter().map(|(_, node)| *node).collect();
            search.towards(group[0].0, &nodes)?;
        }
        unjoined.sort_unstable_by_key(|(number, _)| *number);
        Ok((search.routes, unjoined.into_iter().map(|(number, pair)| (number / 2, pair)).collect()))
    }

    /// The hop from `node` towards a destination in use, if packets for it pass there.
    #[inline]
    pub(super) fn hop(&self, node: usize, destination: usize) -> Option<Hop> {
        self.hops.get(node as u32, destination as u32)
    }

    /// The hop from `node` towards `destination`.
    ///
    /// # Panics
    /// When no route was requested: packets travel between the ends of flows only.
    #[must_use]
    #[inline]
    pub(crate) fn next_hop(&self, node: NodeId, destination: NodeId) -> Hop {
        self.hop(node.0 as usize, destination.0 as usize).expect("a route for each flow")
    }

    /// The link that a port leads to, by its place.
    pub(crate) fn link_of(config: &Config, port: Port) -> usize {
        let mut last = 0;
        (0..config.links.len())
            .find(|link| {
                last += config.nodes_of(*link).len();
                (port.0 as usize) < last
            })
            .unwrap_or_default()
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

/// The memory of a hop and of the path entry made from it.
const BYTES_A_HOP: usize = bytes_a_pair::<Hop>() + bytes_a_pair::<Way>();

/// The ends of the flows.
fn ends(config: &Config) -> Vec<(usize, usize)> {
    config.flows.iter().flat_map(FlowConfig::pairs).collect()
}

/// Searches over all links, each from a destination against the hops that lead to it.
struct Search<'a> {
    graph: Graph<'a>,
    routes: Routes,
    most: usize,
    /// The hop from each node that this search has reached.
    row: Vec<Option<Hop>>,
    reached: Vec<usize>,
    front: VecDeque<usize>,
    searches: usize,
}

impl Search<'_> {
    fn new(graph: Graph<'_>, most: usize) -> Search<'_> {
        let row = vec![None; graph.nodes()];
        let (reached, front) = (Vec::new(), VecDeque::new());
        Search { graph, routes: Routes::default(), most, row, reached, front, searches: 0 }
    }

    /// Adds the routes from some nodes to a destination; returns the indices of those without a route.
    fn towards(&mut self, destination: usize, sources: &[usize]) -> Result<Vec<usize>, NoRoutes> {
        // A leaf has one exit, so the search need not visit it.
        let begins = |source: usize| {
            if !self.graph.is_leaf(source) {
                return Some((source, None));
            }
            self.graph.only_hop(source).map(|hop| (hop.next.0 as usize, Some(hop)))
        };
        let begins: Vec<Option<(usize, Option<Hop>)>> =
            sources.iter().map(|source| begins(*source)).collect();
        let mut wanted: Vec<usize> =
            begins.iter().flatten().map(|begin| begin.0).filter(|node| *node != destination).collect();
        wanted.sort_unstable();
        wanted.dedup();
        self.search(destination, &wanted);
        let mut missed = Vec::new();
        for (place, begin) in begins.iter().enumerate() {
            match begin {
                Some((node, hop)) if *node == destination || self.row[*node].is_some() => {
                    let is_new = hop.is_none_or(|hop| self.add(sources[place], destination, hop));
                    let mut node = *node;
                    while is_new
                        && node != destination
                        && let Some(hop) = self.row[node]
                        && self.add(node, destination, hop)
                    {
                        node = hop.next.0 as usize;
                    }
                }
                _ => missed.push(place),
            }
        }
        for node in self.reached.drain(..) {
            self.row[node] = None;
        }
        if self.routes.hops.len() > self.most {
            return Err(NoRoutes::Memory(self.routes.bytes() as u64));
        }
        Ok(missed)
    }

    /// Whether the hop is new; if it is not, neither are those after it.
    fn add(&mut self, node: usize, destination: usize, hop: Hop) -> bool {
        self.routes.hops.insert(node as u32, destination as u32, hop)
    }

    /// Finds the first hop of a shortest path from each wanted node (they are sorted), and from the nodes on these
    /// paths.
    fn search(&mut self, destination: usize, wanted: &[usize]) {
        self.searches += 1;
        let Search { graph, row, reached, front, searches, .. } = self;
        let mut left = wanted.len();
        front.clear();
        front.push_back(destination);
        while left > 0
            && let Some(node) = front.pop_front()
        {
            graph.towards(node, *searches, |from, hop| {
                if from != destination && row[from].is_none() {
                    row[from] = Some(hop);
                    reached.push(from);
                    front.push_back(from);
                    left -= usize::from(wanted.binary_search(&from).is_ok());
                }
                left == 0
            });
        }
    }
}

#[cfg(test)]
pub(super) mod testing {
    //! What the tests of routes and ways share.

    use super::*;

    /// The routes between these pairs over wires, two channels for each.
    pub(in crate::net) fn over_wires(
        nodes: usize,
        links: &[[usize; 2]],
        pairs: &[(usize, usize)],
    ) -> Result<Routes, Unreachable> {
        let (routes, unjoined) = Routes::search(Graph::wires(nodes, links), pairs, u64::MAX).expect("room");
        unjoined.first().map_or(Ok(routes), |(_, first)| Err(*first))
    }

    /// The ports on the way from one node to another.
    pub(in crate::net) fn ports(routes: &Routes, from: usize, to: usize) -> Vec<u32> {
        routes.path(from, to).iter().map(|(_, hop)| hop.port.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{over_wires, ports};
    use super::*;

    #[test]
    fn the_path_with_fewest_hops_is_taken_and_the_first_link_breaks_a_tie() {
        let wires = [[0, 1], [1, 3], [0, 2], [2, 3], [0, 3], [0, 3]];
        let routes = over_wires(4, &wires, &[(0, 3), (1, 2)]).expect("connected");
        assert_eq!(ports(&routes, 0, 3), [8]);
        assert_eq!(ports(&routes, 3, 0), [9]);
        assert_eq!(ports(&routes, 1, 2), [1, 4]);
    }

    #[test]
    fn nodes_without_a_path_are_named() {
        let unreachable = over_wires(3, &[[0, 1]], &[(0, 2)]).expect_err("not connected");
        assert_eq!(unreachable, Unreachable { from: 0, to: 2 });
    }

    #[test]
    fn whoever_packets_pass_on_one_way_can_send_to_both_ends() {
        // Two paths between 0 and 3; each direction takes a different one.
        let wires = [[0, 1], [2, 3], [0, 2], [1, 3], [4, 0], [3, 5]];
        let routes = over_wires(6, &wires, &[(4, 5)]).expect("connected");
        let passed = |from, to| routes.path(from, to).iter().map(|(node, _)| *node).collect::<Vec<_>>();
        let (there, back) = (passed(4, 5), passed(5, 4));
        assert_ne!(there, back.iter().rev().copied().collect::<Vec<_>>());
        for node in there.into_iter().chain(back) {
            assert!(node == 4 || routes.hop(node, 4).is_some());
            assert!(node == 5 || routes.hop(node, 5).is_some());
        }
    }

    #[test]
    fn a_star_of_pairs_has_as_many_routes_as_its_pairs_have_hops() {
        let leaves = 2000;
        let wires: Vec<[usize; 2]> = (1..=leaves).map(|leaf| [0, leaf]).collect();
        let pairs: Vec<(usize, usize)> = (1..=leaves / 2).map(|leaf| (leaf, leaf + leaves / 2)).collect();
        let routes = over_wires(leaves + 1, &wires, &pairs).expect("connected");
        assert_eq!(routes.hops.len(), 2 * leaves);
        assert_eq!(ports(&routes, 7, 7 + leaves / 2), [13, 2012]);
    }
}
