//! Several stations that all hear each other: freezing, collisions, reservations, EIFS.

use super::super::{Frame, FrameKind, Load, MacConfig, Outcome, PhyRate, Preset, Station};
use super::cell::{Cell, Event, at};
use crate::packet::NodeId;
use crate::units::Span;

/// 100 bytes of IP at 2 Mbit/s with the long preamble: 192 + 4 × 136.
const DATA: f64 = 736.0;
/// Data, SIFS, ACK at 2 Mbit/s.
const EXCHANGE: f64 = DATA + 10.0 + 248.0;

fn started(config: MacConfig, count: usize) -> Cell {
    let mut cell = Cell::new(config, count);
    cell.run(at(10_000));
    cell
}

/// A cell whose medium is busy with an exchange of the last station, which ends at the time returned.
fn occupied(config: MacConfig, count: usize) -> (Cell, f64) {
    let mut cell = started(config, count);
    cell.script(count - 1, &[31]);
    cell.enqueue(count - 1, 0, 99, 100);
    cell.run(at(10_100));
    (cell, 10_000.0 + EXCHANGE)
}

#[test]
fn a_backoff_is_held_while_the_medium_is_busy_and_goes_on_after_difs() {
    let (mut cell, end) = occupied(Preset::Dot11.config(), 3);
    cell.script(0, &[3, 20]);
    cell.script(1, &[5, 20]);
    cell.enqueue(0, 2, 1, 100);
    cell.enqueue(1, 2, 2, 100);
    cell.settle();
    let first = end + 50.0 + 60.0;
    assert_eq!(cell.starts(0, FrameKind::Data), [first]);
    // Three of its five slots had passed.
    assert_eq!(cell.starts(1, FrameKind::Data), [first + EXCHANGE + 50.0 + 40.0]);
}

#[test]
fn equal_backoffs_collide_and_the_window_doubles() {
    let (mut cell, end) = occupied(Preset::Dot11.config(), 3);
    cell.script(0, &[4, 2, 20]);
    cell.script(1, &[4, 30, 20]);
    cell.enqueue(0, 2, 1, 100);
    cell.enqueue(1, 2, 2, 100);
    cell.settle();
    let start = end + 50.0 + 80.0;
    // Both time out 222 µs after their frames and count from there.
    let again = start + DATA + 222.0 + 40.0;
    assert_eq!(cell.starts(0, FrameKind::Data), [start, again]);
    assert_eq!(cell.starts(1, FrameKind::Data), [start, again + EXCHANGE + 50.0 + (30.0 - 2.0) * 20.0]);
    assert_eq!(cell.sides[0].bounds, [31, 63, 31]);
    assert_eq!(cell.sides[1].bounds, [31, 63, 31]);
    assert_eq!(cell.sides[2].received, 2);
}

#[test]
fn a_reception_in_error_is_followed_by_eifs() {
    let (mut cell, end) = occupied(Preset::Dot11.config(), 4);
    cell.script(0, &[0, 31]);
    cell.script(1, &[0, 31]);
    cell.script(2, &[1]);
    for number in 0..3 {
        cell.enqueue(number, 3, number as u64, 100);
    }
    cell.settle();
    // Station 2 hears the collision of the others in its only slot, waits EIFS and then the slot it has left.
    let collision = end + 50.0;
    assert_eq!(cell.starts(0, FrameKind::Data)[0], collision);
    assert_eq!(cell.starts(1, FrameKind::Data)[0], collision);
    assert_eq!(cell.starts(2, FrameKind::Data), [collision + DATA + 364.0 + 20.0]);
}

#[test]
fn a_good_frame_ends_the_need_for_eifs() {
    let (mut cell, end) = occupied(Preset::Dot11.config(), 3);
    // Station 1 hears the data of station 2 in error, but the ACK of station 0 well.
    cell.garble.push((1, FrameKind::Data, 1));
    cell.script(1, &[2]);
    cell.enqueue(1, 0, 1, 100);
    cell.settle();
    assert_eq!(cell.starts(1, FrameKind::Data), [end + 50.0 + 40.0]);
}

#[test]
fn a_reservation_defers_a_third_station_that_hears_only_the_rts() {
    let config = MacConfig { rts_threshold: Some(0), ..Preset::Ns2.config() };
    let mut cell = Cell::new(config, 3);
    // Station 2 hears station 0 alone.
    cell.separate(1, 2);
    cell.script(0, &[0, 31]);
    cell.script(2, &[0, 31]);
    cell.run(at(1_000));
    cell.enqueue(0, 1, 1, 1_000);
    cell.run(at(1_100));
    cell.enqueue(2, 0, 2, 40);
    cell.settle();
    let end = cell.times(0, Event::Done(1, Outcome::Delivered))[0];
    assert_eq!(cell.starts(2, FrameKind::Rts), [end + 50.0]);
}

