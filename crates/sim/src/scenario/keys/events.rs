//! The keys of outages of links, and of hand-offs and restarts of nodes.

use super::kinds::{WIFI, WIRED};
use super::shared::{FASTEST, LONGEST, RATE, SHARE, TIME_MS, TIME_S};
use super::words::{DuringOutage, EventLaw};
use super::{Key, Kind, Only};
use crate::model::Late;
use lasthop_stack::hooks::parameter::words;

const OUTAGES: &[Only] = &[Only::Is("links.*.outages.law", &["script", "periodic", "random"])];
const OUTAGES_BY_SCRIPT: &[Only] = &[Only::Is("links.*.outages.law", &["script"])];
const PERIODIC_OUTAGES: &[Only] = &[Only::Is("links.*.outages.law", &["periodic"])];
const RANDOM_OUTAGES: &[Only] = &[Only::Is("links.*.outages.law", &["random"])];
const OUTAGES_OF_MEDIUM: &[Only] = &[OUTAGES[0], WIFI];
const OUTAGES_OF_CABLE: &[Only] = &[OUTAGES[0], WIRED];
const WARNED: &[Only] = &[OUTAGES[0], Only::Given("links.*.outages.warning.lead")];
const FALSE_ALARMS: &[Only] = &[OUTAGES[0], Only::Given("links.*.outages.warning.false-every")];

const HANDOFF: &[Only] = &[Only::Is("nodes.*.handoff.law", &["script", "periodic", "random"])];
const HANDOFF_BY_SCRIPT: &[Only] = &[Only::Is("nodes.*.handoff.law", &["script"])];
const PERIODIC_HANDOFF: &[Only] = &[Only::Is("nodes.*.handoff.law", &["periodic"])];
const WARNED_HANDOFF: &[Only] = &[HANDOFF[0], Only::Given("nodes.*.handoff.warning.lead")];
const FALSE_HANDOFFS: &[Only] = &[HANDOFF[0], Only::Given("nodes.*.handoff.warning.false-every")];
const RANDOM_HANDOFF: &[Only] = &[Only::Is("nodes.*.handoff.law", &["random"])];

/// The keys under `[links.NAME.outages]`.
pub(super) const OF_LINKS: &[Key] = &[
    Key::new(
        "links.*.outages.law",
        Kind::Word("law", words::<EventLaw>),
        "when the link is down, in both directions: nothing sent or received then arrives; default: never",
    )
    .absent(),
    Key::new(
        "links.*.outages.script",
        Kind::Text,
        "outages with their times, such as \"2 s at 10 s, 500 ms at 30 s\"",
    )
    .only(OUTAGES_BY_SCRIPT),
    time("links.*.outages.periodic.first", "time at which the first outage begins", PERIODIC_OUTAGES),
    time(
        "links.*.outages.periodic.every",
        "time from the beginning of an outage to that of the next",
        PERIODIC_OUTAGES,
    )
    .above("0 s"),
    time("links.*.outages.periodic.for", "duration of an outage", PERIODIC_OUTAGES).above("0 s"),
    time("links.*.outages.random.mean-up", "mean time between outages, exponential", RANDOM_OUTAGES)
        .above("0 s"),
    time("links.*.outages.random.mean-down", "mean duration of an outage, exponential", RANDOM_OUTAGES)
        .above("0 s"),
    Key::new(
        "links.*.outages.queue",
        Kind::Word("choice", words::<DuringOutage>),
        "packets queued during an outage: sent into it and lost, or kept until the link is up",
    )
    .default("sent")
    .only(OUTAGES_OF_CABLE),
    Key::new(
        "links.*.outages.node",
        Kind::Node,
        "the only station whose frames, sent and received, the outages concern; default: all",
    )
    .absent()
    .only(OUTAGES_OF_MEDIUM),
    Key::new(
        "links.*.outages.warning.lead",
        TIME_MS,
        "how long before an outage the transports at the nodes of the link are warned; default: never",
    )
    .absent()
    .at_most(LONGEST)
    .only(OUTAGES),
    Key::new(
        "links.*.outages.warning.deviation",
        TIME_MS,
        "standard deviation of the time of a warning, normal",
    )
    .default("0 s")
    .at_most(LONGEST)
    .only(WARNED),
    Key::new("links.*.outages.warning.missed", SHARE, "probability that an outage has no warning")
        .default("0 %")
        .at_most("100 %")
        .only(WARNED),
    Key::new(
        "links.*.outages.warning.false-every",
        TIME_S,
        "mean time between false warnings, exponential; default: none",
    )
    .absent()
    .above("0 s")
    .at_most(LONGEST)
    .only(OUTAGES),
    Key::new("links.*.outages.warning.false-for", TIME_MS, "time after which a false warning is withdrawn")
        .default("1 s")
        .at_most(LONGEST)
        .only(FALSE_ALARMS),
];

