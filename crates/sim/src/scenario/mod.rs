//! Scenarios: one TOML file says what is run, what varies and what is drawn.
//!
//! A file is read once. `document` turns it into settings with their lines, `plan` reads each value by the table in
//! `keys`, `sweep` makes the axes, `sheet` fills in every default of a point, `check` looks for values that do not go
//! together, and `build` makes the [`Config`] that a run is built from. A scenario that exists is valid at every point.

mod build;
mod check;
pub mod config;
mod decimal;
mod document;
mod error;
mod explain;
mod figure;
mod keys;
mod layout;
mod plan;
mod quantity;
mod range;
mod schema;
mod sheet;
mod sweep;
mod value;

#[cfg(test)]
mod tests;

pub use config::Config;
pub use error::{ScenarioError, unknown};
pub use explain::{explain, keys};
pub use keys::{APPS, LINKS, LOSS_MODELS, Named};
pub use schema::schema;

use crate::probe::metrics;
use document::{Document, Raw};
use error::{Fault, Faults, nearest};
use keys::Only;
use layout::SlotOnly;
use plan::Plan;
use serde_json::Value as Json;
use sheet::{Sheet, Transport};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

/// After so many faults the points that remain are not looked at.
const ENOUGH_FAULTS: usize = 100;

/// A valid scenario and all points of its sweep.
#[derive(Clone, Debug)]
pub struct Scenario {
    name: String,
    text: String,
    overrides: Vec<(String, String)>,
    plan: Plan,
    figures: Vec<Json>,
    warnings: Vec<String>,
    metrics: Vec<String>,
}

/// One line of the listing of a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The dotted key.
    pub key: String,
    /// Its value in canonical text.
    pub value: String,
    /// `file`, `set`, `sweep`, `default`, `profile ns2-2004`, or the key that it follows from.
    pub from: String,
    /// Where a default is published.
    pub source: &'static str,
}

/// An axis of the sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The keys that advance together.
    pub keys: Vec<String>,
    /// Their values, one row a step.
    pub rows: Vec<Vec<String>>,
}

