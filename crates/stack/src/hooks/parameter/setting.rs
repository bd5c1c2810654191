//! Values of parameters.

use super::Words;
use crate::units::{Bytes, Rate, Span};

/// The value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Count(u64),
    /// A real number.
    Number(f64),
    /// A share of the whole, from 0 to 1.
    Share(f64),
    /// A time.
    Time(Span),
    /// Bytes.
    Size(Bytes),
    /// Segments.
    Segments(u32),
    /// A bit rate.
    Rate(Rate),
    /// A frequency in Hz.
    Frequency(f64),
    /// A length in metres.
    Length(f64),
    /// A power in watts.
    Power(f64),
    /// A gain in decibels.
    Gain(f64),
    /// One of the words of the parameter.
    Word(&'static str),
}

impl Setting {
    fn mismatch(self, expected: &str) -> ! {
        panic!("{self:?} for a parameter that takes {expected}: the host checks values against the domain")
    }

    /// The value of a flag.
    #[must_use]
    pub fn flag(self) -> bool {
        match self {
            Setting::Flag(value) => value,
            other => other.mismatch("a flag"),
        }
    }

    /// The value of a whole number.
    #[must_use]
    pub fn count(self) -> u64 {
        match self {
            Setting::Count(value) => value,
            other => other.mismatch("an integer"),
        }
    }

    /// The value of a real number, a share, a frequency in Hz, a length in metres, a power in watts, or a gain in decibels.
    #[must_use]
    pub fn number(self) -> f64 {
        match self {
            Setting::Number(value)
            | Setting::Share(value)
            | Setting::Frequency(value)
            | Setting::Length(value)
            | Setting::Power(value)
            | Setting::Gain(value) => value,
            other => other.mismatch("a number"),
        }
    }

    /// The value of a time.
    #[must_use]
    pub fn time(self) -> Span {
        match self {
            Setting::Time(value) => value,
            other => other.mismatch("a time"),
        }
    }

    /// The value of a size.
    #[must_use]
    pub fn size(self) -> Bytes {
        match self {
            Setting::Size(value) => value,
            other => other.mismatch("a size"),
        }
    }

    /// The value of a number of segments.
    #[must_use]
    pub fn segments(self) -> u32 {
        match self {
            Setting::Segments(value) => value,
            other => other.mismatch("segments"),
        }
    }

    /// The value of a bit rate.
    #[must_use]
    pub fn rate(self) -> Rate {
        match self {
            Setting::Rate(value) => value,
            other => other.mismatch("a bit rate"),
        }
    }

    /// The word of a choice.
    #[must_use]
    pub fn word<T: Words>(value: T) -> Setting {
        Setting::Word(value.word())
    }

    /// The choice that a word means.
    #[must_use]
    pub fn choice<T: Words>(self) -> T {
        let Setting::Word(word) = self else { self.mismatch("a word") };
        T::of_word(word).unwrap_or_else(|| self.mismatch("one of its words"))
    }

    /// Whether it is this word.
    #[must_use]
    pub fn is(self, word: &str) -> bool {
        matches!(self, Setting::Word(found) if found == word)
    }
}
