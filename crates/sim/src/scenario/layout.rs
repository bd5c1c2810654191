//! The concrete keys of one scenario: the table of keys, with the names of its nodes, links, flows and agents filled in.

use super::error::unknown;
use super::keys::{self, Default, KEYS, Key, Only, Part, Preferred, Profiled, Unless};
use super::value::{Names, Value};
use lasthop_stack::link::dot11::PcfConfig;
use lasthop_stack::schemes::lle_tcp::{self, Criterion, Mode};
use lasthop_stack::transport::congestion::Laws;
use lasthop_stack::transport::tcp::Profile;
use std::collections::BTreeMap;
use std::ops::Deref;

/// All keys that the scenario could set.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) nodes: Roster,
    pub(super) links: Roster,
    pub(super) flows: Roster,
    pub(super) agents: Roster,
    /// In the order of listings.
    pub(super) slots: Vec<Slot>,
    index: BTreeMap<String, usize>,
}

/// The names that a section defines, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Roster {
    names: Vec<String>,
    places: BTreeMap<String, usize>,
}

impl Roster {
    fn new(names: Vec<String>) -> Roster {
        let places = names.iter().cloned().zip(0..).collect();
        Roster { names, places }
    }

    /// The place of a name among them.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// Whether a name may stand for something: one of them, or a member of one, such as `sta12` of `sta`.
    pub(super) fn may_hold(&self, name: &str) -> bool {
        self.place(name).is_some() || self.groups_of(name).next().is_some()
    }

    /// Those of which this may be a member by its name, each with the number of the member.
    pub(super) fn groups_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (usize, u64)> + 'a {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        (1..=digits).rev().filter_map(move |digits| {
            let (group, number) = name.split_at(name.len() - digits);
            let number = number.parse().ok().filter(|_| !number.starts_with('0'))?;
            Some((self.place(group)?, number))
        })
    }
}

impl Deref for Roster {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.names
    }
}

/// One concrete key.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) key: String,
    pub(super) def: &'static Key,
    pub(super) default: SlotDefault,
    pub(super) only: Vec<SlotOnly>,
}

/// The default of a key with its values read and its keys found.
#[derive(Clone, Debug)]
pub(super) enum SlotDefault {
    Required,
    Absent,
    Always(Value),
    Like(usize),
    Profile {
        profile: usize,
        values: ByProfile,
    },
    Variant {
        variant: usize,
        part: Part,
    },
    /// The key that overrules, its values, and what they need.
    Unless {
        profile: usize,
        values: ByProfile,
        key: usize,
        unless: Unless,
        then: Value,
    },
    /// `words` are the slots of standard, flavour and radio.
    Preset {
        kind: usize,
        words: [usize; 3],
        preferred: Preferred,
        otherwise: Option<Value>,
        /// The slot of the stations, and the default where none of them has a position.
        unplaced: Option<(usize, Value)>,
    },
    Follows {
        slot: usize,
        value: &'static str,
        then: Value,
        or: Value,
    },
}

