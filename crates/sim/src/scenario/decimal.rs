//! Exact decimal numbers of scenarios, so that steps of `0.1` add up and print exactly.

use std::cmp::Ordering;
use std::fmt;

/// More digits than this are refused; products of two such numbers fit into 128 bits.
const MOST_DIGITS: usize = 18;
/// Greater powers of ten are refused.
const MOST_EXPONENT: i32 = 18;

/// `mantissa * 10^exponent`, with no trailing zero in the mantissa.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    mantissa: i128,
    exponent: i32,
}

impl Decimal {
    pub(super) const ZERO: Decimal = Decimal { mantissa: 0, exponent: 0 };

    /// `mantissa * 10^exponent` in its one normal form.
    pub(super) const fn new(mut mantissa: i128, mut exponent: i32) -> Decimal {
        if mantissa == 0 {
            return Decimal::ZERO;
        }
        while mantissa % 10 == 0 {
            mantissa /= 10;
            exponent += 1;
        }
        Decimal { mantissa, exponent }
    }

    /// Reads `-12.5`, `3`, `1e-6`; `None` for other text and for numbers out of range.
    pub(super) fn parse(text: &str) -> Option<Decimal> {
        let (number, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (sign, digits) = match number.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, number.strip_prefix('+').unwrap_or(number)),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all = format!("{whole}{fraction}");
        if all.is_empty() || !all.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let significant = all.trim_start_matches('0').trim_end_matches('0');
        if significant.is_empty() {
            return Some(Decimal::ZERO);
        }
        let dropped = all.len() - all.trim_end_matches('0').len();
        if significant.len() > MOST_DIGITS {
            return None;
        }
        let point = i32::try_from(dropped).ok()? - i32::try_from(fraction.len()).ok()?;
        let value = Decimal::new(sign * significant.parse::<i128>().ok()?, exponent.checked_add(point)?);
        value.in_range().then_some(value)
    }

    /// The decimal nearest to `value` with this many significant digits.
    pub(super) fn from_f64(value: f64, digits: usize) -> Option<Decimal> {
        Decimal::parse(&format!("{value:.*e}", digits.saturating_sub(1)))
    }

    fn in_range(self) -> bool {
        let digits =
            i32::try_from(self.mantissa.unsigned_abs().checked_ilog10().unwrap_or(0)).unwrap_or(i32::MAX);
        self.exponent >= -MOST_EXPONENT && self.exponent.saturating_add(digits) <= MOST_EXPONENT
    }

    /// The mantissas of two numbers at their lesser exponent. Both lie in range, so that 128 bits hold them.
    fn aligned(self, other: Decimal) -> (i128, i128, i32) {
        let exponent = self.exponent.min(other.exponent);
        let at = |number: Decimal| number.mantissa * 10_i128.pow((number.exponent - exponent).unsigned_abs());
        (at(self), at(other), exponent)
    }

    /// The sum, or `None` out of range.
    pub(super) fn plus(self, other: Decimal) -> Option<Decimal> {
        let (a, b, exponent) = self.aligned(other);
        let sum = Decimal::new(a + b, exponent);
        sum.in_range().then_some(sum)
    }

    /// The difference, or `None` out of range.
    pub(super) fn minus(self, other: Decimal) -> Option<Decimal> {
        self.plus(Decimal { mantissa: -other.mantissa, ..other })
    }

    /// The product, or `None` out of range.
    pub(super) fn times(self, other: Decimal) -> Option<Decimal> {
        let product =
            Decimal::new(self.mantissa.checked_mul(other.mantissa)?, self.exponent + other.exponent);
        product.in_range().then_some(product)
    }

    /// How often `step` goes into this number, if it does so without remainder.
    pub(super) fn whole_quotient(self, step: Decimal) -> Option<i128> {
        let (a, b, _) = self.aligned(step);
        (b != 0 && a % b == 0).then(|| a / b)
    }

    /// This number with the decimal point `places` further right.
    pub(super) fn shifted(self, places: i32) -> Decimal {
        if self.mantissa == 0 { self } else { Decimal { exponent: self.exponent + places, ..self } }
    }

