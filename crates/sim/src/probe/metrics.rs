//! Metrics: what a run measured, by name.
//!
//! Counters only grow, so a metric is the difference between two snapshots: at the end of the warm-up and of the run.

use std::collections::BTreeMap;

use lasthop_stack::hooks::Judge;
use lasthop_stack::registry::AgentKind;
use lasthop_stack::schemes::ProxyTcp;
use lasthop_stack::schemes::lle_tcp::{self, Mode};
use lasthop_stack::transport::tcp::sender::Counters as TcpCounters;
use lasthop_stack::transport::udp::Counters as UdpCounters;
use lasthop_stack::units::{Span, Time};

use crate::net::slotted::FrnCounters;
use crate::net::wlan::{ArqCounters, WlanCounters};
use crate::net::{Channel, ChannelCounters};
use crate::probe::airtime::AirClass;
use crate::probe::judgement::Matrix;
use crate::probe::spread::RttSummary;
use crate::probe::transfers::{self, Transfer};
use crate::scenario::config::{ArqConfig, Config, FlowConfig, LinkKind, TransportConfig};

/// What a metric is.
#[derive(Clone, Copy, Debug)]
pub struct MetricEntry {
    /// Its name without the flow or link before it; the unit is the last part.
    pub name: &'static str,
    /// Of what there is one: `tcp flow`, `estimating flow`, `udp flow`, `group of flows`, `group of tcp flows`, `class`, `link`,
    /// `drawn link`, `wifi`, `agent`, `run` or `tcp run`.
    pub of: &'static str,
    /// SI unit, or what is counted.
    pub unit: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

const fn entry(
    of: &'static str,
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
) -> MetricEntry {
    MetricEntry { name, of, unit, meaning }
}

/// Every metric, in the order of the output.
pub const METRICS: &[MetricEntry] = &[
    entry(
        "tcp flow",
        "goodput_bps",
        "bit/s",
        "application bytes in order at the receiver over the measured time",
    ),
    entry(
        "tcp flow",
        "throughput_bps",
        "bit/s",
        "IP bytes that reached the receiver, headers and repetitions included",
    ),
    entry(
        "tcp flow",
        "completion_s",
        "s",
        "from the start of the source to the last byte in order at the receiver",
    ),
    entry("tcp flow", "segments_sent", "segments", "data segments sent, repetitions included"),
    entry("tcp flow", "retransmits", "segments", "data segments sent again"),
    entry("tcp flow", "retransmitted_share", "", "share of the data segments sent that were sent again"),
    entry(
        "tcp flow",
        "repeats_received",
        "segments",
        "segments that brought their receiver nothing new: retransmissions that were unnecessary",
    ),
    entry("tcp flow", "timeouts", "timeouts", "times the retransmission timer fired"),
    entry(
        "tcp flow",
        "timeouts_spurious",
        "timeouts",
        "those of them at which the segment, or its acknowledgement, was on its way or waited in a queue",
    ),
    entry("tcp flow", "fast_retransmits", "losses", "losses told by duplicate or selective acknowledgements"),
    entry("tcp flow", "loss_indications", "losses", "fast retransmits and series of timeouts"),
    entry("tcp flow", "timeout_first_mean_s", "s", "mean length of the first timeout of each series"),
    entry("tcp flow", "rtt_mean_s", "s", "mean of the round trips the sender measured"),
    entry("tcp flow", "rtt_max_s", "s", "longest round trip the sender measured"),
    entry("tcp flow", "rtt_sd_s", "s", "standard deviation of the round trips the sender measured"),
    entry("tcp flow", "rtt_p50_s", "s", "their median, to within 1/32 as all percentiles"),
    entry("tcp flow", "rtt_p95_s", "s", "their 95th percentile"),
    entry("tcp flow", "rtt_p99_s", "s", "their 99th percentile"),
    entry("tcp flow", "cwnd_mean_segments", "segments", "mean congestion window over time"),
    entry(
        "estimating flow",
        "rate_estimate_bps",
        "bit/s",
        "mean over the losses of the payload that the law believes the path to carry (Westwood, Westwood+, BBR)",
    ),
    entry("udp flow", "goodput_bps", "bit/s", "payload that reached the receiver"),
    entry("udp flow", "throughput_bps", "bit/s", "IP bytes that reached the receiver"),
    entry("udp flow", "packets_sent", "packets", "datagrams sent"),
    entry("udp flow", "packets_received", "packets", "datagrams received"),
    entry("udp flow", "delay_mean_s", "s", "mean one-way delay of the datagrams received"),
    entry("udp flow", "delay_max_s", "s", "longest one-way delay of the datagrams received"),
    entry(
        "judge",
        "fast.random_as_random",
        "losses",
        "losses told by duplicates, of the channel, taken for random",
    ),
    entry(
        "judge",
        "fast.random_as_congestion",
        "losses",
        "losses told by duplicates, of the channel, taken for congestion",
    ),
    entry(
        "judge",
        "fast.congestion_as_random",
        "losses",
        "losses told by duplicates, of a full queue, taken for random",
    ),
    entry(
        "judge",
        "fast.congestion_as_congestion",
        "losses",
        "losses told by duplicates, of a full queue, taken for congestion",
    ),
    entry("judge", "fast.spurious", "losses", "losses told by duplicates though nothing was lost"),
    entry(
        "judge",
        "timeout.random_as_random",
        "losses",
        "losses told by the timer, of the channel, taken for random",
    ),
    entry(
        "judge",
        "timeout.random_as_congestion",
        "losses",
        "losses told by the timer, of the channel, taken for congestion",
    ),
    entry(
        "judge",
        "timeout.congestion_as_random",
        "losses",
        "losses told by the timer, of a full queue, taken for random",
    ),
    entry(
        "judge",
        "timeout.congestion_as_congestion",
        "losses",
        "losses told by the timer, of a full queue, taken for congestion",
    ),
    entry("judge", "timeout.spurious", "losses", "losses told by the timer though nothing was lost"),
    entry("group of flows", "goodput_bps", "bit/s", "goodputs of all its flows, summed"),
    entry("group of flows", "throughput_bps", "bit/s", "throughputs of all its flows, summed"),
    entry(
        "group of tcp flows",
        "retransmitted_share",
        "",
        "share of the data segments all its flows sent that were sent again",
    ),
    entry("group of tcp flows", "timeouts", "timeouts", "timeouts of all its flows"),
    entry("group of tcp flows", "timeouts_spurious", "timeouts", "spurious timeouts of all its flows"),
    entry("class", "goodput_bps", "bit/s", "application bytes of this class in order at the client"),
    entry("class", "bytes", "bytes", "the same bytes, counted"),
    entry("class", "transfers_begun", "transfers", "files, pages or messages asked for in the measured time"),
    entry("class", "transfers_done", "transfers", "those of them whose last byte arrived before the end"),
    entry("class", "transfers_unfinished", "transfers", "those of them that were under way at the end"),
    entry("link", "utilisation", "", "share of the measured time in which the link was sending"),
    entry("link", "drops_queue", "packets", "packets refused by the full queue"),
    entry("link", "drops_loss", "packets", "packets lost on the way by the loss process"),
    entry(
        "link",
        "queue_mean_packets",
        "packets",
        "mean number of packets held over time, the one being sent included",
    ),
    entry("link", "queue_max_packets", "packets", "most packets held at once"),
    entry(
        "drawn link",
        "rtt_drawn_s",
        "s",
        "round trip drawn for the link in this run, which its delays hold beside those set",
    ),
    entry(
        "wifi",
        "frames_sent",
        "frames",
        "frames sent by all stations, repetitions and control frames included",
    ),
    entry("wifi", "frames_errored", "frames", "frames lost by chance on the air"),
    entry("wifi", "frames_collided", "frames", "frames that another frame spoilt at their receiver"),
    entry("wifi", "drops_queue", "packets", "packets refused by a full interface queue"),
    entry(
        "wifi",
        "drops_retry",
        "packets",
        "packets given up by the link: its retry limit was reached, or they were lost for good",
    ),
    entry("wifi", "drops_above", "packets", "packets acknowledged by the link and then lost on their way up"),
    entry(
        "wifi",
        "service_mean_s",
        "s",
        "mean time of what the observing station delivered, from its queue to the link's acknowledgement",
    ),
    entry("wifi", "service_sd_s", "s", "standard deviation of that time"),
    entry(
        "wifi",
        "airtime_data_payload_s",
        "s",
        "time in which the observing station heard IP packets other than TCP acknowledgements",
    ),
    entry(
        "wifi",
        "airtime_tcp_ack_payload_s",
        "s",
        "time of pure TCP acknowledgements, their IP packets alone",
    ),
    entry("wifi", "airtime_headers_s", "s", "time of preambles and headers of data frames"),
    entry("wifi", "airtime_rts_cts_s", "s", "time of RTS and CTS"),
    entry("wifi", "airtime_mac_ack_s", "s", "time of the link's acknowledgements"),
    entry("wifi", "airtime_interframe_s", "s", "time of interframe spaces"),
    entry("wifi", "airtime_backoff_s", "s", "time of backoff"),
    entry("wifi", "airtime_collision_s", "s", "time of frames that another spoilt"),
    entry("wifi", "airtime_errored_s", "s", "time of frames lost by chance"),
    entry("wifi", "airtime_idle_s", "s", "time in which nobody had anything to send"),
    entry(
        "wifi",
        "airtime_concurrent_s",
        "s",
        "airtime used at the same time as another frame, here or out of hearing",
    ),
    entry("arq", "arq.first_transmissions", "frames", "data frames the access point sent for the first time"),
    entry("arq", "arq.first_retransmissions", "frames", "data frames it sent again for the first time"),
    entry("arq", "arq.second_retransmissions", "frames", "for the second time"),
    entry("arq", "arq.third_retransmissions", "frames", "for the third time or more"),
    entry(
        "arq",
        "arq.packets_dropped",
        "packets",
        "packets it gave up since a fragment was not acknowledged, or came too late",
    ),
    entry("arq", "arq.buffer_overflows", "packets", "packets its full buffer refused"),
    entry(
        "dynamic arq",
        "arq.urgent_served",
        "frames",
        "frames served since the timer of their sender was about to fire",
    ),
    entry(
        "dynamic arq",
        "arq.urgent_missed",
        "turns",
        "turns at which a frame was urgent that was not the first of its queue, and no first one was",
    ),
    entry(
        "dynamic arq",
        "arq.hopeless_sent",
        "frames",
        "frames sent with less than half a round trip left until their sender's timer",
    ),
    entry(
        "dynamic arq",
        "arq.frames_dropped",
        "frames",
        "frames given up, after the third retransmission or as hopeless, without their siblings",
    ),
    entry(
        "frn",
        "segments_per_slot",
        "segments",
        "TCP segments that came in order to their receivers, of all flows, per slot",
    ),
    entry("frn", "hops_per_slot", "packets", "copies ended by an echo or FRN ACK, of all nodes, per slot"),
    entry("frn", "packets_entered", "packets", "packets that entered the network"),
    entry("frn", "packets_delivered", "packets", "packets that came to their destination, each once"),
    entry("frn", "packets_lost", "packets", "packets of which the last copy was given up before any arrived"),
    entry(
        "frn",
        "duplicates_created",
        "packets",
        "receptions of a packet that its sender had passed on before",
    ),
    entry("frn", "duplicates_delivered", "packets", "packets that came to their destination again"),
    entry("frn", "duplicates_discarded", "packets", "duplicates that went no further than some node"),
    entry(
        "frn",
        "discards",
        "packets",
        "copies that nodes gave up by their count of retransmissions or lifetime, passed on or not",
    ),
    entry("frn", "transmissions", "packets", "packets sent over one hop, repetitions included"),
    entry("frn", "retransmissions", "packets", "packets sent over one hop again"),
    entry("frn", "acks", "frames", "FRN ACKs sent"),
    entry("frn", "deferrals", "slots", "times a node sensed the channel busy and waited for the next slot"),
    entry("frn", "collisions", "frames", "frames that another spoilt at the node they were for"),
    entry("frn", "deaf", "frames", "frames that came to the node they were for while it sent itself"),
    entry("frn", "errored", "frames", "frames that chance lost at the node they were for"),
    entry(
        "frn",
        "echoes_lost",
        "frames",
        "relay echoes and FRN ACKs that the node they were due to did not hear",
    ),
    entry("frn", "slots_used", "slots", "slots in which somebody sent"),
    entry("agent", "generated", "segments", "TCP acknowledgements made by the agents"),
    entry(
        "agent",
        "suppressed",
        "segments",
        "TCP acknowledgements kept from the air, or hidden from the sender",
    ),
    entry("agent", "passed", "segments", "TCP acknowledgements that went on, to the link or the sender"),
    entry(
        "agent",
        "repaired",
        "segments",
        "segments sent again because the receiver lacked what the link had delivered",
    ),
    entry("agent", "false_negatives", "segments", "segments the link gave up that the receiver had"),
    entry(
        "agent",
        "false_positives",
        "bytes",
        "bytes acknowledged to a TCP that have not come to the other, at the end",
    ),
    entry(
        "agent",
        "unconfirmed",
        "bytes",
        "bytes an agent acknowledged and heard no acknowledgement of, at the end; safe mode alone hears them",
    ),
    entry("agent", "state_max", "bytes", "most bytes of state held by each agent, summed"),
    entry(
        "run",
        "goodput_bps",
        "bit/s",
        "sum of the goodputs of all flows, and of the data that goes back on them",
    ),
    entry(
        "run",
        "jain_index",
        "",
        "Jain's fairness index over the goodputs of the flows, from two on; data that goes back counts as a flow",
    ),
    entry(
        "tcp run",
        "retransmitted_share",
        "",
        "share of the data segments all flows over TCP sent that were sent again",
    ),
    entry("tcp run", "timeouts", "timeouts", "timeouts of all flows"),
    entry("tcp run", "timeouts_spurious", "timeouts", "spurious timeouts of all flows"),
];

/// What a flow has done up to some time.
#[derive(Clone, Debug)]
pub(crate) enum FlowSample {
    Tcp {
        sender: TcpCounters,
        delivered: u64,
        /// What came for a user, by class.
        by_class: [u64; 3],
        bytes_received: u64,
        completion: Option<Span>,
        falsely_acknowledged: u64,
        spurious_timeouts: u64,
        repeats_received: u64,
        /// Of the measured time alone.
        rtt: RttSummary,
        judged: Vec<Matrix>,
    },
    Udp {
        sender: UdpCounters,
        receiver: UdpCounters,
    },
}

impl FlowSample {
    fn falsely_acknowledged(&self) -> u64 {
        match self {
            FlowSample::Tcp { falsely_acknowledged, .. } => *falsely_acknowledged,
            FlowSample::Udp { .. } => 0,
        }
    }
}

/// What all agents have done up to some time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AgentSample {
    pub(crate) generated: u64,
    pub(crate) suppressed: u64,
    pub(crate) passed: u64,
    pub(crate) repaired: u64,
    pub(crate) false_negatives: u64,
    pub(crate) unconfirmed: u64,
    pub(crate) state_bytes_max: u64,
}

