//! 802.11 links and the agents above them.

use super::Part;
use crate::medium::radio::config::{
    ErrorConfig, ErrorLaw, Fading, LossMeaning, LossOf, RadioConfig, Redraw, Shadowing, db_to_ratio,
};
use crate::medium::radio::fading::{coherence, coherence_m};
use crate::model::{LinkConfig, NodeConfig, OwnRate, WifiConfig};
use crate::scenario::keys::Wifi;
use crate::scenario::keys::words::{
    Contention, Coordination, FadingModel, LossModel, Radios, Schedule, Security, ShadowingModel,
};
use crate::scenario::members::Link;
use crate::scenario::quantity::Dim;
use lasthop_stack::link::dot11::{
    Acknowledgement, Buffer, Category, DataRate, MacConfig, Mode, MuEdca, Ofdma, PcfConfig, PhyRate, RateSet,
    Reassembly, Ru, Scheduler, SingleRadio, Uplink,
};
use lasthop_stack::link::fec::Code;
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::registry::{ArqConfig, ArqKind};
use lasthop_stack::units::{Bytes, Rate};
use std::collections::BTreeMap;

pub(super) fn wifi(link: &Part<'_>, member: &Link) -> WifiConfig {
    let preset = Wifi::of(link.choice("standard"), link.choice("flavour"), link.choice("radio"));
    let nodes = member.nodes.clone();
    // The check reports an access point or observer that is not a station.
    let access_point = member.access_point.filter(|ap| nodes.contains(ap));
    let observer = member.observer.filter(|observer| nodes.contains(observer));
    WifiConfig {
        nodes,
        access_point,
        observer,
        pcf: match link.choice("coordination") {
            Coordination::Dcf => None,
            Coordination::Pcf => Some(pcf(link)),
        },
        mac: mac(link, &preset.mac),
        own_rates: Vec::new(),
        without_ofdma: Vec::new(),
        single_radios: Vec::new(),
        multi_link: None,
        further_bps: 0.0,
        radio: radio(link, &preset.radio, member),
        arq: arq(link),
        outer: Vec::new(),
        is_secret: match link.given("security", Part::choice) {
            Some(Security::Wpa2) => true,
            Some(Security::Open) | None => false,
        },
    }
}

/// What a node has of its own. The check reports rates that the standard lacks.
pub(super) fn own_rate(node: &Part<'_>) -> OwnRate {
    let small = |key: &str| node.given(key, |node, key| node.small(key).min(u8::MAX.into()) as u8);
    OwnRate {
        rate: node.given("wifi.rate", Part::rate).and_then(PhyRate::from_rate),
        mcs: small("wifi.mcs"),
        width: node.given("wifi.width", |node, key| (node.real(key) / 1e6) as u16),
        streams: small("wifi.streams"),
        ofdma: node.given("wifi.ofdma", Part::flag),
        single_radio: single_radio(node),
    }
}

/// The radio of a node that has a single one for all of its links.
fn single_radio(node: &Part<'_>) -> Option<SingleRadio> {
    match node.given("wifi.multi-link", Part::choice)? {
        Radios::OneForEach => None,
        Radios::One => Some(SingleRadio {
            padding: node.span("wifi.emlsr.padding-delay"),
            transition: node.span("wifi.emlsr.transition-delay"),
            synchronizing: node.span("wifi.emlsr.medium-sync-delay"),
        }),
    }
}

/// The nodes without PPDUs to several stations on a link, if there are any.
pub(super) fn without_ofdma(nodes: &[NodeConfig], wifi: &WifiConfig) -> Vec<bool> {
    let lacks = |node: usize| wifi.nodes.contains(&node) && nodes[node].own_rate.ofdma == Some(false);
    let all: Vec<bool> = (0..nodes.len()).map(lacks).collect();
    if all.contains(&true) { all } else { Vec::new() }
}

/// The first link of the multi-link devices of a link, by its place among all.
pub(super) fn multi_link(link: &Part<'_>, names: &[String]) -> Option<usize> {
    let first = link.known("multi-link")?.text();
    names.iter().position(|name| *name == first)
}

/// The first links of multi-link devices have the rates of the others.
pub(super) fn add_further_links(links: &mut [LinkConfig]) {
    let wifi = links.iter().filter_map(|link| link.kind.wifi());
    let further = wifi.filter_map(|wifi| Some((wifi.multi_link?, wifi.fastest_bps())));
    for (first, bps) in further.collect::<Vec<_>>() {
        if let Some(wifi) = links[first].kind.wifi_mut() {
            wifi.further_bps += bps;
        }
    }
}

