//! When the next segment may leave: the pace, and the bound on what waits below.
//!
//! **Source.** Linux: `tcp_update_pacing_rate`, `tcp_update_skb_after_send`, and TCP small queues (`tcp_small_queue_check`).
//!
//! **How.** A law that sets no pace is spaced, where the endpoint requests that, at a multiple of its window per
//! smoothed round trip. Independently, no segment leaves while more than some time of the pace, and two packets, wait
//! of the connection in the first link of its host. Such a sender is notified when there is room, and then continues.
//!
//! **Choices.** 1. The pace counts payload, as that of BBR does. 2. It begins with the first acknowledgement, as that of an end
//! which opens does in Linux. 3. With at most one segment outstanding nothing is held back.

use super::Sender;
use crate::hooks::{Congestion, Out, Room, Timer};
use crate::transport::tcp::{Config, Pacing, Parts};
use crate::units::{Bytes, Rate, Span, Time};

/// The spacing of segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    mode: Pacing,
    factors: (f64, f64),
    small_queue: Option<Span>,
    /// When the next segment may leave.
    pub(super) release: Time,
    /// Bytes that may leave before it, of the quantum under way.
    quantum: u32,
    /// Segments that still leave before the pace begins.
    unpaced: u32,
    /// Whether the pace held the next segment back when it was last asked.
    holds: bool,
    /// The same, or what waits below did.
    waits: bool,
}

impl Pace {
    pub(super) fn new<P>(config: &Config<P>) -> Pace {
        let Config { pacing, pacing_factors, small_queue, unpaced_start, .. } = *config;
        Pace {
            mode: pacing,
            factors: pacing_factors,
            small_queue,
            release: Time::ZERO,
            quantum: 0,
            unpaced: unpaced_start,
            holds: false,
            waits: false,
        }
    }

    /// Whether the next segment waits for its time.
    pub(super) fn holds(&self) -> bool {
        self.holds
    }

    /// Whether it waits for its time, or for room below.
    pub(super) fn waits(&self) -> bool {
        self.waits
    }
}

impl<P: Parts> Sender<P> {
    /// The pace that the window gives (`tcp_update_pacing_rate`), once a round trip is known.
    fn pace_of_window(&self) -> Option<Rate> {
        let srtt = self.rtt.srtt().filter(|srtt| *srtt > Span::ZERO)?;
        let (slow_start, avoidance) = self.pace.factors;
        let factor = if self.window.cwnd < self.window.ssthresh / 2.0 { slow_start } else { avoidance };
        let segments = self.window.cwnd.max(f64::from(self.board.outstanding()));
        let bits = 8.0 * f64::from(self.packet) * factor * segments / srtt.as_secs();
        Some(Rate((bits as u64).max(1)))
    }

    /// An acknowledgement has been processed, or the law has set its pace.
    #[inline]
    pub(super) fn set_pace(&mut self) {
        match self.pace.mode {
            Pacing::ByLaw => {}
            Pacing::None => self.window.pacing = None,
            Pacing::All if self.law.paces() => {}
            Pacing::All => self.window.pacing = self.pace_of_window(),
        }
    }

    /// Whether what waits below is bounded.
    pub(super) fn bounds_below(&self) -> bool {
        self.pace.small_queue.is_some()
    }

    /// A segment with `len` bytes of payload leaves.
    #[inline]
    pub(super) fn count_pace(&mut self, len: u32, now: Time) {
        if self.pace.unpaced > 0 {
            self.pace.unpaced -= 1;
        } else if let Some(rate) = self.window.pacing {
            let quantum = if now < self.pace.release { self.pace.quantum } else { self.window.quantum };
            self.pace.quantum = quantum.saturating_sub(len);
            self.pace.release = now.max(self.pace.release).after(Bytes(len.into()).time_at(rate));
        }
    }

    /// Whether the next segment has to wait for its time, or for room below; the timer is set to it.
    #[inline]
    pub(super) fn is_paced(&mut self, now: Time, out: &mut impl Out) -> bool {
        let Pace { release, quantum, small_queue, .. } = self.pace;
        self.pace.holds = self.window.pacing.is_some() && now < release && quantum == 0;
        if self.pace.holds {
            out.set(Timer::Pace, release);
        }
        self.pace.waits = self.pace.holds || small_queue.is_some_and(|time| self.is_held(time, out));
        self.pace.waits
    }

    /// Whether the sender must wait until less of it waits below; the bound is `time` of the pace.
    fn is_held(&mut self, time: Span, out: &mut impl Out) -> bool {
        let Some(pace) = self.window.pacing.or_else(|| self.pace_of_window()) else { return false };
        if self.board.outstanding() <= 1 {
            return false;
        }
        let limit = pace.0 as f64 / 8.0 * time.as_secs();
        match out.room_below(limit as u64) {
            Room::Now => false,
            Room::At(at) => {
                out.set(Timer::Pace, at);
                true
            }
            Room::Later => true,
        }
    }
}
