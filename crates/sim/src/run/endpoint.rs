//! The ends of a flow in the simulator: sockets, timers, sources and readers.

mod datagrams;
mod host;
mod measured;
mod names;
mod outer;
#[cfg(feature = "quic")]
mod quic;
mod resuming;
mod user;
mod way;

#[cfg(feature = "quic")]
use std::path::PathBuf;

use lasthop_stack::hooks::Timer;
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::registry::tcp::{Connection, Role, State};
use lasthop_stack::units::{Bytes, SeqNo, Time};

use super::{Act, Request};
use crate::engine::ahead;
use crate::engine::queue::Slot;
use crate::engine::streams::Stream;
use crate::model::{FlowConfig, SinkConfig, TransportConfig};
use crate::net::Net;
use crate::probe::events::Event;
use crate::probe::judgement::Matrix;
use crate::probe::spread::Times;
use crate::traffic::sessions::User as Draws;
use crate::traffic::{Act as SourceAct, Source};
use crate::traffic::{AppConfig, AppKind, start_of};
use datagrams::Datagrams;
use host::{End, Host};
pub use names::logs;
pub(super) use names::{judging, trace_names};
use outer::Outer;
use resuming::Resuming;
use user::User;
use way::{Pace, Reader, Way, Ways, is_spurious};
#[cfg(feature = "quic")]
use {super::RunError, crate::host::create, crate::model::Config, names::first_path, quic::Quic};

/// Opens the qlogs of the flows over QUIC.
#[cfg(feature = "quic")]
pub(super) fn log(config: &Config, flows: &mut [Flow], files: &[PathBuf]) -> Result<(), RunError> {
    let mut files = files.chunks_exact(2);
    for (flow, ends) in config.flows.iter().zip(flows) {
        if let Sockets::Quic(ends) = &mut ends.sockets
            && let Some([sender, receiver]) = files.next()
        {
            let files = [create(sender), create(receiver)];
            let [sender, receiver] = files.map(|file| file.map_err(RunError::Log));
            ends.log(&flow.name, [sender?, receiver?]);
        }
    }
    Ok(())
}

enum Sockets {
    Tcp(Box<[Connection; 2]>),
    Udp(Box<Datagrams>),
    Outside(Box<Outer>),
    #[cfg(feature = "quic")]
    Quic(Box<Quic>),
}

#[cfg(feature = "quic")]
impl Sockets {
    /// The paths of a flow with several have names in traces.
    fn trace_paths(&mut self, config: &Config, flow: usize) {
        if let Sockets::Quic(ends) = self
            && config.flows[flow].second().is_some()
        {
            ends.trace_paths(first_path(config, flow));
        }
    }
}

