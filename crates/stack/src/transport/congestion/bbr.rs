//! BBR, version 1: paces at the measured bottleneck rate and holds about two bandwidth-delay products.
//!
//! **Limits.** No long-term bandwidth sampling (policer detection), which is in Linux and not in the draft. A flow at a shallow buffer loses many segments, as version 1 does.
//!
//! **Source.** draft-cardwell-iccrg-bbr-congestion-control-00, whose sections the comments cite; Cardwell et al. 2016.
//! The compensation for aggregated acknowledgements is that of Linux (`tcp_bbr.c`, `extra_acked`), which the draft lacks.
//!
//! **How.** `BtlBw` is the maximum delivery rate of the last ten rounds, `RTprop` the minimum round trip of the last
//! ten seconds. Startup doubles each round until the rate stops growing, and Drain empties the queue. ProbeBW paces at
//! `gain x BtlBw` with the gains 5/4, 3/4 and six times 1. ProbeRTT shrinks the window to four segments for 200 ms when
//! `RTprop` is old. Links that aggregate frames acknowledge in bursts, and a window of two bandwidth-delay products is
//! used up between two of them. It therefore grows by `gain x extra_acked`, the most that was acknowledged beyond what
//! `BtlBw` explains.
//!
//! **Choices.** 1. Single segments are paced; Linux releases bursts of a millisecond. 2. Only payload is counted, both
//! in the rate and in the pacing. 3. ProbeBW begins in a phase taken from the connection's own random number, because
//! the draft draws it. 4. A loss detected by duplicates starts a round, one of packet conservation, as in Linux; the
//! previous window is restored when recovery ends. A recovery that begins with the acknowledgement that ends another
//! continues it. 5. `extra_acked` is the maximum of ten rounds; Linux keeps two periods of five, the current one
//! included, which cover five to ten.
//!
//! **Checked by** the tests below and `crates/sim/tests/laws.rs`.

use crate::estimate::{Aggregation, DeliveryRate, RateSample, WindowedMax};
use crate::hooks::parameter::{Described, parameters};
use crate::hooks::{
    Ack, Congestion, Delivered, Departure, Loss, LossCause, LossResponse, Mark, Reduction, Window,
};
use crate::units::{Rate, Span, Time};

/// 2 / ln 2: the least gain that doubles the rate each round (4.2.1).
const HIGH_GAIN: f64 = 2.885_390_081_777_927;
/// The pacing gains of ProbeBW (4.3.4.1).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// The window gain of ProbeBW (4.2.3.2).
const WINDOW_GAIN: f64 = 2.0;
/// Rounds over which the greatest rate is taken (4.1.1.3).
const RATE_ROUNDS: u64 = 10;
/// How long the least round trip is trusted (4.1.2.3).
const RTT_AGE: Span = Span::from_secs(10);
/// How long ProbeRTT lasts (4.3.5).
const PROBE_RTT: Span = Span::from_millis(200);
/// Least window, in segments (4.2.3.1).
const LEAST_WINDOW: f64 = 4.0;
/// A rate that grows by less than a quarter in three rounds has stopped growing (4.3.2.1).
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Segments allowed above the target for what is under way between the hosts (4.2.3.2).
const SLACK: f64 = 3.0;
/// Segments for which the window grows whatever the target is, which the first samples set too low (Linux: `TCP_INIT_CWND`).
const FIRST_SEGMENTS: u64 = 10;
/// Rounds over which the greatest excess of acknowledgements is taken.
const EXTRA_ROUNDS: u64 = 10;
/// The excess counts for at most so much time of the rate (`bbr_extra_acked_max_us`).
const MOST_EXTRA: Span = Span::from_millis(100);

/// The properties of the connection that BBR uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BbrConfig {
    /// Payload bytes of a full segment.
    pub segment: u32,
    /// A random number, for the phase in which ProbeBW begins.
    pub draw: u32,
}

/// The constants of version 1 that a scenario may vary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bbr1Config {
    /// The share of the excess of acknowledgements that the window has in addition.
    pub extra_acked_gain: f64,
}

