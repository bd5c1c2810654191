//! The active queue management of one queue of a link.

use lasthop_stack::hooks::{Admission, Aqm, Arrival};
use lasthop_stack::packet::{Ecn, Packet};
use lasthop_stack::registry::{AqmConfig, AqmMachine};
use lasthop_stack::units::{Bytes, Rate, Span, Time};

/// A queue that is managed.
#[derive(Debug)]
pub(super) struct Managed {
    law: AqmMachine,
    /// The nominal rate of the link.
    rate: Rate,
    marks: u64,
}

impl Managed {
    /// An empty queue of a link of this rate.
    pub(super) fn new(config: &AqmConfig, rate: Rate) -> Managed {
        Managed { law: config.build(), rate, marks: 0 }
    }

    /// A packet of this size arrives at the queue, which holds so many and has been idle for so long.
    pub(super) fn on_arrival(&mut self, size: Bytes, (held, idle): (u32, Span), now: Time) -> Admission {
        self.law.on_arrival(&Arrival { now, held, idle, transmission: size.time_at(self.rate) })
    }

    /// The packet has been accepted.
    pub(super) fn admit(&mut self, packet: &mut Packet, admission: Admission) {
        if admission == Admission::Mark && packet.ecn.is_capable() && packet.ecn != Ecn::Ce {
            packet.ecn = Ecn::Ce;
            self.marks += 1;
        }
    }

    /// Packets marked.
    pub(super) fn marks(&self) -> u64 {
        self.marks
    }
}
