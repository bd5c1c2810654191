//! Rate control: modes of data, and the rates that follow them.

use super::*;

fn controlled(control: RateControl, rts_threshold: Option<u32>) -> Cell {
    let config = config(|edca| (edca.rate_control, edca.mode.mcs) = (control, 5));
    Cell::new(MacConfig { rts_threshold, data_rate: PhyRate::Ofdm48, ..config }, 2)
}

#[test]
fn ideal_takes_the_fastest_mode_that_the_ratio_bears_up_to_that_of_the_link() {
    let mut cell = controlled(RateControl::Ideal, None);
    let mut found = Vec::new();
    for (handle, ratio) in (0..).zip([0.0, 1.0, 8.0, 9.0, 16.0, 1e6, 2.0]) {
        cell.sides[0].ratio = ratio;
        cell.sides[0].rates.clear();
        cell.enqueue(0, 1, handle..handle + 1);
        cell.run(cell.now.0 / 1_000 + 5_000);
        cell.now = cell.now + Span::from_millis(10);
        found.extend(cell.sides[0].rates.iter().map(|(_, _, mcs)| mcs.expect("data")));
    }
    assert_eq!(found, [0, 0, 3, 3, 4, 5, 1]);
}

#[test]
fn rts_and_responses_go_at_a_basic_rate_that_follows_the_mode() {
    for (ratio, mcs, data, control) in
        [(1.0, 0, PhyRate::Ofdm6, PhyRate::Ofdm6), (1e6, 5, PhyRate::Ofdm48, PhyRate::Ofdm24)]
    {
        let mut cell = controlled(RateControl::Ideal, Some(0));
        cell.sides[0].ratio = ratio;
        cell.enqueue(0, 1, 0..3);
        cell.run(30_000);
        let [rts, alone, _, together] = cell.sides[0].rates[..] else { panic!("two exchanges") };
        assert_eq!(rts, (Rts, control, None), "{ratio}");
        assert_eq!([alone, together], [(Data, data, Some(mcs)); 2], "{ratio}");
        let answers: Vec<_> = cell.sides[1].rates.clone();
        assert_eq!(answers, [Cts, Ack, Cts, BlockAck].map(|kind| (kind, control, None)), "{ratio}");
        assert_eq!(cell.sides[0].done, delivered(0..3), "{ratio}");
    }
}

#[test]
fn a_constant_mode_asks_nothing_of_the_medium() {
    let mut cell = controlled(RateControl::Constant, None);
    cell.sides[0].ratio = 0.0;
    cell.enqueue(0, 1, 0..3);
    cell.run(30_000);
    assert!(cell.sides[0].rates.iter().all(|(_, rate, mcs)| (*rate, *mcs) == (PhyRate::Ofdm48, Some(5))));
}
