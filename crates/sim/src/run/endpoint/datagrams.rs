//! The two ends of a flow over UDP, and what its datagrams took.

use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::transport::udp::Socket;

use super::Host;
use crate::metrics::UdpSample;
use crate::net::Net;
use crate::probe::jitter::Jitter;
use crate::probe::spread::Times;

/// The sockets of the sending and the receiving end.
pub(super) struct Datagrams {
    ends: [Socket; 2],
    /// Delays in the measured time.
    delays: Times,
    jitter: Jitter,
}

impl Datagrams {
    /// The ends at these addresses.
    pub(super) fn new(address: [(NodeId, u16); 2], extra_header: u16) -> Datagrams {
        let socket = |side: usize| Socket::new(address[side], address[1 - side], extra_header);
        Datagrams { ends: [0, 1].map(socket), delays: Times::default(), jitter: Jitter::default() }
    }

    /// The source writes a datagram.
    pub(super) fn send(&mut self, bytes: u32, host: &mut Host) {
        let now = host.net.now;
        self.ends[0].send(bytes, now, host);
    }

    /// A packet has come to one side.
    pub(super) fn up(&mut self, side: usize, packet: &Packet, net: &Net) {
        if let Some(delay) = self.ends[side].up(packet, net.now) {
            self.delays.take(delay);
            self.jitter.take(delay);
        }
    }

    pub(super) fn begin_measurement(&mut self) {
        self.delays.clear();
        let sent = [0, 1].map(|side| self.ends[side].counters().sent);
        for (end, sent) in self.ends.iter_mut().zip([sent[1], sent[0]]) {
            end.begin_measurement(sent);
        }
    }

    /// Payload bytes that have come to one side.
    pub(super) fn received(&self, side: usize) -> u64 {
        self.ends[side].counters().payload_received
    }

    pub(super) fn sample(&self) -> UdpSample {
        let [sender, receiver] = [0, 1].map(|side| self.ends[side].counters());
        UdpSample { sender, receiver, delays: self.delays.summary(), jitter: self.jitter }
    }
}
