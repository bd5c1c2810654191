//! The deadlines of flows: a binary heap with one entry per flow.
//!
//! Postponing a deadline costs nothing: the entry stays where it is, and is postponed when it comes up. Nearly every
//! packet postpones a deadline, so the cost of a packet does not depend on the number of flows.

use crate::hooks::AgentOut;
use crate::units::Time;

const ABSENT: u32 = u32::MAX;

/// Deadlines by flow number.
#[derive(Clone, Debug, Default)]
pub(super) struct Deadlines {
    heap: Vec<(Time, u32)>,
    places: Vec<u32>,
}

impl Deadlines {
    /// The earliest entry. It may be earlier than the flow's deadline, but not later.
    pub(super) fn first(&self) -> Option<Time> {
        self.heap.first().map(|entry| entry.0)
    }

    /// Removes and returns the first flow if its time has come.
    pub(super) fn pop(&mut self, now: Time) -> Option<u32> {
        let (at, flow) = *self.heap.first()?;
        if at > now {
            return None;
        }
        self.remove(flow);
        Some(flow)
    }

    /// Wakes `flow` at `at` or earlier.
    pub(super) fn want(&mut self, flow: u32, at: Time) {
        let index = flow as usize;
        if index >= self.places.len() {
            self.places.resize(index + 1, ABSENT);
        }
        let mut place = self.places[index];
        if place == ABSENT {
            if at == Time::NEVER {
                return;
            }
            place = self.heap.len() as u32;
            self.places[index] = place;
            self.heap.push((at, flow));
        } else if at < self.heap[place as usize].0 {
            self.heap[place as usize].0 = at;
        } else {
            return;
        }
        self.rise(place as usize);
    }

    /// Forgets `flow`.
    pub(super) fn remove(&mut self, flow: u32) {
        let Some(place) = self.places.get(flow as usize).copied().filter(|&place| place != ABSENT) else {
            return;
        };
        self.places[flow as usize] = ABSENT;
        let place = place as usize;
        self.heap.swap_remove(place);
        if let Some(moved) = self.heap.get(place) {
            self.places[moved.1 as usize] = place as u32;
            self.sink(place);
            self.rise(place);
        }
    }

    fn rise(&mut self, mut place: usize) {
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.heap[parent] <= self.heap[place] {
                break;
            }
            self.swap(parent, place);
            place = parent;
        }
    }

    fn sink(&mut self, mut place: usize) {
        loop {
            let left = 2 * place + 1;
            if left >= self.heap.len() {
                break;
            }
            let right = left + 1;
            let least =
                if right < self.heap.len() && self.heap[right] < self.heap[left] { right } else { left };
            if self.heap[place] <= self.heap[least] {
                break;
            }
            self.swap(place, least);
            place = least;
        }
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.heap.swap(one, other);
        self.places[self.heap[one].1 as usize] = one as u32;
        self.places[self.heap[other].1 as usize] = other as u32;
    }
}

/// The one timer of an agent, set to the first of its deadlines.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Alarm {
    set: Option<Time>,
}

impl Alarm {
    /// The timer has fired, and is not set any more.
    pub(super) fn rang(&mut self) {
        self.set = None;
    }

    /// Sets the timer to the first deadline, if it is not set to that.
    #[inline]
    pub(super) fn arm(&mut self, first: Option<Time>, out: &mut impl AgentOut) {
        if first != self.set {
            self.set = first;
            match first {
                Some(at) => out.set_timer(at),
                None => out.cancel_timer(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn putting_a_deadline_off_leaves_the_entry_where_it_is() {
        let mut deadlines = Deadlines::default();
        deadlines.want(3, Time(10));
        deadlines.want(3, Time(50));
        assert_eq!(deadlines.first(), Some(Time(10)));
        deadlines.want(3, Time(5));
        assert_eq!((deadlines.pop(Time(4)), deadlines.pop(Time(5))), (None, Some(3)));
        assert_eq!(deadlines.first(), None);
    }

    proptest! {
        #[test]
        fn flows_come_up_in_the_order_of_time_and_number(
            wanted in prop::collection::vec((0u32..30, 0u64..1000, any::<bool>()), 1..200)
        ) {
            let mut deadlines = Deadlines::default();
            let mut model = std::collections::BTreeMap::new();
            for (flow, at, gone) in wanted {
                if gone {
                    deadlines.remove(flow);
                    model.remove(&flow);
                } else {
                    deadlines.want(flow, Time(at));
                    let entry = model.entry(flow).or_insert(at);
                    *entry = at.min(*entry);
                }
            }
            let mut expected: Vec<(u64, u32)> = model.into_iter().map(|(flow, at)| (at, flow)).collect();
            expected.sort_unstable();
            for (at, flow) in expected {
                prop_assert_eq!(deadlines.first(), Some(Time(at)));
                prop_assert_eq!(deadlines.pop(Time(at)), Some(flow));
            }
            prop_assert_eq!(deadlines.first(), None);
        }
    }
}
