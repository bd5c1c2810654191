//! The two ends of a flow over QUIC, and its applications.

use std::io::{self, Write};

use lasthop_stack::hooks::Timer;
use lasthop_stack::packet::{Body, Datagram, NodeId, Packet};
use lasthop_stack::units::{Span, Time};

use super::End;
use super::user::Ends;
use super::way::Way;
use crate::engine::streams::Stream;
use crate::metrics::{PathSample, QuicSample};
use crate::model::QuicConfig;
use crate::net::Net;
use crate::probe::events::Event;
use crate::probe::spread::{Summary, Times};
use crate::probe::trace::{RoundTrip, RoundTripOf};
use crate::quic::{self, Log, PathCounters, QuicCounters, Reader, Role, Stack, Writer};
use crate::traffic::Act;

/// The end that sends the data of the flow.
const SENDER: usize = 0;
/// The end that receives it.
const RECEIVER: usize = 1;

/// A path of a flow with several.
struct Path {
    /// Its number among the names of traces.
    trace_name: u32,
    /// IP bytes that have reached the receiver by it.
    bytes_received: u64,
    round_trips: Times,
}

/// A connection, or the present one of a user.
pub(super) struct Quic {
    config: QuicConfig,
    ends: [Box<dyn Stack>; 2],
    address: [(NodeId, u16); 2],
    /// The random streams of both ends, with a section for each connection.
    streams: [Stream; 2],
    /// Which end opens connections.
    opener: usize,
    writers: [Writer; 2],
    readers: [Reader; 2],
    /// What both ends have done on earlier connections.
    before: [QuicCounters; 2],
    /// Empty where there is only one path.
    paths: Vec<Path>,
    opened: Option<Time>,
    /// How long the first handshake took at the sender.
    handshake: Option<Span>,
    /// When the handshake was complete at the sender.
    connected: Option<Time>,
    is_closed: bool,
    /// Datagrams that both ends have sent.
    sent: u32,
    buffer: Vec<u8>,
}

impl Quic {
    /// The ends at these addresses, whose random numbers come from streams of these names. A user's connections are opened by
    /// the receiver, others by the sender.
    pub(super) fn new(
        config: &QuicConfig,
        is_user: bool,
        address: [(NodeId, u16); 2],
        stream: impl Fn(&str) -> Stream,
    ) -> Quic {
        let streams = ["sender", "receiver"].map(stream);
        let opener = if is_user { RECEIVER } else { SENDER };
        Quic {
            ends: peers(config, opener, address, &streams, 0),
            config: config.clone(),
            address,
            streams,
            opener,
            writers: [Writer::new(config.streams, config.datagrams), Writer::new(1, false)],
            readers: Default::default(),
            before: Default::default(),
            paths: Vec::new(),
            opened: None,
            handshake: None,
            connected: None,
            is_closed: false,
            sent: 0,
            buffer: Vec::new(),
        }
    }

    /// It has several paths, whose traces have names from this number on.
    pub(super) fn trace_paths(&mut self, first: u32) {
        let path = |trace_name| Path { trace_name, bytes_received: 0, round_trips: Times::default() };
        self.paths = (first..).take(quic::PATHS).map(path).collect();
    }

    pub(super) fn begin_measurement(&mut self) {
        self.paths.iter_mut().for_each(|path| path.round_trips.clear());
    }

    /// Logs what its ends do in these files, of the sender and the receiver of the flow with this name.
    pub(super) fn log(&mut self, flow: &str, files: [Box<dyn Write + Send>; 2]) {
        for ((side, file), end) in files.into_iter().enumerate().zip(["sender", "receiver"]) {
            let log = Log::new(file, &format!("{flow}-{end}"), role(side, self.opener));
            self.ends[side].log(log, 0, self.address[side]);
        }
    }

    /// Ends the logs.
    pub(super) fn finish_logs(&mut self) -> io::Result<()> {
        self.ends.iter_mut().filter_map(|end| end.take_log()).try_for_each(Log::finish)
    }

    /// The source acts.
    pub(super) fn on_source(&mut self, act: Act, ends: &[End; 2], way: &mut Way, net: &mut Net) {
        if self.opened.is_none() {
            self.open(SENDER, ends, net);
        }
        match act {
            Act::WriteForEver => self.put(SENDER, None, ends, net),
            Act::WriteAndClose(bytes) => {
                self.put(SENDER, Some(bytes), ends, net);
                self.close(SENDER, ends, net);
            }
            Act::WritePacket(bytes, _) => self.put(SENDER, Some(u64::from(bytes)), ends, net),
            Act::Wait(_) => {}
        }
        self.mark(way, net.now);
    }

