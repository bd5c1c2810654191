//! What a trace records of the network: the packets on wires, and the packets that agents pass on. A channel with more
//! than a queue and a loss process enqueues its packets here.

use std::collections::VecDeque;

use lasthop_stack::hooks::DropCause;
use lasthop_stack::link::transmitter::Transmitter;
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::units::{Bytes, Span, Time};

use super::agents::Towards;
use super::channel::Channel;
use crate::outside::Outside;
use crate::probe::events::{Crossing, Event, Events, Why};
use crate::probe::judgement::Culprit;
use crate::probe::pcap::Capture;
use crate::probe::trace::Tracer;

/// A channel enqueues a packet at a time that is not before now: returns when its last bit leaves, or what loses it.
/// Agents of the channel get what it drops before that.
#[inline(never)]
pub(super) fn carry(
    (number, channel): (usize, &mut Channel),
    (packet, size): (&mut Packet, Bytes),
    at: Time,
    refused: &mut VecDeque<Packet>,
    (tracer, captures, outside): (&mut Tracer, &mut [Capture], Option<&Outside>),
) -> Result<Time, Culprit> {
    let departure =
        admit((number, &mut *channel), (&mut *packet, size), at, refused, (&mut *tracer, captures, outside))?;
    let arrival = departure + channel.delay;
    let lost = channel.loses(packet, departure);
    if tracer.links {
        crossing(tracer, (number, channel), packet, (at, departure, arrival), lost);
    }
    lost.map_or(Ok(departure), Err)
}

/// The first half of [`carry`]: what becomes of a packet until its last bit leaves.
pub(super) fn admit(
    (number, channel): (usize, &mut Channel),
    (packet, size): (&mut Packet, Bytes),
    at: Time,
    refused: &mut VecDeque<Packet>,
    (tracer, captures, outside): (&mut Tracer, &mut [Capture], Option<&Outside>),
) -> Result<Time, Culprit> {
    // A packet from a queue in front of the channel was policed before it joined.
    let is_policed = channel.stage.is_none() && channel.polices(size, at);
    let taken = if is_policed { Err(Why::Policer) } else { Ok(()) };
    let taken = taken.and_then(|()| {
        channel.take((packet, size), false, at).map_err(|cause| {
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
            tracer.refused(at, number, packet, why);
            return Err(Culprit::Queue);
        }
    };
    if let Some(capture) = channel.capture {
        captures[capture].record((departure, at), packet, outside);
    }
    Ok(departure)
}

/// Records that a channel has accepted a packet.
#[cold]
pub(super) fn crossing(
    tracer: &mut Tracer,
    (number, channel): (usize, &mut Channel),
    packet: &Packet,
    (now, departs, arrives): (Time, Time, Time),
    lost: Option<Culprit>,
) {
    if tracer.queue {
        tracer.queue(now, number, channel.held());
    }
    let (link, ends) = tracer.wires[number / 2];
    if let Some(events) = &mut tracer.events {
        let crossing = Crossing {
            link,
            nodes: (ends[number % 2], channel.to),
            begins: channel.line.began(departs),
            departs,
            arrives,
            has_waited: channel.stage.is_some(),
            lost: lost.map(why),
        };
        events.crosses(now, packet, &crossing);
    }
}

/// Records that the medium of a channel has copied a packet, and gives the copy a number.
#[cold]
pub(super) fn copying(
    tracer: &mut Tracer,
    (number, channel): (usize, &Channel),
    copy: &mut Packet,
    (now, departs, arrives): (Time, Time, Time),
    lost: Option<Culprit>,
) {
    let (link, ends) = tracer.wires[number / 2];
    if let Some(events) = &mut tracer.events {
        let nodes = (ends[number % 2], channel.to);
        let lost = lost.map(why);
        let crossing = Crossing { link, nodes, begins: departs, departs, arrives, has_waited: true, lost };
        events.copied(now, copy, &crossing);
    }
}

fn why(culprit: Culprit) -> Why {
    if culprit == Culprit::Outage { Why::Outage } else { Why::Error }
}

/// Records that a packet has joined the managed queue in front of a channel.
#[cold]
pub(super) fn joining(
    tracer: &mut Tracer,
    (number, channel): (usize, &mut Channel),
    packet: &Packet,
    now: Time,
) {
    if tracer.queue {
        tracer.queue(now, number, channel.held());
    }
    let (link, ends) = tracer.wires[number / 2];
    if let Some(events) = &mut tracer.events {
        events.link(now, Event::Queue, Why::Nothing, link, ends[number % 2], packet);
    }
}

/// Records that a packet, which departs at this time, was put ahead of others, which are delayed by `later`.
#[cold]
pub(super) fn overtaking(
    tracer: &mut Tracer,
    (number, channel): (usize, &Channel),
    departs: Time,
    later: Span,
) {
    let (link, ends) = tracer.wires[number / 2];
    if let Some(events) = &mut tracer.events {
        let begins = Time(departs.0 - later.0);
        events.delay((link, ends[number % 2], channel.to), (begins, begins + channel.delay), later);
    }
}

/// How an agent handles the packet that has reached it.
pub(super) struct Handling<'a> {
    pub(super) node: NodeId,
    /// The packet and its direction.
    pub(super) came: Option<(&'a Packet, Towards)>,
    /// Whether the agent has passed it on.
    pub(super) has_gone: bool,
}

impl Handling<'_> {
    /// The agent passes on a packet. Returns the packet with its number.
    #[cold]
    pub(super) fn pass(
        &mut self,
        events: &mut Events,
        now: Time,
        packet: &Packet,
        towards: Towards,
    ) -> Packet {
        let came = self.came.filter(|(came, way)| *way == towards && came.id == packet.id && !self.has_gone);
        self.has_gone |= came.is_some();
        events.passed_on(now, self.node, packet, came.map(|(came, _)| came))
    }

    /// The call of the agent has ended.
    #[cold]
    pub(super) fn end(&self, events: &mut Events, now: Time) {
        if let Some((packet, _)) = self.came
            && !self.has_gone
        {
            events.kept(now, self.node, packet);
        }
    }
}
