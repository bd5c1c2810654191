//! The answers of the sender to a loss: recovery after a fast retransmit, and the timeout.

use super::Sender;
use crate::hooks::{LossCause, LossResponse, NoteEvent, Out, Recovery};
use crate::transport::tcp::{Halved, Parts};
use crate::units::Time;

impl<P: Parts> Sender<P> {
    /// The first unacknowledged segment is lost, with `flight` segments outstanding: the law answers. The acknowledgement
    /// that shows the loss reports `delivered` new arrivals.
    pub(super) fn recover(&mut self, now: Time, flight: u32, delivered: u32, out: &mut impl Out) {
        self.save_window();
        let response = self.with_target(|sender| {
            let loss = sender.loss(now, LossCause::Duplicates, sender.base(sender.loss_ssthresh, flight));
            sender.ask(&loss, out)
        });
        self.repair(response, delivered, now, out);
    }

    /// A recovery was under way when an acknowledgement came that reports `delivered` new arrivals: if it is over, what is lost beyond
    /// it begins the next.
    pub(super) fn recover_next(&mut self, now: Time, delivered: u32, out: &mut impl Out) {
        if !self.recovery.is_active() && self.recovery.on_time(&mut self.board) {
            self.tell_losses();
            self.recover(now, self.board.flight(), delivered, out);
        }
    }

    /// Recovery of the first unacknowledged segment begins.
    pub(super) fn repair(&mut self, response: LossResponse, delivered: u32, now: Time, out: &mut impl Out) {
        // A go-back begins a new flight, without what limited transmit sent before it.
        self.limited = 0;
        self.marks.on_reduction(response.reduction, self.board.sent_end());
        self.recovery.begin(response, &mut self.board, &mut self.window);
        self.tell_losses();
        self.window.clamp();
        self.begin_prr(delivered);
        self.counters.fast_retransmits += 1;
        self.timed = None;
        self.arm(now, out);
        self.note(NoteEvent::Enter, self.board.una(), 0, out);
    }

    /// The retransmission timer fired.
    pub fn on_timeout(&mut self, now: Time, out: &mut impl Out) {
        self.armed = false;
        self.marks.release();
        if self.persisting {
            self.rtt.back_off();
            return;
        }
        if self.board.is_empty() {
            return;
        }
        self.integrate(now);
        self.end_prr();
        self.save_window();
        self.forget_probe();
        self.begin_forward(self.recovery.is_active());
        self.board.hear(now);
        self.board.forget_assumed();
        let repeated = self.timed_out.replace(self.board.una()) == Some(self.board.una());
        self.limited = 0;
        self.counters.timeouts += 1;
        if !repeated {
            self.counters.timeout_series += 1;
            self.counters.first_timeouts += self.rtt.rto();
        }
        let once = self.timeout_ssthresh == Halved::Flight;
        let answered = once && (repeated || (self.timeout_once && self.recovery.has_reduced(&self.board)));
        let cause = if answered { LossCause::RepeatedTimeout } else { LossCause::Timeout };
        let base = self.base(self.timeout_ssthresh, self.board.outstanding());
        let response = self.ask(&self.loss(now, cause, base), out);
        debug_assert!(response.copies > 0, "a law answers a loss with at least one copy");
        self.window.clamp();
        self.marks.on_reduction(response.reduction, self.board.sent_end());
        self.recovery.on_timeout(response, &mut self.board);
        self.tell_losses();
        self.timed = None;
        self.rtt.back_off();
        self.note(NoteEvent::Timeout, self.board.una(), 0, out);
    }
}
