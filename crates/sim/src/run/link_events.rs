//! Link events in a run: outages and their warnings, hand-offs, restarts, and their reports to the transports and
//! agents of the nodes.
//!
//! The media apply outages to frames themselves, from their own processes (`medium/outages.rs`). This module turns the
//! same outages into events for the endpoints at the nodes of a link, and into measurements.

mod forecast;

use std::collections::VecDeque;

use lasthop_stack::hooks::LinkEvent;
use lasthop_stack::units::{Span, Time};

use super::{Act, Request};
use crate::engine::queue::Slot;
use crate::engine::streams::Stream;
use crate::medium::outages::{Handoffs, Outage, Outages};
use crate::medium::warnings::Warnings;
use crate::metrics::{HandoffSample, OutageSample};
use crate::model::{Config, HandoffConfig};
use crate::net::Net;
use crate::net::routes::Routes;

use super::endpoint::Flow;
use forecast::Forecast;

/// One end of a flow.
type End = (usize, usize);

/// All links with outages, and all nodes with hand-offs.
#[derive(Debug, Default)]
pub(super) struct LinkEvents {
    links: Vec<Watched>,
    mobiles: Vec<Mobile>,
    /// For each link, its index in `links`.
    of_link: Vec<Option<usize>>,
}

/// A link with outages.
#[derive(Debug)]
struct Watched {
    place: usize,
    /// The only station affected, if not the whole link.
    node: Option<usize>,
    outages: Outages,
    forecast: Forecast,
    is_down: bool,
    change: Slot,
    /// The ends at its nodes, and the flows that cross it.
    ends: Vec<End>,
    flows: Vec<usize>,
    sample: OutageSample,
    since: Time,
}

/// A node with hand-offs.
#[derive(Debug)]
struct Mobile {
    node: usize,
    config: HandoffConfig,
    process: Handoffs,
    forecast: Forecast,
    /// Which of its links it uses, or has just left.
    at: usize,
    in_gap: bool,
    change: Slot,
    state: Slot,
    /// Arrival times of state in transit, in order, each with the link to which it goes.
    arrivals: VecDeque<(Time, usize)>,
    ends: Vec<End>,
    sample: HandoffSample,
    since: Time,
}

/// An action that is due.
#[derive(Clone, Copy, Debug)]
pub(super) enum LinkAct {
    /// A link goes down or up.
    Change(u32),
    /// An outage is predicted.
    Warning(u32),
    /// A false warning of an outage is issued or withdrawn.
    FalseWarning(u32),
    /// A hand-off begins or ends.
    Handoff(u32),
    /// A hand-off is predicted.
    HandoffWarning(u32),
    /// A false warning of a hand-off is issued or withdrawn.
    FalseHandoff(u32),
    /// State of agents arrives.
    State(u32),
    /// A node restarts.
    Restart(u32),
}

impl LinkEvents {
    pub(super) fn new(request: &Request, routes: &Routes, net: &mut Net, acts: &mut Vec<Act>) -> LinkEvents {
        let config = request.config;
        let mut events = LinkEvents { of_link: vec![None; config.links.len()], ..LinkEvents::default() };
        let mut slot = |net: &mut Net, act| {
            acts.push(Act::Link(act));
            net.queue.slot()
        };
        for (node, at) in (0..).zip(config.nodes.iter().map(|node| node.restart)) {
            if let Some(at) = at {
                let slot = slot(net, LinkAct::Restart(node));
                net.queue.set(slot, at);
            }
        }
        if config.has_link_events() {
            events.watch_links(request, routes, net, &mut slot);
            events.watch_mobiles(request, net, &mut slot);
        }
        events
    }

