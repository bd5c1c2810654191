//! A relay between two interfaces, which Python opens.

use std::collections::BTreeMap;
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::Arc;

use lasthop_sim::relay::{Clock, HopCounts, Path, Sent, Timing, Write, relay};
use lasthop_sim::scenario::Config;
use lasthop_stack::units::{Span, Time};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The network of a scenario between two interfaces, in a replication.
#[pyclass(module = "lasthop._core")]
#[derive(Debug)]
pub(crate) struct Relay {
    pub(crate) config: Arc<Config>,
    pub(crate) ends: (String, String),
    pub(crate) first_port: u16,
    pub(crate) seeds: (u64, u64),
}

impl Relay {
    /// The network at its start. Only the thread that makes it may use it.
    pub(crate) fn path(&self) -> PyResult<Path> {
        let ends = [self.ends.0.as_str(), self.ends.1.as_str()];
        let path = Path::new(&self.config, ends, self.first_port, self.seeds);
        path.map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// The writes of an application with their times.
#[pyclass(module = "lasthop._core")]
#[derive(Debug)]
pub(crate) struct Writes(pub(crate) lasthop_sim::relay::Writes);

#[pymethods]
impl Writes {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    /// The next write: when, in nanoseconds; how many bytes, or `None` without end; and whether the application closes then.
    fn __next__(&mut self) -> Option<(u64, Option<u64>, bool)> {
        let (at, write) = self.0.next()?;
        Some(match write {
            Write::ForEver => (at.0, None, false),
            Write::AndClose(bytes) => (at.0, Some(bytes), true),
            Write::Packet(bytes) => (at.0, Some(bytes.into()), false),
        })
    }
}

#[pymethods]
impl Relay {
    /// Relays packets between two interfaces that do not block until this time of the network, or until `stop` can be read. The
    /// network is at its time zero for `ahead` seconds; what it does is counted from `since` on.
    ///
    /// The result has the time of the end, how late packets were delivered, and what the ends and links did.
    fn run<'py>(
        &self,
        py: Python<'py>,
        ends: (RawFd, RawFd),
        stop: RawFd,
        times: (f64, f64, f64),
    ) -> PyResult<Bound<'py, PyDict>> {
        let (all, times) = ([ends.0, ends.1, stop], [times.0, times.1, times.2]);
        if all.iter().any(|end| *end < 0) || times.iter().any(|time| !time.is_finite() || *time < 0.0) {
            let text =
                format!("{all:?}, {times:?}; expected three open descriptors and three times in seconds");
            return Err(PyValueError::new_err(text));
        }
        let [ahead, since, until] = times.map(Span::from_secs_f64);
        let (clock, timing) = (Clock::start(ahead), Timing { since: Time(since.0), until: Time(until.0) });
        let (ended, sent, links) = py.detach(|| {
            let mut path = self.path()?;
            #[expect(unsafe_code, reason = "Python owns the descriptors, and hands over only their numbers")]
            // SAFETY: the caller keeps the descriptors open until this returns.
            let [first, second, stop] = all.map(|end| unsafe { BorrowedFd::borrow_raw(end) });
            let ended = relay(&mut path, [first, second], stop, (clock, timing));
            let ended = ended.map_err(|error| match error.raw_os_error() {
                Some(number) => PyOSError::new_err((number, error.to_string())),
                None => PyOSError::new_err(error.to_string()),
            })?;
            let counts = path.counts(ended.at).into_iter();
            let links: Vec<_> = counts.map(|(link, ways)| (link.to_string(), ways)).collect();
            Ok::<_, PyErr>((ended, path.sent(), links))
        })?;
        let late = |share| ended.lateness.quantile(share).map(Span::as_secs);
        let found = PyDict::new(py);
        found.set_item("length_s", ended.at.as_secs())?;
        found.set_item("delivered", ended.lateness.count())?;
        found.set_item("refused", ended.refused)?;
        found.set_item("late_p50_s", late(0.5))?;
        found.set_item("late_p99_s", late(0.99))?;
        found.set_item("late_max_s", ended.lateness.most().as_secs())?;
        let packets = sent.map(|sent| BTreeMap::from(named_sent(sent)));
        found.set_item("ends", packets.to_vec())?;
        let counts = PyDict::new(py);
        for (link, ways) in links {
            for (way, of) in ["", "reverse."].into_iter().zip(ways) {
                for (name, count) in named(of) {
                    counts.set_item(format!("links.{link}.{way}{name}"), count)?;
                }
            }
        }
        found.set_item("links", counts)?;
        Ok(found)
    }
}

/// The output of an end, by name.
fn named_sent(sent: Sent) -> [(&'static str, u64); 3] {
    [("packets", sent.packets), ("data", sent.data), ("ignored", sent.ignored)]
}

/// The counts by the names of the metrics.
fn named(counts: HopCounts) -> [(&'static str, u64); 7] {
    [
        ("drops_queue", counts.drops_queue),
        ("drops_loss", counts.drops_loss),
        ("drops_aqm", counts.drops_aqm),
        ("marks", counts.marks),
        ("drops_policer", counts.drops_policer),
        ("duplicated", counts.duplicated),
        ("reordered", counts.reordered),
    ]
}
