//! A relay: the path of a scenario between two real network interfaces, in real time.
//!
//! [`Path`] has the links as the simulator has them: the same rates, queues and delays, and losses from the same random
//! streams. [`relay`] reads packets from one interface and writes them to the other when the path says so, in both
//! directions, and reports by how much it was late.

mod forward;
mod lateness;
mod path;

#[cfg(test)]
mod tests;

pub use forward::{Ended, relay};
pub use lateness::Lateness;
pub use path::{Fate, HopCounts, NoPath, Path, Step, Way};
