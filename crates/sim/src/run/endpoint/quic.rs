//! The two ends of a flow over QUIC, and its applications.

use lasthop_stack::hooks::Timer;
use lasthop_stack::packet::{Body, Datagram, NodeId, Packet};
use lasthop_stack::units::Time;

use super::End;
use super::way::Way;
use crate::engine::streams::Stream;
use crate::metrics::QuicSample;
use crate::model::QuicConfig;
use crate::net::Net;
use crate::probe::events::Event;
use crate::probe::trace::{RoundTrip, RoundTripOf};
use crate::quic::{Peer, Reader, Role, Writer};
use crate::traffic::Act;

/// The end that opens the connection, and sends.
const SENDER: usize = 0;
/// The end that receives.
const RECEIVER: usize = 1;

/// A connection.
pub(super) struct Quic {
    ends: [Peer; 2],
    address: [(NodeId, u16); 2],
    writer: Writer,
    /// What both ends have read.
    readers: [Reader; 2],
    /// UDP payload of a full datagram.
    packet: u16,
    opened: Option<Time>,
    /// When the handshake was complete at the sender.
    connected: Option<Time>,
    is_closed: bool,
    /// Datagrams that both ends have sent.
    sent: u32,
    buffer: Vec<u8>,
}

impl Quic {
    /// The ends at these addresses, whose random numbers come from streams of these names.
    pub(super) fn new(
        config: &QuicConfig,
        address: [(NodeId, u16); 2],
        stream: impl Fn(&str) -> Stream,
    ) -> Quic {
        let end = |side: usize, role, name: &str| Peer::new(config, role, address[1 - side], stream(name));
        Quic {
            ends: [end(SENDER, Role::Client, "client"), end(RECEIVER, Role::Server, "server")],
            address,
            writer: Writer::new(config.streams, config.datagrams),
            readers: Default::default(),
            packet: config.packet,
            opened: None,
            connected: None,
            is_closed: false,
            sent: 0,
            buffer: Vec::new(),
        }
    }

    /// The source acts.
    pub(super) fn on_source(&mut self, act: Act, ends: &[End; 2], way: &mut Way, net: &mut Net) {
        let now = net.now;
        if self.opened.is_none() {
            self.opened = Some(now);
            self.ends[SENDER].connect(now);
        }
        let written = match act {
            Act::WriteForEver => None,
            Act::WriteAndClose(bytes) => Some(bytes),
            Act::WritePacket(bytes, _) => Some(u64::from(bytes)),
            Act::Wait(_) => return,
        };
        if let Some(events) = &mut net.tracer.events {
            events.app(now, ends[SENDER].trace_name, Event::Write, written);
        }
        self.writer.write(written.unwrap_or(u64::MAX / 2));
        if matches!(act, Act::WriteAndClose(_)) {
            self.writer.close();
        }
        self.drive(SENDER, ends, way, net);
    }

    /// The source stops.
    pub(super) fn on_stop(&mut self, ends: &[End; 2], way: &mut Way, net: &mut Net) {
        self.writer.stop();
        self.drive(SENDER, ends, way, net);
    }

    /// A packet has arrived at one side.
    pub(super) fn up(&mut self, side: usize, packet: &Packet, ends: &[End; 2], way: &mut Way, net: &mut Net) {
        let content = net.outside.as_ref().and_then(|outside| outside.contents.get(packet.id));
        let content = content.expect("a datagram has its bytes as long as it is in transit");
        self.ends[side].up(&content.bytes, packet.ecn, net.now);
        self.drive(side, ends, way, net);
    }

    /// The timer of one side has fired.
    pub(super) fn on_timer(&mut self, side: usize, ends: &[End; 2], way: &mut Way, net: &mut Net) {
        self.ends[side].on_timer(net.now);
        self.drive(side, ends, way, net);
    }

