//! The probe of a tail, where the timeout would come before it (RFC 8985, 7.2).

use super::*;

/// A segment of 1000 bytes each second, of which those `lost` are lost, counted from 0 with their copies. Returns the
/// number of timeouts and of segments sent again, and window and ssthresh at the end.
fn alone(config: &Config, lost: &[usize]) -> (u64, u64, f64, f64) {
    let mut pair = Pair::new(config);
    // The SYN and the acknowledgement of the other left before.
    pair.lost[CLIENT] = lost.iter().map(|number| number + 2).collect();
    pair.open();
    for second in 1..10 {
        pair.run(Span::from_millis(1000 * second));
        pair.now = Time::ZERO.after(Span::from_millis(1000 * second));
        pair.write(CLIENT, 1_000);
    }
    pair.run(Span::from_secs(12));
    assert_eq!(pair.ends[SERVER].receiver().in_order(), 9_000);
    let counters = pair.ends[CLIENT].counters(pair.now);
    let window = pair.ends[CLIENT].sender().window();
    (counters.timeouts, counters.retransmits, window.cwnd, window.ssthresh)
}

fn linux() -> Config {
    Config { initial_window: 10, rto_floor: RtoFloor::Variation, ..modern() }
}

/// Linux 6.18: one probe, no timeout, a window of 7. Two round trips and the time of a delayed acknowledgement are 240 ms, and the
/// timeout is 220 ms.
#[test]
fn a_segment_alone_is_probed_when_its_timeout_is_due() {
    assert_eq!(alone(&linux(), &[2]), (0, 1, 7.0, 7.0));
    let (timeouts, again, ..) = alone(&Config { tail_loss_probe: false, ..linux() }, &[2]);
    assert_eq!((timeouts, again), (1, 1));
}

#[test]
fn a_probe_that_is_lost_is_followed_by_the_timeout_and_the_next_tail_by_a_probe() {
    let (timeouts, again, ..) = alone(&linux(), &[2, 3]);
    assert_eq!((timeouts, again), (1, 2));
    let (timeouts, again, ..) = alone(&linux(), &[2, 3, 8]);
    assert_eq!((timeouts, again), (1, 3));
}

/// A timeout of 30 ms at a round trip of 20 ms, with several segments outstanding.
#[test]
fn a_probe_of_several_segments_leaves_when_the_timeout_is_due_if_that_is_before_two_round_trips() {
    let config = Config { ack_every: 1, min_rto: Span::from_millis(30), initial_window: 10, ..modern() };
    let mut pair = Pair::new(&config);
    pair.lost[CLIENT] = vec![2 + 99];
    pair.open();
    pair.run(Span::from_millis(25));
    pair.write(CLIENT, 100_000);
    pair.run(Span::from_secs(2));
    let counters = pair.ends[CLIENT].counters(pair.now);
    assert_eq!((counters.timeouts, counters.retransmits), (0, 1));
    let left: Vec<Time> =
        pair.log.iter().filter(|line| line.1 == CLIENT && line.2.len > 0).map(|line| line.0).collect();
    // The acknowledgement before the last came a round trip after the last segment but one left.
    let waited = left[100].since(left[98]);
    assert!((Span::from_millis(50)..Span::from_millis(52)).contains(&waited), "{waited:?}");
}

#[test]
fn nagle_does_not_hold_back_a_probe() {
    let mut pair = Pair::new(&linux());
    pair.lost[CLIENT] = vec![2];
    pair.open();
    pair.run(Span::from_millis(25));
    pair.write(CLIENT, 1_000);
    pair.write(CLIENT, 200);
    pair.run(Span::from_secs(2));
    assert_eq!(pair.data_of(CLIENT), [(0, 1_000), (1_000, 200), (0, 1_000)]);
    assert_eq!(pair.ends[CLIENT].sender().timeouts(), 0);
}
