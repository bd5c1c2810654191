//! Conversion of the values of a point to the types of the model.
//!
//! All values have been read and checked before, so a value of another kind is a broken invariant.

mod agents;
pub(super) mod air;
pub(super) mod events;
mod frn;
mod part;
mod quic;
mod transport;
mod users;
mod wifi;
mod wires;

use self::part::Part;
use super::keys::kinds::{self, Kind};
use super::keys::words::{
    App, Between, Bursts, CapacityFormat, LossDirection, LossModel, NodeStack, RttModel,
};
use super::layout::Section;
use super::members::{self, Flow, Link, Members, Name};
use super::quantity::Dim;
use super::sheet::{Sheet, Transport};
use crate::medium::loss::LossConfig;
use crate::medium::path::RttLaw;
use crate::medium::radio::config::PathLoss;
use crate::model::{
    Config, DirectionConfig, FlowConfig, LinkConfig, LinkKind, NodeConfig, PointToPoint, ReverseConfig,
    RunConfig, Sends, SinkConfig, TransportConfig,
};
use crate::traffic::{AppConfig, AppKind, OnOffLaw};
use lasthop_stack::link::recorded::{Delaying, Loads, Opportunities, Recorded, Varying};
use lasthop_stack::registry::{AqmConfig, AqmKind, tcp};

use lasthop_stack::units::{Bytes, Span};

/// The configuration of a point whose sheet is complete.
pub(super) fn config(sheet: &Sheet<'_>, members: &Members) -> Config {
    let run = Part::of(sheet, Section::Run, 0);
    let mut nodes: Vec<NodeConfig> = members
        .nodes
        .iter()
        .zip(on_flat_media(sheet, members))
        .map(|(it, on_flat)| node(it, on_flat))
        .collect();
    let mut links: Vec<LinkConfig> = members.links.iter().map(|member| link(sheet, member)).collect();
    for (node, member) in nodes.iter_mut().zip(&members.nodes) {
        let table = sheet.plan.layout.nodes.place(member.name.table());
        let Some(table) = table else { continue };
        let part = Part::member(sheet, Section::Nodes, table, member.name.number);
        node.handoff = events::handoff(&part, &links);
        node.restart = part.given("restart", Part::time);
        node.own_rate = wifi::own_rate(&part);
        node.power_w = part.given("wifi.transmit-power", Part::power);
        node.is_linux = match part.given("stack", Part::choice) {
            Some(NodeStack::Linux) => true,
            Some(NodeStack::Lasthop) | None => false,
        };
        node.is_access_point = part.given("wifi.access-point", Part::flag) == Some(true);
    }
    let names: Vec<String> = links.iter().map(|link| link.name.clone()).collect();
    for (link, member) in links.iter_mut().zip(&members.links) {
        if let Some(wifi) = link.kind.wifi_mut() {
            let part = Part::member(sheet, Section::Links, member.table, member.name.number);
            wifi.multi_link = wifi::multi_link(&part, &names);
            wifi.own_rates = wifi::own_rates(&nodes, wifi);
            wifi.without_ofdma = wifi::without_ofdma(&nodes, wifi);
        }
    }
    wifi::add_further_links(&mut links);
    wifi::add_single_radios(&nodes, &mut links);
    let groups = members.flows.chunk_by(|one, other| one.table == other.table);
    let flows: Vec<FlowConfig> = groups.flat_map(|group| of_group(sheet, group, &nodes)).collect();
    let agents = sheet.plan.layout.agents.iter().enumerate();
    let agents = agents
        .map(|(table, name)| {
            agents::agent(&Part::of(sheet, Section::Agents, table), name, (&nodes, &links, &flows))
        })
        .collect();
    Config {
        run: RunConfig {
            duration: run.span("duration"),
            warmup: run.span("warmup"),
            bin: run.optional("bin", Part::span),
            max_events: run.optional("max-events", Part::count),
            max_wall: run.optional("max-wall", Part::span),
            max_memory: run.bytes("max-memory"),
            plain: run.flag("plain"),
        },
        nodes,
        links,
        flows,
        agents,
    }
}

