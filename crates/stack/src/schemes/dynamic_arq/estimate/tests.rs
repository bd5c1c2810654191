//! Traces of segments and acknowledgements, with what follows from them computed by hand.

use super::*;
use crate::packet::{NodeId, Options, SackBlocks, Segment, Timestamps};
use crate::units::SeqNo;

const SERVER: (NodeId, u16) = (NodeId(0), 80);
const CLIENT: (NodeId, u16) = (NodeId(9), 4_000);
/// The first number of the server. It wraps within the tests.
const ISS: SeqNo = SeqNo(u32::MAX - 3_000);

/// An access point with the clock in milliseconds.
struct Point {
    estimator: Estimator,
}

/// A timestamp and the one it brings back.
type Stamps = (u32, u32);

fn at(ms: f64) -> Time {
    Time((ms * 1e6) as u64)
}

fn ms(ms: f64) -> Span {
    Span((ms * 1e6) as u64)
}

fn packet(from: (NodeId, u16), to: (NodeId, u16), segment: Segment) -> Packet {
    let segment = Segment { src_port: from.1, dst_port: to.1, ..segment };
    Packet::new(from.0, to.0, Body::Tcp(segment))
}

fn stamps(stamps: Option<Stamps>) -> Options {
    let timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
    Options { timestamps, ..Options::default() }
}

/// The byte of the server's stream, counted from 0.
fn byte(offset: u32) -> SeqNo {
    ISS.plus(1).plus(offset)
}

fn key() -> FlowKey {
    FlowKey { src: SERVER.0, src_port: SERVER.1, dst: CLIENT.0, dst_port: CLIENT.1 }
}

impl Point {
    /// With no floor under the timeout.
    fn new() -> Point {
        Point::with(Config {
            rto: RtoLimits { min: Span::ZERO, ..Config::default().rto },
            ..Config::default()
        })
    }

    fn with(config: Config) -> Point {
        Point { estimator: Estimator::new(config) }
    }

    /// A server that opens at 0 ms and whose handshake takes 10 ms of air and 40 ms of wire.
    fn opened(config: Config) -> Point {
        let mut point = Point::with(config);
        point.down(0.0, Segment { seq: ISS, flags: Flags::SYN, ..Segment::default() });
        point.up(10.0, Segment { ack: byte(0), flags: Flags::SYN.with(Flags::ACK), ..Segment::default() });
        point.down(50.0, Segment { seq: byte(0), flags: Flags::ACK, ..Segment::default() });
        point
    }

    fn down(&mut self, ms: f64, segment: Segment) -> Timing {
        self.estimator.on_down(&packet(SERVER, CLIENT, segment), at(ms))
    }

    fn up(&mut self, ms: f64, segment: Segment) -> Option<FlowKey> {
        self.estimator.on_up(&packet(CLIENT, SERVER, segment), at(ms))
    }

    /// A segment of 1000 bytes.
    fn data(&mut self, ms: f64, offset: u32, stamp: Option<Stamps>) -> Timing {
        let flags = Flags::ACK;
        self.down(
            ms,
            Segment { seq: byte(offset), len: 1000, flags, options: stamps(stamp), ..Segment::default() },
        )
    }

    fn ack(&mut self, ms: f64, offset: u32, stamp: Option<Stamps>) -> Option<FlowKey> {
        let flags = Flags::ACK;
        self.up(ms, Segment { ack: byte(offset), flags, options: stamps(stamp), ..Segment::default() })
    }

    fn timing(&self) -> Timing {
        self.estimator.timing(key())
    }
}

fn no_floor() -> Config {
    Config { rto: RtoLimits { min: Span::ZERO, ..Config::default().rto }, ..Config::default() }
}

#[test]
fn the_handshake_of_a_server_that_opens_gives_the_first_sample() {
    let mut point = Point::opened(no_floor());
    assert_eq!((point.timing().rtt, point.timing().rto), (ms(50.0), ms(150.0)));
    assert_eq!(point.timing().fires_at, Time::NEVER, "nothing is outstanding");
    let timing = point.data(60.0, 0, None);
    // It was sent 20 ms before.
    assert_eq!(timing.fires_at, at(40.0 + 150.0));
    assert_eq!(timing.left(at(60.0)), ms(130.0));
}

