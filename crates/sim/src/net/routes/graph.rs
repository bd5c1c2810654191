//! The graph of a scenario's links, for route computation.
//!
//! A medium on which all stations hear each other has no list of pairs; on others, the list of a station is made when a
//! search reaches it.

use super::{Hop, Port};
use crate::medium::radio::propagation::received_power_w;
use crate::model::{Config, FrnConfig, LinkKind, WifiConfig};
use lasthop_stack::packet::NodeId;
use lasthop_stack::units::Metres;

/// By what factor a frame's range must exceed the greatest distance before no pair of stations is tested.
const MARGIN: f64 = 1.001;

/// The links of a scenario.
pub(in crate::net) struct Graph<'a> {
    joins: Vec<Join<'a>>,
    /// Where the list of each node begins in `at`, and where the last ends.
    first: Vec<u32>,
    /// The links of each node, in order, each with the place of the node on it.
    at: Vec<(u32, u32)>,
    /// Whether each node can send to one other only, so that no path leads over it.
    leaves: Vec<bool>,
}

enum Join<'a> {
    /// The first of two ports, and the ends.
    Wire(u32, [u32; 2]),
    Medium(Medium<'a>),
}

struct Medium<'a> {
    members: &'a [usize],
    /// The port of its first station; each has one.
    port: u32,
    /// The index of the station with which all others communicate.
    hub: Option<usize>,
    /// Whether all are in range of each other.
    is_whole: bool,
    reach: Reach<'a>,
    /// The indices of the stations in range of each, once they were requested.
    lists: Vec<Option<Box<[u32]>>>,
    /// Stations that have other links too, by their places.
    inner: Vec<u32>,
    /// Those of a slotted network with how far east they stand, m, from west to east: its range bounds the difference.
    from_west: Vec<(f64, u32)>,
    /// The search that has reached it, if all hear each other.
    searched: usize,
}

/// Which stations reach each other.
#[derive(Clone, Copy)]
enum Reach<'a> {
    Radio(&'a Config, &'a WifiConfig),
    Slotted(&'a Config, &'a FrnConfig),
}

impl<'a> Graph<'a> {
    /// All hops that can be made in a scenario.
    pub(super) fn of(config: &'a Config) -> Graph<'a> {
        let mut joins = Vec::with_capacity(config.links.len());
        let mut port = 0;
        for link in &config.links {
            let medium = |members: &'a [usize], hub: Option<usize>, reach| Medium {
                members,
                port,
                hub: hub.and_then(|hub| members.iter().position(|member| *member == hub)),
                is_whole: is_whole(config, members, reach),
                reach,
                lists: vec![None; members.len()],
                inner: Vec::new(),
                from_west: Vec::new(),
                searched: usize::MAX,
            };
            joins.push(match &link.kind {
                LinkKind::PointToPoint(link) => Join::Wire(port, link.nodes.map(|node| node as u32)),
                LinkKind::Wifi(wifi) => {
                    let reach = Reach::Radio(config, wifi);
                    // Routes lead over the first link of multi-link devices.
                    let stations = if wifi.multi_link.is_some() { &[][..] } else { &wifi.nodes };
                    Join::Medium(medium(stations, wifi.access_point, reach))
                }
                LinkKind::Frn(frn) => Join::Medium(medium(&frn.nodes, None, Reach::Slotted(config, frn))),
            });
            port += link.kind.ports().len() as u32;
        }
        Graph::new(config.nodes.len(), joins)
    }

