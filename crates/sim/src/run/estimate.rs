//! Upper bounds on the cost of a run, before it starts.

mod load;
mod memory;
mod shared;
#[cfg(test)]
mod tests;
mod way;
mod window;

use std::borrow::Cow;

use crate::medium::outages::{HandoffLaw, OutageLaw};
use crate::model::{AgentConfig, Config, FlowConfig, LinkKind, TransportConfig, WifiConfig};
use crate::net::routes::{Hop, NoRoutes, Routes};
use lasthop_stack::registry::tcp;
use lasthop_stack::transport::tcp::{Pacing, Profile};
use lasthop_stack::units::Span;
use load::{Agents, Load, Source, expiries};
use shared::UnderWay;
use way::{Pace, Way};

/// Events of a run and of a flow that come once: begins and ends, of sources, pauses and measurements.
const EVENTS_OF_ALL: f64 = 10.0;
/// Events of a frame on a medium: its end, its station's timer, and timers of others that it moves.
const EVENTS_PER_FRAME: f64 = 4.0;
/// Frames that are on the air at a time where all hear each other, collisions included.
const FRAMES_AT_ONCE: f64 = 2.0;
/// Events of a slot: it begins and ends, whatever is sent in it.
const EVENTS_PER_SLOT: f64 = 2.0;

/// Upper bounds on the needs of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Events.
    pub events: f64,
    /// Memory in bytes. Traces are on the disk, except for the part that is being read.
    pub memory_bytes: f64,
}

/// An upper bound, within its assumptions, on the cost of a run of this scenario. It assumes that every link of each
/// flow's path is full all the time, as are all windows and queues.
#[must_use]
pub fn estimate(config: &Config) -> Estimate {
    let routes = match Routes::of(config) {
        Ok(routes) => routes,
        // It will not run.
        Err(NoRoutes::Unreachable(_)) => return Estimate { events: 1.0, memory_bytes: memory::FIXED },
        Err(NoRoutes::Memory(bytes)) => return Estimate { events: 1.0, memory_bytes: bytes as f64 },
    };
    let ports = ports(config);
    let mut events = EVENTS_OF_ALL;
    let (mut loads, mut crossed) = (Vec::new(), Vec::new());
    let ends = pairs_of_ends(config);
    let mut duplicates: f64 = 1.0;
    let detour = detour(config);
    let agents = agents(config);
    let mut senders = vec![false; config.nodes.len()];
    for flow in &config.flows {
        for (from, to) in flow.pairs() {
            let ways = [routes.path(from, to), routes.path(to, from)];
            for (node, hop) in ways.iter().flatten() {
                (senders[*node], senders[hop.next.0 as usize]) = (true, true);
            }
            for (direction, source) in directions(flow) {
                let hops = |direction: usize| {
                    ways[direction].iter().map(|(_, hop): &(usize, Hop)| ports[hop.port.0 as usize])
                };
                let mut way = Way::over(hops(direction), hops(1 - direction));
                way.events += detour;
                way.events_back += detour;
                let load = Load::of(&source, &counted(&flow.transport), config, &way);
                events += ends * way.duplicates() * load.events(&way, agents.as_ref());
                duplicates = way.duplicates().max(duplicates);
                loads.push(load);
                crossed.push(ways[direction].iter().map(|(_, hop)| hop.port.0).collect::<Vec<_>>());
            }
        }
    }
    if let Some(bin) = config.run.bin {
        events += config.run.duration.0.div_ceil(bin.0) as f64;
    }
    events += link_events(config);
    for (_, wifi) in config.wifi() {
        // The medium is never without frames, and all are as short as an acknowledgement.
        let mac = &wifi.mac;
        let shortest = mac.phy.airtime(mac.ack, 0, mac.data_rate).total + mac.sifs;
        let at_once = frames_at_once(config, wifi, &senders);
        events += EVENTS_PER_FRAME * at_once * config.run.duration.as_secs() / shortest.as_secs();
    }
    for (_, frn) in config.frn() {
        events += EVENTS_PER_SLOT * (config.run.duration.as_secs() / frn.slot.as_secs() + 1.0);
    }
    let UnderWay { segments, packets } =
        UnderWay::of(&loads, &crossed, &ports, config.run.duration.as_secs());
    let under_way = UnderWay { segments: ends * duplicates * segments, packets };
    let memory_bytes = memory::bytes(config, &routes, &loads, under_way, &senders, ends);
    Estimate { events, memory_bytes }
}

/// A transport as its load is counted: QUIC is a paced TCP with as large packets and windows.
fn counted(transport: &TransportConfig) -> Cow<'_, TransportConfig> {
    let TransportConfig::Quic(quic) = transport else { return Cow::Borrowed(transport) };
    let (packet, streams) = (u32::from(quic.packet), quic.streams.max(1));
    let window = quic.window.saturating_mul(streams).div_ceil(packet).max(1);
    let tcp = tcp::Config { packet, window, pacing: Pacing::All, ..Profile::Modern.config() };
    Cow::Owned(TransportConfig::Tcp(tcp))
}

