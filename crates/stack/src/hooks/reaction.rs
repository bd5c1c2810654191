//! The reaction of a transport to events of its link: the trait [`Reaction`] and its data.

use super::Window;
use crate::units::Span;

/// An event of the link at which a transport endpoint sits, reported in its own node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// The link is predicted to go down.
    Warning,
    /// A prediction was wrong: the link stays up.
    Cleared,
    /// The link is down.
    Down,
    /// The link is up again.
    Up,
    /// The node leaves its base station.
    HandoffBegins,
    /// The node can be reached by another base station.
    HandoffEnds,
}

impl LinkEvent {
    /// Whether nothing can be sent or received from now on.
    #[must_use]
    pub fn begins_silence(self) -> bool {
        matches!(self, LinkEvent::Down | LinkEvent::HandoffBegins)
    }

    /// Whether something can be sent and received again from now on.
    #[must_use]
    pub fn ends_silence(self) -> bool {
        matches!(self, LinkEvent::Up | LinkEvent::HandoffEnds)
    }
}

/// The state of an endpoint at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// It has data outstanding, or to send.
    pub sends: bool,
    /// Its windows have no room for another segment.
    pub is_full: bool,
    /// It has received data.
    pub receives: bool,
}

/// The window that an acknowledgement advertises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advertised {
    /// None, whatever room there is.
    Closed,
    /// The room that there is.
    Real,
}

/// Acknowledgements that an endpoint sends at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledge {
    /// With which window.
    pub window: Advertised,
    /// How many bytes below all that has come in order; never below an acknowledgement sent before.
    pub less: u32,
    /// How many copies.
    pub copies: u8,
}

/// The action of the sending half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopOrGo {
    /// It sends nothing until it resumes; window, threshold and timeout are kept, and the retransmission timer is cancelled.
    Stop,
    /// It sends nothing until it resumes, but the retransmission timer runs on.
    StopWithTimer,
    /// It resumes with what it was about to send. The retransmission timer starts anew.
    Resume,
    /// It resumes with the first unacknowledged segment, and what follows that. The retransmission timer starts anew.
    ResumeFromLoss,
}

/// The immediate actions of an endpoint; by default none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deeds {
    /// The action of its sending half.
    pub sending: Option<StopOrGo>,
    /// The window that all acknowledgements advertise from now on.
    pub window: Option<Advertised>,
    /// Acknowledgements that leave now, in this order.
    pub acknowledge: [Option<Acknowledge>; 2],
}

/// The handling of a retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtTimeout {
    /// As the congestion law and the recovery of the sender handle it.
    Usual,
    /// Nothing is sent until the sender resumes, and the timer is cancelled.
    Wait,
}

/// What a transport endpoint does at events of its own link. An event reaches the endpoints of its node only.
pub trait Reaction {
    /// An event of the link.
    fn on_event(&mut self, event: LinkEvent, standing: Standing) -> Deeds;

    /// The retransmission timer fires, for a sender that is stopped with its timer running, or is not stopped.
    fn on_timeout(&mut self, _window: &mut Window) -> AtTimeout {
        AtTimeout::Usual
    }

    /// How many of the bytes received last it does not acknowledge at first, and for how long.
    fn withholds(&self) -> Option<(u32, Span)> {
        None
    }

    /// The share of the receive buffer that it offers.
    fn share(&self) -> f64 {
        1.0
    }
}

/// No reaction: the transport ignores events of its link.
impl Reaction for () {
    #[inline]
    fn on_event(&mut self, _: LinkEvent, _: Standing) -> Deeds {
        Deeds::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_begins_and_ends_with_the_link_and_with_a_hand_off_and_not_with_warnings() {
        use LinkEvent::{Cleared, Down, HandoffBegins, HandoffEnds, Up, Warning};
        let every = [Warning, Cleared, Down, Up, HandoffBegins, HandoffEnds];
        assert_eq!(every.map(LinkEvent::begins_silence), [false, false, true, false, true, false]);
        assert_eq!(every.map(LinkEvent::ends_silence), [false, false, false, true, false, true]);
    }

    #[test]
    fn without_a_reaction_nothing_is_done_withheld_or_kept_back() {
        let standing = Standing { sends: true, is_full: true, receives: true };
        assert_eq!(().on_event(LinkEvent::Down, standing), Deeds::default());
        assert_eq!(Deeds::default(), Deeds { sending: None, window: None, acknowledge: [None, None] });
        assert_eq!(().withholds(), None);
        assert_eq!(().share(), 1.0);
        assert_eq!(().on_timeout(&mut Window::new(1.0, None, 10.0)), AtTimeout::Usual);
    }
}
