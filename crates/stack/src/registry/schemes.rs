//! Every scheme of a paper, by its name: those of the cross-layer papers, then what they are compared with.

use super::{AgentKind, AqmKind, ArqKind, CongestionKind, Entry, IntervalKind, ReactionKind, RecoveryKind};

/// A scheme of a paper: the part that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// A congestion law.
    Congestion(CongestionKind),
    /// Loss recovery.
    Recovery(RecoveryKind),
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

/// Every scheme of a paper, by its name.
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
    ("snoop", Scheme::Agent(AgentKind::Snoop)),
    ("wtcp", Scheme::Agent(AgentKind::Wtcp)),
    ("arq-proxy", Scheme::Agent(AgentKind::ArqProxy)),
    ("hack", Scheme::Agent(AgentKind::Hack)),
    ("ack-filter", Scheme::Agent(AgentKind::AckFilter)),
    ("jtcp", Scheme::Congestion(CongestionKind::Jtcp)),
    ("westwood", Scheme::Congestion(CongestionKind::Westwood)),
    ("westwood-plus", Scheme::Congestion(CongestionKind::WestwoodPlus)),
    ("veno", Scheme::Congestion(CongestionKind::Veno)),
    ("vegas", Scheme::Congestion(CongestionKind::Vegas)),
    ("tahoe", Scheme::Recovery(RecoveryKind::Tahoe)),
    ("fack", Scheme::Recovery(RecoveryKind::Fack)),
    ("drop-head", Scheme::Aqm(AqmKind::DropHead)),
    ("red", Scheme::Aqm(AqmKind::Red)),
    ("mac80211", Scheme::Aqm(AqmKind::Mac80211)),
];

impl Scheme {
    /// What is known of the part.
    #[must_use]
    pub fn entry(self) -> Entry {
        match self {
            Scheme::Congestion(kind) => kind.entry(),
            Scheme::Recovery(kind) => kind.entry(),
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
            Scheme::Recovery(_) => ("loss recovery", "flows.NAME.tcp.recovery"),
            Scheme::Aqm(_) => ("AQM", "links.NAME.aqm.law"),
            Scheme::Agent(_) => ("agent", "agents.NAME.kind"),
            Scheme::Arq(_) => ("ARQ", "links.NAME.arq.kind"),
            Scheme::Interval(_) => ("interval", "links.NAME.frn.interval"),
            Scheme::Reaction(_) => ("reaction", "flows.NAME.tcp.reaction"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How the source of an entry begins that is a standard, a draft, a program or a control, and not a paper.
    const NO_PAPERS: [&str; 8] = ["RFC", "draft", "IEEE", "lasthop", "the host", "ns-2", "FRN", "CSMA/CD"];

    #[test]
    fn no_entry_with_a_paper_is_left_out() {
        let all = [
            CongestionKind::ALL.iter().map(|kind| kind.entry()).collect::<Vec<_>>(),
            RecoveryKind::ALL.iter().map(|kind| kind.entry()).collect(),
            AqmKind::ALL.iter().map(|kind| kind.entry()).collect(),
            AgentKind::ALL.iter().map(|kind| kind.entry()).collect(),
            ArqKind::ALL.iter().map(|kind| kind.entry()).collect(),
            IntervalKind::ALL.iter().map(|kind| kind.entry()).collect(),
            ReactionKind::ALL.iter().map(|kind| kind.entry()).collect(),
        ];
        let is_paper = |entry: &Entry| !NO_PAPERS.iter().any(|other| entry.source.starts_with(other));
        let listed = |entry: &Entry| SCHEMES.iter().any(|(_, scheme)| scheme.entry().name == entry.name);
        let missing: Vec<&str> = all
            .into_iter()
            .flatten()
            .filter(is_paper)
            .filter(|entry| !listed(entry))
            .map(|entry| entry.name)
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
