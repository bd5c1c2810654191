//! One direction of a wired link: a rate and a drop-tail queue.

use super::queue::{DropTail, QueueLimit};
use super::transmitter::Transmitter;
use crate::units::{Bytes, Rate, Span, Time};

/// One direction of a wired link.
#[derive(Clone, Debug)]
pub struct Wired {
    rate: Rate,
    queue: DropTail,
    busy_until: Time,
    sending: Span,
    /// The size of the last packet and its time, as most packets of a direction are of one size.
    last: (Bytes, Span),
    /// When it waits though something is queued, of the time to come.
    pauses: Vec<(Time, Time)>,
}

impl Wired {
    /// An idle link.
    #[must_use]
    pub fn new(rate: Rate, limit: QueueLimit) -> Wired {
        let queue = DropTail::new(limit);
        Wired {
            rate,
            queue,
            busy_until: Time::ZERO,
            sending: Span::ZERO,
            last: (Bytes::ZERO, Span::ZERO),
            pauses: Vec::new(),
        }
    }

    #[inline]
    fn time_of(&mut self, size: Bytes) -> Span {
        if size == self.last.0 { self.last.1 } else { self.take_time(size) }
    }

    /// The time of a packet of another size than the one before. Not inlined: it would be computed for every packet ahead.
    #[inline(never)]
    fn take_time(&mut self, size: Bytes) -> Span {
        self.last = (size, size.time_at(self.rate));
        self.last.1
    }
}

