//! The metrics of an 802.11 link, and of the ARQ of its access point.

use lasthop_stack::link::dot11::EdcaCounters;
use lasthop_stack::units::Span;

use super::row::{Measured, rows};
use crate::net::wlan::{ArqCounters, WlanCounters};
use crate::probe::airtime::AirClass;

/// An 802.11 link between two samples.
pub(super) struct Wifi {
    pub(super) began: WlanCounters,
    pub(super) ended: WlanCounters,
    /// Whether any time is between them.
    pub(super) has_time: bool,
    /// Whether its stations have a queue there, and not that of the first link of multi-link devices.
    pub(super) has_queue: bool,
}

impl Wifi {
    fn number(&self, of: fn(&WlanCounters) -> u64) -> Option<f64> {
        Some((of(&self.ended) - of(&self.began)) as f64)
    }

    /// What was measured of its queue, if it has one and any time is between the samples.
    fn of_queue<T>(&self, of: impl FnOnce(&Wifi) -> T) -> Option<T> {
        (self.has_time && self.has_queue).then(|| of(self))
    }

    /// The ledger counts from the end of the warm-up by itself.
    fn airtime(&self, class: AirClass) -> Option<f64> {
        Some((self.ended.airtime.of(class) - self.began.airtime.of(class)).as_secs())
    }
}

impl Measured for Wifi {
    rows! { |wifi|
        /// frames sent by all stations, including retransmissions and control frames
        "frames_sent": Frames = wifi.number(|it| it.frames.sent);
        /// frames lost to random errors on the air
        "frames_errored": Frames = wifi.number(|it| it.frames.errored);
        /// frames destroyed by another frame at their receiver
        "frames_collided": Frames = wifi.number(|it| it.frames.collided);
        /// packets dropped at a full interface queue; undefined, as `queue_mean_packets`, `queue_max_packets` and
        /// `queue_full_share`, on a link with `multi-link`, whose queue is that of the first link
        "drops_queue": Packets = wifi.number(|it| it.drops_queue).filter(|_| wifi.has_queue);
        /// packets given up by the link: at the retry limit, or lost without repair
        "drops_retry": Packets = wifi.number(|it| it.drops_retry);
        /// packets acknowledged by the link and then lost above the MAC
        "drops_above": Packets = wifi.number(|it| it.drops_above);
        /// mean time of delivered packets at the observing station, from arrival in its queue to the link's
        /// acknowledgement
        "service_mean_s": Seconds = wifi.ended.service.since(&wifi.began.service).mean();
        /// standard deviation of the time of delivered packets at the observing station
        "service_sd_s": Seconds = wifi.ended.service.since(&wifi.began.service).deviation();
        /// airtime of IP packets other than TCP acknowledgements, at the observing station
        "airtime_data_payload_s": Seconds = wifi.airtime(AirClass::DataPayload);
        /// airtime of pure TCP acknowledgements, IP packets only
        "airtime_tcp_ack_payload_s": Seconds = wifi.airtime(AirClass::TcpAckPayload);
        /// airtime of preambles and headers of data frames
        "airtime_headers_s": Seconds = wifi.airtime(AirClass::Headers);
        /// airtime of RTS and CTS
        "airtime_rts_cts_s": Seconds = wifi.airtime(AirClass::RtsCts);
        /// airtime of link-layer acknowledgements
        "airtime_mac_ack_s": Seconds = wifi.airtime(AirClass::MacAck);
        /// duration of interframe spaces
        "airtime_interframe_s": Seconds = wifi.airtime(AirClass::Interframe);
        /// duration of backoff
        "airtime_backoff_s": Seconds = wifi.airtime(AirClass::Backoff);
        /// airtime of frames destroyed by another frame
        "airtime_collision_s": Seconds = wifi.airtime(AirClass::Collision);
        /// airtime of frames lost to random errors
        "airtime_errored_s": Seconds = wifi.airtime(AirClass::Errored);
        /// time without frames to send at any station
        "airtime_idle_s": Seconds = wifi.airtime(AirClass::Idle);
        /// airtime concurrent with another frame, or outside the range of the observing station
        "airtime_concurrent_s": Seconds = Some(wifi.ended.airtime.concurrent().as_secs());
        /// mean number of packets held by the observing station over time, including the one in service
        "queue_mean_packets": Packets = wifi.of_queue(|it| it.ended.queue.mean_since(&it.began.queue));
        /// maximum number of packets held by the observing station
        "queue_max_packets": Packets = wifi.of_queue(|it| f64::from(it.ended.queue.longest()));
        /// share of the measured time in which the queue of the observing station, or that of one of its access
        /// categories, had no room for another packet; undefined where the queue is limited in bytes, or where the law
        /// of `aqm` keeps the packets, because it then decides itself what it drops
        "queue_full_share": One = {
            let (began, ended) = wifi.began.full.zip(wifi.ended.full)?;
            wifi.of_queue(|_| ended.mean_since(&began))
        };
        /// mean queueing delay at the observing station: from arrival in its queue to the start of the packet's first
        /// data frame
        "queue_delay_mean_s": Seconds = wifi.ended.waits.mean;
        /// 95th percentile of the queueing delay at the observing station, to within 1/32
        "queue_delay_p95_s": Seconds = wifi.ended.waits.p95;
        /// maximum queueing delay at the observing station
        "queue_delay_max_s": Seconds = wifi.ended.waits.longest;
    }
}

