//! The files of delivery opportunities that the links of a scenario name, read once and shared by all its points.

use super::hash::Fnv;
use super::plan::Plan;
use super::value::Value;
use lasthop_stack::link::recorded::Schedule;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Error, ErrorKind};
use std::path::{Component, Path};
use std::sync::Arc;

/// The keys that name a file.
const KEYS: [&str; 2] = ["links.*.trace.file", "links.*.reverse.trace.file"];

/// The longest file that is read: at 12 Mbit/s, one of a day takes 9 MB.
const MOST_BYTES: u64 = 256 << 20;

/// The files by the path that a key gives, or why one of them cannot be used.
#[derive(Clone, Debug, Default)]
pub(super) struct Records(BTreeMap<String, Result<Record, String>>);

#[derive(Clone, Debug)]
struct Record {
    schedule: Arc<Schedule>,
    digest: String,
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
            Some(Ok(record)) => record.schedule.clone(),
            Some(Err(_)) | None => Arc::new(Schedule::each_millisecond()),
        }
    }

    /// Why a file cannot be used.
    pub(super) fn fault(&self, path: &str) -> Option<&str> {
        self.0.get(path)?.as_ref().err().map(String::as_str)
    }

    /// What identifies the content of the file that the value of a slot names; `None` for every other slot.
    pub(super) fn digest(&self, plan: &Plan, slot: usize, path: &str) -> Option<&str> {
        if !is_file(plan, slot) {
            return None;
        }
        self.0.get(path)?.as_ref().ok().map(|record| record.digest.as_str())
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
    let file = if is_below && copy.is_file() { copy } else { folder.join(path) };
    let shown = file.display();
    let unusable = |error: Error| match error.kind() {
        ErrorKind::NotFound => format!("{shown}: no such file; expected a file of delivery opportunities"),
        _ => format!("{shown}: {error}; expected a file of delivery opportunities"),
    };
    let about = fs::metadata(&file).map_err(unusable)?;
    if !about.is_file() || about.len() > MOST_BYTES {
        return Err(format!(
            "{shown}: not a regular file of at most {} MiB; expected a file of delivery opportunities",
            MOST_BYTES >> 20
        ));
    }
    let bytes = fs::read(&file).map_err(unusable)?;
    let text = String::from_utf8_lossy(&bytes);
    let schedule =
        Schedule::read(&text).map_err(|error| format!("{shown}:{}: {}", error.line, error.text))?;
    let mut hash = Fnv::new();
    for at in schedule.times_ms() {
        hash.add(&at.to_string());
    }
    Ok(Record { schedule: Arc::new(schedule), digest: hash.digits() })
}