/// The flows of a group, which differ in their names and ends, and where its table has lists. What they share is read
/// once.
fn of_group<'a>(
    sheet: &Sheet<'_>,
    group: &'a [Flow],
    nodes: &[NodeConfig],
) -> impl Iterator<Item = FlowConfig> + use<'a> {
    let kinds = sheet.kinds(Section::Flows, group[0].table);
    let like: Vec<FlowConfig> = group.iter().take(kinds).map(|member| flow(sheet, member, nodes)).collect();
    group.iter().enumerate().map(move |(place, member)| FlowConfig {
        name: member.name.name.clone(),
        from: member.from,
        to: member.to,
        ..like[place % like.len()].clone()
    })
}

fn node(node: &members::Node, on_flat: bool) -> NodeConfig {
    let Name { name, group, .. } = node.name.clone();
    let position = node.position.filter(|_| !on_flat);
    let motion = node.motion.clone().filter(|_| !on_flat);
    NodeConfig { name, group, position, motion, ..NodeConfig::default() }
}

/// Whether the media of each node are all flat: on a flat medium the positions of stations do not matter.
fn on_flat_media(sheet: &Sheet<'_>, members: &Members) -> Vec<bool> {
    let mut media = vec![(0, 0); members.nodes.len()];
    for link in &members.links {
        let Some(model) = sheet.table(Section::Links, link.table).get("propagation.model") else { continue };
        for &station in &link.nodes {
            let (flat, all) = &mut media[station];
            (*flat, *all) = (*flat + u32::from(model.choice() == Some(PathLoss::Flat)), *all + 1);
        }
    }
    media.into_iter().map(|(flat, all)| all > 0 && flat == all).collect()
}

fn link(sheet: &Sheet<'_>, member: &Link) -> LinkConfig {
    let link = Part::member(sheet, Section::Links, member.table, member.name.number);
    let Name { name, group, .. } = member.name.clone();
    let outages = events::outages(&link, member.silenced);
    let aqm = aqm(&link);
    let kind = match link.choice("kind") {
        Kind::Wifi => LinkKind::Wifi(Box::new(wifi::wifi(&link, member))),
        Kind::Frn => LinkKind::Frn(Box::new(frn::frn(&link, member))),
        Kind::Wimax => ends(sheet, &link, member, Sends::Air(Box::new(air::air(&link)))),
        Kind::Trace => ends(sheet, &link, member, Sends::Recorded(Box::new(recorded(sheet, &link)))),
        Kind::Wired | Kind::Lossy => ends(sheet, &link, member, Sends::Wires),
    };
    LinkConfig { name, group, kind, outages, aqm }
}

/// A link between two nodes.
fn ends(sheet: &Sheet<'_>, link: &Part<'_>, member: &Link, sends: Sends) -> LinkKind {
    let kind: Kind = link.choice("kind");
    let direction = |(number, way): (usize, &Part<'_>)| DirectionConfig {
        rate: sends.rate(number).unwrap_or_else(|| way.rate("rate")),
        delay: if kind.has(kinds::DELAYS) { way } else { link }.span("delay"),
        queue: way.queue("queue"),
        policer: wires::policer(way),
        loss: LossConfig::None,
        impairments: wires::impairments(way),
        delays: delays(sheet, way),
    };
    let mut directions = [(0, link), (1, &link.below("reverse"))].map(direction);
    if kind.has(kinds::LOSSES) {
        let loss = loss(link);
        match link.choice("loss.direction") {
            LossDirection::Forward => directions[0].loss = loss,
            LossDirection::Reverse => directions[1].loss = loss,
            LossDirection::Both => {
                directions[0].loss = loss.clone();
                directions[1].loss = loss;
            }
        }
    }
    let nodes = [member.nodes[0], member.nodes[1]];
    LinkKind::PointToPoint(PointToPoint { nodes, directions, rtt: rtt(link), sends })
}

