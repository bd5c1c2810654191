//! An end of a QUIC connection: `quinn-proto` or `noq-proto`, unmodified, under the simulated clock.
//!
//! **How.** A `Peer` has neither input nor output: datagrams go in, datagrams come out, and it says when it has to be called
//! next. The times that the stack receives are one instant of the machine plus simulated time, and it only subtracts
//! them. Its random numbers and connection IDs come from streams of the run. The two stacks have types of their own with
//! nearly the same methods: macros make the code between them and the simulator for each.
//!
//! **Limits.** The session has no cipher (`session.rs`). The stacks' BBR draws from the machine's generator and is not
//! offered. Its CUBIC takes cube roots from the platform's library, so that its results are equal on one platform only.

#[macro_use]
mod endpoint;
mod frames;
mod keys;
mod law;
#[cfg(feature = "noq")]
mod noq;
mod peer;
mod qlog;
mod quinn;
mod record;
mod session;
mod task;
#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use lasthop_stack::packet::{Ecn, NodeId};
use lasthop_stack::units::Time;
use lasthop_stack::wire;

use crate::engine::streams::Stream;
use crate::model::{QuicConfig, QuicStack};
use peer::Peer;
pub(crate) use qlog::Log;
pub use quinn::Quinn;
pub use quinn_proto;
pub(crate) use record::{PathCounters, QuicCounters, Shared};
pub(crate) use task::{Reader, Writer};

/// The UDP payload that every path takes (RFC 9000, 14).
const LEAST_PACKET: u16 = 1200;

/// Bytes that a sender keeps until they are acknowledged, at least: the default of `quinn-proto`.
const LEAST_SEND_WINDOW: u64 = 10_000_000;

/// Paths of a connection, at most.
pub(crate) const PATHS: usize = 2;

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
    fn counters(&self, now: Time) -> QuicCounters;

    /// The applications of this end act on what has happened. Returns whether the handshake has just been completed.
    fn work(&mut self, writer: &mut Writer, reader: &mut Reader) -> bool;

    /// Closes the connection.
    fn close(&mut self, now: Time);
}

/// An end of a scenario's flow whose paths go between these nodes, its own first, and between these ports.
pub(crate) fn end(
    config: &QuicConfig,
    role: Role,
    ways: &[[NodeId; 2]],
    ports: [u16; 2],
    stream: Stream,
) -> Box<dyn Stack> {
    match config.stack {
        QuicStack::Quinn => Box::new(quinn::peer(config, role, (ways[0][1], ports[1]), stream)),
        #[cfg(feature = "noq")]
        QuicStack::Noq => Box::new(noq::peer(config, role, ways.to_vec(), ports[1], stream)),
        #[cfg(not(feature = "noq"))]
        QuicStack::Noq => unreachable!("the check of the scenario refuses it in this build"),
    }
}

/// The address of an end.
fn socket((node, port): (NodeId, u16)) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::from(wire::address(node))), port)
}
