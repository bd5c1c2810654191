//! The metrics of one flow, or of the reverse data of its connection.

use lasthop_stack::transport::tcp::sender::Limit;
use lasthop_stack::units::Span;

use super::group::Sending;
use super::row::{Measured, Row, Scope, Unit, ratio, row};
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
    const SCOPE: Scope = Scope::TcpFlow;
    const ROWS: &'static [Row<TcpFlow>] = &[
        row(
            "goodput_bps",
            Unit::BitsPerSecond,
            "application bytes in order at the receiver over the measured time",
            |flow| flow.rate(|it| it.delivered),
        ),
        row(
            "throughput_bps",
            Unit::BitsPerSecond,
            "IP bytes that reached the receiver, including headers and retransmissions",
            |flow| flow.rate(|it| it.bytes_received),
        ),
        row(
            "completion_s",
            Unit::Seconds,
            "time from the start of the source to the last byte in order at the receiver; none for an incomplete file",
            |flow| flow.ended.completion.map(Span::as_secs),
        ),
        row(
            "acknowledged_s",
            Unit::Seconds,
            "time from the start of the source to the acknowledgement of the last byte at the sender; none for an incomplete file",
            |flow| flow.ended.acknowledged.map(Span::as_secs),
        ),
        row("segments_sent", Unit::Segments, "data segments sent, including retransmissions", |flow| {
            flow.number(|it| it.sender.segments_sent)
        }),
        row(
            "retransmits",
            Unit::Segments,
            "retransmitted data segments, SYNs and FINs without data",
            |flow| flow.number(|it| it.sender.all_again()),
        ),
        row("retransmitted_share", Unit::One, "share of retransmitted data segments", |flow| {
            flow.sending().share()
        }),
        row(
            "repeats_received",
            Unit::Segments,
            "segments without new data for their receiver: unnecessary retransmissions",
            |flow| flow.number(|it| it.repeats_received),
        ),
        row("acks_sent", Unit::Segments, "acknowledgements that the receiver sent without data", |flow| {
            flow.number(|it| it.acks_sent)
        }),
        row(
            "acks_per_segment",
            Unit::One,
            "acknowledgements that the receiver sent without data, per data segment sent",
            |flow| {
                ratio(flow.count(|it| it.acks_sent) as f64, flow.count(|it| it.sender.segments_sent) as f64)
            },
        ),
        row(
            "timeouts",
            Unit::Timeouts,
            "retransmission timeouts for data or a FIN, not for a SYN or a window probe",
            |flow| flow.number(|it| it.sender.timeouts),
        ),
        row(
            "timeouts_spurious",
            Unit::Timeouts,
            "timeouts while the segment or its acknowledgement was in transit or queued",
            |flow| flow.number(|it| it.spurious_timeouts),
        ),
        row(
            "fast_retransmits",
            Unit::Losses,
            "losses detected by duplicate or selective acknowledgements",
            |flow| flow.number(|it| it.sender.fast_retransmits),
        ),
        row("tail_probes", Unit::Segments, "tail loss probes sent, new segments included", |flow| {
            flow.number(|it| it.sender.tail_probes)
        }),
        row("loss_indications", Unit::Losses, "fast retransmits and series of timeouts", |flow| {
            flow.number(|it| it.sender.fast_retransmits + it.sender.timeout_series)
        }),
        row(
            "timeout_first_mean_s",
            Unit::Seconds,
            "mean duration of the first timeout of each series",
            |flow| {
                ratio(
                    flow.time(|it| it.sender.first_timeouts),
                    flow.count(|it| it.sender.timeout_series) as f64,
                )
            },
        ),
        row(
            "rtt_mean_s",
            Unit::Seconds,
            "mean of the sender's round-trip samples, without the handshake",
            |flow| ratio(flow.time(|it| it.sender.rtt_sum), flow.rtt_samples() as f64),
        ),
        row("rtt_max_s", Unit::Seconds, "maximum of the sender's round-trip samples", |flow| {
            (flow.rtt_samples() > 0).then(|| flow.ended.sender.rtt_max.as_secs())
        }),
        row("rtt_sd_s", Unit::Seconds, "standard deviation of the sender's round-trip samples", |flow| {
            flow.ended.rtt.deviation
        }),
        row("rtt_p50_s", Unit::Seconds, "their median, to within 1/32 as all percentiles", |flow| {
            flow.ended.rtt.median
        }),
        row("rtt_p95_s", Unit::Seconds, "their 95th percentile", |flow| flow.ended.rtt.p95),
        row("rtt_p99_s", Unit::Seconds, "their 99th percentile", |flow| flow.ended.rtt.p99),
        row("cwnd_mean_segments", Unit::Segments, "mean congestion window over time", |flow| {
            ratio(flow.ended.sender.cwnd_seconds - flow.began.sender.cwnd_seconds, flow.seconds)
        }),
        row(
            "limited_by_application_share",
            Unit::One,
            "share of the measured time in which the sender had nothing to send",
            |flow| flow.limited(Limit::Application),
        ),
        row(
            "limited_by_receiver_share",
            Unit::One,
            "share of the measured time in which the receiver's window, or tcp.window, was full",
            |flow| flow.limited(Limit::Receiver),
        ),
        row(
            "limited_by_pace_share",
            Unit::One,
            "share of the measured time in which the pace, or small-queue, held the next segment back",
            |flow| flow.limited(Limit::Pace),
        ),
        row(
            "limited_by_window_share",
            Unit::One,
            "share of the measured time in which the congestion window was full, or losses were repaired",
            |flow| flow.limited(Limit::Window),
        ),
        row(
            "transfer_bps",
            Unit::BitsPerSecond,
            "rate of a file: its bytes over completion_s; none for an incomplete file",
            |flow| ratio(flow.ended.file? as f64 * 8.0, flow.ended.completion?.as_secs()),
        ),
    ];
}

