//! The receiving side of a block-ack agreement: the scoreboard and the reordering buffer.
//!
//! **Source.** IEEE 802.11-2020, 10.25.6.3 (full-state scoreboard), 10.25.6.6 (reordering buffer). The standard leaves the
//! time for which an MPDU waits to the receiver; mac80211 of Linux has 100 ms (`HT_RX_REORDER_BUF_TIMEOUT`).
//!
//! **How.** Both windows are rings. The scoreboard covers the last numbers up to the highest received, and survives until
//! they are left behind. The buffer begins at the first missing number; a packet beyond its end moves it.

use super::super::exchange::SEQUENCE_MASK;
use super::load::{BlockAck, after, ahead};
use crate::hooks::Rider;
use crate::units::{Span, Time};

/// Half of the numbers: what is further ahead is behind.
const HALF: u16 = 1 << 11;

/// What an MPDU is to its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrived {
    /// It goes up at once.
    InOrder,
    /// It waits for an earlier one.
    Early,
    /// It was received before.
    Duplicate,
    /// A later one has gone up already.
    Late,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    handle: u64,
    came: Time,
}

/// The agreement with one transmitter in one category.
#[derive(Clone, Debug)]
pub(super) struct Recipient {
    window: u16,
    /// The first number of the scoreboard.
    scored_from: u16,
    /// A bit for each number, modulo 1024.
    scored: [u64; 16],
    /// The number that goes up next.
    expected: u16,
    /// By number modulo the window; made when the first MPDU must wait.
    held: Vec<Option<Held>>,
    count: u32,
    /// What rode in the last acknowledgement.
    pub(super) gone: Vec<Rider>,
    /// MPDUs have come that are acknowledged on request: whether one of them came again.
    pub(super) is_unasked: Option<bool>,
    /// The number of the last frame outside of the agreement.
    pub(super) last_outside: Option<u16>,
}

impl Recipient {
    pub(super) fn new(window: u32) -> Recipient {
        Recipient {
            window: window as u16,
            scored_from: 0,
            scored: [0; 16],
            expected: 0,
            held: Vec::new(),
            count: 0,
            gone: Vec::new(),
            is_unasked: None,
            last_outside: None,
        }
    }

    /// Whether MPDUs wait.
    pub(super) fn holds(&self) -> bool {
        self.count > 0
    }

    /// Enters an MPDU in the scoreboard. Returns false if it was there before.
    fn score(&mut self, sequence: u16) -> bool {
        let mut place = ahead(sequence, self.scored_from);
        if place >= HALF {
            return false;
        }
        if place >= self.window {
            self.score_from(after(sequence, SEQUENCE_MASK + 2 - self.window));
            place = self.window - 1;
        }
        debug_assert!(place < self.window);
        let (word, bit) = (usize::from(sequence >> 6 & 15), 1 << (sequence & 63));
        let is_new = self.scored[word] & bit == 0;
        self.scored[word] |= bit;
        is_new
    }

    /// Moves the scoreboard on.
    fn score_from(&mut self, first: u16) {
        if ahead(first, self.scored_from) >= 1024 {
            self.scored = [0; 16];
        } else {
            let mut sequence = self.scored_from;
            while sequence != first {
                self.scored[usize::from(sequence >> 6 & 15)] &= !(1 << (sequence & 63));
                sequence = after(sequence, 1);
            }
        }
        self.scored_from = first;
    }

    /// An MPDU has arrived. What must go up before it is released first.
    pub(super) fn arrive(&mut self, sequence: u16, mut up: impl FnMut(u64)) -> Arrived {
        let is_new = self.score(sequence);
        let place = ahead(sequence, self.expected);
        match (is_new, place >= HALF) {
            (false, _) => return Arrived::Duplicate,
            (true, true) => return Arrived::Late,
            (true, false) => {}
        }
        if place >= self.window {
            self.move_to(after(sequence, SEQUENCE_MASK + 2 - self.window), &mut up);
        }
        if sequence == self.expected { Arrived::InOrder } else { Arrived::Early }
    }

    /// The MPDU that was in order has gone up.
    pub(super) fn passed(&mut self, up: impl FnMut(u64)) {
        self.expected = after(self.expected, 1);
        self.run(up);
    }

    /// Holds an early MPDU.
    pub(super) fn hold(&mut self, sequence: u16, handle: u64, now: Time) {
        if self.held.is_empty() {
            self.held.resize(usize::from(self.window), None);
        }
        let place = usize::from(sequence % self.window);
        debug_assert!(self.held[place].is_none());
        self.held[place] = Some(Held { handle, came: now });
        self.count += 1;
    }

    /// A BlockAckReq: nothing before `start` will come.
    pub(super) fn request(&mut self, start: u16, mut up: impl FnMut(u64)) {
        if (1..HALF).contains(&ahead(start, self.scored_from)) {
            self.score_from(start);
        }
        if (1..HALF).contains(&ahead(start, self.expected)) {
            self.move_to(start, &mut up);
            self.run(up);
        }
    }

    /// Stops waiting for the missing MPDUs for which others have waited since `timeout`. Returns when the next is due.
    pub(super) fn release(&mut self, timeout: Span, now: Time, mut up: impl FnMut(u64)) -> Time {
        while let Some((sequence, came)) = self.first() {
            if came.after(timeout) > now {
                return came.after(timeout);
            }
            self.move_to(sequence, &mut up);
            self.run(&mut up);
        }
        Time::NEVER
    }

