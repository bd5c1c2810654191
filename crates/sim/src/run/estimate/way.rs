//! How much a path carries and holds.

use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::link::recorded::{Delaying, Recorded};
use lasthop_stack::units::{Bytes, Span, Time};

use crate::medium::loss::LossConfig;
use crate::medium::radio::config::ErrorLaw;
use crate::model::{FrnConfig, PointToPoint, WifiConfig};

/// Bytes of the headers that every packet has.
pub(super) const HEADERS: f64 = 28.0;
/// The same of a TCP segment.
pub(super) const TCP_HEADERS: f64 = 40.0;
/// Slots from one packet of a node's own to the next: in the one between them it listens for the echo.
pub(super) const SLOTS_PER_PACKET: f64 = 2.0;

/// The capacity that a hop offers to flows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Bits per second, infinite where packets go in slots.
    rate: f64,
    /// Seconds of a slot, which holds a packet of any length.
    slot_s: Option<f64>,
    /// Events of a packet: its arrival, and its turn in a managed queue in front of the link. Slots are counted by themselves.
    events: f64,
    /// Bits on the way at a time.
    bits: f64,
    queue: QueueLimit,
    loss: Loss,
    /// Packets that may come of one.
    copies: f64,
}

/// The probability that a hop loses a packet for good.
#[derive(Clone, Copy, Debug)]
enum Loss {
    Share(f64),
    /// For each bit.
    Bit(f64),
    Unknown,
}

impl Pace {
    /// A direction of a link in a run of this duration.
    pub(super) fn of_wire(link: &PointToPoint, direction: usize, duration: Span) -> Pace {
        let drawn = link.rtt.map_or(0.0, |law| law.longest().as_secs() / 2.0);
        let recorded = link.sends.recorded(direction);
        let direction = &link.directions[direction];
        let varying = direction.delays.as_ref().map_or(Span::ZERO, Delaying::longest)
            + recorded.map_or(Span::ZERO, Recorded::longest);
        let delay_s =
            (direction.delay + varying).as_secs() + drawn + direction.impairments.longest().as_secs();
        let (rate, bits) = match recorded {
            None => (direction.rate.0 as f64, direction.rate.0 as f64 * delay_s),
            Some(recorded) => (
                (recorded.bits_until(Time(duration.0)) + recorded.most_bits_within(Span::ZERO))
                    / duration.as_secs(),
                recorded.most_bits_within(Span::from_secs_f64(delay_s)),
            ),
        };
        let loss = match &direction.loss {
            LossConfig::None => Loss::Share(0.0),
            LossConfig::Packet { rate } => Loss::Share(*rate),
            LossConfig::Bit { ber } => Loss::Bit(*ber),
            LossConfig::GilbertElliott { .. } | LossConfig::List { .. } => Loss::Unknown,
        };
        // The sender repeats dropped or late packets as often as the links have room for them.
        let is_plain =
            direction.policer.is_none() && direction.impairments.is_none() && direction.delays.is_none();
        let loss = if is_plain { loss } else { Loss::Unknown };
        let copies = if direction.impairments.duplicate.is_some() { 2.0 } else { 1.0 };
        Pace { rate, slot_s: None, events: 1.0, bits, queue: direction.queue, loss, copies }
    }

    /// The same behind a managed queue.
    pub(super) fn managed(self) -> Pace {
        Pace { events: 2.0, ..self }
    }

    pub(super) fn of_medium(wifi: &WifiConfig) -> Pace {
        let mac = &wifi.mac;
        let queue = match mac.buffer {
            Some(buffer) => QueueLimit::Bytes(Bytes(u64::from(buffer.bytes))),
            None => QueueLimit::Packets(mac.queue),
        };
        let loss = if wifi.radio.errors.law == ErrorLaw::None { Loss::Share(0.0) } else { Loss::Unknown };
        let rate = wifi.fastest_bps();
        Pace { rate, slot_s: None, events: 1.0, bits: 0.0, queue, loss, copies: 1.0 }
    }

    pub(super) fn of_slots(frn: &FrnConfig) -> Pace {
        let slot_s = Some(frn.slot.as_secs());
        let (queue, loss) = (QueueLimit::Unlimited, Loss::Unknown);
        Pace { rate: f64::INFINITY, slot_s, events: 0.0, bits: 0.0, queue, loss, copies: 1.0 }
    }

    /// The number of packets of this many bytes, headers included, that it holds.
    pub(super) fn holds(&self, bytes: f64) -> f64 {
        let queued = match self.queue {
            QueueLimit::Packets(packets) => f64::from(packets),
            QueueLimit::Bytes(limit) => limit.0 as f64 / bytes,
            QueueLimit::Unlimited => f64::INFINITY,
        };
        queued + self.bits / (8.0 * bytes) + 1.0
    }

    /// The number of packets of `bytes` bytes that it carries in `seconds` seconds.
    pub(super) fn carries(&self, bytes: f64, seconds: f64) -> f64 {
        let in_slots = self.slot_s.map_or(f64::INFINITY, |slot_s| seconds / (SLOTS_PER_PACKET * slot_s));
        (self.rate * seconds / (8.0 * bytes)).min(in_slots)
    }

    /// How often a packet of this many bytes is sent until one arrives, on average.
    fn copies(&self, bytes: f64) -> f64 {
        match self.loss {
            Loss::Share(share) => 1.0 / (1.0 - share).max(0.0),
            Loss::Bit(ber) => libm::exp(-8.0 * bytes * libm::log1p(-ber)),
            Loss::Unknown => f64::INFINITY,
        }
    }
}

/// The way of data, and back.
pub(super) struct Way {
    /// Events of a packet there.
    pub(super) events: f64,
    /// The same of one on the way back.
    pub(super) events_back: f64,
    /// The least bit rate there, infinite where all hops are in slots.
    pub(super) bottleneck: f64,
    /// The longest slot, if there are any.
    pub(super) slot_s: Option<f64>,
    there: Vec<Pace>,
    back: Vec<Pace>,
}

impl Way {
    pub(super) fn over(there: impl Iterator<Item = Pace>, back: impl Iterator<Item = Pace>) -> Way {
        let (there, back): (Vec<Pace>, Vec<Pace>) = (there.collect(), back.collect());
        let events = |hops: &[Pace]| hops.iter().map(|hop| hop.events).sum();
        Way {
            events: events(&there),
            events_back: events(&back),
            bottleneck: there.iter().map(|hop| hop.rate).fold(f64::INFINITY, f64::min),
            slot_s: there.iter().filter_map(|hop| hop.slot_s).reduce(f64::max),
            there,
            back,
        }
    }

    /// How often a packet is sent until it has come through and so has its acknowledgement, on average.
    pub(super) fn copies(&self, bytes: f64) -> f64 {
        let there = self.there.iter().map(|hop| hop.copies(bytes));
        there.chain(self.back.iter().map(|hop| hop.copies(TCP_HEADERS))).product()
    }

    /// Packets that may come of one, or of its acknowledgement.
    pub(super) fn duplicates(&self) -> f64 {
        self.there.iter().chain(&self.back).map(|hop| hop.copies).product()
    }

    /// The number of packets of this many bytes that it holds.
    pub(super) fn holds(&self, bytes: f64) -> f64 {
        self.there.iter().map(|hop| hop.holds(bytes)).sum()
    }
}
