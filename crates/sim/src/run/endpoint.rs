//! The ends of a flow in the simulator: sockets, their timers, the source that writes and the reader that reads.

use lasthop_stack::hooks::{Note, Out, Timer};
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::transport::tcp::{Connection, Role, State};
use lasthop_stack::transport::udp::Socket;
use lasthop_stack::units::{Bytes, Rate, SeqNo, Span, Time};

use super::{Act, Request};
use crate::engine::queue::Slot;
use crate::engine::streams::Stream;
use crate::net::Net;
use crate::probe::metrics::FlowSample;
use crate::scenario::config::{FlowConfig, SinkConfig, TransportConfig};
use crate::traffic::{Act as SourceAct, Source};

/// The port of the first flow's sending end; each end of each flow has the next.
const FIRST_PORT: u16 = 10_000;

/// The most flows that have ports of their own.
pub(super) const MAX_FLOWS: usize = (u16::MAX - FIRST_PORT) as usize / 2;

/// The flow and the side (0 sends, 1 receives) that a packet is for.
#[inline]
pub(super) fn addressee(packet: &Packet) -> (usize, usize) {
    let place = usize::from(packet.ports().1 - FIRST_PORT);
    (place / 2, place % 2)
}

/// One end: its node and its timers.
#[derive(Clone, Copy, Debug)]
struct End {
    node: NodeId,
    flow: u32,
    retransmit: Slot,
    delayed_ack: Slot,
    pace: Slot,
}

enum Sockets {
    Tcp(Box<[Connection; 2]>),
    Udp([Socket; 2]),
}

/// A flow: two ends, a source and a reader.
pub(super) struct Flow {
    ends: [End; 2],
    sockets: Sockets,
    source: Source,
    reader: Reader,
    started: Time,
    stopped: bool,
    completed: Option<Time>,
}

/// The application that reads what arrives.
#[derive(Clone, Copy, Debug)]
struct Reader {
    sink: Pace,
    slot: Slot,
    chunk: u64,
}

#[derive(Clone, Copy, Debug)]
enum Pace {
    /// Reads at once.
    AtOnce,
    /// Reads a chunk at a time at this rate, but for a pause.
    Slow { rate: Option<Rate>, pause: (Time, Time), waiting: bool },
}

/// Where an endpoint puts its answers: straight into the network and the queue.
struct Host<'a> {
    net: &'a mut Net,
    end: End,
}

impl Out for Host<'_> {
    #[inline]
    fn down(&mut self, packet: Packet) {
        self.net.send(self.end.node, packet);
    }

    #[inline]
    fn set(&mut self, timer: Timer, at: Time) {
        self.net.queue.set(self.end.slot(timer), at);
    }

    #[inline]
    fn cancel(&mut self, timer: Timer) {
        self.net.queue.cancel(self.end.slot(timer));
    }

    #[inline]
    fn is_watching(&self) -> bool {
        self.net.tracer.watches_tcp()
    }

    fn note(&mut self, note: Note) {
        self.net.tracer.note(self.net.now, self.end.flow, note);
    }

    #[inline]
    fn measured(&mut self, rtt: Span, srtt: Span, rto: Span) {
        self.net.tracer.rtt(self.net.now, self.end.flow, rtt, srtt, rto);
    }
}

impl End {
    #[inline]
    fn slot(self, timer: Timer) -> Slot {
        match timer {
            Timer::Retransmit => self.retransmit,
            Timer::DelayedAck => self.delayed_ack,
            Timer::Pace => self.pace,
        }
    }
}

impl Flow {
    pub(super) fn new(
        number: u32,
        flow: &FlowConfig,
        request: &Request,
        net: &mut Net,
        acts: &mut Vec<Act>,
    ) -> Flow {
        let stream = |what: &str| {
            let name = format!("flows.{}.{what}", flow.name);
            Stream::named(request.seed, request.replication, &name)
        };
        let mut slot = |net: &mut Net, act: Act| {
            acts.push(act);
            net.queue.slot()
        };
        let nodes = [NodeId(flow.from as u32), NodeId(flow.to as u32)];
        let ends = [0, 1].map(|side: u32| End {
            node: nodes[side as usize],
            flow: number,
            retransmit: slot(net, Act::Timer(2 * number + side, Timer::Retransmit)),
            delayed_ack: slot(net, Act::Timer(2 * number + side, Timer::DelayedAck)),
            pace: slot(net, Act::Timer(2 * number + side, Timer::Pace)),
        });
        let port = |side: usize| FIRST_PORT + (2 * number as usize + side) as u16;
        let address = [0, 1].map(|side| (nodes[side], port(side)));
        let mut chunk = 1;
        let mut sockets = match &flow.transport {
            TransportConfig::Tcp(config) => {
                chunk = u64::from(config.packet);
                let mut numbers = stream("initial sequence numbers");
                let mut connection = |role, side: usize| {
                    let iss = SeqNo(numbers.next_u64() as u32);
                    Connection::new(config, role, address[side], address[1 - side], iss)
                };
                Sockets::Tcp(Box::new([connection(Role::Active, 0), connection(Role::Passive, 1)]))
            }
            TransportConfig::Udp { extra_header } => {
                Sockets::Udp([0, 1].map(|side| Socket::new(address[side], address[1 - side], *extra_header)))
            }
        };
        let pace = Pace::of(&flow.sink);
        if let (Pace::Slow { .. }, Sockets::Tcp(ends)) = (pace, &mut sockets) {
            ends[1].read_by_hand();
        }
        let source_slot = slot(net, Act::Source(number));
        net.queue.set(source_slot, flow.app.start);
        if let Some(stop) = flow.app.stop {
            let stop_slot = slot(net, Act::StopSource(number));
            net.queue.set(stop_slot, stop);
        }
        let reader = Reader { sink: Pace::of(&flow.sink), slot: slot(net, Act::Reader(number)), chunk };
        Flow {
            ends,
            sockets,
            source: Source::new(flow.app.kind.clone(), stream("source")),
            reader,
            started: flow.app.start,
            stopped: false,
            completed: None,
        }
    }

