//! The description of a key of a scenario: its place, kind of value, default, meaning, source and when it is legal.
//!
//! Everything else about keys comes from the one table in `table.rs`: validation, messages, the resolved listing,
//! `explain` and the JSON Schema.

mod agents;
mod air;
mod apps;
mod aqm;
mod arq;
mod channel;
mod described;
mod edca;
mod events;
mod figures;
mod frn;
mod judges;
pub mod kinds;
mod links;
mod nodes;
mod ofdma;
mod pcf;
mod preset;
mod quic;
mod records;
mod shared;
mod table;
mod transport;
mod users;
mod values;
mod wires;
pub(super) mod words;

use super::decimal::Decimal;
use super::quantity::{Dim, Quantity};
use super::value::Value;
use lasthop_stack::hooks::parameter::{Case, Published, Setting};
use lasthop_stack::registry::tcp;
use lasthop_stack::transport::tcp::Profile;

pub(super) use described::{setting, text_of};
pub(super) use preset::{Chooser, Preferred, Wifi};
pub(super) use table::{FORMAT, KEYS};
pub use words::{APPS, FIGURES, LOSS_MODELS, Named, PANELS, STANDARDS};
pub(super) use words::{App, EDCA_STANDARDS, Figure, Flavour, Panel, Radio, Standard};

/// One key. `*` in its path is the name of a node, link, flow or agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) path: &'static str,
    pub(super) kind: Kind,
    /// Words that are legal besides the kind, such as `none`.
    pub(super) words: &'static [&'static str],
    pub(super) least: Option<Bound>,
    pub(super) most: Option<Bound>,
    pub(super) default: Default,
    pub(super) meaning: &'static str,
    pub(super) source: &'static str,
    pub(super) only: &'static [Only],
}

/// The kind of value a key takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A number and a unit of one of these dimensions.
    Quantity(&'static [Dim], &'static str),
    /// A whole number.
    Integer,
    /// A real number.
    Number,
    /// `true` or `false`.
    Bool,
    /// One of a list of words, described by a noun.
    Word(&'static str, fn() -> Vec<&'static str>),
    /// Any text.
    Text,
    /// The name of a node.
    Node,
    /// The name of a link.
    Link,
    /// The names of two or more nodes.
    Nodes,
    /// The names of one or more stations of the link.
    Stations,
    /// One or more of a list of words, each described by a noun.
    Words(&'static str, fn() -> Vec<&'static str>),
    /// The names of flows.
    Flows,
    /// Bit rates.
    Rates,
    /// Two lengths.
    Position,
    /// Whole numbers from 1, ascending.
    Ordinals,
    /// Whole numbers from 1.
    Integers,
    /// The path of a swept key.
    SweptKey,
    /// The name of a metric.
    Metric,
    /// The name of a metric, or of several.
    Metrics,
    /// Swept keys and one of their values each.
    Where,
    /// Swept values and the label of each in a figure.
    Names,
}

/// The value that a key has when nothing sets it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Default {
    /// It must be set.
    Required,
    /// It has none and is left out.
    Absent,
    /// Always this text.
    Text(&'static str),
    /// The value of another key.
    Like(&'static str),
    /// The value in the profile of the flow.
    Profile(Profiled),
    /// The part of the pair that `tcp.variant` names.
    Variant(Part),
    /// The value given by the standard, flavour or radio of the link.
    Preset(Preferred),
    /// One word where another key has a certain value, and else another.
    Follows { key: &'static str, value: &'static str, then: &'static str, or: &'static str },
    /// The value in the profile, except for certain values of another key, which require another.
    Unless(Unless),
}

/// A default of each TCP profile and where each comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Profiled {
    pub(super) value: fn(&tcp::Config) -> Setting,
    pub(super) published: Published,
}

impl Profiled {
    /// The default of a profile, and where it is published.
    pub(super) fn of(&self, profile: Profile) -> (String, &'static str) {
        let Published { ns2, modern, rfc } = self.published;
        let source = match profile {
            Profile::Ns2Of2004 => ns2,
            Profile::Modern => modern,
            Profile::Rfc => rfc.unwrap_or(modern),
        };
        (text_of((self.value)(&profile.config())), source)
    }
}

/// A default of each profile that certain values of another key overrule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unless {
    pub(super) by: Profiled,
    pub(super) key: &'static str,
    pub(super) cases: &'static [Case],
    /// The profile that is concerned, if it is one alone.
    pub(super) under: Option<&'static str>,
}

impl Unless {
    /// The place of the case that this value is one of.
    pub(super) fn case(&self, value: &Value) -> Option<usize> {
        self.cases.iter().position(|case| case.words.iter().any(|word| value.is(word)))
    }

    /// Whether flows of this profile are concerned.
    pub(super) fn concerns(&self, profile: Option<&Value>) -> bool {
        self.under.is_none_or(|word| profile.is_some_and(|value| value.is(word)))
    }
}

