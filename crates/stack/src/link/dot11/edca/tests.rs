//! Stations with EDCA on an ideal medium where all hear each other.

mod choosing;
mod contend;
mod exchange;
mod multi_link;
mod planned;
mod rate_control;
mod riders;
mod single_radio;

use std::collections::VecDeque;
use std::sync::Arc;

use super::super::mac::Mac;
use super::super::{
    Airtime, Frame, FrameKind, MacConfig, MacOut, Mode, Msdu, Outcome, PayloadClass, PhyRate, Preset,
    Protection, Role, Rules,
};
use super::{AfterLoss, Category, Edca, EdcaConfig, Load, MpduFate, RateControl};
use crate::hooks::Rider;
use crate::packet::NodeId;
use crate::schemes::DynamicArq;
use crate::units::{Span, Time};

/// Everything around one station.
#[derive(Default)]
struct Side {
    now: Time,
    timer: Option<Time>,
    release: Option<Time>,
    sending: Option<(Frame, Airtime)>,
    load: Load,
    draws: VecDeque<u32>,
    bounds: Vec<u32>,
    frames: Vec<(u64, FrameKind, u16)>,
    /// The rate of each frame, and the MCS of those with data.
    rates: Vec<(FrameKind, PhyRate, Option<u8>)>,
    up: Vec<u64>,
    done: Vec<(u64, Outcome)>,
    late: Vec<u64>,
    riders: Vec<Rider>,
    answered: Vec<(Option<bool>, u32)>,
    /// At which all hear it.
    ratio: f64,
}

impl MacOut for Side {
    fn transmit(&mut self, frame: Frame, airtime: Airtime) {
        assert!(self.sending.is_none(), "one frame at a time");
        self.rates.push((frame.kind, frame.rate, frame.mode.map(|mode| mode.mcs)));
        self.frames.push((self.now.0 / 1_000, frame.kind, frame.mpdus));
        self.sending = Some((frame, airtime));
    }

    fn set_timer(&mut self, at: Time) {
        assert!(at >= self.now, "a timer is not in the past");
        self.timer = Some(at);
    }

    fn cancel_timer(&mut self) {
        self.timer = None;
    }

    fn up(&mut self, handle: u64, _: u16) {
        self.up.push(handle);
    }

    fn done(&mut self, handle: u64, outcome: Outcome) {
        self.done.push((handle, outcome));
    }

    fn rider(&mut self, rider: Rider) {
        self.riders.push(rider);
    }

    fn answered(&mut self, more: Option<bool>, boarded: u32) {
        self.answered.push((more, boarded));
    }

    fn draw(&mut self, bound: u32) -> u32 {
        self.bounds.push(bound);
        self.draws.pop_front().unwrap_or(0)
    }

    fn load(&mut self) -> &mut Load {
        &mut self.load
    }

    fn hold(&mut self, handle: u64) -> u64 {
        handle
    }

    fn up_held(&mut self, handle: u64) {
        self.up.push(handle);
    }

    fn late(&mut self, handle: u64) {
        self.late.push(handle);
    }

    fn set_release(&mut self, at: Time) {
        self.release = Some(at);
    }

    fn signal_to_noise(&mut self, _: NodeId) -> f64 {
        self.ratio
    }

    fn mpdu_failure(&mut self, mode: Mode, bytes: u32, ratio: f64) -> f64 {
        // Each step of the MCS takes twice the ratio.
        if ratio >= f64::from(1 << mode.mcs) { 0.0 } else { f64::from(bytes).min(1.0) }
    }
}

struct OnAir {
    end: Time,
    from: usize,
    frame: Frame,
    load: Load,
    collided: bool,
}

/// Stations and their medium.
struct Cell {
    now: Time,
    stations: Vec<Edca<DynamicArq>>,
    sides: Vec<Side>,
    on_air: Vec<OnAir>,
    /// Frames that are lost: their kind, and how many more of them.
    garble: Vec<(FrameKind, u32)>,
    /// Packets whose next transmission is lost: how often.
    lose: Vec<(u64, u32)>,
}

fn config(change: impl FnOnce(&mut EdcaConfig)) -> MacConfig {
    let mut config = Preset::Dot11ax.config();
    change(config.edca.as_mut().expect("EDCA"));
    config
}

impl Cell {
    fn new(config: MacConfig, count: usize) -> Cell {
        let rules = Arc::new(Rules::new(config));
        let station = |number| Edca::new(Arc::clone(&rules), NodeId(number), Role::AdHoc);
        Cell {
            now: Time::ZERO + Span::from_millis(1),
            stations: (0..count as u32).map(station).collect(),
            sides: (0..count).map(|_| Side::default()).collect(),
            on_air: Vec::new(),
            garble: Vec::new(),
            lose: Vec::new(),
        }
    }

