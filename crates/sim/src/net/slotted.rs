//! A slotted multi-hop network: its medium, its nodes, and the slots in which they act.
//!
//! A slot has two events. At its end, nodes get the frames that they received, and packets that have arrived go up. The
//! next slot begins after all other events of that instant. The nodes that are due are asked: those with a committed
//! frame send it, and the others sense the channel first. A slot in which no node is due has no event.
//!
//! **Checked by** the tests of its parts and `crates/sim/tests/frn.rs`.

mod copies;
mod sending;
mod tables;
mod traced;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use lasthop_stack::link::slotted::{End, Frame, FrameKind, NodeOut, SlotNo};
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::registry::SlottedNode;
use lasthop_stack::units::{Metres, Span, Time};

use super::agents::{Agents, Around, Handed, Stack};
use super::layout::cuts;
use super::pool::PacketPool;
use super::routes::Routes;
use crate::engine::queue::{EventQueue, Slot};
use crate::engine::streams::Stream;
use crate::medium::slots::{Reception, SlotFate, SlotMedium};
use crate::model::ports::Ports;
use crate::model::{Config, ErrorAt, FrnConfig, Sense};
use crate::outside::Outside;
use crate::probe::accounts::Accounts;
use crate::probe::events::{Event, Why};
use crate::probe::judgement::{Culprit, Losses};
use crate::probe::pcap::Capture;
use crate::probe::slots::{SlotAct, SlotRow};
use crate::probe::trace::Tracer;
pub(crate) use copies::CopyCounters;
use copies::{Copies, NOWHERE};

/// An event of a slotted network.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FrnEvent {
    /// A slot ends.
    End,
    /// A slot begins.
    Begin,
}

/// The parts of the simulator that the network uses.
pub(crate) struct Host<'a> {
    pub(super) queue: &'a mut EventQueue,
    pub(super) pool: &'a mut PacketPool,
    pub(super) inbox: &'a mut VecDeque<(NodeId, Packet)>,
    pub(super) agents: &'a mut Agents,
    pub(super) ports: Ports,
    pub(super) losses: &'a mut Losses,
    pub(super) accounts: &'a mut Accounts,
    pub(super) routes: &'a Routes,
    pub(super) tracer: &'a mut Tracer,
    pub(super) outside: Option<&'a Outside>,
    pub(super) now: Time,
}

/// A slotted network.
pub(crate) struct Frn {
    /// Its index among the links of the scenario.
    place: u32,
    slot: Span,
    sense: Sense,
    error_at: ErrorAt,
    medium: SlotMedium,
    stations: Vec<Station>,
    /// The first of its ports; each station has one.
    first_port: u32,
    copies: Copies,
    /// The slots in which stations ask to be called. The old entry of a station that moves to an earlier slot remains
    /// and is skipped.
    agenda: BinaryHeap<Reverse<(SlotNo, u32)>>,
    begun: Option<SlotNo>,
    begin: Slot,
    end: Slot,
    frames: Vec<Frame>,
    /// Their numbers, where events are recorded.
    numbers: Vec<u32>,
    transmitters: Vec<u32>,
    receptions: Vec<Reception>,
    ordinary: Vec<u32>,
    /// With [`Sense::Random`]: the instant at which a station begins, the station, and whether it sends a committed
    /// frame.
    drawn: Vec<(u32, u32, bool)>,
    answers: Vec<Answer>,
    /// Packets that agents hand to the link, in order, with their stations.
    handed_down: VecDeque<(usize, Packet)>,
    counters: FrnCounters,
    pub(crate) capture: Option<Capture>,
}

/// A node and its random numbers.
struct Station {
    node: NodeId,
    mac: SlottedNode,
    draws: Stream,
    planned: SlotNo,
    /// The last slot in which it sensed a transmission, plus one.
    sensed: u64,
    /// Whether it forwards a packet in this slot, so that its frame is an echo.
    forwards: bool,
}

/// An answer of a node.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Up(u64),
    Done(u64, End),
}

