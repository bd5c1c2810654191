//! Metrics: what a run measured, by name.
//!
//! Counters only grow, so a metric is the difference between two snapshots: at the end of the warm-up and of the run.

mod samples;
mod table;

use std::collections::BTreeMap;

use lasthop_stack::hooks::{Count, Judge};
use lasthop_stack::registry::ArqConfig;
use lasthop_stack::units::{Span, Time};

use crate::model::{Config, FlowConfig, LinkKind, TransportConfig};
use crate::net::agents::AgentSample;
use crate::net::slotted::FrnCounters;
use crate::net::wlan::{ArqCounters, WlanCounters};
use crate::net::{Channel, ChannelCounters};
use crate::probe::airtime::AirClass;
use crate::probe::transfers::{self, Transfer};

pub(crate) use samples::FlowSample;
pub use table::{METRICS, MetricEntry};

/// What all flows and links have done up to some time.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// One for each flow, followed by that of the data that goes back on it, if any does.
    pub(crate) flows: Vec<FlowSample>,
    pub(crate) channels: Vec<ChannelCounters>,
    pub(crate) wlans: Vec<WlanCounters>,
    pub(crate) frns: Vec<FrnCounters>,
    /// One for each table of agents.
    pub(crate) agents: Vec<AgentSample>,
}

/// The two snapshots of a run.
pub(crate) struct Metrics<'a> {
    pub(crate) config: &'a Config,
    pub(crate) begin: Time,
    pub(crate) end: Time,
    pub(crate) at_begin: Snapshot,
    pub(crate) at_end: Snapshot,
    pub(crate) transfers: &'a [Transfer],
}

type Named = (String, Option<f64>);

/// The names of all metrics that a scenario gives, in the order of [`run()`](crate::run())'s outcome.
#[must_use]
pub fn names(config: &Config) -> Vec<String> {
    let of = |kind: &str, prefix: &str| -> Vec<String> {
        METRICS
            .iter()
            .filter(|entry| entry.of == kind)
            .map(|entry| format!("{prefix}{}", entry.name))
            .collect()
    };
    let mut names = Vec::new();
    let directions = directions(config);
    for Direction { flow, kind, name, .. } in &directions {
        names.extend(of(kind, &format!("{name}.")));
        if flow.estimated_segment().is_some() {
            names.extend(of("estimating flow", &format!("{name}.")));
        }
        for (judge, law) in flow.judges() {
            let judge = match judge {
                Judge::Law => "judged".to_string(),
                Judge::Watching(_) => format!("judges.{}", law.entry().name),
            };
            names.extend(of("judge", &format!("{name}.{judge}.")));
        }
    }
    for (group, members) in groups(&directions) {
        names.extend(of("group of flows", &format!("{group}.")));
        if members.iter().any(|member| directions[*member].kind == TCP_FLOW) {
            names.extend(of("group of tcp flows", &format!("{group}.")));
        }
    }
    for prefix in transfers::prefixes(config) {
        names.extend(of("class", &prefix));
    }
    for link in &config.links {
        match link.kind {
            LinkKind::PointToPoint(ref ends) => {
                names.extend(of("link", &format!("links.{}.", link.name)));
                names.extend(of("link", &format!("links.{}.reverse.", link.name)));
                if ends.rtt.is_some() {
                    names.extend(of("drawn link", &format!("links.{}.", link.name)));
                }
            }
            LinkKind::Wifi(ref wifi) => {
                let prefix = format!("links.{}.", link.name);
                names.extend(of("wifi", &prefix));
                if wifi.arq.is_some() {
                    names.extend(of("arq", &prefix));
                }
                if let Some(ArqConfig::Dynamic(_)) = &wifi.arq {
                    names.extend(of("dynamic arq", &prefix));
                }
            }
            LinkKind::Frn(_) => names.extend(of("frn", &format!("links.{}.", link.name))),
        }
    }
    for agent in &config.agents {
        let (prefix, kind) = (format!("agents.{}.", agent.name), agent.scheme.kind());
        names.extend(of("agent", &prefix));
        let own = |count: Count| format!("{prefix}{}.{}", kind.entry().name, count.name);
        names.extend(kind.counts().into_iter().map(own));
    }
    // The fairness of one flow means nothing.
    names.extend(of("run", "").into_iter().filter(|name| name != "jain_index" || directions.len() > 1));
    if directions.iter().any(|direction| direction.kind == TCP_FLOW) {
        names.extend(of("tcp run", ""));
    }
    names
}

