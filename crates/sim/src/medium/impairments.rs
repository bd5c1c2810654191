//! What a wire does to packets besides losing them: its delay varies, some packets overtake others, and some arrive twice.
//!
//! **Limits.** Packets leave the queue in order and one at a time; the impairments act in transit. A copy takes no
//! capacity of the link, and is neither lost by its loss process nor copied again.
//!
//! **Source.** `tc netem` of Linux (`net/sched/sch_netem.c`), which has it from NIST Net (Carson and Santay 2003), with the
//! distributions of iproute2.
//!
//! **How.** Each decision has a random number `x` from 0 to 1 of its own, correlated with that of the packet before:
//!
//! ```text
//! x_n = ρ x_(n-1) + (1 - ρ) u_n            u_n uniform, independent
//! delay = max(0, base + spread · F⁻¹(x))    F the distribution of the jitter, with mean 0
//! ```
//!
//! A packet is copied if its `x` is below the rate. A packet is sent ahead if at least `gap - 1` packets have been
//! delayed since the last one that was, and its `x` is below the rate. It has no jitter, and the delay less `by`, which
//! by default is all of it.
//!
//! **Choices.** 1. As in netem, the correlation narrows the distribution of `x` around 1/2. Its variance is (1 - ρ) /
//! (1 + ρ) of that of a uniform number, so a rate below 1/2 is met less often the higher ρ is. 2. Each packet that
//! leaves draws one number for each process, whatever its fate, so that all schemes meet the same wire. In contrast,
//! netem draws one for the delay only if the packet is delayed, and one for the order only after the gap. 3. The
//! distributions are exact, cut off at 4 spreads on either side where the tables of iproute2 end. 4. A copy takes a
//! number of a stream of its own for its delay, correlated with that of its original; it is never sent ahead. In netem
//! it passes all impairments again except the copying. 5. A lost packet is not copied; in netem a packet that is both
//! lost and copied arrives once. 6. Where jitter keeps the order, nothing but a packet sent ahead arrives before one
//! that left before it.
//!
//! **Checked by** the tests below, by `crates/sim/tests/impairments.rs`, and by `tests/python/test_wires.py`.

use lasthop_stack::hooks::parameter::words;
use lasthop_stack::units::{Span, Time};

use crate::engine::streams::Stream;

/// Where the tables of iproute2 end, in spreads.
const FURTHEST: f64 = 4.0;
/// The shape of the Pareto distribution of iproute2, its mean, and the factor on what differs from it.
const SHAPE: f64 = 3.0;
const PARETO_MEAN: f64 = 1.5;
const PARETO_SCALE: f64 = 4.0 / 3.0;
/// The share of the Pareto number in the mixture of iproute2.
const PARETO_SHARE: f64 = 0.75;

/// The distribution of jitter. All have mean 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JitterLaw {
    /// Between one spread below the mean and one above.
    Uniform,
    /// Normal; a spread is its standard deviation.
    Normal,
    /// Pareto of shape 3, from 2/3 of a spread below the mean on.
    Pareto,
    /// A quarter of a normal number and three of a Pareto number.
    ParetoNormal,
}

words! {
    JitterLaw: Uniform = "uniform", Normal = "normal", Pareto = "pareto", ParetoNormal = "pareto-normal"
}

impl JitterLaw {
    /// The number that a share of all numbers does not exceed.
    fn quantile(self, share: f64) -> f64 {
        match self {
            JitterLaw::Uniform => 2.0 * share - 1.0,
            JitterLaw::Normal => normal(share),
            JitterLaw::Pareto => pareto(share),
            JitterLaw::ParetoNormal => PARETO_SHARE * pareto(share) + (1.0 - PARETO_SHARE) * normal(share),
        }
    }

    /// The largest number, in spreads.
    fn largest(self) -> f64 {
        if self == JitterLaw::Uniform { 1.0 } else { FURTHEST }
    }
}

/// A quantile of the standard normal distribution: a root of the logarithm of its tail, from above, where Newton's method
/// never passes the root.
fn normal(share: f64) -> f64 {
    let tail = share.min(1.0 - share);
    if tail <= 0.0 {
        return if share < 0.5 { -FURTHEST } else { FURTHEST };
    }
    let mut at = libm::sqrt(-2.0 * libm::log(2.0 * tail));
    loop {
        let found = 0.5 * libm::erfc(at * std::f64::consts::FRAC_1_SQRT_2);
        let density = libm::exp(-0.5 * at * at) / libm::sqrt(2.0 * std::f64::consts::PI);
        let step = libm::log(tail / found) * found / density;
        at -= step;
        if step < 1e-12 {
            break;
        }
    }
    let at = at.clamp(0.0, FURTHEST);
    if share < 0.5 { -at } else { at }
}

fn pareto(share: f64) -> f64 {
    let number = libm::pow(1.0 - share, -1.0 / SHAPE);
    (PARETO_SCALE * (number - PARETO_MEAN)).min(FURTHEST)
}

/// How the delay varies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JitterConfig {
    /// The scale of the distribution.
    pub spread: Span,
    /// The distribution.
    pub law: JitterLaw,
    /// The correlation with the packet before, from 0 to 1.
    pub correlation: f64,
    /// Whether no packet arrives before one that left before it.
    pub keeps_order: bool,
}

/// How packets are sent ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReorderConfig {
    /// The share of the packets whose turn it is.
    pub rate: f64,
    /// The correlation with the packet before.
    pub correlation: f64,
    /// Packets from one that is sent ahead to the next, at least.
    pub gap: u32,
    /// By how much less than the delay they take; `None` is all of it.
    pub by: Option<Span>,
}

