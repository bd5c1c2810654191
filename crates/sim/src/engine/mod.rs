//! The engine: time, the queue of events, named random streams, prefetching.

pub(crate) mod ahead;
pub mod queue;
pub mod streams;
