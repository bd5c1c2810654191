//! The connections of programs outside, and the ports that their packets have in the simulation.
//!
//! In the simulation a port names the end of a flow (`model::ports`). Each connection between two bound nodes is one of their
//! flow, with ports of its own there, so that agents and queues of flows distinguish it from others.

use std::collections::HashMap;

use lasthop_stack::packet::{Body, NodeId, Packet};

use crate::model::ports::Ports;

/// A connection as it is outside: its flow, the ports of its two sides, and whether it is TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Connection {
    flow: u32,
    ports: [u16; 2],
    is_tcp: bool,
}

/// The connections seen so far. As many are kept as have ports of their own in the simulation.
#[derive(Debug)]
pub(super) struct Connections {
    ports: Ports,
    /// The two nodes of each flow between bound nodes, with its number.
    flows: Vec<(u32, [NodeId; 2])>,
    numbers: HashMap<Connection, u32>,
    /// By flow and number of the connection.
    known: Vec<Vec<Option<Connection>>>,
    /// How many connections each flow has had.
    begun: Vec<u32>,
    /// Outside, the receiver of the n-th flow has the n-th port from this one on.
    first_port: Option<u16>,
}

impl Connections {
    /// Without connections, of these flows.
    pub(super) fn new(ports: Ports, flows: Vec<(u32, [NodeId; 2])>, first_port: Option<u16>) -> Connections {
        let most = flows.iter().map(|(flow, _)| *flow as usize + 1).max().unwrap_or(0);
        Connections {
            ports,
            flows,
            numbers: HashMap::new(),
            known: vec![Vec::new(); most],
            begun: vec![0; most],
            first_port,
        }
    }

    /// The flow and side that a packet between two bound nodes comes from: of several flows the one whose receiver has its port,
    /// else the first.
    fn flow_of(&self, packet: &Packet) -> Option<(u32, usize)> {
        let (from, to) = packet.ports();
        let mut between = self.flows.iter().filter_map(|(flow, nodes)| {
            let side = nodes.iter().position(|node| *node == packet.src)?;
            (nodes[1 - side] == packet.dst).then_some((*flow, side))
        });
        let first = between.clone().next();
        let has_port = |flow: u32, side: usize| {
            let receives = if side == 1 { from } else { to };
            self.first_port.is_some_and(|port| u32::from(port) + flow == u32::from(receives))
        };
        between.find(|(flow, side)| has_port(*flow, *side)).or(first)
    }

    /// Gives a packet from outside the ports of its connection in the simulation, and returns the end that it comes from; `None`
    /// if no flow joins its nodes.
    pub(super) fn enter(&mut self, packet: &mut Packet) -> Option<u32> {
        let (flow, side) = self.flow_of(packet)?;
        let (from, to) = packet.ports();
        let ports = if side == 0 { [from, to] } else { [to, from] };
        let connection = Connection { flow, ports, is_tcp: matches!(packet.body, Body::Tcp(_)) };
        let number = match self.numbers.get(&connection) {
            Some(number) => *number,
            None => self.begin(connection),
        };
        set_ports(packet, [side, 1 - side].map(|side| self.ports.of(flow, side, number)));
        Some(2 * flow + side as u32)
    }

    /// Numbers a new connection, which takes the place of the oldest one when all ports are used.
    fn begin(&mut self, connection: Connection) -> u32 {
        let flow = connection.flow as usize;
        let number = self.begun[flow] % self.ports.generations();
        self.begun[flow] += 1;
        let known = &mut self.known[flow];
        if number as usize == known.len() {
            known.push(None);
        }
        if let Some(before) = known[number as usize].replace(connection) {
            self.numbers.remove(&before);
        }
        self.numbers.insert(connection, number);
        number
    }

    /// Gives a packet the ports that its connection has outside.
    pub(super) fn leave(&self, packet: &mut Packet) {
        let (from, to) = packet.ports();
        let end = self.ports.end(from);
        let number = self.ports.connection(from.min(to));
        let known = self.known.get(end as usize / 2).and_then(|known| known.get(number as usize)?.as_ref());
        if let Some(connection) = known {
            let [first, second] = connection.ports;
            set_ports(packet, if end.is_multiple_of(2) { [first, second] } else { [second, first] });
        }
    }
}

fn set_ports(packet: &mut Packet, [from, to]: [u16; 2]) {
    match &mut packet.body {
        Body::Tcp(segment) => (segment.src_port, segment.dst_port) = (from, to),
        Body::Udp(datagram) => (datagram.src_port, datagram.dst_port) = (from, to),
    }
}
