//! Input, output and counters of a sender.

use crate::hooks::{Echo, EcnEcho};
use crate::packet::{AckOption, Ecn};
use crate::units::{Span, Time};

/// The counters of a sender. All but `rtt_max` only grow, so that differences measure an interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderCounters {
    /// Data segments sent, resent ones included.
    pub segments_sent: u64,
    /// Data segments sent again.
    pub retransmits: u64,
    /// SYNs sent again.
    pub syns_again: u64,
    /// FINs without data sent again.
    pub fins_again: u64,
    /// Times the retransmission timer fired for data or a FIN, not for a SYN, nor to probe a closed window.
    pub timeouts: u64,
    /// Probes of a tail sent (RFC 8985, 7.3).
    pub tail_probes: u64,
    /// Series of timeouts: firings not preceded by another for the same segment.
    pub timeout_series: u64,
    /// Sum of the timeouts that began a series.
    pub first_timeouts: Span,
    /// Losses detected by duplicate or selective acknowledgements.
    pub fast_retransmits: u64,
    /// Round trips of data measured, without the handshake's.
    pub rtt_samples: u64,
    /// Their sum.
    pub rtt_sum: Span,
    /// The longest since the measurement began.
    pub rtt_max: Span,
    /// Reductions of the window that proved not to be needed, and were taken back.
    pub reductions_undone: u64,
    /// Integral of the congestion window over time, in segment seconds.
    pub cwnd_seconds: f64,
    /// The times for which each [`Limit`](super::Limit) was the sender's.
    pub limited: [Span; 4],
    /// Marks answered, one in each window of data.
    pub marks_answered: u64,
    /// Losses and answered marks at which the law had an estimate of the path's rate.
    pub estimates: u64,
    /// The sum of these estimates, in segments a second.
    pub estimate_sum: f64,
}

impl SenderCounters {
    /// Segments sent again, whether they have data or not.
    #[must_use]
    pub fn all_again(&self) -> u64 {
        self.retransmits + self.syns_again + self.fins_again
    }
}

/// An acknowledgement as it arrived, in stream offsets.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// When.
    pub now: Time,
    /// Acknowledgement number.
    pub ack: u64,
    /// Right edge of the advertised window.
    pub edge: u64,
    /// Whether it closes a window that was open, and so takes back what was offered.
    pub closes: bool,
    /// Whether it can be a duplicate at all (RFC 5681, 2): no payload, no SYN or FIN.
    pub pure: bool,
    /// Whether it states that the segment it requests was lost on a wireless link.
    pub eln: bool,
    /// What its SACK blocks reported.
    pub sack: SackNews,
    /// The round trip measured by its timestamp.
    pub echoed_rtt: Option<Span>,
    /// The content of its header extension.
    pub extension: Option<Echo>,
    /// What it reports of marks.
    pub ecn: EcnEcho,
    /// The timestamp that it echoes.
    pub echo: Option<u32>,
    /// The data that it reports to have arrived twice (RFC 2883).
    pub twice: Option<(u64, u64)>,
}

/// What the SACK blocks of an acknowledgement reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackNews {
    /// SACK is not in use.
    Unused,
    /// Nothing new.
    Nothing,
    /// Segments not known before.
    Segments,
}

/// A segment to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing {
    /// Stream offset of its first byte.
    pub start: u64,
    /// Payload bytes.
    pub len: u32,
    /// Whether it carries the FIN.
    pub fin: bool,
    /// Whether it empties what the application wrote.
    pub push: bool,
    /// The ECN field of its IP header.
    pub ecn: Ecn,
    /// Whether it reports that the window has fallen.
    pub cwr: bool,
    /// What it asks of acknowledgements.
    pub asks: Option<AckOption>,
}
