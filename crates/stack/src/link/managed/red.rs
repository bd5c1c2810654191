//! RED: drops or marks arriving packets with a probability that grows with the mean length of the queue.
//!
//! **Limits.** Lengths are counted in packets, and all packets have the same probability.
//!
//! **Source.** Floyd and Jacobson, "Random early detection gateways for congestion avoidance", IEEE/ACM Trans. Networking 1(4), 1993;
//! "gentle": Floyd, "Recommendation on using the gentle variant of RED", 2000; RFC 3168 (7) for ECN.
//!
//! **How.** With the mean `avg` of [`QueueMean`]: below `min` packets pass. Between `min` and `max`,
//! `p_b = max_p (avg - min) / (max - min)`, and the packet is dropped with `p_a = p_b / (1 - count p_b)`, where `count`
//! is the number of packets since the last drop. The distance of drops is uniform between 1 and `1 / p_b`. From `max`
//! to `2 max`, `gentle` continues with `p_b = max_p + (1 - max_p) (avg - max) / max`. Above, and above `max` without
//! `gentle`, each packet is dropped.
//!
//! **Choices.** 1. The defaults are those of `Queue/RED` of ns-2 before the thresholds became automatic: 5, 15, 1/10, 0.002,
//! gentle. Its `wait_`, which leaves a distance of `1 / p_b` after each drop, is not built. 2. A packet that uses ECN is marked
//! where another would be dropped with a probability, and dropped where all are (RFC 3168, 7). 3. `count` starts at -1 and
//! returns to it while the mean is below `min`, as in the paper. 4. The decision comes before the test for a full queue.
//!
//! **Checked by** the tests below and `crates/sim/tests/queues.rs`.

use crate::estimate::QueueMean;
use crate::hooks::parameter::{Described, parameters};
use crate::hooks::{Admission, Aqm, Arrival};

/// The constants of RED.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Mean below which all packets pass, in packets.
    pub min: f64,
    /// Mean at which the probability reaches its first maximum.
    pub max: f64,
    /// That maximum.
    pub max_probability: f64,
    /// Weight in the mean of the queue length at an arrival.
    pub weight: f64,
    /// Whether the probability continues to grow above `max`.
    pub gentle: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config { min: 5.0, max: 15.0, max_probability: 0.1, weight: 0.002, gentle: true }
    }
}

impl Described for Config {
    parameters! {
        /// mean number of packets in the queue below which each packet passes
        "min-threshold": Number = min, at_least("0"), at_most("1000000000"), source("ns-2: Queue/RED thresh_");
        /// mean number of packets in the queue at which the probability is max-probability
        "max-threshold": Number = max, above("0"), at_most("1000000000"), source("ns-2: Queue/RED maxthresh_");
        /// probability of a drop or mark at max-threshold, before the correction by the distance from the last one
        "max-probability": Share = max_probability, above("0"), at_most("1"), source("ns-2: Queue/RED linterm_");
        /// weight of the queue length at an arrival in the mean
        "weight": Number = weight, above("0"), at_most("1"),
            source("Floyd and Jacobson 1993; ns-2: Queue/RED q_weight_");
        /// whether the probability grows to 1 between max-threshold and twice that; false means that each packet is
        /// dropped above max-threshold
        "gentle": Flag = gentle, source("ns-2: Queue/RED gentle_");
    }

    fn conflict(&self) -> Option<(&'static str, String)> {
        let text = format!("{} with max-threshold = {}; expected less", self.min, self.max);
        (self.min >= self.max).then_some(("min-threshold", text))
    }
}

/// The state of one queue.
#[derive(Clone, Debug)]
pub struct Red {
    config: Config,
    mean: QueueMean,
    /// Packets since the last drop or mark; -1 while the mean is below the threshold.
    count: i64,
}

impl Red {
    /// An empty queue.
    #[must_use]
    pub fn new(config: &Config) -> Red {
        Red { config: *config, mean: QueueMean::new(config.weight), count: -1 }
    }

