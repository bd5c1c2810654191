//! What a run may need at most, before it starts.

use lasthop_stack::link::queue::QueueLimit;

use crate::net::routes::Routes;
use crate::scenario::config::{AppKind, Config, FlowConfig, LinkKind, TransportConfig};

/// Memory of a run that holds nothing yet, in bytes.
const FIXED_MEMORY: f64 = 1e6;
/// Memory for each packet on the way: the packet, its place in a pipe, in a queue and in a scoreboard.
const MEMORY_PER_PACKET: f64 = 256.0;
/// Events of a TCP packet beside its hops and those of its acknowledgement: timers that fire.
const EVENTS_BESIDE_HOPS: f64 = 0.1;

/// What a run may need at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Events.
    pub events: f64,
    /// Memory in bytes, traces left out.
    pub memory_bytes: f64,
}

/// An upper bound, within its assumptions, on what a run of this scenario needs: every link of each flow's path is
/// full all the time, as are all windows and queues.
#[must_use]
pub fn estimate(config: &Config) -> Estimate {
    let mut estimate = Estimate { events: 1.0, memory_bytes: FIXED_MEMORY };
    let Ok(routes) = Routes::of(config) else {
        return estimate;
    };
    let rates = port_rates(config);
    for flow in &config.flows {
        let path = routes.path(flow.from, flow.to);
        let rates = path.iter().map(|(_, hop)| rates[hop.port.0 as usize]);
        let bottleneck = rates.fold(f64::INFINITY, f64::min);
        let load = Load::of(flow, config, bottleneck);
        let hops = path.len() as f64;
        estimate.events += load.packets * (load.events_per_packet * hops + EVENTS_BESIDE_HOPS);
        estimate.memory_bytes += load.window * MEMORY_PER_PACKET;
    }
    for (_, link) in config.point_to_point() {
        for direction in &link.directions {
            let bits_on_the_way = direction.rate.0 as f64 * direction.delay.as_secs();
            let queued = match direction.queue {
                QueueLimit::Packets(packets) => f64::from(packets),
                QueueLimit::Bytes(bytes) => bytes.0 as f64 / 40.0,
                QueueLimit::Unlimited => 0.0,
            };
            // Where windows bound what is on the way, they are counted already.
            let bound: f64 =
                config.flows.iter().map(|flow| Load::of(flow, config, f64::INFINITY).window).sum();
            estimate.memory_bytes += (queued + bits_on_the_way / 320.0).min(bound) * MEMORY_PER_PACKET;
        }
    }
    estimate
}

/// The bit rate of each port, in order.
fn port_rates(config: &Config) -> Vec<f64> {
    let mut rates = Vec::new();
    for link in &config.links {
        match &link.kind {
            LinkKind::PointToPoint(link) => {
                rates.extend(link.directions.iter().map(|direction| direction.rate.0 as f64));
            }
            LinkKind::Wifi(wifi) => {
                let rate = wifi.mac.data_rate.rate().0 as f64;
                rates.extend(wifi.nodes.iter().map(|_| rate));
            }
        }
    }
    rates
}

struct Load {
    /// Packets sent over the whole run.
    packets: f64,
    /// Packets on the way at once.
    window: f64,
    events_per_packet: f64,
}

impl Load {
    fn of(flow: &FlowConfig, config: &Config, bottleneck: f64) -> Load {
        let seconds =
            config.run.duration.as_secs() - flow.app.start.as_secs().min(config.run.duration.as_secs());
        let written = match flow.app.kind {
            AppKind::Bulk => f64::INFINITY,
            AppKind::File { size } => size.0 as f64 * 8.0,
            AppKind::Cbr { rate, .. } | AppKind::Poisson { rate, .. } | AppKind::OnOff { rate, .. } => {
                rate.0 as f64 * seconds
            }
        };
        match &flow.transport {
            TransportConfig::Tcp(tcp) => {
                let bits = f64::from(tcp.packet) * 8.0;
                let packets = (bottleneck * seconds).min(2.0 * written) / bits;
                Load { packets, window: f64::from(tcp.window), events_per_packet: 2.0 }
            }
            TransportConfig::Udp { .. } => {
                let packet = match flow.app.kind {
                    AppKind::Cbr { packet, .. }
                    | AppKind::Poisson { packet, .. }
                    | AppKind::OnOff { packet, .. } => packet,
                    AppKind::Bulk | AppKind::File { .. } => 1,
                };
                let packets = written / (f64::from(packet) * 8.0);
                Load { packets, window: packets, events_per_packet: 1.0 }
            }
        }
    }
}
