//! The connections of programs outside, and the ports that their packets have in the simulation.
//!
//! In the simulation a port names the end of a flow (`model::ports`). Each connection between two bound nodes is one of their
//! flow, with ports of its own there, so that agents and queues of flows distinguish it from others. A bound node can be the
//! outlet: there, connections with addresses of no node leave the network.

use std::collections::HashMap;

use lasthop_stack::packet::{Body, NodeId, Packet};
use lasthop_stack::wire::address;

use crate::model::ports::Ports;

/// Addresses that begin with this byte or more are those of groups.
const GROUPS: u8 = 224;

/// A connection as it is outside: nodes and ports of its two ends, the smaller first, and whether it is TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Connection {
    ends: [(u32, u16); 2],
    is_tcp: bool,
}

impl Connection {
    fn of(packet: &Packet) -> Connection {
        let (from, to) = packet.ports();
        let mut ends = [(packet.src.0, from), (packet.dst.0, to)];
        ends.sort_unstable();
        Connection { ends, is_tcp: matches!(packet.body, Body::Tcp(_)) }
    }
}

/// A flow between bound nodes.
#[derive(Clone, Debug)]
struct BoundFlow {
    nodes: [NodeId; 2],
    /// Its connections by their numbers.
    known: Vec<Connection>,
    /// How many it has had.
    begun: u32,
}

/// The connections seen so far. As many are kept as have ports of their own in the simulation.
#[derive(Debug)]
pub(crate) struct Connections {
    ports: Ports,
    /// All flows by their numbers; `None` of those without bound nodes.
    flows: Vec<Option<BoundFlow>>,
    /// The flow of each connection, and its number there.
    places: HashMap<Connection, (u32, u32)>,
    /// Outside, the receiver of the n-th flow has the n-th port from this one on.
    first_port: Option<u16>,
    /// The node at which packets to addresses of no node leave, and the number of nodes.
    outlet: Option<(NodeId, usize)>,
}

impl Connections {
    /// Without connections, of these flows: the nodes of those between bound nodes.
    pub(crate) fn new(ports: Ports, flows: impl Iterator<Item = Option<[NodeId; 2]>>) -> Connections {
        let flow = |nodes| BoundFlow { nodes, known: Vec::new(), begun: 0 };
        let flows = flows.map(|nodes| nodes.map(flow)).collect();
        Connections { ports, flows, places: HashMap::new(), first_port: None, outlet: None }
    }

    /// Gives the receiver of the n-th flow the n-th port from this one on.
    pub(crate) fn receive_from(&mut self, first_port: u16) {
        self.first_port = Some(first_port);
    }

    /// Routes packets for addresses outside the network, which has this number of nodes, to this node.
    pub(crate) fn leave_at(&mut self, node: NodeId, nodes: usize) {
        self.outlet = Some((node, nodes));
    }

    /// The node that has an address, or behind which it is.
    fn inner(&self, node: NodeId) -> NodeId {
        self.outlet.filter(|(_, nodes)| is_outer(node, *nodes)).map_or(node, |(outlet, _)| outlet)
    }

    /// Whether a packet comes from a node, or from behind it.
    pub(crate) fn is_from(&self, node: NodeId, packet: &Packet) -> bool {
        self.inner(packet.src) == node
    }

    /// Whether a packet in the simulation is one of a flow between bound nodes.
    pub(crate) fn have(&self, packet: &Packet) -> bool {
        self.flows[self.ports.end(packet.ports().0) as usize / 2].is_some()
    }

    /// The flow of a packet between two bound nodes: of several the one whose receiver has its port, else the first.
    fn flow_of(&self, packet: &Packet) -> Option<u32> {
        let (from, to) = packet.ports();
        let mut between = (0..).zip(&self.flows).filter_map(|(number, flow)| {
            let nodes = flow.as_ref()?.nodes;
            let receives = match (packet.src, packet.dst) {
                (src, dst) if [src, dst] == nodes => to,
                (src, dst) if [dst, src] == nodes => from,
                _ => return None,
            };
            let has_port =
                self.first_port.is_some_and(|port| u32::from(port) + number == u32::from(receives));
            Some((number, has_port))
        });
        let first = between.clone().next();
        between.find(|(_, has_port)| *has_port).or(first).map(|(number, _)| number)
    }

    /// Gives a packet from outside the nodes and ports of its connection in the simulation, and returns the end that it comes
    /// from; `None` if no flow joins its nodes.
    pub(crate) fn enter(&mut self, packet: &mut Packet) -> Option<u32> {
        let connection = Connection::of(packet);
        (packet.src, packet.dst) = (self.inner(packet.src), self.inner(packet.dst));
        let (flow, number) = match self.places.get(&connection) {
            Some(place) => *place,
            None => self.begin(connection, self.flow_of(packet)?)?,
        };
        let side = usize::from(self.flows[flow as usize].as_ref()?.nodes[0] != packet.src);
        set_ports(packet, [side, 1 - side].map(|side| self.ports.of(flow, side, number)));
        Some(2 * flow + side as u32)
    }

    /// Numbers a new connection of a flow. It replaces the oldest one when all ports are used.
    fn begin(&mut self, connection: Connection, flow: u32) -> Option<(u32, u32)> {
        let BoundFlow { known, begun, .. } = self.flows[flow as usize].as_mut()?;
        let number = *begun % self.ports.generations();
        *begun += 1;
        if let Some(place) = known.get_mut(number as usize) {
            self.places.remove(&std::mem::replace(place, connection));
        } else {
            known.push(connection);
        }
        self.places.insert(connection, (flow, number));
        Some((flow, number))
    }

