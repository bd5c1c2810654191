//! EJTCP: JTCP with a round-trip criterion, double retransmissions, and a burst limit.
//!
//! **Limits.** Queues on the reverse path lengthen the round trip and spoil the second criterion (4.3 admits this). The
//! window does not react to random losses, so EJTCP is not friendly to Reno (4.2). Double retransmissions add load at
//! high loss. Segments that `NewReno` retransmits at a partial acknowledgement are neither classified nor counted, and
//! are sent once. The header extension is not negotiated: both ends must support it. It has room for the timestamps of
//! one segment, so acknowledgements are not piggybacked on data.
//!
//! **Source.** Wu, Huang and Chang, "EJTCP: enhanced jitter-based TCP for wireless broadband networks", section 3.
//!
//! **How.** A loss counts as congestion if the jitter ratio is above `k / cwnd` and the round trip is above a
//! threshold; then `ssthresh = cwnd = cwnd / 2` (3.1). Otherwise the window does not change, and the segment is sent
//! once, or twice if the loss rate exceeds 1 % (3.2). An acknowledgement releases at most `N` segments (3.2), and
//! `cwnd` and `ssthresh` follow the rate of an 802.16 link (3.3).
//!
//! **Choices.** 1. The text says that the two extra bytes hold times, and also that they hold the sequence number
//! acknowledged. The extension has all of these, in one of two forms ([`Form`]). 2. `max_rtt` is raised only at
//! acknowledgements whose jitter ratio is above its threshold. It is reset at a timeout and at a change of the
//! modulation, and does not decay. While it is unset, only jitter decides. 3. The paper does not give the share
//! `alpha`. Its simulations set "the threshold of RTTs to 0.2". If that means seconds, it is 0.8 of the maximum on
//! their path of at most 0.25 s. Both can be set. 4. Both criteria use their values at the last acknowledgement before
//! the missing segment: duplicates give no round trip. 5. A third duplicate ACK within one smoothed round trip of a
//! reduction belongs to that reduction (as in the figure of states). The segment is sent once, and the window does not
//! change. 6. The loss rate counts each segment once, however its loss is classified, over all segments sent for the
//! first time; a rate equal to the threshold does not exceed it. 7. A timeout is classified as well (5), but the paper
//! does not define the reaction to a random one: [`RandomTimeout`]. 8. The burst limit needs no timer: acknowledgements
//! of the segments sent release the rest. 9. The scaled window is at least two segments; an increase is released like
//! any other.
//!
//! **Checked by** the tests below: formulas, the states of Fig. 3, the tables of Figs. 2 and 7;
//! `crates/sim/tests/judges.rs`.

mod config;
mod loss_rate;

use crate::estimate::{Attribution, JitterRatio};
use crate::hooks::{
    Ack, Congestion, Echo, Jitter, Judgement, Loss, LossCause, LossResponse, Mark, Progress, Reduction,
    Window,
};
use crate::packet::{Form, Modulation};
use crate::transport::congestion::jtcp::{SAME_EVENT, halve, is_same_event};
use crate::transport::congestion::{Reno, grow};
use crate::units::{Span, Time};
pub use config::{EjtcpConfig, ModulationRule, RandomTimeout, RttThreshold};
use loss_rate::LossRate;

/// Minimum window after a change of modulation, in segments.
const MIN_SCALED: f64 = 2.0;

/// The state of EJTCP.
#[derive(Clone, Debug)]
pub struct Ejtcp {
    config: EjtcpConfig,
    jitter: JitterRatio,
    rtt: Span,
    max_rtt: Span,
    losses: LossRate,
    reduced: Option<Time>,
    modulation: Option<Modulation>,
}

impl Ejtcp {
    /// The state at the start of a connection.
    #[must_use]
    pub fn new(config: &EjtcpConfig) -> Ejtcp {
        Ejtcp {
            config: *config,
            jitter: JitterRatio::new(Attribution::Trigger, config.reach),
            rtt: Span::ZERO,
            max_rtt: Span::ZERO,
            losses: LossRate::new(config.loss_record),
            reduced: None,
            modulation: None,
        }
    }

    /// Whether the jitter ratio indicates congestion.
    #[inline]
    fn is_queueing(&self, window: &Window) -> bool {
        !self.config.jitter_test || self.jitter.exceeds(self.config.k, window.cwnd)
    }

