//! The parameters of EJTCP, including switches for its parts.

use crate::estimate::Reach;
use crate::hooks::parameter::{Described, Domain, Exception, LONGEST, Parameter, Setting, Words, words};
use crate::packet::Form;
use crate::units::Span;

/// The constants of EJTCP, and which of its parts are in use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EjtcpConfig {
    /// Whether the jitter ratio is a criterion.
    pub jitter_test: bool,
    /// Segments queued in a round trip above which the ratio indicates congestion (k).
    pub k: f64,
    /// Packets over which the ratio is computed.
    pub reach: Reach,
    /// Round trip above which congestion is possible.
    pub rtt_threshold: RttThreshold,
    /// Loss rate above which a random loss is answered by two copies; `None` always sends one.
    pub double_retransmission: Option<f64>,
    /// Segments over which the loss rate is computed; `None` uses all.
    pub loss_record: Option<u32>,
    /// Whether a duplicate triggered by a second copy is ignored.
    pub filter: bool,
    /// Maximum number of segments released by one acknowledgement (N).
    pub smooth: Option<u32>,
    /// The reaction to a change of modulation.
    pub modulation: ModulationRule,
    /// The reaction to a timeout that is classified as random.
    pub random_timeout: RandomTimeout,
    /// The form of the header extension.
    pub header: Form,
}

/// The threshold of round trips.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RttThreshold {
    /// None: the round trip is not a criterion.
    Off,
    /// This share of the maximum round trip (alpha).
    Share(f64),
    /// A fixed time.
    Fixed(Span),
}

/// The reaction of `cwnd` and `ssthresh` to a change of modulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModulationRule {
    /// Nothing.
    Off,
    /// They are scaled with the rate.
    Scale,
    /// They are scaled with a falling rate, and grow normally with a rising one.
    ScaleDown,
}

/// The reaction to a timeout that is classified as random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomTimeout {
    /// The window is unchanged, as after duplicates: the rule taken literally.
    Keep,
    /// Slow start up to the previous window.
    SlowStart,
    /// Half the window, without slow start.
    Half,
    /// As in Reno.
    Reno,
}

impl Default for EjtcpConfig {
    fn default() -> EjtcpConfig {
        EjtcpConfig {
            jitter_test: true,
            k: 1.0,
            reach: Reach::Round,
            rtt_threshold: RttThreshold::Share(ALPHA),
            double_retransmission: Some(0.01),
            loss_record: None,
            filter: true,
            smooth: Some(3),
            modulation: ModulationRule::Scale,
            random_timeout: RandomTimeout::Keep,
            header: Form::Option,
        }
    }
}

impl Words for ModulationRule {
    const WORDS: &'static [(&'static str, ModulationRule)] = &[
        ("scale", ModulationRule::Scale),
        ("scale-down", ModulationRule::ScaleDown),
        ("off", ModulationRule::Off),
    ];
}

impl Words for RandomTimeout {
    const WORDS: &'static [(&'static str, RandomTimeout)] = &[
        ("keep", RandomTimeout::Keep),
        ("slow-start", RandomTimeout::SlowStart),
        ("half", RandomTimeout::Half),
        ("reno", RandomTimeout::Reno),
    ];
}

/// The default share of the maximum round trip (J3).
const ALPHA: f64 = 0.8;

