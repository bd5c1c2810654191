//! A hash table keyed by pairs of nodes.

/// A key that no pair has.
const NOBODY: u64 = u64::MAX;
/// 2^64 by the golden ratio: products with it differ in their first bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A value for each of some pairs of nodes: an open hash table, which nothing iterates over.
#[derive(Clone, Debug)]
pub(crate) struct Pairs<T> {
    /// Their number is a power of two; at most half of them are in use.
    cells: Vec<(u64, T)>,
    taken: usize,
}

/// The most memory per pair: a quarter of the cells may be in use, and while they grow the old half as many remain.
pub(crate) const fn bytes_a_pair<T>() -> usize {
    6 * size_of::<(u64, T)>()
}

impl<T: Copy + Default> Default for Pairs<T> {
    fn default() -> Pairs<T> {
        Pairs { cells: vec![(NOBODY, T::default()); 2], taken: 0 }
    }
}

impl<T: Copy + Default> Pairs<T> {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.taken
    }

    /// The value of a pair.
    #[inline]
    pub(crate) fn get(&self, one: u32, other: u32) -> Option<T> {
        let key = key(one, other);
        let mut cell = self.first(key);
        loop {
            let (found, value) = self.cells[cell];
            if found == key {
                return Some(value);
            }
            if found == NOBODY {
                return None;
            }
            cell = (cell + 1) & (self.cells.len() - 1);
        }
    }

    /// Sets the value of a pair that has none; returns whether it had none.
    pub(crate) fn insert(&mut self, one: u32, other: u32, value: T) -> bool {
        if self.get(one, other).is_some() {
            return false;
        }
        if 2 * (self.taken + 1) > self.cells.len() {
            let larger = vec![(NOBODY, T::default()); 2 * self.cells.len()];
            let before = std::mem::replace(&mut self.cells, larger);
            for (key, value) in before.into_iter().filter(|(key, _)| *key != NOBODY) {
                self.put(key, value);
            }
        }
        self.put(key(one, other), value);
        self.taken += 1;
        true
    }

    /// Gives a pair its value, whether it has one or not.
    pub(crate) fn set(&mut self, one: u32, other: u32, value: T) {
        if self.insert(one, other, value) {
            return;
        }
        let key = key(one, other);
        let mut cell = self.first(key);
        while self.cells[cell].0 != key {
            cell = (cell + 1) & (self.cells.len() - 1);
        }
        self.cells[cell].1 = value;
    }

    fn put(&mut self, key: u64, value: T) {
        let mut cell = self.first(key);
        while self.cells[cell].0 != NOBODY {
            cell = (cell + 1) & (self.cells.len() - 1);
        }
        self.cells[cell] = (key, value);
    }

    #[inline]
    fn first(&self, key: u64) -> usize {
        (key.wrapping_mul(SPREAD) >> (64 - self.cells.len().trailing_zeros())) as usize
    }
}

#[inline]
fn key(one: u32, other: u32) -> u64 {
    u64::from(one) << 32 | u64::from(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_many_pairs_keeps_its_first_value() {
        let mut pairs: Pairs<u32> = Pairs::default();
        assert_eq!(pairs.get(0, 0), None);
        for one in 0..100 {
            for other in 0..100 {
                assert!(pairs.insert(one, other, 1000 * one + other));
                assert!(!pairs.insert(one, other, 7));
            }
        }
        assert_eq!(pairs.len(), 10_000);
        let right = |one, other| pairs.get(one, other) == Some(1000 * one + other);
        assert!((0..100).all(|one| (0..100).all(|other| right(one, other))));
        assert_eq!(pairs.get(100, 0), None);
        pairs.set(99, 98, 5);
        pairs.set(100, 0, 6);
        assert_eq!(
            (pairs.get(99, 98), pairs.get(99, 99), pairs.get(100, 0)),
            (Some(5), Some(99_099), Some(6))
        );
    }
}