    /// The probability at a mean length, without the correction; `None` if each packet is dropped.
    fn probability(&self, mean: f64) -> Option<f64> {
        let Config { min, max, max_probability, gentle, .. } = self.config;
        if mean < max {
            return Some(max_probability * (mean - min) / (max - min));
        }
        (gentle && mean < 2.0 * max).then(|| max_probability + (1.0 - max_probability) * (mean - max) / max)
    }
}

impl Aqm for Red {
    fn on_arrival(&mut self, arrival: &Arrival, draw: &mut dyn FnMut() -> f64) -> Admission {
        let mean = self.mean.on_arrival(arrival);
        if mean < self.config.min {
            self.count = -1;
            return Admission::Pass;
        }
        let Some(probability) = self.probability(mean) else {
            self.count = 0;
            return Admission::Drop;
        };
        self.count += 1;
        let left = 1.0 - self.count as f64 * probability;
        if left > 0.0 && draw() >= probability / left {
            return Admission::Pass;
        }
        self.count = 0;
        if arrival.ecn.is_capable() { Admission::Mark } else { Admission::Drop }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::units::{Span, Time};

    fn arrival(held: u32, ecn: Ecn) -> Arrival {
        Arrival { now: Time::ZERO, held, idle: Span::ZERO, transmission: Span::from_millis(1), ecn }
    }

    /// The decisions on packets that find `held` packets in the queue, which is also its mean, with these draws.
    fn decisions(config: &Config, held: u32, ecn: Ecn, draws: &[f64]) -> Vec<Admission> {
        let mut red = Red::new(&Config { weight: 1.0, ..*config });
        draws.iter().map(|drawn| red.on_arrival(&arrival(held, ecn), &mut || *drawn)).collect()
    }

    #[test]
    fn the_probability_grows_linearly_and_then_gently_to_one() {
        let red = Red::new(&Config::default());
        for (mean, expected) in
            [(5.0, 0.0), (10.0, 0.05), (15.0, 0.1), (22.5, 0.55), (29.999_999, 0.999_999_94)]
        {
            let found = red.probability(mean).expect("a probability");
            assert!((found - expected).abs() < 1e-9, "{mean}: {found}");
        }
        assert_eq!(red.probability(30.0), None);
        let harsh = Red::new(&Config { gentle: false, ..Config::default() });
        assert_eq!(harsh.probability(15.0), None);
    }

    #[test]
    fn drops_are_uniformly_spaced_by_the_count_since_the_last() {
        // At a mean of 10, p_b = 0.05: p_a of the packets is 1/20, 1/19, 1/18 with counts 0, 1, 2.
        let drop = Admission::Drop;
        for (count, edge) in [(0, 1.0 / 20.0), (1, 1.0 / 19.0), (2, 1.0 / 18.0)] {
            for (drawn, expected) in [(edge - 1e-9, drop), (edge + 1e-9, Admission::Pass)] {
                let mut draws = vec![0.999; count];
                draws.push(drawn);
                let found = decisions(&Config::default(), 10, Ecn::NotEct, &draws);
                assert_eq!(found[count], expected, "{count} {drawn}");
            }
        }
        // Count 19 leaves 1 - 19/20 = p_b: the twentieth packet is dropped whatever is drawn.
        let found = decisions(&Config::default(), 10, Ecn::NotEct, &[0.999_999; 21]);
        assert_eq!(found.iter().position(|one| *one == drop), Some(19));
    }

    #[test]
    fn packets_that_use_ecn_are_marked_except_where_all_are_dropped() {
        for (held, expected) in [(4, Admission::Pass), (20, Admission::Mark), (30, Admission::Drop)] {
            assert_eq!(decisions(&Config::default(), held, Ecn::Ect0, &[0.0]), [expected], "{held}");
        }
        let harsh = Config { gentle: false, ..Config::default() };
        assert_eq!(decisions(&harsh, 15, Ecn::Ect1, &[0.0]), [Admission::Drop]);
    }
}
