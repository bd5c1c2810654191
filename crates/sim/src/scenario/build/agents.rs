//! The agents of a point.

use std::collections::BTreeSet;

use super::Part;
use crate::model::{AgentConfig, FlowConfig, LinkConfig, NodeConfig, TransportConfig};
use crate::scenario::hosted;
use crate::scenario::value::Value;
use lasthop_stack::registry::{AgentConfig as Scheme, AgentKind};

/// An agent among these nodes, links and flows; it may name one, or all of a table.
pub(super) fn agent(
    agent: &Part<'_>,
    name: &str,
    (nodes, links, flows): (&[NodeConfig], &[LinkConfig], &[FlowConfig]),
) -> AgentConfig {
    let is_reliable = |flow: &FlowConfig| !matches!(flow.transport, TransportConfig::Udp { .. });
    let served = match agent.optional("flows", Part::names) {
        Some(names) => {
            let names: BTreeSet<String> = names.into_iter().collect();
            let is_named = |flow: &FlowConfig| names.contains(&flow.name) || names.contains(flow.table());
            (0..flows.len()).filter(|flow| is_named(&flows[*flow])).collect()
        }
        None => (0..flows.len()).filter(|flow| is_reliable(&flows[*flow])).collect(),
    };
    let scheme = match AgentKind::named(agent.word("kind")) {
        Some(kind) => {
            let mut scheme = kind.config();
            agent.described(kind.entry().name, &kind.parameters(), |name, value| scheme.set(name, value));
            scheme
        }
        None => match hosted::hosted_agent(agent.word("kind")) {
            Some(found) => Scheme::Custom(found.agent),
            None => agent.broken("kind"),
        },
    };
    let nodes = agent.known("node").map(Value::text).map(|name| {
        (0..nodes.len()).filter(|node| nodes[*node].name == name || nodes[*node].table() == name).collect()
    });
    let links = agent.known("link").map(Value::text).map(|name| {
        (0..links.len()).filter(|link| links[*link].name == name || links[*link].table() == name).collect()
    });
    AgentConfig { name: name.to_string(), scheme, flows: served, nodes, links }
}
