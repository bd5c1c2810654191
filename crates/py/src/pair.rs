//! Two laws that receive the same events in a run; the first one governs.

use crate::ScenarioError;
use crate::law::{recovery_of, register};
use lasthop_sim::scenario::hosted::{self, HostedLaw};
use lasthop_stack::hooks::scoreboard::Scoreboard;
use lasthop_stack::hooks::{
    Ack, Congestion, Departure, Echo, Loss, LossResponse, Mark, Reduction, SlowStart, Window,
};
use lasthop_stack::packet::{Ecn, Form};
use lasthop_stack::registry::{CongestionKind, CongestionMachine, Custom, LawConfig, Start};
use lasthop_stack::units::{Span, Time};
use pyo3::prelude::*;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

/// The first event that two laws answered differently.
#[derive(Clone, Debug)]
struct Difference {
    number: u64,
    method: &'static str,
    now: Time,
    event: String,
    windows: [(f64, f64); 2],
}

#[derive(Debug, Default)]
struct Record {
    events: u64,
    difference: Option<Difference>,
}

/// The findings of a comparison so far.
#[pyclass(frozen, module = "lasthop._core")]
#[derive(Clone, Debug, Default)]
pub(crate) struct Comparison(Arc<Mutex<Record>>);

#[pymethods]
impl Comparison {
    /// The events that both laws received.
    #[getter]
    fn events(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).events
    }

    /// The first difference: its number among the events, method, time in seconds, event, and the windows and
    /// thresholds of both laws.
    #[getter]
    #[expect(clippy::type_complexity, reason = "a tuple for Python, which names its parts")]
    fn difference(&self) -> Option<(u64, &'static str, f64, String, (f64, f64), (f64, f64))> {
        let record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Difference { number, method, now, event, windows: [first, second] } =
            record.difference.clone()?;
        Some((number, method, now.as_secs(), event, first, second))
    }
}

/// Registers the pair of two laws under a name of its own.
#[pyfunction]
pub(crate) fn register_pair(name: String, first: &str, second: &str) -> PyResult<Comparison> {
    let found = Comparison::default();
    let (configs, record) = ([named(first)?, named(second)?], found.clone());
    let law = Custom::new(move |start: Start| Pair {
        laws: [configs[0].build(start), configs[1].build(start)],
        found: record.clone(),
    });
    let recovery = recovery_of("sack")?;
    register(HostedLaw { identity: format!("{name}: {first}, {second}"), name, recovery, law })?;
    Ok(found)
}

/// A law of the registry with its defaults, or one of the host.
fn named(name: &str) -> PyResult<LawConfig> {
    if let Some(kind) = CongestionKind::named(name) {
        return Ok(kind.config());
    }
    let known: Vec<&str> = CongestionKind::named_in_scenarios()
        .iter()
        .map(|kind| kind.entry().name)
        .chain(hosted::names())
        .collect();
    let law = hosted::hosted(name).map_err(|_| {
        ScenarioError::new_err(lasthop_sim::scenario::unknown("congestion law", name, &known))
    })?;
    Ok(LawConfig::Custom(law.law))
}

#[derive(Clone, Debug)]
struct Pair {
    laws: [CongestionMachine; 2],
    found: Comparison,
}

impl Pair {
    /// Gives an event to both, the window as it is to each, and compares windows and answers.
    fn both<T: PartialEq>(
        &mut self,
        method: &'static str,
        now: Time,
        event: &dyn Debug,
        window: &mut Window,
        mut call: impl FnMut(&mut CongestionMachine, &mut Window) -> T,
    ) -> T {
        let mut other = *window;
        let answer = call(&mut self.laws[0], window);
        let second = call(&mut self.laws[1], &mut other);
        let mut record = self.found.0.lock().unwrap_or_else(PoisonError::into_inner);
        record.events += 1;
        if record.difference.is_none() && (answer != second || *window != other) {
            record.difference = Some(Difference {
                number: record.events,
                method,
                now,
                event: format!("{event:?}"),
                windows: [(window.cwnd, window.ssthresh), (other.cwnd, other.ssthresh)],
            });
        }
        answer
    }
}

impl Congestion for Pair {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        self.both("on_ack", ack.now, ack, window, |law, window| law.on_ack(ack, window));
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        self.both("on_loss", loss.now, loss, window, |law, window| law.on_loss(loss, window))
    }

    fn on_mark(&mut self, mark: &Mark, window: &mut Window) -> Reduction {
        self.both("on_mark", mark.now, mark, window, |law, window| law.on_mark(mark, window))
    }

    fn on_answered_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        self.both("on_answered_loss", loss.now, loss, window, |law, window| {
            law.on_answered_loss(loss, window)
        })
    }

    fn slow_start(&self, asked: SlowStart) -> SlowStart {
        self.laws[0].slow_start(asked)
    }

    fn on_undo(&mut self, window: &mut Window) {
        for law in &mut self.laws {
            law.on_undo(&mut window.clone());
        }
    }

    fn paces(&self) -> bool {
        self.laws[0].paces()
    }

    fn on_start(&mut self, now: Time, srtt: Option<Span>, window: &mut Window) {
        self.both("on_start", now, &srtt, window, |law, window| law.on_start(now, srtt, window));
    }

    fn on_restart(&mut self, now: Time, window: &mut Window) {
        self.both("on_restart", now, &(), window, |law, window| law.on_restart(now, window));
    }

    fn hears_losses(&self) -> bool {
        self.laws.iter().any(Congestion::hears_losses)
    }

    fn on_lost(&mut self, number: u64, now: Time, window: &Window) {
        for law in &mut self.laws {
            law.on_lost(number, now, window);
        }
    }

    fn codepoint(&self) -> Ecn {
        self.laws[0].codepoint()
    }

    fn on_sent(&mut self, sent: &Departure) {
        for law in &mut self.laws {
            law.on_sent(sent);
        }
    }

    fn governs_recovery(&self) -> bool {
        self.laws[0].governs_recovery()
    }

    fn is_overdue(&self, ack: &Ack, board: &Scoreboard) -> bool {
        self.laws[0].is_overdue(ack, board)
    }

    fn extension(&self) -> Option<Form> {
        self.laws[0].extension().or_else(|| self.laws[1].extension())
    }

    fn heeds(&self, echo: &Echo, una: u64) -> bool {
        self.laws[0].heeds(echo, una)
    }
}
