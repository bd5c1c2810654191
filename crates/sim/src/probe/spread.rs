//! Distribution of times: mean, standard deviation and percentiles, without storing samples.

use lasthop_stack::units::Span;

/// The number of times, their sum and that of their squares, in nanoseconds. They only grow, so that differences measure
/// an interval, and are exact, so that a small deviation of long times is not lost in rounding.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spread {
    count: u64,
    sum: u128,
    squares: u128,
}

impl Spread {
    #[inline]
    pub(crate) fn take(&mut self, time: Span) {
        let nanos = u128::from(time.0);
        self.count += 1;
        self.sum += nanos;
        self.squares += nanos * nanos;
    }

    /// The samples recorded since `begin`.
    pub(crate) fn since(&self, begin: &Spread) -> Spread {
        Spread {
            count: self.count - begin.count,
            sum: self.sum - begin.sum,
            squares: self.squares - begin.squares,
        }
    }

    /// Adds all times of another one.
    fn add(&mut self, other: &Spread) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// The mean in seconds.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 / 1e9)
    }

    /// The standard deviation in seconds, if there are at least two times.
    pub(crate) fn deviation(&self) -> Option<f64> {
        if self.count < 2 {
            return None;
        }
        let count = u128::from(self.count);
        // count * squares - sum^2 is the sum of the squared deviations, count times.
        let exact = count.checked_mul(self.squares).zip(self.sum.checked_mul(self.sum));
        let deviations = exact.map_or_else(
            || self.count as f64 * self.squares as f64 - self.sum as f64 * self.sum as f64,
            |(all, mean)| (all - mean) as f64,
        );
        let pairs = self.count as f64 * (self.count - 1) as f64;
        Some((deviations.max(0.0) / pairs).sqrt() / 1e9)
    }
}

/// Bins in each doubling of a time: they are 1/32 of their lower end wide at most.
const BINS_PER_OCTAVE: usize = 1 << BIN_BITS;
const BIN_BITS: u32 = 5;
/// Times below 2^14 ns, 16 us, share a bin.
const FIRST_OCTAVE: u32 = 14;
/// Times from 2^38 ns, 275 s, on share the last.
const LAST_OCTAVE: u32 = 37;
const BINS: usize = 1 + (LAST_OCTAVE - FIRST_OCTAVE + 1) as usize * BINS_PER_OCTAVE;

/// How many times fell into each of a fixed set of bins. It takes memory with the first time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    bins: Option<Box<[u32; BINS]>>,
    count: u64,
    /// The shortest and the longest, in nanoseconds.
    ends: (u64, u64),
}

impl Histogram {
    #[inline]
    pub(crate) fn take(&mut self, time: Span) {
        self.ends = if self.count == 0 {
            (time.0, time.0)
        } else {
            (self.ends.0.min(time.0), self.ends.1.max(time.0))
        };
        self.count += 1;
        self.bins.get_or_insert_with(|| Box::new([0; BINS]))[bin_of(time.0)] += 1;
    }

    /// Adds all times of another one.
    fn add(&mut self, other: &Histogram) {
        let Some(others) = other.bins.as_ref().filter(|_| other.count > 0) else { return };
        self.ends = if self.count == 0 {
            other.ends
        } else {
            (self.ends.0.min(other.ends.0), self.ends.1.max(other.ends.1))
        };
        self.count += other.count;
        let bins = self.bins.get_or_insert_with(|| Box::new([0; BINS]));
        for (bin, more) in bins.iter_mut().zip(others.iter()) {
            *bin += more;
        }
    }

    /// The longest, in seconds.
    fn longest(&self) -> Option<f64> {
        (self.count > 0).then(|| Span(self.ends.1).as_secs())
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.count = 0;
        if let Some(bins) = &mut self.bins {
            bins.fill(0);
        }
    }

