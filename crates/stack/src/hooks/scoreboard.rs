//! The outstanding data: one entry per segment, from the first unacknowledged to the last sent.
//!
//! Segments are numbered from 0 over the life of the connection. `base` is the number of the first unacknowledged one,
//! `end` that of the next new one, and `next` the one to be sent next. `next` equals `end` except after a go-back, when
//! the sender resends the window. The counts that the recoveries need (segments selectively acknowledged, declared
//! lost, resent) are updated as marks change, never by walking the window.

mod arrivals;
mod assumed;
mod losses;
mod news;
mod search;

use std::collections::VecDeque;

pub use arrivals::Latest;
pub use news::Delivered;
use news::News;

use super::parameter::words;
use crate::ranges::Ranges;
use crate::units::{Span, Time};

/// Duplicate acknowledgements that mean a loss (RFC 5681, 3.2; RFC 6675's `DupThresh`).
pub const DUP_THRESH: u32 = 3;

/// The fate of selective acknowledgements when the retransmission timer fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackAfterTimeout {
    /// They are kept, and what they cover is not sent again (RFC 6675, 5.1).
    Kept,
    /// They are forgotten, in case the receiver has dropped what they cover (RFC 2018, 8), as ns-2 does.
    Cleared,
}

words! { SackAfterTimeout: Kept = "kept", Cleared = "cleared" }

/// A segment that was sent and not yet acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Stream offset of its first byte.
    pub start: u64,
    /// When it was sent last.
    pub at: Time,
    /// Sequence space it takes: its payload, and one for a FIN.
    pub len: u32,
    /// How often it was sent.
    pub times: u8,
    /// Whether it carries the FIN.
    pub fin: bool,
    /// Whether an acknowledgement has reported its arrival, selectively and perhaps forgotten since.
    told: bool,
    mark: Mark,
}

impl Sent {
    /// Stream offset of the byte after its last one.
    #[must_use]
    #[inline]
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }

    /// Whether it was sent once and nothing is known of its fate.
    #[inline]
    fn is_plain(&self) -> bool {
        self.times == 1 && !self.told && self.mark == Mark::InFlight
    }
}

/// The known fate of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    InFlight,
    Sacked,
    Lost,
    /// Lost and sent again.
    Resent,
    /// Sent again though not declared lost: both copies may be in the network.
    Doubled,
}

/// What a cumulative acknowledgement removed from the scoreboard.
#[derive(Clone, Copy, Debug, Default)]
pub struct Advance {
    /// Segments acknowledged whole.
    pub segments: u32,
    /// Whether any of them was sent more than once.
    pub repaired: bool,
    /// Whether the newest of them was sent once only and not selectively acknowledged before.
    is_single: bool,
    /// When the newest of them was sent last. An option here would be read before it is written whole.
    newest_sent: Time,
    /// Whether any of them was not selectively acknowledged before, and when the oldest of those was sent last.
    has_news: bool,
    oldest_sent: Time,
}

impl Advance {
    /// When the newest of them was sent, if it was sent once only and not selectively acknowledged before.
    #[must_use]
    #[inline]
    pub fn newest_sent(&self) -> Option<Time> {
        self.newest_sent_last().filter(|_| self.is_single)
    }

    /// When the oldest of those was sent that were not selectively acknowledged before, if all were sent once.
    #[must_use]
    #[inline]
    pub fn oldest_sent(&self) -> Option<Time> {
        (self.has_news && !self.repaired).then_some(self.oldest_sent)
    }

    /// When the newest of them was sent last.
    #[must_use]
    #[inline]
    pub fn newest_sent_last(&self) -> Option<Time> {
        (self.segments > 0).then_some(self.newest_sent)
    }
}

/// The outstanding segments of one direction of a connection.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    segments: VecDeque<Sent>,
    base: u64,
    next: u64,
    una: u64,
    sent_end: u64,
    sacked_ranges: Ranges,
    fack: u64,
    sacked: u32,
    lost: u32,
    resent: u32,
    doubled: u32,
    lost_below: u64,
    declared: u64,
    /// When the acknowledgement that is being processed arrived.
    now: Time,
    /// The least round trip of a segment that was sent once.
    least_rtt: Option<Span>,
    latest_arrived: Time,
    latest: Option<Latest>,
    /// The smoothed round trip, where the recovery requests it.
    srtt: Span,
    /// The highest byte selectively acknowledged before the acknowledgement that is being processed.
    fack_before: u64,
    /// Whether `latest`, `reordered` and `original_arrived` are kept up to date.
    is_followed: bool,
    reordered: bool,
    /// Segments below it that arrive and were sent once are noted.
    watched_below: u64,
    original_arrived: bool,
    news: News,
    /// Segments above the first that duplicates without selective acknowledgements say have arrived.
    assumed: u32,
    /// Segments that were news at a duplicate, and will be acknowledged once more.
    credited: u32,
    /// Numbers of segments declared lost and not yet taken, where they are requested.
    losses: Vec<u64>,
    lists_losses: bool,
}

