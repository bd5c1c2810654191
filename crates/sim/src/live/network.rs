//! The network of a scenario for programs outside, without sockets and clocks.

use lasthop_stack::packet::{Body, Datagram, Ecn, Flags, IP_HEADER, NodeId, Packet, TCP_HEADER, UDP_HEADER};
use lasthop_stack::units::Time;
use lasthop_stack::wire::{self, Headers};

use super::bound::{NotLive, bind};
use super::connections::Connections;
use crate::model::{Config, FlowConfig};
use crate::net::outside::Content;
use crate::run::{Open, Outcome, RunError};

/// Version 4 is in the first four bits of an IP packet.
const VERSION_4: u8 = 4;

/// What one bound node sent and received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Packets that entered the network.
    pub packets: u64,
    /// Those with payload.
    pub data: u64,
    /// Those that agents do not understand, of any protocol: they pass as datagrams of their length.
    pub opaque: u64,
    /// What is not an IPv4 packet to a bound node, and did not enter.
    pub ignored: u64,
    /// Packets that arrived here.
    pub arrived: u64,
    /// Those whose bytes an agent changed, or made.
    pub rewritten: u64,
    /// Those without content that cannot be made from their headers; they are lost.
    pub without_content: u64,
}

/// The network of a scenario some of whose nodes are bound: their packets come from outside and have content.
pub struct Network {
    run: Open,
    bound: Vec<NodeId>,
    connections: Connections,
    counted: Vec<Counted>,
    /// The bytes of the packet that arrived last.
    bytes: Vec<u8>,
    identification: u16,
}

impl Network {
    /// The network at the start of a replication, for at most as long as `until`, with these nodes bound. If `first_port` is
    /// given, the receiver of the n-th flow has the n-th port from it on outside.
    ///
    /// # Errors
    /// A node does not exist, an agent makes data, or the run cannot start.
    pub fn new(
        config: &Config,
        bound: &[&str],
        (until, first_port): (Time, Option<u16>),
        seeds: (u64, u64),
    ) -> Result<Network, NotLive> {
        let mut nodes = Vec::new();
        for name in bound {
            let place = config.nodes.iter().position(|node| node.name == **name);
            let place = place.ok_or_else(|| NotLive::NoNode((*name).to_string()))?;
            if nodes.contains(&place) {
                return Err(NotLive::Twice((*name).to_string()));
            }
            nodes.push(place);
        }
        let run = Open::new(bind(config, &nodes, until)?, seeds).map_err(|error| match error {
            RunError::Unreachable(pair) => {
                let [from, to] = [pair.from, pair.to].map(|node| config.nodes[node].name.clone());
                NotLive::Apart(from, to)
            }
            error => NotLive::Run(error),
        })?;
        let nodes_of = |flow: &FlowConfig| [flow.from, flow.to].map(|node| NodeId(node as u32));
        let outer = run.config().flows.iter().map(|flow| flow.is_outside.then(|| nodes_of(flow)));
        let connections = Connections::new(run.ports(), outer, first_port);
        let bound: Vec<NodeId> = nodes.into_iter().map(|node| NodeId(node as u32)).collect();
        let counted = vec![Counted::default(); bound.len()];
        Ok(Network { run, bound, connections, counted, bytes: Vec::new(), identification: 0 })
    }

    /// When something happens next.
    pub fn next_at(&mut self) -> Option<Time> {
        self.run.next_at()
    }

    /// Lets happen what is due up to now.
    pub fn advance(&mut self, now: Time) {
        self.run.advance(now);
    }

    /// A bound node sends these bytes now; what is due before is over.
    pub fn take(&mut self, end: usize, bytes: &[u8], now: Time) {
        let counted = &mut self.counted[end];
        let Some((mut packet, is_opaque)) =
            as_packet(bytes, now).filter(|(packet, _)| packet.src == self.bound[end])
        else {
            counted.ignored += 1;
            return;
        };
        let Some(from) = self.connections.enter(&mut packet) else {
            counted.ignored += 1;
            return;
        };
        counted.packets += 1;
        counted.data += u64::from(packet.payload() > 0);
        counted.opaque += u64::from(is_opaque);
        self.run.send(from, packet, bytes);
    }

    /// The next packet that has arrived: the bound node, when, and its bytes.
    pub fn arrival(&mut self) -> Option<(usize, Time, &[u8])> {
        loop {
            let (node, packet, at) = self.run.arrived()?;
            let Some(end) = self.bound.iter().position(|bound| *bound == node) else { continue };
            if self.write(end, packet) {
                return Some((end, at, &self.bytes));
            }
        }
    }