/// The counters of a network since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrnCounters {
    pub(crate) copies: CopyCounters,
    pub(crate) sent: u64,
    pub(crate) sent_again: u64,
    pub(crate) acks: u64,
    pub(crate) collided: u64,
    pub(crate) deaf: u64,
    pub(crate) errored: u64,
    pub(crate) cut_off: u64,
    pub(crate) echoes_lost: u64,
    pub(crate) deferred: u64,
    pub(crate) hops: u64,
    pub(crate) slots: u64,
}

/// Collects the answers of a node.
struct MacHost<'a> {
    answers: &'a mut Vec<Answer>,
    draws: &'a mut Stream,
}

impl NodeOut for MacHost<'_> {
    fn up(&mut self, handle: u64) {
        self.answers.push(Answer::Up(handle));
    }

    fn done(&mut self, handle: u64, end: End) {
        self.answers.push(Answer::Done(handle, end));
    }

    fn draw(&mut self, bound: u32) -> u32 {
        self.draws.up_to(bound)
    }
}

/// Not a slot.
const NEVER: SlotNo = SlotNo(u64::MAX);

impl Frn {
    pub(super) fn new(
        config: &Config,
        frn: &FrnConfig,
        place: usize,
        routes: &Routes,
        first_port: u32,
        (seed, replication): (u64, u64),
        slot: &mut impl FnMut(FrnEvent) -> Slot,
    ) -> Frn {
        let name = &config.links[place].name;
        let stream = |node: usize, what: &str| {
            let stream = format!("links.{name}.{}.{what}", config.nodes[node].name);
            Stream::named(seed, replication, &stream)
        };
        let places: Vec<(Metres, Metres)> =
            frn.nodes.iter().map(|&node| config.nodes[node].position.unwrap_or_default()).collect();
        let mut medium = SlotMedium::new(frn.medium, &places, |station| stream(frn.nodes[station], "errors"));
        medium.cut_by(cuts(config, place, (seed, replication)), frn.slot);
        let exits = tables::exits(config, routes, first_port, &frn.nodes);
        let tables = tables::tables(&medium, &frn.nodes, &exits, frn.alternatives);
        let stations = frn.nodes.iter().zip(tables).enumerate().map(|(station, (&node, table))| Station {
            node: NodeId(node as u32),
            mac: SlottedNode::new(
                NodeId(node as u32),
                frn.rules,
                table,
                frn.interval.build(frn.windows_of(station)),
            ),
            draws: stream(node, "wait"),
            planned: NEVER,
            sensed: 0,
            forwards: false,
        });
        Frn {
            place: place as u32,
            slot: frn.slot,
            sense: frn.sense,
            error_at: frn.error_at,
            drawn: Vec::new(),
            medium,
            stations: stations.collect(),
            first_port,
            copies: Copies::default(),
            agenda: BinaryHeap::new(),
            begun: None,
            begin: slot(FrnEvent::Begin),
            end: slot(FrnEvent::End),
            frames: Vec::new(),
            numbers: Vec::new(),
            transmitters: Vec::new(),
            receptions: Vec::new(),
            ordinary: Vec::new(),
            answers: Vec::new(),
            handed_down: VecDeque::new(),
            counters: FrnCounters::default(),
            capture: None,
        }
    }

    /// A packet leaves the node of a station through this network.
    pub(super) fn send(&mut self, station: usize, packet: Packet, host: &mut Host) {
        if self.with_agents(station, host, |agents, around| agents.down(&packet, around)) {
            self.send_handed_down(host);
        } else {
            self.enqueue(station, packet, host);
        }
    }

    /// The timer of an agent of a station has fired.
    pub(super) fn on_agent_timer(&mut self, station: usize, seat: usize, host: &mut Host) {
        self.let_agents_act(station, host, |agents, around| agents.on_timer(seat, around));
    }

    /// Lets the agents of a station act, and sends what they hand to the link.
    pub(super) fn let_agents_act(
        &mut self,
        station: usize,
        host: &mut Host,
        act: impl FnOnce(&mut Stack, &mut Around),
    ) {
        self.with_agents(station, host, act);
        self.send_handed_down(host);
    }

