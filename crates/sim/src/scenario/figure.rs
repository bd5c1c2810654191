//! The figures a scenario defines: checked against its sweep and its metrics.

use super::document::{self, Document, Leaf, Raw};
use super::error::{Fault, Faults, Place, unknown};
use super::keys::{self, Default, Kind};
use super::layout::unknown_key;
use super::plan::{Plan, is_name};
use super::sweep::Axis;
use super::value::{Names, Value};
use serde_json::{Map, Value as Json};

/// The figures of a document as JSON, whatever an override fixes; `metrics` are the known names.
pub(super) fn figures(
    document: &Document,
    plan: &Plan,
    metrics: &[String],
    faults: &mut Faults,
    remarks: &mut Faults,
) -> Vec<Json> {
    let mut figures: Vec<Json> = Vec::new();
    for (place, leaves) in &document.figures {
        let mut reader = Reader { plan, metrics, place: *place, covered: Vec::new(), faults: Faults::new() };
        let figure = reader.read(leaves);
        let id = figure.get("id").cloned();
        if let Some(Json::String(id)) = &id
            && figures.iter().any(|other| other.get("id").is_some_and(|other| other == id))
        {
            reader.fault(*place, "id", format!("\"{id}\" twice; expected an id of its own for each figure"));
        }
        if reader.faults.is_empty() {
            let open =
                plan.axes.iter().filter(|axis| !axis.slots.iter().any(|slot| reader.covered.contains(slot)));
            for axis in open.filter(|axis| axis.rows.len() > 1) {
                let key = &plan.layout.slots[axis.slots[0]].key;
                let text = format!("leaves {key} open; name it in x, lines or where");
                remarks.push(Fault::new(*place, "figure", text));
            }
        }
        faults.append(&mut reader.faults);
        figures.push(Json::Object(figure));
    }
    figures
}

struct Reader<'a> {
    plan: &'a Plan,
    metrics: &'a [String],
    place: Place,
    /// Slots that x, lines or where name.
    covered: Vec<usize>,
    faults: Faults,
}

impl Reader<'_> {
    fn fault(&mut self, place: Place, key: &str, text: String) {
        self.faults.push(Fault::new(place, format!("figure.{key}"), text));
    }

    fn read(&mut self, leaves: &[Leaf]) -> Map<String, Json> {
        let mut figure = Map::new();
        for leaf in leaves {
            let name = leaf.path[0].as_str();
            let Some(key) = keys::find(&["figure", name]) else {
                self.fault(leaf.item.place, name, unknown_key(name, &keys::children(&["figure"])));
                continue;
            };
            let value = match (key.kind, &leaf.item.raw) {
                (Kind::Where, Raw::Table(below)) => Some(self.conditions(name, &document::flatten(below))),
                _ => match key.read(&leaf.item.raw, &Names::default()) {
                    Ok(value) => {
                        self.check(leaf.item.place, name, key.kind, &value);
                        Some(Json::String(value.text()))
                    }
                    Err(text) => {
                        self.fault(leaf.item.place, name, text);
                        None
                    }
                },
            };
            if let Some(value) = value {
                figure.insert(name.to_string(), value);
            }
        }
        for name in keys::children(&["figure"]) {
            let key = keys::find(&["figure", name]);
            let required = key.is_some_and(|key| matches!(key.default, Default::Required));
            if required && !leaves.iter().any(|leaf| leaf.path[0] == name) {
                let expected = key.map_or_else(String::new, |key| key.expected(None));
                self.fault(self.place, name, format!("missing; expected {expected}"));
            }
        }
        figure
    }

    fn check(&mut self, place: Place, name: &str, kind: Kind, value: &Value) {
        let text = value.text();
        match kind {
            Kind::SweptKey => {
                self.swept(place, name, &text);
            }
            Kind::Metric if !self.metrics.contains(&text) => {
                let known: Vec<&str> = self.metrics.iter().map(String::as_str).collect();
                self.fault(place, name, unknown("metric", &text, &known));
            }
            Kind::Text if name == "id" && !is_name(&text) => {
                let found =
                    format!("\"{}\" is no name; expected letters, digits, - and _", text.escape_debug());
                self.fault(place, name, found);
            }
            _ => {}
        }
    }

    /// The slot and axis of a swept key.
    fn swept(&mut self, place: Place, name: &str, key: &str) -> Option<(usize, &Axis, usize)> {
        let plan = self.plan;
        let slots =
            || plan.axes.iter().flat_map(|axis| axis.slots.iter().enumerate().map(move |at| (axis, at)));
        let found = slots().find(|(_, (_, slot))| plan.layout.slots[**slot].key == key);
        let Some((axis, (column, slot))) = found else {
            let known: Vec<&str> =
                slots().map(|(_, (_, slot))| plan.layout.slots[*slot].key.as_str()).collect();
            self.fault(place, name, unknown("swept key", key, &known));
            return None;
        };
        self.covered.push(*slot);
        Some((*slot, axis, column))
    }

    fn conditions(&mut self, name: &str, leaves: &[Leaf]) -> Json {
        let mut conditions = Map::new();
        for leaf in leaves {
            let (key, place) = (leaf.key(), leaf.item.place);
            let at = format!("{name}.{key}");
            let plan = self.plan;
            let Some((slot, axis, column)) = self.swept(place, name, &key) else {
                continue;
            };
            let read = plan.layout.slots[slot].def.read(&leaf.item.raw, &plan.layout.value_names());
            let known: Vec<String> = axis.rows.iter().map(|row| row[column].0.text()).collect();
            match read {
                Ok(value) if known.contains(&value.text()) => {
                    conditions.insert(key, Json::String(value.text()));
                }
                Ok(value) => {
                    let known = known.join(", ");
                    self.fault(
                        place,
                        &at,
                        format!("\"{}\" is not swept; expected one of {known}", value.text()),
                    );
                }
                Err(text) => self.fault(place, &at, text),
            }
        }
        Json::Object(conditions)
    }
}
