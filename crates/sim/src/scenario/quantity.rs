//! Quantities with units: exact to the nanosecond, bit, byte; one canonical text for each value.

use super::decimal::Decimal;
use crate::medium::radio::config::dbm_to_watts;

/// The greatest gain or level, in decibels, and its opposite the least.
const LARGEST_LEVEL_DB: i128 = 300;

/// The dimension of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dim {
    /// Base unit: the nanosecond.
    Time,
    /// Base unit: the bit per second.
    Rate,
    /// Base unit: the byte.
    Size,
    /// A number of packets.
    Packets,
    /// A number of segments.
    Segments,
    /// Base unit: one.
    Share,
    /// Base unit: the metre.
    Length,
    /// Base unit: the watt.
    Power,
    /// A power in decibels over a milliwatt.
    Level,
    /// Base unit: the decibel.
    Gain,
    /// Base unit: the hertz.
    Frequency,
    /// Base unit: the metre per second.
    Speed,
}

/// A unit: what it measures, its name, and its size in base units as `mantissa * 10^exponent`.
struct Unit(Dim, &'static str, i128, i32);

/// The units that text may use.
const UNITS: &[Unit] = &[
    Unit(Dim::Time, "ns", 1, 0),
    Unit(Dim::Time, "us", 1, 3),
    Unit(Dim::Time, "µs", 1, 3),
    Unit(Dim::Time, "μs", 1, 3),
    Unit(Dim::Time, "ms", 1, 6),
    Unit(Dim::Time, "s", 1, 9),
    Unit(Dim::Time, "min", 60, 9),
    Unit(Dim::Time, "h", 3600, 9),
    Unit(Dim::Rate, "bit/s", 1, 0),
    Unit(Dim::Rate, "kbit/s", 1, 3),
    Unit(Dim::Rate, "Mbit/s", 1, 6),
    Unit(Dim::Rate, "Gbit/s", 1, 9),
    Unit(Dim::Size, "B", 1, 0),
    Unit(Dim::Size, "kB", 1, 3),
    Unit(Dim::Size, "MB", 1, 6),
    Unit(Dim::Size, "GB", 1, 9),
    Unit(Dim::Size, "KiB", 1024, 0),
    Unit(Dim::Size, "MiB", 1024 * 1024, 0),
    Unit(Dim::Size, "GiB", 1024 * 1024 * 1024, 0),
    Unit(Dim::Packets, "packets", 1, 0),
    Unit(Dim::Packets, "packet", 1, 0),
    Unit(Dim::Segments, "segments", 1, 0),
    Unit(Dim::Segments, "segment", 1, 0),
    Unit(Dim::Share, "%", 1, -2),
    Unit(Dim::Length, "m", 1, 0),
    Unit(Dim::Length, "km", 1, 3),
    Unit(Dim::Power, "pW", 1, -12),
    Unit(Dim::Power, "nW", 1, -9),
    Unit(Dim::Power, "uW", 1, -6),
    Unit(Dim::Power, "mW", 1, -3),
    Unit(Dim::Power, "W", 1, 0),
    Unit(Dim::Level, "dBm", 1, 0),
    Unit(Dim::Gain, "dB", 1, 0),
    Unit(Dim::Frequency, "Hz", 1, 0),
    Unit(Dim::Frequency, "kHz", 1, 3),
    Unit(Dim::Frequency, "MHz", 1, 6),
    Unit(Dim::Frequency, "GHz", 1, 9),
    Unit(Dim::Speed, "m/s", 1, 0),
];

impl Dim {
    /// With its article, for messages.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Dim::Time => "a time",
            Dim::Rate => "a rate",
            Dim::Size => "a size",
            Dim::Packets => "a number of packets",
            Dim::Segments => "a number of segments",
            Dim::Share => "a percentage",
            Dim::Length => "a length",
            Dim::Power => "a power",
            Dim::Level => "a level",
            Dim::Gain => "a gain",
            Dim::Frequency => "a frequency",
            Dim::Speed => "a speed",
        }
    }

    /// The unit that examples use.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Dim::Time => "s",
            Dim::Rate => "Mbit/s",
            Dim::Size => "B",
            Dim::Packets => "packets",
            Dim::Segments => "segments",
            Dim::Share => "%",
            Dim::Length => "m",
            Dim::Power => "mW",
            Dim::Level => "dBm",
            Dim::Gain => "dB",
            Dim::Frequency => "MHz",
            Dim::Speed => "m/s",
        }
    }

    /// All units, for messages and the schema.
    pub(super) fn units(self) -> Vec<&'static str> {
        UNITS.iter().filter(|unit| unit.0 == self && unit.1.is_ascii()).map(|unit| unit.1).collect()
    }

    /// Power of ten from the base unit to SI.
    fn si_exponent(self) -> i32 {
        if self == Dim::Time { -9 } else { 0 }
    }

    /// Whether only whole base units have a meaning.
    fn counts(self) -> bool {
        !matches!(self, Dim::Share | Dim::Length | Dim::Power | Dim::Level | Dim::Gain | Dim::Speed)
    }

    /// Whether less than zero has a meaning.
    pub(super) fn is_signed(self) -> bool {
        matches!(self, Dim::Length | Dim::Level | Dim::Gain)
    }

    /// Whether it is a logarithm, whose greatest values represent powers beyond the range of a number.
    fn is_logarithm(self) -> bool {
        matches!(self, Dim::Level | Dim::Gain)
    }

    /// Whether the unit is a plural.
    fn counts_things(self) -> bool {
        matches!(self, Dim::Packets | Dim::Segments)
    }

    /// The units of canonical text with their powers of ten, ascending.
    fn scale(self) -> &'static [(&'static str, i32)] {
        match self {
            Dim::Time => &[("ns", 0), ("us", 3), ("ms", 6), ("s", 9)],
            Dim::Rate => &[("bit/s", 0), ("kbit/s", 3), ("Mbit/s", 6), ("Gbit/s", 9)],
            Dim::Size => &[("B", 0), ("kB", 3), ("MB", 6), ("GB", 9)],
            Dim::Packets => &[("packets", 0)],
            Dim::Segments => &[("segments", 0)],
            Dim::Share => &[("%", -2)],
            Dim::Length => &[("m", 0)],
            Dim::Power => &[("pW", -12), ("nW", -9), ("uW", -6), ("mW", -3), ("W", 0)],
            Dim::Level => &[("dBm", 0)],
            Dim::Gain => &[("dB", 0)],
            Dim::Frequency => &[("Hz", 0), ("kHz", 3), ("MHz", 6), ("GHz", 9)],
            Dim::Speed => &[("m/s", 0)],
        }
    }

    fn finest(self) -> &'static str {
        match self {
            Dim::Time => "an integer number of nanoseconds",
            Dim::Rate => "an integer number of bits per second",
            Dim::Size => "an integer number of bytes",
            Dim::Frequency => "an integer number of hertz",
            _ => "an integer",
        }
    }
}

