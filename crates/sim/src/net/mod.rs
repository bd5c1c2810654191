//! The network between the endpoints: packets, links, routes.
//!
//! A packet is sent at a node, takes the hop of its route, and arrives at the next node, where the host hands it to an
//! endpoint or sends it on. If only a wire follows, it continues directly.
//!
//! **Relays.** A channel knows when a packet will have crossed it as soon as it takes the packet in. If the next
//! channel is a relay (see [`ways`]), it takes the packet in at once too, for the time of its arrival there, and so on:
//! a packet costs one event for each run of channels that nothing else feeds. Nothing may observe a channel that is
//! ahead of the clock. Therefore no packet is sent ahead past the beginning and the end of the measurement, nor at all
//! in a run that traces its links or may stop anywhere; such packets wait and continue by their own events. Both ways
//! give the same results: the place of a packet among simultaneous events is set by its arrival at its last channel
//! and, among packets with simultaneous arrivals too, by the time at which the first channel of the run took it in; and
//! a crossing counts as an event.

pub(crate) mod agents;
mod aqm;
pub(crate) mod below;
mod channel;
mod doomed;
mod ends;
mod exits;
mod general;
pub(crate) mod handoffs;
pub(crate) mod layout;
mod media;
mod pairs;
mod pool;
pub(crate) mod routes;
mod scattered;
pub(crate) mod slotted;
mod staged;
mod timers;
mod traced;
mod treatment;
mod ways;
pub(crate) mod wlan;

use std::collections::VecDeque;

use lasthop_stack::hooks::Judged;
use lasthop_stack::link::dot11::Agreements;
use lasthop_stack::packet::{Body, Datagram, NodeId, Packet, Segment};
use lasthop_stack::registry::ArqMachine;
use lasthop_stack::units::{Bytes, Time};

use crate::engine::ahead;
use crate::engine::queue::{EventQueue, Sequence, Slot};
use crate::model::ports::Ports;
use crate::model::{Config, LinkKind};
use crate::outside::Outside;
use crate::probe::accounts::Accounts;
use crate::probe::events::Why;
use crate::probe::judgement::{Culprit, Losses};
use crate::probe::pcap::Capture;
use crate::probe::spread::Times;
use crate::probe::trace::Tracer;
use crate::probe::transfers::Transfer;
use agents::Agents;
pub(crate) use aqm::AqmCounters;
use below::Below;
pub(crate) use channel::{Channel, ChannelCounters};
use doomed::Doomed;
use exits::{Exit, Way};
use general::Observers;
pub(crate) use handoffs::Handoffs;
use layout::Layout;
use pool::{InFlight, PacketPool, PoolId};
use routes::Routes;
use slotted::{Frn, FrnEvent};
use timers::Timers;
use ways::Ways;
use wlan::{Wlan, WlanEvent};

/// The source of events that owns a slot of the network.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NetEvent {
    /// The first packet of a channel arrives.
    Channel(u32),
    /// A channel takes the next packet of the managed queue in front of it.
    Pull(u32),
    /// The timer of an agent: its stack, and its place there.
    Agent(u32, u32),
    /// An event of a station of a medium.
    Wlan(u32, WlanEvent),
    /// A slot of a slotted network.
    Frn(u32, FrnEvent),
}

/// The network.
pub(crate) struct Net {
    pub(crate) queue: EventQueue,
    pub(crate) now: Time,
    pub(crate) channels: Vec<Channel>,
    pub(crate) wlans: Vec<Wlan>,
    /// What the links of multi-link devices have in common, by device.
    devices: Vec<Agreements<ArqMachine>>,
    pub(crate) frns: Vec<Frn>,
    pub(crate) agents: Agents,
    pub(crate) tracer: Tracer,
    pub(crate) captures: Vec<Capture>,
    /// Packets that media and agents have handed up at a node, in order.
    pub(crate) inbox: VecDeque<(NodeId, Packet)>,
    pub(crate) losses: Losses,
    pub(crate) accounts: Accounts,
    /// How laws classified losses in this instant, until the flow has counted it.
    pub(crate) judged: Vec<Judged>,
    pub(crate) ports: Ports,
    /// The transfers that users requested.
    pub(crate) transfers: Vec<Transfer>,
    /// Whether a trace records or a link reads what ends do, or ends take no shortcuts.
    pub(crate) is_observed: bool,
    /// Whether the run takes no shortcuts.
    takes_plain_path: bool,
    /// The timers of TCP senders, where a link reads them.
    pub(crate) timers: Option<Box<Timers>>,
    /// What waits in the first links of hosts, where senders bound it.
    pub(crate) below: Option<Box<Below>>,
    /// The bytes of packets and the exchange with programs outside, where packets have bytes.
    pub(crate) outside: Option<Box<Outside>>,
    /// The round trips of each end of each flow, by the number of the end.
    pub(crate) round_trips: Vec<Times>,
    doomed: Doomed,
    /// Packets that agents hand to a channel, in order, and whether they go ahead of those that wait there.
    handed_down: VecDeque<(Packet, bool)>,
    /// Packets that the queue of a channel behind agents has dropped, in order.
    refused: VecDeque<Packet>,
    /// Events that followed another one at once: crossings of relays, and events of media.
    pub(crate) crossings: u64,
    /// Packets run ahead of the clock, and events of media follow at once, to times before this one only.
    horizon: Time,
    pub(crate) handoffs: Handoffs,
    /// The owners of the slots after the channels.
    events: Vec<NetEvent>,
    pool: PacketPool,
    ways: Ways,
    routes: Routes,
}

