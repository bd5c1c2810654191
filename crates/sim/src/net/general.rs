//! The general path over a channel: that of packets which more than a queue and a loss process acts on, or which
//! something records.

use std::collections::VecDeque;

use lasthop_stack::hooks::DropCause;
use lasthop_stack::packet::Packet;
use lasthop_stack::units::{Bytes, Time};

use super::Net;
use super::channel::Channel;
use super::pool::{InFlight, PoolId};
use super::traced::{self, Times};
use crate::engine::queue::Sequence;
use crate::outside::Outside;
use crate::probe::events::Why;
use crate::probe::judgement::Culprit;
use crate::probe::pcap::Capture;
use crate::probe::trace::Tracer;

/// What watches and records the packets of channels.
pub(super) struct Observers<'a> {
    pub(super) tracer: &'a mut Tracer,
    pub(super) captures: &'a mut [Capture],
    pub(super) outside: Option<&'a Outside>,
}

impl Net {
    /// Offers a packet to the head of the queue of a channel; a channel with a treatment enqueues it at the tail. No event of a
    /// channel whose agents may do so is processed ahead of the clock.
    pub(super) fn offer_ahead(&mut self, number: usize, id: PoolId, sequence: Sequence) {
        let now = self.now;
        let (packet, size) = self.pool.get_mut(id);
        let channel = &mut self.channels[number];
        if channel.stage.is_some() {
            self.join(number, id, true);
            return;
        }
        if channel.treatment.is_some() {
            self.cross(number, id, size, now, sequence);
            return;
        }
        let (departure, later) = match channel.take(packet, size, true, now) {
            Ok(taken) => taken,
            Err(cause) => {
                channel.counters.drops_queue += u64::from(cause == DropCause::Full);
                self.drop_at(number, id);
                return;
            }
        };
        if let Some(capture) = channel.capture {
            self.captures[capture].record(departure, now, packet, self.outside.as_deref());
        }
        let lost = channel.loses(packet, departure);
        if self.tracer.links {
            traced::overtaking(&mut self.tracer, channel, departure, later);
            let times = Times { taken: now, departs: departure, arrives: departure + channel.delay };
            traced::crossing(&mut self.tracer, channel, packet, times, lost);
        }
        if let Some(culprit) = lost {
            self.lose(id, culprit, now);
            return;
        }
        let (arrival, size) = (departure + channel.delay, size.0 as u32);
        channel.push_ahead(InFlight { arrival, taken: now, sequence, id, size }, later, &mut self.queue);
    }
}

/// A channel enqueues a packet at a time that is not before now: returns when its last bit leaves, or what loses it.
/// Agents of the channel get what it drops before that.
#[inline(never)]
pub(super) fn carry(
    channel: &mut Channel,
    packet: &mut Packet,
    size: Bytes,
    at: Time,
    refused: &mut VecDeque<Packet>,
    observers: &mut Observers<'_>,
) -> Result<Time, Culprit> {
    let departs = admit(channel, packet, size, at, refused, observers)?;
    let lost = channel.loses(packet, departs);
    if observers.tracer.links {
        let times = Times { taken: at, departs, arrives: departs + channel.delay };
        traced::crossing(observers.tracer, channel, packet, times, lost);
    }
    lost.map_or(Ok(departs), Err)
}

/// The first half of [`carry`]: what becomes of a packet until its last bit leaves.
pub(super) fn admit(
    channel: &mut Channel,
    packet: &mut Packet,
    size: Bytes,
    at: Time,
    refused: &mut VecDeque<Packet>,
    observers: &mut Observers<'_>,
) -> Result<Time, Culprit> {
    // A packet from a queue in front of the channel was policed before it joined.
    let is_policed = channel.stage.is_none() && channel.polices(size, at);
    let taken = if is_policed { Err(Why::Policer) } else { Ok(()) };
    let taken = taken.and_then(|()| {
        channel.take(packet, size, false, at).map_err(|cause| {
            channel.counters.drops_queue += u64::from(cause == DropCause::Full);
            Why::Queue
        })
    });
    let departure = match taken {
        Ok((departure, _)) => departure,
        Err(why) => {
            if channel.agents[0].is_some() {
                refused.push_back(*packet);
            }
            observers.tracer.refused(at, channel.number, packet, why);
            return Err(Culprit::Queue);
        }
    };
    if let Some(capture) = channel.capture {
        observers.captures[capture].record(departure, at, packet, observers.outside);
    }
    Ok(departure)
}
