//! JTCP: a loss counts as congestion only if the jitter ratio indicates queueing.
//!
//! **Limits.** The rule has no margin. Alone on a path that it fills, a flow sends one additional segment in each round
//! trip, and the ratio is then `1 / (w - 1)` against a threshold of `1 / w`. It needs exact timestamps and an
//! acknowledgement for every packet; with one for every second, growth halves and `k` must halve too. Losses close
//! together corrupt the ratio (EJTCP, 3.1). Random losses do not reduce the window, so JTCP takes more than its share
//! against flows that halve theirs.
//!
//! **Source.** Wu and Chen, "JTCP: jitter-based TCP for heterogeneous wireless networks", IEEE JSAC 22(4), 2004, as
//! EJTCP (2) quotes it.
//!
//! **How.** [`JitterRatio`] above `k / cwnd` at a third duplicate: `ssthresh = cwnd = cwnd / 2`. Otherwise the segment
//! is sent again, and `cwnd` and `ssthresh` do not change. Growth is Reno's.
//!
//! **Choices.** 1. A third duplicate within one smoothed round trip of the last reduction belongs to the same
//! congestion: the segment is sent again, and the window does not change. 2. [`TimeoutRule`] sets the reaction to a
//! timeout; the retransmission timer always backs off. 3. The timestamps use EJTCP's header extension, so that the two
//! are compared on equal terms; JTCP lacks only its trigger ([`Attribution::Cumulative`]). 4. [`Reach`] sets `w`.
//!
//! **Checked by** the tests below and `crates/sim/tests/judges.rs`.

use super::reno::{LOSS_WINDOW, Reno, grow};
use crate::estimate::{Attribution, JitterRatio, Reach};
use crate::hooks::parameter::{Described, Exception, parameters, words};
use crate::hooks::{
    Ack, Congestion, Jitter, Judgement, Loss, LossCause, LossResponse, Mark, Progress, Reduction, Window,
};
use crate::packet::Form;
use crate::units::Time;

/// The constants of JTCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JtcpConfig {
    /// Segments queued in a round trip above which the ratio indicates congestion (k).
    pub k: f64,
    /// Packets over which the ratio is computed.
    pub reach: Reach,
    /// The reaction to a timeout.
    pub timeout_rule: TimeoutRule,
    /// The form of the header extension.
    pub header: Form,
}

/// What JTCP does at a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutRule {
    /// As in Reno, regardless of the jitter ratio.
    Reno,
    /// A timeout that the jitter ratio classifies as random halves the window, without slow start.
    Half,
}

impl Default for JtcpConfig {
    fn default() -> JtcpConfig {
        JtcpConfig { k: 1.0, reach: Reach::Round, timeout_rule: TimeoutRule::Reno, header: Form::Option }
    }
}

words! { TimeoutRule: Reno = "reno", Half = "half" }

impl Described for JtcpConfig {
    parameters! {
        /// segments queued per round trip from which a loss counts as congestion
        "k": Number = k, above("0"), at_most("1000"), source("EJTCP (2)");
        Reach::PARAMETER: Words = reach;
        /// reaction to a timeout: as in Reno, or, if the jitter ratio indicates a random loss, half of the window
        /// without slow start
        "timeout-rule": Words("choice") = timeout_rule;
        Form::PARAMETER: Words = header;
    }

    fn exception(&self) -> Option<Exception> {
        self.header.exception()
    }
}

/// The state of JTCP.
#[derive(Clone, Debug)]
pub struct Jtcp {
    config: JtcpConfig,
    jitter: JitterRatio,
    reduced: Option<Time>,
}

impl Jtcp {
    /// The state at the start of a connection.
    #[must_use]
    pub fn new(config: &JtcpConfig) -> Jtcp {
        let attribution = match config.header {
            Form::Timestamps => Attribution::Trigger,
            Form::Probe | Form::Paper | Form::Option => Attribution::Cumulative,
        };
        let jitter = JitterRatio::new(attribution, config.reach);
        Jtcp { config: *config, jitter, reduced: None }
    }

    fn judge(&self, window: &Window) -> Judgement {
        if self.jitter.exceeds(self.config.k, window.cwnd) {
            Judgement::Congestion
        } else {
            Judgement::Random
        }
    }
}

/// Whether a loss occurs within one smoothed round trip of the last reduction.
pub(crate) fn is_same_event(loss: &Loss, reduced: Option<Time>) -> bool {
    loss.cause == LossCause::Duplicates
        && reduced.zip(loss.srtt).is_some_and(|(reduced, srtt)| loss.now.since(reduced) < srtt)
}

/// The answer to a loss that belongs to the congestion of the last reduction.
pub(crate) const SAME_EVENT: LossResponse =
    LossResponse { reduction: Reduction::Kept, copies: 1, judgement: Some(Judgement::Congestion) };

/// Halves the window: without slow start after duplicates, with it after a timeout.
pub(crate) fn halve(loss: &Loss, window: &mut Window) -> Reduction {
    if loss.cause != LossCause::RepeatedTimeout {
        window.ssthresh = window.cwnd / 2.0;
    }
    window.cwnd = if loss.cause == LossCause::Duplicates { window.ssthresh } else { LOSS_WINDOW };
    Reduction::Reduced
}

impl Congestion for Jtcp {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if let Progress::Open(_) = ack.progress {
            grow(window, ack.counted);
        }
        self.jitter.on_ack(ack, window.cwnd);
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        if is_same_event(loss, self.reduced) {
            return SAME_EVENT;
        }
        let judgement = self.judge(window);
        let random = judgement == Judgement::Random;
        let reduction = match (loss.cause, self.config.timeout_rule) {
            (LossCause::Duplicates, _) if random => Reduction::Kept,
            (LossCause::Timeout | LossCause::RepeatedTimeout, TimeoutRule::Half) if random => {
                window.ssthresh = window.cwnd / 2.0;
                window.cwnd = window.ssthresh;
                Reduction::Reduced
            }
            (LossCause::Timeout | LossCause::RepeatedTimeout, TimeoutRule::Reno) => {
                Reno.on_loss(loss, window).reduction
            }
            _ => halve(loss, window),
        };
        if reduction == Reduction::Reduced {
            self.reduced = Some(loss.now);
        }
        LossResponse { reduction, copies: 1, judgement: Some(judgement) }
    }

    /// A mark is congestion, whatever the ratio is.
    fn on_mark(&mut self, mark: &Mark, window: &mut Window) -> Reduction {
        self.reduced = Some(mark.now);
        halve(&mark.as_loss(), window)
    }

    fn on_answered_loss(&mut self, _: &Loss, _: &mut Window) -> LossResponse {
        SAME_EVENT
    }

    fn jitter(&self, window: &Window) -> Option<Jitter> {
        Some(self.jitter.told(self.config.k, window.cwnd))
    }

    fn extension(&self) -> Option<Form> {
        self.config.header.carried()
    }

    fn reads_timestamps(&self) -> bool {
        self.config.header == Form::Timestamps
    }
}

#[cfg(test)]
mod tests;