/// The agents above a station of a link: those of multi-link devices sit on their first link.
fn above(config: &Config, agents: &Agents, ports: &[usize], link: usize, station: u32) -> Option<u32> {
    let (link, station) = config.first_station(link, station as usize);
    agents.at(ports[link] + station)
}

/// Gives channels the agents at their ends.
fn seat(channels: &mut [Channel], exits: &[Exit], agents: &Agents) {
    for (port, exit) in exits.iter().enumerate() {
        if let Exit::Channel(channel) = *exit {
            channels[channel as usize].agents[0] = agents.at(port);
            channels[channel as usize ^ 1].agents[1] = agents.at(port);
        }
    }
}

impl Net {
    /// The network of a scenario. Its slots are the first of the queue.
    pub(crate) fn new(
        config: &Config,
        mut routes: Routes,
        ports: Ports,
        seeds: (u64, u64),
        mut tracer: Tracer,
    ) -> Net {
        tracer.begin(config, ports);
        let mut queue = EventQueue::default();
        let Layout { mut channels, exits, first_ports, staged } = Layout::new(config, seeds, &mut queue);
        let mut events: Vec<NetEvent> = staged.into_iter().map(NetEvent::Pull).collect();
        let agents = Agents::new(config, &routes, &handoffs::alternatives(config), &exits, |stack, seat| {
            events.push(NetEvent::Agent(stack, seat));
            queue.slot()
        });
        seat(&mut channels, &exits, &agents);
        let (mut wlans, mut frns) = (Vec::new(), Vec::new());
        for ((place, link), &first_port) in config.links.iter().enumerate().zip(&first_ports) {
            match &link.kind {
                LinkKind::PointToPoint(_) => {}
                LinkKind::Wifi(wifi) => {
                    let number = wlans.len() as u32;
                    let mut slot = |event| {
                        events.push(NetEvent::Wlan(number, event));
                        queue.slot()
                    };
                    let name = (place as u32, link.name.as_str());
                    let above = |station| above(config, &agents, &first_ports, place, station);
                    wlans.push(Wlan::new(config, wifi, name, above, seeds, ports, &mut slot));
                }
                LinkKind::Frn(frn) => {
                    let number = frns.len() as u32;
                    let mut slot = |event| {
                        events.push(NetEvent::Frn(number, event));
                        queue.slot()
                    };
                    frns.push(Frn::new(config, frn, place, &routes, first_port as u32, seeds, &mut slot));
                }
            }
        }
        let (ways, handoffs) = handoffs::ways(config, &mut routes, &exits, &first_ports, &agents, &channels);
        Net {
            queue,
            now: Time::ZERO,
            channels,
            wlans,
            devices: wlan::agreements(config),
            frns,
            tracer,
            captures: Vec::new(),
            inbox: VecDeque::new(),
            losses: Losses::default(),
            accounts: Accounts::new(ports, 2 * config.flows.len()),
            judged: Vec::new(),
            ports,
            transfers: Vec::new(),
            is_observed: true,
            takes_plain_path: config.run.plain,
            timers: Timers::of(config),
            below: Below::of(config, ports),
            outside: Outside::of(config, ports),
            round_trips: Vec::new(),
            agents,
            doomed: Doomed::default(),
            handed_down: VecDeque::new(),
            refused: VecDeque::new(),
            crossings: 0,
            horizon: Time::ZERO,
            handoffs,
            events,
            pool: PacketPool::default(),
            ways,
            routes,
        }
    }