/// The block acknowledgement of an 802.11 link between two samples.
pub(super) struct BlockAcks {
    pub(super) began: EdcaCounters,
    pub(super) ended: EdcaCounters,
    /// The airtime of BlockAck and BlockAckReq.
    pub(super) airtime: Span,
    /// The airtime of what stations send to their access point.
    pub(super) uplink: Span,
}

impl BlockAcks {
    fn number(&self, of: fn(&EdcaCounters) -> u64) -> Option<f64> {
        Some((of(&self.ended) - of(&self.began)) as f64)
    }
}

impl Measured for BlockAcks {
    rows! { |it|
        /// A-MPDUs with at least two MPDUs that all stations sent
        "aggregates": Frames = it.number(|it| it.aggregates);
        /// MPDUs in these A-MPDUs
        "aggregated_mpdus": Frames = it.number(|it| it.aggregated);
        /// BlockAckReqs that all stations sent
        "block_ack_requests": Frames = it.number(|it| it.requests);
        /// airtime of BlockAck, BlockAckReq and triggers
        "airtime_block_ack_s": Seconds = Some(it.airtime.as_secs());
        /// A-MPDUs and BlockAckReqs without a BlockAck
        "block_acks_missing": Frames = it.number(|it| it.block_ack_missing);
        /// backoffs of an access category that ended together with one of higher priority at the same station
        "internal_collisions": One = it.number(|it| it.internal_collisions);
        /// packets that arrived after the reordering buffer had given up waiting for them, and were discarded
        "reordering_late": Packets = it.number(|it| it.late);
        /// packets given up by the link because their lifetime in the MAC was over
        "drops_lifetime": Packets = it.number(|it| it.expired);
        /// PPDUs of the access point to several stations
        "ofdma_ppdus": Frames = it.number(|it| it.to_several);
        /// A-MPDUs in these PPDUs: one for each station
        "ofdma_parts": Frames = it.number(|it| it.parts);
        /// triggers that requested the BlockAcks of several stations, without those within A-MPDUs
        "triggers": Frames = it.number(|it| it.triggers);
        /// triggers of the access point that requested data of stations (uplink OFDMA)
        "ofdma_uplink_triggers": Frames = it.number(|it| it.solicitations);
        /// PPDUs with MPDUs that arrived in answer to these triggers: one for each station
        "ofdma_uplink_parts": Frames = it.number(|it| it.uplink_parts);
        /// triggers that requested reports of what stations hold (BSRP)
        "ofdma_report_requests": Frames = it.number(|it| it.report_requests);
        /// frames of the access point that asked for the radio of a station that has one for several links (MU-RTS)
        "mu_rts_sent": Frames = it.number(|it| it.initial);
        /// airtime in which a station sends data to its access point, or the access point triggers or acknowledges it; 0
        /// without an access point
        "uplink_airtime_s": Seconds = Some(it.uplink.as_secs());
    }
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
    rows! { |arq|
        /// data frames that the access point sent as first attempts
        "arq.first_transmissions": Frames = arq.number(|it| it.attempts[0]);
        /// data frames that the access point sent as second attempts; the first had no MAC acknowledgement, or its RTS
        /// no CTS
        "arq.first_retransmissions": Frames = arq.number(|it| it.attempts[1]);
        /// data frames that the access point sent as third attempts
        "arq.second_retransmissions": Frames = arq.number(|it| it.attempts[2]);
        /// data frames that the access point sent as later attempts
        "arq.third_retransmissions": Frames = arq.number(|it| it.attempts[3]);
        /// packets that the access point gave up because a fragment was not acknowledged or too late
        "arq.packets_dropped": Packets = arq.number(|it| it.given_up);
        /// packets dropped at the full buffer of the access point
        "arq.buffer_overflows": Packets = arq.number(|it| it.refused);
    }
}
