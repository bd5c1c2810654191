//! The heads of the columns of a trace.

use super::store::Kind;

/// A column: its name, and what its cells are.
pub(crate) type ColumnHead = (&'static str, Cells);

/// The type of the cells of a column.
#[derive(Clone, Debug)]
pub(crate) enum Cells {
    /// Numbers.
    Float,
    /// Integers.
    Int,
    /// Words of this list. A code beyond the list denotes something without a name, which is the last entry.
    Word(Vec<String>),
}

impl Cells {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Cells::Float => Kind::Float,
            Cells::Int => Kind::Int,
            Cells::Word(_) => Kind::Word,
        }
    }
}

/// Columns of numbers.
pub(crate) fn numbers<const N: usize>(names: [&'static str; N]) -> Vec<ColumnHead> {
    names.map(|name| (name, Cells::Float)).into()
}

/// Columns of integers.
pub(crate) fn ints<const N: usize>(names: [&'static str; N]) -> Vec<ColumnHead> {
    names.map(|name| (name, Cells::Int)).into()
}

/// A column of words.
pub(crate) fn words(name: &'static str, list: &[impl ToString]) -> ColumnHead {
    (name, Cells::Word(list.iter().map(ToString::to_string).collect()))
}