impl Described for EjtcpConfig {
    const PARAMETERS: &'static [Parameter<EjtcpConfig>] = &[
        Parameter::<Self>::new(
            "jitter-test",
            Domain::Flag,
            "whether the jitter ratio is used to classify losses",
            |law| Setting::Flag(law.jitter_test),
            |law, value| law.jitter_test = value.flag(),
        )
        .source("EJTCP (3.1)"),
        Parameter::<Self>::new(
            "k",
            Domain::Number,
            "segments queued per round trip from which jitter indicates congestion",
            |law| Setting::Number(law.k),
            |law, value| law.k = value.number(),
        )
        .source("EJTCP (2)")
        .above("0")
        .at_most("1000"),
        Reach::parameter(|law| Setting::word(law.reach), |law, value| law.reach = value.choice()),
        Parameter::<Self>::new(
            "rtt-threshold",
            Domain::Time("ms"),
            "round-trip time above which a loss may be congestion: a time, or the share alpha of the maximum; off uses jitter only",
            |law| match law.rtt_threshold {
                RttThreshold::Off => Setting::Word("off"),
                RttThreshold::Share(_) => Setting::Word("alpha"),
                RttThreshold::Fixed(span) => Setting::Time(span),
            },
            |law, value| {
                law.rtt_threshold = match value {
                    Setting::Word("off") => RttThreshold::Off,
                    Setting::Word(_) => RttThreshold::Share(ALPHA),
                    time => RttThreshold::Fixed(time.time()),
                }
            },
        )
        .words(&["alpha", "off"])
        .source("EJTCP (3.1)")
        .at_most(LONGEST),
        Parameter::<Self>::new(
            "alpha",
            Domain::Number,
            "threshold as a share of the maximum round-trip time",
            |law| {
                Setting::Number(match law.rtt_threshold {
                    RttThreshold::Share(alpha) => alpha,
                    RttThreshold::Off | RttThreshold::Fixed(_) => ALPHA,
                })
            },
            |law, value| law.rtt_threshold = RttThreshold::Share(value.number()),
        )
        .source("EJTCP (3.1): 0.2 s of 0.25 s")
        .at_least("0")
        .at_most("1")
        .only(&[("rtt-threshold", &["alpha"])]),
        Parameter::<Self>::new(
            "double-retransmission",
            Domain::Share,
            "loss rate above which a randomly lost segment is retransmitted twice",
            |law| law.double_retransmission.map_or(Setting::Word("off"), Setting::Share),
            |law, value| law.double_retransmission = (!value.is("off")).then(|| value.number()),
        )
        .words(&["off"])
        .source("EJTCP (3.2)")
        .at_most("100 %"),
        Parameter::<Self>::new(
            "loss-record",
            Domain::Segments,
            "segments over which the loss rate is computed: all, or the last N",
            |law| law.loss_record.map_or(Setting::Word("all"), Setting::Segments),
            |law, value| law.loss_record = (!value.is("all")).then(|| value.segments()),
        )
        .words(&["all"])
        .at_least("1 segment")
        .at_most("1000000 segments"),
        Parameter::<Self>::new(
            "filter",
            Domain::Flag,
            "whether duplicate acknowledgements caused by the second of two copies are ignored",
            |law| Setting::Flag(law.filter),
            |law, value| law.filter = value.flag(),
        )
        .source("EJTCP (3.2)"),
        Parameter::<Self>::new(
            "smooth",
            Domain::Segments,
            "burst limit: maximum number of segments that one acknowledgement releases",
            |law| law.smooth.map_or(Setting::Word("off"), Setting::Segments),
            |law, value| law.smooth = (!value.is("off")).then(|| value.segments()),
        )
        .words(&["off"])
        .source("EJTCP (3.2)")
        .at_least("1 segment")
        .at_most("1000000 segments"),
        Parameter::<Self>::new(
            "modulation",
            Domain::Words("choice", words::<ModulationRule>),
            "effect of a modulation change of an 802.16 link on the window",
            |law| Setting::word(law.modulation),
            |law, value| law.modulation = value.choice(),
        )
        .source("EJTCP (3.3)"),
        Parameter::<Self>::new(
            "after-random-timeout",
            Domain::Words("choice", words::<RandomTimeout>),
            "window after a timeout classified as random: unchanged, slow start up to it, half of it, or as in Reno",
            |law| Setting::word(law.random_timeout),
            |law, value| law.random_timeout = value.choice(),
        ),
        Form::parameter(|law| Setting::word(law.header), |law, value| law.header = value.choice()),
    ];

    fn exception(&self) -> Option<Exception> {
        self.header.exception()
    }
}
