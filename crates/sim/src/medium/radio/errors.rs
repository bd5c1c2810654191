//! Random losses: the loss probability of a frame, and the effect of a loss.

use lasthop_stack::link::dot11::{Frame, FrameKind, PayloadClass};
use lasthop_stack::units::{Span, Time};

use super::Fate;
use super::config::{ErrorConfig, ErrorLaw, LossMeaning, LossOf};
use super::draws::{Attempt, Draws, StreamBase};
use super::fec::Decoder;
use super::modulation::{Memo, Modulation, bits_lost};
use super::receiver::{Followed, Quality};
use crate::engine::streams::Stream;
use crate::medium::loss::PacketClass;

/// The effect of chance on a frame that arrived undisturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Passes,
    /// Its bits are wrong.
    Errored,
    /// Its bits would have been right without the interference it met.
    Drowned,
    /// It is right, but its packet is lost for good.
    LostForGood,
}

/// The losses of a medium.
#[derive(Clone, Debug)]
pub(super) struct Losses {
    law: ErrorLaw,
    meaning: LossMeaning,
    of: LossOf,
    /// Whether frames are lost at a station.
    lossy: Vec<bool>,
    noise_w: f64,
    draws: Draws,
    pairs: Pairs,
    listed: Listed,
    decoder: Decoder,
}

/// How far a list of losses is counted.
#[derive(Clone, Copy, Debug, Default)]
struct Listed {
    counted: u64,
    next: usize,
}

impl Losses {
    pub(super) fn new(config: &ErrorConfig, noise_w: f64, base: StreamBase, names: Vec<String>) -> Losses {
        let pairs = Pairs::new(&config.law, base.clone(), names.clone());
        let ErrorConfig { law, meaning, of, at } = config.clone();
        let mut lossy = vec![at.is_none(); names.len()];
        for station in at.into_iter().flatten() {
            lossy[station] = true;
        }
        let (draws, decoder) = (Draws::new(base, names), Decoder::new());
        Losses { law, meaning, of, lossy, noise_w, draws, pairs, listed: Listed::default(), decoder }
    }

    /// Whether frames on the air fail by the ratio of signal to noise.
    pub(super) fn by_snr(&self) -> bool {
        self.law == ErrorLaw::Snr && self.meaning == LossMeaning::OnAir
    }

    /// Whether frames can be lost on the air at all.
    #[inline]
    pub(super) fn any(&self) -> bool {
        self.law != ErrorLaw::None && self.meaning != LossMeaning::AboveMac
    }

    /// The fate of a frame at a station that followed it to its end, if its reception decides that and no draw.
    #[inline]
    pub(super) fn decided(&self, quality: Quality) -> Option<Fate> {
        match quality {
            Quality::Weak => Some(Fate::OutOfReach),
            Quality::Collided | Quality::Missed => Some(Fate::Collided),
            Quality::Intact => (!self.any()).then_some(Fate::Received),
        }
    }

    /// Draws for a frame that begins, whatever becomes of it. Called only where frames can be lost on the air.
    #[inline(never)]
    pub(super) fn attempt(&mut self, from: usize, to: Option<usize>, frame: &Frame) -> Attempt {
        if let ErrorLaw::List { .. } = self.law {
            return Attempt { listed: self.is_listed(from, frame), ..Attempt::default() };
        }
        match to {
            Some(to) if self.concerns(frame) => self.draws.attempt(from, to, frame),
            _ => Attempt::default(),
        }
    }

    /// The same for an MPDU that was sent so often before.
    pub(super) fn attempt_mpdu(
        &mut self,
        from: usize,
        to: Option<usize>,
        mpdu: &Frame,
        before: u8,
    ) -> Attempt {
        if let ErrorLaw::List { .. } = self.law {
            return Attempt { listed: self.is_listed(from, mpdu), ..Attempt::default() };
        }
        match to {
            Some(to) if self.concerns(mpdu) => self.draws.mpdu(from, to, mpdu, before),
            _ => Attempt::default(),
        }
    }

    /// Probability that station `at`, which overhears an MPDU, cannot read it.
    pub(super) fn likely_overheard(
        &mut self,
        (from, at): (usize, usize),
        mpdu: &Frame,
        followed: &Followed,
        started: Time,
        memo: &mut Memo,
    ) -> f64 {
        if self.meaning != LossMeaning::OnAir || !self.concerns(mpdu) || !self.lossy[at] {
            return 0.0;
        }
        let likely = self.probability((from, at), mpdu, followed.power_w, started, memo);
        let drowned =
            if followed.log_undisturbed < 0.0 { self.drowned(mpdu, followed.log_undisturbed) } else { 0.0 };
        likely.max(drowned)
    }

    /// The draw of a station for a frame that it overhears.
    pub(super) fn draw_overheard(&mut self, at: usize) -> f64 {
        self.draws.overheard(at)
    }

