//! BBR over a path that is a queue, a rate and a delay, without losses.

use std::collections::VecDeque;

use super::*;
use crate::hooks::Progress;
use crate::hooks::testing::{ack, loss};

const SEGMENT: u32 = 1000;
/// 8 Mbit/s of payload: a segment each millisecond.
const SERVICE: Span = Span::from_millis(1);
/// Round trip without queue: 40 segments in flight fill the path.
const RTT: Span = Span::from_millis(40);

/// A sender under BBR and the path it sends over.
struct Path {
    bbr: Bbr,
    window: Window,
    /// Arrival times of acknowledgements and departures of the segments they answer.
    acks: VecDeque<(Time, Time)>,
    busy_until: Time,
    release: Time,
    now: Time,
    next: u64,
    una: u64,
    service: Span,
    round_trip: Span,
}

impl Path {
    fn new(draw: u32) -> Path {
        Path {
            bbr: Bbr::new(Bbr1Config::default(), BbrConfig { segment: SEGMENT, draw }),
            window: Window::new(10.0, None, 10_000.0),
            acks: VecDeque::new(),
            busy_until: Time::ZERO,
            release: Time::ZERO,
            now: Time::ZERO,
            next: 0,
            una: 0,
            service: SERVICE,
            round_trip: RTT,
        }
    }

    fn pipe(&self) -> u32 {
        (self.next - self.una) as u32
    }

    /// Segments in the queue of the bottleneck, the one being sent included.
    fn queued(&self) -> f64 {
        self.busy_until.since(self.now).as_secs() / self.service.as_secs()
    }

    fn may_send(&self) -> bool {
        self.pipe() < self.window.cwnd as u32
    }

    fn send(&mut self) {
        let outstanding = u64::from(self.pipe() + 1) * u64::from(SEGMENT);
        let (number, pipe) = (self.next, self.pipe());
        self.bbr.on_sent(&Departure { now: self.now, number, base: self.una, pipe, outstanding, backlog: 1 });
        self.busy_until = self.busy_until.max(self.now).after(self.service);
        self.acks.push_back((self.busy_until.after(self.round_trip), self.now));
        self.next += 1;
        if let Some(rate) = self.window.pacing {
            self.release = self.now.after(crate::units::Bytes(SEGMENT.into()).time_at(rate));
        }
    }

    /// The next departure or acknowledgement.
    fn step(&mut self) {
        let arrival = self.acks.front().map(|ack| ack.0);
        let departure = self.may_send().then(|| self.release.max(self.now));
        if let Some(departure) = departure
            && arrival.is_none_or(|arrival| departure <= arrival)
        {
            self.now = departure;
            self.send();
            return;
        }
        let (arrival, sent) = self.acks.pop_front().expect("something is under way");
        self.now = arrival;
        let newest = Some(self.una);
        self.una += 1;
        let event = Ack {
            now: arrival,
            rtt: Some(arrival.since(sent)),
            srtt: Some(RTT),
            una: self.una * u64::from(SEGMENT),
            sent_end: self.next * u64::from(SEGMENT),
            pipe: self.pipe(),
            delivered: Delivered { bytes: u64::from(SEGMENT), segments: 1, newest },
            counted: 1,
            ..ack(Progress::Open(1))
        };
        self.bbr.on_ack(&event, &mut self.window);
        self.window.clamp();
    }

    fn run_until(&mut self, ms: u64) {
        while self.now < Time(ms * 1_000_000) {
            self.step();
        }
    }
}

#[test]
fn the_first_window_doubles_whatever_its_samples_say() {
    let mut path = Path::new(0);
    while path.una < 10 {
        path.step();
    }
    assert_eq!(path.window.cwnd, 20.0);
}

#[test]
fn bandwidth_and_least_round_trip_of_a_clean_path_are_found_within_five_percent() {
    let mut path = Path::new(3);
    path.run_until(5000);
    let rate = path.bbr.rate().expect("a rate");
    assert!((rate / 1e6 - 1.0).abs() < 0.05, "{rate} B/s");
    let rtprop = path.bbr.rtprop().expect("a round trip").as_secs();
    // The service of the segment itself belongs to the round trip.
    assert!((rtprop / 0.041 - 1.0).abs() < 0.05, "{rtprop} s");
}

#[test]
fn startup_doubles_each_round_and_ends_when_the_path_is_full() {
    let mut path = Path::new(3);
    assert_eq!(path.bbr.mode, Mode::Startup);
    // Ten segments of 40 in the first round: the rate is found by the fourth, and three more show that it is steady.
    let mut found = None;
    while !path.bbr.filled {
        path.step();
        if path.bbr.rate().is_some_and(|rate| rate > 0.9e6) {
            found = found.or(Some(path.bbr.round));
        }
    }
    assert!(found.is_some_and(|round| round <= 4), "{found:?}");
    assert!(path.bbr.round <= 8, "{}", path.bbr.round);
    path.step();
    assert_ne!(path.bbr.mode, Mode::Startup);
}

