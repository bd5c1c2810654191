//! LLE-TCP: the ARQ snoop agent, which acknowledges TCP data when the link's own acknowledgement has arrived.
//!
//! **Limits.** An acknowledgement says "delivered to the next hop", not "received by TCP". Paper mode breaks with a
//! slow or dead receiver, with a server that speaks first, with loss above the MAC and with data both ways: a standard
//! TCP drops a segment without ACK (RFC 9293, 3.10.7.4). Safe mode repairs what is lost above the MAC, and a receiver
//! that dies leaves at most one window acknowledged falsely, which is counted. Both ends of the hop need an agent that
//! saw the connection begin; a flow that one of them refused for want of room is acknowledged once in half a window or
//! when the time to hold is over. Each repeat of a receiver that lacks data goes over the air, since the other end cannot
//! know which of them tell of a loss above the link; a narrow receive window is told each half. Where a receiver that
//! speaks without SACK has what the link gave up, a repair too many is possible. Flows with ECN or a header extension
//! are left alone. Nothing here sees into an encrypted transport.
//!
//! **Source.** Kliazovich and Granelli, "A cross-layer scheme for TCP performance improvement in wireless LANs",
//! University of Trento DIT-04-025, 2004: sections II.B and II.C.
//!
//! **How.** A data segment for a node one hop away is noted on its way down and, when the link says `Delivered`, a
//! plain TCP acknowledgement of all that was delivered without a hole goes up, towards its sender. At the other end of
//! the hop the acknowledgement that the receiver's TCP makes of the same data stays off the air.
//!
//! ```text
//!    network   data │   ▲ acknowledgement           ▲ data    │ acknowledgement: stays here,
//!     agent         ▼   │ made here                 │         ▼ or passes if it tells more
//!      link     data ──►  PACK_DELIVERED  ···hop··► data
//! ```
//!
//! In safe mode, with E the highest acknowledgement number plus window that the receiver ever sent:
//! `ack <= E` and `window = E - ack`.
//!
//! **Choices.** 1. The acknowledgement is cumulative; what is delivered beyond a hole gives a duplicate, with SACK if
//! negotiated (both modes). 2. No reaction to `Undelivered`; [`OnUndelivered`] has two. 3. Paper mode gives the bytes
//! of the window last seen, in the scale in force; it never acknowledges a FIN and lets the acknowledgement of one
//! pass, or no connection would end. 4. Safe mode passes an acknowledgement that is not redundant: of the handshake, a
//! FIN, a repeated number, of a hole, with SACK, of a small window, or when the credit told is under half the window; the
//! newest one held back goes after 40 ms without another, or later on a flow whose own are further apart. 5. What
//! passes is not forwarded but folded into the next one made, since an old number would be ignored with its window; a
//! wider window alone waits for one that is due. 6. Segments are kept until the receiver itself acknowledges them, and
//! sent again when it says nothing, or shows that it lacks what the link had delivered: by acknowledging what was
//! delivered later, or a repeat that no delivery explains. 7. Flags and numbers of
//! data that goes the other way are left as they are. 8. Probes of all kinds are answered by the receiver alone.
//!
//! **Checked by** `lle_tcp/tests.rs`: one test a rule, and connections over a faulty hop in both modes.

mod config;
mod confirm;
mod copies;
mod deadlines;
mod evidence;
mod filter;
mod flow;
mod generator;
mod parameters;
mod reply;
mod silence;
mod spacing;
#[cfg(test)]
mod tests;

pub use config::{AckScheme, Config, Counters, Criterion, Mode, OnUndelivered};

use super::flows::{Key, Table};
use crate::hooks::{Agent, AgentOut};
use crate::packet::{Body, Flags, Packet, Segment};
use crate::signal::Signal;
use crate::units::Time;
use deadlines::Deadlines;
use filter::Fate;
use flow::{Flow, Turn, is_beyond_it};

/// The ARQ snoop agent of one interface.
#[derive(Clone, Debug)]
pub struct LleTcp {
    config: Config,
    flows: Table<Key, Flow>,
    deadlines: Deadlines,
    timer: Option<Time>,
    counters: Counters,
}

impl LleTcp {
    /// An agent that knows no flow yet.
    #[must_use]
    pub fn new(config: Config) -> LleTcp {
        LleTcp {
            config,
            flows: Table::default(),
            deadlines: Deadlines::default(),
            timer: None,
            counters: Counters::default(),
        }
    }