    /// Counts a frame that a list regards. Returns whether it names this one.
    fn is_listed(&mut self, from: usize, frame: &Frame) -> bool {
        let ErrorLaw::List { from: sender, of, drop } = &self.law else { return false };
        let is_counted = from == *sender
            && frame.kind == FrameKind::Data
            && match of {
                PacketClass::Data => frame.class == PayloadClass::Data,
                PacketClass::Ack => frame.class != PayloadClass::Data,
                PacketClass::All => true,
            };
        if !is_counted {
            return false;
        }
        self.listed.counted += 1;
        let is_listed = drop.get(self.listed.next) == Some(&self.listed.counted);
        self.listed.next += usize::from(is_listed);
        is_listed
    }

    /// Whether the frame, received by station `at` to which it is addressed, comes through.
    ///
    /// Not inlined into the loop over those that hear a frame, which is shorter without it if nothing is lost by
    /// chance.
    #[inline(never)]
    pub(super) fn judge(
        &mut self,
        (from, at): (usize, usize),
        frame: &Frame,
        attempt: Attempt,
        followed: &Followed,
        started: Time,
        memo: &mut Memo,
    ) -> Verdict {
        if attempt.listed {
            return if self.meaning == LossMeaning::ForGood {
                Verdict::LostForGood
            } else {
                Verdict::Errored
            };
        }
        if !self.any() || !self.concerns(frame) || !self.lossy[at] {
            return Verdict::Passes;
        }
        let likely = self.probability((from, at), frame, followed.power_w, started, memo);
        match self.meaning {
            LossMeaning::ForGood if attempt.packet < likely => Verdict::LostForGood,
            LossMeaning::OnAir if attempt.frame < likely => Verdict::Errored,
            LossMeaning::OnAir if followed.log_undisturbed < 0.0 => {
                let drowned = self.drowned(frame, followed.log_undisturbed);
                if attempt.frame < drowned { Verdict::Drowned } else { Verdict::Passes }
            }
            _ => Verdict::Passes,
        }
    }

    /// Whether a frame that station `at` overhears comes through. Losses for good are of the packet, not of the frame,
    /// so that others hear it.
    #[inline(never)]
    pub(super) fn judge_overheard(
        &mut self,
        (from, at): (usize, usize),
        frame: &Frame,
        followed: &Followed,
        started: Time,
        memo: &mut Memo,
    ) -> Verdict {
        if self.meaning != LossMeaning::OnAir || !self.concerns(frame) || !self.lossy[at] {
            return Verdict::Passes;
        }
        let draw = self.draws.overheard(at);
        let attempt = Attempt { frame: draw, packet: draw, listed: false };
        self.judge((from, at), frame, attempt, followed, started, memo)
    }

    /// Whether a packet of `bytes` is lost between the MAC of station `at` and the layer above it.
    pub(super) fn above(
        &mut self,
        (from, at): (usize, usize),
        class: PayloadClass,
        bytes: u32,
        now: Time,
    ) -> bool {
        let concerned = match self.of {
            LossOf::All | LossOf::Packets => true,
            LossOf::Data => class != PayloadClass::TcpAck,
        };
        if self.meaning != LossMeaning::AboveMac || !concerned || !self.lossy[at] {
            return false;
        }
        let likely = match &self.law {
            ErrorLaw::None | ErrorLaw::Snr | ErrorLaw::List { .. } => return false,
            ErrorLaw::Packet { rate } => *rate,
            ErrorLaw::Bit { ber } => bits_lost(libm::log1p(-ber), bytes),
            ErrorLaw::GilbertElliott { .. } => self.pairs.loss(from, at, now),
        };
        self.draws.above(from, at, class) < likely
    }

    #[inline]
    fn concerns(&self, frame: &Frame) -> bool {
        let packet = frame.kind == FrameKind::Data && frame.msdu.is_some();
        match self.of {
            LossOf::All => packet || self.meaning == LossMeaning::OnAir,
            LossOf::Packets => packet,
            LossOf::Data => packet && frame.class != PayloadClass::TcpAck,
        }
    }

    fn probability(
        &mut self,
        (from, at): (usize, usize),
        frame: &Frame,
        power_w: f64,
        started: Time,
        memo: &mut Memo,
    ) -> f64 {
        match &self.law {
            ErrorLaw::None | ErrorLaw::List { .. } => 0.0,
            ErrorLaw::Packet { rate } => *rate,
            ErrorLaw::Bit { ber } => self.decoder.fails(frame, libm::log1p(-ber)),
            ErrorLaw::Snr => {
                let each = memo.log_success(Modulation::of_frame(frame), power_w / self.noise_w);
                self.decoder.fails(frame, each)
            }
            ErrorLaw::GilbertElliott { .. } => self.pairs.loss(from, at, started),
        }
    }