/// The variant whose recovery a key of its own names, and that key.
pub(super) const WESTWOOD_RECOVERY: (&str, &str) = ("westwood", "flows.*.tcp.westwood.recovery");

/// A part of a `tcp.variant`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Recovery,
    Congestion,
}

/// A limit of a quantity or number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub(super) text: &'static str,
    /// Whether the limit itself is legal.
    pub(super) included: bool,
}

/// When a key has a meaning. All conditions of a key hold together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Only {
    /// Another key has one of these values.
    Is(&'static str, &'static [&'static str]),
    /// A congestion law governs the flow or judges its losses.
    Law(&'static str),
    /// Another key, which has no default, is set.
    Given(&'static str),
    /// Another key, which has no default, is not set.
    Without(&'static str),
    /// The flow runs over TCP.
    Tcp,
    /// The flow runs over UDP.
    Udp,
    /// The flow runs over QUIC.
    Quic,
}

impl Key {
    /// A required key.
    const fn new(path: &'static str, kind: Kind, meaning: &'static str) -> Key {
        let (words, only): (&[&str], &[Only]) = (&[], &[]);
        let default = Default::Required;
        Key { path, kind, words, least: None, most: None, default, meaning, source: "", only }
    }

    const fn default(self, text: &'static str) -> Key {
        Key { default: Default::Text(text), ..self }
    }

    const fn absent(self) -> Key {
        Key { default: Default::Absent, ..self }
    }

    const fn like(self, other: &'static str) -> Key {
        Key { default: Default::Like(other), ..self }
    }

    const fn profile(self, value: fn(&tcp::Config) -> Setting, published: Published) -> Key {
        Key { default: Default::Profile(Profiled { value, published }), ..self }
    }

    const fn part_of_variant(self, part: Part) -> Key {
        Key { default: Default::Variant(part), ..self }
    }

    const fn source(self, source: &'static str) -> Key {
        Key { source, ..self }
    }

    const fn or(self, words: &'static [&'static str]) -> Key {
        Key { words, ..self }
    }

    const fn at_least(self, text: &'static str) -> Key {
        Key { least: Some(Bound { text, included: true }), ..self }
    }

    const fn above(self, text: &'static str) -> Key {
        Key { least: Some(Bound { text, included: false }), ..self }
    }

    const fn at_most(self, text: &'static str) -> Key {
        Key { most: Some(Bound { text, included: true }), ..self }
    }

    const fn only(self, only: &'static [Only]) -> Key {
        Key { only, ..self }
    }

    /// The path as users read it: `links.NAME.rate`.
    pub(super) fn shown(&self) -> String {
        shown(self.path)
    }

    /// Whether a part of a run is described by this key: neither head nor sweep nor figure.
    pub(super) fn is_setting(&self) -> bool {
        ["run.", "nodes.", "links.", "flows.", "agents."].iter().any(|section| self.path.starts_with(section))
    }

    /// Whether members of a group may have different values: all but what makes the group.
    pub(super) fn may_differ(&self) -> bool {
        match self.path.split_once(".*.") {
            Some(("flows", tail)) => !["from", "to", "count", "seed"].contains(&tail),
            Some(("nodes", tail)) => ["position", "distance"].contains(&tail) || tail.starts_with("wifi."),
            Some(("links", tail)) => {
                let of_direction = tail.strip_prefix("reverse.").unwrap_or(tail);
                ["rate", "delay", "queue", "loss.rate"].contains(&of_direction)
            }
            _ => false,
        }
    }

    /// Whether this key states how often, for how long or in which way a run is made, but not what it computes.
    pub(super) fn is_outside_result(&self) -> bool {
        matches!(
            self.path,
            "run.seed"
                | "run.replications"
                | "run.max-events"
                | "run.max-wall"
                | "run.max-memory"
                | "run.plain"
        )
    }
}

impl Bound {
    /// The limit as a number in base units.
    pub(super) fn base(self) -> Option<Decimal> {
        Quantity::parse(self.text).ok().map(|quantity| quantity.base).or_else(|| Decimal::parse(self.text))
    }

    /// The dimension it limits; `None` for a bare number.
    pub(super) fn dim(self) -> Option<Dim> {
        Quantity::parse(self.text).ok().map(|quantity| quantity.dim)
    }
}

impl Only {
    /// In words, for `explain` and messages.
    pub(super) fn text(self) -> String {
        match self {
            Only::Is(key, values) => {
                let values: Vec<String> = values.iter().map(|value| as_written(value)).collect();
                format!("{} = {}", shown(key), values.join(" or "))
            }
            Only::Law(law) => {
                format!("flows.NAME.tcp.congestion = \"{law}\" or flows.NAME.tcp.judges with it")
            }
            Only::Given(key) => format!("{} = a number", shown(key)),
            Only::Without(key) => format!("a table without {}", shown(key)),
            Only::Tcp => "a flow over tcp".to_string(),
            Only::Udp => "a flow over udp".to_string(),
            Only::Quic => "a flow over quic".to_string(),
        }
    }
}

/// A value of a condition as a file has it.
fn as_written(value: &str) -> String {
    if matches!(value, "true" | "false") { value.to_string() } else { format!("\"{value}\"") }
}

/// A pattern as users read it.
pub(super) fn shown(pattern: &str) -> String {
    pattern.split('.').map(|part| if part == "*" { "NAME" } else { part }).collect::<Vec<_>>().join(".")
}

/// The key that a concrete path such as `links.r2-d.rate` belongs to.
pub(super) fn find(path: &[&str]) -> Option<&'static Key> {
    KEYS.iter().find(|key| {
        let mut parts = key.path.split('.');
        path.iter().all(|segment| parts.next().is_some_and(|part| part == "*" || part == *segment))
            && parts.next().is_none()
    })
}

/// The replacement of a key of an agent that belongs to one kind, and is therefore under its name.
pub(super) fn moved(path: &[&str]) -> Option<String> {
    let ["agents", agent, name] = path else { return None };
    let end = format!(".{name}");
    let keys = KEYS.iter().filter(|key| key.path.starts_with("agents.*.") && key.path.ends_with(&end));
    let kinds: Vec<&str> = keys.filter_map(|key| key.path.split('.').nth(2)).collect();
    let found: Vec<String> = kinds
        .iter()
        .map(|kind| format!("agents.{agent}.{kind}.{name} where the kind is \"{kind}\""))
        .collect();
    (!found.is_empty()).then(|| format!("is a key of one kind of agent; expected {}", found.join(" or ")))
}

/// The names that may follow this path, in the order of the table; `*` where any name may.
pub(super) fn children(path: &[&str]) -> Vec<&'static str> {
    let mut found: Vec<&'static str> = Vec::new();
    for key in KEYS.iter() {
        let mut parts = key.path.split('.');
        let fits =
            path.iter().all(|segment| parts.next().is_some_and(|part| part == "*" || part == *segment));
        if let Some(next) = parts.next().filter(|_| fits)
            && !found.contains(&next)
        {
            found.push(next);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_unique_and_bounds_are_readable() {
        for key in KEYS.iter() {
            let parts: Vec<&str> = key.path.split('.').collect();
            assert!(find(&parts).is_some_and(|found| std::ptr::eq(found, key)), "{}", key.path);
            for bound in [key.least, key.most].into_iter().flatten() {
                assert!(bound.base().is_some(), "{}: {}", key.path, bound.text);
            }
            assert!(!key.meaning.is_empty());
        }
    }

    #[test]
    fn a_word_in_a_condition_or_a_default_is_one_of_its_key() {
        let words = |key: &Key| match key.kind {
            Kind::Word(_, words) | Kind::Words(_, words) => [words(), key.words.to_vec()].concat(),
            Kind::Bool => vec!["true", "false"],
            _ => key.words.to_vec(),
        };
        let takes = |path: &str, word: &str| {
            let key = KEYS.iter().find(|key| key.path == path).unwrap();
            assert!(words(key).contains(&word), "{path}: {word}");
        };
        for key in KEYS.iter() {
            for only in key.only {
                if let Only::Is(other, values) = only {
                    values.iter().for_each(|word| takes(other, word));
                }
            }
            let is_choice = matches!(key.kind, Kind::Word(..) | Kind::Bool);
            match key.default {
                Default::Text(text) if is_choice => takes(key.path, text),
                Default::Follows { key: other, value, then, or } => {
                    takes(other, value);
                    [then, or].into_iter().filter(|_| is_choice).for_each(|word| takes(key.path, word));
                }
                Default::Unless(unless) => {
                    for case in unless.cases {
                        case.words.iter().for_each(|word| takes(unless.key, word));
                        takes(key.path, &text_of(case.then));
                    }
                }
                _ => {}
            }
        }
    }

    #[test]
    fn a_condition_names_a_key_that_stands_before_it() {
        for (index, key) in KEYS.iter().enumerate() {
            for only in key.only {
                let named = match only {
                    Only::Is(other, _) | Only::Given(other) | Only::Without(other) => Some(*other),
                    Only::Law(_) => Some("flows.*.tcp.judges"),
                    Only::Tcp | Only::Udp | Only::Quic => None,
                };
                if let Some(other) = named {
                    assert!(KEYS[..index].iter().any(|earlier| earlier.path == other), "{}", key.path);
                }
            }
            if let Default::Like(other) | Default::Follows { key: other, .. } = key.default {
                assert!(KEYS[..index].iter().any(|earlier| earlier.path == other), "{}", key.path);
            }
        }
    }
}
