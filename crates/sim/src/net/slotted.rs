//! A slotted multi-hop network: its medium, its nodes, and the slots in which they do something.
//!
//! Two events make a slot. It ends for those that sent and heard in it: receptions are handed to the nodes, and packets
//! that have arrived go up. Then, after all else of that instant, the next one begins: the nodes that want something in it
//! are asked, those bound to send do so, the others sense the channel. A slot in which no node wants anything has no event.
//!
//! **Checked by** the tests of its parts and `crates/sim/tests/frn.rs`.

mod copies;
mod sending;
mod tables;

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
use crate::probe::accounts::Accounts;
use crate::probe::judgement::{Culprit, Losses};
use crate::probe::pcap::Capture;
use crate::probe::slots::{SlotAct, SlotRow};
use crate::probe::trace::Tracer;
pub(crate) use copies::CopyCounters;
use copies::{Copies, NOWHERE};

/// What can be due in a slotted network.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FrnEvent {
    /// A slot ends.
    End,
    /// A slot begins.
    Begin,
}

/// What the network needs of the world around it.
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
    pub(super) now: Time,
}

/// A slotted network.
pub(crate) struct Frn {
    /// Its place among the links of the scenario.
    place: u32,
    slot: Span,
    sense: Sense,
    error_at: ErrorAt,
    medium: SlotMedium,
    stations: Vec<Station>,
    /// The first of its ports; each station has one.
    first_port: u32,
    copies: Copies,
    /// Stations and the slots they want to be asked in. One that has moved to an earlier slot stays behind and is skipped.
    agenda: BinaryHeap<Reverse<(SlotNo, u32)>>,
    begun: Option<SlotNo>,
    begin: Slot,
    end: Slot,
    frames: Vec<Frame>,
    transmitters: Vec<u32>,
    receptions: Vec<Reception>,
    ordinary: Vec<u32>,
    /// Where the beginnings in a slot are drawn: the instant, the station, and whether it forwards.
    drawn: Vec<(u32, u32, bool)>,
    answers: Vec<Answer>,
    /// Packets that agents hand to the link, in order, with their stations.
    handed_down: VecDeque<(usize, Packet)>,
    counters: FrnCounters,
    pub(crate) capture: Option<Capture>,
}

/// A node with its random numbers.
struct Station {
    node: NodeId,
    mac: SlottedNode,
    draws: Stream,
    planned: SlotNo,
    /// The last slot in which it sensed a transmission, plus one.
    sensed: u64,
    /// Whether what it sends in this slot is forwarded, which makes it an echo.
    forwards: bool,
}

/// What a node has answered.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Up(u64),
    Done(u64, End),
}

/// What a network has done since the start.
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

/// Where a node puts its answers.
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

/// No slot.
const NEVER: SlotNo = SlotNo(u64::MAX);

impl Frn {
    pub(super) fn new(
        config: &Config,
        frn: &FrnConfig,
        place: usize,
        (routes, first_port): (&Routes, u32),
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
            transmitters: Vec::new(),
            receptions: Vec::new(),
            ordinary: Vec::new(),
            answers: Vec::new(),
            handed_down: VecDeque::new(),
            counters: FrnCounters::default(),
            capture: None,
        }
    }

    /// A packet leaves the node of a station over this network.
    pub(super) fn send(&mut self, station: usize, packet: Packet, host: &mut Host) {
        if self.with_agents(station, host, |agents, around| agents.down(&packet, around)) {
            self.send_handed_down(host);
        } else {
            self.enqueue(station, packet, host);
        }
    }

    /// The timer of an agent of a station has fired.
    pub(super) fn on_agent_timer(&mut self, station: usize, seat: usize, host: &mut Host) {
        self.with_agents(station, host, |agents, around| agents.on_timer(seat, around));
        self.send_handed_down(host);
    }

    /// Lets the agents of a station act. False when there are none.
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
            ports: host.ports,
            now: host.now,
            to_link: &mut |handed| match handed {
                Handed::Last(packet) | Handed::Ahead(packet) => handed_down.push_back((station, packet)),
                Handed::Ride(..) => {}
            },
        };
        act(host.agents.stack(stack), &mut around);
        true
    }

    /// Sends what agents have handed to the link.
    fn send_handed_down(&mut self, host: &mut Host) {
        while let Some((station, packet)) = self.handed_down.pop_front() {
            self.enqueue(station, packet, host);
        }
    }

    fn enqueue(&mut self, station: usize, packet: Packet, host: &mut Host) {
        let destination = self.leaves_at(station, packet.dst, host.routes);
        let id = self.stations[station].mac.next_id();
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

    /// The node at which a packet leaves the network, on the way its route goes.
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

    /// Something is due.
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

    /// Hands out what was received in a slot.
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

    /// Counts what became of a frame at the node it is for, and of an echo at the node it is due to.
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

    /// Does what a node has answered.
    fn settle(&mut self, station: usize, slot: SlotNo, host: &mut Host) {
        let mut answers = std::mem::take(&mut self.answers);
        for answer in answers.drain(..) {
            let last = match answer {
                Answer::Up(handle) => {
                    let id = self.copies.packet(handle);
                    let packet = *host.pool.get(id).0;
                    if host.pool.is_passed_on(id) {
                        host.accounts.repeated(&packet);
                    }
                    host.pool.pass_on(id);
                    if !self.with_agents(station, host, |agents, around| agents.up(&packet, around)) {
                        host.inbox.push_back((self.stations[station].node, packet));
                    }
                    self.copies.deliver(handle)
                }
                Answer::Done(handle, end) => {
                    self.counters.hops += u64::from(end == End::Passed);
                    let before = self.copies.counters.all.lost;
                    let name = self.copies.name(handle);
                    let packet = *host.pool.get(self.copies.packet(handle)).0;
                    let last = self.copies.part(handle, end);
                    if self.copies.counters.all.lost > before {
                        host.losses.enter(&packet, Culprit::Channel, host.now);
                        host.accounts.lost(&packet);
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

    /// Asks a station in a slot, unless it is asked earlier anyway.
    fn plan(&mut self, station: usize, slot: Option<SlotNo>) {
        let planned = &mut self.stations[station].planned;
        if let Some(slot) = slot
            && slot < *planned
        {
            *planned = slot;
            self.agenda.push(Reverse((slot, station as u32)));
        }
    }

    /// The next slot begins after all else that happens in its first instant.
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

    /// Starts the time in which packets that enter are measured.
    pub(crate) fn begin_measurement(&mut self) {
        self.copies.begin_measurement();
    }

    /// What the network has done up to now.
    pub(crate) fn counters(&self) -> FrnCounters {
        FrnCounters { copies: self.copies.counters, ..self.counters }
    }
}
