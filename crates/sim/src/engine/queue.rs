//! The event queue: one entry per source, ordered by time and then by the order of scheduling.
//!
//! Every source of events (a link with packets in transit, a timer, an application) has a *slot* that is set to at most
//! one time, and at most one entry. Slots that act at the same time act in the order in which they were set.
//!
//! The first entry is kept apart from the others, which form a heap. The heap keeps its keys inline and the places of
//! slots in a separate table, so moving an entry is one sift. An entry that moves to a later time stays where it is
//! until it is first, and is sifted from there. Every acknowledgement moves a retransmission timer, which is first once
//! per timeout. A cancelled entry also stays until it is first, and is then removed. An 802.11 station stops its
//! backoff whenever the medium turns busy, and sets it later when it turns idle. When the first entry is cancelled, as
//! an event cancels itself when it happens, a gap remains for the next entry that is set. That is often a near one,
//! before the whole heap, which one comparison shows.

use lasthop_stack::units::Time;

use super::ahead;

/// A source of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(pub u32);

/// Distinguishes entries that were scheduled in one instant: a counter of everything scheduled, from 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sequence(u64);

/// When an event happens, and among simultaneous ones when it was scheduled, and among those the sequence.
///
/// The time of scheduling follows from the sequence for everything scheduled at the present time. A packet that crosses
/// several links in one event is scheduled to arrive as at the last of them, which is later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    time: Time,
    scheduled: Time,
    sequence: Sequence,
}

impl Key {
    /// Before every event; that of a slot that is not set.
    const FIRST: Key = Key { time: Time::ZERO, scheduled: Time::ZERO, sequence: Sequence(0) };

    #[inline]
    fn is_before(&self, other: &Key) -> bool {
        // Which of two times is the earlier cannot be foreseen, but that they differ can: no branch depends on the former.
        if self.time == other.time {
            return self.is_scheduled_before(other);
        }
        self.time < other.time
    }

    #[cold]
    fn is_scheduled_before(&self, other: &Key) -> bool {
        (self.scheduled, self.sequence) < (other.scheduled, other.sequence)
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: Key,
    slot: Slot,
}

/// The key of a slot, and the place of its entry. The entry may still have an earlier key, or be that of a slot that is no
/// longer set.
#[derive(Clone, Copy, Debug)]
struct SlotState {
    key: Key,
    /// The place in the heap, [`AT_FIRST`], or [`NOWHERE`].
    index: u32,
}

impl SlotState {
    fn is_set(&self) -> bool {
        self.key.sequence != Key::FIRST.sequence
    }
}

const NOWHERE: u32 = u32::MAX;
const AT_FIRST: u32 = u32::MAX - 1;

/// Bit of the times of scheduling that come last in their instant.
const LATE: u64 = 1 << 63;

/// The queue of events.
#[derive(Clone, Debug)]
pub struct EventQueue {
    /// The first entry, or a gap, whose key is [`Key::FIRST`].
    first: Entry,
    /// The others.
    heap: Vec<Entry>,
    places: Vec<SlotState>,
    /// The number of slots that are set.
    set: usize,
    sequence: u64,
    clock: Time,
}

impl Default for EventQueue {
    fn default() -> EventQueue {
        EventQueue {
            first: Entry { key: Key::FIRST, slot: Slot(0) },
            heap: Vec::new(),
            places: Vec::new(),
            set: 0,
            sequence: 0,
            clock: Time::ZERO,
        }
    }
}

impl EventQueue {
    /// A new slot, not set.
    pub fn slot(&mut self) -> Slot {
        self.places.push(SlotState { key: Key::FIRST, index: NOWHERE });
        self.heap.reserve(self.places.len() - self.heap.len());
        Slot(self.places.len() as u32 - 1)
    }

    /// Sets the clock, which gives the time of scheduling.
    #[inline]
    pub fn set_clock(&mut self, now: Time) {
        self.clock = now;
    }

    /// The next sequence number, for [`Self::set_with`].
    #[inline]
    pub fn next_sequence(&mut self) -> Sequence {
        self.sequence += 1;
        Sequence(self.sequence)
    }

    /// Sets a slot to `time`, after everything scheduled so far for the same time.
    #[inline]
    pub fn set(&mut self, slot: Slot, time: Time) {
        let sequence = self.next_sequence();
        self.set_with(slot, time, self.clock, sequence);
    }

