//! Stations with EDCA on an ideal medium where all hear each other.

use std::collections::VecDeque;
use std::sync::Arc;

use super::super::{
    Airtime, Frame, FrameKind, MacConfig, MacOut, Msdu, Outcome, PayloadClass, Preset, Role, Rules,
};
use super::{AfterLoss, Category, Edca, EdcaConfig, EdcaOut, Load, MpduFate};
use crate::hooks::Rider;
use crate::packet::NodeId;
use crate::schemes::DynamicArq;
use crate::units::{Span, Time};

/// Everything around one station.
#[derive(Default)]
struct Side {
    now: Time,
    timer: Option<Time>,
    release: Option<Time>,
    sending: Option<(Frame, Airtime)>,
    load: Load,
    draws: VecDeque<u32>,
    bounds: Vec<u32>,
    frames: Vec<(u64, FrameKind, u16)>,
    up: Vec<u64>,
    done: Vec<(u64, Outcome)>,
    late: Vec<u64>,
    riders: Vec<Rider>,
    answered: Vec<(Option<bool>, u32)>,
}

impl MacOut for Side {
    fn transmit(&mut self, frame: Frame, airtime: Airtime) {
        assert!(self.sending.is_none(), "one frame at a time");
        self.frames.push((self.now.0 / 1_000, frame.kind, frame.mpdus));
        self.sending = Some((frame, airtime));
    }

    fn set_timer(&mut self, at: Time) {
        assert!(at >= self.now, "a timer is not in the past");
        self.timer = Some(at);
    }

    fn cancel_timer(&mut self) {
        self.timer = None;
    }

    fn up(&mut self, handle: u64, _: u16) {
        self.up.push(handle);
    }

    fn done(&mut self, handle: u64, outcome: Outcome) {
        self.done.push((handle, outcome));
    }

    fn rider(&mut self, rider: Rider) {
        self.riders.push(rider);
    }

    fn answered(&mut self, more: Option<bool>, boarded: u32) {
        self.answered.push((more, boarded));
    }

    fn draw(&mut self, bound: u32) -> u32 {
        self.bounds.push(bound);
        self.draws.pop_front().unwrap_or(0)
    }
}

impl EdcaOut for Side {
    fn load(&mut self) -> &mut Load {
        &mut self.load
    }

    fn hold(&mut self, handle: u64) -> u64 {
        handle
    }

    fn up_held(&mut self, handle: u64) {
        self.up.push(handle);
    }

    fn late(&mut self, handle: u64) {
        self.late.push(handle);
    }

    fn set_release(&mut self, at: Time) {
        self.release = Some(at);
    }
}

struct OnAir {
    end: Time,
    from: usize,
    frame: Frame,
    load: Load,
    collided: bool,
}

/// Stations and their medium.
struct Cell {
    now: Time,
    stations: Vec<Edca<DynamicArq>>,
    sides: Vec<Side>,
    on_air: Vec<OnAir>,
    /// Frames that are lost: their kind, and how many more of them.
    garble: Vec<(FrameKind, u32)>,
    /// Packets whose next transmission is lost: how often.
    lose: Vec<(u64, u32)>,
}

fn config(change: impl FnOnce(&mut EdcaConfig)) -> MacConfig {
    let mut config = Preset::Dot11ax.config();
    change(config.edca.as_mut().expect("EDCA"));
    config
}

impl Cell {
    fn new(config: MacConfig, count: usize) -> Cell {
        let rules = Arc::new(Rules::new(config));
        let station = |number| Edca::new(Arc::clone(&rules), NodeId(number), Role::AdHoc);
        Cell {
            now: Time::ZERO + Span::from_millis(1),
            stations: (0..count as u32).map(station).collect(),
            sides: (0..count).map(|_| Side::default()).collect(),
            on_air: Vec::new(),
            garble: Vec::new(),
            lose: Vec::new(),
        }
    }

    fn enqueue(&mut self, from: usize, to: u32, handles: std::ops::Range<u64>) {
        self.enqueue_in(Category::BestEffort, from, to, handles);
    }

    fn enqueue_in(&mut self, category: Category, from: usize, to: u32, handles: std::ops::Range<u64>) {
        for handle in handles {
            let (class, next) = (PayloadClass::Data, NodeId(to));
            let msdu = Msdu { handle, bytes: 1_500, next, class, category, flow: None };
            self.sides[from].now = self.now;
            assert!(self.stations[from].enqueue(msdu, self.now, &mut self.sides[from]));
        }
        self.settle();
    }

