//! Exchanges: aggregates, acknowledgement, retransmission.

use super::*;

#[test]
fn the_first_packet_goes_alone_at_once_and_those_that_wait_go_together() {
    let mut cell = Cell::new(config(|_| {}), 2);
    cell.enqueue(0, 1, 0..5);
    cell.run(10_000);
    // 70.4 µs, SIFS, Ack; then AIFS and no slot; 87.2 µs for 6 184 bytes.
    let sent: Vec<_> = cell.sides[0].frames.clone();
    assert_eq!(sent, [(1_000, Data, 1), (1_000 + 157, Data, 4)]);
    assert_eq!(kinds(&cell.sides[1]), [(Ack, 0), (BlockAck, 0)]);
    assert_eq!(cell.sides[1].up, [0, 1, 2, 3, 4]);
    assert_eq!(cell.sides[0].done, delivered(0..5));
}

#[test]
fn a_lost_mpdu_is_sent_again_with_what_waits_and_the_receiver_passes_up_in_order() {
    let mut cell = Cell::new(config(|edca| edca.aggregate.count = 4), 2);
    cell.lose = vec![(2, 2)];
    cell.enqueue(0, 1, 0..8);
    cell.run(20_000);
    let counts: Vec<u16> = cell.sides[0].frames.iter().map(|frame| frame.2).collect();
    // 0; 1 to 4; 2 and 5 to 7; 2 once more.
    assert_eq!(counts, [1, 4, 4, 1]);
    assert_eq!(cell.sides[1].up, [0, 1, 2, 3, 4, 5, 6, 7]);
    let order: Vec<u64> = cell.sides[0].done.iter().map(|done| done.0).collect();
    assert_eq!(order, [0, 1, 3, 4, 5, 6, 7, 2]);
}

#[test]
fn after_a_lost_block_ack_a_request_resets_the_window_or_the_data_go_again_with_a_wider_one() {
    for (after_loss, sent, windows) in [
        (AfterLoss::Request, vec![(Data, 1), (Data, 3), (BlockAckReq, 0), (Data, 2)], [15, 31, 15, 15]),
        (AfterLoss::Data, vec![(Data, 1), (Data, 3), (Data, 5)], [15, 31, 15, 15]),
    ] {
        let mut cell = Cell::new(config(|edca| edca.after_loss = after_loss), 2);
        cell.garble = vec![(BlockAck, 1)];
        cell.enqueue(0, 1, 0..4);
        cell.run(1_350);
        cell.enqueue(0, 1, 4..6);
        cell.run(20_000);
        assert_eq!(kinds(&cell.sides[0]), sent, "{after_loss:?}");
        let bounds = &cell.sides[0].bounds;
        assert_eq!(bounds[..], windows[..bounds.len()], "{after_loss:?}");
        assert_eq!(cell.sides[1].up, [0, 1, 2, 3, 4, 5]);
        assert_eq!(cell.sides[0].done.len(), 6);
        let again = cell.stations[1].counters().duplicates;
        assert_eq!(again, if after_loss == AfterLoss::Data { 3 } else { 0 });
    }
}

#[test]
fn a_packet_at_the_retry_limit_is_given_up_and_a_request_moves_the_window_of_the_receiver() {
    let mut cell = Cell::new(config(|_| {}), 2);
    cell.lose = vec![(2, 7)];
    cell.enqueue(0, 1, 0..6);
    cell.run(50_000);
    assert_eq!(cell.sides[0].done.last(), Some(&(2, Undelivered)));
    assert_eq!(cell.sides[1].up, [0, 1, 3, 4, 5]);
    assert_eq!(cell.sides[0].frames.last().map(|frame| frame.1), Some(BlockAckReq));
    let attempts = cell.sides[0].frames.iter().filter(|frame| frame.1 == Data).count();
    assert_eq!(attempts, 8);
    assert_eq!(cell.stations[0].backlog(), 0);
}

