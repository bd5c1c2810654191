//! Scenarios: one TOML file defines what runs, what varies and what is drawn.
//!
//! A file is read once. `document` turns it into settings with their lines, `plan` reads each value by the table in
//! `keys`, and `sweep` makes the axes. `sheet` fills in every default of a point, and `members` expands groups into
//! nodes, links and flows. `check` detects values that conflict, and `build` makes the [`Config`] from which a run is
//! built. A scenario that exists is valid at every point.

mod build;
mod check;
mod decimal;
mod document;
mod error;
mod exceptions;
mod explain;
mod figure;
mod file;
mod hash;
mod hints;
pub mod hosted;
mod keys;
mod layout;
mod members;
mod nearest;
mod placement;
mod plan;
mod quantity;
mod range;
mod records;
mod roster;
mod schema;
mod sheet;
mod survey;
mod sweep;
mod value;

#[cfg(test)]
mod tests;

pub use crate::model::Config;
pub use error::{Located, Overrides, ScenarioError};
pub use exceptions::{Exception, exceptions};
pub use explain::{explain, keys};
pub use keys::kinds;
pub use keys::{APPS, FIGURES, LOSS_MODELS, Named, PANELS, STANDARDS};
pub use nearest::unknown;
pub use schema::schema;

use document::{Document, Raw};
use error::{ENOUGH_FAULTS, Faults};
use hash::Fnv;
use members::Members;
use plan::Plan;
use records::Records;
use serde_json::Value as Json;
use sheet::Sheet;
use std::path::Path;
use std::sync::OnceLock;
use survey::{Survey, merged, metrics_of, unused};
use value::Names;

/// The key that may name a law of the host.
const LAW: &str = "flows.*.tcp.congestion";
const AGENT: &str = "agents.*.kind";

/// A valid scenario and all points of its sweep.
#[derive(Clone, Debug)]
pub struct Scenario {
    name: String,
    text: String,
    overrides: Vec<(String, String)>,
    argument: String,
    plan: Plan,
    figures: Vec<Json>,
    warnings: Vec<String>,
    exceptions: Vec<Exception>,
    /// Points that together have all metrics.
    shapes: Vec<usize>,
    /// Their names, once they were requested.
    metrics: OnceLock<Vec<String>>,
    head: OnceLock<Head>,
}

/// The values of a scenario that no sweep changes.
#[derive(Clone, Debug)]
struct Head {
    paper: String,
    title: String,
    seed: u64,
    replications: u64,
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
    /// The file cannot be read, or its scenario cannot be run.
    pub fn from_file(path: &Path, overrides: Overrides<'_>) -> Result<Scenario, ScenarioError> {
        let text = file::text(path)?;
        Scenario::under(&text, &path.display().to_string(), overrides)
    }

    /// Reads TOML text; messages use `name` in place of a file name.
    ///
    /// # Errors
    /// The scenario cannot be run.
    pub fn from_text(
        text: &str,
        name: &str,
        overrides: &[(String, String)],
    ) -> Result<Scenario, ScenarioError> {
        Scenario::under(text, name, Overrides::new(overrides))
    }

