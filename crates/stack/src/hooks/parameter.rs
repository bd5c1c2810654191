//! A scheme's description of its parameters, from which a host makes its reader, listings and documentation.

mod setting;
mod spec;
mod value;
mod words;

pub use crate::words;
pub use setting::Setting;
pub use spec::{Case, Domain, Follows, Limit, Published, Spec, Unless};
pub use value::{Value, choices, kind};
pub use words::{Words, words};

/// The longest time that a scenario may name: 31 years.
pub const LONGEST: &str = "1000000000 s";

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
        #[allow(clippy::large_stack_arrays, reason = "a constant is not on the stack")]
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

#[doc(hidden)]
pub mod testing;
#[cfg(test)]
mod tests;
