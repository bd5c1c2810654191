//! Hand-worked time lines, to the nanosecond.

use lasthop_stack::link::dot11::{BROADCAST, PhyRate, Preset, Rules};
use lasthop_stack::packet::NodeId;

use super::*;
use crate::engine::streams::Stream;

const DIFS: Span = Span::from_micros(50);
const EIFS: Span = Span::from_micros(364);

/// A ledger driven by hand; times in microseconds.
struct Book {
    ledger: Ledger,
    rules: Rules,
}

impl Book {
    fn from(begin_us: u64) -> Book {
        let rules = Rules::new(Preset::Dot11.config());
        Book { ledger: Ledger::new(DIFS, EIFS, Time(begin_us * 1_000)), rules }
    }

    fn frame(&self, kind: FrameKind, bytes: u32, payload: u32, class: PayloadClass) -> (Frame, Airtime) {
        let frame = Frame::new(kind, BROADCAST, NodeId(0), bytes, PhyRate::Dsss1);
        (Frame { class, ..frame }, self.rules.config.phy.airtime(bytes, payload, PhyRate::Dsss1))
    }

    /// Starts a frame; returns when it ends, in µs.
    fn start(&mut self, station: usize, (frame, airtime): (Frame, Airtime), at_us: u64) -> u64 {
        self.ledger.start(station, true, &frame, (airtime, Span::ZERO), Time(at_us * 1_000));
        at_us + airtime.total.0 / 1_000
    }

    fn end(&mut self, station: usize, fate: Fate, at_us: u64) {
        self.ledger.end(station, fate, Span::ZERO, Time(at_us * 1_000));
    }

    fn whole(&mut self, station: usize, frame: (Frame, Airtime), at_us: u64, fate: Fate) -> u64 {
        let end = self.start(station, frame, at_us);
        self.end(station, fate, end);
        end
    }

    fn contenders(&mut self, count: u32, at_us: u64) {
        self.ledger.contenders(count, Time(at_us * 1_000));
    }

    fn data(&self, ip: u32) -> (Frame, Airtime) {
        self.frame(FrameKind::Data, ip + 36, ip, PayloadClass::Data)
    }

    fn rts(&self) -> (Frame, Airtime) {
        self.frame(FrameKind::Rts, 20, 0, PayloadClass::Other)
    }

    fn cts(&self) -> (Frame, Airtime) {
        self.frame(FrameKind::Cts, 14, 0, PayloadClass::Other)
    }

    fn ack(&self) -> (Frame, Airtime) {
        self.frame(FrameKind::Ack, 14, 0, PayloadClass::Other)
    }

    /// Checks each class in µs (those not named are zero) and that all together are the run.
    fn closes(self, end_us: u64, length_us: u64, expected: &[(AirClass, u64)]) -> Shares {
        let shares = self.ledger.finish(Time(end_us * 1_000));
        for class in AirClass::ALL {
            let named = expected.iter().find(|(name, _)| *name == class).map_or(0, |(_, us)| *us);
            assert_eq!(shares.of(class), Span::from_micros(named), "{class:?}");
        }
        assert_eq!(shares.total(), Span::from_micros(length_us));
        shares
    }
}

#[test]
fn an_rts_exchange_of_a_packet_and_its_acknowledgement_adds_up() {
    let mut book = Book::from(0);
    // A packet comes at 1000 µs and finds the medium idle: it goes at once.
    book.contenders(1, 1000);
    let mut at = book.whole(0, book.rts(), 1000, Fate::Received);
    at = book.whole(1, book.cts(), at + 10, Fate::Received);
    at = book.whole(0, book.data(1040), at + 10, Fate::Received);
    at = book.whole(1, book.ack(), at + 10, Fate::Received);
    // The TCP acknowledgement was queued while the MAC ACK was on the air: DIFS and 7 slots of backoff.
    assert_eq!(at, 1000 + 352 + 304 + (192 + 8 * 1076) + 304 + 30);
    book.contenders(1, at);
    let acknowledgement = book.frame(FrameKind::Data, 76, 40, PayloadClass::TcpAck);
    at = book.whole(1, acknowledgement, at + 50 + 140, Fate::Received);
    at = book.whole(0, book.ack(), at + 10, Fate::Received);
    book.contenders(0, at);
    let end = at + 5000;
    book.closes(
        end,
        end,
        &[
            (AirClass::DataPayload, 8 * 1040),
            (AirClass::TcpAckPayload, 8 * 40),
            (AirClass::Headers, 2 * (192 + 8 * 36)),
            (AirClass::RtsCts, 352 + 304),
            (AirClass::MacAck, 304 + 304),
            (AirClass::Interframe, 30 + 50 + 10),
            (AirClass::Backoff, 140),
            (AirClass::Idle, 1000 + 5000),
        ],
    );
}

