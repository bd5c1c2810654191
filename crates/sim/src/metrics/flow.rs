//! The metrics of one flow, or of the reverse data of its connection.

use lasthop_stack::transport::tcp::sender::Limit;
use lasthop_stack::units::Span;

use super::group::Sending;
use super::row::{Measured, ratio, rows};
use super::samples::{TcpSample, UdpSample};
use crate::probe::judgement::{Matrix, Noticed, Verdict};

/// A flow over TCP between two samples.
pub(super) struct TcpFlow {
    pub(super) began: TcpSample,
    pub(super) ended: TcpSample,
    pub(super) seconds: f64,
}

impl TcpFlow {
    fn count(&self, of: fn(&TcpSample) -> u64) -> u64 {
        of(&self.ended) - of(&self.began)
    }

    fn number(&self, of: fn(&TcpSample) -> u64) -> Option<f64> {
        Some(self.count(of) as f64)
    }

    fn rate(&self, of: fn(&TcpSample) -> u64) -> Option<f64> {
        ratio(self.count(of) as f64 * 8.0, self.seconds)
    }

    fn time(&self, of: fn(&TcpSample) -> Span) -> f64 {
        (of(&self.ended) - of(&self.began)).as_secs()
    }

    fn limited(&self, by: Limit) -> Option<f64> {
        let spent = |sample: &TcpSample| sample.sender.limited[by as usize];
        ratio((spent(&self.ended) - spent(&self.began)).as_secs(), self.seconds)
    }

    fn sending(&self) -> Sending {
        let mut sent = Sending::default();
        sent.add(&self.began, &self.ended);
        sent
    }

    fn rtt_samples(&self) -> u64 {
        self.count(|it| it.sender.rtt_samples)
    }
}

