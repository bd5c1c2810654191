//! One point of a scenario as typed values, from which the run loop is built.

mod devices;
mod events;
mod kind;
pub(crate) mod ports;
mod quic;
mod slotted;

use std::iter;

use crate::medium::loss::LossConfig;
use crate::traffic::{AppConfig, AppKind};
use lasthop_stack::hooks::Judge;
use lasthop_stack::link::dot11::{DataRate, MacConfig, PcfConfig, PhyRate, SingleRadio};
use lasthop_stack::link::policer::PolicerConfig;
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::link::recorded::Delaying;
use lasthop_stack::packet::Form;
use lasthop_stack::registry::{self, AqmConfig, ArqConfig, CongestionKind, tcp};
use lasthop_stack::transport::tcp::EcnMode;
use lasthop_stack::units::{Bytes, Metres, Rate, Span, Time};

pub use crate::lines::{AirConfig, Sends};
pub use events::{Absence, HandoffConfig, Late, OutagesConfig};
pub use kind::LinkKind;
pub use quic::{AckFrequency, QuicConfig, QuicLaw, QuicStack};
pub use slotted::{ErrorAt, FrnConfig, Sense};

use crate::medium::impairments::ImpairmentConfig;
use crate::medium::motion::Motion;
use crate::medium::path::RttLaw;
use crate::medium::radio::config::RadioConfig;

/// One point of a scenario, every default filled in.
#[derive(Clone, Debug)]
pub struct Config {
    /// Length, warm-up, limits.
    pub run: RunConfig,
    /// Hosts and routers; their place in the list is their node number.
    pub nodes: Vec<NodeConfig>,
    /// Links in the order of the file.
    pub links: Vec<LinkConfig>,
    /// Flows in the order of the file.
    pub flows: Vec<FlowConfig>,
    /// Agents in the order of the file.
    pub agents: Vec<AgentConfig>,
}

/// How long a run is and what it may use.
#[derive(Clone, Debug)]
pub struct RunConfig {
    /// Simulated time at which the run ends.
    pub duration: Span,
    /// Simulated time before which nothing is measured.
    pub warmup: Span,
    /// Width of the bins in which goodput over time is kept.
    pub bin: Option<Span>,
    /// Most events before the run is stopped.
    pub max_events: Option<u64>,
    /// Most wall-clock time before the run is stopped.
    pub max_wall: Option<Span>,
    /// Most memory a run may need by estimate before it starts.
    pub max_memory: Bytes,
    /// Whether it takes no shortcuts: every event and every packet by the general path.
    pub plain: bool,
}

/// A host or router.
#[derive(Clone, Debug, Default)]
pub struct NodeConfig {
    /// Its name.
    pub name: String,
    /// The group it belongs to: the table that describes it and others.
    pub group: Option<String>,
    /// Its position, if that matters.
    pub position: Option<(Metres, Metres)>,
    /// How it moves, if it does.
    pub motion: Option<Motion>,
    /// Between which links it is handed off, if it is.
    pub handoff: Option<HandoffConfig>,
    /// When it restarts, and its agents lose what they know.
    pub restart: Option<Time>,
    /// How data goes between it and the other stations of its 802.11 links, where that differs from the link.
    pub own_rate: OwnRate,
    /// The transmit power of its 802.11 radios, W, where that is less than that of the link.
    pub power_w: Option<f64>,
    /// Whether its MAC layer and its TCP are those of a Linux kernel, in runs that have one.
    pub is_linux: bool,
    /// Whether it is then a further access point of its link.
    pub is_access_point: bool,
}

/// Settings of a node that replace those of its 802.11 links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnRate {
    /// The rate, on a link with DCF.
    pub rate: Option<PhyRate>,
    /// Modulation and coding of each stream, on a link with EDCA.
    pub mcs: Option<u8>,
    /// Width of the channel, MHz.
    pub width: Option<u16>,
    /// Spatial streams.
    pub streams: Option<u8>,
    /// Whether it has part in PPDUs to several stations.
    pub ofdma: Option<bool>,
    /// Its radio, if it has a single one for several links.
    pub single_radio: Option<SingleRadio>,
}

