//! The end of a frame: what its receivers learn of it, and what became of it at its destination.

use lasthop_stack::link::dot11::{Frame, Mpdu};
use lasthop_stack::units::Time;

use super::draws::Attempt;
use super::errors::{Losses, Verdict};
use super::modulation::Memo;
use super::receiver::{Followed, Left, Quality};
use super::{Fate, Heard, Neighbour, Radio, Transmission, aggregate, audience};

impl Radio {
    /// The frame of a station ends, which chance, an outage or another frame may have lost. Returns what became of it at its
    /// destination.
    #[inline(never)]
    pub(super) fn end_judged(
        &mut self,
        (station, sent, is_lone): (usize, &Transmission, bool),
        (frame, mpdus): (&Frame, &mut [Mpdu]),
        now: Time,
        heard: &mut Vec<Heard>,
    ) -> Fate {
        let Radio {
            hearers, receivers, attempts, rules, losses, cuts, memo, drawn, shares, followers, ..
        } = self;
        let (shares, receive_w) = (&shares[station][..], rules.receive_w);
        let audience = audience(followers, hearers, station);
        end_at_each(audience, (station, receive_w), (frame, sent.to, shares), heard, |at, power_w| {
            let Left { followed, turned_idle } = if is_lone {
                Left::alone(power_w, rules)
            } else {
                receivers[at].end(station as u32, now, rules, memo)
            };
            let followed = match &followed {
                None => return (Ended::Unfollowed, turned_idle),
                Some(Followed { quality: Quality::Missed, .. }) => return (Ended::Missed, turned_idle),
                Some(followed) => followed,
            };
            let fate = if frame.mpdus > 0 {
                let parts = aggregate::Parts { mpdus, drawn: &drawn[station], shares };
                aggregate::fate_at((station, at), (frame, parts), sent, followed, losses, memo)
            } else {
                fate_at((station, at), frame, (sent, &attempts[station]), followed, losses, memo)
            };
            let is_cut_off = sent.cuts != 0
                && cuts.as_ref().is_some_and(|cuts| cuts.between(sent.cuts, station as u32, at as u32))
                && matches!(fate, Fate::Received | Fate::Errored | Fate::LostForGood);
            (Ended::Followed(if is_cut_off { Fate::CutOff } else { fate }), turned_idle)
        })
    }
}

/// The end of a reception.
pub(super) enum Ended {
    /// The receiver had not locked on the frame.
    Unfollowed,
    /// By ns-2's rule: it was too weak to spoil the one being received.
    Missed,
    /// The receiver had, with this fate of the frame.
    Followed(Fate),
}

/// A frame ends at each station that hears it. `end` gets a receiver's number and the received power, and returns how its
/// reception ends and whether the medium turns idle there. Returns the frame's fate at its destination.
#[inline]
pub(super) fn end_at_each(
    audience: &[Neighbour],
    (from, receive_w): (usize, f64),
    (frame, to, shares): (&Frame, Option<usize>, &[aggregate::Share]),
    heard: &mut Vec<Heard>,
    mut end: impl FnMut(usize, f64) -> (Ended, bool),
) -> Fate {
    let mut fate = Fate::OutOfReach;
    for &Neighbour { station, power_w } in audience {
        let at = station as usize;
        if at == from {
            continue;
        }
        let (ended, turned_idle) = end(at, power_w);
        let unheard = if power_w >= receive_w { Fate::Collided } else { Fate::OutOfReach };
        let here = match ended {
            Ended::Unfollowed => unheard,
            Ended::Missed => {
                heard.push(Heard::Missed(at));
                unheard
            }
            Ended::Followed(fate) => {
                heard.push(if fate == Fate::Received { Heard::Received(at) } else { Heard::Error(at) });
                fate
            }
        };
        if turned_idle {
            heard.push(Heard::Idle(at));
        }
        if to == Some(at) {
            fate = here;
        } else if to.is_none() && aggregate::is_for(at, frame, shares) {
            fate = fate.min(here);
        }
    }
    fate
}

/// The fate of a frame at a station that followed it to its end.
#[inline]
fn fate_at(
    (from, at): (usize, usize),
    frame: &Frame,
    (sent, attempt): (&Transmission, &Attempt),
    followed: &Followed,
    losses: &mut Losses,
    memo: &mut Memo,
) -> Fate {
    if let Some(fate) = losses.decided(followed.quality) {
        return fate;
    }
    let verdict = if sent.to == Some(at) {
        losses.judge((from, at), frame, *attempt, followed, sent.started, memo)
    } else {
        losses.judge_overheard((from, at), frame, followed, sent.started, memo)
    };
    match verdict {
        Verdict::Passes => Fate::Received,
        Verdict::Errored => Fate::Errored,
        Verdict::Drowned => Fate::Collided,
        Verdict::LostForGood => Fate::LostForGood,
    }
}
