//! Events on the media: frames of 802.11, packets on wires, transmissions in slotted networks.

use std::cmp::Reverse;

use lasthop_stack::link::dot11::{BROADCAST, Frame, FrameKind, Mpdu, MpduFate};
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::units::{Span, Time};

use super::row::{About, NONE, Row, Waiting};
use super::{Event, Events, Layer, OnAir, What, Why, what};
use crate::medium::radio::Fate;

/// From which node to which, over which link, by its index in the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hop {
    pub(crate) link: u32,
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
}

/// The start of a transmission.
pub(crate) struct Sending<'a> {
    /// The link, by its index in the scenario.
    pub(crate) link: u32,
    /// The packet of the exchange, if it is known.
    pub(crate) packet: Option<&'a Packet>,
    /// Number of failed attempts so far, if attempts are counted.
    pub(crate) failed: Option<u32>,
    /// Slots of the preceding backoff, if there was one.
    pub(crate) slots: Option<u32>,
}

/// A packet that a wire has accepted.
pub(crate) struct Crossing {
    pub(crate) hop: Hop,
    /// When its transmission begins and ends, and when it arrives.
    pub(crate) begins: Time,
    pub(crate) departs: Time,
    pub(crate) arrives: Time,
    /// Whether its arrival in the queue is recorded already.
    pub(crate) has_waited: bool,
    /// The cause of its loss, if it is lost.
    pub(crate) lost: Option<Why>,
}

impl Events {
    /// A wire accepts a packet.
    pub(crate) fn crosses(&mut self, now: Time, packet: &Packet, way: &Crossing) {
        if !way.has_waited {
            self.link(now, Event::Queue, Why::Nothing, way.hop.link, way.hop.from, packet);
        }
        self.carries(packet, way);
    }

    /// A wire that accepts a packet will duplicate it: the copy gets a number of its own, and travels from the end of the
    /// original's transmission on.
    pub(crate) fn copied(&mut self, now: Time, copy: &mut Packet, way: &Crossing) {
        copy.id = self.number();
        self.link(now, Event::Copy, Why::Nothing, way.hop.link, way.hop.from, copy);
        self.carries(copy, way);
    }

    /// The transmission of a packet on a wire, and its end.
    fn carries(&mut self, packet: &Packet, way: &Crossing) {
        let Hop { link, from, to } = way.hop;
        let about = About { len: packet.size().0.cast_signed(), ..self.about(packet) };
        let frame = self.next_frame();
        let of_frame = |events: &Events, at, event, why, (node, peer): (NodeId, NodeId)| {
            let row = events.row(at, Layer::Frame, event, (What::Packet, why), node, about);
            Row { link, frame, peer: peer.0, ..row }
        };
        let row = of_frame(self, way.begins, Event::Send, Why::Nothing, (from, to));
        self.later(Row { duration: way.departs.since(way.begins), ..row });
        let (event, why) = way.lost.map_or((Event::Receive, Why::Nothing), |why| (Event::Lost, why));
        let row = of_frame(self, way.arrives, event, why, (to, from));
        self.later(row);
        let about = self.about(packet);
        let row = self.row(way.arrives, Layer::Link, event, (what(packet), why), to, about);
        self.later(Row { link, ..row });
    }

    /// Delays by `later` what begins to depart at or after `begins` in one direction of a wire, and what arrives after
    /// `arrived`.
    pub(crate) fn delay(&mut self, Hop { link, from, to }: Hop, begins: Time, arrived: Time, later: Span) {
        let mut waiting = std::mem::take(&mut self.waiting).into_vec();
        for Reverse(Waiting(_, row)) in &mut waiting {
            let is_behind = match row.event {
                Event::Send => row.node == from.0 && row.at >= begins,
                _ => row.node == to.0 && row.at > arrived,
            };
            if row.link == link && is_behind {
                row.at = row.at + later;
            }
        }
        self.waiting = waiting.into();
    }

    /// A station starts to transmit a frame of this duration.
    pub(crate) fn frame(&mut self, now: Time, frame: &Frame, duration: Span, sending: &Sending) {
        let number = self.next_frame();
        let (link, from) = (sending.link, frame.transmitter);
        let answers = matches!(frame.kind, FrameKind::Cts | FrameKind::Ack | FrameKind::BlockAck);
        let about = match sending.packet {
            Some(packet) => self.about(packet),
            None if answers => self.interface(Hop { link, from, to: from }).answers,
            None => About::default(),
        };
        let about = About { len: i64::from(frame.bytes), ..about };
        let on_air = self.interface(Hop { link, from, to: frame.receiver });
        (on_air.frame, on_air.about) = (number, about);
        let node = frame.transmitter;
        let row = self.row(now, Layer::Frame, Event::Send, (of_frame(frame), Why::Nothing), node, about);
        self.push(Row {
            duration,
            peer: receiver(frame),
            link: sending.link,
            frame: number,
            attempt: sending.failed.map_or(0, |failed| failed + 1),
            slots: sending.slots.map_or(-1, i64::from),
            ..row
        });
    }

