//! A live run: the network of a scenario between real network interfaces, in real time.
//!
//! [`Network`] is a run of the simulator some of whose nodes are bound to programs outside: their packets come with their bytes,
//! and everything between them, links, media, queues, agents and simulated flows, is that of any run. [`relay`] reads packets
//! from the interfaces and writes them when the network delivers them, and reports by how much it was late. [`Writes`] is what
//! the application of a flow writes, and when.

mod air;
mod attached;
mod bound;
mod forward;
mod lateness;
mod network;
mod writes;

#[cfg(test)]
mod tests;

pub use crate::run::Recorded;
pub use air::Needed;
pub use attached::{Attached, Ends, Passed, Route, Taken};
#[cfg(target_os = "linux")]
pub use attached::{Carried, Own, Sockets, carry};
pub use bound::NotLive;
pub use forward::{Calls, Clock, Ended, Watch, relay};
pub use lateness::Lateness;
pub use network::{Counted, Network};
pub use writes::{Write, Writes};