    /// Calls the agents of a station. Returns false if there are none.
    fn with_agents(
        &mut self,
        station: usize,
        host: &mut Host,
        act: impl FnOnce(&mut Stack, &mut Around),
    ) -> bool {
        let Some(stack) = host.agents.at(self.first_port as usize + station) else { return false };
        let handed_down = &mut self.handed_down;
        let mut around = Around {
            queue: host.queue,
            inbox: host.inbox,
            accounts: host.accounts,
            tracer: host.tracer,
            ports: host.ports,
            now: host.now,
            to_link: &mut |handed| match handed {
                Handed::Last(packet) | Handed::Ahead(packet) => handed_down.push_back((station, packet)),
                Handed::Ride(..) | Handed::RideBehind(..) | Handed::Unload(_) => {}
            },
        };
        act(host.agents.stack(stack), &mut around);
        true
    }

    /// Sends the packets that agents have handed to the link.
    fn send_handed_down(&mut self, host: &mut Host) {
        while let Some((station, packet)) = self.handed_down.pop_front() {
            self.enqueue(station, packet, host);
        }
    }

    fn enqueue(&mut self, station: usize, packet: Packet, host: &mut Host) {
        let destination = self.leaves_at(station, packet.dst, host.routes);
        let id = self.stations[station].mac.next_id();
        self.trace(station, Event::Queue, Why::Nothing, &packet, host);
        let handle = self.copies.enter(host.pool.insert(packet), id);
        let running = SlotNo(host.now.0 / self.slot.0);
        let earliest = match self.begun {
            Some(begun) if begun >= running => running.after(1),
            _ if host.now.0 > running.0 * self.slot.0 => running.after(1),
            _ => running,
        };
        self.with_mac(station, |mac, out| {
            mac.enqueue(destination, handle, running, out);
        });
        self.settle(station, running, host);
        self.plan(station, Some(earliest));
        self.set_begin(host);
    }

    /// The node at which a packet leaves the network on its route.
    fn leaves_at(&self, station: usize, dst: NodeId, routes: &Routes) -> NodeId {
        let ports = self.first_port..self.first_port + self.stations.len() as u32;
        let mut node = self.stations[station].node;
        while node != dst {
            let hop = routes.next_hop(node, dst);
            if !ports.contains(&hop.port.0) {
                break;
            }
            node = hop.next;
        }
        node
    }

    /// An event is due.
    pub(super) fn on_event(&mut self, event: FrnEvent, host: &mut Host) {
        let slot = host.now.0 / self.slot.0;
        match event {
            FrnEvent::End => {
                host.queue.cancel(self.end);
                self.end(SlotNo(slot - 1), host);
            }
            FrnEvent::Begin => {
                host.queue.cancel(self.begin);
                self.begin(SlotNo(slot), host);
            }
        }
        self.send_handed_down(host);
        self.set_begin(host);
    }

    /// Hands out the receptions of a slot.
    fn end(&mut self, slot: SlotNo, host: &mut Host) {
        let mut receptions = std::mem::take(&mut self.receptions);
        self.medium.resolve(slot.0, &self.transmitters, &mut receptions);
        for reception in &receptions {
            let frame = self.frames[reception.frame as usize];
            let transmitter = self.transmitters[reception.frame as usize];
            let station = reception.station as usize;
            let listener = self.stations[station].node;
            let is_addressed = frame.receiver == listener;
            let fate = match reception.fate {
                SlotFate::Errored if self.error_at == ErrorAt::Addressee && !is_addressed => {
                    SlotFate::Received
                }
                fate => fate,
            };
            self.count(&frame, transmitter, station, fate);
            let act = SlotAct::heard(fate, is_addressed);
            self.note(host, slot, station, act, &frame, frame.transmitter);
            if is_addressed && host.tracer.events.is_some() {
                self.trace_ended(reception.frame as usize, fate, host);
            }
            if fate != SlotFate::Received {
                continue;
            }
            let is_copied = is_addressed && frame.kind == FrameKind::Packet;
            let copy = if is_copied { self.copies.receive(frame.handle, transmitter) } else { 0 };
            self.with_mac(station, |mac, out| mac.on_frame(&frame, copy, out));
            self.settle(station, slot, host);
            self.plan_next(station, slot);
        }
        self.receptions = receptions;
    }

