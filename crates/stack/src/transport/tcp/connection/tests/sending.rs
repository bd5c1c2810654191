//! When segments leave: windows, the retransmission timer, Nagle and probes.

use super::*;
use crate::registry::CongestionKind;

#[test]
fn the_initial_window_leaves_at_once_and_crosses_the_wrap() {
    let mut pair = Pair::new(&modern());
    pair.open();
    pair.write(CLIENT, 100_000);
    pair.run(Span::from_millis(29));
    while pair.data_of(CLIENT).len() < 4 {
        assert!(pair.step());
    }
    assert_eq!(pair.now, Time(30_000_000), "all four left when the handshake ended, at 20 ms");
    assert_eq!(pair.data_of(CLIENT), [(0, 1000), (1000, 1000), (2000, 1000), (3000, 1000)]);
    pair.run(Span::from_secs(5));
    assert_eq!(pair.ends[SERVER].receiver().in_order(), 100_000);
}

#[test]
fn the_timer_doubles_and_the_window_falls_to_one_segment() {
    let config = Config {
        parts: Parts::new(RecoveryKind::NewReno, LawConfig::Reno(())),
        timestamps: false,
        sack: false,
        ..modern()
    };
    let mut pair = Pair::new(&config);
    pair.open();
    pair.run(Span::from_millis(100));
    pair.lost[CLIENT] = (2..=4).collect();
    pair.write(CLIENT, 1_000);
    pair.run(Span::from_secs(10));
    let times: Vec<u64> = pair
        .log
        .iter()
        .filter(|line| line.1 == CLIENT && line.2.len > 0)
        .map(|line| line.0.0 / 1_000_000)
        .collect();
    let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps, [200, 400, 800]);
    let counters = pair.ends[CLIENT].counters(pair.now);
    assert_eq!((counters.timeouts, counters.timeout_series), (3, 1));
}

#[test]
fn nagle_holds_a_small_segment_until_the_last_is_acknowledged() {
    for (nagle, expected) in [(true, vec![(0, 10), (10, 20)]), (false, vec![(0, 10), (10, 10), (20, 10)])] {
        let mut pair = Pair::new(&Config { nagle, tail_loss_probe: false, ..modern() });
        pair.open();
        pair.run(Span::from_millis(100));
        for _ in 0..3 {
            pair.write(CLIENT, 10);
        }
        pair.run(Span::from_secs(1));
        assert_eq!(pair.data_of(CLIENT), expected);
    }
}

#[test]
fn a_closed_window_is_probed_with_one_byte_and_opened_by_an_update() {
    let config = Config { receive_buffer: Some(3_000), ack_every: 1, ..modern() };
    let mut pair = Pair::new(&config);
    pair.ends[SERVER].read_by_hand();
    pair.open();
    pair.write(CLIENT, 5_000);
    pair.run(Span::from_millis(700));
    let probes: Vec<(u32, u32)> = pair.data_of(CLIENT).into_iter().filter(|data| data.1 == 1).collect();
    assert!(probes.len() >= 2 && probes.iter().all(|probe| *probe == (3_000, 1)), "{probes:?}");
    assert!(pair.ends[CLIENT].sender().is_persisting());
    pair.with(SERVER, |end, now, out| end.read(3_000, now, out));
    pair.run(Span::from_secs(2));
    assert_eq!(pair.ends[SERVER].receiver().in_order(), 5_000);
    assert_eq!(pair.ends[CLIENT].counters(pair.now).timeouts, 0, "probing is no loss");
}

#[test]
fn probing_goes_on_when_a_probe_was_taken_and_closed_the_window() {
    let config = Config { receive_buffer: Some(3_100), ack_every: 1, ..modern() };
    let mut pair = Pair::new(&config);
    pair.ends[SERVER].read_by_hand();
    pair.open();
    pair.write(CLIENT, 5_000);
    pair.run(Span::from_millis(300));
    // Two full segments leave a room that only a probe fills.
    assert_eq!(pair.ends[SERVER].receiver().in_order(), 3_100);
    let update = pair.seen[SERVER];
    pair.lost[SERVER].push(update);
    pair.with(SERVER, |end, now, out| end.read(3_100, now, out));
    pair.run(Span::from_secs(4));
    assert_eq!(pair.ends[SERVER].receiver().in_order(), 5_000);
}

#[test]
fn an_idle_time_of_one_timeout_brings_the_initial_window_back() {
    let config = Config { window_validation: false, ..modern() };
    let mut pair = Pair::new(&config);
    pair.open();
    pair.write(CLIENT, 60_000);
    pair.run(Span::from_secs(1));
    assert!(pair.ends[CLIENT].sender().window().cwnd > 20.0);
    pair.now = Time(5_000_000_000);
    pair.write(CLIENT, 60_000);
    assert_eq!(pair.sides[CLIENT].wire.len(), 4);
}

