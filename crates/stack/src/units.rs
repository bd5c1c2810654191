//! Units as types: time, duration, bytes, rate, sequence number.
//!
//! Only the meaningful operators exist: `Time - Time = Span`, `Time + Span = Time`, `Bytes / Rate = Span`. All of them
//! use exact integer arithmetic, so results do not depend on the machine.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

/// Nanoseconds in a second.
pub const NANOS_PER_SEC: u64 = 1_000_000_000;

/// A point in simulated (or real) time, in nanoseconds since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// A length in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Metres(pub f64);

/// A TCP sequence number: 32 bits that wrap (RFC 9293, 3.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SeqNo(pub u32);

impl Time {
    /// The start of a run.
    pub const ZERO: Time = Time(0);
    /// Later than every event.
    pub const NEVER: Time = Time(u64::MAX);

    /// Seconds since the start, for output.
    #[must_use]
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// The span since `earlier`, or zero when `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// The time `span` later, or [`Time::NEVER`] if it does not fit.
    #[must_use]
    pub fn after(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);

    /// A span of whole milliseconds.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Span {
        Span(ms * 1_000_000)
    }

    /// A span of whole microseconds.
    #[must_use]
    pub const fn from_micros(us: u64) -> Span {
        Span(us * 1_000)
    }

    /// A span of whole seconds.
    #[must_use]
    pub const fn from_secs(s: u64) -> Span {
        Span(s * NANOS_PER_SEC)
    }

    /// The span nearest to `seconds`; negative values and not-a-number give zero.
    #[must_use]
    pub fn from_secs_f64(seconds: f64) -> Span {
        Span((seconds * NANOS_PER_SEC as f64 + 0.5) as u64)
    }

    /// The whole bytes that can be sent at `rate` in this time.
    #[must_use]
    pub fn bytes_at(self, rate: Rate) -> Bytes {
        let bits = u128::from(self.0) * u128::from(rate.0) / u128::from(NANOS_PER_SEC);
        Bytes((bits / 8) as u64)
    }

    /// Seconds, for output and for laws that are real-valued.
    #[must_use]
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }
}

impl Bytes {
    /// No bytes.
    pub const ZERO: Bytes = Bytes(0);

    /// The time it takes to send these bytes at `rate`, rounded up to a whole nanosecond.
    ///
    /// # Panics
    /// When `rate` is zero: a link without a rate is refused by the scenario reader.
    #[must_use]
    pub fn time_at(self, rate: Rate) -> Span {
        assert!(rate.0 > 0, "a rate of zero sends nothing");
        let Some(bit_nanos) = self.0.checked_mul(8 * NANOS_PER_SEC) else {
            let wide = u128::from(self.0) * 8 * u128::from(NANOS_PER_SEC);
            return Span(wide.div_ceil(u128::from(rate.0)) as u64);
        };
        Span(bit_nanos.div_ceil(rate.0))
    }
}

impl SeqNo {
    /// The number `bytes` further on, modulo 2^32.
    #[must_use]
    pub fn plus(self, bytes: u32) -> SeqNo {
        SeqNo(self.0.wrapping_add(bytes))
    }

    /// The signed distance from `other` to this number; exact while they lie less than 2^31 apart.
    #[must_use]
    pub fn distance_from(self, other: SeqNo) -> i32 {
        self.0.wrapping_sub(other.0).cast_signed()
    }

    /// The 64-bit stream offset that this number names, given an offset `near` it and the number `zero` of offset 0.
    ///
    /// Returns `None` when the number lies before the start of the stream.
    #[must_use]
    pub fn unwrap_near(self, zero: SeqNo, near: u64) -> Option<u64> {
        let distance = self.distance_from(zero.plus(near as u32));
        if distance >= 0 {
            Some(near + u64::from(distance.cast_unsigned()))
        } else {
            near.checked_sub(distance.unsigned_abs().into())
        }
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0 + span.0)
    }
}

impl Sub<Time> for Time {
    type Output = Span;
    fn sub(self, earlier: Time) -> Span {
        Span(self.0 - earlier.0)
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        self.0 += other.0;
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, factor: u64) -> Span {
        Span(self.0.saturating_mul(factor))
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Bytes) {
        self.0 -= other.0;
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9} s", self.as_secs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmission_time_rounds_up_to_a_whole_nanosecond() {
        assert_eq!(Bytes(1040).time_at(Rate(5_000_000)), Span(1_664_000));
        assert_eq!(Bytes(1).time_at(Rate(3)), Span(2_666_666_667));
    }

    #[test]
    fn transmission_time_of_huge_amounts_does_not_overflow() {
        assert_eq!(Bytes(10_000_000_000).time_at(Rate(8)), Span(10_000_000_000 * NANOS_PER_SEC));
    }

    #[test]
    fn seconds_are_rounded_to_the_nearest_nanosecond() {
        let spans = [0.4e-9, 0.6e-9, 1.4e-9, 0.3, -1.0, f64::NAN].map(Span::from_secs_f64);
        assert_eq!(spans, [0, 1, 1, 300_000_000, 0, 0].map(Span));
    }

    #[test]
    fn sequence_numbers_compare_across_the_wrap() {
        let before = SeqNo(u32::MAX - 10);
        assert_eq!(before.plus(20), SeqNo(9));
        assert_eq!(before.plus(20).distance_from(before), 20);
        assert_eq!(before.distance_from(before.plus(20)), -20);
    }

    #[test]
    fn unwrapping_finds_the_offset_near_a_known_one_on_both_sides_of_the_wrap() {
        let zero = SeqNo(u32::MAX - 99);
        let offset = 6_000_000_000;
        let seq = zero.plus(offset as u32);
        assert_eq!(seq.unwrap_near(zero, offset - 1_000_000), Some(offset));
        assert_eq!(seq.unwrap_near(zero, offset + 1_000_000), Some(offset));
        assert_eq!(SeqNo(zero.0 - 1).unwrap_near(zero, 0), None);
    }
}
