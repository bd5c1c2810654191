//! Veno: a loss with a short estimated queue counts as random and reduces the window by a fifth only.
//!
//! **Limits.** A random loss still costs a fifth of the window; a series of them reduces it until the queue is empty.
//! Losses close together are classified by the window that the first one left (EJTCP, 2).
//!
//! **Source.** Fu and Liew 2003; EJTCP quotes it with the same threshold.
//!
//! **How.** [`Backlog`] estimates the number `N` of queued segments. If `N < beta`, the window grows as in Reno, and a
//! loss detected by duplicates sets `ssthresh = 4/5 cwnd`. Otherwise the window grows at every other acknowledgement,
//! and a loss halves it.
//!
//! **Choices.** 1. `N` is computed outside of recoveries, from the shortest round trip since it was, as in Linux, which
//! computes it only if the window limits; the paper leaves open whether it is smoothed. 2. A timeout is handled as in
//! Reno. 3. The minimum round trip is that of the whole connection, as in Linux; Fu and Liew reset it at each loss.
//! 4. An acknowledgement behind a repaired hole gives no sample, a selective one does, as in Linux. 5. The variant uses
//! `NewReno`'s recovery.
//!
//! **Checked by** the tests below, `crates/sim/tests/laws.rs` (the gain under random loss) and ns-2
//! (`papers/baselines.md`).

use super::reno::{Reno, grow};
use crate::estimate::Backlog;
use crate::hooks::parameter::{Described, parameters};
use crate::hooks::{
    Ack, Congestion, Judgement, Loss, LossCause, LossResponse, Mark, Progress, Reduction, Window,
};
use crate::units::Span;

/// Share of the window left after a random loss.
const RANDOM_SHARE: f64 = 0.8;

/// The constants of Veno.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VenoConfig {
    /// Number of queued segments from which the path counts as congested (beta).
    pub beta: f64,
}

impl Default for VenoConfig {
    fn default() -> VenoConfig {
        VenoConfig { beta: 3.0 }
    }
}

impl Described for VenoConfig {
    parameters! {
        /// queued segments from which a loss counts as congestion
        "beta": Number = beta, at_least("0"), at_most("1000000"), source("Fu and Liew 2003");
    }
}

/// The state of Veno.
#[derive(Clone, Debug)]
pub struct Veno {
    beta: f64,
    backlog: Backlog,
    queued: f64,
    /// The shortest round trip since that was computed.
    shortest: Option<Span>,
    /// Whether the previous acknowledgement let a congested window grow.
    grew: bool,
}

impl Veno {
    /// The state at the start of a connection.
    #[must_use]
    pub fn new(config: &VenoConfig) -> Veno {
        Veno { beta: config.beta, backlog: Backlog::default(), queued: 0.0, shortest: None, grew: false }
    }
}

impl Congestion for Veno {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.backlog.learn(rtt);
            self.shortest = Some(self.shortest.map_or(rtt, |shortest| shortest.min(rtt)));
        }
        if matches!(ack.progress, Progress::Open(_) | Progress::Unlimited(_))
            && let Some(rtt) = self.shortest.take()
        {
            self.queued = self.backlog.queued(window.cwnd, rtt);
        }
        if let Progress::Open(_) = ack.progress {
            self.grew = window.in_slow_start() || self.queued < self.beta || !self.grew;
            if self.grew {
                grow(window, ack.counted);
            }
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        let random = self.queued < self.beta;
        let judgement = Some(if random { Judgement::Random } else { Judgement::Congestion });
        if random && loss.cause == LossCause::Duplicates {
            window.ssthresh = RANDOM_SHARE * window.cwnd;
            window.cwnd = window.ssthresh;
            return LossResponse { reduction: Reduction::Reduced, copies: 1, judgement };
        }
        LossResponse { judgement, ..Reno.on_loss(loss, window) }
    }

    /// A mark is never random.
    fn on_mark(&mut self, mark: &Mark, window: &mut Window) -> Reduction {
        Reno.on_mark(mark, window)
    }

    fn on_answered_loss(&mut self, _: &Loss, _: &mut Window) -> LossResponse {
        LossResponse { judgement: Some(Judgement::Congestion), ..LossResponse::ANSWERED }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::testing::{ack, after, loss, mark};

    /// Veno on a path of 80 ms, with a current round trip of `rtt`.
    fn veno(rtt: u64, window: &mut Window) -> Veno {
        let mut veno = Veno::new(&VenoConfig::default());
        for ms in [80, rtt] {
            veno.on_ack(&after(ms, Progress::Unlimited(1)), window);
        }
        veno
    }

    #[test]
    fn a_loss_with_fewer_than_three_queued_takes_a_fifth_and_with_three_a_half() {
        // 20 segments at 94 ms: 20 x 14 / 94 = 2.98 queued; at 95 ms: 20 x 15 / 95 = 3.16.
        for (rtt, left, judgement) in [(94, 16.0, Judgement::Random), (95, 10.0, Judgement::Congestion)] {
            let mut window = Window::new(20.0, Some(10.0), 100.0);
            let answer = veno(rtt, &mut window).on_loss(&loss(LossCause::Duplicates, 20), &mut window);
            assert_eq!((window.cwnd, window.ssthresh, answer.judgement), (left, left, Some(judgement)));
        }
    }

    #[test]
    fn the_queue_is_that_of_the_shortest_round_trip_since_it_was_computed() {
        let mut window = Window::new(20.0, Some(10.0), 100.0);
        let mut veno = veno(80, &mut window);
        for (ms, progress) in [(90, Progress::Duplicate), (120, Progress::Recovering(1))] {
            veno.on_ack(&after(ms, progress), &mut window);
        }
        assert_eq!(veno.queued, 0.0);
        veno.on_ack(&after(100, Progress::Unlimited(1)), &mut window);
        assert_eq!(veno.queued, 20.0 * 10.0 / 90.0);
    }

    #[test]
    fn a_congested_window_grows_with_every_other_acknowledgement() {
        for (rtt, grown) in [(90, 4), (100, 2)] {
            let mut window = Window::new(20.0, Some(10.0), 100.0);
            let mut veno = veno(rtt, &mut window);
            let before = window.cwnd;
            let mut times = 0;
            for _ in 0..4 {
                let was = window.cwnd;
                veno.on_ack(&ack(Progress::Open(1)), &mut window);
                times += u32::from(window.cwnd > was);
            }
            assert_eq!(times, grown, "from {before}");
        }
    }

    #[test]
    fn a_mark_takes_a_half_whatever_is_queued_and_a_loss_with_it_is_congestion() {
        let mut window = Window::new(20.0, Some(10.0), 100.0);
        let mut veno = veno(80, &mut window);
        assert_eq!(veno.on_mark(&mark(20), &mut window), Reduction::Reduced);
        let answer = veno.on_answered_loss(&loss(LossCause::Duplicates, 20), &mut window);
        assert_eq!(
            (window.cwnd, window.ssthresh, answer.judgement),
            (10.0, 10.0, Some(Judgement::Congestion))
        );
    }

    #[test]
    fn a_timeout_is_renos() {
        let mut window = Window::new(20.0, Some(10.0), 100.0);
        veno(80, &mut window).on_loss(&loss(LossCause::Timeout, 20), &mut window);
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 10.0));
    }
}
