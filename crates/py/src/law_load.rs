//! A load for a congestion law; Python measures its time.

use lasthop_stack::registry::CongestionKind;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A congestion law that receives acknowledgements, or none.
#[pyclass(module = "lasthop._core")]
#[derive(Debug)]
pub(crate) struct LawLoad(lasthop_sim::law_load::LawLoad);

#[pymethods]
impl LawLoad {
    #[new]
    fn new(law: &str) -> PyResult<LawLoad> {
        let kind = CongestionKind::named(law);
        if kind.is_none() && law != "none" {
            let known: Vec<&str> = CongestionKind::ALL.iter().map(|kind| kind.entry().name).collect();
            let text = format!("law: \"{law}\"; expected one of none, {}", known.join(", "));
            return Err(PyValueError::new_err(text));
        }
        Ok(LawLoad(lasthop_sim::law_load::LawLoad::new(kind)))
    }

    /// Reports this many acknowledgements to the law.
    fn run(&mut self, py: Python<'_>, acks: u64) {
        py.detach(|| self.0.run(acks));
    }
}
