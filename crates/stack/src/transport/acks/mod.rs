//! When a receiver acknowledges: one law for each connection.
//!
//! ```text
//!    data ──▶ on_segment, on_gap … ──▶ Reply: now, or later
//!                                        └─▶ due: now, or when the timer is to fire
//!    an acknowledgement leaves ──▶ sent
//! ```
//!
//! Under each law, data that arrives out of order, fills a hole, or has arrived before is acknowledged at once (RFC
//! 5681, 4.2). The exception is what [`tack`] leaves to its next acknowledgement.

pub mod tack;

use crate::packet::AckOption;
use crate::units::{Span, Time};
use tack::Tack;
pub use tack::TackConfig;

/// What an arriving segment requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// An acknowledgement at once.
    Now,
    /// One when [`Acks::due`] says so.
    Later,
}

/// When an acknowledgement that is not sent at once leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Now, after all.
    Now,
    /// At this time, if none leaves before.
    At(Time),
    /// When the timer that is already set fires.
    AsSet,
}

/// Who decides how often a receiver acknowledges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckLaw {
    /// The receiver, by counting segments (RFC 5681, 4.2).
    #[default]
    Delayed,
    /// The sender, which requests one acknowledgement per at most this number of segments (TARR).
    Requested(u8),
    /// The receiver, by counting bytes or by time, whichever is rarer (TACK).
    Tack(TackConfig),
}

impl AckLaw {
    /// The longest option that the sender of data adds to a segment.
    #[must_use]
    pub fn asks(self) -> Option<AckOption> {
        match self {
            AckLaw::Delayed => None,
            AckLaw::Requested(most) => Some(AckOption::Request(most)),
            AckLaw::Tack(_) => Some(AckOption::LeastRoundTrip(0)),
        }
    }

    /// The segments which a receiver may leave without an acknowledgement until a timer fires, and one more; `every` is
    /// what it counts of its own accord.
    #[must_use]
    pub fn quorum(self, every: u32) -> u32 {
        match self {
            AckLaw::Delayed => every,
            AckLaw::Requested(most) => every.max(most.into()),
            AckLaw::Tack(config) => every.max(config.segments),
        }
    }
}

/// Repeated acknowledgements that are sent at once before others wait (Linux: `TCP_FASTRETRANS_THRESH`).
const AT_ONCE: u32 = 3;
/// The most that wait for one (Linux: `tcp_comp_sack_nr`).
const MOST_TOGETHER: u32 = 44;
/// The share of a round trip for which they wait at most.
const SHARE: u64 = 20;

/// Acknowledgements of what arrives beyond a hole, which wait for each other (Linux: `tcp_comp_sack_delay_ns`).
#[derive(Clone, Copy, Debug, Default)]
struct Together {
    /// The longest that one waits; zero where none does.
    longest: Span,
    /// The segment that they all request, and how many have requested it at once.
    missing: u64,
    at_once: u32,
    /// How many wait.
    waiting: u32,
}

impl Together {
    fn on_beyond(&mut self, missing: u64) -> Reply {
        if self.missing != missing {
            (self.missing, self.at_once) = (missing, 0);
        }
        if self.at_once < AT_ONCE {
            self.at_once += 1;
            return Reply::Now;
        }
        self.waiting += 1;
        if self.waiting > MOST_TOGETHER { Reply::Now } else { Reply::Later }
    }
}

/// The acknowledgements of one receiver.
#[derive(Clone, Copy, Debug)]
pub struct Acks {
    /// Full segments for each acknowledgement.
    every: u32,
    /// Segments that are still acknowledged at once; none if the peer decides.
    quick: Option<u32>,
    /// When data arrived last.
    last: Time,
    full_segment: u32,
    unacknowledged: u32,
    together: Together,
    /// Where both ends can.
    tack: Option<Tack>,
}

impl Acks {
    /// One acknowledgement for each `every` full segments, after `quick` that are acknowledged at once. Those of what
    /// arrives beyond a hole wait for each other from the fourth on, at most for `together`.
    #[must_use]
    pub fn new(every: u32, quick: u32, full_segment: u32, together: Span) -> Acks {
        let together = Together { longest: together, ..Together::default() };
        let last = Time::ZERO;
        Acks { every, quick: Some(quick), last, full_segment, unacknowledged: 0, together, tack: None }
    }

    /// Data arrives. After a gap longer than `longest`, at least `quick` segments are acknowledged at once.
    pub fn hurry_after_gap(&mut self, now: Time, longest: Span, quick: u32) {
        if now.since(self.last) > longest {
            self.quick = self.quick.map(|left| left.max(quick));
        }
        self.last = now;
    }

    /// Acknowledges by time from now on where the law is TACK's: the peer can, too.
    pub fn agree(&mut self, law: AckLaw) {
        if let AckLaw::Tack(config) = law {
            self.tack = Some(Tack::new(config, self.full_segment));
        }
    }

    /// The peer requests one acknowledgement per `every` full segments.
    pub fn request(&mut self, every: u8) {
        self.every = every.max(1).into();
        self.quick = None;
    }

    /// The peer's least round trip.
    pub fn learn_round_trip(&mut self, least: Span) {
        if let Some(tack) = &mut self.tack {
            tack.learn_round_trip(least);
        }
    }

