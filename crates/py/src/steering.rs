//! Runs that an agent in Python steers, several at once on threads of their own.

#![expect(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crate::guard::{self, Failed};
use crate::scenario::Scenario;
use crate::{RunError, ScenarioError};
use lasthop_sim::model::{Config, TransportConfig};
use lasthop_sim::steered::{Action, Every, FIELDS, Observation, SteeredRun};
use numpy::{PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The observation of a run, whether it has ended, and then its metrics.
type Seen = (Observation, bool, Option<Metrics>);
type Metrics = Vec<(String, Option<f64>)>;
/// The observations, which runs have ended, and the metrics of those.
type Arrays<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<bool>>, Vec<Option<Metrics>>);

/// One environment: a run, and which one follows it.
struct Environment {
    run: SteeredRun,
    number: u64,
    step: u64,
    is_over: bool,
}

impl Environment {
    fn reset(&mut self) -> Result<Seen, String> {
        let is_on = self.run.reset(self.number).map_err(|error| error.to_string())?;
        self.number += self.step;
        self.seen(is_on)
    }

    /// A step; of a run that has ended, the start of the next one.
    fn step(&mut self, action: Action) -> Result<Seen, String> {
        if self.is_over {
            return self.reset();
        }
        let is_on = self.run.step(action);
        self.seen(is_on)
    }

    fn seen(&mut self, is_on: bool) -> Result<Seen, String> {
        self.is_over = !is_on;
        let observation = self.run.observation();
        let metrics = if is_on {
            None
        } else {
            self.run.finish().map_err(|error| error.to_string())?.map(|outcome| outcome.metrics)
        };
        Ok((observation, self.is_over, metrics))
    }
}

enum Order {
    /// The number of the first run of each place.
    Reset(Vec<u64>),
    Step(Vec<Action>),
}

fn carry_out(places: &mut [Environment], order: Order) -> Result<Vec<Seen>, String> {
    let done = guard::guarded(|| match order {
        Order::Reset(numbers) => places
            .iter_mut()
            .zip(numbers)
            .map(|(place, number)| {
                place.number = number;
                place.reset()
            })
            .collect(),
        Order::Step(actions) => {
            places.iter_mut().zip(actions).map(|(place, action)| place.step(action)).collect()
        }
    });
    done.unwrap_or_else(|failed| match failed {
        Failed::Panic(text) => Err(text),
        Failed::Law(failure) => Err(failure.text),
    })
}

