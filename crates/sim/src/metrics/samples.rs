//! What flows and agents have done up to some time.

use lasthop_stack::transport::tcp::sender::Counters as TcpCounters;
use lasthop_stack::transport::udp::Counters as UdpCounters;
use lasthop_stack::units::Span;

use crate::probe::judgement::Matrix;
use crate::probe::spread::RttSummary;

/// What a flow has done up to some time.
#[derive(Clone, Debug)]
pub(crate) enum FlowSample {
    Tcp {
        sender: TcpCounters,
        delivered: u64,
        /// What came for a user, by class.
        by_class: [u64; 3],
        bytes_received: u64,
        completion: Option<Span>,
        acknowledged: Option<Span>,
        falsely_acknowledged: u64,
        spurious_timeouts: u64,
        repeats_received: u64,
        /// Of the measured time alone.
        rtt: RttSummary,
        judged: Vec<Matrix>,
    },
    Udp {
        sender: UdpCounters,
        receiver: UdpCounters,
    },
}

impl FlowSample {
    pub(super) fn falsely_acknowledged(&self) -> u64 {
        match self {
            FlowSample::Tcp { falsely_acknowledged, .. } => *falsely_acknowledged,
            FlowSample::Udp { .. } => 0,
        }
    }
}
