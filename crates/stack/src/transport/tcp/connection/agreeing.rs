//! Agreement with the peer about acknowledgements, and those that are not sent at once.

use super::{AckDue, Connection};
use crate::hooks::{Out, Timer};
use crate::packet::{AckOption, Segment};
use crate::transport::acks::{AckLaw, Due};
use crate::transport::tcp::Parts;
use crate::units::{Span, Time};

impl<P: Parts> Connection<P> {
    /// Acknowledgements sent without data.
    #[must_use]
    pub fn acks_sent(&self) -> u64 {
        self.acks_sent
    }

    /// What this end's SYN offers; an answer offers what was offered.
    pub(super) fn offered_acks(&self) -> Option<AckOption> {
        match self.law_of_acks {
            AckLaw::Delayed => None,
            AckLaw::Requested(_) => Some(AckOption::TakesRequests),
            // Its instant acknowledgements report gaps by SACK.
            AckLaw::Tack(_) => self.sack.then_some(AckOption::TakesTime),
        }
    }

    /// The peer's SYN has come: what only one end offers is not used.
    pub(super) fn agree_on_acks(&mut self, segment: &Segment) {
        let offered = self.offered_acks();
        if offered.is_none() || segment.options.acks != offered {
            self.law_of_acks = AckLaw::Delayed;
        }
        self.sender.agree_on_acks(self.law_of_acks);
        self.receiver.agree(self.law_of_acks);
    }

    /// Data that may be acknowledged later has arrived.
    #[inline]
    pub(super) fn acknowledge_later(&mut self, now: Time, out: &mut impl Out) {
        if self.ack_due == AckDue::Now {
            return;
        }
        let together = self.receiver.wait(self.sender.rtt().srtt());
        let delay = together.unwrap_or_else(|| self.ack_delay(now));
        match self.receiver.due(now, delay, self.ack_due == AckDue::No) {
            Due::Now => self.ack_due = AckDue::Now,
            Due::At(at) => {
                self.ack_due = AckDue::ByTimer;
                out.set(Timer::DelayedAck, at);
            }
            Due::AsSet => {}
        }
    }

    /// How long an acknowledgement waits at most, to the tick that ends it.
    #[inline]
    fn ack_delay(&self, now: Time) -> Span {
        let (delay, tick) = (self.config.ack_delay, self.config.ack_tick);
        if tick == Span::ZERO {
            return delay;
        }
        let end = now.after(delay);
        Time((end.0 / tick.0 + 1) * tick.0).since(now)
    }
}