#[test]
fn a_packet_that_fails_holds_up_what_is_beyond_the_window() {
    let mut cell = Cell::new(config(|edca| (edca.window, edca.aggregate.count) = (64, 64)), 2);
    cell.lose = vec![(1, 3)];
    cell.enqueue(0, 1, 0..130);
    cell.run(60_000);
    let counts: Vec<u16> = cell.sides[0].frames.iter().map(|frame| frame.2).collect();
    // 1 to 64; 1 alone three times, as 65 is beyond the window; 65 to 128; the rest.
    assert_eq!(counts, [1, 64, 1, 1, 1, 64, 1]);
    assert_eq!(cell.sides[1].up, (0..130).collect::<Vec<u64>>());
}

#[test]
fn a_receiver_that_waits_in_vain_passes_up_after_its_timeout() {
    let mut cell = Cell::new(config(|edca| edca.after_loss = AfterLoss::Data), 2);
    cell.lose = vec![(1, 7)];
    cell.garble = vec![(BlockAckReq, 100)];
    cell.enqueue(0, 1, 0..3);
    cell.run(90_000);
    assert_eq!(cell.sides[1].up, [0]);
    cell.run(200_000);
    assert_eq!(cell.sides[1].up, [0, 2]);
}

#[test]
fn a_station_that_answers_nothing_is_given_up() {
    for after_loss in [AfterLoss::Request, AfterLoss::Data] {
        let mut cell = Cell::new(config(|edca| edca.after_loss = after_loss), 3);
        cell.garble = vec![(Ack, 1_000), (BlockAck, 1_000)];
        cell.enqueue(0, 1, 0..4);
        cell.run(400_000);
        assert_eq!(cell.sides[0].done.len(), 4, "{after_loss:?}");
        assert!(cell.sides[0].done.iter().all(|done| done.1 == Undelivered));
        assert_eq!(cell.stations[0].backlog(), 0);
        cell.garble.clear();
        cell.enqueue(0, 2, 10..12);
        cell.run(800_000);
        assert_eq!(cell.sides[0].done[4..], delivered(10..12), "{after_loss:?}");
    }
}

#[test]
fn an_rts_precedes_what_is_above_the_threshold() {
    let mut cell = Cell::new(MacConfig { rts_threshold: Some(3_000), ..config(|_| {}) }, 3);
    cell.enqueue(0, 1, 0..3);
    cell.run(5_000);
    assert_eq!(kinds(&cell.sides[0]), [(Data, 1), (Rts, 0), (Data, 2)]);
    assert_eq!(kinds(&cell.sides[1]), [(Ack, 0), (Cts, 0), (BlockAck, 0)]);
    // Without a CTS the packets are discarded in the end.
    cell.garble = vec![(Cts, 100)];
    cell.enqueue(0, 1, 3..6);
    cell.run(100_000);
    assert_eq!(cell.sides[0].done.len(), 6);
    assert_eq!(cell.stations[0].counters().cts_missing, 7);
}

#[test]
fn the_density_and_the_limits_bound_an_aggregate() {
    let count = |change: fn(&mut EdcaConfig)| {
        let mut cell = Cell::new(config(change), 2);
        cell.enqueue(0, 1, 0..300);
        cell.run(60_000);
        cell.sides[0].frames.iter().map(|frame| frame.2).max().unwrap_or(0)
    };
    assert_eq!(count(|_| {}), 256);
    assert_eq!(count(|edca| edca.aggregate.count = 9), 9);
    assert_eq!(count(|edca| edca.aggregate.bytes = 10_000), 6);
    assert_eq!(count(|edca| edca.aggregate.time = Span::from_micros(300)), 11);
    // At 8.6 Mbit/s in 20 MHz 3 packets take 4.3 ms, 4 more than 5.484 ms.
    assert_eq!(count(|edca| (edca.mode.mcs, edca.mode.width) = (0, 20)), 3);
}