/// A link.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// Its name.
    pub name: String,
    /// The group it belongs to.
    pub group: Option<String>,
    /// Its kind and configuration.
    pub kind: LinkKind,
    /// When it is down, if it ever is.
    pub outages: Option<OutagesConfig>,
    /// The management of its queues, if they have any.
    pub aqm: Option<AqmConfig>,
}

/// A link between two nodes.
#[derive(Clone, Debug)]
pub struct PointToPoint {
    /// Indices into [`Config::nodes`].
    pub nodes: [usize; 2],
    /// Forward (first node to second) and reverse direction.
    pub directions: [DirectionConfig; 2],
    /// The law of a round trip that is drawn for it; half of it is added to the delay of each direction.
    pub rtt: Option<RttLaw>,
    /// What sends on it.
    pub sends: Sends,
}

/// An 802.11 medium and the stations on it.
#[derive(Clone, Debug)]
pub struct WifiConfig {
    /// Indices into [`Config::nodes`], one for each station.
    pub nodes: Vec<usize>,
    /// The access point, an index into [`Config::nodes`]; `None` is an ad hoc network.
    pub access_point: Option<usize>,
    /// The contention-free periods in which the access point polls all other stations; `None` is DCF alone.
    pub pcf: Option<PcfConfig>,
    /// The station whose airtime ledger is requested, an index into [`Config::nodes`].
    pub observer: Option<usize>,
    /// The MAC's and PHY's constants.
    pub mac: MacConfig,
    /// The data rates of nodes with one of their own, indexed as [`Config::nodes`]; empty if there are none.
    pub own_rates: Vec<Option<DataRate>>,
    /// The stations without PPDUs to several, by node, if there are any.
    pub without_ofdma: Vec<bool>,
    /// The single radios of stations that are on several links as multi-link devices, by node, if there are any.
    pub single_radios: Vec<Option<SingleRadio>>,
    /// Its stations are those of another link, by its place, which is the first of these multi-link devices.
    pub multi_link: Option<usize>,
    /// The fastest rates of the other links of its multi-link devices, bit/s.
    pub further_bps: f64,
    /// Propagation, reception and errors.
    pub radio: RadioConfig,
    /// The ARQ of the access point, if the scenario sets one.
    pub arq: Option<ArqConfig>,
    /// The stations whose frames come from outside, by node; none in a simulation.
    pub outer: Vec<usize>,
    /// Whether these encrypt what they send, as WPA2 does.
    pub is_secret: bool,
}

impl WifiConfig {
    /// The fastest rate of data on it, and on the other links of its multi-link devices, bit/s.
    #[must_use]
    pub fn fastest_bps(&self) -> f64 {
        let common = DataRate { rate: self.mac.data_rate, mode: self.mac.edca.map(|edca| edca.mode) };
        self.own_rates.iter().flatten().map(DataRate::bps).fold(common.bps(), u64::max) as f64
            + self.further_bps
    }
}

/// A cross-layer agent, at each interface where it has a part: by default the last 802.11 hop of its flows.
#[derive(Clone, Debug)]
pub struct AgentConfig {
    /// Its name.
    pub name: String,
    /// Its kind and parameters; the nodes for which it acts are found for each interface.
    pub scheme: registry::AgentConfig,
    /// Indices into [`Config::flows`].
    pub flows: Vec<usize>,
    /// The only nodes at which it sits.
    pub nodes: Option<Vec<usize>>,
    /// The only links at whose interfaces it sits.
    pub links: Option<Vec<usize>>,
}

impl AgentConfig {
    /// Whether neither nodes nor links are given.
    #[must_use]
    pub fn is_anywhere(&self) -> bool {
        self.nodes.is_none() && self.links.is_none()
    }
}

