//! What losses leave of the window, under laws that go by losses alone.

use super::*;
use crate::hooks::NoteEvent;
use crate::registry::CongestionKind;
use proptest::prelude::*;

const LAWS: [CongestionKind; 3] = [CongestionKind::Reno, CongestionKind::Cubic, CongestionKind::Veno];

/// The window before and after each loss of a bulk transfer from which the wire loses these segments. No recovery is paced,
/// so that the window in force is the law's.
fn losses(law: CongestionKind, recovery: RecoveryKind, lost: Vec<usize>) -> Vec<(Note, Note)> {
    let config = Config { parts: Parts::new(recovery, law.config()), prr: false, ..modern() };
    let mut pair = Pair::new(&config);
    pair.sides[CLIENT].watches = true;
    pair.lost[CLIENT] = lost;
    pair.open();
    pair.write(CLIENT, 2_000_000);
    pair.run(Span::from_secs(20));
    let notes = &pair.sides[CLIENT].notes;
    let is_loss = |note: &Note| matches!(note.event, NoteEvent::Enter | NoteEvent::Timeout);
    notes.windows(2).filter(|pair| is_loss(&pair[1])).map(|pair| (pair[0], pair[1])).collect()
}

fn assert_no_more_than_before(before: &Note, after: &Note) {
    // Two segments are the least threshold (RFC 5681, equation 4).
    let most = before.cwnd.max(2.0);
    // A repeated timeout leaves the threshold alone.
    let threshold =
        after.ssthresh <= most || (after.event == NoteEvent::Timeout && after.ssthresh <= before.ssthresh);
    assert!(after.cwnd <= most && threshold, "{before:?} {after:?}");
}

/// A recovery of many round trips, in which more and more selectively acknowledged data is outstanding.
#[test]
fn a_loss_after_a_long_recovery_leaves_less_than_the_window() {
    for law in LAWS {
        let burst =
            (100..160).step_by(2).chain((200..400).step_by(3)).chain((450..900).step_by(40)).collect();
        let losses = losses(law, RecoveryKind::Sack, burst);
        assert!(losses.len() > 1, "{law:?}");
        for (before, after) in &losses {
            assert_no_more_than_before(before, after);
        }
    }
}

/// Without SACK a recovery lasts for as many round trips as there are holes, and far more than the window is outstanding when the
/// timer fires.
#[test]
fn a_timeout_in_a_recovery_without_sack_leaves_the_threshold_that_the_recovery_had() {
    for law in LAWS {
        let config =
            Config { parts: Parts::new(RecoveryKind::NewReno, law.config()), sack: false, ..modern() };
        let mut pair = Pair::new(&config);
        pair.sides[CLIENT].watches = true;
        pair.lost[CLIENT] = (100..160).step_by(2).chain((200..800).step_by(9)).collect();
        pair.open();
        pair.write(CLIENT, 2_000_000);
        pair.run(Span::from_secs(60));
        let (mut recovers, mut timeouts, mut sent) = (None, 0, 0);
        for note in &pair.sides[CLIENT].notes {
            match (note.event, recovers) {
                (NoteEvent::Send, _) => sent = sent.max(note.seq + u64::from(note.len)),
                (NoteEvent::Enter, _) => recovers = Some((note.ssthresh, sent)),
                // Once all that was outstanding is acknowledged, the timer answers another loss.
                (NoteEvent::Timeout, Some((ssthresh, end))) if note.ack < end => {
                    assert_eq!(note.ssthresh, ssthresh, "{law:?}: {note:?}");
                    (recovers, timeouts) = (None, timeouts + 1);
                }
                (NoteEvent::Exit | NoteEvent::Timeout, _) => recovers = None,
                _ => {}
            }
        }
        assert!(timeouts > 0, "{law:?}");
    }
}

/// Linux: `TCP_TIMEOUT_MIN_US`. A quarter of the round trip of 20 ms is 5 ms; two ticks are 2 ms.
#[test]
fn the_timer_for_reordering_gives_a_late_segment_two_ticks_more() {
    for (late, again) in [(6, 0), (8, 1)] {
        let parts = Parts::new(RecoveryKind::Sack, LawConfig::Reno(()));
        let mut pair = Pair::new(&Config { parts, initial_window: 3, ack_every: 1, ..modern() });
        pair.late = (vec![0], Span::from_millis(late));
        pair.open();
        pair.write(CLIENT, 3_000);
        pair.run(Span::from_millis(100));
        let now = pair.now;
        assert_eq!(pair.ends[CLIENT].counters(now).retransmits, again, "{late} ms late");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn no_loss_leaves_more_than_there_was(
        law in 0..LAWS.len(),
        fack in any::<bool>(),
        lost in proptest::collection::vec(2_usize..1500, 1..120),
        burst in (10_usize..800, 0_usize..200),
    ) {
        let recovery = if fack { RecoveryKind::Fack } else { RecoveryKind::Sack };
        let lost = lost.into_iter().chain(burst.0..burst.0 + burst.1).collect();
        for (before, after) in losses(LAWS[law], recovery, lost) {
            assert_no_more_than_before(&before, &after);
        }
    }
}