/// What a flow over TCP is in [`METRICS`].
const TCP_FLOW: &str = "tcp flow";

/// Data that goes one way: a flow, or what comes back on its connection.
struct Direction<'a> {
    flow: &'a FlowConfig,
    kind: &'static str,
    /// What its metrics are called by.
    name: String,
    /// The same of the group it belongs to.
    group: Option<String>,
}

/// The directions of all flows, in the order of their samples.
fn directions(config: &Config) -> Vec<Direction<'_>> {
    let mut directions = Vec::new();
    for flow in &config.flows {
        let kind = match flow.transport {
            TransportConfig::Tcp(_) => TCP_FLOW,
            TransportConfig::Udp { .. } => "udp flow",
        };
        let ways = if flow.reverse.is_some() { &["", ".reverse"][..] } else { &[""] };
        directions.extend(ways.iter().map(|way| {
            let name = |flow: &String| format!("flows.{flow}{way}");
            Direction { flow, kind, name: name(&flow.name), group: flow.group.as_ref().map(name) }
        }));
    }
    directions
}

/// The groups among directions in the order of their first members, each with the places of its members.
fn groups<'a>(directions: &'a [Direction<'_>]) -> Vec<(&'a str, Vec<usize>)> {
    let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
    let mut places = BTreeMap::new();
    for (member, direction) in directions.iter().enumerate() {
        let Some(name) = direction.group.as_deref() else { continue };
        let place = *places.entry(name).or_insert(groups.len());
        if place == groups.len() {
            groups.push((name, Vec::new()));
        }
        groups[place].1.push(member);
    }
    groups
}

