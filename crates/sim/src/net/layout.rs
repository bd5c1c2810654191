//! The interfaces of a network, link after link, and the channels of its wires.

use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::packet::NodeId;
use lasthop_stack::registry::AqmConfig;
use lasthop_stack::units::Span;

use super::aqm::{Managed, Stage};
use super::channel::Channel;
use super::exits::Exit;
use super::treatment::Treatment;
use crate::engine::queue::EventQueue;
use crate::engine::streams::Stream;
use crate::medium::impairments::Impairments;
use crate::medium::loss::LossProcess;
use crate::medium::outages::{Cuts, Outages};
use crate::model::{Absence, Config, LinkKind, PointToPoint};

/// The targets of the ports of a network.
pub(super) struct Layout {
    /// Two for each link of two nodes.
    pub(super) channels: Vec<Channel>,
    /// By port.
    pub(super) exits: Vec<Exit>,
    /// The first port of each link.
    pub(super) first_ports: Vec<usize>,
    /// The channels with a managed queue in front of them, in the order of their slots, which follow those of the channels.
    pub(super) staged: Vec<u32>,
}

impl Layout {
    /// The layout of a scenario; the slots of the channels are the first of the queue.
    pub(super) fn new(config: &Config, seeds: (u64, u64), queue: &mut EventQueue) -> Layout {
        let mut layout =
            Layout { channels: Vec::new(), exits: Vec::new(), first_ports: Vec::new(), staged: Vec::new() };
        let (mut media, mut frns) = (0, 0);
        for (place, link) in config.links.iter().enumerate() {
            layout.first_ports.push(layout.exits.len());
            match &link.kind {
                LinkKind::PointToPoint(ends) => {
                    layout.wire(ends, &link.name, link.aqm.as_ref(), seeds, queue);
                    for channel in layout.channels.iter_mut().rev().take(2) {
                        channel.cuts = cuts(config, place, seeds).map(Box::new);
                    }
                }
                LinkKind::Wifi(wifi) => {
                    let stations = 0..wifi.nodes.len() as u32;
                    layout.exits.extend(stations.map(|station| Exit::Station { wlan: media, station }));
                    media += 1;
                }
                LinkKind::Frn(frn) => {
                    let stations = 0..frn.nodes.len() as u32;
                    layout.exits.extend(stations.map(|station| Exit::Slotted { frn: frns, station }));
                    frns += 1;
                }
            }
        }
        layout.stages(config, seeds, queue);
        layout
    }

    fn wire(
        &mut self,
        ends: &PointToPoint,
        name: &str,
        aqm: Option<&AqmConfig>,
        (seed, replication): (u64, u64),
        queue: &mut EventQueue,
    ) {
        let stream = |what: &str| Stream::named(seed, replication, &format!("links.{name}.{what}"));
        let rtt = ends.rtt.map_or(Span::ZERO, |law| law.draw(&mut stream("rtt")));
        let drawn = [Span(rtt.0 / 2), Span(rtt.0 - rtt.0 / 2)];
        for (direction, drawn) in drawn.into_iter().enumerate() {
            let to = NodeId(ends.nodes[1 - direction] as u32);
            let config = &ends.directions[direction];
            let is_kept = aqm.is_some_and(AqmConfig::keeps_packets);
            let limit = if is_kept { QueueLimit::Unlimited } else { config.queue };
            let line = ends.sends.line((direction, config.rate), (limit, is_kept), stream);
            let loss = loss_of(ends, direction, name, (seed, replication));
            self.exits.push(Exit::Channel(self.channels.len() as u32));
            let delay = config.delay + drawn;
            let mut channel = Channel::new(self.channels.len(), line, delay, to, loss, queue.slot());
            if let Some(aqm) = aqm.filter(|_| !is_kept) {
                let stream = stream(&format!("{}.aqm", WAYS[direction]));
                channel.aqm = Some(Box::new(Managed::new(aqm, config.rate, stream)));
            }
            let impairments = impairments_of(ends, direction, name, (seed, replication));
            channel.treatment = Treatment::new(config.policer, impairments, config.delays.clone());
            self.channels.push(channel);
        }
    }

    /// The queue in front of each channel whose management keeps the packets.
    fn stages(&mut self, config: &Config, (seed, replication): (u64, u64), queue: &mut EventQueue) {
        let mut number = 0;
        for link in &config.links {
            let Some(ends) = link.kind.wire() else { continue };
            for (way, direction) in WAYS.iter().zip(&ends.directions) {
                if let Some(aqm) = link.aqm.as_ref().filter(|aqm| aqm.keeps_packets()) {
                    let stream = Stream::named(seed, replication, &format!("links.{}.{way}.aqm", link.name));
                    let channel = &mut self.channels[number as usize];
                    channel.pull = queue.slot();
                    channel.stage = Some(Box::new(Stage::new(aqm, direction.queue, stream)));
                    self.staged.push(number);
                }
                number += 1;
            }
        }
    }
}

/// The directions in the names of streams.
const WAYS: [&str; 2] = ["forward", "reverse"];

/// The loss process of a direction (0 forward, 1 reverse) of a link, at its start.
pub(crate) fn loss_of(
    ends: &PointToPoint,
    direction: usize,
    name: &str,
    (seed, replication): (u64, u64),
) -> LossProcess {
    let stream = Stream::named(seed, replication, &format!("links.{name}.{}.loss", WAYS[direction]));
    LossProcess::new(ends.directions[direction].loss.clone(), stream)
}

/// The impairments of a direction of a link at their start, if it has any.
pub(crate) fn impairments_of(
    ends: &PointToPoint,
    direction: usize,
    name: &str,
    (seed, replication): (u64, u64),
) -> Option<Impairments> {
    let stream =
        |what: &str| Stream::named(seed, replication, &format!("links.{name}.{}.{what}", WAYS[direction]));
    Impairments::new(ends.directions[direction].impairments, stream)
}

/// What cuts what a link carries, by its place: outages of its own, and nodes that are away from it.
pub(super) fn cuts(config: &Config, place: usize, (seed, replication): (u64, u64)) -> Option<Cuts> {
    let link = &config.links[place];
    let stations = link.kind.wifi().map_or(&[][..], |wifi| &wifi.nodes);
    let cut = |absence: Absence| {
        let station = absence.node.and_then(|node| stations.iter().position(|station| *station == node));
        let stream = Stream::named(seed, replication, &absence.stream);
        (station.map(|station| station as u32), Outages::new(absence.law, stream))
    };
    let is_kept = link.outages.as_ref().is_some_and(|outages| outages.is_kept);
    Cuts::new(config.absences(place).into_iter().map(cut).collect(), is_kept)
}
