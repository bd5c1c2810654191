//! The links between two ends, without sockets and clocks.

use std::fmt;

use lasthop_stack::link::policer::Policer;
use lasthop_stack::link::wired::Wired;
use lasthop_stack::packet::{Body, Datagram, IP_HEADER, NodeId, Packet, Segment, TCP_HEADER};
use lasthop_stack::units::{Span, Time};

use crate::medium::impairments::Impairments;
use crate::medium::loss::LossProcess;
use crate::model::{Config, LinkKind};
use crate::net::layout::{impairments_of, loss_of};

/// Version 4 and a header without options are in the first byte of an IP packet.
const VERSION_4: u8 = 4;
/// The protocol number of TCP.
const TCP: u8 = 6;

/// A link on the way from the first end to the second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The name of the link.
    pub link: String,
    /// Whether the way leads from the second node of the link to its first.
    pub is_reversed: bool,
}

/// A path that a relay cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPath {
    /// There is not a link of this name.
    NoLink(String),
    /// The link of this name is not a wire.
    NoWire(String),
}

impl fmt::Display for NoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoPath::NoLink(link) => write!(f, "links.{link}: unknown link; expected one of the scenario"),
            NoPath::NoWire(link) => write!(f, "links.{link}.kind: not a wire; expected wired or lossy"),
        }
    }
}

impl std::error::Error for NoPath {}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It reaches the other end at this time.
    Arrives(Time),
    /// A full queue drops it.
    Dropped,
    /// A policer drops it.
    Policed,
    /// It is lost on a link.
    Lost,
    /// It reaches, at this time, a link behind one that may reorder packets: [`Way::resume`] takes it from there.
    Under(Time, usize),
    /// It is not an IPv4 packet, and no link takes it.
    Ignored,
}

/// What one direction of a link did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopCounts {
    /// Packets that its full queue dropped.
    pub drops_queue: u64,
    /// Packets that its policer dropped.
    pub drops_policer: u64,
    /// Packets lost on it.
    pub drops_loss: u64,
    /// Packets that it duplicated.
    pub duplicated: u64,
    /// Packets that overtook another on it.
    pub reordered: u64,
}

/// The links between two ends, in both directions.
#[derive(Clone, Debug)]
pub struct Path {
    /// From the first end to the second, and back.
    pub ways: [Way; 2],
}

/// One direction of a path.
#[derive(Clone, Debug)]
pub struct Way {
    hops: Vec<Hop>,
    /// What becomes of the copies of the packet that was taken or resumed last.
    pub copies: Vec<Fate>,
    /// Packets that its first link was offered.
    pub packets: u64,
    /// Those with payload.
    pub data: u64,
    /// What was not an IPv4 packet.
    pub ignored: u64,
}

#[derive(Clone, Debug)]
struct Hop {
    link: String,
    line: Wired,
    delay: Span,
    policer: Option<Policer>,
    loss: LossProcess,
    impairments: Option<Impairments>,
    counts: HopCounts,
}

impl Path {
    /// The path over these links of a scenario, at the start of a replication.
    ///
    /// # Errors
    /// A link does not exist or is not a wire.
    pub fn new(config: &Config, steps: &[Step], seeds: (u64, u64)) -> Result<Path, NoPath> {
        let there: Result<Vec<Hop>, NoPath> =
            steps.iter().map(|step| Hop::new(config, step, usize::from(step.is_reversed), seeds)).collect();
        let back: Result<Vec<Hop>, NoPath> = steps
            .iter()
            .rev()
            .map(|step| Hop::new(config, step, usize::from(!step.is_reversed), seeds))
            .collect();
        Ok(Path { ways: [Way::new(there?), Way::new(back?)] })
    }
}

impl Way {
    fn new(hops: Vec<Hop>) -> Way {
        Way { hops, copies: Vec::new(), packets: 0, data: 0, ignored: 0 }
    }

    /// Takes in the bytes of a packet that its first node sends now. Nothing else enters on the way, so that the links
    /// after the first are computed at once, up to one that may reorder packets.
    pub fn take(&mut self, bytes: &[u8], now: Time) -> Fate {
        let Some(packet) = as_packet(bytes) else {
            self.ignored += 1;
            return Fate::Ignored;
        };
        self.packets += 1;
        self.data += u64::from(packet.payload() > 0);
        self.cross(&packet, 0, now)
    }

