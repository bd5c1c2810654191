//! Segments that are late and not lost: reordering, spurious timeouts, and reports of duplicates.

use super::*;
use crate::transport::tcp::{Counting, EcnMode, Undo};

/// Reno with SACK, an acknowledgement for each segment, a window of twelve.
fn reno(undo: Undo) -> Config {
    let parts = Parts::new(RecoveryKind::Sack, LawConfig::Reno(()));
    let config = Config { parts, ack_every: 1, initial_window: 12, initial_ssthresh: Some(12.0), ..modern() };
    Config { undo, f_rto: false, tail_loss_probe: false, counting: Counting::Acks, nagle: false, ..config }
}

/// A transfer after the handshake, in which the data segments `late` arrive later by `by`.
fn transfer(config: &Config, late: &[usize], by: Span) -> Pair {
    let mut pair = Pair::new(config);
    pair.late = (late.to_vec(), by);
    pair.open();
    pair.run(Span::from_millis(25));
    pair.write(CLIENT, 400_000);
    pair.run(Span::from_secs(20));
    assert_eq!(pair.ends[SERVER].receiver().in_order(), 400_000);
    pair
}

/// The number of segments sent again, of reductions taken back, and the window at the end.
fn outcome(mut pair: Pair) -> (u64, u64, f64) {
    let counters = pair.ends[CLIENT].counters(pair.now);
    (counters.retransmits, counters.reductions_undone, pair.ends[CLIENT].sender().window().cwnd)
}

/// RFC 3522: the acknowledgement of the late segment echoes its own timestamp, which is older than that of the copy.
#[test]
fn an_echo_of_the_first_transmission_restores_the_window() {
    let (again, undone, cwnd) = outcome(transfer(&reno(Undo::Timestamps), &[3], Span::from_millis(26)));
    assert_eq!((again, undone), (1, 1));
    let (again, undone, reduced) = outcome(transfer(&reno(Undo::None), &[3], Span::from_millis(26)));
    assert_eq!((again, undone), (1, 0));
    assert!(cwnd > reduced + 1.0, "{cwnd} and {reduced}");
}

/// RFC 3708: without timestamps the report that the copy has arrived twice does the same, one round trip later.
#[test]
fn a_report_of_a_duplicate_restores_the_window() {
    let config = Config { timestamps: false, ..reno(Undo::Dsack) };
    let (again, undone, cwnd) = outcome(transfer(&config, &[3], Span::from_millis(26)));
    assert_eq!((again, undone), (1, 1));
    assert!(cwnd >= 12.0, "{cwnd}");
    let (_, undone, _) = outcome(transfer(&Config { dsack: false, ..config }, &[3], Span::from_millis(26)));
    assert_eq!(undone, 0, "nothing is reported");
}

/// RFC 8985 (6.2, step 4): with each report the window for reordering is longer, until what is late is no longer sent again.
#[test]
fn what_is_late_often_is_waited_for() {
    let late: Vec<usize> = (0..40).map(|number| 3 + 9 * number).collect();
    let config = reno(Undo::Both);
    let few = outcome(transfer(&config, &late, Span::from_millis(12))).0;
    let many = outcome(transfer(&Config { dsack: false, ..config }, &late, Span::from_millis(12))).0;
    assert!(2 * few < many, "{few} and {many}");
}

/// RFC 5682: a wire that stops for longer than the timeout.
#[test]
fn a_timeout_while_the_wire_stands_still_is_taken_back() {
    for (f_rto, undone) in [(true, 1), (false, 0)] {
        let config = Config { f_rto, ..reno(Undo::None) };
        let all: Vec<usize> = (0..12).collect();
        let pair = transfer(&config, &all, Span::from_millis(300));
        let (again, taken_back, _) = outcome(pair);
        assert_eq!(taken_back, undone, "{f_rto}");
        assert!(if f_rto { again <= 2 } else { again > 2 }, "{f_rto}: {again}");
    }
}

