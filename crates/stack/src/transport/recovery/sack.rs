//! Conservative loss recovery by selective acknowledgements.
//!
//! **Source.** RFC 6675, 4 and 5; RFC 8985, 6.2, for lost copies. Where losses are detected by time, all of RFC 8985, 6
//! (`rack.rs`), instead of `IsLost`, of rules 3 and 4, and of the go-back after a timeout.
//!
//! **How.** `pipe` counts the segments estimated to be in the network. While `cwnd - pipe >= 1` the sender sends, in
//! this order: holes declared lost, new data, other holes, and once per recovery the last hole of all (the rescue).
//!
//! **Choices.** 1. Outside recovery the same pipe applies, so a duplicate with new information releases one segment
//! (step 3 of section 5, RFC 3042) if limited transmit is on. 2. After a timeout the scoreboard is kept (RFC 6675,
//! 5.1), or cleared if the profile says so. Slow start resends within `una + cwnd` (RFC 5681, 2) and skips what was
//! selectively acknowledged. 3. RFC 6675 leaves the loss of a copy to the timer. On request it is detected by the
//! arrival of a segment that left after the copy, either new or a copy itself (RFC 8985, 6.2). A copy counts only if it
//! had at least the minimum round trip in which to arrive, taken over the whole connection and not over a recent
//! window. Nothing is reordered here, so RFC 8985's reordering window is zero. The copy is sent again ahead of all
//! else, and the window does not change, as in Linux; RFC 5681 (4.3) would reduce it a second time. 4. The rescue is a
//! SHOULD of RFC 6675 (4, rule 4). It is omitted while nothing has arrived that left after the last hole. If only the
//! window stops new data, that hole is a segment just sent, in answer to this acknowledgement or a few before it.
//!
//! **Checked by** `tests/scripts/sack-*`.

use std::collections::VecDeque;

use super::copies_ahead;
use super::rack::Rack;
use crate::hooks::scoreboard::{DUP_THRESH, Scoreboard};
use crate::hooks::{Declared, Fresh, LossResponse, Pick, Recovery, Verdict, Window};
use crate::transport::tcp::{Config, LossDetection, LostRetransmission, SackAfterTimeout};
use crate::units::Time;

/// RFC 6675's recovery.
#[derive(Clone, Debug)]
pub struct Sack {
    duplicates: u32,
    /// `RecoveryPoint`.
    point: Option<u64>,
    active: bool,
    /// Number after the highest segment resent in this recovery (`HighRxt`).
    resent_below: u64,
    /// `RescueRxt`.
    rescued: Option<u64>,
    head_copies: u8,
    after_timeout: SackAfterTimeout,
    limited_transmit: bool,
    lost_retransmission: LostRetransmission,
    /// The copies of this recovery with their departures, in their order.
    copies: VecDeque<(Time, u64)>,
    /// Segments whose last copy was overtaken, to be sent again.
    overtaken: VecDeque<u64>,
    /// Where losses are detected by time, instead of `IsLost`, rules 3 and 4, and `lost_retransmission`.
    rack: Option<Rack>,
}

impl Sack {
    /// At the start of a connection.
    #[must_use]
    pub fn new<P>(config: &Config<P>) -> Sack {
        Sack {
            duplicates: 0,
            point: None,
            active: false,
            resent_below: 0,
            rescued: None,
            head_copies: 0,
            after_timeout: config.sack_after_timeout,
            limited_transmit: config.limited_transmit,
            lost_retransmission: config.lost_retransmission,
            copies: VecDeque::new(),
            overtaken: VecDeque::new(),
            rack: (config.loss_detection == LossDetection::Time).then(Rack::default),
        }
    }

    /// Declares lost what the scoreboard shows to be lost.
    fn mark_lost(&mut self, board: &mut Scoreboard) {
        let recovers = self.is_below_point(board);
        match &mut self.rack {
            Some(rack) => rack.detect(board, recovers),
            None => board.mark_lost(),
        }
    }

    /// Whether what was outstanding at the last loss is not yet acknowledged.
    fn is_below_point(&self, board: &Scoreboard) -> bool {
        self.point.is_some_and(|point| board.una() < point)
    }

