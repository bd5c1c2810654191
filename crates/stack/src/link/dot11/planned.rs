//! Frames whose rates the layer above has planned, as mac80211 hands them to its hardware.
//!
//! **How.** A [`Plan`] lists rates and how often the frame is tried at each. An attempt that fails counts at the rate it was made
//! at, also if it was an RTS that no CTS answered. The frame is discarded after the last. A frame to [`BROADCAST`] is sent once,
//! at the first rate, and awaits nothing. With EDCA see `edca/planned.rs`.

use std::collections::HashMap;

use super::dcf::{Dcf, Service};
use super::frame::{BROADCAST, Frame, FrameKind};
use super::mode::DataRate;
use crate::hooks::Arq;

/// The most rates of a plan.
pub const STAGES: usize = 4;

/// The rates of a frame, each with its attempts; those without attempts are not used.
pub type Plan = [(DataRate, u8); STAGES];

/// The attempts made at each rate of a plan.
pub type Tries = [u8; STAGES];

/// A frame that the station holds.
#[derive(Clone, Copy, Debug)]
struct Planned {
    plan: Plan,
    tries: Tries,
}

impl Planned {
    /// The rate of the next attempt.
    fn stage(&self) -> Option<usize> {
        (0..STAGES).find(|stage| self.tries[*stage] < self.plan[*stage].1)
    }
}

/// The plans of the frames that a station holds, by their handles.
#[derive(Clone, Debug, Default)]
pub(super) struct Plans(HashMap<u64, Planned>);

impl Plans {
    pub(super) fn add(&mut self, handle: u64, plan: Plan) {
        self.0.insert(handle, Planned { plan, tries: Tries::default() });
    }

    /// The rate of the next attempt at a frame.
    pub(super) fn rate(&self, handle: u64) -> Option<DataRate> {
        let planned = self.0.get(&handle)?;
        Some(planned.plan[planned.stage().unwrap_or(0)].0)
    }

    /// An attempt at a frame has been made. Returns whether it was the last.
    pub(super) fn count(&mut self, handle: u64) -> bool {
        let Some(planned) = self.0.get_mut(&handle) else { return true };
        if let Some(stage) = planned.stage() {
            planned.tries[stage] += 1;
        }
        planned.stage().is_none()
    }

    /// Whether all attempts at a frame have been made.
    pub(super) fn are_over(&self, handle: u64) -> bool {
        self.0.get(&handle).is_none_or(|planned| planned.stage().is_none())
    }

    /// How often a frame was sent, once.
    pub(super) fn take(&mut self, handle: u64) -> Option<Tries> {
        self.0.remove(&handle).map(|planned| planned.tries)
    }
}

impl<A: Arq> Dcf<A> {
    /// A planned frame was acknowledged, or sent to all.
    pub(super) fn count_success(&mut self, service: &Service) {
        if let Some(plans) = &mut self.core.plans {
            plans.count(service.msdu.handle);
        }
    }

    /// An attempt at a planned frame has failed: the next one is at the rate of its plan. Returns whether it was the last; `None`
    /// of a frame without a plan.
    pub(super) fn count_planned(&mut self, service: &Service) -> Option<bool> {
        let is_over = self.core.plans.as_mut()?.count(service.msdu.handle);
        if !is_over {
            let Service { msdu, sequence, fragment, offset, begun, sent, lost, .. } = *service;
            let again = self.fragment_at(msdu, sequence, fragment, offset);
            self.service = Some(Service { begun, sent, lost, ..again });
        }
        Some(is_over)
    }
}

/// Whether a frame has data for all.
#[inline]
pub(super) fn is_to_all(frame: &Frame) -> bool {
    frame.receiver == BROADCAST && frame.kind == FrameKind::Data
}

impl Service {
    /// Whether no acknowledgement follows it.
    pub(super) fn is_to_all(&self) -> bool {
        self.msdu.next == BROADCAST
    }
}
