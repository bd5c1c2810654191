//! Two ends of a TCP connection with CUBIC over a wire that loses one packet in a hundred.
//!
//!     cargo run --release -p lasthop-stack --example two_ends

use std::collections::VecDeque;

use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::link::transmitter::Transmitter;
use lasthop_stack::link::wired::Wired;
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::registry::tcp::{Connection, Endpoint, Profile, Role};
use lasthop_stack::registry::{CongestionKind, Parts, RecoveryKind};
use lasthop_stack::units::{Rate, SeqNo, Span, Time};
use lasthop_stack::wire;

const FILE: u64 = 5_000_000;
const RATE: Rate = Rate(10_000_000);
const DELAY: Span = Span::from_millis(20);
const LOST_IN_A_HUNDRED: u32 = 1;

/// One direction of the wire: a drop-tail queue at its head, and what is under way in it, as bytes.
struct Wire {
    line: Wired,
    flying: VecDeque<(Time, Vec<u8>)>,
    random: u32,
}

impl Wire {
    fn new(random: u32) -> Wire {
        Wire { line: Wired::new(RATE, QueueLimit::Packets(50)), flying: VecDeque::new(), random }
    }

    fn send(&mut self, packet: &Packet, now: Time) {
        let Some(departure) = self.line.offer(packet.size(), now) else { return };
        // Numerical Recipes' linear congruential generator: good enough for one example.
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if self.random / (u32::MAX / 100) >= LOST_IN_A_HUNDRED {
            let mut bytes = vec![0; packet.size().0 as usize];
            wire::write(packet, 0, &mut bytes).expect("a connection sends nothing else");
            self.flying.push_back((departure + DELAY, bytes));
        }
    }

    fn arrived(&mut self, now: Time) -> Option<Vec<u8>> {
        let is_due = self.flying.front().is_some_and(|(at, _)| *at <= now);
        if is_due { self.flying.pop_front().map(|(_, bytes)| bytes) } else { None }
    }
}

/// Sends the file and returns the goodput in bits a second and the number of retransmissions.
fn transfer() -> (f64, u64) {
    let config = Profile::Modern.with(Parts::new(RecoveryKind::Sack, CongestionKind::Cubic.config()));
    let (client, server) = ((NodeId(0), 5_000), (NodeId(1), 80));
    let opens = Connection::new(&config, Role::Active, client, server, SeqNo(1));
    let answers = Connection::new(&config, Role::Passive, server, client, SeqNo(2));
    let mut ends = [Endpoint::new(opens), Endpoint::new(answers)];
    let mut wires = [Wire::new(1), Wire::new(2)];
    let mut now = Time::ZERO;
    ends[0].act(|tcp, out| {
        tcp.open(now, out);
        tcp.write(FILE, now, out);
        tcp.close(now, out);
    });
    while !ends.iter().all(|end| end.connection().is_done()) {
        for (end, wire) in ends.iter_mut().zip(&mut wires) {
            while let Some(packet) = end.poll_transmit() {
                wire.send(&packet, now);
            }
        }
        let timeouts = ends.iter().filter_map(Endpoint::poll_timeout);
        let arrivals = wires.iter().filter_map(|wire| wire.flying.front().map(|(at, _)| *at));
        now = timeouts.chain(arrivals).min().expect("an end that is not done waits for something");
        for (from, wire) in wires.iter_mut().enumerate() {
            while let Some(bytes) = wire.arrived(now) {
                let (packet, _payload) = wire::parse(&bytes, now).expect("the wire changes no bit");
                ends[1 - from].on_packet(&packet, now);
            }
            ends[from].on_timeout(now);
        }
    }
    let counters = ends[0].act(|tcp, _| tcp.counters(now));
    (8.0 * FILE as f64 / now.as_secs(), counters.retransmits)
}

fn main() {
    let (goodput_bps, retransmits) = transfer();
    println!("goodput {:.2} Mbit/s, {retransmits} retransmissions", goodput_bps / 1e6);
}

#[test]
fn the_file_arrives_and_the_window_of_cubic_bears_the_losses() {
    let (goodput_bps, retransmits) = transfer();
    // Reno's window by the square-root formula would be 12 segments: 3.6 Mbit/s.
    assert!(goodput_bps > 2e6 && goodput_bps < RATE.0 as f64, "{goodput_bps}");
    assert!((20..70).contains(&retransmits), "{retransmits} of 3 454 segments");
}
