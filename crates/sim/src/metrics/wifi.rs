//! The metrics of an 802.11 link, and of the ARQ of its access point.

use lasthop_stack::link::dot11::EdcaCounters;
use lasthop_stack::units::Span;

use super::row::{Measured, Row, Scope, Unit, row};
use crate::net::wlan::{ArqCounters, WlanCounters};
use crate::probe::airtime::AirClass;

/// An 802.11 link between two samples.
pub(super) struct Wifi {
    pub(super) began: WlanCounters,
    pub(super) ended: WlanCounters,
    /// Whether any time is between them.
    pub(super) has_time: bool,
}

impl Wifi {
    fn number(&self, of: fn(&WlanCounters) -> u64) -> Option<f64> {
        Some((of(&self.ended) - of(&self.began)) as f64)
    }

    /// The ledger counts from the end of the warm-up by itself.
    fn airtime(&self, class: AirClass) -> Option<f64> {
        Some(self.ended.airtime.of(class).as_secs())
    }
}

impl Measured for Wifi {
    const SCOPE: Scope = Scope::Wifi;
    const ROWS: &'static [Row<Wifi>] = &[
        row(
            "frames_sent",
            Unit::Frames,
            "frames sent by all stations, including retransmissions and control frames",
            |wifi| wifi.number(|it| it.frames.sent),
        ),
        row("frames_errored", Unit::Frames, "frames lost to random errors on the air", |wifi| {
            wifi.number(|it| it.frames.errored)
        }),
        row("frames_collided", Unit::Frames, "frames destroyed by another frame at their receiver", |wifi| {
            wifi.number(|it| it.frames.collided)
        }),
        row("drops_queue", Unit::Packets, "packets dropped at a full interface queue", |wifi| {
            wifi.number(|it| it.drops_queue)
        }),
        row(
            "drops_retry",
            Unit::Packets,
            "packets given up by the link: at the retry limit, or lost without repair",
            |wifi| wifi.number(|it| it.drops_retry),
        ),
        row(
            "drops_above",
            Unit::Packets,
            "packets acknowledged by the link and then lost above the MAC",
            |wifi| wifi.number(|it| it.drops_above),
        ),
        row(
            "service_mean_s",
            Unit::Seconds,
            "mean time of delivered packets at the observing station, from arrival in its queue to the link's acknowledgement",
            |wifi| wifi.ended.service.since(&wifi.began.service).mean(),
        ),
        row(
            "service_sd_s",
            Unit::Seconds,
            "standard deviation of the time of delivered packets at the observing station",
            |wifi| wifi.ended.service.since(&wifi.began.service).deviation(),
        ),
        row(
            "airtime_data_payload_s",
            Unit::Seconds,
            "airtime of IP packets other than TCP acknowledgements, at the observing station",
            |wifi| wifi.airtime(AirClass::DataPayload),
        ),
        row(
            "airtime_tcp_ack_payload_s",
            Unit::Seconds,
            "airtime of pure TCP acknowledgements, IP packets only",
            |wifi| wifi.airtime(AirClass::TcpAckPayload),
        ),
        row("airtime_headers_s", Unit::Seconds, "airtime of preambles and headers of data frames", |wifi| {
            wifi.airtime(AirClass::Headers)
        }),
        row("airtime_rts_cts_s", Unit::Seconds, "airtime of RTS and CTS", |wifi| {
            wifi.airtime(AirClass::RtsCts)
        }),
        row("airtime_mac_ack_s", Unit::Seconds, "airtime of link-layer acknowledgements", |wifi| {
            wifi.airtime(AirClass::MacAck)
        }),
        row("airtime_interframe_s", Unit::Seconds, "duration of interframe spaces", |wifi| {
            wifi.airtime(AirClass::Interframe)
        }),
        row("airtime_backoff_s", Unit::Seconds, "duration of backoff", |wifi| {
            wifi.airtime(AirClass::Backoff)
        }),
        row("airtime_collision_s", Unit::Seconds, "airtime of frames destroyed by another frame", |wifi| {
            wifi.airtime(AirClass::Collision)
        }),
        row("airtime_errored_s", Unit::Seconds, "airtime of frames lost to random errors", |wifi| {
            wifi.airtime(AirClass::Errored)
        }),
        row("airtime_idle_s", Unit::Seconds, "time without frames to send at any station", |wifi| {
            wifi.airtime(AirClass::Idle)
        }),
        row(
            "airtime_concurrent_s",
            Unit::Seconds,
            "airtime concurrent with another frame, or outside the range of the observing station",
            |wifi| Some(wifi.ended.airtime.concurrent().as_secs()),
        ),
        row(
            "queue_mean_packets",
            Unit::Packets,
            "mean number of packets held by the observing station over time, including the one in service",
            |wifi| wifi.has_time.then(|| wifi.ended.queue.mean_since(&wifi.began.queue)),
        ),
        row(
            "queue_max_packets",
            Unit::Packets,
            "maximum number of packets held by the observing station",
            |wifi| wifi.has_time.then(|| f64::from(wifi.ended.queue.longest())),
        ),
        row(
            "queue_full_share",
            Unit::One,
            "share of the measured time in which the queue of the observing station, or that of one of its access categories, had no room for another packet; undefined where the queue is limited in bytes, or where the law of `aqm` keeps the packets, because it then decides itself what it drops",
            |wifi| {
                let (began, ended) = wifi.began.full.zip(wifi.ended.full)?;
                wifi.has_time.then(|| ended.mean_since(&began))
            },
        ),
        row(
            "queue_delay_mean_s",
            Unit::Seconds,
            "mean queueing delay at the observing station: from arrival in its queue to the start of the packet's first data frame",
            |wifi| wifi.ended.waits.mean,
        ),
        row(
            "queue_delay_p95_s",
            Unit::Seconds,
            "95th percentile of the queueing delay at the observing station, to within 1/32",
            |wifi| wifi.ended.waits.p95,
        ),
        row("queue_delay_max_s", Unit::Seconds, "maximum queueing delay at the observing station", |wifi| {
            wifi.ended.waits.longest
        }),
    ];
}

