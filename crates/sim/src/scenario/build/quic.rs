//! The QUIC of a flow.

use super::part::Part;
use crate::model::{AckFrequency, NodeConfig, QuicConfig, QuicLaw};
use crate::scenario::value::Value;
use lasthop_stack::registry::CongestionKind;

/// The QUIC of a flow between these nodes.
pub(super) fn quic(flow: &Part<'_>, nodes: &[NodeConfig]) -> QuicConfig {
    let place = |name: &str| nodes.iter().position(|node| node.name == name);
    let mut quic = QuicConfig {
        second: flow.known("quic.second").map(Value::text).and_then(|name| place(&name)),
        law: law(flow),
        acks: flow.known("quic.ack-tolerance").map(|_| AckFrequency {
            tolerance: flow.small("quic.ack-tolerance"),
            max_delay: flow.optional("quic.ack-max-delay", Part::span),
            reordering: flow.small("quic.ack-reordering"),
        }),
        ..QuicConfig::default()
    };
    flow.below("quic").parameters(&mut quic);
    if quic.datagrams {
        quic.streams = 0;
    }
    quic
}

/// A law of ours, or else one of the stack.
fn law(flow: &Part<'_>) -> QuicLaw {
    if flow.known("quic.law").is_some() {
        let kind = CongestionKind::named(flow.word("quic.law"));
        return QuicLaw::Ours(kind.unwrap_or_else(|| flow.broken("quic.law")).config());
    }
    let name = flow.word("quic.congestion");
    let law = QuicLaw::NAMES.into_iter().find(|(of, _)| *of == name);
    law.map_or_else(|| flow.broken("quic.congestion"), |(_, law)| law)
}
