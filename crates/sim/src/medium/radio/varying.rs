//! Time-varying powers: the receivers of a frame are recomputed when a gain changes or a node moves.
//!
//! **How**: each station has a list of those that may hear it. These are all within the range of the strongest frame
//! plus some metres, so the list is valid until the fastest station can have come from outside. Nothing is recomputed
//! while nothing on the list has changed, and a medium on which nothing can change has no such list.
//!
//! **Choices**
//! 1. Positions are those at the last multiple of the time in which the fastest station moves one centimetre.

use lasthop_stack::units::{Span, Time};

use super::config::RadioConfig;
use super::draws::StreamBase;
use super::fading::{Gain, Process, Way};
use super::propagation::range_m;
use super::{Neighbour, Site, mean_power_w};
use crate::medium::motion::{Point, Trajectory};

/// How far the fastest station moves while all are assumed to stand still.
const STEP_M: f64 = 0.01;
/// The part of the range by which a list exceeds it.
const SLACK: f64 = 0.125;

/// The gains of all pairs of stations, and where the stations are.
#[derive(Clone, Debug)]
pub(super) struct Varying {
    config: RadioConfig,
    base: StreamBase,
    names: Vec<String>,
    strengths: Vec<f64>,
    shadowing: Option<Process>,
    fading: Option<Process>,
    floor_w: f64,
    places: Places,
    /// Those that may hear each station.
    lists: Vec<List>,
}

#[derive(Clone, Debug, Default)]
struct List {
    candidates: Vec<Candidate>,
    /// The step at which its mean powers are.
    step: u64,
    /// Until when no other station can have come into range.
    holds: Time,
    /// Until when nothing on it changes.
    until: Time,
}

#[derive(Clone, Debug)]
struct Candidate {
    station: u32,
    mean_w: f64,
    shadowing: Option<Gain>,
    fading: Option<Gain>,
}

/// Where the stations are.
#[derive(Clone, Debug)]
struct Places {
    /// At the step stored with each.
    points: Vec<(Option<Point>, u64)>,
    movers: Vec<Option<Mover>>,
    /// The greatest speed of all, m/s.
    fastest_mps: f64,
    step: Span,
    /// How far a frame may reach, and how far the lists go, m.
    reach_m: [f64; 2],
}

/// A moving station. Its positions are queried at steps and its distance travelled at any time, each in ascending
/// order.
#[derive(Clone, Debug)]
struct Mover {
    place: Trajectory,
    way: Trajectory,
    fastest_mps: f64,
}

impl Varying {
    /// The gains of a medium, or `None` if its powers are constant.
    pub(super) fn of(config: &RadioConfig, sites: &[Site], base: &StreamBase) -> Option<Varying> {
        let shadowing = config.shadowing.as_ref().map(Process::shadowing);
        let fading = config.fading.as_ref().map(Process::fading);
        if shadowing.is_none() && fading.is_none() && sites.iter().all(|site| site.motion.is_none()) {
            return None;
        }
        let most: f64 = [&shadowing, &fading].into_iter().flatten().map(Process::most).product();
        let floor_w = config.floor_w();
        Some(Varying {
            config: config.clone(),
            base: base.clone(),
            names: sites.iter().map(|site| site.name.clone()).collect(),
            strengths: sites.iter().map(|site| site.strength).collect(),
            shadowing,
            fading,
            floor_w,
            places: Places::new(sites, base, range_m(config, floor_w / most)),
            lists: vec![List::default(); sites.len()],
        })
    }

    /// Updates those that hear `station`, at a time not before that of the last call for any.
    #[inline]
    pub(super) fn refresh(&mut self, station: usize, now: Time, heard_by: &mut Vec<Neighbour>) {
        if now >= self.lists[station].until {
            self.update(station, now, heard_by);
        }
    }

    fn update(&mut self, station: usize, now: Time, heard_by: &mut Vec<Neighbour>) {
        let mut list = std::mem::take(&mut self.lists[station]);
        let step = self.places.step_at(now);
        if now >= list.holds {
            list.candidates = self.candidates(station, step);
            list.holds = self.places.holds(now);
        } else if step != list.step {
            for candidate in &mut list.candidates {
                let other = candidate.station as usize;
                if self.places.moves(station) || self.places.moves(other) {
                    candidate.mean_w = self.mean_w(station, other, step);
                }
            }
        }
        list.step = step;
        list.until = list.holds.min(self.places.next_step(step));
        heard_by.clear();
        for candidate in &mut list.candidates {
            let mut power_w = candidate.mean_w;
            for (process, gain) in
                [(&self.shadowing, &mut candidate.shadowing), (&self.fading, &mut candidate.fading)]
            {
                let (Some(process), Some(gain)) = (process, gain) else { continue };
                if now >= gain.until {
                    let way = if process.is_by_way() {
                        self.places.way([station, candidate.station as usize], now)
                    } else {
                        Way::default()
                    };
                    process.redraw(gain, now, way);
                }
                power_w *= gain.factor;
                list.until = list.until.min(gain.until);
            }
            if power_w >= self.floor_w {
                heard_by.push(Neighbour { station: candidate.station, power_w });
            }
        }
        self.lists[station] = list;
    }