#[test]
fn a_packet_that_comes_within_difs_of_a_frame_waits_an_interframe_space() {
    let mut book = Book::from(0);
    let at = book.whole(0, book.ack(), 0, Fate::Received);
    book.contenders(1, at + 20);
    let at = book.whole(1, book.ack(), at + 50 + 60, Fate::Received);
    let shares =
        &[(AirClass::MacAck, 608), (AirClass::Idle, 20), (AirClass::Interframe, 30), (AirClass::Backoff, 60)];
    book.closes(at, at, shares);
}

#[test]
fn a_gap_shorter_than_difs_is_an_interframe_space_also_when_nobody_contends() {
    let mut book = Book::from(0);
    let poll = book.frame(FrameKind::Null, 28, 0, PayloadClass::Other);
    let at = book.whole(0, (Frame { poll: true, ..poll.0 }, poll.1), 0, Fate::Received);
    let at = book.whole(1, (Frame { cf_ack: true, ..poll.0 }, poll.1), at + 30, Fate::Received);
    let each = 192 + 8 * 28;
    book.closes(
        at + 100,
        at + 100,
        &[
            (AirClass::Headers, each),
            (AirClass::MacAck, each),
            (AirClass::Interframe, 30),
            (AirClass::Idle, 100),
        ],
    );
}

#[test]
fn two_frames_that_spoil_each_other_are_one_collision_as_long_as_both() {
    let mut book = Book::from(0);
    book.contenders(2, 0);
    let first = book.start(0, book.rts(), 0);
    let second = book.start(1, book.data(1040), 100);
    book.end(0, Fate::Collided, first);
    book.end(1, Fate::Collided, second);
    // EIFS follows, then backoff to the end of the run.
    let shares = book.closes(
        second + 500,
        second + 500,
        &[(AirClass::Collision, second), (AirClass::Interframe, 364), (AirClass::Backoff, 136)],
    );
    assert_eq!(shares.overlapped, Span::from_micros(352 - 100));
    assert_eq!(shares.concurrent(), Span::from_micros(352 - 100));
}

#[test]
fn a_captured_frame_counts_and_what_it_survived_only_beside_it() {
    let mut book = Book::from(0);
    book.contenders(2, 0);
    let good = book.start(0, book.data(1000), 0);
    let bad = book.start(1, book.data(1000), 400);
    book.end(0, Fate::Received, good);
    book.end(1, Fate::Collided, bad);
    let shares = book.closes(
        bad,
        bad,
        &[(AirClass::DataPayload, 8000), (AirClass::Headers, 480), (AirClass::Collision, 400)],
    );
    assert_eq!(shares.overlapped, Span::from_micros(good - 400));
}

#[test]
fn a_chain_of_overlapping_frames_is_entered_as_far_as_it_is_known() {
    let mut book = Book::from(0);
    book.contenders(3, 0);
    let length = 192 + 8 * 1036;
    for number in 0..50 {
        let station = number as usize % 3;
        let at = number * 6000;
        if number > 1 {
            book.end((station + 1) % 3, Fate::Collided, at - 12_000 + length);
        }
        book.start(station, book.data(1000), at);
        assert!(book.ledger.ended.len() <= 2);
    }
    book.end(48 % 3, Fate::Collided, 48 * 6000 + length);
    book.end(49 % 3, Fate::Collided, 49 * 6000 + length);
    let end = 49 * 6000 + length;
    let shares = book.closes(end, end, &[(AirClass::Collision, end)]);
    assert_eq!(shares.overlapped, Span::from_micros(50 * length - end));
}

