//! Agents between the network layer and the link, on any interface of any link.
//!
//! The agents of one interface form a [`Stack`] in the order of the scenario file: the first is nearest to the network,
//! the last nearest to the link. The output of an agent goes to its neighbour; what leaves the stack goes to the link
//! or to the node. A packet bypasses the agents that do not serve its flow. Reports of the link reach the last agent
//! first.
//!
//! ```text
//!    network   down │     ▲ up
//!                first agent of the file
//!                last agent of the file
//!      link         ▼     │      signals go from the last to the first
//! ```

mod channels;
mod handling;
pub(crate) mod places;

use std::collections::VecDeque;
use std::sync::Arc;

use lasthop_stack::hooks::{Activity, Agent, AgentOut, Answered, Count, Exported, LinkEvent, Rider};
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::registry::{AgentKind, AgentMachine};
use lasthop_stack::signal::Signal;
use lasthop_stack::units::Time;

use super::exits::Exit;
use super::routes::Routes;
use crate::engine::queue::{EventQueue, Slot};
use crate::model::ports::Ports;
use crate::model::{AgentConfig, Config};
use crate::probe::accounts::Accounts;
use crate::probe::trace::Tracer;
use handling::Handling;
use places::Places;

/// All agents of a run.
pub(crate) struct Agents {
    stacks: Vec<Stack>,
    /// By the number of the port that leads to an interface.
    of_port: Vec<Option<u32>>,
    /// For each table of the scenario, the counters of idle agents.
    nothing: Vec<AgentSample>,
}

/// The agents of one interface.
pub(crate) struct Stack {
    node: NodeId,
    link: usize,
    /// The interface.
    pub(super) exit: Exit,
    seats: Vec<Seat>,
    /// Packets between one agent and the next, with their direction.
    between: VecDeque<(usize, Towards, Packet)>,
}

/// An agent at its position in a stack.
struct Seat {
    machine: AgentMachine,
    /// Its index among the agents of the scenario.
    agent: usize,
    kind: AgentKind,
    /// By flow; empty if it serves all flows.
    serves: Arc<[bool]>,
    timer: Slot,
}

/// The direction of a packet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Towards {
    Network,
    Link,
}

/// The output of the last agent of a stack to the link.
#[derive(Clone, Copy)]
pub(super) enum Handed {
    /// A packet for the end of the queue.
    Last(Packet),
    /// A packet for the head of the queue.
    Ahead(Packet),
    /// A rider for the next link-layer acknowledgement to the next hop towards this node.
    Ride(NodeId, Rider),
    /// A rider at the tail of the queue.
    RideBehind(NodeId, Rider),
    /// The riders that wait go no more.
    Unload(NodeId),
}

/// The surroundings that a stack needs from the network.
pub(super) struct Around<'a> {
    pub(super) queue: &'a mut EventQueue,
    pub(super) inbox: &'a mut VecDeque<(NodeId, Packet)>,
    pub(super) accounts: &'a mut Accounts,
    pub(super) tracer: &'a mut Tracer,
    pub(super) ports: Ports,
    pub(super) now: Time,
    /// Receives what goes to the link.
    pub(super) to_link: &'a mut dyn FnMut(Handed),
}

/// The counters of the agents of one table of a scenario, summed.
#[derive(Clone, Debug, Default)]
pub(crate) struct AgentSample {
    pub(crate) activity: Activity,
    /// The counters specific to this kind of agent.
    pub(crate) counts: Vec<Count>,
    /// The quantities of this kind of agent that can also decrease.
    pub(crate) levels: Vec<Count>,
}

