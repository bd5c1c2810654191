//! One direction of a wired link: a rate and a drop-tail queue.

use super::queue::{DropTail, QueueLimit};
use crate::units::{Bytes, Rate, Span, Time};

/// One direction of a wired link.
#[derive(Clone, Debug)]
pub struct Wired {
    rate: Rate,
    queue: DropTail,
    busy_until: Time,
    sending: Span,
    drops: u64,
    /// The size of the last packet and its time, as most packets of a direction are of one size.
    last: (Bytes, Span),
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
            drops: 0,
            last: (Bytes::ZERO, Span::ZERO),
        }
    }

    /// When a packet that is taken in now begins to leave.
    #[must_use]
    pub fn begins(&self, now: Time) -> Time {
        self.busy_until.max(now)
    }

    /// Sends nothing before this time.
    pub fn wait_until(&mut self, at: Time) {
        self.busy_until = self.busy_until.max(at);
    }

    /// How long the packet took to send that was taken in last.
    #[must_use]
    pub fn last_time(&self) -> Span {
        self.last.1
    }

    /// Accepts a packet of `size` and returns when its last bit leaves, or `None` if the queue is full.
    #[inline]
    pub fn offer(&mut self, size: Bytes, now: Time) -> Option<Time> {
        self.queue.advance(now);
        if !self.queue.has_room(size) {
            self.drops += 1;
            return None;
        }
        if size != self.last.0 {
            self.last = (size, size.time_at(self.rate));
        }
        let time = self.last.1;
        self.busy_until = self.busy_until.max(now) + time;
        self.sending += time;
        self.queue.push(now, self.busy_until, size);
        Some(self.busy_until)
    }

    /// The queue.
    #[must_use]
    pub fn queue(&self) -> &DropTail {
        &self.queue
    }

    /// Packets refused by the full queue.
    #[must_use]
    pub fn drops(&self) -> u64 {
        self.drops
    }

    /// Time spent sending up to `now`: that of all accepted packets, less what is still to be sent.
    #[must_use]
    pub fn busy(&self, now: Time) -> Span {
        self.sending - self.busy_until.since(now)
    }

    /// Starts to measure the queue at `now`.
    pub fn begin_measurement(&mut self, now: Time) {
        self.queue.begin_measurement(now);
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
        assert_eq!(link.drops(), 1);
    }

    #[test]
    fn the_time_spent_sending_leaves_out_what_is_still_queued() {
        let mut link = Wired::new(Rate(8_000_000), QueueLimit::Unlimited);
        link.offer(Bytes(1000), Time(0));
        link.offer(Bytes(1000), Time(0));
        assert_eq!(link.busy(Time(1_500_000)), Span(1_500_000));
        assert_eq!(link.busy(Time(9_000_000)), Span(2_000_000));
    }
}
