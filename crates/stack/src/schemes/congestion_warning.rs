//! Congestion warning: a queue that marks every packet while its mean length is above one threshold.
//!
//! **Limits.** A mark indicates that the queue is long, not how long: flows that halve their window at each mark (RFC
//! 3168) do so together. A threshold above the size of the queue never marks. Packets that are not ECN-capable are not
//! marked, and they are not dropped early either.
//!
//! **Source.** Xu, Tian and Ansari, "TCP-Jersey for wireless IP communications", IEEE JSAC 22(4), 2004. Routers mark
//! all packets at a sign of incipient congestion, which the sender then takes as the cause of losses.
//!
//! **How.** The mean is that of RED ([`QueueMean`]); while it is above the threshold, each arriving packet is marked.
//!
//! **Choices.** 1. The paper's weight and threshold were not available. An independent ns-3 model of the scheme (Jain,
//! Jain and Tahiliani 2017) sets both thresholds of RED to a quarter of the queue, and the weight to 0.2. That is the
//! default weight here. The default threshold is our own and is to be set according to the queue. 2. Both directions of
//! a link warn in the same way. 3. On an 802.11 link each station has its own mean. 4. A mean equal to the threshold
//! does not exceed it.
//!
//! **Checked by** the tests below and `crates/sim/tests/marking.rs`.

use crate::estimate::QueueMean;
use crate::hooks::parameter::{Described, parameters};
use crate::hooks::{Admission, Aqm, Arrival};

/// The constants of congestion warning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Mean queue length above which packets are marked, in packets.
    pub threshold: f64,
    /// Weight in the mean of the queue length at an arrival.
    pub weight: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config { threshold: 10.0, weight: 0.2 }
    }
}

impl Described for Config {
    parameters! {
        /// mean number of packets in the queue above which each ECN-capable packet is marked
        "threshold": Number = threshold, at_least("0"), at_most("1000000000");
        /// weight of the queue length at an arrival in the mean
        "weight": Number = weight, above("0"), at_most("1"), source("the ns-3 model of Jain, Jain and Tahiliani 2017");
    }
}

/// The state of one queue.
#[derive(Clone, Debug)]
pub struct CongestionWarning {
    threshold: f64,
    mean: QueueMean,
}

impl CongestionWarning {
    /// An empty queue.
    #[must_use]
    pub fn new(config: &Config) -> CongestionWarning {
        CongestionWarning { threshold: config.threshold, mean: QueueMean::new(config.weight) }
    }
}

impl Aqm for CongestionWarning {
    #[inline]
    fn on_arrival(&mut self, arrival: &Arrival, _draw: &mut dyn FnMut() -> f64) -> Admission {
        if self.mean.on_arrival(arrival) > self.threshold { Admission::Mark } else { Admission::Pass }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::units::{Span, Time};

    #[test]
    fn every_packet_is_marked_while_the_mean_is_above_the_threshold() {
        let mut queue = CongestionWarning::new(&Config { threshold: 3.0, weight: 0.5 });
        let mut at = |held| {
            let transmission = Span::from_millis(4);
            let (now, ecn) = (Time::ZERO, Ecn::Ect0);
            queue.on_arrival(&Arrival { now, held, idle: Span::ZERO, transmission, ecn }, &mut || 0.0)
        };
        // The means are 2, 3, 3.5, 4.25, 3.125 and 2.0625.
        let found = [4, 4, 4, 5, 2, 1].map(&mut at);
        let (pass, mark) = (Admission::Pass, Admission::Mark);
        assert_eq!(found, [pass, pass, mark, mark, mark, pass]);
    }
}
