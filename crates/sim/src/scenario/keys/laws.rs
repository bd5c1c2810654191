//! The keys of congestion laws: `flows.NAME.tcp.LAW.*`, legal where that law runs.

use super::table::{LONGEST, TIME_MS, time};
use super::{Key, Kind, Only};
use lasthop_stack::transport::congestion::{Laws, WestwoodConfig};

const VEGAS: &[Only] = &[Only::Is("flows.*.tcp.congestion", &["vegas"])];
const VENO: &[Only] = &[Only::Is("flows.*.tcp.congestion", &["veno"])];
const CUBIC: &[Only] = &[Only::Is("flows.*.tcp.congestion", &["cubic"])];
const WESTWOOD: &[Only] = &[Only::Is("flows.*.tcp.congestion", &["westwood"])];
const WESTWOOD_PLUS: &[Only] = &[Only::Is("flows.*.tcp.congestion", &["westwood-plus"])];

impl Key {
    /// A default of the law itself.
    pub(super) const fn law(self, value: fn(&Laws) -> String) -> Key {
        Key { default: super::Default::Law(value), ..self }
    }
}

/// The keys of the laws.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "flows.*.tcp.vegas.constants",
        Kind::Word("set of constants", || vec!["ns-2", "linux"]),
        "the set of alpha, beta and gamma: 1, 3 and 1, or 2, 4 and 1",
    )
    .default("ns-2")
    .only(VEGAS),
    vegas("flows.*.tcp.vegas.alpha", "segments in the queue below which the window grows").follows(
        VEGAS_CONSTANTS,
        "linux",
        "2",
        "1",
    ),
    vegas("flows.*.tcp.vegas.beta", "segments in the queue above which the window shrinks").follows(
        VEGAS_CONSTANTS,
        "linux",
        "4",
        "3",
    ),
    vegas("flows.*.tcp.vegas.gamma", "segments in the queue above which slow start ends")
        .law(|laws| laws.vegas.gamma.to_string()),
    Key::new(
        "flows.*.tcp.vegas.rounded-backlog",
        Kind::Bool,
        "the number of segments in the queue is rounded to a whole one before it is compared",
    )
    .profile(|tcp| tcp.laws.vegas.rounded.to_string(), "ns-2: tcp-vegas.cc", "Brakmo and Peterson 1995")
    .only(VEGAS),
    Key::new(
        "flows.*.tcp.veno.beta",
        Kind::Number,
        "segments in the queue from which on a loss counts as congestion",
    )
    .law(|laws| laws.veno.beta.to_string())
    .source("Fu and Liew 2003")
    .at_least("0")
    .at_most("1000000")
    .only(VENO),
    Key::new(
        "flows.*.tcp.westwood.filter",
        Kind::Word("filter", || vec!["paper", "tustin"]),
        "how samples of the rate are smoothed: as EJTCP quotes it, or as the original does",
    )
    .default("paper")
    .source("EJTCP (2); Mascolo et al. 2001")
    .only(WESTWOOD),
    Key::new("flows.*.tcp.westwood.alpha", Kind::Number, "share of the old rate that a sample leaves")
        .law(|_| WestwoodConfig::ALPHA.to_string())
        .source("19/21: the original's for a gap of tau / 10")
        .at_least("0")
        .at_most("1")
        .only(&[Only::Is("flows.*.tcp.westwood.filter", &["paper"])]),
    Key::new("flows.*.tcp.westwood.tau", TIME_MS, "time constant of the filter")
        .law(|_| time(WestwoodConfig::TAU))
        .source("Casetti et al. 2002")
        .above("0 s")
        .at_most(LONGEST)
        .only(&[Only::Is("flows.*.tcp.westwood.filter", &["tustin"])]),
    Key::new("flows.*.tcp.westwood-plus.least-interval", TIME_MS, "least time of a sample of the rate")
        .law(|laws| time(laws.westwood_plus.least_interval))
        .source("Linux: tcp_westwood.c")
        .at_most(LONGEST)
        .only(WESTWOOD_PLUS),
    Key::new("flows.*.tcp.cubic.c", Kind::Number, "steepness, in segments per second cubed")
        .law(|laws| laws.cubic.c.to_string())
        .source("RFC 9438 (5)")
        .above("0")
        .at_most("1000000")
        .only(CUBIC),
    Key::new("flows.*.tcp.cubic.beta", Kind::Number, "what a loss leaves of the window")
        .law(|laws| laws.cubic.beta.to_string())
        .source("RFC 9438 (4.6)")
        .above("0")
        .at_most("1")
        .only(CUBIC),
    Key::new(
        "flows.*.tcp.cubic.fast-convergence",
        Kind::Bool,
        "whether a flow whose window falls gives room to others faster",
    )
    .law(|laws| laws.cubic.fast_convergence.to_string())
    .source("RFC 9438 (4.7)")
    .only(CUBIC),
];

const VEGAS_CONSTANTS: &str = "flows.*.tcp.vegas.constants";

/// A number of segments queued that Vegas compares with.
const fn vegas(path: &'static str, meaning: &'static str) -> Key {
    let key = Key::new(path, Kind::Number, meaning).source("ns-2: tcp-vegas.cc; Linux: tcp_vegas.c");
    key.at_least("0").at_most("1000000").only(VEGAS)
}