impl Default for Bbr1Config {
    fn default() -> Bbr1Config {
        Bbr1Config { extra_acked_gain: 1.0 }
    }
}

impl Described for Bbr1Config {
    parameters! {
        /// share of the most that was acknowledged at once beyond the estimated rate, which the window has in addition;
        /// 0 means none
        "extra-acked-gain": Number = extra_acked_gain, at_most("100"), source("Linux: tcp_bbr.c, bbr_extra_acked_gain");
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// The state of BBR.
#[derive(Clone, Debug)]
pub struct Bbr {
    law: Bbr1Config,
    config: BbrConfig,
    mode: Mode,
    sampler: DeliveryRate,
    rates: WindowedMax,
    /// How much more is acknowledged at once than the rate explains, in bytes.
    aggregation: Aggregation,
    round: u64,
    round_ends: u64,
    round_starts: bool,
    least: Option<(Span, Time)>,
    full_rate: f64,
    full_rounds: u32,
    filled: bool,
    phase: usize,
    phase_since: Time,
    probe_ends: Option<Time>,
    probe_round: u64,
    /// The window to return to after recovery or ProbeRTT.
    prior: Option<f64>,
    /// Packet conservation lasts to the end of this round.
    conserve: Option<u64>,
    /// Segments that the last acknowledgement delivered.
    acked: f64,
    /// Recovery lasts until this byte is acknowledged.
    recovering: Option<u64>,
    /// When the last recovery ended.
    recovered: Time,
}

impl Bbr {
    /// At the start of a connection.
    #[must_use]
    pub fn new(law: Bbr1Config, config: BbrConfig) -> Bbr {
        Bbr {
            law,
            config,
            mode: Mode::Startup,
            sampler: DeliveryRate::default(),
            rates: WindowedMax::default(),
            aggregation: Aggregation::default(),
            round: 0,
            round_ends: 0,
            round_starts: false,
            least: None,
            full_rate: 0.0,
            full_rounds: 0,
            filled: false,
            phase: 0,
            phase_since: Time::ZERO,
            probe_ends: None,
            probe_round: 0,
            prior: None,
            conserve: None,
            acked: 0.0,
            recovering: None,
            recovered: Time::NEVER,
        }
    }

    /// `BtlBw` in bytes per second.
    fn rate(&self) -> Option<f64> {
        self.rates.get()
    }

    fn rtprop(&self) -> Option<Span> {
        self.least.map(|least| least.0)
    }

    /// `gain` bandwidth-delay products, in segments (4.2.3.2).
    fn inflight(&self, gain: f64) -> Option<f64> {
        let product = self.rate()? * self.rtprop()?.as_secs();
        Some(gain * product / f64::from(self.config.segment))
    }

    /// The excess of acknowledgements that the window covers, in segments; none before the path is full.
    fn extra(&self) -> f64 {
        if !self.filled {
            return 0.0;
        }
        let most = self.rate().unwrap_or(0.0) * MOST_EXTRA.as_secs();
        (self.law.extra_acked_gain * self.aggregation.extra()).min(most) / f64::from(self.config.segment)
    }

    fn learn_aggregation(&mut self, ack: &Ack, window: &Window) {
        let (Some(rate), bytes) = (self.rate(), ack.delivered.bytes) else { return };
        if bytes > 0 && self.law.extra_acked_gain > 0.0 {
            let most = window.cwnd * f64::from(self.config.segment);
            self.aggregation.on_ack(ack.now, bytes as f64, rate, most, self.round, EXTRA_ROUNDS);
        }
    }

    fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (1.0 / HIGH_GAIN, HIGH_GAIN),
            Mode::ProbeBw => (CYCLE[self.phase], WINDOW_GAIN),
            Mode::ProbeRtt => (1.0, 1.0),
        }
    }

    /// 4.1.1.2 and 4.1.1.5: rounds are counted in deliveries; a sample that the sender limited only counts if it is greater.
    fn learn_rate(&mut self, sample: RateSample, rate: f64) {
        self.round_starts = sample.prior_delivered >= self.round_ends;
        if self.round_starts {
            self.round += 1;
            self.round_ends = self.sampler.delivered();
        }
        if sample.sending.app_limited && self.rate().is_some_and(|most| rate < most) {
            return;
        }
        self.rates.add(self.round, rate, RATE_ROUNDS);
    }

