//! What was not lost: forward RTO recovery (RFC 5682), and the return to the window before an unnecessary reduction.
//! RFC 3522 and 3708 show that it was unnecessary, RFC 4015 says what follows.
//!
//! **How.** A reduction that begins a recovery, or a series of timeouts, saves the window. It is restored if an
//! acknowledgement of new data echoes a timestamp older than the first segment sent again (Eifel). It is restored if
//! the receiver has reported each segment sent again to have arrived twice (D-SACK). After a timeout, it is also
//! restored if a segment arrives that was sent before it and only once (F-RTO). To see that, F-RTO answers the first
//! acknowledgement after a timeout with two new segments.
//!
//! **Choices.** 1. F-RTO uses the scoreboard (RFC 5682, 3.1), and only where a timeout is the first in its window of
//! data and no recovery was under way. Without new data to send the flight is sent again as always (step 2b). 2. The
//! restored window is at least the present one, as in Linux. 3. What RFC 4015 (3) does to the timer is left out: the
//! late acknowledgement is a sample like all others. 4. An original that arrives late, after others, counts as
//! reordering, as in Linux. RFC 8985 (6.2, step 3) counts only what was sent once, and without such an arrival the
//! reordering window of RACK stays 0. 5. Reports of duplicates count against a recovery until another begins. 6. After
//! a mark was echoed since, the window stays reduced (RFC 4015, 3; Linux clears `prior_ssthresh`), and only the
//! recovery is over. Restored or not, the reduction no longer answers marks: the next echo is answered, in this
//! acknowledgement or later, as in Linux, whose state is open then. 7. As in Linux, a partial acknowledgement undoes
//! nothing while a copy is in the network. Recoveries that follow each other without a gap count as one for the time of
//! the first copy. 8. After a report of duplicates what was declared lost stays so, and may begin the next recovery.

use super::marks::Fall;
use super::{Arrived, Sender};
use crate::hooks::{Congestion, Declared, NoteEvent, Out, Recovery};
use crate::transport::tcp::{Config, Parts, Undo};
use crate::units::Time;

/// The window before a reduction, and what was sent again since.
#[derive(Clone, Copy, Debug)]
struct Saved {
    cwnd: f64,
    ssthresh: f64,
    /// First byte not acknowledged when it was saved.
    una: u64,
    /// Segments sent again and not reported to have arrived twice; `None` before the first.
    again: Option<u32>,
    /// Where the window fell before, and whether a mark was echoed since it was saved.
    fall: Fall,
    is_marked: bool,
}

/// How far F-RTO is (RFC 5682, 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Forward {
    #[default]
    Off,
    /// After step 1: the first segment was sent again.
    Resent,
    /// After step 2: the number of new segments, of two, that may still leave.
    Probing(u32),
}

/// What may prove to have been spurious.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spurious {
    by_dsack: bool,
    by_stamps: bool,
    uses_forward: bool,
    saved: Option<Saved>,
    /// When the first copy left since none was outstanding at the beginning of a recovery (Linux's `retrans_stamp`).
    first_copy: Option<Time>,
    forward: Forward,
}

/// What a sender was doing when an acknowledgement arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// Neither of the others.
    Open,
    /// A recovery, which began with what acknowledgements showed.
    Recovering,
    /// What follows a timeout.
    AfterTimeout,
}

/// An acknowledgement, before it is processed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    pub(super) doing: Doing,
    /// Segments outstanding.
    pub(super) flight: u32,
    /// Whether it is of new data.
    pub(super) advances: bool,
    /// Whether it is of a first transmission that was sent again, or would have been.
    is_late: bool,
}

/// What F-RTO allows to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allowed {
    /// What the recovery picks.
    Anything,
    /// New data.
    New,
    /// Nothing until the next acknowledgement.
    Nothing,
}

/// New segments of step 2.
const NEW_SEGMENTS: u32 = 2;

