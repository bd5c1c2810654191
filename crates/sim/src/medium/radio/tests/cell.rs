//! Saturated stations with the real MAC on a medium, and a ledger of what they do.

use std::sync::Arc;

use lasthop_stack::link::dot11::{Category, MacConfig, MacOut, Msdu, Outcome, Preset, Role, Rules};
use lasthop_stack::registry::Station;

use super::*;
use crate::engine::queue::{EventQueue, Slot};
use crate::engine::streams::Stream;
use crate::probe::airtime::{AirClass, Ledger, Shares};

enum Timer {
    Set(Time),
    Cancel,
}

/// What surrounds one station.
struct Side {
    stream: Stream,
    timer: Option<Timer>,
    frame: Option<(Frame, Airtime)>,
    /// What it sends.
    on_air: Option<Frame>,
    done: Vec<Outcome>,
    received: u64,
}

impl MacOut for Side {
    fn transmit(&mut self, frame: Frame, airtime: Airtime) {
        self.frame = Some((frame, airtime));
    }
    fn set_timer(&mut self, at: Time) {
        self.timer = Some(Timer::Set(at));
    }
    fn cancel_timer(&mut self) {
        self.timer = Some(Timer::Cancel);
    }
    fn up(&mut self, _: u64, _: u16) {
        self.received += 1;
    }
    fn done(&mut self, _: u64, outcome: Outcome) {
        self.done.push(outcome);
    }
    fn draw(&mut self, bound: u32) -> u32 {
        (self.stream.uniform() * (f64::from(bound) + 1.0)) as u32
    }
}

/// A cell in which station `s` sends packets of one size to `to[s]`, if that is one.
struct Cell {
    radio: Radio,
    stations: Vec<Station>,
    sides: Vec<Side>,
    /// Slot 2 s ends the frame of station s, slot 2 s + 1 is its timer.
    queue: EventQueue,
    ledger: Ledger,
    to: Vec<Option<usize>>,
    bytes: u32,
    packets: u64,
    now: Time,
}

impl Cell {
    fn new(mac: MacConfig, radio: Radio, to: &[Option<usize>], bytes: u32) -> Cell {
        let rules = Arc::new(Rules::new(mac));
        let mut queue = EventQueue::default();
        for _ in 0..2 * to.len() {
            queue.slot();
        }
        let station = |number| Station::new(Arc::clone(&rules), NodeId(number as u32), Role::AdHoc);
        let side = |number| Side {
            stream: Stream::named(3, 0, &format!("{number}.backoff")),
            timer: None,
            frame: None,
            on_air: None,
            done: Vec::new(),
            received: 0,
        };
        let mut cell = Cell {
            radio,
            stations: (0..to.len()).map(station).collect(),
            sides: (0..to.len()).map(side).collect(),
            queue,
            ledger: Ledger::new(rules.difs, rules.eifs, Time::ZERO),
            to: to.to_vec(),
            bytes,
            packets: 0,
            now: Time::ZERO,
        };
        cell.ledger.contenders(to.iter().flatten().count() as u32, Time::ZERO);
        for number in 0..to.len() {
            // One in service, one behind it.
            cell.refill(number);
            cell.refill(number);
        }
        cell
    }

    fn refill(&mut self, number: usize) {
        let Some(to) = self.to[number] else { return };
        self.packets += 1;
        let msdu = Msdu {
            handle: self.packets,
            bytes: self.bytes,
            next: NodeId(to as u32),
            class: PayloadClass::Data,
            category: Category::BestEffort,
            flow: None,
        };
        assert!(self.stations[number].enqueue(msdu, false, self.now, &mut self.sides[number]));
        self.settle(number);
    }

    /// Carries out what a station requested.
    fn settle(&mut self, number: usize) {
        let side = &mut self.sides[number];
        match side.timer.take() {
            Some(Timer::Set(at)) => self.queue.set(Slot(2 * number as u32 + 1), at),
            Some(Timer::Cancel) => self.queue.cancel(Slot(2 * number as u32 + 1)),
            None => {}
        }
        let done = std::mem::take(&mut side.done);
        if let Some((frame, airtime)) = side.frame.take() {
            self.queue.set(Slot(2 * number as u32), self.now + airtime.total);
            self.ledger.start(number, self.radio.senses(number, 0), &frame, (airtime, Span::ZERO), self.now);
            let mut heard = Vec::new();
            self.radio.start(number, &frame, airtime, self.now, &mut heard);
            self.sides[number].on_air = Some(frame);
            self.tell(&heard, &frame);
        }
        for _ in done {
            self.refill(number);
        }
    }

    fn tell(&mut self, heard: &[Heard], frame: &Frame) {
        for what in heard {
            let (Heard::Busy(at)
            | Heard::Idle(at)
            | Heard::Received(at)
            | Heard::Error(at)
            | Heard::Missed(at)) = *what;
            let (station, side) = (&mut self.stations[at], &mut self.sides[at]);
            match what {
                Heard::Busy(_) => station.on_busy(self.now, side),
                Heard::Idle(_) => station.on_idle(self.now, side),
                Heard::Received(_) => station.on_frame(frame, &Load::NOTHING, self.now, side),
                Heard::Error(_) => station.on_error(self.now, side),
                // The cell's own rules are the standard's.
                Heard::Missed(_) => {}
            }
            self.settle(at);
        }
    }

