//! What comes back from the receiver, and the repair of what the link delivered and TCP did not get.

use super::config::Mode;
use super::flow::{Turn, is_pure};
use super::generator::{Generator, Repeats};
use crate::hooks::AgentOut;
use crate::packet::{Body, Flags, Options, Packet, Segment};
use crate::units::Time;

impl Generator {
    /// A segment of the receiver came over the link. It goes up as it is, or ends here and a fresh acknowledgement
    /// takes its place.
    pub(super) fn on_reply<O: AgentOut>(
        &mut self,
        packet: Packet,
        segment: &Segment,
        turn: &mut Turn<'_, O>,
    ) {
        let ack = self.offset(segment.ack).filter(|_| segment.flags.has(Flags::ACK));
        match ack {
            // Not an answer to what was seen here: TCP knows what to do with it.
            Some(ack) if ack <= self.sent_end => match turn.config.mode {
                Mode::Paper => self.clear_what_was_told(packet, segment, ack, turn),
                Mode::Safe => self.take_reply(packet, segment, ack, turn),
            },
            _ => {
                self.reply.hear(&packet, segment, false);
                turn.out.up(packet);
            }
        }
    }

    /// Paper mode: "in case that number has already been acknowledged by the Agent, the ACK flag must be unset"
    /// (lle-tcp/II.B.3).
    fn clear_what_was_told<O: AgentOut>(
        &mut self,
        mut packet: Packet,
        segment: &Segment,
        ack: u64,
        turn: &mut Turn<'_, O>,
    ) {
        self.reply.hear(&packet, segment, false);
        self.window = u64::from(segment.window) << self.reply.terms.shift;
        self.confirmed = self.confirmed.max(ack);
        if segment.len > 0
            && self.told > 0
            && ack <= self.told
            && let Body::Tcp(segment) = &mut packet.body
        {
            segment.flags = segment.flags.without(Flags::ACK);
            turn.counters.cleared += 1;
        }
        self.reach(ack.max(self.reached));
        turn.out.up(packet);
    }

    fn take_reply<O: AgentOut>(
        &mut self,
        packet: Packet,
        segment: &Segment,
        ack: u64,
        turn: &mut Turn<'_, O>,
    ) {
        let pure = is_pure(segment);
        // The end of the handshake goes up as it came.
        let consumed = pure && self.edge.is_some();
        self.reply.hear(&packet, segment, consumed);
        let repeated = ack == self.confirmed;
        let edge = ack + (u64::from(segment.window) << self.reply.terms.shift);
        let widened = Some(edge) > self.edge;
        self.edge = Some(self.edge.unwrap_or(0).max(edge));
        let heard = self.take_blocks(segment, ack);
        let news = heard.is_some_and(|blocks| blocks.news);
        let advanced = ack > self.confirmed;
        let mut lost = self.lost_before(ack, pure && !widened, heard);
        if advanced {
            self.confirmed = ack;
            let (given_up, seen) = self.copies.release(ack);
            turn.counters.false_negatives += given_up;
            lost = lost.max(seen);
            self.selective.advance(ack);
            self.silence.on_confirmed(ack, turn.now);
        }
        if ack > self.reached {
            self.reach(ack);
            if let Some(stamps) = segment.options.timestamps {
                self.reply.echo(stamps.echo);
            }
        }
        if !consumed {
            turn.out.up(packet);
            if ack >= self.told {
                // The sender takes both from the segment itself; an older one it ignores.
                if ack > self.told {
                    self.repeats = Repeats::default();
                }
                self.told = ack;
                self.told_edge = self.told_edge.max(edge);
            }
        }
        let tells = self.reached > self.told || self.twice.is_some() || (news && consumed);
        let wider = self.edge > Some(self.told_edge);
        if tells || (wider && (self.asked || !self.another_is_due())) {
            turn.counters.relayed += u64::from(consumed);
            self.acknowledge(turn);
        } else if wider {
            self.acknowledge_later(turn);
        } else if consumed && ack == self.told && (repeated || self.asked) {
            self.relay_repeat(turn);
        }
        self.asked &= !pure;
        if self.confirmed >= self.reached {
            self.silence.stop();
        } else {
            self.repair_what_is_missing(lost, turn);
            self.silence.restart(turn.now);
        }
    }