impl Metrics<'_> {
    /// All metrics in the order of [`names`].
    pub(crate) fn all(&self, channels: &[Channel]) -> Vec<Named> {
        let seconds = self.end.since(self.begin).as_secs();
        let mut values = Vec::new();
        // Goodput and throughput, with which the values of a flow begin.
        let (mut goodputs, mut throughputs) = (Vec::new(), Vec::new());
        let directions = directions(self.config);
        let samples = self.at_begin.flows.iter().zip(&self.at_end.flows);
        for (direction, (begin, end)) in directions.iter().zip(samples) {
            let flow = flow_values(begin, end, seconds, direction.flow.estimated_segment());
            goodputs.push(flow[0].unwrap_or(0.0));
            throughputs.push(flow[1].unwrap_or(0.0));
            values.extend(flow);
        }
        for (_, members) in groups(&directions) {
            let sum = |of: &[f64]| Some(members.iter().map(|member| of[*member]).sum());
            values.extend([sum(&goodputs), sum(&throughputs)]);
            if members.iter().any(|member| directions[*member].kind == TCP_FLOW) {
                values.extend(self.sending(&members).values());
            }
        }
        values.extend(transfers::values(self.config, &self.by_class(), self.transfers, self.begin, seconds));
        let (mut channel, mut wlan, mut frn) = (0, 0, 0);
        for link in &self.config.links {
            match link.kind {
                LinkKind::PointToPoint(ref ends) => {
                    values.extend(self.channel_values(channel, channels, seconds));
                    values.extend(self.channel_values(channel + 1, channels, seconds));
                    if ends.rtt.is_some() {
                        let drawn = |way: usize| channels[channel + way].delay - ends.directions[way].delay;
                        values.push(Some((drawn(0) + drawn(1)).as_secs()));
                    }
                    channel += 2;
                }
                LinkKind::Wifi(ref config) => {
                    let (begin, end) = (&self.at_begin.wlans[wlan], &self.at_end.wlans[wlan]);
                    values.extend(wlan_values(begin, end));
                    if config.arq.is_some() {
                        values.extend(arq_values(&begin.arq, &end.arq));
                    }
                    wlan += 1;
                }
                LinkKind::Frn(ref config) => {
                    let slots = seconds / config.slot.as_secs();
                    values.push(ratio(self.segments(), slots));
                    values.extend(frn_values(&self.at_begin.frns[frn], &self.at_end.frns[frn], slots));
                    frn += 1;
                }
            }
        }
        for agent in 0..self.config.agents.len() {
            values.extend(self.agent_values(agent));
            let own = self.at_begin.agents[agent].counts.iter().zip(&self.at_end.agents[agent].counts);
            values.extend(own.map(|(begin, end)| Some((end.value - begin.value) as f64)));
        }
        values.push((seconds > 0.0).then(|| goodputs.iter().sum()));
        if goodputs.len() > 1 {
            values.push(jain_index(&goodputs));
        }
        if directions.iter().any(|direction| direction.kind == TCP_FLOW) {
            let all: Vec<usize> = (0..directions.len()).collect();
            values.extend(self.sending(&all).values());
        }
        names(self.config).into_iter().zip(values).collect()
    }

    /// What the senders of these directions have sent in the measured time.
    fn sending(&self, members: &[usize]) -> Sending {
        let mut sum = Sending::default();
        for &member in members {
            sum.add(&self.at_begin.flows[member], &self.at_end.flows[member]);
        }
        sum
    }

    fn agent_values(&self, agent: usize) -> [Option<f64>; 8] {
        let (begin, end) = (&self.at_begin.agents[agent].activity, &self.at_end.agents[agent].activity);
        let count = |from: u64, to: u64| Some((to - from) as f64);
        // What the receivers lack only the simulator knows; the agent knows what they have not confirmed.
        let false_positives: u64 = self.at_end.flows.iter().map(FlowSample::falsely_acknowledged).sum();
        [
            count(begin.generated, end.generated),
            count(begin.suppressed, end.suppressed),
            count(begin.passed, end.passed),
            count(begin.repaired, end.repaired),
            count(begin.false_negatives, end.false_negatives),
            Some(false_positives as f64),
            end.unconfirmed.map(|bytes| bytes as f64),
            Some(end.state_bytes_max as f64),
        ]
    }

    /// What came for the user of each flow in the measured time, by class.
    fn by_class(&self) -> Vec<[u64; 3]> {
        let mut samples = self.at_begin.flows.iter().zip(&self.at_end.flows);
        let mut bytes = Vec::new();
        for flow in &self.config.flows {
            let forward = samples.next();
            if flow.reverse.is_some() {
                samples.next();
            }
            bytes.push(match forward {
                Some((FlowSample::Tcp { by_class: before, .. }, FlowSample::Tcp { by_class: after, .. })) => {
                    [0, 1, 2].map(|class| after[class] - before[class])
                }
                _ => [0; 3],
            });
        }
        bytes
    }

    /// TCP segments that came in order to their receivers, of all flows.
    fn segments(&self) -> f64 {
        let mut samples = self.at_begin.flows.iter().zip(&self.at_end.flows);
        let mut segments = 0.0;
        for flow in &self.config.flows {
            let ways = 1 + usize::from(flow.reverse.is_some());
            for pair in samples.by_ref().take(ways) {
                if let (
                    (FlowSample::Tcp { delivered: d0, .. }, FlowSample::Tcp { delivered: d1, .. }),
                    TransportConfig::Tcp(tcp),
                ) = (pair, &flow.transport)
                {
                    segments += (d1 - d0) as f64 / f64::from(tcp.packet);
                }
            }
        }
        segments
    }

    fn channel_values(&self, number: usize, channels: &[Channel], seconds: f64) -> [Option<f64>; 5] {
        let (begin, end) = (&self.at_begin.channels[number], &self.at_end.channels[number]);
        let queue = channels[number].line.queue();
        [
            ratio((end.busy - begin.busy).as_secs(), seconds),
            Some((end.drops_queue - begin.drops_queue) as f64),
            Some((end.drops_loss - begin.drops_loss) as f64),
            Some(queue.mean(self.begin, self.end)),
            Some(f64::from(queue.longest())),
        ]
    }
}

