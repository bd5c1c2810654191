//! The metrics of a probe: round trips and losses, as `ping` reports them.

use super::row::{Measured, ratio, rows};
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
    rows! { |ping|
        /// mean time from a request to its reply
        "rtt_mean_s": Seconds = ping.rtt.mean;
        /// their median, to within 1/32 as all percentiles
        "rtt_p50_s": Seconds = ping.rtt.median;
        /// their 95th percentile
        "rtt_p95_s": Seconds = ping.rtt.p95;
        /// their 99th percentile
        "rtt_p99_s": Seconds = ping.rtt.p99;
        /// the longest of them
        "rtt_max_s": Seconds = ping.rtt.longest;
        /// requests sent
        "requests_sent": Packets = Some(ping.sent as f64);
        /// requests whose reply arrived
        "requests_answered": Packets = Some(ping.answered as f64);
        /// share of requests lost, or whose reply was lost; those in transit at the end do not count
        "lost_share": One = {
            let settled = ping.sent - ping.outstanding;
            ratio((settled - ping.answered) as f64, settled as f64)
        };
    }
}
