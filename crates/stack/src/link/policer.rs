//! A policer: a token bucket that drops what exceeds a rate, and delays nothing.
//!
//! **Limits.** One rate and one bucket: it does not mark, and does not borrow from another class.
//!
//! **Source.** The token bucket of RFC 2697 (3) with one rate and one burst; Linux has it as `tc police rate … burst …`.
//!
//! **How.** The bucket holds at most `burst` bytes, fills at `rate`, and is full at the beginning. A packet that finds as many
//! bytes as it has takes them and passes; any other is dropped and takes none:
//!
//! ```text
//! tokens(t) = min(burst, tokens(t') + rate (t - t'))        a packet of s bytes passes if tokens(t) >= s
//! ```
//!
//! **Choices.** 1. A packet counts with the length of the IP packet, as a queue in bytes does; Linux counts the header of the
//! link, too. 2. The sum is exact: it is kept in units of 10⁻⁹ bit.
//!
//! **Checked by** the tests below, by `crates/sim/tests/impairments.rs`, and by a reading of the formula in
//! `tests/python/test_wires.py`.

use crate::units::{Bytes, Rate, Time};

/// Units of the bucket in a byte: at 1 bit/s it gains one in a nanosecond.
const UNITS_PER_BYTE: u128 = 8_000_000_000;

/// The rate and the burst that a policer lets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicerConfig {
    /// The rate at which the bucket fills.
    pub rate: Rate,
    /// What it holds at most.
    pub burst: Bytes,
}

/// A policer with its bucket.
#[derive(Clone, Debug)]
pub struct Policer {
    rate: u128,
    most: u128,
    tokens: u128,
    since: Time,
}

impl Policer {
    /// A policer with a full bucket.
    #[must_use]
    pub fn new(config: PolicerConfig) -> Policer {
        let most = u128::from(config.burst.0) * UNITS_PER_BYTE;
        Policer { rate: u128::from(config.rate.0), most, tokens: most, since: Time::ZERO }
    }

    /// Whether a packet of this size passes now. Times never go back.
    pub fn passes(&mut self, size: Bytes, now: Time) -> bool {
        let gained = self.rate * u128::from(now.since(self.since).0);
        (self.tokens, self.since) = (self.most.min(self.tokens + gained), now);
        let taken = u128::from(size.0) * UNITS_PER_BYTE;
        let passes = taken <= self.tokens;
        self.tokens -= if passes { taken } else { 0 };
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policer(rate: u64, burst: u64) -> Policer {
        Policer::new(PolicerConfig { rate: Rate(rate), burst: Bytes(burst) })
    }

    #[test]
    fn a_burst_passes_at_once_and_then_what_the_rate_gives() {
        // 1000 bytes each millisecond, and three packets in the bucket.
        let mut policer = policer(8_000_000, 3000);
        let passed = [0, 0, 0, 0, 999_999, 1_000_000, 1_500_000, 2_000_000];
        let found = passed.map(|at| policer.passes(Bytes(1000), Time(at)));
        assert_eq!(found, [true, true, true, false, false, true, false, true]);
    }

    #[test]
    fn what_is_dropped_takes_no_tokens_and_a_smaller_packet_may_pass_behind_it() {
        let mut policer = policer(8_000, 1000);
        assert!(!policer.passes(Bytes(1001), Time(0)));
        assert!(policer.passes(Bytes(900), Time(0)));
        assert!(!policer.passes(Bytes(101), Time(0)));
        assert!(policer.passes(Bytes(100), Time(0)));
    }

    #[test]
    fn a_bucket_holds_no_more_than_its_burst_however_long_nothing_comes() {
        let mut policer = policer(1_000_000_000_000, 1500);
        for at in [0, u64::MAX / 8, u64::MAX / 4] {
            assert!(policer.passes(Bytes(1500), Time(at)));
            assert!(!policer.passes(Bytes(1), Time(at)));
        }
    }

    #[test]
    fn fractions_of_a_byte_are_not_lost() {
        // A byte is there after 8e9 / 333333333 ns, rounded up, and the rest of them counts for the next.
        let mut policer = policer(333_333_333, 2);
        let found = [0, 0, 24, 25, 48, 49].map(|at| policer.passes(Bytes(1), Time(at)));
        assert_eq!(found, [true, true, false, true, false, true]);
    }
}
