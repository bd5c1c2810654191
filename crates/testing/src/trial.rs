//! A bound on the completion time of a transfer, and the replications that decide it.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use lasthop_peer::Peer;

use crate::hop::Hop;
use crate::replication::{CLIENT, Experiment, Maker, Outcome, SERVER};
use crate::report::{Failure, Report};
use crate::sequential::{Sequential, Verdict};

/// The variable of the environment that names the one replication to run.
const ONLY: &str = "LASTHOP_REPLICATION";

/// A claim about two peers over a hop, and how surely it is to be decided.
///
/// Each replication has random numbers of its own: those of the hop, and a seed for each peer, all from [`Trial::seed`] and the
/// number of the replication.
pub struct Trial {
    hop: Hop,
    makers: [Option<Maker>; 2],
    receives: (usize, u64),
    bound: Duration,
    percentile: f64,
    confidence: f64,
    most: u32,
    seed: Option<u64>,
    folder: PathBuf,
}

impl Trial {
    /// A trial over this hop.
    #[must_use]
    pub fn over(hop: Hop) -> Trial {
        Trial {
            hop,
            makers: [None, None],
            receives: (CLIENT, 0),
            bound: Duration::ZERO,
            percentile: 95.0,
            confidence: 0.95,
            most: 300,
            seed: None,
            folder: PathBuf::from("target/lasthop"),
        }
    }

    /// What makes the client of a replication from a seed: the end behind the last hop.
    #[must_use]
    pub fn client<P: Peer + 'static>(mut self, make: impl Fn(u64) -> P + 'static) -> Trial {
        self.makers[CLIENT] = Some(Box::new(move |seed| Box::new(make(seed))));
        self
    }

    /// What makes the server of a replication from a seed.
    #[must_use]
    pub fn server<P: Peer + 'static>(mut self, make: impl Fn(u64) -> P + 'static) -> Trial {
        self.makers[SERVER] = Some(Box::new(move |seed| Box::new(make(seed))));
        self
    }

    /// A replication is complete when the client's application has received this many bytes.
    #[must_use]
    pub fn downloads(mut self, bytes: u64) -> Trial {
        self.receives = (CLIENT, bytes);
        self
    }

    /// A replication is complete when the server's application has received this many bytes.
    #[must_use]
    pub fn uploads(mut self, bytes: u64) -> Trial {
        self.receives = (SERVER, bytes);
        self
    }

    /// The bound: the time from the start of both peers until the transfer is complete.
    #[must_use]
    pub fn completes_within(mut self, bound: Duration) -> Trial {
        self.bound = bound;
        self
    }

    /// The percentile of the completion time that is to be within the bound; 95 if this is not called.
    #[must_use]
    pub fn percentile(mut self, percentile: f64) -> Trial {
        self.percentile = percentile;
        self
    }

    /// With which confidence: a wrong verdict, either way, has at most the probability that is left to 1. 0.95 if this is not
    /// called.
    #[must_use]
    pub fn confidence(mut self, confidence: f64) -> Trial {
        self.confidence = confidence;
        self
    }

    /// The number of replications after which it is undecided; 300 if this is not called.
    #[must_use]
    pub fn at_most(mut self, replications: u32) -> Trial {
        self.most = replications;
        self
    }

    /// The seed; that of the scenario if this is not called.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Trial {
        self.seed = Some(seed);
        self
    }

    /// Where captures and qlogs of a failing replication are written, in a folder with the name of the test; `target/lasthop` if this is
    /// not called.
    #[must_use]
    pub fn folder(mut self, folder: impl AsRef<Path>) -> Trial {
        self.folder = folder.as_ref().to_path_buf();
        self
    }

    /// Runs replications until the bound is decided.
    ///
    /// # Errors
    /// The bound does not hold, or is not decided; or something is missing, or the scenario cannot be run.
    pub fn check(self) -> Result<Report, Failure> {
        let (name, folder) = (self.hop.name(), self.folder.clone());
        let (bound, percentile, confidence) = (self.bound, self.percentile, self.confidence);
        let limit = 1.0 - percentile / 100.0;
        let mut test = Sequential::new(limit, 1.0 - confidence, self.most);
        let most = u64::from(self.most);
        let experiment = self.experiment().map_err(Failure::Invalid)?;
        let mut report =
            Report::new(name, experiment.seed, experiment.receives.1, bound, percentile, confidence);
        let only = only().map_err(Failure::Invalid)?;
        let mut verdict = None;
        for replication in only.map_or(0..most, |only| only..only + 1) {
            let outcome = match only {
                Some(_) => recorded(&experiment, replication, &folder, &mut report),
                None => experiment.run(replication, None),
            };
            let outcome = outcome.map_err(Failure::Invalid)?;
            report.add(replication, outcome);
            verdict = test.add(outcome.completed.is_none());
            if verdict.is_some() {
                break;
            }
        }
        if only.is_some() {
            let has_missed = report.misses > 0;
            verdict = Some(if has_missed { Verdict::Misses } else { Verdict::Holds });
        }
        if verdict == Some(Verdict::Holds) {
            return Ok(report);
        }
        if let Some(miss) = &mut report.first_miss {
            miss.command = command(miss.replication);
            let replication = miss.replication;
            if only.is_none() {
                recorded(&experiment, replication, &folder, &mut report).map_err(Failure::Invalid)?;
            }
        }
        Err(match verdict {
            Some(_) => Failure::Missed(Box::new(report)),
            None => Failure::Undecided(Box::new(report)),
        })
    }

    /// What is replicated.
    fn experiment(self) -> Result<Experiment, String> {
        let missing = |what: &str| format!("{what}: missing; expected a call of .{what}(…)");
        if !(self.percentile > 0.0 && self.percentile < 100.0) {
            return Err(format!("percentile: {}; expected one between 0 and 100", self.percentile));
        }
        if !(self.confidence > 0.5 && self.confidence < 1.0) {
            return Err(format!("confidence: {}; expected one between 0.5 and 1, as 0.95", self.confidence));
        }
        if self.bound.is_zero() {
            return Err(missing("completes_within"));
        }
        if self.receives.1 == 0 {
            return Err(missing("downloads"));
        }
        let scenario = self.hop.scenario()?;
        let [server, client] = self.makers;
        let makers = [server.ok_or_else(|| missing("server"))?, client.ok_or_else(|| missing("client"))?];
        Ok(Experiment {
            config: scenario.config(0),
            seed: self.seed.unwrap_or_else(|| scenario.seed()),
            makers,
            receives: self.receives,
            bound: self.bound,
        })
    }
}