    /// 4.1.2.3, except that an equal round trip does not renew the estimate. Returns whether the estimate had expired.
    fn learn_rtt(&mut self, ack: &Ack) -> bool {
        let expired = self.least.is_some_and(|(_, at)| ack.now > at.after(RTT_AGE));
        if let Some(rtt) = ack.rtt
            && (expired || self.least.is_none_or(|(least, _)| rtt < least))
        {
            self.least = Some((rtt, ack.now));
        }
        expired
    }

    /// 4.3.2.1.
    fn check_full(&mut self, app_limited: bool) {
        if self.filled || !self.round_starts || app_limited {
            return;
        }
        let Some(rate) = self.rate() else { return };
        if rate >= self.full_rate * FULL_GROWTH {
            self.full_rate = rate;
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.filled = self.full_rounds >= FULL_ROUNDS;
    }

    fn enter_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        // Any phase but that of the gain 3/4 (4.3.4.2).
        let draw = self.config.draw as usize % (CYCLE.len() - 1);
        self.phase = if draw == 0 { 0 } else { draw + 1 };
        self.phase_since = now;
    }

    /// 4.3.4.3.
    fn advance_cycle(&mut self, ack: &Ack, pipe_before: f64) {
        let Some(rtprop) = self.rtprop() else { return };
        let long = ack.now.since(self.phase_since) > rtprop;
        let next = match CYCLE[self.phase] {
            gain if gain > 1.0 => {
                long && (self.recovering.is_some() || reaches(pipe_before, self.inflight(gain)))
            }
            gain if gain < 1.0 => long || !exceeds(f64::from(ack.pipe), self.inflight(1.0)),
            _ => long,
        };
        if next {
            self.phase = (self.phase + 1) % CYCLE.len();
            self.phase_since = ack.now;
        }
    }

    /// 4.3.5.
    fn probe_rtt(&mut self, ack: &Ack, expired: bool, window: &mut Window) {
        if expired && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.prior = Some(self.prior.unwrap_or(0.0).max(window.cwnd));
            self.probe_ends = None;
        }
        if self.mode != Mode::ProbeRtt {
            return;
        }
        // Low rates are not those of the path.
        self.sampler.limit((u64::from(ack.pipe) * u64::from(self.config.segment)).max(1));
        match self.probe_ends {
            None if f64::from(ack.pipe) <= LEAST_WINDOW => {
                self.probe_ends = Some(ack.now.after(PROBE_RTT));
                self.probe_round = self.round;
            }
            Some(ends) if ack.now >= ends && self.round > self.probe_round => {
                self.least = self.least.map(|(least, _)| (least, ack.now));
                self.restore(window);
                if self.filled { self.enter_probe_bw(ack.now) } else { self.mode = Mode::Startup }
            }
            _ => {}
        }
    }

    fn restore(&mut self, window: &mut Window) {
        if let Some(prior) = self.prior.take() {
            window.cwnd = window.cwnd.max(prior);
        }
    }

    /// 4.2.3.
    fn set_window(&mut self, ack: &Ack, gain: f64, window: &mut Window) {
        if self.recovering.is_some_and(|point| ack.una >= point) {
            self.recovering = None;
            self.recovered = ack.now;
            self.conserve = None;
            if self.mode != Mode::ProbeRtt {
                self.restore(window);
            }
        }
        if self.conserve.is_some_and(|round| self.round > round) {
            self.conserve = None;
        }
        let target = self.inflight(gain).map(|inflight| inflight + self.extra() + SLACK);
        if self.conserve.is_some() {
            window.cwnd = window.cwnd.max(f64::from(ack.pipe) + self.acked);
        } else {
            match target {
                Some(target) if self.filled => window.cwnd = (window.cwnd + self.acked).min(target),
                Some(target) if window.cwnd >= target && !self.is_beginning() => {}
                _ => window.cwnd += self.acked,
            }
            window.cwnd = window.cwnd.max(LEAST_WINDOW);
        }
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(LEAST_WINDOW);
        }
    }

    fn is_beginning(&self) -> bool {
        self.sampler.delivered() < FIRST_SEGMENTS * u64::from(self.config.segment)
    }

    /// 4.2.1: the first pace is that of the first window over the round trip.
    fn set_first_pace(&self, srtt: Option<Span>, window: &mut Window) {
        if let Some(srtt) = srtt.filter(|srtt| window.pacing.is_none() && *srtt > Span::ZERO) {
            let rate = HIGH_GAIN * window.cwnd * f64::from(self.config.segment) / srtt.as_secs();
            window.pacing = Some(Rate((8.0 * rate).max(1.0) as u64));
        }
    }

    /// 4.2.1: until the path is full the pace never falls.
    fn set_pace(&self, gain: f64, ack: &Ack, window: &mut Window) {
        self.set_first_pace(ack.srtt, window);
        let Some(rate) = self.rate() else { return };
        let bits = Rate((8.0 * gain * rate).max(1.0) as u64);
        if self.filled || window.pacing.is_none_or(|pacing| bits.0 > pacing.0) {
            window.pacing = Some(bits);
        }
    }
}