impl Transmitter for Wired {
    #[expect(
        clippy::inline_always,
        reason = "once for each packet and link; a call costs as much as what it does"
    )]
    #[inline(always)]
    fn offer(&mut self, size: Bytes, now: Time) -> Option<Time> {
        // Most packets find nothing waiting: then it is clear at once what the queue holds.
        if self.busy_until <= now && self.queue.has_room_alone(size) {
            let time = self.time_of(size);
            self.busy_until = now + time;
            self.sending += time;
            self.queue.push_alone(self.busy_until, time, size);
            return Some(self.busy_until);
        }
        self.queue.advance(now);
        if !self.queue.has_room(size) {
            return None;
        }
        let time = self.time_of(size);
        self.busy_until = self.busy_until.max(now) + time;
        self.sending += time;
        self.queue.push(now, self.busy_until, size);
        Some(self.busy_until)
    }

    fn offer_ahead(&mut self, size: Bytes, now: Time) -> Option<(Time, Span)> {
        self.queue.advance(now);
        let is_paused = self.pauses.iter().any(|pause| pause.1 > now);
        if self.queue.len() < 2 || is_paused || !self.queue.has_room(size) {
            return self.offer(size, now).map(|departure| (departure, Span::ZERO));
        }
        let time = size.time_at(self.rate);
        self.last = (size, time);
        self.busy_until = self.busy_until + time;
        self.sending += time;
        Some((self.queue.push_second(now, time, size), time))
    }

    #[inline]
    fn ready_at(&self, now: Time) -> Time {
        self.busy_until.max(now)
    }

    #[inline]
    fn queue(&self) -> &DropTail {
        &self.queue
    }

    #[inline]
    fn queue_mut(&mut self) -> &mut DropTail {
        &mut self.queue
    }

    #[inline]
    fn began(&self, departure: Time) -> Time {
        Time(departure.0 - self.last.1.0)
    }

    /// That of all accepted packets, less what is still to be sent.
    fn busy(&self, now: Time) -> Span {
        let ahead = |from: Time, to: Time| to.since(from.max(now));
        let paused: u64 = self.pauses.iter().map(|pause| ahead(pause.0, pause.1).0).sum();
        self.sending - Span(self.busy_until.since(now).0 - paused)
    }

    fn wait_until(&mut self, at: Time, now: Time) {
        let begins = self.ready_at(now);
        if at > begins {
            self.pauses.retain(|pause| pause.1 > now);
            self.pauses.push((begins, at));
            self.busy_until = at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_one_after_the_other_at_the_rate() {
        let mut link = Wired::new(Rate(8_000_000), QueueLimit::Packets(2));
        assert_eq!(link.offer(Bytes(1000), Time(0)), Some(Time(1_000_000)));
        assert_eq!(link.offer(Bytes(1000), Time(500_000)), Some(Time(2_000_000)));
        assert_eq!(link.offer(Bytes(1000), Time(600_000)), None);
        assert_eq!(link.offer(Bytes(1000), Time(1_000_000)), Some(Time(3_000_000)));
    }

    #[test]
    fn a_packet_that_is_alone_is_taken_as_one_that_waits() {
        for limit in [QueueLimit::Packets(0), QueueLimit::Bytes(Bytes(999))] {
            let mut link = Wired::new(Rate(8_000_000), limit);
            assert_eq!(link.offer(Bytes(1000), Time(0)), None);
        }
        let mut link = Wired::new(Rate(8_000_000), QueueLimit::Packets(2));
        link.offer(Bytes(1000), Time(0));
        link.offer(Bytes(500), Time(0));
        // Both have departed, and neither was seen to.
        assert_eq!(link.offer(Bytes(1000), Time(2_000_000)), Some(Time(3_000_000)));
        assert_eq!((link.queue().len(), link.queue().bytes(), link.queue().longest()), (1, 1000, 2));
        // 1 ms, 1.5 ms and 1 ms of 4.
        assert_eq!(link.queue().held_time(Time(4_000_000)), 3_500_000);
        assert_eq!(link.busy(Time(4_000_000)), Span(2_500_000));
    }

    #[test]
    fn a_packet_that_goes_ahead_is_behind_the_one_being_sent_and_no_other() {
        let mut link = Wired::new(Rate(8_000_000), QueueLimit::Packets(4));
        let none = Span::ZERO;
        assert_eq!(link.offer_ahead(Bytes(1000), Time(0)), Some((Time(1_000_000), none)));
        assert_eq!(link.offer_ahead(Bytes(1000), Time(0)), Some((Time(2_000_000), none)));
        assert_eq!(link.offer(Bytes(1000), Time(0)), Some(Time(3_000_000)));
        let ahead = link.offer_ahead(Bytes(500), Time(100));
        assert_eq!(ahead, Some((Time(1_500_000), Span(500_000))));
        assert_eq!(link.offer_ahead(Bytes(500), Time(100)), None);
        assert_eq!(link.ready_at(Time(100)), Time(3_500_000));
        assert_eq!(link.busy(Time(1_200_000)), Span(1_200_000));
        link.wait_until(Time(9_000_000), Time(1_200_000));
        assert_eq!(link.offer_ahead(Bytes(1000), Time(1_600_000)), Some((Time(10_000_000), none)));
    }

    #[test]
    fn the_time_without_room_is_that_of_the_instants_at_which_no_packet_would_be_taken() {
        let limits = [1, 2, 3].map(QueueLimit::Packets);
        let in_bytes = [5, 9, 14].map(|bytes| QueueLimit::Bytes(Bytes(bytes)));
        for limit in limits.into_iter().chain(in_bytes).chain([QueueLimit::Unlimited]) {
            // A byte lasts for a nanosecond.
            let mut link = Wired::new(Rate(8_000_000_000), limit);
            let (mut random, mut largest, mut full) = (1_u32, 0, 0);
            for now in 0..4_000 {
                if now == 1_000 {
                    link.queue_mut().begin_measurement(Time(now));
                    full = 0;
                }
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // No larger ones at first; now and then bursts.
                let size = Bytes(1 + u64::from(random >> 28) % if now < 500 { 3 } else { 5 });
                let offers = if (random >> 16) % 8 < 2 { (random >> 20) % 3 } else { 0 };
                for offer in 0..offers {
                    let taken = if offer == 1 {
                        link.offer_ahead(size, Time(now)).is_some()
                    } else {
                        link.offer(size, Time(now)).is_some()
                    };
                    largest = if taken { size.0.max(largest) } else { largest };
                }
                let queue = link.queue_at(Time(now));
                full += u64::from(match limit {
                    QueueLimit::Packets(packets) => queue.len() >= packets as usize,
                    QueueLimit::Bytes(bytes) => queue.bytes() + largest > bytes.0,
                    QueueLimit::Unlimited => false,
                });
                assert_eq!(queue.full_time(Time(now + 1)), Span(full), "{limit:?} {now}");
            }
            assert_eq!(full > 0, limit != QueueLimit::Unlimited, "{limit:?}");
        }
    }

    #[test]
    fn the_time_spent_sending_leaves_out_what_is_still_queued() {
        let mut link = Wired::new(Rate(8_000_000), QueueLimit::Unlimited);
        link.offer(Bytes(1000), Time(0));
        link.offer(Bytes(1000), Time(0));
        assert_eq!(link.busy(Time(1_500_000)), Span(1_500_000));
        assert_eq!(link.busy(Time(9_000_000)), Span(2_000_000));
    }

    #[test]
    fn a_pause_is_no_time_spent_sending() {
        let mut link = Wired::new(Rate(8_000_000), QueueLimit::Unlimited);
        link.offer(Bytes(1000), Time(0));
        link.wait_until(Time(5_000_000), Time(0));
        assert_eq!(link.offer(Bytes(1000), Time(0)), Some(Time(6_000_000)));
        let busy =
            [500_000, 1_000_000, 3_000_000, 5_000_000, 5_500_000, 9_000_000].map(|at| link.busy(Time(at)).0);
        assert_eq!(busy, [500_000, 1_000_000, 1_000_000, 1_000_000, 1_500_000, 2_000_000]);
    }
}
