//! The ports of the ends of each flow.
//!
//! The first connection of flow n has the ports after `FIRST + 2n`. For each further connection, a flow moves as many
//! pairs of ports further as there are flows, and begins again when the ports are used up. The port thus still
//! identifies the flow, and no port is reused before at least [`GENERATIONS`] connections.

use lasthop_stack::packet::Packet;

/// The port of the first flow's sending end; each end of each flow has the next.
const FIRST: u16 = 10_000;

/// Pairs of ports.
const PAIRS: usize = (u16::MAX - FIRST) as usize / 2;

/// The least number of connections of a flow that have different ports.
const GENERATIONS: usize = 16;

/// The ports of a run with this many flows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ports {
    flows: u32,
}

impl Ports {
    /// The ports of this many flows; the error states how many there can be, which is fewer if each opens many
    /// connections.
    pub(crate) fn new(flows: usize, many_connections: bool) -> Result<Ports, usize> {
        let most = if many_connections { PAIRS / GENERATIONS } else { PAIRS };
        if flows > most { Err(most) } else { Ok(Ports { flows: flows as u32 }) }
    }

    /// The port of one side of a flow in its connection with this number, counted from 0.
    pub(crate) fn of(self, flow: u32, side: usize, connection: u32) -> u16 {
        let generation = connection % self.generations();
        FIRST + (2 * (flow + generation * self.flows)) as u16 + side as u16
    }

    /// How many connections of a flow have ports of their own at a time.
    pub(crate) fn generations(self) -> u32 {
        PAIRS as u32 / self.flows
    }

    /// The number of the connection of its flow that has this port, modulo [`Self::generations`].
    pub(crate) fn connection(self, port: u16) -> u32 {
        u32::from(port - FIRST) / (2 * self.flows)
    }

    /// The flow and the side (0 sends, 1 receives) that a packet is for.
    #[inline]
    pub(crate) fn addressee(self, packet: &Packet) -> (usize, usize) {
        let end = self.receiver(packet) as usize;
        (end / 2, end % 2)
    }

    /// The end that a packet is for: twice the number of its flow, plus one for the receiving side.
    #[inline]
    pub(crate) fn receiver(self, packet: &Packet) -> u32 {
        self.end(packet.ports().1)
    }

    /// The end that a packet comes from.
    #[inline]
    pub(crate) fn sender(self, packet: &Packet) -> u32 {
        self.end(packet.ports().0)
    }

    /// The end that has this port.
    #[inline]
    pub(crate) fn end(self, port: u16) -> u32 {
        let place = u32::from(port - FIRST);
        // Most runs have only the first generation.
        if place < 2 * self.flows { place } else { place % (2 * self.flows) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_stack::packet::{Body, NodeId, Segment};
    use std::collections::BTreeSet;

    fn packet(dst_port: u16) -> Packet {
        let segment = Segment { dst_port, ..Segment::default() };
        Packet::new(NodeId(0), NodeId(1), Body::Tcp(segment))
    }

    #[test]
    fn a_port_tells_its_flow_in_every_connection_and_none_comes_back_soon() {
        for flows in [1, 2, 15, 1735] {
            let ports = Ports::new(flows, true).expect("few enough");
            let mut seen = BTreeSet::new();
            for connection in 0..GENERATIONS as u32 {
                for flow in 0..flows as u32 {
                    for side in [0, 1] {
                        let port = ports.of(flow, side, connection);
                        assert_eq!(ports.addressee(&packet(port)), (flow as usize, side));
                        assert!(seen.insert(port), "{flows} flows: {port} twice");
                    }
                }
            }
        }
        let ports = Ports::new(15, true).expect("few enough");
        assert_ne!(ports.of(3, 0, 0), ports.of(3, 0, 1850));
        assert_eq!(ports.of(3, 0, 0), ports.of(3, 0, 1851), "the ports begin again");
        assert_eq!(ports.addressee(&packet(ports.of(14, 1, u32::MAX))), (14, 1));
    }

    #[test]
    fn there_are_fewer_flows_where_each_opens_many_connections() {
        assert_eq!(Ports::new(27_767, false).map(|ports| ports.flows), Ok(27_767));
        assert_eq!(Ports::new(27_768, false).map(|ports| ports.flows), Err(27_767));
        assert_eq!(Ports::new(1736, true).map(|ports| ports.flows), Err(1735));
    }
}