    /// What it has done so far, and what it holds.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let unconfirmed = self.flows.iter().map(Flow::unconfirmed).sum();
        Counters { unconfirmed, flows: self.flows.len() as u64, ..self.counters }
    }

    /// The flow a segment belongs to, if the agent acts for it, and the side that sent it. Begins and ends flows.
    fn flow_of(&mut self, packet: &Packet, segment: &Segment, now: Time) -> Option<(u32, usize)> {
        let (key, side) = Key::of(packet, segment);
        let found = self.flows.find(&key);
        if is_beyond_it(segment) || segment.flags.has(Flags::RST) {
            self.forget(found);
            return None;
        }
        if segment.flags.has(Flags::SYN) {
            self.on_syn(key, found, Flow::new(key, side, segment, now), side, segment);
            return None;
        }
        found.map(|number| (number, side))
    }

    /// A SYN begins a flow, also one whose ports were used before, or answers it. It always passes.
    fn on_syn(&mut self, key: Key, found: Option<u32>, fresh: Flow, side: usize, segment: &Segment) {
        if segment.flags.has(Flags::ACK) {
            if let Some(flow) = found.and_then(|number| self.flows.get_mut(number)) {
                let before = flow.bytes();
                flow.on_answer(side, segment, &self.config);
                let after = flow.bytes();
                self.account(before, after);
            }
            return;
        }
        if found
            .and_then(|number| self.flows.get_mut(number))
            .is_some_and(|flow| flow.began_with(side, segment))
        {
            return;
        }
        self.forget(found);
        if !fresh.is_wanted(&self.config) {
            return;
        }
        if self.flows.len() >= self.config.max_flows {
            self.counters.flows_refused += 1;
            return;
        }
        let bytes = fresh.bytes();
        let deadline = fresh.deadline(&self.config);
        let number = self.flows.insert(key, fresh);
        self.deadlines.want(number, deadline);
        self.counters.flows_max = self.counters.flows_max.max(self.flows.len() as u64);
        self.account(0, bytes);
    }

    /// Lets a flow act, and notes what it weighs and when it wants to be called afterwards.
    fn turn<O: AgentOut, R>(
        &mut self,
        number: u32,
        now: Time,
        out: &mut O,
        act: impl FnOnce(&mut Flow, &mut Turn<'_, O>) -> R,
    ) -> Option<R> {
        let flow = self.flows.get_mut(number)?;
        let before = flow.bytes();
        let counters = &mut self.counters;
        let result = act(flow, &mut Turn { now, config: &self.config, counters, out });
        let (after, over) = (flow.bytes(), flow.is_over());
        self.deadlines.want(number, flow.deadline(&self.config));
        self.account(before, after);
        if over {
            self.forget(Some(number));
        }
        self.arm(out);
        Some(result)
    }

    fn account(&mut self, before: u64, after: u64) {
        self.counters.state_bytes = self.counters.state_bytes + after - before;
        self.counters.state_bytes_max = self.counters.state_bytes_max.max(self.counters.state_bytes);
    }

    fn forget(&mut self, number: Option<u32>) {
        if let Some(number) = number
            && let Some(flow) = self.flows.remove(number)
        {
            self.deadlines.remove(number);
            self.counters.never_confirmed += flow.unconfirmed();
            self.account(flow.bytes(), 0);
        }
    }

    /// Sets the one timer to the first deadline.
    fn arm(&mut self, out: &mut impl AgentOut) {
        let first = self.deadlines.first();
        if first != self.timer {
            self.timer = first;
            match first {
                Some(at) => out.set_timer(at),
                None => out.cancel_timer(),
            }
        }
    }
}

impl Agent for LleTcp {
    fn down(&mut self, packet: Packet, now: Time, out: &mut impl AgentOut) {
        let mut fate = Fate::Pass;
        if let Body::Tcp(segment) = &packet.body {
            match self.flow_of(&packet, segment, now) {
                Some((number, side)) => {
                    let judged =
                        self.turn(number, now, out, |flow, turn| flow.down(side, &packet, segment, turn));
                    fate = judged.unwrap_or(Fate::Pass);
                }
                None => self.arm(out),
            }
        }
        if fate == Fate::Pass {
            out.down(packet);
        }
    }

    fn up(&mut self, packet: Packet, now: Time, out: &mut impl AgentOut) {
        if let Body::Tcp(segment) = &packet.body {
            if let Some((number, side)) = self.flow_of(&packet, segment, now) {
                self.turn(number, now, out, |flow, turn| flow.up(side, packet, segment, turn));
                return;
            }
            self.arm(out);
        }
        out.up(packet);
    }

    fn on_signal(&mut self, signal: Signal, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        // What the link has not tried is not acknowledged, and TCP finds the loss.
        if signal != Signal::Refused
            && let Body::Tcp(segment) = &packet.body
        {
            let (key, side) = Key::of(packet, segment);
            if let Some(number) = self.flows.find(&key) {
                self.turn(number, now, out, |flow, turn| flow.on_signal(side, signal, packet, segment, turn));
            }
        }
    }

    fn on_timer(&mut self, now: Time, out: &mut impl AgentOut) {
        self.timer = None;
        while let Some(number) = self.deadlines.pop(now) {
            let idle = self.flows.get_mut(number).is_some_and(|flow| flow.idle_at(&self.config) <= now);
            if idle {
                self.forget(Some(number));
            } else {
                self.turn(number, now, out, Flow::on_timer);
            }
        }
        self.arm(out);
    }
}
