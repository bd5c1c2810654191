//! The memory that a run may take: for the scenario, for its nodes, links and flows, and for the packets that may be in
//! transit at a time.
//!
//! `crates/sim/tests/limits.rs` measures what runs take and compares it with these numbers.

use lasthop_stack::link::dot11::{Buffer, BufferScope, Reassembly};
use lasthop_stack::units::Metres;

use super::load::Load;
use super::shared::UnderWay;
use super::way::{HEADERS, Pace};
use crate::model::{Config, FrnConfig, WifiConfig};
use crate::net::routes::Routes;
use crate::probe::transfers::Transfer;

/// Memory of a run that holds nothing yet, in bytes.
pub(super) const FIXED: f64 = 1e6;
/// A node: its name, its place, how it moves.
const A_NODE: f64 = 512.0;
/// A link between two nodes: its configuration, its channels, its metrics.
const A_LINK: f64 = 8192.0;
/// A flow: its configuration, both its ends, its metrics with their names.
const A_FLOW: f64 = 32_768.0;
/// A packet on the way: the packet, its place in a pipe and in a queue.
const A_PACKET: f64 = 512.0;
/// A segment that is outstanding: its place in a scoreboard, and in its receiver's data out of order.
const A_SEGMENT: f64 = 256.0;
/// A bin of goodput over time.
const A_BIN: f64 = 16.0;
/// A station of a medium: its MAC, its receiver, its streams.
const A_STATION: f64 = 4096.0;
/// What a station knows of one that hears it, where nothing changes and where gains or places do.
const A_HEARER: f64 = 16.0;
const A_CHANGING_HEARER: f64 = 768.0;
/// What a search for routes keeps of a pair of stations of which not all hear each other.
const A_PAIR: f64 = 4.0;
/// Memory in which a station joins fragments of another that come in any order.
const A_REASSEMBLY: f64 = 8192.0;
/// A station of a slotted network, and what it knows of one that it hears, for itself and for each destination.
const A_NODE_OF_SLOTS: f64 = 4096.0;
const A_NEIGHBOUR: f64 = 64.0;
const A_ROW: f64 = 128.0;
const A_HOP_OF_ROW: f64 = 32.0;

/// The memory of a run with these loads and their packets in transit. `senders` are the nodes that packets of flows
/// reach, and a connection has at most `pairs_of_ends` pairs of ends.
pub(super) fn bytes(
    config: &Config,
    routes: &Routes,
    loads: &[Load],
    under_way: UnderWay,
    senders: &[bool],
    pairs_of_ends: f64,
) -> f64 {
    let on_the_way = under_way.packets;
    // The room for records doubles when it is used up.
    let transfers: f64 = loads.iter().map(|load| 2.0 * load.transfers * size_of::<Transfer>() as f64).sum();
    let directions = loads.len() as f64;
    let mut bytes = FIXED + routes.bytes() + transfers + under_way.segments * A_SEGMENT;
    bytes += A_NODE * config.nodes.len() as f64 + A_FLOW * directions * pairs_of_ends;
    if let Some(bin) = config.run.bin {
        bytes += config.run.duration.0.div_ceil(bin.0) as f64 * A_BIN * directions;
    }
    for (_, link) in config.point_to_point() {
        let held: f64 = (0..2)
            .map(|way| Pace::of_wire(link, way, config.run.duration).holds(HEADERS).min(on_the_way))
            .sum();
        bytes += A_LINK + held * A_PACKET;
    }
    for (_, wifi) in config.wifi() {
        bytes += medium(config, wifi, on_the_way, senders);
    }
    for (_, frn) in config.frn() {
        bytes += slotted(config, frn) + on_the_way * A_PACKET;
    }
    bytes
}

fn medium(config: &Config, wifi: &WifiConfig, on_the_way: f64, senders: &[bool]) -> f64 {
    let stations = wifi.nodes.len() as f64;
    let active = wifi.nodes.iter().filter(|node| senders[**node]).count() as f64;
    let shares = |buffer: Buffer| if buffer.scope == BufferScope::Shared { 1.0 } else { stations };
    let mac = &wifi.mac;
    let queued =
        mac.buffer.map_or(f64::from(mac.queue), |buffer| shares(buffer) * f64::from(buffer.bytes) / HEADERS);
    let mut bytes = A_LINK + A_STATION * stations + (queued * active).min(on_the_way) * A_PACKET;
    let nodes = || wifi.nodes.iter().map(|node| &config.nodes[*node]);
    let (stand, placed) = (nodes().all(|it| it.motion.is_none()), nodes().any(|it| it.position.is_some()));
    let changes = !stand || wifi.radio.shadowing.is_some() || wifi.radio.fading.is_some();
    if changes {
        bytes += A_CHANGING_HEARER * stations * active;
    } else if placed {
        bytes += A_HEARER * stations * active;
    }
    if placed {
        bytes += A_PAIR * stations * stations;
    }
    if mac.reassembly == Reassembly::AnyOrder {
        // Each station hears the access point, and that hears all.
        bytes += 2.0 * stations * A_REASSEMBLY;
    }
    bytes
}

fn slotted(config: &Config, frn: &FrnConfig) -> f64 {
    let stations = frn.nodes.len() as f64;
    let medium = &frn.medium;
    let widest = medium.range_m.max(medium.carrier_sense_m).max(medium.interference_m);
    let places: Vec<(Metres, Metres)> =
        frn.nodes.iter().map(|node| config.nodes[*node].position.unwrap_or_default()).collect();
    let (all, in_range) = (pairs_within(&places, widest), pairs_within(&places, medium.range_m));
    // Packets leave the network at the ends of the flows.
    let exits = (2.0 * config.flows.len() as f64).min(stations);
    let rows = exits * (stations * A_ROW + in_range * A_HOP_OF_ROW);
    A_LINK + stations * A_NODE_OF_SLOTS + all * A_NEIGHBOUR + in_range * A_PAIR + rows
}

/// An upper bound on the pairs of places, each counted both ways, that are at most this far apart, by their squares.
fn pairs_within(places: &[(Metres, Metres)], away_m: f64) -> f64 {
    let mut sorted: Vec<(f64, f64)> = places.iter().map(|(x, y)| (x.0, y.0)).collect();
    sorted.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let mut pairs = 0_u64;
    let mut first = 0;
    for (place, (x, y)) in sorted.iter().enumerate() {
        while x - sorted[first].0 > away_m {
            first += 1;
        }
        pairs += sorted[first..place].iter().filter(|(_, other)| (y - other).abs() <= away_m).count() as u64;
    }
    2.0 * pairs as f64
}
