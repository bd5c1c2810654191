//! The network between the endpoints: packets, links, routes.
//!
//! A packet is sent at a node, takes the hop its route names, and comes out at the next node, where the world hands it to
//! an endpoint or sends it on. Where nothing but a wire awaits it, it goes straight on.

mod channel;
mod pool;
pub(crate) mod routes;
pub(crate) mod wlan;

use std::collections::VecDeque;

use lasthop_stack::hooks::Judged;
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::units::Time;

use crate::engine::queue::{EventQueue, Slot};
use crate::engine::streams::Stream;
use crate::medium::loss::LossProcess;
use crate::probe::judgement::{Culprit, Losses};
use crate::probe::pcap::Capture;
use crate::probe::trace::Tracer;
use crate::scenario::config::{Config, DirectionConfig, LinkKind};
pub(crate) use channel::{Channel, ChannelCounters, Line};
use pool::{PacketPool, PoolId};
use routes::Routes;
use wlan::{Wlan, WlanEvent};

/// What a port leads to.
#[derive(Clone, Copy, Debug)]
enum Exit {
    Channel(u32),
    Station { wlan: u32, station: u32 },
}

/// What a slot of the network stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NetEvent {
    /// The first packet of a channel arrives.
    Channel(u32),
    /// Something of a station of a medium.
    Wlan(u32, WlanEvent),
}

/// The network.
pub(crate) struct Net {
    pub(crate) queue: EventQueue,
    pub(crate) now: Time,
    pub(crate) channels: Vec<Channel>,
    pub(crate) wlans: Vec<Wlan>,
    pub(crate) tracer: Tracer,
    pub(crate) captures: Vec<Capture>,
    /// Packets that media and agents have handed up at a node, in order.
    pub(crate) inbox: VecDeque<(NodeId, Packet)>,
    pub(crate) losses: Losses,
    /// What laws took losses for in this instant, until the flow has counted it.
    pub(crate) judged: Vec<Judged>,
    exits: Vec<Exit>,
    events: Vec<NetEvent>,
    pool: PacketPool,
    routes: Routes,
}

impl Net {
    /// The network of a scenario. Its slots are the first of the queue.
    pub(crate) fn new(config: &Config, routes: Routes, seed: u64, replication: u64, tracer: Tracer) -> Net {
        let mut net = Net {
            queue: EventQueue::default(),
            now: Time::ZERO,
            channels: Vec::new(),
            wlans: Vec::new(),
            tracer,
            captures: Vec::new(),
            inbox: VecDeque::new(),
            losses: Losses::default(),
            judged: Vec::new(),
            exits: Vec::new(),
            events: Vec::new(),
            pool: PacketPool::default(),
            routes,
        };
        for link in &config.links {
            match &link.kind {
                LinkKind::PointToPoint(ends) => {
                    for (direction, name) in [(0, "forward"), (1, "reverse")] {
                        let stream = format!("links.{}.{name}.loss", link.name);
                        let stream = Stream::named(seed, replication, &stream);
                        let to = NodeId(ends.nodes[1 - direction] as u32);
                        let line = Line::new(ends, direction, &link.name, (seed, replication));
                        net.add_channel(&ends.directions[direction], line, to, stream);
                    }
                }
                LinkKind::Wifi(wifi) => {
                    let number = net.wlans.len() as u32;
                    let stations = wifi.nodes.len() as u32;
                    net.exits.extend((0..stations).map(|station| Exit::Station { wlan: number, station }));
                    let mut slot = |event| {
                        net.events.push(NetEvent::Wlan(number, event));
                        net.queue.slot()
                    };
                    let wlan =
                        Wlan::new(config, wifi, &link.name, &net.routes, (seed, replication), &mut slot);
                    net.wlans.push(wlan);
                }
            }
        }
        net
    }

    fn add_channel(&mut self, direction: &DirectionConfig, line: Line, to: NodeId, stream: Stream) {
        let number = self.channels.len() as u32;
        let loss = LossProcess::new(direction.loss.clone(), stream);
        self.events.push(NetEvent::Channel(number));
        self.exits.push(Exit::Channel(number));
        self.channels.push(Channel::new(line, direction.delay, to, loss, self.queue.slot()));
    }

    /// The run begins, at the present time.
    pub(crate) fn begin(&mut self) {
        for wlan in 0..self.wlans.len() {
            self.with_wlan(wlan, Wlan::begin);
        }
    }

    /// What a slot stands for, if it is the network's.
    #[inline]
    pub(crate) fn event(&self, slot: Slot) -> Option<NetEvent> {
        self.events.get(slot.0 as usize).copied()
    }

    /// Captures both directions of a point-to-point link, by the number of its forward channel.
    pub(crate) fn capture(&mut self, channel: usize, capture: Capture) {
        for channel in &mut self.channels[channel..=channel + 1] {
            channel.capture = Some(self.captures.len());
        }
        self.captures.push(capture);
    }

    /// Sends a packet from `node`, where it was made or has come to; it is not for the node itself.
    #[inline]
    pub(crate) fn send(&mut self, node: NodeId, packet: Packet) {
        let hop = self.routes.next_hop(node, packet.dst);
        match self.exits[hop.port.0 as usize] {
            Exit::Channel(channel) => {
                let id = self.pool.insert(packet);
                self.offer(channel as usize, id);
            }
            Exit::Station { wlan, station } => self.with_wlan(wlan as usize, |wlan, host| {
                wlan.send(station as usize, packet, host);
            }),
        }
    }

    fn offer(&mut self, number: usize, id: PoolId) {
        let channel = &mut self.channels[number];
        let (packet, size) = self.pool.get_mut(id);
        let Some(departure) = channel.line.offer(packet, size, self.now) else {
            channel.counters.drops_queue += 1;
            let packet = self.pool.remove(id);
            self.losses.enter(&packet, Culprit::Queue);
            return;
        };
        if let Some(capture) = channel.capture {
            self.captures[capture].record(departure, self.now, packet);
        }
        if self.tracer.queue {
            self.tracer.queue(self.now, number, channel.line.queue().len());
        }
        if channel.loss.loses(packet) {
            channel.counters.drops_loss += 1;
            let packet = self.pool.remove(id);
            self.losses.enter(&packet, Culprit::Channel);
            return;
        }
        channel.push(departure, id, &mut self.queue);
    }

    /// The first packet of a channel arrives. It goes on over the next wire, or is returned with the node it has come to.
    #[inline]
    pub(crate) fn arrive(&mut self, number: u32) -> Option<(NodeId, Packet)> {
        let channel = &mut self.channels[number as usize];
        let id = channel.pop(&mut self.queue)?;
        let node = channel.to;
        let destination = self.pool.get(id).0.dst;
        if destination != node {
            let hop = self.routes.next_hop(node, destination);
            if let Exit::Channel(next) = self.exits[hop.port.0 as usize] {
                self.offer(next as usize, id);
                return None;
            }
        }
        Some((node, self.pool.remove(id)))
    }

    /// Something of a medium is due.
    pub(crate) fn on_wlan(&mut self, wlan: u32, event: WlanEvent) {
        self.with_wlan(wlan as usize, |wlan, host| wlan.on_event(event, host));
    }

    fn with_wlan(&mut self, wlan: usize, act: impl FnOnce(&mut Wlan, &mut wlan::Host)) {
        let mut host = wlan::Host {
            queue: &mut self.queue,
            pool: &mut self.pool,
            inbox: &mut self.inbox,
            losses: &mut self.losses,
            routes: &self.routes,
            now: self.now,
        };
        act(&mut self.wlans[wlan], &mut host);
    }
}