#[test]
fn drain_empties_the_queue_that_startup_made() {
    let mut path = Path::new(3);
    let mut most: f64 = 0.0;
    while path.bbr.mode != Mode::ProbeBw {
        path.step();
        most = most.max(path.queued());
    }
    assert!(most > 20.0, "startup queued {most} segments only");
    assert!(path.queued() < 3.0, "{} segments left", path.queued());
    path.run_until(4000);
    let (mut sum, mut steps) = (0.0, 0.0);
    while path.now < Time(8_000_000_000) {
        path.step();
        (sum, steps) = (sum + path.queued(), steps + 1.0);
    }
    assert!(sum / steps < 4.0, "{} segments queued on average", sum / steps);
}

/// When the windows of four segments began, up to this time, and how many segments were in flight at the least.
fn probes(path: &mut Path, until: u64) -> (Vec<f64>, u32) {
    let (mut began, mut least) = (Vec::new(), u32::MAX);
    while path.now < Time(until * 1_000_000) {
        let before = path.bbr.mode;
        path.step();
        if path.bbr.mode == Mode::ProbeRtt {
            if before != Mode::ProbeRtt {
                began.push(path.now.as_secs());
            }
            least = least.min(path.pipe());
            assert!(path.window.cwnd <= LEAST_WINDOW);
        }
    }
    (began, least)
}

#[test]
fn probe_rtt_is_entered_every_ten_seconds_and_shrinks_the_window_to_four_segments() {
    let mut path = Path::new(3);
    path.run_until(9_000);
    let before = path.window.cwnd;
    let (began, least) = probes(&mut path, 35_000);
    assert_eq!(began.len(), 3, "{began:?}");
    assert!(least <= 4, "{least}");
    // Ten seconds after the last one ended, which took 200 ms and some round trips.
    assert!(began.windows(2).all(|pair| (10.2..10.4).contains(&(pair[1] - pair[0]))), "{began:?}");
    assert!((path.window.cwnd / before - 1.0).abs() < 0.2, "{} after, {before} before", path.window.cwnd);
}

/// A round trip without a queue in each cycle, and without noise, is the same to the nanosecond.
#[test]
fn a_least_round_trip_that_repeats_exactly_does_not_put_off_probe_rtt() {
    let mut bbr = Bbr::new(Bbr1Config::default(), BbrConfig { segment: SEGMENT, draw: 3 });
    let expired = |&at: &u64| {
        let now = Time(at * 1_000_000);
        bbr.learn_rtt(&Ack { now, rtt: Some(RTT), ..ack(Progress::Open(1)) })
    };
    assert_eq!((0..30_000).step_by(10).filter(expired).collect::<Vec<_>>(), [10_010, 20_020]);
}

/// 4.3.5, where the round trip is longer than that.
#[test]
fn probe_rtt_lasts_200_ms_and_a_round() {
    let mut bbr = Bbr::new(Bbr1Config::default(), BbrConfig { segment: SEGMENT, draw: 3 });
    bbr.mode = Mode::ProbeRtt;
    let stays = [(0, 7), (199, 8), (500, 7), (500, 8)].map(|(ms, round)| {
        let event = Ack { now: Time(ms * 1_000_000), pipe: 4, ..ack(Progress::Open(1)) };
        bbr.round = round;
        bbr.probe_rtt(&event, false, &mut Window::new(4.0, None, 100.0));
        bbr.mode == Mode::ProbeRtt
    });
    assert_eq!(stays, [true, true, true, false]);
}

#[test]
fn a_lower_round_trip_puts_off_probe_rtt() {
    let mut path = Path::new(3);
    path.run_until(9_000);
    path.round_trip = Span::from_millis(39);
    let (began, _) = probes(&mut path, 21_000);
    assert!(matches!(began[..], [at] if at > 19.0), "{began:?}");
}

#[test]
fn a_path_that_becomes_slower_is_followed_when_its_old_rate_is_ten_rounds_old() {
    let mut path = Path::new(3);
    path.run_until(3000);
    path.service = Span::from_millis(4);
    path.run_until(9000);
    let rate = path.bbr.rate().expect("a rate");
    assert!((rate / 250_000.0 - 1.0).abs() < 0.05, "{rate} B/s");
}

#[test]
fn the_cycle_never_begins_with_the_gain_that_drains() {
    for draw in 0..20 {
        let mut bbr = Bbr::new(Bbr1Config::default(), BbrConfig { segment: SEGMENT, draw });
        bbr.enter_probe_bw(Time::ZERO);
        assert_ne!(CYCLE[bbr.phase], 0.75, "draw {draw}");
    }
}