fn wlan_values(begin: &WlanCounters, end: &WlanCounters) -> Vec<Option<f64>> {
    let count = |from: u64, to: u64| Some((to - from) as f64);
    let mut values = vec![
        count(begin.frames.sent, end.frames.sent),
        count(begin.frames.errored, end.frames.errored),
        count(begin.frames.collided, end.frames.collided),
        count(begin.drops_queue, end.drops_queue),
        count(begin.drops_retry, end.drops_retry),
        count(begin.drops_above, end.drops_above),
    ];
    let service = end.service.since(&begin.service);
    values.extend([service.mean(), service.deviation()]);
    // The ledger counts from the end of the warm-up by itself.
    values.extend(AirClass::ALL.iter().map(|class| Some(end.airtime.of(*class).as_secs())));
    values.push(Some(end.airtime.concurrent().as_secs()));
    values
}

fn arq_values(begin: &ArqCounters, end: &ArqCounters) -> Vec<Option<f64>> {
    let count = |from: u64, to: u64| Some((to - from) as f64);
    let attempts = begin.attempts.iter().zip(&end.attempts);
    let mut values: Vec<_> = attempts.map(|(begin, end)| count(*begin, *end)).collect();
    values.push(count(begin.given_up, end.given_up));
    values.push(count(begin.refused, end.refused));
    if let (Some(begin), Some(end)) = (begin.scheme, end.scheme) {
        values.push(count(begin.urgent, end.urgent));
        values.push(count(begin.urgent_missed, end.urgent_missed));
        values.push(count(begin.hopeless_sent, end.hopeless_sent));
        values.push(count(begin.dropped, end.dropped));
    }
    values
}

fn frn_values(begin: &FrnCounters, end: &FrnCounters, slots: f64) -> Vec<Option<f64>> {
    let count = |of: fn(&FrnCounters) -> u64| Some((of(end) - of(begin)) as f64);
    vec![
        ratio((end.hops - begin.hops) as f64, slots),
        Some(end.copies.measured.entered as f64),
        Some(end.copies.measured.delivered as f64),
        Some(end.copies.measured.lost as f64),
        Some(end.copies.measured.held() as f64),
        count(|of| of.copies.duplicates_created),
        count(|of| of.copies.duplicates_delivered),
        count(|of| of.copies.duplicates_discarded),
        count(|of| of.copies.given_up),
        count(|of| of.sent),
        count(|of| of.sent_again),
        count(|of| of.acks),
        count(|of| of.deferred),
        count(|of| of.collided),
        count(|of| of.deaf),
        count(|of| of.errored),
        count(|of| of.echoes_lost),
        count(|of| of.slots),
    ]
}

/// `estimated` are the bytes of the segments whose rate the law estimates, if it does.
/// What senders have sent and waited for, summed.
#[derive(Clone, Copy, Debug, Default)]
struct Sending {
    segments: u64,
    again: u64,
    timeouts: u64,
    spurious: u64,
}

impl Sending {
    /// Adds what a flow did between two samples, if it goes over TCP.
    fn add(&mut self, begin: &FlowSample, end: &FlowSample) {
        if let (
            FlowSample::Tcp { sender: s0, spurious_timeouts: spurious, .. },
            FlowSample::Tcp { sender: s1, spurious_timeouts: spurious_end, .. },
        ) = (begin, end)
        {
            self.segments += s1.segments_sent - s0.segments_sent;
            self.again += s1.retransmits - s0.retransmits;
            self.timeouts += s1.timeouts - s0.timeouts;
            self.spurious += spurious_end - spurious;
        }
    }

