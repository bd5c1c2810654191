//! A scenario as Python sees it.

#![expect(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use crate::guard::{self, Failed};
use crate::law::{self, LawFailure};
use crate::replay;
use crate::run::{Cancel, Run};
use crate::watch::{self, Ends};
use crate::{Interrupted, LawError, RunError, ScenarioError};
#[cfg(unix)]
use lasthop_sim::live::Writes;
use lasthop_sim::model::{AgentConfig, FlowConfig, LinkConfig, TransportConfig};
use lasthop_sim::scenario::{self, Config, Scenario as Inner};
use lasthop_sim::{Request, RunError as Failure};
use lasthop_stack::units::Span;
use pyo3::exceptions::{PyIndexError, PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

type Pairs = Vec<(String, String)>;

/// A parsed and validated scenario with all points of its sweep.
#[pyclass(frozen, module = "lasthop._core")]
#[derive(Debug)]
pub(crate) struct Scenario {
    inner: Inner,
    path: String,
    /// The point that was requested last: a run of it takes several looks.
    last: Mutex<Option<(usize, u64, Arc<Config>)>>,
}

#[pymethods]
impl Scenario {
    /// Reads a file; `argument` is the name in messages of the argument that gave the overrides.
    #[staticmethod]
    #[pyo3(signature = (path, overrides = Vec::new(), argument = "set"))]
    fn from_file(py: Python<'_>, path: String, overrides: Pairs, argument: &str) -> PyResult<Scenario> {
        let overrides = scenario::Overrides { pairs: &overrides, argument };
        let inner = py.detach(|| Inner::from_file(Path::new(&path), overrides)).map_err(refused)?;
        Ok(Scenario::of(inner, path))
    }

    /// Reads TOML text; messages use `name` in place of a file name.
    #[staticmethod]
    #[pyo3(signature = (text, name, overrides = Vec::new()))]
    fn from_text(py: Python<'_>, text: &str, name: &str, overrides: Pairs) -> PyResult<Scenario> {
        let inner = py.detach(|| Inner::from_text(text, name, &overrides)).map_err(refused)?;
        Ok(Scenario::of(inner, String::new()))
    }

    /// The same scenario under more overrides.
    fn with_overrides(&self, py: Python<'_>, overrides: Pairs) -> PyResult<Scenario> {
        let inner = py.detach(|| self.inner.with_overrides(&overrides)).map_err(refused)?;
        Ok(Scenario::of(inner, self.path.clone()))
    }

    /// The name of the file in messages.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// The file, if it was read from one.
    #[getter]
    fn path(&self) -> &str {
        &self.path
    }

    /// The paper and figure it belongs to.
    #[getter]
    fn paper(&self) -> String {
        self.inner.paper()
    }

    /// One line on what it shows.
    #[getter]
    fn title(&self) -> String {
        self.inner.title()
    }

    /// The text as given.
    #[getter]
    fn text(&self) -> &str {
        self.inner.text()
    }

    /// The files of delivery opportunities that its points may name, by absolute paths or relative to its folder.
    #[getter]
    fn files(&self) -> Vec<String> {
        self.inner.files()
    }

    /// The overrides as given.
    #[getter]
    fn overrides(&self) -> Pairs {
        self.inner.overrides().to_vec()
    }

    /// The seed of every random stream.
    #[getter]
    fn seed(&self) -> u64 {
        self.inner.seed()
    }

    /// Runs of each point.
    #[getter]
    fn replications(&self) -> u64 {
        self.inner.replications()
    }

    /// Remarks on settings that are legal but look like mistakes.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings().to_vec()
    }

    /// Information or space that the points grant and no real protocol has: key, label and meaning of each.
    #[getter]
    fn exceptions(&self) -> Vec<(String, &'static str, &'static str)> {
        self.inner.exceptions().iter().map(parts).collect()
    }

    /// The same for one point.
    fn exceptions_at(&self, point: isize) -> PyResult<Vec<(String, &'static str, &'static str)>> {
        Ok(scenario::exceptions(&*self.config(point)?).iter().map(parts).collect())
    }

    /// The axes of the sweep: keys that advance together, and their rows of values.
    fn axes(&self) -> Vec<(Vec<String>, Vec<Vec<String>>)> {
        self.inner.axes().into_iter().map(|axis| (axis.keys, axis.rows)).collect()
    }

    /// All points, each as swept key to value.
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let point = |point: usize| {
            let swept = PyDict::new(py);
            for (key, value) in self.inner.point(point) {
                swept.set_item(key, value)?;
            }
            Ok(swept)
        };
        (0..self.inner.points()).map(point).collect()
    }

    /// The SI value of a quantity; `None` for words.
    fn numeric(&self, key: &str, text: &str) -> Option<f64> {
        self.inner.numeric(key, text)
    }

    /// Why a text is not a value of a key; `None` if it is one.
    fn refused(&self, key: &str, text: &str) -> Option<String> {
        self.inner.refused(key, text)
    }

    /// What a trace channel records and a run of this point lacks; `None` if there is something to record.
    #[pyo3(signature = (channel, point = 0))]
    fn missing(&self, channel: &str, point: isize) -> PyResult<Option<&'static str>> {
        Ok(lasthop_sim::probe::trace::missing(channel, &*self.config(point)?))
    }

    /// A fault of a key at a point in one line, which begins with the place where the key is set.
    fn fault(&self, point: isize, key: &str, text: &str) -> PyResult<String> {
        Ok(self.inner.fault(self.index(point)?, key, text))
    }

    /// The network with these nodes bound to programs outside; if `first_port` is given, the receivers of the flows have the
    /// ports from it on.
    #[cfg(unix)]
    #[pyo3(signature = (point, seeds, nodes, first_port = None, trace = Vec::new(), pcap = None))]
    fn live(
        &self,
        point: isize,
        seeds: (u64, u64),
        nodes: Vec<String>,
        first_port: Option<u16>,
        trace: Vec<String>,
        pcap: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<crate::live::Live> {
        let config = self.config(point)?;
        let recorded = lasthop_sim::live::Recorded { trace, pcap: self.captures(&config, pcap)? };
        let live =
            crate::live::Live { config, nodes, first_port, outlet: None, radios: None, seeds, recorded };
        // It is made again where it runs.
        live.check().map(|_| live)
    }

    /// The first agent at an interface of this machine: its routes, each with its address, mask and whether it is behind the
    /// interface; the first and last addresses of what is one hop away; its own addresses; and how many packets it keeps.
    #[cfg(target_os = "linux")]
    fn hop(
        &self,
        routes: Vec<lasthop_sim::live::Route>,
        ahead: Vec<(u32, u32)>,
        own: Vec<u32>,
        most_kept: usize,
    ) -> PyResult<crate::attached::Hop> {
        let config = self.config(0)?;
        let agent = config.agents.first().ok_or_else(|| PyValueError::new_err("expected an agent"))?;
        Ok(crate::attached::Hop::new(agent.scheme.clone(), routes, ahead, own, most_kept))
    }

    /// The writes of the application of a flow, with their times.
    #[cfg(unix)]
    fn writes(
        &self,
        point: isize,
        seed: u64,
        replication: u64,
        flow: usize,
    ) -> PyResult<crate::live::Writes> {
        let config = self.config(point)?;
        let writes = config.flows.get(flow).and_then(|flow| Writes::of(flow, (seed, replication)));
        let text = || format!("flow {flow}; expected one that writes by itself");
        writes.map(crate::live::Writes).ok_or_else(|| PyValueError::new_err(text()))
    }

    /// Every key of a point with its value and the origin of that value, as JSON.
    #[pyo3(signature = (point = 0))]
    fn resolved(&self, point: isize) -> PyResult<String> {
        let lines = self.inner.resolved(self.index(point)?).into_iter();
        let lines: Map<String, Value> = lines
            .map(|line| (line.key, json!({ "value": line.value, "from": line.from, "source": line.source })))
            .collect();
        Ok(Value::Object(lines).to_string())
    }

    /// The answers of the law of its first flow to events that a kernel recorded, compared with the kernel's.
    fn replay<'py>(&self, py: Python<'py>, events: &[u8]) -> PyResult<Bound<'py, PyDict>> {
        let config = self.config(0)?;
        let TransportConfig::Tcp(tcp) = &config.flows[0].transport else {
            return Err(PyValueError::new_err("flow: not TCP; expected a flow over TCP"));
        };
        let law = &tcp.parts.law;
        let found = py.detach(|| lasthop_sim::replay::replay(law, events));
        replay::as_dict(py, &found)
    }

    /// A hash of everything in a point that can change its results.
    #[pyo3(signature = (point = 0))]
    fn point_key(&self, point: isize) -> PyResult<String> {
        Ok(self.inner.point_key(self.index(point)?))
    }

    /// The 802.11 links of a point, each with the node whose ledger of airtime is kept.
    #[pyo3(signature = (point = 0))]
    fn observers(&self, point: isize) -> PyResult<Vec<(String, String)>> {
        let config = self.config(point)?;
        let named = |(link, wifi): (usize, _)| {
            let observer = &config.nodes[config.observer(wifi)];
            (config.links[link].name.clone(), observer.name.clone())
        };
        Ok(config.wifi().map(named).collect())
    }

    /// The figures, as JSON.
    fn figures(&self) -> String {
        Value::Array(self.inner.figures().to_vec()).to_string()
    }

    /// Upper bounds for one run.
    #[pyo3(signature = (point = 0))]
    fn estimate(&self, point: isize) -> PyResult<BTreeMap<&'static str, f64>> {
        let estimate = lasthop_sim::estimate(&*self.config(point)?);
        Ok(BTreeMap::from([("events", estimate.events), ("memory_bytes", estimate.memory_bytes)]))
    }

    /// The memory that a run may need, in bytes.
    #[pyo3(signature = (point = 0))]
    fn max_memory(&self, point: isize) -> PyResult<u64> {
        Ok(self.config(point)?.run.max_memory.0)
    }

    /// The names of a point's links.
    #[pyo3(signature = (point = 0))]
    fn links(&self, point: isize) -> PyResult<Vec<String>> {
        Ok(self.config(point)?.links.iter().map(|link| link.name.clone()).collect())
    }

    /// The names of a point's flows, each with the name of its table, which is that of its group if it has one.
    #[pyo3(signature = (point = 0))]
    fn flows(&self, point: isize) -> PyResult<Vec<(String, String)>> {
        let config = self.config(point)?;
        Ok(config.flows.iter().map(|flow| (flow.name.clone(), flow.table().to_string())).collect())
    }

    /// The files that the qlogs of a point's flows over QUIC have in their folder.
    #[pyo3(signature = (point = 0))]
    fn logs(&self, point: isize) -> PyResult<Vec<String>> {
        Ok(self.config(point)?.flows.iter().filter_map(lasthop_sim::logs).flatten().collect())
    }

    /// The nodes of a point that have positions, in metres to the right and up; of those that move, at the start.
    #[pyo3(signature = (point = 0))]
    fn positions(&self, point: isize) -> PyResult<Vec<(String, f64, f64)>> {
        let config = self.config(point)?;
        Ok(config
            .nodes
            .iter()
            .filter_map(|node| node.position.map(|(x, y)| (node.name.clone(), x.0, y.0)))
            .collect())
    }

    /// The nodes, links, flows and agents of a point, as JSON; nodes are numbered in their order.
    #[pyo3(signature = (point = 0))]
    fn network(&self, point: isize) -> PyResult<String> {
        let config = self.config(point)?;
        let nodes: Vec<Value> = config
            .nodes
            .iter()
            .map(|node| {
                let position = node.position.map(|(x, y)| [x.0, y.0]);
                json!({ "name": node.name, "table": node.table(), "position": position, "moves": node.motion.is_some() })
            })
            .collect();
        let link = |link: &LinkConfig| {
            let access_point = link.kind.wifi().and_then(|wifi| wifi.access_point);
            json!({ "name": link.name, "table": link.table(), "nodes": link.nodes(), "access_point": access_point })
        };
        let flow = |flow: &FlowConfig| json!({ "name": flow.name, "table": flow.table(), "from": flow.from, "to": flow.to });
        let agent = |agent: &AgentConfig| json!({ "name": agent.name, "nodes": agent.nodes });
        Ok(json!({
            "nodes": nodes,
            "links": config.links.iter().map(link).collect::<Vec<_>>(),
            "flows": config.flows.iter().map(flow).collect::<Vec<_>>(),
            "agents": config.agents.iter().map(agent).collect::<Vec<_>>(),
        })
        .to_string())
    }

    /// Simulates one point once, with the GIL released.
    #[pyo3(signature = (
        point, seed, replication, trace = Vec::new(), pcap = None, qlog = Vec::new(), cancel = None, max_events = None,
        max_wall_s = None
    ))]
    #[expect(clippy::too_many_arguments, reason = "each is an option of its own in Python")]
    fn run(
        &self,
        py: Python<'_>,
        point: isize,
        seed: u64,
        replication: u64,
        trace: Vec<String>,
        pcap: Option<&Bound<'_, PyAny>>,
        qlog: Vec<PathBuf>,
        cancel: Option<PyRef<'_, Cancel>>,
        max_events: Option<u64>,
        max_wall_s: Option<f64>,
    ) -> PyResult<Run> {
        let config = self.config(point)?;
        let pcap = self.captures(&config, pcap)?;
        let (cancel, reached) = cancel.map(|token| (token.flag.clone(), token.reached.clone())).unzip();
        let max_wall = match max_wall_s {
            Some(seconds) if seconds.is_finite() && seconds >= 0.0 => Some(Span::from_secs_f64(seconds)),
            Some(seconds) => {
                return Err(PyValueError::new_err(format!(
                    "max_wall_s: {seconds}; expected a time in seconds"
                )));
            }
            None => None,
        };
        let request = Request {
            config: &config,
            seed,
            replication,
            trace: &trace,
            pcap: &pcap,
            qlog: &qlog,
            cancel: cancel.as_deref(),
            reached: reached.as_deref(),
            max_events,
            max_wall,
        };
        // The processor time of this thread, which stays the same while the GIL is released.
        let cpu_clock = py.import("time")?.getattr("thread_time")?;
        let before: f64 = cpu_clock.call0()?.extract()?;
        let ends = Ends { cancel: cancel.clone(), max_wall: request.max_wall() };
        let result = py.detach(|| watch::watched(ends, || guard::guarded(|| lasthop_sim::run(&request))));
        let laws = law::take_usage();
        let cpu_s = cpu_clock.call0()?.extract::<f64>()? - before;
        let what = || format!("{}: point {point}, seed {seed}, replication {replication}", self.inner.name());
        match result {
            Ok(Ok(outcome)) => Ok(Run::new(outcome, laws, cpu_s)),
            Ok(Err(Failure::Interrupted)) => Err(Interrupted::new_err(format!("{}: interrupted", what()))),
            Ok(Err(error @ Failure::UnknownTrace(_))) => {
                Err(ScenarioError::new_err(format!("trace: {error}")))
            }
            Ok(Err(error @ Failure::NoSuchHeader { .. })) => {
                Err(ScenarioError::new_err(format!("{}: pcap: {error}", self.inner.name())))
            }
            Ok(Err(error)) => Err(RunError::new_err(format!("{}: {error}", what()))),
            Err(Failed::Law(failure)) => Err(raised(py, &what(), *failure)),
            Err(Failed::Panic(panic)) => {
                Err(RunError::new_err(format!("{}: {panic}; expected no failure", what())))
            }
        }
    }

    fn __repr__(&self) -> String {
        format!("<Scenario {}: {} points>", self.inner.name(), self.inner.points())
    }
}