impl Measured for TcpFlow {
    rows! { |flow|
        /// application bytes in order at the receiver over the measured time
        "goodput_bps": BitsPerSecond = flow.rate(|it| it.delivered);
        /// IP bytes that reached the receiver, including headers and retransmissions
        "throughput_bps": BitsPerSecond = flow.rate(|it| it.bytes_received);
        /// time from the start of the source to the last byte in order at the receiver; none for an incomplete file
        "completion_s": Seconds = flow.ended.completion.map(Span::as_secs);
        /// time from the start of the source to the acknowledgement of the last byte at the sender; none for an
        /// incomplete file
        "acknowledged_s": Seconds = flow.ended.acknowledged.map(Span::as_secs);
        /// data segments sent, including retransmissions
        "segments_sent": Segments = flow.number(|it| it.sender.segments_sent);
        /// retransmitted data segments, SYNs and FINs without data
        "retransmits": Segments = flow.number(|it| it.sender.all_again());
        /// share of retransmitted data segments
        "retransmitted_share": One = flow.sending().share();
        /// segments without new data for their receiver: unnecessary retransmissions
        "repeats_received": Segments = flow.number(|it| it.repeats_received);
        /// acknowledgements that the receiver sent without data
        "acks_sent": Segments = flow.number(|it| it.acks_sent);
        /// acknowledgements that the receiver sent without data, per data segment sent
        "acks_per_segment": One =
            ratio(flow.count(|it| it.acks_sent) as f64, flow.count(|it| it.sender.segments_sent) as f64);
        /// retransmission timeouts for data or a FIN, not for a SYN or a window probe
        "timeouts": Timeouts = flow.number(|it| it.sender.timeouts);
        /// timeouts while the segment or its acknowledgement was in transit or queued
        "timeouts_spurious": Timeouts = flow.number(|it| it.spurious_timeouts);
        /// losses detected by duplicate or selective acknowledgements
        "fast_retransmits": Losses = flow.number(|it| it.sender.fast_retransmits);
        /// tail loss probes sent, new segments included
        "tail_probes": Segments = flow.number(|it| it.sender.tail_probes);
        /// fast retransmits and series of timeouts
        "loss_indications": Losses = flow.number(|it| it.sender.fast_retransmits + it.sender.timeout_series);
        /// mean duration of the first timeout of each series
        "timeout_first_mean_s": Seconds = ratio(
            flow.time(|it| it.sender.first_timeouts),
            flow.count(|it| it.sender.timeout_series) as f64,
        );
        /// mean of the sender's round-trip samples, without the handshake
        "rtt_mean_s": Seconds = ratio(flow.time(|it| it.sender.rtt_sum), flow.rtt_samples() as f64);
        /// maximum of the sender's round-trip samples
        "rtt_max_s": Seconds = (flow.rtt_samples() > 0).then(|| flow.ended.sender.rtt_max.as_secs());
        /// standard deviation of the sender's round-trip samples
        "rtt_sd_s": Seconds = flow.ended.rtt.deviation;
        /// their median, to within 1/32 as all percentiles
        "rtt_p50_s": Seconds = flow.ended.rtt.median;
        /// their 95th percentile
        "rtt_p95_s": Seconds = flow.ended.rtt.p95;
        /// their 99th percentile
        "rtt_p99_s": Seconds = flow.ended.rtt.p99;
        /// mean congestion window over time
        "cwnd_mean_segments": Segments =
            ratio(flow.ended.sender.cwnd_seconds - flow.began.sender.cwnd_seconds, flow.seconds);
        /// share of the measured time in which the sender had nothing to send
        "limited_by_application_share": One = flow.limited(Limit::Application);
        /// share of the measured time in which the receiver's window, or tcp.window, was full
        "limited_by_receiver_share": One = flow.limited(Limit::Receiver);
        /// share of the measured time in which the pace, or small-queue, held the next segment back
        "limited_by_pace_share": One = flow.limited(Limit::Pace);
        /// share of the measured time in which the congestion window was full, or losses were repaired
        "limited_by_window_share": One = flow.limited(Limit::Window);
        /// rate of a file: its bytes over completion_s; none for an incomplete file
        "transfer_bps": BitsPerSecond = ratio(flow.ended.file? as f64 * 8.0, flow.ended.completion?.as_secs());
    }
}

/// A law's estimates of the path's rate between two samples, in segments of `segment` bytes.
pub(super) struct EstimatingFlow {
    pub(super) flow: TcpFlow,
    pub(super) segment: u32,
}

impl Measured for EstimatingFlow {
    rows! { |EstimatingFlow { flow, segment }|
        /// mean over losses and answered marks of the law's estimate of the path's payload rate (Westwood, Westwood+,
        /// BBR, BBRv3, TCP-Jersey)
        "rate_estimate_bps": BitsPerSecond = {
            let segments = flow.ended.sender.estimate_sum - flow.began.sender.estimate_sum;
            let bits = segments * 8.0 * f64::from(*segment);
            ratio(bits, flow.count(|it| it.sender.estimates) as f64)
        };
    }
}

/// A flow that uses ECN between two samples.
pub(super) struct EcnFlow(pub(super) TcpFlow);

impl Measured for EcnFlow {
    rows! { |flow|
        /// marks that the law was asked to answer, one per window of data
        "marks_answered": Counted("marks") = flow.0.number(|it| it.sender.marks_answered);
    }
}

/// A flow over UDP between two samples.
pub(super) struct UdpFlow {
    pub(super) began: UdpSample,
    pub(super) ended: UdpSample,
    pub(super) seconds: f64,
}

impl UdpFlow {
    fn count(&self, of: fn(&UdpSample) -> u64) -> u64 {
        of(&self.ended) - of(&self.began)
    }

    fn number(&self, of: fn(&UdpSample) -> u64) -> Option<f64> {
        Some(self.count(of) as f64)
    }

    fn rate(&self, of: fn(&UdpSample) -> u64) -> Option<f64> {
        ratio(self.count(of) as f64 * 8.0, self.seconds)
    }

