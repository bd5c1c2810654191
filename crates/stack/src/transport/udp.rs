//! UDP: datagrams out, datagrams counted in (RFC 768).
//!
//! A network may duplicate and reorder datagrams. Each is counted once, when it first arrives; duplicates are counted
//! separately. UDP has no numbers for that: they belong to the simulation, and cost no bytes on the way.

use std::collections::VecDeque;

use crate::hooks::Out;
use crate::packet::{Body, Datagram, NodeId, Packet};
use crate::units::{Span, Time};

/// One end of a UDP flow.
#[derive(Clone, Debug)]
pub struct Socket {
    local: (NodeId, u16),
    remote: (NodeId, u16),
    extra_header: u16,
    seen: Seen,
    /// The first datagram sent in the measured time.
    first_measured: u32,
    counters: UdpCounters,
}

/// Which datagrams have arrived, by their numbers: a bit for each, from the first that is missing.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// Words before those held: all of their datagrams have arrived.
    whole: u32,
    words: VecDeque<u64>,
}

impl Seen {
    /// Whether this number has arrived.
    fn has(&self, number: u32) -> bool {
        let Some(place) = (number / u64::BITS).checked_sub(self.whole) else { return true };
        self.words.get(place as usize).is_some_and(|word| word >> (number % u64::BITS) & 1 == 1)
    }

    /// Records a number. Returns whether it is new.
    fn insert(&mut self, number: u32) -> bool {
        let Some(place) = (number / u64::BITS).checked_sub(self.whole) else { return false };
        let place = place as usize;
        if place >= self.words.len() {
            self.words.resize(place + 1, 0);
        }
        let bit = 1 << (number % u64::BITS);
        let is_new = self.words[place] & bit == 0;
        self.words[place] |= bit;
        while self.words.front() == Some(&u64::MAX) {
            self.words.pop_front();
            self.whole += 1;
        }
        is_new
    }
}

