//! The drop-tail queue of a FIFO link that knows its departure times.
//!
//! A FIFO link of known rate fixes each packet's departure when it enqueues the packet, so the queue is only the list
//! of future departures and costs no event. The packet being sent counts as queued, as in ns-2.

use std::collections::VecDeque;

use crate::hooks::Backlog;
use crate::units::{Bytes, Span, Time};

/// Capacity of a queue, including the packet being sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// A number of packets.
    Packets(u32),
    /// A number of bytes.
    Bytes(Bytes),
    /// No limit.
    Unlimited,
}

/// Departures to come, and the occupancy over time that follows from them.
#[derive(Clone, Debug)]
pub struct DropTail {
    /// Most packets and most bytes that it holds.
    most: (u32, u64),
    /// The largest packet so far, and the largest one known to leave room, when alone, for another one not larger than
    /// itself. Neither counts where bytes are not limited.
    largest: u32,
    alone: u32,
    /// Departures before the last one.
    departures: VecDeque<(Time, u32)>,
    /// The last departure, stored separately since most packets find the queue empty.
    last: (Time, u32),
    bytes: u64,
    held: u32,
    /// Sum of the times that packets accepted since the measurement began spend here; those present at its beginning
    /// count from then on. By Little's law it is the integral of the occupancy, less the time that is still to come.
    sojourns: u128,
    longest: u32,
    /// Time without room for another packet since the measurement began, and until when it is counted: what makes room is known
    /// when a packet fills the queue.
    full: Span,
    full_until: Time,
}

impl DropTail {
    /// An empty queue.
    #[must_use]
    pub fn new(limit: QueueLimit) -> DropTail {
        let last = (Time::ZERO, 0);
        let most = match limit {
            // One that takes no packets takes no bytes either, so that bytes alone decide where nothing waits.
            QueueLimit::Packets(packets) => (packets, if packets == 0 { 0 } else { u64::MAX }),
            QueueLimit::Bytes(bytes) => (u32::MAX, bytes.0),
            QueueLimit::Unlimited => (u32::MAX, u64::MAX),
        };
        let (largest, alone) = match limit {
            QueueLimit::Packets(packets) => (u32::MAX, if packets > 1 { u32::MAX } else { 0 }),
            QueueLimit::Bytes(_) => (0, 0),
            QueueLimit::Unlimited => (u32::MAX, u32::MAX),
        };
        DropTail {
            most,
            largest,
            alone,
            departures: VecDeque::new(),
            last,
            bytes: 0,
            held: 0,
            sojourns: 0,
            longest: 0,
            full: Span::ZERO,
            full_until: Time::ZERO,
        }
    }

    /// Removes what has departed by `now`.
    #[inline]
    pub fn advance(&mut self, now: Time) {
        if self.last.0 <= now {
            self.departures.clear();
            (self.held, self.bytes) = (0, 0);
            return;
        }
        while let Some(&(departure, size)) = self.departures.front()
            && departure <= now
        {
            self.departures.pop_front();
            self.held -= 1;
            self.bytes -= u64::from(size);
        }
    }

    /// Whether a packet of `size` fits now; call [`Self::advance`] first.
    #[must_use]
    #[inline]
    pub fn has_room(&self, size: Bytes) -> bool {
        self.held < self.most.0 && self.bytes + size.0 <= self.most.1
    }

    /// Whether a packet of `size` fits where everything before it has departed, and does not fill the queue.
    #[must_use]
    #[inline]
    pub fn has_room_alone(&self, size: Bytes) -> bool {
        size.0 <= u64::from(self.alone)
    }

    /// Adds a packet that takes this long to send, where everything before it has departed and it
    /// [has room](Self::has_room_alone).
    #[inline]
    pub fn push_alone(&mut self, departure: Time, time: Span, size: Bytes) {
        if !self.departures.is_empty() {
            self.departures.clear();
        }
        self.last = (departure, size.0 as u32);
        (self.held, self.bytes) = (1, size.0);
        self.sojourns += u128::from(time.0);
        if self.longest == 0 {
            self.longest = 1;
        }
    }

