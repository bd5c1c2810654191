//! The axes of a sweep: single keys, keys that advance together, and listed points.

use super::document::{self, Item, Leaf, Raw};
use super::error::{Fault, Faults, Place};
use super::plan::Plan;
use super::range;
use super::value::Value;
use std::collections::BTreeSet;

/// More points than this are considered a mistake.
pub(super) const MOST_POINTS: usize = 1_000_000;

/// Keys that advance together.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) slots: Vec<usize>,
    /// One value of each key, and its place in the text.
    pub(super) rows: Vec<Vec<(Value, Place)>>,
    pub(super) place: Place,
}

impl Axis {
    /// Removes the keys that an override fixes; rows that are then equal become one.
    pub(super) fn fix(&mut self, fixed: &[usize]) {
        let kept: Vec<usize> =
            (0..self.slots.len()).filter(|column| !fixed.contains(&self.slots[*column])).collect();
        if kept.len() == self.slots.len() {
            return;
        }
        self.slots = kept.iter().map(|column| self.slots[*column]).collect();
        let mut seen = BTreeSet::new();
        for row in &mut self.rows {
            *row = kept.iter().map(|column| row[*column].clone()).collect();
        }
        self.rows.retain(|row| seen.insert(texts(row)));
    }
}

fn texts(row: &[(Value, Place)]) -> Vec<String> {
    row.iter().map(|(value, _)| value.text()).collect()
}

/// Reads the `[sweep]` table, or what an override gives of it.
pub(super) fn axes(plan: &mut Plan, leaves: &[Leaf], faults: &mut Faults) -> Vec<Axis> {
    let mut all: Vec<Axis> = Vec::new();
    for leaf in leaves {
        let axis = match &leaf.item.raw {
            Raw::Table(below) if leaf.path == ["zip"] => zip(plan, leaf, &document::flatten(below), faults),
            Raw::List(items) if leaf.path == ["list"] => list(plan, leaf, items, faults),
            other => match form(&leaf.path) {
                Some(expected) => {
                    let text = format!("{}; expected {expected}", other.describe());
                    let key: Vec<&str> =
                        ["sweep"].into_iter().chain(leaf.path.first().map(String::as_str)).collect();
                    faults.push(Fault::new(leaf.item.place, key.join("."), text));
                    None
                }
                None => single(plan, leaf, faults),
            },
        };
        let Some(axis) = axis else { continue };
        let twice = axis.slots.iter().find(|slot| all.iter().any(|other| other.slots.contains(slot)));
        if let Some(slot) = twice {
            let text = "swept twice; expected once";
            faults.push(Fault::new(axis.place, format!("sweep.{}", plan.layout.key(*slot)), text));
            continue;
        }
        let mut seen = BTreeSet::new();
        for row in &axis.rows {
            if !seen.insert(texts(row)) {
                let keys: Vec<String> = axis.slots.iter().map(|slot| plan.layout.key(*slot)).collect();
                let text = format!("\"{}\" twice; expected different values", texts(row).join("\", \""));
                faults.push(Fault::new(row[0].1, format!("sweep.{}", keys.join(", ")), text));
            }
        }
        all.push(axis);
    }
    all
}

/// The expected form of a path below `[sweep]` that is not the path of a key.
fn form(path: &[String]) -> Option<&'static str> {
    match path.first().map(String::as_str) {
        None => Some("a table of keys with lists of values"),
        Some("zip") => Some(
            "a table of keys with lists, such as { KEY = [\"1 ms\", \"2 ms\"], OTHER = [\"1 %\", \"2 %\"] }",
        ),
        Some("list") => Some("a list of points, such as [{ KEY = \"1 ms\" }, { KEY = \"2 ms\" }]"),
        _ => None,
    }
}

/// The error for a sweep with too many points.
pub(super) fn too_many(axes: &[Axis]) -> Option<Fault> {
    let mut points = 1_usize;
    for axis in axes {
        points = points.saturating_mul(axis.rows.len());
        if points > MOST_POINTS {
            let text = format!("{points} points or more; expected at most {MOST_POINTS}");
            return Some(Fault::new(axis.place, "sweep", text));
        }
    }
    None
}

/// The slot of a swept key.
fn slot(plan: &mut Plan, leaf: &Leaf, faults: &mut Faults) -> Option<usize> {
    let key = leaf.key();
    let path: Vec<&str> = key.split('.').collect();
    plan.note_transport(&path);
    match plan.layout.locate(&path) {
        Ok(slot) if !plan.layout.def(slot).is_setting() => {
            let text = "cannot be swept; expected a key of a node, link, flow or agent, or of [run]";
            faults.push(Fault::new(leaf.item.place, format!("sweep.{key}"), text));
            None
        }
        Ok(slot) if plan.layout.def(slot).is_outside_result() => {
            let text = "does not affect results; expected a key that does";
            faults.push(Fault::new(leaf.item.place, format!("sweep.{key}"), text));
            None
        }
        Ok(slot) => Some(slot),
        Err(astray) => {
            let wrong = path[..astray.depth].join(".");
            let found = if astray.is_table { "a whole table; expected a key below " } else { "" };
            faults.push(Fault::new(
                leaf.item.place,
                format!("sweep.{wrong}"),
                format!("{found}{}", astray.text),
            ));
            None
        }
    }
}

