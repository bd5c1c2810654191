//! The number of this flow's segments queued along the path, estimated from the round-trip time.
//!
//! **Source.** Brakmo and Peterson 1995, whose `Diff x BaseRTT` it is; EJTCP quotes it as `N` (2, TCP Vegas and TCP Veno).
//!
//! **How.** With window `W`, least round trip `B` and present one `R`, the path itself holds `W B / R` segments; the rest,
//! `N = W (R - B) / R`, is queued.
//!
//! **Limits.** A path that becomes longer looks like a queue for ever, since `B` only falls.

use crate::units::Span;

/// The least round trip so far.
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

    /// The least round trip (`BaseRTT`), once there is one.
    #[must_use]
    pub fn base(&self) -> Option<Span> {
        self.base
    }

    /// Segments queued when `window` segments take `rtt` for a round trip; zero before anything is known.
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
