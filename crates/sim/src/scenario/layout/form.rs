//! The keys of one table: read once from the table of keys, whatever the number of tables.
//!
//! A reference from one key to another is within the same table, and is stored as a place in the form.

use super::super::keys::{Chooser, Default, Flavour, KEYS, Key, Only, Part, Preferred, Radio, Standard};
use super::super::keys::{Profiled, Unless, WESTWOOD_RECOVERY, text_of};
use super::super::roster::{EMPTY, Index, hashed};
use super::super::value::Value;
use lasthop_stack::hooks::parameter::Words;
use lasthop_stack::registry::{AqmKind, VARIANTS, Variant};
use lasthop_stack::transport::tcp::Profile;
use std::sync::{LazyLock, OnceLock};

/// The number of sections.
pub(super) const SECTIONS: usize = Section::ALL.len();

/// A part of a scenario, in the order of listings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Section {
    /// The keys before all tables.
    Head,
    Run,
    Nodes,
    Links,
    Flows,
    Agents,
}

impl Section {
    pub(super) const ALL: [Section; 6] =
        [Section::Head, Section::Run, Section::Nodes, Section::Links, Section::Flows, Section::Agents];

    /// Its name in a scenario.
    fn name(self) -> &'static str {
        ["", "run", "nodes", "links", "flows", "agents"][self as usize]
    }

    /// The section of this name.
    pub(super) fn named(name: &str) -> Option<Section> {
        Section::ALL[1..].iter().copied().find(|section| section.name() == name)
    }

    /// The section of a key, and what follows its name.
    pub(super) fn of(key: &str) -> (Section, &str) {
        let found = key.split_once('.').and_then(|(first, rest)| Some((Section::named(first)?, rest)));
        found.unwrap_or((Section::Head, key))
    }

    /// All keys of one of its tables, in the order of the table of keys.
    pub(in super::super) fn slots(self) -> &'static [Slot] {
        &Form::of(self).slots
    }

    /// Whether it has tables by name.
    fn is_named(self) -> bool {
        !matches!(self, Section::Head | Section::Run)
    }
}

/// All keys of a table of a section.
#[derive(Debug)]
pub(super) struct Form {
    /// In the order of the table of keys.
    pub(super) slots: Vec<Slot>,
    /// What has keys below it, sorted.
    tables: Vec<&'static str>,
    /// What follows the name of the table in each key.
    tails: Vec<&'static str>,
    index: Index,
}

/// One key.
#[derive(Debug)]
pub(in super::super) struct Slot {
    pub(in super::super) def: &'static Key,
    pub(in super::super) default: SlotDefault,
    pub(in super::super) only: Vec<SlotOnly>,
}

