//! The effect of acknowledgements, losses and copies on the scoreboard.

use super::*;

fn board(segments: u32) -> Scoreboard {
    let mut board = Scoreboard::default();
    for index in 0..segments {
        board.push(100, false, Time(u64::from(index)));
    }
    board
}

#[test]
fn an_acknowledgement_in_the_middle_of_a_segment_trims_it() {
    let mut board = board(3);
    let advance = board.advance(150);
    assert_eq!((advance.segments, advance.newest_sent()), (1, Some(Time(0))));
    assert_eq!((board.get(1).start, board.get(1).len, board.flight()), (150, 50, 2));
}

#[test]
fn a_resent_segment_gives_no_send_time() {
    let mut board = board(2);
    board.resend(0, Time(50));
    assert_eq!(board.advance(100).newest_sent(), None);
    assert_eq!(board.advance(200).newest_sent(), Some(Time(1)));
}

#[test]
fn an_acknowledgement_over_a_repaired_hole_is_told_from_one_over_what_was_sent_once() {
    let mut board = board(3);
    board.resend(0, Time(50));
    let over_the_hole = board.advance(200);
    assert_eq!((over_the_hole.newest_sent(), over_the_hole.repaired), (Some(Time(1)), true));
    assert!(!board.advance(300).repaired);
}

#[test]
fn three_segments_above_make_a_hole_lost() {
    let mut board = board(10);
    for (right, lost) in [(300, 0), (400, 0), (500, 2)] {
        assert!(board.sack(200, right));
        board.mark_lost();
        assert_eq!(board.lost, lost);
    }
    assert!(!board.sack(200, 500));
    assert_eq!(board.pipe(), 10 - 3 - 2);
}

#[test]
fn three_separate_ranges_above_make_a_hole_lost() {
    let mut board = Scoreboard::default();
    for len in [100, 10, 10, 10, 10, 10, 10] {
        board.push(len, false, Time::ZERO);
    }
    for left in [110, 130, 150] {
        board.sack(left, left + 10);
    }
    board.mark_lost();
    assert!(board.is_lost(0) && !board.is_lost(3));
}

#[test]
fn pipe_counts_a_resent_hole_and_forward_flight_counts_beyond_the_highest() {
    let mut board = board(10);
    board.sack(300, 700);
    board.mark_lost();
    assert_eq!((board.pipe(), board.forward_flight()), (10 - 4 - 3, 3));
    board.resend(0, Time(99));
    assert_eq!((board.pipe(), board.forward_flight()), (10 - 4 - 2, 4));
    board.advance(100);
    assert_eq!((board.pipe(), board.forward_flight()), (9 - 4 - 2, 3));
}

#[test]
fn a_timeout_loses_all_but_what_was_selectively_acknowledged() {
    let mut board = board(5);
    board.sack(200, 300);
    board.lose_all(SackAfterTimeout::Kept);
    board.go_back();
    assert_eq!((board.pipe(), board.flight()), (0, 0));
    assert!(board.is_behind() && board.is_sacked(2) && board.is_lost(4));
    board.advance(300);
    assert_eq!(board.next(), 3);
}

#[test]
fn a_copy_tells_when_it_left_if_it_left_at_least_the_least_round_trip_ago() {
    let mut board = Scoreboard::default();
    for at in [0, 100, 100, 100] {
        board.push(100, false, Time(at));
    }
    board.hear(Time(1_000));
    board.advance(100);
    assert_eq!(board.latest_arrived(), Time(0));
    // The least round trip is 1000, and the copies have had 999 and 1000.
    for (number, left, heard) in [(1, 2_001, 3_000), (2, 3_000, 4_000)] {
        board.resend(number, Time(left));
        board.hear(Time(heard));
        board.sack(100 * number, 100 * (number + 1));
    }
    assert_eq!(board.latest_arrived(), Time(3_000));
    let mut board = Scoreboard::default();
    board.push(100, false, Time(0));
    board.resend(0, Time(10));
    board.hear(Time(900));
    board.advance(100);
    assert_eq!(board.latest_arrived(), Time::ZERO, "without a round trip all copies are in doubt");
}

#[test]
fn the_last_segment_not_selectively_acknowledged_lies_below_the_last_range() {
    let mut board = board(8);
    assert_eq!(board.last_unsacked(), Some(7));
    board.sack(500, 800);
    assert_eq!(board.last_unsacked(), Some(4));
    board.sack(300, 400);
    assert_eq!(board.last_unsacked(), Some(4));
    board.sack(400, 500);
    assert_eq!(board.last_unsacked(), Some(2));
    board.sack(0, 300);
    assert_eq!((board.last_unsacked(), Scoreboard::default().last_unsacked()), (None, None));
}

#[test]
fn a_segment_is_told_to_be_delivered_once_even_if_that_was_forgotten() {
    let mut board = Scoreboard::default();
    for at in 0..3 {
        board.push(100, false, Time(at));
    }
    board.sack(100, 300);
    assert_eq!(board.take_news(), Delivered { bytes: 200, segments: 2, newest: Some(2) });
    board.lose_all(SackAfterTimeout::Cleared);
    board.sack(100, 200);
    assert_eq!(board.take_news().bytes, 0);
    board.advance(300);
    assert_eq!(board.take_news(), Delivered { bytes: 100, segments: 1, newest: Some(0) });
}

#[test]
fn the_newest_segment_of_a_block_that_was_sent_once_gives_its_send_time() {
    let mut board = board(5);
    board.resend(4, Time(50));
    board.sack(100, 300);
    board.sack(400, 500);
    assert_eq!(board.sacked_sent(), Some(Time(2)));
    board.take_news();
    assert!(!board.sack(100, 300));
    board.advance(300);
    assert_eq!(board.sacked_sent(), None);
}
