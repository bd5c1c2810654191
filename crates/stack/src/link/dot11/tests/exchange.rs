//! Successive exchanges: their times to the nanosecond, retries, duplicates.

use super::super::{
    AccessRules, Counters, FrameKind, MacConfig, Outcome, PhyRate, Preset, Protection, ResponseTimeout,
};
use super::cell::{Cell, Event, at};
use crate::packet::NodeId;
use crate::units::{Span, Time};

/// The draws that give the mean backoff of 15 slots.
const MEAN: [u32; 8] = [15; 8];

fn dot11_at_1_mbps() -> MacConfig {
    Preset::Ns2.config()
}

#[test]
fn an_exchange_with_rts_lasts_as_long_as_the_sum_of_its_parts() {
    let mut cell = Cell::new(dot11_at_1_mbps(), 2);
    cell.script(0, &MEAN);
    cell.enqueue(0, 1, 7, 1040);
    cell.enqueue(0, 1, 8, 1040);
    cell.settle();
    // DIFS 50, backoff 300, RTS 352, SIFS 10, CTS 304, SIFS 10, data 192 + 8 × 1074, SIFS 10, ACK 304.
    assert_eq!(cell.starts(0, FrameKind::Rts), [350.0, 10_474.0]);
    assert_eq!(cell.starts(1, FrameKind::Cts)[0], 712.0);
    assert_eq!(cell.starts(0, FrameKind::Data)[0], 1_026.0);
    assert_eq!(cell.starts(1, FrameKind::Ack)[0], 9_820.0);
    assert_eq!(cell.times(1, Event::Up(7)), [9_810.0]);
    assert_eq!(cell.times(0, Event::Done(7, Outcome::Delivered)), [10_124.0]);
    assert_eq!(cell.times(0, Event::Done(8, Outcome::Delivered)), [20_248.0]);
}

#[test]
fn a_tcp_acknowledgement_takes_2_12_ms() {
    let mut cell = Cell::new(dot11_at_1_mbps(), 2);
    cell.script(0, &MEAN);
    cell.enqueue(0, 1, 1, 40);
    cell.settle();
    // 50 + 300 + 352 + 10 + 304 + 10 + 192 + 8 × 74 + 10 + 304.
    assert_eq!(cell.times(0, Event::Done(1, Outcome::Delivered)), [2_124.0]);
}

#[test]
fn reservations_end_with_the_exchange() {
    let mut cell = Cell::new(dot11_at_1_mbps(), 2);
    cell.script(0, &MEAN);
    cell.enqueue(0, 1, 7, 1040);
    cell.settle();
    for side in &cell.sides {
        for &(start, frame, airtime) in &side.frames {
            assert_eq!(start + airtime.total + frame.duration, at(10_124), "{frame:?}");
        }
    }
    let airtime = cell.sides[0].frames[1].2;
    assert_eq!((airtime.preamble, airtime.payload), (Span::from_micros(192), Span::from_micros(8_320)));
}

#[test]
fn basic_access_sends_at_once_on_a_medium_idle_for_difs() {
    let mut cell = Cell::new(Preset::Dot11b.config(), 2);
    cell.script(0, &[4, 0]);
    cell.run(at(1_000));
    cell.enqueue(0, 1, 1, 1_500);
    cell.enqueue(0, 1, 2, 1_500);
    cell.settle();
    // 1536 bytes at 11 Mbit/s: 192 + 1118. ACK at 2 Mbit/s: 192 + 56. Then DIFS and four slots.
    assert_eq!(cell.starts(0, FrameKind::Data), [1_000.0, 1_000.0 + 1_310.0 + 10.0 + 248.0 + 130.0]);
    assert_eq!(cell.starts(1, FrameKind::Ack)[0], 2_320.0);
}

#[test]
fn ofdm_exchanges_take_whole_symbols() {
    let config = MacConfig { data_rate: PhyRate::Ofdm6, ..Preset::Dot11a.config() };
    let mut cell = Cell::new(config, 2);
    cell.run(at(100));
    cell.enqueue(0, 1, 1, 1_500);
    cell.settle();
    assert_eq!(cell.times(0, Event::Done(1, Outcome::Delivered)), [100.0 + 2_072.0 + 16.0 + 44.0]);
}