/// The recorded capacity of both directions.
fn recorded(sheet: &Sheet<'_>, link: &Part<'_>) -> [Recorded; 2] {
    [link, &link.below("reverse")].map(|way| {
        let (file, is_once) = (way.word("trace.file"), way.flag("trace.once"));
        match way.choice("trace.format") {
            CapacityFormat::Rates => {
                return Recorded::Rates(Varying { rates: sheet.plan.records.rates(file), is_once });
            }
            CapacityFormat::Opportunities => {}
        }
        let heavy = Opportunities {
            schedule: sheet.plan.records.schedule(file),
            opportunity: link.small("trace.opportunity"),
            header: link.small("trace.header"),
            is_once,
        };
        match way.known("trace.light.file") {
            None => Recorded::Opportunities(heavy),
            Some(file) => Recorded::Loads(Loads {
                light: sheet.plan.records.trains(&file.text()),
                heavy,
                pause: way.span("trace.light.pause"),
            }),
        }
    })
}

/// The recorded delays of a direction, if it has any; those of the reverse direction have the keys of the forward one by default.
fn delays(sheet: &Sheet<'_>, way: &Part<'_>) -> Option<Delaying> {
    let file = way.known("trace.delay.file")?.text();
    Some(Delaying {
        delays: sheet.plan.records.delays(&file),
        step: way.span("trace.delay.step"),
        is_linear: match way.choice("trace.delay.between") {
            Between::Linear => true,
            Between::Steps => false,
        },
        keeps_order: way.flag("trace.delay.keeps-order"),
    })
}

/// The management of the queues of a link.
fn aqm(link: &Part<'_>) -> Option<AqmConfig> {
    let law = link.known("aqm.law").filter(|law| !law.is("none"))?;
    let kind = AqmKind::named(&law.text()).unwrap_or_else(|| link.broken("aqm.law"));
    let mut aqm = kind.config();
    let prefix = format!("aqm.{}", kind.entry().name);
    link.described(&prefix, &kind.parameters(), |name, value| aqm.set(name, value));
    Some(aqm)
}

/// The law of the round trip that is drawn for a link.
fn rtt(link: &Part<'_>) -> Option<RttLaw> {
    Some(match link.given("rtt.law", Part::choice)? {
        RttModel::Uniform => {
            RttLaw::Uniform { least: link.span("rtt.uniform.min"), most: link.span("rtt.uniform.max") }
        }
        RttModel::Normal => RttLaw::Normal {
            mean: link.span("rtt.normal.mean"),
            deviation: link.span("rtt.normal.deviation"),
            least: link.span("rtt.normal.min"),
        },
        RttModel::Exponential => RttLaw::Exponential {
            mean: link.span("rtt.exponential.mean"),
            least: link.span("rtt.exponential.min"),
        },
    })
}

fn loss(link: &Part<'_>) -> LossConfig {
    match link.choice("loss.model") {
        // The check reports those of 802.11 links.
        LossModel::None | LossModel::Snr => LossConfig::None,
        LossModel::Packet => LossConfig::Packet { rate: link.real("loss.rate") },
        LossModel::Bit => LossConfig::Bit { ber: link.real("loss.bit.ber") },
        LossModel::GilbertElliott => LossConfig::GilbertElliott {
            loss_good: link.real("loss.gilbert-elliott.loss-good"),
            loss_bad: link.real("loss.gilbert-elliott.loss-bad"),
            good_to_bad: link.real("loss.gilbert-elliott.good-to-bad"),
            bad_to_good: link.real("loss.gilbert-elliott.bad-to-good"),
        },
        LossModel::List => {
            LossConfig::List { drop: link.counts("loss.list.drop"), of: link.choice("loss.list.of") }
        }
    }
}

fn flow(sheet: &Sheet<'_>, member: &Flow, nodes: &[NodeConfig]) -> FlowConfig {
    let flow = Part::member(sheet, Section::Flows, member.table, member.name.number);
    let Name { name, group, .. } = member.name.clone();
    let transport = match sheet.transport(member.table, flow.known("app.kind")) {
        Transport::Tcp => TransportConfig::Tcp(transport::tcp(&flow)),
        Transport::Quic => TransportConfig::Quic(quic::quic(&flow, nodes)),
        Transport::Udp => TransportConfig::Udp { extra_header: flow.bytes("udp.extra-header").0 as u16 },
    };
    let below = |name: &'static str| flow.below(name);
    let (sink, reverse) = match &transport {
        TransportConfig::Tcp(tcp) => (sink(&below("sink")), reverse(&below, tcp)),
        TransportConfig::Udp { .. } | TransportConfig::Quic(_) => (SinkConfig::default(), None),
    };
    FlowConfig {
        name: name.clone(),
        group,
        from: member.from,
        to: member.to,
        app: app(&below("app"), packet_of(&transport)),
        sink,
        transport,
        dscp: flow.small("dscp") as u8,
        encrypted: flow.flag("encrypted"),
        is_outside: false,
        reverse,
    }
}

