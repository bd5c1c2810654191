//! A scheme's description of its parameters, from which a host makes its reader, listings and documentation.

mod value;
mod words;

pub use crate::words;
pub use value::{Value, choices, kind};
pub use words::{Words, words};

use crate::units::{Bytes, Span};

/// The longest time that a scenario may name: 31 years.
pub const LONGEST: &str = "1000000000 s";

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
    /// One of the words of the parameter.
    Word(&'static str),
}

/// The values of a parameter, other than the words it names.
#[derive(Clone, Copy, Debug)]
pub enum Domain {
    /// Yes or no.
    Flag,
    /// A whole number.
    Count,
    /// A real number.
    Number,
    /// A share.
    Share,
    /// A time, usually written in this unit.
    Time(&'static str),
    /// Bytes.
    Size,
    /// Segments.
    Segments,
    /// One of these words and nothing else, described by this noun.
    Words(&'static str, fn() -> Vec<&'static str>),
}

/// A limit of the values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// The limit, in the text of a scenario: `10 s`, `0.5`.
    pub text: &'static str,
    /// Whether the limit itself is allowed.
    pub included: bool,
}

/// A default that another parameter of the scheme changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Follows {
    /// The other parameter; the name of one of the endpoint begins with `tcp.`.
    pub name: &'static str,
    /// The word it has.
    pub word: &'static str,
    /// The default under that word.
    pub default: Setting,
}

/// The description of a parameter.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Its name within its scheme.
    pub name: &'static str,
    /// Its domain.
    pub domain: Domain,
    /// Words that it also takes.
    pub words: &'static [&'static str],
    /// The least value.
    pub least: Option<Limit>,
    /// The greatest value.
    pub most: Option<Limit>,
    /// Its meaning.
    pub meaning: &'static str,
    /// Where its default is published.
    pub source: &'static str,
    /// It has an effect only where each of these parameters has one of these words.
    pub only: &'static [(&'static str, &'static [&'static str])],
    /// A default that depends on another parameter.
    pub follows: Option<Follows>,
}

/// A parameter of a scheme with the configuration `C`, of which [`parameters!`](crate::parameters) declares a list.
#[derive(Debug)]
pub struct Parameter<C: 'static> {
    /// Its description.
    pub spec: Spec,
    /// Its value in a configuration.
    pub get: fn(&C) -> Setting,
    /// Sets its value. Parameters are set in the order of their list, so that one may refine another before it.
    pub set: fn(&mut C, Setting),
}

/// Information or space that no real protocol has: results made with it carry its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exception {
    /// The parameter that grants it.
    pub parameter: &'static str,
    /// The label of results made with it, in tables and figures.
    pub label: &'static str,
    /// What is granted, and why no real protocol has it.
    pub meaning: &'static str,
}

/// A configuration that describes its own parameters.
pub trait Described: Default + 'static {
    /// The parameters, in the order of listings; each after those that its conditions name.
    const PARAMETERS: &'static [Parameter<Self>];

    /// The parameter whose value conflicts with those of others, and why.
    fn conflict(&self) -> Option<(&'static str, String)> {
        None
    }

    /// The exception that the configuration grants, if any.
    fn exception(&self) -> Option<Exception> {
        None
    }

    /// Sets the parameter of this name, whose domain the value is of.
    fn set(&mut self, name: &str, value: Setting) {
        if let Some(parameter) = Self::PARAMETERS.iter().find(|parameter| parameter.spec.name == name) {
            (parameter.set)(self, value);
        }
    }

    /// The description and the default of each parameter.
    #[must_use]
    fn listing() -> Vec<(&'static Spec, Setting)> {
        let config = Self::default();
        Self::PARAMETERS.iter().map(|parameter| (&parameter.spec, (parameter.get)(&config))).collect()
    }
}

/// A scheme without parameters.
impl Described for () {
    const PARAMETERS: &'static [Parameter<()>] = &[];
}