fn parts(exception: &scenario::Exception) -> (String, &'static str, &'static str) {
    (exception.key.clone(), exception.label, exception.meaning)
}

impl Scenario {
    fn of(inner: Inner, path: String) -> Scenario {
        Scenario { inner, path, last: Mutex::new(None) }
    }

    /// What a run of a point is built from.
    pub(crate) fn config(&self, point: isize) -> PyResult<Arc<Config>> {
        let point = self.index(point)?;
        let known = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // A law that was registered since then may be another one.
        let generation = scenario::hosted::generation();
        if let Some((.., config)) = known.filter(|(other, then, _)| (*other, *then) == (point, generation)) {
            return Ok(config);
        }
        let config = Arc::new(self.inner.config(point));
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((point, generation, config.clone()));
        Ok(config)
    }

    fn index(&self, point: isize) -> PyResult<usize> {
        let points = self.inner.points();
        usize::try_from(point).ok().filter(|point| *point < points).ok_or_else(|| {
            let last = points - 1;
            PyIndexError::new_err(format!("{}: point {point}; expected 0 to {last}", self.inner.name()))
        })
    }

    /// The links to capture with their files, from a mapping of names to paths.
    fn captures(&self, config: &Config, pcap: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(usize, PathBuf)>> {
        let Some(pcap) = pcap else { return Ok(Vec::new()) };
        let known: Vec<&str> = config.links.iter().map(|link| link.name.as_str()).collect();
        let mut captures = Vec::new();
        for item in pcap.call_method0("items")?.try_iter()? {
            let (name, path): (String, PathBuf) = item?.extract()?;
            let Some(link) = known.iter().position(|link| *link == name) else {
                let text =
                    format!("{}: pcap: {}", self.inner.name(), scenario::unknown("link", &name, &known));
                return Err(ScenarioError::new_err(text));
            };
            captures.push((link, path));
        }
        Ok(captures)
    }
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threads = py.import("threading")?;
    Ok(threads.call_method0("current_thread")?.is(&threads.call_method0("main_thread")?))
}

/// The exception of a law as an error of its run; Ctrl-C as it is.
fn raised(py: Python<'_>, what: &str, failure: LawFailure) -> PyErr {
    let LawFailure { text, cause } = failure;
    // On another thread it is the law's own, since only the main one receives Ctrl-C.
    if cause.is_instance_of::<PyKeyboardInterrupt>(py) && is_main_thread(py).unwrap_or(true) {
        return cause;
    }
    let error = LawError::new_err(format!("{what}: {text}"));
    error.set_cause(py, Some(cause));
    error
}

fn refused(error: scenario::ScenarioError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}
