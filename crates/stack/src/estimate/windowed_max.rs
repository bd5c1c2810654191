//! The greatest of the samples of the last rounds.
//!
//! **How.** Only samples that a later one does not exceed are kept, falling, so that the first is the greatest.

use std::collections::VecDeque;

/// The greatest sample of a window of rounds.
#[derive(Clone, Debug, Default)]
pub struct WindowedMax {
    samples: VecDeque<(u64, f64)>,
}

impl WindowedMax {
    /// The greatest, if there is a sample.
    #[must_use]
    pub fn get(&self) -> Option<f64> {
        self.samples.front().map(|sample| sample.1)
    }

    /// Adds a sample of this round, which is not before the last, and forgets those of `window` rounds ago or earlier.
    pub fn add(&mut self, round: u64, sample: f64, window: u64) {
        while self.samples.back().is_some_and(|last| last.1 <= sample) {
            self.samples.pop_back();
        }
        self.samples.push_back((round, sample));
        while self.samples.front().is_some_and(|first| first.0 + window <= round) {
            self.samples.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_of_the_last_rounds_is_found_whatever_comes_after_it() {
        let mut most = WindowedMax::default();
        assert_eq!(most.get(), None);
        let expected =
            [(0, 5.0, 5.0), (1, 9.0, 9.0), (2, 7.0, 9.0), (2, 8.0, 9.0), (3, 1.0, 9.0), (4, 2.0, 8.0)];
        for (round, sample, greatest) in expected {
            most.add(round, sample, 3);
            assert_eq!(most.get(), Some(greatest), "round {round}");
        }
        // A shorter window forgets more.
        most.add(5, 0.5, 1);
        assert_eq!(most.get(), Some(0.5));
    }
}
