//! An 802.11 link as a scenario describes it.

use std::collections::VecDeque;
use std::sync::Arc;

use lasthop_stack::link::dot11::{
    Agreements, Airtime, BROADCAST, Category, Frame, FrameKind, Load, MacConfig, Reorder, Role, Rules,
};
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::registry::{ArqConfig, ArqMachine, Station};
use lasthop_stack::units::{Span, Time};

use super::air::Air;
use super::answers::Output;
use super::arq::adopt;
use super::linked::Guest;
use super::{Interface, InterfaceCounters, Wlan, WlanEvent, queue};
use crate::engine::queue::Slot;
use crate::engine::streams::Stream;
use crate::medium::radio::draws::StreamBase;
use crate::medium::radio::{Radio, Site};
use crate::model::ports::Ports;
use crate::model::{Config, WifiConfig};
use crate::net::layout::cuts;
use crate::probe::airtime::Ledger;
use crate::probe::occupancy::Occupancy;
use crate::probe::spread::Times;

impl Wlan {
    pub(in crate::net) fn new(
        config: &Config,
        wifi: &WifiConfig,
        (place, name): (u32, &str),
        agents: impl Fn(u32) -> Option<u32>,
        (seed, replication): (u64, u64),
        ports: Ports,
        slot: &mut impl FnMut(WlanEvent) -> Slot,
    ) -> Wlan {
        let sites = sites(config, wifi);
        let base = StreamBase { seed, replication, link: name.to_owned() };
        let radio = radio(config, (wifi, place as usize), &sites, base);
        let rules = rules(config, wifi);
        let nothing = Frame::new(FrameKind::Ack, BROADCAST, BROADCAST, 0, wifi.mac.data_rate);
        let asks = config.agents.iter().any(|agent| agent.scheme.needs().answers);
        let interfaces = wifi.nodes.iter().enumerate().map(|(station, &node)| {
            let role = role(wifi, node);
            let (management, knows_lanes) = queue::management(config, place, (seed, replication), node);
            let station = station as u32;
            let mut mac = Station::new(rules.clone(), NodeId(node as u32), role);
            let timing = adopt(&mut mac, wifi);
            link_up(&mut mac, config, place as usize);
            Interface {
                rests: false,
                knows_lanes,
                node: NodeId(node as u32),
                mac,
                output: Output {
                    station,
                    timer: slot(WlanEvent::Timer(station)),
                    reordering: wifi.mac.edca.map(|_| slot(WlanEvent::Reorder(station))),
                    on_air: (nothing, Airtime::default()),
                    load: Load::default(),
                    backoff: backoff(config, name, (seed, replication), node),
                    slots: None,
                    hears_answers: asks && agents(station).is_some(),
                },
                agents: agents(station),
                held: 0,
                emptied: Time::ZERO,
                management,
                timing,
                reorder: reordering(wifi, role).map(|reorder| (reorder, slot(WlanEvent::Release(station)))),
                sent: slot(WlanEvent::Sent(station)),
                is_sensed: None,
                counters: InterfaceCounters::default(),
            }
        });
        let sites: Vec<Interface> = interfaces.collect();
        Wlan {
            has_agents: sites.iter().any(|site| site.agents.is_some()),
            any_knows_lanes: sites.iter().any(|site| site.knows_lanes),
            radio,
            ports,
            observer: wifi.nodes.iter().position(|node| *node == config.observer(wifi)).unwrap_or(0),
            ap: wifi.nodes.iter().position(|node| Some(*node) == wifi.access_point),
            uplink: (Span::ZERO, Time::ZERO),
            ledger: Ledger::new(rules.difs, rules.eifs, Time(config.run.warmup.0)),
            rules,
            contending: 0,
            queue: Occupancy::default(),
            full: Occupancy::default(),
            waits: Times::default(),
            sites,
            heard: Vec::new(),
            bystander: None,
            work: Vec::new(),
            handed_down: VecDeque::new(),
            place,
            pcf: wifi.access_point.and_then(|ap| Some((NodeId(ap as u32), wifi.pcf?))),
            categories: categories(config),
            packets_per_frame: config.media_of(place as usize).map(most_packets).sum(),
            guest: guest(config, place as usize),
            devices: devices(config, place as usize),
            changed: Vec::new(),
            capture: None,
            air: Air::of(wifi),
        }
    }
}

/// The link that has the management of the queues of the stations of a link, if that is another one.
fn guest(config: &Config, place: usize) -> Option<Box<Guest>> {
    let first =
        config.first_link(place).filter(|first| *first != place && config.links[*first].aqm.is_some())?;
    let of = config.wifi().position(|(link, _)| link == first)?;
    let nodes = 0..config.links[place].nodes().len();
    let stations = nodes.map(|station| config.first_station(place, station).1).collect();
    Some(Box::new(Guest { of, stations }))
}

