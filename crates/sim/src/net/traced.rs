//! What a trace records of wires: the packets that cross them.

use lasthop_stack::link::transmitter::Transmitter;
use lasthop_stack::packet::Packet;
use lasthop_stack::units::{Span, Time};

use super::channel::Channel;
use crate::probe::events::{Crossing, Event, Hop, Why};
use crate::probe::judgement::Culprit;
use crate::probe::trace::Tracer;

/// The times of a packet on a channel: when the channel takes it, when its last bit leaves, and when it arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) taken: Time,
    pub(super) departs: Time,
    pub(super) arrives: Time,
}

/// Records that a channel has accepted a packet.
#[cold]
pub(super) fn crossing(
    tracer: &mut Tracer,
    channel: &mut Channel,
    packet: &Packet,
    Times { taken, departs, arrives }: Times,
    lost: Option<Culprit>,
) {
    if tracer.queue {
        tracer.queue(taken, channel.number, channel.held());
    }
    let (link, ends) = tracer.wires[channel.number / 2];
    if let Some(events) = &mut tracer.events {
        let crossing = Crossing {
            hop: Hop { link, from: ends[channel.number % 2], to: channel.to },
            begins: channel.line.began(departs),
            departs,
            arrives,
            has_waited: channel.stage.is_some(),
            lost: lost.map(why),
        };
        events.crosses(taken, packet, &crossing);
    }
}

/// Records that the medium of a channel has copied a packet, and gives the copy a number.
#[cold]
pub(super) fn copying(
    tracer: &mut Tracer,
    channel: &Channel,
    copy: &mut Packet,
    Times { taken, departs, arrives }: Times,
    lost: Option<Culprit>,
) {
    let (link, ends) = tracer.wires[channel.number / 2];
    if let Some(events) = &mut tracer.events {
        let hop = Hop { link, from: ends[channel.number % 2], to: channel.to };
        let lost = lost.map(why);
        let crossing = Crossing { hop, begins: departs, departs, arrives, has_waited: true, lost };
        events.copied(taken, copy, &crossing);
    }
}

fn why(culprit: Culprit) -> Why {
    if culprit == Culprit::Outage { Why::Outage } else { Why::Error }
}

/// Records that a packet has joined the managed queue in front of a channel.
#[cold]
pub(super) fn joining(tracer: &mut Tracer, channel: &mut Channel, packet: &Packet, now: Time) {
    if tracer.queue {
        tracer.queue(now, channel.number, channel.held());
    }
    let (link, ends) = tracer.wires[channel.number / 2];
    if let Some(events) = &mut tracer.events {
        events.link(now, Event::Queue, Why::Nothing, link, ends[channel.number % 2], packet);
    }
}

/// Records that a packet, which departs at this time, was put ahead of others, which are delayed by `later`.
#[cold]
pub(super) fn overtaking(tracer: &mut Tracer, channel: &Channel, departs: Time, later: Span) {
    let (link, ends) = tracer.wires[channel.number / 2];
    if let Some(events) = &mut tracer.events {
        let begins = Time(departs.0 - later.0);
        let hop = Hop { link, from: ends[channel.number % 2], to: channel.to };
        events.delay(hop, begins, begins + channel.delay, later);
    }
}