    /// The transmission of a frame ends with this fate at its receiver.
    pub(crate) fn frame_ended(&mut self, now: Time, link: u32, frame: &Frame, fate: Fate) {
        let OnAir { frame: number, about, .. } =
            *self.interface(Hop { link, from: frame.transmitter, to: frame.receiver });
        let (event, why) = outcome(fate);
        let is_to_all = frame.receiver == BROADCAST;
        let (node, peer) =
            if is_to_all { (frame.transmitter, NONE) } else { (frame.receiver, frame.transmitter.0) };
        if fate == Fate::LostForGood {
            self.hopeless.insert(about.packet);
        }
        if event == Event::Receive && !is_to_all {
            self.interface(Hop { link, from: node, to: node }).answers = about;
        }
        let row = self.row(now, Layer::Frame, event, (of_frame(frame), why), node, about);
        self.push(Row { peer, link, frame: number, ..row });
    }

    /// An MPDU of the A-MPDU that a station starts to transmit, or whose transmission ends with this fate.
    pub(crate) fn mpdu(
        &mut self,
        now: Time,
        (link, frame): (u32, &Frame),
        (mpdu, packet): (&Mpdu, &Packet),
        fate: Option<Fate>,
    ) {
        let number = self.interface(Hop { link, from: frame.transmitter, to: frame.receiver }).frame;
        let (event, why) = match (fate, mpdu.fate) {
            (None, _) => (Event::Send, Why::Nothing),
            (Some(Fate::Received), MpduFate::Received) => (Event::Receive, Why::Nothing),
            (Some(Fate::Received), MpduFate::Errored | MpduFate::LostForGood) => (Event::Lost, Why::Error),
            (Some(fate), _) => outcome(fate),
        };
        if fate.is_some() && mpdu.fate == MpduFate::LostForGood {
            self.hopeless.insert(packet.id);
        }
        let about = About { len: i64::from(mpdu.bytes), ..self.about(packet) };
        let (from, to) = (frame.transmitter, frame.receiver);
        let (node, peer) = if fate.is_none() { (from, to) } else { (to, from) };
        let row = self.row(now, Layer::Mpdu, event, (what(packet), why), node, about);
        self.push(Row { peer: peer.0, link, frame: number, attempt: u32::from(mpdu.attempts) + 1, ..row });
    }

    /// The reason why a station discards a packet, or would have.
    pub(crate) fn given_up(&mut self, packet: &Packet) -> Why {
        if self.hopeless.remove(&packet.id) { Why::Error } else { Why::RetryLimit }
    }

    /// What a station sends to another; with its own address twice, what it answers.
    fn interface(&mut self, at: Hop) -> &mut OnAir {
        self.on_air.entry(at).or_default()
    }

    /// A node of a slotted network sends a packet, or acknowledges one. Returns the number of the transmission.
    pub(crate) fn slot_sent(
        &mut self,
        now: Time,
        slot: Span,
        Hop { link, from: node, to: peer }: Hop,
        is_ack: bool,
        packet: Option<&Packet>,
        failed: u32,
    ) -> u32 {
        let frame = self.next_frame();
        let about = packet.map_or(About::default(), |packet| self.about(packet));
        let what = if is_ack { What::Ack } else { What::Packet };
        let row = self.row(now, Layer::Frame, Event::Send, (what, Why::Nothing), node, about);
        self.push(Row { duration: slot, peer: peer.0, link, frame, attempt: failed + 1, ..row });
        frame
    }

    /// A transmission in a slotted network ends, at the node to which it is addressed.
    pub(crate) fn slot_ended(
        &mut self,
        now: Time,
        Hop { link, from: node, to: peer }: Hop,
        is_ack: bool,
        why: Option<Why>,
        packet: Option<&Packet>,
        frame: u32,
    ) {
        let about = packet.map_or(About::default(), |packet| self.about(packet));
        let what = if is_ack { What::Ack } else { What::Packet };
        let event = if why.is_some() { Event::Lost } else { Event::Receive };
        let row = self.row(now, Layer::Frame, event, (what, why.unwrap_or(Why::Nothing)), node, about);
        self.push(Row { peer: peer.0, link, frame, ..row });
    }
}

fn outcome(fate: Fate) -> (Event, Why) {
    match fate {
        Fate::Received => (Event::Receive, Why::Nothing),
        Fate::Errored | Fate::LostForGood => (Event::Lost, Why::Error),
        Fate::Collided => (Event::Lost, Why::Collision),
        Fate::CutOff => (Event::Lost, Why::Outage),
        Fate::OutOfReach => (Event::Lost, Why::OutOfReach),
    }
}

fn of_frame(frame: &Frame) -> What {
    match frame.kind {
        FrameKind::Data if frame.mpdus > 1 => What::Aggregate,
        FrameKind::Rts => What::Rts,
        FrameKind::Cts => What::Cts,
        FrameKind::Ack => What::Ack,
        FrameKind::Data => What::Data,
        FrameKind::Null => What::Null,
        FrameKind::Beacon => What::Beacon,
        FrameKind::CfEnd => What::CfEnd,
        FrameKind::BlockAck => What::BlockAck,
        FrameKind::BlockAckReq => What::BlockAckReq,
        FrameKind::Trigger => What::Trigger,
        FrameKind::MuRts => What::MuRts,
    }
}

fn receiver(frame: &Frame) -> u32 {
    if frame.receiver == BROADCAST { NONE } else { frame.receiver.0 }
}
