//! The effects of an acknowledgement on the outstanding data, the window, the recovery and the timer.

use super::spurious::Doing;
use super::{Arrived, SackNews, Sender};
use crate::hooks::{Ack, Congestion, EcnEcho, LossResponse, NoteEvent, Out, Progress, Recovery, Verdict};
use crate::transport::tcp::Parts;
use crate::units::Time;

impl<P: Parts> Sender<P> {
    /// An acknowledgement arrives at `now`; its SACK blocks are processed first.
    pub fn hear(&mut self, now: Time) {
        self.board.hear(now);
        if self.by_time {
            self.board.set_srtt(self.rtt.srtt().unwrap_or_default());
        }
    }

    /// Marks what a SACK block covers and returns whether any of it is news.
    pub fn sack(&mut self, left: u64, right: u64) -> bool {
        self.board.sack(left, right)
    }

    /// Records an acknowledgement without ECN that does not close the window, where nothing is outstanding that it
    /// could acknowledge. An end that only receives gets one with each segment. Returns false if it may report more
    /// than the edge of the window.
    #[inline]
    pub fn learns_only_edge(&mut self, ack: u64, edge: u64) -> bool {
        if !self.board.is_empty() || self.persisting || self.by_time || ack != self.board.sent_end() {
            return false;
        }
        self.edge = self.edge.max(edge);
        self.widest = self.widest.max(edge - ack);
        true
    }

    /// An acknowledgement arrived.
    pub fn on_ack(&mut self, arrived: &Arrived, out: &mut impl Out) {
        let (old_edge, now) = (self.edge, arrived.now);
        if arrived.ack < self.board.una() || arrived.ack > self.board.sent_end() {
            return;
        }
        self.edge = if arrived.closes { arrived.edge } else { self.edge.max(arrived.edge) };
        self.widest = self.widest.max(arrived.edge - arrived.ack);
        let before = self.before(arrived);
        if arrived.twice.is_some() {
            self.recovery.on_duplicate_report(arrived.ack, &self.board);
        }
        let delivered = if before.advances {
            self.on_advance(arrived, out)
        } else if self.is_duplicate(arrived, old_edge) {
            self.on_duplicate(arrived, out)
        } else {
            0
        };
        self.on_echo(arrived.ecn, arrived.ack, before.flight, now, out);
        if self.by_time {
            self.follow_probe(arrived.ack, arrived.twice.map(|range| range.1), before.advances, now, out);
            self.review(arrived, before, out);
            if before.doing == Doing::Recovering {
                self.recover_next(now, delivered, out);
            }
            self.refresh_timer(now, out);
        }
        // A probe that was accepted leaves nothing outstanding; if the window is still closed, probing begins again.
        if self.persisting && (self.edge > self.board.una() || self.board.is_empty()) {
            self.end_persist(now, out);
        }
        if arrived.closes {
            self.freeze(now, out);
        }
    }

    /// Whether an acknowledgement of nothing new counts as a duplicate; the window reached to `old_edge` before it.
    #[inline]
    fn is_duplicate(&self, arrived: &Arrived, old_edge: u64) -> bool {
        if self.board.is_empty() || self.persisting {
            return false;
        }
        let repeats = match arrived.sack {
            SackNews::Unused => arrived.pure && arrived.edge == old_edge,
            SackNews::Nothing => false,
            SackNews::Segments => true,
        };
        let heeded = |echo| self.law.heeds(echo, self.board.una());
        repeats && arrived.extension.as_ref().is_none_or(heeded)
    }

