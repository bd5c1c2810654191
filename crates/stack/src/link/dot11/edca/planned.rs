//! Frames whose rates the layer above has planned, with EDCA.
//!
//! **How.** As with DCF (`dot11/planned.rs`), but for this. The layer above knows which frames an agreement covers, and hands over
//! others, too: management, and frames to all. Such a frame goes alone, at any rate, with a number of its own sequence; an Ack
//! answers it, and no BlockAckReq follows if it is given up. A PPDU goes at the rate that the plan of its first MPDU has next,
//! and has only MPDUs whose plans have the same. Each attempt counts in the plans of all its MPDUs.

use super::super::frame::{BROADCAST, Frame, Msdu, Outcome};
use super::super::mode::DataRate;
use super::super::planned::{Plan, Plans, Tries, is_to_all};
use super::{Edca, EdcaOut};
use crate::hooks::Arq;
use crate::packet::NodeId;
use crate::units::Time;

/// What the layer above has planned.
#[derive(Clone, Debug, Default)]
pub(super) struct Planning {
    pub(super) plans: Plans,
    /// What waits outside of agreements: receiver and category, and the place of the originator.
    outside: Vec<((NodeId, usize), usize)>,
}

impl<A: Arq + Clone> Edca<A> {
    /// Accepts a frame with its plan, which an agreement covers or not. Returns false if the queue of its category is full.
    pub fn enqueue_planned(
        &mut self,
        msdu: Msdu,
        (plan, is_covered): (Plan, bool),
        now: Time,
        out: &mut impl EdcaOut,
    ) -> bool {
        let category = msdu.category as usize;
        if self.refuses(category) {
            return false;
        }
        let place = if is_covered { self.place_of(msdu.next, category) } else { self.place_outside(&msdu) };
        // The rate control is that of the layer above.
        self.originators[place].control = None;
        self.planning.get_or_insert_default().plans.add(msdu.handle, plan);
        self.take_over(msdu, (place, false), now, out);
        true
    }

    /// How often a planned frame was sent that the station has released, once.
    pub fn take_tries(&mut self, handle: u64) -> Option<Tries> {
        self.planning.as_mut()?.plans.take(handle)
    }

    /// The originator of frames outside of agreements, by its place.
    fn place_outside(&mut self, msdu: &Msdu) -> usize {
        let of = (msdu.next, msdu.category as usize);
        let outside = &self.planning.get_or_insert_default().outside;
        if let Some((_, place)) = outside.iter().find(|(other, _)| *other == of) {
            return *place;
        }
        let place = self.originators.len();
        let mut originator = self.originator(of);
        originator.is_outside = true;
        self.originators.push(originator);
        self.planning.get_or_insert_default().outside.push((of, place));
        place
    }

    /// The next PPDU of an agreement goes at the rate that its first frame has next.
    pub(super) fn follow_plan(&mut self, of: usize) {
        let Some(planning) = &self.planning else { return };
        let Some((_, first, _)) = self.originators[of].candidate(0) else { return };
        let Some(rate) = planning.plans.rate(first.handle) else { return };
        if rate != self.originators[of].data_rate() {
            self.go_at(of, rate);
        }
    }

    /// An attempt at the frames in service has been made.
    pub(super) fn count_planned(&mut self) {
        if let Some(planning) = &mut self.planning {
            for mpdu in &self.burst {
                planning.plans.count(mpdu.handle);
            }
        }
    }

    /// Whether the frame prepared is to all.
    pub(super) fn is_to_all(&self) -> bool {
        self.originators[self.service.of].peer == BROADCAST
    }

    /// A frame to all has been sent: it awaits nothing.
    pub(super) fn end_to_all(&mut self, now: Time, out: &mut impl EdcaOut) {
        self.settle(|_| Some(Outcome::Delivered), out);
        self.succeed(now, out);
    }

    /// Takes in a frame outside of agreements. Returns whether it was received before.
    pub(super) fn take_in_outside(&mut self, place: usize, frame: &Frame, out: &mut impl EdcaOut) -> bool {
        let last = &mut self.recipients[place].2.last_outside;
        let is_again = frame.retry && *last == Some(frame.sequence);
        *last = Some(frame.sequence);
        if is_again {
            self.counters.duplicates += 1;
        } else if let Some(handle) = frame.msdu {
            out.up(handle, frame.sequence);
        }
        is_again
    }
}

/// Passes up a frame that is to all.
pub(super) fn hear_to_all(frame: &Frame, out: &mut impl EdcaOut) {
    if is_to_all(frame)
        && frame.mpdus == 0
        && let Some(handle) = frame.msdu
    {
        out.up(handle, frame.sequence);
    }
}

impl Planning {
    /// Whether a frame may go with others at this rate.
    pub(super) fn has_next(&self, handle: u64, rate: DataRate) -> bool {
        self.plans.rate(handle) == Some(rate)
    }
}
