//! An end of a QUIC connection: `quinn-proto`, unmodified, under the simulated clock.
//!
//! **How.** A `Peer` has neither input nor output: datagrams go in, datagrams come out, and it says when it has to be called
//! next. The times that `quinn-proto` receives are one instant of the machine plus simulated time, and it only subtracts
//! them. Its random numbers and connection IDs come from streams of the run.
//!
//! **Limits.** The session has no cipher (`session.rs`). `quinn-proto`'s BBR draws from the machine's generator and is not
//! offered. Its CUBIC takes cube roots from the platform's library, so that its results are equal on one platform only.

/// A transport of a stack with these keys and this controller.
macro_rules! configured {
    ($proto:ident, $config:expr, $law:expr) => {{
        let config: &QuicConfig = $config;
        let duration = |span: lasthop_stack::units::Span| Duration::from_nanos(span.0);
        let idle =
            |span| $proto::IdleTimeout::try_from(duration(span)).expect("the check bounds the timeout");
        let discovery = config.mtu_discovery.then(|| {
            let mut discovery = $proto::MtuDiscoveryConfig::default();
            discovery.upper_bound(config.packet);
            discovery
        });
        let acks = config.acks.map(|acks| {
            let mut asked = $proto::AckFrequencyConfig::default();
            // The packets that may come without an acknowledgement.
            asked.ack_eliciting_threshold($proto::VarInt::from_u32(acks.tolerance - 1));
            asked
                .max_ack_delay(acks.max_delay.map(duration))
                .reordering_threshold($proto::VarInt::from_u32(acks.reordering));
            asked
        });
        let mut transport = $proto::TransportConfig::default();
        transport
            .congestion_controller_factory($law)
            .initial_mtu(if config.mtu_discovery { LEAST_PACKET } else { config.packet })
            .mtu_discovery_config(discovery)
            .stream_receive_window($proto::VarInt::from_u32(config.window))
            .send_window(u64::from(config.window).max(LEAST_SEND_WINDOW))
            .ack_frequency_config(acks)
            .max_idle_timeout(config.idle_timeout.map(idle))
            .max_concurrent_uni_streams($proto::VarInt::from_u32(config.streams));
        transport
    }};
}

mod frames;
mod keys;
mod law;
#[cfg(feature = "noq")]
mod noq;
mod qlog;
mod quinn;
mod record;
mod session;
mod task;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::{Bytes, BytesMut};
use lasthop_stack::packet::{Ecn, NodeId};
use lasthop_stack::units::{Span, Time};
use lasthop_stack::wire;
use quinn_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig,
    ServerConfig, TimeSource, TransportConfig, VarInt,
};

use crate::engine::streams::Stream;
use crate::model::{QuicConfig, QuicLaw, QuicStack};
use keys::{Ids, Key, draw, draw_id};
use law::LawFactory;
pub(crate) use qlog::Log;
pub use quinn::Quinn;
pub use quinn_proto;
use record::Factory;
pub(crate) use record::{Counters, Shared};
use session::Maker;
pub(crate) use task::{Reader, Writer};

/// The UDP payload that every path takes (RFC 9000, 14).
const LEAST_PACKET: u16 = 1200;

/// Bytes that a sender keeps until they are acknowledged, at least: the default of `quinn-proto`.
const LEAST_SEND_WINDOW: u64 = 10_000_000;

/// Which end opens the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It does.
    Client,
    /// The other one does.
    Server,
}

/// An end of a connection of either stack.
pub(crate) trait Stack: Send {
    /// Logs this connection, whose number is `number`, from `local`.
    fn log(&mut self, log: Log, number: u32, local: (NodeId, u16));

    /// The record of what it sends.
    fn record(&self) -> &Shared;

    /// The log up to now.
    fn take_log(&mut self) -> Option<Log> {
        self.record().lock().log.take()
    }

    /// The transport parameters of the other end, which a client remembers with its ticket.
    fn parameters(&self) -> Option<Vec<u8>> {
        self.record().lock().parameters.clone()
    }

    /// This connection resumes one whose server had these parameters, if there was one.
    fn resume(&mut self, parameters: Option<Vec<u8>>) {
        self.record().lock().remembered = parameters;
    }

    /// Opens the connection.
    fn connect(&mut self, now: Time);

    /// A datagram has arrived, from one node at another.
    fn up(&mut self, datagram: &[u8], ecn: Ecn, way: [NodeId; 2], now: Time);

    /// The time has come for which it asked.
    fn on_timer(&mut self, now: Time);