    /// Takes a packet on that reaches the link at this place now.
    pub fn resume(&mut self, bytes: &[u8], place: usize, now: Time) -> Fate {
        as_packet(bytes).map_or(Fate::Ignored, |packet| self.cross(&packet, place, now))
    }

    fn cross(&mut self, packet: &Packet, place: usize, now: Time) -> Fate {
        self.copies.clear();
        let (mut at, count) = (now, self.hops.len());
        let next = |at, place| if place == count { Fate::Arrives(at) } else { Fate::Under(at, place) };
        for (place, hop) in self.hops.iter_mut().enumerate().skip(place) {
            if hop.policer.as_mut().is_some_and(|policer| !policer.passes(packet.size(), at)) {
                hop.counts.drops_policer += 1;
                return Fate::Policed;
            }
            let Some(departure) = hop.line.offer(packet.size(), at) else {
                hop.counts.drops_queue += 1;
                return Fate::Dropped;
            };
            let is_lost = hop.loss.loses(packet);
            hop.counts.drops_loss += u64::from(is_lost);
            let Some(impairments) = &mut hop.impairments else {
                if is_lost {
                    return Fate::Lost;
                }
                at = departure + hop.delay;
                continue;
            };
            let passage = impairments.pass(departure, hop.delay, is_lost);
            hop.counts.duplicated += u64::from(passage.copy.is_some());
            hop.counts.reordered += u64::from(passage.overtaking);
            self.copies.extend(passage.copy.map(|copy| next(copy, place + 1)));
            return if is_lost { Fate::Lost } else { next(passage.arrival, place + 1) };
        }
        Fate::Arrives(at)
    }

    /// What each link did, in the order of the way.
    pub fn counts(&self) -> impl Iterator<Item = (&str, HopCounts)> {
        self.hops.iter().map(|hop| (hop.link.as_str(), hop.counts))
    }
}

impl Hop {
    fn new(config: &Config, step: &Step, direction: usize, seeds: (u64, u64)) -> Result<Hop, NoPath> {
        let link = config.links.iter().find(|link| link.name == step.link);
        let link = link.ok_or_else(|| NoPath::NoLink(step.link.clone()))?;
        let LinkKind::PointToPoint(ends) = &link.kind else {
            return Err(NoPath::NoWire(step.link.clone()));
        };
        if ends.air.is_some() || ends.recorded.is_some() {
            return Err(NoPath::NoWire(step.link.clone()));
        }
        let config = &ends.directions[direction];
        Ok(Hop {
            link: link.name.clone(),
            line: Wired::new(config.rate, config.queue),
            delay: config.delay,
            policer: config.policer.map(Policer::new),
            loss: loss_of(ends, direction, &link.name, seeds),
            impairments: impairments_of(ends, direction, &link.name, seeds),
            counts: HopCounts::default(),
        })
    }
}

/// What the links see of a packet: its length and that of its payload. `None` for what is not a whole IPv4 packet.
fn as_packet(bytes: &[u8]) -> Option<Packet> {
    let (first, protocol) = (*bytes.first()?, *bytes.get(9)?);
    let header = usize::from(first & 0xf) * 4;
    let total = usize::from(u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?]));
    if first >> 4 != VERSION_4 || total > bytes.len() || header < IP_HEADER as usize || header > total {
        return None;
    }
    let plain = IP_HEADER + TCP_HEADER;
    let (body, known) = if protocol == TCP {
        let offset = usize::from(bytes.get(header + 12)? >> 4) * 4;
        let len = total.checked_sub(header + offset)? as u32;
        (Body::Tcp(Segment { len, ..Segment::default() }), plain + len)
    } else {
        let body = Body::Udp(Datagram::default());
        let known = Packet::new(NodeId(0), NodeId(1), body).size().0 as u32;
        (body, known)
    };
    // Options of both headers count as bytes between them.
    let extra_header = u16::try_from((total as u32).checked_sub(known)?).ok()?;
    Some(Packet { extra_header, ..Packet::new(NodeId(0), NodeId(1), body) })
}
