//! Two connections over a simple hop with an agent at each end; the test sets the faults of the hop.

mod upsets;

pub(super) use upsets::Upset;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::super::{Config, Counters, LleTcp};
use crate::hooks::{Agent, AgentOut, Exported, Note, Out, Timer};
use crate::packet::{Body, Flags, NodeId, Packet, Segment};
use crate::registry::tcp::{self, Connection, Role, State};
use crate::signal::Signal;
use crate::units::{SeqNo, Span, Time};

/// A random generator that needs no crate (`SplitMix64`).
#[derive(Clone, Debug)]
pub(super) struct Draws(pub(super) u64);

impl Draws {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn per_mille(&mut self, rate: u64) -> bool {
        self.below(1000) < rate
    }
}

/// How a reader reads.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reader {
    AtOnce,
    /// A number of bytes at a constant interval.
    Slow(u64, Span),
    /// Nothing until this time, everything afterwards.
    Stalled(Time),
}

/// The fate of the second side's host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Lives,
    /// Its TCP falls silent; its link continues.
    Dies(Time),
    /// It forgets its connections and resets what arrives.
    Resets(Time),
}

/// What happens in a run. Rates are per mille of the packets on the hop, until `calm`.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) seed: u64,
    /// The agents, except for the criterion.
    pub(super) agents: [Config; 2],
    /// Delay of a wired path between the first side and its end of the hop, which is then an access point.
    pub(super) wired: Option<Span>,
    /// The side that opens.
    pub(super) opener: usize,
    pub(super) tcp: tcp::Config,
    pub(super) readers: [Reader; 2],
    /// Bytes that each side writes, in this number of pieces before `written_by`.
    pub(super) bytes: [u64; 2],
    pub(super) pieces: u64,
    pub(super) written_by: Time,
    /// When the opener closes.
    pub(super) close_at: Time,
    pub(super) lost: u64,
    /// The sides whose packets the hop may lose.
    pub(super) losers: [bool; 2],
    pub(super) delivered_unnoticed: u64,
    pub(super) dropped_above: u64,
    pub(super) link_down: (Time, Time),
    pub(super) calm: Time,
    pub(super) fate: Fate,
    /// Hand-offs and restarts, with their times.
    pub(super) upsets: Vec<(Time, Upset)>,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// Both streams arrived whole and both sides closed.
    pub(super) whole: bool,
    /// Segments that acknowledged or offered more than the receiver had ever advertised.
    pub(super) beyond_edge: u64,
    /// Bytes that the first side considers acknowledged and the second has not received in order.
    pub(super) acknowledged_falsely: u64,
    /// The receive buffer of the second side.
    pub(super) window: u64,
    pub(super) counters: [Counters; 2],
    pub(super) states: [State; 2],
    pub(super) in_order: [u64; 2],
    pub(super) ended: Time,
    pub(super) retransmits: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Write(usize, u64),
    Close(usize),
    Open(usize),
    Read(usize),
    LinkDone(usize),
    Wired(usize),
    AgentTimer(usize, u64),
    Upset(usize),
    Arrive,
    TcpTimer(usize, bool, u64),
}

#[derive(Clone, Copy, Debug)]
enum Work {
    AgentDown(usize, Packet),
    AgentUp(usize, Packet),
    TcpUp(usize, Packet),
}

/// Records the answers of a connection or an agent.
#[derive(Debug, Default)]
struct Answers {
    down: Vec<Packet>,
    up: Vec<Packet>,
    timers: Vec<(Timer, Option<Time>)>,
    /// The new state of the agent's timer: [`Time::NEVER`] if it was cancelled.
    agent_timer: Option<Time>,
}

impl Out for Answers {
    fn down(&mut self, packet: Packet) {
        self.down.push(packet);
    }
    fn set(&mut self, timer: Timer, at: Time) {
        self.timers.push((timer, Some(at)));
    }
    fn cancel(&mut self, timer: Timer) {
        self.timers.push((timer, None));
    }
    fn is_watching(&self) -> bool {
        false
    }
    fn note(&mut self, _note: Note) {}
    fn measured(&mut self, _rtt: Span, _srtt: Span, _rto: Span) {}
}

