//! The links whose stations share a medium: 802.11 links and slotted networks.

use super::slotted::{self, Frn, FrnEvent};
use super::wlan::{self, Wlan, WlanEvent};
use super::{Net, NetEvent};

/// The most events of a medium that follow one at once: between two steps, the run finds out whether it is cancelled.
const AT_ONCE: u64 = 64;

impl Net {
    /// An event of a medium is due. Further events of the same medium follow at once, as crossings do, as long as the
    /// run would process them next: no packet was passed up, and no other event is due earlier.
    pub(crate) fn on_wlan(&mut self, number: u32, event: WlanEvent) {
        self.lend(number as usize);
        let (horizon, channels) = (self.horizon, self.channels.len());
        let (wlan, mut host, events) = self.wlan_and_host(number as usize);
        let (mut event, mut followed) = (event, 0);
        loop {
            wlan.on_event(event, &mut host);
            if followed == AT_ONCE || !host.inbox.is_empty() || wlan.reaches_out() {
                break;
            }
            let Some((time, slot)) = host.queue.peek() else { break };
            match events.get((slot.0 as usize).wrapping_sub(channels)) {
                Some(&NetEvent::Wlan(of, next)) if of == number && time < horizon => event = next,
                _ => break,
            }
            followed += 1;
            host.now = time;
            host.queue.set_clock(time);
        }
        self.now = host.now;
        self.lend(number as usize);
        self.crossings += followed;
        self.relay(number as usize);
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
            outside: self.outside.as_deref(),
            now: self.now,
        };
        act(&mut self.frns[frn], &mut host);
    }

    #[inline]
    pub(super) fn with_wlan(&mut self, wlan: usize, act: impl FnOnce(&mut Wlan, &mut wlan::Host)) {
        self.lend(wlan);
        let (medium, mut host, _) = self.wlan_and_host(wlan);
        act(medium, &mut host);
        self.lend(wlan);
        self.relay(wlan);
    }

    /// A link of multi-link devices borrows the management of their queues from the first one, or gives it back.
    #[inline]
    fn lend(&mut self, wlan: usize) {
        if let Some(of) = self.wlans[wlan].guest_of()
            && let Ok([first, guest]) = self.wlans.get_disjoint_mut([of, wlan])
        {
            guest.exchange_managements(first);
        }
    }

    /// The other links of multi-link devices follow the changes at the stations of a medium.
    #[inline]
    fn relay(&mut self, wlan: usize) {
        if !self.devices.is_empty() {
            self.relay_changes(wlan);
        }
    }

    #[inline(never)]
    fn relay_changes(&mut self, wlan: usize) {
        while let Some(device) = self.wlans[wlan].next_changed() {
            for other in 0..self.wlans.len() {
                let is_theirs = self.wlans[other].devices().is_some_and(|devices| devices.contains(&device));
                if other != wlan && is_theirs {
                    self.lend(other);
                    let (link, mut host, _) = self.wlan_and_host(other);
                    link.notice(device, &mut host);
                    self.lend(other);
                    self.relay_changes(other);
                }
            }
        }
    }

    /// A medium, the network around it, and what the slots after those of the channels are for.
    #[inline]
    fn wlan_and_host(&mut self, wlan: usize) -> (&mut Wlan, wlan::Host<'_>, &[NetEvent]) {
        let host = wlan::Host {
            queue: &mut self.queue,
            pool: &mut self.pool,
            inbox: &mut self.inbox,
            agents: &mut self.agents,
            losses: &mut self.losses,
            accounts: &mut self.accounts,
            routes: &self.routes,
            devices: &mut self.devices,
            tracer: &mut self.tracer,
            timers: self.timers.as_deref_mut(),
            below: self.below.as_deref_mut(),
            outside: self.outside.as_deref(),
            now: self.now,
        };
        (&mut self.wlans[wlan], host, &self.events)
    }
}
