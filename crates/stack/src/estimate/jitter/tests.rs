//! Hand-computed ratios, and the effect on them of a second loss close to the first.

use super::*;
use crate::hooks::Echo;
use crate::hooks::testing::ack;

/// The acknowledgement of one packet, or of several, sent and received at these times in milliseconds.
fn told(segments: u32, sent: u64, received: u64, sending: Sending, newest_sent: u64) -> Ack {
    let at = |ms: u64| Time(ms * 1_000_000);
    let echo = Echo { sent: at(sent), received: at(received), trigger: 0, sending, modulation: None };
    Ack { extension: Some(echo), newest_sent: Some(at(newest_sent)), ..ack(Progress::Open(segments)) }
}

fn in_order(sent: u64, received: u64) -> Ack {
    told(1, sent, received, Sending::Single, sent)
}

#[test]
fn the_ratio_is_what_the_receiving_span_has_more_than_the_sending_span() {
    // Sent 10 ms apart, received 12 ms apart by a clock that is 500 ms ahead: (36 - 30) / 36.
    let mut jitter = JitterRatio::new(Attribution::Trigger, Reach::Cwnd);
    for packet in 0..4 {
        jitter.on_ack(&in_order(10 * packet, 540 + 12 * packet), 4.0);
    }
    assert!((jitter.ratio() - 6.0 / 36.0).abs() < 1e-12);
}

#[test]
fn w_packets_are_w_less_one_intervals_and_the_threshold_itself_is_not_above_it() {
    // One segment more than the bottleneck drains in a round trip: two are sent at once, and all are received 10 ms
    // apart.
    let sent = [0, 10, 20, 20, 30, 40];
    for (window, exceeds) in [(6.9, true), (5.0, true), (2.0, false)] {
        let mut jitter = JitterRatio::new(Attribution::Trigger, Reach::Cwnd);
        for (packet, sent) in (0..).zip(sent) {
            jitter.on_ack(&in_order(sent, 100 + 10 * packet), window);
        }
        assert_eq!(jitter.exceeds(1.0, window), exceeds, "w = {window}");
    }
    // Five intervals, one of them queued: jr = 1/5; with w = 5 that is k / w exactly.
    let mut jitter = JitterRatio::new(Attribution::Trigger, Reach::Cwnd);
    for (packet, sent) in (0..).zip(sent) {
        jitter.on_ack(&in_order(sent, 100 + 10 * packet), 6.0);
    }
    assert!((jitter.ratio() - 0.2).abs() < 1e-12);
    assert!(!jitter.exceeds(1.0, 5.0) && jitter.exceeds(1.0, 6.0) && !jitter.exceeds(1.2, 6.0));
}

#[test]
fn a_round_reaches_two_packets_further_than_the_window() {
    assert_eq!((Reach::Round.packets(6.9), Reach::Cwnd.packets(6.9)), (8, 6));
    // The pair sent at once is six intervals back.
    for (reach, exceeds) in [(Reach::Round, true), (Reach::Cwnd, false)] {
        let mut jitter = JitterRatio::new(Attribution::Trigger, reach);
        for (packet, sent) in (0..).zip([0, 0, 10, 20, 30, 40, 50]) {
            jitter.on_ack(&in_order(sent, 100 + 10 * packet), 5.0);
        }
        assert_eq!(jitter.exceeds(1.0, 5.0), exceeds);
    }
}

#[test]
fn duplicates_leave_the_ratio_as_it_is() {
    let mut jitter = JitterRatio::new(Attribution::Trigger, Reach::Cwnd);
    for packet in 0..3 {
        jitter.on_ack(&in_order(10 * packet, 12 * packet), 3.0);
    }
    let frozen = jitter.ratio();
    jitter.on_ack(&Ack { progress: Progress::Duplicate, ..in_order(30, 90) }, 3.0);
    assert_eq!(jitter.ratio(), frozen);
}

#[test]
fn an_acknowledgement_of_two_packets_is_one_sample_of_two_packets() {
    let mut jitter = JitterRatio::new(Attribution::Trigger, Reach::Cwnd);
    for pair in 0..4 {
        jitter.on_ack(&told(2, 20 * pair, 25 * pair, Sending::Single, 20 * pair), 5.0);
    }
    // Five packets reach back over two samples: (50 - 40) / 50.
    assert!((jitter.ratio() - 0.2).abs() < 1e-12);
    assert_eq!(jitter.samples.len(), 3);
}

/// EJTCP, Fig. 2: a path of constant delay, on which packets 10 and 14 of one window are lost. The retransmission of
/// the first leaves 100 ms after it, and its acknowledgement covers all up to packet 13.
fn second_loss_close_to_the_first(attribution: Attribution) -> JitterRatio {
    let mut jitter = JitterRatio::new(attribution, Reach::Cwnd);
    for packet in 0..10 {
        jitter.on_ack(&in_order(10 * packet, 10 * packet + 50), 10.0);
    }
    jitter.on_ack(&told(4, 200, 250, Sending::Repeated, 130), 10.0);
    jitter
}

#[test]
fn a_second_loss_close_to_the_first_corrupts_the_ratio_unless_the_header_names_the_trigger() {
    let without = second_loss_close_to_the_first(Attribution::Cumulative);
    // Packet 13, sent at 130 ms, seems to have arrived at 250 ms. Over the 9 intervals back to packet 4, the receiving
    // span is 160 ms and the sending span 90 ms, although nothing ever queued on the path.
    assert!((without.ratio() - 70.0 / 160.0).abs() < 1e-12);
    assert!(without.exceeds(1.0, 10.0));
    let with = second_loss_close_to_the_first(Attribution::Trigger);
    assert_eq!(with.ratio(), 0.0);
    assert!(!with.exceeds(1.0, 10.0));
}

#[test]
fn intervals_to_and_from_a_retransmission_are_left_out_and_those_behind_it_count_again() {
    let mut jitter = JitterRatio::new(Attribution::Trigger, Reach::Cwnd);
    for packet in 0..10 {
        jitter.on_ack(&in_order(10 * packet, 50 + 12 * packet), 30.0);
    }
    jitter.on_ack(&told(4, 300, 420, Sending::Repeated, 130), 30.0);
    assert!((jitter.ratio() - 18.0 / 108.0).abs() < 1e-12);
    for packet in 0..4 {
        jitter.on_ack(&in_order(310 + 10 * packet, 440 + 16 * packet), 30.0);
    }
    // Nine intervals of 12 ms before the repair, three of 16 ms after it.
    assert!((jitter.ratio() - (18.0 + 18.0) / (108.0 + 48.0)).abs() < 1e-12);
}

#[test]
fn the_window_holds_no_more_samples_than_packets() {
    let mut jitter = JitterRatio::new(Attribution::Trigger, Reach::Cwnd);
    for packet in 0..10_000 {
        jitter.on_ack(&in_order(10 * packet, 10 * packet), 50.0);
    }
    assert_eq!(jitter.samples.len(), 50);
    assert!(jitter.samples.capacity() <= 128);
}
