//! Explicit loss notification: duplicates stating that the requested segment was lost on a wireless link.

use super::*;

/// A transfer of which the wire loses these segments of data (from 0), and the window that it leaves.
fn transfer(recovery: RecoveryKind, eln: bool, marks: bool, lost: &[usize]) -> (Pair, f64) {
    let config = Config {
        parts: Parts::new(recovery, LawConfig::Reno(())),
        sack: recovery == RecoveryKind::Sack,
        ack_every: 1,
        initial_window: 20,
        initial_ssthresh: Some(20.0),
        eln,
        ..modern()
    };
    let mut pair = Pair::new(&config);
    pair.eln = marks;
    // The SYN and the end of the handshake come first.
    pair.lost[CLIENT] = lost.iter().map(|number| number + 2).collect();
    pair.open();
    pair.run(Span::from_millis(25));
    pair.write(CLIENT, 100_000);
    pair.run(Span::from_secs(20));
    assert_eq!(pair.ends[SERVER].receiver().in_order(), 100_000);
    let cwnd = pair.ends[CLIENT].sender().window().cwnd;
    (pair, cwnd)
}

const RECOVERIES: [RecoveryKind; 3] = [RecoveryKind::Reno, RecoveryKind::NewReno, RecoveryKind::Sack];

#[test]
fn a_marked_duplicate_resends_at_once_and_leaves_the_window() {
    for recovery in RECOVERIES {
        let (pair, cwnd) = transfer(recovery, true, true, &[5]);
        assert!(cwnd >= 20.0, "{recovery:?}: {cwnd}");
        let copies: Vec<usize> = pair
            .data_of(CLIENT)
            .iter()
            .enumerate()
            .filter(|(_, data)| data.0 == 5_000)
            .map(|(i, _)| i)
            .collect();
        assert_eq!(copies.len(), 2, "{recovery:?}: sent again once");
        assert!(copies[1] <= 26, "{recovery:?}: at the first duplicate: {copies:?}");
    }
}

#[test]
fn each_hole_of_a_window_is_resent_once_at_full_window() {
    for recovery in RECOVERIES {
        let (mut pair, cwnd) = transfer(recovery, true, true, &[3, 7, 11]);
        assert!(cwnd >= 20.0, "{recovery:?}: {cwnd}");
        let counters = pair.ends[CLIENT].counters(pair.now);
        assert_eq!((counters.retransmits, counters.timeouts), (3, 0), "{recovery:?}");
    }
}

#[test]
fn without_the_mark_or_the_rule_a_loss_reduces_the_window() {
    for recovery in RECOVERIES {
        for (eln, marks) in [(false, true), (true, false)] {
            let (_, cwnd) = transfer(recovery, eln, marks, &[5]);
            assert!(cwnd < 18.0, "{recovery:?}: {cwnd}");
        }
    }
}

#[test]
fn a_copy_that_is_lost_too_is_left_to_the_timer_which_reduces_the_window() {
    // Eleven segments, of which the sixth is lost; its copy is the twelfth.
    let config = Config { ack_every: 1, initial_window: 20, eln: true, ..modern() };
    let mut pair = Pair::new(&config);
    pair.eln = true;
    pair.lost[CLIENT] = vec![7, 13];
    pair.open();
    pair.run(Span::from_millis(25));
    pair.write(CLIENT, 11_000);
    pair.run(Span::from_secs(20));
    let counters = pair.ends[CLIENT].counters(pair.now);
    assert_eq!((counters.retransmits, counters.timeouts), (2, 1));
    assert_eq!(pair.ends[SERVER].receiver().in_order(), 11_000);
}