    /// The time, in seconds, that this share of all does not exceed, to within the width of a bin.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let bins = self.bins.as_ref().filter(|_| self.count > 0)?;
        let rank = (share * self.count as f64).max(1.0);
        let mut below = 0.0;
        for (bin, &count) in bins.iter().enumerate().filter(|(_, count)| **count > 0) {
            let count = f64::from(count);
            if below + count >= rank {
                let (low, high) = edges_of(bin);
                // The first time of a bin is at the bin's start at the earliest, or a larger share could have a shorter
                // time.
                let within = low + (high - low) * (rank - below - 0.5).max(0.0) / count;
                return Some(within.max(self.ends.0 as f64).min(self.ends.1 as f64) / 1e9);
            }
            below += count;
        }
        None
    }
}

fn bin_of(nanos: u64) -> usize {
    if nanos >> FIRST_OCTAVE == 0 {
        return 0;
    }
    if nanos >> (LAST_OCTAVE + 1) > 0 {
        return BINS - 1;
    }
    let octave = nanos.ilog2();
    let within = (nanos >> (octave - BIN_BITS)) as usize % BINS_PER_OCTAVE;
    1 + (octave - FIRST_OCTAVE) as usize * BINS_PER_OCTAVE + within
}

/// Where a bin begins and ends, in nanoseconds.
fn edges_of(bin: usize) -> (f64, f64) {
    let Some(place) = bin.checked_sub(1) else { return (0.0, f64::from(1u32 << FIRST_OCTAVE)) };
    let octave = FIRST_OCTAVE + (place / BINS_PER_OCTAVE) as u32;
    let width = (1u64 << (octave - BIN_BITS)) as f64;
    let low = (BINS_PER_OCTAVE + place % BINS_PER_OCTAVE) as f64 * width;
    (low, low + width)
}

/// Times of one kind, such as the round trips of a sender.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    spread: Spread,
    histogram: Histogram,
}

/// Their statistics in seconds; `None` without samples.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Summary {
    pub(crate) mean: Option<f64>,
    pub(crate) deviation: Option<f64>,
    pub(crate) median: Option<f64>,
    pub(crate) p95: Option<f64>,
    pub(crate) p99: Option<f64>,
    pub(crate) longest: Option<f64>,
}

impl Times {
    #[inline]
    pub(crate) fn take(&mut self, time: Span) {
        self.spread.take(time);
        self.histogram.take(time);
    }

    /// Adds all times of others.
    pub(crate) fn add(&mut self, other: &Times) {
        self.spread.add(&other.spread);
        self.histogram.add(&other.histogram);
    }

    /// The measurement begins.
    pub(crate) fn clear(&mut self) {
        self.spread = Spread::default();
        self.histogram.clear();
    }