    /// A graph of wires, two ports for each.
    #[cfg(test)]
    pub(in crate::net) fn wires(nodes: usize, links: &[[usize; 2]]) -> Graph<'static> {
        let wire =
            |(place, ends): (usize, &[usize; 2])| Join::Wire(2 * place as u32, ends.map(|end| end as u32));
        Graph::new(nodes, links.iter().enumerate().map(wire).collect())
    }

    fn new(nodes: usize, joins: Vec<Join<'a>>) -> Graph<'a> {
        let mut first = vec![0_u32; nodes + 1];
        let each = |act: &mut dyn FnMut(usize, (u32, u32))| {
            for (number, join) in joins.iter().enumerate() {
                let mut on = |node: usize, place: usize| act(node, (number as u32, place as u32));
                match join {
                    Join::Wire(_, ends) => (0..2).for_each(|end| on(ends[end] as usize, end)),
                    Join::Medium(medium) => {
                        medium.members.iter().enumerate().for_each(|(place, node)| on(*node, place));
                    }
                }
            }
        };
        each(&mut |node, _| first[node + 1] += 1);
        for node in 0..nodes {
            first[node + 1] += first[node];
        }
        let mut next = first.clone();
        let mut at = vec![(0, 0); first[nodes] as usize];
        each(&mut |node, entry| {
            at[next[node] as usize] = entry;
            next[node] += 1;
        });
        let mut graph = Graph { joins, first, at, leaves: Vec::new() };
        graph.find_leaves();
        graph
    }

    /// Finds the leaves, and omits the wires to them from the list of each node, and them from those of media.
    fn find_leaves(&mut self) {
        let nodes = self.nodes();
        let is_leaf: Vec<bool> = (0..nodes).map(|node| self.has_one_hop(node)).collect();
        for join in &mut self.joins {
            if let Join::Medium(medium) = join {
                let places = medium.members.iter().enumerate();
                let inner = places.filter(|(_, node)| !is_leaf[**node]).map(|(place, _)| place as u32);
                medium.inner = inner.collect();
                medium.sort();
            }
        }
        let (mut first, mut at) = (vec![0_u32; nodes + 1], Vec::new());
        for node in 0..nodes {
            let leads_on = |(link, place): &(u32, u32)| match &self.joins[*link as usize] {
                Join::Wire(_, ends) => !is_leaf[ends[1 - *place as usize] as usize] || is_leaf[node],
                Join::Medium(_) => true,
            };
            at.extend(self.links(node).iter().copied().filter(leads_on));
            first[node + 1] = at.len() as u32;
        }
        (self.first, self.at, self.leaves) = (first, at, is_leaf);
    }

    fn links(&self, node: usize) -> &[(u32, u32)] {
        &self.at[self.first[node] as usize..self.first[node + 1] as usize]
    }

    pub(super) fn nodes(&self) -> usize {
        self.first.len() - 1
    }

    /// Whether a node can send to one other only.
    pub(super) fn is_leaf(&self, node: usize) -> bool {
        self.leaves[node]
    }

    fn has_one_hop(&self, node: usize) -> bool {
        match self.links(node) {
            [(link, place)] => match &self.joins[*link as usize] {
                Join::Wire(..) => true,
                Join::Medium(medium) => medium.hub.is_some_and(|hub| hub != *place as usize),
            },
            _ => false,
        }
    }

    /// The one hop that a leaf can make, if it reaches a node.
    pub(super) fn only_hop(&self, leaf: usize) -> Option<Hop> {
        let &[(link, place)] = self.links(leaf) else { return None };
        match &self.joins[link as usize] {
            Join::Wire(port, ends) => {
                Some(Hop { port: Port(port + place), next: NodeId(ends[1 - place as usize]) })
            }
            Join::Medium(medium) => {
                let hub = medium.members[medium.hub?];
                let hop = Hop { port: Port(medium.port + place), next: NodeId(hub as u32) };
                medium.reach.joins(leaf, hub).then_some(hop)
            }
        }
    }

    /// Reports all hops that lead to a node, in the order of the links and of the nodes on them, until `found` returns
    /// true. It omits those of leaves and those of nodes that the search with this number has already reached.
    pub(super) fn towards(&mut self, node: usize, search: usize, mut found: impl FnMut(usize, Hop) -> bool) {
        for entry in self.first[node]..self.first[node + 1] {
            let (link, place) = self.at[entry as usize];
            match &mut self.joins[link as usize] {
                Join::Wire(port, ends) => {
                    let from = ends[1 - place as usize] as usize;
                    if found(from, Hop { port: Port(*port + 1 - place), next: NodeId(node as u32) }) {
                        return;
                    }
                }
                Join::Medium(medium) => {
                    let (members, port) = (medium.members, medium.port);
                    let mut tell = |place: &u32| {
                        let hop = Hop { port: Port(port + place), next: NodeId(node as u32) };
                        found(members[*place as usize], hop)
                    };
                    if medium.stations_towards(place as usize, search).iter().any(&mut tell) {
                        return;
                    }
                }
            }
        }
    }
}

