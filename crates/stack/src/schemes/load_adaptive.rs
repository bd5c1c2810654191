//! Load-adaptive retransmission: the retransmission window grows with the share of failed transmissions.
//!
//! **Limits.** A failure does not distinguish a collision from a channel error, so errors alone widen the window. A
//! node that sends rarely uses outdated information, unless entries expire.
//!
//! **Source.** Yamamoto et al., "Data Link Layer Control Methods for Performance Improvement of TCP over an Ad Hoc
//! Network", 3.2, Table 1 and Fig. 2.
//!
//! **How.** A node stores the outcomes of its last transmissions, of all packets and to all neighbours. The share of
//! failures estimates the load around the node. The upper bound U of the window grows linearly with it, from the
//! minimum to the maximum:
//!
//! ```text
//!     U = U_min + round(min(1, load / saturation) · (U_max - U_min)),   wait uniform in least ..= U
//! ```
//!
//! A success does not reset it, unlike the backoff of CSMA/CD.
//!
//! **Choices.** 1. Each transmission is one entry, including retransmissions; until the history is full the share is
//! computed over the existing entries, and is 0 without entries. 2. "Reaches the maximum at last" is read as a load of
//! 1; a `saturation` below 1 reaches it earlier. 3. "During a fixed time" has no value in the paper: entries do not
//! expire unless `expiry` is set.
//!
//! **Checked by** the tests below on numbers computed by hand, and `papers/load-adaptive.claims.toml`.

use std::collections::VecDeque;

use crate::hooks::parameter::{Described, parameters};
use crate::hooks::{Interval, SlotNo, Transmission, TransmissionOutcome};

/// The parameters of the history of transmissions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct History {
    /// Number of entries.
    pub entries: u32,
    /// Slots for which an entry is kept; `None` keeps it until newer ones replace it.
    pub expiry: Option<u64>,
    /// The load at which the window reaches its maximum.
    pub saturation: f64,
}

impl History {
    /// The paper's value: ten entries (4.3).
    pub const PAPER: History = History { entries: 10, expiry: None, saturation: 1.0 };
}

impl Default for History {
    fn default() -> History {
        History::PAPER
    }
}

impl Described for History {
    parameters! {
        /// number of transmissions in the history of a node
        "history": Count = entries, at_least("1"), at_most("100000"), source("Yamamoto et al. (4.3)");
        /// number of slots for which the history keeps a transmission
        "history-expiry": Count or "never" = expiry, at_least("1"), at_most("1000000000"),
            source("lasthop: no published value");
        /// share of failures at which the window reaches its maximum
        "saturation": Share = saturation, above("0 %"), at_most("100 %"), source("Yamamoto et al. (Fig. 2)");
    }
}

/// The retransmission interval of one node.
#[derive(Clone, Debug)]
pub struct LoadAdaptive {
    shortest: u32,
    longest: u32,
    history: History,
    transmissions: VecDeque<Transmission>,
    failures: u32,
}

impl LoadAdaptive {
    /// An interval between windows that end at `shortest` and at `longest`, with an empty history.
    #[must_use]
    pub fn new(shortest: u32, longest: u32, history: History) -> LoadAdaptive {
        let transmissions = VecDeque::with_capacity(history.entries as usize);
        LoadAdaptive { shortest, longest, history, transmissions, failures: 0 }
    }

    /// The load around the node: the share of failures among the transmissions held.
    #[must_use]
    pub fn load(&self) -> f64 {
        match self.transmissions.len() {
            0 => 0.0,
            held => f64::from(self.failures) / held as f64,
        }
    }

    fn forget(&mut self) {
        let oldest = self.transmissions.pop_front();
        if oldest.is_some_and(|oldest| oldest.outcome == TransmissionOutcome::Failed) {
            self.failures -= 1;
        }
    }
}

impl Interval for LoadAdaptive {
    fn on_outcome(&mut self, transmission: Transmission) {
        if self.transmissions.len() == self.history.entries as usize {
            self.forget();
        }
        self.failures += u32::from(transmission.outcome == TransmissionOutcome::Failed);
        self.transmissions.push_back(transmission);
    }

