//! One direction of a point-to-point link.
//!
//! A channel holds its packets in the order of their arrival and has one entry in the event queue, for the first of
//! them. The place of each among simultaneous events was fixed when it was sent. Packets that continue over a relay
//! have already been passed on and are not held.

use std::collections::VecDeque;

use lasthop_stack::hooks::{Admission, DropCause};
use lasthop_stack::link::transmitter::{LAST, Transmitter};
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::units::{Bytes, Span, Time};

use super::aqm::{AqmCounters, Managed, Reports, Stage, sum};
use super::pool::{InFlight, PoolId};
use super::treatment::Treatment;
use super::ways::Onward;
use crate::engine::queue::{EventQueue, Slot};
use crate::lines::Line;
use crate::medium::loss::LossProcess;
use crate::medium::outages::Cuts;
use crate::probe::judgement::Culprit;
use crate::probe::occupancy::Occupancy;

/// About how many packets in transit the processor's second cache holds together with the state of their connections.
const CACHED: usize = 2048;

/// One direction of a point-to-point link.
#[derive(Debug)]
pub(crate) struct Channel {
    /// Its place among the channels: 2k forward and 2k + 1 back on the k-th link of two nodes.
    pub(super) number: usize,
    pub(crate) line: Line,
    pub(crate) delay: Span,
    pub(super) to: NodeId,
    pub(super) onward: Onward,
    /// The agents at its near end, which feed it, and those at its far end.
    pub(super) agents: [Option<u32>; 2],
    pub(super) loss: LossProcess,
    /// When it is down, if it ever is.
    pub(super) cuts: Option<Box<Cuts>>,
    /// The management of its queue, or the managed queue in front of it.
    pub(super) aqm: Option<Box<Managed>>,
    pub(super) stage: Option<Box<Stage>>,
    /// What else it does to packets, if it does anything.
    pub(super) treatment: Option<Box<Treatment>>,
    /// The slot of the time at which it takes the next packet from there, if it has such a queue.
    pub(super) pull: Slot,
    pub(super) capture: Option<usize>,
    /// Nothing but its queue and its loss process acts on its packets, and nothing records them.
    pub(super) takes_shortcut: bool,
    pub(super) counters: ChannelCounters,
    pub(super) pipe: VecDeque<InFlight>,
    pub(super) slot: Slot,
}

/// What a channel has done since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChannelCounters {
    pub(crate) drops_queue: u64,
    pub(crate) drops_loss: u64,
    pub(crate) drops_outage: u64,
    pub(crate) drops_policer: u64,
    /// Packets that were copied, and that overtook another.
    pub(crate) duplicated: u64,
    pub(crate) reordered: u64,
    pub(crate) busy: Span,
    /// Bytes that could go, where these are recorded: used, and offered.
    pub(crate) used: (u64, u64),
    /// The time that packets were held, summed, and the time without room for another, in nanoseconds.
    pub(crate) held: u128,
    pub(crate) full: Span,
}

impl Channel {
    pub(super) fn new(
        number: usize,
        line: Line,
        delay: Span,
        to: NodeId,
        loss: LossProcess,
        slot: Slot,
    ) -> Channel {
        let counters = ChannelCounters::default();
        Channel {
            number,
            line,
            delay,
            to,
            onward: Onward::default(),
            agents: [None; 2],
            loss,
            cuts: None,
            aqm: None,
            stage: None,
            treatment: None,
            pull: slot,
            capture: None,
            takes_shortcut: false,
            counters,
            pipe: VecDeque::new(),
            slot,
        }
    }

    /// Whether it has neither agents at its near end, outages, management of its queue, a treatment of packets, nor a
    /// capture.
    pub(super) fn is_bare(&self) -> bool {
        let watched = self.agents[0].is_some() || self.capture.is_some();
        let is_managed = self.aqm.is_some() || self.stage.is_some();
        !watched && !is_managed && self.cuts.is_none() && self.treatment.is_none()
    }

    /// Takes in a packet, where it [takes the shortcut](Self::takes_shortcut): returns when its last bit leaves, or what loses it.
    #[inline]
    pub(super) fn carry(&mut self, packet: &mut Packet, size: Bytes, now: Time) -> Result<Time, Culprit> {
        let departure = match &mut self.line {
            Line::Wired(wired) => wired.offer(size, now),
            line => line.offer(size, now).inspect(|_| line.mark(packet)),
        };
        let Some(departure) = departure else {
            self.counters.drops_queue += 1;
            return Err(Culprit::Queue);
        };
        if self.loss.loses(packet) {
            self.counters.drops_loss += 1;
            return Err(Culprit::Channel);
        }
        Ok(departure)
    }

    /// Enqueues a packet, perhaps at the head of the queue. Returns the departure of its last bit and the delay of the
    /// packets behind it, or why it is dropped. A link that is down enqueues it at the tail.
    pub(super) fn take(
        &mut self,
        packet: &mut Packet,
        size: Bytes,
        is_ahead: bool,
        now: Time,
    ) -> Result<(Time, Span), DropCause> {
        let is_ahead = is_ahead && self.cuts.as_mut().is_none_or(|cuts| cuts.begins(now) == now);
        if !is_ahead && let Some(cuts) = &mut self.cuts {
            self.line.wait_until(cuts.begins(self.line.ready_at(now)), now);
        }
        let Some(aqm) = &mut self.aqm else {
            return self.line.accept((packet, size), is_ahead, now).ok_or(DropCause::Full);
        };
        let queue = self.line.queue_at(now);
        let found = (queue.len() as u32, queue.idle(now));
        let admission = aqm.on_arrival((size, packet.ecn), found, now);
        if admission == Admission::Drop {
            return Err(DropCause::Early);
        }
        let taken = self.line.accept((packet, size), is_ahead, now).ok_or(DropCause::Full)?;
        aqm.admit(packet, admission);
        if taken.0 < LAST {
            aqm.waits(self.line.began(taken.0).since(now));
        }
        Ok(taken)
    }

