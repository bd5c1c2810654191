//! Events of links in a run: outages, their warnings, hand-offs, and their reports to the transports of the nodes.
//!
//! The media apply outages to frames by themselves, from their own processes (`medium/outages.rs`). This module turns
//! the same outages into events for the endpoints at the nodes of a link and for measurements.

use lasthop_stack::hooks::LinkEvent;
use lasthop_stack::units::{Span, Time};

use super::{Act, Request};
use crate::engine::queue::Slot;
use crate::engine::streams::Stream;
use crate::medium::outages::{Handoffs, Outages};
use crate::medium::warnings::Warnings;
use crate::metrics::{HandoffSample, OutageSample};
use crate::model::{Config, HandoffConfig};
use crate::net::Net;
use crate::net::routes::Routes;

use super::endpoint::Flow;

/// One end of a flow.
type End = (usize, usize);

/// All links that are ever down, and all nodes that are handed off.
#[derive(Debug, Default)]
pub(super) struct LinkEvents {
    links: Vec<Watched>,
    mobiles: Vec<Mobile>,
    /// The place among `links` of each link.
    of_link: Vec<Option<usize>>,
}

/// A link that is ever down.
#[derive(Debug)]
struct Watched {
    place: usize,
    outages: Outages,
    warnings: Option<Warnings>,
    is_down: bool,
    /// Whether a warning of the coming outage has been given, and whether a false one stands.
    is_warned: bool,
    is_falsely_warned: bool,
    slots: Slots,
    /// The ends that sit at its nodes, and the flows that cross it.
    ends: Vec<End>,
    flows: Vec<usize>,
    sample: OutageSample,
    since: Time,
}

#[derive(Clone, Copy, Debug)]
struct Slots {
    change: Slot,
    warning: Slot,
    false_warning: Slot,
}

/// A node that is handed off.
#[derive(Debug)]
struct Mobile {
    node: usize,
    config: HandoffConfig,
    process: Handoffs,
    /// Which of its links it uses, or has left.
    at: usize,
    in_gap: bool,
    begins: Time,
    change: Slot,
    warning: Slot,
    state: Slot,
    /// When state that is under way arrives, in order, and at which link.
    arrivals: std::collections::VecDeque<(Time, usize)>,
    ends: Vec<End>,
    sample: HandoffSample,
    since: Time,
}

/// What is due.
#[derive(Clone, Copy, Debug)]
pub(super) enum LinkAct {
    /// A link goes down or up.
    Change(u32),
    /// An outage is predicted.
    Warning(u32),
    /// One is predicted falsely, or that is withdrawn.
    FalseWarning(u32),
    /// A hand-off begins or ends.
    Handoff(u32),
    /// One is about to begin.
    HandoffWarning(u32),
    /// State of agents has arrived.
    State(u32),
}

impl LinkEvents {
    pub(super) fn new(request: &Request, routes: &Routes, net: &mut Net, acts: &mut Vec<Act>) -> LinkEvents {
        let config = request.config;
        let mut events = LinkEvents { of_link: vec![None; config.links.len()], ..LinkEvents::default() };
        if !config.has_link_events() {
            return events;
        }
        let mut slot = |net: &mut Net, act| {
            acts.push(Act::Link(act));
            net.queue.slot()
        };
        for (place, link) in config.links.iter().enumerate() {
            let Some(outages) = &link.outages else { continue };
            let stream = |what: &str| {
                Stream::named(request.seed, request.replication, &format!("links.{}.{what}", link.name))
            };
            let number = events.links.len() as u32;
            let slots = Slots {
                change: slot(net, LinkAct::Change(number)),
                warning: slot(net, LinkAct::Warning(number)),
                false_warning: slot(net, LinkAct::FalseWarning(number)),
            };
            events.of_link[place] = Some(events.links.len());
            let mut watched = Watched {
                place,
                outages: Outages::new(outages.law.clone(), stream("outages")),
                warnings: outages.warning.map(|config| Warnings::new(config, stream)),
                is_down: false,
                is_warned: false,
                is_falsely_warned: false,
                slots,
                ends: ends_at(config, routes, place),
                flows: crossing(config, routes, place),
                sample: OutageSample::default(),
                since: Time::ZERO,
            };
            watched.await_outage(net);
            if let Some(at) = watched.warnings.as_mut().and_then(|warnings| warnings.next_false(net.now)) {
                net.queue.set(slots.false_warning, at);
            }
            events.links.push(watched);
        }
        for (node, of) in config.nodes.iter().enumerate() {
            let Some(handoff) = &of.handoff else { continue };
            let name = format!("nodes.{}.handoff", of.name);
            let stream = Stream::named(request.seed, request.replication, &name);
            let number = events.mobiles.len() as u32;
            let mut mobile = Mobile {
                node,
                config: handoff.clone(),
                process: Handoffs::new(handoff.law.clone(), handoff.gap, stream),
                at: 0,
                in_gap: false,
                begins: Time::NEVER,
                change: slot(net, LinkAct::Handoff(number)),
                warning: slot(net, LinkAct::HandoffWarning(number)),
                state: slot(net, LinkAct::State(number)),
                arrivals: std::collections::VecDeque::new(),
                ends: of_node(config, node),
                sample: HandoffSample::default(),
                since: Time::ZERO,
            };
            mobile.await_handoff(net);
            events.mobiles.push(mobile);
        }
        events
    }

