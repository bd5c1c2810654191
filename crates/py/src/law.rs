//! Congestion laws that are classes of Python.
//!
//! A connection makes an object of the class when it reports its first event. The object receives each event as a typed
//! tuple of `lasthop.laws.events`, with a window that it edits. An exception unwinds the run to `guard`, which returns it.

use crate::ScenarioError;
use crate::watch::{self, LawInterrupted};
use lasthop_sim::Halt;
use lasthop_sim::scenario::hosted::{self, HostedLaw};
use lasthop_stack::hooks::{
    Ack, Congestion, Departure, EcnEcho, Loss, LossCause, LossResponse, Progress, Reduction, SlowStart,
    Window,
};
use lasthop_stack::registry::{Custom, RecoveryKind, Start};
use lasthop_stack::units::{Rate, Span, Time};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::cell::RefCell;
use std::panic;
use std::sync::Arc;
use std::time::Instant;

/// An exception of a law, in the payload of the panic that ends its run.
pub(crate) struct LawFailure {
    pub(crate) text: String,
    pub(crate) cause: PyErr,
}

/// The cost of the laws of one name in a run.
#[derive(Clone, Debug)]
pub(crate) struct Usage {
    pub(crate) name: Arc<str>,
    pub(crate) acks: u64,
    pub(crate) calls: u64,
    pub(crate) seconds: f64,
}

thread_local! {
    /// The laws that this thread has called since the last [`take_usage`]: a run stays on its thread.
    static USAGE: RefCell<Vec<Usage>> = const { RefCell::new(Vec::new()) };
}

/// The cost of the laws called on this thread since the last call.
pub(crate) fn take_usage() -> Vec<Usage> {
    USAGE.take()
}

/// Registers a class as a law.
#[pyfunction]
pub(crate) fn register_law(
    name: String,
    class: Bound<'_, PyType>,
    recovery: &str,
    identity: String,
) -> PyResult<()> {
    let paces = match class.getattr_opt("paces")? {
        Some(paces) => paces.extract()?,
        None => false,
    };
    let shared = Arc::new(Shared {
        name: Arc::from(name.as_str()),
        hears_sent: class.hasattr("on_sent")?,
        class: class.into_any().unbind(),
        paces,
    });
    let law = Custom::new(move |start| PyLaw { shared: shared.clone(), start, state: None });
    register(HostedLaw { name, recovery: recovery_of(recovery)?, identity, law })
}

/// Forgets the law of this name.
#[pyfunction]
pub(crate) fn forget_law(name: &str) -> bool {
    hosted::forget(name)
}

pub(crate) fn register(law: HostedLaw) -> PyResult<()> {
    hosted::register(law).map_err(|error| ScenarioError::new_err(format!("name: {error}")))
}

pub(crate) fn recovery_of(name: &str) -> PyResult<RecoveryKind> {
    RecoveryKind::named(name).ok_or_else(|| {
        let known: Vec<&str> = RecoveryKind::ALL.iter().map(|kind| kind.entry().name).collect();
        PyValueError::new_err(lasthop_sim::scenario::unknown("recovery", name, &known))
    })
}

/// The state that all connections with this law share.
#[derive(Debug)]
struct Shared {
    name: Arc<str>,
    class: Py<PyAny>,
    paces: bool,
    hears_sent: bool,
}

/// The law of one connection.
#[derive(Debug)]
struct PyLaw {
    shared: Arc<Shared>,
    start: Start,
    state: Option<State>,
}

/// Its object, and the window that the object edits.
#[derive(Debug)]
struct State {
    law: Py<PyAny>,
    window: Py<PyAny>,
}

