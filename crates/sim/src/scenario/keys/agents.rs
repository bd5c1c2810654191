//! The keys that all agents have; each kind adds its own.

use super::super::hosted;
use super::{Key, Kind};
use lasthop_stack::registry::AgentKind;

/// The keys under `[agents.NAME]`.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "agents.*.kind",
        Kind::Word("kind of agent", || {
            let registered = AgentKind::named_in_scenarios().iter().map(|kind| kind.entry().name);
            registered.chain(hosted::agent_names()).collect()
        }),
        "kind of the agent between network layer and link",
    ),
    Key::new(
        "agents.*.flows",
        Kind::Flows,
        "flows that the agent serves; all means every TCP flow that passes its place",
    )
    .or(&["all"])
    .default("all"),
    Key::new("agents.*.node", Kind::Node, "the only node at which the agent sits; default: all nodes")
        .absent(),
    Key::new(
        "agents.*.link",
        Kind::Link,
        "link at whose interfaces the agent sits; without link and node: the last 802.11 hop of its flows",
    )
    .absent(),
];