/// The single radios of the stations of multi-link devices, on each of their links.
pub(super) fn add_single_radios(nodes: &[NodeConfig], links: &mut [LinkConfig]) {
    let wifi = links.iter().filter_map(|link| link.kind.wifi());
    let others: Vec<(usize, Vec<usize>)> =
        wifi.filter_map(|wifi| Some((wifi.multi_link?, wifi.nodes.clone()))).collect();
    let radio = |first: usize, node: usize| {
        let is_on_several = others.iter().any(|(of, members)| *of == first && members.contains(&node));
        nodes[node].own_rate.single_radio.filter(|_| is_on_several)
    };
    for (place, link) in links.iter_mut().enumerate() {
        let Some(wifi) = link.kind.wifi_mut() else { continue };
        let first = wifi.multi_link.unwrap_or(place);
        let of = |node: usize| radio(first, node).filter(|_| wifi.nodes.contains(&node));
        let all: Vec<Option<SingleRadio>> = (0..nodes.len()).map(of).collect();
        if all.iter().any(Option::is_some) {
            wifi.single_radios = all;
        }
    }
}

/// The data rates of nodes on a link, for those that have one of their own.
pub(super) fn own_rates(nodes: &[NodeConfig], wifi: &WifiConfig) -> Vec<Option<DataRate>> {
    let mut rates = Vec::new();
    for &node in &wifi.nodes {
        let own = nodes[node].own_rate;
        let rate = match wifi.mac.edca {
            None => own.rate.map(|rate| DataRate { rate, mode: None }),
            Some(_) if own.mcs.is_none() && own.width.is_none() && own.streams.is_none() => None,
            Some(edca) => {
                let Mode { mcs, width, streams, .. } = edca.mode;
                let most = edca.mode.family.highest_mcs();
                Some(DataRate::from(Mode {
                    mcs: own.mcs.unwrap_or(mcs).min(most),
                    width: own.width.unwrap_or(width),
                    streams: own.streams.unwrap_or(streams),
                    ..edca.mode
                }))
            }
        };
        if rate.is_some() {
            rates.resize(rates.len().max(node + 1), None);
            rates[node] = rate;
        }
    }
    rates
}

fn arq(link: &Part<'_>) -> Option<ArqConfig> {
    let kind = ArqKind::named(&link.known("arq.kind")?.text()).unwrap_or_else(|| link.broken("arq.kind"));
    let mut arq = kind.config();
    link.described("arq", &kind.parameters(), |name, value| arq.set(name, value));
    Some(arq)
}

fn pcf(link: &Part<'_>) -> PcfConfig {
    let mut pcf = PcfConfig::default();
    link.below("pcf").parameters(&mut pcf);
    pcf
}

/// The check reports rates that the standard lacks; it needs a configuration to do so.
fn mac(link: &Part<'_>, preset: &MacConfig) -> MacConfig {
    let mut mac = *preset;
    link.parameters(&mut mac);
    match &mut mac.edca {
        Some(edca) => {
            link.parameters(edca);
            for category in Category::ALL {
                let keys = match category {
                    Category::BestEffort => "edca.best-effort",
                    Category::Background => "edca.background",
                    Category::Video => "edca.video",
                    Category::Voice => "edca.voice",
                };
                link.below(keys).parameters(&mut edca.access[category as usize]);
            }
            edca.ofdma = ofdma(link);
            mac.data_rate = edca.mode.reference();
        }
        None => mac.data_rate = PhyRate::from_rate(link.rate("rate")).unwrap_or(preset.data_rate),
    }
    let rates = link.counts("basic-rates").into_iter();
    let rates: Vec<PhyRate> = rates.filter_map(|rate| PhyRate::from_rate(Rate(rate))).collect();
    mac.basic_rates = RateSet::of(&rates);
    match link.queue("queue") {
        QueueLimit::Packets(packets) => mac.queue = packets,
        QueueLimit::Bytes(bytes) => mac.buffer = Some(buffer(link, bytes)),
        // The check reports it.
        QueueLimit::Unlimited => {}
    }
    mac.fec = link.given("fec.rate", Part::real).and_then(Code::of_rate);
    mac.lifetime = link.given("lifetime", |link, key| link.optional(key, Part::span)).flatten();
    if arq(link).is_some_and(|arq| arq.chooses()) {
        mac.reassembly = Reassembly::AnyOrder;
    }
    mac
}

fn buffer(link: &Part<'_>, bytes: Bytes) -> Buffer {
    let bytes = u32::try_from(bytes.0).unwrap_or_else(|_| link.broken("queue"));
    Buffer { bytes, scope: link.choice("buffer.shared-by"), unit: link.choice("buffer.counts") }
}

/// The check reports an RU that the standard lacks.
fn ofdma(link: &Part<'_>) -> Option<Ofdma> {
    link.known("ofdma.stations")?;
    let of = |key: &str| match link.choice(key) {
        Schedule::None => None,
        Schedule::RoundRobin => Some(Scheduler::RoundRobin),
        Schedule::LongestQueue => Some(Scheduler::LongestQueue),
    };
    let (scheduler, up) = (of("ofdma.scheduler"), of("ofdma.uplink"));
    scheduler.or(up)?;
    Some(Ofdma {
        scheduler,
        acknowledgement: link
            .given("ofdma.acknowledgement", Part::choice)
            .unwrap_or(Acknowledgement::Trigger),
        most: link.small("ofdma.stations"),
        least: Ru::of_tones(link.small("ofdma.least-ru")).unwrap_or_default(),
        uplink: up.map(|scheduler| uplink(link, scheduler)),
    })
}

