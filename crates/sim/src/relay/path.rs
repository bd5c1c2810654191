//! The network of a scenario between two ends, without sockets and clocks.

use std::fmt;

use lasthop_stack::packet::{Body, Datagram, Ecn, IP_HEADER, NodeId, Packet, Segment, TCP_HEADER};
use lasthop_stack::units::Time;

use super::contents::{Contents, mark};
use crate::model::ports::Ports;
use crate::model::{Config, LinkKind};
use crate::net::routes::Routes;
use crate::net::{Channel, Net, NetEvent};
use crate::probe::trace::Tracer;

/// Version 4 and a header without options are in the first byte of an IP packet.
const VERSION_4: u8 = 4;
/// The protocol number of TCP.
const TCP: u8 = 6;

/// A path that a relay cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPath {
    /// There is not a node of this name.
    NoNode(String),
    /// The link of this name is a medium of several stations.
    NoWire(String),
    /// This agent acts on packets.
    Agent(String),
    /// Links of this scenario go down, or nodes are handed off.
    Changes,
    /// No links lead from one end to the other.
    Unreachable(String, String),
}

impl fmt::Display for NoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoPath::NoNode(node) => write!(f, "nodes.{node}: unknown node; expected one of the scenario"),
            NoPath::NoWire(link) => write!(f, "links.{link}.kind: a medium; expected a link of two nodes"),
            NoPath::Agent(agent) => write!(f, "agents.{agent}: an agent; expected none"),
            NoPath::Changes => write!(f, "links: outages or hand-offs; expected links that do not change"),
            NoPath::Unreachable(from, to) => {
                write!(f, "nodes.{from}: no links to {to}; expected a path between the ends")
            }
        }
    }
}

impl std::error::Error for NoPath {}

/// What one direction of a link did in the measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopCounts {
    /// Packets that its full queue dropped.
    pub drops_queue: u64,
    /// Packets lost on it.
    pub drops_loss: u64,
    /// Packets that the law of its queue dropped before it was full.
    pub drops_aqm: u64,
    /// Packets that the law of its queue marked.
    pub marks: u64,
    /// Packets that its policer dropped.
    pub drops_policer: u64,
    /// Packets that it duplicated.
    pub duplicated: u64,
    /// Packets that overtook another on it.
    pub reordered: u64,
}

/// What one end sent in the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Packets that entered the network.
    pub packets: u64,
    /// Those with payload.
    pub data: u64,
    /// What was not an IPv4 packet, and did not enter it.
    pub ignored: u64,
}

/// The network of a scenario between two of its nodes, whose packets come from outside and have bytes.
pub struct Path {
    net: Net,
    ends: [NodeId; 2],
    ports: Ports,
    /// Outside, the receiver of the n-th flow has the n-th port from this one on.
    first_port: u16,
    /// The nodes from which the flows send.
    senders: Vec<NodeId>,
    /// The names of the links, in the order of the channels, of which each has two.
    links: Vec<String>,
    contents: Contents,
    at_begin: Vec<HopCounts>,
    sent: [Sent; 2],
}

impl Path {
    /// The network at the start of a replication, between two nodes. The receivers of the flows have the ports from `first_port`
    /// on outside; inside, packets have the ports of the simulation, and so the same hash.
    ///
    /// # Errors
    /// A node does not exist, or the network has more than links of two nodes.
    pub fn new(config: &Config, ends: [&str; 2], first_port: u16, seeds: (u64, u64)) -> Result<Path, NoPath> {
        for link in &config.links {
            if !matches!(link.kind, LinkKind::PointToPoint(_)) {
                return Err(NoPath::NoWire(link.name.clone()));
            }
        }
        if let Some(agent) = config.agents.first() {
            return Err(NoPath::Agent(agent.name.clone()));
        }
        if config.has_link_events() {
            return Err(NoPath::Changes);
        }
        let [first, second] = ends;
        let node = |name: &str| {
            let place = config.nodes.iter().position(|node| node.name == name);
            place.map(|place| NodeId(place as u32)).ok_or_else(|| NoPath::NoNode(name.to_string()))
        };
        let ends = [node(first)?, node(second)?];
        let unreachable = || NoPath::Unreachable(first.to_string(), second.to_string());
        let routes = Routes::of(config).map_err(|_| unreachable())?;
        let ports = Ports::new(config.flows.len(), false).map_err(|_| unreachable())?;
        let tracer = Tracer::new(&[]).map_err(|_| unreachable())?;
        let mut net = Net::new(config, routes, ports, seeds, tracer);
        net.begin();
        Ok(Path {
            at_begin: vec![HopCounts::default(); net.channels.len()],
            net,
            ends,
            ports,
            first_port,
            senders: config.flows.iter().map(|flow| NodeId(flow.from as u32)).collect(),
            links: config.links.iter().map(|link| link.name.clone()).collect(),
            contents: Contents::default(),
            sent: [Sent::default(); 2],
        })
    }

    /// An end sends these bytes now. What is due before now is over: [`Self::arrival`] has returned `None`.
    pub fn take(&mut self, end: usize, bytes: &[u8], now: Time) {
        let sent = &mut self.sent[end];
        let Some(mut packet) = as_packet(bytes) else {
            sent.ignored += 1;
            return;
        };
        sent.packets += 1;
        sent.data += u64::from(packet.payload() > 0);
        self.address(&mut packet, end);
        packet.id = self.contents.keep(bytes, &self.net);
        self.net.set_clock(now);
        let size = packet.size();
        self.net.send(packet.src, packet, size);
    }