    /// Counts the fate of a frame at its addressee, and of an echo at the node that waits for it.
    fn count(&mut self, frame: &Frame, transmitter: u32, station: usize, fate: SlotFate) {
        let counters = &mut self.counters;
        let is_addressed = frame.receiver == self.stations[station].node;
        if is_addressed {
            match fate {
                SlotFate::Received => {}
                SlotFate::Collided => counters.collided += 1,
                SlotFate::Deaf => counters.deaf += 1,
                SlotFate::Errored => counters.errored += 1,
                SlotFate::CutOff => counters.cut_off += 1,
            }
        }
        let is_echo = match frame.kind {
            FrameKind::Ack => is_addressed,
            FrameKind::Packet => {
                let origin = self.copies.origin(frame.handle);
                self.stations[transmitter as usize].forwards
                    && origin != NOWHERE
                    && origin as usize == station
            }
        };
        counters.echoes_lost += u64::from(is_echo && fate != SlotFate::Received);
    }

    fn with_mac<T>(&mut self, station: usize, act: impl FnOnce(&mut SlottedNode, &mut MacHost) -> T) -> T {
        let Station { mac, draws, .. } = &mut self.stations[station];
        act(mac, &mut MacHost { answers: &mut self.answers, draws })
    }

    /// Carries out the answers of a node.
    fn settle(&mut self, station: usize, slot: SlotNo, host: &mut Host) {
        let mut answers = std::mem::take(&mut self.answers);
        for answer in answers.drain(..) {
            let last = match answer {
                Answer::Up(handle) => {
                    let id = self.copies.packet(handle);
                    let packet = *host.pool.packet(id);
                    if host.pool.is_passed_on(id) {
                        host.accounts.repeated(&packet);
                    }
                    host.pool.pass_on(id);
                    self.trace(station, Event::Receive, Why::Nothing, &packet, host);
                    if !self.with_agents(station, host, |agents, around| agents.up(&packet, around)) {
                        host.inbox.push_back((self.stations[station].node, packet));
                    }
                    self.copies.deliver(handle)
                }
                Answer::Done(handle, end) => {
                    self.counters.hops += u64::from(end == End::Passed);
                    let before = self.copies.counters.all.lost;
                    let name = self.copies.name(handle);
                    let packet = *host.pool.packet(self.copies.packet(handle));
                    let last = self.copies.part(handle, end);
                    if self.copies.counters.all.lost > before {
                        host.losses.enter(&packet, Culprit::Channel, host.now);
                        host.accounts.lost(&packet);
                        self.trace(station, Event::Lost, traced::of_end(end), &packet, host);
                    }
                    if host.tracer.slots {
                        let (link, node) = (self.place, self.stations[station].node);
                        host.tracer.slot(SlotRow::ended(link, slot, node, end, name));
                    }
                    last
                }
            };
            if let Some(id) = last {
                host.pool.remove(id);
            }
        }
        self.answers = answers;
    }

    fn plan_next(&mut self, station: usize, slot: SlotNo) {
        let next = self.stations[station].mac.next_slot(slot);
        self.plan(station, next);
    }

    /// Plans a call of a station in a slot, unless it is called earlier.
    fn plan(&mut self, station: usize, slot: Option<SlotNo>) {
        let planned = &mut self.stations[station].planned;
        if let Some(slot) = slot
            && slot < *planned
        {
            *planned = slot;
            self.agenda.push(Reverse((slot, station as u32)));
        }
    }

    /// Schedules the next slot after all other events of its first instant.
    fn set_begin(&self, host: &mut Host) {
        if let Some(Reverse((slot, _))) = self.agenda.peek() {
            host.queue.set_late(self.begin, Time(slot.0 * self.slot.0));
        }
    }

    fn note(&self, host: &mut Host, slot: SlotNo, station: usize, act: SlotAct, frame: &Frame, peer: NodeId) {
        if host.tracer.slots {
            let node = self.stations[station].node;
            host.tracer.slot(SlotRow::frame(self.place, slot, node, act, frame, peer));
        }
    }

    /// Begins to measure packets that enter.
    pub(crate) fn begin_measurement(&mut self) {
        self.copies.begin_measurement();
    }

    /// The counters up to now.
    pub(crate) fn counters(&self) -> FrnCounters {
        FrnCounters { copies: self.copies.counters, ..self.counters }
    }
}
