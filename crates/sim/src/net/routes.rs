//! Static routes: fewest hops, the link named first where paths tie.

use std::collections::VecDeque;
use std::fmt;

use lasthop_stack::packet::NodeId;

use crate::scenario::config::Config;

/// For each destination in use and each node, the channel to take.
#[derive(Clone, Debug)]
pub(crate) struct Routes {
    row_of: Vec<u32>,
    rows: Vec<u32>,
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

const NONE: u32 = u32::MAX;

impl Routes {
    /// Routes for all flows of a scenario, both ways.
    pub(crate) fn of(config: &Config) -> Result<Routes, Unreachable> {
        let links: Vec<[usize; 2]> = config.links.iter().map(|link| link.nodes).collect();
        let pairs: Vec<(usize, usize)> = config.flows.iter().map(|flow| (flow.from, flow.to)).collect();
        Routes::shortest(config.nodes.len(), &links, &pairs)
    }

    /// Routes among `nodes` nodes over `links`, for packets between the `pairs`, both ways.
    ///
    /// # Errors
    /// When the nodes of a pair are not connected.
    pub(crate) fn shortest(
        nodes: usize,
        links: &[[usize; 2]],
        pairs: &[(usize, usize)],
    ) -> Result<Routes, Unreachable> {
        // A channel leads from a node; for a path towards a destination the search goes against it.
        let mut incoming = vec![Vec::new(); nodes];
        for (link, ends) in links.iter().enumerate() {
            incoming[ends[1]].push((2 * link, ends[0]));
            incoming[ends[0]].push((2 * link + 1, ends[1]));
        }
        let mut routes = Routes { row_of: vec![NONE; nodes], rows: Vec::new(), nodes };
        for &(from, to) in pairs {
            for (source, destination) in [(from, to), (to, from)] {
                routes.add_row(destination, &incoming);
                if source != destination && routes.find(source, destination) == NONE {
                    return Err(Unreachable { from: source, to: destination });
                }
            }
        }
        Ok(routes)
    }

    fn add_row(&mut self, destination: usize, incoming: &[Vec<(usize, usize)>]) {
        if self.row_of[destination] != NONE {
            return;
        }
        self.row_of[destination] = (self.rows.len() / self.nodes) as u32;
        let mut row = vec![NONE; self.nodes];
        let mut front = VecDeque::from([destination]);
        while let Some(node) = front.pop_front() {
            for &(channel, from) in &incoming[node] {
                if from != destination && row[from] == NONE {
                    row[from] = channel as u32;
                    front.push_back(from);
                }
            }
        }
        self.rows.extend(row);
    }

    fn find(&self, node: usize, destination: usize) -> u32 {
        self.rows[self.row_of[destination] as usize * self.nodes + node]
    }

    /// The channel from `node` towards `destination`, which must be one of the pairs'.
    #[must_use]
    #[inline]
    pub(crate) fn next_hop(&self, node: NodeId, destination: NodeId) -> usize {
        self.find(node.0 as usize, destination.0 as usize) as usize
    }

    /// The channels from one node of a pair to the other, in order.
    #[must_use]
    pub(crate) fn path(&self, from: usize, to: usize, links: &[[usize; 2]]) -> Vec<usize> {
        let mut channels = Vec::new();
        let mut node = from;
        while node != to {
            let channel = self.find(node, to) as usize;
            channels.push(channel);
            node = links[channel / 2][1 - channel % 2];
        }
        channels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_with_fewest_hops_is_taken_and_the_first_link_breaks_a_tie() {
        let links = [[0, 1], [1, 3], [0, 2], [2, 3], [0, 3], [0, 3]];
        let routes = Routes::shortest(4, &links, &[(0, 3), (1, 2)]).expect("connected");
        assert_eq!(routes.path(0, 3, &links), [8]);
        assert_eq!(routes.path(3, 0, &links), [9]);
        assert_eq!(routes.path(1, 2, &links), [1, 4]);
    }

    #[test]
    fn nodes_without_a_path_are_named() {
        let unreachable = Routes::shortest(3, &[[0, 1]], &[(0, 2)]).expect_err("not connected");
        assert_eq!(unreachable, Unreachable { from: 0, to: 2 });
    }
}
