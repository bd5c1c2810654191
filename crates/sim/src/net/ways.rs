//! The next hop of a packet: route and port in one look-up.
//!
//! A channel is a *relay* if every packet it carries comes out of one other channel. Nothing else can reach it before
//! the next packet of that channel, so its action on a packet is known as soon as the other channel enqueues the
//! packet.

use lasthop_stack::packet::NodeId;

use super::exits::{Exit, Way};
use super::pairs::Pairs;
use super::routes::Routes;
use crate::engine::ahead;

/// The receiver of the last packet of a channel at its far end, or of an end of a flow. Most packets go where the last
/// one went, and the next step need not wait for the search in the table.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Onward {
    key: u64,
    way: Way,
}

/// The paths between the ends of flows, from all nodes that packets pass.
#[derive(Debug)]
pub(super) struct Ways {
    /// Which table this is, from 1 on: each change makes another.
    version: u32,
    /// By node and destination.
    table: Pairs<Way>,
    /// The receiver of the last packet of each end of a flow.
    outward: Vec<Onward>,
    /// All channels, each relay before the channel that feeds it.
    pub(super) last_first: Vec<u32>,
}

impl Ways {
    /// The paths of packets between these pairs of nodes, in both directions. `exits` are the targets of the ports.
    /// `is_guarded` states of a port whether agents sit there, `is_relay` of a channel whether it may be a relay.
    /// `scatters` states whether the packets of a channel arrive in another order than they leave, or more of them;
    /// then nothing behind it is a relay.
    pub(super) fn new(
        routes: &Routes,
        exits: &[Exit],
        pairs: &[(usize, usize)],
        is_guarded: impl Fn(usize) -> bool,
        is_relay: impl Fn(u32) -> bool,
        scatters: impl Fn(u32) -> bool,
    ) -> Ways {
        let both = pairs.iter().flat_map(|&(from, to)| [(from, to), (to, from)]);
        let mut feeders = feeders(routes, exits, both.clone(), &is_guarded);
        for (channel, feeder) in feeders.iter_mut().enumerate() {
            *feeder = feeder.filter(|feeder| is_relay(channel as u32) && !scatters(*feeder));
        }
        let mut ways = Ways {
            version: 1,
            table: Pairs::default(),
            outward: vec![Onward::default(); 2 * pairs.len()],
            last_first: last_first(&feeders),
        };
        for (from, to) in both {
            for (node, _) in routes.path(from, to) {
                for destination in [from, to] {
                    if let Some(hop) = routes.hop(node, destination) {
                        let port = hop.port.0 as usize;
                        let way = match Way::over(exits[port], is_guarded(port)) {
                            Way::Channel(channel) if feeders[channel as usize].is_some() => {
                                Way::Relay(channel)
                            }
                            way => way,
                        };
                        ways.table.insert(node as u32, destination as u32, way);
                    }
                }
            }
        }
        ways
    }

    /// Gives what awaits a packet at a node.
    pub(super) fn set(&mut self, node: u32, destination: u32, way: Way) {
        self.table.set(node, destination, way);
        self.version += 1;
    }

    /// The receiver of a packet with this [key](Self::key) at the far end of a channel, which is at this node.
    #[inline]
    pub(super) fn onward(&self, last: &mut Onward, key: u64, node: NodeId) -> Way {
        if last.key != key {
            *last = Onward { key, way: self.at(node, NodeId(key as u32)) };
        }
        last.way
    }

    /// The receiver of a packet for `destination` that an end of a flow sends from this node, which is its own.
    #[inline]
    pub(super) fn outward(&mut self, end: u32, node: NodeId, destination: NodeId) -> Way {
        let (end, key) = (end as usize, self.key(destination));
        if self.outward[end].key != key {
            self.outward[end] = Onward { key, way: self.at(node, destination) };
        }
        self.outward[end].way
    }

    /// Prefetches what received the last packet of an end.
    #[inline]
    pub(super) fn fetch(&self, end: u32) {
        ahead::fetch(&self.outward[end as usize]);
    }

    /// The identifier of a way to this destination, which holds until a route changes.
    #[inline]
    pub(super) fn key(&self, destination: NodeId) -> u64 {
        u64::from(self.version) << 32 | u64::from(destination.0)
    }

    /// The receiver of a packet for `destination` at a node.
    #[inline]
    pub(super) fn at(&self, node: NodeId, destination: NodeId) -> Way {
        self.table.get(node.0, destination.0).unwrap_or_default()
    }
}

