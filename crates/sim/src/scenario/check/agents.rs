//! Checks of agents: their places and flows.

use super::Check;
use crate::model::{AgentConfig, Config, FlowConfig, TransportConfig};
use crate::net::agents::places::{Misplaced, Places};
use crate::net::handoffs::alternatives;
use crate::net::routes::Routes;
use crate::scenario::nearest::listed;
use crate::scenario::sheet::Sheet;
use crate::scenario::value::Value;
use crate::traffic::AppKind;
use lasthop_stack::registry::AgentKind;

impl Check<'_> {
    /// The agents of a point; `routes` are known when all flows have a path.
    pub(super) fn agents(&mut self, config: &Config, routes: Option<&Routes>, sheet: &Sheet<'_>) {
        let places = routes.map(|routes| Places::new(config, routes));
        let alternatives = routes.map_or_else(Vec::new, |_| alternatives(config));
        let elsewhere: Vec<(usize, Places<'_>)> =
            alternatives.iter().map(|(mobile, routes)| (*mobile, Places::new(config, routes))).collect();
        let agents = config.agents.iter().enumerate();
        for (number, agent) in agents.filter(|(_, agent)| agent.scheme.kind() != AgentKind::None) {
            let kind = agent.scheme.kind().entry().name;
            let key = format!("agents.{}.flows", agent.name);
            if let Some(link) = places.as_ref().and_then(|places| places.is_apart(number)) {
                self.apart(config, agent, link);
                continue;
            }
            let is_listed = sheet.get(&key).is_some_and(|flows| !flows.is("all"));
            let all: Vec<&Places<'_>> =
                places.iter().chain(elsewhere.iter().map(|(_, places)| places)).collect();
            self.served(config, &all, number, is_listed);
            let is_needed_later = |misplaced: &Misplaced| {
                *misplaced == Misplaced::Nowhere
                    && elsewhere.iter().any(|(_, places)| places.misplaced(number).is_none())
            };
            if let Some(places) = &places
                && agent.scheme.needs().terminates
            {
                self.everywhere(config, number, places, &elsewhere);
            }
            let misplaced = places.as_ref().and_then(|places| places.misplaced(number));
            if misplaced.as_ref().is_some_and(is_needed_later) {
                continue;
            }
            if let Some(misplaced) = misplaced {
                self.misplaced(config, agent, is_listed, &misplaced);
            } else if places.as_ref().is_some_and(|places| places.is_idle(number)) {
                let key = match (&agent.nodes, &agent.links) {
                    (Some(_), _) => "node",
                    (None, Some(_)) => "link",
                    (None, None) => "flows",
                };
                let text = format!(
                    "its flows have only acknowledgements where it sits ({}), so that it does nothing; expected flows with data in this direction",
                    place(config, agent)
                );
                self.remark(&format!("agents.{}.{key}", agent.name), text);
            }
            if let Some((parameter, instead)) = agent.scheme.needs().one_way {
                let key = format!("agents.{}.{kind}.{parameter}", agent.name);
                self.sessions(sheet, &key, instead, agent.flows.iter().map(|flow| &config.flows[*flow]));
            }
            if let Some((parameter, text)) = agent.scheme.conflict() {
                self.fault(&format!("agents.{}.{kind}.{parameter}", agent.name), text);
            }
        }
    }

    /// An agent is to sit at a node and at a link that does not end there.
    fn apart(&mut self, config: &Config, agent: &AgentConfig, link: usize) {
        let link = &config.links[link];
        let mut ends: Vec<&str> = link.nodes().iter().map(|node| config.nodes[*node].table()).collect();
        ends.dedup();
        let node = agent.nodes.iter().flatten().next().map_or("", |node| config.nodes[*node].table());
        let ends = listed("", &ends);
        let text = format!(
            "nodes.{node} is not an end of links.{}; expected one of its nodes ({ends})",
            link.table()
        );
        self.fault(&format!("agents.{}.node", agent.name), text);
    }

    /// The flows that an agent serves.
    fn served(&mut self, config: &Config, places: &[&Places<'_>], number: usize, is_listed: bool) {
        let agent = &config.agents[number];
        let key = format!("agents.{}.flows", agent.name);
        for &flow in &agent.flows {
            let is_served = places.is_empty() || places.iter().any(|places| places.serves(number, flow));
            let flow = &config.flows[flow];
            let name = &flow.name;
            if is_served {
                self.acks_of_served(agent, flow);
            }
            // Agents pass the datagrams of QUIC on.
            if flow.is_quic() {
                continue;
            }
            if !matches!(flow.transport, TransportConfig::Tcp(_)) {
                self.fault(&key, format!("\"{name}\" runs over udp; expected flows over tcp"));
            } else if !is_served && is_listed {
                let text = if agent.is_anywhere() {
                    format!(
                        "\"{name}\" does not end with a wifi link in either direction; expected flows that do"
                    )
                } else {
                    let hop = if agent.scheme.needs().last_hop { "ends with" } else { "crosses" };
                    format!("\"{name}\" never {hop} {}; expected flows that do", place(config, agent))
                };
                self.fault(&key, text);
            } else if is_served && agent.scheme.needs().timestamps && !has_timestamps(flow) {
                let kind = agent.scheme.kind().entry().name;
                let text = format!(
                    "\"{name}\" does not use timestamps, which {kind} needs; expected flows.{}.tcp.timestamps = true",
                    flow.table()
                );
                self.fault(&key, text);
            } else if is_served
                && agent.scheme.needs().makes_acknowledgements
                && let Some(place) = has_stamps(flow)
            {
                let text = format!(
                    "\"{name}\" has {place}, which needs timestamps of the receiver, and the agent's acknowledgements have none; expected flows of other laws"
                );
                self.fault(&key, text);
            } else if is_served && agent.scheme.needs().makes_acknowledgements && flow.uses_ecn() {
                let text = format!(
                    "\"{name}\" has tcp.ecn, whose marks only its receiver can echo, so that the agent leaves it alone; expected flows without"
                );
                self.remark(&key, text);
            }
        }
    }

    /// An agent that ends connections must be at both stations of a node that is handed off, or at neither.
    fn everywhere(
        &mut self,
        config: &Config,
        number: usize,
        places: &Places<'_>,
        elsewhere: &[(usize, Places<'_>)],
    ) {
        let agent = &config.agents[number];
        let kind = agent.scheme.kind();
        for &flow in &agent.flows {
            let ends = [config.flows[flow].from, config.flows[flow].to];
            for (mobile, there) in elsewhere.iter().filter(|(mobile, _)| ends.contains(mobile)) {
                let Some(handoff) = &config.nodes[*mobile].handoff else { continue };
                let stations = handoff.links.map(|link| Some((link, config.station_of(link, *mobile)?)));
                let [Some(first), Some(second)] = stations else { continue };
                let is_at = [places.sits_at(kind, flow, first), there.sits_at(kind, flow, second)];
                let (link, node) = match is_at {
                    [true, false] => second,
                    [false, true] => first,
                    _ => continue,
                };
                let text = format!(
                    "nodes.{} is handed off to links.{}, where no {} agent serves flows.{}; expected one at nodes.{} too, since it ends connections",
                    config.nodes[*mobile].name,
                    config.links[link].name,
                    kind.entry().name,
                    config.flows[flow].name,
                    config.nodes[node].name,
                );
                return self.fault(&format!("agents.{}.kind", agent.name), text);
            }
        }
    }

    fn misplaced(&mut self, config: &Config, agent: &AgentConfig, is_listed: bool, misplaced: &Misplaced) {
        let (name, kind) = (&agent.name, agent.scheme.kind().entry().name);
        match misplaced {
            // Each flow of a list has been named already.
            Misplaced::Nowhere if is_listed => {}
            Misplaced::Nowhere if agent.is_anywhere() => {
                let text = "no flow over tcp ends with a wifi link; expected at least one";
                self.fault(&format!("agents.{name}.flows"), text.to_string());
            }
            Misplaced::Nowhere => {
                let key = if agent.links.is_some() { "link" } else { "node" };
                let hop = if agent.scheme.needs().last_hop { "ends with" } else { "crosses" };
                let text = format!("no flow over tcp {hop} {}; expected at least one", place(config, agent));
                self.fault(&format!("agents.{name}.{key}"), text);
            }
            Misplaced::Ambiguous(links) => {
                let links: Vec<&str> = links.iter().map(|link| config.links[*link].name.as_str()).collect();
                let text = format!(
                    "its flows cross {} links of the node; expected agents.{name}.link too ({})",
                    links.len(),
                    links.join(", ")
                );
                self.fault(&format!("agents.{name}.node"), text);
            }
            Misplaced::NoReports(link) => {
                let text = format!(
                    "links.{} does not report delivered packets, which {kind} needs; expected a wifi link",
                    config.links[*link].name
                );
                let key = if agent.links.is_some() { "link" } else { "node" };
                self.fault(&format!("agents.{name}.{key}"), text);
            }
            Misplaced::NoPeer => {
                let text = format!(
                    "only receives the data of its flows there, and no {kind} agent is at the sending end of the hop, which would acknowledge it; expected one there too"
                );
                self.fault(&format!("agents.{name}.node"), text);
            }
            Misplaced::Alone(flow) => {
                let text = format!(
                    "no {kind} agent is at the other end of the hop of flows.{}, so that what rides in the acknowledgements of the link is lost; expected one there too",
                    config.flows[*flow].name
                );
                self.fault(&format!("agents.{name}.node"), text);
            }
            Misplaced::Twice(other) => {
                let text = format!(
                    "agents.{} is a {kind} agent at the same interface for the same flow; expected other flows or another place",
                    config.agents[*other].name
                );
                self.fault(&format!("agents.{name}.kind"), text);
            }
        }
    }

    /// The requests and answers of a session are data both ways, with which some agents break.
    fn sessions<'f>(
        &mut self,
        sheet: &Sheet<'_>,
        key: &str,
        instead: &str,
        flows: impl Iterator<Item = &'f FlowConfig>,
    ) {
        let word = sheet.get(key).map(Value::text).unwrap_or_default();
        for flow in flows.filter(|flow| matches!(flow.app.kind, AppKind::User(_))) {
            let text = format!(
                "\"{word}\" breaks connections with data in both directions, such as the sessions of flows.{}; {instead}",
                flow.table()
            );
            self.remark(key, text);
        }
    }
}

/// The place of an agent.
fn place(config: &Config, agent: &AgentConfig) -> String {
    let first = |found: &Option<Vec<usize>>| found.as_ref().and_then(|found| found.first().copied());
    let link = first(&agent.links).map(|link| format!("links.{}", config.links[link].table()));
    let node = first(&agent.nodes).map(|node| format!("nodes.{}", config.nodes[node].table()));
    match (link, node) {
        (Some(link), Some(node)) => format!("{link} at {node}"),
        (Some(place), None) => place,
        (None, Some(node)) if agent.scheme.needs().reports => format!("a wifi link of {node}"),
        (None, Some(node)) => format!("a link of {node}"),
        (None, None) => "a wifi link".to_string(),
    }
}

fn has_timestamps(flow: &FlowConfig) -> bool {
    matches!(&flow.transport, TransportConfig::Tcp(tcp) if tcp.timestamps)
}

/// The part of a flow that needs stamps which only its receiver can make, if any.
fn has_stamps(flow: &FlowConfig) -> Option<String> {
    let TransportConfig::Tcp(tcp) = &flow.transport else { return None };
    if tcp.extension().is_some() {
        return Some(format!("tcp.congestion \"{}\"", tcp.parts.law.kind().entry().name));
    }
    (!tcp.parts.judges.is_empty()).then(|| "tcp.judges".to_string())
}
