//! Queue length over time, for queues whose departures are not known in advance.

use lasthop_stack::units::{Span, Time};

/// The occupancy of a queue. Its integral only grows, so that differences measure an interval.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Occupancy {
    held: u32,
    /// When the number held last changed.
    since: Time,
    /// Packet nanoseconds up to then.
    integral: u128,
    longest: u32,
}

impl Occupancy {
    /// Sets the number held, from now on.
    #[inline]
    pub(crate) fn hold(&mut self, held: u32, now: Time) {
        if held == self.held {
            return;
        }
        self.advance(now);
        self.held = held;
        self.longest = self.longest.max(held);
    }

    fn advance(&mut self, now: Time) {
        self.integral += u128::from(self.held) * u128::from(now.since(self.since).0);
        self.since = now;
    }

    /// The maximum restarts from the present number.
    pub(crate) fn begin_measurement(&mut self) {
        self.longest = self.held;
    }

    /// The same, brought up to now.
    pub(crate) fn up_to(mut self, now: Time) -> Occupancy {
        self.advance(now);
        self
    }

    /// The mean between two samples; 0 if they are simultaneous.
    pub(crate) fn mean_since(&self, begin: &Occupancy) -> f64 {
        let span = self.since.since(begin.since);
        if span == Span::ZERO { 0.0 } else { (self.integral - begin.integral) as f64 / span.0 as f64 }
    }

    /// Most packets held since the measurement began.
    pub(crate) fn longest(&self) -> u32 {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_over_time_and_the_longest_is_of_the_measured_time() {
        let mut queue = Occupancy::default();
        queue.hold(9, Time(10));
        queue.hold(2, Time(20));
        queue.begin_measurement();
        let begin = queue.up_to(Time(30));
        assert_eq!(begin.mean_since(&begin), 0.0);
        queue.hold(4, Time(40));
        queue.hold(0, Time(50));
        // 2 for 10 ns, 4 for 10 ns, 0 for 20 ns.
        assert_eq!(queue.up_to(Time(70)).mean_since(&begin), 1.5);
        assert_eq!(queue.longest(), 4);
    }
}