/// A copy of a connection copies the object of its law.
impl Clone for PyLaw {
    fn clone(&self) -> PyLaw {
        let state = self.state.as_ref().map(|state| {
            let copied = Python::attach(|py| {
                let deepcopy = py.import("copy")?.getattr("deepcopy")?;
                let copy = |object: &Py<PyAny>| deepcopy.call1((object,)).map(Bound::unbind);
                PyResult::Ok(State { law: copy(&state.law)?, window: copy(&state.window)? })
            });
            copied.unwrap_or_else(|error| self.fail("copy.deepcopy", Time::ZERO, error))
        });
        PyLaw { shared: self.shared.clone(), start: self.start, state }
    }
}

impl PyLaw {
    /// Calls a method of the law with an event, and takes over the window that it leaves.
    fn call<T>(
        &mut self,
        method: &'static str,
        now: Time,
        window: &mut Window,
        event: impl FnOnce(Python<'_>, &Types) -> PyResult<Py<PyAny>>,
        answer: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> T {
        let (began, paces) = (wall_clock(), self.shared.paces);
        let called = Python::attach(|py| {
            let types = Types::get(py)?;
            watch::call(py, || {
                let state = self.state(py, types)?;
                show(py, window, &state.window)?;
                let event = event(py, types)?;
                let result = state.law.bind(py).call_method1(method, (event, &state.window))?;
                take_back(py, &state.window, window, paces)?;
                answer(&result)
            })
        });
        self.count(method == "on_ack", began);
        called.unwrap_or_else(|error| self.fail(method, now, error))
    }

    /// The object of this connection, made by its first event.
    fn state(&mut self, py: Python<'_>, types: &Types) -> PyResult<&State> {
        match &mut self.state {
            Some(state) => Ok(state),
            empty => {
                let law = self.shared.class.call0(py)?;
                Ok(empty.insert(State { law, window: types.window.call1(py, (0.0, 0.0, 0.0))? }))
            }
        }
    }

    fn count(&self, is_ack: bool, began: Instant) {
        let seconds = began.elapsed().as_secs_f64();
        USAGE.with_borrow_mut(|usage| {
            let place = usage.iter().position(|one| Arc::ptr_eq(&one.name, &self.shared.name));
            let place = place.unwrap_or_else(|| {
                usage.push(Usage { name: self.shared.name.clone(), acks: 0, calls: 0, seconds: 0.0 });
                usage.len() - 1
            });
            let one = &mut usage[place];
            one.acks += u64::from(is_ack);
            one.calls += 1;
            one.seconds += seconds;
        });
    }

    /// Ends the run: no method of the hook can return an error.
    fn fail(&self, method: &str, now: Time, cause: PyErr) -> ! {
        if Python::attach(|py| cause.is_instance_of::<LawInterrupted>(py)) {
            panic::resume_unwind(Box::new(Halt));
        }
        let what = Python::attach(|py| described(py, &cause));
        let text = format!("law \"{}\": {method} at {:.9} s: {what}", self.shared.name, now.as_secs());
        panic::resume_unwind(Box::new(LawFailure { text, cause }));
    }
}

/// The type and text of an exception, and the line that raised it.
fn described(py: Python<'_>, error: &PyErr) -> String {
    let name = error.get_type(py).name().map_or_else(|_| "exception".to_string(), |name| name.to_string());
    let place = error.traceback(py).and_then(|traceback| {
        let mut last = traceback.into_any();
        while let Ok(next) = last.getattr("tb_next") {
            if next.is_none() {
                break;
            }
            last = next;
        }
        let file: String = last
            .getattr("tb_frame")
            .ok()?
            .getattr("f_code")
            .ok()?
            .getattr("co_filename")
            .ok()?
            .extract()
            .ok()?;
        let line: u64 = last.getattr("tb_lineno").ok()?.extract().ok()?;
        let file = file.rsplit('/').next().unwrap_or(&file).to_string();
        Some(format!(" ({file}:{line})"))
    });
    let (value, place) = (error.value(py).to_string(), place.unwrap_or_default());
    let expected = if value.contains("; expected ") { "" } else { "; expected no exception" };
    format!("{name}: {value}{place}{expected}")
}

/// The classes of events, once imported.
struct Types {
    start: Py<PyAny>,
    ack: Py<PyAny>,
    loss: Py<PyAny>,
    timeout: Py<PyAny>,
    departure: Py<PyAny>,
    window: Py<PyAny>,
}

static TYPES: PyOnceLock<Types> = PyOnceLock::new();

impl Types {
    fn get(py: Python<'_>) -> PyResult<&Types> {
        TYPES.get_or_try_init(py, || {
            let events = py.import("lasthop.laws.events")?;
            // A named tuple is made without a call of a Python function.
            let make = |name: &str| PyResult::Ok(events.getattr(name)?.getattr("_make")?.unbind());
            Ok(Types {
                start: make("Start")?,
                ack: make("Ack")?,
                loss: make("Loss")?,
                timeout: make("Timeout")?,
                departure: make("Departure")?,
                window: events.getattr("Window")?.unbind(),
            })
        })
    }
}

/// Values of an event as objects of Python.
macro_rules! event {
    ($py:expr, $make:expr, $($value:expr),+ $(,)?) => {{
        let values = [$($value.into_pyobject($py)?.to_owned().into_any()),+];
        $make.call1($py, (PyTuple::new($py, values)?,))
    }};
}

/// An optional value is an object that may be `None`.
fn seconds(py: Python<'_>, span: Option<Span>) -> PyResult<Bound<'_, PyAny>> {
    Ok(span.map(Span::as_secs).into_pyobject(py)?)
}

fn show(py: Python<'_>, window: &Window, object: &Py<PyAny>) -> PyResult<()> {
    let object = object.bind(py);
    object.setattr(intern!(py, "cwnd"), window.cwnd)?;
    object.setattr(intern!(py, "ssthresh"), window.ssthresh)?;
    object.setattr(intern!(py, "limit"), window.limit)?;
    object.setattr(intern!(py, "credit"), window.credit)?;
    object.setattr(intern!(py, "pacing_bps"), window.pacing.map(|rate| rate.0 as f64))
}

fn take_back(py: Python<'_>, object: &Py<PyAny>, window: &mut Window, paces: bool) -> PyResult<()> {
    let object = object.bind(py);
    let number = |name: &'static str, value: Bound<'_, PyAny>| -> PyResult<f64> {
        let number: f64 = value.extract()?;
        if number.is_finite() && number >= 0.0 {
            return Ok(number);
        }
        Err(PyValueError::new_err(format!("window.{name}: {number}; expected a finite number of 0 or more")))
    };
    window.cwnd = number("cwnd", object.getattr(intern!(py, "cwnd"))?)?;
    window.ssthresh = number("ssthresh", object.getattr(intern!(py, "ssthresh"))?)?;
    window.credit = object.getattr(intern!(py, "credit"))?.extract()?;
    let pacing = object.getattr(intern!(py, "pacing_bps"))?;
    let pacing = if pacing.is_none() { None } else { Some(pacing_rate(number("pacing_bps", pacing)?)?) };
    if !paces && pacing != window.pacing {
        let text = "window.pacing_bps: set by a law that does not pace; expected `paces = True` in its class";
        return Err(PyValueError::new_err(text));
    }
    window.pacing = pacing;
    Ok(())
}

/// A rate of zero sends nothing, and never again.
fn pacing_rate(bps: f64) -> PyResult<Rate> {
    if bps < 1.0 {
        let text = format!("window.pacing_bps: {bps}; expected 1 or more, or None");
        return Err(PyValueError::new_err(text));
    }
    Ok(Rate(bps as u64))
}

fn words(progress: Progress) -> (&'static str, u32) {
    match progress {
        Progress::Open(segments) => ("open", segments),
        Progress::Unlimited(segments) => ("unlimited", segments),
        Progress::Recovering(segments) => ("recovering", segments),
        Progress::Duplicate => ("duplicate", 0),
    }
}

impl Congestion for PyLaw {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        let event = |py: Python<'_>, types: &Types| {
            let (progress, acked) = words(ack.progress);
            let marks = match ack.ecn {
                EcnEcho::Unmarked => 0,
                EcnEcho::Marked => 1,
                EcnEcho::Counted(marks) => marks,
            };
            event!(
                py,
                types.ack,
                ack.now.as_secs(),
                progress,
                acked,
                ack.counted,
                seconds(py, ack.rtt)?,
                seconds(py, ack.srtt)?,
                ack.newest_sent.map(Time::as_secs),
                ack.una,
                ack.sent_end,
                ack.flight,
                ack.pipe,
                ack.delivered.segments,
                ack.delivered.bytes,
                marks,
            )
        };
        self.call("on_ack", ack.now, window, event, |_| Ok(()));
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        let is_timeout = loss.cause != LossCause::Duplicates;
        let event = |py: Python<'_>, types: &Types| {
            let make = if is_timeout { &types.timeout } else { &types.loss };
            let last = if is_timeout {
                (loss.cause == LossCause::RepeatedTimeout).into_pyobject(py)?.to_owned().into_any()
            } else {
                loss.least.into_pyobject(py)?.into_any()
            };
            event!(
                py,
                make,
                loss.now.as_secs(),
                loss.una,
                loss.base.segments(),
                loss.pipe,
                loss.sent,
                loss.sent_end,
                loss.sent_at.as_secs(),
                loss.times,
                seconds(py, loss.srtt)?,
                last,
            )
        };
        let method = if is_timeout { "on_timeout" } else { "on_loss" };
        let reduction = self.call(method, loss.now, window, event, |answer| {
            if answer.is_none() {
                return Ok(Reduction::Reduced);
            }
            Ok(if answer.extract()? { Reduction::Reduced } else { Reduction::Kept })
        });
        LossResponse { reduction, ..LossResponse::REDUCED }
    }

