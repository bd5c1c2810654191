//! Every `tcp.variant`.

use super::{CongestionKind, RecoveryKind, Style};

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
        summary: "fast recovery, one loss per window",
        source: "RFC 5681",
        style: Style { colour: "#1f77b4", marker: "o" },
    },
    Variant {
        name: "newreno",
        recovery: RecoveryKind::NewReno,
        congestion: CongestionKind::Reno,
        summary: "fast recovery for several losses per window",
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
        summary: "Reno that keeps one to three segments queued and retransmits early",
        source: "Brakmo and Peterson 1995",
        style: Style { colour: "#bcbd22", marker: "<" },
    },
    Variant {
        name: "veno",
        recovery: RecoveryKind::NewReno,
        congestion: CongestionKind::Veno,
        summary: "NewReno that treats a loss with a short queue as random",
        source: "Fu and Liew 2003",
        style: Style { colour: "#8c564b", marker: "P" },
    },
    Variant {
        name: "westwood",
        recovery: RecoveryKind::NewReno,
        congestion: CongestionKind::Westwood,
        summary: "NewReno that sets the window after a loss from the estimated rate",
        source: "Mascolo et al. 2001",
        style: Style { colour: "#117733", marker: ">" },
    },
    Variant {
        name: "westwood-plus",
        recovery: RecoveryKind::NewReno,
        congestion: CongestionKind::WestwoodPlus,
        summary: "Westwood with one rate sample per round trip",
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
        summary: "paced at the measured bottleneck rate, independent of losses",
        source: "draft-cardwell-iccrg-bbr-congestion-control-00",
        style: Style { colour: "#e377c2", marker: "X" },
    },
    Variant {
        name: "jtcp",
        recovery: RecoveryKind::Reno,
        congestion: CongestionKind::Jtcp,
        summary: "Reno that treats a loss without growing delays as random",
        source: "Wu and Chen 2004",
        style: Style { colour: "#ff9896", marker: ">" },
    },
    Variant {
        name: "ejtcp",
        recovery: RecoveryKind::Reno,
        congestion: CongestionKind::Ejtcp,
        summary: "JTCP with a round-trip criterion, double retransmissions, and a burst limit",
        source: "Wu, Huang and Chang",
        style: Style { colour: "#d62728", marker: "*" },
    },
];

/// The variant with this name.
#[must_use]
pub fn variant(name: &str) -> Option<&'static Variant> {
    VARIANTS.iter().find(|variant| variant.name == name)
}
