//! The agreement of two ends about acknowledgements: TCP options for experiments (RFC 6994).
//!
//! ```text
//!    on a SYN        kind 254, 4, 00 AC                      TARR: this end acknowledges as it is asked to
//!    on data         kind 254, 5, 00 AC, R and a zero bit    an acknowledgement for each R full segments
//!    on a SYN        kind 253, 4, "TK"                       TACK: this end can acknowledge by time
//!    on data         kind 253, 8, "TK", 32 bits              the least round trip, in microseconds
//! ```
//!
//! TARR is draft-ietf-tcpm-ack-rate-request; R has seven bits, as in packetdrill. TACK's paper defines no option of TCP: this
//! one is a choice of this stack, and its identifier is not registered.

use crate::units::Span;

/// An option about acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckOption {
    /// This end acknowledges as its peer asks (TARR).
    TakesRequests,
    /// Requests one acknowledgement per this number of full segments; zero requests an immediate one of this segment
    /// (TARR).
    Request(u8),
    /// This end can acknowledge by time (TACK).
    TakesTime,
    /// The least round trip that the sender of data has measured, in microseconds (TACK).
    LeastRoundTrip(u32),
}

impl AckOption {
    /// The most that a request has room for.
    pub const MOST: u8 = 127;

    /// The least round trip, at most the 71 minutes for which there is room.
    #[must_use]
    pub fn least_round_trip(time: Span) -> AckOption {
        AckOption::LeastRoundTrip(u32::try_from(time.0 / 1_000).unwrap_or(u32::MAX))
    }

    /// Bytes it occupies in a header, in whole words.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            AckOption::TakesRequests | AckOption::TakesTime => 4,
            AckOption::Request(_) | AckOption::LeastRoundTrip(_) => 8,
        }
    }
}