    fn slow_start(&self, asked: SlowStart) -> SlowStart {
        if asked == SlowStart::HyStart { SlowStart::Standard } else { asked }
    }

    fn on_start(&mut self, now: Time, srtt: Option<Span>, window: &mut Window) {
        let Start { segment, draw } = self.start;
        let has = Python::attach(|py| self.shared.class.bind(py).hasattr("on_start")).unwrap_or(false);
        if has {
            let event = |py: Python<'_>, types: &Types| {
                event!(py, types.start, now.as_secs(), seconds(py, srtt)?, segment, draw)
            };
            self.call("on_start", now, window, event, |_| Ok(()));
        }
    }

    fn paces(&self) -> bool {
        self.shared.paces
    }

    fn on_sent(&mut self, sent: &Departure) {
        if !self.shared.hears_sent {
            return;
        }
        let began = wall_clock();
        let called = Python::attach(|py| {
            let types = Types::get(py)?;
            let event = event!(
                py,
                types.departure,
                sent.now.as_secs(),
                sent.number,
                sent.base,
                sent.pipe,
                sent.outstanding,
                sent.backlog,
            )?;
            watch::call(py, || {
                let law = self.state(py, types)?.law.bind(py);
                law.call_method1("on_sent", (event,)).map(|_| ())
            })
        });
        self.count(false, began);
        called.unwrap_or_else(|error| self.fail("on_sent", sent.now, error));
    }
}

/// The wall clock, to report what calls cost: nothing simulated depends on it.
#[expect(clippy::disallowed_methods, reason = "the cost of a call is wall-clock time")]
fn wall_clock() -> Instant {
    Instant::now()
}

/// The cost of the laws of a run, as a mapping from name to acknowledgements, calls and seconds.
pub(crate) fn costs<'py>(py: Python<'py>, usage: &[Usage]) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    for one in usage {
        found.set_item(&*one.name, (one.acks, one.calls, one.seconds))?;
    }
    Ok(found)
}
