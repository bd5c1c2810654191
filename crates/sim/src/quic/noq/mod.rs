//! An end of a connection of `noq-proto`, which may have a second path (draft-ietf-quic-multipath).
//!
//! **How.** The receiver of the flow has a second address, that of another node. When the handshake is confirmed, the end that
//! opened the connection opens the second path, and again any path that has been abandoned. `noq-proto` sends on the first
//! path that has room in its own window; each path has its own controller, round trip, packet numbers and acknowledgements.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use lasthop_stack::packet::{Ecn, NodeId};
use lasthop_stack::wire;
use noq_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use noq_proto::{FourTuple, PathId, PathStatus, Transmit};

use super::endpoint::Endpoint;
use super::keys::of_noq::{Ids, NoTime, draw_id};
use super::keys::{Key, draw};
use super::record::of_noq::Factory;
use super::session::of_noq::Maker;
use super::{LEAST_PACKET, LEAST_SEND_WINDOW, PATHS, Peer, Role, Shared, socket};
use crate::engine::streams::Stream;
use crate::model::{QuicConfig, QuicLaw};

/// How often an end says that its paths are alive in the time after which they would be abandoned.
const PINGS: u32 = 3;

/// The paths of a connection, seen from one end.
pub(super) struct Paths {
    /// The nodes between which each goes.
    ways: Vec<[NodeId; 2]>,
    /// The port of the other end.
    port: u16,
    /// The path of the last datagram.
    last: usize,
    /// The number that the stack has given to each, and whether it has been open, at the end that opens them.
    opened: [Option<(PathId, bool)>; PATHS],
    /// Whether this end opens them.
    opens: bool,
    /// The time without packets after which one is abandoned.
    timeout: Option<Duration>,
    /// When it says next that they are alive. What acknowledges the packets of any path goes by the first one, so that the end
    /// that sends would hear nothing of the second.
    ping: Option<Instant>,
    record: Shared,
}

impl Paths {
    fn place(&self, way: [NodeId; 2]) -> usize {
        self.ways.iter().position(|known| *known == way).unwrap_or_default()
    }

    fn address(&self, [own, other]: [NodeId; 2]) -> FourTuple {
        FourTuple::new(socket((other, self.port)), Some(IpAddr::from(wire::address(own))))
    }

    /// A datagram has arrived: by which addresses. The path of a controller that the stack makes now is its.
    fn arrival(&mut self, [from, to]: [NodeId; 2]) -> FourTuple {
        self.record.lock().opening = self.place([to, from]);
        self.address([to, from])
    }

    /// Opens paths of which the stack knows nothing, or nothing any more, as soon as the other end has given it connection IDs:
    /// the addresses of a path that it still knows would count as validated. A path that never was open is not abandoned, since
    /// an end forgets one only when the other end abandons it as well.
    fn open(&mut self, connection: &mut Connection, now: Instant) {
        if !self.opens || self.ways.len() < PATHS || connection.is_handshaking() || connection.is_closed() {
            return;
        }
        for place in 0..PATHS {
            match self.opened[place] {
                Some((path, true)) if connection.path_status(path).is_ok() => {}
                Some((path, false)) => {
                    let is_open = connection.path_stats(path).is_some_and(|path| path.udp_rx.datagrams > 0);
                    if is_open {
                        self.opened[place] = Some((path, true));
                        _ = connection.set_path_max_idle_timeout(now, path, self.timeout);
                    }
                }
                _ => {
                    self.record.lock().opening = place;
                    let path =
                        connection.open_path(self.address(self.ways[place]), PathStatus::Available, now);
                    self.opened[place] = path.ok().map(|path| (path, false));
                    if let Ok(path) = path {
                        _ = connection.set_path_max_idle_timeout(now, path, None);
                    }
                }
            }
        }
    }

    /// Pings all paths, if that is due.
    fn ping(&mut self, connection: &mut Connection, now: Instant) {
        if let (Some(next), Some(timeout)) = (&mut self.ping, self.timeout)
            && *next <= now
        {
            *next = now + timeout / PINGS;
            for path in connection.paths() {
                _ = connection.ping_path(path);
            }
        }
    }

    /// A datagram leaves, after which paths may be opened.
    fn departure(&mut self, sent: &Transmit) {
        let node = |address| match address {
            IpAddr::V4(address) => wire::node(address.octets()),
            IpAddr::V6(_) => unreachable!("all addresses are of version 4"),
        };
        let own = sent.src_ip.map_or(self.ways[0][0], node);
        self.last = self.place([own, node(sent.destination.ip())]);
    }
}

endpoint!(
    noq_proto,
    Arc::new,
    [],
    |open, now, way, ecn, bytes, answer| {
        // An end may discard what comes after its close (RFC 9000, 10.2.1). noq-proto 1.4.0 panics if it finds that wrong.
        if open.connection().is_some_and(|connection| connection.is_closed()) {
            return None;
        }
        let addresses = open.paths.arrival(way);
        open.endpoint.handle(now, addresses, ecn, bytes, answer)
    },
    |connection, now, into, paths| {
        paths.open(connection, now);
        paths.ping(connection, now);
        let sent = connection.poll_transmit(now, NonZeroUsize::MIN, into)?;
        paths.departure(&sent);
        sent
    },
    {
        fn wakes(&self) -> Option<Instant> {
            self.paths.ping
        }

        fn way(&self) -> Option<([NodeId; 2], usize)> {
            Some((self.paths.ways[self.paths.last], self.paths.last))
        }
    }
);

/// An end whose paths go between these nodes, its own first, and to this port.
pub(super) fn peer(
    config: &QuicConfig,
    role: Role,
    ways: Vec<[NodeId; 2]>,
    port: u16,
    stream: Stream,
) -> Peer<Open> {
    let remote = socket((ways[0][1], port));
    Peer::new(remote, false, |record, base| {
        let opens = role == Role::Client;
        let timeout = config.path_timeout.map(|span| Duration::from_nanos(span.0));
        let ping = timeout.map(|timeout| base + timeout / PINGS);
        let opened = [Some((PathId::ZERO, true)), None];
        let paths = Paths { ways, port, last: 0, opened, opens, timeout, ping, record: record.clone() };
        let transport = |_| transport(config, record);
        Open::new(config.packet, role, remote, paths, stream, record, transport)
    })
}

fn transport(config: &QuicConfig, record: &Shared) -> TransportConfig {
    let law: Arc<dyn ControllerFactory + Send + Sync> = match &config.law {
        QuicLaw::NewReno => Arc::new(NewRenoConfig::default()),
        QuicLaw::Cubic | QuicLaw::Ours(_) => Arc::new(CubicConfig::default()),
    };
    let mut transport = configured!(noq_proto, config, Arc::new(Factory { law, record: record.clone() }));
    let timeout = config.path_timeout.map(|span| Duration::from_nanos(span.0));
    transport
        .max_concurrent_multipath_paths(PATHS as u32)
        .default_path_max_idle_timeout(timeout)
        .enable_segmentation_offload(false);
    transport
}