#[test]
fn a_cts_to_self_at_a_rate_of_dsss_reserves_the_medium_for_a_frame_of_ofdm() {
    let config = MacConfig {
        rts_threshold: Some(0),
        protection: Protection::CtsToSelf,
        protection_rate: Some(PhyRate::Dsss2),
        ..Preset::Dot11g.config()
    };
    let mut cell = Cell::new(config, 3);
    cell.run(at(1_000));
    cell.enqueue(0, 1, 1, 1_500);
    cell.run(at(1_100));
    cell.enqueue(2, 1, 2, 1_500);
    cell.settle();
    // CTS 192 + 56, SIFS 10, data 20 + 57 symbols + 6, SIFS 10, ACK at 24 Mbit/s 28 + 6.
    assert_eq!(cell.starts(0, FrameKind::Cts), [1_000.0]);
    assert_eq!(cell.starts(0, FrameKind::Data), [1_258.0]);
    assert_eq!(cell.starts(1, FrameKind::Ack)[0], 1_522.0);
    assert_eq!(cell.sides[0].frames[0].1.duration, Span::from_micros(10 + 254 + 10 + 34));
    // Nobody answers the CTS, and the other station begins when the exchange that it announces is over.
    assert!(cell.starts(1, FrameKind::Cts).is_empty());
    assert!(cell.starts(2, FrameKind::Cts)[0] >= 1_556.0 + 28.0);
    assert_eq!(cell.times(1, Event::Up(2)).len(), 1);
}

#[test]
fn a_lost_frame_after_a_cts_to_self_counts_as_a_long_one() {
    let config = MacConfig {
        rts_threshold: Some(0),
        protection: Protection::CtsToSelf,
        long_retry: Some(2),
        ..Preset::Dot11g.config()
    };
    let mut cell = Cell::new(config, 1);
    cell.enqueue(0, 5, 1, 1_500);
    cell.settle();
    assert_eq!(cell.starts(0, FrameKind::Cts).len(), 2);
    assert_eq!(cell.starts(0, FrameKind::Data).len(), 2);
    assert_eq!(cell.times(0, Event::Done(1, Outcome::Undelivered)).len(), 1);
}

#[test]
fn a_backoff_follows_an_exchange_also_with_nothing_left_to_send() {
    let mut cell = Cell::new(Preset::Dot11.config(), 2);
    cell.script(0, &[10, 3]);
    cell.run(at(1_000));
    cell.enqueue(0, 1, 1, 100);
    cell.settle();
    let end = cell.times(0, Event::Done(1, Outcome::Delivered))[0];
    // The next packet comes in the middle of the sixth slot, and waits for the rest of the ten.
    cell.run(at(end as u64 + 50 + 110));
    cell.enqueue(0, 1, 2, 100);
    cell.settle();
    assert_eq!(cell.starts(0, FrameKind::Data)[1], end + 50.0 + 200.0);
    // After the post-backoff has ended a packet is sent at once.
    cell.run(at(20_000));
    cell.enqueue(0, 1, 3, 100);
    assert_eq!(cell.starts(0, FrameKind::Data)[2], 20_000.0);
}

#[test]
fn without_post_backoff_a_packet_after_difs_is_sent_at_once() {
    let access = AccessRules { post_backoff: false, ..Preset::Dot11.config().access };
    let mut cell = Cell::new(MacConfig { access, ..Preset::Dot11.config() }, 2);
    cell.run(at(1_000));
    cell.enqueue(0, 1, 1, 100);
    cell.settle();
    let end = cell.times(0, Event::Done(1, Outcome::Delivered))[0];
    cell.run(at(end as u64 + 50));
    cell.enqueue(0, 1, 2, 100);
    assert_eq!(cell.starts(0, FrameKind::Data)[1], end + 50.0);
    assert!(cell.sides[0].bounds.is_empty());
}

