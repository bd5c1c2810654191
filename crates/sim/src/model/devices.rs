//! The links of multi-link devices, which have the queue and the management of their first one.

use super::{Config, WifiConfig};

impl Config {
    /// The first link of the multi-link devices whose link is at this place.
    #[must_use]
    pub fn first_link(&self, place: usize) -> Option<usize> {
        let others = || self.wifi().filter(|(_, wifi)| wifi.multi_link.is_some());
        let of = others().find(|(other, _)| *other == place).and_then(|(_, wifi)| wifi.multi_link);
        of.or_else(|| others().any(|(_, wifi)| wifi.multi_link == Some(place)).then_some(place))
    }

    /// The first link of the devices that are stations of a link, and the station of one of them on it.
    #[must_use]
    pub fn first_station(&self, place: usize, station: usize) -> (usize, usize) {
        let first = self.first_link(place).unwrap_or(place);
        let node = self.links[place].nodes().get(station);
        let there = self.links[first].nodes().iter().position(|one| Some(one) == node);
        (first, there.unwrap_or(station))
    }

    /// The media of the devices that are stations of a link.
    pub fn media_of(&self, place: usize) -> impl Iterator<Item = &WifiConfig> {
        let first = self.first_link(place).unwrap_or(place);
        let is_theirs = move |of: usize| of == first || self.first_link(of) == Some(first);
        self.wifi().filter(move |(of, _)| is_theirs(*of)).map(|(_, wifi)| wifi)
    }
}
