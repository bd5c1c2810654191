//! The effect of `forget_sacks`, `lose`, `lose_all` and `find_lost` on each mark, and on the counts made from marks.

use super::*;
use crate::units::Time;

/// Ten segments of 100 bytes: 0 resent, 1 and 2 lost, 3 to 6 selectively acknowledged, 7 to 9 in flight.
fn board() -> Scoreboard {
    let mut board = Scoreboard::default();
    for index in 0..10 {
        board.push(100, false, Time(index));
    }
    board.sack(300, 700);
    board.mark_lost();
    board.resend(0, Time(50));
    board
}

/// The marks of all segments.
fn marks(board: &Scoreboard) -> Vec<Mark> {
    board.segments.iter().map(|segment| segment.mark).collect()
}

/// Checks that the counts are those of the marks.
fn check_counts(board: &Scoreboard) {
    let count = |mark: Mark| marks(board).into_iter().filter(|found| *found == mark).count() as u32;
    assert_eq!(
        (board.sacked, board.lost, board.resent, board.doubled),
        (count(Mark::Sacked), count(Mark::Lost), count(Mark::Resent), count(Mark::Doubled)),
    );
}

#[test]
fn forgotten_sacks_put_their_segments_back_in_flight_and_leave_the_losses() {
    let mut board = board();
    assert_eq!((board.sacked, board.pipe(), board.fack()), (4, 4, 700));
    board.forget_sacks();
    assert_eq!(marks(&board)[..3], [Mark::Resent, Mark::Lost, Mark::Lost]);
    assert_eq!(marks(&board)[3..], [Mark::InFlight; 7]);
    assert_eq!((board.sacked, board.pipe(), board.fack()), (0, 8, 0));
    check_counts(&board);
}

#[test]
fn forgotten_sacks_are_news_when_they_are_reported_again_and_not_delivered_twice() {
    let mut board = board();
    assert_eq!(board.take_news().bytes, 400);
    assert!(!board.sack(300, 700));
    board.forget_sacks();
    assert!(board.sack(300, 700));
    assert_eq!((board.sacked, board.fack(), board.take_news().bytes), (4, 700, 0));
    check_counts(&board);
}

#[test]
fn every_separate_range_is_forgotten_and_the_edge_is_what_is_acknowledged() {
    let mut board = board();
    board.sack(800, 900);
    board.resend(7, Time(60));
    board.advance(200);
    board.forget_sacks();
    assert_eq!((board.sacked, board.fack()), (0, 200));
    assert_eq!(board.get(7).mark, Mark::Doubled, "the hole between the ranges keeps its mark");
    assert_eq!(board.first_unsacked(8, 10), Some(8));
    check_counts(&board);
    let before = marks(&board);
    board.forget_sacks();
    assert_eq!(marks(&board), before, "there is nothing to forget");
}

#[test]
fn a_segment_in_flight_or_sent_again_can_be_declared_lost() {
    let mut board = board();
    // In flight though not lost by the rules, and sent again below the highest selectively acknowledged.
    board.sack(800, 900);
    board.resend(7, Time(60));
    assert_eq!(board.get(7).mark, Mark::Doubled);
    for (number, pipe) in [(9, 3), (7, 1), (0, 0)] {
        board.lose(number);
        assert!(board.is_lost(number));
        assert_eq!(board.pipe(), pipe, "{number}");
        check_counts(&board);
    }
}

#[test]
fn a_segment_that_is_lost_already_or_has_arrived_is_not_lost_again() {
    let mut board = board();
    for number in [1, 3] {
        let (before, pipe) = (marks(&board), board.pipe());
        board.lose(number);
        assert_eq!((marks(&board), board.pipe()), (before, pipe), "{number}");
        check_counts(&board);
    }
}

#[test]
fn what_was_not_lost_is_in_the_network_beside_its_copies_and_can_be_declared_lost_again() {
    let mut board = board();
    board.find_lost();
    assert_eq!(marks(&board)[..3], [Mark::Doubled, Mark::InFlight, Mark::InFlight]);
    check_counts(&board);
    board.mark_lost();
    assert_eq!(marks(&board)[..3], [Mark::Resent, Mark::Lost, Mark::Lost]);
    check_counts(&board);
}

#[test]
fn a_segment_is_found_by_its_number_after_others_were_acknowledged() {
    let mut board = board();
    board.advance(100);
    board.lose(8);
    assert!(board.is_lost(8) && !board.is_lost(9) && !board.is_lost(7));
}

#[test]
fn a_timeout_loses_all_but_kept_sacks_and_resent_copies_with_the_rest() {
    for (after_timeout, sacked) in [(SackAfterTimeout::Kept, 5), (SackAfterTimeout::Cleared, 0)] {
        let mut board = board();
        board.sack(800, 900);
        board.resend(7, Time(60));
        board.lose_all(after_timeout);
        assert_eq!((board.sacked, board.lost, board.lost_below()), (sacked, 10 - sacked, 10));
        assert_eq!(board.fack(), if sacked == 0 { 0 } else { 900 });
        check_counts(&board);
    }
}