    /// Whether what RACK has declared lost begins a recovery: also a segment that the last one sent again, but which had left after
    /// it began, as in Linux.
    fn begins(&self, board: &Scoreboard) -> bool {
        board.missing() > 0 && !self.is_below_point(board)
    }

    /// What RACK sends next: lost copies, lost segments, new data.
    fn next_by_time(&mut self, board: &Scoreboard) -> Option<Pick> {
        if board.lost() == 0 {
            return Some(Pick::New);
        }
        if let Some(number) = self.rack.as_mut().and_then(|rack| rack.next_overtaken(board)) {
            return Some(Pick::Again(number));
        }
        let lost = board.first_lost(self.resent_below).or_else(|| board.first_lost(board.base()));
        self.resent_below = lost.map_or(self.resent_below, |number| self.resent_below.max(number + 1));
        lost.map_or(Some(Pick::New), |number| Some(Pick::Again(number)))
    }

    /// Declares copies lost that left before a segment which has arrived. Each copy is checked once.
    fn find_overtaken(&mut self, board: &mut Scoreboard) {
        while let Some(&(left, number)) = self.copies.front()
            && left < board.latest_arrived()
        {
            self.copies.pop_front();
            let is_last = number >= board.base() && board.get(number).at == left;
            if is_last && !board.is_sacked(number) {
                board.lose(number);
                self.overtaken.push_back(number);
            }
        }
    }

    fn next_overtaken(&mut self, board: &Scoreboard) -> Option<Pick> {
        let is_due = |number: u64| number >= board.base() && board.is_lost(number);
        while let Some(number) = self.overtaken.pop_front() {
            if is_due(number) {
                return Some(Pick::Again(number));
            }
        }
        None
    }

    /// Recovery is over, one way or the other.
    fn end(&mut self) {
        self.active = false;
        self.copies.clear();
        self.overtaken.clear();
    }

    /// `NextSeg ()` of RFC 6675, 4, by its numbered rules.
    fn next_segment(&mut self, board: &Scoreboard, fresh: Fresh) -> Option<Pick> {
        if let Some(pick) = self.next_overtaken(board) {
            return Some(pick);
        }
        let highest = board.number_at(board.fack());
        let rule_1 = board.first_unsacked(self.resent_below, board.lost_below().min(highest));
        let rule_2 = (fresh == Fresh::Ready).then_some(Pick::New);
        let rule_3 = || board.first_unsacked(self.resent_below, highest).map(Pick::Again);
        let pick = rule_1.map(Pick::Again).or(rule_2).or_else(rule_3);
        if pick.is_none() && self.rescued.is_none_or(|rescued| board.una() > rescued) {
            // Rule 4, once: it leaves `HighRxt` where it is.
            let overtaken = |number: &u64| board.get(*number).at < board.latest_arrived();
            let rescue = board.last_unsacked().filter(overtaken)?;
            self.rescued = self.point;
            return Some(Pick::Again(rescue));
        }
        if let Some(Pick::Again(number)) = pick {
            self.resent_below = number + 1;
        }
        pick
    }
}

impl Recovery for Sack {
    #[inline]
    fn on_advance(&mut self, _: u32, board: &mut Scoreboard, _: &mut Window) -> Verdict {
        self.duplicates = 0;
        self.head_copies = 0;
        self.mark_lost(board);
        if !self.active {
            let lost = self.rack.is_some() && self.begins(board);
            return if lost { Verdict::Lost } else { Verdict::Open };
        }
        if !self.is_below_point(board) {
            self.end();
            return Verdict::Ended;
        }
        self.find_overtaken(board);
        Verdict::Partial
    }

    fn on_duplicate(&mut self, board: &mut Scoreboard, _: &mut Window) -> Verdict {
        self.mark_lost(board);
        if self.active {
            self.find_overtaken(board);
            return Verdict::Holding;
        }
        self.duplicates += 1;
        if self.rack.is_some() {
            return if self.begins(board) { Verdict::Lost } else { Verdict::Open };
        }
        let told = self.duplicates >= DUP_THRESH || (!board.is_empty() && board.is_lost(board.base()));
        let news = self.point.is_none_or(|point| board.una() >= point);
        if told && news { Verdict::Lost } else { Verdict::Open }
    }

