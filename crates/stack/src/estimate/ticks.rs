//! A timeout from samples in whole ticks of a coarse clock, in integers: the arithmetic of BSD and of ns-2.
//!
//! **Source.** Jacobson 1988, appendix A; ns-2 2.35, `tcp.cc`.
//!
//! **How.** `8 SRTT` and `4 RTTVAR` are whole numbers, and the shifts that divide them round down. The remainder of a
//! variation below a tick is never subtracted, so that four times RTTVAR stays three ticks where all samples are equal.
//! With the real numbers of RFC 6298 it falls to zero there.

/// Bits below the point of the mean and of the deviation.
const MEAN_BITS: u32 = 3;
const DEVIATION_BITS: u32 = 2;

/// The scaled mean and deviation; the mean is zero before the first sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    mean: i64,
    deviation: i64,
}

impl Ticks {
    /// Adds a sample of at least one tick.
    pub fn take(&mut self, sample: u64) {
        let sample = sample.max(1).cast_signed();
        if self.mean == 0 {
            self.mean = sample << MEAN_BITS;
            self.deviation = sample << (DEVIATION_BITS - 1);
            return;
        }
        let off = sample - (self.mean >> MEAN_BITS);
        self.mean = (self.mean + off).max(1);
        self.deviation = (self.deviation + off.abs() - (self.deviation >> DEVIATION_BITS)).max(1);
    }

    /// The mean plus four deviations, in whole ticks.
    #[must_use]
    pub fn bound(&self) -> u64 {
        ((self.mean + (self.deviation << MEAN_BITS)) >> MEAN_BITS).cast_unsigned()
    }

    /// The next sample counts as the first.
    pub fn forget(&mut self) {
        self.mean = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_samples_leave_four_deviations_of_three_ticks() {
        let mut ticks = Ticks::default();
        let bounds: Vec<u64> = (0..12)
            .map(|_| {
                ticks.take(10);
                ticks.bound()
            })
            .collect();
        // 4 RTTVAR by hand: 20 15 12 9 7 6 5 4 3 3 3 3.
        assert_eq!(bounds, [30, 25, 22, 19, 17, 16, 15, 14, 13, 13, 13, 13]);
    }

    #[test]
    fn the_shifts_round_down_as_in_ns_2() {
        let mut ticks = Ticks::default();
        ticks.take(9);
        assert_eq!((ticks.mean, ticks.deviation), (72, 18));
        // 12 - 9 = 3; 18 + 3 - 4 = 17; then 5 - (75 >> 3) = -4, and 17 + 4 - 4.
        ticks.take(12);
        assert_eq!((ticks.mean, ticks.deviation), (75, 17));
        ticks.take(5);
        assert_eq!((ticks.mean, ticks.deviation), (71, 17));
        // (71 + 8 x 17) >> 3.
        assert_eq!(ticks.bound(), 25);
    }

    #[test]
    fn what_is_forgotten_begins_again_with_the_next_sample() {
        let mut ticks = Ticks::default();
        ticks.take(9);
        ticks.forget();
        ticks.take(4);
        assert_eq!((ticks.mean, ticks.deviation), (32, 8));
    }
}