#[test]
fn a_packet_whose_lifetime_is_over_is_given_up_when_the_turn_of_its_receiver_comes() {
    let mut cell = Cell::new(config(|edca| edca.lifetime = Some(Span::from_micros(900))), 2);
    // What is lost is sent again until it is too old.
    cell.lose = vec![(0, 20)];
    cell.enqueue(0, 1, 0..1);
    cell.run(1_400);
    cell.enqueue(0, 1, 3..5);
    cell.run(20_000);
    let done = &cell.sides[0].done;
    assert!(done.contains(&(0, Expired)), "{done:?}");
    assert_eq!(cell.stations[0].edca_counters().expired, 1);
    assert_eq!(cell.sides[1].up, [3, 4]);
    // The receiver is notified that it does not come.
    assert!(kinds(&cell.sides[0]).contains(&(BlockAckReq, 0)));
    assert_eq!(cell.stations[0].backlog(), 0);
}

#[test]
fn what_was_never_sent_and_is_too_old_goes_without_a_request_and_others_take_its_turn() {
    let mut cell = Cell::new(config(|edca| edca.lifetime = Some(Span::from_micros(50))), 3);
    cell.enqueue(0, 2, 0..1);
    cell.enqueue(0, 1, 1..4);
    cell.run(20_000);
    assert_eq!(cell.sides[0].done, [(0, Delivered), (1, Expired), (2, Expired), (3, Expired)]);
    assert_eq!(kinds(&cell.sides[0]), [(Data, 1)]);
    cell.enqueue(0, 1, 4..5);
    cell.run(40_000);
    assert_eq!(cell.sides[1].up, [4]);
}

#[test]
fn a_cts_to_self_reserves_the_medium_for_the_data_and_their_answer_and_nobody_answers_it() {
    let mut mac = config(|_| {});
    mac.protection = Protection::CtsToSelf;
    mac.rts_threshold = Some(2_000);
    let mut cell = Cell::new(mac, 3);
    cell.enqueue(0, 1, 0..5);
    cell.run(1_200);
    assert_eq!(kinds(&cell.sides[0]), [(Data, 1), (Cts, 0)]);
    // It lasts 28 us; SIFS, data, SIFS and the BlockAck follow.
    let (cts, data) = (cell.sides[0].frames[1].0, 1_000 + 157);
    assert_eq!(cts, data);
    cell.enqueue(2, 1, 9..10);
    cell.run(20_000);
    assert_eq!(kinds(&cell.sides[0]), [(Data, 1), (Cts, 0), (Data, 4)]);
    assert_eq!(cell.sides[0].frames[2].0, cts + 28 + 16);
    assert_eq!(kinds(&cell.sides[1]), [(Ack, 0), (BlockAck, 0), (Ack, 0)]);
    // The other station waits until the BlockAck is over.
    assert!(cell.sides[2].frames[0].0 > cell.sides[1].frames[1].0 + 28);
    assert_eq!(cell.sides[1].up, [0, 1, 2, 3, 4, 9]);
}

#[test]
fn a_station_forgets_what_waits_for_a_neighbour_and_can_send_to_it_again() {
    let mut cell = Cell::new(config(|edca| edca.aggregate.count = 64), 3);
    cell.enqueue(0, 1, 0..80);
    cell.enqueue(0, 2, 100..102);
    // The first packet has gone alone; the A-MPDU that follows is on the air, and loses two.
    cell.lose = vec![(5, 9), (6, 9)];
    cell.run(1_800);
    assert_eq!(kinds(&cell.sides[0]), [(Data, 1), (Data, 64)]);
    let Cell { stations, sides, .. } = &mut cell;
    stations[0].flush(NodeId(1), &mut sides[0]);
    let flushed: Vec<u64> =
        cell.sides[0].done.iter().filter(|done| done.1 == Flushed).map(|done| done.0).collect();
    assert_eq!(flushed, (65..80).collect::<Vec<u64>>());
    cell.run(100_000);
    // Of the A-MPDU, what is acknowledged is delivered, and nothing is repeated.
    assert!(cell.sides[0].done.contains(&(64, Delivered)) && cell.sides[0].done.contains(&(5, Undelivered)));
    assert_eq!(cell.lose, [(5, 8), (6, 8)]);
    assert_eq!((cell.sides[2].up.clone(), cell.stations[0].backlog()), (vec![100, 101], 0));
    cell.enqueue(0, 1, 200..203);
    cell.run(200_000);
    assert_eq!(cell.sides[1].up[cell.sides[1].up.len() - 3..], [200, 201, 202]);
}
