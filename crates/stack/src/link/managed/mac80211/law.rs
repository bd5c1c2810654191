//! The law of a lane.

use super::super::{dualpi2, fq_codel};
use super::{Config, Law};
use crate::hooks::{Backlog, Count, Discipline, QueueHost, Queued};
use crate::link::managed::{DualPi2, FqCodel};
use crate::units::Time;

/// The packets of a lane with their law.
#[derive(Clone, Debug)]
pub(super) enum Line {
    FqCodel(FqCodel),
    DualPi2(DualPi2),
}

impl Line {
    /// An empty line; `salt` is that of hashes.
    pub(super) fn new(config: &Config, salt: u32) -> Line {
        match config.law {
            Law::FqCodel => Line::FqCodel(FqCodel::new(&config.queue, salt)),
            Law::DualPi2 => {
                let target = config.queue.codel.target;
                Line::DualPi2(DualPi2::new(&dualpi2::Config { target, ..config.dual }))
            }
        }
    }

    /// The counters that a law has, each 0.
    pub(super) fn no_counts(config: &Config) -> Vec<Count> {
        let queue = fq_codel::Config { flows: 1, ..config.queue };
        Line::new(&Config { queue, ..*config }, 0).counts()
    }

    pub(super) fn counts(&self) -> Vec<Count> {
        match self {
            Line::FqCodel(law) => law.counts(),
            Line::DualPi2(law) => law.counts(),
        }
    }

    pub(super) fn backlog(&self) -> Backlog {
        match self {
            Line::FqCodel(law) => law.backlog(),
            Line::DualPi2(law) => law.backlog(),
        }
    }

    pub(super) fn enqueue(&mut self, packet: Queued, host: &mut dyn QueueHost) {
        let without_limit = Backlog { packets: u32::MAX, bytes: u64::MAX };
        match self {
            Line::FqCodel(law) => law.enqueue(packet, without_limit, host),
            Line::DualPi2(law) => law.enqueue(packet, without_limit, host),
        }
    }

    pub(super) fn dequeue(&mut self, now: Time, host: &mut dyn QueueHost) -> Option<Queued> {
        match self {
            Line::FqCodel(law) => law.dequeue(now, host),
            Line::DualPi2(law) => law.dequeue(now, host),
        }
    }

    /// Drops from the head of what is longest, at most `most` packets.
    pub(super) fn drop_batch(&mut self, most: u64, host: &mut dyn QueueHost) {
        match self {
            Line::FqCodel(law) => law.drop_batch(host),
            Line::DualPi2(law) => law.drop_batch(most, host),
        }
    }
}
