//! What a channel does to packets besides queueing and losing them: a policer in front of the queue, and a medium that delays,
//! reorders or duplicates them, or whose delay was recorded.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use lasthop_stack::link::policer::{Policer, PolicerConfig};
use lasthop_stack::link::recorded::Delaying;
use lasthop_stack::units::{Span, Time};

use super::pool::InFlight;
use crate::engine::queue::Sequence;
use crate::medium::impairments::Impairments;

/// What a channel does to packets besides queueing and losing them.
#[derive(Debug)]
pub(super) struct Treatment {
    pub(super) policer: Option<Policer>,
    pub(super) impairments: Option<Impairments>,
    pub(super) delays: Option<Delaying>,
    /// The latest arrival, with such delays.
    latest: Time,
    /// The packets in transit behind the first one.
    pub(super) scattered: BinaryHeap<Scattered>,
}

impl Treatment {
    /// That of a direction, if there is anything.
    pub(super) fn new(
        policer: Option<PolicerConfig>,
        impairments: Option<Impairments>,
        delays: Option<Delaying>,
    ) -> Option<Box<Treatment>> {
        let policer = policer.map(Policer::new);
        (policer.is_some() || impairments.is_some() || delays.is_some()).then(|| {
            let (latest, scattered) = (Time::ZERO, BinaryHeap::new());
            Box::new(Treatment { policer, impairments, delays, latest, scattered })
        })
    }

    /// The arrival of a packet over this constant delay, and whether it overtakes another.
    pub(super) fn arrival(&mut self, departure: Time, delay: Span) -> (Time, bool) {
        let Some(delays) = &self.delays else { return (departure + delay, false) };
        let arrival = departure + delay + delays.at(departure);
        let arrival = if delays.keeps_order { arrival.max(self.latest) } else { arrival };
        let overtakes = arrival < self.latest;
        self.latest = self.latest.max(arrival);
        (arrival, overtakes)
    }
}

/// A packet in transit; of two, the one that arrives first is the greater.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scattered(pub(super) InFlight);

impl Scattered {
    fn key(&self) -> (Time, Time, Sequence) {
        (self.0.arrival, self.0.taken, self.0.sequence)
    }
}

impl Ord for Scattered {
    fn cmp(&self, other: &Scattered) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Scattered {
    fn partial_cmp(&self, other: &Scattered) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scattered {
    fn eq(&self, other: &Scattered) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Scattered {}
