//! The network between the endpoints: packets, channels, routes.
//!
//! A channel is one direction of a link. It holds its packets in the order of their arrival and has one entry in the
//! queue of events, for the first of them. The place of each among simultaneous events was fixed when it was sent.

mod pool;
pub(crate) mod routes;

use std::collections::VecDeque;

use lasthop_stack::link::wired::Wired;
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::units::{Span, Time};

use crate::engine::queue::{EventQueue, Sequence, Slot};
use crate::engine::streams::Stream;
use crate::medium::loss::LossProcess;
use crate::probe::pcap::Capture;
use crate::probe::trace::Tracer;
use crate::scenario::config::{Config, DirectionConfig};
use pool::{PacketPool, PoolId};
use routes::Routes;

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    arrival: Time,
    sequence: Sequence,
    id: PoolId,
}

/// One direction of a link.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) wired: Wired,
    to: NodeId,
    loss: LossProcess,
    pipe: VecDeque<InFlight>,
    slot: Slot,
    capture: Option<usize>,
    counters: ChannelCounters,
}

/// What a channel has done since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChannelCounters {
    pub(crate) drops_queue: u64,
    pub(crate) drops_loss: u64,
    pub(crate) busy: Span,
}

/// Where a packet goes next.
pub(crate) enum Arrival {
    /// To an endpoint at this node.
    Here(Packet),
    /// It was sent on, or dropped.
    Gone,
}

/// The network.
pub(crate) struct Net {
    pub(crate) queue: EventQueue,
    pub(crate) now: Time,
    pub(crate) channels: Vec<Channel>,
    pub(crate) tracer: Tracer,
    pub(crate) captures: Vec<Capture>,
    pool: PacketPool,
    routes: Routes,
}

impl Net {
    /// The network of a scenario; channel `2 l + d` is direction `d` of link `l`, and its slot has the same number.
    pub(crate) fn new(config: &Config, routes: Routes, seed: u64, replication: u64, tracer: Tracer) -> Net {
        let mut queue = EventQueue::default();
        let mut channels = Vec::with_capacity(2 * config.links.len());
        for link in &config.links {
            for (direction, name) in [(0, "forward"), (1, "reverse")] {
                let DirectionConfig { rate, delay, queue: limit, loss } = &link.directions[direction];
                let stream = Stream::named(seed, replication, &format!("links.{}.{name}.loss", link.name));
                channels.push(Channel {
                    wired: Wired::new(*rate, *delay, *limit),
                    to: NodeId(link.nodes[1 - direction] as u32),
                    loss: LossProcess::new(loss.clone(), stream),
                    pipe: VecDeque::new(),
                    slot: queue.slot(),
                    capture: None,
                    counters: ChannelCounters::default(),
                });
            }
        }
        Net {
            queue,
            now: Time::ZERO,
            channels,
            tracer,
            captures: Vec::new(),
            pool: PacketPool::default(),
            routes,
        }
    }

    /// Captures both directions of a link.
    pub(crate) fn capture(&mut self, link: usize, capture: Capture) {
        for channel in &mut self.channels[2 * link..=2 * link + 1] {
            channel.capture = Some(self.captures.len());
        }
        self.captures.push(capture);
    }

    /// Sends a packet that was made at `node`; one for the node itself never gets here.
    #[inline]
    pub(crate) fn send(&mut self, node: NodeId, packet: Packet) {
        let channel = self.routes.next_hop(node, packet.dst);
        let id = self.pool.insert(packet);
        self.offer(channel, id);
    }

    fn offer(&mut self, number: usize, id: PoolId) {
        let channel = &mut self.channels[number];
        let (packet, size) = self.pool.get(id);
        let Some(departure) = channel.wired.offer(size, self.now) else {
            channel.counters.drops_queue += 1;
            self.pool.remove(id);
            return;
        };
        if let Some(capture) = channel.capture {
            self.captures[capture].record(departure, self.now, packet);
        }
        if self.tracer.queue {
            self.tracer.queue(self.now, number, channel.wired.queue().len());
        }
        if channel.loss.loses(packet) {
            channel.counters.drops_loss += 1;
            self.pool.remove(id);
            return;
        }
        let arrival = departure + channel.wired.delay();
        let sequence = self.queue.next_sequence();
        if channel.pipe.is_empty() {
            self.queue.set_with(channel.slot, arrival, sequence);
        }
        channel.pipe.push_back(InFlight { arrival, sequence, id });
    }

    /// The first packet of a channel arrives.
    #[inline]
    pub(crate) fn arrive(&mut self, number: usize) -> Arrival {
        let channel = &mut self.channels[number];
        let Some(first) = channel.pipe.pop_front() else {
            return Arrival::Gone;
        };
        match channel.pipe.front() {
            Some(next) => self.queue.set_with(channel.slot, next.arrival, next.sequence),
            None => self.queue.cancel(channel.slot),
        }
        let node = channel.to;
        let destination = self.pool.get(first.id).0.dst;
        if destination == node {
            return Arrival::Here(self.pool.remove(first.id));
        }
        let next = self.routes.next_hop(node, destination);
        self.offer(next, first.id);
        Arrival::Gone
    }

    /// The counters of a channel up to now.
    pub(crate) fn counters(&self, channel: usize) -> ChannelCounters {
        let channel = &self.channels[channel];
        ChannelCounters { busy: channel.wired.busy(self.now), ..channel.counters }
    }
}
