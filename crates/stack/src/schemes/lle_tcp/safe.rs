//! LLE-TCP that preserves TCP's end-to-end guarantees: one file per rule.
//!
//! Let E be the highest acknowledgement number plus window that the receiver ever sent. Each acknowledgement generated
//! here has `ack <= E` and `window = E - ack`.
//!
//! **Limits.** Each duplicate of a receiver without SACK that lacks data goes over the air, because the other end
//! cannot know which of them report a loss above the link. A small receive window is reported every half window. If a
//! receiver without SACK has data that the link discarded, one unnecessary repair is possible.
//!
//! **Choices.** 1. `edge.rs`: the right edge of the receiver is never extended. 2. `filter.rs`: an acknowledgement that
//! is not redundant passes. Such are those of the handshake, of a FIN, of a repeated number, with a small window, and
//! all when the credit passed on is less than half the window. Of those for a hole, it passes the first, one in
//! sixteen, and any whose list of SACK blocks is about to drop an unreported one. 3. `hold.rs`: the newest one withheld
//! is sent after 40 ms without another, or up to 150 ms on a flow whose acknowledgements are further apart. None may
//! arrive after a timeout of the sender. 4. `replies.rs`: an acknowledgement that arrives is not forwarded but merged
//! into the next one generated, because an old number would be ignored with its window. A wider window alone waits for
//! one that is due. Flags and numbers of data in the other direction are not changed. 5. `sack.rs`: SACK blocks combine
//! what the link delivered and what the receiver reports; `repeats.rs`: each duplicate goes up once. 6. `repair.rs`:
//! segments are stored (`copies.rs`) until the receiver itself acknowledges them. They are sent again when it is silent
//! (`silence.rs`), or shows that it lacks data that the link had delivered. It shows this by acknowledging data that
//! was delivered later, or by a repeat that no delivery explains (`evidence.rs`). 7. Only the receiver answers probes.
//! 8. At a hand-off the state moves with the node, its copies included. The first segment of the receiver then passes
//! unchanged, because the sender may have heard from it meanwhile. 9. While the agent at the other end does not know the
//! connection, because it has restarted or its state is on the way, it marks the data, and all acknowledgements pass.

mod copies;
mod edge;
mod evidence;
mod fields;
mod filter;
mod generator;
mod repair;
mod repeats;
mod replies;
mod sack;
mod silence;

use super::config::{Config, Counters};
use super::connection::{Half, Terms};
use super::connections::{Connections, Turn, unmarked};
use crate::hooks::{Activity, Agent, AgentOut, Exported};
use crate::packet::{Flags, NodeId, Packet, Segment};
use crate::signal::Signal;
use crate::state_bytes::state_bytes;
use crate::units::Time;
use filter::{Fate, Filter};
use generator::Generator;

/// The ARQ snoop agent of one interface, with the rules that an unmodified TCP needs.
#[derive(Clone, Debug)]
pub struct Safe {
    connections: Connections<Role>,
}

impl Safe {
    pub(super) fn new(config: Config) -> Safe {
        Safe { connections: Connections::new(config) }
    }

    pub(super) fn counters(&self) -> Counters {
        self.connections.counters()
    }
}

impl Agent for Safe {
    fn down(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        let fate = self.connections.trace(packet, now, out, |connection, side, segment, turn| {
            if let Role::Sender(generator) = &mut connection.halves[side] {
                generator.on_data(packet, segment, turn);
            }
            let ends = connection.acknowledges_fin(side, segment);
            match &mut connection.halves[1 - side] {
                Role::Receiver(filter) => filter.judge(packet, segment, ends, turn),
                Role::Passing(filter) => filter.pass(segment, turn),
                Role::None | Role::Sender(_) => Fate::Pass,
            }
        });
        match fate {
            Some(Fate::Stop) => {}
            Some(Fate::Pass) => out.down(packet),
            None => self.connections.pass_down(packet, out),
        }
    }

    fn up(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        let traced = self.connections.trace(packet, now, out, |connection, side, segment, turn| {
            connection.halves[side].on_data(segment, turn);
            let unmarked = unmarked(packet);
            let packet = unmarked.as_ref().unwrap_or(packet);
            match &mut connection.halves[1 - side] {
                Role::Sender(generator) => generator.on_reply(packet, segment, turn),
                Role::None | Role::Receiver(_) | Role::Passing(_) => turn.out.up(packet),
            }
        });
        if traced.is_none() {
            Connections::<Role>::pass_up(packet, out);
        }
    }