    fn received(&self) -> u64 {
        self.count(|it| it.receiver.received)
    }
}

impl Measured for UdpFlow {
    rows! { |flow|
        /// payload that reached the receiver, each datagram counted once
        "goodput_bps": BitsPerSecond = flow.rate(|it| it.receiver.payload_received);
        /// IP bytes that reached the receiver, including headers and duplicates
        "throughput_bps": BitsPerSecond = flow.rate(|it| it.receiver.bytes_received);
        /// datagrams sent
        "packets_sent": Packets = flow.number(|it| it.sender.sent);
        /// datagrams received, each counted once
        "packets_received": Packets = Some(flow.ended.receiver.received_of_measured as f64);
        /// duplicate datagrams received
        "duplicates_received": Packets = flow.number(|it| it.receiver.duplicates);
        /// mean one-way delay of the datagrams received
        "delay_mean_s": Seconds = {
            let sum = flow.ended.receiver.delay_sum - flow.began.receiver.delay_sum;
            ratio(sum.as_secs(), flow.received() as f64)
        };
        /// maximum one-way delay of the datagrams received
        "delay_max_s": Seconds = (flow.received() > 0).then(|| flow.ended.receiver.delay_max.as_secs());
        /// their median, to within 1/32 as all percentiles
        "delay_p50_s": Seconds = flow.ended.delays.median;
        /// their 95th percentile
        "delay_p95_s": Seconds = flow.ended.delays.p95;
        /// their 99th percentile
        "delay_p99_s": Seconds = flow.ended.delays.p99;
        /// mean over the datagrams received of the interarrival jitter (RFC 3550, 6.4.1)
        "jitter_s": Seconds = flow.ended.jitter.mean_since(&flow.began.jitter);
    }
}

/// How a law classified losses, against what caused them.
pub(super) struct Judge(pub(super) Matrix);

impl Judge {
    fn of(&self, noticed: Noticed, verdict: Verdict) -> Option<f64> {
        Some(self.0.of(noticed, verdict) as f64)
    }
}

impl Measured for Judge {
    rows! { |judge|
        /// channel losses, detected by duplicate ACKs, classified as random
        "fast.random_as_random": Losses = judge.of(Noticed::Fast, Verdict::RandomAsRandom);
        /// channel losses, detected by duplicate ACKs, classified as congestion
        "fast.random_as_congestion": Losses = judge.of(Noticed::Fast, Verdict::RandomAsCongestion);
        /// queue drops, detected by duplicate ACKs, classified as random
        "fast.congestion_as_random": Losses = judge.of(Noticed::Fast, Verdict::CongestionAsRandom);
        /// queue drops, detected by duplicate ACKs, classified as congestion
        "fast.congestion_as_congestion": Losses = judge.of(Noticed::Fast, Verdict::CongestionAsCongestion);
        /// false detections by duplicate ACKs: no segment was lost
        "fast.spurious": Losses = judge.of(Noticed::Fast, Verdict::Spurious);
        /// channel losses, detected by timeout, classified as random
        "timeout.random_as_random": Losses = judge.of(Noticed::Timeout, Verdict::RandomAsRandom);
        /// channel losses, detected by timeout, classified as congestion
        "timeout.random_as_congestion": Losses = judge.of(Noticed::Timeout, Verdict::RandomAsCongestion);
        /// queue drops, detected by timeout, classified as random
        "timeout.congestion_as_random": Losses = judge.of(Noticed::Timeout, Verdict::CongestionAsRandom);
        /// queue drops, detected by timeout, classified as congestion
        "timeout.congestion_as_congestion": Losses = judge.of(Noticed::Timeout, Verdict::CongestionAsCongestion);
        /// false detections by timeout: no segment was lost
        "timeout.spurious": Losses = judge.of(Noticed::Timeout, Verdict::Spurious);
    }
}
