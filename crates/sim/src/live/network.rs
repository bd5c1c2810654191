//! The network of a scenario for programs outside, without sockets and clocks.

use lasthop_stack::packet::{Body, Datagram, IP_HEADER, NodeId, Packet, TCP_HEADER, UDP_HEADER};
use lasthop_stack::units::Time;
use lasthop_stack::wire;

use super::bound::{NotLive, bind};
use crate::model::Config;
use crate::outside;
use crate::probe::trace::missing;
use crate::run::{Open, Outcome, Recorded, RunError};

/// The network of the addresses of version 6; behind it is the address of version 4 (`lasthop.realtime.system`).
const NETWORK_6: [u8; 12] = *b"\xfdlasth\0\0\0\0\0\0";
/// The first byte of an address of version 6 that is that of a group.
const MULTICAST_6: u8 = 0xff;
/// Bytes of a header of version 6.
const HEADER_6: usize = 40;

/// What one bound node sent and received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Packets that entered the network.
    pub packets: u64,
    /// Those with payload.
    pub data: u64,
    /// Those that agents do not understand, of any protocol: they pass as datagrams of their length.
    pub opaque: u64,
    /// What is not an IP packet to a bound node, and did not enter.
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
        recorded: Recorded,
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
        let mut run =
            Open::new(bind(config, &nodes, until)?, seeds, recorded).map_err(|error| match error {
                RunError::Unreachable(pair) => {
                    let [from, to] = [pair.from, pair.to].map(|node| config.nodes[node].name.clone());
                    NotLive::Apart(from, to)
                }
                error => NotLive::Run(error),
            })?;
        if let Some((outside, first_port)) = run.outside().zip(first_port) {
            outside.connections.receive_from(first_port);
        }
        let bound: Vec<NodeId> = nodes.into_iter().map(|node| NodeId(node as u32)).collect();
        let counted = vec![Counted::default(); bound.len()];
        Ok(Network { run, bound, counted, bytes: Vec::new(), identification: 0 })
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
        // What a kernel tells all neighbours of version 6 is not for a node.
        if bytes.first().is_some_and(|first| first >> 4 == 6) && bytes.get(24) == Some(&MULTICAST_6) {
            return;
        }
        let counted = &mut self.counted[end];
        let Some((mut packet, is_opaque)) =
            as_packet(bytes, now).filter(|(packet, _)| packet.src == self.bound[end])
        else {
            counted.ignored += 1;
            return;
        };
        let from = self.run.outside().and_then(|outside| outside.connections.enter(&mut packet));
        let Some(from) = from else {
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
    fn write(&mut self, end: usize, packet: Packet) -> bool {
        let counted = &mut self.counted[end];
        let Some(outside) = self.run.outside() else { return false };
        let identification = self.identification.wrapping_add(1);
        let Ok(is_rewritten) = outside.write(&packet, identification, &mut self.bytes) else {
            counted.without_content += 1;
            return false;
        };
        counted.arrived += 1;
        if is_rewritten {
            self.identification = identification;
            counted.rewritten += 1;
        }
        true
    }

    /// What each bound node has sent and received.
    #[must_use]
    pub fn counted(&self) -> &[Counted] {
        &self.counted
    }

    /// What a trace channel records and this network lacks; `None` if there is something to record.
    #[must_use]
    pub fn missing(&self, channel: &str) -> Option<&'static str> {
        missing(channel, self.run.config())
    }

    /// The addresses of the bound nodes.
    #[must_use]
    pub fn addresses(&self) -> Vec<[u8; 4]> {
        self.bound.iter().map(|node| wire::address(*node)).collect()
    }

    /// The metrics of the time since the last call or, if that is later, since the measurement began.
    pub fn sample(&mut self) -> Vec<(String, Option<f64>)> {
        self.run.sample()
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
/// it. `None` for what is not a whole IP packet to a node.
fn as_packet(bytes: &[u8], now: Time) -> Option<(Packet, bool)> {
    let header: &[u8; IP_HEADER as usize] = bytes.first_chunk()?;
    if let Ok((packet, payload)) = wire::parse(bytes, now)
        && usize::from(u16::from_be_bytes([header[2], header[3]])) == bytes.len()
        && has_known_options(&packet, &bytes[..bytes.len() - payload.len()])
    {
        return Some((packet, false));
    }
    let word = |at: usize| usize::from(u16::from_be_bytes([header[at], header[at + 1]]));
    let address = |at: usize| bytes.get(at..)?.first_chunk::<4>().copied();
    let ((src, dst), length) = match header[0] >> 4 {
        4 => ((address(12)?, address(16)?), word(2)),
        6 if [8, 24].iter().all(|at| bytes[*at..].starts_with(&NETWORK_6)) => {
            ((address(20)?, address(36)?), word(4) + HEADER_6)
        }
        _ => return None,
    };
    if length != bytes.len() {
        return None;
    }
    let len = (bytes.len() as u32).saturating_sub(IP_HEADER + UDP_HEADER);
    let body = Body::Udp(Datagram { len, ..Datagram::default() });
    Some((Packet { ecn: outside::ecn(bytes), ..Packet::new(wire::node(src), wire::node(dst), body) }, true))
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
