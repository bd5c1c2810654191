//! The Python binding of lasthop, without logic of its own.
//!
//! Whole runs cross the border: Python passes a scenario, a point, a seed and a replication, and gets metrics and
//! traces back. The GIL is released while a simulation runs, and traces become numpy arrays without a copy.

mod agent_load;
#[cfg(target_os = "linux")]
mod attached;
mod guard;
mod law;
mod law_load;
#[cfg(unix)]
mod live;
mod pair;
mod replay;
mod run;
mod scenario;
mod steering;
mod watch;

use lasthop_sim::engine::streams::{self, Stream};
use lasthop_sim::medium::radio::modulation;
use lasthop_stack::link::dot11::{Family, Guard, Mode, Ru};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use statrs::distribution::{Beta, ContinuousCDF, StudentsT};

/// The exceptions, which the package defines with a common base.
mod errors {
    #![allow(missing_docs, reason = "the macro writes the types")]

    use pyo3::import_exception;

    import_exception!(lasthop.base.errors, ScenarioError);
    import_exception!(lasthop.base.errors, RunError);
    import_exception!(lasthop.base.errors, LawError);
    import_exception!(lasthop.base.errors, Interrupted);
}

pub(crate) use errors::{Interrupted, LawError, RunError, ScenarioError};

/// Everything about a key of a scenario, as JSON.
#[pyfunction]
fn explain(key: &str) -> PyResult<String> {
    lasthop_sim::scenario::explain(key).map_err(|error| ScenarioError::new_err(error.to_string()))
}

/// Everything about all keys, as JSON.
#[pyfunction]
fn keys() -> String {
    lasthop_sim::scenario::keys()
}

/// The JSON Schema of scenarios.
#[pyfunction]
fn schema() -> String {
    lasthop_sim::scenario::schema()
}

/// All variants, links, sources, loss models and metrics, as JSON.
#[pyfunction]
fn registry() -> String {
    lasthop_sim::catalogue::registry()
}

/// The metrics that can have this name in results: unit, label, scope and meaning of each, as a JSON list.
#[pyfunction]
fn metric(name: &str) -> String {
    lasthop_sim::catalogue::metric(name)
}

/// The `p` quantile of Student's t distribution with `df` degrees of freedom.
#[pyfunction]
fn t_quantile(p: f64, df: f64) -> PyResult<f64> {
    let law = StudentsT::new(0.0, 1.0, df).map_err(|_| {
        PyValueError::new_err(format!("t_quantile: {df} degrees of freedom; expected a number above 0"))
    })?;
    if !(0.0..=1.0).contains(&p) {
        return Err(PyValueError::new_err(format!("t_quantile: p = {p}; expected a number from 0 to 1")));
    }
    Ok(law.inverse_cdf(p))
}

/// The `p` quantile of the beta distribution with the shapes `a` and `b`.
#[pyfunction]
fn beta_quantile(p: f64, a: f64, b: f64) -> PyResult<f64> {
    let law = Beta::new(a, b).map_err(|_| {
        PyValueError::new_err(format!("beta_quantile: shapes {a} and {b}; expected numbers above 0"))
    })?;
    if !(0.0..=1.0).contains(&p) {
        return Err(PyValueError::new_err(format!("beta_quantile: p = {p}; expected a number from 0 to 1")));
    }
    Ok(law.inverse_cdf(p))
}

/// Probability that an MPDU of these bytes fails at a ratio of signal to noise, by its MCS.
#[pyfunction]
fn mpdu_failure(mcs: u8, size: u32, ratio: f64) -> PyResult<f64> {
    if mcs > Family::He.highest_mcs() {
        return Err(PyValueError::new_err(format!("mpdu_failure: mcs = {mcs}; expected at most 11")));
    }
    let mode = Mode { family: Family::He, mcs, width: 20, guard: Guard::Normal, streams: 1, ru: Ru::Whole };
    Ok(modulation::mpdu_failure(mode, size, ratio))
}

/// The first `n` draws of a named random stream.
#[pyfunction]
fn philox<'py>(
    py: Python<'py>,
    seed: u64,
    name: &str,
    replication: u64,
    n: usize,
) -> Bound<'py, PyArray1<u64>> {
    let mut stream = Stream::named(seed, replication, name);
    PyArray1::from_vec(py, (0..n).map(|_| stream.next_u64()).collect())
}

/// The Philox key of a named random stream.
#[pyfunction]
fn stream_key(seed: u64, name: &str, replication: u64) -> (u64, u64) {
    let [first, second] = streams::key(seed, replication, name);
    (first, second)
}

#[pymodule(gil_used = true)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    guard::quiet_panics();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("model_version", lasthop_sim::MODEL_VERSION)?;
    module.add("is_checked", cfg!(debug_assertions))?;
    module.add_class::<run::Cancel>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<agent_load::AgentLoad>()?;
    module.add_class::<law_load::LawLoad>()?;
    #[cfg(target_os = "linux")]
    module.add_class::<attached::Hop>()?;
    #[cfg(unix)]
    module.add_class::<live::Live>()?;
    module.add_class::<live::Writes>()?;
    module.add_class::<pair::Comparison>()?;
    module.add_class::<steering::Steering>()?;
    module.add_function(wrap_pyfunction!(law::register_law, module)?)?;
    module.add_function(wrap_pyfunction!(law::forget_law, module)?)?;
    module.add_function(wrap_pyfunction!(pair::register_pair, module)?)?;
    module.add_function(wrap_pyfunction!(explain, module)?)?;
    module.add_function(wrap_pyfunction!(keys, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(registry, module)?)?;
    module.add_function(wrap_pyfunction!(metric, module)?)?;
    module.add_function(wrap_pyfunction!(t_quantile, module)?)?;
    module.add_function(wrap_pyfunction!(beta_quantile, module)?)?;
    module.add_function(wrap_pyfunction!(mpdu_failure, module)?)?;
    module.add_function(wrap_pyfunction!(philox, module)?)?;
    module.add_function(wrap_pyfunction!(stream_key, module)?)?;
    Ok(())
}
