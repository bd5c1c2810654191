//! Frames whose rates the layer above has planned, with EDCA.
//!
//! **How.** As with DCF (`dot11/planned.rs`), but for this. The layer above knows which frames an agreement covers, and hands over
//! others, too: management, and frames to all. Such a frame goes alone, at any rate, with a number of its own sequence; an Ack
//! answers it, and no BlockAckReq follows if it is given up. A PPDU goes at the rate that the plan of its first MPDU has next,
//! and has only MPDUs whose plans have the same. Each attempt counts in the plans of all its MPDUs.

use super::super::frame::{BROADCAST, Frame, Msdu, Outcome};
use super::super::planned::is_to_all;
use super::{Edca, MacOut};
use crate::hooks::Arq;
use crate::units::Time;

impl<A: Arq + Clone> Edca<A> {
    /// The originator of frames outside of agreements, by its place.
    pub(super) fn place_outside(&mut self, msdu: &Msdu) -> usize {
        let of = (msdu.next, msdu.category as usize);
        let outside = &self.outside;
        if let Some((_, place)) = outside.iter().find(|(other, _)| *other == of) {
            return *place;
        }
        let place = self.originators.len();
        let mut originator = self.originator(of);
        originator.is_outside = true;
        self.originators.push(originator);
        self.outside.push((of, place));
        place
    }

    /// The next PPDU of an agreement goes at the rate that its first frame has next.
    pub(super) fn follow_plan(&mut self, of: usize) {
        let Some(plans) = &self.core.plans else { return };
        let Some((_, first, _)) = self.originators[of].candidate(0) else { return };
        let Some(rate) = plans.rate(first.handle) else { return };
        if rate != self.originators[of].data_rate() {
            self.go_at(of, rate);
        }
    }

    /// An attempt at the frames in service has been made.
    pub(super) fn count_planned(&mut self) {
        if let Some(plans) = &mut self.core.plans {
            for mpdu in &self.burst {
                plans.count(mpdu.handle);
            }
        }
    }

    /// Whether the frame prepared is to all.
    pub(super) fn is_to_all(&self) -> bool {
        self.originators[self.service.of].peer == BROADCAST
    }

    /// A frame to all has been sent: it awaits nothing.
    pub(super) fn end_to_all(&mut self, now: Time, out: &mut impl MacOut) {
        self.settle(|_| Some(Outcome::Delivered), out);
        self.succeed(now, out);
    }

    /// Takes in a frame outside of agreements. Returns whether it was received before.
    pub(super) fn take_in_outside(&mut self, place: usize, frame: &Frame, out: &mut impl MacOut) -> bool {
        let last = &mut self.recipients[place].2.last_outside;
        let is_again = frame.retry && *last == Some(frame.sequence);
        *last = Some(frame.sequence);
        if is_again {
            self.core.counters.duplicates += 1;
        } else if let Some(handle) = frame.msdu {
            out.up(handle, frame.sequence);
        }
        is_again
    }
}

/// Passes up a frame that is to all.
pub(super) fn hear_to_all(frame: &Frame, out: &mut impl MacOut) {
    if is_to_all(frame)
        && frame.mpdus == 0
        && let Some(handle) = frame.msdu
    {
        out.up(handle, frame.sequence);
    }
}
