//! What a trace of events records of a slotted network: packets at its stations, and each transmission where it is for.

use lasthop_stack::link::slotted::{End, Frame, FrameKind};
use lasthop_stack::packet::Packet;

use super::{Frn, Host};
use crate::medium::slots::SlotFate;
use crate::net::pool::PacketPool;
use crate::probe::events::{Event, Hop, Why};

impl Frn {
    /// Records what happens to a packet at a station.
    #[inline]
    pub(super) fn trace(&self, station: usize, event: Event, why: Why, packet: &Packet, host: &mut Host) {
        if let Some(events) = &mut host.tracer.events {
            events.link(host.now, event, why, self.place, self.stations[station].node, packet);
        }
    }

    /// Records a transmission that begins.
    #[cold]
    pub(super) fn trace_sent(&mut self, station: usize, frame: &Frame, host: &mut Host) {
        let Some(events) = &mut host.tracer.events else { return };
        let hop = Hop { link: self.place, from: self.stations[station].node, to: frame.receiver };
        let (packet, is_ack) = (packet_of(self, frame, host.pool), frame.kind == FrameKind::Ack);
        let failed = frame.header.retransmissions;
        self.numbers.push(events.slot_sent(host.now, self.slot, hop, is_ack, packet, failed));
    }

    /// Records what became of a transmission of this slot at the station that it is for.
    #[cold]
    pub(super) fn trace_ended(&self, number: usize, fate: SlotFate, host: &mut Host) {
        let Some(events) = &mut host.tracer.events else { return };
        let Some(&id) = self.numbers.get(number) else { return };
        let frame = &self.frames[number];
        let lost = match fate {
            SlotFate::Received => None,
            SlotFate::Collided => Some(Why::Collision),
            SlotFate::Deaf => Some(Why::Deaf),
            SlotFate::Errored => Some(Why::Error),
            SlotFate::CutOff => Some(Why::Outage),
        };
        let hop = Hop { link: self.place, from: frame.receiver, to: frame.transmitter };
        let (packet, is_ack) = (packet_of(self, frame, host.pool), frame.kind == FrameKind::Ack);
        events.slot_ended(host.now, hop, is_ack, lost, packet, id);
    }
}

/// The packet of a frame. An acknowledgement is sent by a station that may have parted with it.
fn packet_of<'a>(frn: &Frn, frame: &Frame, pool: &'a PacketPool) -> Option<&'a Packet> {
    (frame.kind == FrameKind::Packet).then(|| pool.packet(frn.copies.packet(frame.handle)))
}

/// Why a packet is lost at a station that has ended with it.
pub(super) fn of_end(end: End) -> Why {
    match end {
        // The neighbour that has it discarded it before.
        End::Passed | End::Suppressed => Why::Suppressed,
        End::Count => Why::Count,
        End::Lifetime => Why::Lifetime,
        End::NoRoute => Why::NoRoute,
    }
}