/// A law's estimates of the path's rate between two samples, in segments of `segment` bytes.
pub(super) struct EstimatingFlow {
    pub(super) flow: TcpFlow,
    pub(super) segment: u32,
}

impl Measured for EstimatingFlow {
    const SCOPE: Scope = Scope::EstimatingFlow;
    const ROWS: &'static [Row<EstimatingFlow>] = &[row(
        "rate_estimate_bps",
        Unit::BitsPerSecond,
        "mean over losses and answered marks of the law's estimate of the path's payload rate (Westwood, Westwood+, BBR, BBRv3, TCP-Jersey)",
        |EstimatingFlow { flow, segment }| {
            let segments = flow.ended.sender.estimate_sum - flow.began.sender.estimate_sum;
            let bits = segments * 8.0 * f64::from(*segment);
            ratio(bits, flow.count(|it| it.sender.estimates) as f64)
        },
    )];
}

/// A flow that uses ECN between two samples.
pub(super) struct EcnFlow(pub(super) TcpFlow);

impl Measured for EcnFlow {
    const SCOPE: Scope = Scope::EcnFlow;
    const ROWS: &'static [Row<EcnFlow>] = &[row(
        "marks_answered",
        Unit::Counted("marks"),
        "marks that the law was asked to answer, one per window of data",
        |flow| flow.0.number(|it| it.sender.marks_answered),
    )];
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
    const SCOPE: Scope = Scope::UdpFlow;
    const ROWS: &'static [Row<UdpFlow>] = &[
        row(
            "goodput_bps",
            Unit::BitsPerSecond,
            "payload that reached the receiver, each datagram counted once",
            |flow| flow.rate(|it| it.receiver.payload_received),
        ),
        row(
            "throughput_bps",
            Unit::BitsPerSecond,
            "IP bytes that reached the receiver, including headers and duplicates",
            |flow| flow.rate(|it| it.receiver.bytes_received),
        ),
        row("packets_sent", Unit::Packets, "datagrams sent", |flow| flow.number(|it| it.sender.sent)),
        row("packets_received", Unit::Packets, "datagrams received, each counted once", |flow| {
            Some(flow.ended.receiver.received_of_measured as f64)
        }),
        row("duplicates_received", Unit::Packets, "duplicate datagrams received", |flow| {
            flow.number(|it| it.receiver.duplicates)
        }),
        row("delay_mean_s", Unit::Seconds, "mean one-way delay of the datagrams received", |flow| {
            let sum = flow.ended.receiver.delay_sum - flow.began.receiver.delay_sum;
            ratio(sum.as_secs(), flow.received() as f64)
        }),
        row("delay_max_s", Unit::Seconds, "maximum one-way delay of the datagrams received", |flow| {
            (flow.received() > 0).then(|| flow.ended.receiver.delay_max.as_secs())
        }),
        row("delay_p50_s", Unit::Seconds, "their median, to within 1/32 as all percentiles", |flow| {
            flow.ended.delays.median
        }),
        row("delay_p95_s", Unit::Seconds, "their 95th percentile", |flow| flow.ended.delays.p95),
        row("delay_p99_s", Unit::Seconds, "their 99th percentile", |flow| flow.ended.delays.p99),
        row(
            "jitter_s",
            Unit::Seconds,
            "mean over the datagrams received of the interarrival jitter (RFC 3550, 6.4.1)",
            |flow| flow.ended.jitter.mean_since(&flow.began.jitter),
        ),
    ];
}

