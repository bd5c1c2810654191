//! An ideal medium for tests: a matrix gives who hears whom, and frames that overlap at a listener are lost there.

use std::collections::VecDeque;
use std::sync::Arc;

use super::super::{
    Airtime, Category, Dcf, Frame, FrameKind, Load, MacConfig, MacOut, Msdu, Outcome, PayloadClass, Role,
    Rules, Served,
};
use crate::packet::NodeId;
use crate::registry::{ArqMachine, Station};
use crate::units::{Span, Time};

/// What happened at a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Start(FrameKind),
    Up(u64),
    Done(u64, Outcome),
    Error,
}

/// Everything around one station.
pub(super) struct Side {
    pub(super) now: Time,
    pub(super) timer: Option<Time>,
    pub(super) timers_set: u32,
    sending: Option<(Frame, Airtime)>,
    /// Draws to come; without any, numbers from the generator.
    pub(super) draws: VecDeque<u32>,
    pub(super) bounds: Vec<u32>,
    random: u64,
    pub(super) events: Vec<(Time, Event)>,
    pub(super) frames: Vec<(Time, Frame, Airtime)>,
    pub(super) delivered: u64,
    pub(super) received: u64,
    pub(super) served: Vec<Served>,
    quiet: bool,
}

impl Side {
    fn note(&mut self, event: Event) {
        if !self.quiet {
            self.events.push((self.now, event));
        }
    }
}

impl MacOut for Side {
    fn transmit(&mut self, frame: Frame, airtime: Airtime) {
        assert!(self.sending.is_none(), "one frame at a time");
        self.note(Event::Start(frame.kind));
        if !self.quiet {
            self.frames.push((self.now, frame, airtime));
        }
        self.sending = Some((frame, airtime));
    }

    fn set_timer(&mut self, at: Time) {
        assert!(at >= self.now, "a timer lies ahead");
        self.timer = Some(at);
        self.timers_set += 1;
    }

    fn cancel_timer(&mut self) {
        self.timer = None;
    }

    fn up(&mut self, handle: u64, _: u16) {
        self.received += 1;
        self.note(Event::Up(handle));
    }

    fn done(&mut self, handle: u64, outcome: Outcome) {
        self.delivered += u64::from(outcome == Outcome::Delivered);
        self.note(Event::Done(handle, outcome));
    }

    fn is_watching(&self) -> bool {
        !self.quiet
    }

    fn served(&mut self, served: &Served) {
        self.served.push(*served);
    }

    fn draw(&mut self, bound: u32) -> u32 {
        if !self.quiet {
            self.bounds.push(bound);
        }
        if let Some(draw) = self.draws.pop_front() {
            return draw;
        }
        // SplitMix64.
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(z ^ (z >> 31)) * (u128::from(bound) + 1)) >> 64) as u32
    }
}

/// How a station takes the frame it locked on to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reception {
    Clean,
    Garbled,
    /// It was sending itself.
    Deaf,
}

#[derive(Clone, Copy, Debug)]
struct OnAir {
    end: Time,
    from: usize,
    frame: Frame,
}

/// Stations and the medium between them.
pub(super) struct Cell {
    pub(super) now: Time,
    pub(super) stations: Vec<Station>,
    pub(super) sides: Vec<Side>,
    hears: Vec<Vec<usize>>,
    active: Vec<u32>,
    reception: Vec<Reception>,
    is_sending: Vec<bool>,
    on_air: Vec<OnAir>,
    /// Frames that arrive garbled: listener, kind, and how many more of them.
    pub(super) garble: Vec<(usize, FrameKind, u32)>,
    /// Data frames that the medium loses for good: how many more.
    pub(super) lose_for_good: u32,
    pub(super) collisions: u64,
}

impl Cell {
    /// Stations that all hear each other.
    pub(super) fn new(config: MacConfig, count: usize) -> Cell {
        Cell::with_roles(config, &vec![Role::AdHoc; count])
    }

    /// Stations of these roles that all hear each other.
    pub(super) fn with_roles(config: MacConfig, roles: &[Role]) -> Cell {
        // DCF with the constants of any standard.
        let shared = Arc::new(Rules::new(MacConfig { edca: None, ..config }));
        let count = roles.len();
        let side = |number: usize| Side {
            now: Time::ZERO,
            timer: None,
            timers_set: 0,
            sending: None,
            draws: VecDeque::new(),
            bounds: Vec::new(),
            random: number as u64 + 1,
            events: Vec::new(),
            frames: Vec::new(),
            delivered: 0,
            received: 0,
            served: Vec::new(),
            quiet: false,
        };
        Cell {
            now: Time::ZERO,
            stations: (0..count)
                .map(|number| Station::new(Arc::clone(&shared), NodeId(number as u32), roles[number]))
                .collect(),
            sides: (0..count).map(side).collect(),
            hears: (0..count).map(|of| (0..count).filter(|&other| other != of).collect()).collect(),
            active: vec![0; count],
            reception: vec![Reception::Clean; count],
            is_sending: vec![false; count],
            on_air: Vec::new(),
            garble: Vec::new(),
            lose_for_good: 0,
            collisions: 0,
        }
    }

    /// Two stations no longer hear each other.
    pub(super) fn separate(&mut self, a: usize, b: usize) {
        self.hears[a].retain(|&other| other != b);
        self.hears[b].retain(|&other| other != a);
    }

    /// Records nothing but counts from here on.
    pub(super) fn quieten(&mut self) {
        for side in &mut self.sides {
            side.quiet = true;
        }
    }

    /// Hands a packet to a station now.
    pub(super) fn enqueue(&mut self, from: usize, to: usize, handle: u64, bytes: u32) -> bool {
        self.enqueue_of(None, from, to, handle, bytes)
    }

