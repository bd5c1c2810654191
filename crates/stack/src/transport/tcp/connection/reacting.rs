//! An endpoint at events of its link: the host reports, the [`Reaction`] answers, and this module acts on the answer; and
//! how it starts again on another path.

use super::{AckDue, Connection, State};
use crate::hooks::{Acknowledge, Advertised, Deeds, LinkEvent, Out, Reaction, StopOrGo, Timer};
use crate::transport::tcp::Parts;
use crate::units::Time;

impl<P: Parts> Connection<P> {
    /// An event of the link at which this end sits. A connection that is not open does not react.
    pub fn on_link(&mut self, event: LinkEvent, now: Time, out: &mut impl Out) {
        if self.state != State::Established {
            return;
        }
        let standing = self.sender.standing(self.receiver.next() > 0);
        let deeds = self.reaction.on_event(event, standing);
        self.act(deeds, now, out);
    }

    /// Carries out what a reaction, or the owner of this end, requests. A connection that is not open does nothing.
    pub fn act(&mut self, deeds: Deeds, now: Time, out: &mut impl Out) {
        if self.state != State::Established {
            return;
        }
        let Deeds { sending, window, acknowledge } = deeds;
        if let Some(window) = window {
            self.receiver.close_window(window == Advertised::Closed);
        }
        for acknowledge in acknowledge.into_iter().flatten() {
            self.acknowledge_now(acknowledge, now, out);
        }
        match sending {
            None => {}
            Some(StopOrGo::Stop) => self.sender.stop(false, out),
            Some(StopOrGo::StopWithTimer) => self.sender.stop(true, out),
            Some(StopOrGo::Resume) => self.sender.resume(false, now, out),
            Some(StopOrGo::ResumeFromLoss) => self.sender.resume(true, now, out),
        }
        self.send_what_may_go(now, out);
    }

    /// This end has moved to another host, or its path has changed: what is outstanding goes again in slow start, and
    /// nothing is known of round trips.
    pub fn start_over(&mut self, now: Time, out: &mut impl Out) {
        if self.state == State::Established {
            self.sender.start_over(&self.config, self.iss.0, now, out);
            self.send_what_may_go(now, out);
        }
    }

    fn acknowledge_now(&mut self, asked: Acknowledge, now: Time, out: &mut impl Out) {
        let was_closed = self.receiver.is_closed();
        self.receiver.close_window(asked.window == Advertised::Closed);
        for _ in 0..asked.copies {
            self.send_ack_but(u64::from(asked.less), now, out);
        }
        self.receiver.close_window(was_closed);
    }

    /// How many of the bytes received in order are not acknowledged now. This is what the reaction withholds. It is
    /// nothing beyond a hole or at the end of the stream, where a sender would take the rest for a segment of its own.
    #[inline]
    pub(super) fn withheld(&self) -> u64 {
        match self.reaction.withholds() {
            Some((bytes, _)) if self.receiver.is_in_order() && !self.receiver.finished() => u64::from(bytes),
            _ => 0,
        }
    }

    /// Sets the timer for the bytes that an acknowledgement withheld.
    #[inline]
    pub(super) fn acknowledge_rest_later(&mut self, now: Time, out: &mut impl Out) {
        if self.acknowledged < self.receiver.next()
            && let Some((_, delay)) = self.reaction.withholds()
        {
            self.ack_due = AckDue::ByTimer;
            out.set(Timer::DelayedAck, now.after(delay));
        }
    }
}