impl AgentOut for Answers {
    fn down(&mut self, packet: &Packet) {
        self.down.push(*packet);
    }
    fn up(&mut self, packet: &Packet) {
        self.up.push(*packet);
    }
    fn set_timer(&mut self, at: Time) {
        self.agent_timer = Some(at);
    }
    fn cancel_timer(&mut self) {
        self.agent_timer = Some(Time::NEVER);
    }
}

const SERVICE: Span = Span::from_millis(1);
const HORIZON: Time = Time(4_000_000_000_000);

pub(super) struct World {
    plan: Plan,
    now: Time,
    draws: Draws,
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    sequence: u64,
    tcp: [Connection; 2],
    agents: [LleTcp; 2],
    links: [VecDeque<Packet>; 2],
    wires: [VecDeque<Packet>; 2],
    versions: [[u64; 3]; 2],
    first: [SeqNo; 2],
    /// Highest right edge each side's TCP has advertised for the other's data.
    edges: [u64; 2],
    beyond_edge: u64,
    work: VecDeque<Work>,
    moving: VecDeque<Option<Exported>>,
}

impl World {
    pub(super) fn run(plan: &Plan) -> Outcome {
        let mut world = World::new(plan.clone());
        while let Some(Reverse((at, _, event))) = world.events.pop() {
            if at > HORIZON || world.is_over() {
                break;
            }
            world.now = at;
            world.act(event);
            world.finish_work();
        }
        world.outcome()
    }

    fn new(plan: Plan) -> World {
        let mut draws = Draws(plan.seed);
        let ends = [(NodeId(0), 1000), (NodeId(2), 2000)];
        // Sequence numbers that wrap soon.
        let first = [0, 1].map(|_| SeqNo(u32::MAX - draws.below(60_000) as u32));
        let tcp = [0, 1].map(|side: usize| {
            let role = if side == plan.opener { Role::Active } else { Role::Passive };
            let mut tcp = Connection::new(&plan.tcp, role, ends[side], ends[1 - side], first[side]);
            if !matches!(plan.readers[side], Reader::AtOnce) {
                tcp.read_by_hand();
            }
            tcp
        });
        let agents = [0, 1].map(|side| upsets::agent(&plan, side));
        let mut world = World {
            now: Time::ZERO,
            draws,
            events: BinaryHeap::new(),
            sequence: 0,
            tcp,
            agents,
            links: Default::default(),
            wires: Default::default(),
            versions: [[0; 3]; 2],
            first,
            edges: [0; 2],
            beyond_edge: 0,
            work: VecDeque::new(),
            moving: VecDeque::new(),
            plan,
        };
        world.schedule_traffic();
        world
    }

    fn schedule_traffic(&mut self) {
        let plan = self.plan.clone();
        self.at(Time::ZERO, Event::Open(plan.opener));
        for side in 0..2 {
            for _ in 0..plan.pieces {
                let at = Time(self.draws.below(plan.written_by.0));
                if plan.bytes[side] > 0 {
                    self.at(at, Event::Write(side, plan.bytes[side] / plan.pieces));
                }
            }
            match plan.readers[side] {
                Reader::AtOnce => {}
                Reader::Slow(_, every) => self.at(Time::ZERO.after(every), Event::Read(side)),
                Reader::Stalled(until) => self.at(until, Event::Read(side)),
            }
        }
        self.at(plan.close_at, Event::Close(plan.opener));
        for (number, (at, _)) in plan.upsets.iter().enumerate() {
            self.at(*at, Event::Upset(number));
        }
    }

    fn at(&mut self, at: Time, event: Event) {
        self.sequence += 1;
        self.events.push(Reverse((at, self.sequence, event)));
    }

    fn is_alive(&self) -> bool {
        match self.plan.fate {
            Fate::Lives => true,
            Fate::Dies(at) | Fate::Resets(at) => self.now < at,
        }
    }

