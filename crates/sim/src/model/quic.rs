//! A connection over QUIC, and its parameters by their names in scenarios.

use lasthop_stack::hooks::parameter::{Described, LONGEST, parameters, words};
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

impl Default for QuicConfig {
    fn default() -> QuicConfig {
        QuicConfig {
            stack: QuicStack::Quinn,
            second: None,
            law: QuicLaw::Cubic,
            packet: 1452,
            mtu_discovery: true,
            window: 1_250_000,
            streams: 1,
            datagrams: false,
            zero_rtt: false,
            idle_timeout: Some(Span::from_secs(30)),
            path_timeout: None,
            acks: None,
        }
    }
}

impl Described for QuicConfig {
    parameters! {
        /// implementation of QUIC at both ends: quinn-proto, or noq-proto, which has multipath; both unmodified
        "stack": Words("stack") = stack;
        /// UDP payload of a full datagram, QUIC's headers and tag included
        "packet": Size = packet, at_least("1200 B"), at_most("65507 B"), source("quinn-proto: MtuDiscoveryConfig");
        /// whether datagrams have 1200 B at first, and more when probes of that size are acknowledged
        "mtu-discovery": Flag = mtu_discovery, source("RFC 8899; RFC 9000 (14.3)");
        /// flow-control window of a stream: bytes that its receiver allows ahead of what it has read; all streams together
        /// have as many unacknowledged, or 10 MB if that is more
        "window": Size = window, at_least("1 B"), at_most("1 GiB"), source("quinn-proto: TransportConfig");
        /// whether what the source writes goes in unreliable datagrams instead of streams
        "datagrams": Flag = datagrams, source("RFC 9221");
        /// number of streams that the source writes to in turn
        "streams": Count = streams, only(&[("datagrams", &["false"])]), at_least("1"), at_most("1000");
        /// whether sessions of a user after the first resume it, and send their request with the first message (0-RTT)
        "zero-rtt": Flag = zero_rtt, source("RFC 9001 (4.6)");
        /// time without packets after which the connection ends silently; at least three probe timeouts
        "idle-timeout": Time("s") or "none" = idle_timeout, at_least("1 ms"), at_most(LONGEST),
            source("RFC 9308 (3.2); RFC 9000 (10.1)");
        /// time without packets after which a path is abandoned and opened again, and what it had in flight goes by the
        /// other; at least three probe timeouts
        "path-idle-timeout": Time("s") or "none" = path_timeout, only(&[("stack", &["noq"])]), at_least("1 ms"),
            at_most(LONGEST), source("noq-proto: TransportConfig");
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_stack::hooks::parameter::testing::each_has_a_field_of_its_own;

    #[test]
    fn each_parameter_has_a_field_of_its_own() {
        each_has_a_field_of_its_own::<QuicConfig>(&[]);
    }
}
