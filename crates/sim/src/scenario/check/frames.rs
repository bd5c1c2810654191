//! Checks of packets against frames and contention-free periods.

use super::{Check, secs};
use crate::model::{Config, FlowConfig, TransportConfig, WifiConfig};
use crate::net::routes::Routes;
use crate::traffic::AppKind;
use lasthop_stack::link::dot11::{LARGEST_FRAME, LARGEST_MSDU, PcfConfig, Rules};
use lasthop_stack::packet::{Body, Datagram, Extension, NodeId, Options, Packet, Segment, Timestamps};
use lasthop_stack::units::{SeqNo, Span};

impl Check<'_> {
    /// The largest packets of the flows on the 802.11 links that they cross.
    pub(super) fn frames(&mut self, config: &Config, routes: &Routes) {
        let media = media_of_ports(config);
        let mut crossing: Vec<Vec<&FlowConfig>> = vec![Vec::new(); config.links.len()];
        for flow in config.flows.iter().filter(|flow| flow.from != flow.to) {
            let back = flow.is_probe().then(|| routes.path(flow.to, flow.from));
            for (_, hop) in routes.path(flow.from, flow.to).into_iter().chain(back.into_iter().flatten()) {
                if let Some(link) = media[hop.port.0 as usize]
                    && !crossing[link].last().is_some_and(|last| std::ptr::eq(*last, flow))
                {
                    crossing[link].push(flow);
                }
            }
        }
        for (place, wifi) in config.wifi() {
            let link = &config.links[place].name;
            let mut flows = std::mem::take(&mut crossing[place]);
            flows.retain(|flow| self.msdu(link, wifi, flow));
            let longest = flows.iter().rev().max_by_key(|flow| largest_packet(flow).1);
            let Some(flow) = longest else { continue };
            self.redundancy(link, wifi, largest_packet(flow).1);
            if let Some(pcf) = &wifi.pcf {
                self.answer(link, pcf, flow);
            }
        }
    }

    /// Whether the packets of a flow fit into the frames of a link.
    fn msdu(&mut self, link: &str, wifi: &WifiConfig, flow: &FlowConfig) -> bool {
        let (payload, packet) = largest_packet(flow);
        let (headers, llc) = (packet - payload, wifi.mac.llc);
        let fits = packet + llc <= LARGEST_MSDU;
        if !fits {
            let most = LARGEST_MSDU.saturating_sub(headers + llc);
            let text = format!(
                "{payload} B with {headers} B of headers and {llc} B of LLC give an MSDU of {} B on links.{link}, above the 802.11 maximum of {LARGEST_MSDU} B; expected at most {most} B",
                packet + llc
            );
            self.fault(&packet_key(flow), text);
        }
        fits
    }

    /// A code must leave frames that can be sent.
    fn redundancy(&mut self, link: &str, wifi: &WifiConfig, packet: u32) {
        let frame = Rules::new(wifi.mac).longest_frame(packet);
        if wifi.mac.fec.is_some() && frame > LARGEST_FRAME {
            let text = format!(
                "gives frames of {frame} B for packets of {packet} B, above the 802.11 maximum of {LARGEST_FRAME} B; expected a higher rate or shorter fragments"
            );
            self.fault(&format!("links.{link}.fec.rate"), text);
        }
    }

    /// The time reserved for the answer to a poll must suffice for all packets.
    fn answer(&mut self, link: &str, pcf: &PcfConfig, flow: &FlowConfig) {
        let packet = largest_packet(flow).1;
        if packet > pcf.largest_packet {
            let text = format!(
                "{} B, but the packets of flows.{} have {packet} B; expected at least {packet} B",
                pcf.largest_packet,
                flow.table()
            );
            self.fault(&format!("links.{link}.pcf.largest-packet"), text);
        }
    }

    /// A period needs an access point that polls, room for a polled exchange, and an interval that leaves room for
    /// others.
    pub(super) fn periods(&mut self, name: &str, wifi: &WifiConfig) {
        let key = |below: &str| format!("links.{name}.{below}");
        let Some(pcf) = &wifi.pcf else { return };
        if wifi.access_point.is_none() {
            let text =
                format!("\"pcf\" on a link without an access point; expected links.{name}.access-point");
            self.fault(&key("coordination"), text);
            return;
        }
        let rules = Rules::new(wifi.mac);
        let (shortest, contention) = (pcf.shortest(&rules), pcf.contention(&rules));
        let with = format!("with {} B", pcf.largest_packet);
        let period = format!("a beacon, a poll and its answer {with} each, CF-End and 3 SIFS");
        if pcf.interval < shortest + contention {
            let text = format!(
                "{} is too short for a contention-free period of {} ({period}) and {} of contention; expected at least {}",
                secs(pcf.interval),
                secs(shortest),
                secs(contention),
                secs(shortest + contention)
            );
            self.fault(&key("pcf.interval"), text);
        } else if pcf.duration < shortest {
            let (found, least) = (secs(pcf.duration), secs(shortest));
            let text =
                format!("{found} is too short for a polled exchange ({period}); expected at least {least}");
            self.fault(&key("pcf.max-duration"), text);
        } else if pcf.duration + contention > pcf.interval {
            let text = format!(
                "{} of an interval of {} leaves less to contention than DIFS, a backoff and an exchange {with}, {}; \
                 expected at most {}",
                secs(pcf.duration),
                secs(pcf.interval),
                secs(contention),
                secs(Span(pcf.interval.0 - contention.0))
            );
            self.fault(&key("pcf.max-duration"), text);
        }
    }
}

