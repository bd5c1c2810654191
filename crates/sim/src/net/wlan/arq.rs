//! Dynamic ARQ at an access point: its source for the timing of TCP senders, and its counters.

use lasthop_stack::hooks::{Count, Timing};
use lasthop_stack::packet::{Body, NodeId, Packet};
use lasthop_stack::registry::{Learner, Station};
use lasthop_stack::units::Time;

use super::{Interface, Wlan};
use crate::model::WifiConfig;
use crate::model::ports::Ports;
use crate::net::timers::Timers;

/// Counters of the ARQ of an access point since the start.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArqCounters {
    /// Data frames sent, by the number of their earlier transmissions.
    pub(crate) attempts: [u64; 4],
    pub(crate) given_up: u64,
    pub(crate) refused: u64,
    /// The counters of the scheme that selects frames, if any.
    pub(crate) counts: Vec<Count>,
}

impl ArqCounters {
    pub(super) fn of(mac: &Station) -> ArqCounters {
        let counters = mac.counters();
        ArqCounters {
            attempts: counters.attempts,
            given_up: counters.undelivered,
            refused: counters.refused,
            counts: mac.arq_counts(),
        }
    }
}

impl Wlan {
    /// Passes the timing of a packet's sender to the scheme of a station, if it learns per packet. Returns the flow's
    /// number.
    pub(super) fn learn(
        &mut self,
        station: usize,
        packet: &Packet,
        (timers, now): (Option<&mut Timers>, Time),
    ) -> Option<u32> {
        let Interface { timing, mac, .. } = &mut self.sites[station];
        let timing = timing.as_mut()?;
        let flow = sender(packet, self.ports)?;
        match timing {
            Learner::Nothing | Learner::Oracle => {}
            Learner::OracleOfPackets => {
                mac.on_timing(flow, timers?.of_packet(flow, packet, now));
            }
            Learner::Packets(estimator) => mac.on_timing(flow, estimator.on_down(packet, now)),
        }
        Some(flow)
    }

    /// Passes to the scheme of a station what an acknowledgement shows about the timer of its flow.
    pub(super) fn learn_back(&mut self, station: usize, packet: &Packet, now: Time) {
        let Interface { timing: Some(Learner::Packets(estimator)), mac, .. } = &mut self.sites[station]
        else {
            return;
        };
        if let (Some(key), Some(flow)) = (estimator.on_up(packet, now), receiver(packet, self.ports)) {
            mac.on_timing(flow, estimator.timing(key));
        }
    }

    /// The timing of a sender has changed.
    pub(in crate::net) fn on_timing(&mut self, flow: u32, timing: Timing) {
        for site in &mut self.sites {
            if let Some(Learner::Oracle | Learner::OracleOfPackets) = site.timing {
                site.mac.on_timing(flow, timing);
            }
        }
    }
}

/// Gives an access point the scheme that the scenario selects. Returns how it learns the timing of senders.
pub(super) fn adopt(mac: &mut Station, wifi: &WifiConfig) -> Option<Learner> {
    if wifi.access_point.is_none_or(|ap| NodeId(ap as u32) != mac.address()) {
        return None;
    }
    let arq = wifi.arq.as_ref()?;
    mac.adopt(arq.build()?);
    arq.learner()
}

/// The end that waits for the acknowledgement of a packet, numbered among the ends of all flows.
fn sender(packet: &Packet, ports: Ports) -> Option<u32> {
    match &packet.body {
        Body::Tcp(segment) if segment.sequence_len() > 0 => Some(ports.sender(packet)),
        Body::Tcp(_) | Body::Udp(_) => None,
    }
}

/// The end that a packet is addressed to, whose data the packet acknowledges.
fn receiver(packet: &Packet, ports: Ports) -> Option<u32> {
    match &packet.body {
        Body::Tcp(_) => Some(ports.receiver(packet)),
        Body::Udp(_) => None,
    }
}