fn reaches(pipe: f64, target: Option<f64>) -> bool {
    target.is_none_or(|target| pipe >= target)
}

fn exceeds(pipe: f64, target: Option<f64>) -> bool {
    target.is_some_and(|target| pipe > target)
}

impl Congestion for Bbr {
    fn governs_recovery(&self) -> bool {
        true
    }

    fn paces(&self) -> bool {
        true
    }

    fn on_start(&mut self, _: Time, srtt: Option<Span>, window: &mut Window) {
        self.set_first_pace(srtt, window);
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        let sample = self.sampler.on_ack(ack);
        self.acked = ack.delivered.bytes as f64 / f64::from(self.config.segment);
        self.round_starts = false;
        if let Some((sample, rate)) = sample.and_then(|sample| Some((sample, sample.rate?))) {
            self.learn_rate(sample, rate);
            self.learn_aggregation(ack, window);
            self.check_full(sample.sending.app_limited);
        }
        let pipe_before = f64::from(ack.pipe) + self.acked;
        if self.mode == Mode::Startup && self.filled {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && !exceeds(f64::from(ack.pipe), self.inflight(1.0)) {
            self.enter_probe_bw(ack.now);
        }
        if self.mode == Mode::ProbeBw {
            self.advance_cycle(ack, pipe_before);
        }
        let expired = self.learn_rtt(ack);
        self.probe_rtt(ack, expired, window);
        let (pace, gain) = self.gains();
        self.set_pace(pace, ack, window);
        if ack.delivered != Delivered::default() {
            self.set_window(ack, gain, window);
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        if self.recovering.is_none() {
            self.prior = Some(self.prior.unwrap_or(0.0).max(window.cwnd));
        }
        self.recovering = Some(loss.sent_end);
        match loss.cause {
            LossCause::Duplicates if self.recovered == loss.now => {}
            LossCause::Duplicates => {
                // What leaves the network may be replaced, and no more, for one round, which begins here.
                window.cwnd = (f64::from(loss.pipe) + self.acked).max(1.0);
                self.conserve = Some(self.round);
                self.round_ends = self.sampler.delivered();
            }
            LossCause::Timeout | LossCause::RepeatedTimeout => {
                window.cwnd = 1.0;
                self.conserve = None;
            }
        }
        LossResponse::REDUCED
    }

    /// Version 1 does not listen to marks.
    fn on_mark(&mut self, _: &Mark, _: &mut Window) -> Reduction {
        Reduction::Kept
    }

    fn on_sent(&mut self, departure: &Departure) {
        self.sampler.on_sent(departure);
    }

    fn estimate(&mut self, _: Time) -> Option<f64> {
        self.rate().map(|rate| rate / f64::from(self.config.segment))
    }
}

#[cfg(test)]
mod tests;
