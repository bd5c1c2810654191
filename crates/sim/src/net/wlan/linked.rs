//! Stations that are multi-link devices: their MACs on this link have what their links have in common only while something
//! happens to them.

use lasthop_stack::link::dot11::{Frame, Mpdu};
use lasthop_stack::packet::NodeId;
use lasthop_stack::registry::Station;

use super::{Host, Wlan};

/// A link of multi-link devices that is not their first one: the number of the medium of that, and its stations there.
pub(super) struct Guest {
    pub(super) of: usize,
    pub(super) stations: Box<[usize]>,
}

impl Wlan {
    /// The devices that its stations are, if it is a link of multi-link devices.
    #[inline]
    pub(in crate::net) fn devices(&self) -> Option<&[u32]> {
        self.devices.as_deref()
    }

    /// Whether the node of a receiver is no longer on this medium. Multi-link devices stay, and reach each other on some link.
    pub(super) fn has_left(&self, node: NodeId) -> bool {
        self.devices.is_none() && self.radio.station(node).is_none()
    }

    /// The medium that has the management of the queues of its stations, by its number, if that is another one.
    pub(in crate::net) fn guest_of(&self) -> Option<usize> {
        self.guest.as_ref().map(|guest| guest.of)
    }

    /// Borrows the management of the queues of its stations, or gives it back.
    pub(in crate::net) fn exchange_managements(&mut self, with: &mut Wlan) {
        let theirs = self.guest.iter().flat_map(|guest| &guest.stations);
        for (site, &station) in self.sites.iter_mut().zip(theirs) {
            std::mem::swap(&mut site.management, &mut with.sites[station].management);
        }
    }

    /// A device of which the other links have to know something.
    pub(in crate::net) fn next_changed(&mut self) -> Option<u32> {
        self.changed.pop()
    }

    /// Another link of a device, if it is on this one too, has got packets, or has finished some.
    pub(in crate::net) fn notice(&mut self, device: u32, host: &mut Host) {
        let mut devices = self.devices().into_iter().flatten();
        let Some(station) = devices.position(|one| *one == device) else { return };
        self.with_mac(station, host, NodeId::default(), |mac, now, out| {
            if let Station::Edca(mac) = mac {
                mac.notice(now, out);
            }
        });
        self.settle(host);
    }

    /// Something happens to a station.
    #[inline]
    pub(super) fn take_agreements(&mut self, station: usize, host: &mut Host) {
        if let Some(devices) = &self.devices {
            let common = &mut host.devices[devices[station] as usize];
            if let Station::Edca(mac) = &mut self.sites[station].mac {
                mac.take_agreements(common, host.now);
            }
        }
    }

    /// It has happened. Returns whether the number of packets may be another one.
    #[inline]
    pub(super) fn return_agreements(&mut self, station: usize, host: &mut Host) -> bool {
        let Some(devices) = &self.devices else { return false };
        let device = devices[station];
        if let Station::Edca(mac) = &mut self.sites[station].mac
            && mac.return_agreements(&mut host.devices[device as usize])
        {
            self.changed.push(device);
        }
        true
    }

    /// The medium has lost packets for good: those of a frame of this station, or of some of its MPDUs.
    #[inline]
    pub(super) fn note_lost_for_good(&mut self, station: usize, sent: (&Frame, &[Mpdu]), host: &mut Host) {
        self.take_agreements(station, host);
        self.sites[station].mac.on_lost_for_good(sent);
        self.return_agreements(station, host);
    }
}
