//! All connections that an agent traces, "from the establishment of a TCP connection until its termination"
//! (lle-tcp/II.B.3), with its only timer and its counters.

use super::super::deadlines::{Alarm, Deadlines};
use super::super::flows::{Key, Table};
use super::config::{Config, Counters};
use super::connection::{Connection, Half, is_beyond_it};
use crate::hooks::{AgentOut, Exported};
use crate::packet::{Body, Flags, NodeId, Packet, Segment};
use crate::units::Time;

/// The context of one call into the agent.
#[derive(Debug)]
pub(in super::super) struct Turn<'a, O> {
    pub(in super::super) now: Time,
    pub(in super::super) config: &'a Config,
    pub(in super::super) counters: &'a mut Counters,
    pub(in super::super) out: &'a mut O,
}

/// The connections of one interface.
#[derive(Clone, Debug)]
pub(in super::super) struct Connections<H: Half> {
    config: Config,
    table: Table<Key, Connection<H>>,
    deadlines: Deadlines,
    alarm: Alarm,
    counters: Counters,
}

impl<H: Half> Connections<H> {
    pub(in super::super) fn new(config: Config) -> Connections<H> {
        Connections {
            config,
            table: Table::default(),
            deadlines: Deadlines::default(),
            alarm: Alarm::default(),
            counters: Counters::default(),
        }
    }

    pub(in super::super) fn counters(&self) -> Counters {
        let unconfirmed = self.table.iter().map(Connection::unconfirmed).sum();
        Counters { unconfirmed, flows: self.table.len() as u64, ..self.counters }
    }

    /// What the agent does for each direction of each connection.
    pub(in super::super) fn halves(&self) -> impl Iterator<Item = &H> {
        self.table.iter().flat_map(|connection| &connection.halves)
    }

