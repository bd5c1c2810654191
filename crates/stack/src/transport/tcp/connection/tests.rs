//! Two connections over a wire that the test controls: it sees each packet, may drop it, and advances the time.

mod acknowledgements;
mod buffer;
mod duplex;
mod ecn;
mod eln;
mod frozen;
mod heard;
mod laws_of_acks;
mod lifetime;
mod limits;
mod losses;
mod pacing;
mod predicted;
mod sending;
mod spurious;
mod tail;
mod usage;
mod window_rules;

use std::collections::VecDeque;

use super::*;
use crate::hooks::Note;
use crate::packet::{Ecn, Segment};
use crate::registry::tcp::{Config, Connection, Profile};
use crate::registry::{CongestionKind, LawConfig, Parts, RecoveryKind};
use crate::transport::tcp::RtoFloor;
use crate::units::Span;

const CLIENT: usize = 0;
const SERVER: usize = 1;
const ONE_WAY: Span = Span::from_millis(10);

/// The output of one end: packets with the times they left, and its timers.
#[derive(Default)]
struct Side {
    wire: VecDeque<(Time, Packet)>,
    retransmit: Option<Time>,
    delayed_ack: Option<Time>,
    pace: Option<Time>,
    now: Time,
    /// Whether notes are wanted, and those made.
    watches: bool,
    notes: Vec<Note>,
}

impl Out for Side {
    fn down(&mut self, packet: Packet) {
        self.wire.push_back((self.now, packet));
    }
    fn set(&mut self, timer: Timer, at: Time) {
        *self.timer(timer) = Some(at);
    }
    fn cancel(&mut self, timer: Timer) {
        *self.timer(timer) = None;
    }
    fn is_watching(&self) -> bool {
        self.watches
    }
    fn note(&mut self, note: Note) {
        self.notes.push(note);
    }
    fn measured(&mut self, _: Span, _: Span, _: Span) {}
}

impl Side {
    fn timer(&mut self, timer: Timer) -> &mut Option<Time> {
        match timer {
            Timer::Retransmit => &mut self.retransmit,
            Timer::DelayedAck => &mut self.delayed_ack,
            Timer::Pace => &mut self.pace,
        }
    }
}

struct Pair {
    ends: [Connection; 2],
    sides: [Side; 2],
    now: Time,
    /// Every segment that left, with its side and time, in order.
    log: Vec<(Time, usize, Segment)>,
    seen: [usize; 2],
    /// The ECN field of each, as it left.
    fields: Vec<Ecn>,
    /// Segments (counted from 0 per side) that the wire loses, and those that it marks.
    lost: [Vec<usize>; 2],
    marked: [Vec<usize>; 2],
    /// Segments of 1000 bytes of the client, counted from 0, that arrive later than others, and by how much.
    late: (Vec<usize>, Span),
    /// Whether acknowledgements to the client are marked with a loss on a wireless link.
    eln: bool,
}

impl Pair {
    fn new(config: &Config) -> Pair {
        Pair::between([config, config])
    }

    fn between(configs: [&Config; 2]) -> Pair {
        let address = [(NodeId(0), 1000), (NodeId(1), 2000)];
        // Both initial sequence numbers lie just below the wrap.
        let iss = [SeqNo(u32::MAX - 1500), SeqNo(u32::MAX - 3)];
        let end = |role, side: usize| {
            Connection::new(configs[side], role, address[side], address[1 - side], iss[side])
        };
        Pair {
            ends: [end(Role::Active, CLIENT), end(Role::Passive, SERVER)],
            sides: [Side::default(), Side::default()],
            now: Time::ZERO,
            log: Vec::new(),
            fields: Vec::new(),
            seen: [0; 2],
            lost: [Vec::new(), Vec::new()],
            marked: [Vec::new(), Vec::new()],
            late: (Vec::new(), Span::ZERO),
            eln: false,
        }
    }

    fn with(&mut self, side: usize, act: impl FnOnce(&mut Connection, Time, &mut Side)) {
        self.sides[side].now = self.now;
        act(&mut self.ends[side], self.now, &mut self.sides[side]);
    }