#[test]
fn the_handshake_of_a_client_that_opens_gives_the_same() {
    let mut point = Point::new();
    point.up(0.0, Segment { seq: SeqNo(7), flags: Flags::SYN, ..Segment::default() });
    point.down(
        40.0,
        Segment { seq: ISS, ack: SeqNo(8), flags: Flags::SYN.with(Flags::ACK), ..Segment::default() },
    );
    point.up(50.0, Segment { seq: SeqNo(8), ack: byte(0), flags: Flags::ACK, ..Segment::default() });
    assert_eq!((point.timing().rtt, point.timing().rto), (ms(50.0), ms(150.0)));
    assert_eq!(point.data(90.0, 0, None).fires_at, at(70.0 + 150.0));
}

#[test]
fn a_syn_that_is_repeated_measures_nothing() {
    let mut point = Point::new();
    point.up(0.0, Segment { seq: SeqNo(7), flags: Flags::SYN, ..Segment::default() });
    point.up(30.0, Segment { seq: SeqNo(7), flags: Flags::SYN, ..Segment::default() });
    point.down(
        40.0,
        Segment { seq: ISS, ack: SeqNo(8), flags: Flags::SYN.with(Flags::ACK), ..Segment::default() },
    );
    point.up(50.0, Segment { seq: SeqNo(8), ack: byte(0), flags: Flags::ACK, ..Segment::default() });
    assert_eq!((point.timing().rtt, point.timing().rto), (Span::ZERO, ms(1000.0)));
}

#[test]
fn the_floor_holds_the_timeout_up() {
    let floor = |min| Config { rto: RtoLimits { min, ..Config::default().rto }, ..Config::default() };
    assert_eq!(Point::opened(floor(ms(200.0))).timing().rto, ms(200.0));
    assert_eq!(Point::opened(floor(ms(1000.0))).timing().rto, ms(1000.0));
}

#[test]
fn a_round_trip_is_the_air_of_a_segment_and_the_wire_of_what_its_acknowledgement_releases() {
    let mut point = Point::opened(no_floor());
    point.data(60.0, 0, None);
    point.data(61.0, 1000, None);
    point.ack(190.0, 1000, None);
    // 130 ms of air on the mean of the wire, 40 ms: the sample is 170 ms.
    // RTTVAR = 3/4 * 25 + 1/4 * 120 = 48.75 ms, SRTT = 7/8 * 50 + 1/8 * 170 = 65 ms.
    assert_eq!((point.timing().rtt, point.timing().rto), (ms(65.0), ms(65.0 + 195.0)));
    point.data(246.0, 2000, None);
    // 56 ms of wire: the mean is 7/8 * 40 + 1/8 * 56 = 42 ms, so that the next segment was sent 21 ms before it passes.
    point.ack(250.0, 2000, None);
    point.ack(300.0, 3000, None);
    // 54 ms of air (from 246 to 300 ms) on the 56 ms, which enter once: 110 ms.
    // RTTVAR = 3/4 * 48.75 + 1/4 * 45 = 47.8125 ms, SRTT = 7/8 * 65 + 1/8 * 110 = 70.625 ms.
    assert_eq!((point.timing().rtt, point.timing().rto), (ms(70.625), ms(70.625 + 191.25)));
    assert_eq!(point.data(400.0, 3000, None).fires_at, at(400.0 - 21.0 + 261.875));
    point.ack(410.0, 4000, None);
    // 10 ms of air on the mean of the wire, 42 ms.
    assert_eq!(point.timing().rtt, Span((7 * ms(70.625).0 + ms(52.0).0) / 8));
}

#[test]
fn the_timer_restarts_where_the_acknowledgement_comes_to_the_sender() {
    let mut point = Point::opened(no_floor());
    point.data(60.0, 0, None);
    point.data(61.0, 1000, None);
    assert_eq!(point.timing().fires_at, at(190.0), "it began with the first segment");
    assert_eq!(point.ack(100.0, 1000, None), Some(key()));
    let rto = point.timing().rto;
    assert_eq!(point.timing().fires_at, at(120.0).after(rto));
    assert_eq!(point.data(141.0, 2000, None).fires_at, at(120.0).after(rto), "and runs on");
    assert_eq!(point.ack(150.0, 1000, None), None, "a duplicate restarts nothing");
    assert_eq!(point.ack(160.0, 3000, None), Some(key()));
    assert_eq!(point.timing().fires_at, Time::NEVER, "nothing is outstanding");
}

