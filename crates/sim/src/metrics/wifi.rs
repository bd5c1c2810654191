//! The metrics of an 802.11 link, and of the ARQ of its access point.

use super::row::{Measured, Row, Scope, Unit, row};
use crate::net::wlan::{ArqCounters, WlanCounters};
use crate::probe::airtime::AirClass;

/// An 802.11 link between two samples.
pub(super) struct Wifi {
    pub(super) began: WlanCounters,
    pub(super) ended: WlanCounters,
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
            "frames sent by all stations, repetitions and control frames included",
            |wifi| wifi.number(|it| it.frames.sent),
        ),
        row("frames_errored", Unit::Frames, "frames lost by chance on the air", |wifi| {
            wifi.number(|it| it.frames.errored)
        }),
        row("frames_collided", Unit::Frames, "frames that another frame spoilt at their receiver", |wifi| {
            wifi.number(|it| it.frames.collided)
        }),
        row("drops_queue", Unit::Packets, "packets refused by a full interface queue", |wifi| {
            wifi.number(|it| it.drops_queue)
        }),
        row(
            "drops_retry",
            Unit::Packets,
            "packets given up by the link: its retry limit was reached, or they were lost for good",
            |wifi| wifi.number(|it| it.drops_retry),
        ),
        row(
            "drops_above",
            Unit::Packets,
            "packets acknowledged by the link and then lost on their way up",
            |wifi| wifi.number(|it| it.drops_above),
        ),
        row(
            "service_mean_s",
            Unit::Seconds,
            "mean time of what the observing station delivered, from its queue to the link's acknowledgement",
            |wifi| wifi.ended.service.since(&wifi.began.service).mean(),
        ),
        row("service_sd_s", Unit::Seconds, "standard deviation of that time", |wifi| {
            wifi.ended.service.since(&wifi.began.service).deviation()
        }),
        row(
            "airtime_data_payload_s",
            Unit::Seconds,
            "time in which the observing station heard IP packets other than TCP acknowledgements",
            |wifi| wifi.airtime(AirClass::DataPayload),
        ),
        row(
            "airtime_tcp_ack_payload_s",
            Unit::Seconds,
            "time of pure TCP acknowledgements, their IP packets alone",
            |wifi| wifi.airtime(AirClass::TcpAckPayload),
        ),
        row("airtime_headers_s", Unit::Seconds, "time of preambles and headers of data frames", |wifi| {
            wifi.airtime(AirClass::Headers)
        }),
        row("airtime_rts_cts_s", Unit::Seconds, "time of RTS and CTS", |wifi| wifi.airtime(AirClass::RtsCts)),
        row("airtime_mac_ack_s", Unit::Seconds, "time of the link's acknowledgements", |wifi| {
            wifi.airtime(AirClass::MacAck)
        }),
        row("airtime_interframe_s", Unit::Seconds, "time of interframe spaces", |wifi| {
            wifi.airtime(AirClass::Interframe)
        }),
        row("airtime_backoff_s", Unit::Seconds, "time of backoff", |wifi| wifi.airtime(AirClass::Backoff)),
        row("airtime_collision_s", Unit::Seconds, "time of frames that another spoilt", |wifi| {
            wifi.airtime(AirClass::Collision)
        }),
        row("airtime_errored_s", Unit::Seconds, "time of frames lost by chance", |wifi| {
            wifi.airtime(AirClass::Errored)
        }),
        row("airtime_idle_s", Unit::Seconds, "time in which nobody had anything to send", |wifi| {
            wifi.airtime(AirClass::Idle)
        }),
        row(
            "airtime_concurrent_s",
            Unit::Seconds,
            "airtime used at the same time as another frame, here or out of hearing",
            |wifi| Some(wifi.ended.airtime.concurrent().as_secs()),
        ),
        row(
            "queue_mean_packets",
            Unit::Packets,
            "mean number of packets that the observing station held over time, the one in service included",
            |wifi| Some(wifi.ended.queue.mean_since(&wifi.began.queue)),
        ),
        row(
            "queue_max_packets",
            Unit::Packets,
            "most packets that the observing station held at once",
            |wifi| Some(f64::from(wifi.ended.queue.longest())),
        ),
        row(
            "queue_delay_mean_s",
            Unit::Seconds,
            "mean time of packets at the observing station, from its queue to the start of their first data frame",
            |wifi| wifi.ended.waits.mean,
        ),
        row("queue_delay_p95_s", Unit::Seconds, "their 95th percentile, to within 1/32", |wifi| {
            wifi.ended.waits.p95
        }),
        row("queue_delay_max_s", Unit::Seconds, "the longest of these times", |wifi| {
            wifi.ended.waits.longest
        }),
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
            "data frames the access point sent at its first attempt",
            |arq| arq.number(|it| it.attempts[0]),
        ),
        row(
            "arq.first_retransmissions",
            Unit::Frames,
            "data frames it sent at the second attempt; the first had no MAC acknowledgement, or its RTS no CTS",
            |arq| arq.number(|it| it.attempts[1]),
        ),
        row("arq.second_retransmissions", Unit::Frames, "those it sent at the third attempt", |arq| {
            arq.number(|it| it.attempts[2])
        }),
        row("arq.third_retransmissions", Unit::Frames, "those it sent at a later attempt", |arq| {
            arq.number(|it| it.attempts[3])
        }),
        row(
            "arq.packets_dropped",
            Unit::Packets,
            "packets it gave up since a fragment was not acknowledged, or came too late",
            |arq| arq.number(|it| it.given_up),
        ),
        row("arq.buffer_overflows", Unit::Packets, "packets its full buffer refused", |arq| {
            arq.number(|it| it.refused)
        }),
    ];
}
