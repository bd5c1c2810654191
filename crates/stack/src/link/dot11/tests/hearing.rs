//! Hidden and exposed terminals.

use super::super::{Airtime, Frame, FrameKind, Load, MacConfig, MacOut, Outcome, PhyRate, Preset};
use super::cell::{Cell, Event, at, dcf};
use crate::packet::NodeId;
use crate::units::{Span, Time};

/// 802.11 with all frames at 1 Mbit/s.
fn config(rts_threshold: Option<u32>) -> MacConfig {
    MacConfig { rts_threshold, data_rate: PhyRate::Dsss1, ..Preset::Dot11.config() }
}

/// Stations 0 and 2 hear station 1 only.
fn hidden(rts_threshold: Option<u32>) -> Cell {
    let mut cell = Cell::new(config(rts_threshold), 3);
    cell.separate(0, 2);
    cell.run(at(1_000));
    cell
}

#[test]
fn hidden_terminals_lose_whole_data_frames_without_rts() {
    let mut cell = hidden(None);
    cell.script(0, &[10]);
    cell.script(2, &[20]);
    cell.enqueue(0, 1, 1, 1_000);
    cell.run(at(5_000));
    cell.enqueue(2, 1, 2, 1_000);
    cell.run(at(15_000));
    // A frame lasts 192 + 8 × 1036 µs. Station 2 hears nothing and sends into the first, and station 0 repeats that
    // into the second: the windows are far shorter than the frames.
    assert_eq!(cell.starts(0, FrameKind::Data), [1_000.0, 1_000.0 + 8_480.0 + 222.0 + 200.0]);
    assert_eq!(cell.starts(2, FrameKind::Data), [5_000.0, 5_000.0 + 8_480.0 + 222.0 + 400.0]);
    assert_eq!(cell.sides[1].received, 0);
}

#[test]
fn rts_protects_the_data_of_hidden_terminals() {
    let mut cell = hidden(Some(0));
    cell.script(0, &[0]);
    cell.script(2, &[0]);
    cell.enqueue(0, 1, 1, 1_000);
    cell.run(at(5_000));
    cell.enqueue(2, 1, 2, 1_000);
    cell.settle();
    let end = cell.times(0, Event::Done(1, Outcome::Delivered))[0];
    // The CTS has reserved the medium: station 2 waits for its end, DIFS and no slot.
    assert_eq!(cell.starts(2, FrameKind::Rts), [end + 50.0]);
    assert_eq!(cell.collisions, 0);
}

#[test]
fn hidden_terminals_with_rts_lose_only_their_rts() {
    let mut cell = hidden(Some(0));
    cell.script(0, &[3, 0]);
    cell.script(2, &[40, 0]);
    cell.enqueue(0, 1, 1, 1_000);
    cell.run(at(1_100));
    cell.enqueue(2, 1, 2, 1_000);
    cell.settle();
    for number in [0, 2] {
        let counters = cell.stations[number].counters();
        assert_eq!((counters.cts_missing, counters.ack_missing, counters.data_sent), (1, 0, 1));
    }
    assert_eq!(cell.sides[1].received, 2);
}

#[test]
fn an_exposed_terminal_defers_although_it_would_do_no_harm() {
    // 0 ← 1, 2 → 3 in a line: 2 hears 1 but not 0.
    let mut cell = Cell::new(config(None), 4);
    for (a, b) in [(0, 2), (0, 3), (1, 3)] {
        cell.separate(a, b);
    }
    cell.run(at(1_000));
    cell.script(2, &[0, 31]);
    cell.enqueue(1, 0, 1, 1_000);
    cell.run(at(2_000));
    cell.enqueue(2, 3, 2, 1_000);
    cell.settle();
    let end = cell.times(1, Event::Done(1, Outcome::Delivered))[0];
    // It does not hear the ACK; the reservation of the data frame covers it.
    assert_eq!(cell.starts(2, FrameKind::Data), [end + 50.0]);
}

