//! The places of a scenario's agents, and the reasons why an agent cannot be placed.
//!
//! A *crossing* is the passage of a flow's data over a link: from the interface through which it leaves one node to the
//! one through which it enters another. The slots of a slotted network count as one crossing, regardless of the number
//! of hops.
//!
//! | `node` | `link` | an agent sits |
//! | --- | --- | --- |
//! | | | at a flow's last crossing, if that is over 802.11 |
//! | | given | at the ends of this link |
//! | given | | at the interface of this node that its flows use |
//! | given | given | at the interface of this node on this link |
//!
//! "At the ends" means where data leaves and, if the agent needs both ends, where it enters. An agent that needs
//! delivery reports is placed on 802.11 links only, unless a link is given.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use lasthop_stack::hooks::Criterion;
use lasthop_stack::packet::NodeId;
use lasthop_stack::registry::AgentKind;

use crate::model::{AgentConfig, Config, FlowConfig};
use crate::net::routes::Routes;
use crate::traffic::AppKind;

/// One agent at one interface.
#[derive(Clone, Debug)]
pub(crate) struct AgentPlace {
    /// Its index among the agents of the scenario.
    pub(crate) agent: usize,
    /// The node of the interface.
    pub(crate) node: usize,
    /// The link of the interface.
    pub(crate) link: usize,
    /// The nodes whose data leaves through the interface, and those whose data arrives through it.
    ahead: Vec<NodeId>,
    behind: Vec<NodeId>,
    /// Whether data, and not only acknowledgements, leaves through the interface or arrives through it.
    sends_data: bool,
    receives_data: bool,
}

/// A link that data crosses on its way.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    link: usize,
    /// The ports of the interfaces at which the crossing begins and ends.
    ports: [usize; 2],
    nodes: [usize; 2],
    is_last: bool,
}

/// An interface, to which a port leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Interface {
    link: usize,
    node: usize,
}

impl AgentPlace {
    /// The nodes for which it acts.
    pub(crate) fn criterion(&self) -> Criterion {
        Criterion::between(self.ahead.iter().copied(), self.behind.iter().copied())
    }
}

/// The interfaces of a scenario, and the paths of its flows over them.
pub(crate) struct Places<'a> {
    config: &'a Config,
    routes: &'a Routes,
    /// In the order of their ports.
    interfaces: Vec<Interface>,
    ports: BTreeMap<Interface, usize>,
}

/// The reason why an agent cannot be placed where the scenario puts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Misplaced {
    /// None of its flows has a hop there.
    Nowhere,
    /// Its flows use several links of its node.
    Ambiguous(Vec<usize>),
    /// The link does not report the fate of packets.
    NoReports(usize),
    /// Another agent of the same kind sits at the same interface and serves the same flow.
    Twice(usize),
    /// It sits only where data arrives, and no agent of its kind is at the other end of the hop.
    NoPeer,
    /// It needs an agent of its kind at the other end of the hop of this flow.
    Alone(usize),
}