    fn upper(&mut self, now: SlotNo) -> u32 {
        if let Some(expiry) = self.history.expiry {
            // Outcomes arrive nearly in the order of sending, so an expired entry behind a younger one remains for at
            // most one window.
            while self.transmissions.front().is_some_and(|oldest| oldest.at.after(expiry) < now) {
                self.forget();
            }
        }
        let share = (self.load() / self.history.saturation).min(1.0);
        let room = f64::from(self.longest - self.shortest);
        self.shortest + (share * room).round() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::PacketId;
    use crate::packet::NodeId;

    fn entry(number: u64, to: u32, at: u64, outcome: TransmissionOutcome) -> Transmission {
        let packet = PacketId { source: NodeId(1), number };
        Transmission { packet, to: NodeId(to), at: SlotNo(at), outcome }
    }

    use TransmissionOutcome::{Failed, Passed};

    /// Windows from 3-5 to 3-17, after `failed` failures and then `passed` successes.
    fn after(failed: u64, passed: u64) -> LoadAdaptive {
        let mut interval = LoadAdaptive::new(5, 17, History::PAPER);
        for number in 0..failed {
            interval.on_outcome(entry(number, 2, number, Failed));
        }
        for number in failed..failed + passed {
            interval.on_outcome(entry(number, 2, number, Passed));
        }
        interval
    }

    #[test]
    fn the_history_of_table_1_is_a_load_of_one_third() {
        let mut interval = LoadAdaptive::new(5, 17, History::PAPER);
        interval.on_outcome(entry(3, 5, 1003, Passed));
        interval.on_outcome(entry(4, 5, 1004, Failed));
        interval.on_outcome(entry(4, 2, 1005, Passed));
        assert!((interval.load() - 1.0 / 3.0).abs() < 1e-15);
        // 5 + 12 / 3.
        assert_eq!(interval.upper(SlotNo(1006)), 9);
    }

    #[test]
    fn the_window_grows_in_proportion_to_the_load_from_the_shortest_to_the_longest() {
        let uppers: Vec<u32> = (0..=10).map(|failed| after(failed, 10 - failed).upper(SlotNo(10))).collect();
        // 5 + 1.2 · failures, rounded.
        assert_eq!(uppers, [5, 6, 7, 9, 10, 11, 12, 13, 15, 16, 17]);
        assert_eq!(LoadAdaptive::new(5, 17, History::PAPER).upper(SlotNo(0)), 5);
    }

    #[test]
    fn one_success_does_not_reset_it_and_the_eleventh_entry_drives_out_the_first() {
        let mut interval = after(10, 0);
        assert_eq!(interval.upper(SlotNo(10)), 17);
        interval.on_outcome(entry(10, 2, 10, Passed));
        // Nine of ten: 5 + 10.8.
        assert_eq!(interval.upper(SlotNo(11)), 16);
        assert!((interval.load() - 0.9).abs() < 1e-15);
    }

    #[test]
    fn entries_older_than_the_expiry_count_no_more() {
        let history = History { expiry: Some(100), ..History::PAPER };
        let mut interval = LoadAdaptive::new(5, 17, history);
        interval.on_outcome(entry(0, 2, 50, Failed));
        interval.on_outcome(entry(1, 2, 60, Passed));
        assert_eq!(interval.upper(SlotNo(150)), 11);
        assert_eq!(interval.upper(SlotNo(151)), 5);
    }

    #[test]
    fn a_saturation_of_one_half_reaches_the_longest_window_at_half_the_load() {
        let history = History { saturation: 0.5, ..History::PAPER };
        let mut interval = LoadAdaptive::new(5, 17, history);
        for (number, outcome) in [Failed, Passed, Passed, Passed, Failed].into_iter().enumerate() {
            interval.on_outcome(entry(number as u64, 2, number as u64, outcome));
        }
        // A load of 0.4 counts as 0.8: 5 + 9.6.
        assert_eq!(interval.upper(SlotNo(5)), 15);
        interval.on_outcome(entry(5, 2, 5, Failed));
        assert_eq!(interval.upper(SlotNo(6)), 17);
    }
}
