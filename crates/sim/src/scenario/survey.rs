//! The union over all points of a scenario: settings that no point uses are rejected, and metrics that some point gives
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
use crate::metrics;
use std::collections::BTreeSet;

/// Which slots any point uses, and which points have metrics that none before has.
#[derive(Clone, Debug)]
pub(super) struct Survey {
    used: Vec<bool>,
    pub(super) shapes: Vec<usize>,
    /// What determines the metrics, as far as it has been found.
    met: BTreeSet<Shape>,
}

/// The swept values that are not numbers, such as kinds and laws, and the names of all links and flows.
type Shape = (Vec<String>, Vec<String>);

impl Survey {
    pub(super) fn new(plan: &Plan) -> Survey {
        Survey { used: vec![false; plan.layout.len()], shapes: Vec::new(), met: BTreeSet::new() }
    }

    pub(super) fn of(plan: &Plan) -> Survey {
        let mut survey = Survey::new(plan);
        // Without the overrides that make it small, a sweep may be larger than is allowed.
        for point in 0..plan.points().min(MOST_POINTS) {
            let sheet = Sheet::new(plan, point);
            let members = sheet.missing.is_empty().then(|| Members::of(&sheet)).and_then(Result::ok);
            survey.note(point, &sheet, members.as_ref());
        }
        survey
    }

    /// Records a point and its members, if they are valid.
    pub(super) fn note(&mut self, point: usize, sheet: &Sheet<'_>, members: Option<&Members>) {
        for (slot, used) in self.used.iter_mut().enumerate() {
            *used |= sheet.is_used(slot);
        }
        let Some(members) = members else { return };
        let measured = members.measured().into_iter().map(str::to_string).collect();
        let plan = sheet.plan;
        let is_number = |kind| matches!(kind, Kind::Quantity(..) | Kind::Integer | Kind::Number);
        let swept = plan.axes.iter().flat_map(|axis| &axis.slots);
        let words = swept.filter(|slot| !is_number(plan.layout.def(**slot).kind));
        let text = |value: Option<&Value>| value.map_or_else(String::new, Value::text);
        let value = |slot: &usize| sheet.every(*slot).into_iter().map(text).collect::<Vec<_>>().join(", ");
        let values = words.map(value).collect();
        if self.met.insert((values, measured)) {
            self.shapes.push(point);
        }
    }
}

/// The names of the metrics that these points give, which are valid.
pub(super) fn metrics_of(plan: &Plan, points: &[usize]) -> Vec<String> {
    points.iter().fold(Vec::new(), |known, point| {
        let sheet = Sheet::new(plan, *point);
        let names = Members::of(&sheet).map(|members| metrics::names(&build::config(&sheet, &members)));
        merged(known, names.unwrap_or_default())
    })
}

/// All names of both lists, in order.
pub(super) fn merged(mut some: Vec<String>, more: Vec<String>) -> Vec<String> {
    if some.is_empty() {
        return more;
    }
    let known: BTreeSet<&String> = some.iter().collect();
    let is_new: Vec<bool> = more.iter().map(|name| !known.contains(name)).collect();
    some.extend(more.into_iter().zip(is_new).filter_map(|(name, is_new)| is_new.then_some(name)));
    some
}

/// Settings that have no meaning at any point, neither as given nor, for those of the file, without the overrides.
pub(super) fn unused(plan: &Plan, survey: &Survey, of_file: &Survey) -> Faults {
    let mut faults = Faults::new();
    for (&slot, setting) in &plan.base {
        let in_file = matches!(setting.place, Place::Line(_));
        let used = survey.used[slot] || (in_file && of_file.used[slot]);
        if !used {
            faults.push(Fault::new(setting.place, plan.layout.key(slot), purpose(plan, survey, slot)));
        }
    }
    for axis in &plan.axes {
        for (column, slot) in axis.slots.iter().enumerate() {
            if !survey.used[*slot] && !of_file.used[*slot] {
                let key = format!("sweep.{}", plan.layout.key(*slot));
                faults.push(Fault::new(axis.rows[0][column].1, key, purpose(plan, survey, *slot)));
            }
        }
    }
    faults
}

/// The message for a slot that no point uses, with the condition under which it has a meaning.
fn purpose(plan: &Plan, survey: &Survey, slot: usize) -> String {
    let (section, _, mut place) = plan.layout.split(slot);
    let (slots, first) = (section.slots(), slot - place);
    // If a condition refers to a key that has no meaning itself, the message states the condition of that key. If that
    // key is merely not set, the message asks to set it.
    while let Some(SlotOnly::Is(other, _)) = slots[place].only.first()
        && !survey.used[first + other]
        && !slots[*other].only.is_empty()
        && (plan.base.contains_key(&(first + other)) || !matches!(slots[*other].default, SlotDefault::Absent))
    {
        place = *other;
    }
    let key = plan.layout.key(first + place);
    let name = key.split('.').nth(1).unwrap_or("");
    let only = slots[place].def.only;
    // A condition that holds wherever the key of another condition has a meaning is met where that key is used.
    let is_met = |condition: &Only| {
        slots[place].only.iter().any(|other| match other {
            SlotOnly::Is(key, _) => survey.used[first + key] && slots[*key].def.only.contains(condition),
            _ => false,
        })
    };
    let only: Vec<String> = only.iter().filter(|only| !is_met(only)).map(|only| Only::text(*only)).collect();
    format!("no point uses it; expected {}", only.join(" and ").replace("NAME", name))
}