    /// Writes the bytes of a packet that has arrived; false if it has none.
    fn write(&mut self, end: usize, mut packet: Packet) -> bool {
        let counted = &mut self.counted[end];
        let content = self.run.outside().and_then(|outside| outside.content(packet.id));
        self.bytes.clear();
        if let Some(content) = content.filter(|content| content.packet.body == packet.body) {
            self.bytes.extend_from_slice(&content.bytes);
            mark(&mut self.bytes, packet.ecn);
            counted.arrived += 1;
            return true;
        }
        // An agent changed the headers of the packet, or made one.
        let payload = content.and_then(|content| part(content, &packet)).unwrap_or_default();
        self.connections.leave(&mut packet);
        self.identification = self.identification.wrapping_add(1);
        let Ok(headers) = Headers::over(&packet, self.identification, payload) else {
            counted.without_content += 1;
            return false;
        };
        self.bytes.extend_from_slice(headers.as_bytes());
        self.bytes.extend_from_slice(payload);
        counted.arrived += 1;
        counted.rewritten += 1;
        true
    }

    /// What each bound node has sent and received.
    #[must_use]
    pub fn counted(&self) -> &[Counted] {
        &self.counted
    }

    /// The addresses of the bound nodes.
    #[must_use]
    pub fn addresses(&self) -> Vec<[u8; 4]> {
        self.bound.iter().map(|node| wire::address(*node)).collect()
    }

    /// The results up to the present.
    ///
    /// # Errors
    /// The traces cannot be written.
    pub fn finish(self) -> Result<Outcome, RunError> {
        self.run.finish()
    }
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Network").field("bound", &self.bound).finish_non_exhaustive()
    }
}

/// The packet of these bytes, and whether it is opaque: a datagram of their length, since no part of the simulator understands
/// it. `None` for what is not a whole IPv4 packet.
fn as_packet(bytes: &[u8], now: Time) -> Option<(Packet, bool)> {
    let header: &[u8; IP_HEADER as usize] = bytes.first_chunk()?;
    if let Ok((packet, payload)) = wire::parse(bytes, now)
        && usize::from(u16::from_be_bytes([header[2], header[3]])) == bytes.len()
        && has_known_options(&packet, &bytes[..bytes.len() - payload.len()])
    {
        return Some((packet, false));
    }
    let [first, service, t0, t1, .., s0, s1, s2, s3, d0, d1, d2, d3] = *header;
    if first >> 4 != VERSION_4 || usize::from(u16::from_be_bytes([t0, t1])) != bytes.len() {
        return None;
    }
    let len = (bytes.len() as u32).saturating_sub(IP_HEADER + UDP_HEADER);
    let datagram = Datagram { len, ..Datagram::default() };
    let (src, dst) = (wire::node([s0, s1, s2, s3]), wire::node([d0, d1, d2, d3]));
    Some((Packet { ecn: Ecn::of_bits(service), ..Packet::new(src, dst, Body::Udp(datagram)) }, true))
}

/// The payload of a packet that is a part of another's.
fn part<'a>(content: &'a Content, packet: &Packet) -> Option<&'a [u8]> {
    let payload = &content.bytes[content.bytes.len() - content.packet.payload() as usize..];
    let begin = match (&content.packet.body, &packet.body) {
        (Body::Tcp(whole), Body::Tcp(part)) => {
            let [whole, part] =
                [whole, part].map(|segment| segment.seq.plus(u32::from(segment.flags.has(Flags::SYN))));
            part.distance_from(whole)
        }
        _ => 0,
    };
    payload.get(usize::try_from(begin).ok()?..)?.get(..packet.payload() as usize)
}

/// Whether the TCP options of a packet with these headers are among those that the simulator has. Ends may order and pad them in
/// their own way, so that the packet may be a few bytes shorter or longer than the simulator counts.
fn has_known_options(packet: &Packet, headers: &[u8]) -> bool {
    let Body::Tcp(_) = packet.body else { return true };
    let first = (IP_HEADER + TCP_HEADER) as usize + usize::from(packet.extra_header);
    let mut options = headers.get(first..).unwrap_or_default();
    while let [kind, rest @ ..] = options {
        options = match (kind, rest) {
            (0, _) => return true,
            (1, rest) => rest,
            (2..=5 | 8, [length, ..]) => options.get(usize::from(*length).max(2)..).unwrap_or_default(),
            _ => return false,
        };
    }
    true
}

/// Writes the ECN field into an IPv4 packet, and mends the checksum of its header if that changes it (RFC 1624, eqn. 3).
fn mark(bytes: &mut [u8], ecn: Ecn) {
    let before = u16::from_be_bytes([bytes[0], bytes[1]]);
    let after = before & !0b11 | ecn as u16;
    if before == after {
        return;
    }
    bytes[1] = after as u8;
    let checksum = u16::from_be_bytes([bytes[10], bytes[11]]);
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = ((folded & 0xffff) + (folded >> 16)) as u16;
    bytes[10..12].copy_from_slice(&(!folded).to_be_bytes());
}
