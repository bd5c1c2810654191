//! UDP: datagrams out, datagrams counted in (RFC 768).

use crate::hooks::Out;
use crate::packet::{Body, Datagram, NodeId, Packet};
use crate::units::{Span, Time};

/// One end of a UDP flow.
#[derive(Clone, Debug)]
pub struct Socket {
    local: (NodeId, u16),
    remote: (NodeId, u16),
    extra_header: u16,
    counters: Counters,
}

/// What a socket has sent and received. All but `delay_max` only grow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams received.
    pub received: u64,
    /// Payload bytes received.
    pub payload_received: u64,
    /// Bytes of IP packets received.
    pub bytes_received: u64,
    /// Sum of the delays of the received datagrams.
    pub delay_sum: Span,
    /// The longest since the measurement began.
    pub delay_max: Span,
}

impl Socket {
    /// A socket between two ports.
    #[must_use]
    pub fn new(local: (NodeId, u16), remote: (NodeId, u16), extra_header: u16) -> Socket {
        Socket { local, remote, extra_header, counters: Counters::default() }
    }

    /// Sends a datagram of `len` payload bytes.
    pub fn send(&mut self, len: u32, now: Time, out: &mut impl Out) {
        self.counters.sent += 1;
        let datagram = Datagram { src_port: self.local.1, dst_port: self.remote.1, len, made: now };
        out.down(Packet {
            src: self.local.0,
            dst: self.remote.0,
            extra_header: self.extra_header,
            body: Body::Udp(datagram),
        });
    }

    /// A packet arrived from below.
    pub fn up(&mut self, packet: &Packet, now: Time) {
        let Body::Udp(datagram) = &packet.body else {
            return;
        };
        let delay = now.since(datagram.made);
        self.counters.received += 1;
        self.counters.payload_received += u64::from(datagram.len);
        self.counters.bytes_received += packet.size().0;
        self.counters.delay_sum += delay;
        self.counters.delay_max = self.counters.delay_max.max(delay);
    }

    /// What it has done so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Starts the interval over which maxima are taken.
    pub fn begin_measurement(&mut self) {
        self.counters.delay_max = Span::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::{Note, Timer};

    #[derive(Default)]
    struct Wire(Vec<Packet>);

    impl Out for Wire {
        fn down(&mut self, packet: Packet) {
            self.0.push(packet);
        }
        fn set(&mut self, _: Timer, _: Time) {}
        fn cancel(&mut self, _: Timer) {}
        fn is_watching(&self) -> bool {
            false
        }
        fn note(&mut self, _: Note) {}
        fn measured(&mut self, _: Span, _: Span, _: Span) {}
    }

    #[test]
    fn a_datagram_carries_its_payload_headers_and_the_time_it_was_made() {
        let (here, there) = ((NodeId(0), 7), (NodeId(1), 9));
        let (mut sender, mut receiver) = (Socket::new(here, there, 0), Socket::new(there, here, 0));
        let mut wire = Wire::default();
        sender.send(500, Time(1_000), &mut wire);
        receiver.up(&wire.0[0], Time(4_000));
        let counters = receiver.counters();
        assert_eq!((counters.payload_received, counters.bytes_received), (500, 528));
        assert_eq!((counters.delay_max, sender.counters().sent), (Span(3_000), 1));
    }
}
