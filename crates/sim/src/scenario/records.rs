//! The files of recorded capacity that the links of a scenario name, read once and shared by all its points.

use super::hash::Fnv;
use super::plan::Plan;
use super::value::Value;
use crate::host;
use lasthop_stack::link::recorded::{Delays, Rates, Schedule, Trains, Unreadable};
use std::collections::BTreeMap;
use std::io::{Error, ErrorKind};
use std::path::{Component, Path};
use std::sync::Arc;

/// The keys that name a file.
const KEYS: [&str; 6] = [
    "links.*.trace.file",
    "links.*.reverse.trace.file",
    "links.*.trace.delay.file",
    "links.*.reverse.trace.delay.file",
    "links.*.trace.light.file",
    "links.*.reverse.trace.light.file",
];

const EXPECTED: &str = "expected a file of delivery opportunities, of rates, of delays or of trains";
/// The longest file that is read: at 12 Mbit/s, one of a day takes 9 MB.
const MOST_BYTES: u64 = 256 << 20;

/// The files by the path that a key gives, or why one of them cannot be used.
#[derive(Clone, Debug, Default)]
pub(super) struct Records(BTreeMap<String, Result<Record, String>>);

#[derive(Clone, Debug)]
struct Record {
    /// Its content in each format, or why it does not have it.
    schedule: Result<Arc<Schedule>, String>,
    rates: Result<Arc<Rates>, String>,
    delays: Result<Arc<Delays>, String>,
    trains: Result<Arc<Trains>, String>,
    digest: Option<String>,
}

impl Records {
    /// The files that any point of a scenario may name, which is in the file `name`.
    ///
    /// A study keeps copies of them in a folder of their own, `scenario.files` for `scenario.toml`, so that none can be
    /// called like a file of the study. What is there is read first.
    pub(super) fn of(plan: &Plan, name: &str) -> Records {
        let folder = Path::new(name).parent().unwrap_or(Path::new(""));
        let copies = Path::new(name).with_extension("files");
        let set = plan.base.iter().map(|(slot, setting)| (*slot, &setting.value));
        let swept = plan.axes.iter().flat_map(|axis| {
            axis.rows
                .iter()
                .flat_map(|row| axis.slots.iter().copied().zip(row.iter().map(|(value, _)| value)))
        });
        let mut files = BTreeMap::new();
        for (slot, value) in set.chain(swept) {
            if let Value::Text(path) = value
                && is_file(plan, slot)
            {
                files.entry(path.clone()).or_insert_with(|| read(folder, &copies, path));
            }
        }
        Records(files)
    }

    /// The opportunities in a file; one a millisecond where it cannot be used, which [`Records::fault`] reports.
    pub(super) fn schedule(&self, path: &str) -> Arc<Schedule> {
        match self.0.get(path) {
            Some(Ok(Record { schedule: Ok(schedule), .. })) => schedule.clone(),
            _ => Arc::new(Schedule::each_millisecond()),
        }
    }

    /// The rates in a file; a constant one where it cannot be used.
    pub(super) fn rates(&self, path: &str) -> Arc<Rates> {
        match self.0.get(path) {
            Some(Ok(Record { rates: Ok(rates), .. })) => rates.clone(),
            _ => Arc::new(Rates::constant()),
        }
    }

    /// The delays in a file; none where it cannot be used.
    pub(super) fn delays(&self, path: &str) -> Arc<Delays> {
        match self.0.get(path) {
            Some(Ok(Record { delays: Ok(delays), .. })) => delays.clone(),
            _ => Arc::new(Delays::none()),
        }
    }

    /// The trains in a file; such without delay where it cannot be used.
    pub(super) fn trains(&self, path: &str) -> Arc<Trains> {
        match self.0.get(path) {
            Some(Ok(Record { trains: Ok(trains), .. })) => trains.clone(),
            _ => Arc::new(Trains::none()),
        }
    }

    /// Why a file cannot be used as one of trains.
    pub(super) fn train_fault(&self, path: &str) -> Option<&str> {
        match self.0.get(path)? {
            Err(fault) => Some(fault),
            Ok(record) => record.trains.as_ref().err().map(String::as_str),
        }
    }

    /// Why a file cannot be used as one of delays.
    pub(super) fn delay_fault(&self, path: &str) -> Option<&str> {
        match self.0.get(path)? {
            Err(fault) => Some(fault),
            Ok(record) => record.delays.as_ref().err().map(String::as_str),
        }
    }

    /// Why a file cannot be used as one of rates, or else of delivery opportunities.
    pub(super) fn fault(&self, path: &str, is_rates: bool) -> Option<&str> {
        match self.0.get(path)? {
            Err(fault) => Some(fault),
            Ok(record) if is_rates => record.rates.as_ref().err().map(String::as_str),
            Ok(record) => record.schedule.as_ref().err().map(String::as_str),
        }
    }

    /// What identifies the content of the file that the value of a slot names; `None` for every other slot.
    pub(super) fn digest(&self, plan: &Plan, slot: usize, path: &str) -> Option<&str> {
        if !is_file(plan, slot) {
            return None;
        }
        self.0.get(path)?.as_ref().ok()?.digest.as_deref()
    }

    /// The paths, absolute or relative to the folder of the scenario.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

fn is_file(plan: &Plan, slot: usize) -> bool {
    KEYS.contains(&plan.layout.def(slot).path)
}

fn read(folder: &Path, copies: &Path, path: &str) -> Result<Record, String> {
    let is_below = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    if path.is_empty() || !(is_below || Path::new(path).is_absolute()) {
        return Err(format!(
            "\"{path}\"; expected a file in the folder of the scenario or below it, or an absolute path"
        ));
    }
    let copy = copies.join(path);
    let file = if is_below && host::is_file(&copy) { copy } else { folder.join(path) };
    let shown = file.display();
    let unusable = |error: Error| match error.kind() {
        ErrorKind::NotFound => format!("{shown}: no such file; {EXPECTED}"),
        _ => format!("{shown}: {error}; {EXPECTED}"),
    };
    let content = host::read(&file, MOST_BYTES).map_err(unusable)?;
    let bytes = content.ok_or_else(|| {
        format!("{shown}: not a regular file of at most {} MiB; {EXPECTED}", MOST_BYTES >> 20)
    })?;
    let text = String::from_utf8_lossy(&bytes);
    let at_line = |error: Unreadable| format!("{shown}:{}: {}", error.line, error.text);
    let schedule = Schedule::read(&text).map(Arc::new).map_err(at_line);
    let rates = Rates::read(&text).map(Arc::new).map_err(at_line);
    let delays = Delays::read(&text).map(Arc::new).map_err(at_line);
    let mut hash = Fnv::new();
    if let Ok(schedule) = &schedule {
        schedule.times_ms().iter().for_each(|at| hash.add(&at.to_string()));
    }
    if let Ok(rates) = &rates {
        rates.steps().for_each(|step| hash.add(&format!("{step:?}")));
    }
    // A file of whole milliseconds can be one of opportunities and of delays, whose content is then the same.
    if let (Err(_), Ok(delays)) = (&schedule, &delays) {
        delays.steps().for_each(|delay| hash.add(&format!("{delay:?}")));
    }
    let trains = Trains::read(&text).map(Arc::new).map_err(at_line);
    if let Ok(trains) = &trains {
        trains.iter().for_each(|train| hash.add(&format!("{train:?}")));
    }
    let is_any = schedule.is_ok() || rates.is_ok() || delays.is_ok() || trains.is_ok();
    let digest = is_any.then(|| hash.digits());
    Ok(Record { schedule, rates, delays, trains, digest })
}