impl Spec {
    /// A parameter without limits and conditions.
    #[must_use]
    pub const fn new(name: &'static str, domain: Domain, meaning: &'static str) -> Spec {
        Spec {
            name,
            domain,
            words: &[],
            least: None,
            most: None,
            meaning,
            source: "",
            only: &[],
            follows: None,
        }
    }

    /// The words that it also takes.
    #[must_use]
    pub const fn words(mut self, words: &'static [&'static str]) -> Spec {
        self.words = words;
        self
    }

    /// Where its default is published.
    #[must_use]
    pub const fn source(mut self, source: &'static str) -> Spec {
        self.source = source;
        self
    }

    /// The least value, which is allowed.
    #[must_use]
    pub const fn at_least(mut self, text: &'static str) -> Spec {
        self.least = Some(Limit { text, included: true });
        self
    }

    /// The value that it must exceed.
    #[must_use]
    pub const fn above(mut self, text: &'static str) -> Spec {
        self.least = Some(Limit { text, included: false });
        self
    }

    /// The greatest value, which is allowed.
    #[must_use]
    pub const fn at_most(mut self, text: &'static str) -> Spec {
        self.most = Some(Limit { text, included: true });
        self
    }

    /// Where it has an effect.
    #[must_use]
    pub const fn only(mut self, only: &'static [(&'static str, &'static [&'static str])]) -> Spec {
        self.only = only;
        self
    }

    /// Another default where the parameter `name` has the value `word`.
    #[must_use]
    pub const fn follows(mut self, name: &'static str, word: &'static str, default: Setting) -> Spec {
        self.follows = Some(Follows { name, word, default });
        self
    }
}