    /// Gives a packet the addresses and ports that its connection has outside.
    pub(super) fn leave(&self, packet: &mut Packet) {
        let (from, to) = packet.ports();
        let flow = self.flows[self.ports.end(from) as usize / 2].as_ref();
        let number = self.ports.connection(from.min(to)) as usize;
        if let Some(connection) = flow.and_then(|flow| flow.known.get(number)) {
            let [first, second] = connection.ends;
            let is_first = self.inner(NodeId(first.0)) == packet.src;
            let (from, to) = if is_first { (first, second) } else { (second, first) };
            (packet.src, packet.dst) = (NodeId(from.0), NodeId(to.0));
            set_ports(packet, [from.1, to.1]);
        }
    }
}

/// Whether this is a unicast address outside a network with this number of nodes.
pub(crate) fn is_outer(node: NodeId, nodes: usize) -> bool {
    node.0 as usize >= nodes && address(node)[0] < GROUPS
}

fn set_ports(packet: &mut Packet, [from, to]: [u16; 2]) {
    match &mut packet.body {
        Body::Tcp(segment) => (segment.src_port, segment.dst_port) = (from, to),
        Body::Udp(datagram) => (datagram.src_port, datagram.dst_port) = (from, to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_stack::packet::Segment;

    const FIRST_PORT: u16 = 5001;

    /// The ports of a packet in the simulation, and the end that it comes from.
    fn entered(connections: &mut Connections, nodes: [u32; 2], ports: [u16; 2]) -> Option<(u32, (u16, u16))> {
        let segment = Segment { src_port: ports[0], dst_port: ports[1], ..Segment::default() };
        let mut packet = Packet::new(NodeId(nodes[0]), NodeId(nodes[1]), Body::Tcp(segment));
        let end = connections.enter(&mut packet)?;
        let inside = packet.ports();
        connections.leave(&mut packet);
        assert_eq!(packet.ports(), (ports[0], ports[1]), "it leaves with the ports with which it entered");
        Some((end, inside))
    }

    #[test]
    fn each_connection_of_a_flow_has_ports_of_its_own_inside() {
        let ports = Ports::new(2, true).expect("few flows");
        let flows = [Some([NodeId(0), NodeId(2)]), Some([NodeId(2), NodeId(0)])];
        let mut found = Connections::new(ports, flows.into_iter());
        assert_eq!(entered(&mut found, [0, 2], [40_000, 80]), Some((0, (10_000, 10_001))));
        assert_eq!(entered(&mut found, [2, 0], [80, 40_000]), Some((1, (10_001, 10_000))));
        assert_eq!(entered(&mut found, [0, 2], [40_001, 80]), Some((0, (10_004, 10_005))));
        assert_eq!(entered(&mut found, [0, 2], [40_000, 80]), Some((0, (10_000, 10_001))), "the first again");
        assert_eq!(entered(&mut found, [0, 1], [1, 2]), None, "no flow joins them");
        // As many connections as there are ports, and some more.
        for port in 0..30_000 {
            entered(&mut found, [0, 2], [port, 443]).expect("a flow");
        }
        // In a scenario whose receivers have ports, these choose the flow.
        let mut found = Connections::new(ports, flows.into_iter());
        found.receive_from(FIRST_PORT);
        assert_eq!(entered(&mut found, [0, 2], [40_000, FIRST_PORT]), Some((0, (10_000, 10_001))));
        assert_eq!(entered(&mut found, [2, 0], [FIRST_PORT, 40_000]), Some((1, (10_001, 10_000))));
        assert_eq!(entered(&mut found, [2, 0], [40_000, FIRST_PORT + 1]), Some((2, (10_002, 10_003))));
        assert_eq!(entered(&mut found, [0, 2], [FIRST_PORT + 1, 40_000]), Some((3, (10_003, 10_002))));
    }

    #[test]
    fn connections_with_other_addresses_are_those_of_the_outlet_inside_and_leave_with_their_own() {
        let ports = Ports::new(1, true).expect("few flows");
        let mut found = Connections::new(ports, [Some([NodeId(0), NodeId(2)])].into_iter());
        found.leave_at(NodeId(2), 3);
        let tcp = |from, to, ports: [u16; 2]| {
            let segment = Segment { src_port: ports[0], dst_port: ports[1], ..Segment::default() };
            Packet::new(NodeId(from), NodeId(to), Body::Tcp(segment))
        };
        // Two hosts with the same ports, one before all nodes in the order of addresses, and the outlet itself.
        for (host, inside) in [(77, [10_000, 10_001]), (0xABCD_0000, [10_002, 10_003]), (2, [10_004, 10_005])]
        {
            let mut packet = tcp(0, host, [40_000, 443]);
            assert_eq!(found.enter(&mut packet), Some(0));
            assert_eq!(packet, tcp(0, 2, inside));
            // What an agent makes as an answer.
            let mut answer = tcp(2, 0, [inside[1], inside[0]]);
            found.leave(&mut answer);
            assert_eq!(answer, tcp(host, 0, [443, 40_000]));
            found.leave(&mut packet);
            assert_eq!(packet, tcp(0, host, [40_000, 443]));
        }
    }
}
