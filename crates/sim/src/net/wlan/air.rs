//! Stations whose frames come from a MAC layer outside: that of a Linux kernel, which hands them over with the rates of each.
//!
//! **How.** A frame is a packet of its length, whose bytes are kept by its number. It waits, contends and is repeated as any
//! other. What the station did with it, and who received it, wait here until [`Wlan::take_news`].
//!
//! **Choices.** 1. The header of a frame counts as that of the link's data frames; what is longer or shorter belongs to the
//! payload, which has no less than no bytes. 2. What a simulated station receives of such frames has no content for it, and is
//! dropped.

use lasthop_stack::hooks::DropCause;
use lasthop_stack::link::dot11::{Category, Frame, Msdu, Outcome, PhyRate, Plan, Tries};
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::units::Time;

use super::answers::Work;
use super::classes::class_of;
use super::{Host, Wlan};
use crate::model::WifiConfig;
use crate::net::pool::PoolId;

/// The most frames that a station holds, of all categories. `mac80211_hwsim` discards frames once 200 wait for their status.
const MOST_HELD: usize = 196;

/// A frame that a station outside hands to its radio.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handover {
    /// Its receiver.
    pub(crate) to: NodeId,
    /// Its bytes, with the check sequence.
    pub(crate) bytes: u32,
    /// At which rates it is sent.
    pub(crate) plan: Plan,
    /// Its access category, and whether an agreement of block acknowledgement covers it, with EDCA.
    pub(crate) category: Category,
    pub(crate) is_covered: bool,
}

/// What happened to the frames of stations outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum News {
    /// A station outside has received a frame.
    Heard {
        /// The station.
        at: NodeId,
        /// The number of the frame.
        number: u32,
        /// The rate at which it came.
        rate: PhyRate,
        /// Its power in dBm.
        signal_dbm: Option<f64>,
        /// When.
        when: Time,
    },
    /// A station has sent a frame for the last time, or has not accepted it.
    Sent {
        /// The number of the frame.
        number: u32,
        /// Whether it was acknowledged, or needed no acknowledgement.
        is_delivered: bool,
        /// How often it was sent at each rate.
        tries: Tries,
        /// When.
        when: Time,
    },
}

/// The stations outside of a link.
#[derive(Debug, Default)]
pub(super) struct Air {
    /// Whether each station is outside, by its number.
    is_outside: Vec<bool>,
    news: Vec<News>,
}

impl Air {
    /// The stations outside of a link; `None` if there are none.
    pub(super) fn of(wifi: &WifiConfig) -> Option<Box<Air>> {
        let is_outside: Vec<bool> = wifi.nodes.iter().map(|node| wifi.outer.contains(node)).collect();
        is_outside.contains(&true).then(|| Box::new(Air { is_outside, news: Vec::new() }))
    }
}

impl Wlan {
    /// The station of a node, if its frames come from outside.
    pub(in crate::net) fn outer_station(&self, node: NodeId) -> Option<usize> {
        let station = self.radio.station(node)?;
        self.air.as_ref()?.is_outside[station].then_some(station)
    }

    /// A station outside hands over a frame.
    pub(in crate::net) fn hand_over(
        &mut self,
        station: usize,
        id: PoolId,
        frame: &Handover,
        host: &mut Host,
    ) {
        host.pool.stamp(id, host.now);
        host.enters(id, self.sites[station].node);
        let body = self.rules.config.header + self.rules.config.fcs + self.rules.config.llc;
        let msdu = Msdu {
            handle: id.handle(),
            bytes: frame.bytes.saturating_sub(body),
            next: frame.to,
            class: class_of(host.pool.packet(id)),
            category: frame.category,
            flow: None,
        };
        let (number, when) = (host.pool.packet(id).id, host.now);
        let mut taken = false;
        self.with_mac(station, host, frame.to, |mac, now, out| {
            taken = mac.backlog() < MOST_HELD
                && mac.enqueue_planned(msdu, (frame.plan, frame.is_covered), now, out);
        });
        if taken {
            self.count_held(station, host.now);
        } else {
            self.tell(News::Sent { number, is_delivered: false, tries: Tries::default(), when });
            self.drop_queued(station, id, DropCause::Full, host);
        }
        self.settle(host);
    }

    /// A frame to all has ended, which its station has released before others have passed it up: that comes last.
    pub(super) fn release_last(&mut self, frame: &Frame) {
        let is_release = |work: &Work| match work {
            Work::Done(_, id, _) => frame.msdu == Some(id.handle()),
            _ => false,
        };
        if let Some(place) = self.work.iter().position(is_release) {
            self.work[place..].rotate_left(1);
        }
    }

    /// A station is done with a packet: if it is a frame from outside, that is news.
    pub(super) fn note_sent(&mut self, station: usize, id: PoolId, outcome: Outcome, host: &Host) {
        if let Some(tries) = self.sites[station].mac.take_tries(id.handle()) {
            let (number, when) = (host.pool.packet(id).id, host.now);
            self.tell(News::Sent { number, is_delivered: outcome == Outcome::Delivered, tries, when });
        }
    }

    /// A station passes up a packet. Returns whether that is a frame from outside, which no simulated layer receives.
    pub(super) fn note_heard(&mut self, station: usize, packet: &Packet, now: Time) -> bool {
        let Some(from) = self.outer_station(packet.src) else { return false };
        let at = self.sites[station].node;
        if self.outer_station(at).is_some() {
            let rate = self.sites[from].output.on_air.0.rate;
            let signal_dbm = self.radio.power_dbm(from, station);
            self.tell(News::Heard { at, number: packet.id, rate, signal_dbm, when: now });
        }
        true
    }

    fn tell(&mut self, news: News) {
        if let Some(air) = &mut self.air {
            air.news.push(news);
        }
    }

    /// What has happened since the last call, in order.
    pub(in crate::net) fn take_news(&mut self, into: &mut Vec<News>) {
        if let Some(air) = &mut self.air {
            into.append(&mut air.news);
        }
    }
}