    fn watch_links(
        &mut self,
        request: &Request,
        routes: &Routes,
        net: &mut Net,
        slot: &mut impl FnMut(&mut Net, LinkAct) -> Slot,
    ) {
        let config = request.config;
        for (place, link) in config.links.iter().enumerate() {
            let Some(outages) = &link.outages else { continue };
            let stream = |what: &str| {
                Stream::named(request.seed, request.replication, &format!("links.{}.{what}", link.name))
            };
            let number = self.links.len() as u32;
            let change = slot(net, LinkAct::Change(number));
            let warnings =
                [LinkAct::Warning(number), LinkAct::FalseWarning(number)].map(|act| slot(net, act));
            self.of_link[place] = Some(self.links.len());
            let mut watched = Watched {
                place,
                node: outages.node,
                outages: Outages::new(outages.law.clone(), stream("outages")),
                forecast: Forecast::new(
                    outages.warning.map(|config| Warnings::new(config, stream)),
                    warnings,
                ),
                is_down: false,
                change,
                ends: ends_at(config, routes, place, outages.node),
                flows: crossing(config, routes, place, outages.node),
                sample: OutageSample::default(),
                since: Time::ZERO,
            };
            watched.await_outage(net);
            watched.forecast.begin(net);
            self.links.push(watched);
        }
    }

    fn watch_mobiles(
        &mut self,
        request: &Request,
        net: &mut Net,
        slot: &mut impl FnMut(&mut Net, LinkAct) -> Slot,
    ) {
        let config = request.config;
        for (node, of) in config.nodes.iter().enumerate() {
            let Some(handoff) = &of.handoff else { continue };
            let name = format!("nodes.{}.handoff", of.name);
            let stream = |name: &str| Stream::named(request.seed, request.replication, name);
            let number = self.mobiles.len() as u32;
            let change = slot(net, LinkAct::Handoff(number));
            let warnings =
                [LinkAct::HandoffWarning(number), LinkAct::FalseHandoff(number)].map(|act| slot(net, act));
            let predicted = |config| Warnings::new(config, |what: &str| stream(&format!("{name}.{what}")));
            let mut mobile = Mobile {
                node,
                process: Handoffs::new(handoff.law.clone(), handoff.gap, stream(&name)),
                forecast: Forecast::new(handoff.warning.map(predicted), warnings),
                config: handoff.clone(),
                at: 0,
                in_gap: false,
                change,
                state: slot(net, LinkAct::State(number)),
                arrivals: VecDeque::new(),
                ends: of_node(config, node),
                sample: HandoffSample::default(),
                since: Time::ZERO,
            };
            mobile.await_handoff(net);
            mobile.forecast.begin(net);
            self.mobiles.push(mobile);
        }
    }

    /// Performs an action that is due.
    pub(super) fn act(&mut self, act: LinkAct, flows: &mut [Flow], net: &mut Net) {
        match act {
            LinkAct::Change(link) => self.change(link as usize, flows, net),
            LinkAct::Warning(link) => {
                let link = link as usize;
                self.links[link].forecast.warn();
                self.report(link, LinkEvent::Warning, flows, net);
            }
            LinkAct::FalseWarning(link) => self.false_warning(link as usize, flows, net),
            LinkAct::Handoff(mobile) => self.handoff(mobile as usize, flows, net),
            LinkAct::HandoffWarning(mobile) => {
                let mobile = &mut self.mobiles[mobile as usize];
                mobile.forecast.warn();
                tell(&mobile.ends, LinkEvent::Warning, flows, net);
            }
            LinkAct::FalseHandoff(mobile) => {
                let mobile = &mut self.mobiles[mobile as usize];
                if let Some(event) = mobile.forecast.mislead(mobile.in_gap, net) {
                    tell(&mobile.ends, event, flows, net);
                }
            }
            LinkAct::State(mobile) => self.take_state(mobile as usize, net),
            LinkAct::Restart(node) => net.restart(node as usize),
        }
    }

    fn change(&mut self, number: usize, flows: &mut [Flow], net: &mut Net) {
        let now = net.now;
        let link = &mut self.links[number];
        link.is_down = !link.is_down;
        if link.is_down {
            link.since = now;
            link.sample.count += 1;
            link.forecast.come_true();
            net.queue.set(link.change, link.outages.current().up);
            for &flow in &link.flows {
                flows[flow].on_silence();
            }
            self.report(number, LinkEvent::Down, flows, net);
        } else {
            link.sample.down += now.since(link.since);
            link.outages.pass();
            link.await_outage(net);
            for &flow in &link.flows {
                flows[flow].on_silence_ended(now);
            }
            self.report(number, LinkEvent::Up, flows, net);
        }
    }

