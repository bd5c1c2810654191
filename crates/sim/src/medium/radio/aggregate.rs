//! Frames with MPDUs: each is lost by itself.
//!
//! **How.** The station addressed draws for each MPDU, as for a frame of its own, and records its fate. Any other
//! station draws once whether it has read none, by the product of the probabilities of loss. It needs one MPDU for the
//! reservation, and to know that the frame was not an error.
//!
//! **Choices.** The headers of the PPDU are lost only with all MPDUs. Interference is spread evenly over the MPDUs. All
//! stations read the headers of a PPDU to several, whether they are of these or not; the density of power is the same in
//! each RU, so that the ratio of signal to noise is that of a PPDU to one.

use lasthop_stack::link::dot11::{BROADCAST, Frame, Load, Mpdu, MpduFate};

use super::draws::Attempt;
use super::errors::{Losses, Verdict};
use super::modulation::Memo;
use super::receiver::Followed;
use super::{Fate, Radio, Transmission};

/// The station that a part of a frame to several is for, if it is one of these, and how many MPDUs it has.
pub(super) type Share = (Option<usize>, usize);

/// The MPDUs of a frame, what was drawn for each, and its shares if it is for several stations.
pub(super) struct Parts<'a> {
    pub(super) mpdus: &'a mut [Mpdu],
    pub(super) drawn: &'a [Attempt],
    pub(super) shares: &'a [Share],
}

impl Radio {
    /// Draws for the MPDUs of a frame that begins, whatever becomes of it.
    #[inline(never)]
    pub(super) fn draw(&mut self, station: usize, frame: &Frame, mpdus: &[Mpdu]) {
        let to = self.station(frame.receiver);
        let Radio { losses, drawn, shares, .. } = self;
        drawn[station].clear();
        let of_each = shares[station].iter().flat_map(|(to, count)| std::iter::repeat_n(*to, *count));
        let receivers = of_each.chain(std::iter::repeat(to));
        drawn[station].extend(
            mpdus
                .iter()
                .zip(receivers)
                .map(|(mpdu, to)| losses.attempt_mpdu(station, to, &alone(frame, mpdu), mpdu.attempts)),
        );
    }

    /// Notes which stations a frame that begins is for, if for several.
    #[inline(never)]
    pub(super) fn share(&mut self, station: usize, load: &Load) {
        let mut shares = std::mem::take(&mut self.shares[station]);
        shares.clear();
        shares.extend(load.shares.iter().map(|share| (self.station(share.to), usize::from(share.mpdus))));
        self.shares[station] = shares;
    }
}

/// Whether a frame to no station alone is for this one.
pub(super) fn is_for(at: usize, frame: &Frame, shares: &[Share]) -> bool {
    if shares.is_empty() { frame.receiver == BROADCAST } else { shares.iter().any(|(to, _)| *to == Some(at)) }
}

/// The first MPDU for a station and how many there are, of a frame to several.
fn part_of(at: usize, shares: &[Share]) -> Option<(usize, usize)> {
    let mut first = 0;
    for &(to, count) in shares {
        if to == Some(at) {
            return Some((first, count));
        }
        first += count;
    }
    None
}

/// The fate of a frame with MPDUs at a station that followed it to its end.
#[inline(never)]
pub(super) fn fate_at(
    (from, at): (usize, usize),
    (frame, Parts { mpdus, drawn, shares }): (&Frame, Parts<'_>),
    sent: &Transmission,
    followed: &Followed,
    losses: &mut Losses,
    memo: &mut Memo,
) -> Fate {
    if let Some(fate) = losses.decided(followed.quality) {
        return fate;
    }
    let all: u32 = mpdus.iter().map(|mpdu| mpdu.bytes).sum();
    let share = |mpdu: &Mpdu| Followed {
        log_undisturbed: followed.log_undisturbed * f64::from(mpdu.bytes) / f64::from(all.max(1)),
        ..*followed
    };
    let part = part_of(at, shares);
    if part.is_none() && !shares.is_empty() {
        return Fate::Received;
    }
    if part.is_none() && sent.to != Some(at) {
        let mut likely = 1.0;
        for mpdu in &*mpdus {
            let alone = alone(frame, mpdu);
            likely *= losses.likely_overheard((from, at), &alone, &share(mpdu), sent.started, memo);
            if likely == 0.0 {
                return Fate::Received;
            }
        }
        return if losses.draw_overheard(at) < likely { Fate::Errored } else { Fate::Received };
    }
    let mut fate = Fate::Errored;
    let (first, count) = part.unwrap_or((0, mpdus.len()));
    for (mpdu, drawn) in mpdus.iter_mut().zip(drawn).skip(first).take(count) {
        let alone = alone(frame, mpdu);
        let verdict = losses.judge((from, at), &alone, *drawn, &share(mpdu), sent.started, memo);
        mpdu.fate = match verdict {
            Verdict::Passes => MpduFate::Received,
            Verdict::LostForGood => MpduFate::LostForGood,
            Verdict::Errored | Verdict::Drowned => MpduFate::Errored,
        };
        if mpdu.fate == MpduFate::Received {
            fate = Fate::Received;
        } else if verdict == Verdict::Drowned && fate == Fate::Errored {
            fate = Fate::Collided;
        }
    }
    fate
}

/// An MPDU as a frame of its own.
fn alone(frame: &Frame, mpdu: &Mpdu) -> Frame {
    Frame {
        bytes: mpdu.bytes,
        sequence: mpdu.sequence,
        retry: mpdu.attempts > 0,
        msdu: Some(mpdu.handle),
        class: mpdu.class,
        ..*frame
    }
}
