//! Hand-offs: the changes in the network when a node moves between two links.
//!
//! The routes to and from the node are computed in advance for both of its places, and a hand-off exchanges them.
//! Packets that later arrive at the station that the node has left are forwarded, or have no route and are lost. The same
//! applies to packets that wait there. The state of the agents at that station moves to the agents of the same table, or
//! else of the same kind, at the other station. While the state is in transit, neither station has it. The state of the
//! agents of the node itself moves to its other interface.

use std::collections::{BTreeSet, VecDeque};

use lasthop_stack::hooks::{Exported, LinkEvent};
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::registry::AgentKind;
use lasthop_stack::units::{Bytes, Span};

use super::Net;
use super::agents::{Agents, Around, Stack};
use super::channel::Channel;
use super::exits::{Exit, Way};
use super::routes::{Hop, Routes};
use super::ways::Ways;
use crate::model::{Config, FlowConfig, HandoffConfig, Late};
use crate::probe::judgement::Culprit;

/// All nodes with hand-offs.
#[derive(Debug, Default)]
pub(crate) struct Handoffs {
    of: Vec<Mobile>,
    /// Packets lost for lack of a route.
    pub(crate) late: u64,
}

/// A node with hand-offs.
#[derive(Debug)]
struct Mobile {
    node: NodeId,
    config: HandoffConfig,
    /// The hops and ways of packets to and from it, at each of its links.
    tables: [Vec<Entry>; 2],
    /// The port of the station on each of its links, and its own.
    ports: [Option<usize>; 2],
    own_ports: [Option<usize>; 2],
    /// On each of its links: where packets leave a node, and the node they go to.
    hops: [Vec<(Exit, NodeId)>; 2],
    /// State in transit.
    moving: VecDeque<Moving>,
    /// Bytes of state sent so far.
    state: u64,
}

/// The state of the agents of one station, on its way to another.
#[derive(Debug)]
struct Moving {
    /// Each with the table of the scenario to which its agent belongs.
    states: Vec<((usize, AgentKind), Exported)>,
    /// The numbers of packets of which copies may be among them.
    numbers: Vec<u32>,
}

/// The hop and the way from a node to a destination.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: u32,
    to: u32,
    hop: Hop,
    way: Way,
}

/// For each node with hand-offs, the routes with that node at its second link and all others at their first.
pub(crate) fn alternatives(config: &Config) -> Vec<(usize, Routes)> {
    let mobiles = (0..config.nodes.len()).filter(|node| config.nodes[*node].handoff.is_some());
    mobiles.filter_map(|mobile| Some((mobile, Routes::of_place(config, mobile, 1, &[]).ok()?))).collect()
}

/// The ways of a scenario, and the hand-offs that change them. Where routes change, and where packets wait in front of a
/// channel, there are no relays.
pub(super) fn ways(
    config: &Config,
    routes: &mut Routes,
    exits: &[Exit],
    first_ports: &[usize],
    agents: &Agents,
    channels: &[Channel],
) -> (Ways, Handoffs) {
    let pairs: Vec<(usize, usize)> = config.flows.iter().flat_map(FlowConfig::pairs).collect();
    let is_guarded = |port: usize| agents.at(port).is_some();
    let is_relay = |channel: u32| !config.has_handoffs() && channels[channel as usize].stage.is_none();
    let scatters = |channel: u32| channels[channel as usize].scatters();
    let mut ways = Ways::new(routes, exits, &pairs, is_guarded, is_relay, scatters);
    let handoffs = Handoffs::new(config, routes, &mut ways, exits, first_ports, is_guarded);
    (ways, handoffs)
}

