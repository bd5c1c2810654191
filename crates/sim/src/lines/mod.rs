//! What sends the packets of a link between two nodes, by the kind of the link: its configuration, and the state of one
//! direction.
//!
//! A kind is a variant of [`Sends`] and one of [`Line`], with its constructor and its dispatch. What it does is in its
//! [`Transmitter`].

mod air;

pub use air::AirConfig;

use lasthop_stack::link::queue::{DropTail, QueueLimit};
use lasthop_stack::link::recorded::{Recorded, loads, opportunities, rates};
use lasthop_stack::link::transmitter::Transmitter;
use lasthop_stack::link::wired::Wired;
use lasthop_stack::packet::Packet;
use lasthop_stack::units::{Bytes, Rate, Span, Time};

use crate::engine::streams::Stream;
use air::Air;

/// What sends on a link between two nodes.
#[derive(Clone, Debug)]
pub enum Sends {
    /// A wire in each direction, at the rate of the direction.
    Wires,
    /// The air of an 802.16 link: the base station is the first node.
    Air(Box<AirConfig>),
    /// The capacity of each direction over time, as it was recorded.
    Recorded(Box<[Recorded; 2]>),
}

/// What sends the packets of one direction.
#[derive(Debug)]
pub(crate) enum Line {
    Wired(Wired),
    Air(Box<Air>),
    Opportunities(Box<opportunities::Line>),
    Rates(Box<rates::Line>),
    Loads(Box<loads::Line>),
}

impl Sends {
    /// The sender of a direction (0 forward, 1 reverse) with this rate, and with a queue of this limit or fed from one in
    /// front of it; `stream` gives the random numbers of the link for a purpose.
    pub(crate) fn line(
        &self,
        (direction, rate): (usize, Rate),
        (limit, is_fed): (QueueLimit, bool),
        stream: impl Fn(&str) -> Stream,
    ) -> Line {
        match self {
            Sends::Wires => Line::Wired(Wired::new(rate, limit)),
            Sends::Air(air) => Line::Air(Box::new(Air::new(air, direction, limit, stream("modulation")))),
            Sends::Recorded(recorded) => match &recorded[direction] {
                Recorded::Opportunities(recorded) => {
                    Line::Opportunities(Box::new(opportunities::Line::new(recorded.clone(), limit, is_fed)))
                }
                Recorded::Rates(recorded) => Line::Rates(Box::new(rates::Line::new(recorded.clone(), limit))),
                Recorded::Loads(recorded) => Line::Loads(Box::new(loads::Line::new(recorded.clone(), limit))),
            },
        }
    }

    /// The rate of a direction for estimates, if the kind has no key of it: the greatest or the mean one.
    pub(crate) fn rate(&self, direction: usize) -> Option<Rate> {
        match self {
            Sends::Wires => None,
            Sends::Air(air) => Some(air.fastest()),
            Sends::Recorded(recorded) => Some(recorded[direction].mean_rate()),
        }
    }

    /// Whether packets leave at a constant rate.
    pub(crate) fn is_constant(&self) -> bool {
        matches!(self, Sends::Wires)
    }

    /// The recorded capacity of a direction, if it has one.
    pub(crate) fn recorded(&self, direction: usize) -> Option<&Recorded> {
        if let Sends::Recorded(recorded) = self { Some(&recorded[direction]) } else { None }
    }
}

macro_rules! each {
    ($line:expr, $it:ident => $call:expr) => {
        match $line {
            Line::Wired($it) => $call,
            Line::Air($it) => $call,
            Line::Opportunities($it) => $call,
            Line::Rates($it) => $call,
            Line::Loads($it) => $call,
        }
    };
}

impl Line {
    /// Enqueues a packet, perhaps at the head of the queue, and marks it. Returns the departure of its last bit and the
    /// delay of the packets behind it, or `None` if the queue is full.
    #[inline]
    pub(crate) fn accept(
        &mut self,
        (packet, size): (&mut Packet, Bytes),
        is_ahead: bool,
        now: Time,
    ) -> Option<(Time, Span)> {
        let taken =
            if is_ahead { self.offer_ahead(size, now)? } else { (self.offer(size, now)?, Span::ZERO) };
        self.mark(packet);
        Some(taken)
    }
}

/// Implements the methods of a [`Transmitter`] by those of the variant.
macro_rules! forward {
    ($([&$($mutable:tt)?] $method:ident($($name:ident: $type:ty),*) $(-> $result:ty)?;)+) => {
        impl Transmitter for Line {$(
            #[inline]
            fn $method(&$($mutable)? self $(, $name: $type)*) $(-> $result)? {
                each!(self, line => line.$method($($name),*))
            }
        )+}
    };
}

forward! {
    [&mut] offer(size: Bytes, now: Time) -> Option<Time>;
    [&mut] offer_ahead(size: Bytes, now: Time) -> Option<(Time, Span)>;
    [&] mark(packet: &mut Packet);
    [&] ready_at(now: Time) -> Time;
    [&] queue() -> &DropTail;
    [&mut] queue_mut() -> &mut DropTail;
    [&] began(departure: Time) -> Time;
    [&] busy(now: Time) -> Span;
    [&] used(now: Time) -> (u64, u64);
    [&] is_due(now: Time) -> bool;
    [&mut] pass(now: Time);
    [&mut] wait_until(at: Time, now: Time);
}