#[test]
fn a_reservation_by_an_rts_is_forgotten_when_nothing_follows_it() {
    let config = MacConfig { rts_threshold: Some(0), ..Preset::Dot11.config() };
    let mut cell = started(config, 3);
    cell.garble.push((1, FrameKind::Rts, 1));
    cell.script(0, &[60, 31]);
    cell.script(2, &[1, 31]);
    cell.enqueue(0, 1, 1, 1_000);
    cell.run(at(10_050));
    cell.enqueue(2, 1, 2, 100);
    cell.settle();
    // RTS at 2 Mbit/s 272 µs; two SIFS, CTS 248, PHY delay 192, two slots; then DIFS and a slot.
    let reset = 10_000.0 + 272.0 + 20.0 + 248.0 + 192.0 + 40.0;
    assert_eq!(cell.starts(2, FrameKind::Rts), [reset + 50.0 + 20.0]);
}

#[test]
fn a_station_asked_in_a_reservation_does_not_clear_to_send() {
    let config = MacConfig { rts_threshold: Some(0), ..Preset::Dot11.config() };
    for (overheard, answers) in [(true, 0), (false, 1)] {
        let mut cell = started(config, 2);
        let cts = Frame::new(FrameKind::Cts, NodeId(8), NodeId(9), 14, PhyRate::Dsss2);
        let cts = Frame { duration: Span::from_micros(5_000), ..cts };
        if overheard {
            receive(&mut cell, 1, Some(cts), 248);
        }
        cell.run(at(10_300));
        cell.script(0, &[31; 9]);
        cell.enqueue(0, 1, 1, 100);
        cell.run(at(10_300 + 272 + 250));
        assert_eq!(cell.starts(1, FrameKind::Cts).len(), answers);
    }
}

#[test]
fn eifs_follows_only_the_busy_time_that_ended_in_error() {
    // Noise that is not a frame, after a frame in error: DIFS again.
    for (noise, space) in [(false, 364.0), (true, 50.0)] {
        let mut cell = started(Preset::Dot11.config(), 2);
        receive(&mut cell, 0, None, 500);
        if noise {
            cell.run(at(10_510));
            cell.with(0, Station::on_busy);
            cell.run(at(10_600));
            cell.with(0, Station::on_idle);
        }
        let idle = super::cell::micros(cell.now);
        cell.script(0, &[0]);
        cell.enqueue(0, 1, 1, 100);
        cell.settle();
        assert_eq!(cell.starts(0, FrameKind::Data), [idle + space]);
    }
}

/// Lets a station alone hear a frame, or an error, for `micros` from now on.
fn receive(cell: &mut Cell, number: usize, frame: Option<Frame>, micros: u64) {
    cell.with(number, Station::on_busy);
    cell.run(cell.now + Span::from_micros(micros));
    cell.with(number, |station, now, side| match frame {
        Some(frame) => station.on_frame(&frame, &Load::NOTHING, now, side),
        None => station.on_error(now, side),
    });
    cell.with(number, Station::on_idle);
}

#[test]
fn a_packet_that_waits_during_an_answer_draws_its_backoff_after_it() {
    let mut cell = started(Preset::Dot11.config(), 2);
    cell.script(0, &[31]);
    cell.script(1, &[2, 31]);
    cell.enqueue(0, 1, 1, 100);
    // In the SIFS before the acknowledgement, as a TCP that answers at once.
    cell.run(at(10_000 + DATA as u64 + 1));
    cell.enqueue(1, 0, 2, 100);
    cell.settle();
    assert_eq!(cell.starts(1, FrameKind::Data), [10_000.0 + EXCHANGE + 50.0 + 40.0]);
}

#[test]
fn a_listener_sets_its_timer_once_in_an_exchange_with_rts() {
    let mut cell = started(MacConfig { rts_threshold: Some(0), ..Preset::Dot11.config() }, 3);
    cell.script(2, &[8]);
    cell.enqueue(0, 1, 1, 1_000);
    cell.run(at(10_100));
    cell.enqueue(2, 1, 2, 1_000);
    let begin = cell.sides[2].timers_set;
    while cell.times(0, Event::Done(1, Outcome::Delivered)).is_empty() {
        cell.step(at(20_000));
    }
    // Once, after the RTS, for the time in which its reservation ends if nothing follows; once for the whole of it.
    assert_eq!(cell.sides[2].timers_set - begin, 2);
}
