//! Duplicate acknowledgements of one flow: which of them asks for a copy, and which must follow one.

/// The duplicates since the last advance.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Duplicates {
    /// How many came.
    seen: u32,
    /// How many more are to come of what was sent behind the segment sent again; `None` before it was.
    expected: Option<u32>,
}

/// What a duplicate tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Tells {
    /// Too little: it is one of the first.
    Nothing,
    /// That the segment is lost.
    Loss,
    /// What a segment sent before the copy causes.
    Expected,
    /// That the copy is lost, too.
    LostCopy,
}

impl Duplicates {
    /// One more has come; so many of the first tell nothing.
    pub(in super::super) fn take(&mut self, threshold: u32) -> Tells {
        self.seen += 1;
        match &mut self.expected {
            None if self.seen <= threshold => Tells::Nothing,
            None => Tells::Loss,
            Some(0) => Tells::LostCopy,
            Some(expected) => {
                *expected -= 1;
                Tells::Expected
            }
        }
    }

    /// A copy goes, with so many segments behind it: each causes a duplicate, unless it has done so already.
    pub(in super::super) fn repaired(&mut self, behind: u32) {
        self.expected = Some(behind.saturating_sub(self.seen));
    }

    /// An acknowledgement has advanced.
    pub(in super::super) fn clear(&mut self) {
        *self = Duplicates::default();
    }
}
