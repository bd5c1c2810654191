//! Names and their places, found in about the time it takes to read a name, whatever their number.

use std::ops::Deref;

/// The hash of nothing.
pub(super) const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a, which can continue from an earlier hash.
pub(super) fn hashed(hash: u64, text: &str) -> u64 {
    text.bytes().fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Places by hash: an open table, which nothing iterates over.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// Hashes with places; the number of cells is a power of two, at most half of them in use.
    cells: Vec<Option<(u32, u32)>>,
    taken: usize,
}

impl Index {
    /// Adds a place.
    pub(super) fn insert(&mut self, hash: u64, place: usize) {
        if 2 * (self.taken + 1) > self.cells.len() {
            let larger = vec![None; (2 * self.cells.len()).max(8)];
            let before = std::mem::replace(&mut self.cells, larger);
            before.into_iter().flatten().for_each(|taken| self.put(taken));
        }
        self.put((folded(hash), place as u32));
        self.taken += 1;
    }

    fn put(&mut self, taken: (u32, u32)) {
        let mut cell = self.first(taken.0);
        while self.cells[cell].is_some() {
            cell = self.next(cell);
        }
        self.cells[cell] = Some(taken);
    }

    /// The place with this hash that satisfies `is_meant`.
    pub(super) fn find(&self, hash: u64, is_meant: impl Fn(usize) -> bool) -> Option<usize> {
        if self.cells.is_empty() {
            return None;
        }
        let hash = folded(hash);
        let mut cell = self.first(hash);
        while let Some((other, place)) = self.cells[cell] {
            if other == hash && is_meant(place as usize) {
                return Some(place as usize);
            }
            cell = self.next(cell);
        }
        None
    }

    fn first(&self, hash: u32) -> usize {
        hash as usize & (self.cells.len() - 1)
    }

    fn next(&self, cell: usize) -> usize {
        (cell + 1) & (self.cells.len() - 1)
    }
}

fn folded(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

/// Names in order, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct Roster {
    names: Vec<String>,
    index: Index,
}

impl Roster {
    /// Adds a name, unless it is there; returns whether it was new.
    pub(super) fn add(&mut self, name: String) -> bool {
        let is_new = self.place(&name).is_none();
        if is_new {
            self.index.insert(hashed(EMPTY, &name), self.names.len());
            self.names.push(name);
        }
        is_new
    }

    /// The place of a name among them.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.index.find(hashed(EMPTY, name), |place| self.names[place] == name)
    }

    /// Whether a name may refer to something: one of them, or a member of one, such as `sta12` of `sta`.
    pub(super) fn may_hold(&self, name: &str) -> bool {
        self.place(name).is_some() || self.groups_of(name).next().is_some()
    }

    /// The names of groups of which this may be a member by its name, each with the number of the member.
    pub(super) fn groups_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (usize, u64)> + 'a {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        (1..=digits).rev().filter_map(move |digits| {
            let (group, number) = name.split_at(name.len() - digits);
            let number = number.parse().ok().filter(|_| !number.starts_with('0'))?;
            Some((self.place(group)?, number))
        })
    }
}

impl Deref for Roster {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_many_names_has_its_place_and_none_is_taken_twice() {
        let mut roster = Roster::default();
        assert_eq!(roster.place("n0"), None);
        for number in 0..5000 {
            assert!(roster.add(format!("n{number}")));
        }
        assert!((0..5000).all(|number| roster.place(&format!("n{number}")) == Some(number)));
        assert!(!roster.add("n17".to_string()) && roster.len() == 5000);
        assert_eq!(roster.place("n5000"), None);
        assert_eq!(roster.place(""), None);
    }

    #[test]
    fn a_name_that_ends_in_a_number_may_be_a_member_of_what_stands_before() {
        let mut roster = Roster::default();
        for name in ["sta", "sta1"] {
            roster.add(name.to_string());
        }
        assert_eq!(roster.groups_of("sta12").collect::<Vec<_>>(), [(0, 12), (1, 2)]);
        assert!(roster.may_hold("sta3") && !roster.may_hold("sta03") && !roster.may_hold("ap1"));
    }
}
