//! The stations that follow the medium.
//!
//! **How**: suppose that every station receives all others, nothing changes that, and no frame is lost by chance. A
//! frame that is alone on the air then means the same to all but its receiver. The receivers of stations that have
//! nothing to do need not follow it. Before a second frame begins, the host lets all stations follow
//! ([`Radio::follow`](super::Radio::follow)).

use super::Neighbour;
use super::config::{RadioConfig, Reception};
use super::hearers::Hearers;
use super::receiver::Rules;
use super::{Site, mean_power_w};

/// Who follows.
#[derive(Clone, Debug)]
pub(super) struct Followers {
    /// In order of their number.
    stations: Vec<u32>,
    /// The number of all, including the resting ones.
    all: usize,
    /// The followers as they hear `speaker`, if the list is up to date.
    audience: Vec<Neighbour>,
    speaker: Option<u32>,
    /// After how many more frames it is worth asking who may rest, and how many it was the last time.
    pause: u32,
    pauses: u32,
}

/// So few stations are visited faster than it takes to know whom to visit.
const FEWEST: usize = 6;
/// In frames.
const LONGEST_PAUSE: u32 = 63;

impl Followers {
    /// All stations, if every station receives all others.
    pub(super) fn of(config: &RadioConfig, rules: &Rules, sites: &[Site]) -> Option<Followers> {
        let is_one_cell =
            sites.len() >= FEWEST && weakest_w(config, sites) >= threshold_w(rules).max(config.floor_w());
        is_one_cell.then(|| Followers {
            stations: (0..sites.len() as u32).collect(),
            all: sites.len(),
            audience: Vec::with_capacity(sites.len()),
            speaker: None,
            pause: 0,
            pauses: 0,
        })
    }

    /// How those that follow hear a station, in order of their number.
    #[inline(never)]
    pub(super) fn among(&mut self, hearers: &Hearers, from: usize) -> &[Neighbour] {
        if self.speaker == Some(from as u32) {
            return &self.audience;
        }
        self.speaker = Some(from as u32);
        let others = self.stations.iter().map(|&at| at as usize).filter(|&at| at != from);
        self.audience.clear();
        self.audience.extend(others.map(|at| hearers.between(from, at)));
        &self.audience
    }

    pub(super) fn are_all(&self) -> bool {
        self.stations.len() == self.all
    }

    pub(super) fn add(&mut self, station: usize) {
        if let Err(place) = self.stations.binary_search(&(station as u32)) {
            self.stations.insert(place, station as u32);
            self.speaker = None;
        }
    }

    /// Dismisses those that may rest. It does not ask each time if few of many may: then most contend.
    pub(super) fn dismiss(&mut self, mut may_rest: impl FnMut(usize) -> bool) {
        if self.pause > 0 {
            self.pause -= 1;
            return;
        }
        self.speaker = None;
        let before = self.stations.len();
        self.stations.retain(|&station| !may_rest(station as usize));
        let is_worth_it = before < 2 * FEWEST || self.stations.len() < before / 2;
        self.pauses = if is_worth_it { 0 } else { (2 * self.pauses + 1).min(LONGEST_PAUSE) };
        self.pause = self.pauses;
    }
}

/// A frame from this power on is received where no other is on the air.
fn threshold_w(rules: &Rules) -> f64 {
    let by_noise = match rules.reception {
        Reception::Sinr { least } => least.max(rules.preamble.unwrap_or(0.0)),
        Reception::Ns2 { .. } | Reception::Capture { .. } => rules.preamble.unwrap_or(0.0),
    };
    rules.lock_w.max(rules.receive_w).max(rules.sense_w).max(by_noise * rules.noise_w)
}

/// A power at which all stations hear each other at least: that from one corner of the area to the opposite one.
fn weakest_w(config: &RadioConfig, sites: &[Site]) -> f64 {
    let least = sites.iter().fold(1.0, |least: f64, site| least.min(site.strength));
    let mut weakest = f64::INFINITY;
    let mut corners: Option<[(f64, f64); 2]> = None;
    for site in sites {
        let Some((x, y)) = site.position.map(|(x, y)| (x.0, y.0)) else {
            weakest = config.flat_power_w;
            continue;
        };
        let [low, high] = corners.unwrap_or([(x, y); 2]);
        corners = Some([(low.0.min(x), low.1.min(y)), (high.0.max(x), high.1.max(y))]);
    }
    least * corners.map_or(weakest, |[low, high]| weakest.min(mean_power_w(config, Some(low), Some(high))))
}
