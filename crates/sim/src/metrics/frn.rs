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
            "TCP segments that came in order to their receivers, of all flows, per slot",
            |frn| ratio(frn.segments, frn.slots),
        ),
        row(
            "hops_per_slot",
            Unit::One,
            "copies ended by an echo or FRN ACK, of all nodes, per slot",
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
            "those of them that came to their destination, each once",
            |frn| Some(frn.ended.copies.measured.delivered as f64),
        ),
        row(
            "packets_lost",
            Unit::Packets,
            "those of them of which the last copy was given up before any arrived",
            |frn| Some(frn.ended.copies.measured.lost as f64),
        ),
        row(
            "packets_held",
            Unit::Packets,
            "those of them that had neither arrived nor been lost at the end",
            |frn| Some(frn.ended.copies.measured.held() as f64),
        ),
        row(
            "duplicates_created",
            Unit::Packets,
            "receptions of a packet that its sender had passed on before",
            |frn| frn.number(|it| it.copies.duplicates_created),
        ),
        row("duplicates_delivered", Unit::Packets, "packets that came to their destination again", |frn| {
            frn.number(|it| it.copies.duplicates_delivered)
        }),
        row("duplicates_discarded", Unit::Packets, "duplicates that went no further than some node", |frn| {
            frn.number(|it| it.copies.duplicates_discarded)
        }),
        row(
            "discards",
            Unit::Packets,
            "copies that nodes gave up by their count of retransmissions or lifetime, passed on or not",
            |frn| frn.number(|it| it.copies.given_up),
        ),
        row("transmissions", Unit::Packets, "packets sent over one hop, repetitions included", |frn| {
            frn.number(|it| it.sent)
        }),
        row("retransmissions", Unit::Packets, "packets sent over one hop again", |frn| {
            frn.number(|it| it.sent_again)
        }),
        row("acks", Unit::Frames, "FRN ACKs sent", |frn| frn.number(|it| it.acks)),
        row(
            "deferrals",
            Unit::Slots,
            "times a node sensed the channel busy and waited for the next slot",
            |frn| frn.number(|it| it.deferred),
        ),
        row("collisions", Unit::Frames, "frames that another spoilt at the node they were for", |frn| {
            frn.number(|it| it.collided)
        }),
        row("deaf", Unit::Frames, "frames that came to the node they were for while it sent itself", |frn| {
            frn.number(|it| it.deaf)
        }),
        row("errored", Unit::Frames, "frames that chance lost at the node they were for", |frn| {
            frn.number(|it| it.errored)
        }),
        row(
            "echoes_lost",
            Unit::Frames,
            "relay echoes and FRN ACKs that the node they were due to did not hear",
            |frn| frn.number(|it| it.echoes_lost),
        ),
        row("slots_used", Unit::Slots, "slots in which somebody sent", |frn| frn.number(|it| it.slots)),
    ];
}