    fn share(&self) -> Option<f64> {
        ratio(self.again as f64, self.segments as f64)
    }

    fn values(&self) -> [Option<f64>; 3] {
        [self.share(), Some(self.timeouts as f64), Some(self.spurious as f64)]
    }
}

fn flow_values(
    begin: &FlowSample,
    end: &FlowSample,
    seconds: f64,
    estimated: Option<u32>,
) -> Vec<Option<f64>> {
    let count = |from: u64, to: u64| Some((to - from) as f64);
    let rate = |from: u64, to: u64| ratio((to - from) as f64 * 8.0, seconds);
    match (begin, end) {
        (
            FlowSample::Tcp {
                sender: s0,
                delivered: d0,
                bytes_received: b0,
                judged: j0,
                repeats_received: repeats_begin,
                ..
            },
            FlowSample::Tcp {
                sender: s1,
                delivered: d1,
                bytes_received: b1,
                judged: j1,
                repeats_received: repeats_end,
                completion,
                acknowledged,
                rtt,
                ..
            },
        ) => {
            let series = s1.timeout_series - s0.timeout_series;
            let fast = s1.fast_retransmits - s0.fast_retransmits;
            let samples = s1.rtt_samples - s0.rtt_samples;
            let mut sent = Sending::default();
            sent.add(begin, end);
            let mut values = vec![
                rate(*d0, *d1),
                rate(*b0, *b1),
                completion.map(Span::as_secs),
                acknowledged.map(Span::as_secs),
                count(s0.segments_sent, s1.segments_sent),
                count(s0.all_again(), s1.all_again()),
                sent.share(),
                count(*repeats_begin, *repeats_end),
                count(s0.timeouts, s1.timeouts),
                Some(sent.spurious as f64),
                Some(fast as f64),
                Some((fast + series) as f64),
                ratio((s1.first_timeouts - s0.first_timeouts).as_secs(), series as f64),
                ratio((s1.rtt_sum - s0.rtt_sum).as_secs(), samples as f64),
                (samples > 0).then(|| s1.rtt_max.as_secs()),
                rtt.deviation,
                rtt.median,
                rtt.p95,
                rtt.p99,
                ratio(s1.cwnd_seconds - s0.cwnd_seconds, seconds),
            ];
            if let Some(segment) = estimated {
                let bits = (s1.estimate_sum - s0.estimate_sum) * 8.0 * f64::from(segment);
                values.push(ratio(bits, (s1.estimates - s0.estimates) as f64));
            }
            for (begin, end) in j0.iter().zip(j1) {
                values.extend(end.since(begin).map(|count| Some(count as f64)));
            }
            values
        }
        (FlowSample::Udp { sender: s0, receiver: r0 }, FlowSample::Udp { sender: s1, receiver: r1 }) => {
            let received = r1.received - r0.received;
            vec![
                rate(r0.payload_received, r1.payload_received),
                rate(r0.bytes_received, r1.bytes_received),
                count(s0.sent, s1.sent),
                Some(r1.received_of_measured as f64),
                count(r0.duplicates, r1.duplicates),
                ratio((r1.delay_sum - r0.delay_sum).as_secs(), received as f64),
                (received > 0).then(|| r1.delay_max.as_secs()),
            ]
        }
        _ => unreachable!("a flow does not change its transport"),
    }
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// Jain's fairness index: the square of the sum over n times the sum of the squares; `None` when all are zero.
#[must_use]
pub fn jain_index(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    ratio(sum * sum, shares.len() as f64 * squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_is_one_for_equal_shares_and_one_over_n_for_a_single_taker() {
        assert_eq!(jain_index(&[3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain_index(&[5.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain_index(&[0.0, 0.0]), None);
    }
}
