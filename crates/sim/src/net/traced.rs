//! What a trace records of wires: the packets that cross them.

use lasthop_stack::link::transmitter::Transmitter;
use lasthop_stack::packet::Packet;
use lasthop_stack::units::{Span, Time};

use super::channel::Channel;
use crate::probe::events::{Crossing, Event, Why};
use crate::probe::judgement::Culprit;
use crate::probe::trace::Tracer;

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