impl Agents {
    /// The agents of a scenario, placed by its routes and by the routes during a hand-off. The ports lead to `exits`, and
    /// `slot` creates the timer of an agent in a stack.
    pub(super) fn new(
        config: &Config,
        routes: &Routes,
        other_places: &[(usize, Routes)],
        exits: &[Exit],
        mut slot: impl FnMut(u32, u32) -> Slot,
    ) -> Agents {
        let nothing = |agent: &AgentConfig| AgentSample {
            activity: Activity { unconfirmed: Some(0), ..Activity::default() },
            counts: agent.scheme.counts(),
            levels: agent.scheme.levels(),
        };
        let nothing = config.agents.iter().map(nothing).collect();
        let mut agents = Agents { stacks: Vec::new(), of_port: vec![None; exits.len()], nothing };
        let served: Vec<Arc<[bool]>> =
            config.agents.iter().map(|agent| served(&agent.flows, config)).collect();
        let mut seats = Places::new(config, routes).seats();
        for (_, routes) in other_places {
            places::join(&mut seats, Places::new(config, routes).seats());
        }
        for (port, placed) in seats {
            let stack = agents.stacks.len() as u32;
            let seats = placed.iter().zip(0..).map(|(place, seat)| {
                let scheme = &config.agents[place.agent].scheme;
                Seat {
                    machine: scheme.build(&place.criterion()),
                    agent: place.agent,
                    kind: scheme.kind(),
                    serves: served[place.agent].clone(),
                    timer: slot(stack, seat),
                }
            });
            let seats = seats.collect();
            let (node, link) = (NodeId(placed[0].node as u32), placed[0].link);
            let exit = exits[port];
            agents.of_port[port] = Some(stack);
            agents.stacks.push(Stack { node, link, exit, seats, between: VecDeque::new() });
        }
        agents
    }

    /// The stack at the interface to which a port leads.
    pub(super) fn at(&self, port: usize) -> Option<u32> {
        self.of_port[port]
    }

    pub(super) fn stack(&mut self, number: u32) -> &mut Stack {
        &mut self.stacks[number as usize]
    }

    /// The first stack at this link and at this node, searching from number `from`; `None` matches any.
    pub(super) fn next_at(&self, from: u32, link: Option<usize>, node: Option<usize>) -> Option<u32> {
        let is_there = |stack: &Stack| {
            link.is_none_or(|link| stack.link == link)
                && node.is_none_or(|node| stack.node == NodeId(node as u32))
        };
        let found = self.stacks.iter().skip(from as usize).position(is_there)?;
        Some(from + found as u32)
    }

    /// The numbers of the packets of data that agents keep.
    pub(super) fn kept(&self) -> Vec<u32> {
        let mut numbers = Vec::new();
        for seat in self.stacks.iter().flat_map(|stack| &stack.seats) {
            seat.machine.each_kept(&mut |packet| numbers.push(packet.id));
        }
        numbers
    }

    /// The counters of the agents of each table of the scenario.
    pub(crate) fn samples(&self) -> Vec<AgentSample> {
        let mut samples = self.nothing.clone();
        for seat in self.stacks.iter().flat_map(|stack| &stack.seats) {
            samples[seat.agent].add(&seat.machine);
        }
        samples
    }
}

/// Whether each flow is in the list, and its transport's header is not hidden; empty if all are.
fn served(flows: &[usize], config: &Config) -> Arc<[bool]> {
    let mut served = vec![false; config.flows.len()];
    for &flow in flows {
        served[flow] = !config.flows[flow].encrypted && !config.flows[flow].is_quic();
    }
    if served.contains(&false) { served.into() } else { Arc::default() }
}

impl AgentSample {
    fn add(&mut self, machine: &AgentMachine) {
        let (sum, more) = (&mut self.activity, machine.activity());
        sum.generated += more.generated;
        sum.suppressed += more.suppressed;
        sum.passed += more.passed;
        sum.repaired += more.repaired;
        sum.false_negatives += more.false_negatives;
        sum.unconfirmed = sum.unconfirmed.zip(more.unconfirmed).map(|(sum, more)| sum + more);
        sum.state_bytes_max += more.state_bytes_max;
        let of = self.counts.iter_mut().zip(machine.counts());
        for (sum, more) in of.chain(self.levels.iter_mut().zip(machine.levels())) {
            debug_assert_eq!(sum.name, more.name);
            sum.value += more.value;
        }
    }
}

impl Stack {
    /// Handles a packet that leaves the node for the link.
    #[inline]
    pub(super) fn down(&mut self, packet: &Packet, around: &mut Around) {
        around.accounts.taken(packet);
        self.hand(0, Towards::Link, packet, around);
        self.settle(around);
    }

    /// Handles a packet that has arrived over the link.
    #[inline]
    pub(super) fn up(&mut self, packet: &Packet, around: &mut Around) {
        around.accounts.taken(packet);
        self.hand(self.seats.len(), Towards::Network, packet, around);
        self.settle(around);
    }