/// Stations 0 and 1 exchange a frame after RTS and CTS; 2 hears 1 only, 3 hears 0 only and misses its first RTS. One of
/// these two begins a frame at this time in µs.
fn disturbed(blind_exchange: bool, disturber: usize, begins: u64) -> Cell {
    let mut config = config(Some(0));
    config.access.blind_exchange = blind_exchange;
    config.access.eifs = false;
    let mut cell = Cell::new(config, 4);
    for (a, b) in [(0, 2), (1, 3), (2, 3)] {
        cell.separate(a, b);
    }
    cell.garble.push((3, FrameKind::Rts, 1));
    cell.run(at(1_000));
    cell.enqueue(0, 1, 1, 1_000);
    cell.run(at(begins));
    cell.enqueue(disturber, disturber ^ 3, 2, 1_000);
    cell.settle();
    cell
}

#[test]
fn a_cts_is_sent_whatever_is_on_the_air_or_not_at_all() {
    // The RTS ends 192 + 160 µs after it began, and the other frame begins within SIFS.
    let blind = disturbed(true, 2, 1_355);
    assert_eq!(blind.starts(1, FrameKind::Cts)[0], 1_362.0);
    let holding = disturbed(false, 2, 1_355);
    // It hears the other's RTS out, and answers that.
    assert_eq!(holding.starts(1, FrameKind::Cts)[0], 1_355.0 + 352.0 + 10.0);
    assert_eq!(holding.stations[0].counters().cts_missing, 1);
    assert_eq!(holding.sides[1].received, 2);
}

#[test]
fn after_a_cts_data_is_sent_whatever_is_on_the_air_or_asked_for_again() {
    // The CTS ends at 1 362 + 192 + 112 µs.
    let blind = disturbed(true, 3, 1_670);
    assert_eq!(blind.starts(0, FrameKind::Data)[0], 1_676.0);
    let holding = disturbed(false, 3, 1_670);
    assert!(holding.starts(0, FrameKind::Data)[0] > 2_000.0);
    assert!(holding.sides[0].bounds.contains(&63), "its window is wider");
    assert_eq!(holding.stations[0].counters().ack_missing, 0);
    assert_eq!((holding.sides[0].received, holding.sides[1].received), (1, 1));
}

/// Station 0 sends station 1 an RTS for 1000 bytes and misses the CTS, which ends at 1 666 µs. The data frame would
/// end 10 + 8 480 µs later. Frames up to 500 bytes need no RTS. Station 2 receives RTS and CTS
/// in error, so that nothing is reserved there. Station 0 draws these backoffs.
fn unheard_cts(deaf_after_cts: bool, backoffs: &[u32]) -> Cell {
    let mut config = config(Some(500));
    config.access.deaf_after_cts = deaf_after_cts;
    let mut cell = Cell::new(config, 3);
    cell.garble = vec![(0, FrameKind::Cts, 1), (2, FrameKind::Rts, 1), (2, FrameKind::Cts, 1)];
    cell.script(0, backoffs);
    cell.run(at(1_000));
    cell.enqueue(0, 1, 1, 1_000);
    cell.run(at(1_667));
    assert_eq!(cell.starts(1, FrameKind::Cts), [1_362.0]);
    cell
}

/// The end of the data frame that did not come, and the margin.
const HEARS_AGAIN: f64 = 1_666.0 + 10.0 + 8_480.0 + 4.0;

#[test]
fn a_station_deaf_after_its_cts_leaves_every_rts_unanswered() {
    for (deaf, outcome, given) in [(false, Outcome::Delivered, 2), (true, Outcome::Undelivered, 1)] {
        let mut cell = unheard_cts(deaf, &[0; 8]);
        cell.settle();
        assert_eq!(cell.times(0, Event::Done(1, outcome)).len(), 1, "{deaf}");
        assert_eq!(cell.starts(1, FrameKind::Cts).len(), given, "{deaf}");
    }
}

