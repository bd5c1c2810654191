//! The values that the file, the overrides and the sweep set, each read and checked separately.

use super::document::{self, Document, Item, Leaf, Raw};
use super::error::{ENOUGH_FAULTS, Fault, Faults, Place};
use super::keys::Kind;
use super::layout::Layout;
use super::records::Records;
use super::sweep::{self, Axis};
use super::value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// All settings of a scenario.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) layout: Layout,
    /// What the file and the overrides set, by slot.
    pub(super) base: BTreeMap<usize, Setting>,
    /// The first is the slowest.
    pub(super) axes: Vec<Axis>,
    /// By flow, whether a `tcp` and a `udp` table is given.
    pub(super) transports: Vec<[bool; 3]>,
    /// The files of delivery opportunities, once they are read.
    pub(super) records: Records,
}

/// A value that the file or an override sets.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) value: Value,
    pub(super) place: Place,
}

impl Plan {
    /// Reads a document under these overrides, and collects the faults of single values.
    pub(super) fn new(document: &Document, overrides: &[(String, String)]) -> (Plan, Faults) {
        let mut faults = document.faults.clone();
        let layout = layout_of(document, &mut faults);
        let transports = vec![[false; 3]; layout.flows.len()];
        let mut plan =
            Plan { layout, base: BTreeMap::new(), axes: Vec::new(), transports, records: Records::default() };
        let mut astray = false;
        for (path, place) in &document.tables {
            astray |= faults.len() <= ENOUGH_FAULTS && plan.set_table(path, *place, &mut faults);
        }
        let tables = document.tables.iter().map(|(path, _)| path.as_slice()).collect();
        for leaf in &document.settings {
            astray |= faults.len() <= ENOUGH_FAULTS && plan.set(leaf, &tables, &mut faults);
        }
        // Where a table is misspelt, its names are missing everywhere below; that is not a second fault.
        if astray {
            return (plan, faults);
        }
        plan.axes = sweep::axes(&mut plan, &document.sweep, &mut faults);
        for (index, (key, text)) in overrides.iter().enumerate() {
            plan.apply(index, key, text, &mut faults);
        }
        plan.axes.retain(|axis| !axis.slots.is_empty());
        faults.extend(sweep::too_many(&plan.axes));
        (plan, faults)
    }

    /// The number of points.
    pub(super) fn points(&self) -> usize {
        self.axes.iter().fold(1, |points: usize, axis| points.saturating_mul(axis.rows.len()))
    }

    /// Remembers that a flow has a `tcp` or `udp` table.
    pub(super) fn note_transport(&mut self, path: &[impl AsRef<str>]) {
        if let [section, name, table, ..] = path
            && section.as_ref() == "flows"
            && let Some(flow) = self.layout.flows.place(name.as_ref())
        {
            self.transports[flow][0] |= table.as_ref() == "tcp";
            self.transports[flow][1] |= table.as_ref() == "udp";
            self.transports[flow][2] |= table.as_ref() == "quic";
        }
    }

    /// Records a table of the file; true if a scenario cannot have it.
    fn set_table(&mut self, path: &[String], place: Place, faults: &mut Faults) -> bool {
        self.note_transport(path);
        if self.layout.has_table(path) {
            return false;
        }
        match self.layout.locate(&parts(path)) {
            Ok(slot) => {
                let expected = self.layout.def(slot).expected(None);
                faults.push(Fault::new(place, path.join("."), format!("a table; expected {expected}")));
                false
            }
            Err(astray) if astray.is_table => false,
            Err(astray) => {
                // A table within a misspelt one is reported with that one.
                if astray.depth == path.len() {
                    faults.push(Fault::new(place, path.join("."), astray.text));
                }
                true
            }
        }
    }

    /// Sets a key of the file; true if a scenario cannot have it.
    fn set(&mut self, leaf: &Leaf, tables: &BTreeSet<&[String]>, faults: &mut Faults) -> bool {
        self.note_transport(&leaf.path);
        let place = leaf.item.place;
        match self.layout.locate(&parts(&leaf.path)) {
            Ok(slot) => {
                match self.layout.def(slot).read(&leaf.item.raw, &self.layout.value_names()) {
                    Ok(value) => {
                        self.base.insert(slot, Setting { value, place });
                    }
                    Err(text) => faults.push(Fault::new(place, leaf.key(), text)),
                }
                false
            }
            Err(astray) if astray.is_table => {
                let found = leaf.item.raw.describe();
                faults.push(Fault::new(place, leaf.key(), format!("{found}; expected {}", astray.text)));
                false
            }
            Err(astray) => {
                let at = &leaf.path[..astray.depth];
                // A key of a misspelt table is reported with the table.
                if !tables.contains(at) {
                    faults.push(Fault::new(place, at.join("."), astray.text));
                }
                true
            }
        }
    }