fn uplink(link: &Part<'_>, scheduler: Scheduler) -> Uplink {
    Uplink {
        scheduler,
        requests: link.optional("ofdma.report-interval", Part::span),
        mu_edca: match link.choice("ofdma.edca") {
            Contention::Contend => None,
            Contention::Mu => Some(MuEdca {
                aifsn: link.small("ofdma.mu-edca.aifsn"),
                cw_min: link.small("ofdma.mu-edca.cw-min"),
                cw_max: link.small("ofdma.mu-edca.cw-max"),
                timer: link.span("ofdma.mu-edca.timer"),
            }),
        },
    }
}

fn radio(link: &Part<'_>, preset: &RadioConfig, member: &Link) -> RadioConfig {
    let mut radio = preset.clone();
    link.parameters(&mut radio);
    // The noise is that of the channel, unless the scenario sets another bandwidth.
    let width = link.given("width", Part::real).filter(|_| radio.bandwidth_hz == preset.bandwidth_hz);
    radio.bandwidth_hz = width.unwrap_or(radio.bandwidth_hz);
    radio.shadowing = match link.choice("propagation.shadowing.model") {
        ShadowingModel::None => None,
        ShadowingModel::LogNormal => Some(shadowing(link)),
    };
    radio.fading = match link.choice("propagation.fading.model") {
        FadingModel::None => None,
        FadingModel::Rayleigh => Some(fading(link, 0.0, radio.frequency_hz)),
        FadingModel::Rician => {
            let factor = db_to_ratio(link.real("propagation.fading.k-factor"));
            Some(fading(link, factor, radio.frequency_hz))
        }
    };
    radio.errors = errors(link, member);
    radio
}

fn shadowing(link: &Part<'_>) -> Shadowing {
    let key = "propagation.shadowing.redraw";
    let redraw = match link.dim(key) {
        None => Redraw::Never,
        Some(Dim::Length) => Redraw::Moved(link.real(key)),
        Some(_) => Redraw::After(link.span(key)),
    };
    Shadowing { deviation_db: link.real("propagation.shadowing.deviation"), redraw }
}

fn fading(link: &Part<'_>, factor: f64, frequency_hz: f64) -> Fading {
    let given = link.optional("propagation.fading.coherence", Part::span);
    let doppler = || match link.optional("propagation.fading.speed", Part::real) {
        Some(speed_mps) => Redraw::After(coherence(speed_mps, frequency_hz)),
        None => Redraw::Moved(coherence_m(frequency_hz)),
    };
    Fading { factor, redraw: given.map_or_else(doppler, Redraw::After) }
}

fn errors(link: &Part<'_>, member: &Link) -> ErrorConfig {
    // A node that is not a station is reported by the check.
    let numbers: BTreeMap<usize, usize> = member.nodes.iter().copied().zip(0..).collect();
    let station = |node: &usize| numbers.get(node).copied();
    let law = match link.choice("loss.model") {
        LossModel::None => ErrorLaw::None,
        LossModel::Packet => match link.real("loss.rate") {
            0.0 => ErrorLaw::None,
            rate => ErrorLaw::Packet { rate },
        },
        LossModel::Bit => ErrorLaw::Bit { ber: link.real("loss.bit.ber") },
        LossModel::Snr => ErrorLaw::Snr,
        LossModel::GilbertElliott => ErrorLaw::GilbertElliott {
            loss_good: link.real("loss.gilbert-elliott.loss-good"),
            loss_bad: link.real("loss.gilbert-elliott.loss-bad"),
            mean_good: link.span("loss.gilbert-elliott.mean-good"),
            mean_bad: link.span("loss.gilbert-elliott.mean-bad"),
        },
        LossModel::List => ErrorLaw::List {
            from: member.counted.as_ref().and_then(station).unwrap_or_default(),
            of: link.choice("loss.list.of"),
            drop: link.counts("loss.list.drop"),
        },
    };
    let meaning = match (link.flag("loss.above-mac"), link.flag("loss.repaired-by-arq")) {
        (true, _) => LossMeaning::AboveMac,
        (false, true) => LossMeaning::OnAir,
        (false, false) => LossMeaning::ForGood,
    };
    let of = link.given("loss.of", Part::choice).unwrap_or(LossOf::All);
    let at = member.lossy.as_ref().map(|nodes| nodes.iter().filter_map(station).collect());
    ErrorConfig { law, meaning, of, at }
}