/// A thread with its environments.
struct Worker {
    orders: Option<Sender<Order>>,
    answers: Receiver<Result<Vec<Seen>, String>>,
    places: usize,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    fn new(mut places: Vec<Environment>) -> Worker {
        let (orders, inbox) = channel::<Order>();
        let (outbox, answers) = channel();
        let count = places.len();
        let work = move || {
            for order in inbox {
                if outbox.send(carry_out(&mut places, order)).is_err() {
                    break;
                }
            }
        };
        Worker { orders: Some(orders), answers, places: count, thread: Some(thread::spawn(work)) }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Runs of one point of a scenario in which a flow is steered: `places` at once, on `threads` threads.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct Steering(Mutex<Fleet>);

struct Fleet {
    /// What this thread carries out itself.
    own: Vec<Environment>,
    others: Vec<Worker>,
    places: usize,
}

#[pymethods]
impl Steering {
    #[new]
    fn new(
        scenario: &Scenario,
        point: isize,
        flow: &str,
        every: &str,
        seed: u64,
        places: usize,
        threads: usize,
    ) -> PyResult<Steering> {
        let config = scenario.config(point)?;
        let flow = flow_of(&config, flow)?;
        let every = match every {
            "ack" => Every::Ack,
            "round-trip" => Every::RoundTrip,
            other => {
                let text = format!("every: \"{other}\"; expected ack or round-trip");
                return Err(PyValueError::new_err(text));
            }
        };
        let step = places as u64;
        let place = |number: usize| Environment {
            run: SteeredRun::new(&config, flow, every, seed),
            number: number as u64,
            step,
            is_over: true,
        };
        // Chunks as equal as can be; the first is this thread's own.
        let threads = threads.clamp(1, places.max(1));
        let mut chunks = (0..threads)
            .map(|one| (one * places / threads..(one + 1) * places / threads).map(place).collect::<Vec<_>>());
        let own = chunks.next().unwrap_or_default();
        let others = chunks.map(Worker::new).collect();
        Ok(Steering(Mutex::new(Fleet { own, others, places })))
    }

    /// The names of what is observed.
    #[staticmethod]
    fn fields() -> Vec<&'static str> {
        FIELDS.to_vec()
    }

    /// Begins a run at each place, the first of them of this number, and brings it to its first decision.
    fn reset<'py>(&self, py: Python<'py>, first: u64) -> PyResult<Arrays<'py>> {
        let seen = py.detach(|| {
            self.fleet().carry_out(|range| Order::Reset(range.map(|place| first + place as u64).collect()))
        });
        arrays(py, seen)
    }

    /// Brings each run to its next decision; an action is a factor and a number of segments.
    fn step<'py>(&self, py: Python<'py>, actions: PyReadonlyArray2<'py, f64>) -> PyResult<Arrays<'py>> {
        let (actions, places) = (actions.as_array(), self.fleet().places);
        if actions.shape() != [places, 2] {
            let text = format!("{:?}; expected {places} rows of a factor and segments", actions.shape());
            return Err(PyValueError::new_err(text));
        }
        if actions.iter().any(|value| !value.is_finite()) {
            return Err(PyValueError::new_err("an action is not finite; expected finite numbers"));
        }
        let actions: Vec<Action> =
            actions.rows().into_iter().map(|row| Action { multiply: row[0], add: row[1] }).collect();
        let seen = py.detach(|| self.fleet().carry_out(|range| Order::Step(actions[range].to_vec())));
        arrays(py, seen)
    }
}

impl Steering {
    fn fleet(&self) -> MutexGuard<'_, Fleet> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fleet {
    fn carry_out(&mut self, order: impl Fn(Range<usize>) -> Order) -> Result<Vec<Seen>, String> {
        let mut first = self.own.len();
        for worker in &self.others {
            let range = first..first + worker.places;
            first = range.end;
            let orders = worker.orders.as_ref().expect("the worker is at work");
            orders.send(order(range)).map_err(|_| "a thread has ended".to_string())?;
        }
        let own = order(0..self.own.len());
        let mut seen = carry_out(&mut self.own, own);
        for worker in &self.others {
            let more = worker.answers.recv().map_err(|_| "a thread has ended".to_string())?;
            seen = seen.and_then(|mut seen| {
                seen.extend(more?);
                Ok(seen)
            });
        }
        seen
    }
}

fn arrays(py: Python<'_>, seen: Result<Vec<Seen>, String>) -> PyResult<Arrays<'_>> {
    let seen = seen.map_err(|error| RunError::new_err(format!("a steered run failed: {error}")))?;
    let rows: Vec<Vec<f64>> = seen.iter().map(|(observation, ..)| observation.to_vec()).collect();
    let over: Vec<bool> = seen.iter().map(|(_, is_over, _)| *is_over).collect();
    let metrics = seen.into_iter().map(|(.., metrics)| metrics).collect();
    Ok((PyArray2::from_vec2(py, &rows)?, PyArray1::from_vec(py, over), metrics))
}

/// The number of a flow over TCP.
fn flow_of(config: &Config, name: &str) -> PyResult<usize> {
    let tcp = |flow: &&lasthop_sim::model::FlowConfig| matches!(flow.transport, TransportConfig::Tcp(_));
    let known: Vec<&str> = config.flows.iter().filter(tcp).map(|flow| flow.name.as_str()).collect();
    let found = config.flows.iter().position(|flow| tcp(&flow) && flow.name == name);
    found.ok_or_else(|| {
        let text = lasthop_sim::scenario::unknown("flow over TCP", name, &known);
        ScenarioError::new_err(format!("flow: {text}"))
    })
}
