//! Retransmission of data that the link delivered but TCP did not receive.

use super::super::connections::Turn;
use super::generator::Generator;
use super::sack::Blocks;
use crate::hooks::AgentOut;
use crate::packet::Packet;
use crate::units::Time;

impl Generator {
    /// Visits a copy of each range that may be sent again.
    pub(super) fn each_copy(&self, visit: &mut dyn FnMut(&Packet)) {
        self.copies.each().for_each(|kept| visit(&self.fields.copy(kept, &self.reply.terms)));
    }

    /// The receiver lacks the data that it does not acknowledge and that was delivered before the delivery of this
    /// number. 0 if the answer may be older than the delivery of any missing data.
    ///
    /// What it acknowledges for the first time, by a block or by its number, shows which delivery it has seen. A repeat
    /// of its number without this is evidence if no excuse is left. A segment with data is not an answer, and an update
    /// of the window is not a repeat (RFC 5681, 2).
    pub(super) fn lost_before(&mut self, ack: u64, may_answer: bool, heard: Option<Blocks>) -> u64 {
        if ack < self.confirmed {
            return 0;
        }
        self.excuses.advance(ack);
        let repeats = may_answer && (heard.is_some() || ack == self.confirmed);
        let unexcused = repeats && !self.excuses.take(ack);
        match heard {
            Some(blocks) => blocks.seen,
            None if unexcused => u64::MAX,
            None => 0,
        }
    }

    /// The receiver lacks data delivered before delivery `lost`: sends again the ranges before and between those it
    /// has, because it may report rarely. Without SACK this is the first range.
    pub(super) fn repair_what_is_missing<O: AgentOut>(&mut self, lost: u64, turn: &mut Turn<'_, O>) {
        let mut from = self.confirmed;
        if self.selective.is_empty() {
            self.repair(from, from + 1, lost, false, turn);
        }
        for number in 0..self.selective.as_slice().len() {
            let (start, end) = self.selective.as_slice()[number];
            self.repair(from, start, lost, false, turn);
            from = end;
        }
    }

    /// The receiver is silent: its acknowledgement or the segment may be lost, and a copy makes it answer.
    pub(super) fn repair_after_silence<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        if self.confirmed >= self.delivered {
            self.silence.stop();
            return;
        }
        self.repair(self.confirmed, self.confirmed + 1, u64::MAX, true, turn);
        self.silence.on_break(turn.now);
    }

    /// Sends again the data that was delivered before delivery `lost` and begins at or after `from` and below `limit`.
    /// Does not if a copy was sent so recently that the receiver cannot have answered it.
    fn repair<O: AgentOut>(
        &mut self,
        from: u64,
        limit: u64,
        lost: u64,
        though_under_way: bool,
        turn: &mut Turn<'_, O>,
    ) {
        let (end, fields, terms) = (self.delivered, self.fields, self.reply.terms);
        for kept in self.copies.between(from, limit) {
            let known = kept.end() <= end || self.beyond.contains(kept.start, kept.end());
            let delivered = known && kept.last_delivery < lost;
            let recent = kept.resent || turn.now.since(kept.resent_at) < turn.config.hold;
            if !delivered || (recent && kept.resent_at > Time::ZERO && !though_under_way) {
                continue;
            }
            kept.resent = true;
            self.spacing.interrupt();
            self.silence.on_repair();
            kept.resent_at = turn.now;
            kept.first_delivery = 0;
            turn.counters.repaired += 1;
            turn.counters.probed += u64::from(though_under_way);
            turn.out.down(&fields.copy(kept, &terms));
        }
    }
}
