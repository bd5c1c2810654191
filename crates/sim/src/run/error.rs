//! The reasons why a run gives no result.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::net::routes::Unreachable;

/// Why a run has no results.
#[derive(Debug)]
pub enum RunError {
    /// It was cancelled.
    Interrupted,
    /// Two nodes of a flow are not connected.
    Unreachable(Unreachable),
    /// More flows than there are ports for, and how many there can be.
    TooManyFlows(usize, usize),
    /// No trace channel has this name.
    UnknownTrace(String),
    /// It may need more memory than the scenario allows.
    Memory {
        /// Bytes it may need.
        needed: u64,
        /// Bytes allowed.
        allowed: u64,
    },
    /// A capture was requested of something that no capture can show.
    NoSuchHeader {
        /// The flow that has it.
        flow: String,
        /// What it is.
        what: &'static str,
        /// What can be shown.
        instead: &'static str,
    },
    /// A capture file could not be written.
    Capture(PathBuf, io::Error),
    /// A qlog cannot be written.
    Log(io::Error),
    /// The rows of a trace could not be written to the file in which they wait.
    Trace(io::Error),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Interrupted => write!(f, "interrupted"),
            RunError::Unreachable(pair) => write!(f, "{pair}"),
            RunError::TooManyFlows(flows, most) => {
                write!(f, "{flows} flows; expected at most {most}, the number of ports")
            }
            RunError::UnknownTrace(name) => {
                let known: Vec<&str> =
                    crate::probe::trace::CHANNELS.iter().map(|channel| channel.0).collect();
                write!(f, "unknown trace channel \"{name}\"; expected one of {}", known.join(", "))
            }
            RunError::Memory { needed, allowed } => write!(
                f,
                "the run may need {} MB of memory; expected at most {} MB (raise run.max-memory, or reduce queues and windows)",
                needed / 1_000_000,
                allowed / 1_000_000
            ),
            RunError::NoSuchHeader { flow, what, instead } => {
                write!(f, "a capture cannot represent {what} of flows.{flow}; expected {instead}")
            }
            RunError::Capture(path, error) => {
                write!(f, "{}: cannot write the capture: {error}", path.display())
            }
            RunError::Log(error) => write!(f, "cannot write a qlog: {error}"),
            RunError::Trace(error) => {
                write!(f, "cannot keep the traces in the folder for temporary files: {error}")
            }
        }
    }
}

impl std::error::Error for RunError {}