/// The keys under `[nodes.NAME.handoff]`, and the restart of a node.
pub(super) const OF_NODES: &[Key] = &[
    Key::new(
        "nodes.*.handoff.law",
        Kind::Word("law", words::<EventLaw>),
        "when the node changes between two links, which lead to two base stations or access points; default: never",
    )
    .absent(),
    Key::new("nodes.*.handoff.from", Kind::Link, "the link that the node uses at the start").only(HANDOFF),
    Key::new("nodes.*.handoff.to", Kind::Link, "the other link; the next hand-off goes back").only(HANDOFF),
    Key::new("nodes.*.handoff.script", Kind::Text, "times of hand-offs, such as \"10 s, 25 s\"")
        .only(HANDOFF_BY_SCRIPT),
    time("nodes.*.handoff.periodic.first", "time of the first hand-off", PERIODIC_HANDOFF),
    time("nodes.*.handoff.periodic.every", "time from a hand-off to the next", PERIODIC_HANDOFF).above("0 s"),
    time("nodes.*.handoff.random.mean", "mean time at a link, exponential", RANDOM_HANDOFF).above("0 s"),
    Key::new("nodes.*.handoff.gap", TIME_MS, "duration of a hand-off, in which the node is at neither link; routes change at its end")
        .default("0 s")
        .at_most(LONGEST)
        .only(HANDOFF),
    Key::new(
        "nodes.*.handoff.warning.lead",
        TIME_MS,
        "how long before a hand-off the transports of the node are warned; default: never",
    )
    .absent()
    .at_most(LONGEST)
    .only(HANDOFF),
    Key::new(
        "nodes.*.handoff.warning.deviation",
        TIME_MS,
        "standard deviation of the time of a warning, normal",
    )
    .default("0 s")
    .at_most(LONGEST)
    .only(WARNED_HANDOFF),
    Key::new("nodes.*.handoff.warning.missed", SHARE, "probability that a hand-off has no warning")
        .default("0 %")
        .at_most("100 %")
        .only(WARNED_HANDOFF),
    Key::new(
        "nodes.*.handoff.warning.false-every",
        TIME_S,
        "mean time between false warnings, exponential; default: none",
    )
    .absent()
    .above("0 s")
    .at_most(LONGEST)
    .only(HANDOFF),
    Key::new("nodes.*.handoff.warning.false-for", TIME_MS, "time after which a false warning is withdrawn")
        .default("1 s")
        .at_most(LONGEST)
        .only(FALSE_HANDOFFS),
    Key::new(
        "nodes.*.handoff.late",
        Kind::Word("choice", words::<Late>),
        "packets that come to the station which the node has left, once routes have changed, or wait there in its 802.11 MAC",
    )
    .default("dropped")
    .only(HANDOFF),
    Key::new("nodes.*.handoff.state-rate", RATE, "rate at which the state of agents moves to the new station")
        .or(&["unlimited"])
        .default("unlimited")
        .above("0 bit/s")
        .at_most(FASTEST)
        .only(HANDOFF),
    Key::new("nodes.*.handoff.state-delay", TIME_MS, "time that moving the state takes in addition")
        .default("0 s")
        .at_most(LONGEST)
        .only(HANDOFF),
    Key::new(
        "nodes.*.restart",
        TIME_S,
        "time at which the node restarts: its agents lose what they know, and links and routes stay; default: never",
    )
    .absent()
    .at_most(LONGEST),
];

const fn time(path: &'static str, meaning: &'static str, only: &'static [Only]) -> Key {
    Key::new(path, TIME_S, meaning).at_most(LONGEST).only(only)
}
