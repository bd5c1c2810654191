//! Link retransmission: which unit a link sends next, and when it discards one.

use super::Count;
use crate::units::{Span, Time};

/// A unit of a link's ARQ: a frame that is acknowledged and repeated separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Index of its packet among those that the link holds.
    pub packet: u32,
    /// Its number in the packet, below [`MOST_UNITS`].
    pub fragment: u8,
    /// The number that the host gave to the flow of its packet.
    pub flow: u32,
    /// Number of packets that came to the link before its packet.
    pub serial: u64,
    /// When the timer of the packet's sender would fire, as known when the packet came.
    pub fires_at: Time,
    /// Number of its transmissions.
    pub sent: u8,
}

/// Maximum number of units in a packet.
pub const MOST_UNITS: u32 = 16;

impl Unit {
    /// Retransmissions attempted; the first transmission does not count.
    #[must_use]
    pub fn retransmissions(&self) -> u8 {
        self.sent.saturating_sub(1)
    }
}

/// Result of handing a unit to the scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArqVerdict {
    /// The scheme holds it until its turn.
    Held,
    /// It is discarded together with its packet.
    GivenUp,
}

/// Whether the link has a packet that waits for its first transmission and whose units the scheme does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newcomer {
    /// It has one.
    Waits,
    /// It has none.
    Absent,
}

/// Why a unit is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// First transmission, in order of arrival.
    New,
    /// The timer of its flow is about to fire.
    Urgent,
    /// It is the head of the queue whose turn it is.
    Turn,
    /// Its packet is so old that no newer one can begin before this one is settled.
    Oldest,
    /// No other unit is left, and it is too late for its sender's timer.
    Hopeless,
}

impl Reason {
    /// The names, in the order of the codes.
    pub const NAMES: [&'static str; 5] = ["new", "urgent", "turn", "oldest", "hopeless"];
}

/// The next action of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// It begins or continues the newcomer.
    New,
    /// It sends this unit, which the scheme has released.
    Send(Unit, Reason),
    /// It discards the packet of this unit and asks again.
    GiveUp(Unit),
}

/// The units that a scheme holds, for a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Number of units in each queue.
    pub units: [u32; QUEUES],
    /// The head of each queue.
    pub heads: [Option<Head>; QUEUES],
}

/// Number of queues of a scheme, by retransmissions attempted: 0, 1, 2.
pub const QUEUES: usize = 3;

/// The first unit of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its flow.
    pub flow: u32,
    /// Time left until the timer of its sender fires, as the scheme interprets it.
    pub left: Span,
    /// The round-trip time of its flow.
    pub rtt: Span,
}

/// The timing of the sender of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Its smoothed end-to-end round-trip time.
    pub rtt: Span,
    /// Its retransmission timeout (RFC 6298), back-off included.
    pub rto: Span,
    /// When its retransmission timer fires unless it restarts earlier; [`Time::NEVER`] while it is off or unknown.
    pub fires_at: Time,
}

impl Timing {
    /// Nothing is known, and no timer runs.
    pub const UNKNOWN: Timing = Timing { rtt: Span::ZERO, rto: Span::ZERO, fires_at: Time::NEVER };

    /// Time left until the timer fires; zero if it should have fired already.
    #[must_use]
    pub fn left(&self, now: Time) -> Span {
        self.fires_at.since(now)
    }
}

/// Selects the unit that a link sends next, and decides when the link discards one.
///
/// The link passes each unit whose transmission failed to the scheme, and asks it at each turn. It reports the timing
/// of a flow before it passes the first unit of the flow.
pub trait Arq {
    /// The timing of a flow's sender has become known, or has changed.
    fn on_timing(&mut self, flow: u32, timing: Timing);

    /// Called when a packet of this flow comes to the link. Returns when the timer of its sender fires, as far as
    /// known.
    fn fires_at(&self, flow: u32) -> Time;

    /// Whether the link also passes units to the scheme before their first transmission.
    fn takes_new(&self) -> bool;

    /// A unit is to be sent or repeated.
    fn hold(&mut self, unit: Unit) -> ArqVerdict;

    /// Takes back a unit, if the scheme holds it: it was sent in a burst, its packet was discarded, or it goes first.
    fn withdraw(&mut self, packet: u32, fragment: u8) -> Option<Unit>;

    /// The action for this turn.
    fn next(&mut self, newcomer: Newcomer, now: Time) -> Option<Choice>;

    /// Whether the scheme holds no unit.
    fn is_empty(&self) -> bool;

    /// The units held, for a trace.
    fn waiting(&self, now: Time) -> Waiting;

    /// Counters specific to this scheme, in a fixed order.
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
