//! Stations at rest: in a cell in which every station receives all others, a frame costs as much as the stations that have
//! something to do.
//!
//! **How**: the radio and the MACs leave out the stations at rest (see `medium::radio::followers`, `dot11::bystander`). All
//! follow while frames overlap. A station is dismissed at the end of a frame, if its state is that of a bystander.

use lasthop_stack::link::dot11::{BROADCAST, Frame};
use lasthop_stack::packet::NodeId;
use lasthop_stack::units::Time;

use super::Wlan;

impl Wlan {
    /// Something happens to a station: it follows the medium.
    #[inline]
    pub(super) fn rouse(&mut self, station: usize) {
        if self.sites[station].rests {
            self.wake(station);
        }
    }

    #[cold]
    #[inline(never)]
    fn wake(&mut self, station: usize) {
        self.radio.follow(station);
        let site = &mut self.sites[station];
        site.rests = false;
        if let Some(bystander) = &self.bystander {
            site.mac.catch_up(bystander);
        }
    }

    /// A frame to a node is about to begin where stations may rest: those follow to which it means something else than to
    /// a bystander.
    pub(super) fn rouse_for(&mut self, receiver: NodeId) {
        if !self.radio.is_silent() || receiver == BROADCAST {
            if self.radio.any_rests() {
                (0..self.sites.len()).for_each(|station| self.rouse(station));
            }
            self.bystander = None;
        } else if let Some(station) = self.radio.station(receiver) {
            self.rouse(station);
        }
    }

    /// A frame has begun.
    #[inline]
    pub(super) fn pass_by(&mut self, now: Time) {
        if let Some(bystander) = &mut self.bystander {
            bystander.on_busy(now);
        }
    }

    /// A frame has ended on a medium where stations may rest: removes the stations that rest.
    pub(super) fn dismiss(&mut self, frame: &Frame, now: Time) {
        if !self.radio.is_silent() {
            return;
        }
        let Wlan { radio, sites, bystander, rules, .. } = self;
        if let Some(bystander) = bystander {
            bystander.on_frame(frame, now, rules);
        }
        radio.dismiss(|station| {
            let site = &mut sites[station];
            if bystander.is_none() {
                *bystander = site.mac.at_rest();
            }
            site.rests = bystander.as_ref().is_some_and(|bystander| site.mac.rests_as(bystander));
            site.rests
        });
    }
}