    /// Writes the next datagram that it sends now; `None` if there is none.
    fn next_datagram(&mut self, now: Time, into: &mut Vec<u8>) -> Option<Ecn>;

    /// The nodes between which that goes, if they may be others than those of the flow.
    fn way(&self) -> Option<[NodeId; 2]> {
        None
    }

    /// When it has to be called next.
    fn next_at(&mut self) -> Option<Time>;

    /// What it has done up to now.
    fn counters(&self, now: Time) -> Counters;

    /// The applications of this end act on what has happened. Returns whether the handshake has just been completed.
    fn work(&mut self, writer: &mut Writer, reader: &mut Reader) -> bool;

    /// Closes the connection.
    fn close(&mut self, now: Time);
}

/// An end of a scenario's flow between these addresses, its own first; `second` is the way of a second path from it.
pub(crate) fn end(
    config: &QuicConfig,
    role: Role,
    addresses: [(NodeId, u16); 2],
    second: Option<[NodeId; 2]>,
    stream: Stream,
) -> Box<dyn Stack> {
    match config.stack {
        QuicStack::Quinn => Box::new(Peer::new(config, role, addresses[1], stream)),
        #[cfg(feature = "noq")]
        QuicStack::Noq => Box::new(noq::Peer::new(config, role, addresses, second, stream)),
        #[cfg(not(feature = "noq"))]
        QuicStack::Noq => unreachable!("the check of the scenario refuses it in this build, {second:?}"),
    }
}

/// One end.
pub(crate) struct Peer {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    client: ClientConfig,
    remote: SocketAddr,
    base: Instant,
    record: Shared,
    is_logged: bool,
    /// Whether its law may hold packets back.
    paces: bool,
    /// What the endpoint answers by itself to packets without a connection.
    answers: VecDeque<Vec<u8>>,
}

impl Peer {
    /// An end that sends to this address; its random numbers are from `stream`.
    pub(crate) fn new(config: &QuicConfig, role: Role, remote: (NodeId, u16), stream: Stream) -> Peer {
        let made = |record: &Shared, draw| transport(config, record, draw);
        let mut peer = Peer::over(config.packet, role, remote, stream, made);
        peer.record.lock().issues_tickets = config.zero_rtt;
        peer.paces = matches!(config.law, QuicLaw::Ours(_));
        peer
    }

    /// One that takes packets of up to this length, over a transport that may use its record and a random number.
    fn over(
        packet: u16,
        role: Role,
        remote: (NodeId, u16),
        mut stream: Stream,
        transport: impl FnOnce(&Shared, u32) -> TransportConfig,
    ) -> Peer {
        let base = instant();
        let record = Shared::new(base);
        let maker = Arc::new(Maker { record: record.clone() });
        let key = Arc::new(Key(stream.next_u64()));
        let mut endpoint = EndpointConfig::new(key.clone());
        endpoint.rng_seed(Some(draw(&mut stream)));
        endpoint.max_udp_payload_size(packet).expect("it is at least 1200 B");
        let first = draw_id(&mut stream);
        let transport = Arc::new(transport(&record, stream.clone().next_u64() as u32));
        endpoint.cid_generator(move || Box::new(Ids(stream.clone())));
        let mut client = ClientConfig::new(maker.clone());
        client.transport_config(transport.clone()).initial_dst_cid_provider(Arc::new(move || first));
        let server = (role == Role::Server).then(|| {
            let mut server = ServerConfig::new(maker, key);
            server.transport_config(transport).time_source(Arc::new(NoTime));
            Arc::new(server)
        });
        let remote = socket(remote);
        let endpoint = Endpoint::new(Arc::new(endpoint), server, true, None);
        let (is_logged, paces) = (false, false);
        let (connection, answers) = (None, VecDeque::new());
        Peer { endpoint, connection, client, remote, base, record, is_logged, paces, answers }
    }

    /// The connection begins.
    fn log_begin(&mut self, now: Time) {
        if let Some(log) = &mut self.record.lock().log {
            log.begin(now, self.remote);
        }
    }

    /// Logs what has been measured.
    fn log_metrics(&mut self) {
        if self.is_logged
            && let Some((_, connection)) = &self.connection
        {
            let smoothed = Span(connection.rtt().as_nanos() as u64);
            let path = connection.stats().path;
            self.record.lock().log_metrics(smoothed, (path.lost_bytes, path.cwnd));
        }
    }

    /// The record gets the time, if something happens by it.
    fn note_time(&self, now: Time) {
        if self.is_logged || self.paces {
            self.record.lock().now = now;
        }
    }

