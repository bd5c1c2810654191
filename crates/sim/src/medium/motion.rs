//! How a node moves: on a circle, or from way-point to way-point.
//!
//! **Limits**: straight legs at constant speeds, no borders to bounce off, nodes do not know of each other.
//!
//! **Source**: Johnson and Maltz (1996) for the random way-point; Navidi and Camp (2004, IEEE Transactions on Mobile
//! Computing 3(1)) for its stationary law, from which the start is drawn.
//!
//! **How**: no event moves a node. Where it is follows from the time: by angle on a circle, by the leg under way between
//! way-points. Each leg has a section of its own in the stream of the node, so that a node takes the same way in all
//! schemes and on all of its media, whoever asks and when.
//!
//! **Choices**
//! 1. A way-point is even over the area, a speed even between its bounds, a pause constant.
//! 2. The start needs no warm-up. A node is paused with the long-run share of pauses, even over the area and over the pause;
//!    or else it is under way, on a leg with a probability in proportion to its length, at a speed in inverse
//!    proportion to it, evenly along the way.

use lasthop_stack::units::{Span, Time};
use std::f64::consts::{PI, TAU};

use crate::engine::streams::Stream;

/// A point, m.
pub type Point = (f64, f64);

/// How a node moves.
#[derive(Clone, Debug, PartialEq)]
pub enum Motion {
    /// Counter-clockwise at constant speed.
    Circle {
        /// The middle.
        centre: Point,
        /// Radius, m.
        radius_m: f64,
        /// Speed, m/s.
        speed_mps: f64,
        /// Where it begins, as a part of a whole turn from the right; `None` is drawn for each replication.
        turn: Option<f64>,
    },
    /// To one random point after the other.
    Waypoint {
        /// The middle of the area.
        centre: Point,
        /// The area.
        area: Area,
        /// Least speed, m/s, above zero: without a bound no speed would last (Yoon, Liu and Noble 2003).
        slowest_mps: f64,
        /// Greatest speed, m/s.
        fastest_mps: f64,
        /// How long it stays at each point.
        pause: Span,
    },
}

/// An area around a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Area {
    /// A disc of this radius, m.
    Disc(f64),
    /// A rectangle of this width and height, m.
    Rectangle(f64, f64),
}

/// A node on its way. It is asked at times that never fall.
#[derive(Clone, Debug)]
pub struct Trajectory {
    motion: Motion,
    stream: Stream,
    leg: Leg,
    legs: u64,
}

/// A leg and the pause after it.
#[derive(Clone, Copy, Debug)]
struct Leg {
    from: Point,
    to: Point,
    starts: Time,
    arrives: Time,
    /// When the next leg starts.
    leaves: Time,
    /// How far the node had come before it, m.
    before_m: f64,
}

/// The section of the stream of a node that says where it starts; those of its legs follow.
const START: u64 = 0;

impl Trajectory {
    /// The way of the node of this name.
    #[must_use]
    pub fn new(motion: &Motion, seed: u64, replication: u64, node: &str) -> Trajectory {
        let mut stream = Stream::named(seed, replication, &format!("nodes.{node}.move"));
        stream.seek(START);
        let mut motion = motion.clone();
        let leg = match &mut motion {
            Motion::Circle { turn, .. } => {
                turn.get_or_insert_with(|| stream.uniform());
                Leg { leaves: Time::NEVER, ..Leg::at((0.0, 0.0)) }
            }
            Motion::Waypoint { centre, area, slowest_mps, fastest_mps, pause } => {
                let leg = stationary(&mut stream, *area, (*slowest_mps, *fastest_mps), *pause);
                Leg { from: moved(leg.from, *centre), to: moved(leg.to, *centre), ..leg }
            }
        };
        Trajectory { motion, stream, leg, legs: 0 }
    }

    /// Where it is.
    #[must_use]
    pub fn at(&mut self, now: Time) -> Point {
        if let Motion::Circle { centre, radius_m, speed_mps, turn } = self.motion {
            let angle = TAU * turn.unwrap_or_default() + speed_mps * now.as_secs() / radius_m;
            let (sin, cos) = libm::sincos(angle);
            return moved((radius_m * cos, radius_m * sin), centre);
        }
        self.advance(now);
        let (leg, part) = (&self.leg, self.leg.part(now));
        (leg.from.0 + part * (leg.to.0 - leg.from.0), leg.from.1 + part * (leg.to.1 - leg.from.1))
    }

