//! The metrics of one flow, or of the data that goes back on its connection.

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
            "IP bytes that reached the receiver, headers and repetitions included",
            |flow| flow.rate(|it| it.bytes_received),
        ),
        row(
            "completion_s",
            Unit::Seconds,
            "from the start of the source to the last byte in order at the receiver; none of a file that was cut off",
            |flow| flow.ended.completion.map(Span::as_secs),
        ),
        row(
            "acknowledged_s",
            Unit::Seconds,
            "from the start of the source to the acknowledgement of the last byte at the sender; none of a file that was cut off",
            |flow| flow.ended.acknowledged.map(Span::as_secs),
        ),
        row("segments_sent", Unit::Segments, "data segments sent, repetitions included", |flow| {
            flow.number(|it| it.sender.segments_sent)
        }),
        row(
            "retransmits",
            Unit::Segments,
            "data segments sent again, and SYNs and FINs without data",
            |flow| flow.number(|it| it.sender.all_again()),
        ),
        row(
            "retransmitted_share",
            Unit::One,
            "share of the data segments sent that were sent again",
            |flow| flow.sending().share(),
        ),
        row(
            "repeats_received",
            Unit::Segments,
            "segments that brought their receiver nothing new: retransmissions that were unnecessary",
            |flow| flow.number(|it| it.repeats_received),
        ),
        row(
            "timeouts",
            Unit::Timeouts,
            "times the retransmission timer fired for data or a FIN, and not for a SYN or a probe of a closed window",
            |flow| flow.number(|it| it.sender.timeouts),
        ),
        row(
            "timeouts_spurious",
            Unit::Timeouts,
            "those of them at which the segment, or its acknowledgement, was on its way or waited in a queue",
            |flow| flow.number(|it| it.spurious_timeouts),
        ),
        row(
            "fast_retransmits",
            Unit::Losses,
            "losses detected by duplicate or selective acknowledgements",
            |flow| flow.number(|it| it.sender.fast_retransmits),
        ),
        row("loss_indications", Unit::Losses, "fast retransmits and series of timeouts", |flow| {
            flow.number(|it| it.sender.fast_retransmits + it.sender.timeout_series)
        }),
        row(
            "timeout_first_mean_s",
            Unit::Seconds,
            "mean length of the first timeout of each series",
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
            "mean of the round trips the sender measured, without the handshake's",
            |flow| ratio(flow.time(|it| it.sender.rtt_sum), flow.rtt_samples() as f64),
        ),
        row("rtt_max_s", Unit::Seconds, "longest round trip the sender measured", |flow| {
            (flow.rtt_samples() > 0).then(|| flow.ended.sender.rtt_max.as_secs())
        }),
        row("rtt_sd_s", Unit::Seconds, "standard deviation of the round trips the sender measured", |flow| {
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
            "transfer_bps",
            Unit::BitsPerSecond,
            "rate of a file over its own transfer: its bytes over completion_s; none of a file that has not come whole",
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
        "mean over the losses of the payload that the law believes the path to carry (Westwood, Westwood+, BBR)",
        |EstimatingFlow { flow, segment }| {
            let segments = flow.ended.sender.estimate_sum - flow.began.sender.estimate_sum;
            let bits = segments * 8.0 * f64::from(*segment);
            ratio(bits, flow.count(|it| it.sender.estimates) as f64)
        },
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
            "payload that reached the receiver, of each datagram once",
            |flow| flow.rate(|it| it.receiver.payload_received),
        ),
        row(
            "throughput_bps",
            Unit::BitsPerSecond,
            "IP bytes that reached the receiver, headers and duplicates included",
            |flow| flow.rate(|it| it.receiver.bytes_received),
        ),
        row("packets_sent", Unit::Packets, "datagrams sent", |flow| flow.number(|it| it.sender.sent)),
        row(
            "packets_received",
            Unit::Packets,
            "those of them that were received, each counted once",
            |flow| Some(flow.ended.receiver.received_of_measured as f64),
        ),
        row("duplicates_received", Unit::Packets, "datagrams that came to the receiver again", |flow| {
            flow.number(|it| it.receiver.duplicates)
        }),
        row("delay_mean_s", Unit::Seconds, "mean one-way delay of the datagrams received", |flow| {
            let sum = flow.ended.receiver.delay_sum - flow.began.receiver.delay_sum;
            ratio(sum.as_secs(), flow.received() as f64)
        }),
        row("delay_max_s", Unit::Seconds, "longest one-way delay of the datagrams received", |flow| {
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
            "mean over the datagrams received of the interarrival jitter after each (RFC 3550, 6.4.1)",
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
            "losses of the channel, detected by duplicates, taken for random",
            |judge| judge.of(Noticed::Fast, Verdict::RandomAsRandom),
        ),
        row(
            "fast.random_as_congestion",
            Unit::Losses,
            "losses of the channel, detected by duplicates, taken for congestion",
            |judge| judge.of(Noticed::Fast, Verdict::RandomAsCongestion),
        ),
        row(
            "fast.congestion_as_random",
            Unit::Losses,
            "losses of a full queue, detected by duplicates, taken for random",
            |judge| judge.of(Noticed::Fast, Verdict::CongestionAsRandom),
        ),
        row(
            "fast.congestion_as_congestion",
            Unit::Losses,
            "losses of a full queue, detected by duplicates, taken for congestion",
            |judge| judge.of(Noticed::Fast, Verdict::CongestionAsCongestion),
        ),
        row(
            "fast.spurious",
            Unit::Losses,
            "losses inferred from duplicates though nothing was lost",
            |judge| judge.of(Noticed::Fast, Verdict::Spurious),
        ),
        row(
            "timeout.random_as_random",
            Unit::Losses,
            "losses of the channel, detected by the timer, taken for random",
            |judge| judge.of(Noticed::Timeout, Verdict::RandomAsRandom),
        ),
        row(
            "timeout.random_as_congestion",
            Unit::Losses,
            "losses of the channel, detected by the timer, taken for congestion",
            |judge| judge.of(Noticed::Timeout, Verdict::RandomAsCongestion),
        ),
        row(
            "timeout.congestion_as_random",
            Unit::Losses,
            "losses of a full queue, detected by the timer, taken for random",
            |judge| judge.of(Noticed::Timeout, Verdict::CongestionAsRandom),
        ),
        row(
            "timeout.congestion_as_congestion",
            Unit::Losses,
            "losses of a full queue, detected by the timer, taken for congestion",
            |judge| judge.of(Noticed::Timeout, Verdict::CongestionAsCongestion),
        ),
        row(
            "timeout.spurious",
            Unit::Losses,
            "losses inferred from the timer though nothing was lost",
            |judge| judge.of(Noticed::Timeout, Verdict::Spurious),
        ),
    ];
}
