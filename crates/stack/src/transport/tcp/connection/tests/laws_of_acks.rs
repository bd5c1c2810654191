//! Acknowledgements as the sender requests them (TARR), and by bytes or time (TACK): what is agreed, requested and
//! sent.

use super::*;
use crate::packet::AckOption;
use crate::transport::acks::{AckLaw, TackConfig};

const TARR: AckLaw = AckLaw::Requested(8);
const TACK: AckLaw = AckLaw::Tack(TackConfig::PAPER);

fn config(acks: AckLaw) -> Config {
    Config { acks, initial_window: 40, ..modern() }
}

/// Two ends, of which the server has this law.
fn pair(client: &Config, server: &Config) -> Pair {
    let mut pair = Pair::new(client);
    pair.ends[SERVER] = Connection::new(
        server,
        Role::Passive,
        pair.ends[SERVER].local,
        pair.ends[SERVER].remote,
        SeqNo(u32::MAX - 99),
    );
    pair
}

fn transfer(config: &Config, segments: u64, lost: &[usize]) -> Pair {
    let mut pair = Pair::new(config);
    pair.lost[CLIENT] = lost.to_vec();
    pair.open();
    pair.write(CLIENT, 1_000 * segments);
    pair.run(Span::from_secs(5));
    assert_eq!(pair.ends[SERVER].receiver().in_order(), 1_000 * segments);
    pair
}

fn asked(pair: &Pair) -> Vec<AckOption> {
    pair.sent_by(CLIENT)
        .iter()
        .filter(|segment| segment.len > 0)
        .filter_map(|segment| segment.options.acks)
        .collect()
}

fn pure_acks(pair: &Pair) -> Vec<(Time, u32)> {
    let zero = pair.ends[CLIENT].iss.plus(1);
    let acks = pair.log.iter().filter(|line| line.1 == SERVER && !line.2.flags.has(Flags::SYN));
    acks.map(|line| (line.0, line.2.ack.0.wrapping_sub(zero.0) / 1_000)).collect()
}

#[test]
fn both_syns_offer_the_law_and_nothing_is_asked_of_a_peer_that_does_not() {
    for (law, offer) in [(TARR, AckOption::TakesRequests), (TACK, AckOption::TakesTime)] {
        let both = transfer(&config(law), 40, &[]);
        for side in [CLIENT, SERVER] {
            assert_eq!(both.sent_by(side)[0].options.acks, Some(offer));
        }
        assert!(!asked(&both).is_empty());
        let mut one = pair(&config(law), &config(AckLaw::Delayed));
        one.open();
        one.write(CLIENT, 40_000);
        one.run(Span::from_secs(5));
        assert_eq!(one.sent_by(SERVER)[0].options.acks, None);
        assert_eq!(asked(&one), []);
        assert_eq!(one.ends[SERVER].acks_sent(), 20, "every second");
    }
}

#[test]
fn a_receiver_acknowledges_each_so_many_segments_as_it_was_asked() {
    // A window of 40 segments: a quarter of it is more than the eight allowed.
    let pair = transfer(&config(TARR), 40, &[]);
    assert_eq!(asked(&pair), [AckOption::Request(8)]);
    let acked: Vec<u32> = pure_acks(&pair).into_iter().map(|ack| ack.1).collect();
    assert_eq!(acked, [8, 16, 24, 32, 40]);
    assert_eq!(pair.ends[SERVER].acks_sent(), 5);
}

#[test]
fn a_request_that_is_lost_goes_again_with_the_retransmission() {
    // The second packet is the first with data: it has the request.
    let pair = transfer(&config(TARR), 40, &[1]);
    let asked = asked(&pair);
    assert!(asked.len() >= 2, "{asked:?}");
    assert_eq!(asked[..2], [AckOption::Request(8); 2]);
}

