//! RACK beside the steps of RFC 8985, written down as they are, over random losses, orders of arrival and acknowledgements.

use std::collections::{BTreeSet, VecDeque};

use proptest::prelude::*;

use super::super::Sack;
use super::super::testing::{LEN, REDUCED, config, window};
use super::Rack;
use crate::hooks::scoreboard::Scoreboard;
use crate::hooks::{Fresh, Pick, Recovery, Verdict};
use crate::transport::tcp::LossDetection;
use crate::units::{Span, Time};

/// The smoothed round trip that both have.
const SRTT: Span = Span(1_500);
/// The least time that a segment and its acknowledgement take.
const LEAST: u64 = 1_000;
/// Silence after which the retransmission timer fires.
const PATIENCE: Span = Span(6_000);

/// What RFC 8985 keeps of a segment (5.2).
#[derive(Clone, Copy, Debug)]
struct Segment {
    left: Time,
    is_copy: bool,
    has_arrived: bool,
    is_lost: bool,
}

/// The variables of a connection (5.3), by their names there. Each step looks at every segment.
#[derive(Debug, Default)]
struct Plain {
    segments: Vec<Segment>,
    una: u64,
    min_rtt: Option<Span>,
    rtt: Option<Span>,
    xmit_ts: Time,
    end_seq: u64,
    fack: u64,
    reordering_seen: bool,
    dsack_round: Option<u64>,
    /// Counted from 0.
    reo_wnd_mult: u64,
    reo_wnd_persist: u32,
    recovery_point: Option<u64>,
    arrivals: u64,
    /// When its timer fires.
    wake: Option<Time>,
}

impl Plain {
    fn snd_nxt(&self) -> u64 {
        self.segments.len() as u64 * LEN
    }

    fn send(&mut self, number: usize, now: Time) {
        let segment = Segment { left: now, is_copy: false, has_arrived: false, is_lost: false };
        if number == self.segments.len() {
            self.segments.push(segment);
        } else {
            self.segments[number] = Segment { is_copy: true, ..segment };
        }
    }

    /// An acknowledgement of all below `ack` and of these ranges; whether it reports a duplicate.
    fn on_ack(&mut self, ack: u64, ranges: &[(u64, u64)], is_duplicate: bool, now: Time) {
        let (fack, before) = (self.fack, self.arrivals);
        for &(left, right) in ranges.iter().chain(&[(self.una, ack)]) {
            for number in left / LEN..right / LEN {
                self.arrive(number, fack, now);
            }
        }
        let is_news = self.arrivals > before || ack > self.una;
        self.una = self.una.max(ack);
        self.fack = self.fack.max(self.una);
        // Step 4.
        if self.dsack_round.is_some_and(|round| self.una >= round) {
            self.dsack_round = None;
        }
        let exits = self.recovery_point.is_some_and(|point| self.una >= point);
        if self.dsack_round.is_none() && is_duplicate {
            self.dsack_round = Some(self.snd_nxt());
            self.reo_wnd_mult += 1;
            self.reo_wnd_persist = 16;
        } else if exits {
            self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
            if self.reo_wnd_persist == 0 {
                self.reo_wnd_mult = 0;
            }
        }
        if exits {
            self.recovery_point = None;
        }
        if is_news {
            self.detect(now);
        }
    }

    /// Steps 1 to 3 for one segment.
    fn arrive(&mut self, number: u64, fack: u64, now: Time) {
        let end = (number + 1) * LEN;
        let segment = &mut self.segments[number as usize];
        if std::mem::replace(&mut segment.has_arrived, true) {
            return;
        }
        self.arrivals += 1;
        let rtt = now.since(segment.left);
        if !segment.is_copy {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        } else if self.min_rtt.is_none_or(|least| rtt < least) {
            return;
        }
        self.rtt = Some(rtt);
        if (segment.left, end) > (self.xmit_ts, self.end_seq) {
            (self.xmit_ts, self.end_seq) = (segment.left, end);
        }
        self.reordering_seen |= !segment.is_copy && end < fack;
        self.fack = self.fack.max(end);
    }

    /// The end of step 4.
    fn reo_wnd(&self) -> Span {
        let sacked =
            self.segments.iter().skip((self.una / LEN) as usize).filter(|segment| segment.has_arrived);
        if !self.reordering_seen && (self.recovery_point.is_some() || sacked.count() >= 3) {
            return Span::ZERO;
        }
        let quarter = self.min_rtt.unwrap_or_default().0 / 4;
        Span(quarter * (1 + self.reo_wnd_mult)).min(SRTT)
    }

    /// Step 5.
    fn detect(&mut self, now: Time) {
        self.wake = None;
        let Some(rtt) = self.rtt else { return };
        let patience = rtt + self.reo_wnd();
        for (number, segment) in self.segments.iter_mut().enumerate().skip((self.una / LEN) as usize) {
            let end = (number as u64 + 1) * LEN;
            let is_overtaken = (self.xmit_ts, self.end_seq) > (segment.left, end);
            if segment.has_arrived || segment.is_lost || !is_overtaken {
                continue;
            }
            let due = segment.left.after(patience);
            if due <= now {
                segment.is_lost = true;
            } else {
                self.wake = Some(self.wake.map_or(due, |wake| wake.min(due)));
            }
        }
    }

