//! Fixed, backoff and blind retransmission windows, for comparison with load-adaptive retransmission.

use crate::hooks::{Interval, SlotNo, Transmission, TransmissionOutcome};

/// The bounds of the windows from which waits are drawn, in slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Minimum wait and lower end of every window.
    pub least: u32,
    /// Upper end of the window without failures.
    pub shortest: u32,
    /// Upper end of the widest window.
    pub longest: u32,
}

/// A constant window, as in FRN itself.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    upper: u32,
}

impl Fixed {
    /// Always uses the shortest window.
    #[must_use]
    pub fn new(windows: Windows) -> Fixed {
        Fixed { upper: windows.shortest }
    }
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
    windows: Windows,
    upper: u32,
}

impl Backoff {
    /// Begins with the shortest window.
    #[must_use]
    pub fn new(windows: Windows) -> Backoff {
        Backoff { windows, upper: windows.shortest }
    }
}

impl Interval for Backoff {
    fn on_outcome(&mut self, transmission: Transmission) {
        let Windows { least, shortest, longest } = self.windows;
        self.upper = match transmission.outcome {
            TransmissionOutcome::Passed => shortest,
            TransmissionOutcome::Failed => {
                let slots = self.upper - least + 1;
                longest.min(least - 1 + 2 * slots)
            }
        };
    }

    fn upper(&mut self, _now: SlotNo) -> u32 {
        self.upper
    }
}

/// All windows between the shortest and the longest in turn, whatever happens: a control for the benefit of adaptation.
#[derive(Clone, Copy, Debug)]
pub struct Blind {
    windows: Windows,
    phase: u32,
}

/// 2³² divided by the golden ratio: its multiples are spread evenly, in an order without a short period.
const STEP: u32 = 0x9E37_79B9;

impl Blind {
    /// Begins with the shortest window.
    #[must_use]
    pub fn new(windows: Windows) -> Blind {
        Blind { windows, phase: 0 }
    }
}

impl Interval for Blind {
    fn on_outcome(&mut self, _transmission: Transmission) {}

    fn upper(&mut self, _now: SlotNo) -> u32 {
        let Windows { shortest, longest, .. } = self.windows;
        let uppers = u64::from(longest - shortest) + 1;
        let above = (u64::from(self.phase) * uppers) >> 32;
        self.phase = self.phase.wrapping_add(STEP);
        shortest + above as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::PacketId;
    use crate::packet::NodeId;

    fn ended(outcome: TransmissionOutcome) -> Transmission {
        Transmission { packet: PacketId::default(), to: NodeId(1), at: SlotNo(0), outcome }
    }

    const WINDOWS: Windows = Windows { least: 3, shortest: 5, longest: 17 };

    #[test]
    fn a_fixed_window_stays() {
        let mut fixed = Fixed::new(WINDOWS);
        fixed.on_outcome(ended(TransmissionOutcome::Failed));
        assert_eq!(fixed.upper(SlotNo(9)), 5);
    }

    #[test]
    fn blind_windows_take_every_upper_end_as_often_whatever_happens() {
        let mut blind = Blind::new(WINDOWS);
        let mut counts = [0; 18];
        for _ in 0..1300 {
            blind.on_outcome(ended(TransmissionOutcome::Failed));
            counts[blind.upper(SlotNo(0)) as usize] += 1;
        }
        assert!(counts[..5].iter().all(|count| *count == 0), "{counts:?}");
        assert!(counts[5..].iter().all(|count| (98..=102).contains(count)), "{counts:?}");
    }

    #[test]
    fn backoff_doubles_three_slots_to_six_and_twelve_stops_at_the_longest_and_is_reset() {
        let mut backoff = Backoff::new(WINDOWS);
        let mut after = |outcome| {
            backoff.on_outcome(ended(outcome));
            backoff.upper(SlotNo(0))
        };
        // From 3 on, six slots end at 8, twelve at 14, twenty-four beyond 17.
        assert_eq!([(); 4].map(|()| after(TransmissionOutcome::Failed)), [8, 14, 17, 17]);
        assert_eq!(after(TransmissionOutcome::Passed), 5);
    }
}
