//! The agents in front of a channel.

use lasthop_stack::signal::Signal;

use super::{Around, Handed, Stack};
use crate::net::Net;
use crate::net::exits::Exit;

impl Net {
    /// The timer of an agent is due.
    pub(crate) fn on_agent(&mut self, stack: u32, seat: u32) {
        let seat = seat as usize;
        match self.agents.stack(stack).exit {
            Exit::Channel(channel) => {
                self.with_agents(stack, channel, |agents, around| agents.on_timer(seat, around));
            }
            Exit::Station { wlan, station } => self.with_wlan(wlan as usize, |wlan, host| {
                wlan.on_agent_timer(station as usize, seat, host);
            }),
            Exit::Slotted { frn, station } => self.with_frn(frn as usize, |frn, host| {
                frn.on_agent_timer(station as usize, seat, host);
            }),
        }
    }

    /// Lets the agents in front of a channel act, and sends what they pass down. A wire reports packets that it drops.
    pub(in crate::net) fn with_agents(
        &mut self,
        stack: u32,
        channel: u32,
        act: impl FnOnce(&mut Stack, &mut Around),
    ) {
        self.let_act(stack, act);
        self.settle(stack, channel);
    }

    /// Sends what agents have passed down, and reports the drops of the channel to them, until nothing is left.
    pub(in crate::net) fn settle(&mut self, stack: u32, channel: u32) {
        loop {
            if let Some(packet) = self.refused.pop_front() {
                self.let_act(stack, |agents, around| agents.on_signal(Signal::Refused, &packet, around));
            } else if let Some((packet, is_ahead)) = self.handed_down.pop_front() {
                let size = packet.size();
                let id = self.pool.insert_sized(packet, size);
                let sequence = self.queue.next_sequence();
                if is_ahead {
                    self.offer_ahead(channel as usize, id, sequence);
                } else {
                    self.offer(channel as usize, id, size, self.now, sequence);
                }
            } else {
                return;
            }
        }
    }

    fn let_act(&mut self, stack: u32, act: impl FnOnce(&mut Stack, &mut Around)) {
        let handed_down = &mut self.handed_down;
        let mut around = Around {
            queue: &mut self.queue,
            inbox: &mut self.inbox,
            accounts: &mut self.accounts,
            tracer: &mut self.tracer,
            ports: self.ports,
            now: self.now,
            to_link: &mut |handed| match handed {
                Handed::Last(packet) => handed_down.push_back((packet, false)),
                Handed::Ahead(packet) => handed_down.push_back((packet, true)),
                Handed::Ride(..) | Handed::RideBehind(..) | Handed::Unload(_) => {}
            },
        };
        act(self.agents.stack(stack), &mut around);
    }
}
