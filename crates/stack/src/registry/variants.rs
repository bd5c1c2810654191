//! Every `tcp.variant`.

use super::{CongestionKind, Parts, RecoveryKind, Style, style};
use crate::hooks::parameter::Words;
use crate::schemes::split::Variants;
use crate::transport::tcp::{Config, Profile};

/// A `tcp.variant`: a preset of the pair of recovery and congestion.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The name in scenarios.
    pub name: &'static str,
    /// The name in figures.
    pub title: &'static str,
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
        title: "Tahoe",
        recovery: RecoveryKind::Tahoe,
        congestion: CongestionKind::Reno,
        summary: "slow start after every loss",
        source: "Jacobson 1988",
        style: style(7, 4, 3),
    },
    Variant {
        name: "reno",
        title: "Reno",
        recovery: RecoveryKind::Reno,
        congestion: CongestionKind::Reno,
        summary: "fast recovery, one loss per window",
        source: "RFC 5681",
        style: style(0, 0, 0),
    },
    Variant {
        name: "newreno",
        title: "NewReno",
        recovery: RecoveryKind::NewReno,
        congestion: CongestionKind::Reno,
        summary: "fast recovery for several losses per window",
        source: "RFC 6582",
        style: style(2, 1, 1),
    },
    Variant {
        name: "sack",
        title: "SACK",
        recovery: RecoveryKind::Sack,
        congestion: CongestionKind::Reno,
        summary: "recovery by selective acknowledgements",
        source: "RFC 6675",
        style: style(4, 3, 2),
    },
    Variant {
        name: "fack",
        title: "FACK",
        recovery: RecoveryKind::Fack,
        congestion: CongestionKind::Reno,
        summary: "recovery by forward acknowledgement",
        source: "Mathis and Mahdavi 1996",
        style: style(3, 2, 4),
    },
    Variant {
        name: "vegas",
        title: "Vegas",
        recovery: RecoveryKind::Reno,
        congestion: CongestionKind::Vegas,
        summary: "Reno that keeps one to three segments queued and retransmits early",
        source: "Brakmo and Peterson 1995",
        style: style(6, 8, 5),
    },
    Variant {
        name: "veno",
        title: "Veno",
        recovery: RecoveryKind::NewReno,
        congestion: CongestionKind::Veno,
        summary: "NewReno that treats a loss with a short queue as random",
        source: "Fu and Liew 2003",
        style: style(3, 5, 1),
    },
    Variant {
        name: "westwood",
        title: "Westwood",
        recovery: RecoveryKind::NewReno,
        congestion: CongestionKind::Westwood,
        summary: "NewReno that sets the window after a loss from the estimated rate",
        source: "Mascolo et al. 2001",
        style: style(6, 9, 0),
    },
    Variant {
        name: "westwood-plus",
        title: "Westwood+",
        recovery: RecoveryKind::NewReno,
        congestion: CongestionKind::WestwoodPlus,
        summary: "Westwood with one rate sample per round trip",
        source: "Grieco and Mascolo 2004",
        style: style(7, 12, 1),
    },
    Variant {
        name: "cubic",
        title: "CUBIC",
        recovery: RecoveryKind::Sack,
        congestion: CongestionKind::Cubic,
        summary: "SACK with a window that follows a cubic function of time",
        source: "RFC 9438",
        style: style(5, 10, 4),
    },
    Variant {
        name: "bbr",
        title: "BBR",
        recovery: RecoveryKind::Sack,
        congestion: CongestionKind::Bbr,
        summary: "paced at the measured bottleneck rate, independent of losses",
        source: "draft-cardwell-iccrg-bbr-congestion-control-00",
        style: style(3, 6, 0),
    },
    Variant {
        name: "bbr3",
        title: "BBRv3",
        recovery: RecoveryKind::Sack,
        congestion: CongestionKind::Bbr3,
        summary: "BBR within bounds that losses set, probing for bandwidth every two to three seconds",
        source: "draft-ietf-ccwg-bbr-06",
        style: style(3, 10, 2),
    },
    Variant {
        name: "dctcp",
        title: "DCTCP",
        recovery: RecoveryKind::Sack,
        congestion: CongestionKind::Dctcp,
        summary: "SACK that reduces the window by half of the share of packets that are marked",
        source: "RFC 8257",
        style: style(4, 6, 3),
    },
    Variant {
        name: "prague",
        title: "Prague",
        recovery: RecoveryKind::Sack,
        congestion: CongestionKind::Prague,
        summary: "DCTCP with the codepoint of L4S",
        source: "draft-briscoe-iccrg-prague-congestion-control",
        style: style(0, 9, 5),
    },
    Variant {
        name: "jtcp",
        title: "JTCP",
        recovery: RecoveryKind::Reno,
        congestion: CongestionKind::Jtcp,
        summary: "Reno that treats a loss without growing delays as random",
        source: "Wu and Chen 2004",
        style: style(7, 11, 2),
    },
    Variant {
        name: "ejtcp",
        title: "EJTCP",
        recovery: RecoveryKind::Reno,
        congestion: CongestionKind::Ejtcp,
        summary: "JTCP with a round-trip criterion, double retransmissions, and a burst limit",
        source: "Wu, Huang and Chang",
        style: style(1, 7, 0),
    },
    Variant {
        name: "jersey",
        title: "TCP-Jersey",
        recovery: RecoveryKind::NewReno,
        congestion: CongestionKind::Jersey,
        summary: "NewReno that sets the window from the estimated rate at a warning of a queue, and keeps it otherwise",
        source: "Xu, Tian and Ansari 2004",
        style: style(5, 3, 1),
    },
];

/// The variant with this name.
#[must_use]
pub fn variant(name: &str) -> Option<&'static Variant> {
    VARIANTS.iter().find(|variant| variant.name == name)
}

/// A variant, as the parameter of a scheme names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariantName(usize);

impl Words for VariantName {
    const WORDS: &'static [(&'static str, VariantName)] = &{
        let mut words = [("", VariantName(0)); VARIANTS.len()];
        let mut place = 0;
        while place < words.len() {
            words[place] = (VARIANTS[place].name, VariantName(place));
            place += 1;
        }
        words
    };
}

impl Variants for Parts {
    type Name = VariantName;

    fn endpoint(profile: Profile, variant: VariantName) -> Config<Parts> {
        let Variant { recovery, congestion, .. } = VARIANTS[variant.0];
        let config = profile.with(Parts::new(recovery, congestion.config()));
        let needs_sack = matches!(recovery, RecoveryKind::Sack | RecoveryKind::Fack);
        Config { sack: config.sack || needs_sack, ..config }
    }
}
