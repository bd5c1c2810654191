//! A law on recorded events.

use lasthop_sim::replay::{Difference, Replayed};
use lasthop_stack::hooks::Judgement;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The outcome of a replay, by the names of its parts.
pub(crate) fn as_dict<'py>(py: Python<'py>, found: &Replayed) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("acks", found.acks)?;
    dict.set_item("losses", found.losses)?;
    dict.set_item("connections", found.connections)?;
    dict.set_item("missed", found.missed)?;
    dict.set_item("differences", found.differences)?;
    if let Some(Difference { place, connection, event, windows, judgements }) = &found.first {
        let words = judgements.map(|judgement| match judgement {
            Some(Judgement::Random) => "random",
            Some(Judgement::Congestion) => "congestion",
            None => "none",
        });
        dict.set_item("first", (place, connection, event, *windows, words))?;
    }
    Ok(dict)
}
