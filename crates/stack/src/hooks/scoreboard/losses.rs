//! The segments that are declared lost.

use super::{DUP_THRESH, Mark, SackAfterTimeout, Scoreboard};
use crate::units::Span;

impl Scoreboard {
    /// Marks as lost what RFC 6675's `IsLost` defines as lost: a segment with [`DUP_THRESH`] segments (or as many
    /// separate ranges) selectively acknowledged above it.
    pub fn mark_lost(&mut self) {
        if self.sacked == 0 {
            return;
        }
        let mut above = 0;
        let mut edge = self.base;
        let mut number = self.number_at(self.fack);
        while number > self.base {
            number -= 1;
            if self.is_sacked(number) {
                above += 1;
                if above == DUP_THRESH {
                    edge = number;
                    break;
                }
            }
        }
        let ranges = self.sacked_ranges.as_slice();
        if let Some(range) = ranges.len().checked_sub(DUP_THRESH as usize) {
            edge = edge.max(self.number_at(ranges[range].0));
        }
        for number in self.lost_below.max(self.base)..edge {
            let segment = &mut self.segments[(number - self.base) as usize];
            match segment.mark {
                Mark::InFlight => {
                    segment.mark = Mark::Lost;
                    self.lost += 1;
                    self.declared += 1;
                    if self.lists_losses {
                        self.losses.push(number);
                    }
                }
                Mark::Doubled => {
                    segment.mark = Mark::Resent;
                    self.doubled -= 1;
                    self.resent += 1;
                    if self.lists_losses {
                        self.losses.push(number);
                    }
                }
                Mark::Sacked | Mark::Lost | Mark::Resent => {}
            }
        }
        self.lost_below = self.lost_below.max(edge);
    }

    /// The timer fired: all segments are lost, or all that are not selectively acknowledged.
    pub fn lose_all(&mut self, after_timeout: SackAfterTimeout) {
        self.lost = 0;
        self.resent = 0;
        self.doubled = 0;
        if after_timeout == SackAfterTimeout::Cleared {
            self.sacked_ranges.clear();
            self.sacked = 0;
            self.fack = self.una;
            let sacked = self.segments.iter_mut().filter(|segment| segment.mark == Mark::Sacked);
            sacked.for_each(|segment| segment.mark = Mark::InFlight);
        }
        for (index, segment) in self.segments.iter_mut().enumerate() {
            if segment.mark != Mark::Sacked {
                self.declared += u64::from(segment.mark != Mark::Lost);
                if self.lists_losses && segment.mark != Mark::Lost {
                    self.losses.push(self.base + index as u64);
                }
                segment.mark = Mark::Lost;
                self.lost += 1;
            }
        }
        self.lost_below = self.end();
    }

    /// The timer fired: lost are the first segment, and all that left longer than `patience` ago (RFC 8985, 6.3).
    pub fn lose_late(&mut self, patience: Span) {
        let (base, now) = (self.base, self.now);
        let count = self.segments.len();
        for index in 0..count {
            let segment = &self.segments[index];
            if index == 0 || segment.at.after(patience) <= now {
                self.lose(base + index as u64);
            }
        }
    }

    /// What was declared lost is in the network, after all, beside the copies that were sent of it.
    pub fn find_lost(&mut self) {
        for segment in &mut self.segments {
            segment.mark = match segment.mark {
                Mark::Lost => Mark::InFlight,
                Mark::Resent => Mark::Doubled,
                other => other,
            };
        }
        self.doubled += std::mem::take(&mut self.resent);
        self.lost = 0;
        self.lost_below = self.base;
    }

    /// Sets below which number segments may be lost.
    pub fn set_lost_below(&mut self, number: u64) {
        self.lost_below = number;
    }

    /// Forgets all selective acknowledgements.
    pub fn forget_sacks(&mut self) {
        let Some(&(start, _)) = self.sacked_ranges.as_slice().first() else { return };
        for index in self.index_at(start)..self.index_at(self.fack()) {
            let segment = &mut self.segments[index];
            if segment.mark == Mark::Sacked {
                segment.mark = Mark::InFlight;
                self.sacked -= 1;
            }
        }
        self.sacked_ranges.clear();
        self.fack = self.una;
    }

    /// Declares one segment lost that [`Self::mark_lost`] does not (the first, at enough duplicates).
    pub fn lose(&mut self, number: u64) {
        let index = (number - self.base) as usize;
        let segment = &mut self.segments[index];
        match segment.mark {
            Mark::InFlight => {}
            Mark::Resent => self.resent -= 1,
            Mark::Doubled => self.doubled -= 1,
            Mark::Lost | Mark::Sacked => return,
        }
        segment.mark = Mark::Lost;
        self.lost += 1;
        self.declared += 1;
        if self.lists_losses {
            self.losses.push(number);
        }
    }

    /// Declares lost the segments below the highest byte selectively acknowledged, from this number on (FACK's rule); copies of a
    /// recovery before this one are [suspected](Self::suspect). Returns the number to continue from.
    pub fn lose_holes(&mut self, from: u64) -> u64 {
        let highest = self.number_at(self.fack());
        let mut number = from;
        while let Some(hole) = self.first_unsacked(number, highest) {
            if self.segments[(hole - self.base) as usize].mark == Mark::InFlight {
                self.lose(hole);
            } else {
                self.suspect(hole);
            }
            number = hole + 1;
        }
        from.max(highest)
    }

    /// A recovery that keeps no marks takes this segment, or its last copy, for lost: it is listed, and counts as in the network.
    pub fn suspect(&mut self, number: u64) {
        if self.lists_losses && !self.is_lost(number) {
            self.losses.push(number);
        }
    }

    /// A recovery begins that sends again what was lost in the one before, too: the copies of that one, from this number on, are
    /// [suspected](Self::suspect).
    pub fn suspect_copies(&mut self, from: u64) {
        let limit = self.lost_below.min(self.number_at(self.fack()));
        let mut number = from;
        while self.lists_losses
            && let Some(hole) = self.first_unsacked(number, limit)
        {
            self.suspect(hole);
            number = hole + 1;
        }
    }

    /// The timer fires in a recovery: what it [suspected](Self::suspect) of copies from this number on, and has not sent again, is
    /// not listed a second time by [`Self::lose_all`].
    pub fn settle_suspected(&mut self, from: u64) {
        if self.lists_losses {
            let before = from.saturating_sub(self.base) as usize;
            let copies = self.segments.iter_mut().skip(before).filter(|segment| segment.mark == Mark::Resent);
            copies.for_each(|segment| segment.mark = Mark::Lost);
        }
    }

    /// From now on lists what is declared lost, or does not.
    pub fn list_losses(&mut self, lists: bool) {
        self.lists_losses = lists;
        self.losses.clear();
    }

    /// The number at this place of the list of segments declared lost; at its end the list is emptied.
    #[inline]
    pub fn declared_at(&mut self, place: usize) -> Option<u64> {
        let number = self.losses.get(place).copied();
        if number.is_none() {
            self.losses.clear();
        }
        number
    }
}

#[cfg(test)]
mod tests;
