//! The interface of the sender to its congestion law and to observing laws.

use super::{Arrived, Counting, Halved, Sender};
use crate::hooks::{
    Ack, Congestion, Departure, Judge, Judged, Loss, LossBase, LossCause, LossResponse, Out, Progress,
    Recovery, Reduction,
};
use crate::transport::tcp::Parts;
use crate::units::{Span, Time};

impl<P: Parts> Sender<P> {
    /// Whether the law declares the first unacknowledged segment lost.
    #[inline]
    pub(super) fn is_overdue(&self, ack: &Ack) -> bool {
        !self.board.is_empty() && self.law.is_overdue(ack, &self.board)
    }

    /// Reports an acknowledgement to the laws.
    #[inline]
    pub(super) fn tell(&mut self, ack: &Ack) {
        self.tell_losses();
        for law in &mut self.watching {
            law.on_ack(ack, &mut self.window.clone());
        }
        let before = self.window.cwnd;
        self.law.on_ack(ack, &mut self.window);
        if self.hystart.is_used() {
            self.hystart.on_ack(ack, before, &mut self.window);
        }
        self.window.clamp();
    }

    /// Reports to the law what was declared lost since, if it requests that.
    #[inline]
    pub(super) fn tell_losses(&mut self) {
        let mut place = 0;
        while let Some(number) = self.board.declared_at(place) {
            self.law.on_lost(number, self.board.now(), &self.window);
            place += 1;
        }
    }

    /// The law begins, at this time.
    pub(super) fn begin_law(&mut self, now: Time) {
        self.board.list_losses(self.law.hears_losses());
        self.law.on_start(now, self.rtt.srtt(), &mut self.window);
        self.set_pace();
    }

    /// Reports a departure to the law, with `pipe` segments in the network before it. Every segment of data is reported,
    /// probes of a closed window included, so that the law's numbers have no gap.
    #[inline]
    pub(super) fn tell_sent(&mut self, now: Time, number: u64, pipe: u32) {
        let outstanding = self.board.sent_end() - self.board.una();
        // Less than a segment waits for more of it (draft-cheng-iccrg-delivery-rate-estimation-02, 3.4; Linux:
        // `tcp_rate_check_app_limited`).
        let (base, waiting) = (self.board.base(), self.backlog());
        let backlog = if waiting < u64::from(self.packet) { 0 } else { waiting };
        self.law.on_sent(&Departure { now, number, base, pipe, outstanding, backlog });
    }

    /// Asks the laws to classify a loss; only the answer of the one in force has an effect.
    pub(super) fn ask(&mut self, loss: &Loss, out: &mut impl Out) -> LossResponse {
        let Loss { cause, una, times, .. } = *loss;
        let mut judged = |judge, response: LossResponse| {
            if let Some(judgement) = response.judgement {
                out.judged(Judged { judge, cause, judgement, una, times });
            }
        };
        for (place, law) in self.watching.iter_mut().enumerate() {
            judged(Judge::Watching(place), law.on_loss(loss, &mut self.window.clone()));
        }
        self.count_estimate(loss.now);
        self.hystart.on_reduction();
        let response = if cause == LossCause::Duplicates && self.marks.include(loss) {
            self.law.on_answered_loss(loss, &mut self.window)
        } else {
            self.law.on_loss(loss, &mut self.window)
        };
        if self.whole_ssthresh {
            self.window.ssthresh = libm::floor(self.window.ssthresh);
        }
        if response.reduction == Reduction::Reduced || !self.credit_after_random_loss {
            self.window.round();
        }
        judged(Judge::Law, response);
        response
    }

    /// Counts the law's estimate of the rate, if it makes one.
    pub(super) fn count_estimate(&mut self, now: Time) {
        if let Some(rate) = self.law.estimate(now) {
            self.counters.estimates += 1;
            self.counters.estimate_sum += rate;
        }
    }

    /// Records the jitter ratios of the laws.
    pub(super) fn tell_jitter(&self, out: &mut impl Out) {
        for (place, law) in self.watching.iter().enumerate() {
            if let Some(jitter) = law.jitter(&self.window) {
                out.jitter(Judge::Watching(place), jitter);
            }
        }
        if let Some(jitter) = self.law.jitter(&self.window) {
            out.jitter(Judge::Law, jitter);
        }
    }

    pub(super) fn ack_event(
        &mut self,
        arrived: &Arrived,
        progress: Progress,
        rtt: Option<Span>,
        flight: u32,
    ) -> Ack {
        let sacked = self.board.sacked_sent().map(|sent| arrived.now.since(sent));
        let delivered = self.board.take_news();
        Ack {
            now: arrived.now,
            progress,
            rtt: sacked.or(rtt),
            newest_sent: None,
            srtt: self.rtt.srtt(),
            una: self.board.una(),
            sent_end: self.board.sent_end(),
            flight,
            pipe: self.board.pipe(),
            delivered,
            counted: self.counted(progress, delivered.segments),
            extension: arrived.extension,
            ecn: arrived.ecn,
        }
    }

    /// What an acknowledgement counts for where the window grows (RFC 3465, 2.2 and 2.3). Segments that were reported by selective
    /// acknowledgements before, behind a hole that is repaired, do not count again, as in Linux.
    #[inline]
    pub(super) fn counted(&self, progress: Progress, delivered: u32) -> u32 {
        match (self.counting, progress) {
            (Counting::Segments(limit), Progress::Open(acked)) => {
                let acked = if self.recovery.holds_sacked() { delivered } else { acked };
                let after_timeout = self.board.una() < self.loss_until;
                let limit = if after_timeout { limit.map(|_| 1) } else { limit };
                limit.filter(|_| self.window.in_slow_start()).map_or(acked, |limit| acked.min(limit))
            }
            _ => 1,
        }
    }

    /// What a loss halves, with this many segments outstanding. Where selectively acknowledged data counts as
    /// outstanding, too, a flight of more than the window counts as the window. In a long recovery such a flight grows
    /// without bound, and a loss would leave a larger window than there was before it.
    pub(super) fn base(&self, halved: Halved, flight: u32) -> LossBase {
        match halved {
            Halved::Flight if self.recovery.holds_sacked() => {
                LossBase::Flight(flight.min(self.window.cwnd as u32))
            }
            Halved::Flight => LossBase::Flight(flight),
            Halved::Window => LossBase::Window(self.window.cwnd),
        }
    }

    pub(super) fn loss(&self, now: Time, cause: LossCause, base: LossBase) -> Loss {
        // A probe of a tail may have repaired the loss of all that was outstanding.
        let head = (!self.board.is_empty()).then(|| self.board.get(self.board.base()));
        Loss {
            now,
            cause,
            una: self.board.una(),
            base,
            least: base.least_window(),
            pipe: self.board.pipe(),
            sent: self.board.end(),
            sent_end: self.board.sent_end(),
            sent_at: head.map_or(now, |head| head.at),
            times: head.map_or(1, |head| head.times),
            srtt: self.rtt.srtt(),
        }
    }
}