    /// `len` bytes arrived in order, with nothing beyond a hole; with `last` they end the stream, and with `is_more` the
    /// acknowledgement offers a larger window than the one before.
    #[inline]
    pub fn on_segment(&mut self, len: u32, last: bool, is_more: bool) -> Reply {
        if let Some(tack) = &mut self.tack {
            tack.count(len);
            return if last { Reply::Now } else { Reply::Later };
        }
        self.unacknowledged += 1;
        if let Some(quick) = &mut self.quick
            && (*quick > 0 || is_more)
        {
            // Of an even number an acknowledgement that offers more takes none (Linux: `quick |= 1`).
            *quick = (*quick | u32::from(is_more)) - 1;
            return Reply::Now;
        }
        let whole = self.unacknowledged >= self.every && len >= self.full_segment;
        if whole || self.every <= 1 || last { Reply::Now } else { Reply::Later }
    }

    /// `len` bytes arrived beyond a hole, which begins at `missing` and is new if `is_gap`; with `is_more` the
    /// acknowledgement offers a larger window than the one before.
    #[inline]
    pub fn on_beyond(&mut self, len: u32, missing: u64, is_gap: bool, is_more: bool) -> Reply {
        match &mut self.tack {
            Some(tack) if !is_gap => {
                tack.count(len);
                Reply::Later
            }
            None if self.together.longest > Span::ZERO && !is_gap && !is_more && self.quick == Some(0) => {
                self.together.on_beyond(missing)
            }
            _ => Reply::Now,
        }
    }

    /// The longest that an acknowledgement of what arrived beyond a hole waits, if one does; `rtt` is the round trip.
    #[inline]
    #[must_use]
    pub fn wait(&self, rtt: Option<Span>) -> Option<Span> {
        let longest = self.together.longest;
        (self.together.waiting > 0).then(|| rtt.map_or(longest, |rtt| longest.min(Span(rtt.0 / SHARE))))
    }

    /// When to acknowledge what may be acknowledged later; `is_first` if nothing waits yet. `delay` is the longest that
    /// RFC 5681 allows.
    #[inline]
    #[must_use]
    pub fn due(&self, now: Time, delay: Span, is_first: bool) -> Due {
        match &self.tack {
            Some(tack) => tack.due(now, delay, is_first),
            None if is_first => Due::At(now.after(delay)),
            None => Due::AsSet,
        }
    }

    /// All that arrived is being acknowledged.
    #[inline]
    pub fn sent(&mut self) {
        self.unacknowledged = 0;
        self.together.waiting = 0;
    }

    /// The same, where the time of it matters.
    #[inline]
    pub fn sent_at(&mut self, now: Time) {
        if let Some(tack) = &mut self.tack {
            tack.sent(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replies(acks: &mut Acks, count: u32) -> Vec<Reply> {
        let reply = |_| {
            let reply = acks.on_segment(1000, false, false);
            if reply == Reply::Now {
                acks.sent();
            }
            reply
        };
        (0..count).map(reply).collect()
    }

    #[test]
    fn a_request_replaces_what_the_receiver_counts_and_ends_quick_acknowledgements() {
        use Reply::{Later, Now};
        let mut acks = Acks::new(2, 16, 1000, Span::ZERO);
        assert_eq!(replies(&mut acks, 2), [Now, Now]);
        acks.request(3);
        assert_eq!(replies(&mut acks, 6), [Later, Later, Now, Later, Later, Now]);
        acks.request(1);
        assert_eq!(replies(&mut acks, 2), [Now, Now]);
    }

    #[test]
    fn whatever_was_asked_what_arrives_beyond_a_hole_is_acknowledged_at_once() {
        let mut acks = Acks::new(8, 0, 1000, Span::ZERO);
        assert_eq!([true, false].map(|gap| acks.on_beyond(1000, 5, gap, false)), [Reply::Now; 2]);
    }

    #[test]
    fn from_the_fourth_on_acknowledgements_of_what_is_beyond_a_hole_wait_for_each_other() {
        use Reply::{Later, Now};
        let mut acks = Acks::new(2, 0, 1000, Span::from_millis(1));
        let mut beyond = |missing, is_gap, is_more| acks.on_beyond(1000, missing, is_gap, is_more);
        assert_eq!([true, false, false, false].map(|is_gap| beyond(5, is_gap, false)), [Now; 4]);
        assert_eq!([beyond(5, false, false), beyond(5, true, false)], [Later, Now], "a new hole is reported");
        assert_eq!(beyond(5, false, true), Now, "so is a larger window");
        assert_eq!([9; 4].map(|missing| beyond(missing, false, false)), [Now, Now, Now, Later]);
        assert_eq!(acks.wait(None), Some(Span::from_millis(1)));
        assert_eq!(acks.wait(Some(Span::from_millis(10))), Some(Span::from_micros(500)));
        acks.sent();
        assert_eq!(acks.wait(None), None);
        let replies: Vec<Reply> = (0..45).map(|_| acks.on_beyond(1000, 9, false, false)).collect();
        assert_eq!((replies[..44].contains(&Now), replies[44]), (false, Now));
        acks.request(1);
        assert_eq!(acks.on_beyond(1000, 9, false, false), Now, "the sender decides");
    }

    #[test]
    fn without_an_agreement_tack_is_a_delayed_acknowledgement() {
        let mut acks = Acks::new(2, 0, 1000, Span::ZERO);
        acks.agree(AckLaw::Delayed);
        assert_eq!(replies(&mut acks, 2), [Reply::Later, Reply::Now]);
    }

    #[test]
    fn the_quorum_is_the_most_that_may_wait_for_a_timer_and_one_more() {
        let tack = AckLaw::Tack(TackConfig { segments: 4, per_round_trip: 4 });
        assert_eq!([AckLaw::Delayed, AckLaw::Requested(8), tack].map(|law| law.quorum(2)), [2, 8, 4]);
    }
}