/// The values of one swept key.
fn column(plan: &mut Plan, leaf: &Leaf, faults: &mut Faults) -> Option<(usize, Vec<(Value, Place)>)> {
    let slot = slot(plan, leaf, faults)?;
    let def = plan.layout.def(slot);
    let place = leaf.item.place;
    let before = faults.len();
    let mut fault =
        |place, text: String| faults.push(Fault::new(place, format!("sweep.{}", leaf.key()), text));
    let mut values = Vec::new();
    match &leaf.item.raw {
        Raw::List(items) if items.is_empty() => {
            fault(place, "an empty list; expected at least one value".to_string());
        }
        Raw::List(items) => {
            for item in items {
                match def.read(&item.raw, &plan.layout.value_names()) {
                    Ok(value) => values.push((value, item.place)),
                    Err(text) => fault(item.place, text),
                }
            }
        }
        Raw::Text(text) => match range::expand(def, text) {
            Ok(found) => values = found.into_iter().map(|value| (value, place)).collect(),
            Err(text) => fault(place, text),
        },
        other => fault(place, format!("{}; expected a list of values or a range", other.describe())),
    }
    (faults.len() == before).then_some((slot, values))
}

fn single(plan: &mut Plan, leaf: &Leaf, faults: &mut Faults) -> Option<Axis> {
    let (slot, values) = column(plan, leaf, faults)?;
    let rows = values.into_iter().map(|value| vec![value]).collect();
    Some(Axis { slots: vec![slot], rows, place: leaf.item.place })
}

fn zip(plan: &mut Plan, table: &Leaf, leaves: &[Leaf], faults: &mut Faults) -> Option<Axis> {
    let place = table.item.place;
    let columns: Vec<_> = leaves.iter().map(|leaf| column(plan, leaf, faults)).collect::<Vec<_>>();
    let columns: Vec<_> = columns.into_iter().collect::<Option<_>>()?;
    let Some((_, first)) = columns.first() else {
        faults.push(Fault::new(place, "sweep.zip", "no keys; expected keys that advance together"));
        return None;
    };
    let count = first.len();
    for ((_, values), leaf) in columns.iter().zip(leaves) {
        if values.len() != count {
            let text = format!("{} values; expected {count} as in {}", values.len(), leaves[0].key());
            faults.push(Fault::new(leaf.item.place, format!("sweep.zip.{}", leaf.key()), text));
            return None;
        }
    }
    let slots = columns.iter().map(|(slot, _)| *slot).collect();
    let rows =
        (0..count).map(|row| columns.iter().map(|(_, values)| values[row].clone()).collect()).collect();
    Some(Axis { slots, rows, place })
}

fn list(plan: &mut Plan, table: &Leaf, items: &[Item], faults: &mut Faults) -> Option<Axis> {
    let place = table.item.place;
    let before = faults.len();
    let mut axis = Axis { slots: Vec::new(), rows: Vec::new(), place };
    for (index, item) in items.iter().enumerate() {
        let Raw::Table(below) = &item.raw else {
            let text = format!("{}; expected a table of keys and values", item.raw.describe());
            faults.push(Fault::new(item.place, "sweep.list", text));
            continue;
        };
        let mut row: Vec<(usize, Value, Place)> = Vec::new();
        for leaf in document::flatten(below) {
            let Some(slot) = slot(plan, &leaf, faults) else {
                continue;
            };
            match plan.layout.def(slot).read(&leaf.item.raw, &plan.layout.value_names()) {
                Ok(value) => row.push((slot, value, leaf.item.place)),
                Err(text) => {
                    faults.push(Fault::new(leaf.item.place, format!("sweep.list.{}", leaf.key()), text));
                }
            }
        }
        if faults.len() > before {
            continue;
        }
        if index == 0 {
            axis.slots = row.iter().map(|(slot, ..)| *slot).collect();
        }
        let known = |slot: &usize| plan.layout.key(*slot);
        if let Some((slot, _, at)) = row.iter().find(|(slot, ..)| !axis.slots.contains(slot)) {
            let text = "a key that the first point does not have; expected the same keys in each";
            faults.push(Fault::new(*at, format!("sweep.list.{}", known(slot)), text));
            continue;
        }
        let of = |slot: &usize| row.iter().find(|cell| cell.0 == *slot).map(|cell| (cell.1.clone(), cell.2));
        match axis.slots.iter().find(|slot| of(slot).is_none()) {
            Some(slot) => {
                let text = "missing; expected the same keys in each point";
                faults.push(Fault::new(item.place, format!("sweep.list.{}", known(slot)), text));
            }
            None => axis.rows.push(axis.slots.iter().filter_map(of).collect()),
        }
    }
    if items.is_empty() || (axis.slots.is_empty() && faults.len() == before) {
        faults.push(Fault::new(place, "sweep.list", "no points; expected tables of keys and values"));
    }
    (faults.len() == before).then_some(axis)
}
