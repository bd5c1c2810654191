//! One direction of a point-to-point link.
//!
//! A channel holds its packets in the order of their arrival and has one entry in the queue of events, for the first of
//! them. The place of each among simultaneous events was fixed when it was sent.

use std::collections::VecDeque;

use lasthop_stack::link::wired::Wired;
use lasthop_stack::packet::NodeId;
use lasthop_stack::units::{Span, Time};

use super::pool::PoolId;
use crate::engine::queue::{EventQueue, Sequence, Slot};
use crate::medium::loss::LossProcess;

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    arrival: Time,
    sequence: Sequence,
    id: PoolId,
}

/// One direction of a point-to-point link.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) wired: Wired,
    pub(super) to: NodeId,
    pub(super) loss: LossProcess,
    pub(super) capture: Option<usize>,
    pub(super) counters: ChannelCounters,
    pipe: VecDeque<InFlight>,
    slot: Slot,
}

/// What a channel has done since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChannelCounters {
    pub(crate) drops_queue: u64,
    pub(crate) drops_loss: u64,
    pub(crate) busy: Span,
}

impl Channel {
    pub(super) fn new(wired: Wired, to: NodeId, loss: LossProcess, slot: Slot) -> Channel {
        let counters = ChannelCounters::default();
        Channel { wired, to, loss, capture: None, counters, pipe: VecDeque::new(), slot }
    }

    /// Puts a packet on its way that will have left at `departure`.
    #[inline]
    pub(super) fn push(&mut self, departure: Time, id: PoolId, queue: &mut EventQueue) {
        let arrival = departure + self.wired.delay();
        let sequence = queue.next_sequence();
        if self.pipe.is_empty() {
            queue.set_with(self.slot, arrival, sequence);
        }
        self.pipe.push_back(InFlight { arrival, sequence, id });
    }

    /// Takes out the packet that arrives now and sets the event of the next.
    #[inline]
    pub(super) fn pop(&mut self, queue: &mut EventQueue) -> Option<PoolId> {
        let first = self.pipe.pop_front()?;
        match self.pipe.front() {
            Some(next) => queue.set_with(self.slot, next.arrival, next.sequence),
            None => queue.cancel(self.slot),
        }
        Some(first.id)
    }

    /// The counters up to now.
    pub(crate) fn counters(&self, now: Time) -> ChannelCounters {
        ChannelCounters { busy: self.wired.busy(now), ..self.counters }
    }
}