/// How a law classified losses, against what caused them.
pub(super) struct Judge(pub(super) Matrix);

impl Judge {
    fn of(&self, noticed: Noticed, verdict: Verdict) -> Option<f64> {
        Some(self.0.of(noticed, verdict) as f64)
    }
}

impl Measured for Judge {
    const SCOPE: Scope = Scope::Judge;
    const ROWS: &'static [Row<Judge>] = &[
        row(
            "fast.random_as_random",
            Unit::Losses,
            "channel losses, detected by duplicate ACKs, classified as random",
            |judge| judge.of(Noticed::Fast, Verdict::RandomAsRandom),
        ),
        row(
            "fast.random_as_congestion",
            Unit::Losses,
            "channel losses, detected by duplicate ACKs, classified as congestion",
            |judge| judge.of(Noticed::Fast, Verdict::RandomAsCongestion),
        ),
        row(
            "fast.congestion_as_random",
            Unit::Losses,
            "queue drops, detected by duplicate ACKs, classified as random",
            |judge| judge.of(Noticed::Fast, Verdict::CongestionAsRandom),
        ),
        row(
            "fast.congestion_as_congestion",
            Unit::Losses,
            "queue drops, detected by duplicate ACKs, classified as congestion",
            |judge| judge.of(Noticed::Fast, Verdict::CongestionAsCongestion),
        ),
        row(
            "fast.spurious",
            Unit::Losses,
            "false detections by duplicate ACKs: no segment was lost",
            |judge| judge.of(Noticed::Fast, Verdict::Spurious),
        ),
        row(
            "timeout.random_as_random",
            Unit::Losses,
            "channel losses, detected by timeout, classified as random",
            |judge| judge.of(Noticed::Timeout, Verdict::RandomAsRandom),
        ),
        row(
            "timeout.random_as_congestion",
            Unit::Losses,
            "channel losses, detected by timeout, classified as congestion",
            |judge| judge.of(Noticed::Timeout, Verdict::RandomAsCongestion),
        ),
        row(
            "timeout.congestion_as_random",
            Unit::Losses,
            "queue drops, detected by timeout, classified as random",
            |judge| judge.of(Noticed::Timeout, Verdict::CongestionAsRandom),
        ),
        row(
            "timeout.congestion_as_congestion",
            Unit::Losses,
            "queue drops, detected by timeout, classified as congestion",
            |judge| judge.of(Noticed::Timeout, Verdict::CongestionAsCongestion),
        ),
        row("timeout.spurious", Unit::Losses, "false detections by timeout: no segment was lost", |judge| {
            judge.of(Noticed::Timeout, Verdict::Spurious)
        }),
    ];
}