/// The channel that feeds each relay; `None` for every other channel. Agents may delay packets and create new ones, so
/// a channel behind agents is not a relay.
fn feeders(
    routes: &Routes,
    exits: &[Exit],
    pairs: impl Iterator<Item = (usize, usize)>,
    is_guarded: impl Fn(usize) -> bool,
) -> Vec<Option<u32>> {
    // For each channel in use, what feeds it: `None` for a node, a medium, or several channels.
    let channels = exits.iter().filter(|exit| matches!(exit, Exit::Channel(_))).count();
    let mut feeders: Vec<Option<Option<u32>>> = vec![None; channels];
    for (from, to) in pairs {
        let mut feeder = None;
        for (_, hop) in routes.path(from, to) {
            match exits[hop.port.0 as usize] {
                Exit::Channel(channel) => {
                    // The interface at the far end is that of the channel back.
                    let port = hop.port.0 as usize;
                    let back = port - (channel as usize & 1) + (1 - (channel as usize & 1));
                    let feeds = feeder.filter(|_| !is_guarded(port));
                    let known = &mut feeders[channel as usize];
                    *known = Some(known.unwrap_or(feeds).filter(|known| feeds == Some(*known)));
                    feeder = (!is_guarded(back)).then_some(channel);
                }
                Exit::Station { .. } | Exit::Slotted { .. } => feeder = None,
            }
        }
    }
    feeders.into_iter().map(Option::flatten).collect()
}

/// All channels, each relay before the channel that feeds it. A path begins at a channel that is not a relay, so that no
/// relay feeds itself in a circle.
fn last_first(feeders: &[Option<u32>]) -> Vec<u32> {
    let depth = |channel: u32| std::iter::successors(Some(channel), |&relay| feeders[relay as usize]).count();
    let mut channels: Vec<u32> = (0..feeders.len() as u32).collect();
    channels.sort_by_key(|&channel| std::cmp::Reverse(depth(channel)));
    channels
}

#[cfg(test)]
mod tests {
    use super::super::routes::testing::{over_wires, ports};
    use super::*;

    /// Which of the channels of these wires are relays, channel 2k leading from the first node of wire k to the second.
    fn relays_of(links: &[[usize; 2]], nodes: usize, pairs: &[(usize, usize)]) -> Vec<usize> {
        let exits: Vec<Exit> = (0..2 * links.len() as u32).map(Exit::Channel).collect();
        let routes = over_wires(nodes, links, pairs).expect("connected");
        for &(from, to) in pairs {
            assert!(!ports(&routes, from, to).is_empty());
        }
        let both = pairs.iter().flat_map(|&(from, to)| [(from, to), (to, from)]);
        let feeders = feeders(&routes, &exits, both, |_| false);
        let order = last_first(&feeders);
        let place = |channel: usize| order.iter().position(|&other| other as usize == channel);
        for (relay, feeder) in feeders.iter().enumerate() {
            assert!(feeder.is_none_or(|feeder| place(relay) < place(feeder as usize)));
        }
        (0..exits.len()).filter(|&channel| feeders[channel].is_some()).collect()
    }

    #[test]
    fn where_the_last_packet_went_on_counts_until_a_way_changes() {
        let mut ways = Ways {
            version: 1,
            table: Pairs::default(),
            outward: vec![Onward::default()],
            last_first: Vec::new(),
        };
        let (mut last, node, to) = (Onward::default(), NodeId(1), NodeId(2));
        ways.set(1, 2, Way::Channel(5));
        assert_eq!(
            [ways.onward(&mut last, ways.key(to), node), ways.outward(0, node, to)],
            [Way::Channel(5); 2]
        );
        ways.set(1, 2, Way::Relay(6));
        assert_eq!(
            [ways.onward(&mut last, ways.key(to), node), ways.outward(0, node, to)],
            [Way::Relay(6); 2]
        );
        assert_eq!(
            [ways.onward(&mut last, ways.key(NodeId(3)), node), ways.outward(0, node, NodeId(3))],
            [Way::Ends; 2]
        );
    }

    #[test]
    fn in_a_row_of_wires_all_but_the_first_of_each_direction_are_relays() {
        assert_eq!(relays_of(&[[0, 1], [1, 2], [2, 3]], 4, &[(0, 3)]), [1, 2, 3, 4]);
    }

    #[test]
    fn a_channel_that_a_node_of_its_own_or_a_second_channel_feeds_is_none() {
        // A flow that begins in the middle, and two that join there.
        assert_eq!(relays_of(&[[0, 1], [1, 2]], 3, &[(0, 2), (1, 2)]), [1]);
        assert_eq!(relays_of(&[[0, 2], [1, 2], [2, 3]], 4, &[(0, 3), (1, 3)]), [1, 3]);
        // The same channel fed by a node first.
        assert_eq!(relays_of(&[[0, 1], [1, 2]], 3, &[(1, 2), (0, 2)]), [1]);
    }
}