impl Handoffs {
    /// The hand-offs of a scenario. Adds to the routes what the second links require.
    fn new(
        config: &Config,
        routes: &mut Routes,
        ways: &mut Ways,
        exits: &[Exit],
        first_ports: &[usize],
        is_guarded: impl Fn(usize) -> bool,
    ) -> Handoffs {
        let way_of = |hop: Hop| Way::over(exits[hop.port.0 as usize], is_guarded(hop.port.0 as usize));
        let mut of = Vec::new();
        for (mobile, node) in config.nodes.iter().enumerate() {
            let Some(handoff) = &node.handoff else { continue };
            let passed = passed(config, mobile);
            let tables = [0, 1].map(|place| {
                let old = config.station_of(handoff.links[1 - place], mobile);
                let mut table = Vec::new();
                let Ok(routes_here) = Routes::of_place(config, mobile, place, &passed) else { return table };
                for &at in &passed {
                    let Some(hop) = routes_here.hop(at, mobile) else { continue };
                    let is_dropped = old == Some(at) && handoff.late == Late::Dropped;
                    let way = if is_dropped { Way::Ends } else { way_of(hop) };
                    table.push(Entry { at: at as u32, to: mobile as u32, hop, way });
                }
                for peer in peers(config, mobile) {
                    for (at, hop) in routes_here.path(mobile, peer) {
                        let entry = Entry { at: at as u32, to: peer as u32, hop, way: way_of(hop) };
                        if at == mobile {
                            table.push(entry);
                        } else if routes.hop(at, peer).is_none() {
                            routes.set(entry.at, entry.to, hop);
                            ways.set(entry.at, entry.to, entry.way);
                        }
                    }
                }
                table
            });
            let port_of = |link: usize, of: usize| {
                let place = config.nodes_of(link).iter().position(|node| *node == of)?;
                Some(first_ports[link] + place)
            };
            let station_of = |link: usize| config.station_of(link, mobile);
            let ports = handoff.links.map(|link| port_of(link, station_of(link)?));
            let own_ports = handoff.links.map(|link| port_of(link, mobile));
            let hops = handoff.links.map(|link| {
                let station = station_of(link);
                let ends = station.into_iter().flat_map(|station| [(station, mobile), (mobile, station)]);
                let hop = |(from, to): (usize, usize)| Some((exits[port_of(link, from)?], NodeId(to as u32)));
                ends.filter_map(hop).collect()
            });
            for entry in &tables[0] {
                routes.set(entry.at, entry.to, entry.hop);
                ways.set(entry.at, entry.to, entry.way);
            }
            let config = handoff.clone();
            let (node, moving) = (NodeId(mobile as u32), VecDeque::new());
            of.push(Mobile { node, config, tables, ports, own_ports, hops, moving, state: 0 });
        }
        Handoffs { of, late: 0 }
    }

    /// Bytes of agent state transferred for a node, by its index among the nodes with hand-offs.
    pub(crate) fn state(&self, mobile: usize) -> u64 {
        self.of[mobile].state
    }

    /// The numbers of the packets of which copies are in transit with the state of agents.
    pub(super) fn moving(&self) -> impl Iterator<Item = u32> {
        self.of.iter().flat_map(|mobile| &mobile.moving).flat_map(|moving| moving.numbers.iter().copied())
    }
}

/// The other ends of the flows of a node.
fn peers(config: &Config, mobile: usize) -> BTreeSet<usize> {
    let ends = config.flows.iter().flat_map(|flow| [(flow.from, flow.to), (flow.to, flow.from)]);
    ends.filter(|(one, _)| *one == mobile).map(|(_, other)| other).collect()
}

/// Whose packets for a node, which has hand-offs, never arrive at one of its links, and the station there that drops them: the
/// former one, over which they lead.
pub(crate) fn dead_end(config: &Config, mobile: usize) -> Option<(usize, usize)> {
    let handoff = config.nodes[mobile].handoff.as_ref().filter(|handoff| handoff.late == Late::Dropped)?;
    [0, 1].into_iter().find_map(|place| {
        let old = config.station_of(handoff.links[1 - place], mobile)?;
        let routes = Routes::of_place(config, mobile, place, &[]).ok()?;
        let leads_over = |peer: &usize| routes.path(*peer, mobile).iter().any(|(node, _)| *node == old);
        peers(config, mobile).into_iter().find(leads_over).map(|peer| (peer, old))
    })
}

/// The nodes that packets for a node may pass, at either of its links.
fn passed(config: &Config, mobile: usize) -> Vec<usize> {
    let mut passed = BTreeSet::new();
    for place in [0, 1] {
        let Ok(routes) = Routes::of_place(config, mobile, place, &[]) else { continue };
        for peer in peers(config, mobile) {
            passed.extend(routes.path(peer, mobile).iter().map(|(node, _)| *node));
        }
    }
    passed.into_iter().collect()
}

impl Net {
    /// A node leaves one of its links: exports the state of the agents at its station. Returns the time until the state
    /// arrives, if there is any.
    pub(crate) fn export_state(&mut self, mobile: usize, from: usize) -> Option<Span> {
        let Mobile { node, ports, config, .. } = &self.handoffs.of[mobile];
        let (node, ports, port) = (*node, *ports, ports[from]?);
        let (rate, delay) = (config.state_rate, config.state_delay);
        let stack = self.agents.at(port)?;
        let numbers = if self.outside.is_some() { self.agents.kept() } else { Vec::new() };
        let mut states = Vec::new();
        for seat in 0..self.agents.stack(stack).len() {
            let mut exported = None;
            self.let_agents_act(stack, |agents, around| exported = agents.export(seat, node, around));
            if let Some(state) = exported {
                states.push((self.agents.stack(stack).agent(seat), state));
            }
        }
        if states.is_empty() {
            return None;
        }
        if let Some(stack) = ports[1 - from].and_then(|port| self.agents.at(port)) {
            for (agent, _) in &states {
                if let Some(seat) = self.agents.stack(stack).seat_of(*agent) {
                    self.agents.stack(stack).expect(seat, node);
                }
            }
        }
        let bytes: u64 = states.iter().map(|(_, state)| state.bytes).sum();
        let mobile = &mut self.handoffs.of[mobile];
        mobile.state += bytes;
        mobile.moving.push_back(Moving { states, numbers });
        Some(rate.map_or(Span::ZERO, |rate| Bytes(bytes).time_at(rate)) + delay)
    }

