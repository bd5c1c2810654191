//! The metrics of a whole run.

use super::group::Sending;
use super::row::{Measured, ratio, rows};

/// All flows of a run.
pub(super) struct Run {
    /// Of each flow, and of its reverse data.
    pub(super) goodputs_bps: Vec<f64>,
    pub(super) seconds: f64,
}

impl Measured for Run {
    rows! { |run|
        /// sum of the goodputs of all flows except probes, including their reverse data
        "goodput_bps": BitsPerSecond = (run.seconds > 0.0).then(|| run.goodputs_bps.iter().sum());
    }
}

/// The flows of a run with several; the fairness of one flow has no meaning.
pub(super) struct SeveralFlows {
    pub(super) goodputs_bps: Vec<f64>,
}

impl Measured for SeveralFlows {
    rows! { |run|
        /// Jain's fairness index over the goodputs of at least two flows, without probes; reverse data counts as a flow
        "jain_index": One = jain_index(&run.goodputs_bps);
    }
}

/// The flows of a run that go over TCP.
pub(super) struct TcpRun {
    pub(super) sending: Sending,
}

impl Measured for TcpRun {
    rows! { |run|
        /// share of retransmitted data segments of all TCP flows
        "retransmitted_share": One = run.sending.share();
        /// timeouts of all flows
        "timeouts": Timeouts = Some(run.sending.timeouts as f64);
        /// spurious timeouts of all flows
        "timeouts_spurious": Timeouts = Some(run.sending.spurious as f64);
    }
}

/// Jain's fairness index: the square of the sum over n times the sum of the squares; `None` when all are zero.
#[must_use]
pub fn jain_index(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    ratio(sum * sum, shares.len() as f64 * squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_is_one_for_equal_shares_and_one_over_n_for_a_single_taker() {
        assert_eq!(jain_index(&[3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain_index(&[5.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain_index(&[0.0, 0.0]), None);
    }
}