#[test]
fn a_loss_holds_the_window_to_what_is_in_the_network_until_it_is_repaired() {
    let mut path = Path::new(3);
    path.run_until(2000);
    let before = path.window.cwnd;
    let lost = Loss {
        now: path.now,
        pipe: path.pipe(),
        sent_end: path.next * u64::from(SEGMENT),
        ..loss(LossCause::Duplicates, path.pipe())
    };
    path.bbr.on_loss(&lost, &mut path.window);
    // One more than what is in the network: the last acknowledgement delivered one.
    assert_eq!(path.window.cwnd, f64::from(path.pipe() + 1));
    path.run_until(2200);
    assert!(path.window.cwnd >= before, "{} of {before}", path.window.cwnd);
}

/// A path 2 s after its start, in the middle of a round, and the loss of its first unacknowledged segment.
fn losing(cause: LossCause) -> (Path, u32) {
    let mut path = Path::new(3);
    path.run_until(2000);
    let round = path.bbr.round;
    while path.bbr.round == round {
        path.step();
    }
    for _ in 0..20 {
        path.step();
    }
    let outstanding = path.pipe();
    let sent_end = path.next * u64::from(SEGMENT);
    let lost = Loss { now: path.now, pipe: outstanding, sent_end, ..loss(cause, outstanding) };
    path.bbr.on_loss(&lost, &mut path.window);
    (path, outstanding)
}

/// Linux: `bbr_set_cwnd_to_recover_or_restore` starts a round, so that conservation lasts a whole round trip.
#[test]
fn a_loss_begins_a_round_that_lasts_until_what_leaves_after_it_is_delivered() {
    let (mut path, outstanding) = losing(LossCause::Duplicates);
    let (round, una) = (path.bbr.round, path.una);
    while path.bbr.round == round {
        path.step();
    }
    assert_eq!(path.una - una, u64::from(outstanding) + 1);
}

/// Linux sees no end of a recovery that the next one follows in the same acknowledgement: what is in the network bounds the window
/// in the first round only. One that begins later has a first round of its own.
#[test]
fn a_recovery_that_follows_at_once_conserves_nothing() {
    for (later, is_held) in [(0, false), (1, true)] {
        let (mut path, outstanding) = losing(LossCause::Duplicates);
        while path.bbr.recovering.is_some() {
            path.step();
        }
        path.run_until(path.now.0 / 1_000_000 + later);
        let before = path.window.cwnd;
        let sent_end = path.next * u64::from(SEGMENT);
        let pipe = outstanding / 2;
        let lost = Loss { now: path.now, pipe, sent_end, ..loss(LossCause::Duplicates, pipe) };
        path.bbr.on_loss(&lost, &mut path.window);
        assert_eq!(path.window.cwnd < before, is_held, "{later} ms later");
    }
}

#[test]
fn after_a_timeout_the_first_delivery_opens_four_segments() {
    let (mut path, _) = losing(LossCause::Timeout);
    assert_eq!(path.window.cwnd, 1.0);
    let una = path.una;
    while path.una == una {
        path.step();
    }
    assert_eq!(path.window.cwnd, 4.0);
}

#[test]
fn the_window_covers_what_is_acknowledged_at_once_beyond_the_rate() {
    let mut bbr = Bbr::new(Bbr1Config::default(), BbrConfig { segment: SEGMENT, draw: 3 });
    let mut window = Window::new(500.0, None, 10_000.0);
    // 1 MB/s and 40 ms: 40 segments.
    bbr.rates.add(0, 1e6, RATE_ROUNDS);
    bbr.least = Some((RTT, Time::ZERO));
    bbr.filled = true;
    let mut at = |bbr: &mut Bbr, ms: u64, segments: u64, cwnd: f64| {
        let delivered = Delivered { bytes: segments * u64::from(SEGMENT), ..Delivered::default() };
        let ack = Ack { now: Time(ms * 1_000_000), delivered, ..ack(Progress::Open(1)) };
        window.cwnd = cwnd;
        bbr.learn_aggregation(&ack, &window);
        window.cwnd = 500.0;
        bbr.set_window(&ack, WINDOW_GAIN, &mut window);
        window.cwnd
    };
    // Two products and the slack are 83. Eight at once; ten more 5 ms later, of which the rate explains five in all.
    assert_eq!(at(&mut bbr, 100, 8, 500.0), 91.0);
    assert_eq!(at(&mut bbr, 105, 10, 500.0), 96.0);
    // An interval that the rate explains begins anew; its excess of one is less.
    assert_eq!(at(&mut bbr, 130, 1, 500.0), 96.0);
    // No more than the window counts, and no more than 100 ms of the rate.
    assert_eq!(at(&mut bbr, 140, 150, 60.0), 143.0);
    assert_eq!(at(&mut bbr, 400, 300, 500.0), 183.0);
    // After ten rounds the excess is forgotten.
    bbr.round = 10;
    assert_eq!(at(&mut bbr, 9_000, 1, 500.0), 84.0);
    // Without the gain, and before the path is full, there is none.
    bbr.law.extra_acked_gain = 0.0;
    assert_eq!(at(&mut bbr, 9_100, 8, 500.0), 83.0);
    bbr.law.extra_acked_gain = 1.0;
    bbr.filled = false;
    assert_eq!(bbr.extra(), 0.0);
}
