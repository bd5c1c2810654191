//! A load for the ARQ snoop agent; Python measures its time.

use lasthop_stack::schemes::lle_tcp::Mode;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Flows through an access point whose packets pass in turn, with or without an agent.
#[pyclass(module = "lasthop._core")]
#[derive(Debug)]
pub(crate) struct AgentLoad(lasthop_sim::agent_load::AgentLoad);

#[pymethods]
impl AgentLoad {
    #[new]
    fn new(mode: &str, flows: u32) -> PyResult<AgentLoad> {
        let mode = match mode {
            "paper" => Some(Mode::Paper),
            "safe" => Some(Mode::Safe),
            "none" => None,
            other => {
                let text = format!("mode: \"{other}\"; expected one of none, paper, safe");
                return Err(PyValueError::new_err(text));
            }
        };
        if !(1..=1_000_000).contains(&flows) {
            let text = format!("flows: {flows}; expected a number from 1 to 1000000");
            return Err(PyValueError::new_err(text));
        }
        Ok(AgentLoad(lasthop_sim::agent_load::AgentLoad::new(mode, flows)))
    }

    /// Passes this many data packets.
    fn run(&mut self, py: Python<'_>, packets: u64) {
        py.detach(|| self.0.run(packets));
    }

    /// Bytes of state held now.
    #[getter]
    fn state_bytes(&self) -> u64 {
        self.0.state_bytes().0
    }

    /// The most bytes of state held at once.
    #[getter]
    fn state_bytes_max(&self) -> u64 {
        self.0.state_bytes().1
    }
}