    fn is_over(&self) -> bool {
        match self.plan.fate {
            Fate::Lives => self.tcp.iter().all(Connection::is_done),
            Fate::Dies(at) => self.now > at.after(Span::from_secs(500)),
            Fate::Resets(_) => self.tcp[0].state() == State::Closed && self.now > Time::ZERO,
        }
    }

    fn act(&mut self, event: Event) {
        let now = self.now;
        let mut out = Answers::default();
        match event {
            Event::Open(side) => self.tcp[side].open(now, &mut out),
            Event::Write(side, bytes) => {
                self.tcp[side].write(bytes, now, &mut out);
            }
            Event::Close(side) => self.tcp[side].close(now, &mut out),
            Event::Read(side) => {
                let (bytes, every) = match self.plan.readers[side] {
                    Reader::Slow(bytes, every) => (bytes, every),
                    _ => (u64::MAX, Span::from_millis(5)),
                };
                self.tcp[side].read(bytes, now, &mut out);
                self.at(now.after(every), Event::Read(side));
            }
            Event::LinkDone(side) => return self.link_done(side),
            Event::Wired(towards) => {
                let packet = self.wires[towards].pop_front().expect("on the wire");
                let work = if towards == 0 { Work::TcpUp(0, packet) } else { Work::AgentDown(0, packet) };
                self.work.push_back(work);
                return;
            }
            Event::AgentTimer(side, version) => {
                if self.versions[side][2] == version {
                    self.with_agent(side, |agent, out| agent.on_timer(now, out));
                }
                return;
            }
            Event::Upset(number) => return self.upset(number),
            Event::Arrive => return self.state_arrives(),
            Event::TcpTimer(side, delayed, version) => {
                if self.versions[side][usize::from(delayed)] != version {
                    return;
                }
                let timer = if delayed { Timer::DelayedAck } else { Timer::Retransmit };
                self.tcp[side].on_timer(timer, now, &mut out);
            }
        }
        if let Event::Write(side, _)
        | Event::Close(side)
        | Event::Open(side)
        | Event::Read(side)
        | Event::TcpTimer(side, ..) = event
        {
            self.take_tcp(side, out);
        }
    }

    /// Handles the answer of a connection; a dead one has none.
    fn take_tcp(&mut self, side: usize, out: Answers) {
        if side == 1 && !self.is_alive() {
            return;
        }
        for (timer, at) in out.timers {
            let delayed = timer == Timer::DelayedAck;
            self.versions[side][usize::from(delayed)] += 1;
            if let Some(at) = at {
                let version = self.versions[side][usize::from(delayed)];
                self.at(at.max(self.now), Event::TcpTimer(side, delayed, version));
            }
        }
        for packet in out.down {
            self.note_edge(side, &packet);
            self.towards_hop(side, packet);
        }
    }

    fn towards_hop(&mut self, side: usize, packet: Packet) {
        match self.plan.wired {
            Some(delay) if side == 0 => {
                self.wires[1].push_back(packet);
                self.at(self.now.after(delay), Event::Wired(1));
            }
            _ => self.work.push_back(Work::AgentDown(side, packet)),
        }
    }

    fn with_agent(&mut self, side: usize, call: impl FnOnce(&mut LleTcp, &mut Answers)) {
        let mut out = Answers::default();
        call(&mut self.agents[side], &mut out);
        if let Some(at) = out.agent_timer {
            self.versions[side][2] += 1;
            if at < Time::NEVER {
                self.at(at.max(self.now), Event::AgentTimer(side, self.versions[side][2]));
            }
        }
        for packet in out.down {
            self.links[side].push_back(packet);
            if self.links[side].len() == 1 {
                self.at(self.now.after(SERVICE), Event::LinkDone(side));
            }
        }
        for packet in out.up {
            match self.plan.wired {
                Some(delay) if side == 0 => {
                    self.wires[0].push_back(packet);
                    self.at(self.now.after(delay), Event::Wired(0));
                }
                _ => self.work.push_back(Work::TcpUp(side, packet)),
            }
        }
    }