/// A flow: two ends, the forward data between them and, on some connections, the reverse data.
pub(super) struct Flow {
    ends: [End; 2],
    sockets: Sockets,
    /// Bytes of packets that came to each end after its connection was over.
    late: [u64; 2],
    ways: Ways,
    user: Option<Box<User>>,
    /// The recovery after outages and hand-offs, if there are any, for the data of each side.
    resuming: Option<Box<[Resuming; 2]>>,
    /// Data goes forward without end and is read at once, and nothing follows what becomes of it.
    is_bare: bool,
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
        let slot = |net: &mut Net, acts: &mut Vec<Act>, act: Act| {
            acts.push(act);
            net.queue.slot()
        };
        let nodes = [NodeId(flow.from as u32), NodeId(flow.to as u32)];
        let ends = [0, 1].map(|side: u32| End {
            node: nodes[side as usize],
            trace_name: 2 * number + side,
            retransmit: slot(net, acts, Act::Timer(2 * number + side, Timer::Retransmit)),
            delayed_ack: slot(net, acts, Act::Timer(2 * number + side, Timer::DelayedAck)),
            pace: slot(net, acts, Act::Timer(2 * number + side, Timer::Pace)),
        });
        net.round_trips.resize_with(2 * number as usize + 2, Times::default);
        let ports = net.ports;
        let port = |side: usize| ports.of(number, side, 0);
        let address = [0, 1].map(|side| (nodes[side], port(side)));
        let mut chunk = 1;
        let mut numbers = stream("initial sequence numbers");
        let user = match &flow.app.kind {
            AppKind::User(user) => Some(user),
            _ => None,
        };
        let mut sockets = sockets(flow, address, &mut numbers, stream);
        #[cfg(feature = "quic")]
        sockets.trace_paths(request.config, number as usize);
        if let TransportConfig::Tcp(config) = &flow.transport {
            chunk = u64::from(config.packet);
        }
        let mut way = |direction: u32, app: &AppConfig, sink: &SinkConfig, source: Stream| {
            let pace = Pace::of(sink);
            if let (Pace::Slow { .. }, Sockets::Tcp(ends)) = (pace, &mut sockets) {
                ends[1 - direction as usize].read_by_hand();
            }
            let number = 2 * number + direction;
            let source_slot = slot(net, acts, Act::Source(number));
            // Users make their own draws.
            let started = if user.is_some() { app.start } else { start_of(app, || stream("start")) };
            net.queue.set(source_slot, started);
            if let Some(stop) = app.stop {
                let stop_slot = slot(net, acts, Act::StopSource(number));
                net.queue.set(stop_slot, stop);
            }
            let reader = Reader { sink: pace, slot: slot(net, acts, Act::Reader(number)), chunk };
            let judged: Vec<_> = flow.judges().map(|(judge, _)| (judge, Matrix::default())).collect();
            if !judged.is_empty() {
                net.losses.watch(port(1 - direction as usize));
            }
            let source = Source::new(app.kind.clone(), source);
            (Way::new(app, source, reader, started, judged), source_slot)
        };
        let (forward, source_slot) = way(0, &flow.app, &flow.sink, stream("source"));
        let reverse = flow
            .reverse
            .as_ref()
            .map(|reverse| Box::new(way(1, &reverse.app, &reverse.sink, stream("reverse source")).0));
        if let (Some(_), Sockets::Tcp(ends)) = (&reverse, &mut sockets) {
            ends[1].close_by_hand();
        }
        let user = user.map(|user| {
            let draws = Draws::new((**user).clone(), stream);
            Box::new(User::new(draws, numbers, number, source_slot, &flow.app, net))
        });
        let resuming: Option<Box<_>> = request.config.has_link_events().then(Box::default);
        let is_followed = user.is_some() || resuming.is_some() || reverse.is_some();
        let is_bare = forward.is_endless && !is_followed;
        Flow { ends, sockets, late: [0; 2], ways: Ways { forward, reverse }, user, resuming, is_bare }
    }

    /// Ends the qlogs.
    #[cfg(feature = "quic")]
    pub(super) fn finish_logs(&mut self) -> Result<(), RunError> {
        match &mut self.sockets {
            Sockets::Quic(ends) => ends.finish_logs().map_err(RunError::Log),
            _ => Ok(()),
        }
    }

    /// Prefetches the state of one side.
    pub(super) fn fetch(&self, side: usize, net: &Net) {
        if let Sockets::Tcp(ends) = &self.sockets {
            ahead::fetch(&ends[side]);
            net.queue.fetch(self.ends[side].retransmit);
        }
    }

    /// Prefetches the oldest segment that one side has sent.
    pub(super) fn fetch_oldest(&self, side: usize) {
        if let Sockets::Tcp(ends) = &self.sockets
            && let Some(oldest) = ends[side].sender().board().oldest()
        {
            ahead::fetch(oldest);
        }
    }

    /// A packet arrived for one side.
    #[inline]
    pub(super) fn up(&mut self, side: usize, packet: &Packet, length: Bytes, net: &mut Net) {
        let now = net.now;
        let is_bare = self.is_bare && !net.is_observed;
        let read = if is_bare { None } else { self.trace_arrival(side, packet, net) };
        match &mut self.sockets {
            Sockets::Tcp(ends) => {
                if !is_bare && self.user.is_some() && User::is_late(packet, &ends[side]) {
                    self.late[side] += length.0;
                    return;
                }
                ends[side].up(packet, now, &mut Host { net, end: &self.ends[side] });
                if is_bare {
                    return;
                }
                self.ways.count_judged(side, ends, net);
                if let Some(resuming) = &mut self.resuming {
                    let window = ends[1 - side].sender().window().cwnd;
                    resuming[1 - side].on_arrival(ends[side].receiver().in_order(), window, now);
                }
                if let Some(before) = read {
                    host::trace_read(self.ends[side], before, ends[side].receiver(), net);
                }
                if let Some(user) = &mut self.user {
                    user.on_arrival(&mut **ends, &self.ends, net);
                    return;
                }
                if let Some(way) = self.ways.of(1 - side) {
                    way.on_arrival(&ends[side], net);
                }
                if let Some(way) = self.ways.of(side) {
                    way.on_acknowledgement(&ends[side], now);
                }
            }
            Sockets::Udp(ends) => ends.up(side, packet, &self.ends, net),
            Sockets::Outside(ends) => ends.up(side, packet, length, net),
            #[cfg(feature = "quic")]
            Sockets::Quic(ends) => {
                ends.up(side, packet, &self.ends, &mut self.ways.forward, net);
                if let Some(user) = &mut self.user {
                    user.on_arrival(&mut **ends, &self.ends, net);
                }
            }
        }
    }

    /// The reader of a direction takes its next chunk.
    pub(super) fn on_reader(&mut self, direction: usize, slot: Slot, net: &mut Net) {
        let Some(way) = self.ways.of(direction) else { return };
        let Sockets::Tcp(ends) = &mut self.sockets else { return };
        let (now, side) = (net.now, 1 - direction);
        let before = host::has_read(ends[side].receiver());
        ends[side].read(way.reader.chunk, now, &mut Host { net, end: &self.ends[side] });
        host::trace_read(self.ends[side], before, ends[side].receiver(), net);
        let readable = ends[side].receiver().readable();
        if readable > 0 {
            let at = way.reader.next_read(now, readable);
            net.queue.set(slot, at);
        } else if let Pace::Slow { waiting, .. } = &mut way.reader.sink {
            *waiting = false;
        }
    }

    /// The source of a direction acts.
    pub(super) fn on_source(&mut self, direction: usize, slot: Slot, net: &mut Net) {
        match (&mut self.user, &mut self.sockets) {
            (Some(user), Sockets::Tcp(ends)) => return user.on_timer(&mut **ends, &self.ends, net),
            #[cfg(feature = "quic")]
            (Some(user), Sockets::Quic(ends)) => return user.on_timer(&mut **ends, &self.ends, net),
            _ => {}
        }
        let Some(way) = self.ways.of(direction) else { return };
        if way.stopped {
            return;
        }
        let now = net.now;
        let act = way.source.act(now);
        #[cfg(feature = "quic")]
        if let Sockets::Quic(ends) = &mut self.sockets {
            ends.on_source(act, &self.ends, way, net);
        }
        let mut host = Host { net, end: &self.ends[direction] };
        match &mut self.sockets {
            Sockets::Tcp(ends) => {
                let end = &mut ends[direction];
                if direction == 0 && end.state() == State::Closed {
                    end.open(now, &mut host);
                }
                match act {
                    SourceAct::WriteForEver => {
                        host.trace_app(Event::Write, None);
                        end.write(u64::MAX / 2, now, &mut host);
                    }
                    SourceAct::WriteAndClose(bytes) => {
                        host.write(end, bytes);
                        host.close(end);
                    }
                    SourceAct::WritePacket(bytes, _) => host.write(end, u64::from(bytes)),
                    SourceAct::Wait(_) => {}
                }
            }
            Sockets::Udp(ends) => {
                if let SourceAct::WritePacket(bytes, _) = act {
                    host.trace_app(Event::Write, Some(u64::from(bytes)));
                    ends.send(bytes, &mut host);
                }
            }
            Sockets::Outside(_) => {}
            #[cfg(feature = "quic")]
            Sockets::Quic(_) => {}
        }
        if let SourceAct::WritePacket(_, next) | SourceAct::Wait(next) = act
            && next < Time::NEVER
        {
            net.queue.set(slot, next);
        }
    }

    /// The source of a direction stops: nothing more is written, and TCP closes after what was sent.
    pub(super) fn on_stop(&mut self, direction: usize, net: &mut Net) {
        if let Some(user) = &mut self.user {
            return user.stop();
        }
        if let Some(way) = self.ways.of(direction) {
            way.stopped = true;
        }
        if let Sockets::Tcp(ends) = &mut self.sockets {
            let now = net.now;
            let mut host = Host { net, end: &self.ends[direction] };
            host.trace_app(Event::Close, None);
            ends[direction].stop(now, &mut host);
        }
        #[cfg(feature = "quic")]
        if let Sockets::Quic(ends) = &mut self.sockets {
            ends.on_stop(&self.ends, &mut self.ways.forward, net);
        }
    }

    /// A timer of one side fired.
    pub(super) fn on_timer(&mut self, side: usize, timer: Timer, net: &mut Net) {
        #[cfg(feature = "quic")]
        if let Sockets::Quic(ends) = &mut self.sockets {
            return ends.on_timer(side, &self.ends, &mut self.ways.forward, net);
        }
        if let Sockets::Tcp(ends) = &mut self.sockets {
            let now = net.now;
            let is_spurious = timer == Timer::Retransmit && is_spurious(ends, side, &self.ends, net);
            let before = ends[side].sender().timeouts();
            if let Some(events) = &mut net.tracer.events {
                events.fired(now, self.ends[side].trace_name, timer);
            }
            ends[side].on_timer(timer, now, &mut Host { net, end: &self.ends[side] });
            if is_spurious && let Some(way) = self.ways.of(side) {
                way.spurious_timeouts += ends[side].sender().timeouts() - before;
            }
            self.ways.count_judged(side, ends, net);
        }
    }
}