    /// Applies an override: axes of the sweep, or values that fix their keys. It takes these keys out of earlier axes.
    fn apply(&mut self, index: usize, key: &str, text: &str, faults: &mut Faults) {
        if let Some(leaves) = document::sweep_override(index, key, text) {
            let more = sweep::axes(self, &leaves, faults);
            self.release(&more.iter().flat_map(|axis| axis.slots.iter().copied()).collect::<Vec<_>>());
            self.axes.extend(more);
        } else {
            let fixed = self.fix(index, key, text, faults);
            self.release(&fixed);
        }
    }

    /// Takes slots out of the axes.
    fn release(&mut self, slots: &[usize]) {
        for axis in &mut self.axes {
            axis.fix(slots);
        }
    }

    /// Sets what an override gives, and returns its slots.
    fn fix(&mut self, index: usize, key: &str, text: &str, faults: &mut Faults) -> Vec<usize> {
        let mut fixed = Vec::new();
        let place = Place::Set(index);
        let path: Vec<&str> = key.split('.').collect();
        self.note_transport(&path);
        let raw = Raw::from_override(text, index);
        let leaves = match &raw {
            Raw::Table(below) => document::flatten(below),
            _ => vec![Leaf { path: Vec::new(), item: Item { raw: raw.clone(), place } }],
        };
        if leaves.is_empty() {
            if let Some(astray) = self.layout.locate(&path).err().filter(|astray| !astray.is_table) {
                faults.push(Fault::new(place, key, astray.text));
            }
            return fixed;
        }
        for leaf in leaves {
            let whole: Vec<&str> = path.iter().copied().chain(leaf.path.iter().map(String::as_str)).collect();
            self.note_transport(&whole);
            let slot = match self.layout.locate(&whole) {
                Ok(slot) => slot,
                Err(astray) => {
                    let found = if astray.is_table {
                        format!("{}; expected ", leaf.item.raw.describe())
                    } else {
                        String::new()
                    };
                    faults.push(Fault::new(
                        place,
                        whole[..astray.depth].join("."),
                        format!("{found}{}", astray.text),
                    ));
                    continue;
                }
            };
            let def = self.layout.def(slot);
            // Outside a file a word needs no quotes, even one that looks like a number.
            let plain = matches!(def.kind, Kind::Text | Kind::Word(..) | Kind::Node | Kind::Link)
                && leaf.path.is_empty();
            let raw = match leaf.item.raw {
                Raw::Text(text) if def.may_differ() => {
                    document::bare_list(&text, index).unwrap_or(Raw::Text(text))
                }
                Raw::Number(_) | Raw::Bool(_) | Raw::Date(_) if plain => Raw::Text(text.to_string()),
                other => other,
            };
            match def.read(&raw, &self.layout.value_names()) {
                Ok(value) => {
                    self.base.insert(slot, Setting { value, place });
                    fixed.push(slot);
                }
                Err(text) => faults.push(Fault::new(place, whole.join("."), text)),
            }
        }
        fixed
    }
}

fn parts(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

/// The keys of a document, from the names it gives to nodes, links, flows and agents.
fn layout_of(document: &Document, faults: &mut Faults) -> Layout {
    let mut sections: [Vec<String>; 4] = Default::default();
    // A value instead of a table still defines its name, so that its fault is reported once.
    let values = document.settings.iter().map(|leaf| (&leaf.path, leaf.item.place));
    for (path, place) in document.tables.iter().map(|(path, place)| (path, *place)).chain(values) {
        let section = match path.as_slice() {
            [section, _] => ["nodes", "links", "flows", "agents"].iter().position(|known| known == section),
            _ => None,
        };
        let Some(section) = section else { continue };
        if !is_name(&path[1]) {
            let text =
                format!("\"{}\" is not a name; expected letters, digits, - and _", path[1].escape_debug());
            faults.push(Fault::new(place, path[0].clone(), text));
        }
        // The name is known nevertheless, so that a reference to it is not a second fault.
        sections[section].push(path[1].clone());
    }
    Layout::new(sections)
}

/// Whether a node, link, flow, agent or figure may have this name.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}