    /// Gives a packet the addresses and ports of its flow in the simulation. What is not of a flow goes with the first.
    pub(super) fn address(&self, packet: &mut Packet, end: usize) {
        (packet.src, packet.dst) = (self.ends[end], self.ends[1 - end]);
        let (from, to) = packet.ports();
        let flow = |port: u16| {
            let number = usize::from(port.checked_sub(self.first_port)?);
            (number < self.senders.len()).then_some(number)
        };
        let number = flow(to).or_else(|| flow(from)).unwrap_or(0);
        let side = usize::from(self.senders.get(number) != Some(&packet.src));
        let port = |side: usize| self.ports.of(number as u32, side, 0);
        let (from, to) = (port(side), port(1 - side));
        match &mut packet.body {
            Body::Tcp(segment) => (segment.src_port, segment.dst_port) = (from, to),
            Body::Udp(datagram) => (datagram.src_port, datagram.dst_port) = (from, to),
        }
    }

    /// When something happens next.
    pub fn next_at(&mut self) -> Option<Time> {
        self.net.queue.peek().map(|(at, _)| at)
    }

    /// Lets happen what is due up to `now`, until a packet arrives: returns the end that it is for, when it arrived, and its
    /// bytes. `None` if nothing more is due.
    pub fn arrival(&mut self, now: Time) -> Option<(usize, Time, &[u8])> {
        while let Some((at, slot)) = self.net.queue.peek().filter(|(at, _)| *at <= now) {
            self.net.set_clock(at);
            match self.net.event(slot) {
                Some(NetEvent::Channel(channel)) => {
                    let Some((node, id, _)) = self.net.arrive(channel) else { continue };
                    let packet = self.net.take(id);
                    let bytes = self.contents.of(packet.id);
                    mark(bytes, packet.ecn);
                    return Some((usize::from(node == self.ends[1]), at, bytes));
                }
                Some(NetEvent::Pull(channel)) => self.net.on_pull(channel),
                _ => self.net.queue.cancel(slot),
            }
        }
        None
    }

    /// The measured time begins now.
    pub fn begin_measurement(&mut self, now: Time) {
        for channel in &mut self.net.channels {
            channel.begin_measurement(now);
        }
        self.at_begin = self.so_far(now);
    }

    fn so_far(&self, now: Time) -> Vec<HopCounts> {
        self.net.channels.iter().map(|channel| counts(channel, now)).collect()
    }

    /// What both directions of each link did in the measured time up to now, in the order of the scenario.
    #[must_use]
    pub fn counts(&self, now: Time) -> Vec<(&str, [HopCounts; 2])> {
        let since = |(ended, began): (HopCounts, &HopCounts)| HopCounts {
            drops_queue: ended.drops_queue - began.drops_queue,
            drops_loss: ended.drops_loss - began.drops_loss,
            drops_aqm: ended.drops_aqm - began.drops_aqm,
            marks: ended.marks - began.marks,
            drops_policer: ended.drops_policer - began.drops_policer,
            duplicated: ended.duplicated - began.duplicated,
            reordered: ended.reordered - began.reordered,
        };
        let all: Vec<HopCounts> = self.so_far(now).into_iter().zip(&self.at_begin).map(since).collect();
        let ways = all.chunks_exact(2).map(|both| [both[0], both[1]]);
        self.links.iter().map(String::as_str).zip(ways).collect()
    }

    /// What each end sent in the whole run.
    #[must_use]
    pub fn sent(&self) -> [Sent; 2] {
        self.sent
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Path").field("ends", &self.ends).field("links", &self.links).finish_non_exhaustive()
    }
}

fn counts(channel: &Channel, now: Time) -> HopCounts {
    let (counters, aqm) = (channel.counters(now), channel.aqm_counters());
    HopCounts {
        drops_queue: counters.drops_queue,
        drops_loss: counters.drops_loss,
        drops_aqm: aqm.drops,
        marks: aqm.marks,
        drops_policer: counters.drops_policer,
        duplicated: counters.duplicated,
        reordered: counters.reordered,
    }
}

/// What the links see of a packet: its length and that of its payload, its ports, and its ECN field. `None` for what is not a
/// whole IPv4 packet.
fn as_packet(bytes: &[u8]) -> Option<Packet> {
    let (first, protocol) = (*bytes.first()?, *bytes.get(9)?);
    let header = usize::from(first & 0xf) * 4;
    let half = |at: usize| Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
    let total = usize::from(half(2)?);
    if first >> 4 != VERSION_4 || total > bytes.len() || header < IP_HEADER as usize || header > total {
        return None;
    }
    let plain = IP_HEADER + TCP_HEADER;
    let (body, known) = if protocol == TCP {
        let offset = usize::from(bytes.get(header + 12)? >> 4) * 4;
        let len = total.checked_sub(header + offset)? as u32;
        let (src_port, dst_port) = (half(header)?, half(header + 2)?);
        (Body::Tcp(Segment { len, src_port, dst_port, ..Segment::default() }), plain + len)
    } else {
        let body = Body::Udp(Datagram::default());
        let known = Packet::new(NodeId(0), NodeId(1), body).size().0 as u32;
        (body, known)
    };
    // Options of both headers count as bytes between them.
    let extra_header = u16::try_from((total as u32).checked_sub(known)?).ok()?;
    let ecn = Ecn::of_bits(bytes[1]);
    Some(Packet { extra_header, ecn, ..Packet::new(NodeId(0), NodeId(1), body) })
}
