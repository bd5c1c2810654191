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
use noq_proto::{FourTuple, PathStatus, Transmit};

use super::endpoint::Endpoint;
use super::keys::of_noq::{Ids, NoTime, draw_id};
use super::keys::{Key, draw};
use super::record::of_noq::Factory;
use super::session::of_noq::Maker;
use super::{LEAST_PACKET, LEAST_SEND_WINDOW, PATHS, Peer, Role, Shared, socket};
use crate::engine::streams::Stream;
use crate::model::{QuicConfig, QuicLaw};

/// The paths of a connection, seen from one end.
pub(super) struct Paths {
    /// The nodes between which each goes.
    ways: Vec<[NodeId; 2]>,
    /// The port of the other end.
    port: u16,
    /// The path of the last datagram.
    last: usize,
    /// Whether this end opens them.
    opens: bool,
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

    /// Opens what is not open, as soon as the other end has given it connection IDs.
    fn open(&mut self, connection: &mut Connection, now: Instant) {
        if !self.opens || self.ways.len() < PATHS || connection.is_handshaking() {
            return;
        }
        for (place, way) in self.ways.iter().enumerate() {
            self.record.lock().opening = place;
            _ = connection.open_path_ensure(self.address(*way), PathStatus::Available, now);
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
        let addresses = open.paths.arrival(way);
        open.endpoint.handle(now, addresses, ecn, bytes, answer)
    },
    |connection, now, into, paths| {
        paths.open(connection, now);
        let sent = connection.poll_transmit(now, NonZeroUsize::MIN, into)?;
        paths.departure(&sent);
        sent
    },
    {
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
    Peer::new(remote, false, |record| {
        let opens = role == Role::Client;
        let paths = Paths { ways, port, last: 0, opens, record: record.clone() };
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
    transport
        .max_concurrent_multipath_paths(PATHS as u32)
        .default_path_max_idle_timeout(config.path_timeout.map(|span| Duration::from_nanos(span.0)))
        .enable_segmentation_offload(false);
    transport
}
