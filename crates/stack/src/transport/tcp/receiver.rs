//! The receiving half: reassembly, the advertised window, and when to acknowledge.

use super::Config;
use crate::packet::{AckOption, MAX_SACK_BLOCKS, SackBlocks};
use crate::ranges::Ranges;
use crate::transport::acks::{AckLaw, Acks, Due, Reply};
use crate::units::{SeqNo, Span, Time};

/// The window that a receiver offers first where it grows (Linux: half of `tcp_rmem[1]`), and its buffer. The buffer is
/// that memory less the overhead of packets of 1448 bytes.
const FIRST_WINDOW: u64 = 65_536;
const FIRST_BUFFER: u64 = 81_920;
/// Segments that the first round trip has to exceed (Linux: `TCP_INIT_CWND`).
const FIRST_SEGMENTS: u64 = 10;
/// The least segment for which the window grows, and by how many full segments (Linux: `tcp_grow_window`).
const LEAST_GROWING: u32 = 128;
const GROWTH_SEGMENTS: u64 = 2;

/// A buffer that grows with what the application reads in a round trip, and a window that follows it, segment by segment.
#[derive(Clone, Copy, Debug)]
struct Tuning {
    limit: u64,
    /// The room in a buffer beyond what was read; without any, that of what waits beyond a hole.
    cushion: u64,
    /// The most that is offered at once (Linux: `rcv_ssthresh`).
    offered: u64,
    /// The most that was read in a round trip.
    space: u64,
    /// When the present round trip began, the first with the first data, and what had been read then.
    since: Option<Time>,
    read: u64,
    /// The smoothed round trip, and the echo of the timestamp that gave its last sample.
    rtt: Option<Span>,
    echo: Option<u32>,
}

impl Tuning {
    fn new<P>(config: &Config<P>, limit: u64) -> Tuning {
        let [space, cushion] = [FIRST_SEGMENTS, config.receive_cushion.into()]
            .map(|segments| segments * u64::from(config.packet));
        let offered = FIRST_WINDOW.min(limit);
        Tuning { limit, cushion, offered, space, since: None, read: 0, rtt: None, echo: None }
    }
}

/// The receiving half of a connection. Offsets count from the first data byte.
#[derive(Clone, Debug)]
pub struct Receiver {
    next: u64,
    read: u64,
    fin: Option<u64>,
    beyond: Ranges,
    recent: Vec<(u64, u64)>,
    has_sack: bool,
    /// Whether it reports what arrives twice (RFC 2883), and what did last.
    reports_twice: bool,
    twice: Option<(u64, u64)>,
    buffer: u64,
    full_segment: u32,
    acks: Acks,
    tuning: Option<Tuning>,
    edge: u64,
    scale: u8,
    /// Whether it advertises no window, whatever room there is.
    closed: bool,
}

impl Receiver {
    /// A receiver before the first segment.
    #[must_use]
    pub fn new<P>(config: &Config<P>) -> Receiver {
        Receiver::with(config, Ranges::default(), Vec::with_capacity(MAX_SACK_BLOCKS + 1))
    }

    /// Makes this the receiver of another connection, before its first segment; it keeps its memory.
    pub fn renew<P>(&mut self, config: &Config<P>) {
        let (mut beyond, mut recent) = (std::mem::take(&mut self.beyond), std::mem::take(&mut self.recent));
        beyond.clear();
        recent.clear();
        *self = Receiver::with(config, beyond, recent);
    }

    fn with<P>(config: &Config<P>, beyond: Ranges, recent: Vec<(u64, u64)>) -> Receiver {
        let limit = config.receive_buffer_bytes();
        let buffer = if config.receive_autotuning { FIRST_BUFFER.min(limit) } else { limit };
        let sack_wait = if config.sack { config.sack_wait } else { Span::ZERO };
        let tuning = config.receive_autotuning.then(|| Tuning::new(config, limit));
        Receiver {
            next: 0,
            read: 0,
            fin: None,
            beyond,
            recent,
            reports_twice: config.dsack,
            has_sack: config.sack,
            twice: None,
            buffer,
            full_segment: config.packet,
            acks: Acks::new(config.ack_every, config.quick_acks, config.packet, sack_wait),
            tuning,
            edge: buffer.min(u64::from(u16::MAX)),
            scale: 0,
            closed: false,
        }
    }

