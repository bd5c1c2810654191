//! The sender's part of ECN (RFC 3168, 6.1.2; RFC 9768): the answer to the echo of a mark, and what segments carry.
//!
//! The window falls once for the marks and losses of one window of data. The first new segment after it fell, for
//! whatever reason, carries CWR, so that the receiver ends its echo. Only new data is ECN-capable: neither what is sent
//! again nor probes are (6.1.5, 6.1.6), nor segments without data (6.1.4).
//!
//! **Choices.** 1. A window of data ends with the acknowledgement of something that was sent after the window fell. 2. A
//! law that answers a mark without reducing its window is still asked once a window, and CWR ends the echo, which
//! would report nothing new otherwise. 3. The echo of a mark at a window of one segment withholds new data until the
//! retransmission timer expires; that is not a timeout, and does not double it. 4. A mark leaves one segment at least (`mark-floor`);
//! Linux leaves two, where further marks have no effect. 5. A count is read from an acknowledgement of something new,
//! by its number or its SACK blocks, or with a newer timestamp, as in Linux. Others may be copies, or older than the
//! last. 6. An answer leaves a share of what was outstanding before the acknowledgement. If that is the one that ends a
//! recovery, the window, which then is smaller, may stay as it is.

use super::{Arrived, Sender};
use crate::hooks::{Congestion, EcnEcho, Loss, Mark, NoteEvent, Out, Recovery, Reduction};
use crate::packet::Ecn;
use crate::transport::tcp::{FIRST_COUNT, Parts};
use crate::units::Time;

/// A window below this holds one segment.
const TWO_SEGMENTS: f64 = 2.0;

/// Where the window fell last: what answers the marks of a window of data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fall {
    /// First byte that had not been sent when the window fell last.
    at: Option<u64>,
    /// Whether the next new segment carries CWR.
    cwr_due: bool,
}

/// What the sender knows about marks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    in_use: bool,
    fall: Fall,
    /// First byte that had not been sent when the last mark was answered.
    answered_at: Option<u64>,
    /// The marks that the receiver has counted, where it counts them, and the ECN field of data then.
    counted: Option<u32>,
    codepoint: Ecn,
    /// Whether the next acknowledgement has no count.
    ignores_next: bool,
    /// Whether new data waits for the retransmission timer.
    holds: bool,
}

impl Marks {
    /// Whether an echo on an acknowledgement of all below `ack` is the first of a window of data. A timeout that answers what was
    /// outstanding below `repaired` answers no more once that is acknowledged.
    fn is_news(self, ack: u64, repaired: Option<u64>) -> bool {
        let is_over = |at| repaired == Some(at) && self.answered_at != repaired && ack == at;
        self.in_use && self.fall.at.is_none_or(|at| ack > at || is_over(at))
    }

    /// Whether a loss belongs to a congestion of which a mark was answered: the segment left before the answer, and once.
    #[inline]
    pub(super) fn include(self, loss: &Loss) -> bool {
        loss.times == 1 && self.answered_at.is_some_and(|at| loss.una < at)
    }

    /// The window has fallen, with all below `sent_end` sent.
    #[inline]
    pub(super) fn on_reduction(&mut self, reduction: Reduction, sent_end: u64) {
        if self.in_use && reduction == Reduction::Reduced {
            self.fall = Fall { at: Some(sent_end), cwr_due: self.counted.is_none() };
        }
    }

    /// Where the window fell last.
    #[inline]
    pub(super) fn fall(self) -> Fall {
        self.fall
    }

    /// The last fall was not needed, with this one before it. What answers a mark is not taken back, and CWR is due where the
    /// window stays as it is.
    pub(super) fn take_back(&mut self, before: Fall, stays: bool) {
        if self.fall.at != self.answered_at {
            self.fall = Fall { cwr_due: self.fall.cwr_due && (stays || before.cwr_due), ..before };
        }
    }

    /// The ECN field of a new segment with `len` bytes of data, and whether it carries CWR.
    #[inline]
    pub(super) fn on_new_segment(&mut self, len: u32) -> (Ecn, bool) {
        if !self.in_use || len == 0 {
            return (Ecn::NotEct, false);
        }
        (self.codepoint, std::mem::take(&mut self.fall.cwr_due))
    }

    /// Whether ECN is not in use.
    #[inline]
    pub(super) fn is_unused(self) -> bool {
        !self.in_use
    }

    /// Whether new data waits for the timer.
    #[inline]
    pub(super) fn hold_data(self) -> bool {
        self.holds
    }

    /// New data need not wait any longer. Whether it had to.
    #[inline]
    pub(super) fn release(&mut self) -> bool {
        std::mem::take(&mut self.holds)
    }
}