    /// Probability that a frame is lost under the interference it met, given the logarithm of the probability that all
    /// of its bits are right. A code spreads the bits that met it over its blocks, so that it sees their mean.
    fn drowned(&mut self, frame: &Frame, log_undisturbed: f64) -> f64 {
        match frame.coded {
            None => -libm::expm1(log_undisturbed),
            Some(_) => self.decoder.fails(frame, log_undisturbed / (8.0 * f64::from(frame.bytes))),
        }
    }
}

/// The two-state channels of all pairs of stations, made when first used.
///
/// A channel starts in either state with its long-run share of the time, so that no warm-up is needed.
#[derive(Clone, Debug)]
struct Pairs {
    base: StreamBase,
    names: Vec<String>,
    loss: [f64; 2],
    mean: [Span; 2],
    /// For the lower station of each pair, sorted by the higher.
    channels: Vec<Vec<(u32, Channel)>>,
}

#[derive(Clone, Debug)]
struct Channel {
    bad: bool,
    until: Time,
    stream: Stream,
}

impl Pairs {
    fn new(law: &ErrorLaw, base: StreamBase, names: Vec<String>) -> Pairs {
        let (loss, mean) = match *law {
            ErrorLaw::GilbertElliott { loss_good, loss_bad, mean_good, mean_bad } => {
                ([loss_good, loss_bad], [mean_good, mean_bad])
            }
            _ => ([0.0; 2], [Span::ZERO; 2]),
        };
        Pairs { base, channels: vec![Vec::new(); names.len()], names, loss, mean }
    }

    /// Probability of loss between two stations at a time not before that of the last call for them.
    fn loss(&mut self, one: usize, other: usize, now: Time) -> f64 {
        let (low, high) = (one.min(other), one.max(other));
        let channels = &mut self.channels[low];
        let place = match channels.binary_search_by_key(&(high as u32), |(number, _)| *number) {
            Ok(place) => place,
            Err(place) => {
                let mut stream =
                    self.base.stream(&format!("{}.{}.fading", self.names[low], self.names[high]));
                let [good, bad] = self.mean.map(Span::as_secs);
                let starts_bad = stream.chance(if good + bad > 0.0 { bad / (good + bad) } else { 0.0 });
                let mut channel = Channel { bad: starts_bad, until: Time::ZERO, stream };
                channel.stay(Time::ZERO, &self.mean);
                channels.insert(place, (high as u32, channel));
                place
            }
        };
        let channel = &mut channels[place].1;
        while channel.until <= now {
            let turned = channel.until;
            channel.bad = !channel.bad;
            channel.stay(turned, &self.mean);
        }
        self.loss[usize::from(channel.bad)]
    }
}

impl Channel {
    fn stay(&mut self, since: Time, mean: &[Span; 2]) {
        let mean_s = mean[usize::from(self.bad)].as_secs();
        // A state of length zero lasts the shortest possible time, so that time advances.
        let stay = Span::from_secs_f64(self.stream.exponential(mean_s)).max(Span(1));
        self.until = since.after(stay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs() -> Pairs {
        let law = ErrorLaw::GilbertElliott {
            loss_good: 0.01,
            loss_bad: 0.5,
            mean_good: Span::from_millis(90),
            mean_bad: Span::from_millis(10),
        };
        let base = StreamBase { seed: 5, replication: 0, link: "wifi".into() };
        Pairs::new(&law, base, vec!["a".into(), "b".into(), "c".into()])
    }

    #[test]
    fn a_channel_is_bad_for_its_share_of_the_time_from_the_start() {
        let mut pairs = pairs();
        let bad = (0..200_000).filter(|&ms| pairs.loss(0, 1, Time(ms * 1_000_000)) > 0.1).count();
        assert!((bad as f64 / 200_000.0 - 0.1).abs() < 0.01, "{bad}");
    }

    #[test]
    fn a_channel_is_the_same_in_both_directions_and_however_often_it_is_looked_at() {
        let (mut often, mut seldom) = (pairs(), pairs());
        for ms in 0..10_000 {
            let seen = often.loss(0, 1, Time(ms * 1_000_000));
            often.loss(2, 0, Time(ms * 1_000_000));
            if ms % 37 == 0 {
                assert_eq!(seen, seldom.loss(1, 0, Time(ms * 1_000_000)));
            }
        }
    }

    #[test]
    fn a_bit_error_rate_loses_a_frame_by_its_length() {
        let lost = |ber: f64, bytes| bits_lost(libm::log1p(-ber), bytes);
        assert!((lost(1e-5, 1000) - (1.0 - libm::pow(1.0 - 1e-5, 8000.0))).abs() < 1e-12);
        assert_eq!(lost(0.0, 1000), 0.0);
        assert_eq!(lost(1.0, 1), 1.0);
    }
}