/// The most events that a packet needs in addition because nodes are handed off: over the other link, and a hop to reach it.
fn detour(config: &Config) -> f64 {
    let others = config.nodes.iter().filter_map(|node| node.handoff.as_ref()).map(|handoff| handoff.links[1]);
    others.map(|link| 2.0 + f64::from(u8::from(config.links[link].aqm.is_some()))).sum()
}

/// The load of the agents, if there are any.
fn agents(config: &Config) -> Option<Agents> {
    let repeats = |agent: &AgentConfig| {
        agent.scheme.needs().repeats_after.map_or(0.0, |span| expiries(span, config.run.duration.as_secs()))
    };
    (!config.agents.is_empty()).then(|| Agents { repeats: config.agents.iter().map(repeats).sum() })
}

/// How many connections one may become: every agent that ends connections makes two of one.
fn pairs_of_ends(config: &Config) -> f64 {
    1.0 + config.agents.iter().filter(|agent| agent.scheme.needs().terminates).count() as f64
}

/// Events of links: at most four for each outage or hand-off and its warning, and as many again for what is drawn.
fn link_events(config: &Config) -> f64 {
    let seconds = config.run.duration.as_secs();
    let every = |span: Span| seconds / span.as_secs() + 1.0;
    let drawn = |span: Span| 2.0 * every(span) + 20.0;
    let outages = |law: &OutageLaw| match law {
        OutageLaw::Script(lines) => lines.len() as f64,
        OutageLaw::Periodic { every: span, .. } => every(*span),
        OutageLaw::Random { mean_up, mean_down } => drawn(*mean_up + *mean_down),
        OutageLaw::Away { .. } => 0.0,
    };
    let handoffs = |law: &HandoffLaw| match law {
        HandoffLaw::Script(times) => times.len() as f64,
        HandoffLaw::Periodic { every: span, .. } => every(*span),
        HandoffLaw::Random { mean } => drawn(*mean),
    };
    let of_links = config.links.iter().filter_map(|link| link.outages.as_ref()).map(|config| {
        let false_warnings = config.warning.and_then(|warning| warning.false_every).map_or(0.0, drawn);
        outages(&config.law) + false_warnings
    });
    let of_nodes = config.nodes.iter().filter_map(|node| node.handoff.as_ref()).map(|it| {
        let false_warnings = it.warning.and_then(|warning| warning.false_every).map_or(0.0, drawn);
        handoffs(&it.law) + false_warnings
    });
    let restarts = config.nodes.iter().filter(|node| node.restart.is_some()).count() as f64;
    4.0 * (of_links.sum::<f64>() + of_nodes.sum::<f64>()) + restarts
}

/// The directions of a flow in which data goes, each with what sends it and what reads it.
fn directions(flow: &FlowConfig) -> impl Iterator<Item = (usize, Source<'_>)> {
    let opens = (flow.app.spread == Span::ZERO).then_some(flow.app.start);
    let buffer = match &flow.transport {
        TransportConfig::Tcp(tcp) => tcp.receive_buffer,
        TransportConfig::Udp { .. } | TransportConfig::Quic(_) => None,
    };
    let back = flow
        .reverse
        .as_ref()
        .map(|back| (1, Source { app: &back.app, sink: &back.sink, buffer: back.buffer, opens }));
    [(0, Source { app: &flow.app, sink: &flow.sink, buffer, opens })].into_iter().chain(back)
}

/// How many frames may be on the air of a medium at a time: where stations do not sense each other, each second one that
/// has anything to send may.
fn frames_at_once(config: &Config, wifi: &WifiConfig, senders: &[bool]) -> f64 {
    if wifi.nodes.iter().all(|node| config.nodes[*node].position.is_none()) {
        return FRAMES_AT_ONCE;
    }
    let active = wifi.nodes.iter().filter(|node| senders[**node]).count();
    (active as f64 / 2.0).max(FRAMES_AT_ONCE)
}

/// What each port offers to those that cross it, in order.
fn ports(config: &Config) -> Vec<Pace> {
    let mut ports = Vec::new();
    for link in &config.links {
        let is_managed = link.aqm.is_some();
        match &link.kind {
            LinkKind::PointToPoint(link) => {
                let bare = |direction| Pace::of_wire(link, direction, config.run.duration);
                let of = |direction| if is_managed { bare(direction).managed() } else { bare(direction) };
                ports.extend([of(0), of(1)]);
            }
            LinkKind::Wifi(wifi) => ports.extend(wifi.nodes.iter().map(|_| Pace::of_medium(wifi))),
            LinkKind::Frn(frn) => ports.extend(frn.nodes.iter().map(|_| Pace::of_slots(frn))),
        }
    }
    ports
}