    /// The run begins, at the present time.
    pub(crate) fn begin(&mut self) {
        self.is_observed = self.takes_plain_path || self.tracer.events.is_some() || self.timers.is_some();
        // A sender that is watched predicts nothing.
        self.tracer.senders |= self.takes_plain_path;
        for channel in &mut self.channels {
            channel.takes_shortcut = !self.takes_plain_path && !self.tracer.links && channel.is_bare();
        }
        for wlan in 0..self.wlans.len() {
            self.with_wlan(wlan, Wlan::begin);
        }
    }

    /// What a slot is for, if it is the network's.
    #[inline]
    pub(crate) fn event(&self, slot: Slot) -> Option<NetEvent> {
        let number = slot.0 as usize;
        if number < self.channels.len() {
            return Some(NetEvent::Channel(slot.0));
        }
        self.events.get(number - self.channels.len()).copied()
    }

    /// Captures both directions of a point-to-point link, by the number of its forward channel.
    pub(crate) fn capture(&mut self, channel: usize, capture: Capture) {
        for channel in &mut self.channels[channel..=channel + 1] {
            channel.capture = Some(self.captures.len());
        }
        self.captures.push(capture);
    }

    /// Whether the links are recorded event by event.
    pub(crate) fn is_watched(&self) -> bool {
        self.tracer.links || !self.captures.is_empty()
    }

    /// Sets the clock.
    #[inline]
    pub(crate) fn set_clock(&mut self, now: Time) {
        self.now = now;
        self.queue.set_clock(now);
    }

    /// Lets packets run ahead of the clock to times before `horizon`; until then nothing reads a channel. Those that
    /// waited for it continue now.
    pub(crate) fn advance_horizon(&mut self, horizon: Time) {
        self.horizon = horizon;
        for place in 0..self.ways.last_first.len() {
            let number = self.ways.last_first[place] as usize;
            if self.channels[number].agents[0].is_some() || self.channels[number].scatters() {
                continue;
            }
            for _ in 0..self.channels[number].len() {
                let channel = &mut self.channels[number];
                let Some(packet) = channel.pop(&mut self.queue) else { break };
                let way = self.ways.at(channel.to, self.pool.packet(packet.id).dst);
                if let Way::Relay(next) = way
                    && packet.arrival < horizon
                {
                    self.crossings += 1;
                    let size = Bytes(packet.size.into());
                    self.offer(next as usize, packet.id, size, packet.arrival, packet.sequence);
                } else {
                    channel.push(packet, &mut self.queue);
                }
            }
        }
    }

    /// Sends a packet of this size from `node`, where it was made or has arrived; it is not for the node itself.
    #[inline]
    pub(crate) fn send(&mut self, node: NodeId, packet: Packet, size: Bytes) {
        match self.ways.at(node, packet.dst) {
            Way::Channel(channel) | Way::Relay(channel) => {
                let id = self.pool.insert_sized(packet, size);
                let sequence = self.queue.next_sequence();
                self.offer(channel as usize, id, size, self.now, sequence);
            }
            Way::Guarded(channel) => {
                if let Some(stack) = self.channels[channel as usize].agents[0] {
                    self.with_agents(stack, channel, |agents, around| agents.down(&packet, around));
                }
            }
            Way::Station { wlan, station } => self.with_wlan(wlan as usize, |wlan, host| {
                wlan.send(station as usize, packet, host);
            }),
            Way::Slotted { frn, station } => self.with_frn(frn as usize, |frn, host| {
                frn.send(station as usize, packet, host);
            }),
            Way::Ends => self.lose_late(node, &packet),
        }
    }

    /// Offers a packet of this size to a channel at a time that is not before now.
    #[inline]
    fn offer(&mut self, number: usize, id: PoolId, size: Bytes, at: Time, sequence: Sequence) {
        let channel = &self.channels[number];
        if channel.takes_shortcut || channel.stage.is_none() {
            self.cross(number, id, size, at, sequence);
        } else {
            self.join(number, id, false);
        }
    }

    /// A channel takes in a packet at a time that is not before now.
    #[inline]
    fn cross(&mut self, mut number: usize, id: PoolId, size: Bytes, mut at: Time, sequence: Sequence) {
        let packet = self.pool.packet_mut(id);
        let key = self.ways.key(packet.dst);
        let last = loop {
            let channel = &mut self.channels[number];
            let departure = if channel.takes_shortcut {
                channel.carry(packet, size, at)
            } else if channel.scatters() {
                return self.scatter(number, id, size, at, sequence);
            } else {
                let mut observers = Observers {
                    tracer: &mut self.tracer,
                    captures: &mut self.captures,
                    outside: self.outside.as_deref(),
                };
                general::carry(channel, packet, size, at, &mut self.refused, &mut observers)
            };
            let departure = match departure {
                Ok(departure) => departure,
                Err(culprit) => break Err(culprit),
            };
            let arrival = departure + channel.delay;
            match self.ways.onward(&mut channel.onward, key, channel.to) {
                Way::Relay(next)
                    if arrival < self.horizon && (channel.takes_shortcut || channel.agents[0].is_none()) =>
                {
                    self.crossings += 1;
                    (number, at) = (next as usize, arrival);
                }
                _ => break Ok((channel, arrival)),
            }
        };
        match last {
            Ok((channel, arrival)) => {
                let size = size.0 as u32;
                channel.push(InFlight { arrival, taken: at, sequence, id, size }, &mut self.queue);
            }
            Err(culprit) => self.lose(id, culprit, at),
        }
    }

