//! The constants of BBR version 3 that a scenario may vary.

use crate::hooks::parameter::{Described, Domain, Parameter, Setting};
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

type Get = fn(&Bbr3Config) -> Setting;
type Set = fn(&mut Bbr3Config, Setting);

const fn share(
    name: &'static str,
    meaning: &'static str,
    source: &'static str,
    get: Get,
    set: Set,
) -> Parameter<Bbr3Config> {
    Parameter::new(name, Domain::Share, meaning, get, set).source(source)
}

const fn gain(
    name: &'static str,
    meaning: &'static str,
    source: &'static str,
    get: Get,
    set: Set,
) -> Parameter<Bbr3Config> {
    Parameter::new(name, Domain::Number, meaning, get, set).source(source).at_most("100")
}

const fn time(
    (name, unit): (&'static str, &'static str),
    meaning: &'static str,
    source: &'static str,
    get: Get,
    set: Set,
) -> Parameter<Bbr3Config> {
    Parameter::new(name, Domain::Time(unit), meaning, get, set).source(source).at_most("1000 s")
}

impl Described for Bbr3Config {
    const PARAMETERS: &'static [Parameter<Bbr3Config>] = &[
        share(
            "loss-threshold",
            "share of the segments in flight that may be lost in a round trip before a probe for bandwidth is too high",
            "draft-ietf-ccwg-bbr-06 (2.8): BBR.LossThresh",
            |law| Setting::Share(law.loss_threshold),
            |law, value| law.loss_threshold = value.number(),
        )
        .at_most("0.99"),
        share(
            "beta",
            "factor by which a round trip with losses multiplies the short-term bounds at most",
            "draft-ietf-ccwg-bbr-06 (2.8): BBR.Beta",
            |law| Setting::Share(law.beta),
            |law, value| law.beta = value.number(),
        )
        .above("0"),
        share(
            "headroom",
            "share of the long-term bound that is left to other flows between probes",
            "draft-ietf-ccwg-bbr-06 (2.8): BBR.Headroom",
            |law| Setting::Share(law.headroom),
            |law, value| law.headroom = value.number(),
        ),
        share(
            "pacing-margin",
            "share by which the pace is below the estimated rate",
            "draft-ietf-ccwg-bbr-06 (2.5): BBR.PacingMarginPercent",
            |law| Setting::Share(law.margin),
            |law, value| law.margin = value.number(),
        )
        .at_most("0.5"),
        gain(
            "startup-gain",
            "pacing gain of Startup; Drain has the inverse of the window gain",
            "draft-ietf-ccwg-bbr-06 (2.5): 4 ln 2",
            |law| Setting::Number(law.startup_gain),
            |law, value| law.startup_gain = value.number(),
        )
        .above("1"),
        gain(
            "up-gain",
            "pacing gain of ProbeBW_UP; the window gain grows by as much there",
            "draft-ietf-ccwg-bbr-06 (5.3.3.5)",
            |law| Setting::Number(law.up_gain),
            |law, value| law.up_gain = value.number(),
        )
        .above("1"),
        share(
            "down-gain",
            "pacing gain of ProbeBW_DOWN",
            "draft-ietf-ccwg-bbr-06 (5.3.3.1)",
            |law| Setting::Share(law.down_gain),
            |law, value| law.down_gain = value.number(),
        )
        .above("0"),
        gain(
            "window-gain",
            "window in bandwidth-delay products, outside ProbeBW_UP and ProbeRTT",
            "draft-ietf-ccwg-bbr-06 (2.6): BBR.DefaultCwndGain",
            |law| Setting::Number(law.window_gain),
            |law, value| law.window_gain = value.number(),
        )
        .at_least("1"),
        time(
            ("probe-wait", "s"),
            "least time between probes for bandwidth",
            "draft-ietf-ccwg-bbr-06 (5.3.3.8.2): T_bbr",
            |law| Setting::Time(law.probe_wait),
            |law, value| law.probe_wait = value.time(),
        ),
        time(
            ("probe-spread", "s"),
            "greatest random time between probes for bandwidth, in addition",
            "draft-ietf-ccwg-bbr-06 (5.3.3.8.2): T_bbr",
            |law| Setting::Time(law.probe_spread),
            |law, value| law.probe_spread = value.time(),
        ),
        Parameter::<Self>::new(
            "reno-rounds",
            Domain::Count,
            "most round trips between probes for bandwidth, one less in half of the cases; fewer where the window is smaller",
            |law| Setting::Count(law.reno_rounds.into()),
            |law, value| law.reno_rounds = value.count() as u32,
        )
        .source("draft-ietf-ccwg-bbr-06 (5.3.3.8.2): T_reno_bound")
        .at_least("1")
        .at_most("1000000"),
        Parameter::<Self>::new(
            "startup-losses",
            Domain::Count,
            "separate ranges of segments lost in a round trip that end Startup, if the loss rate is above the threshold",
            |law| Setting::Count(law.startup_losses.into()),
            |law, value| law.startup_losses = value.count() as u32,
        )
        .source("draft-ietf-ccwg-bbr-06 (5.3.1.3): BBRStartupFullLossCnt")
        .at_least("1")
        .at_most("1000000"),
        time(
            ("rtt-window", "s"),
            "how long the least round trip is trusted",
            "draft-ietf-ccwg-bbr-06 (2.16.1): BBR.MinRTTFilterLen",
            |law| Setting::Time(law.rtt_window),
            |law, value| law.rtt_window = value.time(),
        )
        .above("0 s"),
        time(
            ("probe-rtt-interval", "s"),
            "time without a lower round trip after which the flow probes for it",
            "draft-ietf-ccwg-bbr-06 (2.16.2): BBR.ProbeRTTInterval",
            |law| Setting::Time(law.probe_rtt_interval),
            |law, value| law.probe_rtt_interval = value.time(),
        )
        .above("0 s"),
        time(
            ("probe-rtt-time", "ms"),
            "least duration of a probe for the round trip",
            "draft-ietf-ccwg-bbr-06 (2.16.2): BBR.ProbeRTTDuration",
            |law| Setting::Time(law.probe_rtt_time),
            |law, value| law.probe_rtt_time = value.time(),
        ),
        share(
            "probe-rtt-gain",
            "window of a probe for the round trip, in bandwidth-delay products",
            "draft-ietf-ccwg-bbr-06 (2.16.2): BBR.ProbeRTTCwndGain",
            |law| Setting::Share(law.probe_rtt_gain),
            |law, value| law.probe_rtt_gain = value.number(),
        ),
        time(
            ("quantum", "ms"),
            "how much of the pace leaves in one burst, of two segments to 64 KiB; 0 s paces single segments",
            "draft-ietf-ccwg-bbr-06 (5.6.3): C.send_quantum",
            |law| Setting::Time(law.quantum),
            |law, value| law.quantum = value.time(),
        ),
    ];
}
