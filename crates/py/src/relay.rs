//! A relay between two interfaces, which Python opens.

use std::os::fd::{BorrowedFd, RawFd};

use lasthop_sim::relay::{HopCounts, Path, Way, relay};
use lasthop_stack::units::Span;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The links of a scenario between two interfaces, at the start of a replication.
#[pyclass(module = "lasthop._core")]
#[derive(Debug)]
pub(crate) struct Relay(pub(crate) Path);

#[pymethods]
impl Relay {
    /// Relays packets between two interfaces that do not block, for this time or until `stop` can be read.
    ///
    /// The result has the length of the run, how late packets were delivered, and what each direction did.
    fn run<'py>(
        &mut self,
        py: Python<'py>,
        ends: (RawFd, RawFd),
        stop: RawFd,
        seconds: f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let all = [ends.0, ends.1, stop];
        if all.iter().any(|end| *end < 0) || !seconds.is_finite() || seconds < 0.0 {
            let text = format!("{all:?}, {seconds}; expected three open descriptors and a time in seconds");
            return Err(PyValueError::new_err(text));
        }
        let path = &mut self.0;
        let ended = py.detach(|| {
            #[expect(unsafe_code, reason = "Python owns the descriptors, and hands over only their numbers")]
            // SAFETY: the caller keeps the descriptors open until this returns.
            let [first, second, stop] = all.map(|end| unsafe { BorrowedFd::borrow_raw(end) });
            relay(path, [first, second], stop, Span::from_secs_f64(seconds))
        });
        let ended = ended.map_err(|error| match error.raw_os_error() {
            Some(number) => PyOSError::new_err((number, error.to_string())),
            None => PyOSError::new_err(error.to_string()),
        })?;
        let late = |share| ended.lateness.quantile(share).map(Span::as_secs);
        let found = PyDict::new(py);
        found.set_item("length_s", ended.length.as_secs())?;
        found.set_item("delivered", ended.lateness.count())?;
        found.set_item("refused", ended.refused)?;
        found.set_item("late_p50_s", late(0.5))?;
        found.set_item("late_p99_s", late(0.99))?;
        found.set_item("late_max_s", ended.lateness.most().as_secs())?;
        let ways: PyResult<Vec<_>> = self.0.ways.iter().map(|way| counts(py, way)).collect();
        found.set_item("ways", ways?)?;
        Ok(found)
    }
}

fn counts<'py>(py: Python<'py>, way: &Way) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("packets", way.packets)?;
    found.set_item("data", way.data)?;
    found.set_item("ignored", way.ignored)?;
    let sum = |of: fn(&HopCounts) -> u64| way.counts().map(|(_, counts)| of(&counts)).sum::<u64>();
    found.set_item("drops_queue", sum(|counts| counts.drops_queue))?;
    found.set_item("drops_policer", sum(|counts| counts.drops_policer))?;
    found.set_item("drops_loss", sum(|counts| counts.drops_loss))?;
    found.set_item("duplicated", sum(|counts| counts.duplicated))?;
    found.set_item("reordered", sum(|counts| counts.reordered))?;
    Ok(found)
}