impl std::fmt::Debug for Trial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trial").field("hop", &self.hop).field("bound", &self.bound).finish_non_exhaustive()
    }
}

/// Runs a replication with captures and logs, in a folder that the report names.
fn recorded(
    experiment: &Experiment,
    replication: u64,
    folder: &Path,
    report: &mut Report,
) -> Result<Outcome, String> {
    let test = test_name().map_or("trial".to_string(), |name| name.replace("::", "-"));
    report.records = folder.join(test).join(replication.to_string());
    fs::create_dir_all(&report.records).map_err(|error| format!("{}: {error}", report.records.display()))?;
    experiment.run(replication, Some(&report.records))
}

/// The name of the test that runs, which is that of its thread.
fn test_name() -> Option<String> {
    let thread = thread::current();
    thread.name().filter(|name| *name != "main").map(String::from)
}

/// The command that runs a replication of this test alone.
fn command(replication: u64) -> String {
    let package = variable("CARGO_PKG_NAME").map_or_else(String::new, |name| format!(" -p {name}"));
    let test = test_name().map_or_else(String::new, |name| format!(" -- --exact {name}"));
    format!("{ONLY}={replication} cargo test{package}{test}")
}

/// The one replication that the environment asks for.
fn only() -> Result<Option<u64>, String> {
    let Some(text) = variable(ONLY) else { return Ok(None) };
    let number = text.parse().map_err(|_| format!("{ONLY}: {text:?}; expected the number of a replication"));
    number.map(Some)
}

#[expect(clippy::disallowed_methods, reason = "cargo and the caller say so which test runs, and what of it")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
