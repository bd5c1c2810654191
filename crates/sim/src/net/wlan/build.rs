//! An 802.11 link as a scenario describes it.

use std::collections::VecDeque;
use std::sync::Arc;

use lasthop_stack::hooks::Backlog;
use lasthop_stack::link::dot11::{
    Agreements, Airtime, BROADCAST, Category, Frame, FrameKind, Load, Reorder, Role, Rules,
};
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::registry::{ArqConfig, ArqMachine};
use lasthop_stack::units::{Span, Time};

use super::answers::Output;
use super::arq::adopt;
use super::mac::Mac;
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
        (wifi, devices): (&WifiConfig, Option<Box<[u32]>>),
        (place, name): (u32, &str),
        agents: impl Fn(u32) -> Option<u32>,
        (seed, replication): (u64, u64),
        ports: Ports,
        slot: &mut impl FnMut(WlanEvent) -> Slot,
    ) -> Wlan {
        let sites = sites(config, wifi);
        let base = StreamBase { seed, replication, link: name.to_owned() };
        let mut radio = radio(config, (wifi, place as usize), &sites, base);
        if devices.is_some() {
            radio.let_all_follow();
        }
        let own_rates = wifi.own_rates.clone().into_boxed_slice();
        let without_ofdma = wifi.without_ofdma.clone().into_boxed_slice();
        let rules = Rules::new(wifi.mac).with_own_rates(own_rates).without_ofdma(without_ofdma);
        let rules = Arc::new(rules);
        let nothing = Frame::new(FrameKind::Ack, BROADCAST, BROADCAST, 0, wifi.mac.data_rate);
        let asks = config.agents.iter().any(|agent| agent.scheme.needs().answers);
        let interfaces = wifi.nodes.iter().enumerate().map(|(station, &node)| {
            let role = role(wifi, node);
            let stream = format!("links.{name}.{}.backoff", config.nodes[node].name);
            let (aqm, mut stage) = queue::management(config, (place, wifi), name, (seed, replication), node);
            let station = station as u32;
            let mut mac = Mac::new(rules.clone(), NodeId(node as u32), role);
            let timing = adopt(&mut mac, wifi);
            if devices.is_some() {
                mac.link_up(absent(config, place as usize));
            }
            Interface {
                rests: false,
                knows_lanes: stage.as_mut().is_some_and(|stage| stage.limits_station()),
                node: NodeId(node as u32),
                mac,
                output: Output {
                    station,
                    timer: slot(WlanEvent::Timer(station)),
                    reordering: wifi.mac.edca.map(|_| slot(WlanEvent::Reorder(station))),
                    on_air: (nothing, Airtime::default()),
                    load: Load::default(),
                    backoff: Stream::named(seed, replication, &stream),
                    slots: None,
                    hears_answers: asks && agents(station).is_some(),
                },
                agents: agents(station),
                held: 0,
                emptied: Time::ZERO,
                aqm,
                stage,
                below: Backlog::default(),
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
            packets_per_frame: wifi.mac.edca.map_or(1, |edca| edca.most_packets() as usize),
            devices,
            changed: Vec::new(),
            capture: None,
        }
    }
}

/// By link the devices that its stations are, if it is a link of multi-link devices, and what the links of each have in
/// common.
pub(in crate::net) fn devices(config: &Config) -> (Vec<Option<Box<[u32]>>>, Vec<Agreements<ArqMachine>>) {
    let (mut first, mut count) = (vec![0; config.links.len()], 0);
    for (place, wifi) in config.wifi() {
        if config.first_link(place) == Some(place) {
            first[place] = count;
            count += wifi.nodes.len() as u32;
        }
    }
    let of = |place: usize| {
        let link = config.first_link(place)?;
        let all = config.links[link].nodes();
        let number = |node| first[link] + all.iter().position(|one| one == node).unwrap_or(0) as u32;
        Some(config.links[place].nodes().iter().map(number).collect())
    };
    let each = (0..config.links.len()).map(of).collect();
    (each, (0..count).map(|_| Agreements::default()).collect())
}

/// By node the stations of multi-link devices that are not on this link of theirs.
fn absent(config: &Config, place: usize) -> Vec<bool> {
    let nodes = config.links[place].nodes();
    let all = config.first_link(place).map_or(nodes, |link| config.links[link].nodes());
    (0..config.nodes.len()).map(|node| all.contains(&node) && !nodes.contains(&node)).collect()
}

/// The radio of a link, by its place among all.
fn radio(config: &Config, (wifi, place): (&WifiConfig, usize), sites: &[Site], base: StreamBase) -> Radio {
    let seeds = (base.seed, base.replication);
    let mut radio = Radio::new(&wifi.radio, sites, base);
    radio.cut_by(cuts(config, place, seeds));
    if config.run.plain {
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