    /// State in transit has arrived at the station on one of the links of a node.
    pub(crate) fn import_state(&mut self, mobile: usize, to: usize) {
        let mobile = &mut self.handoffs.of[mobile];
        let (Some(Moving { states, .. }), Some(port)) = (mobile.moving.pop_front(), mobile.ports[to]) else {
            return;
        };
        let Some(stack) = self.agents.at(port) else { return };
        for (agent, state) in states {
            let Some(seat) = self.agents.stack(stack).seat_of(agent) else { continue };
            self.let_agents_act(stack, |agents, around| agents.import(seat, state, around));
        }
    }

    /// Routes packets for and from a node over one of its links from now on. What waits in the MACs of the other link, if it
    /// is one of 802.11, returns to its nodes.
    pub(crate) fn reroute(&mut self, mobile: usize, to: usize) {
        for entry in &self.handoffs.of[mobile].tables[to] {
            self.routes.set(entry.at, entry.to, entry.hop);
            self.ways.set(entry.at, entry.to, entry.way);
        }
        self.move_within(mobile, to);
        for place in 0..self.handoffs.of[mobile].hops[1 - to].len() {
            let (exit, peer) = self.handoffs.of[mobile].hops[1 - to][place];
            if let Exit::Station { wlan, station } = exit {
                self.with_wlan(wlan as usize, |wlan, host| wlan.forget(station as usize, peer, host));
            }
        }
    }

    /// The agents at the interface that a node leaves hand their state to those at the interface that it uses now.
    fn move_within(&mut self, mobile: usize, to: usize) {
        let Mobile { node, own_ports, .. } = self.handoffs.of[mobile];
        let [from, to] = [1 - to, to].map(|place| own_ports[place].and_then(|port| self.agents.at(port)));
        let (Some(from), Some(to)) = (from, to) else { return };
        for seat in 0..self.agents.stack(from).len() {
            let agent = self.agents.stack(from).agent(seat);
            let Some(target) = self.agents.stack(to).seat_of(agent) else { continue };
            let mut exported = None;
            self.let_agents_act(from, |agents, around| exported = agents.export(seat, node, around));
            if let Some(state) = exported {
                self.let_agents_act(to, |agents, around| agents.import(target, state, around));
            }
        }
    }

    /// Loses a packet at a station that has no route for it because its node has left.
    pub(super) fn lose_late(&mut self, node: NodeId, packet: &Packet) {
        debug_assert!(!self.handoffs.of.is_empty(), "packets travel between the ends of flows only");
        self.handoffs.late += 1;
        if let Some(events) = &mut self.tracer.events {
            events.lost_at(self.now, node, packet);
        }
        self.losses.enter(packet, Culprit::Outage, self.now);
        self.accounts.lost(packet);
    }

    /// Reports an event of a link to the agents at its interfaces.
    pub(crate) fn tell_agents(&mut self, link: usize, event: LinkEvent, node: Option<usize>) {
        let node = node.map(|node| NodeId(node as u32));
        let mut from = 0;
        while let Some(stack) = self.agents.next_at(from, Some(link), None) {
            self.let_agents_act(stack, |agents, around| agents.on_link(event, node, around));
            from = stack + 1;
        }
    }

    /// Restarts the agents of a node.
    pub(crate) fn restart(&mut self, node: usize) {
        let mut from = 0;
        while let Some(stack) = self.agents.next_at(from, None, Some(node)) {
            self.let_agents_act(stack, Stack::restart);
            from = stack + 1;
        }
    }

    fn let_agents_act(&mut self, stack: u32, act: impl FnOnce(&mut Stack, &mut Around)) {
        match self.agents.stack(stack).exit {
            Exit::Channel(channel) => self.with_agents(stack, channel, act),
            Exit::Station { wlan, station } => self.with_wlan(wlan as usize, |wlan, host| {
                wlan.let_agents_act(station as usize, host, act);
            }),
            Exit::Slotted { frn, station } => self.with_frn(frn as usize, |frn, host| {
                frn.let_agents_act(station as usize, host, act);
            }),
        }
    }
}
