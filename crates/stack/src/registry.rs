//! One line per scheme and variant: the only place of the stack that names them.
//!
//! A line holds the name a scenario uses, where it comes from, and how figures draw it. The lists of the command line,
//! the scenario reader and the legends all read it from here.

use crate::link::slotted::interval::{Backoff, Fixed};
use crate::schemes::{DynamicArq, Ejtcp, LleTcp, LoadAdaptive, ProxyTcp, Transparent};
use crate::transport::congestion::{Bbr, Cubic, Jtcp, Reno, Vegas, Veno, Westwood, WestwoodPlus};
use crate::transport::recovery::{Fack, NewReno, RenoRecovery, SackRecovery, Tahoe};

/// How figures draw a line: a colour (hex) and a marker (matplotlib's letter).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Colour as `#rrggbb`.
    pub colour: &'static str,
    /// Marker letter.
    pub marker: &'static str,
}

/// What is known of a registered part.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name in scenarios.
    pub name: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
    /// Where it is defined.
    pub source: &'static str,
}

/// A `tcp.variant`: a preset of the pair of recovery and congestion.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The name in scenarios.
    pub name: &'static str,
    /// Its recovery.
    pub recovery: RecoveryKind,
    /// Its congestion law.
    pub congestion: CongestionKind,
    /// One line on what it does.
    pub summary: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// How figures draw it.
    pub style: Style,
}

macro_rules! kinds {
    ($(#[$doc:meta])* $kind:ident, $machine:ident: $trait_doc:literal; $($case:ident($type:ty) = $name:literal, $source:literal, $summary:literal;)+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $kind {
            $(#[doc = $summary] $case,)+
        }

        impl $kind {
            /// All of them, in the order they are listed.
            pub const ALL: &'static [$kind] = &[$($kind::$case),+];

            /// What is known of it.
            #[must_use]
            pub fn entry(self) -> Entry {
                match self {
                    $($kind::$case => Entry { name: $name, summary: $summary, source: $source },)+
                }
            }

            /// The one with this name.
            #[must_use]
            pub fn named(name: &str) -> Option<$kind> {
                $kind::ALL.iter().copied().find(|kind| kind.entry().name == name)
            }
        }

        #[doc = $trait_doc]
        #[derive(Clone, Debug)]
        pub enum $machine {
            $(#[doc = $summary] $case($type),)+
        }
    };
}

kinds! {
    /// What to resend, and when recovery ends.
    RecoveryKind, RecoveryMachine: "The state of a recovery, dispatched without a virtual call.";
    Tahoe(Tahoe) = "tahoe", "Jacobson 1988", "third duplicate: window of one, everything again from the hole";
    Reno(RenoRecovery) = "reno", "RFC 5681 (3.2)", "fast retransmit and fast recovery, left by any new acknowledgement";
    NewReno(NewReno) = "newreno", "RFC 6582", "fast recovery that a partial acknowledgement does not end";
    Sack(SackRecovery) = "sack", "RFC 6675", "conservative recovery from selective acknowledgements";
    Fack(Fack) = "fack", "Mathis and Mahdavi 1996", "forward acknowledgement: the highest byte selectively acknowledged rules";
}

kinds! {
    /// How large the congestion window is.
    CongestionKind, CongestionMachine: "The state of a congestion law, dispatched without a virtual call.";
    Reno(Reno) = "reno", "RFC 5681 (3.1)", "slow start, congestion avoidance, halving";
    Vegas(Vegas) = "vegas", "Brakmo and Peterson 1995", "a few segments in the queue, held by the round trip; early retransmission";
    Veno(Veno) = "veno", "Fu and Liew 2003", "a loss met with a short queue cuts the window by a fifth only";
    Westwood(Westwood) = "westwood", "Mascolo et al. 2001", "after a loss the window that the rate of acknowledgements fills";
    WestwoodPlus(WestwoodPlus) = "westwood-plus", "Grieco and Mascolo 2004", "Westwood with one sample of the rate a round trip";
    Cubic(Cubic) = "cubic", "RFC 9438", "a cubic function of the time since the last loss";
    Bbr(Box<Bbr>) = "bbr", "draft-cardwell-iccrg-bbr-congestion-control-00", "paces at the measured bottleneck rate (version 1)";
    Jtcp(Box<Jtcp>) = "jtcp", "Wu and Chen 2004", "a loss without growing delays is random and leaves the window";
    Ejtcp(Box<Ejtcp>) = "ejtcp", "Wu, Huang and Chang", "jitter and round trip tell random losses; copies, no bursts, rate of the air";
}

kinds! {
    /// What sits between network and link.
    AgentKind, AgentMachine: "The state of an agent, dispatched without a virtual call.";
    None(Transparent) = "none", "lasthop", "no agent: every packet passes";
    LleTcp(Box<LleTcp>) = "lle-tcp", "Kliazovich and Granelli 2004", "TCP acknowledgements made where the link's acknowledgement arrives";
    ProxyTcp(Box<ProxyTcp>) = "proxy-tcp", "Mahmoodi et al. 2007; Balakrishnan et al. 1995", "duplicate acknowledgements hidden from the sender while the link can still repair";
}

kinds! {
    /// How long a node of the FRN waits before it sends a packet again.
    IntervalKind, IntervalMachine: "The state of a retransmission interval, dispatched without a virtual call.";
    Fixed(Fixed) = "fixed", "FRN: Yamamoto et al. (2)", "a random number of slots in a window that does not change";
    Backoff(Backoff) = "backoff", "CSMA/CD, as Yamamoto et al. (3.2) describe it", "a window that doubles with each failure and shrinks to the first with a success";
    LoadAdaptive(LoadAdaptive) = "load-adaptive", "Yamamoto et al. (3.2)", "a window that grows in proportion to the share of failures among the last transmissions";
}

/// How a link repeats what was not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArqKind {
    /// The frame in service at once, up to the retry limit.
    Fixed,
    /// What a scheme chooses by the timers of TCP.
    Dynamic,
}

/// The state of an ARQ that chooses among frames. One that repeats the frame in service needs none.
pub type ArqMachine = DynamicArq;

impl ArqKind {
    /// All of them, in the order they are listed.
    pub const ALL: &'static [ArqKind] = &[ArqKind::Fixed, ArqKind::Dynamic];

    /// What is known of it.
    #[must_use]
    pub fn entry(self) -> Entry {
        match self {
            ArqKind::Fixed => Entry {
                name: "fixed",
                summary: "the frame in service again at once, up to the retry limits, then its packet is dropped",
                source: "IEEE 802.11-2012 (9.3.4.4)",
            },
            ArqKind::Dynamic => Entry {
                name: "dynamic",
                summary: "fragments by retransmissions and by the time left until the timer of their TCP sender fires",
                source: "Mahmoodi et al. 2007",
            },
        }
    }

    /// The one with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<ArqKind> {
        ArqKind::ALL.iter().copied().find(|kind| kind.entry().name == name)
    }
}

