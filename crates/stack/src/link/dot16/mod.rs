//! An 802.16 link between a base station and one subscriber station.
//!
//! **Limits.** One subscriber: no contention for requests and no scheduling among stations. No ARQ of the link's own
//! (EJTCP leaves losses to TCP), no ranging, no sleep.
//!
//! **Source.** IEEE 802.16-2004, clause 8.1 (`WirelessMAN-SC`) and 6.3; Eklund et al. 2002, from which EJTCP takes its
//! rates.
//!
//! **How.** Time is divided into [`Frame`]s. In the maps at the head of a frame, the base station announces what it
//! sends and grants in it. A packet thus goes down in the next frame at the earliest, and up one frame after the
//! subscriber could request room. Packets are fragmented over frames, and each burst has the rate of the modulation in
//! force in its frame.
//!
//! **Choices.** 1. The maps of a frame take a constant time at its head. 2. A subscriber sends its request in the first
//! uplink sub-frame that begins after a packet has come, by itself or on a burst, without contention. 3. Both
//! directions have the same modulation. 4. A fragment costs one MAC header, one fragmentation sub-header and one CRC.
//!
//! **Checked by** the tests below and `crates/sim/tests/dot16.rs`.

mod frame;

pub use frame::{Direction, Frame, Rates};

use std::collections::VecDeque;

use super::queue::{DropTail, QueueLimit};
use crate::hooks::parameter::words;
use crate::packet::Modulation;
use crate::units::{Bytes, Span, Time};

words! { Modulation: Qpsk = "qpsk", Qam16 = "16-qam", Qam64 = "64-qam" }

/// Generic MAC header, fragmentation sub-header and CRC of one fragment (IEEE 802.16-2004, 6.3.2.1, 6.3.2.2.1, 6.3.3.5.2).
pub const FRAGMENT_OVERHEAD: u32 = 6 + 2 + 4;

/// One direction of the link: its queue and the bursts that its packets go in.
#[derive(Clone, Debug)]
pub struct Line {
    frame: Frame,
    direction: Direction,
    rates: Rates,
    queue: DropTail,
    busy_until: Time,
    sending: Span,
    /// Bursts that had not ended when a packet was last offered, in order: one for each frame with packets of this line.
    bursts: VecDeque<Burst>,
}

/// Fragments that follow each other without a gap.
#[derive(Clone, Copy, Debug)]
struct Burst {
    begins: Time,
    ends: Time,
}

/// The departure of an accepted packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When its last bit leaves.
    pub at: Time,
    /// The modulation of its last burst.
    pub modulation: Modulation,
}

impl Line {
    /// An idle direction.
    #[must_use]
    pub fn new(frame: Frame, direction: Direction, rates: Rates, limit: QueueLimit) -> Line {
        let queue = DropTail::new(limit);
        let bursts = VecDeque::new();
        Line { frame, direction, rates, queue, busy_until: Time::ZERO, sending: Span::ZERO, bursts }
    }

    /// Accepts a packet of `size`; `None` if the queue is full. `modulation` returns the one in force in the frame that
    /// begins at a time; it is called with frames in ascending order.
    pub fn offer(
        &mut self,
        size: Bytes,
        now: Time,
        modulation: &mut impl FnMut(Time) -> Modulation,
    ) -> Option<Departure> {
        self.queue.advance(now);
        if !self.queue.has_room(size) {
            return None;
        }
        while self.bursts.front().is_some_and(|burst| burst.ends <= now) {
            self.bursts.pop_front();
        }
        let departure = self.send(size, now, modulation);
        self.busy_until = departure.at;
        self.queue.push(now, departure.at, size);
        Some(departure)
    }

    /// Sends a packet behind those accepted before, in as many frames as it needs.
    fn send(&mut self, size: Bytes, now: Time, modulation: &mut impl FnMut(Time) -> Modulation) -> Departure {
        let overhead = u64::from(FRAGMENT_OVERHEAD);
        let mut left = size.0;
        let mut at = self.frame.earliest(self.direction, now).max(self.busy_until);
        loop {
            let begins = self.frame.begins(at);
            let (opens, closes) = self.frame.subframe(self.direction, begins);
            at = at.max(opens);
            let profile = modulation(begins);
            let rate = self.rates.of(profile);
            let room = if at < closes { (closes - at).bytes_at(rate).0 } else { 0 };
            if room > overhead {
                let part = left.min(room - overhead);
                let time = Bytes(part + overhead).time_at(rate);
                self.add(at, time);
                (at, left) = (at.after(time), left - part);
                if left == 0 {
                    return Departure { at, modulation: profile };
                }
            }
            at = begins.after(self.frame.length);
        }
    }

    /// A fragment is sent at `at` for this long.
    fn add(&mut self, at: Time, time: Span) {
        self.sending += time;
        let ends = at.after(time);
        match self.bursts.back_mut() {
            Some(last) if last.ends == at => last.ends = ends,
            _ => self.bursts.push_back(Burst { begins: at, ends }),
        }
    }

    /// When it takes the next packet from a queue in front of it. That is now, if the packet may begin in the first
    /// frame that can announce it, and otherwise at the beginning of the next frame.
    #[must_use]
    pub fn ready_at(&self, now: Time) -> Time {
        let announced = self.frame.begins(self.frame.earliest(self.direction, now)).after(self.frame.length);
        if self.busy_until < announced { now } else { self.frame.begins(now).after(self.frame.length) }
    }

    /// The queue.
    #[must_use]
    pub fn queue(&self) -> &DropTail {
        &self.queue
    }

    /// The same, to be changed.
    pub fn queue_mut(&mut self) -> &mut DropTail {
        &mut self.queue
    }

    /// Time spent sending up to `now`, which is not before the last offer. It is that of all accepted packets, less the
    /// bursts and parts of bursts still to come.
    #[must_use]
    pub fn busy(&self, now: Time) -> Span {
        self.bursts.iter().fold(self.sending, |busy, burst| busy - burst.ends.since(burst.begins.max(now)))
    }
}

#[cfg(test)]
mod tests;
