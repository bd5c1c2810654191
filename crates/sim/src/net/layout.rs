//! The interfaces of a network, link after link, and the channels of its wires.

use lasthop_stack::packet::NodeId;
use lasthop_stack::units::Span;

use super::aqm::Managed;
use super::channel::{Channel, Line};
use super::ways::Exit;
use crate::engine::queue::EventQueue;
use crate::engine::streams::Stream;
use crate::medium::loss::LossProcess;
use crate::medium::outages::{Cuts, Outages};
use crate::model::{Absence, Config, LinkKind, PointToPoint};

/// What the ports of a network lead to.
pub(super) struct Layout {
    /// Two for each link of two nodes.
    pub(super) channels: Vec<Channel>,
    /// By port.
    pub(super) exits: Vec<Exit>,
    /// The first port of each link.
    pub(super) first_ports: Vec<usize>,
}

impl Layout {
    /// The layout of a scenario; the slots of the channels are the first of the queue.
    pub(super) fn new(config: &Config, seeds: (u64, u64), queue: &mut EventQueue) -> Layout {
        let mut layout = Layout { channels: Vec::new(), exits: Vec::new(), first_ports: Vec::new() };
        let (mut media, mut frns) = (0, 0);
        for (place, link) in config.links.iter().enumerate() {
            layout.first_ports.push(layout.exits.len());
            match &link.kind {
                LinkKind::PointToPoint(ends) => {
                    layout.wire(ends, &link.name, seeds, queue);
                    for channel in layout.channels.iter_mut().rev().take(2) {
                        channel.cuts = cuts(config, place, seeds).map(Box::new);
                    }
                    let channels = layout.channels.iter_mut().rev().zip(ends.directions.iter().rev());
                    for (channel, direction) in channels.take(2) {
                        let managed = |aqm| Box::new(Managed::new(aqm, direction.rate));
                        channel.aqm = link.aqm.as_ref().map(managed);
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
        layout
    }

    fn wire(
        &mut self,
        ends: &PointToPoint,
        name: &str,
        (seed, replication): (u64, u64),
        queue: &mut EventQueue,
    ) {
        let stream = |what: &str| Stream::named(seed, replication, &format!("links.{name}.{what}"));
        let rtt = ends.rtt.map_or(Span::ZERO, |law| law.draw(&mut stream("rtt")));
        let drawn = [Span(rtt.0 / 2), Span(rtt.0 - rtt.0 / 2)];
        for (direction, drawn) in drawn.into_iter().enumerate() {
            let to = NodeId(ends.nodes[1 - direction] as u32);
            let line = Line::new(ends, direction, name, (seed, replication));
            let config = &ends.directions[direction];
            let loss = loss_of(ends, direction, name, (seed, replication));
            self.exits.push(Exit::Channel(self.channels.len() as u32));
            let delay = config.delay + drawn;
            self.channels.push(Channel::new(line, delay, to, loss, queue.slot()));
        }
    }
}

/// The loss process of a direction (0 forward, 1 reverse) of a link, at its start.
pub(crate) fn loss_of(
    ends: &PointToPoint,
    direction: usize,
    name: &str,
    (seed, replication): (u64, u64),
) -> LossProcess {
    let word = if direction == 0 { "forward" } else { "reverse" };
    let stream = Stream::named(seed, replication, &format!("links.{name}.{word}.loss"));
    LossProcess::new(ends.directions[direction].loss.clone(), stream)
}

/// What cuts what a link carries, by its place: outages of its own, and nodes that are away from it.
pub(super) fn cuts(config: &Config, place: usize, (seed, replication): (u64, u64)) -> Option<Cuts> {
    let link = &config.links[place];
    let stations = match &link.kind {
        LinkKind::Wifi(wifi) => &wifi.nodes[..],
        LinkKind::PointToPoint(_) | LinkKind::Frn(_) => &[],
    };
    let cut = |absence: Absence| {
        let station = absence.node.and_then(|node| stations.iter().position(|station| *station == node));
        let stream = Stream::named(seed, replication, &absence.stream);
        (station.map(|station| station as u32), Outages::new(absence.law, stream))
    };
    let is_kept = link.outages.as_ref().is_some_and(|outages| outages.is_kept);
    Cuts::new(config.absences(place).into_iter().map(cut).collect(), is_kept)
}
