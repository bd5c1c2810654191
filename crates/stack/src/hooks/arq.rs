//! Link retransmission: which unit a link sends next, and when it gives up.

use super::Count;
use crate::units::{Span, Time};

/// A unit of a link's ARQ: a frame that is acknowledged, and sent again, by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The place of its packet among those that the link holds.
    pub packet: u32,
    /// Its number in the packet, below [`MOST_UNITS`].
    pub fragment: u8,
    /// The flow of the packet, by the number the host gave it.
    pub flow: u32,
    /// How many packets came to the link before its own.
    pub serial: u64,
    /// When the timer of the packet's sender would fire, as it stood when the packet came.
    pub fires_at: Time,
    /// How often it was sent.
    pub sent: u8,
}

/// A packet has no more units than this.
pub const MOST_UNITS: u32 = 16;

impl Unit {
    /// Retransmissions attempted: the first sending is none.
    #[must_use]
    pub fn retransmissions(&self) -> u8 {
        self.sent.saturating_sub(1)
    }
}

/// What becomes of a unit that was handed to the scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArqVerdict {
    /// The scheme holds it, to be sent when its turn comes.
    Held,
    /// It is given up, and its packet with it.
    GivenUp,
}

/// Whether the link has a packet to send of which the scheme does not hold the units: one that waits for its first
/// transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newcomer {
    /// It has.
    Waits,
    /// It has none.
    Absent,
}

/// Why a unit is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// For the first time, in the order of arrival.
    New,
    /// The timer of its flow is about to fire.
    Urgent,
    /// It is the first of the first queue that is not empty.
    Turn,
    /// Its packet is so old that no newer one can be begun before it is settled.
    Oldest,
    /// Nothing else is left: it comes too late for its sender's timer.
    Hopeless,
}

impl Reason {
    /// All reasons, in the order of their codes.
    pub const NAMES: [&'static str; 5] = ["new", "urgent", "turn", "oldest", "hopeless"];
}

/// What the link does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// It begins, or goes on with, the newcomer.
    New,
    /// It sends this unit, which the scheme holds no longer.
    Send(Unit, Reason),
    /// It gives up the packet of this unit, and asks again.
    GiveUp(Unit),
}

/// The units that a scheme holds, for a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// How many in each queue.
    pub units: [u32; QUEUES],
    /// The first of each queue.
    pub heads: [Option<Head>; QUEUES],
}

/// Queues of a scheme, by retransmissions attempted: 0, 1, 2.
pub const QUEUES: usize = 3;

/// The first unit of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its flow.
    pub flow: u32,
    /// Time left until the timer of its sender fires, as the scheme reads it.
    pub left: Span,
    /// The round trip of its flow.
    pub rtt: Span,
}

/// The timing of the sender of a packet's flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Its round trip, end to end: the smoothed one.
    pub rtt: Span,
    /// Its retransmission timeout (RFC 6298), back-off included.
    pub rto: Span,
    /// When its retransmission timer fires, unless it restarts before; [`Time::NEVER`] while it is off or unknown.
    pub fires_at: Time,
}

impl Timing {
    /// Nothing is known: no timer runs.
    pub const UNKNOWN: Timing = Timing { rtt: Span::ZERO, rto: Span::ZERO, fires_at: Time::NEVER };

    /// How long until the timer fires; zero when it should have fired already.
    #[must_use]
    pub fn left(&self, now: Time) -> Span {
        self.fires_at.since(now)
    }
}

/// Which unit a link sends next, and when it gives up.
///
/// The link hands over each unit whose transmission failed and asks at each turn; it tells the timing of a flow before it
/// hands over the first unit of it.
pub trait Arq {
    /// The timing of a flow's sender has become known, or has changed.
    fn on_timing(&mut self, flow: u32, timing: Timing);

    /// A packet of this flow comes to the link: when the timer of its sender fires, as far as is known.
    fn fires_at(&self, flow: u32) -> Time;

    /// Whether units are handed over before their first transmission too.
    fn takes_new(&self) -> bool;

    /// A unit is to be sent, or sent again.
    fn hold(&mut self, unit: Unit) -> ArqVerdict;

    /// Takes back a unit that it may hold: it was sent in a burst, its packet was given up, or it goes first.
    fn withdraw(&mut self, packet: u32, fragment: u8) -> Option<Unit>;

    /// What to do at this turn.
    fn next(&mut self, newcomer: Newcomer, now: Time) -> Option<Choice>;

    /// Whether it holds nothing.
    fn is_empty(&self) -> bool;

    /// What it holds, for a trace.
    fn waiting(&self, now: Time) -> Waiting;

    /// What only this scheme counts, in a fixed order.
    fn counts(&self) -> Vec<Count>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_ends_at_zero_and_never_comes_to_an_end_without_a_timer() {
        let timing = Timing { fires_at: Time(100), ..Timing::UNKNOWN };
        assert_eq!((timing.left(Time(40)), timing.left(Time(140))), (Span(60), Span::ZERO));
        assert!(Timing::UNKNOWN.left(Time(40)) > Span::from_secs(1_000_000_000));
    }
}
