//! The management of the queue of a station.
//!
//! A law that keeps the packets is in front of the MAC. The MAC gets the next one while it has fewer than [`BELOW`]:
//! one that it sends, and one for the backoff after it. A law that knows stations itself decides which packets the MAC
//! gets.

use lasthop_stack::hooks::{Admission, Backlog, DropCause, Reach};
use lasthop_stack::link::dot11::{
    Aggregate, CATEGORIES, Category, DataRate, Frame, FrameKind, Mode, Msdu, Outcome, Share,
};
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::signal::Signal;
use lasthop_stack::units::{Bytes, Rate, Span, Time};

use super::super::aqm::{Managed, Reports, Stage};
use super::super::pool::PoolId;
use super::answers::Output;
use super::classes::class_of;
use super::{Host, Interface, Management, Wlan};
use crate::engine::streams::Stream;
use crate::model::{Config, LinkConfig};
use crate::probe::events::{Event, Why};
use crate::probe::judgement::Culprit;

/// Frames that a MAC has at most while others wait in a managed queue: packets, or aggregates.
const BELOW: usize = 2;

/// The management of the queue of a station, of the queue of its MAC or of one in front of it, and whether that knows the
/// receivers of packets. The other links of multi-link devices borrow it from the first one.
pub(super) fn management(config: &Config, place: u32, seeds: (u64, u64), node: usize) -> (Management, bool) {
    let (first, _) = config.first_station(place as usize, 0);
    let mut own = of_first(config, first, seeds, node);
    let knows_lanes = own.stage.as_mut().is_some_and(|stage| stage.limits_station());
    (if first == place as usize { own } else { Management::default() }, knows_lanes)
}

/// The same for a link that has its own.
fn of_first(config: &Config, link: usize, (seed, replication): (u64, u64), node: usize) -> Management {
    let LinkConfig { name, aqm, kind, .. } = &config.links[link];
    let (Some(law), Some(wifi)) = (aqm, kind.wifi()) else { return Management::default() };
    let stream = format!("links.{name}.{}.aqm", config.nodes[node].name);
    let stream = Stream::named(seed, replication, &stream);
    if !law.keeps_packets() {
        let aqm = Some(Box::new(Managed::new(law, wifi.mac.data_rate.rate(), stream)));
        return Management { aqm, ..Management::default() };
    }
    // The packet in service is not among those of the queue.
    let limit = match wifi.mac.buffer {
        Some(buffer) => QueueLimit::Bytes(Bytes(u64::from(buffer.bytes))),
        None => QueueLimit::Packets(wifi.mac.queue.saturating_add(1)),
    };
    Management { stage: Some(Box::new(Stage::new(law, limit, stream))), ..Management::default() }
}

/// The number of a receiver and an access category.
fn lane(node: NodeId, category: Category) -> u32 {
    node.0 * CATEGORIES as u32 + category as u32
}

impl Interface {
    /// The management of its queue, if there is one.
    pub(super) fn managements(&self) -> impl Iterator<Item = &dyn Reports> {
        let Management { aqm, stage, .. } = &self.management;
        let aqm = aqm.as_deref().map(|aqm| aqm as &dyn Reports);
        aqm.into_iter().chain(stage.as_deref().map(|stage| stage as &dyn Reports))
    }

    /// The measurement begins.
    pub(super) fn begin_measurement(&mut self) {
        if let Some(aqm) = &mut self.management.aqm {
            aqm.begin_measurement();
        }
        if let Some(stage) = &mut self.management.stage {
            stage.begin_measurement();
        }
    }
}

impl Wlan {
    /// A packet of this size arrives at the queue of a station.
    #[inline]
    pub(super) fn manage(
        &mut self,
        station: usize,
        (packet, size): (&Packet, Bytes),
        now: Time,
    ) -> Admission {
        let Interface { held, emptied, management: Management { aqm, .. }, .. } = &mut self.sites[station];
        let Some(aqm) = aqm else { return Admission::Pass };
        let idle = if *held == 0 { now.since(*emptied) } else { Span::ZERO };
        aqm.on_arrival((size, packet.ecn), (*held, idle), now)
    }

