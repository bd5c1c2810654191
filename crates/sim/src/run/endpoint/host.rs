//! The output of an endpoint, and the records of it in a trace of events.

use lasthop_stack::hooks::{Jitter, Judge, Judged, Note, Out, Room, Timer};
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::registry::tcp::Connection;
use lasthop_stack::transport::tcp::receiver::Receiver;
use lasthop_stack::units::{Bytes, Span, Time};

use super::{Flow, Sockets};
use crate::engine::queue::Slot;
use crate::net::Net;
use crate::probe::events::Event;
use crate::probe::trace::{RoundTrip, RoundTripOf};

/// One end: its node, its place among the ends of flows, and its timers.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) node: NodeId,
    pub(super) trace_name: u32,
    pub(super) retransmit: Slot,
    pub(super) delayed_ack: Slot,
    pub(super) pace: Slot,
}

/// Where an endpoint puts its answers: straight into the network and the queue.
pub(super) struct Host<'a> {
    pub(super) net: &'a mut Net,
    pub(super) end: &'a End,
}

impl Out for Host<'_> {
    #[inline]
    fn down(&mut self, packet: Packet) {
        self.down_made(|place| {
            *place = packet;
            packet.size()
        });
    }

    #[inline]
    fn down_made(&mut self, make: impl FnOnce(&mut Packet) -> Bytes) {
        self.net.send_made(self.end.trace_name, self.end.node, make);
    }

    #[inline]
    fn set(&mut self, timer: Timer, at: Time) {
        self.net.queue.set(self.end.slot(timer), at);
        if self.net.is_observed {
            self.observe_timer(timer, Some(at));
        }
    }

    #[inline]
    fn cancel(&mut self, timer: Timer) {
        self.net.queue.cancel(self.end.slot(timer));
        if self.net.is_observed {
            self.observe_timer(timer, None);
        }
    }

    fn room_below(&mut self, limit: u64) -> Room {
        let (now, End { trace_name, pace, .. }) = (self.net.now, *self.end);
        self.net.below.as_mut().map_or(Room::Now, |below| below.room(trace_name, limit, now, pace))
    }

    #[inline]
    fn is_watching(&self) -> bool {
        self.net.tracer.senders
    }

    fn note(&mut self, note: Note) {
        self.net.tracer.note(self.net.now, self.end.trace_name, note);
    }

    #[inline]
    fn measured(&mut self, rtt: Span, srtt: Span, rto: Span) {
        self.net.on_round_trip(self.end.trace_name, srtt);
        self.net.round_trips[self.end.trace_name as usize].take(rtt);
        let round_trip = RoundTrip { of: RoundTripOf::Data, rtt, srtt, rto: Some(rto) };
        self.net.tracer.rtt(self.net.now, self.end.trace_name, round_trip);
    }

    fn measured_handshake(&mut self, rtt: Span, srtt: Span, rto: Span) {
        let round_trip = RoundTrip { of: RoundTripOf::Handshake, rtt, srtt, rto: Some(rto) };
        self.net.tracer.rtt(self.net.now, self.end.trace_name, round_trip);
    }

    fn judged(&mut self, judged: Judged) {
        self.net.judged.push(judged);
    }

    fn jitter(&mut self, judge: Judge, jitter: Jitter) {
        self.net.tracer.jitter(self.net.now, self.end.trace_name, judge, jitter);
    }
}

impl End {
    #[inline]
    pub(super) fn slot(self, timer: Timer) -> Slot {
        match timer {
            Timer::Retransmit => self.retransmit,
            Timer::DelayedAck => self.delayed_ack,
            Timer::Pace => self.pace,
        }
    }
}

impl Host<'_> {
    /// A timer was set to a time, or cancelled.
    #[inline(never)]
    fn observe_timer(&mut self, timer: Timer, at: Option<Time>) {
        if let Some(events) = &mut self.net.tracer.events {
            events.timer(self.net.now, self.end.trace_name, timer, at);
        }
        if timer == Timer::Retransmit {
            self.net.on_timer_set(self.end.trace_name, at);
        }
    }

    /// The application writes.
    pub(super) fn write(&mut self, end: &mut Connection, bytes: u64) {
        self.trace_app(Event::Write, Some(bytes));
        end.write(bytes, self.net.now, self);
    }

    /// The application closes its direction.
    pub(super) fn close(&mut self, end: &mut Connection) {
        self.trace_app(Event::Close, None);
        end.close(self.net.now, self);
    }

    /// Records what an application does.
    #[inline]
    pub(super) fn trace_app(&mut self, event: Event, bytes: Option<u64>) {
        if let Some(events) = &mut self.net.tracer.events {
            events.app(self.net.now, self.end.trace_name, event, bytes);
        }
    }
}

impl Flow {
    /// Records a packet that has come to one side, before its transport acts. Returns the amount that the application
    /// has read so far, where events are recorded.
    #[inline]
    pub(super) fn trace_arrival(&self, side: usize, packet: &Packet, net: &mut Net) -> Option<u64> {
        let events = net.tracer.events.as_mut()?;
        let end = self.ends[side].trace_name;
        match &self.sockets {
            Sockets::Tcp(ends) => {
                let receiver = ends[side].receiver();
                events.received(net.now, end, packet, Some(receiver));
                Some(has_read(receiver))
            }
            Sockets::Udp(_) => {
                events.received(net.now, end, packet, None);
                events.app(net.now, end, Event::Read, Some(u64::from(packet.payload())));
                None
            }
            Sockets::Outside(_) => {
                events.received(net.now, end, packet, None);
                None
            }
            #[cfg(feature = "quic")]
            Sockets::Quic(_) => {
                events.received(net.now, end, packet, None);
                None
            }
        }
    }
}

/// The bytes that the application of a receiver has read.
pub(super) fn has_read(receiver: &Receiver) -> u64 {
    receiver.in_order() - receiver.readable()
}

/// Records the amount that an application has read since `before`.
pub(super) fn trace_read(end: End, before: u64, receiver: &Receiver, net: &mut Net) {
    if let Some(events) = &mut net.tracer.events {
        let bytes = has_read(receiver) - before;
        if bytes > 0 {
            events.app(net.now, end.trace_name, Event::Read, Some(bytes));
        }
    }
}