    /// Hands a packet of a flow to a station now.
    pub(super) fn enqueue_of(
        &mut self,
        flow: Option<u32>,
        from: usize,
        to: usize,
        handle: u64,
        bytes: u32,
    ) -> bool {
        let msdu = Msdu {
            handle,
            bytes,
            next: NodeId(to as u32),
            class: PayloadClass::Data,
            category: Category::BestEffort,
            flow,
        };
        self.sides[from].now = self.now;
        let taken = self.stations[from].enqueue(msdu, false, self.now, &mut self.sides[from]);
        self.launch(from);
        taken
    }

    /// Calls one input of a station.
    pub(super) fn with(&mut self, number: usize, act: impl FnOnce(&mut Station, Time, &mut Side)) {
        self.sides[number].now = self.now;
        act(&mut self.stations[number], self.now, &mut self.sides[number]);
        self.launch(number);
    }

    /// Transmits the frame that the station has begun to send.
    fn launch(&mut self, from: usize) {
        let Some((frame, airtime)) = self.sides[from].sending else { return };
        if self.is_sending[from] {
            return;
        }
        self.is_sending[from] = true;
        self.reception[from] = Reception::Deaf;
        if frame.kind == FrameKind::Data && self.lose_for_good > 0 {
            self.lose_for_good -= 1;
            self.stations[from].on_lost_for_good((&frame, &[]));
            self.garble.push((frame.receiver.0 as usize, FrameKind::Data, 1));
        }
        self.on_air.push(OnAir { end: self.now + airtime.total, from, frame });
        for index in 0..self.hears[from].len() {
            let listener = self.hears[from][index];
            self.active[listener] += 1;
            if self.is_sending[listener] {
                self.reception[listener] = Reception::Deaf;
            } else if self.active[listener] > 1 {
                if self.reception[listener] == Reception::Clean {
                    self.collisions += 1;
                }
                self.reception[listener] = Reception::Garbled;
            } else {
                self.reception[listener] = Reception::Clean;
            }
            if self.active[listener] == 1 {
                self.with(listener, Station::on_busy);
            }
        }
    }

    fn land(&mut self, index: usize) {
        let OnAir { from, frame, .. } = self.on_air.swap_remove(index);
        self.is_sending[from] = false;
        self.sides[from].sending = None;
        for index in 0..self.hears[from].len() {
            let listener = self.hears[from][index];
            self.active[listener] -= 1;
            let garbled = self.is_garbled(listener, frame.kind);
            match self.reception[listener] {
                Reception::Clean if !garbled => {
                    self.with(listener, |station, now, side| {
                        station.on_frame(&frame, &Load::NOTHING, now, side);
                    });
                }
                Reception::Clean | Reception::Garbled => {
                    self.with(listener, |station, now, side| {
                        side.note(Event::Error);
                        station.on_error(now, side);
                    });
                }
                Reception::Deaf => {}
            }
            if self.active[listener] == 0 {
                self.with(listener, Station::on_idle);
            }
        }
        self.with(from, Station::on_sent);
    }

    fn is_garbled(&mut self, listener: usize, kind: FrameKind) -> bool {
        for (at, of, left) in &mut self.garble {
            if *at == listener && *of == kind && *left > 0 {
                *left -= 1;
                return true;
            }
        }
        false
    }

    /// Takes the next event: the ends of transmissions before timers. Returns false when there is none up to `until`.
    pub(super) fn step(&mut self, until: Time) -> bool {
        let landing = self.on_air.iter().enumerate().map(|(index, air)| (air.end, index)).min();
        let timers = self.sides.iter().enumerate();
        let timer = timers.filter_map(|(index, side)| side.timer.map(|at| (at, index))).min();
        match (landing, timer) {
            (Some((end, index)), timer) if end <= until && timer.is_none_or(|(at, _)| end <= at) => {
                self.now = end;
                self.land(index);
            }
            (_, Some((at, index))) if at <= until => {
                self.now = at;
                self.sides[index].timer = None;
                self.with(index, Station::on_timer);
            }
            _ => return false,
        }
        true
    }

    /// Runs up to `until`.
    pub(super) fn run(&mut self, until: Time) {
        while self.step(until) {}
        self.now = until;
    }

    /// Runs until nothing happens any more.
    pub(super) fn settle(&mut self) {
        while self.step(Time::NEVER) {}
    }

    /// Sets the draws of a station.
    pub(super) fn script(&mut self, number: usize, draws: &[u32]) {
        self.sides[number].draws.extend(draws);
    }

    /// When a station began to send frames of `kind`, in microseconds.
    pub(super) fn starts(&self, number: usize, kind: FrameKind) -> Vec<f64> {
        let frames = self.sides[number].frames.iter().filter(|(_, frame, _)| frame.kind == kind);
        frames.map(|(at, ..)| micros(*at)).collect()
    }

    /// When something happened at a station, in microseconds.
    pub(super) fn times(&self, number: usize, event: Event) -> Vec<f64> {
        let events = self.sides[number].events.iter().filter(|(_, known)| *known == event);
        events.map(|(at, _)| micros(*at)).collect()
    }
}

/// The MAC of a station with DCF.
pub(super) fn dcf(station: &mut Station) -> &mut Dcf<ArqMachine> {
    if let super::super::Station::Dcf(mac) = station { mac } else { panic!("it has EDCA") }
}

/// A time in microseconds.
pub(super) fn micros(at: Time) -> f64 {
    at.0 as f64 / 1e3
}

/// This many microseconds after the start.
pub(super) fn at(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}
