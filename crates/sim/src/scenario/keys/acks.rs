//! The keys of acknowledgements: `flows.NAME.tcp.acks`, and what each law counts.

use super::table::{IF_TCP, SEGMENTS, TIME_MS};
use super::values::time;
use super::words::AckRule;
use super::{Key, Kind, Only};
use lasthop_stack::hooks::parameter::words;

/// Where the receiver counts segments, if only until the sender asks for a rate.
const IF_COUNTED: &[Only] = &[Only::Is("flows.*.tcp.acks", &["delayed", "requested"])];
const IF_DELAYED: &[Only] = &[Only::Is("flows.*.tcp.acks", &["delayed"])];
const IF_REQUESTED: &[Only] = &[Only::Is("flows.*.tcp.acks", &["requested"])];
const IF_TACK: &[Only] = &[Only::Is("flows.*.tcp.acks", &["tack"])];

pub(super) const KEYS: &[Key] = &[
    Key::new(
        "flows.*.tcp.acks",
        Kind::Word("law", words::<AckRule>),
        "what decides when the receiver acknowledges: its count of segments, the sender's request (TARR), or bytes and time (TACK)",
    )
    .default("delayed")
    .source("RFC 5681 (4.2)")
    .only(IF_TCP),
    Key::new("flows.*.tcp.ack-every", Kind::Integer, "number of full segments per acknowledgement")
        .profile(|tcp| tcp.ack_every.to_string(), "ns-2: TCPSink", "RFC 5681 (4.2)")
        .at_least("1")
        .at_most("1000")
        .only(IF_COUNTED),
    Key::new("flows.*.tcp.ack-delay", TIME_MS, "maximum delay of an acknowledgement")
        .profile(|tcp| time(tcp.ack_delay), "ns-2: TCPSink/DelAck", "Linux: TCP_DELACK_MIN")
        .at_most("10 s")
        .only(IF_TCP),
    Key::new(
        "flows.*.tcp.quick-acks",
        Kind::Integer,
        "number of segments at the start of a connection that are acknowledged at once, whatever ack-every is",
    )
    .profile(|tcp| tcp.quick_acks.to_string(), "ns-2: TCPSink/DelAck", "Linux: TCP_MAX_QUICKACKS")
    .rfc("RFC 5681 (4.2)")
    .at_least("0")
    .at_most("1000000")
    .only(IF_COUNTED),
    Key::new(
        "flows.*.tcp.quick-acks-again",
        Kind::Bool,
        "whether quick-acks segments are acknowledged at once again after a gap that is longer than the receiver's timeout, as in Linux",
    )
    .default("false")
    .source("Linux: tcp_event_data_recv")
    .only(IF_DELAYED),
    Key::new(
        "flows.*.tcp.ack-tick",
        TIME_MS,
        "tick of the kernel's clock by which acknowledgements wait: they leave at the first one after ack-delay; 0 s means exact",
    )
    .default("0 s")
    .source("Linux: CONFIG_HZ")
    .at_most("1 s")
    .only(IF_DELAYED),
    Key::new(
        "flows.*.tcp.requested.most",
        SEGMENTS,
        "maximum number of full segments per acknowledgement that the sender asks for; it asks for a quarter of its window",
    )
    .default("8 segments")
    .source("draft-ietf-tcpm-ack-rate-request")
    .at_least("1 segment")
    .at_most("127 segments")
    .only(IF_REQUESTED),
    Key::new(
        "flows.*.tcp.tack.segments",
        Kind::Integer,
        "number of full segments per acknowledgement where the bandwidth-delay product is small (L)",
    )
    .default("2")
    .source("Li et al. 2020 (TACK): L")
    .at_least("1")
    .at_most("1000")
    .only(IF_TACK),
    Key::new(
        "flows.*.tcp.tack.per-round-trip",
        Kind::Integer,
        "maximum number of acknowledgements in the least round-trip time (beta)",
    )
    .default("4")
    .source("Li et al. 2020 (TACK): beta")
    .at_least("1")
    .at_most("1000")
    .only(IF_TACK),
];