    /// 6.3.
    fn on_timeout(&mut self, now: Time) {
        self.recovery_point = Some(self.snd_nxt());
        self.wake = None;
        let patience = self.rtt.unwrap_or_default() + self.reo_wnd();
        let first = (self.una / LEN) as usize;
        for (number, segment) in self.segments.iter_mut().enumerate().skip(first) {
            let is_late = number == first || segment.left.after(patience) <= now;
            segment.is_lost |= !segment.has_arrived && is_late;
        }
    }

    /// The numbers of the segments that are lost and not sent again.
    fn lost(&self) -> Vec<u64> {
        let numbered = self.segments.iter().enumerate().skip((self.una / LEN) as usize);
        let lost = numbered.filter(|(_, segment)| segment.is_lost && !segment.has_arrived);
        lost.map(|(number, _)| number as u64).collect()
    }
}

/// Numbers that follow from a seed.
struct Draws(u64);

impl Draws {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn in_hundred(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// An acknowledgement: of all below a byte, of ranges, and whether it reports a duplicate.
type Report = (u64, Vec<(u64, u64)>, bool);

/// A path that loses and delays segments at random, with a receiver at its end.
struct Path {
    draws: Draws,
    /// In per cent: lost, late, acknowledgements lost; and by how much a segment may be late.
    loss: u64,
    late: u64,
    silent: u64,
    by: u64,
    /// Segments on their way: when each arrives, a serial number, and its own.
    under_way: BTreeSet<(Time, u64, u64)>,
    serial: u64,
    received: BTreeSet<u64>,
    next: u64,
}

impl Path {
    fn new(seed: u64) -> Path {
        let mut draws = Draws(seed);
        let [loss, late, silent] = [draws.below(30), draws.below(40), draws.below(40)];
        let by = 1 + draws.below(3 * LEAST);
        let (under_way, received) = (BTreeSet::new(), BTreeSet::new());
        Path { draws, loss, late, silent, by, under_way, serial: 0, received, next: 0 }
    }

    fn take(&mut self, number: u64, now: Time) {
        if self.draws.in_hundred(self.loss) {
            return;
        }
        let late = if self.draws.in_hundred(self.late) { self.draws.below(self.by) } else { 0 };
        self.serial += 1;
        self.under_way.insert((now.after(Span(LEAST + late)), self.serial, number));
    }

    /// A segment arrives. What its acknowledgement reports, unless that is lost: all below a byte, ranges, and whether it had
    /// been there before.
    fn arrive(&mut self, number: u64) -> Option<Report> {
        let is_duplicate = number < self.next || !self.received.insert(number);
        while self.received.remove(&self.next) {
            self.next += 1;
        }
        if self.draws.in_hundred(self.silent) {
            return None;
        }
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for &number in &self.received {
            match ranges.last_mut() {
                Some(range) if range.1 == number * LEN => range.1 += LEN,
                _ => ranges.push((number * LEN, (number + 1) * LEN)),
            }
        }
        // The range of this segment, and others as far as there is room, in the order of their bytes.
        let own = ranges.iter().position(|range| range.0 <= number * LEN && number * LEN < range.1);
        let first = own.unwrap_or(0).saturating_sub(self.draws.below(3) as usize);
        let ranges = ranges.into_iter().skip(first).take(3).collect();
        Some((self.next * LEN, ranges, is_duplicate))
    }
}

/// Both, and a path between them and a receiver.
struct World {
    board: Scoreboard,
    sack: Sack,
    plain: Plain,
    path: Path,
    now: Time,
    last_heard: Time,
    /// What the acknowledgements of the run showed: recoveries, timeouts, and losses declared.
    seen: [u64; 3],
    recent: VecDeque<String>,
}

impl World {
    fn new(seed: u64) -> World {
        let config = crate::registry::tcp::Config { loss_detection: LossDetection::Time, ..config() };
        World {
            board: Scoreboard::default(),
            sack: Sack::new(&config),
            plain: Plain::default(),
            path: Path::new(seed),
            now: Time(1),
            last_heard: Time(1),
            seen: [0; 3],
            recent: VecDeque::new(),
        }
    }

    fn log(&mut self, line: &str) {
        if self.recent.len() == 12 {
            self.recent.pop_front();
        }
        self.recent.push_back(format!("{} {line}", self.now.0));
    }

    /// Sends what is lost again, and some new segments. No copy leaves together with another segment, since two that do are
    /// distinguished by another rule than that of the RFC; new segments leave in bursts.
    fn send(&mut self) {
        let mut fresh = self.path.draws.below(4);
        let window = window(900.0);
        while let Some(pick) = self.sack.next(&self.board, &window, Fresh::Ready) {
            let number = match pick {
                Pick::New if fresh == 0 || self.board.outstanding() >= 60 => return,
                Pick::New => {
                    fresh -= 1;
                    self.board.push(LEN as u32, false, self.now);
                    self.board.end() - 1
                }
                Pick::Again(number) => {
                    self.now.0 += 1;
                    self.board.resend(number, self.now);
                    number
                }
            };
            self.sack.on_sent(pick, &self.board);
            self.plain.send(number as usize, self.now);
            self.path.take(number, self.now);
            self.log(&format!("sent {pick:?} {number}"));
            if pick != Pick::New {
                self.now.0 += 1;
            }
        }
    }

    fn begin(&mut self) {
        self.sack.begin(REDUCED, &mut self.board, &mut window(900.0));
        self.plain.recovery_point.get_or_insert(self.plain.snd_nxt());
        self.seen[0] += 1;
    }

    fn hear(&mut self, ack: u64, ranges: &[(u64, u64)], is_duplicate: bool) {
        self.log(&format!("ack {ack} {ranges:?} {is_duplicate}"));
        self.last_heard = self.now;
        self.board.hear(self.now);
        self.board.set_srtt(SRTT);
        let mut news = false;
        for &(left, right) in ranges {
            news |= self.board.sack(left, right);
        }
        if is_duplicate {
            self.sack.on_duplicate_report(ack, &self.board);
        }
        let verdict = if ack > self.board.una() {
            let segments = self.board.advance(ack).segments;
            self.sack.on_advance(segments, &mut self.board, &mut window(900.0))
        } else if news {
            self.sack.on_duplicate(&mut self.board, &mut window(900.0))
        } else {
            Verdict::Holding
        };
        self.plain.on_ack(ack, ranges, is_duplicate, self.now);
        self.compare();
        if verdict == Verdict::Lost || (verdict == Verdict::Ended && self.board.lost() > 0) {
            self.begin();
        }
    }

    fn compare(&mut self) {
        let all = self.board.base()..self.board.end();
        let lost: Vec<u64> = all.filter(|number| self.board.is_lost(*number)).collect();
        assert_eq!(lost, self.plain.lost(), "lost at {}: {:#?}", self.now.0, self.recent);
        assert_eq!(self.board.is_reordered(), self.plain.reordering_seen, "{:#?}", self.recent);
        self.seen[2] += lost.len() as u64;
    }

    /// The next arrival, the end of a time for reordering at either, or a timeout.
    fn step(&mut self) {
        let arrival = self.path.under_way.first().copied();
        let timeout = self.last_heard.after(PATIENCE);
        let wakes = [self.sack.wakes_at(), self.plain.wake];
        let wake = wakes.into_iter().flatten().min();
        let next = arrival.map(|arrival| arrival.0).into_iter().chain(wake).min();
        self.now = self.now.max(next.unwrap_or(timeout).min(timeout));
        if wake.is_some_and(|wake| wake <= self.now) {
            let is_ours = wakes[0].is_some_and(|wake| wake <= self.now);
            self.board.hear(self.now);
            let begins = is_ours && self.sack.on_time(&mut self.board);
            self.plain.detect(self.now);
            self.compare();
            if begins {
                self.begin();
            }
        } else if let Some(arrival) = arrival.filter(|arrival| arrival.0 <= self.now) {
            self.path.under_way.remove(&arrival);
            if let Some((ack, ranges, is_duplicate)) = self.path.arrive(arrival.2) {
                self.hear(ack, &ranges, is_duplicate);
            }
        } else if self.board.outstanding() > 0 {
            self.log("timeout");
            self.last_heard = self.now;
            self.board.hear(self.now);
            self.sack.on_timeout(REDUCED, &mut self.board);
            self.plain.on_timeout(self.now);
            self.compare();
            self.seen[1] += 1;
        } else {
            self.last_heard = self.now;
        }
        self.send();
    }
}

fn run(seed: u64, steps: usize) -> [u64; 3] {
    let mut world = World::new(seed);
    world.send();
    (0..steps).for_each(|_| world.step());
    world.seen
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// RFC 8985, 6.2 and 6.3.
    #[test]
    fn what_is_lost_at_each_instant_is_what_the_steps_of_the_rfc_declare(seed: u64) {
        run(seed, 400);
    }
}

#[test]
fn the_random_paths_have_recoveries_timeouts_and_losses() {
    let seen =
        (0..40).map(|seed| run(seed, 400)).fold([0; 3], |all, seen| [0, 1, 2].map(|at| all[at] + seen[at]));
    assert!(seen.iter().all(|count| *count > 20), "{seen:?}");
}

#[test]
fn copies_that_went_again_are_not_kept() {
    let (mut board, mut rack) = (Scoreboard::default(), Rack::default());
    for at in 0..4 {
        board.push(LEN as u32, false, Time(at));
    }
    for at in 4..10_004 {
        rack.on_timeout(&mut board);
        board.resend(at % 4, Time(at));
        rack.on_copy(&board, at % 4);
        assert!(rack.copies.len() <= 17);
        assert_eq!(rack.copies.back(), Some(&(Time(at), at % 4)));
    }
}
