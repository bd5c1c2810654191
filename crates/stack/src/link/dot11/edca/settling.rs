//! What becomes of the packets in service: they are delivered, or discarded.

use super::super::frame::Outcome;
use super::super::shared::Core;
use super::load::BlockAck;
use super::{AfterLoss, Edca, MacOut};
use crate::hooks::Arq;

impl<A: Arq + Clone> Edca<A> {
    /// The rate control learns what became of the PPDU with data, if there was one.
    pub(super) fn learn(&mut self, acknowledged: usize, is_answered: bool) {
        if let Some(control) = &mut self.originators[self.service.of].control
            && !self.burst.is_empty()
        {
            control.learn(self.burst.len(), acknowledged, is_answered);
        }
    }

    /// Releases the packets in service of which `outcome` says so.
    pub(super) fn settle(&mut self, outcome: impl Fn(u16) -> Option<Outcome>, out: &mut impl MacOut) {
        let Edca { core: Core { counters, .. }, originators, contenders, service, .. } = self;
        let originator = &mut originators[service.of];
        let contender = &mut contenders[originator.category];
        originator.settle(|sequence, numbered| {
            let Some(outcome) = outcome(sequence) else { return false };
            contender.remove();
            counters.delivered += u64::from(outcome == Outcome::Delivered);
            out.done(numbered.msdu.handle, outcome);
            true
        });
        self.refresh(self.service.of);
    }

    /// Takes in what a BlockAck of the agreement in service reports, whatever the rate control makes of it.
    pub(super) fn settle_block(&mut self, block: &BlockAck, out: &mut impl MacOut) {
        let originator = &mut self.originators[self.service.of];
        (originator.owes_request, originator.unanswered) = (false, 0);
        self.settle(|sequence| block.has(sequence).then_some(Outcome::Delivered), out);
        self.give_up(out);
    }

    /// No BlockAck came, of an A-MPDU or of a BlockAckReq.
    pub(super) fn miss_block_ack(&mut self, out: &mut impl MacOut) {
        self.block_acks.block_ack_missing += 1;
        let originator = &mut self.originators[self.service.of];
        if self.burst.is_empty() {
            originator.unanswered += 1;
            let limit = self.core.rules.config.short_retry;
            if limit.is_some_and(|limit| originator.unanswered >= limit) {
                (originator.owes_request, originator.unanswered) = (false, 0);
                self.give_up_all(out);
            }
        } else if self.config.after_loss == AfterLoss::Request {
            originator.owes_request = true;
        } else {
            self.give_up(out);
        }
    }

    /// Discards the packets that were sent as often as the limit allows, or that the medium has lost for good.
    pub(super) fn give_up(&mut self, out: &mut impl MacOut) {
        let limit = self.core.rules.config.short_retry;
        self.originators[self.service.of].return_failed();
        let has_given_up = self.give_up_after(limit, out);
        let originator = &mut self.originators[self.service.of];
        originator.owes_request |= has_given_up && !originator.is_outside;
        self.refresh(self.service.of);
    }

    /// Discards the packets that the scheme discarded while it selected. Returns whether there were any.
    pub(super) fn drop_given_up(&mut self, out: &mut impl MacOut) -> bool {
        let Edca { core: Core { counters, .. }, originators, contenders, service, .. } = self;
        let originator = &mut originators[service.of];
        let contender = &mut contenders[originator.category];
        let any = originator.drop_given_up(|msdu| {
            contender.remove();
            counters.undelivered += 1;
            out.done(msdu.handle, Outcome::Undelivered);
        });
        if any {
            self.originators[self.service.of].owes_request |= self.give_up_after(None, out);
            self.refresh(self.service.of);
        }
        any
    }

    /// Discards all packets that were sent: their receiver answers no request.
    pub(super) fn give_up_all(&mut self, out: &mut impl MacOut) {
        self.give_up_after(Some(0), out);
        self.refresh(self.service.of);
    }

    /// Discards the packets sent so often, or lost for good. Returns whether there were any.
    fn give_up_after(&mut self, limit: Option<u32>, out: &mut impl MacOut) -> bool {
        let Edca { core: Core { counters, plans, .. }, originators, contenders, service, .. } = self;
        let originator = &mut originators[service.of];
        let contender = &mut contenders[originator.category];
        let mut has_given_up = false;
        originator.settle(|_, numbered| {
            let are_over = match plans {
                Some(plans) if limit != Some(0) => plans.are_over(numbered.msdu.handle),
                _ => limit.is_some_and(|limit| u32::from(numbered.attempts) >= limit),
            };
            let is_over = are_over || numbered.lost;
            if is_over {
                has_given_up = true;
                contender.remove();
                counters.undelivered += 1;
                out.done(numbered.msdu.handle, Outcome::Undelivered);
            }
            is_over
        });
        has_given_up
    }
}