/// The most packets that a frame carries.
fn most_packets(wifi: &WifiConfig) -> usize {
    wifi.mac.edca.map_or(1, |edca| edca.most_packets() as usize)
}

/// The backoffs of a station of a link.
fn backoff(config: &Config, link: &str, (seed, replication): (u64, u64), node: usize) -> Stream {
    Stream::named(seed, replication, &format!("links.{link}.{}.backoff", config.nodes[node].name))
}

/// What the links of each multi-link device have in common.
pub(in crate::net) fn agreements(config: &Config) -> Vec<Agreements<ArqMachine>> {
    vec![Agreements::default(); devices_before(config, config.links.len()) as usize]
}

/// The multi-link devices whose first link is before this place.
fn devices_before(config: &Config, place: usize) -> u32 {
    let firsts = config.wifi().filter(|(link, _)| *link < place && config.first_link(*link) == Some(*link));
    firsts.map(|(_, wifi)| wifi.nodes.len() as u32).sum()
}

/// The devices that the stations of a link are, if it is one of multi-link devices.
fn devices(config: &Config, place: usize) -> Option<Box<[u32]>> {
    let link = config.first_link(place)?;
    let (all, first) = (config.links[link].nodes(), devices_before(config, link));
    let number = |node| first + all.iter().position(|one| one == node).unwrap_or(0) as u32;
    Some(config.links[place].nodes().iter().map(number).collect())
}

/// Makes a MAC that of a link of multi-link devices, if the link at this place is one. Some of them may not be on it.
fn link_up(mac: &mut Station, config: &Config, place: usize) {
    let Some(link) = config.first_link(place) else { return };
    let (all, nodes) = (config.links[link].nodes(), config.links[place].nodes());
    let is_absent = |node| all.contains(&node) && !nodes.contains(&node);
    if let Station::Edca(mac) = mac {
        mac.link_up(place as u32, (0..config.nodes.len()).map(is_absent).collect());
    }
}

/// The constants of a link; the limits of the queues of multi-link devices are those of the first one.
fn rules(config: &Config, wifi: &WifiConfig) -> Arc<Rules> {
    let first = wifi.multi_link.and_then(|link| config.links[link].kind.wifi()).unwrap_or(wifi);
    let mac = MacConfig { queue: first.mac.queue, buffer: first.mac.buffer, ..wifi.mac };
    let own_rates = wifi.own_rates.clone().into_boxed_slice();
    let without_ofdma = wifi.without_ofdma.clone().into_boxed_slice();
    let single_radios = wifi.single_radios.clone().into_boxed_slice();
    let rules = Rules::new(mac).with_own_rates(own_rates).without_ofdma(without_ofdma);
    Arc::new(rules.with_single_radios(single_radios))
}

/// The radio of a link, by its place among all.
fn radio(config: &Config, (wifi, place): (&WifiConfig, usize), sites: &[Site], base: StreamBase) -> Radio {
    let seeds = (base.seed, base.replication);
    let mut radio = Radio::new(&wifi.radio, sites, base);
    radio.cut_by(cuts(config, place, seeds));
    if config.run.plain || config.first_link(place).is_some() {
        radio.let_all_follow();
    }
    radio
}

/// The stations as the radio knows them.
fn sites(config: &Config, wifi: &WifiConfig) -> Vec<Site> {
    let site = |node: usize| Site {
        node: NodeId(node as u32),
        name: config.nodes[node].name.clone(),
        position: config.nodes[node].position,
        motion: config.nodes[node].motion.clone(),
        strength: config.nodes[node].strength(&wifi.radio),
    };
    wifi.nodes.iter().map(|&node| site(node)).collect()
}

fn role(wifi: &WifiConfig, node: usize) -> Role {
    match wifi.access_point {
        None => Role::AdHoc,
        Some(ap) if ap == node => Role::AccessPoint,
        Some(ap) => Role::Station { ap: NodeId(ap as u32) },
    }
}

/// The buffer in which a station puts packets in order, if the ARQ requests one.
fn reordering(wifi: &WifiConfig, role: Role) -> Option<Reorder<Packet>> {
    let timeout = wifi.arq.as_ref().and_then(ArqConfig::reorder)?;
    (role != Role::AccessPoint).then(|| Reorder::new(timeout))
}

/// The access category of each flow, if any has another than the rest.
fn categories(config: &Config) -> Vec<Category> {
    let all: Vec<Category> = config.flows.iter().map(|flow| Category::of_dscp(flow.dscp)).collect();
    if all.iter().all(|category| *category == Category::BestEffort) { Vec::new() } else { all }
}
