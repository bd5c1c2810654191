//! Packets in a slotted network and their copies, to identify duplicates, which nodes cannot recognise.
//!
//! A packet enters as one *branch*. The branch moves on when a node receives it from a copy that no node has received
//! before. If one has, the reception creates a second branch: a duplicate. A branch ends when it is delivered, or when
//! a copy is discarded that no node has received.
//!
//! If the last branch of a packet that has not arrived is discarded, copies behind it may remain. A node that has not
//! heard the echo repeats a packet that it has passed on. The packet is then not lost but held, and the next reception
//! continues the same branch. The packet is lost when its last copy is released. Each packet and each duplicate is thus
//! counted once. Entered = delivered + lost + held, for all packets and for those that entered since the measurement
//! began. Duplicates created = duplicates delivered + duplicates discarded + duplicates in transit.

use lasthop_stack::link::slotted::{End, PacketId};

use crate::net::pool::PoolId;

/// The origin of a copy at the station where the packet entered the network.
pub(super) const NOWHERE: u32 = u32::MAX;

/// A copy of a packet at a station.
#[derive(Clone, Copy, Debug)]
struct Held {
    packet: u32,
    /// The station it was received from.
    from: u32,
    /// Whether the addressee has received a transmission of it.
    passed_on: bool,
}

/// A packet in the network.
#[derive(Clone, Copy, Debug)]
struct Travelling {
    id: PoolId,
    /// Number of packets that entered before it.
    number: u64,
    name: PacketId,
    copies: u32,
    /// Copies that no further node has received.
    branches: u32,
    arrived: bool,
}

impl Travelling {
    /// Whether the packet has arrived or has a branch in transit.
    fn is_represented(&self) -> bool {
        self.arrived || self.branches > 0
    }
}

/// Packets by fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fates {
    pub(crate) entered: u64,
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
}

impl Fates {
    /// Packets in the network that have neither arrived nor been lost.
    pub(crate) fn held(&self) -> u64 {
        self.entered - self.delivered - self.lost
    }
}

/// Counters of packets and of their copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CopyCounters {
    pub(crate) all: Fates,
    /// Packets that entered since the measurement began.
    pub(crate) measured: Fates,
    pub(crate) duplicates_created: u64,
    pub(crate) duplicates_delivered: u64,
    pub(crate) duplicates_discarded: u64,
    /// Copies that nodes discarded by count or lifetime, whether passed on or not.
    pub(crate) given_up: u64,
}

/// The packets in the network.
#[derive(Debug, Default)]
pub(super) struct Copies {
    held: Slab<Held>,
    packets: Slab<Travelling>,
    /// The number of the first measured packet.
    first_measured: u64,
    pub(super) counters: CopyCounters,
}

impl Copies {
    /// From now on, packets that enter are also counted separately.
    pub(super) fn begin_measurement(&mut self) {
        self.first_measured = self.counters.all.entered;
        self.counters.measured = Fates::default();
    }

    /// Counts a fate of the packet with this number.
    fn count(&mut self, number: u64, fate: fn(&mut Fates) -> &mut u64) {
        *fate(&mut self.counters.all) += 1;
        *fate(&mut self.counters.measured) += u64::from(number >= self.first_measured);
    }

    /// A packet enters the network. Returns the handle of its first copy.
    pub(super) fn enter(&mut self, id: PoolId, name: PacketId) -> u64 {
        let number = self.counters.all.entered;
        self.count(number, |fates| &mut fates.entered);
        let travelling = Travelling { id, number, name, copies: 1, branches: 1, arrived: false };
        let packet = self.packets.insert(travelling);
        u64::from(self.held.insert(Held { packet, from: NOWHERE, passed_on: false }))
    }

    /// The station a copy was received from, or [`NOWHERE`].
    pub(super) fn origin(&self, handle: u64) -> u32 {
        self.held.get(handle as u32).from
    }

    /// The addressee receives a transmission of a copy by station `from`. Returns the handle of the addressee's copy.
    pub(super) fn receive(&mut self, handle: u64, from: u32) -> u64 {
        let parent = self.held.get_mut(handle as u32);
        let (packet, is_repeated) = (parent.packet, parent.passed_on);
        parent.passed_on = true;
        let travelling = self.packets.get_mut(packet);
        travelling.copies += 1;
        if is_repeated {
            self.counters.duplicates_created += u64::from(travelling.is_represented());
            travelling.branches += 1;
        }
        u64::from(self.held.insert(Held { packet, from, passed_on: false }))
    }

