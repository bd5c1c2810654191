//! The air of an 802.16 link.

use lasthop_stack::link::dot16::{self, Direction, Frame, Rates};
use lasthop_stack::link::queue::{DropTail, QueueLimit};
use lasthop_stack::link::transmitter::Transmitter;
use lasthop_stack::packet::{Body, Modulation, Packet};
use lasthop_stack::units::{Bytes, Rate, Span, Time};

use crate::engine::streams::Stream;
use crate::medium::modulation::{ModulationLaw, ModulationProcess};

/// The air interface of an 802.16 link.
#[derive(Clone, Debug)]
pub struct AirConfig {
    /// How its frames are divided.
    pub frame: Frame,
    /// The rate of each modulation.
    pub rates: Rates,
    /// The modulation at the start.
    pub start: Modulation,
    /// How it changes.
    pub law: ModulationLaw,
}

impl AirConfig {
    /// The rate with the best modulation in force all the time.
    pub(super) fn fastest(&self) -> Rate {
        self.rates.qpsk.max(self.rates.qam16).max(self.rates.qam64)
    }
}

/// One direction of it.
#[derive(Debug)]
pub(crate) struct Air {
    line: dot16::Line,
    modulation: ModulationProcess,
    /// The modulation of the packet that was accepted last.
    last: Modulation,
}

impl Air {
    /// A direction (0 down, 1 up), idle.
    pub(super) fn new(air: &AirConfig, direction: usize, limit: QueueLimit, stream: Stream) -> Air {
        let towards = if direction == 0 { Direction::Down } else { Direction::Up };
        Air {
            line: dot16::Line::new(air.frame, towards, air.rates, limit),
            modulation: ModulationProcess::new(air.law.clone(), air.start, stream),
            last: air.start,
        }
    }
}

impl Transmitter for Air {
    fn offer(&mut self, size: Bytes, now: Time) -> Option<Time> {
        let modulation = &mut self.modulation;
        let departure = self.line.offer(size, now, &mut |begins| modulation.at(begins))?;
        self.last = departure.modulation;
        Some(departure.at)
    }

    fn ready_at(&self, now: Time) -> Time {
        self.line.ready_at(now)
    }

    fn queue(&self) -> &DropTail {
        self.line.queue()
    }

    fn queue_mut(&mut self) -> &mut DropTail {
        self.line.queue_mut()
    }

    fn busy(&self, now: Time) -> Span {
        self.line.busy(now)
    }

    /// The physical layer writes the modulation into the header of a segment that has room for it (EJTCP, 3.3).
    fn mark(&self, packet: &mut Packet) {
        if let Body::Tcp(segment) = &mut packet.body
            && let Some(extension) = &mut segment.options.extension
        {
            extension.modulation = Some(self.last);
        }
    }
}