#[test]
fn a_packet_within_difs_of_a_busy_medium_draws_a_backoff() {
    let mut cell = Cell::new(Preset::Dot11.config(), 3);
    cell.script(2, &[3]);
    cell.run(at(1_000));
    cell.enqueue(0, 1, 1, 100);
    cell.settle();
    let end = cell.times(0, Event::Done(1, Outcome::Delivered))[0];
    cell.run(at(end as u64 + 30));
    cell.enqueue(2, 1, 2, 100);
    cell.settle();
    assert_eq!(cell.starts(2, FrameKind::Data), [end + 50.0 + 60.0]);
}

#[test]
fn a_lost_acknowledgement_makes_a_duplicate_that_goes_no_further() {
    let mut cell = Cell::new(Preset::Dot11.config(), 2);
    cell.script(0, &[5, 9]);
    cell.garble.push((0, FrameKind::Ack, 1));
    cell.run(at(1_000));
    cell.enqueue(0, 1, 42, 100);
    cell.settle();
    let receiver = &cell.sides[1];
    assert_eq!(receiver.received, 1);
    assert_eq!(cell.stations[1].counters().duplicates, 1);
    assert_eq!(cell.times(0, Event::Done(42, Outcome::Delivered)).len(), 1);
    assert_eq!(cell.sides[0].bounds, [63, 31]);
    let sent: Vec<_> =
        cell.sides[0].frames.iter().map(|(_, frame, _)| (frame.sequence, frame.retry)).collect();
    assert_eq!(sent, [(0, false), (0, true)]);
    // Data 192 + 544 at 2 Mbit/s, SIFS, ACK 248 in error, then EIFS 364 and five slots.
    assert_eq!(cell.starts(0, FrameKind::Data), [1_000.0, 1_000.0 + 736.0 + 10.0 + 248.0 + 364.0 + 100.0]);
}

#[test]
fn the_retry_limits_count_attempts_and_end_in_undelivered() {
    for (threshold, attempts) in [(None, 7), (Some(50), 4)] {
        let config = MacConfig { rts_threshold: threshold, ..Preset::Dot11.config() };
        let mut cell = Cell::new(config, 2);
        cell.garble.push((1, FrameKind::Data, u32::MAX));
        cell.run(at(1_000));
        cell.enqueue(0, 1, 1, 100);
        cell.settle();
        assert_eq!(cell.starts(0, FrameKind::Data).len(), attempts);
        assert_eq!(cell.times(0, Event::Done(1, Outcome::Undelivered)).len(), 1);
        let bounds: Vec<u32> = [63, 127, 255, 511, 1023, 1023][..attempts - 1].to_vec();
        assert_eq!(cell.sides[0].bounds, [&bounds[..], &[31]].concat());
    }
}

#[test]
fn each_packet_has_all_its_attempts() {
    let mut cell = Cell::new(Preset::Dot11.config(), 2);
    cell.garble.push((1, FrameKind::Data, 7 + 6));
    cell.enqueue(0, 1, 1, 100);
    cell.enqueue(0, 1, 2, 100);
    cell.settle();
    assert_eq!(cell.times(0, Event::Done(1, Outcome::Undelivered)).len(), 1);
    assert_eq!(cell.times(0, Event::Done(2, Outcome::Delivered)).len(), 1);
    assert_eq!(cell.starts(0, FrameKind::Data).len(), 7 + 7);
}

#[test]
fn an_answered_rts_clears_the_count_of_unanswered_ones() {
    let config = MacConfig { rts_threshold: Some(0), ..Preset::Dot11.config() };
    let mut cell = Cell::new(config, 2);
    cell.garble = vec![(1, FrameKind::Rts, 5), (1, FrameKind::Data, 1)];
    cell.enqueue(0, 1, 1, 100);
    while cell.stations[0].counters().data_sent == 0 {
        assert!(cell.step(Time::NEVER));
    }
    cell.garble.push((1, FrameKind::Rts, 5));
    cell.settle();
    assert_eq!(cell.times(0, Event::Done(1, Outcome::Delivered)).len(), 1);
    assert_eq!(cell.stations[0].counters().cts_missing, 10);
}

