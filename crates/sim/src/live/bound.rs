//! A scenario some of whose nodes are bound to programs outside.

use std::fmt;

use lasthop_stack::units::{Span, Time};

use super::air::place;
use crate::model::{Config, FlowConfig, ReverseConfig, SinkConfig, TransportConfig};
use crate::run::RunError;
use crate::traffic::{AppConfig, AppKind};

/// A network that cannot run live.
#[derive(Debug)]
pub enum NotLive {
    /// There is not a node of this name.
    NoNode(String),
    /// This node is bound twice.
    Twice(String),
    /// No links lead from one of these bound nodes to the other.
    Apart(String, String),
    /// The radios of bound nodes do not fit the scenario: a key, and what is wrong.
    Radios(String),
    /// This agent makes data of its own, which has no content.
    Terminates(String),
    /// The run cannot start.
    Run(RunError),
}

impl fmt::Display for NotLive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotLive::NoNode(node) => write!(f, "nodes.{node}: unknown node; expected one of the scenario"),
            NotLive::Twice(node) => write!(f, "nodes.{node}: bound twice; expected each node once"),
            NotLive::Apart(from, to) => {
                write!(f, "nodes.{from}: no links to {to}; expected a path between bound nodes")
            }
            NotLive::Radios(text) => f.write_str(text),
            NotLive::Terminates(agent) => {
                write!(
                    f,
                    "agents.{agent}.kind: terminates connections, and its copies have no content; expected another agent, or none"
                )
            }
            NotLive::Run(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for NotLive {}

/// The scenario with these nodes bound, for a run that lasts at most until then.
///
/// Flows between two bound nodes carry what programs send; those with one bound end are left out; the others stay simulated.
/// Bound nodes without a flow between them get one, which all agents serve.
pub(super) fn bind(config: &Config, bound: &[usize], until: Time) -> Result<Config, NotLive> {
    if let Some(agent) = config.agents.iter().find(|agent| agent.scheme.needs().terminates) {
        return Err(NotLive::Terminates(agent.name.clone()));
    }
    let mut live = config.clone();
    live.run.duration = Span(until.0);
    place::give_radios(&mut live, bound).map_err(NotLive::Radios)?;
    let is_bound = |node: usize| bound.contains(&node);
    let mut places = vec![None; config.flows.len()];
    live.flows.clear();
    for (flow, place) in config.flows.iter().zip(&mut places) {
        let flow = match (is_bound(flow.from), is_bound(flow.to)) {
            (false, false) => flow.clone(),
            (true, true) => FlowConfig {
                group: flow.group.clone(),
                dscp: flow.dscp,
                encrypted: flow.encrypted,
                ..outside(flow.name.clone(), flow.from, flow.to)
            },
            _ => continue,
        };
        *place = Some(live.flows.len());
        live.flows.push(flow);
    }
    for agent in &mut live.agents {
        agent.flows = agent.flows.iter().filter_map(|flow| places[*flow]).collect();
    }
    for (place, &from) in bound.iter().enumerate() {
        for &to in &bound[place + 1..] {
            let joins = |flow: &FlowConfig| [[from, to], [to, from]].contains(&[flow.from, flow.to]);
            if !live.flows.iter().any(joins) {
                let name = format!("{}-{}", config.nodes[from].name, config.nodes[to].name);
                live.agents.iter_mut().for_each(|agent| agent.flows.push(live.flows.len()));
                live.flows.push(outside(name, from, to));
            }
        }
    }
    Ok(live)
}

/// A flow that carries what programs at two nodes send. Its own sources never write.
fn outside(name: String, from: usize, to: usize) -> FlowConfig {
    let app = AppConfig { start: Time::NEVER, spread: Span::ZERO, stop: None, kind: AppKind::Bulk };
    let back = ReverseConfig { app: app.clone(), sink: SinkConfig::default(), buffer: None };
    FlowConfig {
        name,
        group: None,
        from,
        to,
        app,
        sink: SinkConfig::default(),
        transport: TransportConfig::Udp { extra_header: 0 },
        dscp: 0,
        encrypted: false,
        is_outside: true,
        reverse: Some(Box::new(back)),
    }
}