#[test]
fn without_restarts_each_segment_has_a_timer_of_its_own() {
    let mut point = Point::opened(Config { restart: false, ..no_floor() });
    assert_eq!(point.data(60.0, 0, None).fires_at, at(40.0 + 150.0));
    assert_eq!(point.data(61.0, 1000, None).fires_at, at(41.0 + 150.0));
    assert_eq!(point.ack(190.0, 1000, None), None);
}

#[test]
fn a_segment_that_passes_again_measures_nothing() {
    let mut point = Point::opened(no_floor());
    point.data(60.0, 0, None);
    point.data(61.0, 1000, None);
    point.data(230.0, 0, None);
    point.ack(260.0, 2000, None);
    assert_eq!(point.timing().rtt, ms(50.0));
    point.data(300.0, 2000, None);
    point.ack(310.0, 3000, None);
    assert_eq!(point.timing().rtt, ms(50.0), "10 ms of air on 40 ms of wire");
}

#[test]
fn a_repeat_that_nothing_tells_of_is_the_timers_and_backs_it_off_until_the_next_sample() {
    let mut point = Point::opened(no_floor());
    point.data(60.0, 0, None);
    point.data(61.0, 1000, None);
    let timing = point.data(210.0, 0, None);
    assert_eq!((timing.rto, timing.fires_at), (ms(300.0), at(190.0 + 300.0)));
    point.data(510.0, 0, None);
    assert_eq!(point.timing().rto, ms(600.0), "again");
    point.ack(520.0, 1000, None);
    assert_eq!(point.data(560.0, 1000, None).rto, ms(600.0), "slow start repeats what follows");
    point.ack(570.0, 2000, None);
    point.data(610.0, 2000, None);
    point.ack(620.0, 3000, None);
    assert!(point.timing().rto < ms(150.0));
}

#[test]
fn a_repeat_after_three_duplicates_measures_the_wire_and_does_not_back_off() {
    let mut point = Point::opened(no_floor());
    for segment in 0..5 {
        point.data(60.0 + f64::from(segment), 1000 * segment, None);
    }
    for (duplicate, ms) in [80.0, 81.0, 82.0].into_iter().enumerate() {
        assert_eq!(point.ack(ms, 0, None), None, "{duplicate}");
    }
    point.data(100.0, 5000, None);
    let timing = point.data(146.0, 0, None);
    // 64 ms of wire: the mean is 7/8 * 40 + 1/8 * 64 = 43 ms; the segment that came before was on its way already.
    assert_eq!((timing.rto, timing.fires_at), (ms(150.0), at(146.0 - 20.0 + 150.0)));
    point.ack(160.0, 6000, None);
    assert_eq!(point.data(300.0, 6000, None).fires_at, at(300.0 - 21.5 + 150.0));
}

#[test]
fn a_wider_window_is_no_duplicate() {
    let mut point = Point::opened(no_floor());
    point.data(60.0, 0, None);
    for window in 1..=4 {
        point.up(60.0, Segment { ack: byte(0), flags: Flags::ACK, window, ..Segment::default() });
    }
    point.data(100.0, 0, None);
    assert_eq!(point.timing().rto, ms(300.0), "the timer's");
    let mut sack = SackBlocks::default();
    sack.push(byte(1000), byte(2000));
    let options = Options { sack, ..Options::default() };
    let mut point = Point::opened(no_floor());
    point.data(60.0, 0, None);
    for window in 1..=4 {
        point.up(60.0, Segment { ack: byte(0), flags: Flags::ACK, window, options, ..Segment::default() });
    }
    point.data(100.0, 0, None);
    assert_eq!(point.timing().rto, ms(150.0), "but with SACK it is");
}

