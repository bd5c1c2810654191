//! The parameters of dynamic ARQ, and its source for the timing of TCP senders.

use super::{Check, Clock, Deadline, Hopeless, Options, Order, estimate};
use crate::hooks::parameter::{Described, Domain, Exception, Parameter, Setting, Words, words};
use crate::units::Span;

/// The parameters of the scheme at one station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Where the timing of senders comes from.
    pub timing: TimingSource,
    /// The least timeout that senders are taken to have, where it is estimated.
    pub assumed_min_rto: Span,
    /// The readings of the slides.
    pub options: Options,
}

/// Where a link learns the timing of TCP senders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimingSource {
    /// From the host, at no cost: a labelled exception to what a link can know.
    #[default]
    Oracle,
    /// From the packets that pass.
    Estimate,
}

impl Default for Config {
    fn default() -> Config {
        let assumed_min_rto = estimate::Config::default().rto.min;
        Config { timing: TimingSource::default(), assumed_min_rto, options: Options::default() }
    }
}

impl Config {
    /// What the estimator of an access point is to assume.
    #[must_use]
    pub fn estimate(&self) -> estimate::Config {
        let mut config = estimate::Config::default();
        config.rto.min = self.assumed_min_rto;
        config.restart = self.options.deadline == Deadline::OfFlow;
        config
    }
}

impl Words for TimingSource {
    const WORDS: &'static [(&'static str, TimingSource)] =
        &[("oracle", TimingSource::Oracle), ("estimate", TimingSource::Estimate)];
}

impl Words for Order {
    const WORDS: &'static [(&'static str, Order)] = &[
        ("together", Order::Together),
        ("new-first", Order::NewFirst),
        ("retransmissions-first", Order::RetransmissionsFirst),
    ];
}

impl Words for Clock {
    const WORDS: &'static [(&'static str, Clock)] = &[("left", Clock::Left), ("rto", Clock::Rto)];
}

impl Words for Check {
    const WORDS: &'static [(&'static str, Check)] = &[("heads", Check::Heads), ("all", Check::All)];
}

impl Words for Hopeless {
    const WORDS: &'static [(&'static str, Hopeless)] =
        &[("send", Hopeless::Send), ("demote", Hopeless::Demote), ("drop", Hopeless::Drop)];
}

/// The paper's own algorithm.
const SLIDES: &str = "Mahmoodi et al. (Algorithm 1)";

impl Described for Config {
    const PARAMETERS: &'static [Parameter<Config>] = &[
        Parameter::<Self>::new(
            "timing",
            Domain::Words("source", words::<TimingSource>),
            "source of the timing of TCP senders: the simulator, or an estimate by the access point from passing segments",
            |arq| Setting::word(arq.timing),
            |arq, value| arq.timing = value.choice(),
        )
        .source("lasthop: dynamic-arq choice 5"),
        Parameter::<Self>::new(
            "assumed-min-rto",
            Domain::Time("ms"),
            "minimum retransmission timeout that the access point assumes for senders",
            |arq| Setting::Time(arq.assumed_min_rto),
            |arq, value| arq.assumed_min_rto = value.time(),
        )
        .source("Linux: TCP_RTO_MIN")
        .at_most("60 s")
        .only(&[("timing", &["estimate"])]),
        Parameter::<Self>::new(
            "order",
            Domain::Words("order", words::<Order>),
            "whether first transmissions are in Q1, precede units that are not urgent, or follow all retransmissions",
            |arq| Setting::word(arq.options.order),
            |arq, value| arq.options.order = value.choice(),
        )
        .source("lasthop: dynamic-arq choice 3"),
        Parameter::<Self>::new(
            "time",
            Domain::Words("reading", words::<Clock>),
            "meaning of RTO in a weight: the time left until the timer expires, or the timeout",
            |arq| Setting::word(arq.options.clock),
            |arq, value| arq.options.clock = value.choice(),
        )
        .source("lasthop: dynamic-arq choice 1"),
        Parameter::<Self>::new(
            "urgent",
            Domain::Words("choice", words::<Check>),
            "which units are checked for a timer that is about to expire: the head of each queue, or all",
            |arq| Setting::word(arq.options.check),
            |arq, value| arq.options.check = value.choice(),
        )
        .source(SLIDES),
        Parameter::<Self>::new(
            "hopeless",
            Domain::Words("choice", words::<Hopeless>),
            "treatment of a head with less than half a round trip left: sent, sent last, or given up",
            |arq| Setting::word(arq.options.hopeless),
            |arq, value| arq.options.hopeless = value.choice(),
        )
        .source(SLIDES),
        Parameter::<Self>::new(
            "restart",
            Domain::Flag,
            "true: the deadline is the flow's timer, which restarts; false: each packet has a deadline, one timeout after it was sent",
            |arq| Setting::Flag(arq.options.deadline == Deadline::OfFlow),
            |arq, value| {
                arq.options.deadline = if value.flag() { Deadline::OfFlow } else { Deadline::OfPacket };
            },
        )
        .source("RFC 6298 (5)"),
    ];

    fn exception(&self) -> Option<Exception> {
        (self.timing == TimingSource::Oracle).then_some(Exception {
            parameter: "timing",
            label: "TCP timers by oracle",
            meaning: "the timers of TCP senders as known to the simulator; an exception: a real access point could not read them, and captures cannot show them",
        })
    }
}
