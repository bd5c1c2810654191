//! The receiver of one station: frames heard, the frame being received, carrier sense.
//!
//! A station that transmits hears nothing of a frame that begins or continues meanwhile, and does not lock on it later.
//! Frames that touch without overlapping do not disturb each other, in whatever order their end and start are reported.

use lasthop_stack::packet::NodeId;
use lasthop_stack::units::{Span, Time};

use super::config::Reception;
use super::modulation::{Memo, Modulation};

/// The state common to all receivers of a medium.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    /// A free receiver locks on a frame from this power on.
    pub(super) lock_w: f64,
    /// The same for a frame that is alone on the air, whose preamble it must also detect.
    pub(super) lock_alone_w: f64,
    pub(super) receive_w: f64,
    pub(super) sense_w: f64,
    pub(super) reception: Reception,
    pub(super) noise_w: f64,
    /// Whether each part of a frame fails by the interference it meets.
    pub(super) by_parts: bool,
    /// Ratio of power from which a preamble is detected; `None` is in any case.
    pub(super) preamble: Option<f64>,
}

/// How long a receiver needs to detect a preamble.
const DETECTION: Span = Span::from_micros(4);

impl Rules {
    fn is_ns2(&self) -> bool {
        matches!(self.reception, Reception::Ns2 { .. })
    }
}

/// The bits of a frame on the air.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits {
    /// When they begin, after the preamble.
    pub(super) begin: Time,
    pub(super) end: Time,
    pub(super) count: u32,
    pub(super) modulation: Modulation,
}

/// A frame as it arrives at a receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) power_w: f64,
    pub(super) ends: Time,
    pub(super) from: u32,
    /// The receiver of frames that stations send together.
    pub(super) party: Option<NodeId>,
}

impl Arrival {
    /// Whether it is sent together with another: neither disturbs the other.
    #[inline]
    fn is_with(&self, other: &Arrival) -> bool {
        self.party.is_some() && self.party == other.party && self.ends == other.ends
    }
}

/// The state of a frame after overlaps and by its power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quality {
    Intact,
    /// Too weak to be received.
    Weak,
    /// Spoilt by another.
    Collided,
    /// By ns-2's rule: on the air while the station sent.
    Missed,
}

/// A frame that a receiver followed to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Followed {
    pub(super) power_w: f64,
    pub(super) quality: Quality,
    /// Logarithm of the probability that all of its bits are right under the interference it met; 0 if it met none.
    pub(super) log_undisturbed: f64,
}

/// What the beginning of a frame means to a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begun {
    /// The medium turned busy.
    Busy,
    /// By ns-2's rule: the frame is too weak to spoil the one that is being received.
    Missed,
    /// Neither.
    Unnoticed,
}

/// What the end of a frame means to a receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    /// Set when the receiver was locked on it.
    pub(super) followed: Option<Followed>,
    pub(super) turned_idle: bool,
}