    /// An end writes, `None` without end.
    fn put(&mut self, side: usize, bytes: Option<u64>, ends: &[End; 2], net: &mut Net) {
        if let Some(events) = &mut net.tracer.events {
            events.app(net.now, ends[side].trace_name, Event::Write, bytes);
        }
        self.writers[side].write(bytes.unwrap_or(u64::MAX / 2));
        self.drive(side, ends, net);
    }

    /// The source stops.
    pub(super) fn on_stop(&mut self, ends: &[End; 2], way: &mut Way, net: &mut Net) {
        self.writers[SENDER].stop();
        self.drive(SENDER, ends, net);
        self.mark(way, net.now);
    }

    /// A packet has arrived at one side. One of an earlier connection is for another port.
    pub(super) fn up(&mut self, side: usize, packet: &Packet, ends: &[End; 2], way: &mut Way, net: &mut Net) {
        if packet.ports().1 != self.address[side].1 {
            return;
        }
        let content = net.outside.as_ref().and_then(|outside| outside.contents.get(packet.id));
        let content = content.expect("a datagram has its bytes as long as it is in transit");
        let path = usize::from(packet.dst != self.address[RECEIVER].0);
        if let Some(path) = self.paths.get_mut(path).filter(|_| side == RECEIVER) {
            path.bytes_received += packet.size().0;
        }
        self.ends[side].up(&content.bytes, packet.ecn, [packet.src, packet.dst], net.now);
        self.drive(side, ends, net);
        self.mark(way, net.now);
    }

    /// The timer of one side has fired.
    pub(super) fn on_timer(&mut self, side: usize, ends: &[End; 2], way: &mut Way, net: &mut Net) {
        self.ends[side].on_timer(net.now);
        self.drive(side, ends, net);
        self.mark(way, net.now);
    }

