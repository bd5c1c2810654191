//! The metrics of a group of flows.

use super::row::{Measured, ratio, rows};
use super::samples::TcpSample;
use crate::probe::spread::Summary;

/// The segments and waits of TCP senders between two samples, summed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sending {
    segments: u64,
    again: u64,
    pub(super) timeouts: u64,
    pub(super) spurious: u64,
}

impl Sending {
    /// Adds the counters of one of them.
    pub(super) fn add(&mut self, began: &TcpSample, ended: &TcpSample) {
        self.segments += ended.sender.segments_sent - began.sender.segments_sent;
        self.again += ended.sender.retransmits - began.sender.retransmits;
        self.timeouts += ended.sender.timeouts - began.sender.timeouts;
        self.spurious += ended.spurious_timeouts - began.spurious_timeouts;
    }

    /// The share of the data segments that were sent again.
    pub(super) fn share(&self) -> Option<f64> {
        ratio(self.again as f64, self.segments as f64)
    }
}

/// The flows of a group.
pub(super) struct Group {
    pub(super) goodput_bps: f64,
    pub(super) throughput_bps: f64,
}

impl Measured for Group {
    rows! { |group|
        /// sum of the goodputs of the group's flows
        "goodput_bps": BitsPerSecond = Some(group.goodput_bps);
        /// sum of the throughputs of the group's flows
        "throughput_bps": BitsPerSecond = Some(group.throughput_bps);
    }
}

/// Those of a group's flows that go over TCP.
pub(super) struct TcpGroup {
    pub(super) sending: Sending,
    /// Round trips of all its senders.
    pub(super) rtt: Summary,
}

impl Measured for TcpGroup {
    rows! { |group|
        /// share of retransmitted data segments of the group's flows
        "retransmitted_share": One = group.sending.share();
        /// timeouts of the group's flows
        "timeouts": Timeouts = Some(group.sending.timeouts as f64);
        /// spurious timeouts of the group's flows
        "timeouts_spurious": Timeouts = Some(group.sending.spurious as f64);
        /// mean of the round-trip samples of all senders of the group
        "rtt_mean_s": Seconds = group.rtt.mean;
        /// median of the round-trip samples of all senders of the group, to within 1/32
        "rtt_p50_s": Seconds = group.rtt.median;
        /// their 95th percentile
        "rtt_p95_s": Seconds = group.rtt.p95;
        /// their 99th percentile
        "rtt_p99_s": Seconds = group.rtt.p99;
    }
}
