//! How long a node waits before it sends again: the windows that load-adaptive retransmission is compared with.

use super::frame::SlotNo;
use crate::hooks::{Interval, Transmission, TransmissionOutcome};
use crate::registry::{IntervalKind, IntervalMachine};
use crate::schemes::load_adaptive::{self, LoadAdaptive};

/// What a scenario says of the interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalConfig {
    /// Its kind.
    pub kind: IntervalKind,
    /// Least wait, and lower end of every window, in slots.
    pub least: u32,
    /// Upper end of the window without failures, in slots.
    pub shortest: u32,
    /// Upper end of the widest window, in slots.
    pub longest: u32,
    /// What the load-adaptive window has beside these.
    pub history: load_adaptive::History,
}

impl IntervalConfig {
    /// The interval of one node.
    #[must_use]
    pub fn build(&self) -> IntervalMachine {
        let longest = self.longest.max(self.shortest);
        match self.kind {
            IntervalKind::Fixed => IntervalMachine::Fixed(Fixed { upper: self.shortest }),
            IntervalKind::Backoff => {
                IntervalMachine::Backoff(Backoff::new(self.least, self.shortest, longest))
            }
            IntervalKind::LoadAdaptive => {
                IntervalMachine::LoadAdaptive(LoadAdaptive::new(self.shortest, longest, self.history))
            }
        }
    }
}

/// A window that does not change: FRN's own.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    upper: u32,
}

impl Interval for Fixed {
    fn on_outcome(&mut self, _transmission: Transmission) {}

    fn upper(&mut self, _now: SlotNo) -> u32 {
        self.upper
    }
}

/// Binary exponential backoff: the number of slots in the window doubles with each failure, and a success resets it.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    least: u32,
    shortest: u32,
    longest: u32,
    upper: u32,
}

impl Backoff {
    fn new(least: u32, shortest: u32, longest: u32) -> Backoff {
        Backoff { least, shortest, longest, upper: shortest }
    }
}

impl Interval for Backoff {
    fn on_outcome(&mut self, transmission: Transmission) {
        self.upper = match transmission.outcome {
            TransmissionOutcome::Passed => self.shortest,
            TransmissionOutcome::Failed => {
                let slots = self.upper - self.least + 1;
                self.longest.min(self.least - 1 + 2 * slots)
            }
        };
    }

    fn upper(&mut self, _now: SlotNo) -> u32 {
        self.upper
    }
}

impl Interval for IntervalMachine {
    #[inline]
    fn on_outcome(&mut self, transmission: Transmission) {
        match self {
            IntervalMachine::Fixed(interval) => interval.on_outcome(transmission),
            IntervalMachine::Backoff(interval) => interval.on_outcome(transmission),
            IntervalMachine::LoadAdaptive(interval) => interval.on_outcome(transmission),
        }
    }

    #[inline]
    fn upper(&mut self, now: SlotNo) -> u32 {
        match self {
            IntervalMachine::Fixed(interval) => interval.upper(now),
            IntervalMachine::Backoff(interval) => interval.upper(now),
            IntervalMachine::LoadAdaptive(interval) => interval.upper(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::slotted::PacketId;
    use crate::packet::NodeId;

    fn ended(outcome: TransmissionOutcome) -> Transmission {
        Transmission { packet: PacketId::default(), to: NodeId(1), at: SlotNo(0), outcome }
    }

    fn interval(kind: IntervalKind) -> IntervalMachine {
        let history = load_adaptive::History { entries: 10, expiry: None, saturation: 1.0 };
        IntervalConfig { kind, least: 3, shortest: 5, longest: 17, history }.build()
    }

    #[test]
    fn a_fixed_window_stays() {
        let mut fixed = interval(IntervalKind::Fixed);
        fixed.on_outcome(ended(TransmissionOutcome::Failed));
        assert_eq!(fixed.upper(SlotNo(9)), 5);
    }

    #[test]
    fn backoff_doubles_three_slots_to_six_and_twelve_stops_at_the_longest_and_is_reset() {
        let mut backoff = interval(IntervalKind::Backoff);
        let mut after = |outcome| {
            backoff.on_outcome(ended(outcome));
            backoff.upper(SlotNo(0))
        };
        // From 3 on, six slots end at 8, twelve at 14, twenty-four beyond 17.
        assert_eq!([(); 4].map(|()| after(TransmissionOutcome::Failed)), [8, 14, 17, 17]);
        assert_eq!(after(TransmissionOutcome::Passed), 5);
    }

    #[test]
    fn a_longest_window_below_the_shortest_counts_for_nothing() {
        let history = load_adaptive::History { entries: 10, expiry: None, saturation: 1.0 };
        for kind in IntervalKind::ALL {
            let config = IntervalConfig { kind: *kind, least: 3, shortest: 9, longest: 5, history };
            let mut interval = config.build();
            interval.on_outcome(ended(TransmissionOutcome::Failed));
            assert_eq!(interval.upper(SlotNo(1)), 9);
        }
    }
}
