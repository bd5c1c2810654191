//! Active queue management, the treatment of arriving packets before a queue is full: the trait [`Aqm`].

use crate::units::{Span, Time};

/// The arrival of a packet at a queue.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Time of arrival.
    pub now: Time,
    /// Packets in the queue before it arrives, including the one being transmitted.
    pub held: u32,
    /// How long the queue has been empty; zero if it is not.
    pub idle: Span,
    /// Transmission time of a packet of this size at the nominal rate of the link.
    pub transmission: Span,
}

/// The decision on the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is left unchanged.
    Pass,
    /// It is marked if its transport uses ECN (RFC 3168, 5), and left unchanged otherwise.
    Mark,
}

/// The management of one queue.
pub trait Aqm {
    /// Decides on an arriving packet. It is also called for packets that find the queue full.
    fn on_arrival(&mut self, arrival: &Arrival) -> Admission;
}