impl<'a> Places<'a> {
    /// The interfaces of a scenario, with these routes.
    pub(crate) fn new(config: &'a Config, routes: &'a Routes) -> Places<'a> {
        let mut interfaces = Vec::new();
        for (link, of) in config.links.iter().enumerate() {
            interfaces.extend(of.nodes().iter().map(|&node| Interface { link, node }));
        }
        let ports = interfaces.iter().copied().zip(0..).collect();
        Places { config, routes, interfaces, ports }
    }

    /// The agents at each interface, by port, in the order of the file.
    pub(crate) fn seats(&self) -> BTreeMap<usize, Vec<AgentPlace>> {
        let mut seats: BTreeMap<usize, Vec<AgentPlace>> = BTreeMap::new();
        for agent in 0..self.config.agents.len() {
            for (port, place) in self.of_agent(agent, &self.config.agents[agent].flows) {
                seats.entry(port).or_default().push(place);
            }
        }
        seats
    }

    /// Whether an agent has a place on the path of a flow.
    pub(crate) fn serves(&self, agent: usize, flow: usize) -> bool {
        !self.of_agent(agent, &[flow]).is_empty()
    }

    /// Whether an agent of this kind serves a flow at the interface of this link and node.
    pub(crate) fn sits_at(&self, kind: AgentKind, flow: usize, (link, node): (usize, usize)) -> bool {
        let of_kind = (0..self.config.agents.len()).filter(|agent| self.kind_of(*agent) == kind);
        let is_named = |agent: &usize| self.config.agents[*agent].flows.contains(&flow);
        let is_there = |place: &AgentPlace| place.link == link && place.node == node;
        of_kind.filter(is_named).any(|agent| self.of_agent(agent, &[flow]).values().any(is_there))
    }

    /// The first of the links given for an agent, if none of its nodes is at an end of any of those links.
    pub(crate) fn is_apart(&self, number: usize) -> Option<usize> {
        let agent = &self.config.agents[number];
        let (nodes, links) = (agent.nodes.as_ref()?, agent.links.as_ref()?);
        let is_end =
            |link: usize| nodes.iter().any(|&node| self.ports.contains_key(&Interface { link, node }));
        links.first().copied().filter(|_| !links.iter().copied().any(is_end))
    }

    /// The reason why an agent cannot be placed, if there is one.
    pub(crate) fn misplaced(&self, number: usize) -> Option<Misplaced> {
        let agent = &self.config.agents[number];
        let places = self.of_agent(number, &agent.flows);
        if places.is_empty() {
            return Some(Misplaced::Nowhere);
        }
        if agent.nodes.is_some() && agent.links.is_none() {
            let links_of = |node: usize| places.values().filter(move |place| place.node == node);
            let several = places.values().find(|place| links_of(place.node).count() > 1);
            if let Some(place) = several {
                return Some(Misplaced::Ambiguous(links_of(place.node).map(|place| place.link).collect()));
            }
        }
        let is_silent = |place: &&AgentPlace| !self.is_wifi(place.link);
        if agent.scheme.needs().reports
            && let Some(place) = places.values().find(is_silent)
        {
            return Some(Misplaced::NoReports(place.link));
        }
        if agent.scheme.needs().both_ends
            && places.values().all(|place| !place.sends_data)
            && places.values().any(|place| place.receives_data)
        {
            let links: BTreeSet<usize> = places.values().map(|place| place.link).collect();
            let is_peer = |place: &AgentPlace| place.sends_data && links.contains(&place.link);
            let has_peer = |other: usize| {
                let flows = &self.config.agents[other].flows;
                self.kind_of(other) == self.kind_of(number)
                    && self.of_agent(other, flows).values().any(is_peer)
            };
            if !(0..self.config.agents.len()).any(has_peer) {
                return Some(Misplaced::NoPeer);
            }
        }
        if agent.scheme.needs().answers
            && let Some(flow) = agent.flows.iter().find(|flow| self.is_alone(number, **flow))
        {
            return Some(Misplaced::Alone(*flow));
        }
        let flows = LazyCell::new(|| agent.flows.iter().copied().collect::<BTreeSet<usize>>());
        let meets = |other: &usize| {
            let shared: Vec<usize> = self.config.agents[*other]
                .flows
                .iter()
                .copied()
                .filter(|flow| flows.contains(flow))
                .collect();
            self.of_agent(*other, &shared).keys().any(|port| places.contains_key(port))
        };
        let is_same = |other: &usize| self.kind_of(*other) == self.kind_of(number);
        (0..number).filter(is_same).find(meets).map(Misplaced::Twice)
    }

    /// Whether an agent sits at one end of a hop of a flow, and none of its kind at the other.
    fn is_alone(&self, number: usize, flow: usize) -> bool {
        let of_kind = (0..self.config.agents.len()).filter(|other| {
            self.kind_of(*other) == self.kind_of(number) && self.config.agents[*other].flows.contains(&flow)
        });
        let served: BTreeSet<usize> =
            of_kind.flat_map(|other| self.of_agent(other, &[flow]).into_keys()).collect();
        let own = self.of_agent(number, &[flow]);
        let FlowConfig { from, to, .. } = self.config.flows[flow];
        let crossings = self.crossings(from, to).into_iter().chain(self.crossings(to, from));
        crossings.filter(|crossing| crossing.is_last).any(|Crossing { ports: [near, far], .. }| {
            (own.contains_key(&near) && !served.contains(&far))
                || (own.contains_key(&far) && !served.contains(&near))
        })
    }

    /// Whether an agent that acts on data sits only where acknowledgements pass.
    pub(crate) fn is_idle(&self, number: usize) -> bool {
        let agent = &self.config.agents[number];
        let needs = agent.scheme.needs();
        let acts = |place: &AgentPlace| {
            place.sends_data || ((needs.both_ends || needs.on_acknowledgements) && place.receives_data)
        };
        needs.reports && !self.of_agent(number, &agent.flows).values().any(acts)
    }

    fn kind_of(&self, agent: usize) -> AgentKind {
        self.config.agents[agent].scheme.kind()
    }

    fn is_wifi(&self, link: usize) -> bool {
        self.config.links[link].kind.wifi().is_some()
    }

    /// The crossings from one node to another.
    fn crossings(&self, from: usize, to: usize) -> Vec<Crossing> {
        let mut crossings: Vec<Crossing> = Vec::new();
        for (node, hop) in self.routes.path(from, to) {
            let (port, next) = (hop.port.0 as usize, hop.next.0 as usize);
            let link = self.interfaces[port].link;
            let Some(&far) = self.ports.get(&Interface { link, node: next }) else { continue };
            match crossings.last_mut() {
                Some(last) if last.link == link && !self.is_wifi(link) => {
                    (last.ports[1], last.nodes[1]) = (far, next);
                }
                _ => {
                    crossings.push(Crossing {
                        link,
                        ports: [port, far],
                        nodes: [node, next],
                        is_last: false,
                    });
                }
            }
        }
        if let Some(last) = crossings.last_mut() {
            last.is_last = true;
        }
        crossings
    }

    /// The interfaces at which an agent is placed for these of its flows, by port.
    fn of_agent(&self, number: usize, flows: &[usize]) -> BTreeMap<usize, AgentPlace> {
        let mut places: BTreeMap<usize, AgentPlace> = BTreeMap::new();
        let agent = &self.config.agents[number];
        let needs = agent.scheme.needs();
        if agent.is_anywhere() && agent.scheme.kind() == AgentKind::None {
            return places;
        }
        for flow in flows.iter().map(|flow| &self.config.flows[*flow]) {
            let answers = flow.reverse.is_some() || matches!(flow.app.kind, AppKind::User(_));
            for (source, destination, has_data) in [(flow.from, flow.to, true), (flow.to, flow.from, answers)]
            {
                for crossing in self.crossings(source, destination) {
                    let is_meant = match &agent.links {
                        Some(links) => links.contains(&crossing.link),
                        None => (agent.nodes.is_some() && !needs.reports) || self.is_wifi(crossing.link),
                    };
                    let may_go_on = !needs.last_hop && !agent.is_anywhere();
                    if is_meant && (crossing.is_last || may_go_on) {
                        crossing.join(&mut places, number, agent, destination, has_data);
                    }
                }
            }
        }
        places.retain(|_, place| !place.ahead.is_empty() || needs.both_ends || needs.on_acknowledgements);
        places
    }
}