    /// Sets the shift of the windows it advertises from now on.
    pub fn set_scale(&mut self, scale: u8) {
        self.scale = scale;
    }

    /// The peer acknowledges by this law, too.
    pub fn agree(&mut self, law: AckLaw) {
        self.acks.agree(law);
    }

    /// The request of the peer on a segment; it may want an acknowledgement of it at once.
    pub fn learn(&mut self, option: AckOption) -> Option<Reply> {
        match option {
            AckOption::Request(0) => return Some(Reply::Now),
            AckOption::Request(every) => self.acks.request(every),
            AckOption::LeastRoundTrip(micros) => {
                self.acks.learn_round_trip(Span::from_micros(micros.into()));
            }
            AckOption::TakesRequests | AckOption::TakesTime => {}
        }
        None
    }

    /// When to acknowledge what may be acknowledged later; `is_first` if nothing waits yet.
    #[inline]
    #[must_use]
    pub fn due(&self, now: Time, delay: Span, is_first: bool) -> Due {
        self.acks.due(now, delay, is_first)
    }

    /// Data arrives. After a gap longer than `longest`, at least `quick` segments are acknowledged at once.
    pub fn hurry_after_gap(&mut self, now: Time, longest: Span, quick: u32) {
        self.acks.hurry_after_gap(now, longest, quick);
    }

    /// The longest that an acknowledgement of what arrived beyond a hole waits, if one does; the round trip is that of the
    /// `handshake`, or the shorter one that data showed.
    #[inline]
    #[must_use]
    pub fn wait(&self, handshake: Option<Span>) -> Option<Span> {
        let shown = self.tuning.and_then(|tuning| tuning.rtt);
        self.acks.wait(shown.into_iter().chain(handshake).min())
    }

    /// An acknowledgement leaves.
    #[inline]
    pub fn acknowledged_at(&mut self, now: Time) {
        self.acks.sent_at(now);
    }

    /// Advertises a window of zero from now on, or again the room in the buffer. Data within a window offered before is still
    /// accepted.
    pub fn close_window(&mut self, closed: bool) {
        self.closed = closed;
    }

    /// The bytes that it offers to hold.
    #[must_use]
    pub fn buffer(&self) -> u64 {
        self.buffer
    }

    /// Whether it advertises no window.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Offers this share of the buffer, at least a segment. Called before the first segment.
    pub fn offer_share(&mut self, share: f64) {
        if share < 1.0 {
            let offered = (self.buffer as f64 * share) as u64;
            self.buffer = offered.max(u64::from(self.full_segment)).min(self.buffer);
            self.edge = self.buffer.min(u64::from(u16::MAX));
            if let Some(tuning) = &mut self.tuning {
                tuning.offered = self.buffer;
            }
        }
    }

    /// The next offset expected: the acknowledgement number.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Whether the byte at this offset has arrived.
    #[must_use]
    pub fn has(&self, offset: u64) -> bool {
        offset < self.next || self.beyond.contains(offset, offset + 1)
    }

    /// Whether all of `[start, end)` has arrived.
    #[must_use]
    pub fn holds(&self, start: u64, end: u64) -> bool {
        end <= self.next || (start > self.next && self.beyond.contains(start, end))
    }

    /// Whether the advertised window has room for a byte at this offset.
    #[must_use]
    pub fn takes(&self, offset: u64) -> bool {
        offset < self.edge
    }

    /// Data bytes in order so far.
    #[must_use]
    pub fn in_order(&self) -> u64 {
        self.next - u64::from(self.finished())
    }

    /// Bytes in order that the application has not read.
    #[must_use]
    pub fn readable(&self) -> u64 {
        self.in_order() - self.read
    }