    /// Passes events between endpoint and connection.
    fn settle(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
    }

    fn at(&self, now: Time) -> Instant {
        self.base + Duration::from_nanos(now.0)
    }
}

impl Stack for Peer {
    fn log(&mut self, log: Log, number: u32, local: (NodeId, u16)) {
        self.record.lock().log = Some(log.continue_with(number, socket(local)));
        self.is_logged = true;
    }

    fn record(&self) -> &Shared {
        &self.record
    }

    fn connect(&mut self, now: Time) {
        self.log_begin(now);
        let opened = self.endpoint.connect(self.at(now), self.client.clone(), self.remote, "server");
        self.connection = Some(opened.expect("the address and the version are valid"));
    }

    fn up(&mut self, datagram: &[u8], ecn: Ecn, _: [NodeId; 2], now: Time) {
        self.note_time(now);
        let time = now;
        let (ecn, now) = (EcnCodepoint::from_bits(ecn as u8), self.at(now));
        let mut answer = Vec::new();
        let event = self.endpoint.handle(now, self.remote, None, ecn, BytesMut::from(datagram), &mut answer);
        match (event, &mut self.connection) {
            (Some(DatagramEvent::ConnectionEvent(_, event)), Some((_, connection))) => {
                connection.handle_event(event);
            }
            (Some(DatagramEvent::NewConnection(incoming)), None) => {
                self.log_begin(time);
                self.connection = self.endpoint.accept(incoming, now, &mut answer, None).ok();
            }
            (Some(DatagramEvent::NewConnection(incoming)), Some(_)) => self.endpoint.ignore(incoming),
            (Some(DatagramEvent::Response(_)), _) => self.answers.push_back(answer),
            _ => {}
        }
        self.settle();
        self.log_metrics();
    }

    fn on_timer(&mut self, now: Time) {
        self.note_time(now);
        let now = self.at(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(now);
        }
        self.settle();
        self.log_metrics();
    }

    fn next_datagram(&mut self, now: Time, into: &mut Vec<u8>) -> Option<Ecn> {
        into.clear();
        if let Some(answer) = self.answers.pop_front() {
            into.extend_from_slice(&answer);
            return Some(Ecn::NotEct);
        }
        self.record.lock().begin(now);
        let now = self.at(now);
        let (_, connection) = self.connection.as_mut()?;
        let sent = connection.poll_transmit(now, 1, into)?;
        self.settle();
        Some(sent.ecn.map_or(Ecn::NotEct, |ecn| Ecn::of_bits(ecn as u8)))
    }

    fn next_at(&mut self) -> Option<Time> {
        let (_, connection) = self.connection.as_mut()?;
        let timeout = connection.poll_timeout();
        let timeout = timeout.map(|at| Time(at.saturating_duration_since(self.base).as_nanos() as u64));
        let held = if self.paces { self.record.lock().held() } else { None };
        timeout.into_iter().chain(held).min()
    }

    fn counters(&self, now: Time) -> Counters {
        let lost = self.connection.as_ref().map_or(0, |(_, connection)| connection.stats().path.lost_packets);
        Counters { lost, ..self.record.lock().counters(now) }
    }

    fn work(&mut self, writer: &mut Writer, reader: &mut Reader) -> bool {
        self.connection.as_mut().is_some_and(|(_, connection)| task::work(connection, writer, reader))
    }

    fn close(&mut self, now: Time) {
        let now = self.at(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.close(now, VarInt::from_u32(0), Bytes::new());
        }
    }
}

/// The address of an end.
fn socket((node, port): (NodeId, u16)) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::from(wire::address(node))), port)
}

/// An instant from which simulated times are counted; nothing depends on which.
#[expect(clippy::disallowed_methods, reason = "an instant can only be made from another")]
fn instant() -> Instant {
    Instant::now()
}

/// Validation of addresses by tokens, which nobody sends here, needs the date.
struct NoTime;

impl TimeSource for NoTime {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

/// Its law's random number is `draw`.
fn transport(config: &QuicConfig, record: &Shared, draw: u32) -> TransportConfig {
    let law: Arc<dyn ControllerFactory + Send + Sync> = match &config.law {
        QuicLaw::Cubic => Arc::new(CubicConfig::default()),
        QuicLaw::NewReno => Arc::new(NewRenoConfig::default()),
        QuicLaw::Ours(law) => {
            Arc::new(LawFactory { law: law.clone(), packet: config.packet, draw, record: record.clone() })
        }
    };
    configured!(quinn_proto, config, Arc::new(Factory { law, record: record.clone() }))
}