    /// The queue of a channel drops a packet now.
    fn drop_at(&mut self, number: usize, id: PoolId) {
        self.refuse(number, id, Why::Queue);
    }

    /// A channel does not take a packet now.
    fn refuse(&mut self, number: usize, id: PoolId, why: Why) {
        let packet = self.pool.packet(id);
        if self.channels[number].agents[0].is_some() {
            self.refused.push_back(*packet);
        }
        self.tracer.refused(self.now, number, packet, why);
        self.lose(id, Culprit::Queue, self.now);
    }

    fn lose(&mut self, id: PoolId, culprit: Culprit, at: Time) {
        let packet = self.pool.remove(id);
        self.losses.enter_ahead(&packet, culprit, at, self.now);
        self.accounts.lost(&packet);
        self.doomed.add(packet, at, self.now);
    }

    /// Whether a packet that satisfies `wanted` is in transit to a port of a node, or waits in a queue. A packet lost
    /// later, or in this instant, is still in transit.
    pub(crate) fn is_on_its_way(&self, node: NodeId, port: u16, wanted: impl Fn(&Segment) -> bool) -> bool {
        let answers = |packet: &Packet| match &packet.body {
            Body::Tcp(segment) => packet.dst == node && segment.dst_port == port && wanted(segment),
            Body::Udp(_) => false,
        };
        self.pool.bound_for(port).any(answers) || self.doomed.at(self.now).any(answers)
    }

    /// The datagrams in transit to a port.
    pub(crate) fn datagrams_for(&self, port: u16) -> impl Iterator<Item = &Datagram> {
        self.pool.bound_for(port).filter_map(|packet| match &packet.body {
            Body::Udp(datagram) => Some(datagram),
            Body::Tcp(_) => None,
        })
    }

    /// The first packet of a channel arrives. It continues over the next wire, or is delivered at the node
    /// that it has reached, with its size.
    #[inline]
    pub(crate) fn arrive(&mut self, number: u32) -> Option<(NodeId, PoolId, Bytes)> {
        let channel = &mut self.channels[number as usize];
        let InFlight { arrival, sequence, id, size, .. } = channel.arrive(&mut self.queue)?;
        let (node, size) = (channel.to, Bytes(size.into()));
        if let Some(stack) = channel.agents[1] {
            let packet = self.pool.remove(id);
            self.with_agents(stack, number ^ 1, |agents, around| agents.up(&packet, around));
            return None;
        }
        let key = self.ways.key(self.pool.packet(id).dst);
        match self.ways.onward(&mut channel.onward, key, node) {
            Way::Relay(next) => self.offer(next as usize, id, size, arrival, sequence),
            Way::Channel(next) => {
                let sequence = self.queue.next_sequence();
                self.offer(next as usize, id, size, arrival, sequence);
            }
            Way::Ends | Way::Guarded(_) | Way::Station { .. } | Way::Slotted { .. } => {
                return Some((node, id, size));
            }
        }
        None
    }

    /// Prefetches what the network keeps of an end that a packet of a channel is for, where more are in transit than the cache
    /// holds. Returns that end, the farthest, after two that are nearer, the nearest first.
    #[inline]
    pub(crate) fn fetch_soon(&self, channel: u32) -> Option<[u32; 3]> {
        let soon = self.channels[channel as usize].soon().filter(|_| !self.takes_plain_path)?;
        let ends @ [.., far] = soon.map(|id| self.ports.end(self.pool.port(id)));
        self.pool.fetch(soon[2]);
        self.accounts.fetch(far ^ 1);
        self.accounts.fetch(far);
        self.ways.fetch(far);
        ahead::fetch(&self.round_trips[far as usize]);
        Some(ends)
    }

    /// Removes a packet that has arrived.
    #[inline]
    pub(crate) fn take(&mut self, id: PoolId) -> Packet {
        self.pool.remove(id)
    }
}
