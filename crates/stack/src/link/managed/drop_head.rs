//! Drop-head: a full queue drops the packet that has waited longest, not the one that arrives.
//!
//! **Limits.** It is as long as a drop-tail queue. Only the report of a loss comes earlier, by the time that packets
//! wait in it.
//!
//! **Source.** Lakshman, Neidhardt and Ott 1996; Mahimahi's `drophead` and Linux's `pfifo_head_drop`.
//!
//! **How.** A packet that does not fit makes room for itself: packets go from the head until it fits.
//!
//! **Choices.** 1. The packet being sent is not dropped. 2. A packet that does not fit into the empty queue is dropped itself,
//! and no other. 3. Its drops are those of a full queue (`drops_queue`).
//!
//! **Checked by** the tests below and `crates/sim/tests/queues.rs`.

use super::WaitingLine;
use crate::hooks::parameter::{Described, parameters};
use crate::hooks::{Backlog, Discipline, DropCause, QueueHost, Queued};
use crate::units::Time;

/// It has no parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config;

impl Described for Config {
    parameters! {}
}

/// The waiting packets.
#[derive(Clone, Debug, Default)]
pub struct DropHead(WaitingLine);

impl Discipline for DropHead {
    fn enqueue(&mut self, packet: Queued, room: Backlog, host: &mut dyn QueueHost) {
        if !Backlog::default().fits(packet.bytes, room) {
            host.drop(&packet, DropCause::Full);
            return;
        }
        while !self.0.backlog().fits(packet.bytes, room) {
            let Some(head) = self.0.pop() else { break };
            host.drop(&head, DropCause::Full);
        }
        self.0.push(packet);
    }

    fn dequeue(&mut self, _now: Time, _host: &mut dyn QueueHost) -> Option<Queued> {
        self.0.pop()
    }

    fn backlog(&self) -> Backlog {
        self.0.backlog()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Record;
    use super::*;
    use crate::packet::Ecn;

    fn packet(handle: u32, bytes: u32) -> Queued {
        Queued { handle, bytes, flow: 0, lane: 0, ecn: Ecn::NotEct, came: Time(0) }
    }

    #[test]
    fn a_full_queue_drops_the_packet_at_its_head() {
        let (mut queue, mut host) = (DropHead::default(), Record::default());
        let room = Backlog { packets: 3, bytes: u64::MAX };
        (0..5).for_each(|number| queue.enqueue(packet(number, 1500), room, &mut host));
        assert_eq!(host.drops, [(0, DropCause::Full), (1, DropCause::Full)]);
        let left: Vec<u32> =
            std::iter::from_fn(|| queue.dequeue(Time(0), &mut host)).map(|packet| packet.handle).collect();
        assert_eq!(left, [2, 3, 4]);
    }

    #[test]
    fn a_large_packet_takes_the_room_of_several_and_one_that_never_fits_takes_none() {
        let (mut queue, mut host) = (DropHead::default(), Record::default());
        let room = Backlog { packets: 9, bytes: 1000 };
        (0..4).for_each(|number| queue.enqueue(packet(number, 250), room, &mut host));
        queue.enqueue(packet(4, 600), room, &mut host);
        queue.enqueue(packet(5, 1001), room, &mut host);
        assert_eq!(host.drops.iter().map(|drop| drop.0).collect::<Vec<_>>(), [0, 1, 2, 5]);
        assert_eq!(queue.backlog(), Backlog { packets: 2, bytes: 850 });
    }
}
