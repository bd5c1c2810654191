//! TCP-aware dynamic ARQ: orders link retransmissions by the time left until the TCP sender's timer expires.
//!
//! **Limits.** The link must know the TCP timing of each packet's flow ([`Timing`]). Units are reordered, so packets
//! may arrive out of order. Strict priority starves units: one that was repeated twice waits until no other unit is
//! held, unless its timer is about to expire. The check of the heads misses units behind a head that have a longer
//! round trip.
//!
//! **Source.** Mahmoodi, Friderikos, Holland and Aghvami, "Cross-Layer Design to Improve Wireless TCP Performance with
//! Link-Layer Adaptation", VTC 2007 Fall, from its slides; line numbers are those of its Algorithm 1.
//!
//! **How.** A unit that is not acknowledged has a weight, in milliseconds, computed from the number of retransmissions
//! n and the time RTO until the timer of its packet's sender expires. The weight selects its queue, and the time its
//! position there:
//!
//! ```text
//!     w = 10^4 · n + RTO        Q1: n = 0    Q2: n = 1    Q3: n = 2    n = 3: drop
//! ```
//!
//! A head whose time is less than two round trips of its flow is served first; otherwise Q1, then Q2, then Q3.
//!
//! **Controls.** The same fragments, limit and deferral in orders that ignore TCP. With `time = "none"`, each of the
//! three queues is served in the order in which units came to it, and with `queues = "one"` there is one such queue.
//! With `queues = "flows"`, a failed unit stays the first of its flow while flows are served in turn.
//!
//! **Choices.** 1. RTO is the time *left* (`time = "left"`); the timeout itself, which is at least 0.2 s or 1 s, is
//! rarely less than two round trips. The order by time left does not change as time passes, so units are kept in heaps
//! and move only when a timer restarts. 2. Of several urgent heads the one with the least time left is served; ties
//! prefer fewer retransmissions, and within a queue the older unit. 3. New units are also in Q1 (`order = "together"`),
//! as "every packet not acknowledged" says. If retransmissions precede all new data (`order =
//! "retransmissions-first"`), a link that sends one frame at a time never holds more than one unit, so there is nothing
//! to order. In the third reading new data precedes units that are not urgent (`order = "new-first"`). 4. Units that
//! cannot be acknowledged in time are still sent, unless `hopeless` says otherwise. 5. The slides do not say how an
//! access point knows RTT and RTO: an oracle provides them (`timing = "oracle"`), or the access point estimates them
//! ([`estimate`]). 6. The station has one contention window and one count of retries for all units: see
//! `link/dot11/retries.rs`. 7. Q2 and Q3 wait until the queues before them are empty (`priority = "strict"`), or one
//! unit of each queue is served in turn (`priority = "pass"`). 8. A lifetime limit instead of n = 3 is enforced by the
//! link (`limit = "none"`).
//!
//! **Checked by** Algorithm 1 line by line on queues made by hand, in `dynamic_arq/tests.rs`.

mod config;
pub mod estimate;
mod options;
mod queue;
#[cfg(test)]
mod tests;

pub use config::{Config, TimingSource};
pub use estimate::Estimator;
pub use options::{Check, Clock, Deadline, Hopeless, Limit, Options, Order, Priority, Queues};

use crate::hooks::{
    Arq, ArqVerdict, Choice, Count, Head, MOST_UNITS, Newcomer, QUEUES, Reason, Timing, Unit, Waiting, counts,
};
use crate::units::{Span, Time};
use queue::{Key, Ordered};

/// The weight of one retransmission, in milliseconds.
const STEP_MS: u64 = 10_000;
/// The longest time that a weight can hold, so that it never counts as a retransmission.
pub const LONGEST: Span = Span::from_millis(STEP_MS - 1);
/// A unit is urgent if its time is less than this number of round trips.
const URGENT_ROUND_TRIPS: u64 = 2;

/// The weight of a unit: the slides' w.
#[must_use]
pub fn weight(retransmissions: u8, time: Span) -> u64 {
    STEP_MS * u64::from(retransmissions) + time.min(LONGEST).0 / 1_000_000
}

/// The counters of the scheme since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Units served because their timer was about to fire.
    pub urgent: u64,
    /// Services at which a unit was urgent but no head was, so the check of the heads missed it.
    pub urgent_missed: u64,
    /// Units sent too late for their sender's timer.
    pub hopeless_sent: u64,
    /// Units discarded, after the third retransmission or as hopeless.
    pub dropped: u64,
}