/// One direction of a point-to-point link.
#[derive(Clone, Debug)]
pub struct DirectionConfig {
    /// Bit rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Capacity of the drop-tail queue, including the packet being sent.
    pub queue: QueueLimit,
    /// The policer in front of the queue, if there is one.
    pub policer: Option<PolicerConfig>,
    /// The losses on the way.
    pub loss: LossConfig,
    /// The impairments of packets in transit other than losses.
    pub impairments: ImpairmentConfig,
    /// How the delay varies that is added to the constant one, if it was recorded.
    pub delays: Option<Delaying>,
}

/// A flow: a source, a transport and a sink.
#[derive(Clone, Debug)]
pub struct FlowConfig {
    /// Its name.
    pub name: String,
    /// The group it belongs to.
    pub group: Option<String>,
    /// Index of the sending node.
    pub from: usize,
    /// Index of the receiving node.
    pub to: usize,
    /// The application: its data and times.
    pub app: AppConfig,
    /// How the receiving application reads.
    pub sink: SinkConfig,
    /// TCP, UDP or QUIC.
    pub transport: TransportConfig,
    /// The differentiated services code point of its packets, in both directions.
    pub dscp: u8,
    /// Its transport's header is hidden from agents.
    pub encrypted: bool,
    /// Programs outside the simulator send its packets and receive them; the transport is not used.
    pub is_outside: bool,
    /// The reverse data of the receiving node on the same connection, over TCP only.
    pub reverse: Option<Box<ReverseConfig>>,
}

/// The reverse data of a connection: a source at the receiving node and a sink at the sending one.
#[derive(Clone, Debug)]
pub struct ReverseConfig {
    /// The application: its data and times.
    pub app: AppConfig,
    /// How the application at the sending node reads.
    pub sink: SinkConfig,
    /// Receive buffer of the sending node; `None` holds one segment more than the window.
    pub buffer: Option<u64>,
}

/// How the receiving application reads.
#[derive(Clone, Debug, Default)]
pub struct SinkConfig {
    /// Rate at which it reads; `None` reads at once.
    pub read_rate: Option<Rate>,
    /// When it pauses.
    pub pause_at: Option<Time>,
    /// For how long.
    pub pause: Span,
}

/// TCP, UDP or QUIC.
#[derive(Clone, Debug)]
pub enum TransportConfig {
    /// A TCP connection; `receive_buffer` holds `sink.buffer`.
    Tcp(tcp::Config),
    /// Datagrams.
    Udp {
        /// Bytes a routing header adds to every packet.
        extra_header: u16,
    },
    /// A QUIC connection.
    Quic(QuicConfig),
}

impl NodeConfig {
    /// The name of the table that describes it.
    #[must_use]
    pub fn table(&self) -> &str {
        self.group.as_deref().unwrap_or(&self.name)
    }

    /// The transmit power of its radio as a share of that of a link.
    #[must_use]
    pub fn strength(&self, radio: &RadioConfig) -> f64 {
        self.power_w.map_or(1.0, |power_w| (power_w / radio.transmit_power_w).min(1.0))
    }
}

impl LinkConfig {
    /// The nodes at its ends.
    #[must_use]
    pub fn nodes(&self) -> &[usize] {
        self.kind.nodes()
    }

    /// The name of the table that describes it.
    #[must_use]
    pub fn table(&self) -> &str {
        self.group.as_deref().unwrap_or(&self.name)
    }
}

impl FlowConfig {
    /// The name of the table that describes it.
    #[must_use]
    pub fn table(&self) -> &str {
        self.group.as_deref().unwrap_or(&self.name)
    }

    /// The form of its law's extension in its segments, if the law has one.
    #[must_use]
    pub fn extension(&self) -> Option<Form> {
        match &self.transport {
            TransportConfig::Tcp(tcp) => tcp.extension(),
            TransportConfig::Udp { .. } | TransportConfig::Quic(_) => None,
        }
    }