    /// How far it has come since the start, m.
    #[must_use]
    pub fn travelled_m(&mut self, now: Time) -> f64 {
        if let Motion::Circle { speed_mps, .. } = self.motion {
            return speed_mps * now.as_secs();
        }
        self.advance(now);
        self.leg.before_m + self.leg.part(now) * self.leg.length_m()
    }

    fn advance(&mut self, now: Time) {
        while self.leg.leaves <= now {
            self.next_leg();
        }
    }

    fn next_leg(&mut self) {
        let Motion::Waypoint { centre, area, slowest_mps, fastest_mps, pause } = self.motion else { return };
        self.legs += 1;
        self.stream.seek(START + self.legs);
        let to = moved(point_in(area, &mut self.stream), centre);
        let speed_mps = slowest_mps + (fastest_mps - slowest_mps) * self.stream.uniform();
        let last = self.leg;
        let before_m = last.before_m + last.length_m();
        self.leg = Leg { before_m, ..Leg::between(last.to, to, last.leaves, speed_mps, pause) };
    }
}

impl Motion {
    /// The greatest speed, m/s.
    #[must_use]
    pub fn fastest_mps(&self) -> f64 {
        match self {
            Motion::Circle { speed_mps, .. } => *speed_mps,
            Motion::Waypoint { fastest_mps, .. } => *fastest_mps,
        }
    }
}

impl Leg {
    fn at(place: Point) -> Leg {
        let starts = Time::ZERO;
        Leg { from: place, to: place, starts, arrives: starts, leaves: starts, before_m: 0.0 }
    }

    fn between(from: Point, to: Point, starts: Time, speed_mps: f64, pause: Span) -> Leg {
        // A leg without length takes the shortest time there is, so that time goes on.
        let lasts = Span::from_secs_f64(distance_m(from, to) / speed_mps).max(Span(1));
        let arrives = starts.after(lasts);
        Leg { from, to, starts, arrives, leaves: arrives.after(pause), before_m: 0.0 }
    }

    fn length_m(&self) -> f64 {
        distance_m(self.from, self.to)
    }

    /// The part of the way that lies behind it.
    fn part(&self, now: Time) -> f64 {
        if now >= self.arrives {
            return 1.0;
        }
        now.since(self.starts).0 as f64 / self.arrives.since(self.starts).0 as f64
    }
}

impl Area {
    /// The mean distance of two random points, m.
    fn mean_distance_m(self) -> f64 {
        match self {
            Area::Disc(radius) => 128.0 * radius / (45.0 * PI),
            Area::Rectangle(a, b) => {
                // Ghosh (1951).
                let (a2, b2, diagonal) = (a * a, b * b, libm::hypot(a, b));
                let edges = a2 * a / b2 + b2 * b / a2 + diagonal * (3.0 - a2 / b2 - b2 / a2);
                let logs = b2 / a * libm::log((a + diagonal) / b) + a2 / b * libm::log((b + diagonal) / a);
                (edges + 2.5 * logs) / 15.0
            }
        }
    }

    fn greatest_distance_m(self) -> f64 {
        match self {
            Area::Disc(radius) => 2.0 * radius,
            Area::Rectangle(width, height) => libm::hypot(width, height),
        }
    }
}

/// The leg, around the origin, on which a node is that has moved for ever.
fn stationary(stream: &mut Stream, area: Area, (slowest, fastest): (f64, f64), pause: Span) -> Leg {
    let ratio = fastest / slowest;
    let seconds_a_metre = if ratio > 1.0 { libm::log(ratio) / (fastest - slowest) } else { 1.0 / slowest };
    let leg_s = area.mean_distance_m() * seconds_a_metre;
    if stream.chance(pause.as_secs() / (pause.as_secs() + leg_s)) {
        let left = Span((pause.0 as f64 * (1.0 - stream.uniform())) as u64);
        let place = point_in(area, stream);
        return Leg { leaves: Time::ZERO.after(left), ..Leg::at(place) };
    }
    let (from, to) = loop {
        let (from, to) = (point_in(area, stream), point_in(area, stream));
        if stream.chance(distance_m(from, to) / area.greatest_distance_m()) {
            break (from, to);
        }
    };
    let speed_mps = slowest * libm::pow(ratio, stream.uniform());
    let part = stream.uniform();
    let here = (from.0 + part * (to.0 - from.0), from.1 + part * (to.1 - from.1));
    Leg::between(here, to, Time::ZERO, speed_mps, pause)
}

