//! Duplicate acknowledgements reported by both link and receiver: each is forwarded once.

use crate::state_bytes::state_bytes;

state_bytes! {
    /// Duplicates since the last advance: generated here for data delivered beyond a hole, sent by the receiver for the
    /// same data, and passed up. The last is the larger of the other two.
    #[derive(Clone, Copy, Debug, Default)]
    pub(super) struct Repeats {
        made: u32,
        heard: u32,
        told: u32,
    }
}

impl Repeats {
    /// One more, for a delivery of the link. Returns true if the sender has not had it from the receiver.
    pub(super) fn make(&mut self) -> bool {
        self.made += 1;
        self.is_news(self.made)
    }

    /// One more, from the receiver. Returns true if the sender has not had it for a delivery of the link.
    pub(super) fn hear(&mut self) -> bool {
        self.heard += 1;
        self.is_news(self.heard)
    }

    fn is_news(&mut self, count: u32) -> bool {
        let news = count > self.told;
        self.told = self.told.max(count);
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_link_and_receiver_both_tell_the_sender_gets_the_greater_number() {
        let mut repeats = Repeats::default();
        assert_eq!([repeats.make(), repeats.make()], [true, true]);
        assert_eq!([repeats.hear(), repeats.hear(), repeats.hear()], [false, false, true]);
        assert_eq!([repeats.make(), repeats.make()], [false, true]);
    }
}
