//! All values of one point: what is set, what is swept, and every default, each with where it comes from.

use super::error::Place;
use super::keys::{Chooser, Part, Preferred};
use super::layout::{ByProfile, SlotDefault, SlotOnly};
use super::placement;
use super::plan::Plan;
use super::value::Value;
use lasthop_stack::registry;

/// The values of one point by slot; a slot without a meaning at this point has none.
#[derive(Debug)]
pub(super) struct Sheet<'a> {
    pub(super) plan: &'a Plan,
    pub(super) values: Vec<Option<Cell>>,
    /// Slots that must be set and are not.
    pub(super) missing: Vec<usize>,
}

/// A value and where it comes from.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) value: Value,
    pub(super) from: From,
    pub(super) source: &'static str,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    File,
    Set,
    Sweep,
    Default,
    Profile(&'static str),
    /// It is that of another slot.
    Like(usize),
    /// It follows from the value of another slot.
    Slot(usize),
}

/// The way a flow's data travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Transport {
    Tcp,
    Udp,
}

/// The kinds of sources that run over TCP unless a flow says otherwise.
const RELIABLE: [&str; 6] = ["bulk", "file", "ftp", "web", "mail", "mix"];

impl<'a> Sheet<'a> {
    /// The values at a point.
    pub(super) fn new(plan: &'a Plan, point: usize) -> Sheet<'a> {
        let count = plan.layout.slots.len();
        let mut swept: Vec<Option<&Value>> = vec![None; count];
        for (axis, row) in plan.axes.iter().zip(rows(plan, point)) {
            for (slot, (value, _)) in axis.slots.iter().zip(&axis.rows[row]) {
                swept[*slot] = Some(value);
            }
        }
        let mut sheet = Sheet { plan, values: Vec::with_capacity(count), missing: Vec::new() };
        for (slot, swept) in swept.into_iter().enumerate() {
            let cell = if sheet.has_meaning(slot) { sheet.cell(slot, swept) } else { None };
            sheet.values.push(cell);
        }
        sheet
    }

    /// The value of a slot.
    pub(super) fn at(&self, slot: usize) -> Option<&Value> {
        self.values.get(slot)?.as_ref().map(|cell| &cell.value)
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.at(self.plan.layout.slot(key)?)
    }

    /// How the data of a flow travels.
    pub(super) fn transport(&self, flow: usize) -> Transport {
        match self.plan.transports[flow] {
            [true, _] => Transport::Tcp,
            [false, true] => Transport::Udp,
            [false, false] => {
                let kind = self.get(&format!("flows.{}.app.kind", self.plan.layout.flows[flow]));
                let reliable = kind.is_none_or(|kind| RELIABLE.iter().any(|word| kind.is(word)));
                if reliable { Transport::Tcp } else { Transport::Udp }
            }
        }
    }

    fn has_meaning(&self, slot: usize) -> bool {
        self.plan.layout.slots[slot].only.iter().all(|only| match only {
            SlotOnly::Is(other, values) => {
                self.at(*other).is_some_and(|value| values.iter().any(|word| value.is(word)))
            }
            SlotOnly::Law(slots, law) => {
                slots.iter().any(|slot| self.at(*slot).is_some_and(|value| value.has(law)))
            }
            SlotOnly::Given(other) => self.at(*other).is_some(),
            SlotOnly::Tcp(flow) => self.transport(*flow) == Transport::Tcp,
            SlotOnly::Udp(flow) => self.transport(*flow) == Transport::Udp,
        })
    }

    fn cell(&mut self, slot: usize, swept: Option<&Value>) -> Option<Cell> {
        if let Some(value) = swept {
            return Some(Cell { value: value.clone(), from: From::Sweep, source: "" });
        }
        if let Some(setting) = &self.plan.base[slot] {
            let from = if matches!(setting.place, Place::Set(_)) { From::Set } else { From::File };
            return Some(Cell { value: setting.value.clone(), from, source: "" });
        }
        let slots = &self.plan.layout.slots;
        let source = slots[slot].def.source;
        match &slots[slot].default {
            SlotDefault::Required => {
                self.missing.push(slot);
                None
            }
            SlotDefault::Absent => None,
            SlotDefault::Always(value) => Some(Cell { value: value.clone(), from: From::Default, source }),
            SlotDefault::Like(other) => {
                Some(Cell { value: self.at(*other)?.clone(), from: From::Like(*other), source })
            }
            SlotDefault::Profile { profile, values } => self.of_profile(*profile, values),
            SlotDefault::Variant { variant, part } => {
                let Value::Text(name) = self.at(*variant)? else {
                    return None;
                };
                let entry = registry::variant(name)?;
                let entry = match part {
                    Part::Recovery => entry.recovery.entry(),
                    Part::Congestion => entry.congestion.entry(),
                };
                let value = Value::Text(entry.name.to_string());
                Some(Cell { value, from: From::Slot(*variant), source: entry.source })
            }
            SlotDefault::Preset { kind, words, preferred, otherwise, unplaced } => {
                if self.at(*kind).is_some_and(|kind| kind.is("wifi")) {
                    let unplaced = unplaced.as_ref().filter(|(nodes, _)| !self.is_any_placed(*nodes));
                    return match unplaced {
                        Some((_, value)) => Some(Cell { value: value.clone(), from: From::Default, source }),
                        None => self.of_preset(slot, *words, preferred),
                    };
                }
                let Some(value) = otherwise else {
                    self.missing.push(slot);
                    return None;
                };
                Some(Cell { value: value.clone(), from: From::Default, source })
            }
            SlotDefault::Follows { slot, value, then, or } => {
                let follows = self.at(*slot).is_some_and(|found| found.text() == *value);
                let (value, from) = if follows { (then, From::Slot(*slot)) } else { (or, From::Default) };
                Some(Cell { value: value.clone(), from, source })
            }
            SlotDefault::Unless { profile, values, key, unless, then } => {
                let cell = self.of_profile(*profile, values)?;
                let needs = |value: &Value| unless.values.iter().any(|word| value.is(word));
                if cell.value != *then && self.at(*key).is_some_and(needs) {
                    return Some(Cell { value: then.clone(), from: From::Slot(*key), source: unless.source });
                }
                Some(cell)
            }
        }
    }

    /// Whether any of the nodes listed in a slot has a position.
    fn is_any_placed(&self, nodes: usize) -> bool {
        let Some(Value::List(nodes)) = self.at(nodes) else { return false };
        nodes.iter().any(|node| match node {
            Value::Text(node) => placement::is_given(self, node),
            _ => false,
        })
    }

    fn of_profile(&self, profile: usize, values: &ByProfile) -> Option<Cell> {
        let profile = self.at(profile)?;
        let (name, (value, source)) =
            if profile.is("ns2-2004") { ("ns2-2004", &values.ns2) } else { ("modern", &values.modern) };
        Some(Cell { value: value.clone(), from: From::Profile(name), source })
    }

    fn of_preset(&self, slot: usize, words: [usize; 3], preferred: &Preferred) -> Option<Cell> {
        let text = |slot: usize| self.at(slot).map(Value::text);
        let (value, chooser, source) = preferred.of(&text(words[0])?, &text(words[1])?, &text(words[2])?);
        let value = self.plan.layout.slots[slot].def.read_text(&value)?;
        let chosen = match chooser {
            Chooser::Standard => words[0],
            Chooser::Flavour => words[1],
            Chooser::Radio => words[2],
        };
        Some(Cell { value, from: From::Slot(chosen), source })
    }

    /// Where a cell comes from, in words.
    pub(super) fn origin(&self, from: From) -> String {
        match from {
            From::File => "file".to_string(),
            From::Set => "set".to_string(),
            From::Sweep => "sweep".to_string(),
            From::Default => "default".to_string(),
            From::Profile(name) => format!("profile {name}"),
            From::Like(slot) => self.plan.layout.slots[slot].key.clone(),
            From::Slot(slot) => {
                let key = &self.plan.layout.slots[slot].key;
                let word = key.rsplit('.').next().unwrap_or(key);
                match self.at(slot) {
                    Some(value) => format!("{word} {}", value.text()),
                    None => word.to_string(),
                }
            }
        }
    }
}

/// The row of each axis at a point: the first axis is the slowest.
pub(super) fn rows(plan: &Plan, point: usize) -> Vec<usize> {
    let mut rest = point;
    let mut rows = vec![0; plan.axes.len()];
    for (row, axis) in rows.iter_mut().zip(&plan.axes).rev() {
        let count = axis.rows.len().max(1);
        *row = rest % count;
        rest /= count;
    }
    rows
}

/// Where the value of a slot at a point stands, if anything sets it.
pub(super) fn place(plan: &Plan, slot: usize, point: usize) -> Option<Place> {
    let swept = plan.axes.iter().zip(rows(plan, point)).find_map(|(axis, row)| {
        let column = axis.slots.iter().position(|other| *other == slot)?;
        Some(axis.rows[row][column].1)
    });
    swept.or_else(|| plan.base[slot].as_ref().map(|setting| setting.place))
}
