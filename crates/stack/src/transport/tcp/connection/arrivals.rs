//! Segments that arrive at an established connection: their stamps, their acknowledgement, and their data.

use super::ecn::{self, Use};
use super::{AckDue, Connection};
use crate::hooks::{Echo, EcnEcho, Out, Sending};
use crate::packet::{Ecn, Extension, Flags, MAX_SACK_BLOCKS, Segment};
use crate::transport::acks::Reply;
use crate::transport::tcp::Parts;
use crate::transport::tcp::sender::{Arrived, SackNews};
use crate::units::{Span, Time};

impl<P: Parts> Connection<P> {
    /// A segment of an established connection: its acknowledgement first, then its data. One without ACK is dropped
    /// (RFC 9293, 3.10.7.4).
    pub(super) fn on_segment(&mut self, segment: &Segment, ecn: Ecn, now: Time, out: &mut impl Out) {
        if segment.flags.has(Flags::SYN) {
            // The peer did not receive the end of the handshake.
            self.ack_due = AckDue::Now;
        } else if segment.flags.has(Flags::ACK) {
            let is_newer = self.learn_stamp(segment, now);
            self.on_ack(segment, is_newer, now, out);
            self.ecn.on_packet(ecn);
            if segment.sequence_len() > 0 {
                self.on_data(segment, ecn, now, out);
            }
        }
        self.send_what_may_go(now, out);
    }

    /// Keeps the timestamp to echo: the newest of a segment that covers what was acknowledged last (RFC 7323, 4.3). One
    /// that is older than half the range of the clock is outdated and replaced by any other (RFC 7323, 5.5). Whether the
    /// clock of the peer has gone on since the one kept before.
    fn learn_stamp(&mut self, segment: &Segment, now: Time) -> bool {
        let zero = self.irs.plus(1);
        let Some(stamps) = segment.options.timestamps else { return false };
        let start = segment.seq.unwrap_near(zero, self.receiver.next());
        if self.consent.is_some() && start.is_some_and(|start| self.keeps_stamp(start, stamps.value)) {
            return false;
        }
        let ahead = stamps.value.wrapping_sub(self.ts_recent).cast_signed();
        let outdated = || now.since(self.ts_recent_at).0 > self.clock_unit().0 * u64::from(u32::MAX / 2);
        let is_kept = start.is_some_and(|start| start <= self.last_ack_sent) && (ahead >= 0 || outdated());
        if is_kept {
            self.ts_recent = stamps.value;
            self.ts_recent_at = now;
        }
        is_kept && ahead != 0
    }

    pub(super) fn ack_offset(&self, segment: &Segment) -> Option<u64> {
        segment.ack.unwrap_near(self.iss.plus(1), self.sender.board().una())
    }

    fn on_ack(&mut self, segment: &Segment, is_newer: bool, now: Time, out: &mut impl Out) {
        let Some(ack) = self.ack_offset(segment) else {
            return;
        };
        self.sender.hear(now);
        let edge = ack + (u64::from(segment.window) << self.peer_shift);
        if self.ecn.used() == Use::Nothing && segment.window > 0 {
            if self.sender.learns_only_edge(ack, edge) {
                return;
            }
            if segment.options.sack.is_empty() && self.sender.predicts(ack, out) {
                let echoed_rtt = self.echoed_rtt(segment, now);
                self.sender.on_predicted((ack, edge), echoed_rtt, now, out);
                return;
            }
        }
        let (mut sack, mut twice) = (SackNews::Unused, None);
        if self.sack {
            sack = SackNews::Nothing;
            let zero = self.iss.plus(1);
            if self.config.dsack {
                twice = self.reported_twice(segment, ack);
            }
            let near = self.sender.board().una();
            let (mut ranges, mut count) = ([(0, 0); MAX_SACK_BLOCKS], 0);
            for (left, right) in &segment.options.sack.as_slice()[usize::from(twice.is_some())..] {
                if let (Some(left), Some(right)) =
                    (left.unwrap_near(zero, near), right.unwrap_near(zero, near))
                {
                    ranges[count] = (left, right);
                    count += 1;
                }
            }
            // In the order of the bytes, as in Linux: RACK's round trip is that of the last.
            ranges[..count].sort_unstable();
            for &(left, right) in &ranges[..count] {
                if self.sender.sack(left, right) {
                    sack = SackNews::Segments;
                }
            }
        }
        let stamps = segment.options.timestamps.filter(|_| self.timestamps);
        let arrived = Arrived {
            now,
            ack,
            edge,
            closes: segment.window == 0 && self.sender.offers_beyond(ack + (1 << self.peer_shift)),
            pure: segment.sequence_len() == 0,
            eln: segment.flags.has(Flags::ELN),
            sack,
            echoed_rtt: self.echoed_rtt(segment, now),
            extension: self.echo_of(segment, now),
            ecn: self.echo_of_marks(segment, ack, is_newer || sack == SackNews::Segments),
            echo: stamps.map(|stamps| stamps.echo),
            twice,
        };
        self.sender.on_ack(&arrived, out);
    }

    /// The round trip that the echo of a timestamp measures. One from the future measures nothing.
    #[inline]
    fn echoed_rtt(&self, segment: &Segment, now: Time) -> Option<Span> {
        let stamps = segment.options.timestamps.filter(|_| self.timestamps)?;
        let ticks = self.clock(now).wrapping_sub(stamps.echo);
        (ticks.cast_signed() >= 0).then(|| self.clock_unit() * u64::from(ticks.max(1)))
    }