    /// A station begins to send a frame: the wait of a packet of which it is the first.
    #[inline]
    pub(super) fn note_wait(&mut self, station: usize, host: &mut Host) {
        let is_observed = station == self.observer;
        let Interface { output: Output { on_air, load, .. }, management: Management { aqm, .. }, .. } =
            &mut self.sites[station];
        if on_air.0.mpdus > 0 {
            for mpdu in &load.mpdus {
                if let Some(came) = host.pool.begin_sending(PoolId::from_handle(mpdu.handle)) {
                    if is_observed {
                        self.waits.take(host.now.since(came));
                    }
                    if let Some(aqm) = aqm {
                        aqm.waits(host.now.since(came));
                    }
                }
            }
            return;
        }
        if let Some(handle) = on_air.0.msdu.filter(|_| is_observed || aqm.is_some())
            && let Some(came) = host.pool.begin_sending(PoolId::from_handle(handle))
        {
            let waited = host.now.since(came);
            if is_observed {
                self.waits.take(waited);
            }
            if let Some(aqm) = aqm {
                aqm.waits(waited);
            }
        }
    }

    /// The queue of a station drops a packet.
    pub(super) fn drop_queued(&mut self, station: usize, id: PoolId, cause: DropCause, host: &mut Host) {
        self.sites[station].counters.drops_queue += u64::from(cause == DropCause::Full);
        let packet = host.pool.remove(id);
        host.leaves(&packet, self.sites[station].node);
        host.lose(&packet, (Culprit::Queue, Why::Queue), (self.place, self.sites[station].node));
        let refused = Signal::Refused;
        self.with_agents(station, host, |agents, around| agents.on_signal(refused, &packet, around));
    }

    /// A packet arrives at the managed queue in front of the MAC of a station.
    pub(super) fn join(&mut self, station: usize, id: PoolId, is_ahead: bool, host: &mut Host) {
        let (packet, size) = host.pool.get(id);
        let lane = self.lane_of(station, packet, host);
        let reach = self.sites[station].knows_lanes.then(|| self.reach(station, lane));
        let Interface { management: Management { stage, below, .. }, node, .. } = &mut self.sites[station];
        let Some(stage) = stage else { return };
        if let Some(reach) = reach {
            stage.on_reach(lane, &reach);
        }
        stage.enqueue((id, packet, size), lane, is_ahead, *below, host.now);
        if let Some(events) = &mut host.tracer.events {
            events.link(host.now, Event::Queue, Why::Nothing, self.place, *node, packet);
        }
        self.drop_staged(station, host);
        self.refill(station, host);
        self.count_held(station, host.now);
        if host.tracer.queue {
            let Interface { held, node, .. } = &self.sites[station];
            host.tracer.station(host.now, self.place, *node, *held as usize);
        }
    }

    /// The MAC of a station gets packets from the managed queue in front of it.
    pub(super) fn refill(&mut self, station: usize, host: &mut Host) {
        while self.sites[station].knows_lanes
            || self.sites[station].mac.backlog() < BELOW * self.packets_per_frame
        {
            let Management { stage, below, .. } = &mut self.sites[station].management;
            let Some(stage) = stage else { return };
            let next = stage.dequeue(host.now);
            if let Some(queued) = &next {
                let id = PoolId::from_handle(u64::from(queued.handle));
                host.pool.leaves_lane(id, queued.lane);
                let (packet, size) = host.pool.get_mut(id);
                stage.leaves(queued, packet, host.now);
                *below = Backlog { packets: below.packets + 1, bytes: below.bytes + size.0 };
            }
            self.drop_staged(station, host);
            let Some(queued) = next else { break };
            self.give(station, PoolId::from_handle(u64::from(queued.handle)), host);
        }
        if self.sites[station].management.stage.is_some() {
            self.count_held(station, host.now);
        }
    }

