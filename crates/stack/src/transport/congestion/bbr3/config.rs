//! The constants of BBR version 3 that a scenario may vary.

use crate::hooks::parameter::{Described, parameters};
use crate::units::Span;

/// The constants of BBR version 3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bbr3Config {
    /// Share of the segments in flight that may be lost in a round before a probe is taken to be too high.
    pub loss_threshold: f64,
    /// What a round with losses leaves at least of the bounds of the short term.
    pub beta: f64,
    /// Share of the bound of the long term that is left to others while the flow does not probe.
    pub headroom: f64,
    /// Share by which the pace is below the estimated rate.
    pub margin: f64,
    /// Gain of the pace in Startup.
    pub startup_gain: f64,
    /// Gain of the pace in `ProbeBW_UP`.
    pub up_gain: f64,
    /// Gain of the pace in `ProbeBW_DOWN`.
    pub down_gain: f64,
    /// Gain of the window outside `ProbeBW_UP` and `ProbeRTT`.
    pub window_gain: f64,
    /// Least time between probes for bandwidth.
    pub probe_wait: Span,
    /// Greatest random time in addition.
    pub probe_spread: Span,
    /// Most round trips between probes for bandwidth.
    pub reno_rounds: u32,
    /// Separate ranges of lost segments in a round that end Startup.
    pub startup_losses: u32,
    /// How long the least round trip is trusted.
    pub rtt_window: Span,
    /// Time without a lower round trip after which the flow probes for it.
    pub probe_rtt_interval: Span,
    /// How long such a probe lasts.
    pub probe_rtt_time: Span,
    /// Window of such a probe, in bandwidth-delay products.
    pub probe_rtt_gain: f64,
    /// How much of the pace leaves in one burst.
    pub quantum: Span,
}

impl Default for Bbr3Config {
    fn default() -> Bbr3Config {
        Bbr3Config {
            loss_threshold: 0.02,
            beta: 0.7,
            headroom: 0.15,
            margin: 0.01,
            startup_gain: 2.77,
            up_gain: 1.25,
            down_gain: 0.9,
            window_gain: 2.0,
            probe_wait: Span::from_secs(2),
            probe_spread: Span::from_secs(1),
            reno_rounds: 63,
            startup_losses: 6,
            rtt_window: Span::from_secs(10),
            probe_rtt_interval: Span::from_secs(5),
            probe_rtt_time: Span::from_millis(200),
            probe_rtt_gain: 0.5,
            quantum: Span::from_millis(1),
        }
    }
}

impl Described for Bbr3Config {
    parameters! {
        /// share of the segments in flight that may be lost in a round trip before a probe for bandwidth is too high
        "loss-threshold": Share = loss_threshold, at_most("0.99"),
            source("draft-ietf-ccwg-bbr-06 (2.8): BBR.LossThresh");
        /// factor by which a round trip with losses multiplies the short-term bounds at most
        "beta": Share = beta, above("0"), source("draft-ietf-ccwg-bbr-06 (2.8): BBR.Beta");
        /// share of the long-term bound that is left to other flows between probes
        "headroom": Share = headroom, source("draft-ietf-ccwg-bbr-06 (2.8): BBR.Headroom");
        /// share by which the pace is below the estimated rate
        "pacing-margin": Share = margin, at_most("0.5"),
            source("draft-ietf-ccwg-bbr-06 (2.5): BBR.PacingMarginPercent");
        /// pacing gain of Startup; Drain has the inverse of the window gain
        "startup-gain": Number = startup_gain, above("1"), at_most("100"),
            source("draft-ietf-ccwg-bbr-06 (2.5): 4 ln 2");
        /// pacing gain of ProbeBW_UP; the window gain grows by as much there
        "up-gain": Number = up_gain, above("1"), at_most("100"), source("draft-ietf-ccwg-bbr-06 (5.3.3.5)");
        /// pacing gain of ProbeBW_DOWN
        "down-gain": Share = down_gain, above("0"), source("draft-ietf-ccwg-bbr-06 (5.3.3.1)");
        /// window in bandwidth-delay products, outside ProbeBW_UP and ProbeRTT
        "window-gain": Number = window_gain, at_least("1"), at_most("100"),
            source("draft-ietf-ccwg-bbr-06 (2.6): BBR.DefaultCwndGain");
        /// least time between probes for bandwidth
        "probe-wait": Time("s") = probe_wait, at_most("1000 s"), source("draft-ietf-ccwg-bbr-06 (5.3.3.8.2): T_bbr");
        /// greatest random time between probes for bandwidth, in addition
        "probe-spread": Time("s") = probe_spread, at_most("1000 s"),
            source("draft-ietf-ccwg-bbr-06 (5.3.3.8.2): T_bbr");
        /// most round trips between probes for bandwidth, one less in half of the cases; fewer where the window is
        /// smaller
        "reno-rounds": Count = reno_rounds, at_least("1"), at_most("1000000"),
            source("draft-ietf-ccwg-bbr-06 (5.3.3.8.2): T_reno_bound");
        /// separate ranges of segments lost in a round trip that end Startup, if the loss rate is above the threshold
        "startup-losses": Count = startup_losses, at_least("1"), at_most("1000000"),
            source("draft-ietf-ccwg-bbr-06 (5.3.1.3): BBRStartupFullLossCnt");
        /// how long the least round trip is trusted
        "rtt-window": Time("s") = rtt_window, above("0 s"), at_most("1000 s"),
            source("draft-ietf-ccwg-bbr-06 (2.16.1): BBR.MinRTTFilterLen");
        /// time without a lower round trip after which the flow probes for it
        "probe-rtt-interval": Time("s") = probe_rtt_interval, above("0 s"), at_most("1000 s"),
            source("draft-ietf-ccwg-bbr-06 (2.16.2): BBR.ProbeRTTInterval");
        /// least duration of a probe for the round trip
        "probe-rtt-time": Time("ms") = probe_rtt_time, at_most("1000 s"),
            source("draft-ietf-ccwg-bbr-06 (2.16.2): BBR.ProbeRTTDuration");
        /// window of a probe for the round trip, in bandwidth-delay products
        "probe-rtt-gain": Share = probe_rtt_gain, source("draft-ietf-ccwg-bbr-06 (2.16.2): BBR.ProbeRTTCwndGain");
        /// how much of the pace leaves in one burst, of two segments to 64 KiB; 0 s paces single segments
        "quantum": Time("ms") = quantum, at_most("1000 s"), source("draft-ietf-ccwg-bbr-06 (5.6.3): C.send_quantum");
    }
}