    /// Starts what stations transmit.
    fn settle(&mut self) {
        for from in 0..self.stations.len() {
            let Some((frame, airtime)) = self.sides[from].sending.take() else { continue };
            let was_idle = self.on_air.is_empty();
            let collided = !was_idle;
            self.on_air.iter_mut().for_each(|other| other.collided = true);
            let (end, load) = (self.now + airtime.total, self.sides[from].load.clone());
            let others: Vec<usize> = self.on_air.iter().map(|other| other.from).collect();
            self.on_air.push(OnAir { end, from, frame, load, collided });
            for at in (0..self.stations.len()).filter(|at| *at != from) {
                // Busy alternates with idle at each station.
                if !others.iter().any(|other| *other != at) {
                    self.stations[at].on_busy(self.now, &mut self.sides[at]);
                }
            }
        }
    }

    fn run(&mut self, until_us: u64) {
        loop {
            let frame = self.on_air.iter().map(|on_air| on_air.end).min();
            let timers = self.sides.iter().flat_map(|side| [side.timer, side.release]).flatten();
            let Some(next) = frame.into_iter().chain(timers).min() else { return };
            if next.0 > until_us * 1_000 {
                return;
            }
            self.now = next;
            self.sides.iter_mut().for_each(|side| side.now = next);
            if frame == Some(next) {
                self.end();
            } else {
                for at in 0..self.stations.len() {
                    if self.sides[at].timer.take_if(|due| *due <= next).is_some() {
                        self.stations[at].on_timer(next, &mut self.sides[at]);
                    }
                    if self.sides[at].release.take_if(|due| *due <= next).is_some() {
                        self.stations[at].on_release(next, &mut self.sides[at]);
                    }
                }
            }
            self.settle();
        }
    }

    fn end(&mut self) {
        let now = self.now;
        let place = self.on_air.iter().position(|on_air| on_air.end == now).expect("one ends");
        let OnAir { from, frame, mut load, collided, .. } = self.on_air.remove(place);
        let mut lost = collided;
        if let Some(garble) = self.garble.iter_mut().find(|garble| garble.0 == frame.kind && garble.1 > 0)
            && !collided
        {
            garble.1 -= 1;
            lost = true;
        }
        for mpdu in &mut load.mpdus {
            if let Some(lose) = self.lose.iter_mut().find(|lose| lose.0 == mpdu.handle && lose.1 > 0) {
                lose.1 -= 1;
                mpdu.fate = MpduFate::Errored;
            }
        }
        lost |= frame.mpdus > 0 && load.mpdus.iter().all(|mpdu| mpdu.fate != MpduFate::Received);
        self.stations[from].on_sent(now, &mut self.sides[from]);
        for at in (0..self.stations.len()).filter(|at| *at != from) {
            let (station, side) = (&mut self.stations[at], &mut self.sides[at]);
            if !self.on_air.iter().any(|other| other.from == at) {
                if lost {
                    station.on_error(now, side);
                } else {
                    station.on_frame(&frame, &load, now, side);
                }
            }
            if !self.on_air.iter().any(|other| other.from != at) {
                station.on_idle(now, side);
            }
        }
    }
}

use FrameKind::{Ack, BlockAck, BlockAckReq, Cts, Data, Rts};
use Outcome::{Delivered, Undelivered};

fn kinds(side: &Side) -> Vec<(FrameKind, u16)> {
    side.frames.iter().map(|(_, kind, mpdus)| (*kind, *mpdus)).collect()
}

fn delivered(handles: std::ops::Range<u64>) -> Vec<(u64, Outcome)> {
    handles.map(|handle| (handle, Delivered)).collect()
}

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
fn an_rts_precedes_what_is_above_the_threshold() {
    let mut cell = Cell::new(MacConfig { rts_threshold: Some(3_000), ..config(|_| {}) }, 3);
    cell.enqueue(0, 1, 0..3);
    cell.run(5_000);
    assert_eq!(kinds(&cell.sides[0]), [(Data, 1), (Rts, 0), (Data, 2)]);
    assert_eq!(kinds(&cell.sides[1]), [(Ack, 0), (Cts, 0), (BlockAck, 0)]);
    // Without a CTS the packets are given up in the end.
    cell.garble = vec![(Cts, 100)];
    cell.enqueue(0, 1, 3..6);
    cell.run(100_000);
    assert_eq!(cell.sides[0].done.len(), 6);
    assert_eq!(cell.stations[0].counters().cts_missing, 7);
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
