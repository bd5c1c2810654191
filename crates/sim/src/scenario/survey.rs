//! What all points of a scenario use between them: settings that no point uses are refused, metrics that some point gives
//! may be drawn.

use super::build;
use super::error::{Fault, Faults, Place};
use super::keys::{Kind, Only};
use super::layout::{SlotDefault, SlotOnly};
use super::members::Members;
use super::plan::Plan;
use super::sheet::Sheet;
use super::sweep::MOST_POINTS;
use super::value::Value;
use crate::probe::metrics;
use std::collections::BTreeSet;

/// Which slots any point uses, and which metrics it gives.
#[derive(Clone, Debug)]
pub(super) struct Survey {
    used: Vec<bool>,
    pub(super) metrics: Vec<String>,
    /// What decides which metrics there are, as far as it was met.
    met: BTreeSet<Shape>,
}

/// The swept values that are no numbers, as of kinds and laws, and the names of all links and flows.
type Shape = (Vec<String>, Vec<String>);

impl Survey {
    pub(super) fn new(plan: &Plan) -> Survey {
        Survey { used: vec![false; plan.layout.slots.len()], metrics: Vec::new(), met: BTreeSet::new() }
    }

    pub(super) fn of(plan: &Plan) -> Survey {
        let mut survey = Survey::new(plan);
        // Without the overrides that make it small, a sweep may be larger than is allowed.
        (0..plan.points().min(MOST_POINTS)).for_each(|point| survey.note(&Sheet::new(plan, point)));
        survey
    }

    pub(super) fn note(&mut self, sheet: &Sheet<'_>) {
        for (used, cell) in self.used.iter_mut().zip(&sheet.values) {
            *used |= cell.is_some();
        }
        if !sheet.missing.is_empty() {
            return;
        }
        let Ok(members) = Members::of(sheet) else { return };
        let measured = members.measured().into_iter().map(str::to_string).collect();
        let plan = sheet.plan;
        let is_number = |kind| matches!(kind, Kind::Quantity(..) | Kind::Integer | Kind::Number);
        let swept = plan.axes.iter().flat_map(|axis| &axis.slots);
        let words = swept.filter(|slot| !is_number(plan.layout.slots[**slot].def.kind));
        let value =
            |slot: &usize| sheet.get(&plan.layout.slots[*slot].key).map_or_else(String::new, Value::text);
        let values = words.map(value).collect();
        if self.met.insert((values, measured)) {
            self.metrics = merged(&self.metrics, &metrics::names(&build::config(sheet, &members)));
        }
    }
}

/// All names of both lists, in order.
pub(super) fn merged(some: &[String], more: &[String]) -> Vec<String> {
    let known: BTreeSet<&String> = some.iter().collect();
    let new = more.iter().filter(|name| !known.contains(name));
    some.iter().chain(new).cloned().collect()
}

/// Settings without a meaning at any point, neither as given nor, for those of the file, without the overrides.
pub(super) fn unused(plan: &Plan, survey: &Survey, of_file: &Survey) -> Faults {
    let mut faults = Faults::new();
    for (slot, setting) in plan.base.iter().enumerate() {
        let Some(setting) = setting else { continue };
        let in_file = matches!(setting.place, Place::Line(_));
        let used = survey.used[slot] || (in_file && of_file.used[slot]);
        if !used {
            faults.push(Fault::new(setting.place, &plan.layout.slots[slot].key, purpose(plan, survey, slot)));
        }
    }
    for axis in &plan.axes {
        for (column, slot) in axis.slots.iter().enumerate() {
            if !survey.used[*slot] && !of_file.used[*slot] {
                let key = format!("sweep.{}", plan.layout.slots[*slot].key);
                faults.push(Fault::new(axis.rows[0][column].1, key, purpose(plan, survey, *slot)));
            }
        }
    }
    faults
}

/// What a slot that no point uses is for.
fn purpose(plan: &Plan, survey: &Survey, slot: usize) -> String {
    let mut slot = slot;
    // A condition on a key that is itself without meaning leads on to the condition of that key; but where that key is
    // only not set, to set it is what is expected.
    while let Some(SlotOnly::Is(other, _)) = plan.layout.slots[slot].only.first()
        && !survey.used[*other]
        && !plan.layout.slots[*other].only.is_empty()
        && (plan.base[*other].is_some() || !matches!(plan.layout.slots[*other].default, SlotDefault::Absent))
    {
        slot = *other;
    }
    let name = plan.layout.slots[slot].key.split('.').nth(1).unwrap_or("");
    let only: Vec<String> = plan.layout.slots[slot].def.only.iter().map(|only| Only::text(*only)).collect();
    format!("no point uses it; expected {}", only.join(" and ").replace("NAME", name))
}