/// Declares the [parameters](Described::PARAMETERS) of a configuration. Each has a meaning, a name, a kind, which is a
/// variant of [`Domain`], and the field that it sets. Its limits, conditions and source are methods of [`Spec`].
///
/// A field that is an option has a word for none. A parameter of several schemes is described once, by a [`Spec`]. One
/// that does not set a field has two functions: one returns its value, the other sets it.
///
/// ```
/// use lasthop_stack::hooks::parameter::{Described, Domain, LONGEST, Spec, parameters};
/// use lasthop_stack::units::Span;
///
/// const IDLE: Spec = Spec::new("idle", Domain::Time("s"), "idle time after which a flow is removed");
///
/// #[derive(Default)]
/// struct Config { cache: u32, wait: Option<Span>, idle: Span, squared: f64 }
///
/// impl Described for Config {
///     parameters! {
///         /// maximum number of segments kept per flow
///         "cache": Count = cache, at_least("1"), at_most("1000000"), source("ns-2: Snoop");
///         /// time for which an acknowledgement is kept, or never: until the next one
///         "wait": Time("ms") or "never" = wait, above("0 s"), at_most(LONGEST);
///         /// weight of a sample
///         "weight": Number = (|config| config.squared.sqrt(), |config, weight: f64| config.squared = weight * weight);
///         IDLE: Time = idle, at_most("1 s");
///     }
/// }
///
/// assert_eq!(Config::listing().len(), 4);
/// ```
///
/// A kind that does not fit the field, or is not that of the shared description, does not compile:
///
/// ```compile_fail,E0277
/// # use lasthop_stack::hooks::parameter::{Described, parameters};
/// # #[derive(Default)]
/// # struct Config { cache: u32 }
/// impl Described for Config {
///     parameters! {
///         /// maximum number of segments kept per flow
///         "cache": Time("ms") = cache;
///     }
/// }
/// ```
///
/// ```compile_fail,E0080
/// # use lasthop_stack::hooks::parameter::{Described, Domain, Spec, parameters};
/// # #[derive(Default)]
/// # struct Config { cache: u32 }
/// # const IDLE: Spec = Spec::new("idle", Domain::Time("s"), "idle time after which a flow is removed");
/// impl Described for Config {
///     parameters! {
///         IDLE: Count = cache;
///     }
/// }
/// ```
#[macro_export]
macro_rules! parameters {
    ($($(#[doc = $line:literal])* $($name:literal)? $($shared:path)?: $kind:ident $(($of:literal))? $(or $word:literal)?
        = $($place:tt).+ $(, $detail:ident($($argument:expr),*))*;)*) => {
        const PARAMETERS: &'static [$crate::hooks::parameter::Parameter<Self>] = &[$(
            $crate::hooks::parameter::Parameter {
                spec: $crate::parameters!(@spec $($name)? $($shared)?, $kind $(($of))?, [$($line)*], [$($place).+])
                    $(.words(&[$word]))? $(.$detail($($argument),*))*,
                get: |config| $crate::parameters!(@get config, $kind $($word)?, [$($place).+]),
                set: |config, value| $crate::parameters!(@set config, value, $kind $($word)?, [$($place).+]),
            }
        ),*];
    };

    // The description: of its own, or shared and of the kind named.
    (@spec $name:literal, $kind:ident $(($of:literal))?, [$($line:literal)+], [$($place:tt).+]) => {
        $crate::hooks::parameter::Spec::new(
            $name,
            $crate::parameters!(@domain $kind $(($of))?, [$($place).+]),
            concat!($($line),+).trim_ascii_start(),
        )
    };
    (@spec $shared:path, $kind:ident, [], [$($place:tt).+]) => {{
        const _: () = assert!(matches!($shared.domain, $crate::hooks::parameter::Domain::$kind { .. }), "another kind");
        $shared
    }};
    (@domain Words($noun:literal), [$($place:tt).+]) => {
        $crate::hooks::parameter::choices($noun, |config: &Self| $crate::parameters!(@read config, [$($place).+]))
    };
    (@domain $kind:ident $(($unit:literal))?, [$($place:tt).+]) => {
        $crate::hooks::parameter::Domain::$kind $(($unit))?
    };

    // The value as a setting, which may be the word for none.
    (@get $config:ident, $kind:ident, $place:tt) => {
        $crate::hooks::parameter::Value::<$crate::hooks::parameter::kind::$kind>::setting(
            $crate::parameters!(@read $config, $place)
        )
    };
    (@get $config:ident, $kind:ident $word:literal, $place:tt) => {
        $crate::parameters!(@read $config, $place).map_or(
            $crate::hooks::parameter::Setting::Word($word),
            $crate::hooks::parameter::Value::<$crate::hooks::parameter::kind::$kind>::setting,
        )
    };
    (@set $config:ident, $value:ident, $kind:ident, $place:tt) => {
        $crate::parameters!(
            @write $config, $place,
            $crate::hooks::parameter::Value::<$crate::hooks::parameter::kind::$kind>::of($value)
        )
    };
    (@set $config:ident, $value:ident, $kind:ident $word:literal, $place:tt) => {
        $crate::parameters!(
            @write $config, $place,
            (!$value.is($word))
                .then(|| $crate::hooks::parameter::Value::<$crate::hooks::parameter::kind::$kind>::of($value))
        )
    };

    // The value in the configuration: a field, or what two functions read and write.
    (@read $config:ident, [($get:expr, $set:expr $(,)?)]) => {{
        let get: fn(&Self) -> _ = $get;
        get($config)
    }};
    (@read $config:ident, [$($field:tt).+]) => { $config.$($field).+ };
    (@write $config:ident, [($get:expr, $set:expr $(,)?)], $value:expr) => {{
        let set: fn(&mut Self, _) = $set;
        set($config, $value);
    }};
    (@write $config:ident, [$($field:tt).+], $value:expr) => { $config.$($field).+ = $value };
}

pub use parameters;

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

    /// The value of a real number or a share.
    #[must_use]
    pub fn number(self) -> f64 {
        match self {
            Setting::Number(value) | Setting::Share(value) => value,
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

#[cfg(test)]
mod tests;
