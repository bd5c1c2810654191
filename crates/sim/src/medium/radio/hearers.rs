//! Received powers between stations.
//!
//! **How**: the power of each pair of stations is computed once, or when movement or fading changes it. Each station
//! has a list of those that hear it, so the cost of a frame is proportional to the stations it reaches. The list is
//! made when the station first sends. If no station has a position, all hear each other equally and share one list.

use super::config::RadioConfig;
use super::draws::StreamBase;
use super::varying::Varying;
use super::{Neighbour, Site, mean_power_w};
use crate::medium::motion::Point;
use lasthop_stack::units::Time;

/// Those that hear each station.
#[derive(Clone, Debug)]
pub(super) struct Hearers {
    kind: Kind,
    /// In order of their number; of stations that have not sent yet, none. If all are alike, one list of all.
    lists: Vec<Vec<Neighbour>>,
    /// The stations whose list is complete and stays as it is.
    known: Vec<bool>,
}

#[derive(Clone, Debug)]
enum Kind {
    /// All alike: each of them at this power, which is not negligible.
    Alike(f64),
    /// By position.
    Standing(Box<Standing>),
    /// Varying with time.
    Varying(Box<Varying>),
}

#[derive(Clone, Debug)]
struct Standing {
    config: RadioConfig,
    floor_w: f64,
    points: Vec<Option<Point>>,
    strengths: Vec<f64>,
}

impl Hearers {
    pub(super) fn new(config: &RadioConfig, sites: &[Site], base: &StreamBase) -> Hearers {
        let (none, known) = (|| vec![Vec::new(); sites.len()], vec![false; sites.len()]);
        if let Some(varying) = Varying::of(config, sites, base) {
            return Hearers { kind: Kind::Varying(Box::new(varying)), lists: none(), known };
        }
        let floor_w = config.floor_w();
        let is_alike = |site: &Site| site.position.is_none() && site.strength >= 1.0;
        if sites.iter().all(is_alike) && config.flat_power_w >= floor_w {
            let power_w = config.flat_power_w;
            let all = (0..sites.len() as u32).map(|station| Neighbour { station, power_w }).collect();
            return Hearers { kind: Kind::Alike(power_w), lists: vec![all], known: vec![true; sites.len()] };
        }
        let points = sites.iter().map(|site| site.position.map(|(x, y)| (x.0, y.0))).collect();
        let strengths = sites.iter().map(|site| site.strength).collect();
        let standing = Standing { config: config.clone(), floor_w, points, strengths };
        Hearers { kind: Kind::Standing(Box::new(standing)), lists: none(), known }
    }

    /// Whether nothing changes who hears whom.
    pub(super) fn stay(&self) -> bool {
        !matches!(self.kind, Kind::Varying(_))
    }

    /// Updates the list of a station that begins to send.
    #[inline]
    pub(super) fn refresh(&mut self, station: usize, now: Time) {
        if !self.known[station] {
            self.renew(station, now);
        }
    }

    #[inline(never)]
    fn renew(&mut self, station: usize, now: Time) {
        match &mut self.kind {
            Kind::Alike(_) => {}
            Kind::Standing(standing) => {
                self.known[station] = true;
                self.lists[station] = standing.list(station);
            }
            Kind::Varying(varying) => varying.refresh(station, now, &mut self.lists[station]),
        }
    }

    /// Those that hear a station that has sent, in order of their number; the station itself may be among them.
    #[inline]
    pub(super) fn of(&self, station: usize) -> &[Neighbour] {
        match self.kind {
            Kind::Alike(_) => &self.lists[0],
            Kind::Standing(_) | Kind::Varying(_) => &self.lists[station],
        }
    }

    /// How one station hears another that all others hear.
    #[inline]
    pub(super) fn between(&self, from: usize, at: usize) -> Neighbour {
        let place = match self.kind {
            Kind::Alike(_) => at,
            Kind::Standing(_) | Kind::Varying(_) => at - usize::from(at > from),
        };
        self.of(from)[place]
    }

    /// The power at which one station hears the frames of another, W, since that last began to send one where it
    /// changes; 0 if it is negligible.
    pub(super) fn power_w(&self, from: usize, at: usize) -> f64 {
        match &self.kind {
            Kind::Alike(power_w) => {
                if from == at {
                    0.0
                } else {
                    *power_w
                }
            }
            Kind::Standing(standing) if !self.known[from] => standing.power_w(from, at).unwrap_or(0.0),
            Kind::Standing(_) | Kind::Varying(_) => {
                let neighbours = &self.lists[from];
                let place = neighbours.binary_search_by_key(&(at as u32), |neighbour| neighbour.station);
                place.map_or(0.0, |place| neighbours[place].power_w)
            }
        }
    }
}

impl Standing {
    /// The power at which a station hears another, if it is not negligible.
    fn power_w(&self, from: usize, at: usize) -> Option<f64> {
        let power_w = self.strengths[from] * mean_power_w(&self.config, self.points[from], self.points[at]);
        (from != at && power_w >= self.floor_w).then_some(power_w)
    }

    fn list(&self, from: usize) -> Vec<Neighbour> {
        let heard =
            |at: usize| self.power_w(from, at).map(|power_w| Neighbour { station: at as u32, power_w });
        let mut list: Vec<Neighbour> = (0..self.points.len()).filter_map(heard).collect();
        list.shrink_to_fit();
        list
    }
}
