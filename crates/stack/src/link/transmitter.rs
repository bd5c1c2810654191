//! What sends the packets of one direction of a link between two nodes: the trait that each kind of such links implements.

use super::queue::DropTail;
use crate::packet::Packet;
use crate::units::{Bytes, Span, Time};

/// The departure of what never leaves. Sums with it do not overflow.
pub const LAST: Time = Time(u64::MAX / 4);

/// One direction of a link. It knows when a packet leaves when it takes it in, so its queue is a list of departures.
pub trait Transmitter {
    /// Accepts a packet of `size` and returns when its last bit leaves, [`LAST`] if never, or `None` if the queue is full.
    fn offer(&mut self, size: Bytes, now: Time) -> Option<Time>;

    /// When it takes the next packet of a queue in front of it; not after `now` if it takes one now.
    fn ready_at(&self, now: Time) -> Time;

    /// The queue.
    fn queue(&self) -> &DropTail;

    /// The same, to be changed.
    fn queue_mut(&mut self) -> &mut DropTail;

    /// The queue as it is at `now`.
    fn queue_at(&mut self, now: Time) -> &DropTail {
        let queue = self.queue_mut();
        queue.advance(now);
        queue
    }

    /// When the packet began to leave that was taken in last and leaves at `departure`; of one that leaves in parts, the
    /// last part counts.
    fn began(&self, departure: Time) -> Time {
        departure
    }

    /// Time spent sending up to `now`, which is not before the last offer; zero if it counts what is [used](Self::used).
    fn busy(&self, _now: Time) -> Span {
        Span::ZERO
    }

    /// The bytes that could go up to `now`, where these are counted: those used, and all.
    fn used(&self, _now: Time) -> (u64, u64) {
        (0, 0)
    }

    /// Whether it takes packets at certain instants only, and one of them is due that it has not used.
    fn is_due(&self, _now: Time) -> bool {
        false
    }

    /// It takes nothing more from a queue in front of it in this instant.
    fn pass(&mut self, _now: Time) {}

    /// Writes what the link knows into the packet that was accepted last.
    fn mark(&self, _packet: &mut Packet) {}

    /// Sends nothing of what comes from `now` on before this time, if it can wait for the end of an outage.
    fn wait_until(&mut self, _at: Time, _now: Time) {}

    /// Accepts a packet that goes ahead of those that wait, behind the one being sent. Returns when its last bit leaves and
    /// by how much those behind it leave later, or `None` if the queue is full. By default it is the last.
    fn offer_ahead(&mut self, size: Bytes, now: Time) -> Option<(Time, Span)> {
        self.offer(size, now).map(|departure| (departure, Span::ZERO))
    }
}
