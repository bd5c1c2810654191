//! Web pages: number and sizes of objects.
//!
//! **Limits.** Objects are transferred one after another on one connection, without pipelining; nothing is cached.
//!
//! **Source.** 3GPP2 C.R1002-0, CDMA2000 Evaluation Methodology, and with the same numbers 3GPP TR 25.892, annex A.
//! Main objects are lognormal with a mean of 10 710 and a standard deviation of 25 032 bytes (sigma 1.37, mu 8.35),
//! from 100 bytes to 2 MB. Embedded objects are lognormal with 7758 and 126 168 bytes (2.36, 6.17), from 50 bytes to 2
//! MB. Their number is Pareto distributed from 2 to 55 (shape 1.1), less 2: 5.64 on average, at most 53.
//!
//! **Choices.** 1. A size out of bounds is drawn again. The means quoted are those of the unbounded laws: main objects
//! have 10 840 bytes on average, embedded ones 8200, because a sixth of their draws are below 50 bytes. 2. A number
//! above 55 counts as 55: only this reading gives the mean of 5.64 (drawing again gives 3.95). 3. The number is rounded
//! to the nearest integer.

use crate::engine::streams::Stream;
use crate::traffic::{PageModel, Pages};

const MAIN: Truncated = Truncated { mu: 8.35, sigma: 1.37, least: 100.0, most: 2e6 };
const EMBEDDED: Truncated = Truncated { mu: 6.17, sigma: 2.36, least: 50.0, most: 2e6 };
const NUMBER_SHAPE: f64 = 1.1;
const NUMBER_LEAST: f64 = 2.0;
const NUMBER_MOST: f64 = 55.0;
const NUMBER_MEAN: f64 = 5.64;

/// The most objects of a page of the model, the main one included.
const MOST_OBJECTS: usize = 54;

/// A lognormal law; values out of bounds are drawn again.
struct Truncated {
    mu: f64,
    sigma: f64,
    least: f64,
    most: f64,
}

impl Truncated {
    fn draw(&self, stream: &mut Stream) -> u64 {
        loop {
            let size = libm::exp(self.mu + self.sigma * stream.normal());
            if (self.least..=self.most).contains(&size) {
                return size as u64;
            }
        }
    }

    fn mean(&self) -> f64 {
        self.moment(1.0)
    }

    /// The mean of the sizes to this power.
    fn moment(&self, power: f64) -> f64 {
        let below = |size: f64, shift: f64| {
            let place = (libm::log(size) - self.mu) / self.sigma - shift;
            0.5 * libm::erfc(-place / std::f64::consts::SQRT_2)
        };
        let within = |shift: f64| below(self.most, shift) - below(self.least, shift);
        let spread = power * self.sigma;
        libm::exp(power * self.mu + spread * spread / 2.0) * within(spread) / within(0.0)
    }
}

/// Fills in the sizes of the objects of a page, the main one first.
pub(super) fn draw_page(pages: &Pages, stream: &mut Stream, sizes: &mut Vec<u64>) {
    sizes.clear();
    match pages.model {
        PageModel::ThreeGpp2 => {
            sizes.push(MAIN.draw(stream));
            for _ in 0..draw_number(stream) {
                sizes.push(EMBEDDED.draw(stream));
            }
        }
        PageModel::Fixed { main, objects, object } => {
            sizes.push(main.0);
            sizes.extend((0..objects).map(|_| object.0));
        }
    }
}

/// The most objects that a page can have.
pub(super) fn most_objects(pages: &Pages) -> usize {
    match pages.model {
        PageModel::ThreeGpp2 => MOST_OBJECTS,
        PageModel::Fixed { objects, .. } => objects as usize + 1,
    }
}

fn draw_number(stream: &mut Stream) -> u32 {
    let drawn = NUMBER_LEAST / libm::pow(1.0 - stream.uniform(), 1.0 / NUMBER_SHAPE);
    libm::round(drawn.min(NUMBER_MOST) - NUMBER_LEAST) as u32
}

/// The average number of objects of a page, the main one included.
pub(super) fn mean_objects(pages: &Pages) -> f64 {
    match pages.model {
        PageModel::ThreeGpp2 => 1.0 + NUMBER_MEAN,
        PageModel::Fixed { objects, .. } => 1.0 + f64::from(objects),
    }
}

