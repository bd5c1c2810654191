//! Packets, and the frames that have to hold them.

use super::Check;
use crate::net::routes::Routes;
use crate::scenario::config::{AppKind, Config, FlowConfig, LinkKind, TransportConfig, WifiConfig};
use lasthop_stack::hooks::Congestion;
use lasthop_stack::link::dot11::LARGEST_MSDU;
use lasthop_stack::packet::{Body, Datagram, Extension, NodeId, Options, Packet, Segment, Timestamps};
use lasthop_stack::units::SeqNo;

impl Check<'_> {
    /// The largest packets of the flows on the 802.11 links that they cross.
    pub(super) fn frames(&mut self, config: &Config, routes: &Routes) {
        let media = media_of_ports(config);
        let crosses = |flow: &FlowConfig, link: usize| {
            let path = if flow.from == flow.to { Vec::new() } else { routes.path(flow.from, flow.to) };
            path.iter().any(|(_, hop)| media[hop.port.0 as usize] == Some(link))
        };
        for (place, wifi) in config.wifi() {
            let link = &config.links[place].name;
            for flow in config.flows.iter().filter(|flow| crosses(flow, place)) {
                self.msdu(link, wifi, flow);
            }
        }
    }

    /// The packets of a flow must fit into the frames of a link.
    fn msdu(&mut self, link: &str, wifi: &WifiConfig, flow: &FlowConfig) {
        let (payload, packet) = largest_packet(flow);
        let (headers, llc) = (packet - payload, wifi.mac.llc);
        if packet + llc > LARGEST_MSDU {
            let most = LARGEST_MSDU.saturating_sub(headers + llc);
            let text = format!(
                "{payload} B, {headers} B of headers and {llc} B of LLC make an MSDU of {} B on links.{link}, above \
                 the {LARGEST_MSDU} B of 802.11; expected at most {most} B",
                packet + llc
            );
            self.fault(&packet_key(flow), text);
        }
    }
}

/// For each port, the 802.11 link that it leads to, by its place.
pub(super) fn media_of_ports(config: &Config) -> Vec<Option<usize>> {
    let mut media = Vec::new();
    for (place, link) in config.links.iter().enumerate() {
        match &link.kind {
            LinkKind::PointToPoint(_) => media.extend([None; 2]),
            LinkKind::Wifi(wifi) => media.extend(wifi.nodes.iter().map(|_| Some(place))),
        }
    }
    media
}

/// The payload and the whole length of the largest packet that a flow sends.
fn largest_packet(flow: &FlowConfig) -> (u32, u32) {
    let (extra_header, body) = match &flow.transport {
        TransportConfig::Tcp(tcp) => {
            let form = tcp.congestion.build(tcp, 0).extension();
            let mut options = Options {
                timestamps: tcp.timestamps.then(Timestamps::default),
                extension: form.map(|form| Extension { form, ..Extension::default() }),
                ..Options::default()
            };
            if tcp.sack && flow.reverse.is_some() {
                // Data that cross data carry blocks of what has come out of order.
                for _ in 0..options.room_for_blocks() {
                    options.sack.push(SeqNo(0), SeqNo(0));
                }
            }
            let segment = Segment { len: tcp.packet, options, ..Segment::default() };
            (tcp.extra_header, Body::Tcp(segment))
        }
        TransportConfig::Udp { extra_header } => {
            let len = match flow.app.kind {
                AppKind::Cbr { packet, .. }
                | AppKind::Poisson { packet, .. }
                | AppKind::OnOff { packet, .. } => packet,
                // Refused over UDP by another check.
                AppKind::Bulk | AppKind::File { .. } => 0,
            };
            (*extra_header, Body::Udp(Datagram { len, ..Datagram::default() }))
        }
    };
    let packet = Packet { src: NodeId(0), dst: NodeId(0), extra_header, body };
    (packet.payload(), packet.size().0 as u32)
}

/// The key that says how large the packets of a flow are.
fn packet_key(flow: &FlowConfig) -> String {
    let below = match (&flow.transport, &flow.app.kind) {
        (TransportConfig::Tcp(_), _) | (_, AppKind::Bulk | AppKind::File { .. }) => "tcp",
        (_, AppKind::Cbr { .. }) => "app.cbr",
        (_, AppKind::Poisson { .. }) => "app.poisson",
        (_, AppKind::OnOff { .. }) => "app.on-off",
    };
    format!("flows.{}.{below}.packet", flow.name)
}
