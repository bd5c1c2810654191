//! How a scheme describes its counters.

/// A counter of a scheme, with its value. A host makes a metric of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Its name within its scheme, in snake case.
    pub name: &'static str,
    /// What is counted.
    pub unit: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// How much, since the scheme began.
    pub value: u64,
}