    fn on_signal(&mut self, signal: Signal, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        // Data that the link has not tried is not acknowledged, and TCP detects the loss.
        if signal == Signal::Refused {
            return;
        }
        self.connections.on_signal(packet, now, out, |connection, side, segment, turn| {
            if let Role::Sender(generator) = &mut connection.halves[side] {
                generator.on_signal(signal, packet, segment, turn);
            }
            if let Role::Receiver(filter) = &mut connection.halves[1 - side]
                && signal == Signal::Undelivered
            {
                filter.is_unknown();
            }
        });
    }

    fn on_timer(&mut self, now: Time, out: &mut impl AgentOut) {
        self.connections.on_timer(now, out, |role, turn| match role {
            Role::None | Role::Passing(_) => {}
            Role::Sender(generator) => generator.on_timer(turn),
            Role::Receiver(filter) => filter.on_timer(turn),
        });
    }

    fn restart(&mut self, _: Time, out: &mut impl AgentOut) {
        self.connections.restart(out);
    }

    fn export(&mut self, mobile: NodeId, _: Time, out: &mut impl AgentOut) -> Option<Exported> {
        self.connections.export(mobile, out)
    }

    fn import(&mut self, exported: Exported, now: Time, out: &mut impl AgentOut) {
        self.connections.import(exported, now, out, |role, turn| match role {
            Role::None => {}
            Role::Sender(generator) => generator.arrive(turn),
            Role::Receiver(filter) | Role::Passing(filter) => filter.arrive(turn),
        });
    }

    fn each_kept(&self, visit: &mut dyn FnMut(&Packet)) {
        for half in self.connections.halves() {
            if let Role::Sender(generator) = half {
                generator.each_copy(visit);
            }
        }
    }

    fn activity(&self) -> Activity {
        self.counters().activity()
    }
}

state_bytes! {
    /// The agent's side of the hop, for the data of one direction.
    #[derive(Clone, Debug, Default)]
    enum Role {
        #[default]
        None,
        Sender(Box<Generator>),
        Receiver(Box<Filter>),
        /// The receiver's side, while the agent at the other end does not acknowledge data.
        Passing(Box<Filter>),
    }
}

impl Role {
    /// A segment of the sender arrived over the link. Its mark says whether the agent at the other end acknowledges it.
    fn on_data<O: AgentOut>(&mut self, segment: &Segment, turn: &mut Turn<'_, O>) {
        let is_marked = segment.flags.has(Flags::REFUSED);
        if is_marked || matches!(self, Role::Passing(_)) {
            *self = match std::mem::take(self) {
                Role::Receiver(mut filter) if is_marked => {
                    filter.arrive(turn);
                    Role::Passing(filter)
                }
                Role::Passing(filter) if !is_marked && segment.len > 0 => Role::Receiver(filter),
                role => role,
            };
        }
        if let Role::Receiver(filter) | Role::Passing(filter) = self {
            filter.on_data(segment, turn.now);
        }
    }
}

impl Half for Role {
    fn sender(terms: Terms, config: &Config) -> Role {
        Role::Sender(Box::new(Generator::new(terms, config)))
    }

    fn receiver(terms: Terms) -> Role {
        Role::Receiver(Box::new(Filter::new(terms)))
    }

    fn deadline(&self) -> Time {
        match self {
            Role::None => Time::NEVER,
            Role::Sender(generator) => generator.deadline(),
            Role::Receiver(filter) | Role::Passing(filter) => filter.deadline(),
        }
    }

    fn unconfirmed(&self) -> u64 {
        if let Role::Sender(generator) = self { generator.unconfirmed() } else { 0 }
    }

    fn bytes(&self) -> u64 {
        match self {
            Role::None => 0,
            Role::Sender(generator) => generator.bytes(),
            Role::Receiver(filter) | Role::Passing(filter) => filter.bytes(),
        }
    }

    fn acts(&self) -> bool {
        !matches!(self, Role::None)
    }

    fn holds(&self) -> bool {
        matches!(self, Role::Receiver(filter) if filter.holds())
    }
}
