//! All managements of queues (AQM).

use super::{Entry, kinds};
use crate::hooks::parameter::{Described, Exception, Setting, Spec};
use crate::hooks::{Admission, Aqm, Arrival};
use crate::schemes::{CongestionWarning, congestion_warning};

kinds! {
    /// What a queue does before it is full.
    AqmKind, AqmConfig, AqmMachine;
    Warning(CongestionWarning), congestion_warning::Config = "warning" as "congestion warning", "Xu, Tian and Ansari 2004", "marks every ECN-capable packet while the mean length of the queue is above a threshold";
}

impl AqmConfig {
    /// The management of one queue.
    #[must_use]
    pub fn build(&self) -> AqmMachine {
        match self {
            AqmConfig::Warning(config) => AqmMachine::Warning(CongestionWarning::new(config)),
        }
    }

    /// The least mean length at which it may act, in packets, and the parameter that sets it.
    #[must_use]
    pub fn acts_above(&self) -> (f64, &'static str) {
        match self {
            AqmConfig::Warning(config) => (config.threshold, "threshold"),
        }
    }
}

impl Aqm for AqmMachine {
    #[inline]
    fn on_arrival(&mut self, arrival: &Arrival) -> Admission {
        match self {
            AqmMachine::Warning(law) => law.on_arrival(arrival),
        }
    }
}