/// The two ends of a flow.
#[cfg_attr(
    not(feature = "quic"),
    expect(unused_variables, reason = "only the ends of QUIC have random streams")
)]
fn sockets(
    flow: &FlowConfig,
    address: [(NodeId, u16); 2],
    numbers: &mut Stream,
    stream: impl Fn(&str) -> Stream,
) -> Sockets {
    let config = match &flow.transport {
        _ if flow.is_outside => return Sockets::Outside(Box::default()),
        TransportConfig::Tcp(config) => config,
        TransportConfig::Udp { extra_header } => {
            return Sockets::Udp(Box::new(Datagrams::new(address, *extra_header, flow.is_probe())));
        }
        #[cfg(feature = "quic")]
        TransportConfig::Quic(config) => {
            let is_user = matches!(flow.app.kind, AppKind::User(_));
            return Sockets::Quic(Box::new(Quic::new(config, is_user, address, stream)));
        }
        #[cfg(not(feature = "quic"))]
        TransportConfig::Quic(_) => unreachable!("the check of the scenario refuses it in this build"),
    };
    let mut connection = |config, role, side: usize| {
        let iss = SeqNo(numbers.next_u64() as u32);
        Connection::new(config, role, address[side], address[1 - side], iss)
    };
    let mut opener = config.clone();
    if let Some(reverse) = &flow.reverse {
        opener.receive_buffer = reverse.buffer;
    }
    // A user's connections are opened by the client and closed by the server.
    let is_user = matches!(flow.app.kind, AppKind::User(_));
    let roles = if is_user { [Role::Passive, Role::Active] } else { [Role::Active, Role::Passive] };
    let mut ends = [connection(&opener, roles[0], 0), connection(config, roles[1], 1)];
    if is_user {
        ends[0].close_by_hand();
        ends[1].close_after_peer();
    }
    Sockets::Tcp(Box::new(ends))
}