    fn under(text: &str, name: &str, given: Overrides<'_>) -> Result<Scenario, ScenarioError> {
        let overrides = given.pairs;
        let error = |faults: Faults| ScenarioError::new(name, given, faults);
        let document = Document::parse(text).map_err(|fault| error(vec![fault]))?;
        let (mut plan, mut faults) = Plan::new(&document, overrides);
        plan.records = Records::of(&plan, name);
        // What the file alone says decides whether its figures and its parameters of variants make sense.
        let alone = (!overrides.is_empty()).then(|| Plan::new(&document, &[]).0);
        let file = alone.as_ref().unwrap_or(&plan);
        let mut check = check::Check::new(&document, &plan);
        if faults.is_empty() {
            check.structure();
        }
        let mut survey = Survey::new(&plan);
        if faults.is_empty() && check.faults.is_empty() {
            for point in 0..plan.points() {
                let sheet = Sheet::new(&plan, point);
                let members = sheet.missing.is_empty().then(|| Members::of(&sheet));
                survey.note(point, &sheet, members.as_ref().and_then(|found| found.as_ref().ok()));
                check.point(point, &sheet, members);
                if check.faults.len() > ENOUGH_FAULTS {
                    break;
                }
            }
            check.unmarked();
            check.spare();
        }
        faults.append(&mut check.faults);
        let (mut remarks, exceptions) = (check.remarks, check.exceptions);
        let mut figures = Vec::new();
        if faults.is_empty() {
            let alone = alone.as_ref().map(Survey::of);
            let of_file = alone.as_ref().unwrap_or(&survey);
            faults.extend(unused(&plan, &survey, of_file));
            if !document.figures.is_empty() {
                let here = metrics_of(&plan, &survey.shapes);
                let known = match &alone {
                    Some(alone) => merged(here, metrics_of(file, &alone.shapes)),
                    None => here,
                };
                figures = figure::figures(&document, file, &known, &mut faults, &mut remarks);
            }
        }
        if !faults.is_empty() {
            return Err(error(faults));
        }
        let warnings = if remarks.is_empty() { Vec::new() } else { error(remarks).lines().to_vec() };
        let (name, text, overrides) = (name.to_string(), text.to_string(), overrides.to_vec());
        let argument = given.argument.to_string();
        Ok(Scenario {
            name,
            text,
            overrides,
            argument,
            plan,
            figures,
            warnings,
            exceptions,
            shapes: survey.shapes,
            metrics: OnceLock::new(),
            head: OnceLock::new(),
        })
    }

    /// The same text under more overrides; a later one wins.
    ///
    /// # Errors
    /// The resulting scenario cannot be run.
    pub fn with_overrides(&self, more: &[(String, String)]) -> Result<Scenario, ScenarioError> {
        let all = [self.overrides.as_slice(), more].concat();
        Scenario::under(&self.text, &self.name, Overrides { pairs: &all, argument: &self.argument })
    }

