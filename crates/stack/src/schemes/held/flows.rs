//! The flows of a station, with their deadlines and memory.

use super::super::deadlines::Deadlines;
use super::super::flows::Table;
use crate::packet::{FlowKey, NodeId, Packet};
use crate::units::{Span, Time};

/// The state that a station holds for one flow.
pub(in super::super) trait Kept {
    /// When its last packet passed.
    fn last_packet(&self) -> Time;

    /// When it needs to be called.
    fn deadline(&self) -> Time;

    /// Bytes of state.
    fn bytes(&self) -> u64;

    /// The flow has moved here from another station; what is on the link was sent by that station.
    fn move_to(&mut self, now: Time);

    /// Visits the packets that are kept. By default there are none.
    fn each_packet(&self, _visit: &mut dyn FnMut(&Packet)) {}
}

/// Flows, keyed by the direction of their data.
#[derive(Clone, Debug)]
pub(in super::super) struct Flows<F> {
    table: Table<FlowKey, F>,
    deadlines: Deadlines,
    idle: Span,
    most: usize,
    bytes: u64,
    bytes_max: u64,
    refused: u64,
}

impl<F: Kept> Flows<F> {
    /// At most `most` flows; a flow without a packet for `idle` is forgotten.
    pub(in super::super) fn new(most: usize, idle: Span) -> Flows<F> {
        let (table, deadlines) = (Table::default(), Deadlines::default());
        Flows { table, deadlines, idle, most, bytes: 0, bytes_max: 0, refused: 0 }
    }

    /// Maximum number of bytes of state held at once.
    pub(in super::super) fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// Flows not handled because the table was full.
    pub(in super::super) fn refused(&self) -> u64 {
        self.refused
    }

    /// Visits the packets that are kept of all flows.
    pub(in super::super) fn each_packet(&self, visit: &mut dyn FnMut(&Packet)) {
        self.table.iter().for_each(|flow| flow.each_packet(visit));
    }

    /// The number of the flow to which this data belongs.
    #[inline]
    pub(in super::super) fn find(&self, key: &FlowKey) -> Option<u32> {
        self.table.find(key)
    }

    /// The same; an unknown flow is created if there is room.
    pub(in super::super) fn find_or_begin(&mut self, key: FlowKey, make: impl FnOnce() -> F) -> Option<u32> {
        if let Some(number) = self.table.find(&key) {
            return Some(number);
        }
        if self.table.len() >= self.most {
            self.refused += 1;
            return None;
        }
        Some(self.enter(key, make()))
    }

    fn enter(&mut self, key: FlowKey, flow: F) -> u32 {
        let (bytes, deadline) = (flow.bytes(), self.deadline(&flow));
        let number = self.table.insert(key, flow);
        self.deadlines.want(number, deadline);
        self.account(0, bytes);
        number
    }

    fn deadline(&self, flow: &F) -> Time {
        flow.deadline().min(flow.last_packet().after(self.idle))
    }

    fn account(&mut self, before: u64, after: u64) {
        self.bytes = self.bytes + after - before;
        self.bytes_max = self.bytes_max.max(self.bytes);
    }

    /// Runs `act` on a flow, then records the size and the deadline of the flow.
    pub(in super::super) fn act<A>(&mut self, number: u32, act: impl FnOnce(&mut F) -> A) -> Option<A> {
        let flow = self.table.get_mut(number)?;
        let before = flow.bytes();
        let result = act(flow);
        let after = flow.bytes();
        let deadline = flow.deadline().min(flow.last_packet().after(self.idle));
        self.deadlines.want(number, deadline);
        self.account(before, after);
        Some(result)
    }

    /// Forgets a flow.
    pub(in super::super) fn remove(&mut self, number: u32) -> Option<F> {
        let flow = self.table.remove(number)?;
        self.deadlines.remove(number);
        self.account(flow.bytes(), 0);
        Some(flow)
    }

    /// Forgets the flow to which this data belongs.
    pub(in super::super) fn forget(&mut self, key: &FlowKey) -> Option<F> {
        self.find(key).and_then(|number| self.remove(number))
    }

    /// Forgets all flows.
    pub(in super::super) fn clear(&mut self) {
        (self.table, self.deadlines, self.bytes) = (Table::default(), Deadlines::default(), 0);
    }

    /// Runs `act` on each flow whose deadline has passed; flows that have been idle for too long are forgotten.
    pub(in super::super) fn on_timer(&mut self, now: Time, mut act: impl FnMut(&mut F)) {
        while let Some(number) = self.deadlines.pop(now) {
            let Some(flow) = self.table.get_mut(number) else { continue };
            if now.since(flow.last_packet()) >= self.idle {
                self.remove(number);
            } else {
                self.act(number, &mut act);
            }
        }
    }

    /// A time no later than the earliest deadline.
    #[inline]
    pub(in super::super) fn first(&self) -> Option<Time> {
        self.deadlines.first()
    }

    /// Removes and returns the flows of a node that leaves.
    pub(in super::super) fn take_of(&mut self, node: NodeId) -> Vec<(FlowKey, F)> {
        let flows = self.table.take_of_numbered(node);
        flows
            .into_iter()
            .map(|(number, key, flow)| {
                self.deadlines.remove(number);
                self.account(flow.bytes(), 0);
                (key, flow)
            })
            .collect()
    }

    /// Inserts the flows of a node that has arrived. A flow created here in the meantime takes precedence. Returns the
    /// numbers of the flows inserted.
    pub(in super::super) fn put(&mut self, flows: Vec<(FlowKey, F)>, now: Time) -> Vec<u32> {
        let mut numbers = Vec::new();
        for (key, mut flow) in flows {
            if self.table.find(&key).is_none() && self.table.len() < self.most {
                flow.move_to(now);
                numbers.push(self.enter(key, flow));
            }
        }
        numbers
    }
}
