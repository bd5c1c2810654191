//! The types of the fields that parameters set.

use super::{Domain, Setting, Words, words};
use crate::units::{Bytes, Rate, Span};

/// The kinds of parameters as types: one for each variant of [`Domain`].
pub mod kind {
    /// Yes or no.
    pub enum Flag {}
    /// A whole number.
    pub enum Count {}
    /// A real number.
    pub enum Number {}
    /// A share.
    pub enum Share {}
    /// A time.
    pub enum Time {}
    /// Bytes.
    pub enum Size {}
    /// Segments.
    pub enum Segments {}
    /// A bit rate.
    pub enum Rate {}
    /// A frequency.
    pub enum Frequency {}
    /// A length.
    pub enum Length {}
    /// A power.
    pub enum Power {}
    /// A gain.
    pub enum Gain {}
    /// A word.
    pub enum Words {}
}

/// The type of a field that a parameter of this kind sets.
#[diagnostic::on_unimplemented(message = "a parameter of kind `{Kind}` cannot set a field of type `{Self}`")]
pub trait Value<Kind>: Copy {
    /// The value as a setting.
    fn setting(self) -> Setting;
    /// The value of a setting, which is of the kind.
    fn of(setting: Setting) -> Self;
}

macro_rules! values {
    ($($kind:ident, $type:ty: |$value:ident| $to:expr, |$setting:ident| $of:expr;)*) => {
        $(impl Value<kind::$kind> for $type {
            fn setting(self) -> Setting {
                let $value = self;
                Setting::$kind($to)
            }

            fn of($setting: Setting) -> $type {
                $of
            }
        })*
    };
}

values! {
    Flag, bool: |value| value, |setting| setting.flag();
    Count, u8: |value| value.into(), |setting| setting.count() as u8;
    Count, u32: |value| value.into(), |setting| setting.count() as u32;
    Count, u64: |value| value, |setting| setting.count();
    Count, usize: |value| value as u64, |setting| setting.count() as usize;
    Number, f64: |value| value, |setting| setting.number();
    Share, f64: |value| value, |setting| setting.number();
    Time, Span: |value| value, |setting| setting.time();
    Size, Bytes: |value| value, |setting| setting.size();
    Size, u16: |value| Bytes(value.into()), |setting| setting.size().0 as u16;
    Size, u32: |value| Bytes(value.into()), |setting| setting.size().0 as u32;
    Rate, Rate: |value| value, |setting| setting.rate();
    Frequency, f64: |value| value, |setting| setting.number();
    Length, f64: |value| value, |setting| setting.number();
    Power, f64: |value| value, |setting| setting.number();
    Gain, f64: |value| value, |setting| setting.number();
    Segments, u32: |value| value, |setting| setting.segments();
    Segments, f64: |value| value as u32, |setting| setting.segments().into();
}

impl<T: Words> Value<kind::Words> for T {
    fn setting(self) -> Setting {
        Setting::word(self)
    }

    fn of(setting: Setting) -> T {
        setting.choice()
    }
}

/// A value that is read and written as a setting.
impl<Kind> Value<Kind> for Setting {
    fn setting(self) -> Setting {
        self
    }

    fn of(setting: Setting) -> Setting {
        setting
    }
}

/// The domain of a choice that a configuration contains.
#[must_use]
pub const fn choices<C, T: Words>(noun: &'static str, _: fn(&C) -> T) -> Domain {
    Domain::Words(noun, words::<T>)
}