    fn false_warning(&mut self, number: usize, flows: &mut [Flow], net: &mut Net) {
        let link = &mut self.links[number];
        if let Some(event) = link.forecast.mislead(link.is_down, net) {
            link.sample.false_warnings += u64::from(event == LinkEvent::Warning);
            self.report(number, event, flows, net);
        }
    }

    /// State of agents arrives. If its node has moved on, the state follows.
    fn take_state(&mut self, number: usize, net: &mut Net) {
        let mobile = &mut self.mobiles[number];
        let Some((_, to)) = mobile.arrivals.pop_front() else { return };
        if let Some((at, _)) = mobile.arrivals.front() {
            net.queue.set(mobile.state, *at);
        }
        net.import_state(number, to);
        let place = if mobile.in_gap { 1 - mobile.at } else { mobile.at };
        if place != to {
            mobile.send_state(number, to, net);
        }
    }

    fn handoff(&mut self, number: usize, flows: &mut [Flow], net: &mut Net) {
        if self.mobiles[number].in_gap {
            self.end_handoff(number, flows, net);
        } else {
            self.begin_handoff(number, flows, net);
        }
    }

    fn begin_handoff(&mut self, number: usize, flows: &mut [Flow], net: &mut Net) {
        let now = net.now;
        let mobile = &mut self.mobiles[number];
        mobile.in_gap = true;
        mobile.since = now;
        mobile.sample.count += 1;
        mobile.forecast.come_true();
        net.queue.set(mobile.change, now.after(mobile.config.gap));
        mobile.send_state(number, mobile.at, net);
        for &(flow, _) in &mobile.ends {
            flows[flow].on_silence();
        }
        tell(&mobile.ends, LinkEvent::HandoffBegins, flows, net);
    }

    fn end_handoff(&mut self, number: usize, flows: &mut [Flow], net: &mut Net) {
        let now = net.now;
        let mobile = &mut self.mobiles[number];
        mobile.in_gap = false;
        mobile.sample.gap += now.since(mobile.since);
        mobile.at = 1 - mobile.at;
        net.reroute(number, mobile.at);
        mobile.await_handoff(net);
        for &(flow, _) in &mobile.ends {
            flows[flow].on_silence_ended(now);
        }
        // A link that is down for another reason is not reachable yet.
        let link = mobile.config.links[mobile.at];
        let is_down = self.of_link[link].is_some_and(|link| self.links[link].is_down);
        let event = if is_down { LinkEvent::Down } else { LinkEvent::HandoffEnds };
        tell(&self.mobiles[number].ends, event, flows, net);
    }

    /// Reports an event to the ends at the nodes of a link, except those currently at another link, and to the agents
    /// at its interfaces.
    fn report(&mut self, number: usize, event: LinkEvent, flows: &mut [Flow], net: &mut Net) {
        let link = &self.links[number];
        for &(flow, side) in &link.ends {
            let node = flows[flow].node(side);
            let is_away = self.mobiles.iter().any(|mobile| {
                mobile.node == node
                    && mobile.config.links.contains(&link.place)
                    && (mobile.in_gap || mobile.config.links[mobile.at] != link.place)
            });
            if !is_away {
                flows[flow].on_link(side, event, net);
            }
        }
        net.tell_agents(link.place, event, link.node);
    }

    /// The measurements of all links so far, by index of the link.
    pub(super) fn outages(&self, now: Time) -> Vec<OutageSample> {
        let of = |link: &Option<usize>| {
            link.map_or_else(OutageSample::default, |link| {
                let Watched { is_down, since, sample, .. } = &self.links[link];
                let current = if *is_down { now.since(*since) } else { Span::ZERO };
                OutageSample { down: sample.down + current, ..*sample }
            })
        };
        self.of_link.iter().map(of).collect()
    }

    /// The measurements of the nodes with hand-offs so far, in their order.
    pub(super) fn handoffs(&self, net: &Net) -> Vec<HandoffSample> {
        let of = |(number, mobile): (usize, &Mobile)| {
            let current = if mobile.in_gap { net.now.since(mobile.since) } else { Span::ZERO };
            let (gap, state) = (mobile.sample.gap + current, net.handoffs.state(number));
            HandoffSample { gap, state, late: net.handoffs.late, ..mobile.sample }
        };
        self.mobiles.iter().enumerate().map(of).collect()
    }
}

