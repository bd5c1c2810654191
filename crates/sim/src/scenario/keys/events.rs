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

const HANDOFF: &[Only] = &[Only::Is("nodes.*.handoff.law", &["script", "periodic", "random"])];
const HANDOFF_BY_SCRIPT: &[Only] = &[Only::Is("nodes.*.handoff.law", &["script"])];
const PERIODIC_HANDOFF: &[Only] = &[Only::Is("nodes.*.handoff.law", &["periodic"])];
const RANDOM_HANDOFF: &[Only] = &[Only::Is("nodes.*.handoff.law", &["random"])];

/// The keys under `[links.NAME.outages]`.
pub(super) fn of_links() -> Vec<Key> {
    let warned = "an outage the transports at the nodes of the link";
    [OF_LINKS, &warnings("links.*.outages", ("an outage", warned), OUTAGES[0])].concat()
}

const OF_LINKS: &[Key] = &[
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
];

/// The keys under `[nodes.NAME.handoff]`, and the restart of a node.
pub(super) fn of_nodes() -> Vec<Key> {
    let warned = "a hand-off the transports of the node";
    [OF_NODES, &warnings("nodes.*.handoff", ("a hand-off", warned), HANDOFF[0]), AFTER].concat()
}

const OF_NODES: &[Key] = &[
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
];

const AFTER: &[Key] = &[
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

/// The keys of the warnings of an event, which have a meaning where it has a law.
fn warnings(at: &str, (event, warned): (&str, &str), law: Only) -> [Key; 5] {
    let text = |text: String| -> &'static str { String::leak(text) };
    let path = |below: &str| text(format!("{at}.warning.{below}"));
    let [lead, every] = ["lead", "false-every"].map(path);
    let after = |key: &'static str| -> &'static [Only] { Vec::leak(vec![law, Only::Given(key)]) };
    let law = Vec::leak(vec![law]);
    let [lead_text, missed_text] = [
        format!("how long before {warned} are warned; default: never"),
        format!("probability that {event} has no warning"),
    ]
    .map(text);
    [
        Key::new(lead, TIME_MS, lead_text).absent().at_most(LONGEST).only(law),
        Key::new(path("deviation"), TIME_MS, "standard deviation of the time of a warning, normal")
            .default("0 s")
            .at_most(LONGEST)
            .only(after(lead)),
        Key::new(path("missed"), SHARE, missed_text).default("0 %").at_most("100 %").only(after(lead)),
        Key::new(every, TIME_S, "mean time between false warnings, exponential; default: none")
            .absent()
            .above("0 s")
            .at_most(LONGEST)
            .only(law),
        Key::new(path("false-for"), TIME_MS, "time after which a false warning is withdrawn")
            .default("1 s")
            .at_most(LONGEST)
            .only(after(every)),
    ]
}