#[test]
fn a_data_frame_in_error_is_errored_from_its_first_bit() {
    for fate in [Fate::Errored, Fate::LostForGood, Fate::OutOfReach] {
        let mut book = Book::from(0);
        let end = book.whole(0, book.data(1000), 0, fate);
        book.closes(end, end, &[(AirClass::Errored, end)]);
    }
}

#[test]
fn nothing_before_the_warm_up_and_after_the_end_counts() {
    // The measurement begins 1000 µs into the payload of one frame and ends 2000 µs into that of another.
    let mut book = Book::from(480 + 1000);
    let end = book.whole(0, book.data(1040), 0, Fate::Received);
    book.contenders(1, end);
    book.start(0, book.data(1040), end + 50);
    let length = end + 50 + 480 + 2000 - 1480;
    book.closes(
        end + 50 + 480 + 2000,
        length,
        &[(AirClass::DataPayload, 8320 - 1000 + 2000), (AirClass::Interframe, 50), (AirClass::Headers, 480)],
    );
}

#[test]
fn frames_out_of_hearing_stand_beside_the_run() {
    let mut book = Book::from(1000);
    let (frame, airtime) = book.data(1000);
    book.ledger.start(7, false, &frame, (airtime, Span::ZERO), Time(0));
    book.end(7, Fate::Received, 8480);
    book.ledger.start(7, false, &frame, (airtime, Span::ZERO), Time(9_000_000));
    let shares = book.closes(10_000, 9000, &[(AirClass::Idle, 9000)]);
    assert_eq!(shares.unheard, Span::from_micros(7480 + 1000));
}

#[test]
fn a_start_reported_before_the_end_at_the_same_instant_makes_no_difference() {
    let close = |start_first: bool| {
        let mut book = Book::from(0);
        let end = book.start(0, book.ack(), 0);
        if start_first {
            book.start(1, book.cts(), end);
            book.end(0, Fate::Received, end);
        } else {
            book.end(0, Fate::Received, end);
            book.start(1, book.cts(), end);
        }
        book.end(1, Fate::Received, 2 * end);
        book.closes(2 * end, 2 * end, &[(AirClass::MacAck, end), (AirClass::RtsCts, end)])
    };
    assert_eq!(close(true), close(false));
}

/// Reports the frames that end by `now`, in the order of their ends.
fn report_ends(book: &mut Book, ends: &mut [Option<u64>], now: u64, stream: &mut Stream) {
    while let Some((end, station)) =
        ends.iter().enumerate().filter_map(|(station, end)| end.map(|end| (end, station))).min()
        && end <= now
    {
        let fate = [Fate::Received, Fate::Collided, Fate::Errored][(stream.next_u64() % 3) as usize];
        book.end(station, fate, end);
        ends[station] = None;
    }
}

#[test]
fn whatever_is_reported_the_classes_add_up_to_the_run() {
    let mut stream = Stream::named(1, 0, "ledger");
    for _ in 0..300 {
        let begin = stream.next_u64() % 50_000;
        let mut book = Book::from(begin);
        let mut ends: Vec<Option<u64>> = vec![None; 4];
        let mut now = 0;
        let mut airtime_us = 0;
        for _ in 0..100 {
            now += [0, 0, 10, 50, 300, 2000, 9000][(stream.next_u64() % 7) as usize];
            // At the same instant, ends may be reported before or after what follows.
            report_ends(&mut book, &mut ends, now - (stream.next_u64() % 2).min(now), &mut stream);
            book.contenders((stream.next_u64() % 3) as u32, now);
            let station = (stream.next_u64() % 4) as usize;
            if ends[station].is_none() {
                let frame = [book.rts(), book.data(500), book.ack()][(stream.next_u64() % 3) as usize];
                ends[station] = Some(book.start(station, frame, now));
                airtime_us += ends[station].unwrap_or(now) - now;
            }
        }
        let end = begin.max(now) + stream.next_u64() % 10_000;
        report_ends(&mut book, &mut ends, end, &mut stream);
        let shares = book.ledger.finish(Time(end * 1_000));
        assert_eq!(shares.total(), Span::from_micros(end - begin));
        let frames: u64 =
            AirClass::ALL[..6].iter().chain(&AirClass::ALL[8..10]).map(|class| shares.of(*class).0).sum();
        assert!(frames + shares.overlapped.0 <= airtime_us * 1_000);
    }
}