impl Medium<'_> {
    /// Orders the stations of a slotted network by their positions.
    fn sort(&mut self) {
        let Reach::Slotted(config, _) = self.reach else { return };
        let east_m = |place: &u32| {
            let position = config.nodes[self.members[*place as usize]].position?;
            Some((position.0.0, *place))
        };
        self.from_west = self.inner.iter().filter_map(east_m).collect();
        self.from_west.sort_by(|one, other| one.0.total_cmp(&other.0));
    }

    /// The places of the stations that can send to one of them and that a search need look at.
    fn stations_towards(&mut self, place: usize, search: usize) -> &[u32] {
        let is_hub = self.hub == Some(place);
        if self.is_whole && self.hub.is_none() && std::mem::replace(&mut self.searched, search) == search {
            return &[];
        }
        if self.is_whole && (is_hub || self.hub.is_none()) {
            // The station itself has been reached already, so it may be among the answers.
            return &self.inner;
        }
        let Medium { members, hub, reach, lists, inner, from_west, .. } = self;
        lists[place].get_or_insert_with(|| {
            let here = members[place];
            let joined =
                |other: &u32| *other as usize != place && reach.joins(members[*other as usize], here);
            match hub {
                Some(hub) if *hub != place => [*hub as u32].into_iter().filter(joined).collect(),
                _ => {
                    let Some((west, east)) = reach.bounds_m(here) else {
                        return inner.iter().copied().filter(joined).collect();
                    };
                    let first = from_west.partition_point(|(at, _)| *at < west);
                    let near = from_west[first..].iter().take_while(|(at, _)| *at <= east);
                    let mut near: Vec<u32> = near.map(|(_, place)| *place).filter(joined).collect();
                    near.sort_unstable();
                    near.into()
                }
            }
        })
    }
}

impl Reach<'_> {
    /// How far west and east those stand that reach a node, m, if its range tells.
    fn bounds_m(self, node: usize) -> Option<(f64, f64)> {
        let Reach::Slotted(config, frn) = self else { return None };
        let (here, range) = (config.nodes[node].position?.0.0, MARGIN * frn.medium.range_m);
        Some((here - range, here + range))
    }

    /// Whether a frame can go from one station to the other: they are in range, or one may come into range.
    fn joins(self, from: usize, to: usize) -> bool {
        match self {
            Reach::Radio(config, wifi) => {
                if [from, to].iter().any(|node| config.nodes[*node].motion.is_some()) {
                    return true;
                }
                // An acknowledgement has to come back.
                let strength = [from, to].map(|node| config.nodes[node].strength(&wifi.radio));
                let strength = strength[0].min(strength[1]);
                distance_m(config, from, to).is_none_or(|away| hears(wifi, strength, away))
            }
            Reach::Slotted(config, frn) => {
                distance_m(config, from, to).is_some_and(|away| away <= frn.medium.range_m)
            }
        }
    }
}

fn hears(wifi: &WifiConfig, strength: f64, away_m: f64) -> bool {
    strength * received_power_w(&wifi.radio, away_m) >= wifi.radio.receive_threshold_w
}

/// Whether all stations are certainly in range of each other; powers and ranges fall with the distance.
fn is_whole(config: &Config, members: &[usize], reach: Reach<'_>) -> bool {
    let stands = |node: &&usize| config.nodes[**node].motion.is_none();
    let placed = || members.iter().filter(stands).filter_map(|node| config.nodes[*node].position);
    match reach {
        Reach::Radio(_, wifi) => {
            let strengths = members.iter().map(|node| config.nodes[*node].strength(&wifi.radio));
            let weakest = strengths.fold(1.0, f64::min);
            diagonal_m(placed()).is_none_or(|across| hears(wifi, weakest, MARGIN * across))
        }
        Reach::Slotted(_, frn) => {
            let is_within = |across| MARGIN * across <= frn.medium.range_m;
            placed().count() == members.len() && diagonal_m(placed()).is_some_and(is_within)
        }
    }
}

/// The diagonal of the rectangle that holds these places, if there are any.
fn diagonal_m(places: impl Iterator<Item = (Metres, Metres)>) -> Option<f64> {
    let (mut least, mut most) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for (x, y) in places {
        for (axis, at) in [x.0, y.0].into_iter().enumerate() {
            (least[axis], most[axis]) = (least[axis].min(at), most[axis].max(at));
        }
    }
    (least[0] <= most[0]).then(|| libm::hypot(most[0] - least[0], most[1] - least[1]))
}

/// The distance between two nodes, m, if both have a position.
fn distance_m(config: &Config, from: usize, to: usize) -> Option<f64> {
    let (here, there) = (config.nodes[from].position?, config.nodes[to].position?);
    let metres = |one: Metres, other: Metres| one.0 - other.0;
    Some(libm::hypot(metres(here.0, there.0), metres(here.1, there.1)))
}
