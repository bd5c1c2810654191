//! What a run may need at most, before it starts.

use lasthop_stack::link::dot11::{Buffer, BufferScope, Reassembly};
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::transport::tcp;
use lasthop_stack::units::Span;

use crate::net::routes::Routes;
use crate::probe::transfers::Transfer;
use crate::scenario::config::{AppConfig, AppKind, Config, LinkKind, TransportConfig, UserConfig};
use crate::traffic::sessions::{self, Class};

/// Memory of a run that holds nothing yet, in bytes.
const FIXED_MEMORY: f64 = 1e6;
/// Memory for each packet on the way: the packet, its place in a pipe, in a queue and in a scoreboard.
const MEMORY_PER_PACKET: f64 = 256.0;
/// Events of a TCP packet beside its hops and those of its acknowledgement: timers that fire.
const EVENTS_BESIDE_HOPS: f64 = 0.1;
/// Memory for a bin of goodput over time.
const MEMORY_PER_BIN: f64 = 8.0;
/// Packets of a session beside its data and requests: those that open and close it.
const PACKETS_PER_SESSION: f64 = 6.0;
/// Bytes of the headers that every packet has.
const HEADERS: f64 = 28.0;
/// Events of a frame on a medium: its end, its station's timer, and timers of others that it moves.
const EVENTS_PER_FRAME: f64 = 4.0;
/// Events of a slot: it begins and ends, whatever is sent in it.
const EVENTS_PER_SLOT: f64 = 2.0;
/// Slots from one packet of a node's own to the next: in the one between them it listens for the echo.
const SLOTS_PER_PACKET: f64 = 2.0;
/// Memory of a station of a slotted network: its queues, and how it hears some forty others.
const MEMORY_PER_STATION: f64 = 4096.0;
/// Memory of a row of its network table: the neighbours towards one destination.
const MEMORY_PER_ROW: f64 = 128.0;

/// Memory in which a station joins fragments of another that come in any order.
const MEMORY_PER_WINDOW: f64 = 8192.0;

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
    let ports = ports(config);
    let mut windows = 0.0;
    let mut on_the_way = 0.0;
    let mut add = |from: usize, to: usize, app: &AppConfig, transport: &TransportConfig| {
        let path = routes.path(from, to);
        let way = Way::over(path.iter().map(|(_, hop)| ports[hop.port.0 as usize]));
        let load = Load::of(app, transport, config, &way);
        estimate.events += load.packets * load.events_per_packet * way.hops + load.timers + load.writes;
        // The room for records doubles when it is used up.
        estimate.memory_bytes += 2.0 * load.transfers * size_of::<Transfer>() as f64;
        windows += load.window.unwrap_or(0.0);
        on_the_way += load.window.unwrap_or(load.packets);
    };
    for flow in &config.flows {
        add(flow.from, flow.to, &flow.app, &flow.transport);
        if let Some(reverse) = &flow.reverse {
            add(flow.to, flow.from, &reverse.app, &flow.transport);
        }
    }
    estimate.memory_bytes += windows * MEMORY_PER_PACKET;
    if let Some(bin) = config.run.bin {
        let bins = config.run.duration.0.div_ceil(bin.0) as f64;
        estimate.events += bins;
        estimate.memory_bytes += bins * MEMORY_PER_BIN * config.directions().len() as f64;
    }
    for (_, link) in config.point_to_point() {
        let drawn = link.rtt.map_or(0.0, |law| law.longest().as_secs() / 2.0);
        for direction in &link.directions {
            let bits_on_the_way = direction.rate.0 as f64 * (direction.delay.as_secs() + drawn);
            let queued = match direction.queue {
                QueueLimit::Packets(packets) => f64::from(packets),
                QueueLimit::Bytes(bytes) => bytes.0 as f64 / HEADERS,
                QueueLimit::Unlimited => f64::INFINITY,
            };
            let held = (queued + bits_on_the_way / (8.0 * HEADERS)).min(on_the_way);
            estimate.memory_bytes += held * MEMORY_PER_PACKET;
        }
    }
    for (_, wifi) in config.wifi() {
        // The medium is never without frames, and all are as short as an acknowledgement.
        let mac = &wifi.mac;
        let shortest = mac.phy.airtime(mac.ack, 0, mac.data_rate).total + mac.sifs;
        estimate.events += EVENTS_PER_FRAME * config.run.duration.as_secs() / shortest.as_secs();
        let stations = wifi.nodes.len() as f64;
        let shares = |buffer: Buffer| if buffer.scope == BufferScope::Shared { 1.0 } else { stations };
        let queued = mac
            .buffer
            .map_or(f64::from(mac.queue), |buffer| shares(buffer) * f64::from(buffer.bytes) / HEADERS);
        estimate.memory_bytes += (queued * stations).min(on_the_way) * MEMORY_PER_PACKET;
        if mac.reassembly == Reassembly::AnyOrder {
            // Each station hears the access point, and that hears all.
            estimate.memory_bytes += 2.0 * stations * MEMORY_PER_WINDOW;
        }
    }
    for (_, frn) in config.frn() {
        estimate.events += EVENTS_PER_SLOT * (config.run.duration.as_secs() / frn.slot.as_secs() + 1.0);
        // Packets leave the network at the ends of the flows.
        let exits = (2.0 * config.flows.len() as f64).min(frn.nodes.len() as f64);
        estimate.memory_bytes += frn.nodes.len() as f64 * (MEMORY_PER_STATION + exits * MEMORY_PER_ROW);
    }
    estimate
}