#[test]
fn a_request_for_none_is_for_an_acknowledgement_of_this_segment_at_once() {
    let mut pair = Pair::new(&config(TARR));
    pair.open();
    pair.run(Span::from_millis(100));
    let before = pair.ends[SERVER].acks_sent();
    pair.write(CLIENT, 1_000);
    let (_, mut packet) = pair.sides[CLIENT].wire.pop_front().expect("data");
    let Body::Tcp(segment) = &mut packet.body else { panic!("a segment") };
    segment.options.acks = Some(AckOption::Request(0));
    pair.with(SERVER, |end, now, out| end.up(&packet, now, out));
    assert_eq!(pair.ends[SERVER].acks_sent(), before + 1);
}

#[test]
fn tack_learns_the_round_trip_and_acknowledges_a_burst_twice_not_twenty_times() {
    let pair = transfer(&config(TACK), 40, &[]);
    let round_trip = 2 * (ONE_WAY.0 / 1_000) as u32;
    assert_eq!(asked(&pair), [AckOption::LeastRoundTrip(round_trip)]);
    // All arrive at one time: one acknowledgement at once, and the rest after a quarter of the round trip.
    let acks = pure_acks(&pair);
    assert_eq!(acks.iter().map(|ack| ack.1).collect::<Vec<u32>>(), [2, 40]);
    assert_eq!(acks[1].0.since(acks[0].0), Span(ONE_WAY.0 / 2));
}

#[test]
fn a_gap_is_reported_at_once_and_what_follows_it_with_the_next() {
    // Of forty segments the fifth is lost.
    let pair = transfer(&config(TACK), 40, &[5]);
    let zero = pair.ends[CLIENT].iss.plus(1);
    let reports: Vec<Segment> =
        pair.sent_by(SERVER).into_iter().filter(|segment| !segment.options.sack.is_empty()).collect();
    let block = |report: &Segment| {
        let (left, right) = report.options.sack.as_slice()[0];
        (left.0.wrapping_sub(zero.0) / 1_000, right.0.wrapping_sub(zero.0) / 1_000)
    };
    assert_eq!((reports[0].ack.0.wrapping_sub(zero.0), block(&reports[0])), (4_000, (5, 6)), "IACK");
    assert_eq!(block(&reports[1]), (5, 40), "TACK");
    assert_eq!(reports.len(), 2);
    assert_eq!(pair.ends[CLIENT].sender().timeouts(), 0);
}

#[test]
fn under_each_law_all_arrives_whatever_is_lost() {
    for law in [TARR, TACK] {
        for seed in 0..40_usize {
            let lost: Vec<usize> = (0..30).map(|number| 2 + (seed * 7 + number * number * 3) % 90).collect();
            let config = Config { initial_window: 10, ..config(law) };
            let mut pair = Pair::new(&config);
            pair.lost[CLIENT].clone_from(&lost);
            pair.lost[SERVER] = lost.iter().map(|number| number / 2).collect();
            pair.open();
            pair.write(CLIENT, 120_000);
            pair.close(CLIENT);
            pair.run(Span::from_secs(300));
            assert!(pair.ends[SERVER].is_done(), "{law:?} {seed}");
        }
    }
}

#[test]
fn a_probe_waits_for_the_timer_of_a_receiver_that_acknowledges_several_together() {
    // RFC 8985 (7.2): three segments may wait for the delayed acknowledgement where each eighth is acknowledged.
    let probes = |every| {
        let delay = Span::from_millis(100);
        let config =
            Config { ack_every: every, ack_delay: delay, rto_floor: RtoFloor::Variation, ..modern() };
        let mut pair = Pair::new(&config);
        pair.open();
        pair.run(Span::from_millis(200));
        for _ in 0..3 {
            pair.write(CLIENT, 1_000);
        }
        pair.run(Span::from_secs(2));
        pair.data_of(CLIENT).len() - 3
    };
    assert_eq!([1, 2, 8].map(probes), [0, 0, 0]);
}
