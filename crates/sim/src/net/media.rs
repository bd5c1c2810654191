//! The links whose stations share a medium: 802.11 links and slotted networks.

use super::Net;
use super::slotted::{self, Frn, FrnEvent};
use super::wlan::{self, Wlan, WlanEvent};

impl Net {
    /// An event of a medium is due.
    pub(crate) fn on_wlan(&mut self, wlan: u32, event: WlanEvent) {
        self.with_wlan(wlan as usize, |wlan, host| wlan.on_event(event, host));
    }

    /// A slot of a slotted network is due to end or to begin.
    pub(crate) fn on_frn(&mut self, frn: u32, event: FrnEvent) {
        self.with_frn(frn as usize, |frn, host| frn.on_event(event, host));
    }

    pub(super) fn with_frn(&mut self, frn: usize, act: impl FnOnce(&mut Frn, &mut slotted::Host)) {
        let mut host = slotted::Host {
            queue: &mut self.queue,
            pool: &mut self.pool,
            inbox: &mut self.inbox,
            agents: &mut self.agents,
            ports: self.ports,
            losses: &mut self.losses,
            accounts: &mut self.accounts,
            routes: &self.routes,
            tracer: &mut self.tracer,
            now: self.now,
        };
        act(&mut self.frns[frn], &mut host);
    }

    pub(super) fn with_wlan(&mut self, wlan: usize, act: impl FnOnce(&mut Wlan, &mut wlan::Host)) {
        let mut host = wlan::Host {
            queue: &mut self.queue,
            pool: &mut self.pool,
            inbox: &mut self.inbox,
            agents: &mut self.agents,
            losses: &mut self.losses,
            accounts: &mut self.accounts,
            routes: &self.routes,
            tracer: &mut self.tracer,
            timers: self.timers.as_deref_mut(),
            below: self.below.as_deref_mut(),
            now: self.now,
        };
        act(&mut self.wlans[wlan], &mut host);
    }
}
