//! Stations that are multi-link devices: their MACs on this link have what their links have in common only while something
//! happens to them.

use lasthop_stack::link::dot11::Mpdu;
use lasthop_stack::packet::NodeId;

use super::{Host, Wlan};

impl Wlan {
    /// The first of its multi-link devices, if it is one of their links.
    #[inline]
    pub(in crate::net) fn devices(&self) -> Option<u32> {
        self.devices
    }

    /// A station of which the other links have to know something.
    pub(in crate::net) fn next_changed(&mut self) -> Option<u32> {
        self.changed.pop()
    }

    /// Another link of the device of a station has got packets, or has finished some.
    pub(in crate::net) fn notice(&mut self, station: usize, host: &mut Host) {
        self.with_mac(station, host, NodeId::default(), |mac, now, out| mac.notice(now, out));
        self.settle(host);
    }

    /// Something happens to a station.
    #[inline]
    pub(super) fn take_agreements(&mut self, station: usize, host: &mut Host) {
        if let Some(first) = self.devices {
            self.sites[station].mac.take_agreements(&mut host.devices[first as usize + station]);
        }
    }

    /// It has happened. Returns whether the number of packets may be another one.
    #[inline]
    pub(super) fn return_agreements(&mut self, station: usize, host: &mut Host) -> bool {
        let Some(first) = self.devices else { return false };
        if self.sites[station].mac.return_agreements(&mut host.devices[first as usize + station]) {
            self.changed.push(station as u32);
        }
        true
    }

    /// The medium has lost packets for good: those of a frame of this station, or of some of its MPDUs.
    #[inline]
    pub(super) fn note_lost_for_good(&mut self, station: usize, mpdus: &[Mpdu], host: &mut Host) {
        self.take_agreements(station, host);
        self.sites[station].mac.on_lost_for_good(mpdus);
        self.return_agreements(station, host);
    }
}
