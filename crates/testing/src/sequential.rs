//! When a bound on a percentile is decided: a sequential test of a probability.

/// What the replications say of the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It holds.
    Holds,
    /// It does not.
    Misses,
}

/// A test whether replications miss with at most this probability.
///
/// **How.** For a probability of a miss equal to the limit, `open` is the exact distribution of the number of misses over the
/// sequences that are not decided. After each replication the fewest misses are declared to hold and the most to miss, as long as
/// the probability of all such decisions stays within what may be spent by then; after `most` replications that is `error`. For
/// a higher probability of a miss, fewer sequences reach the lower limit first, and for a lower one fewer the upper limit: each
/// wrong verdict has at most the probability `error`.
pub(crate) struct Sequential {
    limit: f64,
    error: f64,
    most: u32,
    /// The probability of each number of misses, undecided.
    open: Vec<f64>,
    /// Fewer misses hold; as many or more miss.
    undecided: std::ops::Range<usize>,
    /// The probability of both verdicts up to now.
    spent: [f64; 2],
    runs: u32,
    misses: usize,
}

impl Sequential {
    pub(crate) fn new(limit: f64, error: f64, most: u32) -> Sequential {
        let undecided = 0..1;
        Sequential { limit, error, most, open: vec![1.0], undecided, spent: [0.0; 2], runs: 0, misses: 0 }
    }

    /// Another replication, and the verdict if there is one.
    pub(crate) fn add(&mut self, is_miss: bool) -> Option<Verdict> {
        self.runs += 1;
        self.misses += usize::from(is_miss);
        self.open.push(0.0);
        for count in (1..self.open.len()).rev() {
            self.open[count] = self.open[count] * (1.0 - self.limit) + self.open[count - 1] * self.limit;
        }
        self.open[0] *= 1.0 - self.limit;
        self.undecided.end += 1;
        // More early, where a decision saves most.
        let share = f64::from(self.runs) / f64::from(self.most);
        let budget = self.error * share * (2.0 - share);
        while self.spend(0, self.undecided.start, budget) {
            self.undecided.start += 1;
        }
        while self.spend(1, self.undecided.end - 1, budget) {
            self.undecided.end -= 1;
        }
        match self.misses {
            misses if misses < self.undecided.start => Some(Verdict::Holds),
            misses if misses >= self.undecided.end => Some(Verdict::Misses),
            _ => None,
        }
    }

    /// Gives a number of misses this verdict, if the budget allows.
    fn spend(&mut self, verdict: usize, misses: usize, budget: f64) -> bool {
        let fits = self.undecided.contains(&misses) && self.spent[verdict] + self.open[misses] <= budget;
        if fits {
            self.spent[verdict] += std::mem::take(&mut self.open[misses]);
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_sim::engine::streams::Stream;

    const ERROR: f64 = 0.05;
    const MOST: u32 = 300;
    const TESTS: u32 = 2000;

    /// The shares of both verdicts in many tests of replications that miss with this probability, and the mean of their runs.
    fn shares(chance: f64) -> ([f64; 2], f64) {
        let mut stream = Stream::named(1, 0, "misses");
        let (mut verdicts, mut runs) = ([0; 2], 0);
        for _ in 0..TESTS {
            let mut test = Sequential::new(0.05, ERROR, MOST);
            let verdict = (0..MOST).find_map(|_| test.add(stream.chance(chance)));
            runs += test.runs;
            verdicts[0] += u32::from(verdict == Some(Verdict::Holds));
            verdicts[1] += u32::from(verdict == Some(Verdict::Misses));
        }
        (verdicts.map(|count| f64::from(count) / f64::from(TESTS)), f64::from(runs) / f64::from(TESTS))
    }

    #[test]
    fn each_wrong_verdict_has_the_stated_error_at_the_bound_and_less_beyond_it() {
        // Three standard deviations of a share of the tests.
        let chance = 3.0 * (ERROR * (1.0 - ERROR) / f64::from(TESTS)).sqrt();
        let (at_the_bound, _) = shares(0.05);
        for share in at_the_bound {
            assert!(share <= ERROR + chance, "{at_the_bound:?}");
            assert!(share > ERROR / 2.0, "nothing is given away: {at_the_bound:?}");
        }
        assert!(shares(0.06).0[0] < at_the_bound[0]);
        assert!(shares(0.04).0[1] < at_the_bound[1]);
    }

    #[test]
    fn what_is_far_from_the_bound_is_decided_early() {
        let ([holds, _], runs) = shares(0.001);
        assert!(holds > 0.99 && runs < 85.0, "{holds} in {runs}");
        let ([_, misses], runs) = shares(0.5);
        assert!(misses > 0.99 && runs < 12.0, "{misses} in {runs}");
    }

    #[test]
    fn without_a_miss_it_takes_as_many_runs_as_a_miss_of_all_would_be_unlikely() {
        let mut test = Sequential::new(0.05, ERROR, MOST);
        let runs = (1..=MOST).find(|_| test.add(false).is_some());
        // A fixed number of runs would be 59, since 0.95^59 < 0.05; this one looks after each.
        assert_eq!(runs, Some(75));
    }
}
