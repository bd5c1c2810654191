//! The connections of programs outside, and the ports that their packets have in the simulation.
//!
//! In the simulation a port names the end of a flow (`model::ports`). Each connection between two bound nodes is one of their
//! flow, with ports of its own there, so that agents and queues of flows distinguish it from others.

use std::collections::HashMap;

use lasthop_stack::packet::{Body, NodeId, Packet};

use crate::model::ports::Ports;

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

    /// The port at a node.
    fn port(&self, node: NodeId) -> u16 {
        self.ends[usize::from(self.ends[0].0 != node.0)].1
    }
}

/// A flow between bound nodes.
#[derive(Clone, Debug)]
struct Flow {
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
    flows: Vec<Option<Flow>>,
    /// The flow of each connection, and its number there.
    places: HashMap<Connection, (u32, u32)>,
    /// Outside, the receiver of the n-th flow has the n-th port from this one on.
    first_port: Option<u16>,
}

impl Connections {
    /// Without connections, of these flows: the nodes of those between bound nodes.
    pub(crate) fn new(ports: Ports, flows: impl Iterator<Item = Option<[NodeId; 2]>>) -> Connections {
        let flow = |nodes| Flow { nodes, known: Vec::new(), begun: 0 };
        let flows = flows.map(|nodes| nodes.map(flow)).collect();
        Connections { ports, flows, places: HashMap::new(), first_port: None }
    }

    /// Gives the receiver of the n-th flow the n-th port from this one on.
    pub(crate) fn receive_from(&mut self, first_port: u16) {
        self.first_port = Some(first_port);
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

    /// Gives a packet from outside the ports of its connection in the simulation, and returns the end that it comes from; `None`
    /// if no flow joins its nodes.
    pub(crate) fn enter(&mut self, packet: &mut Packet) -> Option<u32> {
        let connection = Connection::of(packet);
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
        let Flow { known, begun, .. } = self.flows[flow as usize].as_mut()?;
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

    /// Gives a packet the ports that its connection has outside.
    pub(super) fn leave(&self, packet: &mut Packet) {
        let (from, to) = packet.ports();
        let flow = self.flows[self.ports.end(from) as usize / 2].as_ref();
        let number = self.ports.connection(from.min(to)) as usize;
        if let Some(connection) = flow.and_then(|flow| flow.known.get(number)) {
            set_ports(packet, [connection.port(packet.src), connection.port(packet.dst)]);
        }
    }
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
}