/// The block acknowledgement of an 802.11 link between two samples.
pub(super) struct BlockAcks {
    pub(super) began: EdcaCounters,
    pub(super) ended: EdcaCounters,
    /// The airtime of BlockAck and BlockAckReq.
    pub(super) airtime: Span,
}

impl BlockAcks {
    fn number(&self, of: fn(&EdcaCounters) -> u64) -> Option<f64> {
        Some((of(&self.ended) - of(&self.began)) as f64)
    }
}

impl Measured for BlockAcks {
    const SCOPE: Scope = Scope::BlockAcks;
    const ROWS: &'static [Row<BlockAcks>] = &[
        row("aggregates", Unit::Frames, "A-MPDUs with at least two MPDUs that all stations sent", |it| {
            it.number(|it| it.aggregates)
        }),
        row("aggregated_mpdus", Unit::Frames, "MPDUs in these A-MPDUs", |it| it.number(|it| it.aggregated)),
        row("block_ack_requests", Unit::Frames, "BlockAckReqs that all stations sent", |it| {
            it.number(|it| it.requests)
        }),
        row("airtime_block_ack_s", Unit::Seconds, "airtime of BlockAck and BlockAckReq", |it| {
            Some(it.airtime.as_secs())
        }),
        row("block_acks_missing", Unit::Frames, "A-MPDUs and BlockAckReqs without a BlockAck", |it| {
            it.number(|it| it.block_ack_missing)
        }),
        row(
            "internal_collisions",
            Unit::One,
            "backoffs of an access category that ended together with one of higher priority at the same station",
            |it| it.number(|it| it.internal_collisions),
        ),
        row(
            "reordering_late",
            Unit::Packets,
            "packets that arrived after the reordering buffer had given up waiting for them, and were discarded",
            |it| it.number(|it| it.late),
        ),
        row(
            "drops_lifetime",
            Unit::Packets,
            "packets given up by the link because their lifetime in the MAC was over",
            |it| it.number(|it| it.expired),
        ),
    ];
}

/// The ARQ of an access point between two samples.
pub(super) struct Arq {
    pub(super) began: ArqCounters,
    pub(super) ended: ArqCounters,
}

impl Arq {
    fn number(&self, of: fn(&ArqCounters) -> u64) -> Option<f64> {
        Some((of(&self.ended) - of(&self.began)) as f64)
    }
}

impl Measured for Arq {
    const SCOPE: Scope = Scope::Arq;
    const ROWS: &'static [Row<Arq>] = &[
        row(
            "arq.first_transmissions",
            Unit::Frames,
            "data frames that the access point sent as first attempts",
            |arq| arq.number(|it| it.attempts[0]),
        ),
        row(
            "arq.first_retransmissions",
            Unit::Frames,
            "data frames that the access point sent as second attempts; the first had no MAC acknowledgement, or its RTS no CTS",
            |arq| arq.number(|it| it.attempts[1]),
        ),
        row(
            "arq.second_retransmissions",
            Unit::Frames,
            "data frames that the access point sent as third attempts",
            |arq| arq.number(|it| it.attempts[2]),
        ),
        row(
            "arq.third_retransmissions",
            Unit::Frames,
            "data frames that the access point sent as later attempts",
            |arq| arq.number(|it| it.attempts[3]),
        ),
        row(
            "arq.packets_dropped",
            Unit::Packets,
            "packets that the access point gave up because a fragment was not acknowledged or too late",
            |arq| arq.number(|it| it.given_up),
        ),
        row(
            "arq.buffer_overflows",
            Unit::Packets,
            "packets dropped at the full buffer of the access point",
            |arq| arq.number(|it| it.refused),
        ),
    ];
}