    /// Sets a slot to `time`, after everything that is set to the same time by [`Self::set`], now or later. This is for
    /// events that must see how an instant ends, such as a station's timer at the end of a frame.
    #[inline]
    pub fn set_late(&mut self, slot: Slot, time: Time) {
        let sequence = self.next_sequence();
        self.set_with(slot, time, Time(self.clock.0 | LATE), sequence);
    }

    /// Sets a slot to `time` as if at `scheduled`, with a sequence number drawn before.
    #[inline]
    pub fn set_with(&mut self, slot: Slot, time: Time, scheduled: Time, sequence: Sequence) {
        let key = Key { time, scheduled, sequence };
        let place = &mut self.places[slot.0 as usize];
        self.set += usize::from(!place.is_set());
        place.key = key;
        let index = place.index;
        match index {
            AT_FIRST => self.put_first(key, slot),
            NOWHERE if self.has_gap() => self.put_first(key, slot),
            NOWHERE => {
                let last = self.heap.len();
                self.heap.push(Entry { key, slot });
                self.rise(last, key, slot);
            }
            _ if key.is_before(&self.heap[index as usize].key) => self.rise(index as usize, key, slot),
            _ => {}
        }
    }

    /// Sets the slot of the [next](Self::peek) event, which is happening, to the next one that it stands for.
    #[inline]
    pub fn set_first(&mut self, slot: Slot, time: Time, scheduled: Time, sequence: Sequence) {
        let key = Key { time, scheduled, sequence };
        let place = &mut self.places[slot.0 as usize];
        debug_assert!(place.index == AT_FIRST && place.is_set(), "another event is first");
        place.key = key;
        self.put_first(key, slot);
    }

    /// Cancels a slot, if it is set.
    #[inline]
    pub fn cancel(&mut self, slot: Slot) {
        let place = &mut self.places[slot.0 as usize];
        self.set -= usize::from(place.is_set());
        place.key = Key::FIRST;
        if place.index == AT_FIRST {
            place.index = NOWHERE;
            self.first.key = Key::FIRST;
        }
    }

    /// The next event. It stays set until its slot is set again or cancelled.
    #[inline]
    #[must_use]
    pub fn peek(&mut self) -> Option<(Time, Slot)> {
        let Entry { key, slot } = self.first;
        // Keys have sequences of their own. Only a gap and the entry that left it share one.
        if !self.has_gap() && key.sequence == self.places[slot.0 as usize].key.sequence {
            return Some((key.time, slot));
        }
        self.search()
    }

    /// The next event, behind entries that are no longer first.
    #[inline(never)]
    fn search(&mut self) -> Option<(Time, Slot)> {
        loop {
            if self.has_gap() && !self.take_root() {
                return None;
            }
            let Entry { key, slot } = self.first;
            let place = &mut self.places[slot.0 as usize];
            let set = place.key;
            if key.sequence == set.sequence {
                return Some((key.time, slot));
            }
            if place.is_set() {
                self.put_first(set, slot);
            } else {
                place.index = NOWHERE;
                self.first.key = Key::FIRST;
            }
        }
    }

    /// Prefetches the key of a slot.
    #[inline]
    pub(crate) fn fetch(&self, slot: Slot) {
        ahead::fetch(&self.places[slot.0 as usize]);
    }

    /// Whether a slot is set.
    #[must_use]
    pub fn is_set(&self, slot: Slot) -> bool {
        self.places[slot.0 as usize].is_set()
    }

    /// How many slots are set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.set
    }