impl Left {
    /// The end of a frame without overlaps, which reached the receiver with this power.
    #[inline]
    pub(super) fn alone(power_w: f64, rules: &Rules) -> Left {
        let quality = if power_w < rules.receive_w { Quality::Weak } else { Quality::Intact };
        let followed = Followed { power_w, quality, log_undisturbed: 0.0 };
        Left {
            followed: (power_w >= rules.lock_alone_w).then_some(followed),
            turned_idle: power_w >= rules.sense_w,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Lock {
    arrival: Arrival,
    began: Time,
    quality: Quality,
    disturbed: bool,
}

impl Lock {
    /// The same of a frame that is sent together with the locked one, or of that.
    #[inline]
    fn of(self, arrival: Arrival, rules: &Rules) -> Lock {
        if arrival.from == self.arrival.from {
            return self;
        }
        Lock { arrival, quality: self.quality.with(arrival.power_w, rules), ..self }
    }
}

impl Quality {
    /// That of a frame of this power which is sent together with one of this quality.
    fn with(self, power_w: f64, rules: &Rules) -> Quality {
        match self {
            _ if power_w < rules.receive_w => Quality::Weak,
            Quality::Weak => Quality::Intact,
            other => other,
        }
    }
}

/// How far the parts of the locked frame are counted, if each counts by itself.
#[derive(Clone, Copy, Debug)]
struct Parts {
    bits: Bits,
    settled: Time,
    log_success: f64,
}

/// A receiver. What every frame touches comes first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct Receiver {
    /// How many frames on the air are above the carrier-sense threshold.
    sensed: u32,
    on_air: Vec<Arrival>,
    lock: Option<Lock>,
    /// While the station transmits, when its frame ends.
    transmits_until: Option<Time>,
    /// A frame followed to its end by the clock, though its end is not reported yet.
    concluded: Option<(Arrival, Followed)>,
    parts: Option<Parts>,
}

impl Receiver {
    /// A frame begins; its bits are given if each part of it counts by itself.
    #[expect(clippy::inline_always, reason = "it is called from the loop over all that hear a frame")]
    #[inline(always)]
    pub(super) fn begin(
        &mut self,
        arrival: Arrival,
        bits: Option<&Bits>,
        now: Time,
        rules: &Rules,
        memo: &mut Memo,
    ) -> Begun {
        let sensed = arrival.power_w >= rules.sense_w;
        let mut begun = if sensed && self.sensed == 0 { Begun::Busy } else { Begun::Unnoticed };
        self.sensed += u32::from(sensed);
        if self.transmits_until.is_none() || rules.is_ns2() {
            if self.lock.is_some() {
                self.conclude(now, rules, memo);
            }
            if let Some(preamble) = rules.preamble {
                self.detect(&arrival, preamble, now, rules);
            }
            if self.lock.is_some() {
                if self.meet(arrival, now, rules, memo) && sensed {
                    begun = Begun::Missed;
                }
            } else if arrival.power_w >= rules.lock_w && self.detects(&arrival, now, rules) {
                self.lock_on(arrival, bits, now, rules);
            }
        }
        self.on_air.push(arrival);
        begun
    }

    /// The frame of station `from` ends.
    #[inline]
    pub(super) fn end(&mut self, from: u32, now: Time, rules: &Rules, memo: &mut Memo) -> Left {
        let Some(place) = self.on_air.iter().position(|arrival| arrival.from == from) else {
            return Left { followed: None, turned_idle: false };
        };
        let gone = self.on_air[place];
        let followed = match self.lock {
            Some(lock) if lock.arrival.from == from || gone.is_with(&lock.arrival) => {
                self.lock = self.next_together(&lock, from);
                let followed = self.followed(lock.of(gone, rules), now, rules, memo);
                // Of frames that end together the station's own may be reported last.
                self.transmits_until.is_none_or(|until| until <= now).then_some(followed)
            }
            Some(lock) if lock.disturbed => {
                self.settle(&lock, now, rules, memo);
                self.take_concluded(&gone, rules)
            }
            _ => self.take_concluded(&gone, rules),
        };
        self.on_air.swap_remove(place);
        let sensed = gone.power_w >= rules.sense_w;
        self.sensed -= u32::from(sensed);
        Left { followed, turned_idle: sensed && self.sensed == 0 }
    }

    /// The station begins to transmit, until `until`, and stops receiving.
    #[inline]
    pub(super) fn mute(&mut self, now: Time, until: Time, rules: &Rules, memo: &mut Memo) {
        if self.lock.is_some() {
            self.conclude(now, rules, memo);
            match &mut self.lock {
                Some(lock) if rules.is_ns2() => lock.quality = Quality::Missed,
                lock => *lock = None,
            }
        }
        self.transmits_until = Some(until);
    }

    /// The station has transmitted.
    #[inline]
    pub(super) fn unmute(&mut self) {
        self.transmits_until = None;
    }

    fn take_concluded(&mut self, gone: &Arrival, rules: &Rules) -> Option<Followed> {
        let (arrival, followed) = self.concluded.take()?;
        if arrival.from == gone.from && arrival.party.is_none() {
            return Some(followed);
        }
        self.concluded = Some((arrival, followed));
        let quality = followed.quality.with(gone.power_w, rules);
        arrival.is_with(gone).then_some(Followed { power_w: gone.power_w, quality, ..followed })
    }

    /// The frame to follow when that of a station ends: of those that are sent together another one.
    #[inline]
    fn next_together(&self, lock: &Lock, from: u32) -> Option<Lock> {
        lock.arrival.party?;
        let mut others = self.on_air.iter().filter(|other| other.from != from);
        let next = others.find(|other| other.is_with(&lock.arrival))?;
        Some(Lock { arrival: *next, ..*lock })
    }

    /// Releases a frame that has ended by the clock.
    fn conclude(&mut self, now: Time, rules: &Rules, memo: &mut Memo) {
        if let Some(lock) = self.lock.take_if(|lock| lock.arrival.ends <= now) {
            let followed = self.followed(lock, now, rules, memo);
            self.concluded = Some((lock.arrival, followed));
        }
    }

    #[inline]
    fn followed(&mut self, lock: Lock, now: Time, rules: &Rules, memo: &mut Memo) -> Followed {
        let mut log_undisturbed = 0.0;
        if lock.disturbed {
            self.settle(&lock, now, rules, memo);
            log_undisturbed = self.parts.map_or(0.0, |parts| parts.log_success);
        }
        Followed { power_w: lock.arrival.power_w, quality: lock.quality, log_undisturbed }
    }

    /// A free receiver locks on a frame; what is on the air already may spoil it.
    #[inline]
    fn lock_on(&mut self, arrival: Arrival, bits: Option<&Bits>, now: Time, rules: &Rules) {
        let disturbed = self.on_air.iter().any(|other| other.ends > now && !other.is_with(&arrival));
        let quality = if self.transmits_until.is_some() {
            Quality::Missed
        } else if arrival.power_w < rules.receive_w {
            Quality::Weak
        } else if disturbed && self.is_spoilt_at_once(&arrival, now, rules) {
            Quality::Collided
        } else {
            Quality::Intact
        };
        self.lock = Some(Lock { arrival, began: now, quality, disturbed });
        if let Some(bits) = bits {
            self.parts = Some(Parts { bits: *bits, settled: now, log_success: 0.0 });
        }
    }

    /// Whether a free receiver detects the preamble of a frame that begins.
    #[inline]
    fn detects(&self, arrival: &Arrival, now: Time, rules: &Rules) -> bool {
        let others = self.on_air.iter().filter(|other| other.ends > now && !other.is_with(arrival));
        rules.preamble.is_none_or(|least| {
            arrival.power_w >= least * (rules.noise_w + others.map(|other| other.power_w).sum::<f64>())
        })
    }

    /// A frame that begins hides the preamble of the one that the receiver has just locked on, if it is strong enough.
    fn detect(&mut self, arrival: &Arrival, least: f64, now: Time, rules: &Rules) {
        let Some(lock) = self.lock.filter(|lock| !arrival.is_with(&lock.arrival)) else { return };
        let interference_w = arrival.power_w + self.interference_w(&lock, now);
        let is_hidden = lock.arrival.power_w < least * (rules.noise_w + interference_w);
        if is_hidden && now < lock.began.after(DETECTION) {
            self.lock = None;
        }
    }

    fn is_spoilt_at_once(&self, arrival: &Arrival, now: Time, rules: &Rules) -> bool {
        let others = self.on_air.iter().filter(|other| other.ends > now && !other.is_with(arrival));
        let mut others = others.map(|other| other.power_w);
        match rules.reception {
            Reception::Ns2 { capture } | Reception::Capture { capture } => {
                others.any(|other_w| !survives(capture, arrival.power_w, other_w))
            }
            Reception::Sinr { least } => arrival.power_w < least * (rules.noise_w + others.sum::<f64>()),
        }
    }

    /// A frame begins while the receiver is locked on another. Returns whether it is missed by ns-2's rule.
    fn meet(&mut self, arrival: Arrival, now: Time, rules: &Rules, memo: &mut Memo) -> bool {
        let Some(mut lock) = self.lock.filter(|lock| !arrival.is_with(&lock.arrival)) else { return false };
        match rules.reception {
            Reception::Ns2 { capture } | Reception::Capture { capture } => {
                if survives(capture, lock.arrival.power_w, arrival.power_w) {
                    return rules.is_ns2();
                }
                if lock.quality != Quality::Missed {
                    lock.quality = Quality::Collided;
                }
                // Both are lost; the receiver is kept from others until the later of them ends.
                if arrival.ends > lock.arrival.ends && arrival.power_w >= rules.lock_w {
                    lock.arrival = arrival;
                }
            }
            Reception::Sinr { least } => {
                self.settle(&lock, now, rules, memo);
                lock.disturbed = true;
                let interference_w = arrival.power_w + self.interference_w(&lock, now);
                if lock.arrival.power_w < least * (rules.noise_w + interference_w) {
                    lock.quality = Quality::Collided;
                }
            }
        }
        self.lock = Some(lock);
        false
    }

    /// The power of the frames other than the locked one, of those that end after `since`.
    fn interference_w(&self, lock: &Lock, since: Time) -> f64 {
        let others = self.on_air.iter().filter(|other| {
            other.from != lock.arrival.from && other.ends > since && !other.is_with(&lock.arrival)
        });
        others.map(|other| other.power_w).sum()
    }

    /// Counts the part of the locked frame since the interference last changed.
    fn settle(&mut self, lock: &Lock, now: Time, rules: &Rules, memo: &mut Memo) {
        let Some(mut parts) = self.parts.filter(|_| rules.by_parts) else { return };
        let bits = parts.bits;
        let (from, to) = (parts.settled.max(bits.begin), now.min(bits.end));
        let whole = bits.end.since(bits.begin);
        if to > from && whole.0 > 0 {
            let count = f64::from(bits.count) * (to.since(from).0 as f64 / whole.0 as f64);
            let sinr = lock.arrival.power_w / (rules.noise_w + self.interference_w(lock, from));
            parts.log_success += count * memo.log_success(bits.modulation, sinr);
        }
        parts.settled = now;
        self.parts = Some(parts);
    }
}

fn survives(capture: Option<f64>, power_w: f64, other_w: f64) -> bool {
    capture.is_some_and(|ratio| power_w >= ratio * other_w)
}
