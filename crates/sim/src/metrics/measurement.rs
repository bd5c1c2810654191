//! The measurements of a run, by scope.

use lasthop_stack::hooks::Count;
use lasthop_stack::link::transmitter::Transmitter;
use lasthop_stack::units::{Span, Time};

use super::agent::Agent;
use super::class::ByClass;
use super::directions::directions;
use super::flow::{EcnFlow, EstimatingFlow, Judge, TcpFlow, UdpFlow};
use super::frn::Frn;
use super::group::{Group, Sending, TcpGroup};
use super::link::{Aqm, DrawnLink, ImpairedLink, Link, PolicedLink, RecordedLink};
use super::outages::{Handoff, HandoffSample, OutageSample, Outages, Resumption};
use super::ping::Ping;
use super::quic::{QuicFlow, QuicPath};
use super::row::ratio;
use super::run::{Run, SeveralFlows, TcpRun};
use super::samples::{FlowSample, TcpSample, UdpSample};
use super::wifi::{Arq, BlockAcks, Wifi};
use crate::model::{Config, PointToPoint, TransportConfig};
use crate::net::agents::AgentSample;
use crate::net::slotted::FrnCounters;
use crate::net::wlan::WlanCounters;
use crate::net::{AqmCounters, Channel, ChannelCounters};
use crate::probe::airtime::AirClass;
use crate::probe::occupancy::Occupancy;
use crate::probe::spread::{Summary, Times};
use crate::probe::transfers::{Tally, Transfer};

/// The counters of all flows and links at some time.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// One for each flow, followed by that of its reverse data, if any.
    pub(crate) flows: Vec<FlowSample>,
    pub(crate) channels: Vec<ChannelCounters>,
    /// The managements of their queues, and what waits in front of those that have a managed queue there.
    pub(crate) aqms: Vec<AqmCounters>,
    pub(crate) staged: Vec<Option<(Occupancy, u32)>>,
    pub(crate) wlans: Vec<WlanCounters>,
    pub(crate) frns: Vec<FrnCounters>,
    /// One for each table of agents.
    pub(crate) agents: Vec<AgentSample>,
    /// One for each link, and for each node that is handed off.
    pub(crate) outages: Vec<OutageSample>,
    pub(crate) handoffs: Vec<HandoffSample>,
}

/// The measured part of a run, between two snapshots.
pub(crate) struct Measurement<'a> {
    pub(crate) config: &'a Config,
    pub(crate) begin: Time,
    pub(crate) end: Time,
    pub(crate) at_begin: Snapshot,
    pub(crate) at_end: Snapshot,
    pub(crate) channels: &'a [Channel],
    pub(crate) transfers: &'a [Transfer],
    /// Of each end, by its number.
    pub(crate) round_trips: &'a [Times],
}