#[test]
fn an_rts_without_an_answer_counts_as_a_short_frame() {
    let config = MacConfig { rts_threshold: Some(0), ..Preset::Dot11.config() };
    let mut cell = Cell::new(config, 2);
    cell.garble.push((1, FrameKind::Rts, u32::MAX));
    cell.run(at(1_000));
    cell.enqueue(0, 1, 1, 100);
    cell.settle();
    let expected = Counters { rts_sent: 7, cts_missing: 7, undelivered: 1, ..Counters::default() };
    assert_eq!(*cell.stations[0].counters(), expected);
}

#[test]
fn a_missing_answer_is_noticed_after_the_timeout() {
    // The standard: SIFS, slot and the PHY's delay; the backoff runs from there. ns-2: the whole ACK and 4 µs.
    for (timeout, wait) in [
        (ResponseTimeout::ReceptionStart(Span::from_micros(192)), 222.0),
        (ResponseTimeout::WholeResponse(Span::from_micros(4)), 10.0 + 248.0 + 4.0),
    ] {
        let access = AccessRules { timeout, ..Preset::Dot11.config().access };
        let mut cell = Cell::new(MacConfig { access, ..Preset::Dot11.config() }, 2);
        cell.script(0, &[6, 0]);
        cell.garble.push((1, FrameKind::Data, 1));
        cell.run(at(1_000));
        cell.enqueue(0, 1, 1, 100);
        cell.settle();
        assert_eq!(cell.starts(0, FrameKind::Data), [1_000.0, 1_736.0 + wait + 120.0]);
    }
}

#[test]
fn a_packet_lost_for_good_is_given_up_after_one_attempt() {
    let mut cell = Cell::new(dot11_at_1_mbps(), 2);
    cell.lose_for_good = 1;
    cell.enqueue(0, 1, 1, 1_000);
    cell.enqueue(0, 1, 2, 1_000);
    cell.settle();
    assert_eq!(cell.times(0, Event::Done(1, Outcome::Undelivered)).len(), 1);
    assert_eq!(cell.times(0, Event::Done(2, Outcome::Delivered)).len(), 1);
    assert_eq!(cell.times(1, Event::Up(1)), []);
    assert_eq!(cell.starts(0, FrameKind::Data).len(), 2);
    assert_eq!(cell.sides[0].bounds, [30, 30, 30]);
}

#[test]
fn the_queue_refuses_what_is_beyond_its_limit_and_forgets_what_waits_for_a_neighbour() {
    let config = MacConfig { queue: 3, ..Preset::Dot11.config() };
    let mut cell = Cell::new(config, 3);
    let taken = [1, 1, 2, 1, 1].iter().zip(0..).map(|(to, handle)| cell.enqueue(0, *to, handle, 100));
    assert_eq!(taken.collect::<Vec<bool>>(), [true, true, true, true, false]);
    assert_eq!(cell.stations[0].backlog(), 4);
    cell.with(0, |station, _, side| station.flush(NodeId(1), side));
    for handle in [1, 3] {
        assert_eq!(cell.times(0, Event::Done(handle, Outcome::Flushed)).len(), 1);
    }
    cell.settle();
    for handle in [0, 2] {
        assert_eq!(cell.times(0, Event::Done(handle, Outcome::Delivered)).len(), 1);
    }
}

#[test]
fn sequence_numbers_wrap_after_4096() {
    let mut cell = Cell::new(Preset::Dot11.config(), 2);
    for handle in 0..4_098 {
        cell.enqueue(0, 1, handle, 40);
        cell.settle();
    }
    let sequences: Vec<u16> =
        cell.sides[0].frames.iter().map(|(_, frame, _)| frame.sequence).skip(4_094).collect();
    assert_eq!(sequences, [4_094, 4_095, 0, 1]);
    assert_eq!(cell.sides[1].received, 4_098);
}