    /// The range that the first SACK block reports to have arrived twice: it lies below the acknowledgement, or within the
    /// second block (RFC 2883, 5).
    fn reported_twice(&self, segment: &Segment, ack: u64) -> Option<(u64, u64)> {
        let blocks = segment.options.sack.as_slice();
        let zero = self.iss.plus(1);
        let near = self.sender.board().una();
        let range = |place: usize| {
            let &(left, right) = blocks.get(place)?;
            Some((left.unwrap_near(zero, near)?, right.unwrap_near(zero, near)?))
        };
        let (left, right) = range(0)?;
        let within = |outer: (u64, u64)| outer.0 <= left && right <= outer.1;
        (left < right && (right <= ack || range(1).is_some_and(within))).then_some((left, right))
    }

    /// What an acknowledgement reports of marks; `is_newer` if something besides `ack` shows that it left after all others.
    #[inline]
    fn echo_of_marks(&mut self, segment: &Segment, ack: u64, is_newer: bool) -> EcnEcho {
        match self.ecn.used() {
            Use::Classic if segment.flags.has(Flags::ECE) => EcnEcho::Marked,
            Use::Nothing | Use::Classic => EcnEcho::Unmarked,
            Use::Accurate => self.sender.count_marks(ecn::count_of(segment.flags), ack, is_newer),
        }
    }

    /// What an acknowledgement reveals about the segment that triggered it. One on a data segment has the stamps of the
    /// data instead.
    fn echo_of(&self, segment: &Segment, now: Time) -> Option<Echo> {
        if self.sender.reads_timestamps() {
            return self.echo_of_stamps(segment, now);
        }
        let extension = segment.options.extension.filter(|_| segment.sequence_len() == 0)?;
        let board = self.sender.board();
        let trigger = extension.trigger.unwrap_near(self.iss.plus(1), board.una())?;
        let Extension { sent, received, modulation, .. } = extension;
        let single = board.at(trigger).is_some_and(|sent| sent.times == 1);
        let sending = if single { Sending::Single } else { Sending::Repeated };
        Some(Echo { sent, received, trigger, sending, modulation })
    }

    /// The same from its timestamps: the departure of the first segment that it is for, and its own. Each copy has its own.
    fn echo_of_stamps(&self, segment: &Segment, now: Time) -> Option<Echo> {
        let stamps = segment.options.timestamps.filter(|_| self.timestamps)?;
        let unit = self.clock_unit().0;
        let [sent, received] = [stamps.echo, stamps.value].map(|stamp| {
            let ticks = self.clock(now).wrapping_sub(stamp);
            Time((now.0 / unit).saturating_sub(u64::from(ticks)) * unit)
        });
        let trigger = self.sender.board().una();
        Some(Echo { sent, received, trigger, sending: Sending::Single, modulation: None })
    }

    fn on_data(&mut self, segment: &Segment, ecn: Ecn, now: Time, out: &mut impl Out) {
        let zero = self.irs.plus(1);
        let Some(start) = segment.seq.unwrap_near(zero, self.receiver.next()) else {
            self.ack_due = AckDue::Now;
            return;
        };
        if self.config.quick_acks_again {
            self.receiver.hurry_after_gap(now, self.sender.rtt().rto(), self.config.quick_acks);
        }
        if self.receiver.is_tuned()
            && segment.len >= self.config.packet
            && let (Some(stamps), Some(sample)) = (segment.options.timestamps, self.echoed_rtt(segment, now))
        {
            self.receiver.learn_round_trip(sample, stamps.echo);
        }
        let predicted = if out.is_watching() { None } else { self.accept_next(segment, start) };
        let reply = match predicted {
            None => self.accept(segment, ecn, start, now),
            next => next,
        };
        if self.reads_at_once > 0 {
            // Before the acknowledgement is made, so that repeated ones advertise the same window.
            self.take(self.reads_at_once, now);
        }
        if self.receiver.finished() && self.closes_on_eof {
            self.sender.close();
        }
        match reply {
            Some(Reply::Now) => self.ack_due = AckDue::Now,
            Some(Reply::Later) => self.acknowledge_later(now, out),
            None => {}
        }
        if self.ecn.reports_at_once() && self.consent.is_none() {
            self.ack_due = AckDue::Now;
        }
    }

    /// Accepts a segment that is the next in order and carries nothing but data, where nothing waits beyond a hole.
    /// Returns when to acknowledge it; for any other it does nothing and returns `None`.
    #[inline]
    fn accept_next(&mut self, segment: &Segment, start: u64) -> Option<Reply> {
        let has_options = segment.options.extension.is_some() || segment.options.acks.is_some();
        let is_plain = !has_options && self.ecn.used() == Use::Nothing && self.consent.is_none();
        if is_plain && !segment.flags.has(Flags::FIN) {
            self.receiver.accept_next(start, segment.len)
        } else {
            None
        }
    }

    /// Accepts any segment of data. Returns when to acknowledge it, if at all by itself.
    fn accept(&mut self, segment: &Segment, ecn: Ecn, start: u64, now: Time) -> Option<Reply> {
        if let Some(extension) = segment.options.extension {
            let received = extension.form.stamp(now);
            self.echo = Some(Extension { received, trigger: segment.seq, ..extension });
        }
        let asked = segment.options.acks.and_then(|option| self.receiver.learn(option));
        let end = start + u64::from(segment.sequence_len());
        if self.receiver.holds(start, end) {
            self.repeats_received += 1;
        } else if self.receiver.takes(start) {
            self.ecn.on_data(segment.flags, ecn);
        }
        let reply = self.receiver.accept(start, segment.sequence_len(), segment.flags.has(Flags::FIN));
        let reply = Some(asked.unwrap_or(reply));
        reply.filter(|_| self.consent.is_none() || self.is_answered_at_once(start, end))
    }
}
