//! The engine: time, the queue of events, named random streams.

pub mod queue;
pub mod streams;
