//! A connection for a host with one clock: one timeout to wait for, and packets to fetch.
//!
//! ```text
//!     act(write, read, close …) ─▶ ┌────────────┐ ─▶ poll_transmit: until there is none
//!     on_packet ─────────────────▶ │ Connection │
//!     on_timeout ────────────────▶ │  + Outbox  │ ─▶ poll_timeout: when to call on_timeout
//!                                  └────────────┘
//! ```
//!
//! After each call on the left the host makes those on the right, late or early: what is not yet due remains.

use super::{Connection, Parts};
use crate::hooks::Outbox;
use crate::packet::Packet;
use crate::units::Time;

/// A [`Connection`] with its [`Outbox`].
#[derive(Clone, Debug)]
pub struct Endpoint<P: Parts> {
    connection: Connection<P>,
    out: Outbox,
}

impl<P: Parts> Endpoint<P> {
    /// An endpoint of this connection.
    #[must_use]
    pub fn new(connection: Connection<P>) -> Endpoint<P> {
        Endpoint { connection, out: Outbox::default() }
    }

    /// The connection, for reading.
    #[must_use]
    pub fn connection(&self) -> &Connection<P> {
        &self.connection
    }

    /// Lets the application act: `endpoint.act(|tcp, out| tcp.write(1_000, now, out))`.
    pub fn act<T>(&mut self, act: impl FnOnce(&mut Connection<P>, &mut Outbox) -> T) -> T {
        act(&mut self.connection, &mut self.out)
    }

    /// A packet of this connection arrived.
    pub fn on_packet(&mut self, packet: &Packet, now: Time) {
        self.connection.up(packet, now, &mut self.out);
    }

    /// Runs the timers that are due; there may be none.
    pub fn on_timeout(&mut self, now: Time) {
        while let Some(timer) = self.out.due(now) {
            self.connection.on_timer(timer, now, &mut self.out);
        }
    }

    /// When to call [`Endpoint::on_timeout`], if nothing arrives before.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        self.out.poll_timeout()
    }

    /// The next packet to send, if any.
    pub fn poll_transmit(&mut self) -> Option<Packet> {
        self.out.poll_transmit()
    }
}

#[cfg(test)]
mod tests;
