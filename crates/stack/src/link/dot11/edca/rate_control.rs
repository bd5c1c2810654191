//! Rate control: the mode of the next PPDU with data, for each receiver.
//!
//! **Limits.** Width and guard interval stay those of the link. The categories of a receiver learn separately.
//!
//! **How.** A *ladder* lists the modes that a station may use for a receiver, ordered by their rate. It extends to the
//! MCS and the number of streams to which the link, or one of the two stations, is set. A law chooses a rung before
//! each PPDU is filled.
//!
//! **Choices.** 1. `ideal` selects the fastest mode in which an MPDU with the longest packet so far fails with a
//! probability of at most 10 %. The probability is that at the signal-to-noise ratio when the PPDU is filled. If all
//! modes fail more often, it selects the slowest. Interference is not predicted. 2. RTS and BlockAckReq go at a basic
//! rate that follows the mode, as the responses do.

use super::super::mode::{DataRate, Mode};
use super::super::rates::Airtime;
use super::minstrel::Minstrel;
use super::originator::Originator;
use super::{Edca, MacOut};
use crate::hooks::Arq;
use crate::hooks::parameter::words;
use crate::packet::NodeId;
use crate::units::{Span, Time};

/// The law that chooses modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateControl {
    /// The mode of the link or of the station.
    #[default]
    Constant,
    /// By the ratio of signal to noise at the receiver.
    Ideal,
    /// By what was acknowledged, as Linux does.
    MinstrelHt,
}

words! { RateControl: Constant = "constant", Ideal = "ideal", MinstrelHt = "minstrel-ht" }

/// The most with which an MPDU may fail in the mode of `ideal`.
const MOST_FAILURES: f64 = 0.1;

/// The modes for one receiver, and what is known of them.
#[derive(Clone, Debug)]
pub(super) struct Chooser {
    /// By rate.
    ladder: Vec<Mode>,
    law: Law,
    /// The longest MPDU so far.
    longest: u32,
}

#[derive(Clone, Debug)]
enum Law {
    /// The ratio and the length of the last choice, and its rung.
    Ideal {
        of: (f64, u32),
        rung: usize,
    },
    MinstrelHt(Minstrel),
}

impl Chooser {
    /// The law's choices up to `most`; none for a constant mode. `around` is the time that each PPDU takes besides its own.
    pub(super) fn new(control: RateControl, most: Mode, around: Span) -> Option<Chooser> {
        let ladder = ladder(most);
        let law = match control {
            RateControl::Constant => return None,
            RateControl::Ideal => Law::Ideal { of: (f64::NAN, 0), rung: 0 },
            RateControl::MinstrelHt => Law::MinstrelHt(Minstrel::new(&ladder, around)),
        };
        Some(Chooser { ladder, law, longest: 0 })
    }

    /// A packet for the receiver, in an MPDU of so many bytes.
    pub(super) fn admit(&mut self, mpdu: u32) {
        self.longest = self.longest.max(mpdu);
    }

    /// The mode of the next PPDU, which may be a BlockAckReq.
    pub(super) fn choose(&mut self, to: NodeId, is_request: bool, now: Time, out: &mut impl MacOut) -> Mode {
        match &mut self.law {
            Law::Ideal { of, rung } => {
                let present = (out.signal_to_noise(to), self.longest);
                if *of != present {
                    let (ratio, bytes) = present;
                    let bears = |mode: &Mode| out.mpdu_failure(*mode, bytes, ratio) <= MOST_FAILURES;
                    (*of, *rung) = (present, self.ladder.iter().rposition(bears).unwrap_or(0));
                }
                self.ladder[*rung]
            }
            Law::MinstrelHt(_) if is_request => self.ladder[0],
            Law::MinstrelHt(minstrel) => self.ladder[minstrel.choose(now)],
        }
    }

    /// The most MPDUs of the next PPDU, if there is a limit.
    pub(super) fn limit(&self) -> Option<usize> {
        match &self.law {
            Law::MinstrelHt(minstrel) if minstrel.is_sample => Some(1),
            Law::MinstrelHt(_) | Law::Ideal { .. } => None,
        }
    }

    /// What became of the MPDUs of the last PPDU; `is_answered` unless no acknowledgement came.
    pub(super) fn learn(&mut self, sent: usize, acknowledged: usize, is_answered: bool) {
        if let Law::MinstrelHt(minstrel) = &mut self.law {
            minstrel.learn(sent as u32, acknowledged as u32, is_answered);
        }
    }
}

/// The modes up to one, by their rate; of two with the same rate the one with fewer streams is first.
fn ladder(most: Mode) -> Vec<Mode> {
    let all =
        (1..=most.streams).flat_map(|streams| (0..=most.mcs).map(move |mcs| Mode { mcs, streams, ..most }));
    let mut ladder: Vec<Mode> = all.filter(|mode| mode.exists()).collect();
    ladder.sort_by_key(|mode| (mode.rate(), mode.streams));
    ladder
}

impl<A: Arq + Clone> Edca<A> {
    /// Lets the rate control of an agreement choose its mode.
    pub(super) fn choose_mode(&mut self, of: usize, now: Time, out: &mut impl MacOut) {
        self.follow_plan(of);
        let originator = &mut self.originators[of];
        let Some(control) = &mut originator.control else { return };
        let mode = control.choose(originator.peer, originator.owes_request, now, out);
        if mode != originator.mode {
            self.go_at(of, DataRate::from(mode));
        }
    }

    /// The data of an agreement goes in another way.
    pub(super) fn go_at(&mut self, of: usize, DataRate { rate, mode }: DataRate) {
        let originator = &mut self.originators[of];
        let bytes = self.config.block_ack();
        originator.block_ack =
            self.core.rules.config.phy.airtime(bytes, 0, self.core.rules.response(rate).rate);
        (originator.rate, originator.has_mode) = (rate, mode.is_some());
        if let Some(mode) = mode {
            originator.mode = mode;
        }
    }

    /// The airtime of a PPDU of an agreement.
    pub(super) fn airtime(&self, of: usize, bytes: u32, payload: u32) -> Airtime {
        let DataRate { rate, mode } = self.originators[of].data_rate();
        mode.map_or_else(
            || self.core.rules.config.phy.airtime(bytes, payload, rate),
            |mode| mode.airtime(bytes, payload),
        )
    }

    /// The most MPDUs that the rate control of the agreement in service allows, if it limits them.
    pub(super) fn limit(&self) -> Option<usize> {
        let Originator { control, is_outside, has_mode, .. } = &self.originators[self.service.of];
        if *is_outside || !has_mode {
            return Some(1);
        }
        control.as_ref().and_then(|control| control.limit())
    }
}
