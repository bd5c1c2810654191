//! Active queue management: what a queue does with arriving packets before it is full: the trait [`Aqm`].

use crate::units::{Span, Time};

/// A packet arrives at a queue.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When.
    pub now: Time,
    /// Packets that the queue holds before it, the one in transmission included.
    pub held: u32,
    /// For how long the queue has been empty; zero if it is not.
    pub idle: Span,
    /// How long the link takes for a packet of this size at its nominal rate.
    pub transmission: Span,
}

/// What happens to the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Nothing.
    Pass,
    /// It is marked if its transport uses ECN (RFC 3168, 5), and passes otherwise.
    Mark,
}

/// The management of one queue.
pub trait Aqm {
    /// A packet arrives. Called for those too that find the queue full.
    fn on_arrival(&mut self, arrival: &Arrival) -> Admission;
}