    /// The receiver lacks what it does not acknowledge and the link delivered before the delivery of this number; 0 if
    /// the answer may be older than the delivery of anything missing.
    ///
    /// What it acknowledges for the first time, by a block or by its number, tells which delivery it has seen. A repeat of its number without one is evidence if no excuse
    /// is left; what carries data answers nothing, and an update of the window is no repeat (RFC 5681, 2).
    fn lost_before(&mut self, ack: u64, may_answer: bool, heard: Option<Blocks>) -> u64 {
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

    /// Whether a sender some hops away can do without a wider window for now: a segment on its way to the receiver will
    /// bring an acknowledgement, or there is room for one more as far as the sender knows.
    fn another_is_due(&self) -> bool {
        let full = u64::from(self.full.max(self.reply.terms.mss));
        let under_way = self.sent_end > self.reached;
        !self.local && self.beyond.is_empty() && (under_way || self.sent_end + full <= self.told_edge)
    }

    /// Takes in the receiver's SACK blocks.
    fn take_blocks(&mut self, segment: &Segment, ack: u64) -> Option<Blocks> {
        let mut heard = None;
        for &(left, right) in segment.options.sack.as_slice() {
            let (Some(left), Some(right)) = (self.offset(left), self.offset(right)) else {
                continue;
            };
            if left >= right || right > self.sent_end {
                continue;
            }
            if right <= ack || (self.selective.contains(left, right) && self.is_twice(segment, left, right)) {
                // Told on only if the sender itself sent it twice, and not the repair here.
                if left < self.sent_again {
                    self.twice = Some((left, right));
                }
                continue;
            }
            self.selective.insert(left.max(ack), right);
            // What arrived last lies at an end of its block, unless it joined two.
            let ends = [left.max(ack), right.min(self.fin.unwrap_or(right)) - 1];
            let seen = ends.into_iter().map(|end| self.copies.delivery_of(end)).max().unwrap_or(0);
            // A FIN that the receiver has is still its own to acknowledge.
            let (left, right) = (left.max(self.reached), right.min(self.fin.unwrap_or(right)));
            let blocks: &mut Blocks = heard.get_or_insert_default();
            blocks.seen = blocks.seen.max(seen);
            if left < right && !self.beyond.contains(left, right) {
                let block = self.beyond.insert(left, right);
                self.reply.note_block(block);
                blocks.news = true;
            }
        }
        heard
    }

    /// Whether the first block lies within the second: a range received twice (RFC 2883, 4.2).
    fn is_twice(&self, segment: &Segment, left: u64, right: u64) -> bool {
        let blocks = segment.options.sack.as_slice();
        let outer = blocks.get(1).map(|&(left, right)| (self.offset(left), self.offset(right)));
        let first = blocks.first().is_some_and(|&first| self.offset(first.0) == Some(left));
        first
            && matches!(outer, Some((Some(outer_left), Some(outer_right)))
                if outer_left <= left && right <= outer_right)
    }

    /// The receiver lacks what the link had delivered before the delivery `lost`: the stretches up to the first it has
    /// are sent again. Without SACK that is the first one.
    fn repair_what_is_missing<O: AgentOut>(&mut self, lost: u64, turn: &mut Turn<'_, O>) {
        let limit = self.selective.as_slice().first().map_or(self.confirmed + 1, |range| range.0);
        self.repair(limit, lost, false, turn);
    }

    /// The receiver is silent: its acknowledgement or the segment may be lost, and a copy makes it speak.
    pub(super) fn repair_after_silence<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        if self.confirmed >= self.reached {
            self.silence.stop();
            return;
        }
        self.repair(self.confirmed + 1, u64::MAX, true, turn);
        self.silence.on_break(turn.now);
    }

    /// Sends again what was delivered before the delivery `lost` and begins below `limit`, unless a copy left within
    /// the time in which the receiver could not have answered it.
    fn repair<O: AgentOut>(&mut self, limit: u64, lost: u64, though_under_way: bool, turn: &mut Turn<'_, O>) {
        let (reached, fields, terms) = (self.reached, self.fields, self.reply.terms);
        for kept in self.copies.below(limit) {
            let known = kept.end() <= reached || self.beyond.contains(kept.start, kept.end());
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
            let flags = if kept.push { Flags::ACK.with(Flags::PSH) } else { Flags::ACK };
            let segment = Segment {
                src_port: terms.sender.1,
                dst_port: terms.receiver.1,
                seq: terms.zero.plus(kept.start as u32),
                ack: fields.ack,
                flags,
                window: fields.window,
                len: kept.len,
                options: Options { timestamps: fields.stamps, ..Options::default() },
            };
            turn.out.down(Packet {
                src: terms.sender.0,
                dst: terms.receiver.0,
                extra_header: fields.extra_header,
                body: Body::Tcp(segment),
            });
        }
    }
}

/// What SACK blocks told.
#[derive(Clone, Copy, Debug, Default)]
struct Blocks {
    /// Something that the link had not told.
    news: bool,
    /// The last delivery of the link that the receiver is known to have seen.
    seen: u64,
}