    fn begin(&mut self, response: LossResponse, board: &mut Scoreboard, _: &mut Window) {
        self.head_copies = response.copies;
        if self.rack.is_none() || board.missing() == 0 {
            board.lose(board.base());
        }
        if !board.is_lost(board.base()) {
            self.head_copies = 0;
        }
        if self.active {
            return;
        }
        self.active = true;
        self.point = Some(board.sent_end());
        match &mut self.rack {
            Some(rack) => rack.on_begin(),
            None => board.suspect_copies(board.base() + 1),
        }
        self.resent_below = board.base();
        // Step 4.3: nor may a rescue go before the first hole is filled.
        let first = board.get(board.base());
        self.rescued = Some(first.end());
    }

    fn on_timeout(&mut self, response: LossResponse, board: &mut Scoreboard) {
        if self.active && self.rack.is_none() {
            board.settle_suspected(self.resent_below);
        }
        self.end();
        self.duplicates = 0;
        self.point = Some(board.sent_end());
        if let Some(rack) = &mut self.rack {
            // What else is in the network may fill the window.
            self.head_copies = response.copies;
            self.resent_below = board.base();
            if self.after_timeout == SackAfterTimeout::Cleared {
                board.lose_all(self.after_timeout);
            }
            rack.on_timeout(board);
            return;
        }
        self.head_copies = copies_ahead(response);
        board.lose_all(self.after_timeout);
        board.go_back();
    }

    fn is_by_time(&self) -> bool {
        self.rack.is_some()
    }

    fn wakes_at(&self) -> Option<Time> {
        self.rack.as_ref().and_then(|rack| rack.wake)
    }

    fn on_time(&mut self, board: &mut Scoreboard) -> bool {
        self.mark_lost(board);
        !self.active && self.begins(board)
    }

    fn on_duplicate_report(&mut self, ack: u64, board: &Scoreboard) {
        if let Some(rack) = &mut self.rack {
            rack.on_duplicate_report(ack, board);
        }
    }

    fn undo(&mut self, declared: Declared, board: &mut Scoreboard) {
        self.end();
        (self.head_copies, self.duplicates, self.point) = (0, 0, None);
        if declared == Declared::Withdrawn
            && let Some(rack) = &mut self.rack
        {
            rack.undo(board);
        }
    }

    #[inline]
    fn next(&mut self, board: &Scoreboard, window: &Window, fresh: Fresh) -> Option<Pick> {
        if self.head_copies > 0 && !board.is_empty() {
            return Some(Pick::Again(board.base()));
        }
        let cwnd = window.cwnd as u32;
        if self.rack.is_some() {
            let outstanding = if self.limited_transmit || board.lost() > 0 || self.active {
                board.pipe()
            } else {
                board.flight()
            };
            return if outstanding < cwnd { self.next_by_time(board) } else { None };
        }
        if self.active {
            return if board.pipe() < cwnd { self.next_segment(board, fresh) } else { None };
        }
        if board.is_behind() {
            return board.next_in_slow_start(cwnd);
        }
        let outstanding = if self.limited_transmit { board.pipe() } else { board.flight() };
        (outstanding < cwnd).then_some(Pick::New)
    }

    fn on_sent(&mut self, pick: Pick, board: &Scoreboard) {
        if self.head_copies > 0 && pick == Pick::Again(board.base()) {
            self.head_copies -= 1;
            self.resent_below = self.resent_below.max(board.base() + 1);
        }
        if let Pick::Again(number) = pick
            && let Some(rack) = &mut self.rack
        {
            rack.on_copy(board, number);
        } else if let Pick::Again(number) = pick
            && self.active
            && self.lost_retransmission == LostRetransmission::Overtaken
        {
            self.copies.push_back((board.get(number).at, number));
        }
    }

    fn goes_by_pipe(&self) -> bool {
        true
    }

    fn holds_sacked(&self) -> bool {
        true
    }

