//! Packets over frames of one millisecond: half down, half up, 50 us of maps and of requests.

use super::*;
use crate::units::Rate;

const FRAME: Frame = Frame {
    length: Span::from_millis(1),
    down: Span::from_micros(500),
    maps: Span::from_micros(50),
    requests: Span::from_micros(50),
};

/// A byte each microsecond with QPSK, two and three with the others.
const RATES: Rates = Rates { qpsk: Rate(8_000_000), qam16: Rate(16_000_000), qam64: Rate(24_000_000) };

fn line(direction: Direction) -> Line {
    Line::new(FRAME, direction, RATES, QueueLimit::Packets(100))
}

fn us(micros: u64) -> Time {
    Time(micros * 1000)
}

fn sent_at(line: &mut Line, bytes: u64, now: Time, modulation: Modulation) -> Time {
    line.offer(Bytes(bytes), now, &mut |_| modulation).expect("room").at
}

#[test]
fn a_packet_goes_down_in_the_first_frame_whose_maps_announce_it() {
    // 88 bytes and the overhead of 12 take 100 us after the maps.
    assert_eq!(sent_at(&mut line(Direction::Down), 88, us(0), Modulation::Qpsk), us(150));
    assert_eq!(sent_at(&mut line(Direction::Down), 88, us(1), Modulation::Qpsk), us(1150));
    assert_eq!(sent_at(&mut line(Direction::Down), 188, us(0), Modulation::Qam16), us(150));
}

#[test]
fn a_packet_goes_up_one_frame_after_it_was_asked_for() {
    // It comes before the uplink sub-frame: asked at 500, granted in the frame from 1000, bursts from 1550.
    assert_eq!(sent_at(&mut line(Direction::Up), 88, us(400), Modulation::Qpsk), us(1650));
    // It comes too late: asked at 1500.
    assert_eq!(sent_at(&mut line(Direction::Up), 88, us(600), Modulation::Qpsk), us(2650));
}

#[test]
fn packets_follow_each_other_and_are_fragmented_over_frames() {
    let mut down = line(Direction::Down);
    assert_eq!(sent_at(&mut down, 388, us(0), Modulation::Qpsk), us(450));
    // 50 us are left: 38 bytes go now, the other 62 with a header of their own in the next frame.
    assert_eq!(sent_at(&mut down, 100, us(0), Modulation::Qpsk), us(1124));
    assert_eq!(down.busy(us(1124)), Span::from_micros(400 + 50 + 74));
    // 12 us are left: room for the overhead of a fragment and for no payload.
    let mut down = line(Direction::Down);
    assert_eq!(sent_at(&mut down, 426, us(0), Modulation::Qpsk), us(488));
    assert_eq!(sent_at(&mut down, 88, us(0), Modulation::Qpsk), us(1150));
    assert_eq!(down.busy(us(1150)), Span::from_micros(438 + 100));
}

#[test]
fn the_time_spent_sending_counts_bursts_when_they_go_and_not_when_they_are_promised() {
    let mut down = line(Direction::Down);
    sent_at(&mut down, 388, us(0), Modulation::Qpsk);
    sent_at(&mut down, 100, us(0), Modulation::Qpsk);
    // From 50 to 500, and from 1050 to 1124.
    for (at, busy) in
        [(0, 0), (50, 0), (60, 10), (500, 450), (1050, 450), (1100, 500), (1124, 524), (9000, 524)]
    {
        assert_eq!(down.busy(us(at)), Span::from_micros(busy), "at {at}");
    }
    // Past bursts are forgotten, their time is not.
    sent_at(&mut down, 88, us(5000), Modulation::Qpsk);
    assert_eq!(down.busy(us(5000)), Span::from_micros(524));
    assert_eq!(down.busy(us(5150)), Span::from_micros(624));
    assert_eq!(down.bursts.len(), 1);
}

#[test]
fn a_fragment_goes_at_the_rate_of_its_own_frame() {
    let mut down = line(Direction::Down);
    let mut script = |begins: Time| if begins < us(1000) { Modulation::Qam64 } else { Modulation::Qpsk };
    // 450 us at three bytes each carry 1338; the other 62 take 74 us with QPSK.
    let departure = down.offer(Bytes(1400), us(0), &mut script);
    assert_eq!(departure, Some(Departure { at: us(1124), modulation: Modulation::Qpsk }));
}

#[test]
fn a_full_queue_refuses_until_a_packet_has_left() {
    let mut down = Line::new(FRAME, Direction::Down, RATES, QueueLimit::Packets(1));
    sent_at(&mut down, 88, us(0), Modulation::Qpsk);
    assert_eq!(down.offer(Bytes(88), us(149), &mut |_| Modulation::Qpsk), None);
    assert_eq!(sent_at(&mut down, 88, us(150), Modulation::Qpsk), us(1150));
}

#[test]
fn a_saturated_direction_carries_what_its_subframe_holds() {
    let mut down = Line::new(FRAME, Direction::Down, RATES, QueueLimit::Unlimited);
    let mut last = Time::ZERO;
    for _ in 0..1000 {
        let departure = sent_at(&mut down, 1000, us(0), Modulation::Qam64);
        assert!(departure > last);
        last = departure;
    }
    // 1350 bytes a frame less a header for each fragment: at most three in a frame.
    let rate = 1000.0 * 1000.0 / last.as_secs();
    assert!((1_310_000.0..1_350_000.0).contains(&rate), "{rate}");
}