impl Scenario {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, or what it says cannot be run.
    pub fn from_file(path: &Path, overrides: &[(String, String)]) -> Result<Scenario, ScenarioError> {
        let name = path.display().to_string();
        let bytes = fs::read(path).map_err(|error| ScenarioError::plain(unreadable(path, &error)))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
            let line = 1 + valid.matches('\n').count();
            ScenarioError::plain(format!(
                "{name}:{line}: bytes that are no UTF-8; expected TOML text in UTF-8"
            ))
        })?;
        Scenario::from_text(&text, &name, overrides)
    }

    /// Reads TOML text; `name` stands for the file in messages.
    ///
    /// # Errors
    /// What the text says cannot be run.
    pub fn from_text(
        text: &str,
        name: &str,
        overrides: &[(String, String)],
    ) -> Result<Scenario, ScenarioError> {
        let error = |faults: Faults| ScenarioError::new(name, overrides, faults);
        let document = Document::parse(text).map_err(|fault| error(vec![fault]))?;
        let (plan, mut faults) = Plan::new(&document, overrides);
        // What the file alone says decides whether its figures and its parameters of variants make sense.
        let file = if overrides.is_empty() { plan.clone() } else { Plan::new(&document, &[]).0 };
        let mut check = check::Check::new(&document, &plan);
        if faults.is_empty() {
            check.structure();
        }
        let mut survey = Survey::new(&plan);
        if faults.is_empty() && check.faults.is_empty() {
            for point in 0..plan.points() {
                let sheet = Sheet::new(&plan, point);
                survey.note(&sheet);
                check.point(point, &sheet);
                if check.faults.len() > ENOUGH_FAULTS {
                    break;
                }
            }
        }
        faults.append(&mut check.faults);
        let mut remarks = check.remarks;
        let (mut figures, mut metrics) = (Vec::new(), Vec::new());
        if faults.is_empty() {
            let of_file = Survey::of(&file);
            faults.extend(unused(&plan, &survey, &of_file));
            let known = merged(&survey.metrics, &of_file.metrics);
            figures = figure::figures(&document, &file, &known, &mut faults, &mut remarks);
            metrics = survey.metrics;
        }
        if !faults.is_empty() {
            return Err(error(faults));
        }
        let warnings = if remarks.is_empty() { Vec::new() } else { error(remarks).lines().to_vec() };
        let (name, text, overrides) = (name.to_string(), text.to_string(), overrides.to_vec());
        Ok(Scenario { name, text, overrides, plan, figures, warnings, metrics })
    }

    /// The same text under more overrides; a later one wins.
    ///
    /// # Errors
    /// What results cannot be run.
    pub fn with_overrides(&self, more: &[(String, String)]) -> Result<Scenario, ScenarioError> {
        let all = [self.overrides.as_slice(), more].concat();
        Scenario::from_text(&self.text, &self.name, &all)
    }

    /// What messages call the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text as given.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The overrides as given.
    #[must_use]
    pub fn overrides(&self) -> &[(String, String)] {
        &self.overrides
    }

    /// The paper and figure it belongs to.
    #[must_use]
    pub fn paper(&self) -> String {
        self.head("paper")
    }

    /// One line on what it shows.
    #[must_use]
    pub fn title(&self) -> String {
        self.head("title")
    }

    /// The seed of every random stream.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.head("run.seed").parse().unwrap_or(1)
    }

    /// Runs of each point.
    #[must_use]
    pub fn replications(&self) -> u64 {
        self.head("run.replications").parse().unwrap_or(1)
    }

    /// Remarks on what is legal but looks like a slip.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The axes of the sweep; the first is the slowest.
    #[must_use]
    pub fn axes(&self) -> Vec<Axis> {
        let axis = |axis: &sweep::Axis| Axis {
            keys: axis.slots.iter().map(|slot| self.plan.layout.slots[*slot].key.clone()).collect(),
            rows: axis.rows.iter().map(|row| row.iter().map(|(value, _)| value.text()).collect()).collect(),
        };
        self.plan.axes.iter().map(axis).collect()
    }

    /// The number of points, at least one.
    #[must_use]
    pub fn points(&self) -> usize {
        self.plan.points()
    }

    /// The swept keys at a point and their values.
    ///
    /// # Panics
    /// When there is no such point.
    #[must_use]
    pub fn point(&self, point: usize) -> Vec<(String, String)> {
        self.expect(point);
        let mut swept = Vec::new();
        for (axis, row) in self.plan.axes.iter().zip(sheet::rows(&self.plan, point)) {
            for (slot, (value, _)) in axis.slots.iter().zip(&axis.rows[row]) {
                swept.push((self.plan.layout.slots[*slot].key.clone(), value.text()));
            }
        }
        swept
    }

    /// What a run of a point is built from.
    ///
    /// # Panics
    /// When there is no such point.
    #[must_use]
    pub fn config(&self, point: usize) -> Config {
        self.expect(point);
        build::config(&Sheet::new(&self.plan, point))
    }

    /// Every key with a meaning at a point, its value and where that comes from.
    ///
    /// # Panics
    /// When there is no such point.
    #[must_use]
    pub fn resolved(&self, point: usize) -> Vec<Resolved> {
        self.expect(point);
        let sheet = Sheet::new(&self.plan, point);
        let slots = self.plan.layout.slots.iter().zip(&sheet.values);
        let settings = slots.filter(|(slot, _)| slot.def.is_setting());
        let line = |(slot, cell): (&layout::Slot, &Option<sheet::Cell>)| {
            let cell = cell.as_ref()?;
            let (key, value) = (slot.key.clone(), cell.value.text());
            Some(Resolved { key, value, from: sheet.origin(cell.from), source: cell.source })
        };
        settings.filter_map(line).collect()
    }

    /// 32 hexadecimal digits that change with everything at a point that can change its results.
    ///
    /// # Panics
    /// When there is no such point.
    #[must_use]
    pub fn point_key(&self, point: usize) -> String {
        self.expect(point);
        let sheet = Sheet::new(&self.plan, point);
        let mut hash = Fnv::new();
        for (slot, cell) in self.plan.layout.slots.iter().zip(&sheet.values) {
            if let Some(cell) = cell
                && slot.def.is_setting()
                && !slot.def.is_outside_result()
            {
                hash.add(&slot.key);
                hash.add(&cell.value.text());
            }
        }
        format!("{:032x}", hash.0)
    }

    /// The `[[figure]]` tables, with the values of `where` in canonical text.
    #[must_use]
    pub fn figures(&self) -> &[Json] {
        &self.figures
    }

    /// The names of the metrics that runs report, over all points.
    #[must_use]
    pub fn metrics(&self) -> &[String] {
        &self.metrics
    }

    /// The SI value of a quantity or number given for a key; `None` for words and what is no value of the key.
    #[must_use]
    pub fn numeric(&self, key: &str, text: &str) -> Option<f64> {
        let slot = self.plan.layout.slot(key)?;
        self.plan.layout.slots[slot].def.read(&Raw::Text(text.to_string()), &[]).ok()?.si()
    }

    /// The value of a key that no sweep changes.
    fn head(&self, key: &str) -> String {
        Sheet::new(&self.plan, 0).get(key).map(value::Value::text).unwrap_or_default()
    }

    fn expect(&self, point: usize) {
        assert!(point < self.points(), "{}: point {point} of {}", self.name, self.points());
    }
}