    /// Those that may hear a station while its list holds.
    fn candidates(&mut self, station: usize, step: u64) -> Vec<Candidate> {
        let others = (0..self.names.len()).filter(|other| *other != station);
        let mut found = Vec::new();
        for other in others {
            if !self.places.may_reach(station, other, step) {
                continue;
            }
            let (low, high) = (&self.names[station.min(other)], &self.names[station.max(other)]);
            let gain = |process: &Process, purpose: &str| {
                let name = format!("links.{}.{low}.{high}.{purpose}", self.base.link);
                process.gain(self.base.seed, self.base.replication, &name)
            };
            let shadowing = self.shadowing.as_ref().map(|process| gain(process, "shadowing"));
            let fading = self.fading.as_ref().map(|process| gain(process, "multipath"));
            let mean_w = self.mean_w(station, other, step);
            found.push(Candidate { station: other as u32, mean_w, shadowing, fading });
        }
        found
    }

    fn mean_w(&mut self, one: usize, other: usize, step: u64) -> f64 {
        let power_w =
            mean_power_w(&self.config, self.places.point(one, step), self.places.point(other, step));
        self.strengths[one] * power_w
    }
}

impl Places {
    fn new(sites: &[Site], base: &StreamBase, reach_m: f64) -> Places {
        let mover = |site: &Site| {
            let motion = site.motion.as_ref()?;
            let way = Trajectory::new(motion, base.seed, base.replication, &site.name);
            Some(Mover { place: way.clone(), way, fastest_mps: motion.fastest_mps() })
        };
        let movers: Vec<Option<Mover>> = sites.iter().map(mover).collect();
        let fastest_mps = movers.iter().flatten().map(|mover| mover.fastest_mps).fold(0.0, f64::max);
        let step = match fastest_mps {
            0.0 => Span(u64::MAX),
            fastest => Span::from_secs_f64(STEP_M / fastest).max(Span(1)),
        };
        let stands = |site: &Site| (site.position.map(|(x, y)| (x.0, y.0)), u64::MAX);
        let points = sites.iter().map(stands).collect();
        Places { points, movers, fastest_mps, step, reach_m: [reach_m, reach_m * (1.0 + SLACK)] }
    }

    fn moves(&self, station: usize) -> bool {
        self.movers[station].is_some()
    }

    fn step_at(&self, now: Time) -> u64 {
        now.0 / self.step.0
    }

    fn next_step(&self, step: u64) -> Time {
        (step + 1).checked_mul(self.step.0).map_or(Time::NEVER, Time)
    }

    /// The position of a station at a step not before that of the last call for it.
    fn point(&mut self, station: usize, step: u64) -> Option<Point> {
        let (point, at) = &mut self.points[station];
        if let Some(mover) = self.movers[station].as_mut().filter(|_| *at != step) {
            (*point, *at) = (Some(mover.place.at(Time(step * self.step.0))), step);
        }
        *point
    }

    fn may_reach(&mut self, one: usize, other: usize, step: u64) -> bool {
        match (self.point(one, step), self.point(other, step)) {
            (Some(here), Some(there)) => libm::hypot(there.0 - here.0, there.1 - here.1) <= self.reach_m[1],
            _ => true,
        }
    }

    /// Until when a list made now holds: two stations approach at most at twice the greatest speed, and may have moved
    /// for a step since their positions were taken.
    fn holds(&self, now: Time) -> Time {
        let slack_m = self.reach_m[1] - self.reach_m[0] - 2.0 * STEP_M;
        if self.fastest_mps == 0.0 || !slack_m.is_finite() {
            return Time::NEVER;
        }
        now.after(Span::from_secs_f64((slack_m / (2.0 * self.fastest_mps)).max(0.0)))
    }

    /// The distance that two stations have travelled at a time not before that of the last call for either.
    fn way(&mut self, stations: [usize; 2], now: Time) -> Way {
        let mut way = Way::default();
        for mover in stations {
            if let Some(mover) = &mut self.movers[mover] {
                way.travelled_m += mover.way.travelled_m(now);
                way.fastest_mps += mover.fastest_mps;
            }
        }
        way
    }
}
