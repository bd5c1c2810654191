//! BBR, version 3: paces at the measured bottleneck rate, within bounds on rate and window that losses set.
//!
//! **Limits.** No offload: the quanta of the pace are bursts of segments. Selective acknowledgements are assumed.
//!
//! **Source.** draft-ietf-ccwg-bbr-06, whose sections the comments cite.
//!
//! **How.** `bw` is the greatest delivery rate of this and the last cycle of probes, `min_rtt` the least round trip of
//! ten seconds. The window holds two bandwidth-delay products and the data that acknowledgements cover in aggregates.
//! Startup doubles the rate each round until it stops growing or 2 % are lost, Drain empties the queue. Then a cycle
//! repeats. DOWN paces at 0.9 `bw` until the queue and some headroom are free, CRUISE at `bw` for two to three seconds,
//! and REFILL for a round. UP paces at 1.25 `bw` until the rate stops growing, or more than 2 % are lost. The amount in
//! flight at that time is the long-term bound. Losses outside of probes reduce rate and window by 30 % a round at most,
//! down to what is delivered, until the next probe. Each five seconds without a lower round trip, ProbeRTT halves the
//! window for 200 ms.
//!
//! **Choices.** 1. Volumes are counted in segments, rates in payload. 2. ECN: the draft leaves the response open but demands one
//! (3.7). The first mark in a window of data counts as a loss in its round. It ends Startup, and it marks a probe as
//! too high. 3. The state is saved for an undo once in a recovery, at its first loss, as in Linux; the draft saves it
//! in each round. 4. Random numbers follow from the one of the connection. 5. After a timeout the window is one
//! segment. What proves to be in the network is added at the next acknowledgement, since only then it is known which
//! segments are lost. 6. An interval without a rate does not advance the estimator of a full pipe. 7. Where the
//! handshake measures no round trip, the first sample sets the first pace anew, as the text of 5.6.2 says and its
//! pseudocode does not.
//!
//! **Checked by** the tests below, by clause, and `crates/sim/tests/bbr3.rs`.

mod config;
mod cycle;
mod losses;
mod round_trips;
mod window;

pub use config::Bbr3Config;

use super::BbrConfig;
use crate::estimate::{Aggregation, DeliveryRate, Sending};
use crate::hooks::{
    Ack, Congestion, Count, Delivered, Departure, Loss, LossCause, LossResponse, Mark, Reduction, Window,
    counts,
};
use crate::units::{Span, Time};
use cycle::Cycle;
use losses::Losses;
use round_trips::RoundTrips;

/// Least window, in segments (2.8: `BBR.MinPipeCwnd`).
const LEAST_WINDOW: f64 = 4.0;
/// Rounds over which the aggregation is taken after Startup (2.12).
const EXTRA_ROUNDS: u64 = 10;
/// A rate that grows by less than a quarter in three rounds has stopped growing (5.3.1.2).
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Rounds after which Drain ends whatever is in flight (5.3.2).
const DRAIN_ROUNDS: u64 = 3;

/// 5.1.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    fn is_probe_bw(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }
}

/// What an acknowledgement of new data reports (2.3), in segments and seconds.
#[derive(Clone, Copy, Debug)]
struct Sample {
    now: Time,
    /// Segments a second, if the sample has a rate.
    rate: Option<f64>,
    delivered: f64,
    newly: f64,
    prior_delivered: u64,
    rtt: Option<Span>,
    sending: Sending,
    /// In the network after it.
    pipe: f64,
}

/// Packet-timed rounds (5.5.1).
#[derive(Clone, Copy, Debug, Default)]
struct Rounds {
    count: u64,
    ends: u64,
    starts: bool,
}

/// The estimator of a full pipe (5.3.1.2).
#[derive(Clone, Copy, Debug, Default)]
struct Full {
    reached: bool,
    now: bool,
    rate: f64,
    rounds: u32,
}

impl Full {
    fn reset(&mut self, rate: f64) {
        *self = Full { reached: self.reached, now: false, rate, rounds: 0 };
    }
}

/// The state of BBR version 3.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    config: Bbr3Config,
    segment: f64,
    random: u32,
    state: State,
    sampler: DeliveryRate,
    aggregation: Aggregation,
    rounds: Rounds,
    full: Full,
    cycle: Cycle,
    losses: Losses,
    round_trips: RoundTrips,
    /// Greatest rates of the last cycle and of this one (2.11), in segments a second.
    rates: [f64; 2],
    /// `BBR.bw`.
    bw: f64,
    drain_since: u64,
    /// The window at the start, and at present.
    initial: f64,
    cwnd: f64,
    /// The window to return to after recovery or `ProbeRTT`.
    prior: f64,
    /// The last round in which the window was full.
    full_window: Option<u64>,
    /// The flow restarts after an idle time.
    restarts: bool,
    /// Whether a round trip was known when the first pace was set.
    knows_rtt: bool,
}

