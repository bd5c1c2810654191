//! The jitter ratio: how much further apart segments arrive than they were sent.
//!
//! **Source.** Wu and Chen 2004 (JTCP); EJTCP gives the formula (2, JTCP) and what corrupts it (3.1).
//!
//! **How.** Over the last `w` packets acknowledged in order, with sending times `S` and receiving times `R`,
//!
//! ```text
//! jr = ((R_n - R_m) - (S_n - S_m)) / (R_n - R_m),   m = n - (w - 1)
//! ```
//!
//! This is the sum of the one-way delay jitters divided by their duration. Constant offsets of the two clocks cancel.
//! The ratio is updated at each acknowledgement that advances, so it is constant from the first duplicate on.
//!
//! **Choices.** 1. The window ends at the last packet acknowledged before the hole, not at the third duplicate. By then
//! the queue is full, delays no longer grow, and each loss would look random. 2. `w` packets are `w - 1` intervals, as
//! the formula is printed, although the sum before it has `w`. 3. [`Reach`] sets `w`. 4. An acknowledgement of several
//! packets is one sample, of the last of them. 5. [`Attribution`] sets how a packet sent more than once affects the
//! ratio.
//!
//! **Limits.** A difference in clock drift does not cancel.
//!
//! **Checked by** the tests below.

use std::collections::VecDeque;

use crate::hooks::parameter::{Domain, Spec, words};
use crate::hooks::{Ack, Jitter, Progress, Sending};
use crate::units::Time;

/// The packet to which an acknowledgement is attributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribution {
    /// The last packet that it acknowledges, with the sender's own record of the sending time. The acknowledgement of a
    /// retransmission that fills a hole is then attributed to a packet that arrived long before (EJTCP, Fig. 2).
    Cumulative,
    /// The packet that triggered it, as named by the header extension; intervals to and from a packet that was sent
    /// more than once are omitted.
    Trigger,
}

/// The number of packets in the window of the ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Two more than the whole segments of `cwnd`: the data outstanding at the third duplicate with limited transmit.
    /// In congestion avoidance an additional segment leaves after every `cwnd` or `cwnd + 1` acknowledgements, and such
    /// a segment finds the queue full; only this reach always includes the one before it.
    Round,
    /// The whole segments of `cwnd`, as in the paper. A flow that fills a path alone then classifies nearly every
    /// congestion loss of its own as random.
    Cwnd,
}

words! { Reach: Round = "round", Cwnd = "cwnd" }

impl Reach {
    /// The parameter through which a law offers the choice.
    pub(crate) const PARAMETER: Spec = Spec::new(
        "jitter-window",
        Domain::Words("choice", words::<Reach>),
        "packets over which the jitter ratio is computed: cwnd, or cwnd + 2, which always spans a round trip",
    );

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

/// The cumulative intervals up to a packet.
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
    /// The sum of the intervals within the window.
    span: Stamps,
}

impl JitterRatio {
    /// The state before the first packet.
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

    /// Records an acknowledgement; `window` is the window after it, in segments.
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

    /// The stamps of the packet to which the acknowledgement is attributed, if they can end an interval.
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

    /// The ratio at the last acknowledgement that advanced; zero before the first interval.
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

    /// Whether the ratio indicates congestion: it exceeds `k / w` (EJTCP, 2). The comparison avoids divisions, because
    /// one interval more or less decides it.
    #[inline]
    #[must_use]
    pub fn exceeds(&self, k: f64, window: f64) -> bool {
        let Stamps { sent, received } = self.span;
        (received - sent) as f64 * self.reach.packets(window) as f64 > k * received as f64
    }
}

#[cfg(test)]
mod tests;
