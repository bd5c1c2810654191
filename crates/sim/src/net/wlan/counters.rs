//! The counters of an 802.11 link.

use lasthop_stack::link::dot11::EdcaCounters;
use lasthop_stack::registry::Station;
use lasthop_stack::units::{Span, Time};

use super::{ArqCounters, Interface, Wlan};
use crate::medium::radio::FrameCounters;
use crate::net::aqm::{AqmCounters, sum};
use crate::probe::airtime::Shares;
use crate::probe::occupancy::Occupancy;
use crate::probe::spread::{Spread, Summary};

/// The counters of a medium since the start.
#[derive(Clone, Debug, Default)]
pub(crate) struct WlanCounters {
    pub(crate) frames: FrameCounters,
    pub(crate) drops_queue: u64,
    pub(crate) drops_retry: u64,
    pub(crate) drops_above: u64,
    /// Of the managed queues of all stations.
    pub(crate) aqm: AqmCounters,
    /// Of the observing station, as are the queue and the waits there.
    pub(crate) service: Spread,
    pub(crate) queue: Occupancy,
    /// Whether that is full, as 0 or 1; `None` if that is not known.
    pub(crate) full: Option<Occupancy>,
    /// Of the measured time only.
    pub(crate) waits: Summary,
    pub(crate) airtime: Shares,
    /// Of the access point only.
    pub(crate) arq: ArqCounters,
    /// Of all stations, with EDCA.
    pub(crate) edca: EdcaCounters,
    /// Airtime of the stations on the way to their access point.
    pub(crate) uplink: Span,
}

impl Wlan {
    /// The measurement begins.
    pub(crate) fn begin_measurement(&mut self) {
        self.queue.begin_measurement();
        self.waits.clear();
        self.sites.iter_mut().for_each(Interface::begin_measurement);
    }

    /// Whether the observer senses the frames of a station.
    #[inline]
    pub(super) fn is_sensed(&mut self, station: usize) -> bool {
        if let Some(sensed) = self.sites[station].is_sensed {
            return sensed;
        }
        let sensed = self.radio.senses(station, self.observer);
        self.sites[station].is_sensed = self.radio.stays().then_some(sensed);
        sensed
    }

    /// The counters of the medium and its stations up to now.
    pub(crate) fn counters(&self, now: Time) -> WlanCounters {
        let observed = &self.sites[self.observer];
        let service = observed.counters.service;
        let has_limit = observed.management.stage.is_none() && self.rules.config.buffer.is_none();
        let full = has_limit.then(|| self.full.up_to(now));
        let airtime = self.ledger.clone().finish(now);
        let (queue, waits) = (self.queue.up_to(now), self.waits.summary());
        let aqms = self.sites.iter().flat_map(Interface::managements);
        let aqm = sum(aqms);
        let uplink = self.uplink.0;
        let mut all =
            WlanCounters { aqm, service, queue, full, waits, airtime, uplink, ..WlanCounters::default() };
        for (station, interface) in self.sites.iter().enumerate() {
            let frames = self.radio.counters(station);
            all.frames.sent += frames.sent;
            all.frames.received += frames.received;
            all.frames.errored += frames.errored;
            all.frames.cut_off += frames.cut_off;
            all.frames.collided += frames.collided;
            all.frames.out_of_reach += frames.out_of_reach;
            all.drops_queue += interface.counters.drops_queue;
            all.drops_retry += interface.counters.drops_retry;
            all.drops_above += interface.counters.lost_above;
            if let Station::Edca(mac) = &interface.mac {
                all.edca = all.edca.with(mac.edca_counters());
            }
            if self.ap == Some(station) {
                all.arq = ArqCounters::of(&interface.mac);
            }
        }
        all
    }
}