    fn link_done(&mut self, side: usize) {
        let now = self.now;
        let Some(packet) = self.links[side].pop_front() else { return };
        if !self.links[side].is_empty() {
            self.at(now.after(SERVICE), Event::LinkDone(side));
        }
        let down = self.plan.link_down;
        let calm = now >= self.plan.calm;
        let lost = (now >= down.0 && now < down.1)
            || (!calm && self.plan.losers[side] && self.draws.per_mille(self.plan.lost));
        let unnoticed = !calm && self.draws.per_mille(self.plan.delivered_unnoticed);
        let dropped = !calm && self.draws.per_mille(self.plan.dropped_above);
        let signal = if lost || unnoticed { Signal::Undelivered } else { Signal::Delivered };
        if !lost && !dropped {
            self.work.push_back(Work::AgentUp(1 - side, packet));
        }
        self.with_agent(side, |agent, out| agent.on_signal(signal, &packet, now, out));
    }

    fn finish_work(&mut self) {
        let now = self.now;
        while let Some(work) = self.work.pop_front() {
            match work {
                Work::AgentDown(side, packet) => {
                    self.with_agent(side, |agent, out| agent.down(&packet, now, out));
                }
                Work::AgentUp(side, packet) => {
                    self.with_agent(side, |agent, out| agent.up(&packet, now, out));
                }
                Work::TcpUp(side, packet) => self.tcp_up(side, &packet),
            }
        }
    }

    fn tcp_up(&mut self, side: usize, packet: &Packet) {
        if side == 1 && !self.is_alive() {
            if let (Fate::Resets(_), Body::Tcp(segment)) = (self.plan.fate, &packet.body) {
                let (src_port, dst_port) = (segment.dst_port, segment.src_port);
                let reset =
                    Segment { src_port, dst_port, seq: segment.ack, flags: Flags::RST, ..Segment::default() };
                let body = Body::Tcp(reset);
                self.towards_hop(1, Packet::new(packet.dst, packet.src, body));
            }
            return;
        }
        self.check_edge(side, packet);
        let mut out = Answers::default();
        self.tcp[side].up(packet, self.now, &mut out);
        self.take_tcp(side, out);
    }

    fn edge_of(&self, receiver: usize, packet: &Packet) -> Option<(u64, u64)> {
        let Body::Tcp(segment) = &packet.body else { return None };
        let sender = 1 - receiver;
        let near = self.tcp[sender].sender().board().una();
        let zero = self.first[sender].plus(1);
        let ack = segment.flags.has(Flags::ACK).then(|| segment.ack.unwrap_near(zero, near))??;
        let shift = if segment.flags.has(Flags::SYN) { 0 } else { self.plan.tcp.window_scale_shift() };
        Some((ack, ack + (u64::from(segment.window) << shift)))
    }

    fn note_edge(&mut self, side: usize, packet: &Packet) {
        if let Some((_, edge)) = self.edge_of(side, packet) {
            self.edges[side] = self.edges[side].max(edge);
        }
    }

    /// What `side` hears must not exceed what the other side has advertised; a FIN counts one beyond.
    fn check_edge(&mut self, side: usize, packet: &Packet) {
        if let Some((ack, edge)) = self.edge_of(1 - side, packet)
            && (ack > self.edges[1 - side] + 1 || edge > self.edges[1 - side].max(ack))
        {
            self.beyond_edge += 1;
        }
    }

    fn outcome(mut self) -> Outcome {
        let now = self.now;
        let in_order = [0, 1].map(|side: usize| self.tcp[side].receiver().in_order());
        let pieces = self.plan.pieces;
        let written = self.plan.bytes.map(|bytes| bytes / pieces * pieces);
        let done = self.tcp.iter().all(Connection::is_done);
        let whole = done && in_order == [written[1], written[0]];
        let una = self.tcp[0].sender().board().una();
        Outcome {
            whole,
            beyond_edge: self.beyond_edge,
            acknowledged_falsely: una.saturating_sub(self.tcp[1].receiver().next()),
            window: self.plan.tcp.receive_buffer_bytes(),
            counters: [self.agents[0].counters(), self.agents[1].counters()],
            states: [self.tcp[0].state(), self.tcp[1].state()],
            in_order,
            ended: now,
            retransmits: self.tcp[0].counters(now).retransmits,
        }
    }
}
