//! A connection over QUIC.

use lasthop_stack::units::Span;

/// The endpoints of a flow over QUIC.
#[derive(Clone, Debug, PartialEq)]
pub struct QuicConfig {
    /// The congestion control law of both ends.
    pub law: QuicLaw,
    /// UDP payload of a full datagram.
    pub packet: u16,
    /// Whether full datagrams are sent only after a probe of that size has been acknowledged.
    pub mtu_discovery: bool,
    /// Bytes of a stream that may be unread or on the way.
    pub window: u32,
    /// Streams that the source writes to in turn.
    pub streams: u32,
    /// What the source writes goes in unreliable datagrams (RFC 9221), not in streams.
    pub datagrams: bool,
    /// The connection is given up after this time without packets.
    pub idle_timeout: Option<Span>,
    /// When the sender asks its receiver to acknowledge, if it asks.
    pub acks: Option<AckFrequency>,
}

/// When a receiver is to acknowledge (draft-ietf-quic-ack-frequency-04).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckFrequency {
    /// Packets that one acknowledgement is for.
    pub tolerance: u32,
    /// The longest time for which an acknowledgement is delayed; `None` leaves the receiver's own.
    pub max_delay: Option<Span>,
    /// How far ahead of a missing packet another one is acknowledged at once; 0 is never.
    pub reordering: u32,
}

/// A congestion control law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuicLaw {
    /// CUBIC (RFC 9438).
    Cubic,
    /// The law of RFC 9002 (7).
    NewReno,
}

impl QuicLaw {
    /// All laws with their names.
    pub const NAMES: [(&'static str, QuicLaw); 2] =
        [("cubic", QuicLaw::Cubic), ("newreno", QuicLaw::NewReno)];
}
