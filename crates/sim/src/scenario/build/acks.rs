//! The law of acknowledgements of a flow.

use super::Part;
use crate::scenario::keys::words::AckRule;
use lasthop_stack::registry::tcp;
use lasthop_stack::transport::acks::{AckLaw, TackConfig};

/// Sets the law, and what the receiver counts where it has a meaning.
pub(super) fn acks(flow: &Part<'_>, config: &mut tcp::Config) {
    config.ack_delay = flow.span("tcp.ack-delay");
    config.acks = match flow.choice("tcp.acks") {
        AckRule::Requested => AckLaw::Requested(flow.small("tcp.requested.most") as u8),
        AckRule::Tack => AckLaw::Tack(TackConfig {
            segments: flow.small("tcp.tack.segments"),
            per_round_trip: flow.small("tcp.tack.per-round-trip"),
        }),
        AckRule::Delayed => AckLaw::Delayed,
    };
    if !matches!(config.acks, AckLaw::Tack(_)) {
        config.ack_every = flow.small("tcp.ack-every");
        config.quick_acks = flow.small("tcp.quick-acks");
    }
    if matches!(config.acks, AckLaw::Delayed) {
        config.quick_acks_again = flow.flag("tcp.quick-acks-again");
        config.ack_tick = flow.span("tcp.ack-tick");
    }
    if matches!(config.acks, AckLaw::Delayed) && flow.flag("tcp.sack") {
        config.sack_wait = flow.span("tcp.sack-wait");
    }
}
