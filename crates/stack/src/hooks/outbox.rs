//! The packets and the earliest timer of an endpoint, for a polling host.

use std::collections::VecDeque;

use super::{Out, Timer};
use crate::packet::Packet;
use crate::units::Time;

/// The timers of one endpoint, for a host that keeps a single timer for all of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timers([Option<Time>; TIMERS.len()]);

/// All timers, indexed by their code.
const TIMERS: [Timer; 3] = [Timer::Retransmit, Timer::DelayedAck, Timer::Pace];

impl Timers {
    /// Sets (or moves) a timer.
    pub fn set(&mut self, timer: Timer, at: Time) {
        self.0[timer as usize] = Some(at);
    }

    /// Cancels a timer, if it is set.
    pub fn cancel(&mut self, timer: Timer) {
        self.0[timer as usize] = None;
    }

    /// When the earliest timer is due.
    #[must_use]
    pub fn first(&self) -> Option<Time> {
        self.0.into_iter().flatten().min()
    }

    /// Removes and returns the earliest timer that is due.
    pub fn due(&mut self, now: Time) -> Option<Timer> {
        let at = self.first().filter(|at| *at <= now)?;
        let place = self.0.iter().position(|timer| *timer == Some(at))?;
        self.0[place] = None;
        Some(TIMERS[place])
    }
}

/// The output of one endpoint, held until the host fetches it: packets in the order of departure, and timers, of which
/// the host needs only the earliest.
///
/// After it has held the largest burst of packets, it allocates no more memory. A host that needs notes, or cannot
/// afford to copy a packet, implements [`Out`] itself.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    packets: VecDeque<Packet>,
    timers: Timers,
}

impl Outbox {
    /// The next packet to send, if any.
    pub fn poll_transmit(&mut self) -> Option<Packet> {
        self.packets.pop_front()
    }

    /// The latest time at which to call the endpoint again if nothing arrives before. Query it after each call of the
    /// endpoint.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        self.timers.first()
    }

    /// Removes and returns the earliest timer that is due, for the endpoint's `on_timer`.
    pub fn due(&mut self, now: Time) -> Option<Timer> {
        self.timers.due(now)
    }
}

impl Out for Outbox {
    fn down(&mut self, packet: Packet) {
        self.packets.push_back(packet);
    }

    fn set(&mut self, timer: Timer, at: Time) {
        self.timers.set(timer, at);
    }

    fn cancel(&mut self, timer: Timer) {
        self.timers.cancel(timer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_timer_is_the_timeout_and_comes_due_first() {
        let mut out = Outbox::default();
        assert_eq!((out.poll_timeout(), out.due(Time::NEVER)), (None, None));
        out.set(Timer::Retransmit, Time(30));
        out.set(Timer::Pace, Time(10));
        out.set(Timer::DelayedAck, Time(20));
        assert_eq!((out.poll_timeout(), out.due(Time(9))), (Some(Time(10)), None));
        // Setting a timer again moves it; a late host receives the timers in the order of their times.
        out.set(Timer::Retransmit, Time(15));
        let due: Vec<Timer> = std::iter::from_fn(|| out.due(Time(20))).collect();
        assert_eq!(due, [Timer::Pace, Timer::Retransmit, Timer::DelayedAck]);
        assert_eq!(out.poll_timeout(), None);
    }

    #[test]
    fn a_cancelled_timer_is_none_and_of_two_at_one_time_both_come_due() {
        let mut out = Outbox::default();
        for timer in TIMERS {
            out.set(timer, Time(5));
        }
        out.cancel(Timer::DelayedAck);
        let due: Vec<Timer> = std::iter::from_fn(|| out.due(Time(5))).collect();
        assert_eq!(due, [Timer::Retransmit, Timer::Pace]);
    }
}
