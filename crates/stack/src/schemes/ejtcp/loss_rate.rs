//! The share of segments declared lost (EJTCP, 3.2: `loss_rate`, "based on its record").

use std::collections::VecDeque;

use crate::hooks::Loss;

/// The record of losses, over all segments or the last N.
#[derive(Clone, Debug)]
pub(super) struct LossRate {
    span: Option<u32>,
    total: u64,
    /// With a span: the number of segments sent at each loss within it.
    recent: VecDeque<u64>,
    last: Option<u64>,
}

impl LossRate {
    pub(super) fn new(span: Option<u32>) -> LossRate {
        LossRate { span, total: 0, recent: VecDeque::new(), last: None }
    }

    /// Enters a loss and returns the new rate. A segment counts once, however often it is lost.
    pub(super) fn declare(&mut self, loss: &Loss) -> f64 {
        let new = self.last.replace(loss.una) != Some(loss.una);
        let Some(span) = self.span.map(u64::from) else {
            self.total += u64::from(new);
            return self.total as f64 / loss.sent.max(1) as f64;
        };
        if new {
            self.recent.push_back(loss.sent);
        }
        while self.recent.front().is_some_and(|sent| sent + span <= loss.sent) {
            self.recent.pop_front();
        }
        self.recent.len() as f64 / loss.sent.clamp(1, span) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::LossCause;
    use crate::hooks::testing::loss;

    fn at(una: u64, sent: u64) -> Loss {
        Loss { una, sent, ..loss(LossCause::Duplicates, 10) }
    }

    #[test]
    fn a_segment_counts_once_over_all_that_was_sent() {
        let mut rate = LossRate::new(None);
        assert_eq!(rate.declare(&at(0, 50)), 0.02);
        assert_eq!(rate.declare(&at(0, 50)), 0.02);
        assert_eq!(rate.declare(&at(7, 400)), 0.005);
    }

    #[test]
    fn a_span_forgets_what_lies_behind_it() {
        let mut rate = LossRate::new(Some(1000));
        assert_eq!(rate.declare(&at(0, 50)), 0.02);
        assert_eq!(rate.declare(&at(1, 500)), 0.004);
        assert_eq!(rate.declare(&at(2, 1050)), 0.002);
        assert_eq!(rate.declare(&at(3, 5000)), 0.001);
    }
}