    fn end(&mut self, number: usize) {
        self.queue.cancel(Slot(2 * number as u32));
        let mut heard = Vec::new();
        let frame = self.sides[number].on_air.expect("a frame that ends was sent");
        let fate = self.radio.end(number, &frame, self.now, &mut heard).expect("a station that sends");
        self.ledger.end(number, fate, Span::ZERO, self.now);
        if fate == Fate::LostForGood {
            self.stations[number].on_lost_for_good((&frame, &[]));
        }
        self.stations[number].on_sent(self.now, &mut self.sides[number]);
        self.settle(number);
        self.tell(&heard, &frame);
    }

    /// Runs to `end`; ends of frames come before timers at the same instant.
    fn run(mut self, end: Time) -> (Vec<u64>, Shares, Radio, Vec<Station>) {
        while let Some((time, slot)) = self.queue.peek().filter(|(time, _)| *time < end) {
            self.now = time;
            if slot.0 % 2 == 0 {
                self.end(slot.0 as usize / 2);
                continue;
            }
            let station = slot.0 as usize / 2;
            self.queue.cancel(slot);
            let mut held = vec![station];
            while let Some((_, other)) = self.queue.peek().filter(|(other, _)| *other == time) {
                self.queue.cancel(other);
                if other.0 % 2 == 0 {
                    self.end(other.0 as usize / 2);
                } else {
                    held.push(other.0 as usize / 2);
                }
            }
            for station in held {
                self.stations[station].on_timer(time, &mut self.sides[station]);
                self.settle(station);
            }
        }
        let shares = self.ledger.finish(end);
        (self.sides.iter().map(|side| side.received).collect(), shares, self.radio, self.stations)
    }
}

fn radio(config: &RadioConfig, positions: &[Option<f64>]) -> Radio {
    Bench::new(config, positions).radio
}

#[test]
fn ten_saturated_stations_reach_bianchis_throughput_and_their_airtime_adds_up() {
    let mac = Preset::Bianchi.config();
    let medium = radio(&RadioConfig::bianchi(), &[None; 10]);
    let to: Vec<Option<usize>> = (0..10).map(|number| Some((number + 1) % 10)).collect();
    let run = Time(200_000_000_000);
    let (received, shares, radio, _) = Cell::new(mac, medium, &to, 1023).run(run);
    let throughput = received.iter().sum::<u64>() as f64 * 8184.0 / 200e6;
    // Basic access, W = 32, m = 5.
    assert!((throughput / 0.7579 - 1.0).abs() < 0.02, "{throughput}");
    assert_eq!(shares.total(), Span(run.0));
    assert_eq!((shares.of(AirClass::Idle), shares.of(AirClass::Errored)), (Span::ZERO, Span::ZERO));
    let payload = shares.of(AirClass::DataPayload).as_secs() / 200.0;
    assert!((payload - throughput).abs() < 1e-4, "{payload} {throughput}");
    // Medium and ledger agree on the collisions: all frames of one have the same length.
    let frames = (0..10)
        .map(|station| radio.counters(station))
        .fold([0, 0], |[sent, collided], counters| [sent + counters.sent, collided + counters.collided]);
    assert!(frames[1] > 0);
    let longest = mac.phy.airtime(mac.header + mac.fcs + mac.llc + 1023, 1023, mac.data_rate).total;
    let collisions = shares.of(AirClass::Collision).0 + shares.overlapped.0;
    assert_eq!(collisions, frames[1] * longest.0);
}

#[test]
fn hidden_stations_lose_most_of_their_frames_without_rts_and_few_with_it() {
    // 0 and 2 are out of each other's hearing, 1 is between them.
    let config = RadioConfig { receive_threshold_w: 1e-10, ..ns2() };
    let lost = |rts_threshold| {
        let mac = MacConfig { rts_threshold, ..Preset::Ns2.config() };
        let medium = radio(&config, &[Some(0.0), Some(300.0), Some(600.0)]);
        let (received, shares, radio, stations) =
            Cell::new(mac, medium, &[Some(1), None, Some(1)], 1040).run(Time(20_000_000_000));
        assert_eq!(shares.total(), Span::from_secs(20));
        let data: u64 = [0, 2].map(|station| stations[station].counters().data_sent).iter().sum();
        assert!(radio.counters(0).collided > 0);
        1.0 - received[1] as f64 / data as f64
    };
    let (without, with) = (lost(None), lost(Some(0)));
    assert!(without > 0.5, "{without}");
    assert!(with < 0.02, "{with}");
}

#[test]
fn a_packet_lost_for_good_costs_one_attempt_and_the_next_follows() {
    let law = ErrorLaw::Packet { rate: 0.3 };
    let config = lossy(law, LossMeaning::ForGood, LossOf::Packets);
    let mac = MacConfig { rts_threshold: None, ..Preset::Ns2.config() };
    let medium = radio(&config, &[None; 2]);
    let (received, shares, radio, stations) =
        Cell::new(mac, medium, &[Some(1), None], 1040).run(Time(100_000_000_000));
    let (mac, frames) = (stations[0].counters(), radio.counters(0));
    assert_eq!(mac.undelivered, frames.errored);
    assert_eq!(mac.data_sent, frames.sent);
    assert!((frames.errored as f64 / frames.sent as f64 - 0.3).abs() < 0.02, "{frames:?}");
    assert!(received[0] == 0 && received[1] == frames.received);
    assert_eq!(shares.total(), Span::from_secs(100));
    assert!(shares.of(AirClass::Errored) > Span::from_secs(20));
}
