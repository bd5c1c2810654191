//! The metrics of a slotted network.

use super::row::{Measured, Row, Scope, Unit, ratio, row};
use crate::net::slotted::FrnCounters;

/// A slotted network between two samples.
pub(super) struct Frn {
    pub(super) began: FrnCounters,
    pub(super) ended: FrnCounters,
    /// How many slots the measured time has.
    pub(super) slots: f64,
    /// TCP segments that came in order to their receivers, of all flows.
    pub(super) segments: f64,
}

impl Frn {
    fn count(&self, of: fn(&FrnCounters) -> u64) -> f64 {
        (of(&self.ended) - of(&self.began)) as f64
    }

    fn number(&self, of: fn(&FrnCounters) -> u64) -> Option<f64> {
        Some(self.count(of))
    }
}

impl Measured for Frn {
    const SCOPE: Scope = Scope::Frn;
    const ROWS: &'static [Row<Frn>] = &[
        row(
            "segments_per_slot",
            Unit::One,
            "TCP segments of all flows delivered in order, per slot",
            |frn| ratio(frn.segments, frn.slots),
        ),
        row(
            "hops_per_slot",
            Unit::One,
            "copies at all nodes completed by an echo or FRN ACK, per slot",
            |frn| ratio(frn.count(|it| it.hops), frn.slots),
        ),
        row(
            "packets_entered",
            Unit::Packets,
            "packets that entered the network in the measured time",
            |frn| Some(frn.ended.copies.measured.entered as f64),
        ),
        row(
            "packets_delivered",
            Unit::Packets,
            "entered packets that reached their destination, each counted once",
            |frn| Some(frn.ended.copies.measured.delivered as f64),
        ),
        row(
            "packets_lost",
            Unit::Packets,
            "entered packets whose last copy was discarded before any arrived",
            |frn| Some(frn.ended.copies.measured.lost as f64),
        ),
        row("packets_held", Unit::Packets, "entered packets neither delivered nor lost at the end", |frn| {
            Some(frn.ended.copies.measured.held() as f64)
        }),
        row(
            "duplicates_created",
            Unit::Packets,
            "receptions of a packet that its sender had already forwarded",
            |frn| frn.number(|it| it.copies.duplicates_created),
        ),
        row("duplicates_delivered", Unit::Packets, "duplicates received at the destination", |frn| {
            frn.number(|it| it.copies.duplicates_delivered)
        }),
        row("duplicates_discarded", Unit::Packets, "duplicates discarded by a node", |frn| {
            frn.number(|it| it.copies.duplicates_discarded)
        }),
        row(
            "discards",
            Unit::Packets,
            "copies discarded by retransmission count or lifetime, whether forwarded or not",
            |frn| frn.number(|it| it.copies.given_up),
        ),
        row(
            "transmissions",
            Unit::Packets,
            "packet transmissions over one hop, including retransmissions",
            |frn| frn.number(|it| it.sent),
        ),
        row("retransmissions", Unit::Packets, "packet retransmissions over one hop", |frn| {
            frn.number(|it| it.sent_again)
        }),
        row("acks", Unit::Frames, "FRN ACKs sent", |frn| frn.number(|it| it.acks)),
        row(
            "deferrals",
            Unit::Slots,
            "number of times a node sensed the channel busy and waited for the next slot",
            |frn| frn.number(|it| it.deferred),
        ),
        row("collisions", Unit::Frames, "frames destroyed by another frame at their addressee", |frn| {
            frn.number(|it| it.collided)
        }),
        row("deaf", Unit::Frames, "frames missed because their addressee was transmitting", |frn| {
            frn.number(|it| it.deaf)
        }),
        row("errored", Unit::Frames, "frames lost at their addressee by random errors", |frn| {
            frn.number(|it| it.errored)
        }),
        row(
            "echoes_lost",
            Unit::Frames,
            "relay echoes and FRN ACKs not received by the node waiting for them",
            |frn| frn.number(|it| it.echoes_lost),
        ),
        row("slots_used", Unit::Slots, "slots with at least one transmission", |frn| {
            frn.number(|it| it.slots)
        }),
    ];
}