impl Watched {
    fn await_outage(&mut self, net: &mut Net) {
        let coming = self.outages.current();
        if coming.down == Time::NEVER {
            return;
        }
        net.queue.set(self.change, coming.down);
        self.forecast.expect(coming, net);
    }
}

impl Mobile {
    fn await_handoff(&mut self, net: &mut Net) {
        let down = self.process.next_begin();
        if down == Time::NEVER {
            return;
        }
        net.queue.set(self.change, down);
        self.forecast.expect(Outage { down, up: down.after(self.config.gap) }, net);
    }

    /// Sends the state of the agents at one of the links to the other. It arrives when it has been transferred, but not
    /// before the node.
    fn send_state(&mut self, number: usize, from: usize, net: &mut Net) {
        let Some(delay) = net.export_state(number, from) else { return };
        let comes = if self.in_gap { self.since.after(self.config.gap) } else { net.now };
        let last = self.arrivals.back().map_or(Time::ZERO, |(last, _)| *last);
        let at = last.max(comes).max(net.now.after(delay));
        if self.arrivals.is_empty() {
            net.queue.set(self.state, at);
        }
        self.arrivals.push_back((at, 1 - from));
    }
}

fn tell(ends: &[End], event: LinkEvent, flows: &mut [Flow], net: &mut Net) {
    for &(flow, side) in ends {
        flows[flow].on_link(side, event, net);
    }
}

/// The ends of flows at a node.
fn of_node(config: &Config, node: usize) -> Vec<End> {
    let ends = |(number, flow): (usize, &crate::model::FlowConfig)| {
        let sides = [flow.from, flow.to].map(|end| end == node);
        (0..2).filter(move |side| sides[*side]).map(move |side| (number, side))
    };
    config.flows.iter().enumerate().flat_map(ends).collect()
}

/// Whether the path from one node to another uses a link, or a hop of one of its stations: with its first hop, and with
/// any hop. A node with hand-offs may use either of its links.
fn leads_over(
    config: &Config,
    routes: &Routes,
    (from, to): (usize, usize),
    place: usize,
    station: Option<usize>,
) -> [bool; 2] {
    let is_of = |node: usize| {
        let handoff = config.nodes[node].handoff.as_ref();
        handoff.is_some_and(|handoff| handoff.links.contains(&place))
            && station.is_none_or(|station| station == node)
    };
    let hops = routes.path(from, to);
    let on = |(node, hop): &(usize, crate::net::routes::Hop)| {
        let is_met = |station: usize| station == *node || station == hop.next.0 as usize;
        Routes::link_of(config, hop.port) == place
            && config.nodes_of(place).contains(node)
            && station.is_none_or(is_met)
    };
    [is_of(from) || hops.first().is_some_and(on), is_of(from) || is_of(to) || hops.iter().any(on)]
}

/// The ends whose first hop is over a link, or those of them at one node.
fn ends_at(config: &Config, routes: &Routes, place: usize, node: Option<usize>) -> Vec<End> {
    let mut ends = Vec::new();
    for (number, flow) in config.flows.iter().enumerate() {
        for (side, way) in [(flow.from, flow.to), (flow.to, flow.from)].into_iter().enumerate() {
            let is_meant = node.is_none_or(|node| node == way.0);
            if is_meant && leads_over(config, routes, way, place, node)[0] {
                ends.push((number, side));
            }
        }
    }
    ends
}

/// The flows whose data or acknowledgements cross a link, or reach or leave one of its nodes over it.
fn crossing(config: &Config, routes: &Routes, place: usize, node: Option<usize>) -> Vec<usize> {
    let crosses = |number: &usize| {
        let flow = &config.flows[*number];
        let ways = [(flow.from, flow.to), (flow.to, flow.from)];
        ways.iter().any(|way| leads_over(config, routes, *way, place, node)[1])
    };
    (0..config.flows.len()).filter(crosses).collect()
}
