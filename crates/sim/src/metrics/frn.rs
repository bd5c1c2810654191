//! The metrics of a slotted network.

use super::row::{Measured, ratio, rows};
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
    rows! { |frn|
        /// TCP segments of all flows delivered in order, per slot
        "segments_per_slot": One = ratio(frn.segments, frn.slots);
        /// copies at all nodes completed by an echo or FRN ACK, per slot
        "hops_per_slot": One = ratio(frn.count(|it| it.hops), frn.slots);
        /// packets that entered the network in the measured time
        "packets_entered": Packets = Some(frn.ended.copies.measured.entered as f64);
        /// entered packets that reached their destination, each counted once
        "packets_delivered": Packets = Some(frn.ended.copies.measured.delivered as f64);
        /// entered packets whose last copy was discarded before any arrived
        "packets_lost": Packets = Some(frn.ended.copies.measured.lost as f64);
        /// entered packets neither delivered nor lost at the end
        "packets_held": Packets = Some(frn.ended.copies.measured.held() as f64);
        /// receptions of a packet that its sender had already forwarded
        "duplicates_created": Packets = frn.number(|it| it.copies.duplicates_created);
        /// duplicates received at the destination
        "duplicates_delivered": Packets = frn.number(|it| it.copies.duplicates_delivered);
        /// duplicates discarded by a node
        "duplicates_discarded": Packets = frn.number(|it| it.copies.duplicates_discarded);
        /// copies discarded by retransmission count or lifetime, whether forwarded or not
        "discards": Packets = frn.number(|it| it.copies.given_up);
        /// packet transmissions over one hop, including retransmissions
        "transmissions": Packets = frn.number(|it| it.sent);
        /// packet retransmissions over one hop
        "retransmissions": Packets = frn.number(|it| it.sent_again);
        /// FRN ACKs sent
        "acks": Frames = frn.number(|it| it.acks);
        /// number of times a node sensed the channel busy and waited for the next slot
        "deferrals": Slots = frn.number(|it| it.deferred);
        /// frames destroyed by another frame at their addressee
        "collisions": Frames = frn.number(|it| it.collided);
        /// frames missed because their addressee was transmitting
        "deaf": Frames = frn.number(|it| it.deaf);
        /// frames lost at their addressee by random errors
        "errored": Frames = frn.number(|it| it.errored);
        /// relay echoes and FRN ACKs not received by the node waiting for them
        "echoes_lost": Frames = frn.number(|it| it.echoes_lost);
        /// slots with at least one transmission
        "slots_used": Slots = frn.number(|it| it.slots);
    }
}
