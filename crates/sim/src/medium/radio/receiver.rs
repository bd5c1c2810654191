//! The receiver of one station: what it hears, what it is locked on, whether the medium is busy to it.
//!
//! A station that transmits hears nothing of a frame that begins or goes on meanwhile, and does not lock on it later.
//! Frames that touch without overlapping do not disturb each other, in whatever order their end and start are reported.

use lasthop_stack::units::Time;

use super::config::Reception;
use super::modulation::{Memo, Modulation};

/// What is common to all receivers of a medium.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    /// A free receiver locks on a frame from this power on.
    pub(super) lock_w: f64,
    pub(super) receive_w: f64,
    pub(super) sense_w: f64,
    pub(super) reception: Reception,
    pub(super) noise_w: f64,
    /// Whether each part of a frame fails by the interference it meets.
    pub(super) by_parts: bool,
}

/// A frame as it arrives at a receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) from: u32,
    pub(super) power_w: f64,
    /// When its bits begin, after the preamble.
    pub(super) body: Time,
    pub(super) ends: Time,
    pub(super) bits: u32,
    pub(super) modulation: Modulation,
}

/// What overlap and power left of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quality {
    Intact,
    /// Too weak to be received.
    Weak,
    /// Spoilt by another.
    Collided,
}

/// A frame that a receiver followed to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Followed {
    pub(super) power_w: f64,
    pub(super) quality: Quality,
    /// Logarithm of the probability that all of its bits are right under the interference it met, if it met any.
    pub(super) disturbed: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Lock {
    arrival: Arrival,
    quality: Quality,
    disturbed: bool,
    log_success: f64,
    settled: Time,
}

/// What the end of a frame means to a receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    /// Set when the receiver was locked on it.
    pub(super) followed: Option<Followed>,
    pub(super) turned_idle: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Receiver {
    on_air: Vec<Arrival>,
    /// How many of them are above the carrier-sense threshold.
    sensed: u32,
    lock: Option<Lock>,
    /// A lock whose frame has ended by the clock, though its end is not reported yet.
    concluded: Option<Lock>,
    transmitting: bool,
}

impl Receiver {
    /// A frame begins. Returns whether the medium turned busy.
    #[inline]
    pub(super) fn begin(&mut self, arrival: Arrival, now: Time, rules: &Rules, memo: &mut Memo) -> bool {
        let was_idle = self.sensed == 0;
        self.sensed += u32::from(arrival.power_w >= rules.sense_w);
        if !self.transmitting {
            self.conclude(now);
            match self.lock {
                None if arrival.power_w >= rules.lock_w => self.lock_on(arrival, now, rules),
                None => {}
                Some(_) => self.meet(arrival, now, rules, memo),
            }
        }
        self.on_air.push(arrival);
        was_idle && self.sensed > 0
    }

    /// The frame of station `from` ends.
    #[inline]
    pub(super) fn end(&mut self, from: u32, now: Time, rules: &Rules, memo: &mut Memo) -> Left {
        let Some(place) = self.on_air.iter().position(|arrival| arrival.from == from) else {
            return Left { followed: None, turned_idle: false };
        };
        let concluded = self.concluded.take_if(|lock| lock.arrival.from == from);
        let mut ended = concluded.or(self.lock.take_if(|lock| lock.arrival.from == from));
        if let Some(lock) = ended.as_mut().or(self.lock.as_mut()).filter(|lock| lock.disturbed) {
            settle(lock, &self.on_air, now, rules, memo);
        }
        let gone = self.on_air.swap_remove(place);
        let sensed = gone.power_w >= rules.sense_w;
        self.sensed -= u32::from(sensed);
        let turned_idle = sensed && self.sensed == 0;
        let followed = ended.map(|lock| Followed {
            power_w: lock.arrival.power_w,
            quality: lock.quality,
            disturbed: lock.disturbed.then_some(lock.log_success),
        });
        Left { followed, turned_idle }
    }

    /// The station begins to transmit and stops to hear.
    #[inline]
    pub(super) fn mute(&mut self, now: Time) {
        self.conclude(now);
        self.lock = None;
        self.transmitting = true;
    }

    /// The station has transmitted.
    #[inline]
    pub(super) fn unmute(&mut self) {
        self.transmitting = false;
    }

    fn conclude(&mut self, now: Time) {
        if let Some(ended) = self.lock.take_if(|lock| lock.arrival.ends <= now) {
            self.concluded = Some(ended);
        }
    }

    /// A free receiver locks on a frame; what is on the air already may spoil it.
    fn lock_on(&mut self, arrival: Arrival, now: Time, rules: &Rules) {
        let others = || self.on_air.iter().filter(|other| other.ends > now);
        let disturbed = others().next().is_some();
        let spoilt = disturbed
            && match rules.reception {
                Reception::Ns2 { capture } | Reception::Capture { capture } => {
                    others().any(|other| !survives(capture, arrival.power_w, other.power_w))
                }
                Reception::Sinr { least } => {
                    let interference: f64 = others().map(|other| other.power_w).sum();
                    arrival.power_w < least * (rules.noise_w + interference)
                }
            };
        let quality = if arrival.power_w < rules.receive_w {
            Quality::Weak
        } else if spoilt {
            Quality::Collided
        } else {
            Quality::Intact
        };
        self.lock = Some(Lock { arrival, quality, disturbed, log_success: 0.0, settled: now });
    }

    /// A frame begins while the receiver is locked on another.
    fn meet(&mut self, arrival: Arrival, now: Time, rules: &Rules, memo: &mut Memo) {
        let Some(lock) = &mut self.lock else { return };
        match rules.reception {
            Reception::Ns2 { capture } | Reception::Capture { capture } => {
                if survives(capture, lock.arrival.power_w, arrival.power_w) {
                    return;
                }
                lock.quality = Quality::Collided;
                // Both are lost; the receiver is kept from others until the later of them ends.
                if arrival.ends > lock.arrival.ends && arrival.power_w >= rules.lock_w {
                    lock.arrival = arrival;
                }
            }
            Reception::Sinr { least } => {
                settle(lock, &self.on_air, now, rules, memo);
                lock.disturbed = true;
                let interference = arrival.power_w + interference_w(lock, &self.on_air, now);
                if lock.quality == Quality::Intact
                    && lock.arrival.power_w < least * (rules.noise_w + interference)
                {
                    lock.quality = Quality::Collided;
                }
            }
        }
    }
}

fn survives(capture: Option<f64>, power_w: f64, other_w: f64) -> bool {
    capture.is_some_and(|ratio| power_w >= ratio * other_w)
}

/// The power of the frames on the air other than the locked one, as they were in the time up to `now`.
fn interference_w(lock: &Lock, on_air: &[Arrival], since: Time) -> f64 {
    let others = on_air.iter().filter(|other| other.from != lock.arrival.from && other.ends > since);
    others.map(|other| other.power_w).sum()
}

/// Counts the part of the locked frame since the interference last changed.
fn settle(lock: &mut Lock, on_air: &[Arrival], now: Time, rules: &Rules, memo: &mut Memo) {
    if !rules.by_parts {
        return;
    }
    let arrival = &lock.arrival;
    let (from, to) = (lock.settled.max(arrival.body), now.min(arrival.ends));
    let whole = arrival.ends.since(arrival.body);
    if to > from && whole.0 > 0 {
        let bits = f64::from(arrival.bits) * (to.since(from).0 as f64 / whole.0 as f64);
        let sinr = arrival.power_w / (rules.noise_w + interference_w(lock, on_air, from));
        lock.log_success += bits * memo.log_success(lock.arrival.modulation, sinr);
    }
    lock.settled = now;
}
