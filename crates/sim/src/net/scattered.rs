//! The path over a channel whose medium may scatter packets ([`treatment`](super::treatment)).
//!
//! Packets that arrive in another order than they leave are in a heap; the first of them is in the channel's pipe, which has
//! its event. A channel behind such a channel is not a relay ([`ways`](super::ways)), because a relay enqueues packets
//! before they arrive.

use lasthop_stack::units::{Bytes, Time};

use super::Net;
use super::channel::Channel;
use super::general::{self, Observers};
use super::pool::{InFlight, PoolId};
use super::traced::{self, Times};
use super::treatment::Scattered;
use crate::engine::queue::{EventQueue, Sequence};
use crate::probe::judgement::Culprit;

/// The fate of a packet, or of its copy: when it arrives, or would, and the cause of its loss.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    arrival: Time,
    lost: Option<Culprit>,
}

impl Channel {
    /// Whether packets may arrive in another order than they leave, or more of them.
    #[inline]
    pub(super) fn scatters(&self) -> bool {
        self.treatment
            .as_ref()
            .is_some_and(|treatment| treatment.impairments.is_some() || treatment.delays.is_some())
    }

    /// Whether its policer drops a packet of this size, which is counted.
    pub(super) fn polices(&mut self, size: Bytes, now: Time) -> bool {
        let policer = self.treatment.as_mut().and_then(|treatment| treatment.policer.as_mut());
        let is_dropped = policer.is_some_and(|policer| !policer.passes(size, now));
        self.counters.drops_policer += u64::from(is_dropped);
        is_dropped
    }

    /// The fate of a packet that leaves at this time, and of its copy if it has one. A packet that an outage loses
    /// makes its draws, too.
    fn fates(&mut self, is_lost: bool, departure: Time) -> (Outcome, Option<Outcome>) {
        let Some(treatment) = &mut self.treatment else {
            let arrival = departure + self.delay;
            return (self.fate(is_lost, departure, arrival), None);
        };
        let (arrival, overtakes) = treatment.arrival(departure, self.delay);
        let Some(impairments) = &mut treatment.impairments else {
            self.counters.reordered += u64::from(overtakes && !is_lost);
            return (self.fate(is_lost, departure, arrival), None);
        };
        let passage = impairments.pass(departure, arrival.since(departure), is_lost);
        self.counters.duplicated += u64::from(passage.copy.is_some());
        self.counters.reordered += u64::from(passage.overtaking);
        let first = self.fate(is_lost, departure, passage.arrival);
        (first, passage.copy.map(|copy| self.fate(false, departure, copy)))
    }

    fn fate(&mut self, is_lost: bool, departure: Time, arrival: Time) -> Outcome {
        let is_cut = self.is_cut(departure, arrival);
        self.counters.drops_outage += u64::from(is_cut);
        self.counters.drops_loss += u64::from(is_lost && !is_cut);
        let lost = if is_cut { Some(Culprit::Outage) } else { is_lost.then_some(Culprit::Channel) };
        Outcome { arrival, lost }
    }

    /// Puts a packet on its way, which may arrive before others.
    fn push_anywhere(&mut self, packet: InFlight, queue: &mut EventQueue) {
        let Some(treatment) = &mut self.treatment else { return };
        let mut next = Scattered(packet);
        match self.pipe.front_mut() {
            Some(first) if Scattered(*first) < next => std::mem::swap(first, &mut next.0),
            Some(_) => {
                treatment.scattered.push(next);
                return;
            }
            None => {
                self.pipe.push_back(packet);
                queue.set_with(self.slot, packet.arrival, packet.taken, packet.sequence);
                return;
            }
        }
        treatment.scattered.push(next);
        queue.set_with(self.slot, packet.arrival, packet.taken, packet.sequence);
    }

    /// Nothing is left in the pipe at an arrival: schedules that of the first packet behind it.
    pub(super) fn arrive_next(&mut self, queue: &mut EventQueue) {
        let next = self.treatment.as_mut().and_then(|treatment| treatment.scattered.pop());
        let Some(Scattered(next)) = next else {
            queue.cancel(self.slot);
            return;
        };
        self.pipe.push_back(next);
        queue.set_with(self.slot, next.arrival, next.taken, next.sequence);
    }
}

impl Net {
    /// A channel that may scatter packets enqueues one at a time that is not before now.
    pub(super) fn scatter(&mut self, number: usize, id: PoolId, size: Bytes, at: Time, sequence: Sequence) {
        let channel = &mut self.channels[number];
        let packet = self.pool.packet_mut(id);
        let mut observers = Observers {
            tracer: &mut self.tracer,
            captures: &mut self.captures,
            outside: self.outside.as_deref(),
        };
        let taken = general::admit(channel, packet, size, at, &mut self.refused, &mut observers);
        let departs = match taken {
            Ok(departure) => departure,
            Err(culprit) => return self.lose(id, culprit, at),
        };
        let is_lost = channel.loss.loses(packet);
        let (first, copy) = channel.fates(is_lost, departs);
        if self.tracer.links {
            let times = Times { taken: at, departs, arrives: first.arrival };
            traced::crossing(&mut self.tracer, channel, packet, times, first.lost);
        }
        let original = *packet;
        let launched = |id: PoolId, outcome: Outcome| InFlight {
            arrival: outcome.arrival,
            taken: at,
            sequence,
            id,
            size: size.0 as u32,
        };
        self.launch(number, launched(id, first), first.lost);
        if let Some(outcome) = copy {
            let mut copy = original;
            let channel = &self.channels[number];
            if self.tracer.links {
                let times = Times { taken: at, departs, arrives: outcome.arrival };
                traced::copying(&mut self.tracer, channel, &mut copy, times, outcome.lost);
                if let Some(outside) = &mut self.outside {
                    outside.contents.copy(copy.id, original.id);
                }
            }
            if let Some(capture) = channel.capture {
                self.captures[capture].record(departs, at, &copy, self.outside.as_deref());
            }
            self.accounts.repeated(&copy);
            let id = self.pool.insert_sized(copy, size);
            self.launch(number, launched(id, outcome), outcome.lost);
        }
    }

    /// A packet is on its way, or lost.
    fn launch(&mut self, number: usize, packet: InFlight, lost: Option<Culprit>) {
        match lost {
            Some(culprit) => self.lose(packet.id, culprit, packet.taken),
            None => self.channels[number].push_anywhere(packet, &mut self.queue),
        }
    }
}