    /// Whether the round trip indicates congestion.
    fn is_late(&self) -> bool {
        match self.config.rtt_threshold {
            RttThreshold::Off => true,
            RttThreshold::Fixed(threshold) => self.rtt > threshold,
            RttThreshold::Share(alpha) => self.rtt.as_secs() > alpha * self.max_rtt.as_secs(),
        }
    }

    fn judge(&self, window: &Window) -> Judgement {
        let congested = self.is_queueing(window) && self.is_late();
        if congested { Judgement::Congestion } else { Judgement::Random }
    }

    /// A modulation was reported: if it has changed, the window follows its rate.
    #[inline]
    fn on_modulation(&mut self, told: Modulation, window: &mut Window) {
        let Some(before) = self.modulation.replace(told).filter(|before| *before != told) else { return };
        let ratio = f64::from(told.bits_per_symbol()) / f64::from(before.bits_per_symbol());
        let scales = match self.config.modulation {
            ModulationRule::Off => return,
            ModulationRule::Scale => true,
            ModulationRule::ScaleDown => ratio < 1.0,
        };
        // The queue now drains at another rate.
        self.max_rtt = Span::ZERO;
        if scales {
            window.cwnd = (window.cwnd * ratio).max(MIN_SCALED);
            window.ssthresh = (window.ssthresh * ratio).max(MIN_SCALED);
        }
    }

    /// The window after a timeout that is classified as random.
    fn after_random_timeout(&self, loss: &Loss, window: &mut Window) -> Reduction {
        match self.config.random_timeout {
            RandomTimeout::Keep => return Reduction::Kept,
            RandomTimeout::Reno => return Reno.on_loss(loss, window).reduction,
            RandomTimeout::Half => {
                window.ssthresh = window.cwnd / 2.0;
                window.cwnd = window.ssthresh;
            }
            RandomTimeout::SlowStart => {
                if loss.cause != LossCause::RepeatedTimeout {
                    window.ssthresh = window.cwnd;
                }
                window.cwnd = 1.0;
            }
        }
        Reduction::Reduced
    }
}

impl Congestion for Ejtcp {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        window.burst_limit = self.config.smooth;
        if let Some(told) = ack.extension.and_then(|echo| echo.modulation) {
            self.on_modulation(told, window);
        }
        if let Progress::Open(_) = ack.progress {
            grow(window, ack.counted);
        }
        self.jitter.on_ack(ack, window.cwnd);
        if let Some(rtt) = ack.rtt.filter(|_| ack.progress != Progress::Duplicate) {
            self.rtt = rtt;
            if rtt > self.max_rtt && self.is_queueing(window) {
                self.max_rtt = rtt;
            }
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        let loss_rate = self.losses.declare(loss);
        if is_same_event(loss, self.reduced) {
            return SAME_EVENT;
        }
        let judgement = self.judge(window);
        let reduction = match (judgement, loss.cause) {
            (Judgement::Congestion, _) => halve(loss, window),
            (Judgement::Random, LossCause::Duplicates) => Reduction::Kept,
            (Judgement::Random, _) => self.after_random_timeout(loss, window),
        };
        if reduction == Reduction::Reduced {
            self.reduced = Some(loss.now);
        }
        if loss.cause != LossCause::Duplicates {
            self.max_rtt = Span::ZERO;
        }
        let doubles = self.config.double_retransmission.is_some_and(|most| loss_rate > most);
        let copies = if doubles && judgement == Judgement::Random { 2 } else { 1 };
        LossResponse { reduction, copies, judgement: Some(judgement) }
    }

    /// A mark is congestion, whatever the criteria say.
    fn on_mark(&mut self, mark: &Mark, window: &mut Window) -> Reduction {
        self.reduced = Some(mark.now);
        halve(&mark.as_loss(), window)
    }

    fn on_answered_loss(&mut self, loss: &Loss, _: &mut Window) -> LossResponse {
        self.losses.declare(loss);
        SAME_EVENT
    }

    fn jitter(&self, window: &Window) -> Option<Jitter> {
        Some(self.jitter.told(self.config.k, window.cwnd))
    }

    #[inline]
    fn extension(&self) -> Option<Form> {
        self.config.header.carried()
    }

    fn reads_timestamps(&self) -> bool {
        self.config.header == Form::Timestamps
    }

    #[inline]
    fn heeds(&self, echo: &Echo, una: u64) -> bool {
        // A trigger that is already acknowledged can only be a repetition.
        !self.config.filter || echo.trigger >= una
    }
}

#[cfg(test)]
mod tests;
