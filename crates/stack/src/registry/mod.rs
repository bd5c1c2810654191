//! One line per scheme and variant: the only room of the stack that names them.
//!
//! A line holds the name used in scenarios, the source, the configuration and the state. The registry makes three
//! things from it: the kind (a name), the configuration (which describes its own parameters, `Described`), and the
//! machine. The machine is an enum that dispatches to the hook without a virtual call. The command line, the scenario
//! reader and the legends take their lists from here.

mod agents;
mod aqms;
mod arqs;
mod custom;
mod intervals;
mod laws;
mod reactions;
mod recoveries;
mod schemes;
pub mod tcp;
mod variants;

pub use agents::{AgentConfig, AgentKind, AgentMachine};
pub use aqms::{AqmConfig, AqmKind, AqmMachine};
pub use arqs::{ArqConfig, ArqKind, ArqMachine, Learner, Station};
pub use custom::{BoxedAgent, CustomAgent, CustomAgentConfig};
pub use intervals::{IntervalConfig, IntervalKind, IntervalMachine, SlottedNode};
pub use laws::{CongestionKind, CongestionMachine, Custom, CustomLaw, LawConfig, Start};
pub use reactions::{ReactionConfig, ReactionKind, ReactionMachine};
pub use recoveries::{RecoveryKind, RecoveryMachine};
pub use schemes::Scheme;
pub use tcp::Parts;
pub use variants::{VARIANTS, Variant, VariantName, variant};

/// How figures draw a line: by numbers into their palette, markers and dashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// The colour.
    pub colour: u8,
    /// The marker.
    pub marker: u8,
    /// The dashes.
    pub dashes: u8,
}

/// A style by colour, marker and dashes.
const fn style(colour: u8, marker: u8, dashes: u8) -> Style {
    Style { colour, marker, dashes }
}

/// The description of a registered part.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name in scenarios.
    pub name: &'static str,
    /// The name in figures: as the field writes it.
    pub title: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
    /// Where it is defined.
    pub source: &'static str,
}

/// Makes the kind of a hook, its configurations and its machine from a line for each. With `each $` it also makes the macro
/// `each`, which calls a method of whichever the machine is: a macro that defines another one receives its `$`.
macro_rules! kinds {
    (each $dollar:tt; $(#[$doc:meta])* $kind:ident, $config:ident, $machine:ident;
     $($case:ident($type:ty), $settings:ty = $name:literal as $title:literal, $source:literal, $summary:literal;)+) => {
        kinds! {
            $(#[$doc])* $kind, $config, $machine;
            $($case($type), $settings = $name as $title, $source, $summary;)+
        }

        macro_rules! each {
            ($dollar machine:expr, $dollar part:ident => $dollar call:expr) => {
                match $dollar machine {
                    $($machine::$case($dollar part) => $dollar call,)+
                }
            };
        }
    };

    ($(#[$doc:meta])* $kind:ident, $config:ident, $machine:ident;
     $($case:ident($type:ty), $settings:ty = $name:literal as $title:literal, $source:literal, $summary:literal;)+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $kind {
            $(#[doc = $summary] $case,)+
        }

        impl $kind {
            /// All of them, in the order they are listed.
            pub const ALL: &'static [$kind] = &[$($kind::$case),+];

            /// Its description.
            #[must_use]
            pub fn entry(self) -> Entry {
                match self {
                    $($kind::$case => Entry { name: $name, title: $title, summary: $summary, source: $source },)+
                }
            }

            /// The one with this name.
            #[must_use]
            pub fn named(name: &str) -> Option<$kind> {
                $kind::ALL.iter().copied().find(|kind| kind.entry().name == name)
            }

            /// The description of each of its parameters, and its default.
            #[must_use]
            pub fn parameters(self) -> Vec<(&'static Spec, Setting)> {
                match self {
                    $($kind::$case => <$settings>::listing(),)+
                }
            }

            /// Its configuration, every parameter at its default.
            #[must_use]
            pub fn config(self) -> $config {
                match self {
                    $($kind::$case => $config::$case(Default::default()),)+
                }
            }
        }

        #[doc = "The configuration of one of them."]
        #[derive(Clone, Debug, PartialEq)]
        pub enum $config {
            $(#[doc = $summary] $case($settings),)+
        }

        impl $config {
            /// Which it configures.
            #[must_use]
            pub fn kind(&self) -> $kind {
                match self {
                    $($config::$case(_) => $kind::$case,)+
                }
            }

            /// The parameter whose value conflicts with those of others, and why.
            #[must_use]
            pub fn conflict(&self) -> Option<(&'static str, String)> {
                match self {
                    $($config::$case(config) => config.conflict(),)+
                }
            }

            /// The exception that it grants, if any.
            #[must_use]
            pub fn exception(&self) -> Option<Exception> {
                match self {
                    $($config::$case(config) => config.exception(),)+
                }
            }

            /// Sets the parameter of this name, whose domain the value is of.
            pub fn set(&mut self, name: &str, value: Setting) {
                match self {
                    $($config::$case(config) => config.set(name, value),)+
                }
            }
        }

        #[doc = "The state of one of them, dispatched without a virtual call."]
        #[derive(Clone, Debug)]
        #[allow(clippy::large_enum_variant, reason = "the small ones are rare where one is large")]
        pub enum $machine {
            $(#[doc = $summary] $case($type),)+
        }
    };
}

use kinds;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found_again() {
        for kind in RecoveryKind::ALL {
            assert_eq!(RecoveryKind::named(kind.entry().name), Some(*kind));
        }
        for kind in AgentKind::ALL {
            assert_eq!(AgentKind::named(kind.entry().name), Some(*kind));
        }
        for kind in AqmKind::ALL {
            assert_eq!(AqmKind::named(kind.entry().name), Some(*kind));
        }
        for kind in ReactionKind::ALL {
            assert_eq!(ReactionKind::named(kind.entry().name), Some(*kind));
        }
        for kind in IntervalKind::ALL {
            assert_eq!(IntervalKind::named(kind.entry().name), Some(*kind));
        }
        for line in VARIANTS {
            assert_eq!(variant(line.name).map(|found| found.summary), Some(line.summary));
            assert_eq!(VARIANTS.iter().filter(|other| other.style == line.style).count(), 1);
        }
        assert!(variant("renno").is_none());
    }

    #[test]
    fn each_default_is_taken_back_as_it_is_listed() {
        for kind in CongestionKind::ALL {
            let mut config = kind.config();
            for (spec, default) in kind.parameters().into_iter().filter(|(spec, _)| spec.only.is_empty()) {
                config.set(spec.name, default);
            }
            assert_eq!(config, kind.config());
        }
    }
}