/// How packets are copied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DuplicateConfig {
    /// The share of the packets.
    pub rate: f64,
    /// The correlation with the packet before.
    pub correlation: f64,
}

/// What one direction of a wire does to packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ImpairmentConfig {
    /// How the delay varies, if it does.
    pub jitter: Option<JitterConfig>,
    /// How packets are sent ahead, if any are.
    pub reorder: Option<ReorderConfig>,
    /// How packets are copied, if any are.
    pub duplicate: Option<DuplicateConfig>,
}

impl ImpairmentConfig {
    /// Whether it does nothing.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == ImpairmentConfig::default()
    }

    /// By how much the delay may be longer than its mean.
    #[must_use]
    pub fn longest(&self) -> Span {
        self.jitter
            .map_or(Span::ZERO, |jitter| Span::from_secs_f64(jitter.spread.as_secs() * jitter.law.largest()))
    }
}

/// Correlated random numbers.
#[derive(Clone, Debug)]
struct Correlated {
    stream: Stream,
    correlation: f64,
    last: f64,
}

impl Correlated {
    fn new(mut stream: Stream, correlation: f64) -> Correlated {
        let last = if correlation > 0.0 { stream.uniform() } else { 0.0 };
        Correlated { stream, correlation, last }
    }

    fn after(&self, uniform: f64) -> f64 {
        self.correlation * self.last + (1.0 - self.correlation) * uniform
    }

    fn next(&mut self) -> f64 {
        let uniform = self.stream.uniform();
        self.last = self.after(uniform);
        self.last
    }
}

/// When a packet arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// When it arrives, or would if it were not lost.
    pub arrival: Time,
    /// When its copy does, if it has one.
    pub copy: Option<Time>,
    /// How many of these overtake a packet that left before.
    pub overtaking: u32,
}

/// The impairments of one direction of a wire, with their streams and state.
#[derive(Clone, Debug)]
pub struct Impairments {
    config: ImpairmentConfig,
    jitter: Correlated,
    reorder: Correlated,
    duplicate: Correlated,
    /// For the delays of copies.
    copies: Stream,
    /// Packets delayed since the last one that was sent ahead.
    delayed: u32,
    /// The latest arrival of a packet that was not sent ahead, and of all.
    last: Time,
    latest: Time,
}

impl Impairments {
    /// Those of a configuration at the start, if it has any; `stream` gives the stream of a purpose.
    #[must_use]
    pub fn new(config: ImpairmentConfig, stream: impl Fn(&str) -> Stream) -> Option<Impairments> {
        let of =
            |what: &str, correlation: Option<f64>| Correlated::new(stream(what), correlation.unwrap_or(0.0));
        (!config.is_none()).then(|| Impairments {
            config,
            jitter: of("jitter", config.jitter.map(|it| it.correlation)),
            reorder: of("reorder", config.reorder.map(|it| it.correlation)),
            duplicate: of("duplicate", config.duplicate.map(|it| it.correlation)),
            copies: stream("copies"),
            delayed: 0,
            last: Time::ZERO,
            latest: Time::ZERO,
        })
    }

    /// A packet leaves at this time over a wire of this mean delay, and may be lost. Packets come in the order of their
    /// departures.
    pub fn pass(&mut self, departure: Time, delay: Span, is_lost: bool) -> Passage {
        let is_copied = self.config.duplicate.is_some_and(|it| self.duplicate.next() < it.rate);
        let is_ahead = self.config.reorder.is_some_and(|it| {
            let is_drawn = self.reorder.next() < it.rate;
            is_drawn && self.delayed + 1 >= it.gap
        });
        let number = self.config.jitter.map(|_| self.jitter.next());
        let delayed = departure + self.varied(delay, number);
        if is_lost {
            return Passage { arrival: delayed, copy: None, overtaking: 0 };
        }
        let arrival = if let Some(reorder) = self.config.reorder.filter(|_| is_ahead) {
            self.delayed = 0;
            let by = reorder.by.unwrap_or(delay);
            departure + Span(delay.0.saturating_sub(by.0))
        } else {
            self.delayed = self.delayed.saturating_add(1);
            self.in_order(delayed)
        };
        let mut overtaking = self.arrives(arrival);
        let copy = is_copied.then(|| {
            let number = self.config.jitter.map(|_| self.jitter.after(self.copies.uniform()));
            self.in_order(departure + self.varied(delay, number))
        });
        overtaking += copy.map_or(0, |copy| self.arrives(copy));
        Passage { arrival, copy, overtaking }
    }

    fn varied(&self, delay: Span, number: Option<f64>) -> Span {
        let Some((jitter, number)) = self.config.jitter.zip(number) else { return delay };
        let more = jitter.spread.0 as f64 * jitter.law.quantile(number);
        Span(delay.0.saturating_add_signed(libm::round(more) as i64))
    }

    fn in_order(&mut self, arrival: Time) -> Time {
        let keeps_order = self.config.jitter.is_none_or(|jitter| jitter.keeps_order);
        let arrival = if keeps_order { arrival.max(self.last) } else { arrival };
        self.last = self.last.max(arrival);
        arrival
    }

    /// Whether a packet that arrives then overtakes another: 0 or 1.
    fn arrives(&mut self, arrival: Time) -> u32 {
        let overtakes = arrival < self.latest;
        self.latest = self.latest.max(arrival);
        u32::from(overtakes)
    }
}

#[cfg(test)]
mod tests;