    /// Whether no slot is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    fn has_gap(&self) -> bool {
        self.first.key.sequence == Key::FIRST.sequence
    }

    /// Makes an entry the first one. If the root of the heap comes before it, the root becomes first, and the entry takes its place in
    /// the heap.
    #[expect(clippy::inline_always, reason = "a key handed over in memory costs more than the comparison")]
    #[inline(always)]
    fn put_first(&mut self, key: Key, slot: Slot) {
        match self.heap.first() {
            Some(root) if root.key.is_before(&key) => {
                self.first = *root;
                self.places[root.slot.0 as usize].index = AT_FIRST;
                self.sift_down(0, key, slot);
            }
            _ => {
                self.first = Entry { key, slot };
                self.places[slot.0 as usize].index = AT_FIRST;
            }
        }
    }

    /// Moves the root of the heap into the gap before it; false if there is none.
    fn take_root(&mut self) -> bool {
        let Some(last) = self.heap.pop() else { return false };
        self.first = self.heap.first().copied().unwrap_or(last);
        self.places[self.first.slot.0 as usize].index = AT_FIRST;
        if !self.heap.is_empty() {
            self.sift_down(0, last.key, last.slot);
        }
        true
    }

    /// Moves an entry up that is now earlier than its place in the heap allows, to the front if it comes before all others.
    #[expect(clippy::inline_always, reason = "a key handed over in memory costs more than the sift")]
    #[inline(always)]
    fn rise(&mut self, index: usize, key: Key, slot: Slot) {
        if key.is_before(&self.first.key) {
            let Entry { key: later, slot: of } = std::mem::replace(&mut self.first, Entry { key, slot });
            self.places[slot.0 as usize].index = AT_FIRST;
            self.sift_up(index, later, of);
        } else {
            self.sift_up(index, key, slot);
        }
    }

    #[expect(clippy::inline_always, reason = "a key handed over in memory costs more than the sift")]
    #[inline(always)]
    fn sift_up(&mut self, mut index: usize, key: Key, slot: Slot) {
        let (heap, places) = (self.heap.as_mut_slice(), self.places.as_mut_slice());
        while index > 0 {
            let parent = (index - 1) / 2;
            let above = heap[parent];
            if above.key.is_before(&key) {
                break;
            }
            heap[index] = above;
            places[above.slot.0 as usize].index = index as u32;
            index = parent;
        }
        heap[index] = Entry { key, slot };
        places[slot.0 as usize].index = index as u32;
    }

    #[expect(clippy::inline_always, reason = "a key handed over in memory costs more than the sift")]
    #[inline(always)]
    fn sift_down(&mut self, mut index: usize, key: Key, slot: Slot) {
        let (heap, places) = (self.heap.as_mut_slice(), self.places.as_mut_slice());
        loop {
            let mut child = 2 * index + 1;
            if child + 1 < heap.len() {
                child += usize::from(heap[child + 1].key.is_before(&heap[child].key));
            } else if child >= heap.len() {
                break;
            }
            let below = heap[child];
            if key.is_before(&below.key) {
                break;
            }
            heap[index] = below;
            places[below.slot.0 as usize].index = index as u32;
            index = child;
        }
        heap[index] = Entry { key, slot };
        places[slot.0 as usize].index = index as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drain(queue: &mut EventQueue) -> Vec<(u64, u32)> {
        let mut order = Vec::new();
        while let Some((time, slot)) = queue.peek() {
            order.push((time.0, slot.0));
            queue.cancel(slot);
        }
        order
    }

    #[test]
    fn simultaneous_events_act_in_the_order_they_were_set() {
        let mut queue = EventQueue::default();
        let slots: Vec<Slot> = (0..5).map(|_| queue.slot()).collect();
        for slot in [3, 1, 4, 0, 2] {
            queue.set(slots[slot], Time(7));
        }
        queue.set(slots[1], Time(7));
        let order: Vec<u32> = drain(&mut queue).iter().map(|event| event.1).collect();
        assert_eq!(order, [3, 4, 0, 2, 1]);
    }

    #[test]
    fn a_late_event_acts_after_those_set_to_its_instant_later_on() {
        let mut queue = EventQueue::default();
        let slots: Vec<Slot> = (0..3).map(|_| queue.slot()).collect();
        queue.set_late(slots[0], Time(7));
        queue.set(slots[1], Time(7));
        queue.set(slots[2], Time(8));
        assert_eq!(drain(&mut queue), [(7, 1), (7, 0), (8, 2)]);
    }

    #[test]
    fn a_late_event_that_is_first_gives_way_to_one_set_in_its_instant() {
        let mut queue = EventQueue::default();
        let slots: Vec<Slot> = (0..3).map(|_| queue.slot()).collect();
        queue.set_late(slots[0], Time(7));
        assert_eq!(queue.peek(), Some((Time(7), slots[0])));
        queue.set(slots[1], Time(9));
        queue.set(slots[2], Time(7));
        queue.set(slots[1], Time(7));
        assert_eq!(drain(&mut queue), [(7, 2), (7, 1), (7, 0)]);
    }

    #[test]
    fn a_slot_moved_to_later_and_back_acts_when_it_was_set_last() {
        let mut queue = EventQueue::default();
        let slots: Vec<Slot> = (0..2).map(|_| queue.slot()).collect();
        queue.set(slots[0], Time(5));
        queue.set(slots[1], Time(8));
        for time in [20, 9, 30, 7, 10] {
            queue.set(slots[0], Time(time));
        }
        assert_eq!(queue.len(), 2);
        assert_eq!(drain(&mut queue), [(8, 1), (10, 0)]);
    }

    #[test]
    fn what_is_scheduled_ahead_of_the_clock_acts_after_what_is_scheduled_before_its_time() {
        let mut queue = EventQueue::default();
        let slots: Vec<Slot> = (0..4).map(|_| queue.slot()).collect();
        let ahead = queue.next_sequence();
        queue.set_with(slots[0], Time(7), Time(5), ahead);
        for (slot, clock) in [(1, 4), (2, 5), (3, 6)] {
            queue.set_clock(Time(clock));
            queue.set(slots[slot], Time(7));
        }
        assert_eq!(drain(&mut queue), [(7, 1), (7, 0), (7, 2), (7, 3)]);
    }

    #[test]
    fn a_slot_cancelled_and_set_to_later_or_earlier_acts_once() {
        let mut queue = EventQueue::default();
        let slots: Vec<Slot> = (0..4).map(|_| queue.slot()).collect();
        for (slot, time) in [(0, 1), (1, 5), (2, 6), (3, 7)] {
            queue.set(slots[slot], Time(time));
        }
        queue.cancel(slots[1]);
        queue.cancel(slots[2]);
        queue.cancel(slots[3]);
        assert_eq!((queue.len(), queue.is_set(slots[1])), (1, false));
        queue.set(slots[1], Time(9));
        queue.set(slots[2], Time(2));
        assert_eq!(queue.len(), 3);
        assert_eq!(drain(&mut queue), [(1, 0), (2, 2), (9, 1)]);
        assert!(queue.is_empty());
    }

    #[test]
    fn setting_and_cancelling_leave_nothing_behind() {
        let mut queue = EventQueue::default();
        let slot = queue.slot();
        for time in 0..1000 {
            queue.set(slot, Time(time));
        }
        assert_eq!(queue.len(), 1);
        queue.cancel(slot);
        queue.cancel(slot);
        assert!(queue.is_empty());
    }

    proptest! {
        #[test]
        fn agrees_with_a_sorted_list(operations in prop::collection::vec((0usize..12, operation()), 0..200)) {
            let mut queue = EventQueue::default();
            let slots: Vec<Slot> = (0..12).map(|_| queue.slot()).collect();
            let mut model = [None; 12];
            for (sequence, (slot, operation)) in operations.into_iter().enumerate() {
                match operation {
                    Operation::Set(time) => {
                        queue.set(slots[slot], Time(time));
                        model[slot] = Some((time, sequence));
                    }
                    Operation::Cancel => {
                        queue.cancel(slots[slot]);
                        model[slot] = None;
                    }
                    Operation::Take | Operation::Renew(_) => {
                        let first = queue.peek();
                        let expected = model.iter().flatten().min().map(|first| first.0);
                        prop_assert_eq!(first.map(|(time, _)| time.0), expected);
                        let Some((_, first)) = first else { continue };
                        model[first.0 as usize] = None;
                        if let Operation::Renew(time) = operation {
                            let number = queue.next_sequence();
                            queue.set_first(first, Time(time), Time::ZERO, number);
                            model[first.0 as usize] = Some((time, sequence));
                        } else {
                            queue.cancel(first);
                        }
                    }
                }
                prop_assert_eq!(queue.len(), model.iter().flatten().count());
            }
            let mut expected: Vec<_> = model.iter().enumerate().filter_map(|(slot, key)| key.map(|key| (key, slot as u32))).collect();
            expected.sort_unstable();
            let expected: Vec<_> = expected.into_iter().map(|((time, _), slot)| (time, slot)).collect();
            prop_assert_eq!(drain(&mut queue), expected);
        }
    }

    #[derive(Clone, Copy, Debug)]
    enum Operation {
        Set(u64),
        Cancel,
        Take,
        Renew(u64),
    }

    fn operation() -> impl Strategy<Value = Operation> {
        let (set, renew) = ((0u64..50).prop_map(Operation::Set), (0u64..50).prop_map(Operation::Renew));
        prop_oneof![4 => set, 1 => Just(Operation::Cancel), 2 => Just(Operation::Take), 2 => renew]
    }
}
