//! The QUIC of a flow.

use super::part::Part;
use crate::model::{AckFrequency, QuicConfig, QuicLaw};

pub(super) fn quic(flow: &Part<'_>) -> QuicConfig {
    let law = flow.word("quic.congestion");
    let law = QuicLaw::NAMES.iter().find(|(name, _)| *name == law);
    QuicConfig {
        law: law.map_or_else(|| flow.broken("quic.congestion"), |(_, law)| *law),
        packet: flow.small("quic.packet") as u16,
        mtu_discovery: flow.flag("quic.mtu-discovery"),
        window: flow.small("quic.window"),
        streams: flow.known("quic.streams").map_or(0, |_| flow.small("quic.streams")),
        datagrams: flow.flag("quic.datagrams"),
        idle_timeout: flow.optional("quic.idle-timeout", Part::span),
        acks: flow.known("quic.ack-tolerance").map(|_| AckFrequency {
            tolerance: flow.small("quic.ack-tolerance"),
            max_delay: flow.optional("quic.ack-max-delay", Part::span),
            reordering: flow.small("quic.ack-reordering"),
        }),
    }
}