    fn open(&mut self) {
        self.with(CLIENT, Connection::open);
    }

    fn write(&mut self, side: usize, bytes: u64) {
        self.with(side, |end, now, out| end.write(bytes, now, out));
    }

    fn close(&mut self, side: usize) {
        self.with(side, Connection::close);
    }

    /// Whether a packet of the client arrives later than others; only its first transmission does.
    fn delays(&mut self, packet: &Packet) -> bool {
        let Body::Tcp(segment) = &packet.body else { return false };
        let offset = segment.seq.0.wrapping_sub(self.ends[CLIENT].iss.plus(1).0);
        let before = self.late.0.len();
        self.late.0.retain(|late| segment.len == 0 || 1000 * *late as u32 != offset);
        self.late.0.len() < before
    }

    /// Handles the next event, if any: an arrival or a timer.
    fn step(&mut self) -> bool {
        let mut next: Option<(Time, u8, usize)> = None;
        let mut consider = |at: Option<Time>, what: u8, side: usize| {
            if let Some(at) = at
                && next.is_none_or(|(time, ..)| at < time)
            {
                next = Some((at, what, side));
            }
        };
        for side in [CLIENT, SERVER] {
            consider(self.sides[side].wire.front().map(|sent| sent.0.after(ONE_WAY)), 0, side);
            consider(self.sides[side].retransmit, 1, side);
            consider(self.sides[side].delayed_ack, 2, side);
            consider(self.sides[side].pace, 3, side);
        }
        let Some((time, what, side)) = next else { return false };
        // What left behind a packet that is late arrives with it.
        self.now = self.now.max(time);
        match what {
            0 => {
                let Some((sent, mut packet)) = self.sides[side].wire.pop_front() else { return false };
                if side == CLIENT && self.delays(&packet) {
                    let arrives = sent.after(self.late.1);
                    let wire = &mut self.sides[side].wire;
                    let behind = wire.partition_point(|other| other.0 <= arrives);
                    wire.insert(behind, (arrives, packet));
                    return true;
                }
                let number = self.seen[side];
                self.seen[side] += 1;
                if let Body::Tcp(segment) = &mut packet.body {
                    if self.eln && side == SERVER {
                        segment.flags = segment.flags.with(Flags::ELN);
                    }
                    self.log.push((sent, side, *segment));
                    self.fields.push(packet.ecn);
                }
                if self.marked[side].contains(&number) {
                    packet.ecn = Ecn::Ce;
                }
                if !self.lost[side].contains(&number) {
                    self.with(1 - side, |end, now, out| end.up(&packet, now, out));
                }
            }
            1 => {
                self.sides[side].retransmit = None;
                self.with(side, |end, now, out| end.on_timer(Timer::Retransmit, now, out));
            }
            3 => {
                self.sides[side].pace = None;
                self.with(side, |end, now, out| end.on_timer(Timer::Pace, now, out));
            }
            _ => {
                self.sides[side].delayed_ack = None;
                self.with(side, |end, now, out| end.on_timer(Timer::DelayedAck, now, out));
            }
        }
        true
    }

    /// Handles all events until `until`.
    fn run(&mut self, until: Span) {
        for _ in 0..100_000 {
            if self.now.0 > until.0 || !self.step() {
                return;
            }
        }
        panic!("the two ends talk without end");
    }

    fn sent_by(&self, side: usize) -> Vec<Segment> {
        self.log.iter().filter(|line| line.1 == side).map(|line| line.2).collect()
    }

    fn data_of(&self, side: usize) -> Vec<(u32, u32)> {
        let zero = self.ends[side].iss.plus(1);
        let data = self.sent_by(side).into_iter().filter(|segment| segment.len > 0);
        data.map(|segment| (segment.seq.0.wrapping_sub(zero.0), segment.len)).collect()
    }
}

fn modern() -> Config {
    let config = Profile::Modern.config();
    Config { packet: 1000, initial_window: 4, quick_acks: 0, rto_floor: RtoFloor::Timeout, ..config }
}
