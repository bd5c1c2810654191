//! The rules of the window in which ns-2 and the RFCs differ.

use super::*;
use crate::hooks::Window;
use crate::transport::tcp::Halved;

/// ns-2's profile with a window that avoidance has made 8.125 when the first loss is detected.
fn profile() -> Config {
    Config { initial_window: 8, initial_ssthresh: Some(4.0), window: 40, ..Profile::Ns2Of2004.config() }
}

impl Pair {
    /// A sender with much to send that loses these of its packets, the SYN being 0.
    fn losing(config: &Config, lost: &[usize]) -> Pair {
        let mut pair = Pair::new(config);
        pair.lost[CLIENT] = lost.to_vec();
        pair.open();
        pair.write(CLIENT, 1_000_000);
        pair
    }

    /// Steps until `found`, and returns the windows before and after that step.
    fn until(&mut self, found: impl Fn(&mut Connection, Time) -> bool) -> (Window, Window) {
        for _ in 0..10_000 {
            let before = *self.ends[CLIENT].sender().window();
            assert!(self.step(), "nothing is left to happen");
            let now = self.now;
            if found(&mut self.ends[CLIENT], now) {
                return (before, *self.ends[CLIENT].sender().window());
            }
        }
        panic!("it does not happen");
    }

    /// The window before and after the first fast retransmit.
    fn until_loss(&mut self) -> (Window, Window) {
        self.until(|end, now| end.counters(now).fast_retransmits == 1)
    }
}

#[test]
fn duplicates_halve_the_window_or_the_flight_and_ssthresh_may_be_whole() {
    // The packets from 1 on are data. The second is lost: 8 are out when the first acknowledgement comes.
    for (loss_ssthresh, whole_ssthresh, cwnd, ssthresh) in [
        (Halved::Window, true, 8.125 / 2.0, 4.0),
        (Halved::Window, false, 8.125 / 2.0, 8.125 / 2.0),
        (Halved::Flight, false, 4.0, 4.0),
    ] {
        let config = Config { loss_ssthresh, whole_ssthresh, ..profile() };
        let (before, after) = Pair::losing(&config, &[2]).until_loss();
        assert_eq!(before.cwnd, 8.125);
        assert_eq!((after.cwnd, after.ssthresh), (cwnd, ssthresh));
    }
}

#[test]
fn the_acknowledgement_that_ends_a_recovery_lets_the_window_grow_where_ns_2_is_followed() {
    for recovery in [RecoveryKind::Reno, RecoveryKind::NewReno] {
        for (growth_at_recovery_end, grown) in [(true, 1.0 / 4.0625), (false, 0.0)] {
            let parts = Parts { recovery, ..profile().parts };
            let mut pair = Pair::losing(&Config { parts, growth_at_recovery_end, ..profile() }, &[2]);
            pair.until_loss();
            let una = pair.ends[CLIENT].sender().board().una();
            let (before, after) = pair.until(|end, _| end.sender().board().una() > una);
            assert_eq!((before.cwnd, after.cwnd), (4.0625, 4.0625 + grown), "{recovery:?}");
        }
    }
}

#[test]
fn a_timeout_halves_the_window_each_time_or_the_flight_once() {
    for (timeout_ssthresh, left) in [(Halved::Window, [4.0, 2.0]), (Halved::Flight, [4.0, 4.0])] {
        let lost: Vec<usize> = (1..=9).collect();
        let mut pair = Pair::losing(&Config { timeout_ssthresh, ..profile() }, &lost);
        for (timeouts, ssthresh) in (1..).zip(left) {
            let (_, after) = pair.until(|end, now| end.counters(now).timeouts == timeouts);
            assert_eq!((after.cwnd, after.ssthresh), (1.0, ssthresh));
        }
    }
}

#[test]
fn a_lost_syn_leaves_a_threshold_of_two_where_a_timeout_halves_the_window() {
    for (timeout_ssthresh, ssthresh) in [(Halved::Window, 2.0), (Halved::Flight, 40.0)] {
        let config = Config { timeout_ssthresh, initial_ssthresh: None, ..profile() };
        let mut pair = Pair::losing(&config, &[0]);
        let (_, after) = pair.until(|end, _| end.sender().board().outstanding() > 0);
        assert_eq!((after.cwnd, after.ssthresh), (1.0, ssthresh));
    }
}

/// Linux: `tcp_newly_delivered`.
#[test]
fn what_selective_acknowledgements_reported_does_not_count_again_behind_a_segment_that_comes_late() {
    let config = Config {
        parts: Parts::new(RecoveryKind::Sack, LawConfig::Reno(())),
        initial_window: 3,
        initial_ssthresh: Some(3.0),
        ack_every: 1,
        ..modern()
    };
    // The first arrives behind the other two: one segment is new, and three are acknowledged.
    let mut pair = Pair::new(&config);
    pair.late = (vec![0], Span::from_millis(4));
    pair.open();
    pair.write(CLIENT, 3_000);
    pair.run(Span::from_millis(100));
    let window = *pair.ends[CLIENT].sender().window();
    assert_eq!((window.cwnd, window.credit), (3.0, Some(1)));
}

/// Linux: `tcp_enter_loss`; RFC 6675 (5.1).
#[test]
fn a_timeout_within_a_recovery_leaves_the_threshold_or_reduces_it_again() {
    for (timeout_once, falls) in [(true, false), (false, true)] {
        let parts = Parts::new(RecoveryKind::Sack, LawConfig::Reno(()));
        let config = Config { parts, timeout_once, initial_window: 16, ..modern() };
        // A segment of the first window is lost, and all that is sent once its loss is known.
        let lost: Vec<usize> = std::iter::once(3).chain(18..40).collect();
        let mut pair = Pair::losing(&config, &lost);
        let (_, reduced) = pair.until(|end, _| end.sender().window().ssthresh < 16.0);
        let (_, after) = pair.until(|end, now| end.counters(now).timeouts == 1);
        assert_eq!(after.cwnd, 1.0);
        assert_eq!(after.ssthresh < reduced.ssthresh, falls, "{timeout_once}");
    }
}

#[test]
fn a_loss_that_leaves_the_window_leaves_its_credit_where_laws_have_their_own() {
    for credit_after_random_loss in [false, true] {
        let parts = Parts::new(RecoveryKind::NewReno, CongestionKind::Jtcp.config());
        let config = Config { parts, whole_window: true, credit_after_random_loss, ..profile() };
        let (before, after) = Pair::losing(&config, &[5]).until_loss();
        assert_eq!((before.cwnd, after.cwnd), (8.0, 8.0));
        let credit = before.credit.filter(|credit| *credit > 0).expect("some were acknowledged");
        assert_eq!(after.credit, Some(if credit_after_random_loss { credit } else { 0 }));
    }
}