/// The timing of a flow, and its units.
#[derive(Clone, Debug)]
struct FlowState {
    timing: Timing,
    units: Vec<u32>,
    /// The turn at which it was last served.
    turn: u64,
}

/// Where a unit is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Nowhere,
    Queue(u8),
    /// Behind all queues.
    Demoted,
}

/// A unit and its position.
#[derive(Clone, Copy, Debug)]
struct Slot {
    unit: Unit,
    held: Held,
    /// Its index among the units of its flow.
    place: u32,
    /// Number of arrivals before it: failed units, and packets of which nothing has failed yet.
    came: u64,
}

/// The scheme at one station.
#[derive(Clone, Debug, Default)]
pub struct DynamicArq {
    options: Options,
    flows: Vec<FlowState>,
    /// Indexed by the place of the packet times [`MOST_UNITS`], plus the number of the unit.
    slots: Vec<Option<Slot>>,
    /// Q1 to Q3.
    queues: [Ordered; QUEUES],
    demoted: Ordered,
    /// The units of the three queues, by the time at which they become urgent.
    urgency: Ordered,
    /// Number of packets and failed units that came, and for each packet the number that came before it.
    came: u64,
    packets: Vec<u64>,
    /// Number of turns of flows.
    turns: u64,
    /// The queue that is next in a pass.
    pass: usize,
    counters: Counters,
}

impl DynamicArq {
    /// A scheme that holds nothing.
    #[must_use]
    pub fn new(options: Options) -> DynamicArq {
        DynamicArq { options, ..DynamicArq::default() }
    }

    /// The counters since the start.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Line 9: a unit whose time is less than two round trips of its flow.
    fn urgent(&mut self, now: Time) -> Option<u32> {
        if !self.options.knows_timers() {
            return None;
        }
        let heads = self.queues.iter().filter_map(|queue| queue.first().map(|(_, id)| id));
        let urgent_head =
            heads.filter(|id| self.urgent_from(*id) < now.0).min_by_key(|id| self.urgency_order(*id));
        match self.options.check {
            Check::All => self.urgency.below(now.0).min_by_key(|id| self.urgency_order(*id)),
            Check::Heads => {
                let any = self.urgency.first().is_some_and(|((from, _), _)| from < now.0);
                self.counters.urgent_missed += u64::from(any && urgent_head.is_none());
                urgent_head
            }
        }
    }

    /// The order of urgent units: the least time first; among equals, the fewest retransmissions first.
    fn urgency_order(&self, id: u32) -> (u64, u8, u64) {
        let (time, age) = self.key(id);
        (time, self.unit(id).retransmissions(), age)
    }

    /// The key of a unit in its queue (lines 5 to 7): its time, then its age.
    fn key(&self, id: u32) -> Key {
        let Slot { unit, came, .. } = self.slot(id);
        let time = match (self.options.queues, self.options.clock) {
            (Queues::Three, Clock::Left) => self.fires(unit).0,
            (Queues::Three, Clock::Rto) => self.timing(unit.flow).rto.min(LONGEST).0,
            (Queues::Three, Clock::None) | (Queues::One, _) => *came,
            (Queues::Flows, _) => self.flows[unit.flow as usize].turn,
        };
        (time, unit.serial * u64::from(MOST_UNITS) + u64::from(unit.fragment))
    }

    /// When a unit becomes urgent.
    fn urgent_from(&self, id: u32) -> u64 {
        let unit = self.unit(id);
        let timing = self.timing(unit.flow);
        let near = timing.rtt * URGENT_ROUND_TRIPS;
        match self.options.clock {
            Clock::Left if self.fires(unit) == Time::NEVER => u64::MAX,
            Clock::Left => self.fires(unit).0.saturating_sub(near.0),
            Clock::Rto if timing.rto < near => 0,
            Clock::Rto | Clock::None => u64::MAX,
        }
    }

    /// When the timer fires that sets a unit's deadline.
    fn fires(&self, unit: &Unit) -> Time {
        match self.options.deadline {
            Deadline::OfFlow => self.timing(unit.flow).fires_at,
            Deadline::OfPacket => unit.fires_at,
        }
    }

    /// Whether a unit's acknowledgement cannot arrive before the timer fires.
    fn is_hopeless(&self, unit: &Unit, now: Time) -> bool {
        self.options.knows_timers() && self.fires(unit).since(now).0 < self.timing(unit.flow).rtt.0 / 2
    }

