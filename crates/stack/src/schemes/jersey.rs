//! TCP-Jersey: sets the window from the estimated rate when a queue warns of congestion, and keeps it at other losses.
//!
//! **Limits.** It relies on every queue that may drop to warn first (`links.NAME.aqm`), and on its flow using ECN. A
//! loss without a warning does not reduce the window, so a path without warnings is filled until timeouts empty it.
//! Acknowledgements that a queue on the return path delays distort the estimate ([`SlidingWindow`]). A warning
//! identifies the queue, not the flow that filled it: all flows through it respond alike.
//!
//! **Source.** Xu, Tian and Ansari, "TCP-Jersey for wireless IP communications", IEEE JSAC 22(4), 2004. Only the
//! abstract was available. The rules below come from a summary of the paper, and the constant K from an independent
//! ns-3 model (Jain, Jain and Tahiliani 2017), which agrees with the formula.
//!
//! **How.** Each acknowledgement yields a rate `R` ([`SlidingWindow`]), and `ownd = RTT_min R` segments. *Rate control*
//! at a warning sets `ssthresh = ownd` and `cwnd = ssthresh`, except that in slow start a window below it is kept. It
//! runs at an acknowledgement that echoes a warning, and at a third duplicate that does. At a third duplicate without a
//! warning the segment is retransmitted and the window does not change. A timeout is handled as in Reno, with `ssthresh
//! = ownd`. The window grows as in Reno.
//!
//! ```text
//!   third duplicate ──┬─ echoes a warning ──▶ congestion: rate control, resend
//!                     └─ does not ──────────▶ random: resend
//! ```
//!
//! **Choices.** All are our reading, since only the abstract was available. 1. The RTT in the estimator is TCP's own
//! smoothed estimate; `RTT_min` is the smallest single sample. 2. Rate control runs at every acknowledgement that
//! echoes a warning and advances outside recovery; `response = "once-a-window"` selects the response of RFC 3168
//! instead. 3. In congestion avoidance `cwnd = ssthresh` applies in both directions: a window below `ownd` rises to it.
//! 4. The warning returns through the echo of RFC 3168, which lasts until CWR arrives, so it may outlast the queue by a
//! round trip. CWR is sent once per window of data. 5. An acknowledgement that echoes a warning does not open the
//! window (RFC 3168, 6.1.2). 6. `ownd` is at least two segments. 7. A timeout counts as congestion if the last
//! acknowledgement echoed a warning, and as random otherwise; the window is reduced in both cases. 8. Until a rate and
//! a round trip are known it behaves as Reno. 9. Recovery is that of `NewReno`. 10. A loss in a window whose warning
//! was already answered runs rate control again if its third duplicate echoes a warning: it yields the same window.
//!
//! **Checked by** the tests below, `tests/scripts/wire/jersey-*`, and `crates/sim/tests/marking.rs`.

use crate::estimate::SlidingWindow;
use crate::hooks::parameter::{Described, parameters, words};
use crate::hooks::{
    Ack, Congestion, Count, EcnEcho, Judgement, Loss, LossCause, LossResponse, Mark, Progress, Reduction,
    Window, counts,
};
use crate::transport::congestion::{Reno, grow};
use crate::units::{Span, Time};

/// Minimum of the optimal window, in segments.
const MIN_OWND: f64 = 2.0;

/// The constants of TCP-Jersey.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JerseyConfig {
    /// Number of round trips in the window of the estimator (K).
    pub window: f64,
    /// Which acknowledgements with a warning trigger rate control.
    pub response: WarningResponse,
}

/// Which acknowledgements with a warning trigger rate control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarningResponse {
    /// Each of them.
    EveryAck,
    /// At the first in a window of data (RFC 3168, 6.1.2).
    OnceAWindow,
}

impl Default for JerseyConfig {
    fn default() -> JerseyConfig {
        JerseyConfig { window: 1.0, response: WarningResponse::EveryAck }
    }
}

words! { WarningResponse: EveryAck = "every-ack", OnceAWindow = "once-a-window" }

impl Described for JerseyConfig {
    parameters! {
        /// round trips in the sliding window of the rate estimator
        "window": Number = window, above("0"), at_most("1000"),
            source("the ns-3 model of Jain, Jain and Tahiliani 2017: K");
        /// whether each acknowledgement that echoes a warning sets the window, or the first in a window of data
        "response": Words("choice") = response;
    }
}

/// The state of TCP-Jersey.
#[derive(Clone, Debug)]
pub struct Jersey {
    response: WarningResponse,
    rate: SlidingWindow,
    least_rtt: Option<Span>,
    /// The ECN echo of the last acknowledgement.
    warning: EcnEcho,
    controls: u64,
}

impl Jersey {
    /// At the start of a connection.
    #[must_use]
    pub fn new(config: &JerseyConfig) -> Jersey {
        Jersey {
            response: config.response,
            rate: SlidingWindow::new(config.window),
            least_rtt: None,
            warning: EcnEcho::Unmarked,
            controls: 0,
        }
    }

    /// The optimal window: the estimated rate times the minimum round trip, in segments.
    fn ownd(&self) -> Option<f64> {
        let (rate, rtt) = (self.rate.rate()?, self.least_rtt?);
        Some((rate * rtt.as_secs()).max(MIN_OWND))
    }

    /// Sets the window from the rate. Returns false if there is no estimate.
    fn control(&mut self, window: &mut Window) -> bool {
        let Some(ownd) = self.ownd() else { return false };
        self.controls += 1;
        window.cwnd = if window.in_slow_start() { window.cwnd.min(ownd) } else { ownd };
        window.ssthresh = ownd;
        true
    }

    fn judgement(&self) -> Judgement {
        match self.warning {
            EcnEcho::Marked | EcnEcho::Counted(_) => Judgement::Congestion,
            EcnEcho::Unmarked => Judgement::Random,
        }
    }
}

impl Congestion for Jersey {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        self.rate.on_ack(ack.now, ack.progress, ack.srtt);
        self.warning = ack.ecn;
        match ack.progress {
            Progress::Open(_) => grow(window, ack.counted),
            Progress::Unlimited(_)
                if ack.ecn != EcnEcho::Unmarked && self.response == WarningResponse::EveryAck =>
            {
                self.control(window);
            }
            _ => {}
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        let judgement = self.judgement();
        let judged = |reduction| LossResponse { reduction, copies: 1, judgement: Some(judgement) };
        if loss.cause != LossCause::Duplicates {
            Reno.on_loss(loss, window);
            if let Some(ownd) = self.ownd() {
                window.ssthresh = ownd;
            }
            return judged(Reduction::Reduced);
        }
        if judgement == Judgement::Random {
            return judged(Reduction::Kept);
        }
        if !self.control(window) {
            Reno.on_loss(loss, window);
        }
        judged(Reduction::Reduced)
    }

    fn on_mark(&mut self, mark: &Mark, window: &mut Window) -> Reduction {
        // With a response to each acknowledgement, this one has already been answered.
        let answered = match self.response {
            WarningResponse::EveryAck => self.ownd().is_some(),
            WarningResponse::OnceAWindow => self.control(window),
        };
        if answered { Reduction::Reduced } else { Reno.on_mark(mark, window) }
    }

    fn on_answered_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        self.on_loss(loss, window)
    }

    fn estimate(&mut self, _: Time) -> Option<f64> {
        self.rate.rate()
    }

    fn counts(&self) -> Vec<Count> {
        counts! {
            /// times that the window was set from the estimated rate at a warning
            "rate_controls": "times" = self.controls;
        }
    }
}

#[cfg(test)]
mod tests;
