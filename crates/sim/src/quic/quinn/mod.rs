//! An end of a connection of `quinn-proto`.

mod alone;

use std::convert::identity;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use lasthop_stack::packet::{Ecn, NodeId};
use lasthop_stack::units::Span;
use quinn_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};

use super::endpoint::Endpoint;
use super::keys::of_quinn::{Ids, NoTime, draw_id};
use super::keys::{Key, draw};
use super::law::LawFactory;
use super::record::of_quinn::Factory;
use super::session::of_quinn::Maker;
use super::{LEAST_PACKET, LEAST_SEND_WINDOW, Peer, Role, Shared, socket};
use crate::engine::streams::Stream;
use crate::model::{QuicConfig, QuicLaw};
pub use alone::Quinn;

/// It has one path.
type Paths = ();

endpoint!(
    quinn_proto,
    identity,
    [None],
    |open, now, _way, ecn, bytes, answer| open.endpoint.handle(now, open.remote, None, ecn, bytes, answer),
    |connection, now, into, _paths| connection.poll_transmit(now, 1, into)?,
    {
        fn measured(&self) -> Option<(Span, (u64, u64))> {
            let (_, connection) = self.connection.as_ref()?;
            let path = connection.stats().path;
            Some((Span(connection.rtt().as_nanos() as u64), (path.lost_bytes, path.cwnd)))
        }

        fn lost(&self) -> Option<u64> {
            Some(self.connection.as_ref().map_or(0, |(_, connection)| connection.stats().path.lost_packets))
        }
    }
);

/// An end that sends to this address; its random numbers are from `stream`.
pub(super) fn peer(config: &QuicConfig, role: Role, remote: (NodeId, u16), stream: Stream) -> Peer<Open> {
    let paces = matches!(config.law, QuicLaw::Ours(_));
    over(config.packet, role, remote, stream, paces, |record, draw| transport(config, record, draw))
}

/// One that takes packets of up to this length, over a transport that may use its record and a random number.
fn over(
    packet: u16,
    role: Role,
    remote: (NodeId, u16),
    stream: Stream,
    paces: bool,
    transport: impl FnOnce(&Shared, u32) -> TransportConfig,
) -> Peer<Open> {
    let remote = socket(remote);
    Peer::new(remote, paces, |record, _| {
        Open::new(packet, role, remote, (), stream, record, |draw| transport(record, draw))
    })
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
