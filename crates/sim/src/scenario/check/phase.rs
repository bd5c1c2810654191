//! Checks of constant flows that may lock in phase at a queue that they fill.

use super::Check;
use crate::model::{Config, FlowConfig, TransportConfig};
use crate::net::routes::Routes;
use crate::traffic::{AppKind, OnOffLaw};
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::units::{Rate, Span};
use std::collections::BTreeMap;

/// The share of the nominal rate of an 802.11 link above which packets of one station may fill its queue: the rest goes to
/// preambles, contention and acknowledgements.
const SHARE_OF_AIR: f64 = 0.5;
/// Bytes of the IPv4 and UDP headers.
const HEADERS: f64 = 28.0;

/// A constant flow that starts at a fixed time sends at the times of all others with this start and interval, bursts and pauses, in ns.
type Phase = (u64, u128, (u64, u64));

impl Check<'_> {
    /// Of constant flows that send at the same times and overload a drop-tail queue, the same find it full each time: some
    /// may lose all packets, in every run.
    pub(super) fn phase(&mut self, config: &Config, routes: &Routes) {
        let constant = || config.flows.iter().filter_map(|flow| Some((flow, phase_of(flow)?)));
        if constant().nth(1).is_none() {
            return;
        }
        let capacities = capacities_of_ports(config);
        let mut meetings: BTreeMap<(u32, Phase), Vec<&FlowConfig>> = BTreeMap::new();
        for (flow, phase) in constant() {
            for (_, hop) in routes.path(flow.from, flow.to) {
                if capacities[hop.port.0 as usize].is_some() {
                    meetings.entry((hop.port.0, phase)).or_default().push(flow);
                }
            }
        }
        for ((port, _), flows) in meetings.into_iter().filter(|(_, flows)| flows.len() > 1) {
            let Some((link, capacity)) = capacities[port as usize] else { continue };
            if flows.iter().map(|flow| offered_bps(flow)).sum::<f64>() > capacity {
                let text = format!(
                    "{}, and {} constant flows of one start and interval overload the drop-tail queue of links.{link}: packets \
                     of the same flows may find it full each time; expected a spread of at least one interval",
                    if flows.iter().all(|flow| flow.app.spread == Span::ZERO) { "0 s" } else { "too short" },
                    flows.len()
                );
                self.remark(&format!("flows.{}.app.spread", flows[0].table()), text);
            }
        }
    }
}

/// When the packets of a constant flow over UDP leave, unless its start is drawn from at least an interval.
fn phase_of(flow: &FlowConfig) -> Option<Phase> {
    let (TransportConfig::Udp { .. }, Some((rate, packet))) = (&flow.transport, constant(flow)) else {
        return None;
    };
    let interval = u128::from(packet) * 8_000_000_000 / u128::from(rate.0.max(1));
    let bursts = match flow.app.kind {
        AppKind::OnOff { on, off, .. } => (on.0, off.0),
        _ => (0, 0),
    };
    (u128::from(flow.app.spread.0) < interval).then_some((flow.app.start.0, interval, bursts))
}

/// The rate of payload and the payload of a packet of a source without chance, while it sends.
fn constant(flow: &FlowConfig) -> Option<(Rate, u32)> {
    match flow.app.kind {
        AppKind::Cbr { rate, packet }
        | AppKind::Datagrams { rate: Some(rate), packet, .. }
        | AppKind::OnOff { rate, packet, law: OnOffLaw::Fixed, .. } => Some((rate, packet)),
        _ => None,
    }
}

/// Bits per second that a constant flow sends, with headers.
fn offered_bps(flow: &FlowConfig) -> f64 {
    constant(flow).map_or(0.0, |(rate, packet)| rate.0 as f64 * (1.0 + HEADERS / f64::from(packet)))
}

/// For each port with a finite drop-tail queue, its link, and bits per second above which the queue may fill.
fn capacities_of_ports(config: &Config) -> Vec<Option<(&str, f64)>> {
    let mut capacities = Vec::new();
    for link in &config.links {
        let is_steady = link.kind.wire().is_none_or(|ends| ends.sends.is_constant());
        let drops_at_its_tail = is_steady && link.aqm.is_none();
        let share = link.kind.wifi().map_or(1.0, |_| SHARE_OF_AIR);
        capacities.extend(link.kind.ports().map(|port| {
            let is_finite = link.kind.queue(port)? != QueueLimit::Unlimited;
            let bps = share * link.kind.bps(port)?;
            (drops_at_its_tail && is_finite).then_some((link.table(), bps))
        }));
    }
    capacities
}