#[test]
fn a_station_deaf_after_its_cts_sends_nothing_until_the_data_frame_should_have_ended() {
    for (deaf, from) in [(false, 1_666.0 + 50.0), (true, HEARS_AGAIN + 50.0)] {
        let mut cell = unheard_cts(deaf, &[2_000]);
        cell.script(1, &[3]);
        cell.enqueue(1, 2, 2, 1_000);
        cell.run(at(20_000));
        // DIFS and three slots, though the medium was idle before.
        assert_eq!(cell.starts(1, FrameKind::Rts)[0], from + 60.0, "{deaf}");
    }
}

#[test]
fn a_station_deaf_after_its_cts_answers_again_once_the_data_frame_should_have_ended() {
    // The next RTS follows EIFS and the backoff, and ends 352 µs later.
    let slots = (HEARS_AGAIN as u32 - 352 - 364 - 1_666) / 20;
    let mut cell = unheard_cts(true, &[slots + 1]);
    cell.settle();
    assert_eq!(cell.starts(1, FrameKind::Cts).len(), 2);
    assert_eq!(cell.stations[0].counters().cts_missing, 1);
    assert_eq!(cell.times(0, Event::Done(1, Outcome::Delivered)).len(), 1);
}

#[test]
fn a_station_deaf_after_its_cts_takes_no_data_frame_but_the_one_it_asked_for() {
    for (deaf, outcome) in [(false, Outcome::Delivered), (true, Outcome::Undelivered)] {
        let mut cell = unheard_cts(deaf, &[2_000]);
        cell.script(2, &[0; 8]);
        cell.enqueue(2, 1, 2, 20);
        cell.run(at(20_000));
        assert_eq!(cell.times(2, Event::Done(2, outcome)).len(), 1, "{deaf}");
    }
    // The one it requested is acknowledged as usual.
    let mut config = config(Some(0));
    config.access.deaf_after_cts = true;
    let mut cell = Cell::new(config, 2);
    for handle in 0..20 {
        cell.enqueue(0, 1, handle, 1_000);
        cell.enqueue(1, 0, 100 + handle, 1_000);
    }
    cell.settle();
    assert_eq!((cell.sides[0].received, cell.sides[1].received), (20, 20));
}

#[test]
fn after_a_frame_in_error_others_wait_for_eifs_and_difs_as_in_ns2_or_for_what_ends_later() {
    for (errors_reserve, wait) in [(false, 0.0), (true, 50.0)] {
        let mut config = config(None);
        config.access.errors_reserve = errors_reserve;
        let mut cell = Cell::new(config, 3);
        cell.garble = vec![(2, FrameKind::Data, 1)];
        cell.script(2, &[3]);
        cell.run(at(1_000));
        cell.enqueue(0, 1, 1, 1_000);
        cell.run(at(2_000));
        cell.enqueue(2, 1, 2, 1_000);
        cell.settle();
        // The ACK, which is received, ends 314 µs after the data frame, and EIFS 364 µs after it.
        let end = cell.times(0, Event::Done(1, Outcome::Delivered))[0];
        assert_eq!(cell.starts(2, FrameKind::Data), [end + 50.0 + wait + 60.0], "{errors_reserve}");
    }
}

#[test]
fn a_frame_that_was_missed_holds_a_cts_back_until_eifs_after_its_end_as_in_ns2() {
    // The RTS ends at 1 352 µs and is repeated 222 µs and the backoff later.
    for (errors_reserve, answers) in [(false, 1_362.0), (true, 1_362.0 + 222.0 + 1_640.0 + 352.0)] {
        let mut config = config(Some(0));
        config.access.errors_reserve = errors_reserve;
        let mut cell = Cell::new(config, 2);
        cell.script(0, &[82]);
        cell.run(at(1_000));
        cell.stations[1].on_missed(at(1_000));
        cell.enqueue(0, 1, 1, 1_000);
        cell.settle();
        assert_eq!(cell.starts(1, FrameKind::Cts)[0], answers, "{errors_reserve}");
    }
}