    fn enqueue(&mut self, from: usize, to: u32, handles: std::ops::Range<u64>) {
        self.enqueue_in(Category::BestEffort, from, to, handles);
    }

    fn enqueue_in(&mut self, category: Category, from: usize, to: u32, handles: std::ops::Range<u64>) {
        self.enqueue_of(None, category, (from, to), handles);
    }

    fn enqueue_of(
        &mut self,
        flow: Option<u32>,
        category: Category,
        (from, to): (usize, u32),
        handles: std::ops::Range<u64>,
    ) {
        for handle in handles {
            let (class, next) = (PayloadClass::Data, NodeId(to));
            let msdu = Msdu { handle, bytes: 1_500, next, class, category, flow };
            self.sides[from].now = self.now;
            assert!(self.stations[from].enqueue(msdu, false, self.now, &mut self.sides[from]));
        }
        self.settle();
    }

    /// Starts what stations transmit.
    fn settle(&mut self) {
        for from in 0..self.stations.len() {
            let Some((frame, airtime)) = self.sides[from].sending.take() else { continue };
            let was_idle = self.on_air.is_empty();
            let collided = !was_idle;
            self.on_air.iter_mut().for_each(|other| other.collided = true);
            let (end, load) = (self.now + airtime.total, self.sides[from].load.clone());
            let others: Vec<usize> = self.on_air.iter().map(|other| other.from).collect();
            self.on_air.push(OnAir { end, from, frame, load, collided });
            for at in (0..self.stations.len()).filter(|at| *at != from) {
                // Busy alternates with idle at each station.
                if !others.iter().any(|other| *other != at) {
                    self.stations[at].on_busy(self.now, &mut self.sides[at]);
                }
            }
        }
    }

    fn run(&mut self, until_us: u64) {
        loop {
            let frame = self.on_air.iter().map(|on_air| on_air.end).min();
            let timers = self.sides.iter().flat_map(|side| [side.timer, side.release]).flatten();
            let Some(next) = frame.into_iter().chain(timers).min() else { return };
            if next.0 > until_us * 1_000 {
                return;
            }
            self.now = next;
            self.sides.iter_mut().for_each(|side| side.now = next);
            if frame == Some(next) {
                self.end();
            } else {
                for at in 0..self.stations.len() {
                    if self.sides[at].timer.take_if(|due| *due <= next).is_some() {
                        self.stations[at].on_timer(next, &mut self.sides[at]);
                    }
                    if self.sides[at].release.take_if(|due| *due <= next).is_some() {
                        self.stations[at].on_release(next, &mut self.sides[at]);
                    }
                }
            }
            self.settle();
        }
    }

    fn end(&mut self) {
        let now = self.now;
        let place = self.on_air.iter().position(|on_air| on_air.end == now).expect("one ends");
        let OnAir { from, frame, mut load, collided, .. } = self.on_air.remove(place);
        let mut lost = collided;
        if let Some(garble) = self.garble.iter_mut().find(|garble| garble.0 == frame.kind && garble.1 > 0)
            && !collided
        {
            garble.1 -= 1;
            lost = true;
        }
        for mpdu in &mut load.mpdus {
            if let Some(lose) = self.lose.iter_mut().find(|lose| lose.0 == mpdu.handle && lose.1 > 0) {
                lose.1 -= 1;
                mpdu.fate = MpduFate::Errored;
            }
        }
        lost |= frame.mpdus > 0 && load.mpdus.iter().all(|mpdu| mpdu.fate != MpduFate::Received);
        self.stations[from].on_sent(now, &mut self.sides[from]);
        for at in (0..self.stations.len()).filter(|at| *at != from) {
            let (station, side) = (&mut self.stations[at], &mut self.sides[at]);
            if !self.on_air.iter().any(|other| other.from == at) {
                if lost {
                    station.on_error(now, side);
                } else {
                    station.on_frame(&frame, &load, now, side);
                }
            }
            if !self.on_air.iter().any(|other| other.from != at) {
                station.on_idle(now, side);
            }
        }
    }
}

use FrameKind::{Ack, BlockAck, BlockAckReq, Cts, Data, Rts};
use Outcome::{Delivered, Expired, Flushed, Undelivered};

fn kinds(side: &Side) -> Vec<(FrameKind, u16)> {
    side.frames.iter().map(|(_, kind, mpdus)| (*kind, *mpdus)).collect()
}

fn delivered(handles: std::ops::Range<u64>) -> Vec<(u64, Outcome)> {
    handles.map(|handle| (handle, Delivered)).collect()
}
