//! The parameters of EJTCP, including switches for its parts.

use crate::estimate::Reach;
use crate::hooks::parameter::{Described, Exception, LONGEST, Setting, parameters, words};
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

words! { ModulationRule: Scale = "scale", ScaleDown = "scale-down", Off = "off" }

words! { RandomTimeout: Keep = "keep", SlowStart = "slow-start", Half = "half", Reno = "reno" }

/// The default share of the maximum round trip (J3).
const ALPHA: f64 = 0.8;

impl Described for EjtcpConfig {
    parameters! {
        /// whether the jitter ratio is used to classify losses
        "jitter-test": Flag = jitter_test, source("EJTCP (3.1)");
        /// segments queued per round trip from which jitter indicates congestion
        "k": Number = k, above("0"), at_most("1000"), source("EJTCP (2)");
        Reach::PARAMETER: Words = reach;
        /// round-trip time above which a loss may be congestion: a time, or the share alpha of the maximum; off uses
        /// jitter only
        "rtt-threshold": Time("ms") = (
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
                };
            },
        ), words(&["alpha", "off"]), at_most(LONGEST), source("EJTCP (3.1)");
        /// threshold as a share of the maximum round-trip time
        "alpha": Number = (
            |law| match law.rtt_threshold {
                RttThreshold::Share(alpha) => alpha,
                RttThreshold::Off | RttThreshold::Fixed(_) => ALPHA,
            },
            |law, alpha| law.rtt_threshold = RttThreshold::Share(alpha),
        ), at_least("0"), at_most("1"), only(&[("rtt-threshold", &["alpha"])]), source("EJTCP (3.1): 0.2 s of 0.25 s");
        /// loss rate above which a randomly lost segment is retransmitted twice
        "double-retransmission": Share or "off" = double_retransmission, at_most("100 %"), source("EJTCP (3.2)");
        /// segments over which the loss rate is computed: all, or the last N
        "loss-record": Segments or "all" = loss_record, at_least("1 segment"), at_most("1000000 segments");
        /// whether duplicate acknowledgements caused by the second of two copies are ignored
        "filter": Flag = filter, source("EJTCP (3.2)");
        /// burst limit: maximum number of segments that one acknowledgement releases
        "smooth": Segments or "off" = smooth, at_least("1 segment"), at_most("1000000 segments"), source("EJTCP (3.2)");
        /// effect of a modulation change of an 802.16 link on the window
        "modulation": Words("choice") = modulation, source("EJTCP (3.3)");
        /// window after a timeout classified as random: unchanged, slow start up to it, half of it, or as in Reno
        "after-random-timeout": Words("choice") = random_timeout;
        Form::PARAMETER: Words = header;
    }

    fn exception(&self) -> Option<Exception> {
        self.header.exception()
    }
}
