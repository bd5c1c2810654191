//! All retransmission intervals of slotted networks.

use super::{Entry, kinds};
use crate::hooks::parameter::{Described, Exception, Setting, Spec};
use crate::hooks::{Interval, SlotNo, Transmission};
use crate::link::slotted;
use crate::link::slotted::interval::{Backoff, Blind, Fixed, Windows};
use crate::schemes::load_adaptive::{History, LoadAdaptive};

kinds! {
    each $;
    /// How long a node of the FRN waits before it repeats a packet.
    IntervalKind, IntervalConfig, IntervalMachine;
    Fixed(Fixed), () = "fixed" as "fixed window", "FRN: Yamamoto et al. (2)", "a random number of slots in a fixed window";
    Backoff(Backoff), () = "backoff" as "exponential backoff", "CSMA/CD, as Yamamoto et al. (3.2) describe it", "a window that doubles at each failure and is reset at a success";
    Blind(Blind), () = "blind" as "blind window", "lasthop: a control", "all windows between the shortest and the longest in turn, whatever happens";
    LoadAdaptive(LoadAdaptive), History = "load-adaptive" as "load-adaptive", "Yamamoto et al. (3.2)", "a window proportional to the share of failures among the last transmissions";
}

/// A node of a slotted network with any of these intervals.
pub type SlottedNode = slotted::Node<IntervalMachine>;

impl Default for IntervalConfig {
    fn default() -> IntervalConfig {
        IntervalKind::Fixed.config()
    }
}

impl IntervalConfig {
    /// The interval of one node, with these windows.
    #[must_use]
    pub fn build(&self, windows: Windows) -> IntervalMachine {
        let windows = Windows { longest: windows.longest.max(windows.shortest), ..windows };
        match self {
            IntervalConfig::Fixed(()) => IntervalMachine::Fixed(Fixed::new(windows)),
            IntervalConfig::Backoff(()) => IntervalMachine::Backoff(Backoff::new(windows)),
            IntervalConfig::Blind(()) => IntervalMachine::Blind(Blind::new(windows)),
            IntervalConfig::LoadAdaptive(history) => {
                IntervalMachine::LoadAdaptive(LoadAdaptive::new(windows.shortest, windows.longest, *history))
            }
        }
    }
}

impl Interval for IntervalMachine {
    #[inline]
    fn on_outcome(&mut self, transmission: Transmission) {
        each!(self, interval => interval.on_outcome(transmission));
    }

    #[inline]
    fn upper(&mut self, now: SlotNo) -> u32 {
        each!(self, interval => interval.upper(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::{PacketId, TransmissionOutcome};
    use crate::packet::NodeId;

    #[test]
    fn a_longest_window_below_the_shortest_counts_for_nothing() {
        for kind in IntervalKind::ALL {
            let mut interval = kind.config().build(Windows { least: 3, shortest: 9, longest: 5 });
            interval.on_outcome(Transmission {
                packet: PacketId::default(),
                to: NodeId(1),
                at: SlotNo(0),
                outcome: TransmissionOutcome::Failed,
            });
            assert_eq!(interval.upper(SlotNo(1)), 9);
        }
    }
}