    pub(crate) fn summary(&self) -> Summary {
        Summary {
            mean: self.spread.mean(),
            deviation: self.spread.deviation(),
            median: self.histogram.quantile(0.5),
            p95: self.histogram.quantile(0.95),
            p99: self.histogram.quantile(0.99),
            longest: self.histogram.longest(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: &[u64]) -> Spread {
        let mut spread = Spread::default();
        for ms in times {
            spread.take(Span::from_millis(*ms));
        }
        spread
    }

    #[test]
    fn the_deviation_is_that_of_the_sample() {
        // Mean 5 ms; deviations -3, -1, -1, -1, 0, 0, 2, 4: 32 / 7.
        let spread = of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!(spread.mean(), Some(0.005));
        let deviation = spread.deviation().expect("from two on");
        assert!((deviation - 1e-3 * (32.0f64 / 7.0).sqrt()).abs() < 1e-15, "{deviation}");
        assert_eq!((of(&[5]).deviation(), of(&[]).mean()), (None, None));
        let begin = of(&[100, 200]);
        assert_eq!(of(&[100, 200, 7, 9]).since(&begin).mean(), Some(0.008));
    }

    #[test]
    fn a_deviation_of_nanoseconds_in_minutes_is_not_lost() {
        let mut spread = Spread::default();
        for nanos in [100_000_000_000, 100_000_000_002] {
            spread.take(Span(nanos));
        }
        let deviation = spread.deviation().expect("from two on");
        assert!((deviation - 2f64.sqrt() * 1e-9).abs() < 1e-15, "{deviation}");
    }

    #[test]
    fn sums_too_great_for_exact_squares_are_taken_as_real_numbers() {
        let spread = Spread { count: 1 << 40, sum: 1 << 80, squares: (1 << 120) + (1 << 118) };
        assert!((spread.deviation().expect("many") - 0.5 * (1u64 << 40) as f64 / 1e9).abs() < 1e-3);
    }

    #[test]
    fn each_time_lies_in_its_bin_and_no_bin_is_wider_than_a_thirty_second() {
        let mut last = 0;
        for nanos in (0..200_000).chain((0..4_000).map(|step| 200_000 + step * 100_000_000)) {
            let bin = bin_of(nanos);
            assert!(bin >= last && bin < BINS);
            last = bin;
            let (low, high) = edges_of(bin);
            let beyond = nanos >> (LAST_OCTAVE + 1) > 0;
            assert!(beyond || (low <= nanos as f64 && (nanos as f64) < high), "{nanos} {low} {high}");
            assert!(bin == 0 || high <= low * (33.0 / 32.0));
        }
        assert_eq!(last, BINS - 1);
    }

    #[test]
    fn no_percentile_is_above_a_higher_one() {
        // Neighbouring bins, with few in the upper one.
        for few in 1..10 {
            let mut histogram = Histogram::default();
            let bin = bin_of(18_000_000);
            let [lower, upper] = [bin, bin + 1].map(|bin| Span(edges_of(bin).0 as u64));
            histogram.take(Span(lower.0 / 2));
            (0..100).for_each(|_| histogram.take(lower));
            (0..few).for_each(|_| histogram.take(Span(upper.0 + upper.0 / 64)));
            let told = (0..=1000).map(|share| histogram.quantile(f64::from(share) / 1000.0).expect("some"));
            assert!(told.collect::<Vec<_>>().is_sorted(), "{few}");
        }
    }

    #[test]
    fn percentiles_are_within_the_width_of_a_bin() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        for ms in 1..=1000 {
            histogram.take(Span::from_millis(ms));
        }
        for (share, true_value) in [(0.5, 0.5), (0.95, 0.95), (0.99, 0.99), (0.0, 0.001), (1.0, 1.0)] {
            let told = histogram.quantile(share).expect("there are some");
            assert!((told / true_value - 1.0).abs() < 1.0 / 32.0, "{share} {told}");
        }
        histogram.clear();
        assert_eq!(histogram.quantile(0.5), None);
        histogram.take(Span::from_millis(70));
        assert_eq!(histogram.quantile(0.95), Some(0.07), "none lies beyond the shortest and the longest");
        histogram.take(Span::from_millis(700));
        assert!(histogram.quantile(1.0).is_some_and(|longest| longest > 0.68), "the others are forgotten");
    }

    #[test]
    fn times_added_together_are_as_if_one_had_taken_them_all() {
        let [mut one, mut other, mut both, none] = [(); 4].map(|()| Times::default());
        for ms in 1..=100 {
            (if ms % 3 == 0 { &mut one } else { &mut other }).take(Span::from_millis(ms));
            both.take(Span::from_millis(ms));
        }
        let mut sum = Times::default();
        for part in [&none, &one, &none, &other] {
            sum.add(part);
        }
        let told = |times: &Times| {
            let it = times.summary();
            [it.mean, it.deviation, it.median, it.p95, it.p99, it.longest]
        };
        assert_eq!(told(&sum), told(&both));
        assert_eq!(told(&sum)[5], Some(0.1));
        assert_eq!(told(&none), [None; 6]);
    }
}
