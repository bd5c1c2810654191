//! The number of this flow's segments queued along the path, estimated from the round-trip time.
//!
//! **Source.** Brakmo and Peterson 1995 (`Diff x BaseRTT`); EJTCP quotes it as `N` (2, TCP Vegas and TCP Veno).
//!
//! **How.** With window `W`, minimum round trip `B` and current round trip `R`, the path itself holds `W B / R`
//! segments; the rest, `N = W (R - B) / R`, is queued.
//!
//! **Limits.** `B` only falls, so a path that becomes longer permanently looks like a queue.

use crate::units::Span;

/// The minimum round trip so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backlog {
    base: Option<Span>,
}

impl Backlog {
    /// Adds a round trip.
    #[inline]
    pub fn learn(&mut self, rtt: Span) {
        self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
    }

    /// The minimum round trip (`BaseRTT`), after the first sample.
    #[must_use]
    pub fn base(&self) -> Option<Span> {
        self.base
    }

    /// Segments queued when a window of `window` segments takes a round trip of `rtt`; zero before the first sample.
    #[inline]
    #[must_use]
    pub fn queued(&self, window: f64, rtt: Span) -> f64 {
        match self.base {
            Some(base) if rtt > base => window * (rtt - base).as_secs() / rtt.as_secs(),
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_path_does_not_hold_is_queued() {
        let mut backlog = Backlog::default();
        assert_eq!(backlog.queued(20.0, Span::from_millis(100)), 0.0);
        backlog.learn(Span::from_millis(120));
        backlog.learn(Span::from_millis(80));
        backlog.learn(Span::from_millis(90));
        assert_eq!(backlog.base(), Some(Span::from_millis(80)));
        // Expected 20 / 0.08 = 250, actual 20 / 0.1 = 200 segments a second; 50 x 0.08 s = 4 segments.
        assert!((backlog.queued(20.0, Span::from_millis(100)) - 4.0).abs() < 1e-12);
        assert_eq!(backlog.queued(20.0, Span::from_millis(80)), 0.0);
    }
}