    /// Number of agents.
    pub(super) fn len(&self) -> usize {
        self.seats.len()
    }

    /// The index of an agent in the scenario, and its kind.
    pub(super) fn agent(&self, seat: usize) -> (usize, AgentKind) {
        (self.seats[seat].agent, self.seats[seat].kind)
    }

    /// The agent of this table of the scenario, or else the first of this kind.
    pub(super) fn seat_of(&self, (agent, kind): (usize, AgentKind)) -> Option<usize> {
        let of_table = self.seats.iter().position(|seat| seat.agent == agent);
        of_table.or_else(|| self.seats.iter().position(|seat| seat.kind == kind))
    }

    /// Handles an event of the link, or of what one node at the link sends and receives.
    pub(super) fn on_link(&mut self, event: LinkEvent, node: Option<NodeId>, around: &mut Around) {
        for seat in (0..self.seats.len()).rev() {
            self.with_agent(seat, None, around, |agent, now, out| agent.on_link(event, node, now, out));
            self.settle(around);
        }
    }

    /// Handles a restart of the node.
    pub(super) fn restart(&mut self, around: &mut Around) {
        for seat in 0..self.seats.len() {
            self.with_agent(seat, None, around, |agent, now, out| agent.restart(now, out));
            self.settle(around);
        }
    }

    /// A node leaves for another station: returns the state that an agent has for its flows.
    pub(super) fn export(&mut self, seat: usize, mobile: NodeId, around: &mut Around) -> Option<Exported> {
        let mut exported = None;
        self.with_agent(seat, None, around, |agent, now, out| exported = agent.export(mobile, now, out));
        self.settle(around);
        exported
    }

    /// The state of the flows of a node is on its way here from an agent at another station.
    pub(super) fn expect(&mut self, seat: usize, mobile: NodeId) {
        self.seats[seat].machine.expect(mobile);
    }

    /// The state of the flows of a node has arrived from an agent at another station.
    pub(super) fn import(&mut self, seat: usize, state: Exported, around: &mut Around) {
        self.with_agent(seat, None, around, |agent, now, out| agent.import(state, now, out));
        self.settle(around);
    }

    /// Handles the link's report on the fate of a packet.
    pub(super) fn on_signal(&mut self, signal: Signal, packet: &Packet, around: &mut Around) {
        for seat in (0..self.seats.len()).rev() {
            if self.seats[seat].serves(packet, around.ports) {
                self.with_agent(seat, None, around, |agent, now, out| {
                    agent.on_signal(signal, packet, now, out);
                });
                self.settle(around);
            }
        }
    }

    /// Handles a rider of a link-layer acknowledgement.
    pub(super) fn on_rider(&mut self, rider: Rider, around: &mut Around) {
        for seat in (0..self.seats.len()).rev() {
            self.with_agent(seat, None, around, |agent, now, out| agent.on_rider(rider, now, out));
            self.settle(around);
        }
    }

    /// The link acknowledges a frame.
    pub(super) fn on_answer(&mut self, answer: Answered, around: &mut Around) {
        for seat in (0..self.seats.len()).rev() {
            self.with_agent(seat, None, around, |agent, now, out| agent.on_answer(answer, now, out));
            self.settle(around);
        }
    }

    /// Handles the expiry of the timer of one agent.
    pub(super) fn on_timer(&mut self, seat: usize, around: &mut Around) {
        around.queue.cancel(self.seats[seat].timer);
        self.with_agent(seat, None, around, |agent, now, out| agent.on_timer(now, out));
        self.settle(around);
    }

    /// Hands a packet to the next agent that serves it, starting from the boundary `at` between two agents.
    #[inline]
    fn hand(&mut self, at: usize, towards: Towards, packet: &Packet, around: &mut Around) {
        let came = Some((packet, towards));
        let serves = |seat: &usize| self.seats[*seat].serves(packet, around.ports);
        match towards {
            Towards::Link => match (at..self.seats.len()).find(serves) {
                Some(seat) => {
                    self.with_agent(seat, came, around, |agent, now, out| agent.down(packet, now, out));
                }
                None => around.leave(Towards::Link, self.node, packet),
            },
            Towards::Network => match (0..at).rev().find(serves) {
                Some(seat) => {
                    self.with_agent(seat, came, around, |agent, now, out| agent.up(packet, now, out));
                }
                None => around.leave(Towards::Network, self.node, packet),
            },
        }
    }