    /// An acknowledgement of new data. How many segments it reports to have arrived.
    fn on_advance(&mut self, arrived: &Arrived, out: &mut impl Out) -> u32 {
        let now = arrived.now;
        self.integrate(now);
        let flight = self.board.flight();
        self.limited = 0;
        let advance = self.board.advance(arrived.ack);
        let newest_sent = advance.newest_sent();
        let rtt = newest_sent
            .filter(|_| !advance.repaired)
            .map(|sent| now.since(sent))
            .or(arrived.echoed_rtt.filter(|_| self.echoed_rtt));
        let declared = self.board.declared();
        let verdict = self.recovery.on_advance(advance.segments, &mut self.board, &mut self.window);
        let is_sampled = !(self.rtt.is_in_ticks() && self.recovery.is_active());
        if is_sampled {
            self.take_sample(arrived.ack, arrived.echoed_rtt, advance.oldest_sent(), newest_sent, now, out);
        } else if self.recovery.holds_sacked() {
            self.rtt.set_backoff(0);
        }
        if self.recovery.assumes() && advance.repaired {
            // Which copy of the segment has arrived is unknown, and so is what became of those that left before the second.
            self.board.take_original();
        }
        if !self.recovery.is_active() {
            self.board.forget_assumed();
            if self.prr.is_some() {
                self.end_prr();
            }
        }
        // RFC 3168 (6.1.2): not at an echo.
        let grows = arrived.ecn == EcnEcho::Unmarked || self.is_answered_by_timeout();
        let begins_again = self.by_time && self.board.missing() > 0;
        let arrivals = if self.by_time { self.board.news() } else { advance.segments };
        let progress = match verdict {
            Verdict::Ended if grows && self.growth_at_recovery_end && !begins_again => {
                Progress::Open(arrivals)
            }
            Verdict::Open if grows && self.window_limited(flight) => Progress::Open(advance.segments),
            Verdict::Open => Progress::Unlimited(advance.segments),
            _ => Progress::Recovering(advance.segments),
        };
        let newest_sent = advance.newest_sent_last();
        let ack = Ack { newest_sent, ..self.ack_event(arrived, progress, rtt, flight) };
        self.with_target(|sender| sender.tell(&ack));
        self.pace_recovery(ack.delivered.segments, declared == self.board.declared());
        self.set_pace();
        if self.board.is_empty() {
            self.disarm(out);
        } else if verdict != Verdict::PartialTimerRuns {
            self.arm(now, out);
        }
        if !is_sampled && !self.recovery.holds_sacked() {
            self.skip_sample(arrived.ack);
        }
        if out.is_watching() {
            let partial = matches!(verdict, Verdict::Partial | Verdict::PartialTimerRuns);
            self.note(if partial { NoteEvent::Partial } else { NoteEvent::Ack }, arrived.ack, 0, out);
            if verdict == Verdict::Ended {
                self.note(NoteEvent::Exit, arrived.ack, 0, out);
            }
            self.tell_jitter(out);
        }
        let ends = matches!(verdict, Verdict::Open | Verdict::Ended);
        if verdict == Verdict::Lost || (ends && self.is_overdue(&ack)) {
            self.recover(now, self.board.flight(), ack.delivered.segments, out);
        }
        ack.delivered.segments
    }

    /// A duplicate acknowledgement. How many segments it reports to have arrived.
    fn on_duplicate(&mut self, arrived: &Arrived, out: &mut impl Out) -> u32 {
        let now = arrived.now;
        self.integrate(now);
        let flight = self.board.flight();
        // A recovery by selective acknowledgements counts what it declares lost; the others have no account of their own.
        if arrived.sack == SackNews::Unused && !self.recovery.holds_sacked() && !self.board.is_behind() {
            self.board.assume();
        }
        let verdict = self.recovery.on_duplicate(&mut self.board, &mut self.window);
        let ack = self.ack_event(arrived, Progress::Duplicate, None, flight);
        let delivered = ack.delivered.segments;
        self.with_target(|sender| sender.tell(&ack));
        self.pace_recovery(delivered, false);
        self.set_pace();
        self.note(NoteEvent::DupAck, arrived.ack, 0, out);
        if self.eln && arrived.eln {
            // A copy that is lost, too, is left to the timer.
            if self.board.get(self.board.base()).times == 1 {
                self.repair(LossResponse::ANNOUNCED, delivered, now, out);
            }
        } else if verdict == Verdict::Lost || self.is_overdue(&ack) {
            // What limited transmit sent does not count (RFC 5681, 3.2, step 2).
            self.recover(now, flight - self.limited, delivered, out);
        }
        delivered
    }
}