    /// Adds a packet now that departs at `departure`, after all others.
    #[inline]
    pub fn push(&mut self, now: Time, departure: Time, size: Bytes) {
        if self.held > 0 {
            self.departures.push_back(self.last);
        }
        self.last = (departure, size.0 as u32);
        self.held += 1;
        self.bytes += size.0;
        self.sojourns += u128::from(departure.0 - now.0);
        self.longest = self.longest.max(self.held);
        self.count_full(now, size);
    }

    /// Counts the time for which the packet of `size` that was added last leaves no room for another one.
    #[inline]
    fn count_full(&mut self, now: Time, size: Bytes) {
        if self.held >= self.most.0 {
            // It was not full before, and is not once the first one has left.
            self.full_until = self.departures.front().unwrap_or(&self.last).0;
            self.full += self.full_until.since(now);
        } else if self.bytes + u64::from(self.largest) > self.most.1 || size.0 > u64::from(self.largest) {
            self.count_full_in_bytes(now, size);
        }
    }

    /// The same where bytes are limited: until a packet as large as the largest fits. Another packet, or a larger one, only
    /// prolongs that.
    #[inline(never)]
    fn count_full_in_bytes(&mut self, now: Time, size: Bytes) {
        self.largest = self.largest.max(size.0 as u32);
        let brim = self.most.1 - u64::from(self.largest);
        self.alone = u64::from(self.largest).min(brim) as u32;
        let (mut bytes, mut until) = (self.bytes, now);
        for &(departure, size) in self.departures.iter().chain([&self.last]) {
            if bytes <= brim {
                break;
            }
            (bytes, until) = (bytes - u64::from(size), departure);
        }
        self.full += until.since(self.full_until.max(now));
        self.full_until = self.full_until.max(until);
    }

    /// For how long it has been empty at `now`; call [`Self::advance`] first.
    #[must_use]
    pub fn idle(&self, now: Time) -> Span {
        if self.held == 0 { now.since(self.last.0) } else { Span::ZERO }
    }

    /// Adds a packet now that takes this long to send, behind the first of at least two others. Returns when it
    /// departs; those behind it depart later by that time.
    pub fn push_second(&mut self, now: Time, time: Span, size: Bytes) -> Time {
        debug_assert!(self.held >= 2, "it would be the last");
        for (departure, _) in self.departures.iter_mut().skip(1) {
            *departure = *departure + time;
        }
        self.last.0 = self.last.0 + time;
        let departure = self.departures.front().map_or(now, |first| first.0) + time;
        self.departures.insert(1, (departure, size.0 as u32));
        self.sojourns += u128::from(departure.0 - now.0) + u128::from(time.0) * u128::from(self.held - 1);
        self.held += 1;
        self.bytes += size.0;
        self.longest = self.longest.max(self.held);
        self.count_full(now, size);
        departure
    }

    /// When the packet that was enqueued last departs.
    #[must_use]
    #[inline]
    pub fn last_departure(&self) -> Time {
        self.last.0
    }

    /// Packets held at the last advance or push.
    #[must_use]
    pub fn len(&self) -> usize {
        self.held as usize
    }

