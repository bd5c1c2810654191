//! A run that stops where its caller has a decision to make.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{Outcome, Request, RunError, Stopped, World, fits};
use crate::host::Clock;
use crate::model::Config;
use lasthop_stack::units::Time;

/// A run between two of its events.
pub(crate) struct Stepped {
    config: Config,
    seed: u64,
    replication: u64,
    world: World,
    started: Clock,
    stopped: Option<Stopped>,
}

impl Stepped {
    /// A run at its start, without traces and captures. The scenario's limits of memory and events hold, and not that of
    /// wall-clock time, which its caller spends too.
    ///
    /// # Errors
    /// The run cannot start.
    pub(crate) fn new(config: Config, seed: u64, replication: u64) -> Result<Stepped, RunError> {
        fits(&config)?;
        let world = World::new(&Request::new(&config, seed, replication))?;
        Ok(Stepped { config, seed, replication, world, started: Clock::start(), stopped: None })
    }

    /// Processes events until one of them sets `due`, which is cleared; false where the run has ended instead.
    pub(crate) fn advance(&mut self, due: &AtomicBool) -> bool {
        let (end, most) = (Time(self.config.run.duration.0), self.config.run.max_events);
        let has_ended = self.world.advance(end, &mut |_, events| {
            let is_over = most == Some(events);
            (!is_over && !due.load(Ordering::Relaxed)).then_some(1)
        });
        if due.swap(false, Ordering::Relaxed) {
            return true;
        }
        if has_ended {
            self.world.net.now = end;
        } else {
            self.stopped = Some(Stopped::MaxEvents);
        }
        false
    }

    /// The results, up to the time that the run has reached.
    ///
    /// # Errors
    /// The traces cannot be written.
    pub(crate) fn finish(self) -> Result<Outcome, RunError> {
        let request = Request::new(&self.config, self.seed, self.replication);
        self.world.finish(&request, self.started, self.stopped)
    }
}

impl std::fmt::Debug for Stepped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stepped").field("now", &self.world.net.now).finish_non_exhaustive()
    }
}