#[test]
fn after_a_missing_cts_a_backoff_counts_from_the_timeout_or_from_difs_after_it() {
    let second = |difs_after_failure| {
        let mut config = config(Some(0));
        config.access.difs_after_failure = difs_after_failure;
        let mut cell = Cell::new(config, 2);
        cell.separate(0, 1);
        cell.script(0, &[5; 8]);
        cell.run(at(1_000));
        cell.enqueue(0, 1, 1, 1_000);
        cell.settle();
        cell.starts(0, FrameKind::Rts)[1]
    };
    // The timeout is SIFS, a slot and the preamble after the RTS, which ends at 1 352 µs.
    assert_eq!(second(false), 1_352.0 + 222.0 + 100.0);
    assert_eq!(second(true), 1_352.0 + 222.0 + 50.0 + 100.0);
}

/// A station that stands by must ask nothing of it.
struct Nobody;

impl MacOut for Nobody {
    fn transmit(&mut self, _: Frame, _: Airtime) {
        unreachable!("it sends nothing");
    }
    fn set_timer(&mut self, _: Time) {
        unreachable!("it sets no timer");
    }
    fn cancel_timer(&mut self) {
        unreachable!("it cancels no timer");
    }
    fn up(&mut self, _: u64, _: u16) {
        unreachable!("it hands up nothing");
    }
    fn done(&mut self, _: u64, _: Outcome) {
        unreachable!("it is done with nothing");
    }
    fn draw(&mut self, _: u32) -> u32 {
        unreachable!("it draws nothing");
    }
}

#[test]
fn a_station_that_stands_by_notes_what_a_frame_of_others_means_to_it() {
    let mut cell = Cell::new(config(Some(0)), 4);
    let mut stood = 0;
    for step in 1..2_000_usize {
        if step % 40 == 0 {
            cell.enqueue(step / 40 % 3, 3, step as u64, 500);
        }
        let now = at(step as u64 * 97);
        cell.run(now);
        for station in &cell.stations {
            for (kind, turns_idle) in
                [(FrameKind::Rts, true), (FrameKind::Data, false), (FrameKind::CfEnd, true)]
            {
                let frame = Frame::new(kind, NodeId(9), NodeId(8), 20, PhyRate::Dsss1);
                let frame = Frame { duration: Span::from_micros(step as u64 % 900), ..frame };
                let mut by = station.clone();
                dcf(&mut by).core.carrier.busy = true;
                let mut visited = by.clone();
                if by.stands_by(&frame, turns_idle, now) {
                    visited.on_frame(&frame, &Load::NOTHING, now, &mut Nobody);
                    if turns_idle {
                        visited.on_idle(now, &mut Nobody);
                    }
                    stood += 1;
                }
                assert_eq!(format!("{by:?}"), format!("{visited:?}"));
            }
        }
    }
    assert!(stood > 1_000, "{stood}");
}

#[test]
fn a_station_that_catches_up_with_a_bystander_knows_what_one_that_followed_does() {
    let mut followed = Cell::new(config(Some(0)), 2).stations.remove(0);
    let (rules, mut rested) = (dcf(&mut followed).core.rules.clone(), followed.clone());
    let mut bystander = rested.at_rest().expect("it has nothing to do");
    let reserved_us =
        [(FrameKind::Rts, 900), (FrameKind::Cts, 600), (FrameKind::Data, 30_000), (FrameKind::CfEnd, 0)];
    for (step, (kind, duration)) in reserved_us.into_iter().enumerate() {
        let [begin, end] = [0, 300].map(|after| at(1_000 * (step as u64 + 1) + after));
        let frame = Frame::new(kind, NodeId(9), NodeId(8), 20, PhyRate::Dsss1);
        let frame = Frame { duration: Span::from_micros(duration), ..frame };
        followed.on_busy(begin, &mut Nobody);
        assert!(followed.stands_by(&frame, true, end));
        bystander.on_busy(begin);
        bystander.on_frame(&frame, end, &rules);
        assert!(followed.rests_as(&bystander) && !rested.rests_as(&bystander), "{kind:?}");
    }
    rested.catch_up(&bystander);
    assert_eq!(format!("{rested:?}"), format!("{followed:?}"));
}
