//! The round trip of a wired path, drawn once per link and replication.
//!
//! A link with a drawn delay stands for a whole path through the Internet: half of the round trip is added to the delay
//! in each direction. The draw comes from a stream with the link's own name, so another member of its group, or another
//! scheme, does not shift it.

use lasthop_stack::units::Span;

use crate::engine::streams::Stream;

/// How far a drawn normal number goes from its mean at most, in standard deviations: `sqrt(2 ln 2^53)`.
const LARGEST_NORMAL: f64 = 8.58;
/// The largest exponential number that is drawn, in means: `ln 2^53`.
const LARGEST_EXPONENTIAL: f64 = 36.75;

/// The law of a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttLaw {
    /// Between two bounds, each value as likely as the others.
    Uniform {
        /// The lower bound.
        least: Span,
        /// The upper bound.
        most: Span,
    },
    /// Normal; values below the least are drawn again.
    Normal {
        /// Mean before the truncation.
        mean: Span,
        /// Standard deviation before the truncation.
        deviation: Span,
        /// The least round trip. It is no longer than the mean.
        least: Span,
    },
    /// Exponential; values below the least are drawn again, which adds the least to the mean.
    Exponential {
        /// Mean before the truncation.
        mean: Span,
        /// The least round trip.
        least: Span,
    },
}

impl RttLaw {
    /// A round trip by this law.
    pub fn draw(self, stream: &mut Stream) -> Span {
        match self {
            RttLaw::Uniform { least, most } => {
                least + Span::from_secs_f64((most - least).as_secs() * stream.uniform())
            }
            RttLaw::Normal { mean, deviation, least } => loop {
                let seconds = mean.as_secs() + deviation.as_secs() * stream.normal();
                // The least is no longer than the mean, so that half of the draws are taken at the least.
                if seconds >= least.as_secs() {
                    return Span::from_secs_f64(seconds);
                }
            },
            // The remainder of an exponential time has the same law.
            RttLaw::Exponential { mean, least } => {
                least + Span::from_secs_f64(stream.exponential(mean.as_secs()))
            }
        }
    }

    /// The longest round trip that can be drawn.
    #[must_use]
    pub fn longest(self) -> Span {
        match self {
            RttLaw::Uniform { most, .. } => most,
            RttLaw::Normal { mean, deviation, .. } => {
                mean + Span::from_secs_f64(deviation.as_secs() * LARGEST_NORMAL)
            }
            RttLaw::Exponential { mean, least } => {
                least + Span::from_secs_f64(mean.as_secs() * LARGEST_EXPONENTIAL)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 200_000;

    fn ms(ms: u64) -> Span {
        Span::from_millis(ms)
    }

    /// The draws of a law in milliseconds, and their mean and standard deviation.
    fn drawn(law: RttLaw) -> (Vec<f64>, f64, f64) {
        let mut stream = Stream::named(1, 0, "links.path.rtt");
        let draws: Vec<f64> = (0..DRAWS).map(|_| law.draw(&mut stream).as_secs() * 1e3).collect();
        let mean = draws.iter().sum::<f64>() / DRAWS as f64;
        let variance = draws.iter().map(|draw| (draw - mean) * (draw - mean)).sum::<f64>() / DRAWS as f64;
        (draws, mean, libm::sqrt(variance))
    }

    fn check(law: RttLaw, mean: f64, deviation: f64, bounds: (f64, f64)) {
        let (draws, found_mean, found_deviation) = drawn(law);
        // Four standard errors; that of a deviation is larger by up to sqrt(2) for an exponential law.
        let tolerance = 4.0 * deviation / libm::sqrt(DRAWS as f64);
        assert!((found_mean - mean).abs() < tolerance, "{law:?}: mean {found_mean}, not {mean}");
        assert!(
            (found_deviation - deviation).abs() < 1.5 * tolerance,
            "{law:?}: deviation {found_deviation}, not {deviation}"
        );
        assert!(draws.iter().all(|draw| *draw >= bounds.0 && *draw <= bounds.1), "{law:?}");
        assert!(draws.iter().all(|draw| *draw <= law.longest().as_secs() * 1e3), "{law:?}");
    }

    #[test]
    fn a_uniform_round_trip_has_the_mean_and_the_deviation_of_its_law() {
        let law = RttLaw::Uniform { least: ms(5), most: ms(100) };
        check(law, 52.5, 95.0 / libm::sqrt(12.0), (5.0, 100.0));
    }

    #[test]
    fn a_normal_round_trip_is_that_of_the_truncated_law() {
        // A law whose bound is 2.25 deviations from its mean. With the density f and the tail Q there, the mean grows
        // by sigma f / Q. The variance shrinks by the factor 1 + a f / Q - (f / Q)^2, where a = -2.25.
        let a = -2.25;
        let density = libm::exp(-a * a / 2.0) / libm::sqrt(2.0 * std::f64::consts::PI);
        let ratio = density / (0.5 * libm::erfc(a / std::f64::consts::SQRT_2));
        let deviation = 20.0 * libm::sqrt(1.0 + a * ratio - ratio * ratio);
        let law = RttLaw::Normal { mean: ms(50), deviation: ms(20), least: ms(5) };
        check(law, 50.0 + 20.0 * ratio, deviation, (5.0, 250.0));
    }

    #[test]
    fn an_exponential_round_trip_is_its_least_longer_than_one_that_is_not_truncated() {
        let law = RttLaw::Exponential { mean: ms(50), least: ms(1) };
        check(law, 51.0, 50.0, (1.0, f64::INFINITY));
    }
}
