//! The network of a scenario for programs outside, without sockets and clocks.

use std::collections::VecDeque;

use lasthop_stack::packet::{Body, Datagram, IP_HEADER, NodeId, Packet, TCP_HEADER, UDP_HEADER};
use lasthop_stack::units::Time;
use lasthop_stack::wire;

use super::air::{Air, Needed};
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
    /// Frames that did not enter, because they had no IP packet to a bound node.
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
    /// The bound node at which packets to addresses of no node leave.
    outlet: Option<usize>,
    /// What the outlet and the Internet send each other.
    beside: VecDeque<(usize, Time, Vec<u8>)>,
    /// The bytes of the packet that arrived last.
    bytes: Vec<u8>,
    identification: u16,
    /// The radios, where the MAC layer of the bound nodes is that of a kernel.
    air: Option<Air>,
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
        until: Time,
        first_port: Option<u16>,
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
        let (beside, bytes) = (VecDeque::new(), Vec::new());
        Ok(Network { run, bound, counted, outlet: None, beside, bytes, identification: 0, air: None })
    }

    /// Joins the Internet to a bound node, as a further end behind those of all bound nodes: packets to addresses of no node
    /// leave there, and their answers enter there.
    pub fn join(&mut self, outlet: usize) {
        let (node, nodes) = (self.bound[outlet], self.run.config().nodes.len());
        if let Some(outside) = self.run.outside() {
            outside.connections.leave_at(node, nodes);
        }
        self.outlet = Some(outlet);
    }

    /// The radios that the bound nodes need, if their MAC layer is a kernel's.
    #[must_use]
    pub fn radios_needed(&self) -> Option<Needed> {
        Needed::of(self.run.config())
    }

    /// Joins the radios of the bound nodes, as the one end. Their protocol has this number in the kernel.
    pub fn join_radios(&mut self, family: u16) {
        self.air = self.radios_needed().map(|needed| Air::new(family, &needed));
    }

    /// The end of the radios, where they are joined.
    pub(super) fn radios(&self) -> Option<usize> {
        self.air.as_ref().map(|_| 0)
    }

    /// The kernel sends a message about its radios now; what is due before is over. Returns false if it has refused one.
    pub(super) fn transmit(&mut self, message: &[u8], now: Time) -> bool {
        let Some(air) = &mut self.air else { return false };
        let Some(entering) = air.entering(message, now) else { return !Air::is_refusal(message) };
        let place = self.bound.iter().position(|node| *node == entering.from);
        let other = self.bound.iter().copied().find(|node| *node != entering.from);
        let Some((place, other)) = place.zip(other) else { return true };
        let mut packet = entering.packet(&self.bound, other);
        let end = self.run.outside().and_then(|outside| outside.connections.enter(&mut packet));
        let Some(end) = end else { return true };
        self.counted[place].packets += 1;
        self.counted[place].opaque += 1;
        if let Some(number) = self.run.hand_over(end, packet, entering.frame, &entering.handover) {
            air.track(number, &entering);
        }
        true
    }

    /// The next message for the radios, and when it is due.
    pub(super) fn for_radios(&mut self) -> Option<(Time, &[u8])> {
        let Network { air, run, bound, counted, .. } = self;
        let air = air.as_mut()?;
        run.take_news(air.news());
        let (when, at, message) = air.message(&run.outside()?.contents)?;
        if let Some(place) = bound.iter().position(|node| Some(*node) == at) {
            counted[place].arrived += 1;
        }
        Some((when, message))
    }

    /// The end of the Internet, where it is joined.
    pub(super) fn internet(&self) -> Option<usize> {
        self.outlet.map(|_| self.bound.len())
    }

    /// When something happens next.
    pub fn next_at(&mut self) -> Option<Time> {
        let first = self.beside.front().map(|(_, at, _)| *at);
        first.or_else(|| self.run.next_at())
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
        let (end, beside) = self.sides(end);
        if beside.is_some() && self.end_of(bytes) == beside {
            self.beside.extend(beside.map(|beside| (beside, now, bytes.to_vec())));
            return;
        }
        let Some((from, packet, is_opaque)) = self.entering(end, bytes, now) else {
            self.counted[end].ignored += 1;
            return;
        };
        let counted = &mut self.counted[end];
        counted.packets += 1;
        counted.data += u64::from(packet.payload() > 0);
        counted.opaque += u64::from(is_opaque);
        self.run.send(from, packet, bytes);
    }

    /// The packet of these bytes that enters at a bound node, with the end of a flow that it comes from, and whether it is opaque.
    fn entering(&mut self, end: usize, bytes: &[u8], now: Time) -> Option<(u32, Packet, bool)> {
        let (mut packet, is_opaque) = as_packet(bytes, now)?;
        let connections = &mut self.run.outside()?.connections;
        if !connections.is_from(self.bound[end], &packet) {
            return None;
        }
        let from = connections.enter(&mut packet)?;
        Some((from, packet, is_opaque))
    }

    /// The bound node of an end, and the end beside it: the outlet and the Internet are beside each other.
    fn sides(&self, end: usize) -> (usize, Option<usize>) {
        match self.outlet {
            Some(outlet) if end == self.bound.len() => (outlet, Some(outlet)),
            Some(outlet) if end == outlet => (outlet, Some(self.bound.len())),
            _ => (end, None),
        }
    }

    /// The end to which these bytes are addressed.
    fn end_of(&self, bytes: &[u8]) -> Option<usize> {
        let node = wire::node(*bytes.get(16..)?.first_chunk()?);
        if bytes[0] >> 4 == 4 && outside::is_outer(node, self.run.config().nodes.len()) {
            return Some(self.bound.len());
        }
        self.bound.iter().position(|bound| *bound == node)
    }

    /// The next packet that has arrived: the end, when, and its bytes.
    pub fn arrival(&mut self) -> Option<(usize, Time, &[u8])> {
        if let Some((end, at, bytes)) = self.beside.pop_front() {
            self.bytes = bytes;
            return Some((end, at, &self.bytes));
        }
        loop {
            let (node, packet, at) = self.run.arrived()?;
            let Some(end) = self.bound.iter().position(|bound| *bound == node) else { continue };
            if self.write(end, packet) {
                let end =
                    if self.outlet == Some(end) { self.end_of(&self.bytes).unwrap_or(end) } else { end };
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
pub(super) fn has_known_options(packet: &Packet, headers: &[u8]) -> bool {
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