/// For each port, the 802.11 link that it leads to, by its place.
pub(super) fn media_of_ports(config: &Config) -> Vec<Option<usize>> {
    let mut media = Vec::new();
    for (place, link) in config.links.iter().enumerate() {
        let medium = link.kind.wifi().map(|_| place);
        media.extend(link.kind.ports().map(|_| medium));
    }
    media
}

/// The payload and the whole length of the largest packet that a flow sends.
pub(super) fn largest_packet(flow: &FlowConfig) -> (u32, u32) {
    let (extra_header, body) = match &flow.transport {
        TransportConfig::Tcp(tcp) => {
            let form = tcp.extension();
            let mut options = Options {
                timestamps: tcp.timestamps.then(Timestamps::default),
                extension: form.map(|form| Extension { form, ..Extension::default() }),
                acks: tcp.acks.asks(),
                ..Options::default()
            };
            if tcp.sack && flow.reverse.is_some() {
                // Data in both directions carry SACK blocks for what was received out of order.
                for _ in 0..options.room_for_blocks() {
                    options.sack.push(SeqNo(0), SeqNo(0));
                }
            }
            let segment = Segment { len: tcp.packet, options, ..Segment::default() };
            (tcp.extra_header, Body::Tcp(segment))
        }
        TransportConfig::Udp { extra_header } => {
            let len = match flow.app.kind {
                AppKind::Datagrams { size, packet, .. } => u64::from(packet).min(size.0) as u32,
                AppKind::Cbr { packet, .. }
                | AppKind::Poisson { packet, .. }
                | AppKind::OnOff { packet, .. }
                | AppKind::Ping { packet, .. } => packet,
                // Refused over UDP by another check.
                AppKind::Bulk | AppKind::File { .. } | AppKind::User(_) => 0,
            };
            (*extra_header, Body::Udp(Datagram { len, ..Datagram::default() }))
        }
        TransportConfig::Quic(quic) => {
            (0, Body::Udp(Datagram { len: quic.packet.into(), ..Datagram::default() }))
        }
    };
    let packet = Packet { extra_header, ..Packet::new(NodeId(0), NodeId(0), body) };
    (packet.payload(), packet.size().0 as u32)
}

/// The key that says how large the packets of a flow are.
pub(super) fn packet_key(flow: &FlowConfig) -> String {
    let below = match (&flow.transport, &flow.app.kind) {
        (TransportConfig::Quic(quic), _) if !quic.datagrams => "quic",
        (TransportConfig::Tcp(_), _) | (_, AppKind::Bulk | AppKind::File { .. } | AppKind::User(_)) => "tcp",
        (_, AppKind::Datagrams { .. }) => "app.file",
        (_, AppKind::Cbr { .. }) => "app.cbr",
        (_, AppKind::Poisson { .. }) => "app.poisson",
        (_, AppKind::OnOff { .. }) => "app.on-off",
        (_, AppKind::Ping { .. }) => "app.ping",
    };
    format!("flows.{}.{below}.packet", flow.table())
}