impl Measurement<'_> {
    fn seconds(&self) -> f64 {
        self.end.since(self.begin).as_secs()
    }

    /// The samples of a direction, by its place among all; `None` if it goes over UDP.
    fn tcp(&self, place: usize) -> Option<(&TcpSample, &TcpSample)> {
        self.at_begin.flows[place].tcp().zip(self.at_end.flows[place].tcp())
    }

    pub(super) fn tcp_flow(&self, place: usize) -> TcpFlow {
        let (began, ended) = self.tcp(place).expect("a flow over tcp has samples of tcp");
        TcpFlow { began: began.clone(), ended: ended.clone(), seconds: self.seconds() }
    }

    pub(super) fn estimating_flow(&self, place: usize, segment: u32) -> EstimatingFlow {
        EstimatingFlow { flow: self.tcp_flow(place), segment }
    }

    pub(super) fn ecn_flow(&self, place: usize) -> EcnFlow {
        EcnFlow(self.tcp_flow(place))
    }

    pub(super) fn udp_flow(&self, place: usize) -> UdpFlow {
        let (began, ended) = self.udp(place);
        UdpFlow { began: *began, ended: *ended, seconds: self.seconds() }
    }

    pub(super) fn quic_flow(&self, place: usize) -> QuicFlow {
        let samples = self.at_begin.flows[place].quic().zip(self.at_end.flows[place].quic());
        let (began, ended) = samples.expect("a flow over quic has samples of quic");
        QuicFlow { began: *began, ended: *ended, seconds: self.seconds() }
    }

    /// A path of a flow over QUIC, by its place.
    pub(super) fn quic_path(&self, place: usize, path: usize) -> QuicPath {
        QuicPath { flow: self.quic_flow(place), path }
    }

    fn udp(&self, place: usize) -> (&UdpSample, &UdpSample) {
        let samples = self.at_begin.flows[place].udp().zip(self.at_end.flows[place].udp());
        samples.expect("a flow over udp has samples of udp")
    }

    /// Probes; `ends` are the ends that send requests.
    pub(super) fn ping(&self, members: &[usize], ends: &[usize]) -> Ping {
        let mut all = Ping::new(self.round_trips(ends));
        for &member in members {
            let (began, ended) = self.udp(member);
            all.add(began, ended);
        }
        all
    }

    /// How a law of a flow, given by its number, classified losses.
    pub(super) fn judge(&self, place: usize, number: usize) -> Judge {
        let (began, ended) = self.tcp(place).expect("only flows over tcp are judged");
        Judge(ended.judged[number].since(&began.judged[number]))
    }

    /// Goodput and throughput of a direction.
    fn rates_bps(&self, place: usize) -> (f64, f64) {
        let (began, ended) = (&self.at_begin.flows[place], &self.at_end.flows[place]);
        let rate = |bytes: u64| ratio(bytes as f64 * 8.0, self.seconds()).unwrap_or(0.0);
        (rate(ended.delivered() - began.delivered()), rate(ended.received() - began.received()))
    }

    fn sending(&self, members: impl Iterator<Item = usize>) -> Sending {
        let mut sum = Sending::default();
        for (began, ended) in members.filter_map(|member| self.tcp(member)) {
            sum.add(began, ended);
        }
        sum
    }

    pub(super) fn group(&self, members: &[usize]) -> Group {
        Group {
            goodput_bps: members.iter().map(|member| self.rates_bps(*member).0).sum(),
            throughput_bps: members.iter().map(|member| self.rates_bps(*member).1).sum(),
        }
    }

    /// Those of these directions that go over TCP; `ends` are the ends that send.
    pub(super) fn tcp_group(&self, members: &[usize], ends: &[usize]) -> TcpGroup {
        TcpGroup { sending: self.sending(members.iter().copied()), rtt: self.round_trips(ends) }
    }

    /// The round trips that these ends measured, together.
    fn round_trips(&self, ends: &[usize]) -> Summary {
        let mut all = Times::default();
        for &end in ends {
            all.add(&self.round_trips[end]);
        }
        all.summary()
    }

    /// What the user of each flow requested and received, by class.
    pub(super) fn by_class(&self) -> ByClass {
        let mut bytes = vec![[0; 3]; self.config.flows.len()];
        for (place, direction) in directions(self.config).iter().enumerate().filter(|(_, it)| !it.is_reverse)
        {
            let [began, ended] = [&self.at_begin, &self.at_end].map(|at| at.flows[place].by_class());
            bytes[direction.number] = [0, 1, 2].map(|class| ended[class] - began[class]);
        }
        let transfers = Tally::all(self.transfers, self.config.flows.len(), self.begin);
        ByClass { bytes, transfers, seconds: self.seconds() }
    }

    /// One direction of a link of two nodes, by the number of its channel.
    pub(super) fn link(&self, channel: usize) -> Link {
        let queue = self.channels[channel].line.queue();
        let has_stage = self.at_end.staged[channel].is_some();
        let (began, ended) = (self.at_begin.channels[channel], self.at_end.channels[channel]);
        let span = self.end.since(self.begin).0 as f64;
        Link {
            began,
            ended,
            seconds: self.seconds(),
            // A run that was stopped within its warm-up has measured nothing.
            queue: (self.end > self.begin).then(|| {
                let mean = (ended.held - began.held) as f64 / span;
                match (&self.at_begin.staged[channel], &self.at_end.staged[channel]) {
                    (Some((began, _)), Some((ended, most))) => (mean + ended.mean_since(began), *most),
                    _ => (mean, queue.longest()),
                }
            }),
            full: (self.end > self.begin && !has_stage).then(|| (ended.full - began.full).0 as f64 / span),
        }
    }

    /// The managed queue of a channel.
    pub(super) fn aqm(&self, channel: usize) -> Aqm {
        Aqm::between(&self.at_begin.aqms[channel], &self.at_end.aqms[channel])
    }

    /// The managed queues of the stations of an 802.11 link.
    pub(super) fn wifi_aqm(&self, number: usize) -> Aqm {
        Aqm::between(&self.at_begin.wlans[number].aqm, &self.at_end.wlans[number].aqm)
    }

    /// The counters that only the law of the managed queue of a channel has.
    pub(super) fn aqm_count(&self, channel: usize, name: &str) -> Option<f64> {
        difference(&self.at_begin.aqms[channel].counts, &self.at_end.aqms[channel].counts, name)
    }

    /// The counters that only the law of the managed queues of an 802.11 link has.
    pub(super) fn wifi_aqm_count(&self, number: usize, name: &str) -> Option<f64> {
        let (began, ended) = (&self.at_begin.wlans[number].aqm, &self.at_end.wlans[number].aqm);
        difference(&began.counts, &ended.counts, name)
    }

    /// A direction of a recorded link by the number of its channel.
    pub(super) fn recorded_link(&self, channel: usize) -> RecordedLink {
        RecordedLink(self.link(channel))
    }

    /// A direction of a link with a policer, by the number of its channel.
    pub(super) fn policed_link(&self, channel: usize) -> PolicedLink {
        PolicedLink(self.link(channel))
    }

    /// A direction of a link with impairments, by the number of its channel.
    pub(super) fn impaired_link(&self, channel: usize) -> ImpairedLink {
        ImpairedLink(self.link(channel))
    }

    /// A link whose forward channel has this number.
    pub(super) fn drawn_link(&self, channel: usize, ends: &PointToPoint) -> DrawnLink {
        let drawn = |way: usize| self.channels[channel + way].delay - ends.directions[way].delay;
        DrawnLink { rtt: drawn(0) + drawn(1) }
    }

    /// An 802.11 link; `sharing` are the media that have the queues of its stations, none where another one of them counts.
    pub(super) fn wifi(&self, number: usize, sharing: &[usize]) -> Wifi {
        let at = |snapshot: &Snapshot| {
            let drops_queue = sharing.iter().map(|wlan| snapshot.wlans[*wlan].drops_queue).sum();
            WlanCounters { drops_queue, ..snapshot.wlans[number].clone() }
        };
        let (began, ended) = (at(&self.at_begin), at(&self.at_end));
        Wifi { began, ended, has_time: self.end > self.begin, has_queue: !sharing.is_empty() }
    }

    pub(super) fn block_acks(&self, number: usize) -> BlockAcks {
        let (began, ended) = (&self.at_begin.wlans[number], &self.at_end.wlans[number]);
        let [before, airtime] = [began, ended].map(|wlan| wlan.airtime.of(AirClass::BlockAck));
        let uplink = ended.uplink - began.uplink;
        BlockAcks { began: began.edca, ended: ended.edca, airtime: airtime - before, uplink }
    }

    pub(super) fn arq(&self, number: usize) -> Arq {
        Arq { began: self.at_begin.wlans[number].arq.clone(), ended: self.at_end.wlans[number].arq.clone() }
    }

    /// The outages of the link at `place`, and what they lost.
    pub(super) fn outages(&self, place: usize, lost: impl Fn(&Snapshot) -> u64) -> Outages {
        let (began, ended) = (self.at_begin.outages[place], self.at_end.outages[place]);
        Outages { began, ended, lost: lost(&self.at_end) - lost(&self.at_begin) }
    }

    /// A node that is handed off, by its place among them.
    pub(super) fn handoff(&self, number: usize) -> Handoff {
        Handoff { began: self.at_begin.handoffs[number], ended: self.at_end.handoffs[number] }
    }

    /// A direction after outages.
    pub(super) fn resumption(&self, place: usize) -> Resumption {
        Resumption(self.tcp(place).expect("a flow over tcp has samples of tcp").1.resumed)
    }

    /// The counters that only the law of a direction has.
    pub(super) fn law_count(&self, place: usize, name: &str) -> Option<f64> {
        let (began, ended) = self.tcp(place)?;
        difference(&began.law, &ended.law, name)
    }

    /// The counters that only the kind of a medium's ARQ has.
    pub(super) fn arq_count(&self, number: usize, name: &str) -> Option<f64> {
        difference(&self.at_begin.wlans[number].arq.counts, &self.at_end.wlans[number].arq.counts, name)
    }

    pub(super) fn frn(&self, number: usize, slot: Span) -> Frn {
        Frn {
            began: self.at_begin.frns[number],
            ended: self.at_end.frns[number],
            slots: self.seconds() / slot.as_secs(),
            segments: self.segments(),
        }
    }

    /// TCP segments that arrived in order at their receivers, of all flows.
    fn segments(&self) -> f64 {
        let mut segments = 0.0;
        for (place, direction) in directions(self.config).iter().enumerate() {
            if let (Some((began, ended)), TransportConfig::Tcp(tcp)) =
                (self.tcp(place), &direction.flow.transport)
            {
                segments += (ended.delivered - began.delivered) as f64 / f64::from(tcp.packet);
            }
        }
        segments
    }

    pub(super) fn agent(&self, number: usize) -> Agent {
        let samples = self.at_end.flows.iter().filter_map(FlowSample::tcp);
        Agent {
            began: self.at_begin.agents[number].activity,
            ended: self.at_end.agents[number].activity,
            false_positives: samples.map(|sample| sample.falsely_acknowledged).sum(),
        }
    }

    /// The counters that only the kind of a table's agents has.
    pub(super) fn agent_count(&self, number: usize, name: &str) -> Option<f64> {
        difference(&self.at_begin.agents[number].counts, &self.at_end.agents[number].counts, name)
    }

    /// The quantities that only the kind of a table's agents has, at the end.
    pub(super) fn agent_level(&self, number: usize, name: &str) -> Option<f64> {
        let level = self.at_end.agents[number].levels.iter().find(|level| level.name == name)?;
        Some(level.value as f64)
    }

    fn goodputs_bps(&self, places: &[usize]) -> Vec<f64> {
        places.iter().map(|place| self.rates_bps(*place).0).collect()
    }

    /// The run as a whole, over the directions at these places: all but probes.
    pub(super) fn run(&self, places: &[usize]) -> Run {
        Run { goodputs_bps: self.goodputs_bps(places), seconds: self.seconds() }
    }

    pub(super) fn several_flows(&self, places: &[usize]) -> SeveralFlows {
        SeveralFlows { goodputs_bps: self.goodputs_bps(places) }
    }

    pub(super) fn tcp_run(&self) -> TcpRun {
        TcpRun { sending: self.sending(0..self.at_end.flows.len()) }
    }
}

/// How much a counter has grown between two samples, by its name.
fn difference(began: &[Count], ended: &[Count], name: &str) -> Option<f64> {
    let of = |counts: &[Count]| counts.iter().find(|count| count.name == name).map(|count| count.value);
    Some((of(ended)? - of(began)?) as f64)
}
