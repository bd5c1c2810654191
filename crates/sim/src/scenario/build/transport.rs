//! The TCP of a flow: its profile, its law and recovery, and what the scenario sets of them.

use super::events;
use super::part::Part;
use crate::scenario::hosted;
use lasthop_stack::registry::{CongestionKind, LawConfig, Parts, RecoveryKind, tcp};
use lasthop_stack::transport::tcp::Profile;

pub(super) fn tcp(flow: &Part<'_>) -> tcp::Config {
    let mut config = flow.choice::<Profile>("tcp.profile").config();
    config.parts = parts(flow);
    flow.below("tcp").parameters(&mut config);
    config.receive_buffer = flow.optional("sink.buffer", Part::count);
    config
}

/// The recovery, the law, and the laws that only judge.
fn parts(flow: &Part<'_>) -> Parts {
    let recovery = RecoveryKind::named(flow.word("tcp.recovery"));
    let law = flow.word("tcp.congestion");
    let judges = flow.optional("tcp.judges", Part::names).unwrap_or_default();
    Parts {
        recovery: recovery.unwrap_or_else(|| flow.broken("tcp.recovery")),
        law: match CongestionKind::named(law) {
            Some(kind) => self::law(flow, kind),
            None => match hosted::hosted(law) {
                Ok(hosted) => LawConfig::Custom(hosted.law),
                Err(_) => flow.broken("tcp.congestion"),
            },
        },
        judges: judges
            .iter()
            .filter_map(|name| Some(self::law(flow, CongestionKind::named(name)?)))
            .collect(),
        reaction: events::reaction(flow),
    }
}

/// A law with the constants that the scenario sets.
fn law(flow: &Part<'_>, kind: CongestionKind) -> LawConfig {
    let mut law = kind.config();
    let prefix = format!("tcp.{}", kind.entry().name);
    flow.described(&prefix, &kind.parameters(), |name, value| law.set(name, value));
    law
}