    /// Whether everything up to the peer's FIN has arrived.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.fin.is_some_and(|end| self.next > end)
    }

    /// Processes the segment `[start, start + len)`, its last byte being the FIN if `fin`.
    pub fn accept(&mut self, start: u64, len: u32, fin: bool) -> Reply {
        let mut end = start + u64::from(len);
        if fin && !self.ends_at(end) {
            end -= 1;
        }
        // Nothing follows the FIN (RFC 9293, 3.10.7.4).
        end = end.min(self.fin.map_or(self.edge, |place| place + 1));
        if self.reports_twice && start < end {
            self.note_twice(start, end);
        }
        if end <= self.next || start >= end {
            return Reply::Now;
        }
        if start > self.next {
            // Repeated acknowledgements without blocks are known by their windows, which are equal.
            let is_more = self.has_sack && self.grow(len);
            let block = self.beyond.insert(start, end);
            if let Some(tuning) = &self.tuning {
                self.make_room(2 * tuning.space);
            }
            self.recent.retain(|old| old.0 < block.0 || old.1 > block.1);
            self.recent.insert(0, block);
            self.recent.truncate(MAX_SACK_BLOCKS);
            let is_gap = block == (start, end) || self.twice.is_some();
            return self.acks.on_beyond(len, self.next, is_gap, is_more);
        }
        let is_more = self.grow(len);
        self.next = end;
        if !self.beyond.is_empty() {
            self.next = self.beyond.advance(end);
            let next = self.next;
            self.recent.retain(|block| block.0 > next);
            return Reply::Now;
        }
        let last = self.finished();
        self.acks.on_segment(len, last, is_more)
    }

    /// Processes the segment `[start, start + len)` without a FIN if it is the next in order, within the window, and nothing is
    /// known of what follows; otherwise does nothing.
    #[inline]
    pub fn accept_next(&mut self, start: u64, len: u32) -> Option<Reply> {
        let end = start + u64::from(len);
        let is_next = start == self.next && start < end && end <= self.edge;
        if !is_next || self.fin.is_some() || !self.beyond.is_empty() {
            return None;
        }
        let is_more = self.grow(len);
        self.next = end;
        self.twice = None;
        Some(self.acks.on_segment(len, false, is_more))
    }

    /// Whether the FIN of the stream ends at `end`, or can end there: none is known, and no byte at or beyond it has
    /// arrived.
    fn ends_at(&mut self, end: u64) -> bool {
        let arrived = self.beyond.as_slice().last().map_or(self.next, |range| range.1);
        if self.fin.is_none() && arrived < end && end <= self.edge + 1 {
            self.fin = Some(end - 1);
        }
        self.fin == Some(end - 1)
    }

    /// Whether the window that it offers grows.
    #[must_use]
    #[inline]
    pub fn is_tuned(&self) -> bool {
        self.tuning.is_some()
    }

    /// A segment arrives: offers two segments more, up to the buffer. Whether it offers more than before.
    #[inline]
    fn grow(&mut self, len: u32) -> bool {
        let Some(tuning) = &mut self.tuning else { return false };
        let grows = len >= LEAST_GROWING && tuning.offered < self.buffer;
        if grows {
            let more = GROWTH_SEGMENTS * u64::from(self.full_segment);
            tuning.offered = (tuning.offered + more).min(self.buffer);
        }
        grows
    }

    /// Where the window ends that it can offer.
    fn end_of_window(&self) -> u64 {
        let room = self.read + self.buffer;
        self.tuning.map_or(room, |tuning| room.min(self.next + tuning.offered))
    }

    /// A full segment arrives, before it is taken: the round trip by the timestamp that it echoes. The least counts at once, a
    /// longer one by an eighth, unless the application has not read (Linux: `tcp_rcv_rtt_update`).
    pub fn learn_round_trip(&mut self, sample: Span, echo: u32) {
        let waits = self.readable() > 0;
        let Some(tuning) = &mut self.tuning else { return };
        if tuning.echo.replace(echo) == Some(echo) {
            return;
        }
        tuning.rtt = match tuning.rtt {
            Some(old) if sample >= old && waits => Some(old),
            Some(old) if sample >= old => Some(Span(old.0 - old.0 / 8 + sample.0 / 8)),
            _ => Some(sample),
        };
    }

    /// The application has read. Once a round trip, has room for twice what it read in it, and twice as much again as it
    /// was more than before. The round trip of the `handshake` counts where there are no timestamps.
    pub fn tune(&mut self, now: Time, handshake: Option<Span>) {
        let Some(tuning) = &mut self.tuning else { return };
        let Some(rtt) = tuning.rtt.or(handshake) else { return };
        if now.since(*tuning.since.get_or_insert(now)) < rtt {
            return;
        }
        let copied = self.read - tuning.read;
        if copied > tuning.space {
            let room = 2 * copied + tuning.cushion;
            let more =
                (u128::from(room) * u128::from(copied - tuning.space) / u128::from(tuning.space)) as u64;
            tuning.space = copied;
            self.make_room(room + 2 * more);
        }
        if let Some(tuning) = &mut self.tuning {
            (tuning.since, tuning.read) = (Some(now), self.read);
        }
    }

    /// The buffer has room for this much, and, unless this includes a cushion, for what waits beyond a hole.
    fn make_room(&mut self, room: u64) {
        if let Some(tuning) = &self.tuning {
            let last = self.beyond.as_slice().last().filter(|_| tuning.cushion == 0);
            let beyond = last.map_or(0, |range| range.1 - self.next);
            self.buffer = self.buffer.max(room + beyond).min(tuning.limit);
        }
    }

    /// The application reads up to `bytes`; returns whether the window opened enough to announce it
    /// (RFC 9293, 3.8.6.2.2).
    pub fn read(&mut self, bytes: u64) -> bool {
        self.read += bytes.min(self.readable());
        let opened = self.end_of_window().saturating_sub(self.edge);
        let worth = (2 * u64::from(self.full_segment)).min(self.buffer / 2).max(1);
        let left = self.edge.saturating_sub(self.next);
        opened >= worth && left < 2 * worth && !self.closed
    }

    /// The window field to advertise now with an acknowledgement of this offset. It never withdraws what was offered.
    pub fn advertise(&mut self, acknowledged: u64) -> u16 {
        if self.closed {
            self.acks.sent();
            return 0;
        }
        let edge = self.end_of_window().max(self.edge);
        let window = (edge.saturating_sub(acknowledged) >> self.scale).min(u64::from(u16::MAX));
        self.edge = self.edge.max(acknowledged + (window << self.scale));
        self.acks.sent();
        window as u16
    }

    /// Records the first part of `[start, end)` that has arrived before, for the next acknowledgement.
    fn note_twice(&mut self, start: u64, end: u64) {
        self.twice = if start < self.next {
            Some((start, end.min(self.next)))
        } else {
            let held = self.beyond.as_slice();
            let place = held.partition_point(|range| range.1 <= start);
            held.get(place)
                .map(|range| (range.0.max(start), range.1.min(end)))
                .filter(|twice| twice.0 < twice.1)
        };
    }

    /// Whether an acknowledgement has SACK blocks to carry.
    #[must_use]
    #[inline]
    pub fn has_blocks(&self) -> bool {
        !self.beyond.is_empty() || self.twice.is_some()
    }

    /// Whether nothing waits beyond a hole.
    #[must_use]
    pub fn is_in_order(&self) -> bool {
        self.beyond.is_empty()
    }

    /// Bytes below `offset` that have not arrived.
    #[must_use]
    pub fn lacks(&self, offset: u64) -> u64 {
        let held: u64 =
            self.beyond.as_slice().iter().map(|range| range.1.min(offset) - range.0.min(offset)).sum();
        offset.saturating_sub(self.next) - held
    }

    /// The SACK blocks to report, newest first, at most `most` (RFC 2018, 4). Before them comes what arrived twice,
    /// once (RFC 2883, 4). `zero` is the sequence number of offset 0.
    #[must_use]
    pub fn sack_blocks(&mut self, zero: SeqNo, most: usize) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        for (left, right) in self.twice.take().into_iter().chain(self.recent.iter().copied()).take(most) {
            blocks.push(zero.plus(left as u32), zero.plus(right as u32));
        }
        blocks
    }
}

#[cfg(test)]
mod tests;