/// The default of a key with its values read and its keys found.
#[derive(Debug)]
pub(in super::super) enum SlotDefault {
    Required,
    Absent,
    Always(Value),
    /// The value at a place, and the default where that has no meaning.
    Like(usize, Option<Value>),
    Profile {
        profile: usize,
        values: ByProfile,
    },
    /// The values of each variant, with their source, by the name of the variant; `named` is a variant for which
    /// another key names it.
    Variant {
        variant: usize,
        part: Part,
        values: Vec<(&'static str, Value, &'static str)>,
        named: Option<(&'static str, usize)>,
    },
    /// The key that overrules, its values, and what they need.
    Unless {
        profile: usize,
        values: ByProfile,
        key: usize,
        unless: Unless,
        then: Vec<Value>,
    },
    /// `words` are the places of standard, flavour and radio.
    Preset {
        kind: usize,
        words: [usize; 3],
        presets: Presets,
        otherwise: Option<Value>,
        /// The place of the stations, and the default where none of them has a position.
        unplaced: Option<(usize, Value)>,
        /// The place of the management of the queue, and the default of each that has one, with its source.
        managed: Option<(usize, ByLaw)>,
    },
    Follows {
        key: usize,
        value: &'static str,
        then: Value,
        or: Value,
    },
}

/// The default under each law that has one, with its source.
pub(in super::super) type ByLaw = Vec<(&'static str, Value, &'static str)>;

/// The default of each profile and its source.
#[derive(Debug)]
pub(in super::super) struct ByProfile {
    pub(in super::super) ns2: (Value, &'static str),
    pub(in super::super) modern: (Value, &'static str),
    pub(in super::super) rfc: (Value, &'static str),
}

/// The defaults under each standard, flavour and radio, each read when it is first needed.
#[derive(Debug)]
pub(in super::super) struct Presets {
    def: &'static Key,
    preferred: Preferred,
    values: Vec<OnceLock<Option<Chosen>>>,
}

/// A default of a preset, the key it comes from, and where it is published.
type Chosen = (Value, Chooser, &'static str);

impl Presets {
    fn new(def: &'static Key, preferred: Preferred) -> Presets {
        let count = Standard::WORDS.len() * Flavour::WORDS.len() * Radio::WORDS.len();
        Presets { def, preferred, values: (0..count).map(|_| OnceLock::new()).collect() }
    }

    /// The default under these words.
    pub(in super::super) fn of(&self, standard: Standard, flavour: Flavour, radio: Radio) -> Option<&Chosen> {
        let number = standard as usize * Flavour::WORDS.len() + flavour as usize;
        let number = number * Radio::WORDS.len() + radio as usize;
        let read = || {
            let (text, chooser, source) = self.preferred.of(standard, flavour, radio);
            Some((self.def.read_text(&text)?, chooser, source))
        };
        self.values[number].get_or_init(read).as_ref()
    }
}

/// [`Only`] with its keys found.
#[derive(Debug)]
pub(in super::super) enum SlotOnly {
    Is(usize, &'static [&'static str]),
    /// A law, by the places of the law in force and of the judges.
    Law([usize; 2], &'static str),
    Given(usize),
    Without(usize),
    /// A transport, by the place of the kind of source that may choose it.
    Tcp(usize),
    Udp(usize),
    Quic(usize),
}

/// The keys of one table, or those of them below one name.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Keys {
    form: &'static Form,
    /// The first slot of the table.
    first: usize,
    /// The name followed by a dot; empty for the whole table.
    prefix: (&'static str, &'static str),
    /// The hash of the prefix, which that of a key continues.
    hash: u64,
}

impl Keys {
    /// The slot of a key, given by what follows the prefix.
    pub(in super::super) fn slot(&self, tail: &str) -> Option<usize> {
        let (name, point) = self.prefix;
        let is_meant = |place: usize| {
            let rest = self.form.tails[place].strip_prefix(name).and_then(|rest| rest.strip_prefix(point));
            rest == Some(tail)
        };
        self.form.index.find(hashed(self.hash, tail), is_meant).map(|place| self.first + place)
    }

    /// Those below a name of the table that is not itself a key, such as `app.reverse`.
    pub(in super::super) fn below(&self, name: &'static str) -> Keys {
        Keys { prefix: (name, "."), hash: hashed(hashed(EMPTY, name), "."), ..*self }
    }
}

static FORMS: LazyLock<[Form; SECTIONS]> = LazyLock::new(|| Section::ALL.map(Form::new));

impl Form {
    /// The form of the tables of a section.
    pub(super) fn of(section: Section) -> &'static Form {
        &FORMS[section as usize]
    }

    /// The keys of the table with this first slot.
    pub(super) fn keys(&'static self, first: usize) -> Keys {
        Keys { form: self, first, prefix: ("", ""), hash: EMPTY }
    }

    /// Whether there is a key below this one, which may be the table itself.
    pub(super) fn has_below(&self, prefix: &str) -> bool {
        let tables = &self.tables;
        prefix.is_empty() || tables.binary_search_by(|table| (*table).cmp(prefix)).is_ok()
    }

    fn new(section: Section) -> Form {
        let tail = |path: &'static str| match Section::of(path) {
            (found, rest) if found == section && section.is_named() => rest.strip_prefix("*."),
            (found, rest) if found == section && (section != Section::Head || !rest.contains('.')) => {
                Some(rest)
            }
            _ => None,
        };
        let keys = || KEYS.iter().filter_map(|key| Some((key, tail(key.path)?)));
        let tails: Vec<&str> = keys().map(|(_, tail)| tail).collect();
        let mut tables: Vec<&str> =
            tails.iter().flat_map(|tail| tail.match_indices('.').map(|(at, _)| &tail[..at])).collect();
        tables.sort_unstable();
        tables.dedup();
        let mut index = Index::default();
        tails.iter().enumerate().for_each(|(place, tail)| index.insert(hashed(EMPTY, tail), place));
        let mut form = Form { slots: Vec::new(), tables, tails, index };
        keys().for_each(|(key, _)| form.add(key));
        form
    }

    fn add(&mut self, def: &'static Key) {
        let only = def.only.iter().map(|only| match only {
            Only::Is(other, values) => SlotOnly::Is(self.at(other), values),
            Only::Law(law) => {
                SlotOnly::Law(["congestion", "judges"].map(|key| self.at(&format!("flows.*.tcp.{key}"))), law)
            }
            Only::Given(other) => SlotOnly::Given(self.at(other)),
            Only::Without(other) => SlotOnly::Without(self.at(other)),
            Only::Tcp => SlotOnly::Tcp(self.at("flows.*.app.kind")),
            Only::Udp => SlotOnly::Udp(self.at("flows.*.app.kind")),
            Only::Quic => SlotOnly::Quic(self.at("flows.*.app.kind")),
        });
        let only = only.collect();
        let default = match def.default {
            Default::Required => SlotDefault::Required,
            Default::Absent => SlotDefault::Absent,
            Default::Text(text) => SlotDefault::Always(read(def, text)),
            Default::Like(other) => {
                let place = self.at(other);
                let own = match self.slots[place].def.default {
                    Default::Text(text) => Some(read(def, text)),
                    _ => None,
                };
                SlotDefault::Like(place, own)
            }
            Default::Profile(by) => {
                SlotDefault::Profile { profile: self.at("flows.*.tcp.profile"), values: by_profile(def, by) }
            }
            Default::Variant(part) => SlotDefault::Variant {
                variant: self.at("flows.*.tcp.variant"),
                part,
                values: by_variant(part),
                named: (part == Part::Recovery).then(|| (WESTWOOD_RECOVERY.0, self.at(WESTWOOD_RECOVERY.1))),
            },
            Default::Unless(unless) => SlotDefault::Unless {
                profile: self.at("flows.*.tcp.profile"),
                values: by_profile(def, unless.by),
                key: self.at(unless.key),
                unless,
                then: unless.cases.iter().map(|case| read(def, &text_of(case.then))).collect(),
            },
            Default::Preset(preferred) => SlotDefault::Preset {
                kind: self.at("links.*.kind"),
                words: ["standard", "flavour", "radio"].map(|key| self.at(&format!("links.*.{key}"))),
                presets: Presets::new(def, preferred),
                otherwise: preferred.otherwise.map(|text| read(def, text)),
                unplaced: preferred.unplaced.map(|text| (self.at("links.*.nodes"), read(def, text))),
                managed: preferred.managed.then(|| {
                    let of = |(law, packets, source)| (law, read(def, &format!("{packets} packets")), source);
                    (self.at("links.*.aqm.law"), AqmKind::limits().map(of).collect())
                }),
            },
            Default::Follows { key, value, then, or } => {
                SlotDefault::Follows { key: self.at(key), value, then: read(def, then), or: read(def, or) }
            }
        };
        self.slots.push(Slot { def, default, only });
    }

    /// The place of a key, which the table lists before those that refer to it.
    fn at(&self, path: &str) -> usize {
        let found = self.slots.iter().position(|slot| slot.def.path == path);
        found.unwrap_or_else(|| panic!("{path}: no earlier key of the same table"))
    }
}

/// Reads a default of the table.
fn read(def: &'static Key, text: &str) -> Value {
    def.read_text(text).unwrap_or_else(|| panic!("{}: default {text:?} is not legal", def.path))
}

fn by_profile(def: &'static Key, by: Profiled) -> ByProfile {
    let of = |profile: Profile| {
        let (text, source) = by.of(profile);
        (read(def, &text), source)
    };
    ByProfile { ns2: of(Profile::Ns2Of2004), modern: of(Profile::Modern), rfc: of(Profile::Rfc) }
}

fn by_variant(part: Part) -> Vec<(&'static str, Value, &'static str)> {
    let of = |variant: &Variant| {
        let entry = match part {
            Part::Recovery => variant.recovery.entry(),
            Part::Congestion => variant.congestion.entry(),
        };
        (variant.name, Value::Text(entry.name.to_string()), entry.source)
    };
    VARIANTS.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_found_by_its_end_and_below_what_stands_before_it() {
        for section in Section::ALL {
            let form = Form::of(section);
            let keys = form.keys(1000);
            for (place, slot) in form.slots.iter().enumerate() {
                let tail = Section::of(slot.def.path).1.trim_start_matches("*.");
                assert_eq!(keys.slot(tail), Some(1000 + place), "{tail}");
                for (at, _) in tail.match_indices('.') {
                    assert_eq!(keys.below(&tail[..at]).slot(&tail[at + 1..]), Some(1000 + place), "{tail}");
                    assert!(form.has_below(&tail[..at]));
                }
                assert!(!form.has_below(&tail[..tail.len() - 1]), "{tail}");
            }
            assert_eq!(keys.slot("no-such-key"), None);
            assert_eq!(keys.below("no-such-key").slot("kind"), None);
            assert!(!form.has_below("no-such-key"));
        }
    }
}
