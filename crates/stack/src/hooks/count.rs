//! How a scheme describes its counters.

/// A counter of a scheme, with its value. A host makes a metric of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Its name within its scheme, in snake case.
    pub name: &'static str,
    /// The unit of the count.
    pub unit: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
    /// How much, since the scheme began.
    pub value: u64,
}

/// The counters of a scheme: of each its meaning, name, unit and value.
macro_rules! counts {
    ($($(#[doc = $line:literal])+ $name:literal: $unit:literal = $value:expr;)+) => {
        vec![$($crate::hooks::Count {
            name: $name,
            unit: $unit,
            meaning: concat!($($line),+).trim_ascii_start(),
            value: $value,
        }),+]
    };
}

pub(crate) use counts;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_has_the_lines_of_its_meaning() {
        let late = 3;
        let counts = counts! {
            /// acknowledgements forwarded because
            /// the maximum time had passed
            "late": "segments" = late;
            /// losses
            "lost": "B" = late + 1;
        };
        let meaning = "acknowledgements forwarded because the maximum time had passed";
        let late = Count { name: "late", unit: "segments", meaning, value: 3 };
        assert_eq!(counts, [late, Count { name: "lost", unit: "B", meaning: "losses", value: 4 }]);
    }
}
