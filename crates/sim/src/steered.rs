//! A flow whose congestion window an agent outside the run sets, one decision after the other.
//!
//! The law of the flow records its observations, and stops the run where a decision is due: at an acknowledgement, or
//! at the first one of each round trip. The decision of the agent takes effect at the next acknowledgement, before
//! anything is sent for it, because a sender acts only at events. A loss that duplicates show leaves the window to the
//! agent; a timeout leaves one segment, as in Reno.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lasthop_stack::hooks::{Ack, Congestion, Loss, LossCause, LossResponse, Reduction, Window};
use lasthop_stack::registry::{Custom, LawConfig, Start};
use lasthop_stack::units::{Span, Time};

use crate::model::{Config, TransportConfig};
use crate::run::{Outcome, RunError, Stepped};

/// When a decision is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// At each acknowledgement.
    Ack,
    /// At the first acknowledgement of a segment that was sent after the last decision.
    RoundTrip,
}

/// The names of what an agent observes, with units.
pub const FIELDS: [&str; 12] = [
    "now_s",
    "interval_s",
    "cwnd",
    "flight",
    "rtt_s",
    "srtt_s",
    "least_rtt_s",
    "acks",
    "delivered",
    "delivered_bytes",
    "losses",
    "timeouts",
];

/// What an agent observes, in the order of [`FIELDS`].
pub type Observation = [f64; FIELDS.len()];

/// What an agent does to the window: it becomes `multiply` times as large, and `add` segments larger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Action {
    /// The factor.
    pub multiply: f64,
    /// Segments.
    pub add: f64,
}

/// The state that the law and the agent share.
#[derive(Debug, Default)]
struct Desk {
    due: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The law that has received an acknowledgement first: the sender of the data.
    owner: Option<u32>,
    action: Option<Action>,
    seen: Seen,
    /// First byte that was not sent at the last decision.
    decided: u64,
    observation: Observation,
}

/// What has happened since the last decision, and what the law knows.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    since: Time,
    rtt: f64,
    least_rtt: f64,
    acks: u64,
    delivered: u64,
    bytes: u64,
    losses: u64,
    timeouts: u64,
}

impl Desk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The law of a steered flow.
#[derive(Clone, Debug)]
struct Steered {
    desk: Arc<Desk>,
    every: Every,
    draw: u32,
}

impl Congestion for Steered {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        let mut state = self.desk.state();
        if *state.owner.get_or_insert(self.draw) != self.draw {
            return;
        }
        if let Some(Action { multiply, add }) = state.action.take() {
            window.cwnd = (window.cwnd * multiply + add).clamp(1.0, window.limit);
            // Nothing below it is slow start: the agent alone sets the window.
            window.ssthresh = window.cwnd;
        }
        let seen = &mut state.seen;
        if let Some(rtt) = ack.rtt {
            seen.rtt = rtt.as_secs();
            seen.least_rtt = if seen.least_rtt > 0.0 { seen.least_rtt.min(seen.rtt) } else { seen.rtt };
        }
        seen.acks += 1;
        seen.delivered += u64::from(ack.delivered.segments);
        seen.bytes += ack.delivered.bytes;
        if self.every == Every::RoundTrip && ack.una <= state.decided {
            return;
        }
        state.decided = ack.sent_end;
        let seen = std::mem::take(&mut state.seen);
        state.seen = Seen { since: ack.now, rtt: seen.rtt, least_rtt: seen.least_rtt, ..Seen::default() };
        state.observation = [
            ack.now.as_secs(),
            ack.now.since(seen.since).as_secs(),
            window.cwnd,
            f64::from(ack.pipe),
            seen.rtt,
            ack.srtt.map_or(0.0, Span::as_secs),
            seen.least_rtt,
            seen.acks as f64,
            seen.delivered as f64,
            seen.bytes as f64,
            seen.losses as f64,
            seen.timeouts as f64,
        ];
        drop(state);
        self.desk.due.store(true, Ordering::Relaxed);
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        let seen = &mut self.desk.state().seen;
        if loss.cause == LossCause::Duplicates {
            seen.losses += 1;
            return LossResponse { reduction: Reduction::Kept, ..LossResponse::REDUCED };
        }
        seen.timeouts += 1;
        (window.cwnd, window.ssthresh) = (1.0, 2.0);
        LossResponse::REDUCED
    }
}

/// Runs of a scenario, one after the other, in which an agent steers a flow.
#[derive(Debug)]
pub struct SteeredRun {
    config: Config,
    seed: u64,
    desk: Arc<Desk>,
    run: Option<Stepped>,
}

impl SteeredRun {
    /// Runs in which the flow of this number, which is over TCP, is steered.
    ///
    /// # Panics
    /// The flow is not over TCP.
    #[must_use]
    pub fn new(config: &Config, flow: usize, every: Every, seed: u64) -> SteeredRun {
        let mut config = config.clone();
        let desk = Arc::<Desk>::default();
        let shared = desk.clone();
        let make = move |start: Start| Steered { desk: shared.clone(), every, draw: start.draw };
        match &mut config.flows[flow].transport {
            TransportConfig::Tcp(tcp) => tcp.parts.law = LawConfig::Custom(Custom::new(make)),
            TransportConfig::Udp { .. } | TransportConfig::Quic(_) => {
                panic!("flow {flow}: not over TCP; expected one over TCP")
            }
        }
        SteeredRun { config, seed, desk, run: None }
    }

    /// Begins a run and brings it to its first decision; false where there is none before its end.
    ///
    /// # Errors
    /// The run cannot start.
    pub fn reset(&mut self, replication: u64) -> Result<bool, RunError> {
        *self.desk.state() = State::default();
        self.desk.due.store(false, Ordering::Relaxed);
        let run = self.run.insert(Stepped::new(self.config.clone(), self.seed, replication)?);
        Ok(run.advance(&self.desk.due))
    }

    /// Brings the run to the next decision; false where it has ended.
    pub fn step(&mut self, action: Action) -> bool {
        self.desk.state().action = Some(action);
        self.run.as_mut().is_some_and(|run| run.advance(&self.desk.due))
    }

    /// The observation at the last decision.
    #[must_use]
    pub fn observation(&self) -> Observation {
        self.desk.state().observation
    }

    /// The results of the run up to now, which ends it; nothing where none was begun.
    ///
    /// # Errors
    /// The run has no results.
    pub fn finish(&mut self) -> Result<Option<Outcome>, RunError> {
        self.run.take().map(Stepped::finish).transpose()
    }
}
