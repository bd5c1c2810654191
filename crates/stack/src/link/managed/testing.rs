//! A host for tests of managements: it records what they drop, and draws what it is given.

use crate::hooks::{DropCause, QueueHost, Queued};
use crate::packet::Ecn;
use crate::units::Time;

/// Drops and draws.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The handles of dropped packets and the causes.
    pub(super) drops: Vec<(u32, DropCause)>,
    /// The next draws; 0.5 when none is left.
    pub(super) draws: Vec<f64>,
    /// How many were drawn.
    pub(super) drawn: usize,
}

impl QueueHost for Record {
    fn drop(&mut self, packet: &Queued, cause: DropCause) {
        self.drops.push((packet.handle, cause));
    }

    fn draw(&mut self) -> f64 {
        self.drawn += 1;
        if self.draws.is_empty() { 0.5 } else { self.draws.remove(0) }
    }
}

/// A packet of 1000 bytes of flow 0 that does not use ECN.
pub(super) fn packet(handle: u32, came: Time) -> Queued {
    Queued { handle, bytes: 1000, flow: 0, lane: 0, ecn: Ecn::NotEct, came }
}
