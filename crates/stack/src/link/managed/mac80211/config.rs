//! The constants of Linux's mac80211.

use super::super::{codel, dualpi2, fq_codel};
use crate::hooks::parameter::{Described, LONGEST, Setting, parameters, words};
use crate::units::{Bytes, Span};

/// The law of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// FQ-CoDel, as in Linux.
    FqCodel,
    /// `DualPI2`.
    DualPi2,
}

words! { Law: FqCodel = "fq-codel", DualPi2 = "dualpi2" }

/// The constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The law of each lane.
    pub law: Law,
    /// FQ-CoDel of each lane; its target is that of either law.
    pub queue: fq_codel::Config,
    /// `DualPI2` of each lane.
    pub dual: dualpi2::Config,
    /// Whether CoDel is slower for slow stations.
    pub slow_codel: bool,
    /// Whether lanes are served by airtime.
    pub airtime_fairness: bool,
    /// By how much a deficit grows at a time.
    pub weight: Span,
    /// Whether expected airtime limits what the hardware holds.
    pub aql: bool,
    /// The most that a lane may have in the hardware.
    pub aql_low: Span,
    /// The most while there is less than `aql_total`.
    pub aql_high: Span,
    /// Expected airtime that all lanes together may hold before the lower limit applies.
    pub aql_total: Span,
    /// The most A-MPDUs of a category in the hardware.
    pub frames: Option<u64>,
}

impl Default for Config {
    fn default() -> Config {
        let (target, interval) = (Span::from_millis(20), Span::from_millis(100));
        let codel = codel::Config { target, interval, ..codel::Config::default() };
        Config {
            law: Law::FqCodel,
            dual: dualpi2::Config::default(),
            queue: fq_codel::Config { codel, flows: 1024, quantum: Bytes(300), drop_batch: 32 },
            slow_codel: false,
            airtime_fairness: true,
            weight: Span::from_micros(256),
            aql: true,
            aql_low: Span::from_millis(5),
            aql_high: Span::from_millis(12),
            aql_total: Span::from_millis(24),
            frames: Some(2),
        }
    }
}

const IF_FQ: &[(&str, &[&str])] = &[("law", &["fq-codel"])];
const IF_DUAL: &[(&str, &[&str])] = &[("law", &["dualpi2"])];
/// The bounds of the target of `DualPI2`.
const DUAL_LEAST: Span = Span::from_micros(100);
const DUAL_MOST: Span = Span::from_secs(10);
const DUAL_TARGET: Setting = Setting::Time(Span::from_millis(15));
const IF_FAIR: &[(&str, &[&str])] = &[("airtime-fairness", &["true"])];
const IF_AQL: &[(&str, &[&str])] = &[("aql", &["true"])];

impl Described for Config {
    parameters! {
        /// law of the queue of each station and access category: FQ-CoDel, as in Linux, or DualPI2
        "law": Words("law") = law, source("Linux: fq_impl.h");
        codel::TARGET: Time = queue.codel.target, source("Linux: sta_info.c; RFC 9332 (A.1)"),
            follows("law", "dualpi2", DUAL_TARGET);
        codel::INTERVAL: Time = queue.codel.interval, only(IF_FQ), source("Linux: sta_info.c");
        codel::CE_THRESHOLD: Time or "none" = queue.codel.ce_threshold, only(IF_FQ);
        codel::CE_THRESHOLD_FOR: Words = queue.codel.ce_threshold_for, only(IF_FQ);
        /// number of queues of a station among which a hash distributes its flows
        "flows": Count = queue.flows, at_least("1"), at_most("65536"), only(IF_FQ);
        /// bytes that a flow may send in its turn
        "quantum": Size = queue.quantum, at_least("1 B"), at_most("1 GB"), only(IF_FQ), source("Linux: fq_impl.h");
        dualpi2::RTT_MAX: Time = dual.rtt_max, only(IF_DUAL);
        dualpi2::COUPLING: Number = dual.coupling, only(IF_DUAL);
        dualpi2::RAMP_FROM: Time = dual.ramp_from, only(IF_DUAL);
        dualpi2::RAMP_RANGE: Time = dual.ramp_range, only(IF_DUAL);
        dualpi2::CLASSIC_SHARE: Share = dual.classic_share, only(IF_DUAL);
        /// the most packets of the longest flow that are dropped at once when the link's queue is full
        "drop-batch": Count = queue.drop_batch, at_least("1"), at_most("65536"), source("Linux: fq_impl.h");
        /// whether target and interval are 50 and 300 ms for rates below 6 Mbit/s times the number of stations
        "slow-codel": Flag = slow_codel, only(IF_FQ), source("Linux until 6.14: sta_info.c");
        /// whether stations are served by airtime; otherwise they take turns, an A-MPDU each
        "airtime-fairness": Flag = airtime_fairness, source("Linux: tx.c");
        /// airtime by which the deficit of a station grows at a time
        "weight": Time("us") = weight, at_least("1 us"), at_most("1 s"), only(IF_FAIR), source("Linux: cfg80211.h");
        /// whether expected airtime limits what the hardware holds (airtime queue limits)
        "aql": Flag = aql, source("Linux: tx.c");
        /// expected airtime that a station may have in the hardware
        "aql-low": Time("ms") = aql_low, above("0 s"), at_most(LONGEST), only(IF_AQL), source("Linux: cfg80211.h");
        /// the same while all stations together have less than aql-total
        "aql-high": Time("ms") = aql_high, above("0 s"), at_most(LONGEST), only(IF_AQL), source("Linux: cfg80211.h");
        /// expected airtime of all stations in the hardware from which on aql-low is the limit
        "aql-total": Time("ms") = aql_total, above("0 s"), at_most(LONGEST), only(IF_AQL), source("Linux: cfg80211.h");
        /// A-MPDUs of an access category that the hardware holds, or none: AQL is the only limit
        "frames": Count or "none" = frames, at_least("1"), at_most("1000"), source("Linux: ath9k");
    }

    fn conflict(&self) -> Option<(&'static str, String)> {
        let target = self.queue.codel.target;
        if self.law == Law::DualPi2 && !(DUAL_LEAST..=DUAL_MOST).contains(&target) {
            return Some((
                "target",
                format!("{} s with law = dualpi2; expected 0.1 ms to 10 s", target.as_secs()),
            ));
        }
        let unlimited = (self.frames.is_none() && !self.aql).then(|| {
            ("frames", "none, but aql is false: nothing limits the hardware; expected one".to_string())
        });
        unlimited.or_else(|| self.queue.conflict())
    }
}