/// A random point, around the origin.
fn point_in(area: Area, stream: &mut Stream) -> Point {
    let (one, other) = (stream.uniform(), stream.uniform());
    match area {
        Area::Disc(radius) => {
            let (sin, cos) = libm::sincos(TAU * other);
            let out = radius * libm::sqrt(one);
            (out * cos, out * sin)
        }
        Area::Rectangle(width, height) => (width * (one - 0.5), height * (other - 0.5)),
    }
}

fn moved(point: Point, by: Point) -> Point {
    (point.0 + by.0, point.1 + by.1)
}

fn distance_m(one: Point, other: Point) -> f64 {
    libm::hypot(other.0 - one.0, other.1 - one.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn waypoint(area: Area, (slowest_mps, fastest_mps): (f64, f64), pause: Span) -> Motion {
        Motion::Waypoint { centre: (0.0, 0.0), area, slowest_mps, fastest_mps, pause }
    }

    fn trajectory(motion: &Motion, node: usize) -> Trajectory {
        Trajectory::new(motion, 1, 0, &format!("n{node}"))
    }

    /// Where each of so many nodes is at a time.
    fn places(motion: &Motion, nodes: usize, at: Time) -> Vec<Point> {
        (0..nodes).map(|node| trajectory(motion, node).at(at)).collect()
    }

    #[test]
    fn a_circle_is_kept_at_its_speed() {
        let motion =
            Motion::Circle { centre: (100.0, -20.0), radius_m: 55.0, speed_mps: 1.5, turn: Some(0.25) };
        let mut node = trajectory(&motion, 0);
        let mut last = node.at(Time::ZERO);
        assert!(distance_m(last, (100.0, 35.0)) < 1e-9);
        for second in 1..2000 {
            let here = node.at(Time(second * SECOND));
            assert!((distance_m(here, (100.0, -20.0)) - 55.0).abs() < 1e-9);
            // A chord of an arc of 1.5 m.
            let chord = 110.0 * libm::sin(1.5 / 110.0);
            assert!((distance_m(here, last) - chord).abs() < 1e-9);
            assert!((node.travelled_m(Time(second * SECOND)) - 1.5 * second as f64).abs() < 1e-9);
            last = here;
        }
    }

    #[test]
    fn nodes_that_circle_from_nowhere_begin_evenly_around() {
        let motion = Motion::Circle { centre: (0.0, 0.0), radius_m: 1.0, speed_mps: 1.0, turn: None };
        let right = places(&motion, 2000, Time::ZERO).iter().filter(|place| place.0 > 0.0).count();
        assert!((900..1100).contains(&right), "{right}");
    }

    #[test]
    fn the_mean_distance_of_two_points_is_that_of_many() {
        assert!((Area::Rectangle(1.0, 1.0).mean_distance_m() - 0.521_405).abs() < 1e-6);
        let mut stream = Stream::named(1, 0, "pairs");
        for area in [Area::Disc(3.0), Area::Rectangle(4.0, 4.0), Area::Rectangle(10.0, 1.0)] {
            let pairs = 200_000;
            let sum: f64 = (0..pairs)
                .map(|_| distance_m(point_in(area, &mut stream), point_in(area, &mut stream)))
                .sum();
            let found = sum / f64::from(pairs) / area.mean_distance_m();
            assert!((found - 1.0).abs() < 0.006, "{area:?}: {found}");
        }
    }

    #[test]
    fn a_walk_has_straight_legs_pauses_and_speeds_within_their_bounds() {
        let motion = waypoint(Area::Disc(50.0), (1.0, 3.0), Span::from_secs(5));
        let mut node = trajectory(&motion, 7);
        let (mut still, mut last) = (0, node.at(Time::ZERO));
        for tenth in 1..200_000 {
            let now = Time(tenth * SECOND / 10);
            let here = node.at(now);
            let step = distance_m(last, here);
            assert!(step <= 0.3 + 1e-9);
            assert!(libm::hypot(here.0, here.1) <= 50.0 + 1e-9);
            still += u64::from(step == 0.0);
            last = here;
        }
        // A leg lasts 45.27 m × ln 3 / 2 s on average, a pause 5 s.
        let share = still as f64 / 200_000.0;
        let expected = 5.0 / (5.0 + 45.27 * libm::log(3.0) / 2.0);
        assert!((share - expected).abs() < 0.015, "{share} {expected}");
    }

    #[test]
    fn the_way_behind_a_node_grows_by_what_it_walks_and_not_while_it_pauses() {
        let motion = waypoint(Area::Rectangle(30.0, 20.0), (2.0, 2.0), Span::from_secs(1));
        let (mut node, mut again) = (trajectory(&motion, 1), trajectory(&motion, 1));
        let mut walked = 0.0;
        let mut last = node.at(Time::ZERO);
        for milli in 1..60_000 {
            let here = node.at(Time(milli * 1_000_000));
            walked += distance_m(last, here);
            last = here;
        }
        let found = again.travelled_m(Time(60 * SECOND));
        // Corners are cut by the steps.
        assert!((found - walked).abs() < 0.05, "{found} {walked}");
    }

    #[test]
    fn a_node_takes_the_same_way_however_often_it_is_asked() {
        let motion = waypoint(Area::Disc(20.0), (0.5, 4.0), Span::from_millis(700));
        let (mut often, mut seldom) = (trajectory(&motion, 3), trajectory(&motion, 3));
        for tenth in 0..20_000 {
            let here = often.at(Time(tenth * SECOND / 10));
            if tenth % 971 == 0 {
                assert_eq!(seldom.at(Time(tenth * SECOND / 10)), here);
            }
        }
    }

    /// Shares of the nodes by distance from the middle, in rings of equal area.
    fn rings(places: &[Point], radius: f64) -> [f64; 5] {
        let mut shares = [0.0; 5];
        for place in places {
            let squared = (place.0 * place.0 + place.1 * place.1) / (radius * radius);
            shares[((squared * 5.0) as usize).min(4)] += 1.0 / places.len() as f64;
        }
        shares
    }

    #[test]
    fn the_start_has_the_law_of_a_long_walk() {
        for pause in [Span::ZERO, Span::from_secs(20)] {
            let motion = waypoint(Area::Disc(50.0), (0.5, 5.0), pause);
            let start = rings(&places(&motion, 20_000, Time::ZERO), 50.0);
            let later = rings(&places(&motion, 20_000, Time(3600 * SECOND)), 50.0);
            for (one, other) in start.iter().zip(later) {
                assert!((one - other).abs() < 0.016, "{pause:?}: {start:?} {later:?}");
            }
            // It is not that of the way-points, of which each ring has a fifth.
            assert!(start[0] > 0.24 && start[4] < 0.15, "{pause:?}: {start:?}");
        }
    }

    /// The density of a walker without pauses on a disc of radius 1 (Hyytiä, Lassila and Virtamo 2006).
    fn density(out: f64) -> f64 {
        let steps = 400;
        let width = PI / f64::from(steps);
        let cosine = |step: u32| libm::cos((f64::from(step) + 0.5) * width);
        let chord = |cosine: f64| libm::sqrt(1.0 - out * out * cosine * cosine) * width;
        let sum: f64 = (0..steps).map(|step| chord(cosine(step))).sum();
        45.0 * (1.0 - out * out) / (64.0 * PI) * sum
    }

    #[test]
    fn without_pauses_a_disc_is_filled_by_its_known_density() {
        let motion = waypoint(Area::Disc(10.0), (1.0, 1.0), Span::ZERO);
        let found = rings(&places(&motion, 20_000, Time::ZERO), 10.0);
        let mut all = 0.0;
        for (ring, share) in found.iter().enumerate() {
            let steps = 100;
            // In equal steps of the squared radius.
            let middle = |step: i32| (ring as f64 + (f64::from(step) + 0.5) / f64::from(steps)) / 5.0;
            let ring_of = |step| density(libm::sqrt(middle(step))) * PI / 5.0 / f64::from(steps);
            let expected: f64 = (0..steps).map(ring_of).sum();
            let deviation = libm::sqrt(expected * (1.0 - expected) / 20_000.0);
            assert!((share - expected).abs() < 4.0 * deviation, "{ring}: {share} {expected}");
            all += expected;
        }
        assert!((all - 1.0).abs() < 1e-3, "{all}");
    }

    #[test]
    fn the_speed_at_the_start_is_that_of_a_long_walk() {
        let motion = waypoint(Area::Rectangle(100.0, 60.0), (0.1, 10.0), Span::from_secs(3));
        let speed = |at: u64| {
            let mut sum = 0.0;
            for node in 0..10_000 {
                let mut node = trajectory(&motion, node);
                let before = node.travelled_m(Time(at));
                sum += (node.travelled_m(Time(at + SECOND / 10)) - before) * 10.0 / 10_000.0;
            }
            sum
        };
        let (start, later) = (speed(0), speed(7200 * SECOND));
        assert!((start / later - 1.0).abs() < 0.06, "{start} {later}");
    }
}
