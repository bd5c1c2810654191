//! Bounds on the outstanding data of senders that share links.
//!
//! A scoreboard keeps the memory that its flow once needed. The bound is therefore the sum of each flow's maximum, not
//! the maximum of the sum: flows that take turns each fill the path. Flows that start together and send as fast as they
//! may share the path from their first packet on. If N of them end one after another, the last but n has at most
//! `1/(n + 1)` of the path, which sums up to 1 + ln N paths.
//!
//! However deep the queues are, an acknowledgement lets its sender send at most [`TIMES_SENT`] segments. Flows through one port
//! therefore never have more outstanding than their initial windows and that multiple of what the port carries in the whole run.

use std::collections::BTreeMap;

use lasthop_stack::units::Time;

use super::load::Load;
use super::way::Pace;
use super::window::{FILLS, TIMES_SENT, Window};

/// The most that all loads together may have in transit.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnderWay {
    /// Segments that are outstanding.
    pub(super) segments: f64,
    /// Packets, copies included.
    pub(super) packets: f64,
}

impl UnderWay {
    /// That of loads that cross these ports in a run of `seconds` seconds.
    pub(super) fn of(loads: &[Load], crossed: &[Vec<u32>], ports: &[Pace], seconds: f64) -> UnderWay {
        let windows = || loads.iter().filter_map(|load| load.window);
        let segments = outstanding(loads, crossed, ports).min(carried(loads, crossed, ports, seconds));
        let copies = windows().map(|window| window.copies).fold(1.0, f64::max);
        let sent: f64 = windows().map(|window| window.on_the_way).sum();
        let unbounded: f64 = loads.iter().map(Load::unbounded).sum();
        UnderWay { segments, packets: unbounded + sent.min(copies * segments) }
    }
}

/// The bound by what the ports carry: that of each flow's narrowest one.
fn carried(loads: &[Load], crossed: &[Vec<u32>], ports: &[Pace], seconds: f64) -> f64 {
    let mut shared: BTreeMap<u32, Shared> = BTreeMap::new();
    let mut elsewhere = 0.0;
    for (load, crossed) in loads.iter().zip(crossed) {
        let Some(window) = load.window else { continue };
        let carries = |port: &u32| ports[*port as usize].carries(window.packet, seconds);
        match crossed.iter().min_by(|one, other| carries(one).total_cmp(&carries(other))) {
            Some(port) => shared.entry(*port).or_default().add(&window),
            None => elsewhere += window.segments,
        }
    }
    let bound = |(port, all): (&u32, &Shared)| {
        let freed = TIMES_SENT * ports[*port as usize].carries(all.packet, seconds);
        all.segments.min(all.initial + freed)
    };
    elsewhere + shared.iter().map(bound).sum::<f64>()
}

/// Flows through one port.
#[derive(Clone, Copy, Debug)]
struct Shared {
    segments: f64,
    initial: f64,
    /// Bytes of the smallest packet.
    packet: f64,
}

impl Default for Shared {
    fn default() -> Shared {
        Shared { segments: 0.0, initial: 0.0, packet: f64::INFINITY }
    }
}

impl Shared {
    fn add(&mut self, window: &Window) {
        self.segments += window.segments;
        self.initial += window.initial;
        self.packet = self.packet.min(window.packet);
    }
}

/// The segments of all loads, each of which crosses these ports, by what the ports hold.
fn outstanding(loads: &[Load], crossed: &[Vec<u32>], ports: &[Pace]) -> f64 {
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