    /// The whole number nearest to this one.
    pub(super) fn rounded(self) -> Decimal {
        if self.exponent >= 0 {
            return self;
        }
        let unit = 10_i128.pow(self.exponent.unsigned_abs());
        let half = if self.mantissa < 0 { -unit / 2 } else { unit / 2 };
        Decimal::new((self.mantissa + half) / unit, 0)
    }

    pub(super) fn is_negative(self) -> bool {
        self.mantissa < 0
    }

    pub(super) fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// The value as an integer, if it is one that fits.
    pub(super) fn as_u64(self) -> Option<u64> {
        let power = 10_i128.checked_pow(u32::try_from(self.exponent).ok()?)?;
        u64::try_from(self.mantissa.checked_mul(power)?).ok()
    }

    pub(super) fn is_whole(self) -> bool {
        self.exponent >= 0
    }

    /// The nearest real number.
    pub(super) fn as_f64(self) -> f64 {
        format!("{}e{}", self.mantissa, self.exponent).parse().unwrap_or(f64::NAN)
    }

    /// As `1e-6` where plain notation would need many zeros after the point.
    pub(super) fn scientific(self) -> String {
        let digits = self.mantissa.unsigned_abs().to_string();
        let power = self.exponent + i32::try_from(digits.len()).unwrap_or(0) - 1;
        if self.mantissa == 0 || power >= -4 {
            return self.to_string();
        }
        let sign = if self.mantissa < 0 { "-" } else { "" };
        let point = if digits.len() > 1 { "." } else { "" };
        format!("{sign}{}{point}{}e{power}", &digits[..1], &digits[1..])
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        let (a, b, _) = self.aligned(*other);
        a.cmp(&b)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.mantissa.unsigned_abs().to_string();
        if self.mantissa < 0 {
            f.write_str("-")?;
        }
        let places = usize::try_from(-self.exponent).unwrap_or(0);
        if places == 0 {
            let zeros = usize::try_from(self.exponent).unwrap_or(0);
            return write!(f, "{digits}{}", "0".repeat(zeros));
        }
        if places >= digits.len() {
            return write!(f, "0.{}{digits}", "0".repeat(places - digits.len()));
        }
        let (whole, fraction) = digits.split_at(digits.len() - places);
        write!(f, "{whole}.{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn every_spelling_of_a_number_is_one_value() {
        for text in ["250", "250.0", "+250", "2.5e2", "2500e-1", "0250", "250."] {
            assert_eq!(number(text), number("250"), "{text}");
        }
        assert_eq!(number("0.000"), Decimal::ZERO);
        assert_eq!(number(".5").to_string(), "0.5");
        assert_eq!(number("-12.50").to_string(), "-12.5");
        assert_eq!(number("1e-6").scientific(), "1e-6");
        assert_eq!(number("0.0000125").scientific(), "1.25e-5");
        assert_eq!(number("1e15").scientific(), "1000000000000000");
        assert_eq!(number("999999999999999999").scientific(), "999999999999999999");
    }

    #[test]
    fn what_is_no_number_and_what_is_out_of_range_is_refused() {
        for text in
            ["", "-", ".", "1e", "e5", "1.2.3", "0x10", "nan", "inf", "1e99", "1e-99", "1e99999999999", "½"]
        {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
        assert_eq!(Decimal::parse("1234567890123456789"), None);
    }

    #[test]
    fn ten_steps_of_a_tenth_are_exactly_one() {
        let mut sum = Decimal::ZERO;
        for _ in 0..10 {
            sum = sum.plus(number("0.1")).unwrap();
        }
        assert_eq!(sum, number("1"));
        assert_eq!(number("1").whole_quotient(number("0.1")), Some(10));
        assert_eq!(number("1").whole_quotient(number("0.3")), None);
        assert!(number("0.3") > number("0.25"));
    }

    #[test]
    fn rounding_goes_to_the_nearest_whole_number() {
        assert_eq!(number("2.5").rounded(), number("3"));
        assert_eq!(number("-2.6").rounded(), number("-3"));
        assert_eq!(number("0.4").rounded(), Decimal::ZERO);
    }
}