impl Crossing {
    /// Places an agent at the ends of the crossing at which it may sit.
    fn join(
        &self,
        places: &mut BTreeMap<usize, AgentPlace>,
        number: usize,
        agent: &AgentConfig,
        destination: usize,
        has_data: bool,
    ) {
        for end in [0, 1] {
            let node = self.nodes[end];
            if agent.nodes.as_ref().is_none_or(|nodes| nodes.contains(&node)) {
                let place = places.entry(self.ports[end]).or_insert_with(|| AgentPlace {
                    agent: number,
                    node,
                    link: self.link,
                    ahead: Vec::new(),
                    behind: Vec::new(),
                    sends_data: false,
                    receives_data: false,
                });
                place.sends_data |= has_data && end == 0;
                place.receives_data |= has_data && end == 1;
                let side = if end == 0 { &mut place.ahead } else { &mut place.behind };
                side.push(NodeId(destination as u32));
            }
        }
    }
}

/// Adds the places that agents have when a node is at its other link.
pub(crate) fn join(seats: &mut BTreeMap<usize, Vec<AgentPlace>>, more: BTreeMap<usize, Vec<AgentPlace>>) {
    for (port, places) in more {
        let here = seats.entry(port).or_default();
        for place in places {
            match here.iter_mut().find(|known| known.agent == place.agent) {
                Some(known) => {
                    known.ahead.extend(place.ahead);
                    known.behind.extend(place.behind);
                }
                None => here.push(place),
            }
        }
        here.sort_by_key(|place| place.agent);
    }
}
