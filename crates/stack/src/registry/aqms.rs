//! All managements of queues (AQM).

use super::{Entry, kinds};
use crate::hooks::parameter::{Described, Exception, Setting, Spec};
use crate::hooks::{Admission, Aqm, Arrival, Count, Discipline};
use crate::link::managed::{
    Codel, DropHead, DualPi2, FqCodel, Mac80211, Pie, Red, codel, drop_head, dualpi2, fq_codel, mac80211,
    pie, red,
};
use crate::schemes::{CongestionWarning, congestion_warning};

kinds! {
    /// What a queue does before it is full, or when it is.
    AqmKind, AqmConfig, AqmMachine;
    Warning(CongestionWarning), congestion_warning::Config = "warning" as "congestion warning", "Xu, Tian and Ansari 2004", "marks every ECN-capable packet while the mean length of the queue is above a threshold";
    DropHead(DropHead), drop_head::Config = "drop-head" as "drop-head", "Lakshman, Neidhardt and Ott 1996", "drops the packet at the head of a full queue instead of the one that arrives";
    Red(Red), red::Config = "red" as "RED", "Floyd and Jacobson 1993", "drops or marks arriving packets with a probability that grows with the mean length of the queue";
    Codel(Codel), codel::Config = "codel" as "CoDel", "RFC 8289", "drops or marks packets at the head of a queue whose packets have all waited longer than a target for an interval";
    FqCodel(FqCodel), fq_codel::Config = "fq-codel" as "FQ-CoDel", "RFC 8290", "serves a queue for each flow in turns of bytes, each with CoDel of its own";
    Pie(Pie), pie::Config = "pie" as "PIE", "RFC 8033", "drops or marks arriving packets with a probability that a controller sets from the queueing delay";
    DualPi2(DualPi2), dualpi2::Config = "dualpi2" as "DualPI2", "RFC 9332", "keeps the queue of L4S flows short, and couples its marks to the drops of the queue of all others";
    Mac80211(Mac80211), mac80211::Config = "mac80211" as "mac80211", "Høiland-Jørgensen et al. 2017", "has FQ-CoDel for each station of an 802.11 link, serves stations by airtime, and limits what the hardware holds";
}

impl AqmKind {
    /// The names of those that have a limit of their own in Linux, that limit in packets, and where it is published.
    pub fn limits() -> impl Iterator<Item = (&'static str, u32, &'static str)> {
        AqmKind::ALL.iter().filter_map(|kind| {
            let (packets, source) = match kind {
                AqmKind::Warning | AqmKind::DropHead | AqmKind::Red => return None,
                AqmKind::Codel => (1000, "Linux: sch_codel.c"),
                AqmKind::FqCodel => (10_240, "Linux: sch_fq_codel.c"),
                AqmKind::Pie => (1000, "Linux: sch_pie.c"),
                AqmKind::DualPi2 => (10_000, "Linux: sch_dualpi2.c"),
                AqmKind::Mac80211 => (8192, "Linux: fq_impl.h"),
            };
            Some((kind.entry().name, packets, source))
        })
    }

    /// Whether it needs to know the receivers of packets, as only an 802.11 link does.
    #[must_use]
    pub fn is_for_stations(self) -> bool {
        self == AqmKind::Mac80211
    }
}

impl AqmConfig {
    /// The management of one queue; `salt` is a random number that only some use.
    #[must_use]
    pub fn build(&self, salt: u32) -> AqmMachine {
        match self {
            AqmConfig::Warning(config) => AqmMachine::Warning(CongestionWarning::new(config)),
            AqmConfig::DropHead(_) => AqmMachine::DropHead(DropHead::default()),
            AqmConfig::Red(config) => AqmMachine::Red(Red::new(config)),
            AqmConfig::Codel(config) => AqmMachine::Codel(Codel::new(config)),
            AqmConfig::FqCodel(config) => AqmMachine::FqCodel(FqCodel::new(config, salt)),
            AqmConfig::Pie(config) => AqmMachine::Pie(Pie::new(config)),
            AqmConfig::DualPi2(config) => AqmMachine::DualPi2(DualPi2::new(config)),
            AqmConfig::Mac80211(config) => AqmMachine::Mac80211(Mac80211::new(config, salt)),
        }
    }

    /// The least mean length at which it may act, in packets, and the parameter that sets it; `None` if it does not act by
    /// length.
    #[must_use]
    pub fn acts_above(&self) -> Option<(f64, &'static str)> {
        match self {
            AqmConfig::Warning(config) => Some((config.threshold, "threshold")),
            AqmConfig::Red(config) => Some((config.min, "min-threshold")),
            AqmConfig::DropHead(_)
            | AqmConfig::Codel(_)
            | AqmConfig::FqCodel(_)
            | AqmConfig::Pie(_)
            | AqmConfig::DualPi2(_)
            | AqmConfig::Mac80211(_) => None,
        }
    }

    /// Whether it keeps the waiting packets itself.
    #[must_use]
    pub fn keeps_packets(&self) -> bool {
        !matches!(self, AqmConfig::Warning(_) | AqmConfig::Red(_))
    }

    /// Whether it acts before the queue is full.
    #[must_use]
    pub fn is_early(&self) -> bool {
        !matches!(self, AqmConfig::DropHead(_))
    }

    /// Whether it acts on packets that do not use ECN.
    #[must_use]
    pub fn drops(&self) -> bool {
        !matches!(self, AqmConfig::Warning(_))
    }

    /// The counters that only this law has.
    #[must_use]
    pub fn counts(&self) -> Vec<Count> {
        self.build(0).counts()
    }
}

impl AqmMachine {
    /// The law as one that keeps the waiting packets itself, if it does.
    #[inline]
    pub fn discipline(&mut self) -> Option<&mut dyn Discipline> {
        match self {
            AqmMachine::Warning(_) | AqmMachine::Red(_) => None,
            AqmMachine::DropHead(law) => Some(law),
            AqmMachine::Codel(law) => Some(law),
            AqmMachine::FqCodel(law) => Some(law),
            AqmMachine::Pie(law) => Some(law),
            AqmMachine::DualPi2(law) => Some(law),
            AqmMachine::Mac80211(law) => Some(law),
        }
    }

    /// The counters that only this law has.
    #[must_use]
    pub fn counts(&self) -> Vec<Count> {
        match self {
            AqmMachine::Warning(_) | AqmMachine::DropHead(_) | AqmMachine::Red(_) => Vec::new(),
            AqmMachine::Codel(law) => law.counts(),
            AqmMachine::FqCodel(law) => law.counts(),
            AqmMachine::Pie(law) => law.counts(),
            AqmMachine::DualPi2(law) => law.counts(),
            AqmMachine::Mac80211(law) => law.counts(),
        }
    }
}

impl Aqm for AqmMachine {
    /// A law that keeps the packets itself lets all pass here.
    #[inline]
    fn on_arrival(&mut self, arrival: &Arrival, draw: &mut dyn FnMut() -> f64) -> Admission {
        match self {
            AqmMachine::Warning(law) => law.on_arrival(arrival, draw),
            AqmMachine::Red(law) => law.on_arrival(arrival, draw),
            AqmMachine::DropHead(_)
            | AqmMachine::Codel(_)
            | AqmMachine::FqCodel(_)
            | AqmMachine::Pie(_)
            | AqmMachine::DualPi2(_)
            | AqmMachine::Mac80211(_) => Admission::Pass,
        }
    }
}
