//! Active queue management, the treatment of packets before a queue is full: the traits [`Aqm`] and [`Discipline`].

use crate::packet::Ecn;
use crate::units::{Rate, Span, Time};

/// The arrival of a packet at a queue.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Time of arrival.
    pub now: Time,
    /// Packets in the queue before it arrives, including the one being transmitted.
    pub held: u32,
    /// How long the queue has been empty; zero if it is not.
    pub idle: Span,
    /// Transmission time of a packet of this size at the nominal rate of the link.
    pub transmission: Span,
    /// The ECN field of its IP header.
    pub ecn: Ecn,
}

/// The decision on the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is left unchanged.
    Pass,
    /// It is marked if its transport uses ECN (RFC 3168, 5), and left unchanged otherwise.
    Mark,
    /// It is dropped.
    Drop,
}

/// The management of one queue that the link keeps: first come, first served, with decisions at arrivals only.
pub trait Aqm {
    /// Decides on an arriving packet. It is also called for packets that find the queue full. `draw` returns a random number
    /// from the half-open interval from 0 to 1.
    fn on_arrival(&mut self, arrival: &Arrival, draw: &mut dyn FnMut() -> f64) -> Admission;
}

/// A packet in a queue that its management keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// The number by which the host knows the packet.
    pub handle: u32,
    /// Its size.
    pub bytes: u32,
    /// A hash of addresses, ports and protocol.
    pub flow: u32,
    /// On an 802.11 link its receiver and access category: the node times 4, and the index of the category. 0 on others.
    pub lane: u32,
    /// The ECN field of its IP header, which the management changes to mark the packet.
    pub ecn: Ecn,
    /// When it arrived.
    pub came: Time,
}

impl Queued {
    /// Marks the packet if its transport uses ECN (RFC 3168, 5). Returns whether it does.
    pub fn mark(&mut self) -> bool {
        if self.ecn.is_capable() {
            self.ecn = Ecn::Ce;
        }
        self.ecn.is_capable()
    }

    /// How long it has waited.
    #[must_use]
    pub fn waited(&self, now: Time) -> Span {
        now.since(self.came)
    }
}

/// Why a management drops a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The queue is full.
    Full,
    /// The law decides it.
    Early,
}

/// A number of packets and bytes: those in a queue, or those that may be there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u32,
    /// Bytes.
    pub bytes: u64,
}

impl Backlog {
    /// Whether a packet of this size fits behind `self` where at most `room` may wait.
    #[must_use]
    pub fn fits(&self, bytes: u32, room: Backlog) -> bool {
        self.packets < room.packets && self.bytes + u64::from(bytes) <= room.bytes
    }
}

/// What the host does for the management of a queue.
pub trait QueueHost {
    /// Drops a packet that was in the queue, or arrives.
    fn drop(&mut self, packet: &Queued, cause: DropCause);

    /// A random number from the half-open interval from 0 to 1.
    fn draw(&mut self) -> f64;
}

/// What an 802.11 station can send to a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The rate of data.
    pub rate: Rate,
    /// The largest A-MPDU at this rate.
    pub largest: Backlog,
}

/// The management of one queue that keeps the waiting packets itself: it also decides when a packet leaves, and which one.
pub trait Discipline {
    /// A packet arrives. At most `room` may wait when this call ends; the packet being transmitted does not wait.
    fn enqueue(&mut self, packet: Queued, room: Backlog, host: &mut dyn QueueHost);

    /// The link can transmit: removes and returns the packet that is next, if one is left.
    fn dequeue(&mut self, now: Time, host: &mut dyn QueueHost) -> Option<Queued>;

    /// What waits.
    fn backlog(&self) -> Backlog;

    /// Whether it limits what an 802.11 station has taken and not sent. The station then takes packets until `dequeue`
    /// returns none, and reports their fates and its airtime.
    fn limits_station(&self) -> bool {
        false
    }

    /// How a receiver is reached: before the first packet to it, and when that may have changed.
    fn on_reach(&mut self, _lane: u32, _reach: &Reach) {}

    /// A packet of this size that the station took is acknowledged or discarded.
    fn on_done(&mut self, _lane: u32, _bytes: u32) {}

    /// The station has sent to the receiver, or received from it, for this long.
    fn on_airtime(&mut self, _lane: u32, _airtime: Span) {}
}