/// The counters of a socket. All but `received_of_measured` and `delay_max` only grow.
#[derive(Clone, Copy, Debug, Default)]
pub struct UdpCounters {
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams received, each counted once, as in all that follows except for the bytes of packets.
    pub received: u64,
    /// Those of them that were sent since the measurement began.
    pub received_of_measured: u64,
    /// Duplicate datagrams received.
    pub duplicates: u64,
    /// Payload bytes received.
    pub payload_received: u64,
    /// Bytes of IP packets received, duplicates included.
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
        let (seen, counters) = (Seen::default(), UdpCounters::default());
        Socket { local, remote, extra_header, seen, first_measured: 0, counters }
    }

    /// Sends a datagram of `len` payload bytes.
    pub fn send(&mut self, len: u32, now: Time, out: &mut impl Out) {
        let number = self.counters.sent as u32;
        self.counters.sent += 1;
        let datagram = Datagram { src_port: self.local.1, dst_port: self.remote.1, len, number, made: now };
        out.down(self.packet(datagram));
    }

    /// Answers a datagram with one that carries the same payload back: its number and the time at which it was made too.
    pub fn answer(&mut self, datagram: &Datagram, out: &mut impl Out) {
        self.counters.sent += 1;
        let answer = Datagram { src_port: self.local.1, dst_port: self.remote.1, ..*datagram };
        out.down(self.packet(answer));
    }

    fn packet(&self, datagram: Datagram) -> Packet {
        let packet = Packet::new(self.local.0, self.remote.0, Body::Udp(datagram));
        Packet { extra_header: self.extra_header, ..packet }
    }

    /// Whether the datagram of this number has arrived.
    #[must_use]
    pub fn has(&self, number: u32) -> bool {
        self.seen.has(number)
    }

    /// A packet arrived from below. Returns the delay of a datagram that arrives for the first time.
    pub fn up(&mut self, packet: &Packet, now: Time) -> Option<Span> {
        let Body::Udp(datagram) = &packet.body else { return None };
        self.counters.bytes_received += packet.size().0;
        if !self.seen.insert(datagram.number) {
            self.counters.duplicates += 1;
            return None;
        }
        let delay = now.since(datagram.made);
        self.counters.received += 1;
        self.counters.received_of_measured += u64::from(self.is_measured(datagram.number));
        self.counters.payload_received += u64::from(datagram.len);
        self.counters.delay_sum += delay;
        self.counters.delay_max = self.counters.delay_max.max(delay);
        Some(delay)
    }

    /// Its counters.
    #[must_use]
    pub fn counters(&self) -> UdpCounters {
        self.counters
    }

    /// Whether a datagram of this number was made in the measured time.
    #[must_use]
    pub fn is_measured(&self, number: u32) -> bool {
        number >= self.first_measured
    }

    /// Starts the interval over which maxima are taken. Before it the other end has sent this many datagrams; those
    /// that follow are counted separately.
    pub fn begin_measurement(&mut self, sent_before: u64) {
        self.first_measured = sent_before as u32;
        self.counters.received_of_measured = 0;
        self.counters.delay_max = Span::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::Timer;

    #[derive(Default)]
    struct Wire(Vec<Packet>);

    impl Out for Wire {
        fn down(&mut self, packet: Packet) {
            self.0.push(packet);
        }
        fn set(&mut self, _: Timer, _: Time) {}
        fn cancel(&mut self, _: Timer) {}
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

    #[test]
    fn an_answer_carries_the_number_and_the_time_of_what_it_answers_back() {
        let (here, there) = ((NodeId(0), 7), (NodeId(1), 9));
        let (mut sender, mut receiver) = (Socket::new(here, there, 0), Socket::new(there, here, 20));
        let mut wire = Wire::default();
        sender.send(56, Time(500), &mut wire);
        sender.send(56, Time(1_000), &mut wire);
        let Body::Udp(request) = wire.0[1].body else { panic!("a datagram") };
        receiver.answer(&request, &mut wire);
        let answer = &wire.0[2];
        assert_eq!((answer.src, answer.dst, answer.ports()), (NodeId(1), NodeId(0), (9, 7)));
        assert_eq!(answer.size().0, 56 + 28 + 20, "with the header of the end that answers");
        assert!(!sender.has(0) && !sender.has(1) && !sender.has(640));
        // Its delay at the end that asked is the round trip.
        assert_eq!(sender.up(answer, Time(4_000)), Some(Span(3_000)));
        assert!(!sender.has(0) && sender.has(1));
    }

    #[test]
    fn a_datagram_that_comes_again_is_a_duplicate_and_nothing_else() {
        let (here, there) = ((NodeId(0), 7), (NodeId(1), 9));
        let (mut sender, mut receiver) = (Socket::new(here, there, 0), Socket::new(there, here, 0));
        let mut wire = Wire::default();
        for number in 0..300 {
            sender.send(100, Time(number), &mut wire);
        }
        receiver.begin_measurement(100);
        // Backwards, every third never, every second twice.
        for number in (0..300).rev().filter(|number| number % 3 > 0) {
            for _ in 0..=number % 2 {
                receiver.up(&wire.0[number], Time(1_000 + number as u64));
            }
        }
        let counters = receiver.counters();
        assert_eq!((counters.received, counters.duplicates, counters.received_of_measured), (200, 100, 134));
        assert_eq!((counters.payload_received, counters.bytes_received), (20_000, 300 * 128));
        assert_eq!(counters.delay_sum, Span(200 * 1_000));
    }

    #[test]
    fn what_is_kept_of_datagrams_that_all_come_does_not_grow() {
        let mut seen = Seen::default();
        for number in 0..100_000 {
            // Neighbours change places.
            assert!(seen.insert(number ^ 1));
            assert!(!seen.insert(number ^ 1));
            assert!(seen.has(number ^ 1) && !seen.has(number + 2));
        }
        assert!(seen.words.capacity() < 8, "{}", seen.words.capacity());
    }
}
