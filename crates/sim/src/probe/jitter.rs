//! The interarrival jitter of datagrams (RFC 3550, 6.4.1).
//!
//! Each datagram that arrives moves J by a sixteenth of the way to the difference between its delay and that of the
//! previous arrival. J is kept in sixteenths of a nanosecond, in the integers of RFC 3550, A.8.

use lasthop_stack::units::Span;

/// The jitter of one flow. Its sums only grow, so that differences measure an interval.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Jitter {
    /// The delay of the last datagram that arrived.
    last: Option<Span>,
    /// J, sixteen times.
    sixteenths: u64,
    sum: u128,
    count: u64,
}

impl Jitter {
    /// A datagram has arrived after this delay.
    #[inline]
    pub(crate) fn take(&mut self, delay: Span) {
        if let Some(last) = self.last.replace(delay) {
            self.sixteenths = self.sixteenths - ((self.sixteenths + 8) >> 4) + delay.0.abs_diff(last.0);
            self.sum += u128::from(self.sixteenths);
            self.count += 1;
        }
    }

    /// The mean of J after each datagram since `begin`, in seconds.
    pub(crate) fn mean_since(&self, begin: &Jitter) -> Option<f64> {
        let count = self.count - begin.count;
        (count > 0).then(|| (self.sum - begin.sum) as f64 / 16.0 / count as f64 / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_moves_by_a_sixteenth_of_the_way_to_each_difference() {
        let mut jitter = Jitter::default();
        let begin = jitter;
        jitter.take(Span(1_000_000));
        assert_eq!(jitter.mean_since(&begin), None, "one delay differs from none");
        // |D| is 160 ns, 160 ns and 0 ns: J is 10, 10 + 150/16 = 19.375 and 19.375 * 15/16 ns.
        let mut expected = Vec::new();
        for delay in [1_000_160, 1_000_000, 1_000_000] {
            jitter.take(Span(delay));
            expected.push(jitter.sixteenths as f64 / 16.0);
        }
        for (found, exact) in expected.iter().zip([10.0, 19.375, 19.375 * 15.0 / 16.0]) {
            assert!((found - exact).abs() <= 1.0 / 16.0, "{found} {exact}");
        }
        let mean = expected.iter().sum::<f64>() / 3.0 * 1e-9;
        assert!((jitter.mean_since(&begin).expect("three") / mean - 1.0).abs() < 1e-12);
    }

    #[test]
    fn jitter_of_delays_that_change_by_turns_comes_to_their_difference() {
        let mut jitter = Jitter::default();
        for turn in 0..1000 {
            jitter.take(Span(5_000_000 + turn % 2 * 1_000_000));
        }
        let begin = jitter;
        (0..10).for_each(|turn| jitter.take(Span(5_000_000 + turn % 2 * 1_000_000)));
        assert!((jitter.mean_since(&begin).expect("ten") / 1e-3 - 1.0).abs() < 1e-4);
    }
}
