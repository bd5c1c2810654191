//! The metrics of a link of two nodes.

use lasthop_stack::units::Span;

use super::row::{Measured, ratio, rows};
use crate::net::{AqmCounters, ChannelCounters};
use crate::probe::spread::Summary;

/// One direction of a link in the measured time.
pub(super) struct Link {
    pub(super) began: ChannelCounters,
    pub(super) ended: ChannelCounters,
    pub(super) seconds: f64,
    /// The mean and the maximum of the queue; `None` without measured time.
    pub(super) queue: Option<(f64, u32)>,
    /// Share of the time in which it was full; `None` if its law keeps the packets.
    pub(super) full: Option<f64>,
}

impl Link {
    /// Bytes that could go by the record in the measured time: used, and all.
    fn used(&self) -> (u64, u64) {
        let (began, ended) = (self.began.used, self.ended.used);
        (ended.0 - began.0, ended.1 - began.1)
    }
}

impl Measured for Link {
    rows! { |link|
        /// share of the measured time in which the link was sending; of a recorded link, of the bytes that could go
        "utilisation": One = match link.used() {
            (0, 0) => ratio((link.ended.busy - link.began.busy).as_secs(), link.seconds),
            (used, offered) => ratio(used as f64, offered as f64),
        };
        /// packets dropped at the full queue
        "drops_queue": Packets = Some((link.ended.drops_queue - link.began.drops_queue) as f64);
        /// packets lost by the loss process
        "drops_loss": Packets = Some((link.ended.drops_loss - link.began.drops_loss) as f64);
        /// mean number of packets held over time, including the one in transmission
        "queue_mean_packets": Packets = link.queue.map(|(mean, _)| mean);
        /// maximum number of packets held at once
        "queue_max_packets": Packets = link.queue.map(|(_, most)| f64::from(most));
        /// share of the measured time in which the queue had no room for another packet, in one limited in bytes for
        /// another one of the largest size so far; undefined where the law of `aqm` keeps the packets, because it then
        /// decides itself what it drops
        "queue_full_share": One = link.full;
    }
}

/// The managed queues of a link in the measured time: those of a direction, or of all stations.
pub(super) struct Aqm {
    marks: u64,
    drops: u64,
    waits: Summary,
}

impl Aqm {
    /// Between two samples.
    pub(super) fn between(began: &AqmCounters, ended: &AqmCounters) -> Aqm {
        Aqm { marks: ended.marks - began.marks, drops: ended.drops - began.drops, waits: ended.waits }
    }
}

impl Measured for Aqm {
    rows! { |queue|
        /// packets marked by the queue (ECN)
        "marks": Packets = Some(queue.marks as f64);
        /// packets dropped by the law of the queue before it was full
        "drops_aqm": Packets = Some(queue.drops as f64);
        /// mean time that packets which the queue passed on waited in it before they were sent
        "aqm_delay_mean_s": Seconds = queue.waits.mean;
        /// 95th percentile of that time, to within 1/32
        "aqm_delay_p95_s": Seconds = queue.waits.p95;
        /// maximum of that time
        "aqm_delay_max_s": Seconds = queue.waits.longest;
    }
}

/// The round trip drawn for a link.
pub(super) struct DrawnLink {
    pub(super) rtt: Span,
}

impl Measured for DrawnLink {
    rows! { |link|
        /// round-trip time drawn for the link in this run, in addition to its configured delays
        "rtt_drawn_s": Seconds = Some(link.rtt.as_secs());
    }
}

/// A direction of a link with a policer.
pub(super) struct PolicedLink(pub(super) Link);

impl Measured for PolicedLink {
    rows! { |link|
        /// packets dropped by the policer, before the queue
        "drops_policer": Packets = Some((link.0.ended.drops_policer - link.0.began.drops_policer) as f64);
    }
}

/// A direction of a link that delays, reorders or duplicates packets at random.
pub(super) struct ImpairedLink(pub(super) Link);

impl Measured for ImpairedLink {
    rows! { |link|
        /// packets that the link duplicated: each arrives, or is lost, twice
        "duplicated": Packets = Some((link.0.ended.duplicated - link.0.began.duplicated) as f64);
        /// packets and duplicates that arrive before another one that left before them
        "reordered": Packets = Some((link.0.ended.reordered - link.0.began.reordered) as f64);
    }
}

/// A direction of a link whose capacity over time is recorded.
pub(super) struct RecordedLink(pub(super) Link);

impl Measured for RecordedLink {
    rows! { |link|
        /// rate at which bytes could go by the record in the measured time, used or not
        "capacity_bps": BitsPerSecond = ratio(8.0 * link.0.used().1 as f64, link.0.seconds);
    }
}