/// A scheme of a cross-layer paper: the part that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// A congestion law.
    Congestion(CongestionKind),
    /// An agent.
    Agent(AgentKind),
    /// An ARQ.
    Arq(ArqKind),
    /// A retransmission interval.
    Interval(IntervalKind),
}

/// Every scheme of a cross-layer paper, by the name of its paper.
pub const SCHEMES: &[(&str, Scheme)] = &[
    ("ejtcp", Scheme::Congestion(CongestionKind::Ejtcp)),
    ("lle-tcp", Scheme::Agent(AgentKind::LleTcp)),
    ("proxy-tcp", Scheme::Agent(AgentKind::ProxyTcp)),
    ("dynamic-arq", Scheme::Arq(ArqKind::Dynamic)),
    ("load-adaptive", Scheme::Interval(IntervalKind::LoadAdaptive)),
];

impl Scheme {
    /// What is known of the part.
    #[must_use]
    pub fn entry(self) -> Entry {
        match self {
            Scheme::Congestion(kind) => kind.entry(),
            Scheme::Agent(kind) => kind.entry(),
            Scheme::Arq(kind) => kind.entry(),
            Scheme::Interval(kind) => kind.entry(),
        }
    }

    /// What it is a kind of, and the key of a scenario that chooses it.
    #[must_use]
    pub fn place(self) -> (&'static str, &'static str) {
        match self {
            Scheme::Congestion(_) => ("congestion law", "flows.NAME.tcp.variant"),
            Scheme::Agent(_) => ("agent", "agents.NAME.kind"),
            Scheme::Arq(_) => ("ARQ", "links.NAME.arq.kind"),
            Scheme::Interval(_) => ("interval", "links.NAME.frn.interval"),
        }
    }
}

