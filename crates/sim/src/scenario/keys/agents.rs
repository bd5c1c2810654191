//! The keys that all agents have; those of a kind come from the kind.

use super::{Key, Kind};
use lasthop_stack::registry::AgentKind;

/// The keys under `[agents.NAME]`.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "agents.*.kind",
        Kind::Word("kind of agent", || {
            AgentKind::named_in_scenarios().iter().map(|kind| kind.entry().name).collect()
        }),
        "what sits between network and link",
    ),
    Key::new(
        "agents.*.flows",
        Kind::Flows,
        "flows it serves; all is every flow over TCP that ends with a wifi hop",
    )
    .or(&["all"])
    .default("all"),
    Key::new("agents.*.node", Kind::Node, "node at which alone it sits; all nodes without it").absent(),
    Key::new(
        "agents.*.link",
        Kind::Link,
        "link at whose interfaces it sits; without it and node those of the last 802.11 hop of its flows",
    )
    .absent(),
];
