//! What fires before the retransmission timer: the end of the time for reordering, and the probe of a tail (RFC 8985, 6.2 and
//! 7).
//!
//! All three share the retransmission timer: it is set to the earliest.
//!
//! **Choices.** 1. A probe waits for two smoothed round trips. If one segment is outstanding (7.2), or fewer than the
//! receiver acknowledges together, it also waits for a delayed acknowledgement. That takes 200 ms, as in Linux, or
//! `ack_delay` if that is longer. Where the timeout would come before, the probe leaves at that time instead (7.2):
//! with one segment outstanding it always does in Linux, and here. 2. After a probe the whole timeout runs, as in
//! Linux. 3. A loss that a probe has repaired (7.4) is answered by the law as one detected by duplicates, without a
//! recovery, and from the window, as in Linux. The amount outstanding at the tail of a flight says nothing about the
//! path. 4. Nagle's rule does not hold back a probe, as in Linux; a segment for which the peer's window has no room
//! does not leave in parts.

use super::{Outgoing, Sender};
use crate::hooks::{LossBase, LossCause, NoteEvent, Out, Pick, Recovery, Timer};
use crate::transport::tcp::{Config, Parts};
use crate::units::{Span, Time};

/// Time for a delayed acknowledgement of the only segment outstanding (7.2: `TLP.max_ack_delay`).
const ACK_DELAY: Span = Span::from_millis(200);
/// The time of a probe before the first round trip is known (7.2).
const FIRST_PROBE: Span = Span::from_secs(1);

/// What the timer waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waiting {
    /// The retransmission timeout, or a probe of a closed window.
    #[default]
    Timeout,
    /// The time for reordering of a segment is over.
    Reordering,
    /// The probe of a tail.
    Probe,
}

/// A probe that is not yet answered.
#[derive(Clone, Copy, Debug)]
struct Tail {
    /// First byte not sent when it left (`TLP.end_seq`).
    end: u64,
    /// Whether it was sent before (`TLP.is_retrans`).
    is_copy: bool,
}

/// The timers before the retransmission timer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Early {
    /// Whether any of them can fire.
    is_used: bool,
    probes: bool,
    /// Segments that the receiver acknowledges without waiting for its timer, and for how long it waits for others.
    quorum: u32,
    ack_delay: Span,
    waiting: Waiting,
    /// When the timer is set to.
    set: Time,
    timeout_at: Time,
    probe_at: Time,
    tail: Option<Tail>,
}

impl Early {
    pub(super) fn new<P>(config: &Config<P>, by_time: bool) -> Early {
        Early {
            is_used: by_time,
            probes: by_time && config.tail_loss_probe && config.sack,
            quorum: config.acks.quorum(config.ack_every).max(2),
            ack_delay: config.ack_delay.max(ACK_DELAY),
            ..Early::default()
        }
    }
}

impl<P: Parts> Sender<P> {
    /// What the timer has fired for.
    #[must_use]
    #[inline]
    pub fn waiting(&self) -> Waiting {
        self.early.waiting
    }

    /// Sets the retransmission timer to this time, or to what comes before.
    #[inline]
    pub(super) fn set_timer(&mut self, now: Time, at: Time, out: &mut impl Out) {
        if !self.early.is_used {
            out.set(Timer::Retransmit, at);
            return;
        }
        self.early.timeout_at = at;
        self.early.probe_at = now.after(self.probe_timeout()).min(at);
        self.early.set = Time::NEVER;
        self.refresh_timer(now, out);
    }

    /// A new segment left: a probe waits from now on.
    #[inline]
    pub(super) fn delay_probe(&mut self, now: Time, out: &mut impl Out) {
        if self.early.probes && self.armed {
            self.early.probe_at = now.after(self.probe_timeout()).min(self.early.timeout_at);
            self.refresh_timer(now, out);
        }
    }