impl AgentSample {
    pub(crate) fn of_lle(counters: &lle_tcp::Counters) -> AgentSample {
        AgentSample {
            generated: counters.generated,
            suppressed: counters.suppressed,
            passed: counters.passed,
            repaired: counters.repaired,
            false_negatives: counters.false_negatives,
            unconfirmed: counters.unconfirmed + counters.never_confirmed,
            state_bytes_max: counters.state_bytes_max,
        }
    }

    pub(crate) fn of_proxy(agent: &ProxyTcp) -> AgentSample {
        let counters = agent.counters();
        AgentSample {
            suppressed: counters.hidden,
            passed: counters.passed + counters.released,
            repaired: counters.resent,
            state_bytes_max: agent.state_bytes_max(),
            ..AgentSample::default()
        }
    }

    pub(crate) fn add(&mut self, other: &AgentSample) {
        self.generated += other.generated;
        self.suppressed += other.suppressed;
        self.passed += other.passed;
        self.repaired += other.repaired;
        self.false_negatives += other.false_negatives;
        self.unconfirmed += other.unconfirmed;
        self.state_bytes_max += other.state_bytes_max;
    }
}

/// What all flows and links have done up to some time.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// One for each flow, followed by that of the data that goes back on it, if any does.
    pub(crate) flows: Vec<FlowSample>,
    pub(crate) channels: Vec<ChannelCounters>,
    pub(crate) wlans: Vec<WlanCounters>,
    pub(crate) frns: Vec<FrnCounters>,
    pub(crate) agent: AgentSample,
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
                if let Some(ArqConfig::Dynamic { .. }) = wifi.arq {
                    names.extend(of("dynamic arq", &prefix));
                }
            }
            LinkKind::Frn(_) => names.extend(of("frn", &format!("links.{}.", link.name))),
        }
    }
    if let Some(agent) = config.agents.first() {
        names.extend(of("agent", &format!("agents.{}.", agent.name)));
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
        if !self.config.agents.is_empty() {
            values.extend(self.agent_values());
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

    fn agent_values(&self) -> [Option<f64>; 8] {
        let (begin, end) = (&self.at_begin.agent, &self.at_end.agent);
        let count = |from: u64, to: u64| Some((to - from) as f64);
        // What the receivers lack only the simulator knows; the agent knows what they have not confirmed.
        let false_positives: u64 = self.at_end.flows.iter().map(FlowSample::falsely_acknowledged).sum();
        let mut agents = self.config.agents.iter();
        let hears = agents.all(|agent| agent.kind != AgentKind::ProxyTcp && agent.config.mode == Mode::Safe);
        [
            count(begin.generated, end.generated),
            count(begin.suppressed, end.suppressed),
            count(begin.passed, end.passed),
            count(begin.repaired, end.repaired),
            count(begin.false_negatives, end.false_negatives),
            Some(false_positives as f64),
            hears.then_some(end.unconfirmed as f64),
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
        count(|of| of.copies.entered),
        count(|of| of.copies.delivered),
        count(|of| of.copies.lost),
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
                count(s0.segments_sent, s1.segments_sent),
                count(s0.retransmits, s1.retransmits),
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
                Some(received as f64),
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
