//! The parameters of dynamic ARQ, and its source for the timing of TCP senders.

use super::{Check, Clock, Deadline, Hopeless, Limit, Options, Order, Priority, Queues, estimate};
use crate::hooks::parameter::{Described, Domain, Exception, Parameter, Setting, Words, words};
use crate::units::Span;

/// The parameters of the scheme at one station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The source of the timing of senders.
    pub timing: TimingSource,
    /// The minimum timeout that senders are assumed to have, if their timing is estimated.
    pub assumed_min_rto: Span,
    /// The interpretation of the slides.
    pub options: Options,
    /// How long a receiver holds a packet while earlier ones are missing, if it does.
    pub reorder: Option<Span>,
}

/// Where a link learns the timing of TCP senders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimingSource {
    /// The host, at no cost: a labelled exception to what a link can know.
    #[default]
    Oracle,
    /// Passing packets.
    Estimate,
}

impl Default for Config {
    fn default() -> Config {
        let assumed_min_rto = estimate::Config::default().rto.min;
        Config {
            timing: TimingSource::default(),
            assumed_min_rto,
            options: Options::default(),
            reorder: None,
        }
    }
}

impl Config {
    /// The assumptions of the estimator of an access point.
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
    const WORDS: &'static [(&'static str, Clock)] =
        &[("left", Clock::Left), ("rto", Clock::Rto), ("none", Clock::None)];
}

impl Words for Queues {
    const WORDS: &'static [(&'static str, Queues)] =
        &[("three", Queues::Three), ("one", Queues::One), ("flows", Queues::Flows)];
}

impl Words for Priority {
    const WORDS: &'static [(&'static str, Priority)] =
        &[("strict", Priority::Strict), ("pass", Priority::Pass)];
}

impl Words for Limit {
    const WORDS: &'static [(&'static str, Limit)] = &[("count", Limit::Count), ("none", Limit::Never)];
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
/// Only with the queues of the slides.
const THREE: &[(&str, &[&str])] = &[("queues", &["three"])];
/// Only if the order depends on the timers of TCP senders.
const BY_TIMERS: &[(&str, &[&str])] = &[("queues", &["three"]), ("time", &["left", "rto"])];

impl Described for Config {
    const PARAMETERS: &'static [Parameter<Config>] = &[
        Parameter::<Self>::new(
            "queues",
            Domain::Words("choice", words::<Queues>),
            "queues by retransmissions; or, as controls, one queue to whose end a failed fragment goes, or one per flow, served in turn, of which a failed fragment stays first",
            |arq| Setting::word(arq.options.queues),
            |arq, value| arq.options.queues = value.choice(),
        )
        .source(SLIDES),
        Parameter::<Self>::new(
            "time",
            Domain::Words("reading", words::<Clock>),
            "meaning of RTO in a weight: the time left until the timer expires, or the timeout; none, a control: each queue in order of arrival and no urgent check",
            |arq| Setting::word(arq.options.clock),
            |arq, value| arq.options.clock = value.choice(),
        )
        .source("lasthop: dynamic-arq choice 1")
        .only(THREE),
        Parameter::<Self>::new(
            "timing",
            Domain::Words("source", words::<TimingSource>),
            "source of the timing of TCP senders: the simulator, or an estimate by the access point from passing segments",
            |arq| Setting::word(arq.timing),
            |arq, value| arq.timing = value.choice(),
        )
        .source("lasthop: dynamic-arq choice 5")
        .only(BY_TIMERS),
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
        .source("lasthop: dynamic-arq choice 3")
        .only(THREE),
        Parameter::<Self>::new(
            "priority",
            Domain::Words("choice", words::<Priority>),
            "whether a queue is served only while those before it are empty, or one fragment of each in turn",
            |arq| Setting::word(arq.options.priority),
            |arq, value| arq.options.priority = value.choice(),
        )
        .source("lasthop: dynamic-arq choice 15")
        .only(THREE),
        Parameter::<Self>::new(
            "urgent",
            Domain::Words("choice", words::<Check>),
            "which units are checked for a timer that is about to expire: the head of each queue, or all",
            |arq| Setting::word(arq.options.check),
            |arq, value| arq.options.check = value.choice(),
        )
        .source(SLIDES)
        .only(BY_TIMERS),
        Parameter::<Self>::new(
            "hopeless",
            Domain::Words("choice", words::<Hopeless>),
            "treatment of a head with less than half a round trip left: sent, sent last, or given up",
            |arq| Setting::word(arq.options.hopeless),
            |arq, value| arq.options.hopeless = value.choice(),
        )
        .source(SLIDES)
        .only(BY_TIMERS),
        Parameter::<Self>::new(
            "restart",
            Domain::Flag,
            "true: the deadline is the flow's timer, which restarts; false: each packet has a deadline, one timeout after it was sent",
            |arq| Setting::Flag(arq.options.deadline == Deadline::OfFlow),
            |arq, value| {
                arq.options.deadline = if value.flag() { Deadline::OfFlow } else { Deadline::OfPacket };
            },
        )
        .source("RFC 6298 (5)")
        .only(BY_TIMERS),
        Parameter::<Self>::new(
            "limit",
            Domain::Words("choice", words::<Limit>),
            "whether a fragment is given up after its third retransmission, or only by the lifetime of its packet",
            |arq| Setting::word(arq.options.limit),
            |arq, value| arq.options.limit = value.choice(),
        )
        .source(SLIDES),
        Parameter::<Self>::new(
            "reorder-timeout",
            Domain::Time("ms"),
            "maximum time for which a client holds a packet until those before it have come; packets after that are discarded; none means that packets are passed up as they are complete",
            |arq| arq.reorder.map_or(Setting::Word("none"), Setting::Time),
            |arq, value| arq.reorder = (!value.is("none")).then(|| value.time()),
        )
        .words(&["none"])
        .source("IEEE 802.11-2012 (9.21.7); Linux: HT_RX_REORDER_BUF_TIMEOUT is 100 ms")
        .above("0 s")
        .at_most("10 s"),
    ];

    fn exception(&self) -> Option<Exception> {
        let is_exception = self.options.knows_timers() && self.timing == TimingSource::Oracle;
        is_exception.then_some(Exception {
            parameter: "timing",
            label: "TCP timers by oracle",
            meaning: "the timers of TCP senders as known to the simulator; an exception: a real access point could not read them, and captures cannot show them",
        })
    }
}