    /// The cause by which a packet that leaves at this time is lost, if it is lost. A packet that an outage loses has
    /// drawn its random number, too.
    pub(super) fn loses(&mut self, packet: &Packet, departure: Time) -> Option<Culprit> {
        let is_lost = self.loss.loses(packet);
        if self.is_cut(departure, departure + self.delay) {
            self.counters.drops_outage += 1;
            return Some(Culprit::Outage);
        }
        self.counters.drops_loss += u64::from(is_lost);
        is_lost.then_some(Culprit::Channel)
    }

    /// Whether an outage meets a packet between the beginning of its departure and its arrival. None meets what never leaves.
    pub(super) fn is_cut(&mut self, departure: Time, arrival: Time) -> bool {
        let Some(cuts) = &mut self.cuts else { return false };
        departure < LAST && cuts.mask(self.line.began(departure), arrival) != 0
    }

    /// Puts a packet on its way.
    #[inline]
    pub(super) fn push(&mut self, packet: InFlight, queue: &mut EventQueue) {
        if self.pipe.is_empty() {
            queue.set_with(self.slot, packet.arrival, packet.taken, packet.sequence);
        }
        self.pipe.push_back(packet);
    }

    /// Sends a packet ahead of the packets in the queue, which leave `later`. Their earlier departure has decided whether
    /// an outage meets them.
    pub(super) fn push_ahead(&mut self, packet: InFlight, later: Span, queue: &mut EventQueue) {
        let before = Time(packet.arrival.0 - later.0);
        let place = self.pipe.partition_point(|other| other.arrival <= before);
        for other in self.pipe.range_mut(place..) {
            other.arrival = other.arrival + later;
        }
        self.pipe.insert(place, packet);
        if let Some(first) = self.pipe.front() {
            queue.set_with(self.slot, first.arrival, first.taken, first.sequence);
        }
    }

    /// Removes the packet that arrives first and schedules the arrival of the next.
    pub(super) fn pop(&mut self, queue: &mut EventQueue) -> Option<InFlight> {
        let first = self.pipe.pop_front()?;
        match self.pipe.front() {
            Some(next) => queue.set_with(self.slot, next.arrival, next.taken, next.sequence),
            None => queue.cancel(self.slot),
        }
        Some(first)
    }

    /// The same at the event of its arrival.
    #[inline]
    pub(super) fn arrive(&mut self, queue: &mut EventQueue) -> Option<InFlight> {
        let first = self.pipe.pop_front()?;
        match self.pipe.front() {
            Some(next) => queue.set_first(self.slot, next.arrival, next.taken, next.sequence),
            None => self.arrive_next(queue),
        }
        Some(first)
    }

    /// Three of the packets that arrive soon, the nearest first, where more are in transit than the cache holds.
    #[inline]
    pub(super) fn soon(&self) -> Option<[PoolId; 3]> {
        (self.pipe.len() > CACHED).then(|| [0, 1, 3].map(|place| self.pipe[place].id))
    }

    /// The number of packets in transit.
    pub(super) fn len(&self) -> usize {
        self.pipe.len() + self.treatment.as_ref().map_or(0, |treatment| treatment.scattered.len())
    }

    /// The counters up to now.
    pub(crate) fn counters(&self, now: Time) -> ChannelCounters {
        let queue = self.line.queue();
        ChannelCounters {
            busy: self.line.busy(now),
            used: self.line.used(now),
            held: queue.held_time(now),
            full: queue.full_time(now),
            ..self.counters
        }
    }

    /// What the management of its queue has done.
    pub(crate) fn aqm_counters(&self) -> AqmCounters {
        let aqm = self.aqm.as_deref().map(|aqm| aqm as &dyn Reports);
        sum(aqm.into_iter().chain(self.stage.as_deref().map(|stage| stage as &dyn Reports)))
    }

    /// Starts to measure at `now`.
    pub(crate) fn begin_measurement(&mut self, now: Time) {
        self.line.queue_mut().begin_measurement(now);
        if let Some(aqm) = &mut self.aqm {
            aqm.begin_measurement();
        }
        if let Some(stage) = &mut self.stage {
            stage.begin_measurement();
            stage.begin_above(self.line.queue().len() as u32);
        }
    }

    /// What a queue in front of it holds over time up to now, and the most that was held at once.
    pub(crate) fn staged(&self, now: Time) -> Option<(Occupancy, u32)> {
        self.stage.as_ref().map(|stage| stage.over_time(now))
    }

    /// Packets held now, the one being sent included.
    pub(super) fn held(&mut self) -> usize {
        let waiting = self.stage.as_mut().map_or(0, |stage| stage.waiting().packets as usize);
        waiting + self.line.queue().len()
    }
}
