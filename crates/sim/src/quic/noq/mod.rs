//! An end of a connection of `noq-proto`, which may have a second path: multipath (draft-ietf-quic-multipath).
//!
//! **How.** The receiver has a second address, that of another node. When the handshake is confirmed, the end that opened the
//! connection opens a path to it, or from it. `noq-proto` sends on the first path that has room in its own window; each path has
//! its own controller, round trip, packet numbers and acknowledgements.

mod crypto;
mod law;

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use lasthop_stack::packet::{Ecn, NodeId};
use lasthop_stack::units::Time;
use lasthop_stack::wire;
use noq_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use noq_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig,
    FourTuple, PathStatus, ServerConfig, TransportConfig,
};

use super::keys::{Key, draw};
use super::{
    Counters, LEAST_PACKET, LEAST_SEND_WINDOW, Log, Reader, Role, Shared, Stack, Writer, instant, socket,
};
use crate::engine::streams::Stream;
use crate::model::{QuicConfig, QuicLaw};
use crypto::{Ids, Maker, draw_id};
use law::Factory;

/// Paths of a connection.
const PATHS: u32 = 2;

/// One end.
pub(crate) struct Peer {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    client: ClientConfig,
    remote: SocketAddr,
    /// The path that it opens beside the first.
    second: Option<FourTuple>,
    /// The nodes between which the last datagram goes.
    way: [NodeId; 2],
    base: Instant,
    record: Shared,
    answers: VecDeque<Vec<u8>>,
}

impl Peer {
    /// An end between these addresses, its own first. If it opens the connection, it opens `second` as well.
    pub(crate) fn new(
        config: &QuicConfig,
        role: Role,
        [own, other]: [(NodeId, u16); 2],
        second: Option<[NodeId; 2]>,
        mut stream: Stream,
    ) -> Peer {
        let base = instant();
        let record = Shared::new(base);
        let maker = Arc::new(Maker { record: record.clone() });
        let key = Arc::new(Key(stream.next_u64()));
        let mut endpoint = EndpointConfig::new(key.clone());
        endpoint.rng_seed(Some(draw(&mut stream)));
        endpoint.max_udp_payload_size(config.packet).expect("it is at least 1200 B");
        let first = draw_id(&mut stream);
        let transport = Arc::new(transport(config, &record));
        endpoint.cid_generator(Arc::new(move || Box::new(Ids(stream.clone()))));
        let mut client = ClientConfig::new(maker.clone());
        client.transport_config(transport.clone()).initial_dst_cid_provider(Arc::new(move || first));
        let server = (role == Role::Server).then(|| {
            let mut server = ServerConfig::new(maker, key);
            server.transport_config(transport).time_source(Arc::new(super::NoTime));
            Arc::new(server)
        });
        let second = second.filter(|_| role == Role::Client);
        Peer {
            endpoint: Endpoint::new(Arc::new(endpoint), server, true),
            connection: None,
            client,
            remote: socket(other),
            second: second.map(|[from, to]| FourTuple::new(socket((to, other.1)), Some(address(from)))),
            way: [own.0, other.0],
            base,
            record,
            answers: VecDeque::new(),
        }
    }

    fn at(&self, now: Time) -> Instant {
        self.base + Duration::from_nanos(now.0)
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

    /// Opens the second path as soon as the other end has given it connection IDs.
    fn widen(&mut self, now: Instant) {
        if let (Some(path), Some((_, connection))) = (self.second, &mut self.connection)
            && connection.is_multipath_negotiated()
            && !connection.is_handshaking()
            && connection.open_path(path, PathStatus::Available, now).is_ok()
        {
            self.second = None;
        }
    }
}

impl Stack for Peer {
    fn log(&mut self, log: Log, number: u32, local: (NodeId, u16)) {
        self.record.lock().log = Some(log.continue_with(number, socket(local)));
    }

    fn record(&self) -> &Shared {
        &self.record
    }

    fn connect(&mut self, now: Time) {
        if let Some(log) = &mut self.record.lock().log {
            log.begin(now, self.remote);
        }
        let opened = self.endpoint.connect(self.at(now), self.client.clone(), self.remote, "server");
        self.connection = Some(opened.expect("the address and the version are valid"));
    }

    fn up(&mut self, datagram: &[u8], ecn: Ecn, [from, to]: [NodeId; 2], now: Time) {
        self.record.lock().now = now;
        let (ecn, now) = (EcnCodepoint::from_bits(ecn as u8), self.at(now));
        let path = FourTuple::new(socket((from, self.remote.port())), Some(address(to)));
        let mut answer = Vec::new();
        match self.endpoint.handle(now, path, ecn, BytesMut::from(datagram), &mut answer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                self.connection = self.endpoint.accept(incoming, now, &mut answer, None).ok();
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
            Some(DatagramEvent::Response(_)) => self.answers.push_back(answer),
            None => {}
        }
        self.settle();
        self.widen(now);
    }

    fn on_timer(&mut self, now: Time) {
        self.record.lock().now = now;
        let now = self.at(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(now);
        }
        self.settle();
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
        let sent = connection.poll_transmit(now, NonZeroUsize::MIN, into)?;
        self.way = [sent.src_ip.map_or(self.way[0], node), node(sent.destination.ip())];
        self.settle();
        Some(sent.ecn.map_or(Ecn::NotEct, |ecn| Ecn::of_bits(ecn as u8)))
    }

    fn way(&self) -> Option<[NodeId; 2]> {
        Some(self.way)
    }

    fn next_at(&mut self) -> Option<Time> {
        let (_, connection) = self.connection.as_ref()?;
        let timeout = connection.poll_timeout();
        timeout.map(|at| Time(at.saturating_duration_since(self.base).as_nanos() as u64))
    }

    fn counters(&self, now: Time) -> Counters {
        self.record.lock().counters(now)
    }

    fn work(&mut self, writer: &mut Writer, reader: &mut Reader) -> bool {
        self.connection.as_mut().is_some_and(|(_, connection)| super::task::work(connection, writer, reader))
    }

    fn close(&mut self, now: Time) {
        let now = self.at(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.close(now, 0u32.into(), bytes::Bytes::new());
        }
    }
}

fn address(node: NodeId) -> IpAddr {
    IpAddr::from(wire::address(node))
}

fn node(address: IpAddr) -> NodeId {
    match address {
        IpAddr::V4(address) => wire::node(address.octets()),
        IpAddr::V6(_) => unreachable!("all addresses are of version 4"),
    }
}

fn transport(config: &QuicConfig, record: &Shared) -> TransportConfig {
    let law: Arc<dyn ControllerFactory + Send + Sync> = match &config.law {
        QuicLaw::NewReno => Arc::new(NewRenoConfig::default()),
        QuicLaw::Cubic | QuicLaw::Ours(_) => Arc::new(CubicConfig::default()),
    };
    let law = Arc::new(Factory::new(law, record));
    let mut transport = configured!(noq_proto, config, law);
    transport.max_concurrent_multipath_paths(PATHS).enable_segmentation_offload(false);
    transport
}