/// Which slots any point uses, and which metrics it gives.
struct Survey {
    used: Vec<bool>,
    metrics: Vec<String>,
    /// The transports of the flows, as far as they were met.
    transports: BTreeSet<Vec<Transport>>,
}

impl Survey {
    fn new(plan: &Plan) -> Survey {
        Survey {
            used: vec![false; plan.layout.slots.len()],
            metrics: Vec::new(),
            transports: BTreeSet::new(),
        }
    }

    fn of(plan: &Plan) -> Survey {
        let mut survey = Survey::new(plan);
        (0..plan.points()).for_each(|point| survey.note(&Sheet::new(plan, point)));
        survey
    }

    fn note(&mut self, sheet: &Sheet<'_>) {
        for (used, cell) in self.used.iter_mut().zip(&sheet.values) {
            *used |= cell.is_some();
        }
        let transports = (0..sheet.plan.layout.flows.len()).map(|flow| sheet.transport(flow)).collect();
        if sheet.missing.is_empty() && self.transports.insert(transports) {
            self.metrics = merged(&self.metrics, &metrics::names(&build::config(sheet)));
        }
    }
}

/// All names of both lists, in order.
fn merged(some: &[String], more: &[String]) -> Vec<String> {
    let new = more.iter().filter(|name| !some.contains(name));
    some.iter().chain(new).cloned().collect()
}

/// Settings without a meaning at any point, neither as given nor, for those of the file, without the overrides.
fn unused(plan: &Plan, survey: &Survey, of_file: &Survey) -> Faults {
    let mut faults = Faults::new();
    for (slot, setting) in plan.base.iter().enumerate() {
        let Some(setting) = setting else { continue };
        let in_file = matches!(setting.place, error::Place::Line(_));
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
    // A condition on a key that is itself without meaning leads on to the condition of that key.
    while let Some(SlotOnly::Is(other, _)) = plan.layout.slots[slot].only.first()
        && !survey.used[*other]
        && !plan.layout.slots[*other].only.is_empty()
    {
        slot = *other;
    }
    let name = plan.layout.slots[slot].key.split('.').nth(1).unwrap_or("");
    let only: Vec<String> = plan.layout.slots[slot].def.only.iter().map(|only| Only::text(*only)).collect();
    format!("no point uses it; expected {}", only.join(" and ").replace("NAME", name))
}

/// Why a file cannot be read.
fn unreadable(path: &Path, error: &io::Error) -> String {
    let shown = path.display();
    if path.is_dir() {
        return format!("{shown}: a directory; expected a scenario file");
    }
    if error.kind() != io::ErrorKind::NotFound {
        return format!("{shown}: {error}; expected a readable scenario file");
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "toml") {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let wanted = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match nearest(&wanted, &known) {
        Some(near) => format!("{shown}: no such file; did you mean \"{}\"?", folder.join(near).display()),
        None => format!("{shown}: no such file; expected a scenario file"),
    }
}

/// FNV-1a with 128 bits: stable over machines and versions.
struct Fnv(u128);

impl Fnv {
    fn new() -> Fnv {
        Fnv(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    /// Adds a text and a mark of its end.
    fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
}