    /// The first MPDU that waits.
    fn first(&self) -> Option<(u16, Time)> {
        (0..if self.count > 0 { self.window } else { 0 }).find_map(|place| {
            let sequence = after(self.expected, place);
            self.held[usize::from(sequence % self.window)].map(|held| (sequence, held.came))
        })
    }

    /// Passes up all that is before `first`.
    fn move_to(&mut self, first: u16, up: &mut impl FnMut(u64)) {
        while self.expected != first {
            if self.count == 0 {
                self.expected = first;
                return;
            }
            let place = usize::from(self.expected % self.window);
            if let Some(held) = self.held[place].take() {
                self.count -= 1;
                up(held.handle);
            }
            self.expected = after(self.expected, 1);
        }
    }

    /// Passes up what follows without a gap.
    fn run(&mut self, mut up: impl FnMut(u64)) {
        while self.count > 0
            && let Some(held) = self.held[usize::from(self.expected % self.window)].take()
        {
            self.count -= 1;
            self.expected = after(self.expected, 1);
            up(held.handle);
        }
    }

    /// What a BlockAck reports.
    pub(super) fn report(&self) -> BlockAck {
        let mut block = BlockAck { start: self.scored_from, bits: [0; 16] };
        for place in 0..self.window {
            let sequence = after(self.scored_from, place);
            if self.scored[usize::from(sequence >> 6 & 15)] >> (sequence & 63) & 1 == 1 {
                block.set(sequence);
            }
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An agreement whose MPDUs have their number as their handle.
    struct Script(Recipient, Vec<u64>);

    impl Script {
        fn new() -> Script {
            Script(Recipient::new(64), Vec::new())
        }

        fn arrive(&mut self, sequence: u16, now: Time) -> Arrived {
            let Script(recipient, up) = self;
            let arrived = recipient.arrive(sequence, |handle| up.push(handle));
            match arrived {
                Arrived::InOrder => {
                    up.push(u64::from(sequence));
                    recipient.passed(|handle| up.push(handle));
                }
                Arrived::Early => recipient.hold(sequence, u64::from(sequence), now),
                Arrived::Duplicate | Arrived::Late => {}
            }
            arrived
        }

        fn up(&mut self) -> Vec<u64> {
            std::mem::take(&mut self.1)
        }
    }

    fn ms(time: u64) -> Time {
        Time::ZERO + Span::from_millis(time)
    }

    #[test]
    fn mpdus_go_up_in_order_and_the_scoreboard_reports_each() {
        let mut script = Script::new();
        for sequence in [0, 2, 3] {
            script.arrive(sequence, ms(0));
        }
        assert_eq!(script.up(), [0]);
        let report = script.0.report();
        assert_eq!((report.start, report.bits[0]), (0, 0b1101));
        assert_eq!(script.arrive(1, ms(1)), Arrived::InOrder);
        assert_eq!(script.up(), [1, 2, 3]);
        assert_eq!(script.arrive(2, ms(1)), Arrived::Duplicate);
        assert!(!script.0.holds());
    }

    #[test]
    fn a_number_beyond_the_window_moves_it_and_releases_what_is_before() {
        let mut script = Script::new();
        script.arrive(1, ms(0));
        script.arrive(5, ms(0));
        assert_eq!(script.arrive(64 + 2, ms(0)), Arrived::Early);
        assert_eq!(script.up(), [1]);
        assert_eq!(script.0.expected, 3);
        assert_eq!(script.0.report().start, 3);
        // Numbers 0 to 2 are behind.
        assert_eq!(script.arrive(2, ms(0)), Arrived::Duplicate);
    }

    #[test]
    fn a_block_ack_request_releases_what_is_before_its_start_and_then_the_run() {
        let mut script = Script::new();
        for sequence in [2, 3, 6, 8] {
            script.arrive(sequence, ms(0));
        }
        let Script(recipient, up) = &mut script;
        recipient.request(6, |handle| up.push(handle));
        assert_eq!(script.up(), [2, 3, 6]);
        assert_eq!((script.0.expected, script.0.report().start), (7, 6));
        assert_eq!(script.0.report().bits[0], 0b101);
    }

    #[test]
    fn after_the_timeout_what_waits_goes_up_and_what_comes_then_is_late() {
        let mut script = Script::new();
        script.arrive(1, ms(0));
        script.arrive(3, ms(50));
        let Script(recipient, up) = &mut script;
        let timeout = Span::from_millis(100);
        assert_eq!(recipient.release(timeout, ms(99), |handle| up.push(handle)), ms(100));
        assert_eq!(recipient.release(timeout, ms(100), |handle| up.push(handle)), ms(150));
        assert_eq!(script.up(), [1]);
        assert_eq!(script.arrive(0, ms(101)), Arrived::Late);
        assert_eq!(script.arrive(2, ms(101)), Arrived::InOrder);
        assert_eq!(script.up(), [2, 3]);
    }

    #[test]
    fn numbers_come_round() {
        for window in [64, 256] {
            let mut script = Script(Recipient::new(window), Vec::new());
            for number in 0..3 * 4096_u32 {
                let sequence = (number & 0xFFF) as u16;
                script.arrive(sequence ^ 1, ms(0));
                let expected: &[u64] =
                    if number % 2 == 0 { &[] } else { &[u64::from(sequence) - 1, u64::from(sequence)] };
                assert_eq!(script.up(), expected, "{number}");
            }
        }
    }
}