#[test]
fn timestamps_tell_what_was_released_and_which_copy_is_acknowledged() {
    let mut point = Point::opened(no_floor());
    // Acknowledgements every 10 ms, 40 ms of wire: what comes first after each was released by one before it.
    for segment in 0..5 {
        point.data(60.0 + 10.0 * f64::from(segment), 1000 * segment, Some((100 + segment, 0)));
    }
    point.ack(110.0, 1000, Some((500, 100)));
    assert_eq!(point.timing().rtt, ms(55.0), "50 ms of air on 40 ms: 7/8 * 50 + 1/8 * 90");
    point.data(112.0, 5000, Some((105, 0)));
    point.ack(120.0, 2000, Some((510, 101)));
    let before = point.timing().rtt;
    point.data(158.0, 6000, Some((106, 500)));
    point.ack(180.0, 3000, Some((520, 102)));
    // 100 ms of air (from 80 ms on), and 48 ms of wire, from 110 ms on.
    assert_eq!(point.timing().rtt, Span((7 * before.0 + ms(148.0).0) / 8));
    let before = point.timing().rtt;
    point.data(300.0, 3000, Some((200, 520)));
    point.ack(310.0, 4000, Some((530, 103)));
    assert_eq!(point.timing().rtt, before, "the first copy was acknowledged, which is not remembered");
    point.data(350.0, 4000, Some((201, 530)));
    point.ack(360.0, 5000, Some((540, 201)));
    // The repeat at 350 ms answered what was asked at 310 ms: 10 ms of air and 40 ms of wire.
    assert_eq!(point.timing().rtt, Span((7 * before.0 + ms(50.0).0) / 8));
}

/// How long before it passes a segment was sent, which is half of the wired part. Nothing may be outstanding.
fn half_wired(point: &mut Point, ms: f64, offset: u32) -> Span {
    let timing = point.data(ms, offset, None);
    at(ms).after(timing.rto) - timing.fires_at
}

#[test]
fn what_may_have_been_released_before_measures_no_wire() {
    let mut point = Point::opened(no_floor());
    for segment in 0..4 {
        point.data(60.0 + f64::from(segment), 1000 * segment, None);
    }
    point.ack(200.0, 1000, None);
    point.data(240.0, 4000, None);
    // 65 ms after an acknowledgement; that is less than two wired round trips.
    point.ack(265.0, 2000, None);
    point.data(270.0, 5000, None);
    // 5 ms after data.
    point.data(395.0, 6000, None);
    point.ack(400.0, 3000, None);
    point.data(403.0, 7000, None);
    point.ack(500.0, 8000, None);
    assert_eq!(half_wired(&mut point, 2000.0, 8000), ms(20.0));
}

#[test]
fn data_that_the_application_may_have_been_late_with_measures_no_wire() {
    let mut point = Point::opened(no_floor());
    point.data(60.0, 0, None);
    point.ack(200.0, 1000, None);
    point.data(300.0, 1000, None);
    point.ack(400.0, 2000, None);
    assert_eq!(half_wired(&mut point, 2000.0, 2000), ms(20.0));
}

#[test]
fn of_acknowledgements_with_one_stamp_the_first_is_timed_or_none() {
    let mut point = Point::opened(no_floor());
    for segment in 0..6 {
        point.data(60.0, 1000 * segment, Some((100, 0)));
    }
    point.ack(70.0, 1000, Some((500, 100)));
    point.ack(109.2, 2000, Some((539, 100)));
    // The answer to the first question: 40 ms, as before.
    point.data(110.0, 6000, Some((140, 500)));
    point.ack(110.4, 3000, Some((539, 100)));
    point.data(149.2, 7000, Some((179, 539)));
    point.ack(200.0, 8000, Some((600, 179)));
    assert_eq!(half_wired(&mut point, 2000.0, 8000), ms(20.0));
}

#[test]
fn an_acknowledgement_that_released_nothing_is_not_waited_for() {
    let mut point = Point::opened(no_floor());
    for segment in 0..3 {
        point.data(60.0, 1000 * segment, Some((100, 0)));
    }
    point.ack(70.0, 1000, Some((500, 100)));
    point.ack(80.0, 2000, Some((510, 100)));
    point.data(120.0, 3000, Some((150, 510)));
    point.ack(130.0, 3000, Some((520, 100)));
    point.data(186.0, 4000, Some((200, 520)));
    point.ack(190.0, 5000, Some((530, 200)));
    // 56 ms: the mean is 42 ms.
    assert_eq!(half_wired(&mut point, 2000.0, 5000), ms(21.0));
}