/// Every `tcp.variant`.
pub const VARIANTS: &[Variant] = &[
    Variant {
        name: "tahoe",
        recovery: RecoveryKind::Tahoe,
        congestion: CongestionKind::Reno,
        summary: "slow start after every loss",
        source: "Jacobson 1988",
        style: Style { colour: "#7f7f7f", marker: "v" },
    },
    Variant {
        name: "reno",
        recovery: RecoveryKind::Reno,
        congestion: CongestionKind::Reno,
        summary: "fast recovery, one loss a window",
        source: "RFC 5681",
        style: Style { colour: "#1f77b4", marker: "o" },
    },
    Variant {
        name: "newreno",
        recovery: RecoveryKind::NewReno,
        congestion: CongestionKind::Reno,
        summary: "fast recovery over several losses",
        source: "RFC 6582",
        style: Style { colour: "#2ca02c", marker: "s" },
    },
    Variant {
        name: "sack",
        recovery: RecoveryKind::Sack,
        congestion: CongestionKind::Reno,
        summary: "recovery by selective acknowledgements",
        source: "RFC 6675",
        style: Style { colour: "#ff7f0e", marker: "D" },
    },
    Variant {
        name: "fack",
        recovery: RecoveryKind::Fack,
        congestion: CongestionKind::Reno,
        summary: "recovery by forward acknowledgement",
        source: "Mathis and Mahdavi 1996",
        style: Style { colour: "#9467bd", marker: "^" },
    },
    Variant {
        name: "vegas",
        recovery: RecoveryKind::Reno,
        congestion: CongestionKind::Vegas,
        summary: "Reno that holds one to three segments in the queue and resends early",
        source: "Brakmo and Peterson 1995",
        style: Style { colour: "#bcbd22", marker: "<" },
    },
    Variant {
        name: "veno",
        recovery: RecoveryKind::NewReno,
        congestion: CongestionKind::Veno,
        summary: "NewReno that takes a loss with a short queue for random",
        source: "Fu and Liew 2003",
        style: Style { colour: "#8c564b", marker: "P" },
    },
    Variant {
        name: "westwood",
        recovery: RecoveryKind::NewReno,
        congestion: CongestionKind::Westwood,
        summary: "NewReno that after a loss takes the window its rate fills",
        source: "Mascolo et al. 2001",
        style: Style { colour: "#117733", marker: ">" },
    },
    Variant {
        name: "westwood-plus",
        recovery: RecoveryKind::NewReno,
        congestion: CongestionKind::WestwoodPlus,
        summary: "Westwood with one sample of the rate a round trip",
        source: "Grieco and Mascolo 2004",
        style: Style { colour: "#44aa99", marker: "*" },
    },
    Variant {
        name: "cubic",
        recovery: RecoveryKind::Sack,
        congestion: CongestionKind::Cubic,
        summary: "SACK with a window that follows a cubic function of time",
        source: "RFC 9438",
        style: Style { colour: "#17becf", marker: "h" },
    },
    Variant {
        name: "bbr",
        recovery: RecoveryKind::Sack,
        congestion: CongestionKind::Bbr,
        summary: "paced at the measured bottleneck rate, losses no signal",
        source: "draft-cardwell-iccrg-bbr-congestion-control-00",
        style: Style { colour: "#e377c2", marker: "X" },
    },
    Variant {
        name: "jtcp",
        recovery: RecoveryKind::Reno,
        congestion: CongestionKind::Jtcp,
        summary: "Reno that takes a loss without growing delays for random",
        source: "Wu and Chen 2004",
        style: Style { colour: "#ff9896", marker: ">" },
    },
    Variant {
        name: "ejtcp",
        recovery: RecoveryKind::Reno,
        congestion: CongestionKind::Ejtcp,
        summary: "JTCP with a second witness, copies of what is lost, and no bursts",
        source: "Wu, Huang and Chang",
        style: Style { colour: "#d62728", marker: "*" },
    },
];

/// The variant with this name.
#[must_use]
pub fn variant(name: &str) -> Option<&'static Variant> {
    VARIANTS.iter().find(|variant| variant.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found_again() {
        for kind in RecoveryKind::ALL {
            assert_eq!(RecoveryKind::named(kind.entry().name), Some(*kind));
        }
        for kind in AgentKind::ALL {
            assert_eq!(AgentKind::named(kind.entry().name), Some(*kind));
        }
        for kind in IntervalKind::ALL {
            assert_eq!(IntervalKind::named(kind.entry().name), Some(*kind));
        }
        for line in VARIANTS {
            assert_eq!(variant(line.name).map(|found| found.summary), Some(line.summary));
            assert_eq!(VARIANTS.iter().filter(|other| other.style == line.style).count(), 1);
        }
        assert!(variant("renno").is_none());
    }
}