    /// A packet passes in either direction, and may begin or end a connection. If the agent acts for its connection,
    /// calls `act` with the side that sent the segment.
    pub(in super::super) fn trace<O: AgentOut, A>(
        &mut self,
        packet: &Packet,
        now: Time,
        out: &mut O,
        act: impl FnOnce(&mut Connection<H>, usize, &Segment, &mut Turn<'_, O>) -> A,
    ) -> Option<A> {
        let Body::Tcp(segment) = &packet.body else {
            return None;
        };
        let Some((number, side)) = self.find(packet, segment, now) else {
            self.alarm.arm(self.deadlines.first(), out);
            return None;
        };
        self.turn(number, now, out, |connection, turn| {
            connection.on_segment(side, segment, now);
            act(connection, side, segment, turn)
        })
    }

    /// Passes a packet to the link. Marks a SYN and data of a connection that this agent does not trace. The agent at the
    /// other end of the hop would otherwise expect this one to acknowledge data, or to suppress acknowledgements.
    pub(in super::super) fn pass_down(&self, packet: &Packet, out: &mut impl AgentOut) {
        if let Body::Tcp(segment) = &packet.body
            && segment.sequence_len() > 0
        {
            let (key, side) = Key::of(packet, segment);
            let criterion = &self.config.criterion;
            let suppresses = segment.flags.has(Flags::SYN) && criterion.is_behind(key.end(side).0);
            if (suppresses || criterion.is_ahead(key.end(1 - side).0)) && self.table.find(&key).is_none() {
                let flags = segment.flags.with(Flags::REFUSED);
                return out.down(&Packet { body: Body::Tcp(Segment { flags, ..*segment }), ..*packet });
            }
        }
        out.down(packet);
    }

    /// Passes a packet to the network layer, without the mark of the agent at the other end of the hop.
    pub(in super::super) fn pass_up(packet: &Packet, out: &mut impl AgentOut) {
        out.up(unmarked(packet).as_ref().unwrap_or(packet));
    }

    /// Lets a connection act, if it is known.
    pub(in super::super) fn with<O: AgentOut, A>(
        &mut self,
        key: &Key,
        now: Time,
        out: &mut O,
        act: impl FnOnce(&mut Connection<H>, &mut Turn<'_, O>) -> A,
    ) -> Option<A> {
        let number = self.table.find(key)?;
        self.turn(number, now, out, act)
    }

    /// The link reports the fate of a packet.
    pub(in super::super) fn on_signal<O: AgentOut>(
        &mut self,
        packet: &Packet,
        now: Time,
        out: &mut O,
        act: impl FnOnce(&mut Connection<H>, usize, &Segment, &mut Turn<'_, O>),
    ) {
        if let Body::Tcp(segment) = &packet.body {
            let (key, side) = Key::of(packet, segment);
            if let Some(number) = self.table.find(&key) {
                self.turn(number, now, out, |connection, turn| act(connection, side, segment, turn));
            }
        }
    }

    /// The timer fired: forgets connections that were idle for too long, and calls `act` on the halves of those whose
    /// deadline may have passed.
    pub(in super::super) fn on_timer<O: AgentOut>(
        &mut self,
        now: Time,
        out: &mut O,
        act: impl Fn(&mut H, &mut Turn<'_, O>),
    ) {
        self.alarm.rang();
        while let Some(number) = self.deadlines.pop(now) {
            if self.table.get_mut(number).is_some_and(|connection| connection.idle_at(&self.config) <= now) {
                self.forget(Some(number));
            } else {
                self.turn(number, now, out, |connection, turn| {
                    connection.halves.iter_mut().for_each(|half| act(half, turn));
                });
            }
        }
        self.alarm.arm(self.deadlines.first(), out);
    }

    /// The node restarts: forgets all connections. What they withheld will not be sent any more.
    pub(in super::super) fn restart(&mut self, out: &mut impl AgentOut) {
        for number in self.table.numbers_of(None) {
            self.forget(Some(number));
        }
        self.counters.held = 0;
        self.alarm.arm(self.deadlines.first(), out);
    }

    /// A node leaves: removes and returns what the agent does for the data to it, or, if it is this agent's own node, for
    /// all its data.
    pub(in super::super) fn export(&mut self, mobile: NodeId, out: &mut impl AgentOut) -> Option<Exported>
    where
        H: Send + 'static,
    {
        let is_own = self.config.criterion.is_behind(mobile);
        let mut parts = Vec::new();
        for number in self.table.numbers_of(Some(mobile)) {
            let Some(connection) = self.table.get_mut(number) else { continue };
            let before = connection.bytes();
            let part = connection.part_for(mobile, is_own);
            let (after, acts) = (connection.bytes(), connection.acts());
            self.account(before, after);
            let held = part.halves.iter().filter(|half| half.holds()).count() as u64;
            self.counters.suppressed -= held;
            self.counters.held -= held;
            parts.push(part);
            if !acts {
                self.forget(Some(number));
            }
        }
        self.alarm.arm(self.deadlines.first(), out);
        let bytes = parts.iter().map(Connection::bytes).sum();
        (!parts.is_empty()).then(|| Exported { bytes, state: Box::new(parts) })
    }

    /// The state of a node's connections has arrived, also where there is room for no other: what was acknowledged depends on
    /// it. A connection that has begun here on the same ports takes precedence.
    pub(in super::super) fn import<O: AgentOut>(
        &mut self,
        exported: Exported,
        now: Time,
        out: &mut O,
        arrive: impl Fn(&mut H, &mut Turn<'_, O>),
    ) where
        H: 'static,
    {
        let Ok(parts) = exported.state.downcast::<Vec<Connection<H>>>() else { return };
        for part in *parts {
            let key = part.key();
            let number = self.table.find(&key).unwrap_or_else(|| self.enter(part.without_halves()));
            self.turn(number, now, out, |connection, turn| {
                connection.join(part, now, |half| {
                    let held = u64::from(half.holds());
                    turn.counters.suppressed += held;
                    turn.counters.held += held;
                    arrive(half, turn);
                });
            });
        }
    }

    /// The connection of a segment, if the agent acts for it, and the side that sent the segment.
    fn find(&mut self, packet: &Packet, segment: &Segment, now: Time) -> Option<(u32, usize)> {
        let (key, side) = Key::of(packet, segment);
        let found = self.table.find(&key);
        if is_beyond_it(segment) || segment.flags.has(Flags::RST) {
            self.forget(found);
            return None;
        }
        if segment.flags.has(Flags::SYN) {
            self.on_syn(found, Connection::new(key, side, segment, now), side, segment);
            return None;
        }
        found.map(|number| (number, side))
    }

    /// A SYN begins a connection, possibly on reused ports, or answers another SYN. It always passes.
    fn on_syn(&mut self, found: Option<u32>, fresh: Connection<H>, side: usize, segment: &Segment) {
        let mut known = found.and_then(|number| self.table.get_mut(number));
        if let Some(connection) = &mut known {
            connection.last_packet = fresh.last_packet;
        }
        if segment.flags.has(Flags::ACK) {
            if let Some(connection) = known {
                let before = connection.bytes();
                connection.on_answer(side, segment, &self.config);
                let after = connection.bytes();
                self.account(before, after);
            }
            return;
        }
        if known.is_some_and(|connection| connection.began_with(side, segment)) {
            return;
        }
        self.forget(found);
        if !fresh.is_wanted(&self.config) {
            return;
        }
        if self.table.len() >= self.config.max_flows {
            self.counters.flows_refused += 1;
            return;
        }
        self.enter(fresh);
    }

    fn enter(&mut self, connection: Connection<H>) -> u32 {
        let (bytes, deadline) = (connection.bytes(), connection.deadline(&self.config));
        let number = self.table.insert(connection.key(), connection);
        self.deadlines.want(number, deadline);
        self.counters.flows_max = self.counters.flows_max.max(self.table.len() as u64);
        self.account(0, bytes);
        number
    }

    /// Lets a connection act, and then updates its state size and its deadline.
    fn turn<O: AgentOut, A>(
        &mut self,
        number: u32,
        now: Time,
        out: &mut O,
        act: impl FnOnce(&mut Connection<H>, &mut Turn<'_, O>) -> A,
    ) -> Option<A> {
        let connection = self.table.get_mut(number)?;
        let before = connection.bytes();
        let counters = &mut self.counters;
        let result = act(connection, &mut Turn { now, config: &self.config, counters, out });
        let (after, over) = (connection.bytes(), connection.is_over());
        self.deadlines.want(number, connection.deadline(&self.config));
        self.account(before, after);
        if over {
            self.forget(Some(number));
        }
        self.alarm.arm(self.deadlines.first(), out);
        Some(result)
    }

    fn account(&mut self, before: u64, after: u64) {
        self.counters.state_bytes = self.counters.state_bytes + after - before;
        self.counters.state_bytes_max = self.counters.state_bytes_max.max(self.counters.state_bytes);
    }

    fn forget(&mut self, number: Option<u32>) {
        if let Some(number) = number
            && let Some(connection) = self.table.remove(number)
        {
            self.deadlines.remove(number);
            self.counters.never_confirmed += connection.unconfirmed();
            self.account(connection.bytes(), 0);
        }
    }
}

/// A packet without the mark of the agent at the other end of the hop, if it has one.
pub(in super::super) fn unmarked(packet: &Packet) -> Option<Packet> {
    let Body::Tcp(segment) = &packet.body else { return None };
    segment.flags.has(Flags::REFUSED).then(|| {
        let flags = segment.flags.without(Flags::REFUSED);
        Packet { body: Body::Tcp(Segment { flags, ..*segment }), ..*packet }
    })
}
