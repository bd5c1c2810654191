//! Metrics: the results of a run, by name.
//!
//! ```text
//! scenario ──▶ walk: each flow, group, class, link, agent ──▶ rows of its scope ──▶ name, and value if there was a run
//! ```
//!
//! Each metric is one row (`row.rs`) of a scope (`scope.rs`). One walk over a scenario visits its flows, links and other
//! parts in a fixed order and adds the rows of each. Without a run it gives the names, with a run also the values, so the
//! two cannot differ. Counters only grow, so a metric is computed from two samples: at the end of the warm-up and at the
//! end of the run.

#![expect(clippy::unnecessary_wraps, reason = "what a row reads is an option in every row")]

mod agent;
mod class;
mod directions;
mod flow;
mod frn;
mod group;
mod link;
mod measurement;
mod outages;
mod ping;
mod quic;
mod row;
mod run;
mod samples;
mod scope;
mod walk;
mod wifi;

use crate::model::Config;

pub(crate) use measurement::{Measurement, Snapshot};
pub(crate) use outages::{HandoffSample, OutageSample, Resumed};
pub use row::Unit;
pub use run::jain_index;
pub(crate) use samples::{FlowSample, TcpSample, UdpSample};
#[cfg(feature = "quic")]
pub(crate) use samples::{PathSample, QuicSample};
pub use scope::{METRICS, MetricEntry, Scope, named};

/// The names of all metrics that a scenario gives, in the order of [`run()`](crate::run())'s outcome.
#[must_use]
pub fn names(config: &Config) -> Vec<String> {
    walk::walk(config, None).into_iter().map(|(name, _)| name).collect()
}

impl Measurement<'_> {
    /// All metrics, in the order of [`names`].
    pub(crate) fn metrics(&self) -> Vec<(String, Option<f64>)> {
        walk::walk(self.config, Some(self))
    }
}
