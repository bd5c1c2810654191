//! Every scheme of a cross-layer paper, by the name of its paper.

use super::{AgentKind, AqmKind, ArqKind, CongestionKind, Entry, IntervalKind, ReactionKind};

/// A scheme of a cross-layer paper: the part that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// A congestion law.
    Congestion(CongestionKind),
    /// The management of a queue.
    Aqm(AqmKind),
    /// An agent.
    Agent(AgentKind),
    /// An ARQ.
    Arq(ArqKind),
    /// A retransmission interval.
    Interval(IntervalKind),
    /// A reaction to events of the link.
    Reaction(ReactionKind),
}

/// Every scheme of a cross-layer paper, by the name of its paper.
pub const SCHEMES: &[(&str, Scheme)] = &[
    ("ejtcp", Scheme::Congestion(CongestionKind::Ejtcp)),
    ("jersey", Scheme::Congestion(CongestionKind::Jersey)),
    ("congestion-warning", Scheme::Aqm(AqmKind::Warning)),
    ("lle-tcp", Scheme::Agent(AgentKind::LleTcp)),
    ("proxy-tcp", Scheme::Agent(AgentKind::ProxyTcp)),
    ("dynamic-arq", Scheme::Arq(ArqKind::Dynamic)),
    ("load-adaptive", Scheme::Interval(IntervalKind::LoadAdaptive)),
    ("freeze-tcp", Scheme::Reaction(ReactionKind::FreezeTcp)),
    ("atcp", Scheme::Reaction(ReactionKind::Atcp)),
    ("ilc-tcp", Scheme::Reaction(ReactionKind::IlcTcp)),
    ("i-tcp", Scheme::Agent(AgentKind::ITcp)),
    ("m-tcp", Scheme::Agent(AgentKind::MTcp)),
];

impl Scheme {
    /// What is known of the part.
    #[must_use]
    pub fn entry(self) -> Entry {
        match self {
            Scheme::Congestion(kind) => kind.entry(),
            Scheme::Aqm(kind) => kind.entry(),
            Scheme::Agent(kind) => kind.entry(),
            Scheme::Arq(kind) => kind.entry(),
            Scheme::Interval(kind) => kind.entry(),
            Scheme::Reaction(kind) => kind.entry(),
        }
    }

    /// What it is a kind of, and the key of a scenario that chooses it.
    #[must_use]
    pub fn place(self) -> (&'static str, &'static str) {
        match self {
            Scheme::Congestion(_) => ("congestion law", "flows.NAME.tcp.variant"),
            Scheme::Aqm(_) => ("AQM", "links.NAME.aqm.law"),
            Scheme::Agent(_) => ("agent", "agents.NAME.kind"),
            Scheme::Arq(_) => ("ARQ", "links.NAME.arq.kind"),
            Scheme::Interval(_) => ("interval", "links.NAME.frn.interval"),
            Scheme::Reaction(_) => ("reaction", "flows.NAME.tcp.reaction"),
        }
    }
}
