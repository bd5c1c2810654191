//! Checks of flows over QUIC.

use super::Check;
use super::frames::packet_key;
use crate::model::{Config, FlowConfig, QuicConfig, QuicLaw, QuicStack};
use crate::scenario::sheet::Sheet;
use crate::scenario::value::Value;
use crate::traffic::AppKind;
use lasthop_stack::registry::CongestionKind;

/// Bytes of a datagram of 1200 B besides the data of a frame of RFC 9221, at most.
const OVERHEAD: u32 = 48;
/// The UDP payload that every path takes.
const LEAST_PACKET: u32 = 1200;
/// The first window of the laws of quinn; a packet leaves if the window is larger than all in flight with it.
const FIRST_WINDOW: u32 = 12_000;

/// Pieces of a stream that a receiver of noq keeps (`MAX_CHUNKS`).
const GAPS: u32 = 1024;

impl Check<'_> {
    /// What does not go with noq.
    fn noq(&mut self, key: &impl Fn(&str) -> String, quic: &QuicConfig) {
        if !cfg!(feature = "noq") {
            let text = "noq in a build without it; expected quinn, or a build with the feature noq";
            self.fault(&key("quic.stack"), text.to_string());
        }
        if matches!(quic.law, QuicLaw::Ours(_)) {
            let text = "a law of tcp.congestion over noq; expected quic.congestion, or quinn";
            self.fault(&key("quic.law"), text.to_string());
        }
        if quic.zero_rtt {
            self.fault(&key("quic.zero-rtt"), "0-RTT over noq; expected false, or quinn".to_string());
        }
        let most = GAPS * u32::from(quic.packet);
        if quic.second.is_some() && quic.window > most {
            let text = format!(
                "{} B over two paths, and noq ends a connection with more than {GAPS} gaps in a stream; expected at most {most} B",
                quic.window
            );
            self.fault(&key("quic.window"), text);
        }
    }

    /// The second interfaces of receivers at one point.
    pub(super) fn seconds(&mut self, config: &Config, sheet: &Sheet<'_>) {
        for flow in &config.flows {
            let key = format!("flows.{}.quic.second", flow.table());
            let Some(name) = sheet.get(&key).map(Value::text).filter(|name| name != "none") else { continue };
            if flow.second().is_none() {
                self.fault(&key, format!("\"{name}\" is a group; expected one node"));
            } else if flow.second() == Some(flow.to) {
                self.fault(&key, format!("\"{name}\" is also the receiver; expected another node"));
            }
        }
    }

    pub(super) fn quic(&mut self, flow: &FlowConfig, quic: &QuicConfig) {
        let key = |below: &str| format!("flows.{}.{below}", flow.table());
        if !cfg!(feature = "quic") {
            let text =
                "QUIC in a build without its stack; expected tcp or udp, or a build with the feature quic";
            self.fault(&key("quic"), text.to_string());
        }
        if let QuicLaw::Ours(law) = &quic.law
            && let Some(lacks) = law.kind().lacks_over_quic()
        {
            let ours =
                CongestionKind::named_in_scenarios().iter().filter(|kind| kind.lacks_over_quic().is_none());
            let names: Vec<_> = ours.map(|kind| kind.entry().name).collect();
            let text = format!("{} needs {lacks}; expected {}", law.kind().entry().name, names.join(", "));
            self.fault(&key("quic.law"), text);
        }
        if quic.stack == QuicStack::Noq {
            self.noq(&key, quic);
        }
        if quic.zero_rtt && !matches!(flow.app.kind, AppKind::User(_)) {
            let text = "a flow of one session resumes none; expected a source of kind ftp, web, mail or mix";
            self.fault(&key("quic.zero-rtt"), text.to_string());
        }
        let (what, packet) = match flow.app.kind {
            AppKind::Bulk | AppKind::File { .. } | AppKind::User(_) if quic.datagrams => {
                ("bulk data, a file or sessions", None)
            }
            AppKind::Ping { .. } => ("ping", None),
            AppKind::Cbr { packet, .. } | AppKind::Poisson { packet, .. } | AppKind::OnOff { packet, .. } => {
                ("", Some(packet))
            }
            AppKind::Bulk | AppKind::File { .. } | AppKind::User(_) | AppKind::Datagrams { .. } => ("", None),
        };
        if !what.is_empty() {
            let (how, kinds) = if quic.datagrams {
                ("datagrams of quic", "cbr, poisson or on-off")
            } else {
                ("quic", "bulk, file, cbr, poisson, on-off, ftp, web, mail or mix")
            };
            self.fault(&key("app.kind"), format!("{what} over {how}; expected a source of kind {kinds}"));
        }
        // A packet of the handshake may be in flight. Laws of ours have room for two full packets.
        let most = FIRST_WINDOW - LEAST_PACKET;
        let is_of_stack = !matches!(quic.law, QuicLaw::Ours(_));
        if is_of_stack && !quic.mtu_discovery && u32::from(quic.packet) >= most {
            let packet = quic.packet;
            let text = format!(
                "{packet} B do not fit into the first window, {FIRST_WINDOW} B; expected fewer than {most} B, or mtu-discovery = true"
            );
            self.fault(&key("quic.packet"), text);
        }
        let room = if quic.mtu_discovery { LEAST_PACKET } else { u32::from(quic.packet) } - OVERHEAD;
        if let Some(packet) = packet.filter(|packet| quic.datagrams && *packet > room) {
            let text =
                format!("{packet} B do not fit into a datagram with its headers; expected at most {room} B");
            self.fault(&packet_key(flow), text);
        }
    }
}