    /// The packet of a copy.
    pub(super) fn packet(&self, handle: u64) -> PoolId {
        self.packets.get(self.held.get(handle as u32).packet).id
    }

    /// The nodes' name for the packet of a copy.
    pub(super) fn name(&self, handle: u64) -> PacketId {
        self.packets.get(self.held.get(handle as u32).packet).name
    }

    /// A copy is delivered. Returns its packet if it was the last copy.
    pub(super) fn deliver(&mut self, handle: u64) -> Option<PoolId> {
        let travelling = self.packets.get_mut(self.held.get(handle as u32).packet);
        travelling.branches -= 1;
        if travelling.arrived {
            self.counters.duplicates_delivered += 1;
        } else {
            travelling.arrived = true;
            let number = travelling.number;
            self.count(number, |fates| &mut fates.delivered);
        }
        self.release(handle)
    }

    /// A node releases a copy. Returns its packet if it was the last copy.
    pub(super) fn part(&mut self, handle: u64, end: End) -> Option<PoolId> {
        let copy = *self.held.get(handle as u32);
        self.counters.given_up += u64::from(matches!(end, End::Count | End::Lifetime));
        if !copy.passed_on {
            let travelling = self.packets.get_mut(copy.packet);
            travelling.branches -= 1;
            self.counters.duplicates_discarded += u64::from(travelling.is_represented());
        }
        self.release(handle)
    }

    fn release(&mut self, handle: u64) -> Option<PoolId> {
        let packet = self.held.remove(handle as u32).packet;
        let travelling = self.packets.get_mut(packet);
        travelling.copies -= 1;
        if travelling.copies > 0 {
            return None;
        }
        let Travelling { id, number, arrived, .. } = self.packets.remove(packet);
        if !arrived {
            self.count(number, |fates| &mut fates.lost);
        }
        Some(id)
    }
}

