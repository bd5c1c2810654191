//! Checks of queues in bytes that are too small for their packets.

use super::frames::largest_packet;
use super::{Check, TCP_HEADERS};
use crate::model::{Config, FlowConfig, TransportConfig};
use crate::net::routes::Routes;
use crate::traffic::AppKind;
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::packet::{IP_HEADER, UDP_HEADER};
use std::collections::BTreeMap;

/// Bytes of the smallest datagrams of a handshake of QUIC (RFC 9000, 14.1): without them no others follow.
const QUIC_INITIAL: u64 = 1200;

/// A queue in bytes: its link, whether it is that of the reverse direction, and its room.
type Room<'a> = (&'a str, bool, u64);

/// A flow that does not fit a queue: the flow, its full packet there, and whether its smallest one fits.
type Stopped<'a> = (&'a str, u64, bool);

impl Check<'_> {
    /// A queue without room for the smallest packet of a flow passes none of its packets; one without room for a full
    /// packet gives a remark.
    pub(super) fn queues(&mut self, config: &Config, routes: &Routes) {
        let rooms = rooms_of_ports(config);
        if rooms.iter().all(Option::is_none) {
            return;
        }
        // For each queue the flow with the largest packets.
        let mut stopped: BTreeMap<Room<'_>, Stopped<'_>> = BTreeMap::new();
        for flow in &config.flows {
            let ways = [(flow.from, flow.to, Some(sizes(flow))), (flow.to, flow.from, answers(flow))];
            for (from, to, sizes) in ways {
                let Some((least, full)) = sizes.filter(|_| from != to) else { continue };
                for (_, hop) in routes.path(from, to) {
                    let Some(room) = rooms[hop.port.0 as usize].filter(|room| room.2 < full) else {
                        continue;
                    };
                    let most = stopped.entry(room).or_insert((flow.table(), full, room.2 >= least));
                    if full > most.1 {
                        *most = (flow.table(), full, room.2 >= least);
                    }
                }
            }
        }
        let mut refused = Vec::new();
        for ((link, is_reverse, room), (flow, full, some_pass)) in stopped {
            let key = self.queue_key(link, is_reverse);
            if some_pass {
                let text = format!(
                    "{room} B cannot hold a full packet of flows.{flow}, {full} B: all full packets are dropped"
                );
                self.remark(&key, text);
            } else if !refused.contains(&key) {
                let text =
                    format!("{room} B cannot hold a packet of flows.{flow}; expected at least {full} B");
                self.fault(&key, text);
                refused.push(key);
            }
        }
    }

    /// The key that sets a queue: its own, or that of the forward direction.
    pub(super) fn queue_key(&self, link: &str, is_reverse: bool) -> String {
        let own = format!("links.{link}.reverse.queue");
        let is_own = is_reverse && self.set_at(&own).is_some();
        if is_own { own } else { format!("links.{link}.queue") }
    }
}

/// For each port, the queue in bytes that it has.
fn rooms_of_ports(config: &Config) -> Vec<Option<Room<'_>>> {
    let mut rooms = Vec::new();
    for link in &config.links {
        rooms.extend(link.kind.ports().map(|port| match link.kind.queue(port)? {
            QueueLimit::Bytes(room) => Some((link.table(), link.kind.is_reverse(port), room.0)),
            QueueLimit::Packets(_) | QueueLimit::Unlimited => None,
        }));
    }
    rooms
}

/// The smallest and the largest packet that a flow sends.
fn sizes(flow: &FlowConfig) -> (u64, u64) {
    let full = u64::from(largest_packet(flow).1);
    match &flow.transport {
        TransportConfig::Tcp(tcp) => (u64::from(TCP_HEADERS) + u64::from(tcp.extra_header), full),
        TransportConfig::Udp { .. } => (full, full),
        TransportConfig::Quic(_) => (u64::from(IP_HEADER + UDP_HEADER) + QUIC_INITIAL, full),
    }
}

/// The same of what its receiver sends, if it sends anything.
fn answers(flow: &FlowConfig) -> Option<(u64, u64)> {
    let (least, full) = sizes(flow);
    match &flow.transport {
        TransportConfig::Udp { .. } => return flow.is_probe().then_some((full, full)),
        // The answer to the first datagram is as long as that.
        TransportConfig::Quic(_) => return Some((least, full)),
        TransportConfig::Tcp(_) => {}
    }
    let has_data = flow.reverse.is_some() || matches!(flow.app.kind, AppKind::User(_));
    Some((least, if has_data { full } else { least }))
}