    /// An end does what is due: its applications act, and its datagrams leave.
    fn drive(&mut self, side: usize, ends: &[End; 2], way: &mut Way, net: &mut Net) {
        let (now, end) = (net.now, &ends[side]);
        let read = self.readers[side].delivered;
        let writer = (side == SENDER).then_some(&mut self.writer);
        let connected = self.ends[side].work(writer, &mut self.readers[side]);
        if side == SENDER && connected {
            self.connected = Some(now);
        }
        if let Some(events) = &mut net.tracer.events
            && let bytes @ 1.. = self.readers[side].delivered - read
        {
            events.app(now, end.trace_name, Event::Read, Some(bytes));
        }
        self.mark(side, way, now);
        while let Some(ecn) = self.ends[side].next_datagram(now, &mut self.buffer) {
            let [(src, src_port), (dst, dst_port)] = [self.address[side], self.address[1 - side]];
            let len = self.buffer.len() as u32;
            let datagram = Datagram { src_port, dst_port, len, number: self.sent, made: now };
            self.sent = self.sent.wrapping_add(1);
            let packet = Packet { ecn, ..Packet::new(src, dst, Body::Udp(datagram)) };
            net.send_with_bytes(end.trace_name, packet, &self.buffer);
        }
        match self.ends[side].next_at() {
            Some(at) => net.queue.set(end.slot(Timer::Retransmit), at.max(now)),
            None => net.queue.cancel(end.slot(Timer::Retransmit)),
        }
        self.trace(side, end, net);
    }

    /// Marks when all had arrived, and was acknowledged. Then the connection is closed.
    fn mark(&mut self, side: usize, way: &mut Way, now: Time) {
        let reader = &self.readers[RECEIVER];
        if side == RECEIVER && way.completed.is_none() {
            let is_whole = way.file.map_or(reader.has_ended(), |size| reader.delivered >= size);
            way.completed = is_whole.then_some(now);
        }
        if side == SENDER && !self.is_closed && self.writer.is_done() {
            way.acknowledged = way.acknowledged.or(Some(now));
            self.is_closed = true;
            self.ends[SENDER].close(now);
        }
    }

    /// Passes on what the end has measured.
    fn trace(&mut self, side: usize, end: &End, net: &mut Net) {
        let mut record = self.ends[side].record().lock();
        let of = if self.connected.is_some() { RoundTripOf::Data } else { RoundTripOf::Handshake };
        for taken in record.round_trips.drain(..) {
            if of == RoundTripOf::Data {
                net.round_trips[end.trace_name as usize].take(taken.rtt);
            }
            let round_trip = RoundTrip { of, rtt: taken.rtt, srtt: taken.srtt, rto: None };
            net.tracer.rtt(net.now, end.trace_name, round_trip);
        }
        let packets = |bytes: u64| bytes as f64 / f64::from(self.packet);
        let threshold = record.threshold.filter(|bytes| *bytes < u64::MAX).map_or(f64::INFINITY, packets);
        net.tracer.window(net.now, end.trace_name, (packets(record.window), threshold));
    }

    /// Application bytes that one side has received.
    pub(super) fn received(&self, side: usize) -> u64 {
        self.readers[side].delivered
    }

    pub(super) fn sample(&self, ends: &[End; 2], way: &Way, net: &Net) -> QuicSample {
        let [sender, receiver] = [SENDER, RECEIVER].map(|side| self.ends[side].record().lock().counters);
        let window_seconds = self.ends[SENDER].record().lock().window_seconds(net.now);
        let since = |at: Option<Time>| Some(at?.since(self.opened?));
        QuicSample {
            delivered: self.readers[RECEIVER].delivered,
            bytes_received: net.accounts.bytes_delivered(ends[SENDER].trace_name),
            data_sent: sender.data,
            data_again: sender.again,
            bytes_sent: sender.bytes,
            bytes_again: sender.bytes_again,
            acks_sent: receiver.acks,
            lost: self.ends[SENDER].lost(),
            probe_timeouts: sender.probe_timeouts,
            reductions: sender.reductions,
            persistent: sender.persistent,
            window_seconds: window_seconds / f64::from(self.packet),
            rtt: net.round_trips[ends[SENDER].trace_name as usize].summary(),
            file: way.file,
            handshake: since(self.connected),
            completion: way.since_start(way.completed),
            acknowledged: way.since_start(way.acknowledged),
        }
    }
}
