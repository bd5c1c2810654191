//! The constants of Linux's mac80211.

use super::super::{codel, fq_codel};
use crate::hooks::parameter::{Described, Domain, LONGEST, Parameter, Setting};
use crate::units::{Bytes, Span};

/// The constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// FQ-CoDel of each lane.
    pub queue: fq_codel::Config,
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
    /// What all lanes together may have before the lower limit holds.
    pub aql_total: Span,
    /// The most A-MPDUs of a category in the hardware.
    pub frames: Option<u64>,
}

impl Default for Config {
    fn default() -> Config {
        let (target, interval) = (Span::from_millis(20), Span::from_millis(100));
        let codel = codel::Config { target, interval, ce_threshold: None };
        Config {
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

const CODEL: [Parameter<Config>; 3] = codel::parameters!(Config, "Linux: sta_info.c", queue codel);
const IF_FAIR: &[(&str, &[&str])] = &[("airtime-fairness", &["true"])];
const IF_AQL: &[(&str, &[&str])] = &[("aql", &["true"])];

/// A limit of AQL.
const fn limit(
    name: &'static str,
    meaning: &'static str,
    get: fn(&Config) -> Setting,
    set: fn(&mut Config, Setting),
) -> Parameter<Config> {
    Parameter::<Config>::new(name, Domain::Time("ms"), meaning, get, set)
        .source("Linux: cfg80211.h")
        .above("0 s")
        .at_most(LONGEST)
        .only(IF_AQL)
}

impl Described for Config {
    const PARAMETERS: &'static [Parameter<Config>] = &{
        let [target, interval, ce_threshold] = CODEL;
        [
            target,
            interval,
            ce_threshold,
            Parameter::<Self>::new(
                "flows",
                Domain::Count,
                "number of queues of a station among which a hash distributes its flows",
                |config| Setting::Count(config.queue.flows),
                |config, value| config.queue.flows = value.count(),
            )
            .at_least("1")
            .at_most("65536"),
            Parameter::<Self>::new(
                "quantum",
                Domain::Size,
                "bytes that a flow may send in its turn",
                |config| Setting::Size(config.queue.quantum),
                |config, value| config.queue.quantum = value.size(),
            )
            .source("Linux: fq_impl.h")
            .at_least("1 B")
            .at_most("1 GB"),
            Parameter::<Self>::new(
                "drop-batch",
                Domain::Count,
                "the most packets of the longest flow that are dropped at once when the link's queue is full",
                |config| Setting::Count(config.queue.drop_batch),
                |config, value| config.queue.drop_batch = value.count(),
            )
            .source("Linux: fq_impl.h")
            .at_least("1")
            .at_most("65536"),
            Parameter::<Self>::new(
                "slow-codel",
                Domain::Flag,
                "whether target and interval are 50 and 300 ms for rates below 6 Mbit/s times the number of stations",
                |config| Setting::Flag(config.slow_codel),
                |config, value| config.slow_codel = value.flag(),
            )
            .source("Linux until 6.14: sta_info.c"),
            Parameter::<Self>::new(
                "airtime-fairness",
                Domain::Flag,
                "whether stations are served by airtime; otherwise they take turns, an A-MPDU each",
                |config| Setting::Flag(config.airtime_fairness),
                |config, value| config.airtime_fairness = value.flag(),
            )
            .source("Linux: tx.c"),
            Parameter::<Self>::new(
                "weight",
                Domain::Time("us"),
                "airtime by which the deficit of a station grows at a time",
                |config| Setting::Time(config.weight),
                |config, value| config.weight = value.time(),
            )
            .source("Linux: cfg80211.h")
            .at_least("1 us")
            .at_most("1 s")
            .only(IF_FAIR),
            Parameter::<Self>::new(
                "aql",
                Domain::Flag,
                "whether expected airtime limits what the hardware holds (airtime queue limits)",
                |config| Setting::Flag(config.aql),
                |config, value| config.aql = value.flag(),
            )
            .source("Linux: tx.c"),
            limit(
                "aql-low",
                "expected airtime that a station may have in the hardware",
                |config| Setting::Time(config.aql_low),
                |config, value| config.aql_low = value.time(),
            ),
            limit(
                "aql-high",
                "the same while all stations together have less than aql-total",
                |config| Setting::Time(config.aql_high),
                |config, value| config.aql_high = value.time(),
            ),
            limit(
                "aql-total",
                "expected airtime of all stations in the hardware from which on aql-low is the limit",
                |config| Setting::Time(config.aql_total),
                |config, value| config.aql_total = value.time(),
            ),
            Parameter::<Self>::new(
                "frames",
                Domain::Count,
                "A-MPDUs of an access category that the hardware holds, or none: AQL is the only limit",
                |config| config.frames.map_or(Setting::Word("none"), Setting::Count),
                |config, value| config.frames = (!value.is("none")).then(|| value.count()),
            )
            .words(&["none"])
            .source("Linux: ath9k")
            .at_least("1")
            .at_most("1000"),
        ]
    };

    fn conflict(&self) -> Option<(&'static str, String)> {
        (self.frames.is_none() && !self.aql).then(|| {
            ("frames", "none, but aql is false: nothing limits the hardware; expected one".to_string())
        })
    }
}
