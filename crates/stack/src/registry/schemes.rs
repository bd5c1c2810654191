//! Every scheme of a paper: those of the cross-layer papers, and what they are compared with.

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

/// How the source of an entry begins that is a standard, a draft, a program or a control, and not a paper.
const NO_PAPERS: [&str; 8] = ["RFC", "draft", "IEEE", "lasthop", "the host", "ns-2", "FRN", "CSMA/CD"];

impl Scheme {
    /// Every scheme of a paper.
    pub fn all() -> impl Iterator<Item = Scheme> {
        let laws = CongestionKind::ALL.iter().map(|kind| Scheme::Congestion(*kind));
        laws.chain(AgentKind::ALL.iter().map(|kind| Scheme::Agent(*kind)))
            .chain(ArqKind::ALL.iter().map(|kind| Scheme::Arq(*kind)))
            .chain(IntervalKind::ALL.iter().map(|kind| Scheme::Interval(*kind)))
            .chain(ReactionKind::ALL.iter().map(|kind| Scheme::Reaction(*kind)))
            .chain(AqmKind::ALL.iter().map(|kind| Scheme::Aqm(*kind)))
            .chain(RecoveryKind::ALL.iter().map(|kind| Scheme::Recovery(*kind)))
            .filter(|scheme| !NO_PAPERS.iter().any(|other| scheme.entry().source.starts_with(other)))
    }

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

    #[test]
    fn each_is_listed_once_and_standards_are_none() {
        let keys: Vec<_> = Scheme::all().map(|scheme| (scheme.place(), scheme.entry().name)).collect();
        assert!(keys.iter().enumerate().all(|(at, key)| !keys[..at].contains(key)));
        let names: Vec<&str> = keys.into_iter().map(|(_, name)| name).collect();
        for name in ["ejtcp", "lle-tcp", "dynamic", "load-adaptive", "snoop", "freeze-tcp", "red", "tahoe"] {
            assert!(names.contains(&name), "{name}");
        }
        assert!(!names.contains(&"newreno") && !names.contains(&"codel") && !names.contains(&"none"));
    }
}