#[test]
fn an_answer_later_than_the_timeout_was_waited_for_by_something_else() {
    let mut point = Point::opened(no_floor());
    point.data(60.0, 0, None);
    point.data(61.0, 1000, None);
    point.ack(200.0, 1000, None);
    point.data(900.0, 2000, None);
    point.ack(1000.0, 3000, None);
    let sent = at(2000.0 - 20.0);
    let timing = point.data(2000.0, 3000, None);
    assert_eq!(timing.fires_at, sent.after(timing.rto));
}

#[test]
fn a_flow_is_forgotten_when_its_end_is_acknowledged_or_it_is_reset() {
    let mut point = Point::opened(no_floor());
    point.data(60.0, 0, None);
    let fin = Flags::FIN.with(Flags::ACK);
    point.down(61.0, Segment { seq: byte(1000), flags: fin, ..Segment::default() });
    point.ack(70.0, 1000, None);
    assert_eq!(point.estimator.flows(), 1);
    assert_eq!(point.ack(71.0, 1001, None), Some(key()));
    assert_eq!((point.estimator.flows(), point.timing()), (0, Timing::UNKNOWN));
    assert_eq!(point.ack(72.0, 1001, None), None, "what comes late begins nothing");
    assert_eq!(point.estimator.flows(), 0);
    for side in [0, 1] {
        let mut point = Point::opened(no_floor());
        let reset = Segment { flags: Flags::RST, ..Segment::default() };
        if side == 0 {
            assert_eq!(point.down(60.0, reset), Timing::UNKNOWN);
        } else {
            assert_eq!(point.up(60.0, reset), None);
        }
        assert_eq!(point.estimator.flows(), 0);
    }
}

#[test]
fn ports_that_are_used_again_begin_a_new_flow() {
    let mut point = Point::opened(no_floor());
    point.data(60.0, 0, None);
    point.down(100.0, Segment { seq: SeqNo(5), flags: Flags::SYN, ..Segment::default() });
    assert_eq!((point.timing().rtt, point.estimator.flows()), (Span::ZERO, 1));
    point.up(120.0, Segment { ack: SeqNo(6), flags: Flags::SYN.with(Flags::ACK), ..Segment::default() });
    point.down(180.0, Segment { seq: SeqNo(6), flags: Flags::ACK, ..Segment::default() });
    assert_eq!(point.timing().rtt, ms(80.0));
}

#[test]
fn a_connection_that_was_under_way_before_is_learnt_from_its_data() {
    let mut point = Point::new();
    assert_eq!(point.data(0.0, 0, None), Timing { rtt: Span::ZERO, rto: ms(1000.0), fires_at: at(1000.0) });
    point.data(1.0, 1000, None);
    point.ack(30.0, 1000, None);
    point.data(70.0, 2000, None);
    assert_eq!(point.timing().rtt, ms(70.0));
}

#[test]
fn idle_flows_make_room_and_a_flow_without_room_is_left_alone() {
    let mut estimator = Estimator::new(Config { max_flows: 3, idle: ms(1000.0), ..no_floor() });
    let flow = |client: u32| {
        let segment = Segment { seq: SeqNo(1), len: 1000, flags: Flags::ACK, ..Segment::default() };
        packet(SERVER, (NodeId(client), 4_000), segment)
    };
    for client in 0..4 {
        let timing = estimator.on_down(&flow(client), at(0.0));
        assert_eq!(timing == Timing::UNKNOWN, client == 3);
    }
    assert_eq!(estimator.flows(), 3);
    for packet in 0..4 {
        estimator.on_down(&flow(1), at(999.0 + f64::from(packet)));
    }
    assert_eq!(estimator.flows(), 1, "the two that were silent");
    assert_ne!(estimator.on_down(&flow(3), at(1002.0)), Timing::UNKNOWN);
}

#[test]
fn a_datagram_has_no_timer() {
    let mut estimator = Estimator::new(Config::default());
    let body = Body::Udp(crate::packet::Datagram::default());
    let packet = Packet::new(NodeId(0), NodeId(1), body);
    assert_eq!(estimator.on_down(&packet, Time::ZERO), Timing::UNKNOWN);
    assert_eq!((estimator.on_up(&packet, Time::ZERO), estimator.flows()), (None, 0));
}