impl Spurious {
    pub(super) fn new<P>(config: &Config<P>, by_time: bool) -> Spurious {
        Spurious {
            by_dsack: by_time && matches!(config.undo, Undo::Dsack | Undo::Both),
            by_stamps: by_time && matches!(config.undo, Undo::Timestamps | Undo::Both),
            uses_forward: by_time && config.f_rto,
            saved: None,
            first_copy: None,
            forward: Forward::Off,
        }
    }

    /// Whether anything is taken back.
    fn is_used(&self) -> bool {
        self.by_dsack || self.by_stamps || self.uses_forward
    }

    /// A segment is sent again, and not as a probe.
    #[inline]
    pub(super) fn on_copy(&mut self, now: Time) {
        self.first_copy.get_or_insert(now);
        if let Some(saved) = &mut self.saved {
            saved.again = Some(saved.again.unwrap_or(0) + 1);
        }
    }

    /// A mark was echoed: there is congestion.
    #[inline]
    pub(super) fn on_echo(&mut self) {
        if let Some(saved) = &mut self.saved {
            saved.is_marked = true;
        }
    }

    /// What may be sent, with new data at hand or not. Without new data F-RTO ends.
    #[inline]
    pub(super) fn allows(&mut self, is_fresh: bool) -> Allowed {
        match self.forward {
            Forward::Off | Forward::Resent => Allowed::Anything,
            Forward::Probing(0) => Allowed::Nothing,
            Forward::Probing(left) if is_fresh => {
                self.forward = Forward::Probing(left - 1);
                Allowed::New
            }
            Forward::Probing(NEW_SEGMENTS) => {
                self.forward = Forward::Off;
                Allowed::Anything
            }
            Forward::Probing(_) => Allowed::Nothing,
        }
    }

    /// The receiver reports `[left, right)` to have arrived twice.
    fn on_duplicate_report(&mut self, left: u64, right: u64, packet: u32) {
        if let Some(saved) = self.saved.as_mut().filter(|saved| left >= saved.una) {
            let segments = (right.saturating_sub(left)).div_ceil(u64::from(packet)) as u32;
            saved.again = saved.again.map(|again| again.saturating_sub(segments));
        }
    }
}

impl<P: Parts> Sender<P> {
    /// A loss is about to be answered: the window is saved if that begins a recovery or a series of timeouts.
    pub(super) fn save_window(&mut self) {
        if self.doing() == Doing::Open && self.spurious.is_used() {
            let (cwnd, ssthresh) = (self.window.cwnd, self.window.ssthresh);
            let (una, fall) = (self.board.una(), self.marks.fall());
            let copies = self.board.copies();
            if copies == 0 && self.board.oldest().is_none_or(|first| first.times == 1) {
                self.spurious.first_copy = None;
            }
            let again = (copies > 0).then_some(copies);
            self.spurious.saved = Some(Saved { cwnd, ssthresh, una, again, fall, is_marked: false });
        }
    }

    /// What the sender does.
    #[inline]
    pub(super) fn doing(&self) -> Doing {
        if self.recovery.is_active() {
            Doing::Recovering
        } else if self.board.una() < self.loss_until {
            Doing::AfterTimeout
        } else {
            Doing::Open
        }
    }

    /// The timer fired, `in_recovery` or not (RFC 5682, 3.1, step 1).
    pub(super) fn begin_forward(&mut self, in_recovery: bool) {
        let is_first = self.board.una() >= self.loss_until;
        self.spurious.forward = Forward::Off;
        if self.spurious.uses_forward && is_first && !in_recovery {
            self.spurious.forward = Forward::Resent;
            self.board.watch_originals(self.board.sent_end());
        }
        if self.recovery.is_by_time() {
            self.loss_until = self.board.sent_end();
        }
    }