/// The same transfer, in which queues mark these segments of the client; the third to leave is the first with data.
fn marked(config: &Config, late: &[usize], by: Span, marked: &[usize]) -> Pair {
    let mut pair = Pair::new(config);
    pair.late = (late.to_vec(), by);
    pair.marked[CLIENT] = marked.to_vec();
    pair.open();
    pair.run(Span::from_millis(25));
    pair.write(CLIENT, 40_000);
    pair.run(Span::from_secs(20));
    assert_eq!(pair.ends[SERVER].receiver().in_order(), 40_000);
    pair
}

/// RFC 4015 (3), RFC 3168 (6.1.2); Linux clears `prior_ssthresh`. The mark is of a segment before the one that is late, or of one
/// after it, which was sent in the same window of data.
#[test]
fn a_mark_that_is_echoed_in_a_recovery_keeps_the_window_down_though_nothing_was_lost() {
    let by = Span::from_millis(26);
    for (undo, timestamps) in [(Undo::Timestamps, true), (Undo::Dsack, false)] {
        let config = Config { timestamps, ecn: EcnMode::Classic, ..reno(undo) };
        let unmarked = outcome(marked(&config, &[3], by, &[]));
        assert_eq!((unmarked.0, unmarked.1), (1, 1), "{undo:?}");
        for number in [6, 9] {
            let mut pair = marked(&config, &[3], by, &[number]);
            let answered = pair.ends[CLIENT].counters(pair.now).marks_answered;
            let (again, undone, cwnd) = outcome(pair);
            assert_eq!((again, undone), (1, 0), "{undo:?}, {number}");
            assert!(answered >= 1, "{undo:?}, {number}: {answered}");
            assert!(cwnd < unmarked.2 - 2.0, "{undo:?}, {number}: {cwnd} and {}", unmarked.2);
        }
    }
}

/// The window is back where it was before the timeout, and a mark that comes later finds no reduction that has answered it.
#[test]
fn a_mark_after_an_undo_is_answered() {
    let all: Vec<usize> = (0..12).collect();
    let config = Config { f_rto: true, ecn: EcnMode::Accurate, ..reno(Undo::None) };
    // Of the first flight, which was all sent before the timeout; a count reports each mark once.
    for number in [10, 12] {
        let mut pair = marked(&config, &all, Span::from_millis(300), &[number]);
        let answered = pair.ends[CLIENT].counters(pair.now).marks_answered;
        assert_eq!((outcome(pair).1, answered), (1, 1), "{number}");
    }
}

/// The same transfer, in which the path loses these segments of the client, the copies counted.
fn with_losses(config: &Config, late: &[usize], by: Span, lost: &[usize]) -> (u64, u64, u64, f64) {
    let mut pair = Pair::new(config);
    (pair.late, pair.lost[CLIENT]) = ((late.to_vec(), by), lost.to_vec());
    pair.open();
    pair.run(Span::from_millis(25));
    pair.write(CLIENT, 40_000);
    pair.run(Span::from_secs(20));
    assert_eq!(pair.ends[SERVER].receiver().in_order(), 40_000);
    let counters = pair.ends[CLIENT].counters(pair.now);
    let ssthresh = pair.ends[CLIENT].sender().window().ssthresh;
    (counters.fast_retransmits, counters.retransmits, counters.reductions_undone, ssthresh)
}

/// A copy is lost, so that a recovery lasts two round trips; what left within it and was lost has been sent again when it ends.
/// Linux begins the next one with that acknowledgement, and does not take the echo of that copy, which left before, for one of a
/// first transmission.
#[test]
fn a_loss_within_a_recovery_begins_the_next_one_at_its_end_and_is_not_taken_back() {
    for second in [18, 19, 21] {
        let found = with_losses(&reno(Undo::Both), &[], Span::ZERO, &[3, 12, 16, second]);
        assert_eq!(found, (2, 4, 0, 3.0), "{second}");
    }
}

/// Linux (`tcp_try_undo_partial`): the echo of a first transmission takes nothing back while a copy of another segment is in the
/// network; here that segment was lost.
#[test]
fn what_was_late_takes_nothing_back_while_another_copy_is_in_the_network() {
    let by = Span::from_millis(26);
    assert_eq!(with_losses(&reno(Undo::Timestamps), &[3], by, &[]), (1, 1, 1, 12.0));
    assert_eq!(with_losses(&reno(Undo::Timestamps), &[3], by, &[6]), (1, 2, 0, 6.0));
}
