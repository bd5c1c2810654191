//! The simulator around the stack: engine, media, traffic, scenarios and probes.
//!
//! A [`scenario`] is read and checked into a typed [`model::Config`]; [`run()`] builds the network from it, runs it to
//! its end, and returns the measurements as an [`Outcome`].

#![cfg_attr(
    not(unix),
    allow(
        dead_code,
        unreachable_pub,
        unused_imports,
        reason = "only live runs, which need Unix, use all of `run` and `outside`"
    )
)]

pub mod agent_load;
pub mod catalogue;
pub mod engine;
pub mod host;
pub mod law_load;
mod lines;
#[cfg(unix)]
pub mod live;
pub mod medium;
pub mod metrics;
pub mod model;
mod net;
mod outside;
pub mod probe;
#[cfg(feature = "quic")]
pub mod quic;
pub mod replay;
mod run;
pub mod scenario;
pub mod steered;
pub mod traffic;

pub use net::routes::Unreachable;
pub use run::{Estimate, Halt, Outcome, Request, RunError, Stopped, estimate, logs, run};

/// Changes whenever the same scenario and seed may give other numbers; it is part of the key of every stored run.
pub const MODEL_VERSION: &str = "4";
