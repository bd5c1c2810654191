//! The proxy at the access point: the acknowledgements prepared for one direction of a connection.

use std::collections::VecDeque;

use super::super::lle_tcp::connection::{Terms, is_pure};
use super::super::lle_tcp::connections::Turn;
use super::super::lle_tcp::reply::Reply;
use crate::hooks::AgentOut;
use crate::packet::{Flags, Packet, Segment};
use crate::state_bytes::{StateBytes, of_all, state_bytes};
use crate::units::SeqNo;

/// Maximum number of segments recorded per direction; further segments are acknowledged by the mobile itself.
const MOST: usize = 4_096;

state_bytes! {
    /// A data segment on its way to the mobile. Offsets count from the first data byte.
    #[derive(Clone, Copy, Debug)]
    struct Noted {
        start: u64,
        hash: u32,
        segment: Segment,
    }
}

impl Noted {
    fn end(&self) -> u64 {
        self.start + u64::from(self.segment.len)
    }
}

state_bytes! {
    /// The state of one direction of a connection whose acknowledgements are prepared here.
    #[derive(Clone, Debug)]
    pub(super) struct Proxy {
        reply: Reply,
        /// In order of their start, all beyond `acknowledged`.
        noted: VecDeque<Noted>,
        /// The sender has received an acknowledgement of everything below `acknowledged`; everything below `heard` was
        /// acknowledged by a real segment of the mobile.
        acknowledged: u64,
        heard: u64,
        /// The window of the mobile's last real segment, unscaled; `None` before the first.
        window: Option<u16>,
    }
}

impl Proxy {
    pub(super) fn new(terms: Terms) -> Proxy {
        Proxy { reply: Reply::new(terms), noted: VecDeque::new(), acknowledged: 0, heard: 0, window: None }
    }

    /// Bytes of state.
    pub(super) fn bytes(&self) -> u64 {
        Self::BYTES + of_all(&self.noted.iter())
    }

    fn offset(&self, seq: SeqNo) -> Option<u64> {
        seq.unwrap_near(self.reply.terms.zero, self.acknowledged)
    }

    /// Records a data segment on its way to the link; `enter` adds its hash to the table.
    pub(super) fn on_data(&mut self, hash: u32, segment: &Segment, mut enter: impl FnMut(u32)) {
        let Some(start) = self.offset(segment.seq) else { return };
        let noted = Noted { start, hash, segment: *segment };
        if noted.end() <= self.acknowledged {
            return;
        }
        let place =
            self.noted.partition_point(|other| (other.start, other.segment.len) < (start, segment.len));
        if let Some(known) = self.noted.get_mut(place).filter(|other| other.hash == hash) {
            *known = noted;
        } else if self.noted.len() < MOST {
            self.noted.insert(place, noted);
            enter(hash);
        }
    }

    /// Releases the acknowledgement that the mobile requests by this hash. Returns false if no segment of this
    /// direction has the hash, or if the window of the mobile is not known yet.
    pub(super) fn release<O: AgentOut>(
        &mut self,
        hash: u32,
        turn: &mut Turn<'_, O>,
        remove: impl FnMut(u32),
    ) -> bool {
        let Some(window) = self.window else { return false };
        let Some(end) = self.noted.iter().find(|noted| noted.hash == hash).map(Noted::end) else {
            return false;
        };
        for noted in self.noted.iter().take_while(|noted| noted.end() <= end) {
            self.reply.echo_delivered(noted.start, &noted.segment);
        }
        self.advance(end, remove);
        turn.counters.generated += 1;
        let window = u64::from(window) << self.reply.terms.shift;
        turn.out.up(&self.reply.packet(end, window, std::iter::empty()));
        true
    }

    /// Handles a segment from the mobile. Returns whether it is forwarded.
    pub(super) fn on_reply(&mut self, packet: &Packet, segment: &Segment, remove: impl FnMut(u32)) -> bool {
        let ack = self.offset(segment.ack).filter(|_| segment.flags.has(Flags::ACK));
        let Some(ack) = ack else {
            self.reply.hear_and_pass(packet, segment);
            return true;
        };
        let says_more = segment.window != self.window.unwrap_or(segment.window)
            || !segment.options.sack.is_empty()
            || !is_pure(segment);
        let is_released = ack == self.acknowledged && ack > self.heard && !says_more;
        self.heard = self.heard.max(ack);
        if ack >= self.acknowledged {
            self.window = Some(segment.window);
        }
        if is_released {
            self.reply.hear(packet, segment);
            return false;
        }
        self.reply.hear_and_pass(packet, segment);
        if ack > self.acknowledged {
            self.reply.passed(ack, segment);
            self.advance(ack, remove);
        }
        true
    }

    /// Everything below `offset` is acknowledged.
    fn advance(&mut self, offset: u64, mut remove: impl FnMut(u32)) {
        self.acknowledged = offset;
        while self.noted.front().is_some_and(|noted| noted.end() <= offset)
            && let Some(noted) = self.noted.pop_front()
        {
            remove(noted.hash);
        }
    }
}
