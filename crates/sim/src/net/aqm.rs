//! The active queue management of one queue of a link.

use lasthop_stack::hooks::{Admission, Aqm, Arrival};
use lasthop_stack::packet::{Ecn, Packet};
use lasthop_stack::registry::{AqmConfig, AqmMachine};
use lasthop_stack::units::{Bytes, Rate, Span, Time};

/// A managed queue.
#[derive(Debug)]
pub(super) struct Managed {
    law: AqmMachine,
    /// The nominal rate of the link.
    rate: Rate,
    marks: u64,
}

impl Managed {
    /// An empty queue of a link with this rate.
    pub(super) fn new(config: &AqmConfig, rate: Rate) -> Managed {
        Managed { law: config.build(), rate, marks: 0 }
    }

    /// Decides on a packet of this size that arrives at the queue, given the queue length and idle time.
    pub(super) fn on_arrival(&mut self, size: Bytes, (held, idle): (u32, Span), now: Time) -> Admission {
        self.law.on_arrival(&Arrival { now, held, idle, transmission: size.time_at(self.rate) })
    }

    /// Marks an accepted packet if the decision requires it and its transport uses ECN.
    pub(super) fn admit(&mut self, packet: &mut Packet, admission: Admission) {
        if admission == Admission::Mark && packet.ecn.is_capable() && packet.ecn != Ecn::Ce {
            packet.ecn = Ecn::Ce;
            self.marks += 1;
        }
    }

    /// Number of packets marked.
    pub(super) fn marks(&self) -> u64 {
        self.marks
    }
}