/// Values in reusable places.
#[derive(Debug)]
struct Slab<T> {
    places: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Slab<T> {
        Slab { places: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Slab<T> {
    fn insert(&mut self, value: T) -> u32 {
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = value;
            return place;
        }
        self.places.push(value);
        self.places.len() as u32 - 1
    }

    fn get(&self, place: u32) -> &T {
        &self.places[place as usize]
    }

    fn get_mut(&mut self, place: u32) -> &mut T {
        &mut self.places[place as usize]
    }

    fn remove(&mut self, place: u32) -> T {
        self.free.push(place);
        self.places[place as usize]
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The expected counters if all packets are measured.
    fn counted([entered, delivered, lost]: [u64; 3]) -> CopyCounters {
        let all = Fates { entered, delivered, lost };
        CopyCounters { all, measured: all, ..CopyCounters::default() }
    }

    fn entered() -> (Copies, u64) {
        let mut copies = Copies::default();
        let first = copies.enter(PoolId::from_handle(7), PacketId::default());
        (copies, first)
    }

    #[test]
    fn a_packet_that_moves_on_is_no_duplicate() {
        let (mut copies, first) = entered();
        let second = copies.receive(first, 0);
        assert_eq!(copies.origin(second), 0);
        assert!(copies.part(first, End::Passed).is_none());
        assert!(copies.deliver(second).is_some());
        assert_eq!(copies.counters, counted([1, 1, 0]));
    }

    #[test]
    fn what_is_received_a_second_time_is_a_duplicate_and_is_delivered_as_one() {
        let (mut copies, first) = entered();
        let moved_on = copies.receive(first, 0);
        let duplicate = copies.receive(first, 0);
        assert!(copies.deliver(moved_on).is_none());
        assert!(copies.part(first, End::Count).is_none());
        assert!(copies.deliver(duplicate).is_some());
        let expected = CopyCounters {
            duplicates_created: 1,
            duplicates_delivered: 1,
            given_up: 1,
            ..counted([1, 1, 0])
        };
        assert_eq!(copies.counters, expected);
    }

    #[test]
    fn a_duplicate_given_up_after_the_packet_has_arrived_is_no_loss() {
        let (mut copies, first) = entered();
        let moved_on = copies.receive(first, 0);
        let duplicate = copies.receive(first, 0);
        copies.part(first, End::Passed);
        copies.deliver(moved_on);
        assert!(copies.part(duplicate, End::Count).is_some());
        let CopyCounters { all, duplicates_discarded, .. } = copies.counters;
        assert_eq!((all.delivered, duplicates_discarded, all.lost), (1, 1, 0));
    }

    #[test]
    fn a_copy_given_up_while_its_parent_holds_the_packet_is_neither_lost_nor_a_duplicate() {
        let (mut copies, first) = entered();
        let given_up = copies.receive(first, 0);
        assert!(copies.part(given_up, End::Count).is_none());
        assert_eq!(copies.counters, CopyCounters { given_up: 1, ..counted([1, 0, 0]) });
        // The parent has heard no echo and sends again.
        let again = copies.receive(first, 0);
        assert!(copies.deliver(again).is_none());
        assert!(copies.part(first, End::Count).is_some());
        assert_eq!(copies.counters, CopyCounters { given_up: 2, ..counted([1, 1, 0]) });
    }

    #[test]
    fn a_packet_is_lost_when_the_last_copy_behind_its_branch_goes() {
        let (mut copies, first) = entered();
        let given_up = copies.receive(first, 0);
        copies.part(given_up, End::Suppressed);
        assert!(copies.part(first, End::Passed).is_some());
        assert_eq!(copies.counters, counted([1, 0, 1]));
    }

    #[test]
    fn what_entered_before_the_measurement_is_no_packet_of_it() {
        let (mut copies, early) = entered();
        let lost = copies.enter(PoolId::from_handle(8), PacketId::default());
        copies.begin_measurement();
        let [late, gone, held] =
            [9, 10, 11].map(|id| copies.enter(PoolId::from_handle(id), PacketId::default()));
        copies.deliver(early);
        copies.deliver(late);
        copies.part(lost, End::Count);
        copies.part(gone, End::Count);
        let CopyCounters { all, measured, .. } = copies.counters;
        assert_eq!(all, Fates { entered: 5, delivered: 2, lost: 2 });
        assert_eq!(measured, Fates { entered: 3, delivered: 1, lost: 1 });
        assert_eq!((all.held(), measured.held()), (1, 1));
        copies.deliver(held);
        assert_eq!(copies.counters.measured.held(), 0);
    }

    proptest! {
        /// Copies are received, delivered and discarded in any order; then all that remain are discarded.
        #[test]
        fn every_packet_and_every_duplicate_is_counted_once(
            acts in vec((0..5_u8, any::<prop::sample::Index>()), 0..200),
        ) {
            let mut copies = Copies::default();
            let mut alive: Vec<u64> = Vec::new();
            let mut packets = 0;
            for (act, which) in acts {
                let place = which.index(alive.len().max(1));
                let handle = alive.get(place).copied();
                match (act, handle) {
                    (0, _) | (_, None) => {
                        alive.push(copies.enter(PoolId::from_handle(packets), PacketId::default()));
                        packets += 1;
                    }
                    (1 | 2, Some(handle)) => alive.push(copies.receive(handle, 1)),
                    (3, Some(handle)) if !copies.held.get(handle as u32).passed_on => {
                        alive.swap_remove(place);
                        copies.deliver(handle);
                    }
                    (_, Some(handle)) => {
                        alive.swap_remove(place);
                        copies.part(handle, End::Count);
                    }
                }
                let held = copies.packets.places.len() - copies.packets.free.len();
                let travelling = copies.counters.all.held() as usize;
                prop_assert!(travelling <= held, "{travelling} of {held}");
            }
            for handle in alive {
                copies.part(handle, End::Lifetime);
            }
            let of = copies.counters;
            prop_assert_eq!(of.all.held(), 0);
            prop_assert_eq!(of.duplicates_created, of.duplicates_delivered + of.duplicates_discarded);
        }
    }

    #[test]
    fn the_last_branch_that_is_given_up_is_a_loss_and_one_beside_another_a_discarded_duplicate() {
        let (mut copies, first) = entered();
        let moved_on = copies.receive(first, 0);
        let duplicate = copies.receive(first, 0);
        copies.part(first, End::Passed);
        copies.part(duplicate, End::Count);
        assert!(copies.part(moved_on, End::Lifetime).is_some());
        let CopyCounters { duplicates_discarded, all, given_up, .. } = copies.counters;
        assert_eq!((duplicates_discarded, all.lost, given_up), (1, 1, 2));
    }
}
