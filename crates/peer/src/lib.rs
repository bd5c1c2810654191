//! An end of a transport without input and output.
//!
//! A [`Peer`] is one end with its application: datagrams go in, datagrams come out, and it says when it has to be called next.
//! It has no socket, clock or thread. Whoever drives it owns the time and, by a seed at its construction, its randomness.
//!
//! A transport in C is a table of four functions, [`c::Table`], as `include/lasthop_peer.h` declares it.

#![no_std]

extern crate alloc;

pub mod c;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

/// Takes a log piece by piece.
pub type LogWriter = Box<dyn FnMut(&[u8]) + Send>;

/// One end of a transport, with its application.
///
/// Times are those since the start, at which [`Peer::send`] is called first. They never decrease. After each
/// [`Peer::receive`] and at each deadline [`Peer::send`] is called until it returns `None`.
pub trait Peer {
    /// A datagram has arrived, with these two bits of ECN (RFC 3168, 5).
    fn receive(&mut self, now: Duration, datagram: &[u8], ecn: u8);

    /// Handles the timers that are due, and writes the next datagram that leaves now into an empty buffer. Returns its two bits
    /// of ECN, or `None` if nothing leaves now.
    fn send(&mut self, now: Duration, into: &mut Vec<u8>) -> Option<u8>;

    /// When [`Peer::send`] has to be called if nothing arrives before; `None` for never.
    fn deadline(&mut self) -> Option<Duration>;

    /// Bytes that this end's application has received, in order if the transport keeps order.
    fn delivered(&self) -> u64;

    /// Writes a log of this end from now on, as a qlog; one that has none writes nothing.
    fn log(&mut self, _write: LogWriter) {}
}

impl<P: Peer + ?Sized> Peer for Box<P> {
    fn receive(&mut self, now: Duration, datagram: &[u8], ecn: u8) {
        (**self).receive(now, datagram, ecn);
    }

    fn send(&mut self, now: Duration, into: &mut Vec<u8>) -> Option<u8> {
        (**self).send(now, into)
    }

    fn deadline(&mut self) -> Option<Duration> {
        (**self).deadline()
    }

    fn delivered(&self) -> u64 {
        (**self).delivered()
    }

    fn log(&mut self, write: LogWriter) {
        (**self).log(write);
    }
}