impl Scoreboard {
    /// Forgets all, as at the start of a connection, but keeps its memory.
    pub fn clear(&mut self) {
        let (mut segments, mut sacked_ranges) =
            (std::mem::take(&mut self.segments), std::mem::take(&mut self.sacked_ranges));
        let mut losses = std::mem::take(&mut self.losses);
        segments.clear();
        sacked_ranges.clear();
        losses.clear();
        *self = Scoreboard { segments, sacked_ranges, losses, ..Scoreboard::default() };
    }

    /// First byte not yet acknowledged.
    #[must_use]
    pub fn una(&self) -> u64 {
        self.una
    }

    /// The byte after the last one sent.
    #[must_use]
    pub fn sent_end(&self) -> u64 {
        self.sent_end
    }

    /// Number of the first unacknowledged segment.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Number the next new segment will have.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.base + self.segments.len() as u64
    }

    /// Number of the segment to be sent next.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Whether a go-back is under way.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        self.next < self.end()
    }

    /// Whether nothing is outstanding.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Segments sent and not acknowledged, counted from the last go-back (RFC 5681's `FlightSize`).
    #[must_use]
    pub fn flight(&self) -> u32 {
        (self.next - self.base) as u32
    }

    /// All segments sent and not acknowledged.
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        self.segments.len() as u32
    }

    /// Segments estimated to be in the network: those neither acknowledged in any way, nor lost, nor assumed to have
    /// arrived, and those resent. A segment that is resent and not lost counts twice (RFC 6675, `SetPipe`).
    #[must_use]
    pub fn pipe(&self) -> u32 {
        self.segments.len() as u32 - self.sacked - self.assumed - self.lost + self.doubled
    }

    /// Segments beyond the highest one selectively acknowledged, and those resent: FACK's `awnd`.
    #[must_use]
    pub fn forward_flight(&self) -> u32 {
        let beyond = self.segments.len() - self.index_at(self.fack.max(self.una));
        beyond as u32 + self.resent + self.doubled
    }

    /// The byte after the highest one selectively acknowledged, or `una`.
    #[must_use]
    pub fn fack(&self) -> u64 {
        self.fack.max(self.una)
    }

    /// Segments declared lost and not resent since.
    #[must_use]
    pub fn lost(&self) -> u32 {
        self.lost
    }

    /// Segments declared lost that have not arrived yet, resent since or not.
    #[must_use]
    #[inline]
    pub fn missing(&self) -> u32 {
        self.lost + self.resent
    }

    /// Copies in the network.
    #[must_use]
    pub fn copies(&self) -> u32 {
        self.resent + self.doubled
    }

    /// How many segments and copies have been declared lost, over the life of the connection.
    #[must_use]
    pub fn declared(&self) -> u64 {
        self.declared
    }

    /// Selectively acknowledged segments that directly follow another.
    #[must_use]
    pub fn sacked_together(&self) -> u32 {
        self.sacked.saturating_sub(self.sacked_ranges.as_slice().len() as u32)
    }

    /// Segments selectively acknowledged.
    #[must_use]
    pub fn sacked(&self) -> u32 {
        self.sacked
    }

    /// The segment with this number.
    ///
    /// # Panics
    /// When it is not outstanding.
    #[must_use]
    pub fn get(&self, number: u64) -> &Sent {
        &self.segments[(number - self.base) as usize]
    }

    /// The oldest segment, if any is outstanding.
    #[must_use]
    pub fn oldest(&self) -> Option<&Sent> {
        self.segments.front()
    }

    /// Whether the segment was selectively acknowledged.
    #[must_use]
    pub fn is_sacked(&self, number: u64) -> bool {
        self.get(number).mark == Mark::Sacked
    }

    /// Whether the segment was declared lost and not resent since.
    #[must_use]
    pub fn is_lost(&self, number: u64) -> bool {
        self.get(number).mark == Mark::Lost
    }

    /// Segments below this number have enough selectively acknowledged above them to be lost (RFC 6675, `IsLost`).
    #[must_use]
    pub fn lost_below(&self) -> u64 {
        self.lost_below
    }

    /// Adds a new segment that is sent now.
    pub fn push(&mut self, len: u32, fin: bool, now: Time) {
        let sent =
            Sent { start: self.sent_end, at: now, len, times: 1, fin, told: false, mark: Mark::InFlight };
        self.sent_end += u64::from(len);
        self.segments.push_back(sent);
        self.next = self.end();
    }

    /// Records that a segment is sent again now.
    pub fn resend(&mut self, number: u64, now: Time) {
        let index = (number - self.base) as usize;
        let segment = &mut self.segments[index];
        segment.at = now;
        segment.times = segment.times.saturating_add(1);
        // Beyond the highest byte selectively acknowledged a copy replaces the first, unless the order of departures
        // shows which of them arrives.
        let beyond = segment.start >= self.fack.max(self.una);
        match segment.mark {
            Mark::Lost => {
                let replaces = beyond && !self.is_followed;
                segment.mark = if replaces { Mark::InFlight } else { Mark::Resent };
                self.lost -= 1;
                self.resent += u32::from(!replaces);
            }
            Mark::InFlight if !beyond => {
                segment.mark = Mark::Doubled;
                self.doubled += 1;
            }
            Mark::InFlight | Mark::Sacked | Mark::Resent | Mark::Doubled => {}
        }
        self.next = self.next.max(number + 1);
    }

    /// Whether all below `ack` is the oldest segment, which was sent once, and nothing is or was reported of others.
    #[must_use]
    #[inline]
    pub fn is_next(&self, ack: u64) -> bool {
        let is_quiet = self.sacked_ranges.is_empty()
            && self.news.segments == 0
            && self.credited == 0
            && !self.is_followed;
        let is_it = |first: &Sent| first.end() == ack && first.is_plain();
        is_quiet && self.segments.front().is_some_and(is_it)
    }

    /// Removes the oldest segment, which is [next](Self::is_next) and ends at `ack`. Returns when it was sent.
    #[inline]
    pub fn take_oldest(&mut self, ack: u64) -> Time {
        let Some(first) = self.segments.pop_front() else { return self.now };
        self.una = ack;
        self.base += 1;
        self.next = self.next.max(self.base);
        self.note_arrival(first.at, first.times, ack);
        first.at
    }

    /// Removes everything below `ack`.
    pub fn advance(&mut self, ack: u64) -> Advance {
        let mut advance = Advance::default();
        let known = self.news;
        self.una = ack;
        while self.segments.front().is_some_and(|first| first.end() <= ack) {
            self.take_first(&mut advance);
        }
        if let Some(first) = self.segments.front_mut()
            && first.start < ack
        {
            first.len = (first.end() - ack) as u32;
            first.start = ack;
        }
        self.next = self.next.max(self.base);
        if !self.sacked_ranges.is_empty() {
            self.sacked_ranges.advance(ack);
        }
        if self.credited > 0 {
            self.settle(&advance, known);
        }
        advance
    }

    /// Takes off the first segment, all of which has arrived. Not inlined: most acknowledgements take one or two, and in a loop
    /// over all that it touches each field would be loaded and stored once more.
    #[inline(never)]
    fn take_first(&mut self, advance: &mut Advance) {
        let Some(first) = self.segments.pop_front() else { return };
        advance.is_single = first.times == 1 && !first.told;
        advance.newest_sent = first.at;
        advance.repaired |= first.times > 1;
        if !first.told {
            if !advance.has_news {
                (advance.has_news, advance.oldest_sent) = (true, first.at);
            }
            self.news.add(self.base, &first);
            self.note_arrival(first.at, first.times, first.end());
        }
        match first.mark {
            Mark::InFlight => {}
            Mark::Sacked => self.sacked -= 1,
            Mark::Lost => self.lost -= 1,
            Mark::Resent => self.resent -= 1,
            Mark::Doubled => self.doubled -= 1,
        }
        self.base += 1;
        advance.segments += 1;
    }

    /// Marks what a SACK block `[left, right)` covers and returns whether any of it is news.
    pub fn sack(&mut self, left: u64, right: u64) -> bool {
        let (left, right) = (left.max(self.una), right.min(self.sent_end));
        if left >= right || self.sacked_ranges.contains(left, right) {
            return false;
        }
        let known = self.sacked_ranges.as_slice();
        let overlap = known.partition_point(|range| range.1 < left);
        // The part of the block that a known range at its left end covers is marked already.
        let from =
            known.get(overlap).map_or(left, |range| if range.0 <= left { range.1.min(right) } else { left });
        let first = self.index_at(from);
        let is_one = self.segments.get(first).is_some_and(|it| (it.start, it.end()) == (from, right));
        let (from, right) = if is_one { (from, right) } else { self.whole(from, right) };
        if from >= right {
            return false;
        }
        self.sacked_ranges.insert(from, right);
        for index in first..self.segments.len() {
            let segment = &mut self.segments[index];
            if segment.end() > right {
                break;
            }
            match segment.mark {
                Mark::Sacked => continue,
                Mark::InFlight => {}
                Mark::Lost => self.lost -= 1,
                Mark::Resent => self.resent -= 1,
                Mark::Doubled => self.doubled -= 1,
            }
            segment.mark = Mark::Sacked;
            self.sacked += 1;
            if !segment.told {
                segment.told = true;
                let Sent { at, times, start, len, .. } = *segment;
                self.news.add(self.base + index as u64, segment);
                if times == 1 {
                    self.news.sacked_sent = self.news.sacked_sent.max(Some(at));
                }
                self.note_arrival(at, times, start + u64::from(len));
            }
        }
        self.fack = self.fack.max(right);
        true
    }

    /// Starts again from the first unacknowledged segment.
    pub fn go_back(&mut self) {
        self.next = self.base;
    }
}

#[cfg(test)]
mod tests;
