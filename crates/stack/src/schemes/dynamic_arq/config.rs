//! The parameters of dynamic ARQ, and its source for the timing of TCP senders.

use super::{Check, Clock, Deadline, Hopeless, Limit, Options, Order, Priority, Queues, estimate};
use crate::hooks::parameter::{Described, Exception, parameters, words};
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

words! { TimingSource: Oracle = "oracle", Estimate = "estimate" }

words! {
    Order: Together = "together", NewFirst = "new-first", RetransmissionsFirst = "retransmissions-first"
}

words! { Clock: Left = "left", Rto = "rto", None = "none" }

words! { Queues: Three = "three", One = "one", Flows = "flows" }

words! { Priority: Strict = "strict", Pass = "pass" }

words! { Limit: Count = "count", Never = "none" }

words! { Check: Heads = "heads", All = "all" }

words! { Hopeless: Send = "send", Demote = "demote", Drop = "drop" }

/// The paper's own algorithm.
const SLIDES: &str = "Mahmoodi et al. (Algorithm 1)";
/// Only with the queues of the slides.
const THREE: &[(&str, &[&str])] = &[("queues", &["three"])];
/// Only if the order depends on the timers of TCP senders.
const BY_TIMERS: &[(&str, &[&str])] = &[("queues", &["three"]), ("time", &["left", "rto"])];

impl Described for Config {
    parameters! {
        /// queues by retransmissions; or, as controls, one queue to whose end a failed fragment goes, or one per flow,
        /// served in turn, of which a failed fragment stays first
        "queues": Words("choice") = options.queues, source(SLIDES);
        /// meaning of RTO in a weight: the time left until the timer expires, or the timeout; none, a control: each
        /// queue in order of arrival and no urgent check
        "time": Words("reading") = options.clock, only(THREE), source("lasthop: dynamic-arq choice 1");
        /// source of the timing of TCP senders: the simulator, or an estimate by the access point from passing segments
        "timing": Words("source") = timing, only(BY_TIMERS), source("lasthop: dynamic-arq choice 5");
        /// minimum retransmission timeout that the access point assumes for senders
        "assumed-min-rto": Time("ms") = assumed_min_rto, at_most("60 s"), only(&[("timing", &["estimate"])]),
            source("Linux: TCP_RTO_MIN");
        /// whether first transmissions are in Q1, precede units that are not urgent, or follow all retransmissions
        "order": Words("order") = options.order, only(THREE), source("lasthop: dynamic-arq choice 3");
        /// whether a queue is served only while those before it are empty, or one fragment of each in turn
        "priority": Words("choice") = options.priority, only(THREE), source("lasthop: dynamic-arq choice 15");
        /// which units are checked for a timer that is about to expire: the head of each queue, or all
        "urgent": Words("choice") = options.check, only(BY_TIMERS), source(SLIDES);
        /// treatment of a head with less than half a round trip left: sent, sent last, or given up
        "hopeless": Words("choice") = options.hopeless, only(BY_TIMERS), source(SLIDES);
        /// true: the deadline is the flow's timer, which restarts; false: each packet has a deadline, one timeout after
        /// it was sent
        "restart": Flag = (
            |arq| arq.options.deadline == Deadline::OfFlow,
            |arq, restart| arq.options.deadline = if restart { Deadline::OfFlow } else { Deadline::OfPacket },
        ), only(BY_TIMERS), source("RFC 6298 (5)");
        /// whether a fragment is given up after its third retransmission, or only by the lifetime of its packet
        "limit": Words("choice") = options.limit, source(SLIDES);
        /// maximum time for which a client holds a packet until those before it have come; packets after that are
        /// discarded; none means that packets are passed up as they are complete
        "reorder-timeout": Time("ms") or "none" = reorder, above("0 s"), at_most("10 s"),
            source("IEEE 802.11-2012 (9.21.7); Linux: HT_RX_REORDER_BUF_TIMEOUT is 100 ms");
    }

    fn exception(&self) -> Option<Exception> {
        let is_exception = self.options.knows_timers() && self.timing == TimingSource::Oracle;
        is_exception.then_some(Exception {
            parameter: "timing",
            label: "TCP timers by oracle",
            meaning: "the timers of TCP senders as known to the simulator; an exception: a real access point could not read them, and captures cannot show them",
        })
    }
}
