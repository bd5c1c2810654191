//! What flows and agents have done up to some time.

use lasthop_stack::schemes::ProxyTcp;
use lasthop_stack::schemes::lle_tcp;
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

/// What all agents have done up to some time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AgentSample {
    pub(crate) generated: u64,
    pub(crate) suppressed: u64,
    pub(crate) passed: u64,
    pub(crate) repaired: u64,
    pub(crate) false_negatives: u64,
    pub(crate) unconfirmed: u64,
    pub(crate) state_bytes_max: u64,
}

impl AgentSample {
    pub(crate) fn of_lle(counters: &lle_tcp::Counters) -> AgentSample {
        AgentSample {
            generated: counters.generated,
            suppressed: counters.suppressed,
            passed: counters.passed,
            repaired: counters.repaired,
            false_negatives: counters.false_negatives,
            unconfirmed: counters.unconfirmed + counters.never_confirmed,
            state_bytes_max: counters.state_bytes_max,
        }
    }

    pub(crate) fn of_proxy(agent: &ProxyTcp) -> AgentSample {
        let counters = agent.counters();
        AgentSample {
            suppressed: counters.hidden,
            passed: counters.passed + counters.released,
            repaired: counters.resent,
            state_bytes_max: agent.state_bytes_max(),
            ..AgentSample::default()
        }
    }

    pub(crate) fn add(&mut self, other: &AgentSample) {
        self.generated += other.generated;
        self.suppressed += other.suppressed;
        self.passed += other.passed;
        self.repaired += other.repaired;
        self.false_negatives += other.false_negatives;
        self.unconfirmed += other.unconfirmed;
        self.state_bytes_max += other.state_bytes_max;
    }
}
