//! The end of a frame that was not alone or may be lost: its fate at each receiver.

use lasthop_stack::link::dot11::{Frame, Mpdu};
use lasthop_stack::units::Time;

use super::draws::Attempt;
use super::errors::{Losses, Verdict};
use super::modulation::Memo;
use super::receiver::{Followed, Quality};
use super::{Fate, Heard, Radio, Transmission, aggregate, audience, lone};

impl Radio {
    /// The frame of a station ends at each receiver. Returns what became of it at its destination.
    #[inline(never)]
    pub(super) fn end_at_each(
        &mut self,
        (station, sent, is_lone): (usize, &Transmission, bool),
        (frame, mpdus): (&Frame, &mut [Mpdu]),
        now: Time,
        heard: &mut Vec<Heard>,
    ) -> Fate {
        let Radio {
            hearers, receivers, attempts, rules, losses, cuts, memo, drawn, shares, followers, ..
        } = self;
        let mut fate = Fate::OutOfReach;
        for neighbour in audience(followers, hearers, station) {
            let at = neighbour.station as usize;
            if at == station {
                continue;
            }
            let left = if is_lone {
                lone::left(neighbour.power_w, rules)
            } else {
                receivers[at].end(station as u32, now, rules, memo)
            };
            let unheard =
                if neighbour.power_w >= rules.receive_w { Fate::Collided } else { Fate::OutOfReach };
            let here = match &left.followed {
                Some(Followed { quality: Quality::Missed, .. }) => {
                    heard.push(Heard::Missed(at));
                    unheard
                }
                Some(followed) => {
                    let mut here = if frame.mpdus > 0 {
                        let (drawn, shares) = (&drawn[station][..], &shares[station][..]);
                        let parts = aggregate::Parts { mpdus, drawn, shares };
                        aggregate::fate_at((station, at), (frame, parts), sent, followed, losses, memo)
                    } else {
                        fate_at((station, at), frame, (sent, &attempts[station]), followed, losses, memo)
                    };
                    if sent.cuts != 0
                        && let Some(cuts) = cuts
                        && cuts.between(sent.cuts, station as u32, at as u32)
                        && matches!(here, Fate::Received | Fate::Errored | Fate::LostForGood)
                    {
                        here = Fate::CutOff;
                    }
                    heard.push(if here == Fate::Received { Heard::Received(at) } else { Heard::Error(at) });
                    here
                }
                None => unheard,
            };
            if left.turned_idle {
                heard.push(Heard::Idle(at));
            }
            if sent.to == Some(at) {
                fate = here;
            } else if sent.to.is_none() && aggregate::is_for(at, frame, &shares[station]) {
                fate = fate.min(here);
            }
        }
        fate
    }
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
