//! Movement of a node: on a circle or between way-points.
//!
//! **Limits**: straight legs at constant speeds, no borders to bounce off, no interaction between nodes.
//!
//! **Source**: Johnson and Maltz (1996) for the random way-point; Navidi and Camp (2004, IEEE Transactions on Mobile
//! Computing 3(1)) for its stationary law, from which the start is drawn.
//!
//! **How**: no event moves a node. Its position is a function of time: the angle on a circle, or the current leg
//! between way-points. Each leg has its own section in the stream of the node. A node thus takes the same path in all
//! schemes and on all of its media, whenever its position is requested.
//!
//! **Choices**
//! 1. A way-point is uniform over the area, a speed uniform between its bounds, a pause constant.
//! 2. The start needs no warm-up. A node is paused with the long-run share of pauses, uniformly over the area and over
//!    the pause. Otherwise it is on a leg with a probability proportional to its length, at a speed with a probability
//!    inversely proportional to it, uniformly along the leg.

#[cfg(test)]
mod tests;

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

/// A moving node. It is queried at times that never decrease.
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
    /// The distance that the node had travelled before it, m.
    before_m: f64,
}

/// The section of the stream of a node that determines where it starts; those of its legs follow.
const START: u64 = 0;

impl Trajectory {
    /// The movement of the node with this name.
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
                let leg = stationary(&mut stream, *area, *slowest_mps, *fastest_mps, *pause);
                Leg { from: moved(leg.from, *centre), to: moved(leg.to, *centre), ..leg }
            }
        };
        Trajectory { motion, stream, leg, legs: 0 }
    }

    /// Its position.
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

    /// The distance travelled since the start, m.
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
        // A leg of length zero takes the shortest possible time, so that time advances.
        let lasts = Span::from_secs_f64(distance_m(from, to) / speed_mps).max(Span(1));
        let arrives = starts.after(lasts);
        Leg { from, to, starts, arrives, leaves: arrives.after(pause), before_m: 0.0 }
    }

    fn length_m(&self) -> f64 {
        distance_m(self.from, self.to)
    }

    /// The completed part of the leg.
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

/// The leg, around the origin, of a node in the steady state.
fn stationary(stream: &mut Stream, area: Area, slowest: f64, fastest: f64, pause: Span) -> Leg {
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
