//! An indexed binary heap of units: any unit can be moved or removed.

/// The key of a unit: a time in nanoseconds, or a count in the controls; then its age.
pub(super) type Key = (u64, u64);

/// Not in the heap.
const ABSENT: u32 = u32::MAX;

/// Units, identified by small numbers, in the order of their keys.
#[derive(Clone, Debug, Default)]
pub(super) struct Ordered {
    heap: Vec<(Key, u32)>,
    /// The place of each unit in the heap.
    places: Vec<u32>,
}

impl Ordered {
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// The unit with the least key.
    pub(super) fn first(&self) -> Option<(Key, u32)> {
        self.heap.first().copied()
    }

    /// Inserts a unit that is not in the heap.
    pub(super) fn insert(&mut self, unit: u32, key: Key) {
        if self.places.len() <= unit as usize {
            self.places.resize(unit as usize + 1, ABSENT);
        }
        self.heap.push((key, unit));
        self.rise(self.heap.len() - 1);
    }

    /// Removes a unit. Returns whether it was in the heap.
    pub(super) fn remove(&mut self, unit: u32) -> bool {
        let place = self.places.get(unit as usize).copied().unwrap_or(ABSENT);
        if place == ABSENT {
            return false;
        }
        self.places[unit as usize] = ABSENT;
        self.heap.swap_remove(place as usize);
        if (place as usize) < self.heap.len() {
            self.sink(place as usize);
            self.rise(place as usize);
        }
        true
    }

    /// The units with times below `limit`, in no particular order. It visits these and at most twice as many others.
    pub(super) fn below(&self, limit: u64) -> impl Iterator<Item = u32> {
        // A preorder walk of the heap without a stack; it skips the subtree of a unit that is not below the limit.
        let mut next = (!self.heap.is_empty()).then_some(0);
        std::iter::from_fn(move || {
            while let Some(place) = next {
                let is_below = self.heap[place].0.0 < limit;
                next = self.after(place, is_below);
                if is_below {
                    return Some(self.heap[place].1);
                }
            }
            None
        })
    }

    /// The next place in preorder, with or without the subtree of this one.
    fn after(&self, mut place: usize, descend: bool) -> Option<usize> {
        if descend && 2 * place + 1 < self.heap.len() {
            return Some(2 * place + 1);
        }
        while place > 0 {
            if place % 2 == 1 && place + 1 < self.heap.len() {
                return Some(place + 1);
            }
            place = (place - 1) / 2;
        }
        None
    }

    fn rise(&mut self, mut place: usize) {
        while place > 0 && self.heap[place] < self.heap[(place - 1) / 2] {
            self.heap.swap(place, (place - 1) / 2);
            self.settle(place);
            place = (place - 1) / 2;
        }
        self.settle(place);
    }

    fn sink(&mut self, mut place: usize) {
        loop {
            let children =
                [2 * place + 1, 2 * place + 2].into_iter().filter(|child| *child < self.heap.len());
            let Some(least) = children.min_by_key(|child| self.heap[*child]) else { break };
            if self.heap[place] <= self.heap[least] {
                break;
            }
            self.heap.swap(place, least);
            self.settle(place);
            place = least;
        }
        self.settle(place);
    }

    fn settle(&mut self, place: usize) {
        self.places[self.heap[place].1 as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_holds_what_a_sorted_set_holds_and_finds_all_below_a_limit(
            steps in prop::collection::vec((0u32..40, 0u64..30, any::<bool>()), 1..200),
            limit in 0u64..30,
        ) {
            let (mut ordered, mut sorted) = (Ordered::default(), BTreeSet::new());
            for (age, (unit, time, removes)) in steps.into_iter().enumerate() {
                let held = sorted.iter().find(|(_, held)| *held == unit).copied();
                prop_assert_eq!(ordered.remove(unit), held.is_some());
                if let Some(held) = held {
                    sorted.remove(&held);
                }
                if !removes {
                    let key: Key = (time, age as u64);
                    ordered.insert(unit, key);
                    sorted.insert((key, unit));
                }
                prop_assert_eq!(ordered.first(), sorted.first().copied());
                prop_assert_eq!((ordered.len(), ordered.is_empty()), (sorted.len(), sorted.is_empty()));
                let mut below: Vec<u32> = ordered.below(limit).collect();
                let mut expected: Vec<u32> =
                    sorted.iter().filter(|(key, _)| key.0 < limit).map(|(_, unit)| *unit).collect();
                below.sort_unstable();
                expected.sort_unstable();
                prop_assert_eq!(below, expected);
            }
        }
    }
}