    /// Something is due.
    pub(super) fn act(&mut self, act: LinkAct, flows: &mut [Flow], net: &mut Net) {
        match act {
            LinkAct::Change(link) => self.change(link as usize, flows, net),
            LinkAct::Warning(link) => {
                let link = link as usize;
                self.links[link].is_warned = true;
                self.report(link, LinkEvent::Warning, flows, net);
            }
            LinkAct::FalseWarning(link) => self.false_warning(link as usize, flows, net),
            LinkAct::Handoff(mobile) => self.handoff(mobile as usize, flows, net),
            LinkAct::HandoffWarning(mobile) => {
                tell(&self.mobiles[mobile as usize].ends, LinkEvent::Warning, flows, net);
            }
            LinkAct::State(mobile) => {
                let number = mobile as usize;
                let mobile = &mut self.mobiles[number];
                if let Some((_, to)) = mobile.arrivals.pop_front() {
                    if let Some((at, _)) = mobile.arrivals.front() {
                        net.queue.set(mobile.state, *at);
                    }
                    net.import_state(number, to);
                }
            }
        }
    }

    fn change(&mut self, number: usize, flows: &mut [Flow], net: &mut Net) {
        let now = net.now;
        let link = &mut self.links[number];
        link.is_down = !link.is_down;
        if link.is_down {
            link.since = now;
            link.sample.count += 1;
            link.is_falsely_warned = false;
            net.queue.set(link.slots.change, link.outages.current().up);
            for &flow in &link.flows {
                flows[flow].on_silence();
            }
            self.report(number, LinkEvent::Down, flows, net);
        } else {
            link.sample.down += now.since(link.since);
            link.is_warned = false;
            link.outages.pass();
            link.await_outage(net);
            for &flow in &link.flows {
                flows[flow].on_silence_ended(now);
            }
            self.report(number, LinkEvent::Up, flows, net);
        }
    }

    fn false_warning(&mut self, number: usize, flows: &mut [Flow], net: &mut Net) {
        let now = net.now;
        let link = &mut self.links[number];
        let Some(warnings) = &mut link.warnings else { return };
        let event = if link.is_falsely_warned {
            link.is_falsely_warned = false;
            LinkEvent::Cleared
        } else {
            link.is_falsely_warned = !link.is_down;
            LinkEvent::Warning
        };
        let due = if link.is_falsely_warned {
            Some(now.after(warnings.false_for()))
        } else {
            warnings.next_false(now)
        };
        if let Some(due) = due {
            net.queue.set(link.slots.false_warning, due);
        }
        // What is expected rightly is not cleared, and what is down is not warned of.
        let is_news = !link.is_down && (event == LinkEvent::Warning || !link.is_warned);
        if is_news {
            link.sample.false_warnings += u64::from(event == LinkEvent::Warning);
            self.report(number, event, flows, net);
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
        net.queue.set(mobile.change, now.after(mobile.config.gap));
        if let Some(delay) = net.export_state(number, mobile.at) {
            let at = mobile.arrivals.back().map_or(Time::ZERO, |(last, _)| *last).max(now.after(delay));
            if mobile.arrivals.is_empty() {
                net.queue.set(mobile.state, at);
            }
            mobile.arrivals.push_back((at, 1 - mobile.at));
        }
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
        // What is silent for another reason is not reached yet.
        let link = mobile.config.links[mobile.at];
        let is_down = self.of_link[link].is_some_and(|link| self.links[link].is_down);
        let event = if is_down { LinkEvent::Down } else { LinkEvent::HandoffEnds };
        tell(&self.mobiles[number].ends, event, flows, net);
    }

    /// Reports an event to the ends at the nodes of a link, but for those that are at another link.
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
    }

    /// What links that are ever down have done up to now, by their places.
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

    /// What nodes that are handed off have done up to now, in their order.
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
        net.queue.set(self.slots.change, coming.down);
        if let Some(at) = self.warnings.as_mut().and_then(|warnings| warnings.of(coming, net.now)) {
            net.queue.set(self.slots.warning, at);
        }
    }
}

impl Mobile {
    fn await_handoff(&mut self, net: &mut Net) {
        self.begins = self.process.next_begin();
        if self.begins == Time::NEVER {
            return;
        }
        net.queue.set(self.change, self.begins);
        if let Some(lead) = self.config.warning {
            let at = Time(self.begins.0.saturating_sub(lead.0)).max(net.now);
            if at < self.begins {
                net.queue.set(self.warning, at);
            }
        }
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

/// Whether the way from one node to another leads over a link, at its first hop or anywhere. A node that is handed off
/// may use either of its links.
fn leads_over(config: &Config, routes: &Routes, (from, to): (usize, usize), place: usize) -> [bool; 2] {
    let is_of = |node: usize| {
        let handoff = config.nodes[node].handoff.as_ref();
        handoff.is_some_and(|handoff| handoff.links.contains(&place))
    };
    let hops = routes.path(from, to);
    let on = |(node, hop): &(usize, crate::net::routes::Hop)| {
        Routes::link_of(config, hop.port) == place && config.nodes_of(place).contains(node)
    };
    [is_of(from) || hops.first().is_some_and(on), is_of(from) || is_of(to) || hops.iter().any(on)]
}

/// The ends that send over a link at once.
fn ends_at(config: &Config, routes: &Routes, place: usize) -> Vec<End> {
    let mut ends = Vec::new();
    for (number, flow) in config.flows.iter().enumerate() {
        for (side, way) in [(flow.from, flow.to), (flow.to, flow.from)].into_iter().enumerate() {
            if leads_over(config, routes, way, place)[0] {
                ends.push((number, side));
            }
        }
    }
    ends
}

/// The flows whose data or acknowledgements cross a link.
fn crossing(config: &Config, routes: &Routes, place: usize) -> Vec<usize> {
    let crosses = |number: &usize| {
        let flow = &config.flows[*number];
        [(flow.from, flow.to), (flow.to, flow.from)]
            .iter()
            .any(|way| leads_over(config, routes, *way, place)[1])
    };
    (0..config.flows.len()).filter(crosses).collect()
}