    /// Passes on the packets between agents until none is left.
    fn settle(&mut self, around: &mut Around) {
        while let Some((at, towards, packet)) = self.between.pop_front() {
            self.hand(at, towards, &packet, around);
        }
    }

    /// Calls an agent, for a packet that has reached it or for another reason.
    #[inline]
    fn with_agent(
        &mut self,
        number: usize,
        came: Option<(&Packet, Towards)>,
        around: &mut Around,
        act: impl FnOnce(&mut AgentMachine, Time, &mut Out),
    ) {
        let last = self.seats.len() - 1;
        let seat = &mut self.seats[number];
        let now = around.now;
        let handling = Handling { node: self.node, came, has_gone: false };
        let mut out = Out { around, between: &mut self.between, number, last, handling, timer: seat.timer };
        act(&mut seat.machine, now, &mut out);
        if let Some(events) = &mut out.around.tracer.events {
            out.handling.end(events, now);
        }
    }
}

impl Seat {
    #[inline]
    fn serves(&self, packet: &Packet, ports: Ports) -> bool {
        self.serves.is_empty() || self.serves[ports.addressee(packet).0]
    }
}

impl Around<'_> {
    #[inline]
    fn leave(&mut self, towards: Towards, node: NodeId, packet: &Packet) {
        self.accounts.made(packet);
        match towards {
            Towards::Network => self.inbox.push_back((node, *packet)),
            Towards::Link => (self.to_link)(Handed::Last(*packet)),
        }
    }
}

/// Receives the output of an agent.
struct Out<'a, 'b> {
    around: &'a mut Around<'b>,
    between: &'a mut VecDeque<(usize, Towards, Packet)>,
    number: usize,
    last: usize,
    handling: Handling<'a>,
    timer: Slot,
}

impl Out<'_, '_> {
    #[inline]
    fn pass_on(&mut self, packet: &Packet, towards: Towards) {
        let (is_outermost, at) = match towards {
            Towards::Link => (self.number == self.last, self.number + 1),
            Towards::Network => (self.number == 0, self.number),
        };
        if is_outermost {
            self.around.leave(towards, self.handling.node, packet);
        } else {
            self.between.push_back((at, towards, *packet));
        }
    }

    #[inline]
    fn record_and_pass_on(&mut self, packet: &Packet, towards: Towards) {
        match &mut self.around.tracer.events {
            None => self.pass_on(packet, towards),
            Some(events) => {
                let packet = self.handling.pass(events, self.around.now, packet, towards);
                self.pass_on(&packet, towards);
            }
        }
    }
}

impl AgentOut for Out<'_, '_> {
    #[inline]
    fn down(&mut self, packet: &Packet) {
        self.record_and_pass_on(packet, Towards::Link);
    }

    #[inline]
    fn up(&mut self, packet: &Packet) {
        self.record_and_pass_on(packet, Towards::Network);
    }

    fn ahead(&mut self, packet: &Packet) {
        if self.number != self.last {
            self.down(packet);
            return;
        }
        let packet = match &mut self.around.tracer.events {
            None => *packet,
            Some(events) => self.handling.pass(events, self.around.now, packet, Towards::Link),
        };
        self.around.accounts.made(&packet);
        (self.around.to_link)(Handed::Ahead(packet));
    }

    fn ride(&mut self, towards: NodeId, rider: Rider) {
        (self.around.to_link)(Handed::Ride(towards, rider));
    }

    fn ride_behind(&mut self, towards: NodeId, rider: Rider) {
        (self.around.to_link)(Handed::RideBehind(towards, rider));
    }

    fn unload(&mut self, towards: NodeId) {
        (self.around.to_link)(Handed::Unload(towards));
    }

    fn set_timer(&mut self, at: Time) {
        self.around.queue.set_late(self.timer, at);
    }

    fn cancel_timer(&mut self) {
        self.around.queue.cancel(self.timer);
    }
}

#[cfg(test)]
mod tests;
