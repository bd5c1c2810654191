//! The keys of QUIC.

use super::shared::{LONGEST, SIZE, TIME_MS, TIME_S};
use super::{Key, Kind, Only};
use crate::model::{QuicLaw, QuicStack};
use lasthop_stack::hooks::parameter::words;
use lasthop_stack::registry::CongestionKind;

const IF_QUIC: &[Only] = &[Only::Quic];
const LAW: &str = "flows.*.quic.law";
const IF_OF_STACK: &[Only] = &[Only::Quic, Only::Without(LAW)];
const IF_MULTIPATH: &[Only] = &[Only::Quic, Only::Is("flows.*.quic.stack", &["noq"])];
const IF_ASKED: &[Only] = &[Only::Quic, Only::Given("flows.*.quic.ack-tolerance")];
const IF_STREAMS: &[Only] = &[Only::Quic, Only::Is("flows.*.quic.datagrams", &["false"])];

/// The keys under `[flows.NAME.quic]`.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "flows.*.quic.stack",
        Kind::Word("stack", words::<QuicStack>),
        "implementation of QUIC at both ends: quinn-proto, or noq-proto, which has multipath; both unmodified",
    )
    .default("quinn")
    .only(IF_QUIC),
    Key::new(
        "flows.*.quic.second",
        Kind::Node,
        "node that is a second interface of the receiver: the connection has a path to it, too; none means one path",
    )
    .or(&["none"])
    .default("none")
    .source("draft-ietf-quic-multipath")
    .only(IF_MULTIPATH),
    Key::new(
        LAW,
        Kind::Word("congestion law", || {
            CongestionKind::named_in_scenarios().iter().map(|kind| kind.entry().name).collect()
        }),
        "law of tcp.congestion instead of one of the stack, with its default constants; not one that needs one-way times (jtcp, ejtcp) or marks (jersey, dctcp, prague); unset, the stack has its own",
    )
    .absent()
    .only(IF_QUIC),
    Key::new(
        "flows.*.quic.congestion",
        Kind::Word("law of the stack", || QuicLaw::NAMES.iter().map(|(name, _)| *name).collect()),
        "congestion control law of the stack",
    )
    .default("cubic")
    .source("quinn-proto: TransportConfig")
    .only(IF_OF_STACK),
    Key::new("flows.*.quic.packet", SIZE, "UDP payload of a full datagram, QUIC's headers and tag included")
        .default("1452 B")
        .source("quinn-proto: MtuDiscoveryConfig")
        .at_least("1200 B")
        .at_most("65507 B")
        .only(IF_QUIC),
    Key::new(
        "flows.*.quic.mtu-discovery",
        Kind::Bool,
        "whether datagrams have 1200 B at first, and more when probes of that size are acknowledged",
    )
    .default("true")
    .source("RFC 8899; RFC 9000 (14.3)")
    .only(IF_QUIC),
    Key::new(
        "flows.*.quic.window",
        SIZE,
        "flow-control window of a stream: bytes that its receiver allows ahead of what it has read; \
         all streams together have as many unacknowledged, or 10 MB if that is more",
    )
    .default("1250000 B")
    .source("quinn-proto: TransportConfig")
    .at_least("1 B")
    .at_most("1 GiB")
    .only(IF_QUIC),
    Key::new(
        "flows.*.quic.datagrams",
        Kind::Bool,
        "whether what the source writes goes in unreliable datagrams instead of streams",
    )
    .default("false")
    .source("RFC 9221")
    .only(IF_QUIC),
    Key::new("flows.*.quic.streams", Kind::Integer, "number of streams that the source writes to in turn")
        .default("1")
        .at_least("1")
        .at_most("1000")
        .only(IF_STREAMS),
    Key::new(
        "flows.*.quic.zero-rtt",
        Kind::Bool,
        "whether sessions of a user after the first resume it, and send their request with the first message (0-RTT)",
    )
    .default("false")
    .source("RFC 9001 (4.6)")
    .only(IF_QUIC),
    Key::new(
        "flows.*.quic.idle-timeout",
        TIME_S,
        "time without packets after which the connection ends silently; at least three probe timeouts",
    )
    .or(&["none"])
    .default("30 s")
    .source("RFC 9308 (3.2); RFC 9000 (10.1)")
    .at_least("1 ms")
    .at_most(LONGEST)
    .only(IF_QUIC),
    Key::new(
        "flows.*.quic.path-idle-timeout",
        TIME_S,
        "time without packets after which a path is abandoned and opened again, and what it had in flight goes by the other; \
         at least three probe timeouts",
    )
    .or(&["none"])
    .default("none")
    .source("noq-proto: TransportConfig")
    .at_least("1 ms")
    .at_most(LONGEST)
    .only(IF_MULTIPATH),
    Key::new(
        "flows.*.quic.ack-tolerance",
        Kind::Integer,
        "packets for which the sender asks its receiver to send one acknowledgement; unset, it does not ask",
    )
    .absent()
    .source("draft-ietf-quic-ack-frequency")
    .at_least("1")
    .at_most("1000000")
    .only(IF_QUIC),
    Key::new(
        "flows.*.quic.ack-max-delay",
        TIME_MS,
        "longest delay of an acknowledgement that the sender asks for, at most a round trip or 25 ms; unset, the receiver's own, 25 ms",
    )
    .or(&["unset"])
    .default("unset")
    .source("draft-ietf-quic-ack-frequency")
    .at_least("1 ms")
    .at_most("10 s")
    .only(IF_ASKED),
    Key::new(
        "flows.*.quic.ack-reordering",
        Kind::Integer,
        "how many packets ahead of a missing one a packet is acknowledged at once; 0 means never",
    )
    .default("2")
    .source("quinn-proto: AckFrequencyConfig")
    .at_least("0")
    .at_most("1000000")
    .only(IF_ASKED),
];
