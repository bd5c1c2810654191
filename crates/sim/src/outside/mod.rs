//! The bytes of packets that have some, and the programs outside the simulator to which nodes are bound.
//!
//! Queues, media and agents see packets without bytes. [`Outside::enter`] numbers a packet that comes from a program and keeps
//! its bytes; [`Outside::write`] writes a packet as a program or a capture reads it.

mod connections;
mod contents;

use std::collections::VecDeque;

use lasthop_stack::packet::{Ecn, NodeId, Packet};
use lasthop_stack::units::Time;
use lasthop_stack::wire::{Unfit, mended};

use crate::model::ports::Ports;
use crate::model::{Config, FlowConfig};
pub(crate) use connections::{Connections, is_outer};
pub(crate) use contents::{Content, Contents};

/// The bytes of packets, and the exchange between bound nodes and the network.
#[derive(Debug)]
pub(crate) struct Outside {
    pub(crate) connections: Connections,
    pub(crate) contents: Contents,
    /// Packets that have arrived at bound nodes, with the time of arrival, in order.
    pub(crate) arrived: VecDeque<(NodeId, Packet, Time)>,
}

impl Outside {
    /// That of a scenario; `None` if no packet has bytes: no node is bound, and no flow runs over QUIC.
    pub(crate) fn of(config: &Config, ports: Ports) -> Option<Box<Outside>> {
        let nodes_of = |flow: &FlowConfig| [flow.from, flow.to].map(|node| NodeId(node as u32));
        let flows = config.flows.iter().map(|flow| flow.is_outside.then(|| nodes_of(flow)));
        let has_bytes = config.flows.iter().any(|flow| flow.is_outside || flow.is_quic());
        let connections = Connections::new(ports, flows);
        has_bytes.then(|| {
            Box::new(Outside { connections, contents: Contents::default(), arrived: VecDeque::new() })
        })
    }

    /// The payload of a packet that did not come from a program; `None` if it has no bytes.
    pub(crate) fn payload(&self, packet: &Packet) -> Option<&[u8]> {
        let content = self.contents.get(packet.id)?;
        (!self.connections.have(packet)).then_some(&content.bytes)
    }

    /// The frame that a packet stands for, if its MAC layer is outside.
    pub(crate) fn frame(&self, packet: &Packet) -> Option<&[u8]> {
        let content = self.contents.get(packet.id)?;
        content.is_frame.then_some(&content.bytes)
    }

    /// Writes the bytes of a packet of a flow between bound nodes, and returns whether they are not those with which it came:
    /// an agent changed its headers, or made it. Then its IP header has this identification.
    ///
    /// # Errors
    /// It has no bytes: an agent made a packet with payload, or one that has no form.
    pub(crate) fn write(
        &self,
        packet: &Packet,
        identification: u16,
        into: &mut Vec<u8>,
    ) -> Result<bool, Unfit> {
        self.contents.write(packet, identification, |packet| self.connections.leave(packet), into)
    }
}

/// The ECN field of an IP packet, of version 4 or 6: the last two bits of the second byte, or those four bits before.
pub(crate) fn ecn(bytes: &[u8]) -> Ecn {
    Ecn::of_bits(bytes[1] >> shift(bytes))
}

fn shift(bytes: &[u8]) -> u32 {
    if bytes[0] >> 4 == 6 { 4 } else { 0 }
}

/// Writes the ECN field into an IP packet, and mends the checksum of a header of version 4 if that changes it.
fn mark(bytes: &mut [u8], ecn: Ecn) {
    if shift(bytes) > 0 {
        bytes[1] = bytes[1] & !(0b11 << shift(bytes)) | (ecn as u8) << shift(bytes);
        return;
    }
    let before = u16::from_be_bytes([bytes[0], bytes[1]]);
    let after = before & !0b11 | ecn as u16;
    if before == after {
        return;
    }
    bytes[1] = after as u8;
    let checksum = u16::from_be_bytes([bytes[10], bytes[11]]);
    bytes[10..12].copy_from_slice(&mended(checksum, before, after).to_be_bytes());
}
