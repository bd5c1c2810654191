//! Contention: slots, windows, categories, TXOPs.

use super::*;

#[test]
fn an_idle_run_of_n_slots_takes_one_more_from_those_that_do_not_send() {
    let mut cell = Cell::new(config(|_| {}), 3);
    // Both wait for a frame of the third to end.
    cell.enqueue(2, 0, 0..1);
    cell.sides[0].draws = [3, 9].into();
    cell.sides[1].draws = [5, 9].into();
    cell.run(1_010);
    cell.enqueue(0, 2, 10..11);
    cell.enqueue(1, 2, 20..21);
    cell.run(5_000);
    // The third ends at 1 114.4 µs; AIFS and 3 slots: 1 184.4. Then 114.4 µs, AIFS, and 5 - 4 = 1 slot.
    assert_eq!(cell.sides[0].frames.last(), Some(&(1_184, Data, 1)));
    let end = 1_184_400 + 114_400 + 43_000 + 9_000;
    assert_eq!(cell.sides[1].frames.last(), Some(&(end / 1_000, Data, 1)));
}

#[test]
fn the_higher_category_wins_an_internal_collision_and_the_other_window_widens() {
    let mut cell = Cell::new(config(|_| {}), 2);
    cell.enqueue(1, 0, 0..1);
    cell.run(1_010);
    // AIFS differ by a slot, so that one slot less meets.
    cell.sides[0].draws = [1, 2].into();
    cell.enqueue_in(Category::BestEffort, 0, 1, 10..11);
    cell.enqueue_in(Category::Voice, 0, 1, 20..21);
    cell.run(1_200);
    assert_eq!(cell.sides[0].frames.len(), 2);
    assert_eq!(cell.stations[0].edca_counters().internal_collisions, 1);
    assert_eq!(cell.sides[0].bounds[..3], [15, 3, 31]);
    cell.run(5_000);
    assert_eq!(cell.sides[1].up, [20, 10]);
}

#[test]
fn a_txop_goes_on_after_sifs_while_another_exchange_fits() {
    let mut cell = Cell::new(
        config(|edca| {
            edca.aggregate.count = 4;
            edca.access[0].txop = Span::from_millis(1);
        }),
        2,
    );
    cell.enqueue(0, 1, 0..41);
    cell.run(1_000_000);
    let frames = &cell.sides[0].frames;
    // An exchange of four MPDUs takes 138.4 + 16 + 40 µs, and SIFS is between two. At 1 ms AIFS follows; before that only
    // two MPDUs fit the second time.
    let gaps: Vec<u64> = frames.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    assert_eq!(gaps, [130, 210, 211, 210, 238, 210, 210, 211, 210, 197, 210]);
    assert_eq!([frames[4].2, frames[9].2], [4, 2]);
    assert_eq!(cell.sides[1].up, (0..41).collect::<Vec<u64>>());
}

#[test]
fn the_window_is_reset_by_the_failure_after_as_many_as_the_limit() {
    let mut cell = Cell::new(config(|edca| edca.aggregate.count = 1), 2);
    cell.garble = vec![(Ack, 7), (BlockAck, 1)];
    cell.enqueue(0, 1, 0..3);
    cell.run(1_000_000);
    // The first packet is discarded after 7 attempts; the eighth failure in a row is that of the BlockAckReq.
    assert_eq!(cell.sides[0].bounds[..9], [31, 63, 127, 255, 511, 1023, 1023, 15, 15]);
    assert_eq!(cell.sides[0].done[..2], [(0, Undelivered), (1, Delivered)]);
}

#[test]
fn an_access_point_with_a_set_of_its_own_draws_from_a_smaller_largest_window() {
    for (own_set, largest) in [(false, 1023), (true, 63)] {
        let rules = Arc::new(Rules::new(config(|edca| edca.own_set = own_set)));
        let mut cell = Cell::new(config(|_| {}), 2);
        cell.stations[0] = Edca::new(rules, NodeId(0), Role::AccessPoint);
        cell.garble = vec![(Ack, 7), (BlockAck, 1)];
        cell.enqueue(0, 1, 0..1);
        cell.run(1_000_000);
        assert_eq!(cell.sides[0].bounds.iter().max(), Some(&largest));
    }
}