/// The default of each profile and its source.
#[derive(Clone, Debug)]
pub(super) struct ByProfile {
    pub(super) ns2: (Value, &'static str),
    pub(super) modern: (Value, &'static str),
}

/// [`Only`] with its keys found.
#[derive(Clone, Debug)]
pub(super) enum SlotOnly {
    Is(usize, &'static [&'static str]),
    /// A law, by the slots of the law in force and of the judges.
    Law([usize; 2], &'static str),
    Given(usize),
    Tcp(usize),
    Udp(usize),
}

/// Why a path is no key: how many of its parts are right, and `found; expected`.
#[derive(Debug)]
pub(super) struct Astray {
    pub(super) depth: usize,
    pub(super) text: String,
    /// It leads to a table; the text then says what is expected.
    pub(super) is_table: bool,
}

impl Layout {
    pub(super) fn new(names: [Vec<String>; 4]) -> Layout {
        let [nodes, links, flows, agents] = names.map(Roster::new);
        let mut layout = Layout { nodes, links, flows, agents, slots: Vec::new(), index: BTreeMap::new() };
        for section in ["", "run", "nodes", "links", "flows", "agents"] {
            let names = layout.names(section).map(|names| names.to_vec()).unwrap_or_default();
            let in_section = |key: &&Key| match key.path.split_once('.') {
                Some((first, _)) => first == section,
                None => section.is_empty(),
            };
            if !["nodes", "links", "flows", "agents"].contains(&section) {
                KEYS.iter().filter(in_section).for_each(|key| layout.add(key, None, ""));
            }
            for (number, name) in names.iter().enumerate() {
                let flow = (section == "flows").then_some(number);
                KEYS.iter().filter(in_section).for_each(|key| layout.add(key, flow, name));
            }
        }
        layout
    }

    fn add(&mut self, def: &'static Key, flow: Option<usize>, name: &str) {
        let of_flow = flow.unwrap_or(0);
        let only = def.only.iter().map(|only| match only {
            Only::Is(other, values) => SlotOnly::Is(self.at(other, name), values),
            Only::Law(law) => SlotOnly::Law(
                ["congestion", "judges"].map(|key| self.at(&format!("flows.*.tcp.{key}"), name)),
                law,
            ),
            Only::Given(other) => SlotOnly::Given(self.at(other, name)),
            Only::Tcp => SlotOnly::Tcp(of_flow),
            Only::Udp => SlotOnly::Udp(of_flow),
        });
        let only = only.collect();
        let default = match def.default {
            Default::Required => SlotDefault::Required,
            Default::Absent => SlotDefault::Absent,
            Default::Text(text) => SlotDefault::Always(read(def, text)),
            Default::Like(other) => SlotDefault::Like(self.at(other, name)),
            Default::Profile(by) => SlotDefault::Profile {
                profile: self.at("flows.*.tcp.profile", name),
                values: by_profile(def, by),
            },
            Default::Variant(part) => {
                SlotDefault::Variant { variant: self.at("flows.*.tcp.variant", name), part }
            }
            Default::Unless(unless) => SlotDefault::Unless {
                profile: self.at("flows.*.tcp.profile", name),
                values: by_profile(def, unless.by),
                key: self.at(unless.key, name),
                unless,
                then: read(def, unless.then),
            },
            Default::Preset(preferred) => SlotDefault::Preset {
                kind: self.at("links.*.kind", name),
                words: ["standard", "flavour", "radio"].map(|key| self.at(&format!("links.*.{key}"), name)),
                preferred,
                otherwise: preferred.otherwise.map(|text| read(def, text)),
                unplaced: preferred.unplaced.map(|text| (self.at("links.*.nodes", name), read(def, text))),
            },
            Default::Follows { key, value, then, or } => SlotDefault::Follows {
                slot: self.at(key, name),
                value,
                then: read(def, then),
                or: read(def, or),
            },
            Default::Pcf(value) => SlotDefault::Always(read(def, &value(&PcfConfig::default()))),
            Default::Law(value) => SlotDefault::Always(read(def, &value(&Laws::default()))),
            Default::Agent(value) => {
                let config = lle_tcp::Config::new(Mode::Safe, Criterion::default());
                SlotDefault::Always(read(def, &value(&config)))
            }
        };
        let key = def.path.replace('*', name);
        self.index.insert(key.clone(), self.slots.len());
        self.slots.push(Slot { key, def, default, only });
    }

    /// The slot of a pattern for a name. The table lists it before the keys that refer to it.
    fn at(&self, pattern: &str, name: &str) -> usize {
        self.index[&pattern.replace('*', name)]
    }

    /// The slot of a key, if the scenario has it.
    pub(super) fn slot(&self, key: &str) -> Option<usize> {
        self.index.get(key).copied()
    }

    /// The names that a section defines.
    fn names(&self, section: &str) -> Option<&Roster> {
        match section {
            "nodes" => Some(&self.nodes),
            "links" => Some(&self.links),
            "flows" => Some(&self.flows),
            "agents" => Some(&self.agents),
            _ => None,
        }
    }

    /// The slot of a path, or where the path leaves the table of keys.
    pub(super) fn locate(&self, path: &[&str]) -> Result<usize, Astray> {
        // A name in quotes may hold a point, and then looks like another key.
        if path.iter().all(|part| !part.contains('.'))
            && let Some(slot) = self.slot(&path.join("."))
        {
            return Ok(slot);
        }
        for depth in 0..path.len() {
            let astray = |text| Err(Astray { depth: depth + 1, text, is_table: false });
            let mut known = keys::children(&path[..depth]);
            known.retain(|child| *child != "figure");
            if known.is_empty() {
                let text =
                    format!("nothing stands below {}; expected a value there", path[..depth].join("."));
                return Err(Astray { depth, text, is_table: false });
            }
            if known == ["*"] {
                let names = self.names(path[0]);
                if names.and_then(|names| names.place(path[depth])).is_none() {
                    let names: Vec<&str> =
                        names.map_or(&[][..], Deref::deref).iter().map(String::as_str).collect();
                    return astray(unknown(path[0].trim_end_matches('s'), path[depth], &names));
                }
            } else if !known.contains(&path[depth]) {
                if depth == 0 {
                    known.extend(["sweep", "figure"]);
                }
                return astray(unknown_key(path[depth], &known));
            }
        }
        self.slot(&path.join(".")).ok_or_else(|| {
            let known = keys::children(path).join(", ").replace('*', "a name each");
            let text = format!("a table with some of its keys ({known})");
            Astray { depth: path.len(), text, is_table: true }
        })
    }

    /// The names that values refer to.
    pub(super) fn value_names(&self) -> Names<'_> {
        Names { nodes: Some(&self.nodes), flows: Some(&self.flows) }
    }
}

/// `unknown key; did you mean …`
pub(super) fn unknown_key(name: &str, known: &[&str]) -> String {
    let text = unknown("key", name, known);
    // The key stands before the message already.
    text.replacen(&format!("unknown key \"{name}\""), "unknown key", 1)
}

/// Reads a default of the table.
fn read(def: &'static Key, text: &str) -> Value {
    def.read_text(text).unwrap_or_else(|| panic!("{}: default {text:?} is not legal", def.path))
}

fn by_profile(def: &'static Key, by: Profiled) -> ByProfile {
    let of = |profile: Profile| read(def, &(by.value)(&profile.config()));
    ByProfile { ns2: (of(Profile::Ns2Of2004), by.ns2), modern: (of(Profile::Modern), by.modern) }
}