    /// Sets the timer to the earliest of what it waits for. A probe that could not be sent when it was due is due at once.
    pub(super) fn refresh_timer(&mut self, now: Time, out: &mut impl Out) {
        if !self.early.is_used || !self.armed {
            return;
        }
        let Early { timeout_at, probe_at, .. } = self.early;
        let (mut at, mut waiting) = (timeout_at, Waiting::Timeout);
        if probe_at <= at && self.may_probe() {
            (at, waiting) = (probe_at, Waiting::Probe);
        }
        // Linux: TCP_TIMEOUT_MIN_US. What a late acknowledgement shows is seen without the timer.
        let patience = self.rtt.tick() * 2;
        let wake = self.recovery.wakes_at().map(|due| due.after(patience));
        if let Some(wake) = wake.filter(|wake| *wake < at && !self.persisting) {
            (at, waiting) = (wake, Waiting::Reordering);
        }
        self.early.waiting = waiting;
        if self.early.set != at {
            self.early.set = at;
            out.set(Timer::Retransmit, at.max(now));
        }
    }

    /// RFC 8985 (7.2): no recovery, nothing selectively acknowledged, and no probe under way.
    fn may_probe(&self) -> bool {
        self.early.probes
            && self.early.tail.is_none()
            && !self.recovery.is_active()
            && self.board.sacked() == 0
            && self.board.una() >= self.loss_until
            && !self.board.is_empty()
            && !self.persisting
            && self.stopped.is_none()
    }

    /// Payload of a probe with new data; zero if there is none, or no room for it.
    fn probe_len(&self) -> u32 {
        let waiting = self.written.saturating_sub(self.board.sent_end()).min(self.packet.into());
        let room = self.edge.saturating_sub(self.board.sent_end());
        if waiting <= room { waiting as u32 } else { 0 }
    }

    fn probe_timeout(&self) -> Span {
        let Some(srtt) = self.rtt.srtt() else { return FIRST_PROBE };
        let alone = self.board.outstanding() < self.early.quorum;
        let delay = if alone { self.early.ack_delay } else { Span::ZERO };
        (srtt * 2).max(self.rtt.tick() * 2) + delay
    }

    /// The time for reordering of a segment is over.
    pub fn on_reordering_over(&mut self, now: Time, out: &mut impl Out) {
        self.early.set = Time::NEVER;
        self.board.hear(now);
        let begins = self.recovery.on_time(&mut self.board);
        self.tell_losses();
        if begins {
            self.recover(now, self.board.flight(), 0, out);
        }
        self.refresh_timer(now, out);
    }

    /// The probe of a tail: a new segment if there is one, otherwise the last again (RFC 8985, 7.3).
    pub fn probe_tail(&mut self, now: Time, out: &mut impl Out) -> Option<Outgoing> {
        self.armed = false;
        if self.board.is_empty() || self.persisting || self.stopped.is_some() {
            self.arm(now, out);
            return None;
        }
        let room = self.board.end() - self.board.base() < u64::from(self.window_limit);
        let within = room && !self.marks.hold_data();
        let len = if within { self.probe_len() } else { 0 };
        let is_new = len > 0 || (within && self.fin_is_due());
        let pick = if is_new { Pick::New } else { Pick::Again(self.board.end() - 1) };
        let outgoing = self.send(pick, len, now, out);
        self.early.tail = Some(Tail { end: self.board.sent_end(), is_copy: !is_new });
        self.counters.tail_probes += 1;
        self.arm(now, out);
        Some(outgoing)
    }

    /// An acknowledgement of all below `ack` arrived, which may report `twice` received data: what became of the probe
    /// (RFC 8985, 7.4.2).
    pub(super) fn follow_probe(
        &mut self,
        ack: u64,
        twice: Option<u64>,
        advanced: bool,
        now: Time,
        out: &mut impl Out,
    ) {
        let Some(tail) = self.early.tail.filter(|tail| ack >= tail.end) else { return };
        let repeats = !advanced && twice.is_none();
        if !tail.is_copy || twice == Some(tail.end) || (ack == tail.end && repeats) {
            self.early.tail = None;
        } else if ack > tail.end {
            // The probe has repaired a loss.
            self.early.tail = None;
            self.integrate(now);
            let loss = self.loss(now, LossCause::Duplicates, LossBase::Window(self.window.cwnd));
            let response = self.ask(&loss, out);
            self.window.clamp();
            self.marks.on_reduction(response.reduction, self.board.sent_end());
            self.note(NoteEvent::Enter, self.board.una(), 0, out);
            self.note(NoteEvent::Exit, self.board.una(), 0, out);
        }
    }

    /// A timeout, or whatever else begins anew: the probe is answered.
    pub(super) fn forget_probe(&mut self) {
        self.early.tail = None;
    }
}