/// A quantity: what it measures and how many base units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quantity {
    pub(super) dim: Dim,
    pub(super) base: Decimal,
}

/// Why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// It does not start with a number.
    NoNumber,
    /// It is a number alone.
    NoUnit(String),
    /// The unit is not known.
    NoSuchUnit(String, String),
    /// More digits or a greater power than a quantity has.
    OutOfRange,
    /// A fraction of a base unit that has none.
    TooFine(&'static str),
}

impl Quantity {
    /// Reads a number and a unit, with or without a blank between them.
    pub(super) fn parse(text: &str) -> Result<Quantity, Unread> {
        let text = text.trim();
        let end = number_end(text).ok_or(Unread::NoNumber)?;
        let (number, unit) = (&text[..end], text[end..].trim());
        if unit.is_empty() {
            return Err(Unread::NoUnit(number.to_string()));
        }
        let known = UNITS.iter().find(|known| known.1 == unit);
        let Some(&Unit(dim, _, mantissa, exponent)) = known else {
            return Err(Unread::NoSuchUnit(number.to_string(), unit.to_string()));
        };
        let number = Decimal::parse(number).ok_or(Unread::OutOfRange)?;
        let base = number.times(Decimal::new(mantissa, exponent)).ok_or(Unread::OutOfRange)?;
        Quantity { dim, base }.checked()
    }

    /// The watts of a power, or of the level of one.
    pub(super) fn watts(self) -> f64 {
        if self.dim == Dim::Level { dbm_to_watts(self.si()) } else { self.si() }
    }

    /// This quantity, if a run can use it exactly.
    pub(super) fn checked(self) -> Result<Quantity, Unread> {
        if self.dim.counts() && !self.base.is_whole() {
            return Err(Unread::TooFine(self.dim.finest()));
        }
        let far = |base: Decimal| {
            base > Decimal::new(LARGEST_LEVEL_DB, 0) || base < Decimal::new(-LARGEST_LEVEL_DB, 0)
        };
        if self.dim.is_logarithm() && far(self.base) {
            return Err(Unread::OutOfRange);
        }
        Ok(self)
    }