    /// The laws that classify its losses: the one in force, if it does so, and those that only observe.
    pub fn judges(&self) -> impl Iterator<Item = (Judge, CongestionKind)> {
        let (law, watching) = match &self.transport {
            TransportConfig::Tcp(tcp) => (Some(tcp.parts.law.kind()), &tcp.parts.judges[..]),
            TransportConfig::Udp { .. } | TransportConfig::Quic(_) => (None, &[][..]),
        };
        let law = law.filter(|law| CongestionKind::JUDGES.contains(law)).map(|law| (Judge::Law, law));
        let watching = watching.iter().enumerate().map(|(place, law)| (Judge::Watching(place), law.kind()));
        law.into_iter().chain(watching)
    }
}

impl FlowConfig {
    /// Whether it probes round trips: a probe is not part of the load.
    #[must_use]
    pub fn is_probe(&self) -> bool {
        matches!(self.app.kind, AppKind::Ping { .. })
    }

    /// Whether its ends offer ECN.
    #[must_use]
    pub fn uses_ecn(&self) -> bool {
        matches!(&self.transport, TransportConfig::Tcp(tcp) if tcp.ecn != EcnMode::Off)
    }

    /// The size of the segments whose rate its law estimates, if it estimates one.
    #[must_use]
    pub fn estimated_segment(&self) -> Option<u32> {
        match &self.transport {
            TransportConfig::Tcp(tcp) => {
                CongestionKind::ESTIMATORS.contains(&tcp.parts.law.kind()).then_some(tcp.packet)
            }
            TransportConfig::Udp { .. } | TransportConfig::Quic(_) => None,
        }
    }

    /// The node that is a second interface of its receiver.
    #[must_use]
    pub fn second(&self) -> Option<usize> {
        match &self.transport {
            TransportConfig::Quic(quic) => quic.second,
            TransportConfig::Tcp(_) | TransportConfig::Udp { .. } => None,
        }
    }

    /// The nodes between which its packets travel: its ends, and the sender with a second interface of the receiver.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let from = self.from;
        iter::once(self.to).chain(self.second()).map(move |to| (from, to))
    }

    /// The nodes at which the paths of a flow with several end.
    pub fn paths(&self) -> impl Iterator<Item = usize> + use<> {
        let to = self.to;
        self.second().into_iter().flat_map(move |second| [to, second])
    }

    /// Whether it runs over QUIC.
    #[must_use]
    pub fn is_quic(&self) -> bool {
        matches!(self.transport, TransportConfig::Quic(_))
    }
}

impl Config {
    /// The 802.11 media, each with the place of its link.
    pub fn wifi(&self) -> impl Iterator<Item = (usize, &WifiConfig)> {
        self.links.iter().enumerate().filter_map(|(place, link)| Some((place, link.kind.wifi()?)))
    }

    /// The names of the flows, each followed by that of its reverse data.
    #[must_use]
    pub fn directions(&self) -> Vec<String> {
        let names = |flow: &FlowConfig| {
            let back = flow.reverse.is_some().then(|| format!("{}.reverse", flow.name));
            iter::once(flow.name.clone()).chain(back)
        };
        self.flows.iter().flat_map(names).collect()
    }

    /// The node that keeps the airtime ledger of a medium. It is the one requested, or else the access point, the first
    /// end of a flow that is a station, or the first station.
    #[must_use]
    pub fn observer(&self, wifi: &WifiConfig) -> usize {
        let ends = || self.flows.iter().flat_map(|flow| [flow.from, flow.to]);
        let end = || ends().find(|node| wifi.nodes.contains(node));
        wifi.observer.or(wifi.access_point).or_else(end).unwrap_or(wifi.nodes[0])
    }

    /// The links between two nodes, each with the place of its link.
    pub fn point_to_point(&self) -> impl Iterator<Item = (usize, &PointToPoint)> {
        self.links.iter().enumerate().filter_map(|(place, link)| Some((place, link.kind.wire()?)))
    }

    /// The slotted networks, each with the place of its link.
    pub fn frn(&self) -> impl Iterator<Item = (usize, &FrnConfig)> {
        self.links.iter().enumerate().filter_map(|(place, link)| Some((place, link.kind.slotted()?)))
    }
}
