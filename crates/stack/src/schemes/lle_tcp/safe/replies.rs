//! The receiver's own acknowledgements: each is consumed, and new information is forwarded in a generated one.

use super::super::connection::is_pure;
use super::super::connections::Turn;
use super::generator::Generator;
use super::repeats::Repeats;
use crate::hooks::AgentOut;
use crate::packet::{Flags, Packet, Segment};

impl Generator {
    /// A segment of the receiver came over the link. It goes up unchanged, or ends here and a new acknowledgement takes
    /// its place.
    pub(super) fn on_reply<O: AgentOut>(
        &mut self,
        packet: &Packet,
        segment: &Segment,
        turn: &mut Turn<'_, O>,
    ) {
        let ack = self.offset(segment.ack).filter(|_| segment.flags.has(Flags::ACK));
        // Data may have passed while the connection moved here, but not beyond the edge, and a FIN one beyond.
        if let Some(ack) = ack.filter(|&ack| ack <= self.sent_end.max(self.edge.highest() + 1)) {
            self.sent_end = self.sent_end.max(ack);
            self.take_reply(packet, segment, ack, turn);
        } else {
            // Not an answer to data seen here: TCP can handle it.
            self.reply.hear_and_pass(packet, segment);
            turn.out.up(packet);
        }
    }

    fn take_reply<O: AgentOut>(
        &mut self,
        packet: &Packet,
        segment: &Segment,
        ack: u64,
        turn: &mut Turn<'_, O>,
    ) {
        let pure = is_pure(segment);
        // The end of the handshake goes up unchanged, and so do the first words after a hand-off.
        let consumed = pure && self.knows_receiver();
        // A keepalive or the probe of a closed window: only the sender may answer it.
        let asks = consumed && self.reply.is_before(segment);
        if consumed {
            self.reply.hear(packet, segment);
        } else {
            self.reply.hear_and_pass(packet, segment);
        }
        let repeated = ack == self.confirmed;
        let edge = ack + (u64::from(segment.window) << self.reply.terms.shift);
        let widened = self.on_offer(edge);
        let heard = self.take_blocks(segment, ack);
        let news = heard.is_some_and(|blocks| blocks.news);
        let advanced = ack > self.confirmed;
        let mut lost = self.lost_before(ack, pure && !asks && !widened, heard);
        if advanced {
            self.confirmed = ack;
            let (given_up, seen) = self.copies.release(ack);
            turn.counters.false_negatives += given_up;
            lost = lost.max(seen);
            self.selective.advance(ack);
            self.silence.on_confirmed(ack, turn.now);
        }
        if ack > self.delivered {
            self.delivered = self.beyond.advance(ack);
            if let Some(stamps) = segment.options.timestamps {
                self.reply.echo(stamps.echo);
            }
        }
        if asks || !consumed {
            turn.out.up(packet);
        }
        if !consumed && ack >= self.acknowledged {
            // The sender takes number and edge from the segment itself, and ignores an older one.
            if ack > self.acknowledged {
                self.repeats = Repeats::default();
            }
            self.acknowledged = ack;
            self.edge.tell(edge);
        }
        let tells = self.delivered > self.acknowledged || self.twice.is_some() || (news && consumed);
        let wider = self.edge.is_news();
        if tells || (wider && (self.asked || !self.another_is_due())) {
            turn.counters.relayed += u64::from(consumed);
            self.acknowledge(turn);
        } else if wider {
            self.acknowledge_later(turn);
        } else if consumed && !asks && ack == self.acknowledged && (repeated || self.asked) {
            self.relay_repeat(turn);
        }
        self.asked &= !pure;
        if self.confirmed >= self.delivered {
            self.silence.stop();
        } else {
            self.repair_what_is_missing(lost, turn);
            self.silence.restart(turn.now);
        }
    }

    /// Whether a sender several hops away does not yet need a wider window. A segment on its way to the receiver will
    /// cause an acknowledgement, or the sender has been granted room for one more segment.
    fn another_is_due(&self) -> bool {
        let full = u64::from(self.full.max(self.reply.terms.mss));
        let under_way = self.sent_end > self.delivered;
        !self.local && self.beyond.is_empty() && (under_way || self.sent_end + full <= self.edge.told())
    }

    /// A duplicate acknowledgement of the receiver.
    fn relay_repeat<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        if self.repeats.hear() {
            turn.counters.relayed += 1;
            self.acknowledge(turn);
        }
    }
}
