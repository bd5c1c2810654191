//! The metrics of a flow over QUIC. They have the names of those of TCP where they mean the same.

use lasthop_stack::units::Span;

use super::row::{Measured, ratio, rows};
use super::samples::{PathSample, QuicSample};

/// A flow over QUIC between two samples.
pub(super) struct QuicFlow {
    pub(super) began: QuicSample,
    pub(super) ended: QuicSample,
    pub(super) seconds: f64,
}

impl QuicFlow {
    fn count(&self, of: fn(&QuicSample) -> u64) -> u64 {
        of(&self.ended) - of(&self.began)
    }

    fn number(&self, of: fn(&QuicSample) -> u64) -> Option<f64> {
        Some(self.count(of) as f64)
    }

    fn rate(&self, of: fn(&QuicSample) -> u64) -> Option<f64> {
        ratio(self.count(of) as f64 * 8.0, self.seconds)
    }
}

impl Measured for QuicFlow {
    rows! { |flow|
        /// application bytes at the receiver over the measured time, of streams in order
        "goodput_bps": BitsPerSecond = flow.rate(|it| it.delivered);
        /// IP bytes that reached the receiver, including headers and retransmissions
        "throughput_bps": BitsPerSecond = flow.rate(|it| it.bytes_received);
        /// time from the opening of the first connection to the end of its handshake at the sender
        "handshake_s": Seconds = flow.ended.handshake.map(Span::as_secs);
        /// time from the start of the source to the last byte in order at the receiver; none for an incomplete file
        "completion_s": Seconds = flow.ended.completion.map(Span::as_secs);
        /// time from the start of the source to the acknowledgement of the last byte at the sender; none for an
        /// incomplete file
        "acknowledged_s": Seconds = flow.ended.acknowledged.map(Span::as_secs);
        /// packets with data sent, including retransmissions
        "segments_sent": Segments = flow.number(|it| it.data_sent);
        /// packets sent with data that had been sent before
        "retransmits": Segments = flow.number(|it| it.data_again);
        /// share of the bytes of data sent that had been sent before
        "retransmitted_share": One =
            ratio(flow.count(|it| it.bytes_again) as f64, flow.count(|it| it.bytes_sent) as f64);
        /// packets that the sender declared lost
        "packets_lost": Packets = flow.number(|it| it.lost);
        /// packets that the receiver sent with nothing to acknowledge
        "acks_sent": Segments = flow.number(|it| it.acks_sent);
        /// packets that the receiver sent with nothing to acknowledge, per packet with data sent
        "acks_per_segment": One =
            ratio(flow.count(|it| it.acks_sent) as f64, flow.count(|it| it.data_sent) as f64);
        /// probe timeouts, those of the handshake included
        "probe_timeouts": Timeouts = flow.number(|it| it.probe_timeouts);
        /// times that a loss or a mark reduced the congestion window
        "window_reductions": Counted("reductions") = flow.number(|it| it.reductions);
        /// times of persistent congestion, which reduces the window to two packets
        "persistent_congestion": Counted("times") = flow.number(|it| it.persistent);
        /// mean of the sender's round-trip samples, without the handshake
        "rtt_mean_s": Seconds = flow.ended.rtt.mean;
        /// maximum of the sender's round-trip samples
        "rtt_max_s": Seconds = flow.ended.rtt.longest;
        /// standard deviation of the sender's round-trip samples
        "rtt_sd_s": Seconds = flow.ended.rtt.deviation;
        /// their median, to within 1/32 as all percentiles
        "rtt_p50_s": Seconds = flow.ended.rtt.median;
        /// their 95th percentile
        "rtt_p95_s": Seconds = flow.ended.rtt.p95;
        /// their 99th percentile
        "rtt_p99_s": Seconds = flow.ended.rtt.p99;
        /// mean congestion window over time, in full packets
        "cwnd_mean_segments": Segments =
            ratio(flow.ended.window_seconds - flow.began.window_seconds, flow.seconds);
        /// rate of a file: its bytes over completion_s; none for an incomplete file
        "transfer_bps": BitsPerSecond = ratio(flow.ended.file? as f64 * 8.0, flow.ended.completion?.as_secs());
    }
}

/// A path of a flow over QUIC between two samples.
pub(super) struct QuicPath {
    pub(super) flow: QuicFlow,
    pub(super) path: usize,
}

impl QuicPath {
    fn count(&self, of: fn(&PathSample) -> u64) -> u64 {
        let QuicFlow { began, ended, .. } = &self.flow;
        of(&ended.paths[self.path]) - of(&began.paths[self.path])
    }

    fn ended(&self) -> &PathSample {
        &self.flow.ended.paths[self.path]
    }
}

impl Measured for QuicPath {
    rows! { |path|
        /// IP bytes that reached the receiver by this path, including headers and retransmissions
        "throughput_bps": BitsPerSecond = ratio(path.count(|it| it.bytes_received) as f64 * 8.0, path.flow.seconds);
        /// their share of those by all paths
        "share": One = ratio(
            path.count(|it| it.bytes_received) as f64,
            path.flow.count(|it| it.paths.iter().map(|it| it.bytes_received).sum()) as f64,
        );
        /// packets with data sent by this path, including retransmissions
        "segments_sent": Segments = Some(path.count(|it| it.data_sent) as f64);
        /// packets sent by this path that the sender declared lost
        "packets_lost": Packets = Some(path.count(|it| it.lost) as f64);
        /// mean of the sender's round-trip samples by this path, without the handshake
        "rtt_mean_s": Seconds = path.ended().rtt.mean;
        /// maximum of the sender's round-trip samples by this path
        "rtt_max_s": Seconds = path.ended().rtt.longest;
        /// their median
        "rtt_p50_s": Seconds = path.ended().rtt.median;
        /// their 95th percentile
        "rtt_p95_s": Seconds = path.ended().rtt.p95;
        /// mean congestion window of this path over time, in full packets
        "cwnd_mean_segments": Segments = ratio(
            path.ended().window_seconds - path.flow.began.paths[path.path].window_seconds,
            path.flow.seconds,
        );
    }
}