impl Bbr3 {
    /// At the start of a connection.
    #[must_use]
    pub fn new(config: &Bbr3Config, connection: BbrConfig) -> Bbr3 {
        Bbr3 {
            config: *config,
            segment: f64::from(connection.segment),
            random: connection.draw,
            state: State::Startup,
            sampler: DeliveryRate::default(),
            aggregation: Aggregation::default(),
            rounds: Rounds::default(),
            full: Full::default(),
            cycle: Cycle::default(),
            losses: Losses::default(),
            round_trips: RoundTrips::default(),
            rates: [0.0; 2],
            bw: 0.0,
            drain_since: 0,
            initial: 0.0,
            cwnd: 0.0,
            prior: 0.0,
            full_window: None,
            restarts: false,
            knows_rtt: false,
        }
    }

    /// The next random number.
    fn draw(&mut self) -> u32 {
        self.random = self.random.wrapping_add(0x9e37_79b9);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 16)).wrapping_mul(0x85eb_ca6b);
        mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0xc2b2_ae35);
        mixed ^ (mixed >> 16)
    }

    fn max_bw(&self) -> f64 {
        self.rates[0].max(self.rates[1])
    }

    fn start_round(&mut self) {
        self.rounds.ends = self.sampler.delivered();
    }

    /// 5.5.1.
    fn update_round(&mut self, sample: &Sample) {
        self.rounds.starts = sample.prior_delivered >= self.rounds.ends;
        if self.rounds.starts {
            self.start_round();
            self.rounds.count += 1;
            self.cycle.rounds += 1;
        }
    }

    /// 5.5.5.
    fn update_max_bw(&mut self, sample: &Sample) {
        self.update_round(sample);
        if let Some(rate) = sample.rate
            && (rate >= self.max_bw() || !sample.sending.app_limited)
        {
            self.rates[1] = self.rates[1].max(rate);
        }
    }

    /// 5.5.6; a cycle without a sample forgets nothing.
    fn advance_max_bw(&mut self) {
        if self.rates[1] > 0.0 {
            self.rates = [self.rates[1], 0.0];
        }
    }

    /// 5.3.1.2.
    fn check_full(&mut self, sample: &Sample) {
        let Some(rate) = sample.rate else { return };
        if self.full.now || !self.rounds.starts || sample.sending.app_limited {
            return;
        }
        if rate >= self.full.rate * FULL_GROWTH {
            self.full.reset(rate);
            return;
        }
        self.full.rounds += 1;
        self.full.now = self.full.rounds >= FULL_ROUNDS;
        self.full.reached |= self.full.now;
    }

    /// 5.3.1.1 and 5.3.2.
    fn check_startup_and_drain(&mut self, sample: &Sample) {
        self.check_startup_losses(sample);
        if self.state == State::Startup && self.full.reached {
            self.enter_drain();
        }
        let is_over = |bbr: &Bbr3| {
            sample.pipe <= bbr.inflight(bbr.bw, 1.0) || bbr.rounds.count > bbr.drain_since + DRAIN_ROUNDS
        };
        if self.state == State::Drain && is_over(self) {
            self.start_down(sample.now);
        }
    }

    fn enter_drain(&mut self) {
        self.state = State::Drain;
        self.drain_since = self.rounds.count;
    }

    /// The gains of pace and window (5.6.1).
    fn gains(&self) -> (f64, f64) {
        let Bbr3Config { startup_gain, up_gain, down_gain, window_gain, probe_rtt_gain, .. } = self.config;
        match self.state {
            State::Startup => (startup_gain, window_gain),
            State::Drain => (1.0 / window_gain, window_gain),
            State::Down => (down_gain, window_gain),
            State::Cruise | State::Refill => (1.0, window_gain),
            State::Up => (up_gain, window_gain + up_gain - 1.0),
            State::ProbeRtt => (1.0, probe_rtt_gain),
        }
    }

    /// 2.2: whether the window was full in the last round.
    fn is_window_limited(&self) -> bool {
        self.full_window.is_some_and(|round| round + 1 >= self.rounds.count)
    }

    /// 5.2.3.
    fn update_model(&mut self, sample: &Sample, window: &mut Window) {
        self.update_latest_signals(sample);
        self.update_max_bw(sample);
        self.adapt_lower_bounds(window);
        let (round, length) = (self.rounds.count, if self.full.reached { EXTRA_ROUNDS } else { 1 });
        self.aggregation.on_ack(sample.now, sample.newly, self.bw, window.cwnd, round, length);
        self.check_full(sample);
        self.check_startup_and_drain(sample);
        self.update_cycle(sample, window);
        self.update_min_rtt(sample);
        self.check_probe_rtt(sample, window);
        self.advance_latest_signals(sample);
        self.bw = self.max_bw().min(self.losses.bounds.bw_shortterm);
    }

    fn sample(&mut self, ack: &Ack) -> Option<Sample> {
        let sample = self.sampler.on_ack(ack)?;
        Some(Sample {
            now: ack.now,
            rate: sample.rate.map(|rate| rate / self.segment),
            delivered: sample.delivered as f64 / self.segment,
            newly: ack.delivered.bytes as f64 / self.segment,
            prior_delivered: sample.prior_delivered,
            rtt: sample.rtt,
            sending: sample.sending,
            pipe: f64::from(ack.pipe),
        })
    }
}

