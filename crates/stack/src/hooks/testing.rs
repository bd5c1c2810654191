//! Helpers for the tests of laws and agents.

use super::{Ack, AgentOut, Delivered, EcnEcho, Loss, LossBase, LossCause, Mark, Progress};
use crate::packet::Packet;
use crate::units::{Span, Time};

/// Records the output of an agent: towards the network ("up") or the link ("down"), and the timer.
#[derive(Debug, Default)]
pub(crate) struct Handed {
    pub(crate) up: Vec<Packet>,
    pub(crate) down: Vec<Packet>,
    pub(crate) timer: Option<Time>,
}

impl AgentOut for Handed {
    fn down(&mut self, packet: &Packet) {
        self.down.push(*packet);
    }
    fn up(&mut self, packet: &Packet) {
        self.up.push(*packet);
    }
    fn set_timer(&mut self, at: Time) {
        self.timer = Some(at);
    }
    fn cancel_timer(&mut self) {
        self.timer = None;
    }
}

/// An acknowledgement that measures no round trip.
pub(crate) fn ack(progress: Progress) -> Ack {
    Ack {
        now: Time::ZERO,
        progress,
        rtt: None,
        newest_sent: None,
        srtt: None,
        una: 0,
        sent_end: 0,
        flight: 10,
        pipe: 10,
        delivered: Delivered::default(),
        counted: 1,
        extension: None,
        ecn: EcnEcho::Unmarked,
    }
}

/// A mark with this many segments outstanding.
pub(crate) fn mark(flight: u32) -> Mark {
    Mark {
        now: Time::ZERO,
        base: LossBase::Flight(flight),
        least: 1.0,
        una: 0,
        pipe: flight,
        sent: 1000,
        sent_end: 0,
        srtt: None,
    }
}

/// An acknowledgement that measures a round trip of this many milliseconds.
pub(crate) fn after(ms: u64, progress: Progress) -> Ack {
    Ack { rtt: Some(Span::from_millis(ms)), ..ack(progress) }
}

/// A loss with this many segments outstanding.
pub(crate) fn loss(cause: LossCause, flight: u32) -> Loss {
    Loss {
        now: Time::ZERO,
        cause,
        una: 0,
        base: LossBase::Flight(flight),
        least: 2.0,
        pipe: flight,
        sent: 1000,
        sent_end: 0,
        sent_at: Time::ZERO,
        times: 1,
        srtt: None,
    }
}
