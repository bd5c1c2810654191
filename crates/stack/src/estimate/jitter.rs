//! The jitter ratio: by how much segments arrive further apart than they were sent.
//!
//! **Source.** Wu and Chen 2004 (JTCP); EJTCP (2, JTCP) gives the formula, and (3.1) what corrupts it.
//!
//! **How.** Over the last `w` packets acknowledged in order, with sending times `S` and receiving times `R`,
//!
//! ```text
//! jr = ((R_n - R_m) - (S_n - S_m)) / (R_n - R_m),   m = n - (w - 1)
//! ```
//!
//! which is the sum of the one-way delay jitters over the time they took. Constant offsets of the two clocks cancel. The
//! ratio is taken at each acknowledgement that advances, and so stands still from the first duplicate on.
//!
//! **Choices.** 1. The window ends at the last packet acknowledged before the hole, not at the third duplicate: by then the
//! queue is full, delays no longer grow, and each loss would look random. 2. `w` packets are `w - 1` intervals, as the
//! formula is printed, though the sum before it has `w`. 3. What `w` is, [`Reach`] says. 4. An acknowledgement that answers
//! several packets is one sample, of the last of them. 5. What a packet that was sent more than once does to the ratio is
//! [`Attribution`].
//!
//! **Limits.** Different drifts of the clocks do not cancel.
//!
//! **Checked by** the tests below.

use std::collections::VecDeque;

use crate::hooks::parameter::{Domain, Parameter, Setting, Words, words};
use crate::hooks::{Ack, Jitter, Progress, Sending};
use crate::units::Time;

/// Which packet an acknowledgement is taken to speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribution {
    /// The last one that it acknowledges, by the sender's own record of when that was sent. The acknowledgement of a
    /// retransmission that fills a hole then speaks of a packet that arrived long before (EJTCP, Fig. 2).
    Cumulative,
    /// The one that triggered it, which the header extension names; intervals to and from a packet that was sent more than
    /// once are left out.
    Trigger,
}

/// How many packets the window of the ratio has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Two more than the whole segments of `cwnd`: what is outstanding at the third duplicate with limited transmit. In
    /// congestion avoidance one segment more than usual leaves after every `cwnd` or `cwnd + 1` acknowledgements, and it is
    /// such a segment that finds the queue full; only so far back is the one before it always seen.
    Round,
    /// The whole segments of `cwnd`, as the paper has it. A flow that fills a path alone then takes nearly each loss of its
    /// own congestion for random.
    Cwnd,
}

impl Words for Reach {
    const WORDS: &'static [(&'static str, Reach)] = &[("round", Reach::Round), ("cwnd", Reach::Cwnd)];
}

impl Reach {
    /// The parameter by which a law offers the choice.
    pub(crate) const fn parameter<C>(get: fn(&C) -> Setting, set: fn(&mut C, Setting)) -> Parameter<C> {
        let meaning = "packets over which the jitter ratio is computed: cwnd, or cwnd + 2, which always spans a round trip";
        Parameter::new("jitter-window", Domain::Words("choice", words::<Reach>), meaning, get, set)
    }

    fn packets(self, window: f64) -> u64 {
        match self {
            Reach::Round => window as u64 + 2,
            Reach::Cwnd => window as u64,
        }
    }
}

/// Sending and receiving time of a packet, in nanoseconds of two clocks.
#[derive(Clone, Copy, Debug, Default)]
struct Stamps {
    sent: i64,
    received: i64,
}

/// The sums of all intervals up to a packet.
#[derive(Clone, Copy, Debug)]
struct Sample {
    packet: u64,
    sums: Stamps,
}

/// The jitter ratio over a sliding window.
#[derive(Clone, Debug)]
pub struct JitterRatio {
    attribution: Attribution,
    reach: Reach,
    samples: VecDeque<Sample>,
    sums: Stamps,
    last: Option<Stamps>,
    /// Packets acknowledged so far.
    packets: u64,
    /// What the intervals within the window add up to.
    span: Stamps,
}

impl JitterRatio {
    /// Before the first packet.
    #[must_use]
    pub fn new(attribution: Attribution, reach: Reach) -> JitterRatio {
        JitterRatio {
            attribution,
            reach,
            samples: VecDeque::new(),
            sums: Stamps::default(),
            last: None,
            packets: 0,
            span: Stamps::default(),
        }
    }

    /// Takes in an acknowledgement, with the window in segments that it leaves.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack, window: f64) {
        let (Progress::Open(segments) | Progress::Unlimited(segments) | Progress::Recovering(segments)) =
            ack.progress
        else {
            return;
        };
        self.packets += u64::from(segments);
        match self.stamps(ack) {
            Some(stamps) => self.sample(stamps, self.reach.packets(window)),
            None => self.last = None,
        }
    }

    /// The stamps of the packet that the acknowledgement speaks of, if it may be an end of an interval.
    #[inline]
    fn stamps(&self, ack: &Ack) -> Option<Stamps> {
        let echo = ack.extension?;
        let sent = match self.attribution {
            Attribution::Cumulative => ack.newest_sent?,
            Attribution::Trigger if echo.sending == Sending::Single => echo.sent,
            Attribution::Trigger => return None,
        };
        let nanos = |time: Time| time.0.cast_signed();
        Some(Stamps { sent: nanos(sent), received: nanos(echo.received) })
    }

    #[inline]
    fn sample(&mut self, stamps: Stamps, window: u64) {
        if let Some(last) = self.last.replace(stamps) {
            self.sums.sent += stamps.sent - last.sent;
            self.sums.received += stamps.received - last.received;
        }
        self.samples.push_back(Sample { packet: self.packets, sums: self.sums });
        let first = self.packets.saturating_sub(window.saturating_sub(1));
        while let Some(oldest) = self.samples.front()
            && oldest.packet < first
        {
            self.samples.pop_front();
        }
        if let Some(oldest) = self.samples.front() {
            self.span = Stamps {
                sent: self.sums.sent - oldest.sums.sent,
                received: self.sums.received - oldest.sums.received,
            };
        }
    }

    /// The ratio at the last acknowledgement that advanced; zero before there is an interval.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        let Stamps { sent, received } = self.span;
        if received > 0 { (received - sent) as f64 / received as f64 } else { 0.0 }
    }

    /// The ratio and its threshold `k / w`, for a trace.
    #[must_use]
    pub fn told(&self, k: f64, window: f64) -> Jitter {
        Jitter { ratio: self.ratio(), threshold: k / self.reach.packets(window).max(1) as f64 }
    }

    /// Whether the ratio indicates congestion: it is above `k / w` (EJTCP, 2). Nothing is divided,
    /// as the rule lives on the difference between one interval more and one less.
    #[inline]
    #[must_use]
    pub fn exceeds(&self, k: f64, window: f64) -> bool {
        let Stamps { sent, received } = self.span;
        (received - sent) as f64 * self.reach.packets(window) as f64 > k * received as f64
    }
}

#[cfg(test)]
mod tests;