/// What a hop takes its time from.
#[derive(Clone, Copy, Debug)]
enum Pace {
    /// A bit rate.
    Rate(f64),
    /// Slots of so many seconds, each of which holds a packet of any length.
    Slots(f64),
}

/// The pace of each port, in order.
fn ports(config: &Config) -> Vec<Pace> {
    let mut ports = Vec::new();
    for link in &config.links {
        match &link.kind {
            LinkKind::PointToPoint(link) => {
                ports.extend(link.directions.iter().map(|direction| Pace::Rate(direction.rate.0 as f64)));
            }
            LinkKind::Wifi(wifi) => {
                let rate = Pace::Rate(wifi.mac.data_rate.rate().0 as f64);
                ports.extend(wifi.nodes.iter().map(|_| rate));
            }
            LinkKind::Frn(frn) => {
                let slots = Pace::Slots(frn.slot.as_secs());
                ports.extend(frn.nodes.iter().map(|_| slots));
            }
        }
    }
    ports
}

/// The way of a flow.
struct Way {
    /// Hops whose packets are events; those in slots are not, for the slots are counted by themselves.
    hops: f64,
    /// The least bit rate, infinite where all hops are in slots.
    bottleneck: f64,
    /// The longest slot, if there are any.
    slot_s: Option<f64>,
}

impl Way {
    fn over(hops: impl Iterator<Item = Pace>) -> Way {
        let mut way = Way { hops: 0.0, bottleneck: f64::INFINITY, slot_s: None };
        for hop in hops {
            match hop {
                Pace::Rate(rate) => {
                    way.hops += 1.0;
                    way.bottleneck = way.bottleneck.min(rate);
                }
                Pace::Slots(slot_s) => {
                    way.slot_s = Some(way.slot_s.map_or(slot_s, |known| known.max(slot_s)));
                }
            }
        }
        way
    }
}

struct Load {
    /// Packets sent over the whole run.
    packets: f64,
    /// Most packets outstanding, where the transport has a window.
    window: Option<f64>,
    /// Times the source acts.
    writes: f64,
    events_per_packet: f64,
    /// Timers that fire.
    timers: f64,
    /// Transfers that users begin.
    transfers: f64,
}

