//! The two ends of a UDP flow, and the delays of its datagrams.
//!
//! A probe's receiving end answers each request once, with the same payload. The answer returns the number and the time
//! of the request, as that of `ping` does, so its delay at the requesting end is the round trip.

use lasthop_stack::packet::{Body, NodeId, Packet};
use lasthop_stack::transport::udp::Socket;

use super::{End, Host};
use crate::metrics::UdpSample;
use crate::net::Net;
use crate::probe::jitter::Jitter;
use crate::probe::spread::Times;

/// The end that sends, or asks.
const SENDER: usize = 0;
/// The end that receives, or answers.
const RECEIVER: usize = 1;

/// The sockets of the sending and the receiving end.
pub(super) struct Datagrams {
    ends: [Socket; 2],
    ports: [u16; 2],
    /// Whether the receiving end answers.
    is_probe: bool,
    /// Delays in the measured time.
    delays: Times,
    jitter: Jitter,
}

impl Datagrams {
    /// The ends at these addresses.
    pub(super) fn new(address: [(NodeId, u16); 2], extra_header: u16, is_probe: bool) -> Datagrams {
        let socket = |side: usize| Socket::new(address[side], address[1 - side], extra_header);
        Datagrams {
            ends: [0, 1].map(socket),
            ports: address.map(|(_, port)| port),
            is_probe,
            delays: Times::default(),
            jitter: Jitter::default(),
        }
    }

    /// The source writes a datagram.
    pub(super) fn send(&mut self, bytes: u32, host: &mut Host) {
        let now = host.net.now;
        self.ends[SENDER].send(bytes, now, host);
    }

    /// A packet has arrived at one side.
    pub(super) fn up(&mut self, side: usize, packet: &Packet, places: &[End; 2], net: &mut Net) {
        let Some(delay) = self.ends[side].up(packet, net.now) else { return };
        match (&packet.body, side) {
            (Body::Udp(request), RECEIVER) if self.is_probe => {
                self.ends[RECEIVER].answer(request, &mut Host { net, end: &places[RECEIVER] });
            }
            (_, SENDER) => net.round_trips[places[SENDER].trace_name as usize].take(delay),
            _ => {
                self.delays.take(delay);
                self.jitter.take(delay);
            }
        }
    }

    pub(super) fn begin_measurement(&mut self) {
        self.delays.clear();
        // Only the sending end numbers datagrams; an answer has the number of its request.
        let sent = self.ends[SENDER].counters().sent;
        for end in &mut self.ends {
            end.begin_measurement(sent);
        }
    }

    /// Payload bytes that one side has received.
    pub(super) fn received(&self, side: usize) -> u64 {
        self.ends[side].counters().payload_received
    }

    pub(super) fn sample(&self, net: &Net) -> UdpSample {
        let [sender, receiver] = [SENDER, RECEIVER].map(|side| self.ends[side].counters());
        let outstanding = if self.is_probe { self.outstanding(net) } else { 0 };
        UdpSample { sender, receiver, delays: self.delays.summary(), jitter: self.jitter, outstanding }
    }

    /// Requests of the measured time that have no answer yet, and are in transit or have one that is.
    fn outstanding(&self, net: &Net) -> u64 {
        let on_their_way = self.ports.iter().flat_map(|port| net.datagrams_for(*port));
        let asks = &self.ends[SENDER];
        let mut numbers: Vec<u32> = on_their_way
            .map(|datagram| datagram.number)
            .filter(|number| asks.is_measured(*number) && !asks.has(*number))
            .collect();
        // A slotted network may hold several copies of one.
        numbers.sort_unstable();
        numbers.dedup();
        numbers.len() as u64
    }
}
