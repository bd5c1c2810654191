//! Bounds on the outstanding data of senders that share links.
//!
//! A scoreboard keeps the memory that its flow once needed. The bound is therefore the sum of each flow's maximum, not
//! the maximum of the sum: flows that take turns each fill the path. Flows that start together and send as fast as they
//! may share the path from their first packet on. If N of them end one after another, the last but n has at most
//! `1/(n + 1)` of the path, which sums up to 1 + ln N paths.

use std::collections::BTreeMap;

use lasthop_stack::units::Time;

use super::load::{Load, Pace};
use super::window::{FILLS, Window};

/// The segments of all loads, each of which crosses these ports.
pub(super) fn outstanding(loads: &[Load], crossed: &[Vec<u32>], ports: &[Pace]) -> f64 {
    let mut alone = 0.0;
    let mut together: BTreeMap<Time, Vec<(Window, &[u32])>> = BTreeMap::new();
    for (load, crossed) in loads.iter().zip(crossed) {
        let Some(window) = load.window else { continue };
        match window.start.filter(|_| window.beside.is_some()) {
            Some(start) => together.entry(start).or_default().push((window, crossed)),
            None => alone += window.segments,
        }
    }
    alone + together.values().map(|windows| of_one_start(windows, ports)).sum::<f64>()
}

fn of_one_start(windows: &[(Window, &[u32])], ports: &[Pace]) -> f64 {
    // Of each port the segments of all that cross it, and the smallest packet among them.
    let mut shared: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    let (mut alone, mut beside) = (0.0, 0.0);
    for (window, crossed) in windows {
        alone += window.segments;
        beside += window.beside.unwrap_or(0.0).min(window.segments);
        for port in *crossed {
            let (segments, packet) = shared.entry(*port).or_insert((0.0, f64::INFINITY));
            (*segments, *packet) = (*segments + window.segments, packet.min(window.packet));
        }
    }
    let paths = 1.0 + libm::log(windows.len() as f64);
    let held = |(port, (segments, packet)): (&u32, &(f64, f64))| {
        (FILLS * paths * ports[*port as usize].holds(*packet)).min(*segments)
    };
    alone.min(beside + shared.iter().map(held).sum::<f64>())
}