impl<P: Parts> Sender<P> {
    /// Both ends use ECN, accurate ECN or that of RFC 3168.
    pub fn use_ecn(&mut self, is_accurate: bool) {
        self.marks.in_use = true;
        self.marks.counted = is_accurate.then_some(FIRST_COUNT);
        self.marks.codepoint = if is_accurate { self.law.codepoint() } else { Ecn::Ect0 };
    }

    /// The acknowledgement that comes next has no count of marks.
    pub fn ignore_count(&mut self) {
        self.marks.ignores_next = true;
    }

    /// The marks that an acknowledgement of all below `ack` newly reports by the three bits of its count. If it acknowledges
    /// enough segments for the count to wrap, the greatest number of marks that fits (RFC 9768, A.2.2). One that acknowledges
    /// nothing new and is not newer than others (`is_newer`) reports nothing: a copy, or overtaken on its way.
    pub fn count_marks(&mut self, bits: u32, ack: u64, is_newer: bool) -> EcnEcho {
        let is_ignored = std::mem::take(&mut self.marks.ignores_next);
        let is_newer = ack > self.board.una() || (ack == self.board.una() && is_newer);
        let Some(counted) = self.marks.counted.filter(|_| is_newer && !is_ignored) else {
            return EcnEcho::Unmarked;
        };
        let least = bits.wrapping_sub(counted) & 0b111;
        let segments = ((ack - self.board.una()) / u64::from(self.packet.max(1))) as u32;
        let is_plain = self.board.sacked() == 0 && !self.recovery.is_active();
        let marks = if is_plain && segments >= 8 { segments - ((segments - least) & 0b111) } else { least };
        self.marks.counted = Some(counted.wrapping_add(marks));
        if marks == 0 { EcnEcho::Unmarked } else { EcnEcho::Counted(marks) }
    }

    /// An acknowledgement of all below `ack` arrived, with this many segments outstanding before it.
    pub(super) fn on_echo(&mut self, ecn: EcnEcho, ack: u64, flight: u32, now: Time, out: &mut impl Out) {
        if ecn == EcnEcho::Unmarked {
            return;
        }
        self.spurious.on_echo();
        if !self.is_answered_by_timeout() && self.marks.is_news(ack, self.repaired_at()) {
            self.integrate(now);
            let was_least = self.with_target(|sender| sender.answer_mark(flight, now));
            if was_least && self.stopped.is_none() {
                self.marks.holds = true;
                self.arm(now, out);
            }
        }
        self.note(NoteEvent::Mark, ack, 0, out);
    }

    /// A reduction that was not needed is over: an echo that it had answered is one to be answered, unless it was. The window is small
    /// enough not to wait for the timer.
    pub(super) fn answer_after_undo(&mut self, arrived: &Arrived, flight: u32, out: &mut impl Out) {
        if arrived.ecn != EcnEcho::Unmarked && self.marks.is_news(arrived.ack, None) {
            self.answer_mark(flight, arrived.now);
            self.note(NoteEvent::Mark, arrived.ack, 0, out);
        }
    }

    /// Whether a timeout has answered the marks of what is not yet acknowledged.
    pub(super) fn is_answered_by_timeout(&self) -> bool {
        self.repaired_at().is_some_and(|end| self.board.una() < end)
    }

    /// Where what was outstanding at the last timeout ends, if the timeout answers all congestion of it.
    fn repaired_at(&self) -> Option<u64> {
        (self.timeout_once && self.loss_until > 0).then_some(self.loss_until)
    }

    /// Whether the window had one segment and had to fall.
    fn answer_mark(&mut self, flight: u32, now: Time) -> bool {
        let mark = Mark {
            now,
            base: self.base(self.loss_ssthresh, flight),
            least: self.mark_floor,
            una: self.board.una(),
            pipe: self.board.pipe(),
            sent: self.board.end(),
            sent_end: self.board.sent_end(),
            srtt: self.rtt.srtt(),
        };
        self.count_estimate(now);
        self.hystart.on_reduction();
        let was_least = self.window.cwnd < TWO_SEGMENTS;
        let reduction = self.law.on_mark(&mark, &mut self.window);
        if self.whole_ssthresh {
            self.window.ssthresh = libm::floor(self.window.ssthresh);
        }
        self.window.round();
        self.window.clamp();
        self.counters.marks_answered += 1;
        self.marks.on_reduction(Reduction::Reduced, mark.sent_end);
        self.marks.answered_at = Some(mark.sent_end);
        was_least && reduction == Reduction::Reduced
    }
}