    /// The MAC of a station gets a packet.
    fn give(&mut self, station: usize, id: PoolId, host: &mut Host) {
        let (packet, size) = host.pool.get(id);
        let (packet, bytes) = (*packet, size.0 as u32);
        let next = host.routes.next_hop(self.sites[station].node, packet.dst).next;
        if self.has_left(next) {
            // Its node has left this medium.
            self.done(station, id, Outcome::Flushed, host);
            return;
        }
        let flow = self.learn(station, &packet, (host.timers.as_deref_mut(), host.now));
        let category = self.category_of(&packet);
        let msdu = Msdu { handle: id.handle(), bytes, next, class: class_of(&packet), category, flow };
        let mut taken = false;
        self.with_mac(station, host, next, |mac, now, out| taken = mac.enqueue(msdu, false, now, out));
        if !taken {
            self.released(station, id, Bytes(u64::from(bytes)), host);
            self.drop_queued(station, id, DropCause::Full, host);
        }
    }

    /// The MAC of a station no longer has a packet, of this size. Its receiver may be another one than when it was taken.
    pub(super) fn released(&mut self, station: usize, id: PoolId, size: Bytes, host: &Host) {
        let Interface { management: Management { stage, below, .. }, knows_lanes, .. } =
            &mut self.sites[station];
        if let Some(stage) = stage {
            let lane = if *knows_lanes { host.pool.lane(id) } else { 0 };
            *below = Backlog { packets: below.packets - 1, bytes: below.bytes - size.0 };
            stage.on_done(lane, size);
        }
    }

    /// The receiver and the access category of a packet.
    fn lane_of(&self, station: usize, packet: &Packet, host: &Host) -> u32 {
        let next = host.routes.next_hop(self.sites[station].node, packet.dst).next;
        lane(next, self.category_of(packet))
    }

    /// How a station reaches the receiver of a lane.
    fn reach(&self, station: usize, lane: u32) -> Reach {
        let (site, to) = (&self.sites[station], NodeId(lane / CATEGORIES as u32));
        let chosen = site.mac.edca().and_then(|mac| mac.chosen_mode(to, lane as usize % CATEGORIES));
        let data = chosen.map_or_else(|| self.rules.data_rate(site.node, to), DataRate::from);
        let largest = match (self.rules.config.edca, data.mode) {
            (Some(edca), Some(mode)) => {
                let Aggregate { count, bytes, time } = edca.aggregate;
                let bytes = bytes.min(mode.capacity(time));
                Backlog { packets: count.min(edca.window), bytes: u64::from(bytes) }
            }
            _ => Backlog { packets: 1, bytes: u64::MAX },
        };
        Reach { rate: Rate(data.bps()), largest }
    }

    /// A data frame of a station has ended: it counts at both ends.
    pub(super) fn note_airtime(&mut self, station: usize, frame: &Frame, shares: &[Share]) {
        if !self.any_knows_lanes || frame.kind != FrameKind::Data {
            return;
        }
        let airtime = self.sites[station].output.on_air.1.total;
        if shares.is_empty() {
            // Each of several simultaneous frames has one of equal RUs.
            let rus = frame.mode.filter(|_| frame.together).map_or(1, Mode::rus);
            self.note_use(station, frame, Span(airtime.0 / u64::from(rus)));
        }
        for share in shares {
            // Equal RUs.
            let part = Span(airtime.0 / shares.len() as u64);
            self.note_use(station, &Frame { receiver: share.to, ..*frame }, part);
        }
    }

    fn note_use(&mut self, station: usize, frame: &Frame, airtime: Span) {
        let to = self.radio.station(frame.receiver);
        for (at, with) in [(Some(station), frame.receiver), (to, frame.transmitter)] {
            if let Some(at) = at
                && self.sites[at].knows_lanes
                && let Some(stage) = &mut self.sites[at].management.stage
            {
                stage.on_airtime(lane(with, frame.category), airtime);
            }
        }
    }

    /// Loses what the law of the queue of a station has dropped.
    fn drop_staged(&mut self, station: usize, host: &mut Host) {
        while let Some((id, cause)) =
            self.sites[station].management.stage.as_mut().and_then(|stage| stage.next_dropped())
        {
            self.drop_queued(station, id, cause, host);
        }
    }
}