    /// Demotes or removes hopeless heads. Returns one that is to be discarded.
    fn settle_hopeless(&mut self, now: Time) -> Option<Unit> {
        for queue in 0..QUEUES {
            while let Some((key, id)) = self.queues[queue].first()
                && self.is_hopeless(self.unit(id), now)
            {
                match self.options.hopeless {
                    Hopeless::Send => break,
                    Hopeless::Drop => return self.release(id),
                    Hopeless::Demote => {
                        self.queues[queue].remove(id);
                        self.urgency.remove(id);
                        self.demoted.insert(id, key);
                        self.slot_mut(id).held = Held::Demoted;
                    }
                }
            }
        }
        None
    }

    /// Puts a unit that is in no queue into the queue of its weight.
    fn place(&mut self, id: u32) {
        let queue = match self.options.queues {
            Queues::Three => self.unit(id).retransmissions().min(QUEUES as u8 - 1),
            Queues::One | Queues::Flows => 0,
        };
        let key = self.key(id);
        self.queues[usize::from(queue)].insert(id, key);
        if self.options.knows_timers() {
            self.urgency.insert(id, (self.urgent_from(id), key.1));
        }
        self.slot_mut(id).held = Held::Queue(queue);
    }

    /// The position of a unit in the order of arrival: a fragment that was never sent arrived with its packet; a failed
    /// one arrives now.
    fn arrival(&mut self, unit: &Unit) -> u64 {
        let packet = unit.packet as usize;
        if unit.sent == 0 && unit.fragment > 0 {
            return self.packets[packet];
        }
        let came = self.came;
        self.came += 1;
        if unit.sent == 0 {
            if self.packets.len() <= packet {
                self.packets.resize(packet + 1, 0);
            }
            self.packets[packet] = came;
        }
        came
    }

    /// Moves the units of a flow to their current positions.
    fn place_anew(&mut self, flow: u32) {
        for place in 0..self.flows[flow as usize].units.len() {
            let id = self.flows[flow as usize].units[place];
            self.displace(id);
            self.place(id);
        }
    }

    /// Lines 8 and 10: the first of Q1, then of Q2, then of Q3.
    fn turn(&mut self) -> Option<u32> {
        let first = match self.options.priority {
            Priority::Strict => 0,
            Priority::Pass => self.pass,
        };
        let mut order = (first..QUEUES).chain(0..first);
        let (queue, id) = order.find_map(|queue| self.queues[queue].first().map(|(_, id)| (queue, id)))?;
        self.pass = (queue + 1) % QUEUES;
        Some(id)
    }

    /// Removes a unit from its queue.
    fn displace(&mut self, id: u32) {
        match self.slot_mut(id).held {
            Held::Queue(queue) => {
                self.queues[usize::from(queue)].remove(id);
                self.urgency.remove(id);
            }
            Held::Demoted => {
                self.demoted.remove(id);
            }
            Held::Nowhere => {}
        }
        self.slot_mut(id).held = Held::Nowhere;
    }

    /// Releases a unit.
    fn release(&mut self, id: u32) -> Option<Unit> {
        self.slots.get(id as usize).copied().flatten()?;
        self.displace(id);
        let slot = self.slots[id as usize].take()?;
        let units = &mut self.flows[slot.unit.flow as usize].units;
        units.swap_remove(slot.place as usize);
        if let Some(&moved) = units.get(slot.place as usize) {
            self.slot_mut(moved).place = slot.place;
        }
        Some(slot.unit)
    }

    fn serve(&mut self, id: u32, reason: Reason, now: Time) -> Option<Choice> {
        let unit = self.release(id)?;
        if self.options.queues == Queues::Flows {
            self.turns += 1;
            self.flows[unit.flow as usize].turn = self.turns;
            self.place_anew(unit.flow);
        }
        self.counters.urgent += u64::from(reason == Reason::Urgent);
        self.counters.hopeless_sent += u64::from(self.is_hopeless(&unit, now));
        Some(Choice::Send(unit, reason))
    }

    fn unit(&self, id: u32) -> &Unit {
        &self.slot(id).unit
    }

    fn slot(&self, id: u32) -> &Slot {
        match &self.slots[id as usize] {
            Some(slot) => slot,
            None => unreachable!("queues hold units that are held"),
        }
    }

