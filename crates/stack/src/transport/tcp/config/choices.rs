//! The choices of an endpoint, each with its words in scenarios.

use crate::hooks::parameter::words;

/// The window after a full acknowledgement (RFC 6582, 3.2, step 3, which names both).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FullAck {
    /// At most one segment more than is outstanding, so that no burst follows.
    Flight,
    /// What the law left: ssthresh.
    Ssthresh,
    /// What the deflation by partial acknowledgements left of it, as in ns-2.
    Deflated,
}

words! { FullAck: Flight = "flight", Ssthresh = "ssthresh", Deflated = "deflated" }

/// What SACK's recovery considers to be in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackPipe {
    /// The segments that the scoreboard holds neither delivered nor lost (RFC 6675, `SetPipe`).
    Scoreboard,
    /// A count of departures and acknowledgements, as in ns-2 (Fall and Floyd 1996).
    Counted,
}

words! { SackPipe: Scoreboard = "scoreboard", Counted = "counted" }

/// What indicates to SACK's recovery that a copy of a segment was lost, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostRetransmission {
    /// The retransmission timer (RFC 6675).
    Timer,
    /// That a segment which left after it has arrived (RFC 8985, 6.2, where nothing is reordered).
    Overtaken,
}

words! { LostRetransmission: Timer = "timer", Overtaken = "overtaken" }

/// What indicates a loss to SACK's recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// Three segments selectively acknowledged above it, or three duplicates (RFC 6675).
    Duplicates,
    /// That a segment sent after it has arrived, and time for it to have been reordered has passed (RFC 8985).
    Time,
}

words! { LossDetection: Duplicates = "rfc6675", Time = "rack" }

/// What shows that nothing was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undo {
    /// Nothing.
    None,
    /// That all segments sent again were reported to have arrived twice (RFC 3708).
    Dsack,
    /// That an acknowledgement echoes the timestamp of a first transmission (RFC 3522).
    Timestamps,
    /// Either.
    Both,
}

words! { Undo: None = "none", Dsack = "dsack", Timestamps = "timestamps", Both = "both" }

/// What a loss halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halved {
    /// What is outstanding (RFC 5681, equation 4), once a series of timeouts. Within recovery that may be more than the
    /// window was before.
    Flight,
    /// The congestion window, a real number, at each timeout of a series, as in ns-2.
    Window,
}

words! { Halved: Flight = "flight", Window = "window" }

/// What the least retransmission timeout bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoFloor {
    /// The timeout (RFC 6298, 2.4).
    Timeout,
    /// The excess of the timeout over the smoothed round trip, as in Linux.
    Variation,
}

words! { RtoFloor: Timeout = "timeout", Variation = "variation" }

/// How the timeout follows from round trips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoArithmetic {
    /// In real numbers (RFC 6298, 2), from each sample that Karn's algorithm permits.
    Real,
    /// In whole ticks, as in ns-2. Divisions round down, and partial acknowledgements give no sample. The back-off of a
    /// lost SYN stays, and after four back-offs the next sample counts as the first.
    Ticks,
}

words! { RtoArithmetic: Real = "real", Ticks = "ticks" }

/// What the growth of the window counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Acknowledgements (RFC 5681, 3.1).
    Acks,
    /// Acknowledged segments; in slow start at most this number per acknowledgement, or one after a timeout (RFC 3465). Linux
    /// has no limit.
    Segments(Option<u32>),
}

words! {
    /// What the growth of the window counts: the names of [`Counting`].
    pub enum Growth {
        /// Acknowledgements.
        Acks = "acks",
        /// Acknowledged segments.
        Segments = "segments",
    }

    /// Who decides how often a receiver acknowledges: the names of [`AckLaw`](crate::transport::acks::AckLaw).
    pub enum AckRule {
        /// The receiver, by counting segments.
        Delayed = "delayed",
        /// The sender.
        Requested = "requested",
        /// The receiver, by bytes and by time.
        Tack = "tack",
    }

    /// Duplicate acknowledgements in the recovery of `NewReno`.
    pub enum Duplicates {
        /// They inflate the window (RFC 6582).
        Inflate = "inflate",
        /// They count as deliveries (Linux).
        Count = "count",
    }

    /// Partial acknowledgements that restart the retransmission timer of `NewReno` (RFC 3782, 4).
    pub enum RetransmitTimer {
        /// The first one.
        Impatient = "impatient",
        /// Each.
        SlowButSteady = "slow-but-steady",
    }

    /// Departures of CUBIC from RFC 9438.
    pub enum Departures {
        /// None.
        None = "none",
        /// Those of Linux.
        Linux = "linux",
    }
}

/// How often Reno may resend by duplicate acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastRetransmit {
    /// Once for each hole that three duplicates indicate (RFC 5681).
    EveryHole,
    /// Once for all that was outstanding when the first loss was detected (ns-2's `bugFix_`).
    OnceAWindow,
}

words! { FastRetransmit: EveryHole = "every-hole", OnceAWindow = "once-a-window" }

/// Which laws space their segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// Those that set a pace themselves.
    ByLaw,
    /// All.
    All,
    /// None.
    None,
}

words! { Pacing: ByLaw = "auto", All = "on", None = "off" }

/// Explicit congestion notification: what an end offers, and uses if the other end does too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnMode {
    /// None.
    Off,
    /// Data may be marked instead of dropped, and one answer in each window of data (RFC 3168).
    Classic,
    /// The same with a count of all marked packets (RFC 9768), or else `Classic`.
    Accurate,
}

words! { EcnMode: Off = "off", Classic = "classic", Accurate = "accurate" }
