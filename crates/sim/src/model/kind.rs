//! The kinds of links, and the properties that differ between them: a new kind answers each question here.

use super::{FrnConfig, PointToPoint, WifiConfig};
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::units::Bytes;

/// The kind of a link.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each link, and nearly all are between two nodes"
)]
#[derive(Clone, Debug)]
pub enum LinkKind {
    /// A wired or lossy link between two nodes.
    PointToPoint(PointToPoint),
    /// An 802.11 medium.
    Wifi(Box<WifiConfig>),
    /// A slotted multi-hop network.
    Frn(Box<FrnConfig>),
}

impl LinkKind {
    /// A link between two nodes.
    #[must_use]
    pub const fn wire(&self) -> Option<&PointToPoint> {
        match self {
            LinkKind::PointToPoint(ends) => Some(ends),
            LinkKind::Wifi(_) | LinkKind::Frn(_) => None,
        }
    }

    /// An 802.11 medium.
    #[must_use]
    pub fn wifi(&self) -> Option<&WifiConfig> {
        match self {
            LinkKind::Wifi(wifi) => Some(wifi),
            LinkKind::PointToPoint(_) | LinkKind::Frn(_) => None,
        }
    }

    /// The same, to change it.
    pub fn wifi_mut(&mut self) -> Option<&mut WifiConfig> {
        match self {
            LinkKind::Wifi(wifi) => Some(wifi),
            LinkKind::PointToPoint(_) | LinkKind::Frn(_) => None,
        }
    }

    /// A slotted network.
    #[must_use]
    pub fn slotted(&self) -> Option<&FrnConfig> {
        match self {
            LinkKind::Frn(frn) => Some(frn),
            LinkKind::PointToPoint(_) | LinkKind::Wifi(_) => None,
        }
    }

    /// The nodes of a link.
    #[must_use]
    pub fn nodes(&self) -> &[usize] {
        match self {
            LinkKind::PointToPoint(ends) => &ends.nodes,
            LinkKind::Wifi(wifi) => &wifi.nodes,
            LinkKind::Frn(frn) => &frn.nodes,
        }
    }

    /// The same, to change them.
    pub(crate) fn nodes_mut(&mut self) -> &mut [usize] {
        match self {
            LinkKind::PointToPoint(ends) => &mut ends.nodes,
            LinkKind::Wifi(wifi) => &mut wifi.nodes,
            LinkKind::Frn(frn) => &mut frn.nodes,
        }
    }

    /// The ports of a link, one for each node, in the order of the nodes.
    pub(crate) fn ports(&self) -> std::ops::Range<usize> {
        0..self.nodes().len()
    }

    /// The keys of a port: those of the reverse direction, or those that all its ports share.
    pub(crate) const fn is_reverse(&self, port: usize) -> bool {
        match self {
            LinkKind::PointToPoint(_) => port == 1,
            LinkKind::Wifi(_) | LinkKind::Frn(_) => false,
        }
    }

    /// The room of the queue at a port, without a packet in service where the link counts that apart; a slotted network
    /// has no queues with a limit.
    pub(crate) fn queue(&self, port: usize) -> Option<QueueLimit> {
        match self {
            LinkKind::PointToPoint(ends) => Some(ends.directions[port].queue),
            LinkKind::Wifi(wifi) => Some(match wifi.mac.buffer {
                Some(buffer) => QueueLimit::Bytes(Bytes(buffer.bytes.into())),
                None => QueueLimit::Packets(wifi.mac.queue),
            }),
            LinkKind::Frn(_) => None,
        }
    }

    /// The greatest bit rate at a port, if it has one.
    pub(crate) fn bps(&self, port: usize) -> Option<f64> {
        match self {
            LinkKind::PointToPoint(ends) => Some(ends.directions[port].rate.0 as f64),
            LinkKind::Wifi(wifi) => Some(wifi.fastest_bps()),
            LinkKind::Frn(_) => None,
        }
    }

    /// The station at the other end of a link of a node that is handed off: the access point of a medium. A slotted
    /// network has none.
    #[must_use]
    pub fn station_of(&self, mobile: usize) -> Option<usize> {
        match self {
            LinkKind::PointToPoint(link) => link.nodes.iter().copied().find(|node| *node != mobile),
            LinkKind::Wifi(wifi) => wifi.access_point.filter(|ap| *ap != mobile),
            LinkKind::Frn(_) => None,
        }
    }

    /// Whether a node can be handed off to a link of this kind.
    pub(crate) const fn takes_handoffs(&self) -> bool {
        match self {
            LinkKind::PointToPoint(_) | LinkKind::Wifi(_) => true,
            LinkKind::Frn(_) => false,
        }
    }
}
