//! A flow between programs outside: its packets arrive at bound nodes, which hand them over.

use lasthop_stack::packet::Packet;
use lasthop_stack::transport::udp::UdpCounters;
use lasthop_stack::units::{Bytes, Span};

use crate::metrics::UdpSample;
use crate::net::Net;
use crate::probe::jitter::Jitter;
use crate::probe::spread::Times;

/// What has arrived in each direction.
#[derive(Default)]
pub(super) struct Outer {
    ways: [Arrived; 2],
}

#[derive(Default)]
struct Arrived {
    counters: UdpCounters,
    /// Times that packets spent in the network.
    delays: Times,
    jitter: Jitter,
}

impl Outer {
    /// A packet of this length has arrived at one side.
    pub(super) fn up(&mut self, side: usize, packet: &Packet, length: Bytes, net: &mut Net) {
        let Some(outside) = &mut net.outside else { return };
        let Arrived { counters, delays, jitter } = &mut self.ways[1 - side];
        counters.received += 1;
        counters.received_of_measured += 1;
        counters.payload_received += u64::from(packet.payload());
        counters.bytes_received += length.0;
        // A packet that an agent made has not come from outside.
        if let Some(content) = outside.contents.get(packet.id) {
            let delay = net.now.since(content.entered);
            counters.delay_sum += delay;
            counters.delay_max = counters.delay_max.max(delay);
            delays.take(delay);
            jitter.take(delay);
        }
        outside.arrived.push_back((packet.dst, *packet, net.now));
    }

    pub(super) fn begin_measurement(&mut self) {
        for way in &mut self.ways {
            way.delays.clear();
            way.counters.received_of_measured = 0;
            way.counters.delay_max = Span::ZERO;
        }
    }

    /// Payload bytes that one side has received.
    pub(super) fn received(&self, side: usize) -> u64 {
        self.ways[1 - side].counters.payload_received
    }

    pub(super) fn sample(&self, direction: usize, sent: u64) -> UdpSample {
        let Arrived { counters, delays, jitter } = &self.ways[direction];
        let sender = UdpCounters { sent, ..UdpCounters::default() };
        UdpSample { sender, receiver: *counters, delays: delays.summary(), jitter: *jitter, outstanding: 0 }
    }
}