/// The average bytes of a page.
pub(super) fn mean_page(pages: &Pages) -> f64 {
    match pages.model {
        PageModel::ThreeGpp2 => MAIN.mean() + NUMBER_MEAN * EMBEDDED.mean(),
        PageModel::Fixed { main, objects, object } => main.0 as f64 + f64::from(objects) * object.0 as f64,
    }
}

/// A bound of the standard deviation of the bytes of a page.
pub(super) fn page_deviation(pages: &Pages) -> f64 {
    match pages.model {
        PageModel::ThreeGpp2 => {
            // The mean square of a number is at most its mean times the greatest.
            let numbers = NUMBER_MEAN * (NUMBER_MOST - NUMBER_LEAST) * EMBEDDED.mean() * EMBEDDED.mean();
            libm::sqrt(MAIN.moment(2.0) + NUMBER_MEAN * EMBEDDED.moment(2.0) + numbers)
        }
        PageModel::Fixed { .. } => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_stack::units::{Bytes, Span};

    const DRAWS: u32 = 400_000;

    fn mean(mut draw: impl FnMut(&mut Stream) -> f64) -> (f64, f64) {
        let mut stream = Stream::named(1, 0, "web");
        let draws: Vec<f64> = (0..DRAWS).map(|_| draw(&mut stream)).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(DRAWS);
        let variance = draws.iter().map(|draw| (draw - mean) * (draw - mean)).sum::<f64>() / f64::from(DRAWS);
        (mean, libm::sqrt(variance / f64::from(DRAWS)))
    }

    #[test]
    fn the_constants_are_those_of_the_quoted_means_and_deviations() {
        for (law, mean, deviation) in [(MAIN, 10_710.0, 25_032.0), (EMBEDDED, 7758.0, 126_168.0)] {
            let sigma = libm::sqrt(libm::log1p((deviation / mean) * (deviation / mean)));
            assert!((sigma - law.sigma).abs() < 0.005, "{sigma}");
            assert!((libm::log(mean) - sigma * sigma / 2.0 - law.mu).abs() < 0.005);
        }
    }

    #[test]
    fn objects_are_as_large_in_the_mean_as_their_truncated_law() {
        for law in [MAIN, EMBEDDED] {
            let (found, error) = mean(|stream| law.draw(stream) as f64);
            // Sizes are cut to whole bytes.
            assert!((found + 0.5 - law.mean()).abs() < 4.0 * error, "{found} {} {error}", law.mean());
        }
        assert!((MAIN.mean() - 10_840.0).abs() < 5.0, "{}", MAIN.mean());
        assert!((EMBEDDED.mean() - 8200.0).abs() < 5.0, "{}", EMBEDDED.mean());
    }

    #[test]
    fn a_page_has_5_64_embedded_objects_in_the_mean_and_at_most_53() {
        let mut largest = 0;
        let (found, error) = mean(|stream| {
            let number = draw_number(stream);
            largest = largest.max(number);
            f64::from(number)
        });
        // Rounding moves the mean of a falling density a little.
        assert!((found - NUMBER_MEAN).abs() < 4.0 * error + 0.05, "{found} {error}");
        assert_eq!(largest as usize + 1, MOST_OBJECTS);
    }

    #[test]
    fn a_page_begins_with_its_main_object() {
        let pages =
            |model| Pages { model, request: Bytes(350), pages: 1, reading: Span::ZERO, parsing: Span::ZERO };
        let fixed = PageModel::Fixed { main: Bytes(10_000), objects: 2, object: Bytes(500) };
        let mut sizes = vec![7];
        draw_page(&pages(fixed), &mut Stream::named(1, 0, "web"), &mut sizes);
        assert_eq!(sizes, [10_000, 500, 500]);
        assert_eq!(mean_page(&pages(fixed)), 11_000.0);
        let drawn = pages(PageModel::ThreeGpp2);
        let (found, error) = mean(|stream| {
            draw_page(&drawn, stream, &mut sizes);
            sizes.iter().sum::<u64>() as f64
        });
        assert!((found - mean_page(&drawn)).abs() < 4.0 * error + 300.0, "{found} {}", mean_page(&drawn));
    }
}