    /// An end does what is due: its applications act, and its datagrams leave.
    fn drive(&mut self, side: usize, ends: &[End; 2], net: &mut Net) {
        let (now, end) = (net.now, &ends[side]);
        let read = self.readers[side].delivered;
        let connected = self.ends[side].work(&mut self.writers[side], &mut self.readers[side]);
        if side == SENDER && connected {
            self.connected = Some(now);
            self.handshake = self.handshake.or_else(|| Some(now.since(self.opened?)));
        }
        if let Some(events) = &mut net.tracer.events
            && let bytes @ 1.. = self.readers[side].delivered - read
        {
            events.app(now, end.trace_name, Event::Read, Some(bytes));
        }
        if side == SENDER && !self.is_closed && self.writers[SENDER].is_done() {
            self.is_closed = true;
            self.ends[SENDER].close(now);
        }
        while let Some(ecn) = self.ends[side].next_datagram(now, &mut self.buffer) {
            let [(src, src_port), (dst, dst_port)] = [self.address[side], self.address[1 - side]];
            let [src, dst] = self.ends[side].way().unwrap_or([src, dst]);
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

    /// Marks when all had arrived, and was acknowledged. A user has no end.
    fn mark(&self, way: &mut Way, now: Time) {
        if self.opener == RECEIVER {
            return;
        }
        let reader = &self.readers[RECEIVER];
        if way.completed.is_none() {
            let is_whole = way.file.map_or(reader.has_ended(), |size| reader.delivered >= size);
            way.completed = is_whole.then_some(now);
        }
        if way.acknowledged.is_none() {
            way.acknowledged = self.writers[SENDER].is_done().then_some(now);
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
            if let Some(path) = self.paths.get_mut(taken.path).filter(|_| side == SENDER) {
                if of == RoundTripOf::Data {
                    path.round_trips.take(taken.rtt);
                }
                net.tracer.rtt(net.now, path.trace_name, round_trip);
            }
        }
        let packets = |bytes: u64| bytes as f64 / f64::from(self.config.packet);
        let windows = record.windows.map(|window| {
            let threshold = window.threshold.filter(|bytes| *bytes < u64::MAX);
            (packets(window.bytes), threshold.map_or(f64::INFINITY, packets))
        });
        let [first, second] = windows;
        let (cwnd, ssthresh) = if second.0 > 0.0 { (first.0 + second.0, first.1 + second.1) } else { first };
        net.tracer.window(net.now, end.trace_name, cwnd, ssthresh);
        if side == SENDER {
            for (path, (cwnd, ssthresh)) in self.paths.iter().zip(windows) {
                net.tracer.window(net.now, path.trace_name, cwnd, ssthresh);
            }
        }
    }

    /// What an end has done on all connections.
    fn counters(&self, side: usize, now: Time) -> QuicCounters {
        self.before[side] + self.ends[side].counters(now)
    }

    /// What the flow has done; `of_user` is what its user has received, in all and by class.
    pub(super) fn sample(
        &self,
        ends: &[End; 2],
        way: &Way,
        of_user: Option<(u64, [u64; 3])>,
        net: &Net,
    ) -> QuicSample {
        let [sender, receiver] = [SENDER, RECEIVER].map(|side| self.counters(side, net.now));
        let (delivered, by_class) = of_user.unwrap_or((self.readers[RECEIVER].delivered, [0; 3]));
        QuicSample {
            delivered,
            by_class,
            bytes_received: net.accounts.bytes_delivered(ends[SENDER].trace_name),
            data_sent: sender.data,
            data_again: sender.again,
            bytes_sent: sender.bytes,
            bytes_again: sender.bytes_again,
            acks_sent: receiver.acks,
            lost: sender.lost,
            probe_timeouts: sender.probe_timeouts,
            reductions: sender.reductions,
            persistent: sender.persistent,
            window_seconds: sender.window_seconds / f64::from(self.config.packet),
            paths: [0, 1].map(|path| self.path_sample(path, sender.paths[path])),
            rtt: net.round_trips[ends[SENDER].trace_name as usize].summary(),
            file: way.file,
            handshake: self.handshake,
            completion: way.since_start(way.completed),
            acknowledged: way.since_start(way.acknowledged),
        }
    }
}

impl Quic {
    fn path_sample(&self, number: usize, counters: PathCounters) -> PathSample {
        let path = self.paths.get(number);
        PathSample {
            bytes_received: path.map_or(0, |path| path.bytes_received),
            data_sent: counters.data,
            lost: counters.lost,
            window_seconds: counters.window_seconds / f64::from(self.config.packet),
            rtt: path.map_or_else(Summary::default, |path| path.round_trips.summary()),
        }
    }
}

impl Ends for Quic {
    fn received(&self, side: usize) -> u64 {
        self.readers[side].delivered
    }

    /// A new connection waits for no other.
    fn are_done(&self) -> bool {
        true
    }

    fn renew(&mut self, flow: u32, number: u32, _numbers: &mut Stream, net: &mut Net) {
        self.before = [SENDER, RECEIVER].map(|side| self.counters(side, net.now));
        for (side, address) in self.address.iter_mut().enumerate() {
            address.1 = net.ports.of(flow, side, number);
        }
        let known = self.ends[self.opener].parameters().filter(|_| self.config.zero_rtt);
        let logs = self.ends.each_mut().map(|end| end.take_log());
        self.ends = peers(&self.config, self.opener, self.address, &self.streams, number);
        for end in &mut self.ends {
            end.resume(known.clone());
        }
        for (side, log) in logs.into_iter().enumerate() {
            if let Some(log) = log {
                self.ends[side].log(log, number, self.address[side]);
            }
        }
        self.writers = [Writer::new(self.config.streams, false), Writer::new(1, false)];
        self.readers = Default::default();
        (self.connected, self.is_closed) = (None, false);
    }

    fn open(&mut self, side: usize, places: &[End; 2], net: &mut Net) {
        self.opened = self.opened.or(Some(net.now));
        self.ends[side].connect(net.now);
        self.drive(side, places, net);
    }

    fn write(&mut self, side: usize, bytes: u64, places: &[End; 2], net: &mut Net) {
        self.put(side, Some(bytes), places, net);
    }

    fn close(&mut self, side: usize, places: &[End; 2], net: &mut Net) {
        if let Some(events) = &mut net.tracer.events {
            events.app(net.now, places[side].trace_name, Event::Close, None);
        }
        self.writers[side].close();
        self.drive(side, places, net);
    }
}

/// The ends of the connection with this number.
fn peers(
    config: &QuicConfig,
    opener: usize,
    address: [(NodeId, u16); 2],
    streams: &[Stream; 2],
    number: u32,
) -> [Box<dyn Stack>; 2] {
    let [(from, _), (to, _)] = address;
    let second = config.second.map(|node| NodeId(node as u32));
    [SENDER, RECEIVER].map(|side| {
        let mut stream = streams[side].clone();
        stream.seek(u64::from(number));
        let way = |to| if side == SENDER { [from, to] } else { [to, from] };
        let ways: Vec<_> = [to].into_iter().chain(second).map(way).collect();
        let ports = [address[side].1, address[1 - side].1];
        quic::end(config, role(side, opener), &ways, ports, stream)
    })
}

fn role(side: usize, opener: usize) -> Role {
    if side == opener { Role::Client } else { Role::Server }
}