impl Congestion for Bbr3 {
    fn governs_recovery(&self) -> bool {
        true
    }

    fn paces(&self) -> bool {
        true
    }

    fn hears_losses(&self) -> bool {
        true
    }

    /// 5.2.1 and 5.6.2.
    fn on_start(&mut self, now: Time, srtt: Option<Span>, window: &mut Window) {
        self.initial = window.cwnd;
        self.cwnd = window.cwnd;
        self.round_trips.begin(now, srtt);
        self.aggregation.begin(now);
        self.set_first_pace(srtt, window);
        self.set_quantum(window);
    }

    /// 5.4.1.
    fn on_restart(&mut self, now: Time, window: &mut Window) {
        if !self.sampler.is_limited() {
            return;
        }
        self.restarts = true;
        self.aggregation.begin(now);
        if self.state.is_probe_bw() {
            self.set_pace(1.0, window);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now, window);
        }
    }

    fn on_sent(&mut self, departure: &Departure) {
        self.sampler.on_sent(departure);
        if departure.pipe + 1 >= self.cwnd as u32 {
            self.full_window = Some(self.rounds.count);
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        self.end_recovery(ack.una, window);
        if ack.delivered == Delivered::default() {
            return;
        }
        let Some(sample) = self.sample(ack) else { return };
        if std::mem::take(&mut self.losses.after_timeout) {
            window.cwnd = window.cwnd.max(f64::from(ack.pipe + ack.delivered.segments));
        }
        self.update_model(&sample, window);
        if !self.knows_rtt && ack.srtt.is_some() {
            self.set_first_pace(ack.srtt, window);
        }
        self.set_pace(self.gains().0, window);
        self.set_quantum(window);
        self.set_window(&sample, window);
        self.cwnd = window.cwnd.min(window.limit);
    }

    fn on_lost(&mut self, number: u64, now: Time, window: &Window) {
        self.handle_lost(number, now, window);
    }

    /// 5.6.4.4.
    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        self.note_loss(window);
        self.save_window(window);
        self.losses.recovering = Some(loss.sent_end);
        match loss.cause {
            LossCause::Duplicates => {
                self.losses.fast_since.get_or_insert(self.rounds.count);
            }
            LossCause::Timeout | LossCause::RepeatedTimeout => {
                self.losses.fast_since = None;
                self.losses.after_timeout = true;
                window.cwnd = 1.0;
            }
        }
        LossResponse::REDUCED
    }

    fn on_answered_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        LossResponse { reduction: Reduction::Kept, ..self.on_loss(loss, window) }
    }

    fn on_mark(&mut self, mark: &Mark, window: &mut Window) -> Reduction {
        self.handle_mark(mark, window);
        Reduction::Reduced
    }

    fn on_undo(&mut self, window: &mut Window) {
        self.handle_spurious(window);
    }

    fn estimate(&mut self, _: Time) -> Option<f64> {
        (self.bw > 0.0).then_some(self.bw)
    }

    fn counts(&self) -> Vec<Count> {
        counts! {
            /// times that ProbeBW_UP began
            "bandwidth_probes": "times" = self.cycle.probes;
            /// probes for bandwidth that lost too much
            "probes_too_high": "times" = self.losses.too_high;
            /// times that ProbeRTT began
            "probe_rtts": "times" = self.round_trips.probes;
        }
    }
}

#[cfg(test)]
mod tests;