    /// The name of the file in messages.
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
        self.head().paper.clone()
    }

    /// One line on what it shows.
    #[must_use]
    pub fn title(&self) -> String {
        self.head().title.clone()
    }

    /// The seed of every random stream.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.head().seed
    }

    /// Runs of each point.
    #[must_use]
    pub fn replications(&self) -> u64 {
        self.head().replications
    }

    /// Remarks on settings that are legal but look like mistakes.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The exceptions that its points grant, each once.
    #[must_use]
    pub fn exceptions(&self) -> &[Exception] {
        &self.exceptions
    }

    /// The axes of the sweep; the first is the slowest.
    #[must_use]
    pub fn axes(&self) -> Vec<Axis> {
        let axis = |axis: &sweep::Axis| Axis {
            keys: axis.slots.iter().map(|slot| self.plan.layout.key(*slot)).collect(),
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
                swept.push((self.plan.layout.key(*slot), value.text()));
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
        let sheet = Sheet::new(&self.plan, point);
        let members =
            Members::of(&sheet).unwrap_or_else(|found| panic!("{}: point {point}: {found:?}", self.name));
        build::config(&sheet, &members)
    }

    /// Every key with a meaning at a point, its value and where that comes from.
    ///
    /// # Panics
    /// When there is no such point.
    #[must_use]
    pub fn resolved(&self, point: usize) -> Vec<Resolved> {
        self.expect(point);
        let sheet = Sheet::new(&self.plan, point);
        let layout = &self.plan.layout;
        let settings = (0..layout.len()).filter(|slot| layout.def(*slot).is_setting());
        let line = |slot: usize| {
            let (value, cell) = sheet.cell(slot)?;
            let (key, value) = (layout.key(slot), value.text());
            Some(Resolved { key, value, from: sheet.origin(cell.from), source: cell.source })
        };
        settings.filter_map(line).collect()
    }

    /// A fault of a key at a point in one line, as the reader of scenarios writes it. The line has the place where the
    /// key is set, if it is set, the key, and what was found and expected.
    ///
    /// # Panics
    /// When there is no such point.
    #[must_use]
    pub fn fault(&self, point: usize, key: &str, text: &str) -> String {
        self.expect(point);
        let place = self.plan.layout.slot(key).and_then(|slot| sheet::place(&self.plan, slot, point));
        let Some(place) = place else { return format!("{}: {key}: {text}", self.name) };
        let given = Overrides { pairs: &self.overrides, argument: &self.argument };
        ScenarioError::new(&self.name, given, vec![error::Fault::new(place, key, text)]).to_string()
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
        for slot in 0..self.plan.layout.len() {
            let def = self.plan.layout.def(slot);
            if !def.is_setting() || def.is_outside_result() {
                continue;
            }
            let every = sheet.every(slot);
            let is_mixed = every.len() > 1;
            for (member, value) in every.iter().enumerate() {
                let Some(value) = value else { continue };
                let text = value.text();
                if is_mixed {
                    hash.add(&member.to_string());
                }
                hash.add(&self.plan.layout.key(slot));
                hash.add(self.plan.records.digest(&self.plan, slot, &text).unwrap_or(&text));
                if def.path == LAW
                    && let Ok(law) = hosted::hosted(&text)
                {
                    hash.add(&law.identity);
                }
                if def.path == AGENT
                    && let Some(agent) = hosted::hosted_agent(&text)
                {
                    hash.add(&agent.identity);
                }
            }
        }
        hash.digits()
    }

    /// The files of delivery opportunities that its points may name, by absolute paths or relative to its folder.
    #[must_use]
    pub fn files(&self) -> Vec<String> {
        self.plan.records.paths().map(str::to_string).collect()
    }

    /// The `[[figure]]` tables, with the values of `where` in canonical text.
    #[must_use]
    pub fn figures(&self) -> &[Json] {
        &self.figures
    }

    /// The names of the metrics that runs report, over all points.
    #[must_use]
    pub fn metrics(&self) -> &[String] {
        self.metrics.get_or_init(|| metrics_of(&self.plan, &self.shapes))
    }

    /// The SI value of a quantity or number given for a key; `None` for words and for anything else that is not a value of
    /// the key.
    #[must_use]
    pub fn numeric(&self, key: &str, text: &str) -> Option<f64> {
        let slot = self.plan.layout.slot(key)?;
        self.plan.layout.def(slot).read(&Raw::Text(text.to_string()), &Names::default()).ok()?.si()
    }

    /// Why a text is not a value of a key, as `found; expected`; `None` if it is one, or there is no such key.
    #[must_use]
    pub fn refused(&self, key: &str, text: &str) -> Option<String> {
        let slot = self.plan.layout.slot(key)?;
        let names = self.plan.layout.value_names();
        self.plan.layout.def(slot).read(&Raw::from_override(text, 0), &names).err()
    }

    /// The values that no sweep changes.
    fn head(&self) -> &Head {
        self.head.get_or_init(|| {
            let sheet = Sheet::new(&self.plan, 0);
            let text = |key| sheet.get(key).map(value::Value::text).unwrap_or_default();
            let count = |key| {
                let count = sheet.get(key).and_then(value::Value::count);
                count.unwrap_or_else(|| panic!("{}: {key} is not an integer", self.name))
            };
            Head {
                paper: text("paper"),
                title: text("title"),
                seed: count("run.seed"),
                replications: count("run.replications"),
            }
        })
    }

    fn expect(&self, point: usize) {
        assert!(point < self.points(), "{}: point {point} of {}", self.name, self.points());
    }
}