/// The data that goes back, if any does; `below` gives the keys of the flow under a prefix.
fn reverse<'a>(below: &impl Fn(&'static str) -> Part<'a>, tcp: &tcp::Config) -> Option<Box<ReverseConfig>> {
    let source = below("app.reverse");
    if source.known("kind").is_none_or(|kind| kind.is("none")) {
        return None;
    }
    let reader = below("sink.reverse");
    let buffer = reader.optional("buffer", Part::count);
    Some(Box::new(ReverseConfig { app: app(&source, Some(tcp.packet)), sink: sink(&reader), buffer }))
}

fn sink(sink: &Part<'_>) -> SinkConfig {
    SinkConfig {
        read_rate: sink.optional("read-rate", Part::rate),
        pause_at: sink.optional("pause-at", Part::time),
        pause: sink.span("pause"),
    }
}

/// The payload of a full segment, which files are counted in.
fn packet_of(transport: &TransportConfig) -> Option<u32> {
    match transport {
        TransportConfig::Tcp(tcp) => Some(tcp.packet),
        TransportConfig::Quic(quic) => Some(quic.packet.into()),
        TransportConfig::Udp { .. } => None,
    }
}

fn app(app: &Part<'_>, packet: Option<u32>) -> AppConfig {
    AppConfig {
        start: app.time("start"),
        spread: app.given("spread", Part::span).unwrap_or(Span::ZERO),
        stop: app.optional("stop", Part::time),
        kind: source(app, packet),
    }
}

fn source(app: &Part<'_>, packet: Option<u32>) -> AppKind {
    match app.choice("kind") {
        App::Bulk => AppKind::Bulk,
        App::File => file(app, packet),
        App::Cbr => AppKind::Cbr { rate: app.rate("cbr.rate"), packet: app.small("cbr.packet") },
        App::Poisson => {
            AppKind::Poisson { rate: app.rate("poisson.rate"), packet: app.small("poisson.packet") }
        }
        App::Ping => AppKind::Ping { interval: app.span("ping.interval"), packet: app.small("ping.packet") },
        App::Ftp => AppKind::User(Box::new(users::user(app, [1.0, 0.0, 0.0]))),
        App::Web => AppKind::User(Box::new(users::user(app, [0.0, 1.0, 0.0]))),
        App::Mail => AppKind::User(Box::new(users::user(app, [0.0, 0.0, 1.0]))),
        App::Mix => {
            let shares = ["ftp", "web", "mail"].map(|class| app.real(&format!("mix.{class}")));
            AppKind::User(Box::new(users::user(app, shares)))
        }
        App::OnOff => AppKind::OnOff {
            rate: app.rate("on-off.rate"),
            packet: app.small("on-off.packet"),
            on: app.span("on-off.on"),
            off: app.span("on-off.off"),
            law: match app.choice("on-off.law") {
                Bursts::Exponential => OnOffLaw::Exponential,
                Bursts::Fixed => OnOffLaw::Fixed,
                Bursts::Pareto => OnOffLaw::Pareto(app.real("on-off.shape")),
            },
        },
    }
}

/// A file over TCP, with full segments of this many bytes, or as datagrams.
fn file(app: &Part<'_>, segment: Option<u32>) -> AppKind {
    if let Some(segment) = segment {
        return AppKind::File { size: file_size(app, segment) };
    }
    let packet = app.small("file.packet");
    let rate = app.optional("file.rate", Part::rate);
    AppKind::Datagrams { size: file_size(app, packet), packet, rate }
}

/// A file measured in packets consists of full packets.
fn file_size(app: &Part<'_>, packet: u32) -> Bytes {
    let count = app.count("file.size");
    let is_in_packets = app.dim("file.size") == Some(Dim::Packets);
    Bytes(if is_in_packets { count.saturating_mul(packet.into()) } else { count })
}
