//! A load for an agent; Python measures its time.

use lasthop_stack::hooks::Criterion;
use lasthop_stack::registry::{AgentConfig, AgentKind};
use lasthop_stack::schemes::lle_tcp::{Config, Mode};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Flows through an access point whose packets pass in turn, with or without an agent; in mode `interface` as bytes through the
/// agent of `lasthop agent`, and in mode `bytes` as such through nothing.
#[pyclass(module = "lasthop._core")]
#[derive(Debug)]
pub(crate) struct AgentLoad(lasthop_sim::agent_load::AgentLoad);

#[pymethods]
impl AgentLoad {
    #[new]
    fn new(mode: &str, flows: u32) -> PyResult<AgentLoad> {
        let lle = |mode| AgentConfig::LleTcp(Config::new(mode, Criterion::default()));
        if !(1..=1_000_000).contains(&flows) {
            let text = format!("flows: {flows}; expected a number from 1 to 1000000");
            return Err(PyValueError::new_err(text));
        }
        #[cfg(unix)]
        if let "bytes" | "interface" = mode {
            let scheme = (mode == "interface").then(|| lle(Mode::Safe));
            return Ok(AgentLoad(lasthop_sim::agent_load::AgentLoad::at_interface(scheme.as_ref(), flows)));
        }
        let scheme = match mode {
            "none" => None,
            "paper" => Some(lle(Mode::Paper)),
            "safe" => Some(lle(Mode::Safe)),
            other => {
                let kind = AgentKind::named_in_scenarios().iter().find(|kind| kind.entry().name == other);
                let wrong = || format!("mode: \"{other}\"; expected none, paper, safe, or a kind of agent");
                Some(kind.ok_or_else(|| PyValueError::new_err(wrong()))?.config())
            }
        };
        Ok(AgentLoad(lasthop_sim::agent_load::AgentLoad::new(scheme.as_ref(), flows)))
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