    /// What is known of an acknowledgement before it is processed. In a recovery a late first transmission shows reordering, before
    /// losses are detected by it.
    #[inline]
    pub(super) fn before(&mut self, arrived: &Arrived) -> Before {
        let (doing, flight) = (self.doing(), self.board.flight());
        let advances = arrived.ack > self.board.una();
        if advances && doing == Doing::Open {
            self.spurious.first_copy = None;
        }
        let is_late = advances && doing != Doing::Open && self.is_late(arrived.echo);
        if is_late && doing == Doing::Recovering {
            self.board.see_late(self.board.una());
        }
        Before { doing, flight, advances, is_late }
    }

    /// Whether new data is acknowledged before a copy left, or with the echo of an older timestamp.
    fn is_late(&self, echo: Option<u32>) -> bool {
        let is_older = |first| {
            self.timestamps && echo.is_some_and(|echo| echo.wrapping_sub(self.stamp(first)).cast_signed() < 0)
        };
        let Spurious { by_stamps, saved, first_copy, .. } = self.spurious;
        by_stamps && saved.is_some() && first_copy.is_none_or(is_older)
    }

    /// An acknowledgement has been processed: whether the last reduction was needed.
    pub(super) fn review(&mut self, arrived: &Arrived, before: Before, out: &mut impl Out) {
        if let Some(declared) = self.is_spurious(arrived.twice, before) {
            self.undo(declared, arrived.now, out);
            self.answer_after_undo(arrived, before.flight, out);
        }
    }

    /// If an acknowledgement shows that the last reduction was not needed, what becomes of what was declared lost.
    fn is_spurious(&mut self, twice: Option<(u64, u64)>, before: Before) -> Option<Declared> {
        if let Some((left, right)) = twice {
            self.spurious.on_duplicate_report(left, right, self.packet);
        }
        let forward = self.spurious.forward;
        if forward != Forward::Off {
            if self.board.take_original() {
                return Some(Declared::Withdrawn);
            }
            // Step 2: two new segments, unless all is acknowledged; step 3: nothing old has arrived.
            let waits = self.board.una() < self.loss_until;
            self.spurious.forward = if forward == Forward::Resent && before.advances && waits {
                Forward::Probing(NEW_SEGMENTS)
            } else if forward == Forward::Resent && !before.advances && self.recovery.assumes() {
                // A duplicate without selective acknowledgements does not report on segments that left before the
                // timeout.
                Forward::Resent
            } else {
                Forward::Off
            };
        }
        let again = self.spurious.saved?.again;
        let is_partial = before.doing == Doing::Recovering && self.recovery.is_active();
        if before.is_late && (!is_partial || self.board.copies() == 0) {
            let all = is_partial || before.doing == Doing::AfterTimeout;
            return Some(if all { Declared::Withdrawn } else { Declared::Stands });
        }
        let by_report = self.spurious.by_dsack && again == Some(0);
        let after_timeout = before.doing == Doing::AfterTimeout;
        by_report.then_some(if after_timeout { Declared::Withdrawn } else { Declared::Stands })
    }

    /// The timestamp of a segment that leaves at this time (RFC 7323, 3).
    fn stamp(&self, at: Time) -> u32 {
        crate::transport::tcp::stamp_at(at, self.stamp_unit)
    }

    /// The reduction was not needed (RFC 4015, 3.2), nor is it undone where a mark calls for it.
    fn undo(&mut self, declared: Declared, now: Time, out: &mut impl Out) {
        self.spurious.forward = Forward::Off;
        let Some(saved) = self.spurious.saved.take() else { return };
        self.integrate(now);
        self.end_prr();
        if !saved.is_marked {
            self.window.cwnd = self.window.cwnd.max(saved.cwnd);
            self.window.ssthresh = self.window.ssthresh.max(saved.ssthresh);
            self.law.on_undo(&mut self.window);
            self.counters.reductions_undone += 1;
        }
        self.marks.take_back(saved.fall, saved.is_marked);
        self.window.clamp();
        self.recovery.undo(declared, &mut self.board);
        self.loss_until = 0;
        self.timed_out = None;
        self.rtt.set_backoff(0);
        if !self.board.is_empty() {
            self.arm(now, out);
        }
        self.note(NoteEvent::Undo, self.board.una(), 0, out);
    }
}
