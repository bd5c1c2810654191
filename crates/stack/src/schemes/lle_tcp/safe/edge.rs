//! The right edge of the receiver, which is never extended.

use crate::state_bytes::state_bytes;

state_bytes! {
    /// The highest stream offset up to which the receiver has offered room. `None` before the first offer.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Edge {
        highest: Option<u64>,
        /// The edge that the sender knows.
        told: u64,
    }
}

impl Edge {
    /// The edge after a SYN that may have offered one.
    pub(super) fn new(offered: Option<u64>) -> Edge {
        Edge { highest: offered, told: offered.unwrap_or(0) }
    }

    /// Whether the receiver has offered a window; before that, nothing is sent in its name.
    pub(super) fn is_known(&self) -> bool {
        self.highest.is_some()
    }

    /// The highest edge, 0 before the first.
    pub(super) fn highest(&self) -> u64 {
        self.highest.unwrap_or(0)
    }

    /// The edge that the sender knows.
    pub(super) fn told(&self) -> u64 {
        self.told
    }

    /// Whether the sender does not know the highest edge.
    pub(super) fn is_news(&self) -> bool {
        self.highest > Some(self.told)
    }

    /// The receiver offers room up to `edge`. Returns true if it exceeds the earlier edge.
    pub(super) fn raise(&mut self, edge: u64) -> bool {
        let widened = Some(edge) > self.highest;
        self.highest = self.highest.max(Some(edge));
        widened
    }

    /// The sender is notified of `edge`.
    pub(super) fn tell(&mut self, edge: u64) {
        self.told = self.told.max(edge);
    }

    /// The window beyond `offset`.
    pub(super) fn window(&self, offset: u64) -> u64 {
        self.highest().saturating_sub(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_never_goes_back_and_is_news_until_the_sender_knows_it() {
        let mut edge = Edge::new(None);
        assert!(!edge.is_known() && !edge.is_news());
        assert!(edge.raise(5_000) && edge.is_known() && edge.is_news());
        assert!(!edge.raise(4_000) && !edge.raise(5_000));
        assert_eq!((edge.highest(), edge.window(3_000), edge.window(6_000)), (5_000, 2_000, 0));
        edge.tell(4_000);
        assert!(edge.is_news());
        edge.tell(5_000);
        edge.tell(1_000);
        assert_eq!((edge.is_news(), edge.told()), (false, 5_000));
    }

    #[test]
    fn the_sender_knows_what_the_syn_offered() {
        let edge = Edge::new(Some(1_000));
        assert_eq!((edge.is_known(), edge.is_news(), edge.told()), (true, false, 1_000));
    }
}
