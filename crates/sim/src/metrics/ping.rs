//! The metrics of a probe: round trips and losses, as `ping` reports them.

use super::row::{Measured, Row, Scope, Unit, ratio, row};
use super::samples::UdpSample;
use crate::probe::spread::Summary;

/// A probe, or those of a group together, in the measured time.
pub(super) struct Ping {
    sent: u64,
    answered: u64,
    /// Requests that are in transit at the end, or whose answers are.
    outstanding: u64,
    rtt: Summary,
}

impl Ping {
    /// Probes that measured these round trips.
    pub(super) fn new(rtt: Summary) -> Ping {
        Ping { sent: 0, answered: 0, outstanding: 0, rtt }
    }

    /// Adds what one of them did between two samples.
    pub(super) fn add(&mut self, began: &UdpSample, ended: &UdpSample) {
        self.sent += ended.sender.sent - began.sender.sent;
        self.answered += ended.sender.received_of_measured;
        self.outstanding += ended.outstanding;
    }
}

impl Measured for Ping {
    const SCOPE: Scope = Scope::Ping;
    const ROWS: &'static [Row<Ping>] = &[
        row("rtt_mean_s", Unit::Seconds, "mean time from a request to its reply", |ping| ping.rtt.mean),
        row("rtt_p50_s", Unit::Seconds, "their median, to within 1/32 as all percentiles", |ping| {
            ping.rtt.median
        }),
        row("rtt_p95_s", Unit::Seconds, "their 95th percentile", |ping| ping.rtt.p95),
        row("rtt_p99_s", Unit::Seconds, "their 99th percentile", |ping| ping.rtt.p99),
        row("rtt_max_s", Unit::Seconds, "the longest of them", |ping| ping.rtt.longest),
        row("requests_sent", Unit::Packets, "requests sent", |ping| Some(ping.sent as f64)),
        row("requests_answered", Unit::Packets, "requests whose reply arrived", |ping| {
            Some(ping.answered as f64)
        }),
        row(
            "lost_share",
            Unit::One,
            "share of requests lost, or whose reply was lost; those in transit at the end do not count",
            |ping| {
                let settled = ping.sent - ping.outstanding;
                ratio((settled - ping.answered) as f64, settled as f64)
            },
        ),
    ];
}
