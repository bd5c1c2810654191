//! The exponentially weighted mean length of a queue, as RED keeps it.
//!
//! **Source.** Floyd and Jacobson 1993, 4 and 11: `avg = (1 - w) avg + w q` at each arrival. After an idle time `avg`
//! is multiplied by `(1 - w)^m`, where `m` is the number of small packets that could have been sent in it.
//!
//! **Choices.** 1. `q` is the length before the arrival, with the packet in transmission, which queues count here; ns-2
//! leaves that one out. 2. `m` is a real number, in packets of the arriving one's size; ns-2 takes whole packets of 500
//! bytes by default. 3. An arrival after an idle time finds an empty queue. Its own sample of zero is among the `m`, so
//! that an arrival at the very end of a transmission changes nothing.

use crate::hooks::Arrival;

/// The mean of one queue.
#[derive(Clone, Copy, Debug)]
pub struct QueueMean {
    weight: f64,
    mean: f64,
}

impl QueueMean {
    /// An empty queue; `weight` is that of each sample.
    #[must_use]
    pub fn new(weight: f64) -> QueueMean {
        QueueMean { weight, mean: 0.0 }
    }

    /// The mean with this arrival.
    #[inline]
    pub fn on_arrival(&mut self, arrival: &Arrival) -> f64 {
        if arrival.held > 0 {
            self.mean += self.weight * (f64::from(arrival.held) - self.mean);
        } else {
            let sent = arrival.idle.as_secs() / arrival.transmission.as_secs().max(f64::MIN_POSITIVE);
            self.mean *= libm::pow(1.0 - self.weight, sent);
        }
        self.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::units::{Span, Time};

    fn arrival(held: u32, idle_ms: u64) -> Arrival {
        let (idle, transmission) = (Span::from_millis(idle_ms), Span::from_millis(4));
        Arrival { now: Time::ZERO, held, idle, transmission, ecn: Ecn::NotEct }
    }

    #[test]
    fn each_arrival_weighs_what_it_finds() {
        let mut mean = QueueMean::new(0.25);
        // 0.25 x 8 = 2; 2 + 0.25 x (4 - 2) = 2.5; 2.5 + 0.25 x (2.5 - 2.5) stands.
        for (held, expected) in [(8, 2.0), (4, 2.5)] {
            assert_eq!(mean.on_arrival(&arrival(held, 0)), expected);
        }
        assert_eq!(QueueMean::new(1.0).on_arrival(&arrival(7, 0)), 7.0);
    }

    #[test]
    fn an_idle_time_counts_as_empty_arrivals() {
        let mut mean = QueueMean::new(0.25);
        mean.on_arrival(&arrival(16, 0));
        // 8 ms are two packets of 4 ms: 4 x 0.75 x 0.75.
        assert!((mean.on_arrival(&arrival(0, 8)) - 2.25).abs() < 1e-12);
        assert!((mean.on_arrival(&arrival(0, 0)) - 2.25).abs() < 1e-12, "no time, no packets");
        assert!(mean.on_arrival(&arrival(0, 1_000)) < 1e-12);
    }
}