impl Load {
    fn of(app: &AppConfig, transport: &TransportConfig, config: &Config, way: &Way) -> Load {
        let duration = config.run.duration.as_secs();
        let seconds = duration - app.start.as_secs().min(duration);
        let (written, write) = match app.kind {
            AppKind::Bulk => (f64::INFINITY, f64::INFINITY),
            AppKind::File { size } => (size.0 as f64 * 8.0, f64::INFINITY),
            AppKind::Datagrams { size, packet, rate } => {
                let all = size.0 as f64 * 8.0;
                let sent = rate.map_or(all, |rate| all.min(rate.0 as f64 * seconds));
                (sent, f64::from(packet) * 8.0)
            }
            AppKind::Cbr { rate, packet }
            | AppKind::Poisson { rate, packet }
            | AppKind::OnOff { rate, packet, .. } => (rate.0 as f64 * seconds, f64::from(packet) * 8.0),
            AppKind::User(ref user) => return Load::of_user(user, transport, seconds, way),
        };
        let writes = if write.is_finite() { written / write + 1.0 } else { 1.0 };
        match transport {
            TransportConfig::Tcp(tcp) => {
                let full = f64::from(tcp.packet) * 8.0;
                let payload = if tcp.nagle { full } else { full.min(write) };
                // Everything may be sent twice; beside full segments there is a smaller one now and then.
                let window = f64::from(tcp.window);
                let sent = way.bottleneck * seconds / (payload + 8.0 * HEADERS);
                let (sent, expiries) = match way.slot_s {
                    // A full window may wait at the node where the slots begin.
                    Some(slot_s) => (sent.min(seconds / (SLOTS_PER_PACKET * slot_s) + window), expiries(tcp)),
                    None => (sent, f64::INFINITY),
                };
                let packets = sent.min(2.0 * written / payload) + 1.0;
                let timers = (EVENTS_BESIDE_HOPS * packets).min(expiries * seconds + 1.0);
                let (window, events_per_packet) = (Some(window), 2.0);
                Load { packets, window, writes, events_per_packet, timers, transfers: 0.0 }
            }
            TransportConfig::Udp { .. } => Load {
                packets: writes,
                window: None,
                writes,
                events_per_packet: 1.0,
                timers: EVENTS_BESIDE_HOPS * writes,
                transfers: 0.0,
            },
        }
    }

    /// A user who transfers, without a round trip between, whichever class makes most packets in its time.
    fn of_user(user: &UserConfig, transport: &TransportConfig, seconds: f64, way: &Way) -> Load {
        let TransportConfig::Tcp(tcp) = transport else { unreachable!("users need TCP") };
        let mut load = Load {
            packets: 1.0,
            window: Some(f64::from(tcp.window)),
            writes: 1.0,
            events_per_packet: 2.0,
            timers: 1.0,
            transfers: 1.0,
        };
        for (class, share) in Class::ALL.into_iter().zip(user.shares) {
            if share == 0.0 {
                continue;
            }
            let session = sessions::mean_session(user, class);
            let packets = PACKETS_PER_SESSION + 2.0 * session.objects + session.bytes / f64::from(tcp.packet);
            let sending = 8.0 * (session.bytes + HEADERS * packets) / way.bottleneck;
            let slots = way.slot_s.map_or(0.0, |slot_s| SLOTS_PER_PACKET * slot_s * packets);
            let sessions = seconds / (session.pauses_s + sending.max(slots)).max(1e-9) + 1.0;
            // Everything may be sent twice, and half of the sessions may be twice as long as the mean of their law.
            load.packets = load.packets.max(4.0 * sessions * packets);
            load.writes = load.writes.max(sessions * (2.0 + 2.0 * session.objects));
            load.transfers = load.transfers.max(sessions * f64::from(session.transfers));
        }
        load.timers = EVENTS_BESIDE_HOPS * load.packets;
        load
    }
}

