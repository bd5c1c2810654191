//! Samples of flows and agents at a point in time.

use lasthop_stack::hooks::Count;
use lasthop_stack::transport::tcp::sender::SenderCounters;
use lasthop_stack::transport::udp::UdpCounters;
use lasthop_stack::units::Span;

use super::outages::Resumed;
use crate::probe::jitter::Jitter;
use crate::probe::judgement::Matrix;
use crate::probe::spread::Summary;

/// The counters of a flow at some time.
#[derive(Clone, Debug)]
pub(crate) enum FlowSample {
    Tcp(TcpSample),
    Udp(UdpSample),
    #[cfg_attr(
        not(feature = "quic"),
        expect(dead_code, reason = "the rows of its metrics are in every build")
    )]
    Quic(QuicSample),
}

/// The counters of a flow over TCP.
#[derive(Clone, Debug)]
pub(crate) struct TcpSample {
    pub(crate) sender: SenderCounters,
    pub(crate) delivered: u64,
    /// The bytes that a user has received, by class.
    pub(crate) by_class: [u64; 3],
    pub(crate) bytes_received: u64,
    /// Bytes of the file that it sends, if it sends one.
    pub(crate) file: Option<u64>,
    pub(crate) completion: Option<Span>,
    pub(crate) acknowledged: Option<Span>,
    pub(crate) falsely_acknowledged: u64,
    pub(crate) spurious_timeouts: u64,
    pub(crate) repeats_received: u64,
    /// Acknowledgements that its receiver sent without data.
    pub(crate) acks_sent: u64,
    /// Of the measured time only.
    pub(crate) rtt: Summary,
    /// Of the measured time alone.
    pub(crate) resumed: Resumed,
    /// The counters of the law in force.
    pub(crate) law: Vec<Count>,
    /// How each judging law classified losses, in the order of the scenario.
    pub(crate) judged: Vec<Matrix>,
}

/// The counters of a flow over UDP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UdpSample {
    pub(crate) sender: UdpCounters,
    pub(crate) receiver: UdpCounters,
    /// Of the measured time only.
    pub(crate) delays: Summary,
    pub(crate) jitter: Jitter,
    /// Requests of a probe that are in transit, or whose answers are.
    pub(crate) outstanding: u64,
}

/// The counters of a flow over QUIC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuicSample {
    pub(crate) delivered: u64,
    /// The bytes that a user has received, by class.
    pub(crate) by_class: [u64; 3],
    pub(crate) bytes_received: u64,
    /// Packets with data, and those of them with data that had been sent before.
    pub(crate) data_sent: u64,
    pub(crate) data_again: u64,
    /// The same in bytes of data.
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_again: u64,
    /// Packets of its receiver that need no acknowledgement.
    pub(crate) acks_sent: u64,
    /// Packets declared lost.
    pub(crate) lost: u64,
    pub(crate) probe_timeouts: u64,
    /// Times the window was reduced, and those of persistent congestion.
    pub(crate) reductions: u64,
    pub(crate) persistent: u64,
    /// The window in full packets, integrated over time.
    pub(crate) window_seconds: f64,
    /// Of a flow with one path, nothing of that is counted by path.
    pub(crate) paths: [PathSample; 2],
    /// Of the measured time only.
    pub(crate) rtt: Summary,
    /// Bytes of the file that it sends, if it sends one.
    pub(crate) file: Option<u64>,
    pub(crate) handshake: Option<Span>,
    pub(crate) completion: Option<Span>,
    pub(crate) acknowledged: Option<Span>,
}

/// The counters of one path of a flow over QUIC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathSample {
    pub(crate) bytes_received: u64,
    /// Packets with data.
    pub(crate) data_sent: u64,
    /// Packets declared lost.
    pub(crate) lost: u64,
    /// The window in full packets, integrated over time.
    pub(crate) window_seconds: f64,
    /// Of the measured time only.
    pub(crate) rtt: Summary,
}

impl FlowSample {
    pub(super) fn tcp(&self) -> Option<&TcpSample> {
        match self {
            FlowSample::Tcp(sample) => Some(sample),
            FlowSample::Udp(_) | FlowSample::Quic(_) => None,
        }
    }

    pub(super) fn udp(&self) -> Option<&UdpSample> {
        match self {
            FlowSample::Udp(sample) => Some(sample),
            FlowSample::Tcp(_) | FlowSample::Quic(_) => None,
        }
    }

    pub(super) fn quic(&self) -> Option<&QuicSample> {
        match self {
            FlowSample::Quic(sample) => Some(sample),
            FlowSample::Tcp(_) | FlowSample::Udp(_) => None,
        }
    }

    /// Application bytes received, each once.
    pub(super) fn delivered(&self) -> u64 {
        match self {
            FlowSample::Tcp(sample) => sample.delivered,
            FlowSample::Udp(sample) => sample.receiver.payload_received,
            FlowSample::Quic(sample) => sample.delivered,
        }
    }

    /// The bytes that a user has received, by class.
    pub(super) fn by_class(&self) -> [u64; 3] {
        match self {
            FlowSample::Tcp(sample) => sample.by_class,
            FlowSample::Udp(_) => [0; 3],
            FlowSample::Quic(sample) => sample.by_class,
        }
    }

    /// Bytes of all IP packets received.
    pub(super) fn received(&self) -> u64 {
        match self {
            FlowSample::Tcp(sample) => sample.bytes_received,
            FlowSample::Udp(sample) => sample.receiver.bytes_received,
            FlowSample::Quic(sample) => sample.bytes_received,
        }
    }
}