    #[inline]
    fn is_active(&self) -> bool {
        self.active
    }

    fn has_reduced(&self, board: &Scoreboard) -> bool {
        self.rack.is_some() && self.active && self.is_below_point(board)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{LEN, REDUCED, board, config, duplicates, send, send_at, window};
    use super::*;

    /// What left at 0 ns is acknowledged at 10 ns: the least round trip.
    fn in_recovery() -> (Sack, Scoreboard, Window) {
        let (mut sack, mut board, mut window) = (Sack::new(&config()), board(12), window(12.0));
        board.hear(Time(10));
        for right in [3, 4, 5] {
            board.sack(2 * LEN, right * LEN);
            let told = sack.on_duplicate(&mut board, &mut window);
            assert_eq!(told, if right == 5 { Verdict::Lost } else { Verdict::Open });
        }
        window.cwnd = 6.0;
        sack.begin(REDUCED, &mut board, &mut window);
        (sack, board, window)
    }

    #[test]
    fn the_first_hole_is_resent_whatever_the_pipe_and_the_next_when_the_pipe_allows() {
        let (mut sack, mut board, mut window) = in_recovery();
        // pipe = 12 - 3 sacked - 2 lost = 7, and 8 with the first hole resent.
        assert_eq!(send(&mut sack, &mut board, &window, Fresh::Ready), [Pick::Again(0)]);
        assert_eq!(board.pipe(), 8);
        board.sack(5 * LEN, 8 * LEN);
        sack.on_duplicate(&mut board, &mut window);
        assert_eq!(send(&mut sack, &mut board, &window, Fresh::Ready), [Pick::Again(1)]);
    }

    #[test]
    fn new_data_goes_before_holes_that_are_not_lost_and_the_rescue_comes_last_and_once() {
        let (mut sack, mut board, mut window) = in_recovery();
        send_at(Time(10), &mut sack, &mut board, &window, Fresh::Withheld);
        board.sack(6 * LEN, 11 * LEN);
        sack.on_duplicate(&mut board, &mut window);
        // Holes 1 and 5 are lost (rule 1), with five sacked above; 11 can only be rescued, and not before the first
        // hole is filled (rule 4).
        let sent = send(&mut sack, &mut board, &window, Fresh::Withheld);
        assert_eq!(sent, [Pick::Again(1), Pick::Again(5)]);
        board.hear(Time(20));
        board.advance(LEN);
        sack.on_advance(1, &mut board, &mut window);
        assert_eq!(
            send(&mut sack, &mut board, &window, Fresh::Withheld),
            [],
            "nothing behind the first hole"
        );
        board.advance(5 * LEN);
        sack.on_advance(4, &mut board, &mut window);
        assert_eq!(send(&mut sack, &mut board, &window, Fresh::Withheld), [Pick::Again(11)]);
        window.cwnd = 20.0;
        assert_eq!(send(&mut sack, &mut board, &window, Fresh::Withheld), []);
    }

    #[test]
    fn what_may_still_be_on_its_way_is_not_rescued() {
        let (mut sack, mut board, mut window) = in_recovery();
        window.cwnd = 20.0;
        // The copy of 0 and new data behind it leave; the peer's window has no room for more.
        assert_eq!(sack.next(&board, &window, Fresh::Ready), Some(Pick::Again(0)));
        board.resend(0, Time(10));
        sack.on_sent(Pick::Again(0), &board);
        send_at(Time(10), &mut sack, &mut board, &window, Fresh::Withheld);
        board.push(LEN as u32, false, Time(11));
        sack.on_sent(Pick::New, &board);
        board.hear(Time(20));
        board.sack(6 * LEN, 12 * LEN);
        board.advance(5 * LEN);
        sack.on_advance(5, &mut board, &mut window);
        // The copies of 0 and 1 have arrived, but nothing that left after the new segment.
        let sent = send_at(Time(20), &mut sack, &mut board, &window, Fresh::Withheld);
        assert_eq!(sent, [Pick::Again(5)]);
        board.hear(Time(30));
        board.sack(5 * LEN, 6 * LEN);
        sack.on_duplicate(&mut board, &mut window);
        let sent = send_at(Time(30), &mut sack, &mut board, &window, Fresh::Withheld);
        assert_eq!(sent, [Pick::Again(12)]);
    }

    #[test]
    fn a_timeout_resends_within_the_window_what_was_not_selectively_acknowledged() {
        let (mut sack, mut board, mut window) = in_recovery();
        sack.on_timeout(REDUCED, &mut board);
        window.cwnd = 6.0;
        let sent = send(&mut sack, &mut board, &window, Fresh::Ready);
        assert_eq!(sent, [Pick::Again(0), Pick::Again(1), Pick::Again(5)]);
    }

    /// In recovery, with the holes 0 and 1 resent after 10 ns and a new segment sent after 11 ns, which is acknowledged.
    fn overtaken(rule: LostRetransmission) -> (Sack, Scoreboard, Window) {
        let (mut sack, mut board, mut window) = in_recovery();
        sack.lost_retransmission = rule;
        window.cwnd = 9.0;
        for _ in 0..2 {
            let Some(Pick::Again(number)) = sack.next(&board, &window, Fresh::Ready) else {
                panic!("a hole")
            };
            board.resend(number, Time(10));
            sack.on_sent(Pick::Again(number), &board);
        }
        board.push(LEN as u32, false, Time(11));
        sack.on_sent(Pick::New, &board);
        board.hear(Time(21));
        board.sack(5 * LEN, 13 * LEN);
        sack.on_duplicate(&mut board, &mut window);
        (sack, board, window)
    }

    #[test]
    fn a_copy_that_a_later_segment_overtook_goes_again_where_that_is_asked_for() {
        let (mut sack, mut board, window) = overtaken(LostRetransmission::Timer);
        assert_eq!(board.pipe(), 2);
        assert_eq!(send(&mut sack, &mut board, &window, Fresh::Withheld), []);
        let (mut sack, mut board, window) = overtaken(LostRetransmission::Overtaken);
        assert_eq!(board.pipe(), 0);
        let sent = send(&mut sack, &mut board, &window, Fresh::Withheld);
        assert_eq!(sent, [Pick::Again(0), Pick::Again(1)]);
        assert_eq!(board.pipe(), 2);
    }

    /// The copies of 0 and 1 leave again, at 21 and 22 ns, and the one of 1 is acknowledged.
    fn one_of_two_copies(heard: Time) -> (Sack, Scoreboard, Window) {
        let (mut sack, mut board, mut window) = overtaken(LostRetransmission::Overtaken);
        for _ in 0..2 {
            let Some(Pick::Again(number)) = sack.next(&board, &window, Fresh::Withheld) else {
                panic!("a hole")
            };
            board.resend(number, Time(21 + number));
            sack.on_sent(Pick::Again(number), &board);
        }
        board.hear(heard);
        board.sack(LEN, 2 * LEN);
        sack.on_duplicate(&mut board, &mut window);
        (sack, board, window)
    }

    #[test]
    fn a_copy_that_another_copy_overtook_goes_again_too() {
        let (mut sack, mut board, window) = one_of_two_copies(Time(32));
        assert_eq!((board.pipe(), board.latest_arrived()), (0, Time(22)));
        assert_eq!(send(&mut sack, &mut board, &window, Fresh::Withheld), [Pick::Again(0)]);
    }

    #[test]
    fn nothing_is_overtaken_by_a_copy_that_had_less_than_the_least_round_trip() {
        // It may be the first copy of 1, which left with that of 0, that has arrived.
        let (mut sack, mut board, window) = one_of_two_copies(Time(31));
        assert_eq!((board.pipe(), board.latest_arrived()), (1, Time(11)));
        assert_eq!(send(&mut sack, &mut board, &window, Fresh::Withheld), []);
    }

    #[test]
    fn duplicates_below_the_recovery_point_of_a_timeout_tell_nothing() {
        let (mut sack, mut board, mut window) = in_recovery();
        sack.on_timeout(REDUCED, &mut board);
        assert_eq!(duplicates(&mut sack, &mut board, &mut window, 5), Verdict::Open);
    }
}
