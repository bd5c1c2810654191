//! Packet scripts for agents at a base station: input and output in words.
//!
//! Segments have 1000 bytes and are numbered from 0; the sequence numbers wrap within a script. A server sends to a
//! mobile through the station, or the mobile sends to the server.

use crate::hooks::{Agent, AgentOut};
use crate::packet::{Body, Flags, NodeId, Packet, Segment};
use crate::signal::Signal;
use crate::units::{SeqNo, Span, Time};

pub(in super::super) const SERVER: NodeId = NodeId(0);
pub(in super::super) const STATION: NodeId = NodeId(1);
pub(in super::super) const MOBILE: NodeId = NodeId(9);
pub(in super::super) const ZERO: SeqNo = SeqNo(u32::MAX - 2_499);
pub(in super::super) const LEN: u32 = 1000;
const WINDOW: u16 = 500;

/// The output of an agent, and its timer.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Heard {
    pub(in super::super) said: Vec<String>,
    pub(in super::super) packets: Vec<Packet>,
    timer: Option<Time>,
}

impl Heard {
    fn say(&mut self, what: &str, packet: &Packet) {
        let Body::Tcp(segment) = &packet.body else { panic!("a segment") };
        let number = |seq: SeqNo| seq.distance_from(ZERO).cast_unsigned() / LEN;
        let mark = if segment.flags.has(Flags::ELN) { " marked" } else { "" };
        let said = if segment.len > 0 {
            format!("{what} {}", number(segment.seq))
        } else {
            format!("{what} ack {}{mark}", number(segment.ack))
        };
        self.said.push(said);
        self.packets.push(*packet);
    }
}

impl AgentOut for Heard {
    fn down(&mut self, packet: &Packet) {
        self.say("down", packet);
    }
    fn up(&mut self, packet: &Packet) {
        self.say("up", packet);
    }
    fn ahead(&mut self, packet: &Packet) {
        self.say("ahead", packet);
    }
    fn set_timer(&mut self, at: Time) {
        self.timer = Some(at);
    }
    fn cancel_timer(&mut self) {
        self.timer = None;
    }
}

/// An agent, the time, and the output so far.
#[derive(Clone, Debug)]
pub(in super::super) struct Script<A> {
    pub(in super::super) agent: A,
    pub(in super::super) now: Time,
    pub(in super::super) heard: Heard,
}

/// A data packet from the server.
pub(in super::super) fn data(number: u32) -> Packet {
    packet(SERVER, MOBILE, Segment { seq: at(number), flags: Flags::ACK, len: LEN, ..Segment::default() })
}

/// An acknowledgement of all segments before this one.
pub(in super::super) fn ack(number: u32) -> Segment {
    Segment { ack: at(number), flags: Flags::ACK, window: WINDOW, ..Segment::default() }
}

/// The sequence number of a segment.
pub(in super::super) fn at(number: u32) -> SeqNo {
    ZERO.plus(LEN * number)
}

/// A packet with the ports of the flow.
pub(in super::super) fn packet(src: NodeId, dst: NodeId, segment: Segment) -> Packet {
    let (src_port, dst_port) = if src == SERVER { (80, 4_000) } else { (4_000, 80) };
    let body = Body::Tcp(Segment { src_port, dst_port, ..segment });
    Packet::new(src, dst, body)
}

impl<A: Agent> Script<A> {
    pub(in super::super) fn new(agent: A) -> Script<A> {
        Script { agent, now: Time::ZERO, heard: Heard::default() }
    }

    /// The output of the agent since the last call.
    pub(in super::super) fn said(&mut self) -> Vec<String> {
        self.heard.packets.clear();
        std::mem::take(&mut self.heard.said)
    }

    /// A packet on its way to the link; returns the output of the agent.
    pub(in super::super) fn down(&mut self, packet: &Packet) -> Vec<String> {
        self.agent.down(packet, self.now, &mut self.heard);
        self.said()
    }

    /// A packet from the link; returns the output of the agent.
    pub(in super::super) fn up(&mut self, packet: &Packet) -> Vec<String> {
        self.agent.up(packet, self.now, &mut self.heard);
        self.said()
    }

    /// Data from the server that the agent forwards unchanged.
    pub(in super::super) fn send(&mut self, numbers: impl IntoIterator<Item = u32>) {
        for number in numbers {
            assert_eq!(self.down(&data(number)), [format!("down {number}")]);
        }
    }

    /// An acknowledgement from the mobile.
    pub(in super::super) fn ack(&mut self, number: u32) -> Vec<String> {
        self.up(&packet(MOBILE, SERVER, ack(number)))
    }

    /// The link refuses a packet.
    pub(in super::super) fn refuse(&mut self, packet: &Packet) {
        self.agent.on_signal(Signal::Refused, packet, self.now, &mut self.heard);
        assert!(self.said().is_empty());
    }

    /// Time passes, and the timer fires when it is due; returns the output of the agent.
    pub(in super::super) fn wait(&mut self, span: Span) -> Vec<String> {
        let until = self.now.after(span);
        while let Some(due) = self.heard.timer.take_if(|at| *at <= until) {
            self.now = due;
            self.agent.on_timer(due, &mut self.heard);
        }
        self.now = until;
        self.said()
    }
}
