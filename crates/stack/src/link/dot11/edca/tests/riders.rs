//! What rides in the acknowledgements of a station, and the announcement of more data.

use super::*;

#[test]
fn riders_go_with_the_next_block_ack_and_again_with_one_that_repeats_it() {
    for after_loss in [AfterLoss::Request, AfterLoss::Data] {
        let mut cell = Cell::new(config(|edca| edca.after_loss = after_loss), 2);
        cell.garble = vec![(BlockAck, 1)];
        let riders = [[1; 8], [2; 8], [3; 8]].map(|bytes| Rider::new(&bytes));
        riders[..2].iter().for_each(|rider| cell.stations[1].ride_behind(NodeId(0), *rider));
        cell.stations[1].ride_behind(NodeId(7), Rider::new(&[9]));
        cell.enqueue(0, 1, 0..1);
        cell.run(1_125);
        assert_eq!(cell.sides[0].riders, riders[..2], "with the Ack");
        assert_eq!(cell.sides[1].answered, [(Some(false), 2)]);
        cell.sides[0].riders.clear();
        riders[..2].iter().for_each(|rider| cell.stations[1].ride_behind(NodeId(0), *rider));
        cell.enqueue(0, 1, 1..4);
        cell.run(1_300);
        // The BlockAck is lost; a third joins the two when it is repeated.
        cell.stations[1].ride_behind(NodeId(0), riders[2]);
        cell.run(20_000);
        assert_eq!(cell.sides[0].riders, riders, "{after_loss:?}");
        let more = if after_loss == AfterLoss::Request { None } else { Some(false) };
        assert_eq!(cell.sides[1].answered[1..], [(Some(false), 2), (more, 1)]);
        // What has arrived is not repeated, though its MPDU is a retransmission.
        cell.lose = vec![(10, 1)];
        cell.enqueue(0, 1, 10..12);
        cell.run(40_000);
        assert_eq!(cell.sides[0].riders, riders);
        cell.stations[1].ride_behind(NodeId(0), riders[0]);
        cell.stations[1].unload(NodeId(0));
        cell.enqueue(0, 1, 20..24);
        cell.run(60_000);
        assert_eq!(cell.sides[0].riders, riders);
    }
}

#[test]
fn more_data_is_announced_while_packets_wait_that_the_frame_does_not_carry() {
    let mut cell = Cell::new(config(|edca| edca.aggregate.count = 4), 2);
    cell.enqueue(0, 1, 0..6);
    cell.run(20_000);
    let more: Vec<Option<bool>> = cell.sides[1].answered.iter().map(|answer| answer.0).collect();
    // One alone, whose frame begins before the others have come; four; the last.
    assert_eq!(more, [Some(false), Some(true), Some(false)]);
}

#[test]
fn an_acknowledgement_has_room_for_512_bytes_of_riders_and_lasts_longer_by_them() {
    let mut cell = Cell::new(config(|_| {}), 2);
    for number in 0..70 {
        cell.stations[1].ride_behind(NodeId(0), Rider::new(&[number; 8]));
    }
    cell.enqueue(0, 1, 0..1);
    cell.run(1_400);
    assert_eq!(cell.sides[0].riders.len(), 64);
    // 14 + 512 bytes at 24 Mbit/s: 20 + 4 * 45 us.
    assert_eq!(cell.sides[1].frames.len(), 1);
    assert_eq!(cell.sides[0].frames[0].0 + 70 + 16 + 200, 1_286);
    cell.enqueue(0, 1, 1..2);
    cell.run(20_000);
    assert_eq!(cell.sides[0].riders.len(), 70);
}
