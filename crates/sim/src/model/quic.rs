//! A connection over QUIC.

use lasthop_stack::hooks::parameter::words;
use lasthop_stack::registry::LawConfig;
use lasthop_stack::units::Span;

/// The endpoints of a flow over QUIC.
#[derive(Clone, Debug, PartialEq)]
pub struct QuicConfig {
    /// The implementation of both ends.
    pub stack: QuicStack,
    /// Index of the node that is a second interface of the receiver.
    pub second: Option<usize>,
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
    /// Whether sessions of a user after the first resume it, and send with the first message of the handshake.
    pub zero_rtt: bool,
    /// The connection is given up after this time without packets.
    pub idle_timeout: Option<Span>,
    /// A path is abandoned after this time without packets.
    pub path_timeout: Option<Span>,
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

/// An implementation of QUIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuicStack {
    /// `quinn-proto`.
    Quinn,
    /// `noq-proto`, which has multipath.
    Noq,
}

words! { QuicStack: Quinn = "quinn", Noq = "noq" }

/// A congestion control law.
#[derive(Clone, Debug, PartialEq)]
pub enum QuicLaw {
    /// CUBIC (RFC 9438) of the stack.
    Cubic,
    /// The law of RFC 9002 (7) of the stack.
    NewReno,
    /// One of ours that lacks nothing over QUIC.
    Ours(LawConfig),
}

impl QuicLaw {
    /// The laws of the stack with their names.
    pub const NAMES: [(&'static str, QuicLaw); 2] =
        [("cubic", QuicLaw::Cubic), ("newreno", QuicLaw::NewReno)];
}