    fn slot_mut(&mut self, id: u32) -> &mut Slot {
        match &mut self.slots[id as usize] {
            Some(slot) => slot,
            None => unreachable!("queues hold units that are held"),
        }
    }

    fn timing(&self, flow: u32) -> &Timing {
        self.flows.get(flow as usize).map_or(&Timing::UNKNOWN, |flow| &flow.timing)
    }

    fn flow_mut(&mut self, flow: u32) -> &mut FlowState {
        let least = flow as usize + 1;
        if self.flows.len() < least {
            self.flows.resize(least, FlowState { timing: Timing::UNKNOWN, units: Vec::new(), turn: 0 });
        }
        &mut self.flows[flow as usize]
    }
}

impl Arq for DynamicArq {
    fn on_timing(&mut self, flow: u32, timing: Timing) {
        self.flow_mut(flow).timing = timing;
        if self.options.knows_timers() && self.options.deadline == Deadline::OfFlow {
            self.place_anew(flow);
        }
    }

    fn fires_at(&self, flow: u32) -> Time {
        self.timing(flow).fires_at
    }

    fn takes_new(&self) -> bool {
        self.options.queues != Queues::Three || self.options.order == Order::Together
    }

    fn hold(&mut self, unit: Unit) -> ArqVerdict {
        // Lines 1 to 3: the multiple of 10^4 in the weight selects Q1 to Q3. Line 4: drop.
        if self.options.limit == Limit::Count && usize::from(unit.retransmissions()) >= QUEUES {
            self.counters.dropped += 1;
            return ArqVerdict::GivenUp;
        }
        let id = unit.packet * MOST_UNITS + u32::from(unit.fragment);
        if self.slots.len() <= id as usize {
            self.slots.resize(id as usize + 1, None);
        }
        let units = &mut self.flow_mut(unit.flow).units;
        let place = units.len() as u32;
        units.push(id);
        let came = self.arrival(&unit);
        self.slots[id as usize] = Some(Slot { unit, held: Held::Nowhere, place, came });
        // Lines 5 to 7.
        self.place(id);
        ArqVerdict::Held
    }

    fn withdraw(&mut self, packet: u32, fragment: u8) -> Option<Unit> {
        self.release(packet * MOST_UNITS + u32::from(fragment))
    }

    fn next(&mut self, newcomer: Newcomer, now: Time) -> Option<Choice> {
        if let Some(unit) = self.settle_hopeless(now) {
            self.counters.dropped += 1;
            return Some(Choice::GiveUp(unit));
        }
        // Line 9: an urgent head first.
        if let Some(id) = self.urgent(now) {
            return self.serve(id, Reason::Urgent, now);
        }
        if newcomer == Newcomer::Waits && self.options.order != Order::RetransmissionsFirst {
            return Some(Choice::New);
        }
        if let Some(id) = self.turn() {
            return self.serve(id, Reason::Turn, now);
        }
        if newcomer == Newcomer::Waits {
            return Some(Choice::New);
        }
        let (_, id) = self.demoted.first()?;
        self.serve(id, Reason::Hopeless, now)
    }

    fn is_empty(&self) -> bool {
        self.demoted.is_empty() && self.queues.iter().all(Ordered::is_empty)
    }

    fn waiting(&self, now: Time) -> Waiting {
        let mut waiting = Waiting::default();
        for (number, queue) in self.queues.iter().enumerate() {
            waiting.units[number] = queue.len() as u32;
            waiting.heads[number] = queue.first().map(|(_, id)| {
                let unit = self.unit(id);
                let timing = self.timing(unit.flow);
                let left = match self.options.clock {
                    Clock::Left | Clock::None => self.fires(unit).since(now),
                    Clock::Rto => timing.rto,
                };
                Head { flow: unit.flow, left, rtt: timing.rtt }
            });
        }
        waiting
    }

    fn counts(&self) -> Vec<Count> {
        let Counters { urgent, urgent_missed, hopeless_sent, dropped } = self.counters;
        counts! {
            /// frames served because the timer of their sender was about to expire
            "urgent_served": "frames" = urgent;
            /// services at which a frame was urgent that was not the head of its queue, and no head was
            "urgent_missed": "turns" = urgent_missed;
            /// frames sent with less than half a round trip left until the timer of their sender
            "hopeless_sent": "frames" = hopeless_sent;
            /// frames given up, after the third retransmission or as hopeless, excluding other fragments of their
            /// packets
            "frames_dropped": "frames" = dropped;
        }
    }
}