    /// The nearest quantity that [`Quantity::checked`] accepts.
    pub(super) fn rounded(self) -> Quantity {
        Quantity { base: if self.dim.counts() { self.base.rounded() } else { self.base }, ..self }
    }

    /// The value in SI units.
    pub(super) fn si(self) -> f64 {
        self.base.shifted(self.dim.si_exponent()).as_f64()
    }

    /// The one text of this value.
    pub(super) fn text(self) -> String {
        let Quantity { dim, base } = self;
        let magnitude = if base.is_negative() { Decimal::ZERO.minus(base).unwrap_or(base) } else { base };
        let fits = |exponent: i32| match dim {
            // Sizes stay whole: a packet of 1448 B is not written as 1.448 kB.
            Dim::Size => magnitude >= Decimal::new(1, 4) && base.shifted(-exponent).is_whole(),
            _ => magnitude >= Decimal::new(1, exponent),
        };
        let scale = dim.scale();
        let (unit, exponent) = match scale.iter().rev().find(|(_, exponent)| fits(*exponent)) {
            Some(found) => *found,
            None if dim == Dim::Time && base.is_zero() => ("s", 0),
            None => scale[0],
        };
        let number = base.shifted(-exponent);
        let unit =
            if dim.counts_things() && number == Decimal::new(1, 0) { &unit[..unit.len() - 1] } else { unit };
        format!("{number} {unit}")
    }
}

/// Where the number at the start of a text ends.
fn number_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        let start = at;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        (at, at - start)
    };
    let sign = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let (mut end, mut count) = digits(sign);
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1) != Some(&b'.') {
        let (after, more) = digits(end + 1);
        (end, count) = (after, count + more);
    }
    if count == 0 {
        return None;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
        let (after, more) = digits(end + 1 + sign);
        if more > 0 {
            end = after;
        }
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(of: &str) -> String {
        Quantity::parse(of).unwrap().text()
    }

    #[test]
    fn each_value_has_one_canonical_text() {
        for (given, canonical) in [
            ("0.01 ms", "10 us"),
            ("10us", "10 us"),
            ("10 µs", "10 us"),
            ("250 s", "250 s"),
            ("1.5 min", "90 s"),
            ("1 h", "3600 s"),
            ("0 ms", "0 s"),
            ("1500 ms", "1.5 s"),
            ("5000 kbit/s", "5 Mbit/s"),
            ("1.5e6 bit/s", "1.5 Mbit/s"),
            ("0 Mbit/s", "0 bit/s"),
            ("1 kB", "1000 B"),
            ("1448 B", "1448 B"),
            ("64 KiB", "65536 B"),
            ("64 kB", "64 kB"),
            ("1500000 B", "1500 kB"),
            ("4 GB", "4 GB"),
            ("1%", "1 %"),
            ("0.10 %", "0.1 %"),
            ("1e-7 %", "0.0000001 %"),
            ("1 packets", "1 packet"),
            ("20 segments", "20 segments"),
            ("-0.5 km", "-500 m"),
        ] {
            assert_eq!(text(given), canonical, "{given}");
            assert_eq!(text(canonical), canonical);
        }
    }

    #[test]
    fn a_hundredth_of_a_millisecond_is_exactly_ten_thousand_nanoseconds() {
        assert_eq!(Quantity::parse("0.01 ms").unwrap().base.as_u64(), Some(10_000));
        assert_eq!(Quantity::parse("0.5 ns"), Err(Unread::TooFine("an integer number of nanoseconds")));
    }

    #[test]
    fn si_values_are_the_nearest_real_numbers() {
        assert_eq!(Quantity::parse("1 %").unwrap().si().to_bits(), 0.01_f64.to_bits());
        assert_eq!(Quantity::parse("0.01 ms").unwrap().si().to_bits(), 1e-5_f64.to_bits());
        assert_eq!(Quantity::parse("5 Mbit/s").unwrap().si().to_bits(), 5e6_f64.to_bits());
    }

    #[test]
    fn text_that_is_no_quantity_says_why() {
        assert_eq!(Quantity::parse("fast"), Err(Unread::NoNumber));
        assert_eq!(Quantity::parse("12"), Err(Unread::NoUnit("12".into())));
        assert_eq!(Quantity::parse("5 Mbps"), Err(Unread::NoSuchUnit("5".into(), "Mbps".into())));
        assert_eq!(Quantity::parse("1e90 s"), Err(Unread::OutOfRange));
        assert_eq!(Quantity::parse("1..2 s"), Err(Unread::NoSuchUnit("1".into(), "..2 s".into())));
    }
}