/// Times a second at which the timers of a connection can fire at most: one for retransmission, one that holds
/// acknowledgements back.
fn expiries(tcp: &tcp::Config) -> f64 {
    let often = |span: Span| 1.0 / span.as_secs();
    often(tcp.min_rto) + if tcp.ack_every > 1 { often(tcp.ack_delay) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    fn of(more: &str) -> Estimate {
        let text = format!(
            "[run]\nduration = \"1000 s\"\n[nodes]\na = {{}}\nb = {{}}\n[links.ab]\nkind = \"wired\"\n\
             nodes = [\"a\", \"b\"]\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n{more}"
        );
        let scenario = Scenario::from_text(&text, "estimate.toml", &[]).expect("a valid scenario");
        estimate(&scenario.config(0))
    }

    #[test]
    fn a_long_udp_flow_needs_the_memory_of_its_path_not_of_all_its_packets() {
        let app = "app = { kind = \"cbr\", cbr = { rate = \"500 Mbit/s\", packet = \"1000 B\" } }";
        let needed = of(app).memory_bytes;
        assert!(needed > 1e6 && needed < 50e6, "{needed}");
    }

    #[test]
    fn a_user_needs_no_more_than_was_estimated_and_less_the_longer_the_pauses() {
        let text = |pause: &str| {
            let app = format!(
                "kind = \"mix\", ftp = {{ size = \"100 kB\", pause = \"{pause}\" }}, \
                 web = {{ reading = \"{pause}\" }}, mail = {{ pause = \"{pause}\" }}"
            );
            format!(
                "[run]\nduration = \"200 s\"\n[nodes]\na = {{}}\nb = {{}}\n[links.ab]\nkind = \"wired\"\n\
                 nodes = [\"a\", \"b\"]\nrate = \"2 Mbit/s\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\napp = {{ {app} }}"
            )
        };
        let both = |pause: &str| {
            let scenario = Scenario::from_text(&text(pause), "estimate.toml", &[]).expect("a valid scenario");
            let config = scenario.config(0);
            let request = crate::run::Request {
                config: &config,
                seed: 1,
                replication: 0,
                trace: &[],
                pcap: &[],
                cancel: None,
                max_events: None,
                max_wall: None,
            };
            (estimate(&config), crate::run::run(&request).expect("it runs"))
        };
        let mut events = Vec::new();
        for pause in ["0 s", "1 s", "30 s"] {
            let (estimate, outcome) = both(pause);
            let (needed, transfers) = (outcome.events as f64, outcome.transfers.len());
            assert!(estimate.events > needed, "{pause}: {estimate:?}, {needed}");
            assert!(estimate.events < 40.0 * needed, "{pause}: {estimate:?}, {needed}");
            assert!(estimate.memory_bytes - FIXED_MEMORY > (transfers * size_of::<Transfer>()) as f64);
            events.push(estimate.events);
        }
        assert!(events.windows(2).all(|pair| pair[0] > pair[1]), "{events:?}");
    }

    #[test]
    fn data_that_goes_back_is_counted_as_that_of_a_second_flow() {
        let app = "app = { kind = \"bulk\" }";
        let (one_way, both) = (of(app), of("app = { kind = \"bulk\", reverse = { kind = \"bulk\" } }"));
        assert!((both.events / one_way.events - 2.0).abs() < 1e-3, "{both:?} {one_way:?}");
        assert!(both.memory_bytes > 1.5 * one_way.memory_bytes);
    }

    #[test]
    fn small_writes_over_tcp_are_counted_as_packets_of_their_own() {
        let app = "app = { kind = \"cbr\", cbr = { rate = \"1 Mbit/s\", packet = \"10 B\" } }\ntcp = { nagle = false }";
        // 12.5 million writes of 10 bytes, each an event, a packet and an acknowledgement.
        let events = of(app).events;
        assert!(events > 3.0 * 12.5e6, "{events}");
    }
}
