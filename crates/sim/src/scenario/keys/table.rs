//! Every key of a scenario, in the order of listings. A key follows those that its default and conditions name.
//!
//! Nodes, links, agents, transports and the applications of a flow have their own files.

use std::sync::LazyLock;

use super::super::quantity::Dim;
use super::shared::{LONGEST, MOST_COUNT, TIME_MS, TIME_S};
use super::{
    Key, Kind, Only, agents, apps, arq, channel, described, edca, events, figures, frn, judges, kinds, links,
    nodes, ofdma, pcf, quic, transport, users, wires,
};
use lasthop_stack::hooks::parameter::Words;

/// The newest version of the format of scenarios. It changes only if a key or a value gets another meaning, not with
/// new keys.
pub(in super::super) const FORMAT: &str = "1";

const IF_RANDOM: &[Only] = &[Only::Given("flows.*.count")];
/// The table, in the order of listings.
pub(in super::super) static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    [
        HEAD,
        nodes::KEYS,
        &events::of_nodes(),
        links::KEYS,
        &described::mac(),
        links::LOSSES,
        &described::aqms(),
        &edca::keys(),
        ofdma::KEYS,
        pcf::KEYS,
        &described::pcf(),
        arq::KEYS,
        &described::arqs(),
        &kinds::Kind::WORDS.iter().flat_map(|(_, kind)| kind.keys()).collect::<Vec<_>>(),
        &wires::keys(),
        &frn::keys(),
        &described::intervals(),
        &described::radio(),
        channel::KEYS,
        &events::of_links(),
        FLOWS,
        apps::FORWARD,
        users::KEYS,
        apps::FORWARD_SINK,
        apps::REVERSE,
        apps::REVERSE_SINK,
        transport::TCP,
        &described::tcp(),
        transport::UDP,
        &quic::keys(),
        judges::KEYS,
        &described::laws(),
        &described::reactions(),
        agents::KEYS,
        &described::agents(),
        figures::KEYS,
    ]
    .concat()
});

/// The head of the file and `[run]`.
const HEAD: &[Key] = &[
    // The head of the file.
    Key::new("paper", Kind::Text, "paper and figure that the scenario belongs to, such as ejtcp/fig10")
        .default(""),
    Key::new("title", Kind::Text, "one line on what the scenario shows").default(""),
    Key::new("summary", Kind::Text, "longer description of what the scenario shows").default(""),
    Key::new("format", Kind::Integer, "version of the scenario format that the file is written in")
        .default(FORMAT)
        .at_least("1")
        .at_most(FORMAT),
    // [run]
    Key::new("run.duration", TIME_S, "simulated duration of a run").above("0 s").at_most(LONGEST),
    Key::new("run.warmup", TIME_S, "simulated time before measurements start")
        .default("0 s")
        .at_most(LONGEST),
    Key::new("run.bin", TIME_MS, "width of the bins in which the goodput of each flow is stored over time")
        .or(&["none"])
        .default("none")
        .above("0 s")
        .at_most(LONGEST),
    Key::new("run.seed", Kind::Integer, "seed of every random stream")
        .default("1")
        .at_least("0")
        .at_most(MOST_COUNT),
    Key::new("run.replications", Kind::Integer, "number of independent runs per point")
        .default("10")
        .at_least("1")
        .at_most("1000000"),
    Key::new("run.max-events", Kind::Integer, "number of events after which a run is stopped")
        .or(&["none"])
        .default("none")
        .at_least("1")
        .at_most(MOST_COUNT),
    Key::new("run.max-wall", TIME_S, "wall-clock time after which a run is stopped")
        .or(&["none"])
        .default("none")
        .above("0 s")
        .at_most(LONGEST),
    Key::new("run.max-memory", Kind::Quantity(&[Dim::Size], "GB"), "maximum estimated memory of a run")
        .default("4 GB")
        .above("0 B"),
    Key::new(
        "run.plain",
        Kind::Bool,
        "whether each event and each packet takes the general path of the code, without a shortcut; slower, with the same results",
    )
    .default("false"),
];

/// The keys under `[flows.NAME]`.
const FLOWS: &[Key] = &[
    Key::new("flows.*.from", Kind::Node, "sending node or group"),
    Key::new("flows.*.to", Kind::Node, "receiving node or group"),
    Key::new(
        "flows.*.count",
        Kind::Integer,
        "number of flows, each from a random node of from to another random node of to; default: the nodes in order",
    )
    .absent()
    .at_least("1")
    .at_most("10000"),
    Key::new("flows.*.seed", Kind::Integer, "seed of random ends, which are equal in all replications")
        .default("1")
        .at_least("0")
        .at_most(MOST_COUNT)
        .only(IF_RANDOM),
    Key::new(
        "flows.*.dscp",
        Kind::Integer,
        "differentiated services code point of the packets of both directions, which selects the access category on 802.11n, ac, ax and is in captures; it has no other effect",
    )
    .default("0")
    .source("RFC 2474 (3): default behaviour; RFC 8325 (4.3): 8 background, 26 to 40 video, 46 voice")
    .at_least("0")
    .at_most("63"),
    Key::new(
        "flows.*.encrypted",
        Kind::Bool,
        "whether the header of its transport is hidden from agents, as with QUIC or in a tunnel: they pass its packets on",
    )
    .default("false")
    .source("lasthop"),
];
