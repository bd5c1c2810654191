//! What a trial found, for a reader.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::replication::Outcome;

/// What the replications of a trial were.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The name of the hop.
    pub hop: String,
    /// The seed.
    pub seed: u64,
    /// Bytes of the transfer.
    pub bytes: u64,
    /// The bound on the completion time.
    pub bound: Duration,
    /// The percentile that is to be within it.
    pub percentile: f64,
    /// The confidence of the verdict.
    pub confidence: f64,
    /// Replications run.
    pub replications: u32,
    /// Those that were not complete within the bound.
    pub misses: u32,
    /// The completion times of the others, in increasing order.
    pub times: Vec<Duration>,
    /// The first replication that was not complete within the bound.
    pub first_miss: Option<Miss>,
    /// The folder with a capture of each link and the qlogs of both peers, of the first miss or of the replication asked for; empty
    /// if the bound holds.
    pub records: PathBuf,
}

/// A replication that was not complete within the bound.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Miss {
    /// Its number.
    pub replication: u64,
    /// Bytes delivered within the bound.
    pub delivered: u64,
    /// The command that runs it alone; empty if the bound holds.
    pub command: String,
}

/// Why a trial fails. Its `Debug` is the report for a reader too, which tests print.
#[non_exhaustive]
pub enum Failure {
    /// The percentile is above the bound.
    Missed(Box<Report>),
    /// As many replications as allowed do not decide it.
    Undecided(Box<Report>),
    /// The trial cannot be run.
    Invalid(String),
}

impl Report {
    pub(crate) fn new(
        hop: String,
        seed: u64,
        bytes: u64,
        bound: Duration,
        percentile: f64,
        confidence: f64,
    ) -> Report {
        let (times, first_miss) = (Vec::new(), None);
        Report {
            hop,
            seed,
            bytes,
            bound,
            percentile,
            confidence,
            replications: 0,
            misses: 0,
            times,
            first_miss,
            records: PathBuf::new(),
        }
    }

    pub(crate) fn add(&mut self, replication: u64, outcome: Outcome) {
        self.replications += 1;
        let Some(time) = outcome.completed else {
            self.misses += 1;
            let miss = Miss { replication, delivered: outcome.delivered, ..Miss::default() };
            self.first_miss.get_or_insert(miss);
            return;
        };
        let place = self.times.partition_point(|other| *other <= time);
        self.times.insert(place, time);
    }

    /// The empirical percentile of the completion time; `None` if it is above the bound.
    #[must_use]
    pub fn time_at(&self, percentile: f64) -> Option<Duration> {
        let rank = (percentile / 100.0 * f64::from(self.replications)).ceil() as usize;
        self.times.get(rank.max(1) - 1).copied()
    }

    /// What was claimed, with this relation between percentile and bound.
    fn claim(&self, f: &mut fmt::Formatter<'_>, is: &str) -> fmt::Result {
        let Report { hop, bytes, percentile, bound, .. } = self;
        write!(f, "{bytes} B over {hop}: p{percentile} of the completion time {is} {}", Seconds(Some(*bound)))
    }

    fn counts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { replications, misses, seed, percentile, .. } = self;
        let [median, high] = [50.0, *percentile].map(|share| Seconds(self.time_at(share)));
        write!(
            f,
            "\n  {misses} of {replications} replications missed it (seed {seed}); median {median}, p{percentile} {high}"
        )?;
        if let Some(Miss { replication, delivered, command }) = &self.first_miss
            && !command.is_empty()
        {
            let bound = Seconds(Some(self.bound));
            write!(
                f,
                "\n  the first: replication {replication}, {delivered} B in {bound}\n  again: {command}"
            )?;
        }
        if self.records.as_os_str().is_empty() {
            return Ok(());
        }
        write!(f, "\n  captures and qlogs: {}", self.records.display())
    }

    /// The probability of a wrong verdict, in percent.
    fn error_percent(&self) -> f64 {
        // Without the digits that binary fractions add.
        ((1.0 - self.confidence) * 1e6).round() / 1e4
    }
}

/// A time in seconds, or one that is above the bound.
struct Seconds(Option<Duration>);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(time) => write!(f, "{:.3} s", time.as_secs_f64()),
            None => write!(f, "above it"),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.claim(f, "is at most")?;
        write!(f, " (error at most {} %)", self.error_percent())?;
        self.counts(f)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Missed(report) => {
                report.claim(f, "is above")?;
                write!(f, " (error at most {} %)", report.error_percent())?;
                report.counts(f)
            }
            Failure::Undecided(report) => {
                report.claim(f, "is near")?;
                write!(f, ": undecided; expected a bound farther off, less confidence or more replications")?;
                report.counts(f)
            }
            Failure::Invalid(text) => write!(f, "{text}"),
        }
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for Failure {}