    /// A packet arrived for one side.
    #[inline]
    pub(super) fn up(&mut self, side: usize, packet: &Packet, net: &mut Net) {
        let now = net.now;
        match &mut self.sockets {
            Sockets::Tcp(ends) => {
                ends[side].up(packet, now, &mut Host { net, end: self.ends[side] });
                if side == 1 {
                    self.on_arrival(net);
                }
            }
            Sockets::Udp(ends) => ends[side].up(packet, now),
        }
    }

    /// Data may have become readable, or the stream have ended.
    #[inline]
    fn on_arrival(&mut self, net: &mut Net) {
        let Sockets::Tcp(ends) = &mut self.sockets else {
            return;
        };
        let receiver = ends[1].receiver();
        if receiver.finished() && self.completed.is_none() {
            self.completed = Some(net.now);
        }
        let readable = receiver.readable();
        if let Pace::Slow { waiting, .. } = &mut self.reader.sink
            && readable > 0
            && !*waiting
        {
            *waiting = true;
            let at = self.reader.next_read(net.now, readable);
            net.queue.set(self.reader.slot, at);
        }
    }

    /// The reader takes its next chunk.
    pub(super) fn on_reader(&mut self, slot: Slot, net: &mut Net) {
        let Sockets::Tcp(ends) = &mut self.sockets else {
            return;
        };
        let now = net.now;
        let chunk = self.reader.chunk;
        ends[1].read(chunk, now, &mut Host { net, end: self.ends[1] });
        let readable = ends[1].receiver().readable();
        if readable > 0 {
            let at = self.reader.next_read(now, readable);
            net.queue.set(slot, at);
        } else if let Pace::Slow { waiting, .. } = &mut self.reader.sink {
            *waiting = false;
        }
    }

    /// The source acts.
    pub(super) fn on_source(&mut self, slot: Slot, net: &mut Net) {
        if self.stopped {
            return;
        }
        let now = net.now;
        let act = self.source.act(now);
        match &mut self.sockets {
            Sockets::Tcp(ends) => {
                let mut host = Host { net, end: self.ends[0] };
                if ends[0].state() == State::Closed {
                    ends[0].open(now, &mut host);
                }
                match act {
                    SourceAct::WriteForEver => ends[0].write(u64::MAX / 2, now, &mut host),
                    SourceAct::WriteAndClose(bytes) => {
                        ends[0].write(bytes, now, &mut host);
                        ends[0].close(now, &mut host);
                    }
                    SourceAct::WritePacket(bytes, _) => ends[0].write(u64::from(bytes), now, &mut host),
                }
            }
            Sockets::Udp(ends) => {
                if let SourceAct::WritePacket(bytes, _) = act {
                    ends[0].send(bytes, now, &mut Host { net, end: self.ends[0] });
                }
            }
        }
        if let SourceAct::WritePacket(_, next) = act {
            net.queue.set(slot, next);
        }
    }

    /// The source stops: nothing more is written, and TCP closes after what was sent.
    pub(super) fn on_stop(&mut self, net: &mut Net) {
        self.stopped = true;
        if let Sockets::Tcp(ends) = &mut self.sockets {
            let now = net.now;
            ends[0].stop(now, &mut Host { net, end: self.ends[0] });
        }
    }

    /// A timer of one side fired.
    pub(super) fn on_timer(&mut self, side: usize, timer: Timer, net: &mut Net) {
        if let Sockets::Tcp(ends) = &mut self.sockets {
            let now = net.now;
            ends[side].on_timer(timer, now, &mut Host { net, end: self.ends[side] });
        }
    }

    pub(super) fn begin_measurement(&mut self) {
        match &mut self.sockets {
            Sockets::Tcp(ends) => ends.iter_mut().for_each(Connection::begin_measurement),
            Sockets::Udp(ends) => ends.iter_mut().for_each(Socket::begin_measurement),
        }
    }

    /// What the flow has done up to now.
    pub(super) fn sample(&mut self, now: Time) -> FlowSample {
        match &mut self.sockets {
            Sockets::Tcp(ends) => FlowSample::Tcp {
                sender: ends[0].counters(now),
                delivered: ends[1].receiver().in_order(),
                bytes_received: ends[1].bytes_received(),
                completion: self.completed.map(|end| end.since(self.started)),
            },
            Sockets::Udp(ends) => {
                FlowSample::Udp { sender: ends[0].counters(), receiver: ends[1].counters() }
            }
        }
    }
}

impl Pace {
    fn of(sink: &SinkConfig) -> Pace {
        if sink.read_rate.is_none() && sink.pause_at.is_none() {
            return Pace::AtOnce;
        }
        let pause = sink.pause_at.map_or((Time::NEVER, Time::NEVER), |at| (at, at.after(sink.pause)));
        Pace::Slow { rate: sink.read_rate, pause, waiting: false }
    }
}

impl Reader {
    /// When the next chunk of `readable` bytes will have been read.
    fn next_read(&self, now: Time, readable: u64) -> Time {
        let Pace::Slow { rate, pause, .. } = self.sink else {
            return now;
        };
        let taken = Bytes(readable.min(self.chunk));
        let at = now.after(rate.map_or(Span::ZERO, |rate| taken.time_at(rate)));
        if at >= pause.0 && now < pause.1 { at.max(pause.1) } else { at }
    }
}
