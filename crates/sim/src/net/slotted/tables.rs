//! The network tables of all nodes of a slotted network: hop counts through the neighbours in range.

use std::collections::VecDeque;

use lasthop_stack::link::slotted::{Alternatives, NetworkTable};
use lasthop_stack::packet::NodeId;

use crate::medium::slots::SlotMedium;
use crate::model::{Config, FlowConfig};
use crate::net::routes::Routes;

/// The stations at which packets leave a network, in order. The ports of the network begin at `first_port`.
pub(super) fn exits(config: &Config, routes: &Routes, first_port: u32, stations: &[usize]) -> Vec<u32> {
    let is_own = |port: u32| (first_port..first_port + stations.len() as u32).contains(&port);
    let mut exits = vec![false; config.nodes.len()];
    for pair in config.flows.iter().flat_map(FlowConfig::pairs) {
        for (from, to) in [pair, (pair.1, pair.0)] {
            let path = routes.path(from, to);
            for (place, (_, hop)) in path.iter().enumerate() {
                let goes_on = path.get(place + 1).is_some_and(|(_, next)| is_own(next.port.0));
                if is_own(hop.port.0) && !goes_on {
                    exits[hop.next.0 as usize] = true;
                }
            }
        }
    }
    (0..stations.len() as u32).filter(|station| exits[stations[*station as usize]]).collect()
}

/// The table of each station for packets that leave the network at one of `exits`.
pub(super) fn tables(
    medium: &SlotMedium,
    stations: &[usize],
    exits: &[u32],
    alternatives: Alternatives,
) -> Vec<NetworkTable> {
    let mut tables = vec![NetworkTable::default(); stations.len()];
    let address = |station: u32| NodeId(stations[station as usize] as u32);
    let mut neighbours = Vec::new();
    for &exit in exits {
        let hops = hops(medium, stations.len(), exit);
        for (station, table) in tables.iter_mut().enumerate() {
            let Some(away) = hops[station].filter(|away| *away > 0) else { continue };
            let known = medium
                .in_range(station as u32)
                .filter_map(|near| Some((address(near), hops[near as usize]?)));
            neighbours.clear();
            neighbours.extend(known);
            table.enter(address(exit), away, &neighbours, alternatives);
        }
    }
    tables
}

/// The number of hops from each station to station `from`; `None` without a path.
fn hops(medium: &SlotMedium, stations: usize, from: u32) -> Vec<Option<u32>> {
    let mut hops = vec![None; stations];
    hops[from as usize] = Some(0);
    let mut front = VecDeque::from([(from, 0)]);
    while let Some((station, away)) = front.pop_front() {
        for near in medium.in_range(station) {
            if hops[near as usize].is_none() {
                hops[near as usize] = Some(away + 1);
                front.push_back((near, away + 1));
            }
        }
    }
    hops
}
