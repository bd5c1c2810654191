//! What a run is asked for, and what it returns.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64};

use lasthop_stack::units::{Span, Time};

use crate::model::Config;
use crate::probe::accounts::Account;
use crate::probe::bins::Series;
use crate::probe::trace::Trace;
use crate::probe::transfers::Transfer;

/// What to run.
#[derive(Debug)]
pub struct Request<'a> {
    /// The scenario at one point.
    pub config: &'a Config,
    /// Seed of the study.
    pub seed: u64,
    /// Replication, from 0.
    pub replication: u64,
    /// Names of the trace channels wanted.
    pub trace: &'a [String],
    /// Links (by index) to capture, each with its file.
    pub pcap: &'a [(usize, PathBuf)],
    /// The files of qlogs, if they are wanted: of each flow over QUIC its sender's and its receiver's, as [`logs`](super::logs) names them.
    pub qlog: &'a [PathBuf],
    /// Set by another thread to interrupt the run.
    pub cancel: Option<&'a AtomicBool>,
    /// The simulated time reached, in nanoseconds, which the run stores at intervals for other threads.
    pub reached: Option<&'a AtomicU64>,
    /// Limit on events, in addition to the scenario's.
    pub max_events: Option<u64>,
    /// Limit on wall-clock time, in addition to the scenario's.
    pub max_wall: Option<Span>,
}

impl<'a> Request<'a> {
    /// A run without traces and captures, limited only by its scenario.
    #[must_use]
    pub fn new(config: &'a Config, seed: u64, replication: u64) -> Request<'a> {
        Request {
            config,
            seed,
            replication,
            trace: &[],
            pcap: &[],
            qlog: &[],
            cancel: None,
            reached: None,
            max_events: None,
            max_wall: None,
        }
    }

    /// The wall-clock time that the run may take, by the request or the scenario.
    #[must_use]
    pub fn max_wall(&self) -> Option<Span> {
        smallest(self.max_wall, self.config.run.max_wall)
    }
}

/// Why a run ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// It used up its events.
    MaxEvents,
    /// It used up its wall-clock time.
    MaxWall,
}

impl Stopped {
    /// The name of the option that stopped it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Stopped::MaxEvents => "max-events",
            Stopped::MaxWall => "max-wall",
        }
    }
}

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Metrics by name, in a fixed order; `None` where there is nothing to measure.
    pub metrics: Vec<(String, Option<f64>)>,
    /// Events processed.
    pub events: u64,
    /// Wall-clock time in seconds.
    pub wall_s: f64,
    /// Why it ended early, if it did.
    pub stopped: Option<Stopped>,
    /// Simulated time reached.
    pub simulated: Time,
    /// The requested traces.
    pub traces: Vec<Trace>,
    /// The goodput of each flow over time, where the scenario has bins.
    pub series: Vec<Series>,
    /// The transfers of users, in the order of their starts, those in the warm-up included.
    pub transfers: Vec<Transfer>,
    /// The accounts of the packets that each end sent, warm-up included, by the names of the ends.
    pub accounts: Vec<(String, Account)>,
}

pub(super) fn smallest<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
