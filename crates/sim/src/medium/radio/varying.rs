//! Powers that change with time: which stations hear a frame is told anew when one of the gains does.
//!
//! A station has a list of those that may ever hear it. Nothing is looked at while no gain on its list has changed, and a
//! medium on which none can change has no such list at all.

use lasthop_stack::units::Time;

use super::config::RadioConfig;
use super::draws::StreamBase;
use super::fading::{Gain, Process};
use super::{Neighbour, Site, mean_power_w};

/// The gains of all pairs of stations.
#[derive(Clone, Debug)]
pub(super) struct Varying {
    shadowing: Option<Process>,
    fading: Option<Process>,
    floor_w: f64,
    /// Those that may hear each station.
    lists: Vec<List>,
}

#[derive(Clone, Debug)]
struct List {
    candidates: Vec<Candidate>,
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

impl Varying {
    /// The gains of a medium, or `None` when its powers stay what they are.
    pub(super) fn of(config: &RadioConfig, sites: &[Site], base: &StreamBase) -> Option<Varying> {
        let shadowing = config.shadowing.as_ref().map(Process::shadowing);
        let fading = config.fading.as_ref().map(Process::fading);
        let most: f64 = [&shadowing, &fading].into_iter().flatten().map(Process::most).product();
        if shadowing.is_none() && fading.is_none() {
            return None;
        }
        let floor_w = config.floor_w();
        let candidate = |from: usize, at: usize| {
            let mean_w = mean_power_w(config, &sites[from], &sites[at]);
            (mean_w * most >= floor_w).then(|| {
                let gain = |process: &Process, purpose: &str| {
                    let (low, high) = (&sites[from.min(at)].name, &sites[from.max(at)].name);
                    let name = format!("links.{}.{low}.{high}.{purpose}", base.link);
                    process.gain(base.seed, base.replication, &name)
                };
                Candidate {
                    station: at as u32,
                    mean_w,
                    shadowing: shadowing.as_ref().map(|process| gain(process, "shadowing")),
                    fading: fading.as_ref().map(|process| gain(process, "multipath")),
                }
            })
        };
        let list = |from: usize| {
            let others = (0..sites.len()).filter(|at| *at != from);
            List { candidates: others.filter_map(|at| candidate(from, at)).collect(), until: Time::ZERO }
        };
        Some(Varying { shadowing, fading, floor_w, lists: (0..sites.len()).map(list).collect() })
    }

    /// Brings those that hear `station` up to date, at a time not before that of the last call for it.
    #[inline]
    pub(super) fn refresh(&mut self, station: usize, now: Time, heard_by: &mut Vec<Neighbour>) {
        if now >= self.lists[station].until {
            self.redraw(station, now, heard_by);
        }
    }

    fn redraw(&mut self, station: usize, now: Time, heard_by: &mut Vec<Neighbour>) {
        let list = &mut self.lists[station];
        list.until = Time::NEVER;
        heard_by.clear();
        for candidate in &mut list.candidates {
            let mut power_w = candidate.mean_w;
            for (process, gain) in
                [(&self.shadowing, &mut candidate.shadowing), (&self.fading, &mut candidate.fading)]
            {
                if let (Some(process), Some(gain)) = (process, gain) {
                    process.update(gain, now);
                    power_w *= gain.factor;
                    list.until = list.until.min(gain.until);
                }
            }
            if power_w >= self.floor_w {
                heard_by.push(Neighbour { station: candidate.station, power_w });
            }
        }
    }
}
