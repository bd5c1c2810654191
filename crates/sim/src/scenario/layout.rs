//! The concrete keys of one scenario: the table of keys, with the names of its nodes, links, flows and agents.
//!
//! A key has a number, its *slot*. Tables of one section have the same keys, so the properties of a key are stored once
//! per section, in its [`Form`]. A slot is computed from the place of its table and the place of the key.

mod form;

use super::hints::{self, Said};
use super::keys::{self, Key};
use super::nearest::{instead, listed, unknown};
use super::roster::Roster;
use super::value::Names;
use std::ops::Deref;

pub(super) use form::{ByProfile, Keys, Presets, Section, Slot, SlotDefault, SlotOnly};
use form::{Form, SECTIONS};

/// Sections that are not settings, and the message where a key is expected instead.
const NOT_SETTINGS: [(&str, &str); 2] = [
    ("sweep", "the sweep is not a key; expected a key of run, nodes, links, flows or agents"),
    (
        "figure",
        "can be set only in the file, as [[figure]]; expected a key of run, nodes, links, flows or agents",
    ),
];

/// All keys that the scenario could set.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) nodes: Roster,
    pub(super) links: Roster,
    pub(super) flows: Roster,
    pub(super) agents: Roster,
    /// The first slot of each section, and the number of all.
    starts: [usize; SECTIONS + 1],
}

/// Why a path is not a key: how many of its parts are right, and `found; expected`.
#[derive(Debug)]
pub(super) struct Astray {
    pub(super) depth: usize,
    pub(super) text: String,
    /// It leads to a table; the text then says what is expected.
    pub(super) is_table: bool,
}

impl Layout {
    pub(super) fn new(names: [Vec<String>; 4]) -> Layout {
        let [nodes, links, flows, agents] = names.map(|names| {
            let mut roster = Roster::default();
            for name in names {
                roster.add(name);
            }
            roster
        });
        let mut layout = Layout { nodes, links, flows, agents, starts: [0; SECTIONS + 1] };
        for section in Section::ALL {
            let tables = layout.roster(section).map_or(1, |names| names.len());
            let here = section as usize;
            layout.starts[here + 1] = layout.starts[here] + tables * Form::of(section).slots.len();
        }
        layout
    }

    /// The number of slots.
    pub(super) fn len(&self) -> usize {
        self.starts[SECTIONS]
    }

    /// The section, the place of its table and the place in its form of a slot.
    pub(super) fn split(&self, slot: usize) -> (Section, usize, usize) {
        let section = Section::ALL[self.starts.partition_point(|start| *start <= slot) - 1];
        let (here, keys) = (slot - self.starts[section as usize], Form::of(section).slots.len());
        (section, here / keys, here % keys)
    }

    /// What is known of a key, whatever its table.
    pub(super) fn at(&self, slot: usize) -> &'static Slot {
        let (section, _, place) = self.split(slot);
        &Form::of(section).slots[place]
    }

    /// The entry of a slot in the table of keys.
    pub(super) fn def(&self, slot: usize) -> &'static Key {
        self.at(slot).def
    }

    /// The dotted key of a slot.
    pub(super) fn key(&self, slot: usize) -> String {
        let (section, table, place) = self.split(slot);
        let path = Form::of(section).slots[place].def.path;
        match self.roster(section) {
            Some(names) => path.replacen('*', &names[table], 1),
            None => path.to_string(),
        }
    }

    /// The slot of a key, if the scenario has it.
    pub(super) fn slot(&self, key: &str) -> Option<usize> {
        let (section, rest) = Section::of(key);
        let (table, tail) = match self.roster(section) {
            Some(names) => {
                let (name, tail) = rest.split_once('.')?;
                (names.place(name)?, tail)
            }
            None => (0, rest),
        };
        self.keys(section, table).slot(tail)
    }

    /// The keys of a table of a section, by its place.
    pub(super) fn keys(&self, section: Section, table: usize) -> Keys {
        Form::of(section).keys(self.first(section, table))
    }

    /// The first slot of a table of a section, by its place.
    pub(super) fn first(&self, section: Section, table: usize) -> usize {
        self.starts[section as usize] + table * Form::of(section).slots.len()
    }

    /// The first slots of all tables of all sections, each with its section and place.
    pub(super) fn tables(&self) -> impl Iterator<Item = (Section, usize, usize)> + '_ {
        Section::ALL.into_iter().flat_map(|section| {
            let count = self.roster(section).map_or(1, |names| names.len());
            let (start, keys) = (self.starts[section as usize], Form::of(section).slots.len());
            (0..count).map(move |table| (section, table, start + table * keys))
        })
    }

    /// The names that a section defines.
    fn roster(&self, section: Section) -> Option<&Roster> {
        match section {
            Section::Head | Section::Run => None,
            Section::Nodes => Some(&self.nodes),
            Section::Links => Some(&self.links),
            Section::Flows => Some(&self.flows),
            Section::Agents => Some(&self.agents),
        }
    }

    /// The names that a section defines, by its name.
    fn names(&self, section: &str) -> Option<&Roster> {
        self.roster(Section::named(section)?)
    }

    /// Whether a path leads to a table that the scenario may have.
    pub(super) fn has_table(&self, path: &[String]) -> bool {
        let [first, rest @ ..] = path else { return false };
        let Some(section) = Section::named(first) else { return false };
        // Names contain no dots, but quoted parts may.
        let below = match self.roster(section) {
            None => rest,
            Some(names) => match rest {
                [] => return true,
                [name, below @ ..] if names.place(name).is_some() => below,
                _ => return false,
            },
        };
        below.iter().all(|part| !part.contains('.')) && Form::of(section).has_below(&below.join("."))
    }

    /// The slot of a path, or where the path leaves the table of keys.
    pub(super) fn locate(&self, path: &[&str]) -> Result<usize, Astray> {
        // A quoted name may contain a dot, and then looks like another key.
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
                let text = "has no keys below it; expected a value".to_owned();
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
                    if let Some((_, text)) = NOT_SETTINGS.iter().find(|(section, _)| *section == path[0]) {
                        return astray((*text).to_string());
                    }
                    known.extend(NOT_SETTINGS.map(|(section, _)| section));
                }
                return astray(
                    keys::moved(&path[..=depth]).unwrap_or_else(|| unknown_key(path, depth, &known)),
                );
            }
        }
        self.slot(&path.join(".")).ok_or_else(|| {
            let known = listed("", &keys::children(path)).replace('*', "a name each");
            let text = format!("a table with some of its keys ({known})");
            Astray { depth: path.len(), text, is_table: true }
        })
    }

    /// The names that values refer to.
    pub(super) fn value_names(&self) -> Names<'_> {
        Names { nodes: Some(&self.nodes), links: Some(&self.links), flows: Some(&self.flows) }
    }
}

/// `unknown key; did you mean …` for a path whose part at `depth` is not known.
pub(super) fn unknown_key(path: &[&str], depth: usize, known: &[&str]) -> String {
    let name = path[depth];
    match hints::of_key(path, depth) {
        Some(Said::Meant(key)) if known.contains(&key.as_str()) => {
            format!("unknown key; did you mean \"{key}\"? (known: {})", listed(&key, known))
        }
        Some(Said::Meant(key)) => format!("unknown key; did you mean \"{key}\"?"),
        Some(Said::Absent(text)) => format!("unknown key; {text}"),
        None => format!("unknown key; {}", instead("key", name, known)),
    }
}