    /// Bytes held at the last advance or push.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Both.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        Backlog { packets: self.held, bytes: self.bytes }
    }

    /// Whether it holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// Time that the packets held at `now` will still spend here, summed.
    fn ahead(&self, now: Time) -> u128 {
        let departures = self.departures.iter().chain([&self.last]);
        departures.map(|(departure, _)| u128::from(departure.since(now).0)).sum()
    }

    /// Starts to measure at `now`.
    pub fn begin_measurement(&mut self, now: Time) {
        self.advance(now);
        self.sojourns = self.ahead(now);
        self.longest = self.held;
        self.full = self.full_until.since(now);
    }

    /// The time that packets have been held from the beginning of the measurement until `now`, in nanoseconds, summed.
    #[must_use]
    pub fn held_time(&self, now: Time) -> u128 {
        self.sojourns - self.ahead(now)
    }

    /// The time in which no other packet had room, from the beginning of the measurement until `now`. In a queue limited in
    /// bytes, that is room for one as large as the largest that it had taken.
    #[must_use]
    pub fn full_time(&self, now: Time) -> Span {
        self.full - self.full_until.since(now)
    }

    /// Most packets held since the measurement began.
    #[must_use]
    pub fn longest(&self) -> u32 {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_leaves_at_its_departure_and_makes_room() {
        let mut queue = DropTail::new(QueueLimit::Packets(2));
        for departure in [10, 20] {
            assert!(queue.has_room(Bytes(100)));
            queue.push(Time(0), Time(departure), Bytes(100));
        }
        queue.advance(Time(9));
        assert!(!queue.has_room(Bytes(100)));
        queue.advance(Time(10));
        assert!(queue.has_room(Bytes(100)));
    }

    #[test]
    fn it_is_idle_since_its_last_departure() {
        let mut queue = DropTail::new(QueueLimit::Unlimited);
        assert_eq!(queue.idle(Time(7)), Span(7));
        queue.push(Time(7), Time(20), Bytes(100));
        for (now, idle) in [(19, 0), (20, 0), (25, 5)] {
            queue.advance(Time(now));
            assert_eq!(queue.idle(Time(now)), Span(idle));
        }
    }

    #[test]
    fn a_packet_that_goes_ahead_delays_those_behind_it_by_its_own_time() {
        let mut queue = DropTail::new(QueueLimit::Unlimited);
        for departure in [10, 20, 30] {
            queue.push(Time(0), Time(departure), Bytes(100));
        }
        assert_eq!(queue.push_second(Time(5), Span(4), Bytes(40)), Time(14));
        let mut left = Vec::new();
        for now in 0..40 {
            let before = queue.len();
            queue.advance(Time(now));
            left.extend((queue.len() < before).then_some(now));
        }
        assert_eq!(left, [10, 14, 24, 34]);
        // 10, 24 and 34 from 0 on, and 9 from 5 on.
        assert_eq!(queue.held_time(Time(100)), 77);
        assert_eq!(queue.longest(), 4);
    }

    #[test]
    fn a_queue_in_bytes_counts_bytes() {
        let mut queue = DropTail::new(QueueLimit::Bytes(Bytes(250)));
        queue.push(Time(0), Time(10), Bytes(100));
        assert!(queue.has_room(Bytes(150)) && !queue.has_room(Bytes(151)));
    }

    #[test]
    fn the_mean_is_the_integral_over_time_wherever_it_is_read() {
        let mut queue = DropTail::new(QueueLimit::Unlimited);
        queue.push(Time(0), Time(10), Bytes(1));
        queue.push(Time(0), Time(30), Bytes(1));
        // Two packets for 10 ns, one for 20 ns, none for 70 ns.
        assert_eq!(queue.held_time(Time(100)), 40);
        assert_eq!(queue.held_time(Time(20)), 30);
        assert_eq!(queue.longest(), 2);
    }

    #[test]
    fn it_is_full_until_its_departures_make_room() {
        let mut queue = DropTail::new(QueueLimit::Packets(2));
        queue.push(Time(0), Time(10), Bytes(100));
        queue.push(Time(4), Time(20), Bytes(100));
        // What lies ahead does not count.
        assert_eq!(queue.full_time(Time(6)), Span(2));
        queue.advance(Time(15));
        queue.push(Time(15), Time(30), Bytes(100));
        queue.begin_measurement(Time(18));
        assert_eq!(queue.full_time(Time(19)), Span(1));
        assert_eq!(queue.full_time(Time(28)), Span(2));
    }

    #[test]
    fn a_packet_that_goes_ahead_leaves_it_full_for_longer() {
        let mut queue = DropTail::new(QueueLimit::Bytes(Bytes(300)));
        for (departure, size) in [(2, 20), (12, 100), (22, 100)] {
            queue.push(Time(0), Time(departure), Bytes(size));
        }
        assert_eq!(queue.full_time(Time(100)), Span(2));
        assert_eq!(queue.push_second(Time(1), Span(4), Bytes(40)), Time(6));
        assert_eq!(queue.full_time(Time(100)), Span(6));
    }

    #[test]
    fn a_measurement_that_begins_later_counts_from_then_on() {
        let mut queue = DropTail::new(QueueLimit::Unlimited);
        queue.push(Time(0), Time(10), Bytes(1));
        queue.push(Time(0), Time(30), Bytes(1));
        queue.begin_measurement(Time(20));
        assert_eq!(queue.held_time(Time(40)), 10);
        assert_eq!(queue.longest(), 1);
    }
}
