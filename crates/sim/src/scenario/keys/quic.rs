//! The keys of QUIC: those of its parameters ([`super::described`]), and the others.

use super::shared::{TIME_MS, before};
use super::{Key, Kind, Only, described};
use crate::model::QuicLaw;
use lasthop_stack::registry::CongestionKind;

const IF_QUIC: &[Only] = &[Only::Quic];
const LAW: &str = "flows.*.quic.law";
const IF_OF_STACK: &[Only] = &[Only::Quic, Only::Without(LAW)];
const IF_MULTIPATH: &[Only] = &[Only::Quic, Only::Is("flows.*.quic.stack", &["noq"])];
const IF_ASKED: &[Only] = &[Only::Quic, Only::Given("flows.*.quic.ack-tolerance")];

/// The keys under `[flows.NAME.quic]`.
pub(super) fn keys() -> Vec<Key> {
    let mut keys = described::quic();
    for key in PARTS {
        before("flows.*.quic.packet", *key, &mut keys);
    }
    keys.extend(ACKS);
    keys
}

/// The further path and the law.
const PARTS: &[Key] = &[
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
];

/// What the sender asks its receiver for.
const ACKS: &[Key] = &[
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
