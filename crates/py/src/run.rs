//! One run: its cancellation token and its results.

use crate::law::{self, Usage};
use lasthop_sim::Outcome;
use lasthop_sim::probe::accounts::Account;
use lasthop_sim::probe::bins::Series;
use lasthop_sim::probe::trace::{CHUNK, Column, Trace, TraceTable};
use lasthop_sim::probe::transfers::Transfer;
use lasthop_stack::units::Time;
use numpy::PyArray1;
use pyo3::exceptions::{PyKeyError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A flag that any thread may set and that a running simulation watches; it shows how far the simulation has come.
#[pyclass(frozen, module = "lasthop._core")]
#[derive(Debug, Default)]
pub(crate) struct Cancel {
    pub(crate) flag: Arc<AtomicBool>,
    pub(crate) reached: Arc<AtomicU64>,
}

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Cancel {
        Cancel::default()
    }

    /// Stops every run that watches this token.
    fn set(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// The simulated time, in seconds, at the last look of a run that watches this token.
    #[getter]
    fn reached_s(&self) -> f64 {
        Time(self.reached.load(Ordering::Relaxed)).as_secs()
    }
}

/// The results of one simulation.
#[pyclass(frozen, module = "lasthop._core")]
#[derive(Debug)]
pub(crate) struct Run {
    metrics: Vec<(String, Option<f64>)>,
    traces: Vec<Trace>,
    series: Vec<Series>,
    transfers: Vec<Transfer>,
    accounts: Vec<(String, Account)>,
    laws: Vec<Usage>,
    /// Events processed.
    #[pyo3(get)]
    events: u64,
    /// Wall-clock time in seconds.
    #[pyo3(get)]
    wall_s: f64,
    /// Processor time of the thread in seconds.
    #[pyo3(get)]
    cpu_s: f64,
    /// The limit that ended the run early, if one did.
    #[pyo3(get)]
    stopped: Option<&'static str>,
    /// Simulated time reached, in seconds.
    #[pyo3(get)]
    simulated_s: f64,
}

impl Run {
    pub(crate) fn new(outcome: Outcome, laws: Vec<Usage>, cpu_s: f64) -> Run {
        Run {
            traces: outcome.traces,
            metrics: outcome.metrics,
            series: outcome.series,
            transfers: outcome.transfers,
            accounts: outcome.accounts,
            laws,
            events: outcome.events,
            wall_s: outcome.wall_s,
            cpu_s,
            stopped: outcome.stopped.map(lasthop_sim::Stopped::name),
            simulated_s: outcome.simulated.as_secs(),
        }
    }

    fn named(&self, name: &str) -> PyResult<&Trace> {
        let found = self.traces.iter().find(|trace| trace.name == name);
        found.ok_or_else(|| PyKeyError::new_err(name.to_string()))
    }
}

#[pymethods]
impl Run {
    /// The metrics in their fixed order.
    #[getter]
    fn metrics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let metrics = PyDict::new(py);
        for (name, value) in &self.metrics {
            // Many runs have the same names: interned, they are in memory once.
            metrics.set_item(PyString::intern(py, name), value)?;
        }
        Ok(metrics)
    }

    /// The goodput of each flow over time, one value for each bin; empty where the scenario has no bins.
    #[getter]
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let series = PyDict::new(py);
        for one in &self.series {
            series.set_item(&one.name, &one.values)?;
        }
        Ok(series)
    }

    /// The transfers of users as columns, in the order of their starts; empty without users. One that is not done lasts
    /// from its start to the end of the run.
    #[getter]
    fn transfers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        let all = || self.transfers.iter();
        if !self.transfers.is_empty() {
            columns.set_item("flow", all().map(|it| it.flow).collect::<Vec<_>>())?;
            columns.set_item("class", all().map(|it| it.class.name()).collect::<Vec<_>>())?;
            columns.set_item("begun_s", all().map(|it| it.begun.as_secs()).collect::<Vec<_>>())?;
            let lasted = |it: &Transfer| match it.ended {
                Some(ended) => ended.since(it.begun).as_secs(),
                None => self.simulated_s - it.begun.as_secs(),
            };
            columns.set_item("lasted_s", all().map(lasted).collect::<Vec<_>>())?;
            columns.set_item("done", all().map(|it| it.ended.is_some()).collect::<Vec<_>>())?;
            columns.set_item("bytes", all().map(|it| it.bytes).collect::<Vec<_>>())?;
        }
        Ok(columns)
    }

    /// The accounts of the packets that each end of each flow sent: terms with packets and bytes, and over TCP the
    /// progress of the byte stream.
    #[getter]
    fn accounts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let accounts = PyDict::new(py);
        for (name, account) in &self.accounts {
            let terms = PyDict::new(py);
            for (term, tally) in account.terms() {
                terms.set_item(term, (tally.packets, tally.bytes))?;
            }
            let stream = account.stream.map(|stream| {
                let parts = PyDict::new(py);
                parts.set_item("written", stream.written)?;
                parts.set_item("sent", stream.sent)?;
                parts.set_item("received", stream.received)?;
                parts.set_item("acknowledged", stream.acknowledged)?;
                parts.set_item("is_stalled", stream.is_stalled)?;
                PyResult::Ok(parts)
            });
            accounts.set_item(name, (terms, stream.transpose()?))?;
        }
        Ok(accounts)
    }

    /// What the laws written in Python cost, by name: acknowledgements, calls and seconds.
    #[getter]
    fn laws<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        law::costs(py, &self.laws)
    }

    /// The names of the traces taken.
    fn traces(&self) -> Vec<&'static str> {
        self.traces.iter().map(|trace| trace.name).collect()
    }

    /// The number of rows of a trace, and how many to read at a time.
    fn trace_rows(&self, name: &str) -> PyResult<(usize, usize)> {
        Ok((self.named(name)?.rows(), CHUNK))
    }

    /// The columns of a trace: of all rows, or of at most `count` from row `first` on.
    #[pyo3(signature = (name, first = 0, count = None))]
    fn trace<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        first: usize,
        count: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let trace = self.named(name)?;
        let first = first.min(trace.rows());
        let end = count.map_or(trace.rows(), |count| first.saturating_add(count).min(trace.rows()));
        let table = py.detach(|| trace.read(first..end));
        columns(py, table.map_err(|error| PyOSError::new_err(error.to_string()))?)
    }
}

/// Gives the memory of numbers to numpy, and converts each word once.
fn columns(py: Python<'_>, table: TraceTable) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    for (name, column) in table.columns {
        match column {
            Column::Float(values) => columns.set_item(name, PyArray1::from_vec(py, values))?,
            Column::Int(values) => columns.set_item(name, PyArray1::from_vec(py, values))?,
            Column::Word { codes, words } => {
                let words: Vec<Bound<'_, PyString>> =
                    words.iter().map(|word| PyString::new(py, word)).collect();
                let cells = codes.iter().map(|code| &words[*code as usize]);
                columns.set_item(name, PyList::new(py, cells)?)?;
            }
        }
    }
    Ok(columns)
}
