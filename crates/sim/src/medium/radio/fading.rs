//! Shadowing (log-normal) and fading (Rayleigh, Rician) of the power between two stations.
//!
//! **Limits**: one gain for the whole band and for a whole frame; it is independent of that of any other pair.
//!
//! **Source**: Rappaport, *Wireless Communications* (2nd edition, 2002): 4.9.2 (shadowing), 5.6 (Rayleigh and Ricean
//! envelopes), and (5.40.c). By the last, a channel keeps its gain for 0.423 divided by the Doppler shift v f / c.
//!
//! **How**: block fading. A gain lasts for one block and is drawn anew for the next. Each pair of stations has its own
//! stream, with one section per block, found by the number of the block. Both directions see the same gain, and so do
//! two schemes, whatever they send. No event marks the end of a block. A block lasts for a time, or until the two
//! stations together have moved a distance: gains do not change while they pause.
//!
//! **Choices**
//! 1. Fading has a mean of 1, so the mean power remains that of the distance. Shadowing has a mean of 0 dB, because
//!    path loss is given in decibels; the mean of its power is greater by exp((σ ln 10 / 10)² / 2).
//! 2. The first block of a pair began at a random time before the start, so that the pairs do not all change at once.

use lasthop_stack::units::{Span, Time};

use super::config::{Fading, Redraw, Shadowing, db_to_ratio};
use crate::engine::streams::{Stream, key};

/// The power of Rayleigh fading exceeds its mean by this factor in fewer than one of a million blocks.
const MOST_RAYLEIGH: f64 = 14.0;
/// Shadowing exceeds its mean by this many standard deviations in fewer than one of a million blocks.
const MOST_DEVIATIONS: f64 = 5.0;
/// Longer than any run, and still a number of nanoseconds.
const FOREVER_S: f64 = 1e9;
/// The section of a pair's stream that says when its first block began; those of the blocks follow.
const PHASE: u64 = 0;

/// The law of a gain.
#[derive(Clone, Copy, Debug)]
enum Law {
    LogNormal { deviation_db: f64 },
    Rician { factor: f64 },
}

/// One of the two processes of a medium.
#[derive(Clone, Copy, Debug)]
pub(super) struct Process {
    law: Law,
    redraw: Redraw,
}

/// The distance that two stations have travelled together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Way {
    pub(super) travelled_m: f64,
    /// The greatest speed of both, m/s.
    pub(super) fastest_mps: f64,
}

/// The gain of one pair of stations at present.
#[derive(Clone, Debug)]
pub(super) struct Gain {
    key: [u64; 2],
    /// The part of the first block that had passed at the start.
    phase: f64,
    pub(super) factor: f64,
    /// When its block ends.
    pub(super) until: Time,
}

impl Process {
    pub(super) fn shadowing(config: &Shadowing) -> Process {
        Process { law: Law::LogNormal { deviation_db: config.deviation_db }, redraw: config.redraw }
    }

    pub(super) fn fading(config: &Fading) -> Process {
        Process { law: Law::Rician { factor: config.factor }, redraw: config.redraw }
    }

    /// The greatest gain that is not negligible.
    pub(super) fn most(&self) -> f64 {
        match self.law {
            Law::LogNormal { deviation_db } => db_to_ratio(MOST_DEVIATIONS * deviation_db),
            Law::Rician { factor } => {
                let sum = libm::sqrt(factor) + libm::sqrt(MOST_RAYLEIGH);
                sum * sum / (factor + 1.0)
            }
        }
    }

    /// The gain of the pair whose stream has this name, before the start.
    pub(super) fn gain(&self, seed: u64, replication: u64, name: &str) -> Gain {
        let key = key(seed, replication, name);
        let phase = match self.redraw {
            Redraw::Never => 0.0,
            Redraw::After(_) | Redraw::Moved(_) => {
                let mut stream = Stream::with_key(key);
                stream.seek(PHASE);
                stream.uniform()
            }
        };
        Gain { key, phase, factor: 1.0, until: Time::ZERO }
    }

    /// Whether its blocks end by how far stations have come.
    pub(super) fn is_by_way(&self) -> bool {
        matches!(self.redraw, Redraw::Moved(_))
    }

    /// Draws the gain of the block at `now`, when the last has ended. `way` is the distance that the two stations have
    /// travelled, and their greatest speed from now on.
    pub(super) fn redraw(&self, gain: &mut Gain, now: Time, way: Way) {
        let block = match self.redraw {
            Redraw::Never => {
                gain.until = Time::NEVER;
                0
            }
            Redraw::After(length) => {
                let phase = (gain.phase * length.0 as f64) as u64;
                let block = (now.0 + phase) / length.0;
                gain.until = Time(((block + 1) * length.0).saturating_sub(phase));
                block
            }
            Redraw::Moved(length_m) => {
                let come = way.travelled_m / length_m + gain.phase;
                let block = come as u64;
                // Not before this time, since no station is faster.
                let left_s = ((block + 1) as f64 - come) * length_m / way.fastest_mps;
                gain.until = now.after(if left_s < FOREVER_S {
                    Span::from_secs_f64(left_s).max(Span(1))
                } else {
                    Span(u64::MAX)
                });
                block
            }
        };
        gain.factor = self.draw(gain.key, block);
    }

    fn draw(&self, key: [u64; 2], block: u64) -> f64 {
        let mut stream = Stream::with_key(key);
        stream.seek(PHASE + 1 + block);
        match self.law {
            Law::LogNormal { deviation_db } => db_to_ratio(deviation_db * stream.normal()),
            Law::Rician { factor } => {
                // A steady ray and many weak ones, whose sum is a complex normal number of mean power 1.
                let scattered = libm::sqrt(stream.exponential(1.0));
                let (sin, cos) = libm::sincos(std::f64::consts::TAU * stream.uniform());
                let (along, across) = (libm::sqrt(factor) + scattered * cos, scattered * sin);
                (along * along + across * across) / (factor + 1.0)
            }
        }
    }
}

/// How long the echoes of a receiver that moves at a speed remain unchanged: 0.423 over the Doppler shift, and no
/// longer than any run.
#[must_use]
pub fn coherence(speed_mps: f64, frequency_hz: f64) -> Span {
    Span::from_secs_f64((coherence_m(frequency_hz) / speed_mps).min(FOREVER_S)).max(Span(1))
}

/// How far it moves meanwhile, m.
#[must_use]
pub fn coherence_m(frequency_hz: f64) -> f64 {
    0.423 * super::propagation::SPEED_OF_LIGHT / frequency_hz
}