/// A connection with a least timeout of a second whose window has grown in avoidance, when it sent last, and the window.
fn grown(window_decay: bool) -> (Pair, Time, f64) {
    let config = Config {
        window_decay,
        initial_ssthresh: Some(8.0),
        min_rto: Span::from_secs(1),
        nagle: false,
        ack_every: 1,
        ..modern()
    };
    let mut pair = Pair::new(&config);
    pair.open();
    pair.write(CLIENT, 400_000);
    pair.run(Span::from_secs(10));
    let last = pair.log.iter().filter(|line| line.1 == CLIENT).map(|line| line.0).max();
    let Some(last) = last else { panic!("a segment") };
    let window = *pair.ends[CLIENT].sender().window();
    assert!(window.cwnd >= 16.0 && !window.in_slow_start(), "{window:?}");
    assert_eq!(pair.ends[CLIENT].sender().rtt().rto(), Span::from_secs(1));
    (pair, last, window.cwnd)
}

/// Linux: `tcp_cwnd_restart`.
#[test]
fn with_decay_each_timeout_of_idle_time_halves_the_window_and_three_quarters_of_it_stay_the_threshold() {
    for (idle_ms, halvings) in [(900, 0), (1_001, 1), (2_001, 2), (90_000, 90)] {
        let (mut pair, last, before) = grown(true);
        pair.now = last.after(Span::from_millis(idle_ms));
        pair.write(CLIENT, 1_000);
        let window = *pair.ends[CLIENT].sender().window();
        let halved = (before / libm::exp2(f64::from(halvings))).floor().max(4.0);
        let kept = if halvings > 0 { (before / 2.0).floor() + (before / 4.0).floor() } else { 8.0 };
        assert_eq!((window.cwnd, window.ssthresh), (halved, kept), "{idle_ms} ms");
    }
    let (mut pair, last, _) = grown(false);
    pair.now = last.after(Span::from_millis(1_001));
    pair.write(CLIENT, 1_000);
    let window = *pair.ends[CLIENT].sender().window();
    assert_eq!((window.cwnd, window.ssthresh), (4.0, 8.0));
}

/// Linux: `tcp_cwnd_application_limited`.
#[test]
fn with_decay_half_of_what_the_application_has_not_used_for_a_timeout_is_taken_off_the_window() {
    for window_decay in [true, false] {
        let (mut pair, last, before) = grown(window_decay);
        for step in 1..=12 {
            let now = last.after(Span::from_millis(100 * step));
            pair.run(Span(now.0 - 1));
            pair.now = now;
            pair.write(CLIENT, 1_000);
        }
        let left = if window_decay { f64::midpoint(before, 4.0).floor() } else { before };
        assert_eq!(pair.ends[CLIENT].sender().window().cwnd, left);
    }
}

#[test]
fn a_window_that_does_not_limit_does_not_grow() {
    for (window_validation, grows) in [(true, false), (false, true)] {
        let mut pair = Pair::new(&Config { window_validation, nagle: false, ..modern() });
        pair.open();
        for _ in 0..20 {
            pair.run(Span(pair.now.0 + 100_000_000));
            pair.now = pair.now.after(Span::from_millis(100));
            pair.write(CLIENT, 100);
        }
        assert_eq!(pair.ends[CLIENT].sender().window().cwnd > 4.0, grows);
    }
}

#[test]
fn round_trips_are_measured_too_where_one_end_alone_offers_timestamps() {
    let without = Config { timestamps: false, ..modern() };
    for configs in [[&modern(), &without], [&without, &modern()]] {
        let mut pair = Pair::between(configs);
        pair.open();
        pair.write(CLIENT, 400_000);
        pair.write(SERVER, 400_000);
        pair.run(Span::from_secs(5));
        for side in [CLIENT, SERVER] {
            let counters = pair.ends[side].counters(pair.now);
            assert!(counters.rtt_samples > 5, "{counters:?}");
        }
    }
}

/// draft-cardwell-iccrg-bbr-congestion-control-00 (4.3.4.4), draft-ietf-ccwg-bbr-06 (5.4.1), and Linux.
#[test]
fn a_law_that_paces_from_its_model_keeps_its_window_over_an_idle_time() {
    for law in [CongestionKind::Bbr, CongestionKind::Bbr3] {
        let config = Config { parts: Parts::new(RecoveryKind::Sack, law.config()), ..modern() };
        let mut pair = Pair::new(&config);
        pair.open();
        pair.write(CLIENT, 60_000);
        pair.run(Span::from_secs(4));
        let before = pair.ends[CLIENT].sender().window().cwnd;
        assert!(before > f64::from(config.initial_window), "{law:?}: {before}");
        pair.now = Time(5_000_000_000);
        pair.write(CLIENT, 1_000);
        let after = pair.ends[CLIENT].sender().window().cwnd;
        assert_eq!(after.to_bits(), before.to_bits(), "{law:?}: {after} of {before}");
    }
}
