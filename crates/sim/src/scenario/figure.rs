//! The figures that a scenario defines, checked against its sweep and its metrics.

use super::document::{self, Document, Leaf, Raw};
use super::error::{Fault, Faults, Place};
use super::keys::{self, Default, Figure, Key, Kind, Only, Panel};
use super::layout::unknown_key;
use super::nearest::{listed, unknown};
use super::plan::{Plan, is_name};
use super::quantity::Quantity;
use super::sweep::Axis;
use super::value::{Names, Value};
use crate::metrics;
use lasthop_stack::hooks::parameter::Words;
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;

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
            reader.fault(*place, "id", format!("\"{id}\" twice; expected a different id for each figure"));
        }
        if reader.faults.is_empty() {
            let open =
                plan.axes.iter().filter(|axis| !axis.slots.iter().any(|slot| reader.covered.contains(slot)));
            for axis in open.filter(|axis| axis.rows.len() > 1) {
                let key = plan.layout.key(axis.slots[0]);
                let along = match (figure.contains_key("x"), figure.contains_key("rows")) {
                    (_, true) => "rows, columns",
                    (true, false) => "x, lines",
                    (false, false) => "lines",
                };
                let text = format!("does not fix {key}; expected it in {along} or where");
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
    /// Slots that x, lines, rows, columns or where name.
    covered: Vec<usize>,
    faults: Faults,
}

impl<'a> Reader<'a> {
    fn fault(&mut self, place: Place, key: &str, text: String) {
        self.faults.push(Fault::new(place, format!("figure.{key}"), text));
    }

    fn read(&mut self, leaves: &[Leaf]) -> Map<String, Json> {
        let mut figure = Map::new();
        let kind = kind_of(leaves);
        let of_y = leaves.iter().filter(|leaf| leaf.path[0] == "y");
        let drawn: Vec<String> = of_y.flat_map(|leaf| texts(&leaf.item.raw)).collect();
        figure.insert("kind".to_string(), Json::String(kind.word().to_string()));
        for leaf in leaves {
            let name = leaf.path[0].as_str();
            let Some(key) = keys::find(&["figure", name]) else {
                self.fault(
                    leaf.item.place,
                    name,
                    unknown_key(&["figure", name], 1, &keys::children(&["figure"])),
                );
                continue;
            };
            if !serves(key, kind) {
                let only: Vec<String> = key.only.iter().map(|only| Only::text(*only)).collect();
                let (kind, only) = (kind.word(), only.join(" and "));
                let text = format!("not a key of a figure of kind \"{kind}\"; expected {only}");
                self.fault(leaf.item.place, name, text);
                continue;
            }
            let value = match (key.kind, &leaf.item.raw) {
                (Kind::Where, Raw::Table(below)) => Some(self.conditions(name, &document::flatten(below))),
                (Kind::Names, Raw::Table(below)) => Some(self.names(name, &document::flatten(below), &drawn)),
                _ => match key.read(&leaf.item.raw, &Names::default()) {
                    Ok(value) => {
                        self.check(leaf.item.place, name, key.kind, &value);
                        Some(json(&value))
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
            let required =
                key.is_some_and(|key| matches!(key.default, Default::Required) && serves(key, kind));
            if required && !leaves.iter().any(|leaf| leaf.path[0] == name) {
                let expected = key.map_or_else(String::new, |key| key.expected(None));
                self.fault(self.place, name, format!("missing; expected {expected}"));
            }
        }
        let place = |name: &str| leaves.iter().find(|leaf| leaf.path[0] == name).map(|leaf| leaf.item.place);
        match kind {
            Figure::Airtime => self.airtime(&figure, place),
            Figure::Time => self.time(&figure, place),
            Figure::Cdf => self.responses(&figure, place),
            Figure::Matrix => {
                self.apart(&figure, place, ["rows", "columns"]);
                self.single(&figure, place);
            }
            Figure::Scatter => {
                self.apart(&figure, place, ["against", "y"]);
                self.single(&figure, place);
            }
            Figure::Lines | Figure::Bar | Figure::Box => self.apart(&figure, place, ["x", "lines"]),
        }
        figure
    }

    /// Checks that a figure of one panel shows one metric.
    fn single(&mut self, figure: &Map<String, Json>, place: impl Fn(&str) -> Option<Place>) {
        if let Some(Json::Array(metrics)) = figure.get("y") {
            let text = format!("{} metrics; expected one", metrics.len());
            self.fault(place("y").unwrap_or(self.place), "y", text);
        }
    }

    /// Checks that two axes of a figure are different keys, or different metrics.
    fn apart(
        &mut self,
        figure: &Map<String, Json>,
        place: impl Fn(&str) -> Option<Place>,
        [one, other]: [&str; 2],
    ) {
        if let [Some(Json::String(first)), Some(second)] = [one, other].map(|name| figure.get(name))
            && second == first
        {
            let what = if one == "against" { "metric" } else { "swept key" };
            let text = format!("{first} is also figure.{one}; expected another {what}");
            self.fault(place(other).unwrap_or(self.place), other, text);
        }
    }

    /// Checks that there is a medium whose airtime can be drawn.
    fn airtime(&mut self, figure: &Map<String, Json>, place: impl Fn(&str) -> Option<Place>) {
        let of_wifi =
            |name: &String| Some(name.strip_prefix("links.")?.strip_suffix(".airtime_idle_s")?.to_string());
        let links: Vec<String> = self.metrics.iter().filter_map(of_wifi).collect();
        let known: Vec<&str> = links.iter().map(String::as_str).collect();
        match figure.get("link") {
            Some(Json::String(link)) if !known.is_empty() && !known.contains(&link.as_str()) => {
                self.fault(place("link").unwrap_or(self.place), "link", unknown("wifi link", link, &known));
            }
            _ if known.is_empty() => {
                let text = "\"airtime\" in a scenario without 802.11; expected a link of kind wifi";
                self.fault(place("kind").unwrap_or(self.place), "kind", text.to_string());
            }
            _ => {}
        }
    }

    /// Checks that there are transfers of the class whose response times are to be drawn.
    fn responses(&mut self, figure: &Map<String, Json>, place: impl Fn(&str) -> Option<Place>) {
        let Some(class) = figure.get("class").and_then(Json::as_str) else { return };
        let of_flow = |name: &'a String| name.strip_prefix("flows.")?.split_once(".class.");
        let users = self.metrics.iter().filter_map(of_flow);
        let of_class = users.filter(|(_, rest)| rest.split('.').next() == Some(class));
        let known: BTreeSet<&str> = of_class.map(|(flow, _)| flow).collect();
        match figure.get("flow") {
            _ if known.is_empty() => {
                let text = format!(
                    "\"{class}\" is not a class of this scenario; expected a class of one of its flows"
                );
                self.fault(place("class").unwrap_or(self.place), "class", text);
            }
            Some(Json::String(flow)) if !known.contains(flow.as_str()) => {
                let known: Vec<&str> = known.into_iter().collect();
                self.fault(place("flow").unwrap_or(self.place), "flow", unknown("flow", flow, &known));
            }
            _ => {}
        }
    }

    /// Checks that what is to be drawn over time is measured.
    fn time(&mut self, figure: &Map<String, Json>, place: impl Fn(&str) -> Option<Place>) {
        // Each member of a group is drawn by itself, and so is reverse data, under the name of its metrics.
        let of_flow = |name: &'a String| {
            let name = name.strip_prefix("flows.")?;
            name.strip_suffix(".rtt_mean_s").or(name.strip_suffix(".packets_sent"))
        };
        let flows: Vec<&str> = self.metrics.iter().filter_map(of_flow).collect();
        let chosen: Vec<&str> = match figure.get("flow") {
            Some(Json::String(flow)) if flows.contains(&flow.as_str()) => vec![flow.as_str()],
            Some(Json::String(flow)) => {
                self.fault(place("flow").unwrap_or(self.place), "flow", unknown("flow", flow, &flows));
                return;
            }
            _ => flows,
        };
        let text = |name: &str| figure.get(name).and_then(Json::as_str);
        let time = |text: &str| Quantity::parse(text).ok().map(|time| time.base);
        if let (Some(since), Some(until)) = (text("since"), text("until"))
            && time(since) >= time(until)
        {
            let text = format!("{since} is not before figure.until, {until}; expected an earlier time");
            self.fault(place("since").unwrap_or(self.place), "since", text);
        }
        let is_tcp = |flow: &&str| self.metrics.contains(&format!("flows.{flow}.rtt_mean_s"));
        let has_tcp = chosen.iter().any(is_tcp);
        let has_bins = self.has_bins();
        let panels = figure.get("panels").and_then(Json::as_array).into_iter().flatten();
        for panel in panels.filter_map(Json::as_str).filter_map(Panel::of_word) {
            let word = panel.word();
            let text = if panel.is_binned() && !has_bins {
                format!("\"{word}\" without bins; expected run.bin to be set, such as \"500 ms\"")
            } else if !panel.is_binned() && !has_tcp {
                let binned = Panel::WORDS.iter().filter(|(_, panel)| panel.is_binned());
                let binned: Vec<&str> = binned.map(|(word, _)| *word).collect();
                format!("\"{word}\" of a UDP flow; expected {}, or a flow over TCP", binned.join(", "))
            } else if panel == Panel::Jitter && !chosen.iter().any(|flow| self.is_judged(flow)) {
                "\"jitter\" without a law that uses it; expected jtcp or ejtcp as tcp.variant or in tcp.judges"
                    .to_string()
            } else {
                continue;
            };
            self.fault(place("panels").unwrap_or(self.place), "panels", text);
        }
    }

    /// Whether any law classifies losses of this flow, at any point.
    fn is_judged(&self, flow: &str) -> bool {
        let prefix = format!("flows.{flow}.judge");
        self.metrics.iter().any(|name| name.starts_with(&prefix))
    }

    /// Whether the file sets or sweeps the bins of goodput over time.
    fn has_bins(&self) -> bool {
        let Some(slot) = self.plan.layout.slot("run.bin") else { return false };
        let is_set = self.plan.base.get(&slot).is_some_and(|setting| !setting.value.is("none"));
        is_set || self.plan.axes.iter().any(|axis| axis.slots.contains(&slot))
    }

    fn check(&mut self, place: Place, name: &str, kind: Kind, value: &Value) {
        let text = value.text();
        match kind {
            Kind::SweptKey => {
                self.swept(place, name, &text);
            }
            Kind::Metric | Kind::Metrics => {
                let every = flat(value);
                for (i, &metric) in every.iter().enumerate() {
                    let text = metric.text();
                    if !self.metrics.contains(&text) {
                        let known: Vec<&str> = self.metrics.iter().map(String::as_str).collect();
                        self.fault(place, name, unknown("metric", &text, &known));
                    } else if every[..i].contains(&metric) {
                        self.fault(place, name, format!("{text} twice; expected different metrics"));
                    }
                }
                for panel in if let Value::List(panels) = value { panels.as_slice() } else { &[] } {
                    self.one_unit(place, name, &flat(panel));
                }
            }
            Kind::Text if name == "id" && !is_name(&text) => {
                let found =
                    format!("\"{}\" is not a name; expected letters, digits, - and _", text.escape_debug());
                self.fault(place, name, found);
            }
            _ => {}
        }
    }

    /// Metrics on one axis have one unit.
    fn one_unit(&mut self, place: Place, name: &str, metrics: &[&Value]) {
        let unit = |metric: &Value| metrics::named(&metric.text()).next().map(|entry| entry.unit.symbol());
        let units: Vec<_> = metrics.iter().filter_map(|metric| Some((metric, unit(metric)?))).collect();
        if let Some((other, unit)) = units.iter().find(|(_, unit)| *unit != units[0].1) {
            let word = |unit: &str| if unit.is_empty() { "none".to_string() } else { format!("\"{unit}\"") };
            let text = format!(
                "{} with the unit {} beside {} with {}; expected metrics of one unit in a panel",
                other.text(),
                word(unit),
                units[0].0.text(),
                word(units[0].1)
            );
            self.fault(place, name, text);
        }
    }

    /// The slot and axis of a swept key.
    fn swept(&mut self, place: Place, name: &str, key: &str) -> Option<(usize, &Axis, usize)> {
        let plan = self.plan;
        let slots =
            || plan.axes.iter().flat_map(|axis| axis.slots.iter().enumerate().map(move |at| (axis, at)));
        let found = slots().find(|(_, (_, slot))| plan.layout.key(**slot) == key);
        let Some((axis, (column, slot))) = found else {
            let known: Vec<String> = slots().map(|(_, (_, slot))| plan.layout.key(*slot)).collect();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            self.fault(place, name, unknown("swept key", key, &known));
            return None;
        };
        self.covered.push(*slot);
        Some((*slot, axis, column))
    }

    /// The labels of swept values, and of the metrics that the figure draws.
    fn names(&mut self, name: &str, leaves: &[Leaf], drawn: &[String]) -> Json {
        let axes = self.plan.axes.iter();
        let values = axes.flat_map(|axis| axis.rows.iter().flatten()).map(|(value, _)| value.text());
        let mut seen = BTreeSet::new();
        let known: Vec<String> = values.filter(|value| seen.insert(value.clone())).collect();
        let mut names = Map::new();
        for leaf in leaves {
            let value = leaf.key();
            let at = format!("{name}.{value}");
            // A line or row that several values distinguish is named by all of them.
            let is_known = known.contains(&value)
                || value.split(", ").all(|part| known.iter().any(|one| one == part))
                || drawn.contains(&value);
            match &leaf.item.raw {
                _ if !is_known => {
                    let known: Vec<&str> = known.iter().map(String::as_str).collect();
                    self.fault(leaf.item.place, &at, unknown("swept value", &value, &known));
                }
                Raw::Text(text) => {
                    names.insert(value, Json::String(text.clone()));
                }
                other => {
                    self.fault(leaf.item.place, &at, format!("{}; expected text", other.describe()));
                }
            }
        }
        Json::Object(names)
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
            let read = plan.layout.def(slot).read(&leaf.item.raw, &plan.layout.value_names());
            let known: Vec<String> = axis.rows.iter().map(|row| row[column].0.text()).collect();
            match read {
                Ok(value) if known.contains(&value.text()) => {
                    conditions.insert(key, Json::String(value.text()));
                }
                Ok(value) => {
                    let known: Vec<&str> = known.iter().map(String::as_str).collect();
                    let (value, known) = (value.text(), listed(&value.text(), &known));
                    self.fault(place, &at, format!("\"{value}\" is not swept; expected one of {known}"));
                }
                Err(text) => self.fault(place, &at, text),
            }
        }
        Json::Object(conditions)
    }
}

/// The kind of a figure if it is valid; an invalid one is reported when it is read.
fn kind_of(leaves: &[Leaf]) -> Figure {
    let given = leaves.iter().find_map(|leaf| match &leaf.item.raw {
        Raw::Text(text) if leaf.path[0] == "kind" => Figure::of_word(text),
        _ => None,
    });
    given.unwrap_or(Figure::Lines)
}

impl Panel {
    /// Whether it is drawn from the bins of a run, and not from a trace.
    const fn is_binned(self) -> bool {
        match self {
            Panel::Goodput | Panel::Received => true,
            Panel::Rtt
            | Panel::Srtt
            | Panel::Rto
            | Panel::Cwnd
            | Panel::Ssthresh
            | Panel::Sequence
            | Panel::Released
            | Panel::Jitter => false,
        }
    }
}

/// Whether figures of a kind have this key.
fn serves(key: &Key, kind: Figure) -> bool {
    key.only.iter().all(|only| match only {
        Only::Is("figure.kind", kinds) => kinds.contains(&kind.word()),
        _ => true,
    })
}

/// The values in lists of lists, in order.
fn flat(value: &Value) -> Vec<&Value> {
    match value {
        Value::List(items) => items.iter().flat_map(flat).collect(),
        one => vec![one],
    }
}

/// The same of the contents of a file.
fn texts(raw: &Raw) -> Vec<String> {
    match raw {
        Raw::Text(text) => vec![text.clone()],
        Raw::List(items) => items.iter().flat_map(|item| texts(&item.raw)).collect(),
        _ => Vec::new(),
    }
}

fn json(value: &Value) -> Json {
    match value {
        Value::List(items) => Json::Array(items.iter().map(json).collect()),
        other => Json::String(other.text()),
    }
}
