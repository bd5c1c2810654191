//! A relay: the network of a scenario between two real network interfaces, in real time.
//!
//! [`Path`] is the network of the simulator itself, with the bytes of packets beside it. It has the same links with
//! their rates, queues, laws of queues, delivery opportunities and delays, and losses from the same random streams.
//! [`relay`] reads packets from one interface and writes them to the other when the network delivers them, in both
//! directions, and reports by how much it was late. [`Writes`] gives the writes of the application of a flow, with
//! their times.

mod contents;
mod forward;
mod lateness;
mod path;
mod writes;

#[cfg(test)]
mod tests;

pub use forward::{Clock, Ended, Timing, relay};
pub use lateness::Lateness;
pub use path::{HopCounts, NoPath, Path, Sent};
pub use writes::{Write, Writes};
