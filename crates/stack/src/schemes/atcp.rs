//! ATCP: the mobile's own TCP is informed when its link goes down and comes back.
//!
//! **Limits.** As receiver it delays the acknowledgement of the last two bytes of each burst. After a disconnection
//! longer than the sender's timeout it saves only the wait for the next timeout. As sender it loses what was in
//! transit, which duplicates then report.
//!
//! **Source.** Singh and Iyer, "ATCP: Improving TCP performance over mobile wireless environments", 2002. Raisinghani,
//! Singh and Iyer, "Improving TCP performance over mobile wireless environments using cross layer feedback", 2002.
//! Raisinghani and Iyer, "ECLAIR", 2006, for the priority of users. The rules here are from secondary descriptions (our
//! reading). It is not the ATCP for ad hoc networks of Liu and Singh.
//!
//! **How.** The network layer of the mobile reports disconnections and reconnections.
//!
//! | role | on disconnection | at a timeout meanwhile | on reconnection |
//! | --- | --- | --- | --- |
//! | sender, window open | stops, timer cancelled | none | sends what the window allows |
//! | sender, window full | stops, timer runs | ssthresh = cwnd, cwnd = 1; nothing sent | first unacknowledged segment at once |
//! | receiver | nothing | | ACK of the last byte but one with window 0, ACK of the last with the full window |
//!
//! To have two bytes to acknowledge, the receiver withholds their acknowledgement for a while. The first of the two
//! acknowledgements stops the sender, the second restarts it, and it sends at once what is outstanding.
//!
//! **Choices.** 1. If a sender's window was full and its timer has not fired, it also sends the first unacknowledged
//! segment at once on reconnection ("on reconnect send at once"). The timer would only wait for its loss. 2. The
//! acknowledgement of the two bytes is withheld for `delay`, for which no value is published; it is below the minimum
//! timeout. 3. None is withheld while data waits beyond a hole, nor at the end of the stream: duplicates that request
//! two bytes would make the sender repeat these. 4. A hand-off is treated as a disconnection. 5. The priority of a user
//! is the share of the receive buffer that this connection offers; the paper sets it while the connection runs. 6.
//! Warnings are not used.
//!
//! **Checked by** the tests below, `transport/tcp/connection/tests/frozen.rs`, and `crates/sim/tests/link_events.rs`.

use crate::hooks::parameter::{Described, parameters};
use crate::hooks::{
    Acknowledge, Advertised, AtTimeout, Deeds, LinkEvent, Reaction, Standing, StopOrGo, Window,
};
use crate::units::Span;

/// Bytes whose acknowledgement the receiver keeps back: one to stop the sender with, one to start it.
const KEPT_BACK: u32 = 2;

/// The constants of ATCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// For how long the acknowledgement of the last two bytes is kept back.
    pub delay: Span,
    /// The share of the receive buffer that is offered.
    pub share: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config { delay: Span::from_millis(100), share: 1.0 }
    }
}

impl Described for Config {
    parameters! {
        /// time for which the acknowledgement of the last two bytes is kept back
        "delay": Time("ms") = delay, above("0 s"), at_most("10 s"), source("lasthop: schemes/atcp.rs, choice 2");
        /// share of the receive buffer offered, by the priority of the user
        "share": Share = share, above("0 %"), at_most("100 %"), source("Raisinghani and Iyer 2006 (our reading)");
    }
}

/// The behaviour of one end of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Atcp {
    config: Config,
    /// Whether its window was full when it stopped, if it has stopped.
    stopped: Option<bool>,
}

impl Atcp {
    /// An end whose link is up.
    #[must_use]
    pub fn new(config: Config) -> Atcp {
        Atcp { config, stopped: None }
    }

    fn disconnected(&mut self, standing: Standing) -> Deeds {
        if self.stopped.is_some() {
            return Deeds::default();
        }
        self.stopped = Some(standing.sends && standing.is_full);
        let sending =
            if standing.sends && standing.is_full { StopOrGo::StopWithTimer } else { StopOrGo::Stop };
        Deeds { sending: Some(sending), ..Deeds::default() }
    }

    fn reconnected(&mut self, standing: Standing) -> Deeds {
        let sending = self
            .stopped
            .take()
            .map(|was_full| if was_full { StopOrGo::ResumeFromLoss } else { StopOrGo::Resume });
        let acknowledge = |window, less| Some(Acknowledge { window, less, copies: 1 });
        let acknowledge = if standing.receives {
            [acknowledge(Advertised::Closed, KEPT_BACK - 1), acknowledge(Advertised::Real, 0)]
        } else {
            [None; 2]
        };
        Deeds { sending, acknowledge, ..Deeds::default() }
    }
}

impl Reaction for Atcp {
    fn on_event(&mut self, event: LinkEvent, standing: Standing) -> Deeds {
        if event.begins_silence() {
            self.disconnected(standing)
        } else if event.ends_silence() {
            self.reconnected(standing)
        } else {
            Deeds::default()
        }
    }

    fn on_timeout(&mut self, window: &mut Window) -> AtTimeout {
        if self.stopped.is_none() {
            return AtTimeout::Usual;
        }
        window.ssthresh = window.cwnd;
        window.cwnd = 1.0;
        AtTimeout::Wait
    }

    fn withholds(&self) -> Option<(u32, Span)> {
        Some((KEPT_BACK, self.config.delay))
    }

    fn share(&self) -> f64 {
        self.config.share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENDS: Standing = Standing { sends: true, is_full: false, receives: false };
    const FULL: Standing = Standing { is_full: true, ..SENDS };
    const RECEIVES: Standing = Standing { sends: false, is_full: false, receives: true };

    fn sending(standing: Standing) -> [Option<StopOrGo>; 2] {
        let mut atcp = Atcp::new(Config::default());
        [LinkEvent::Down, LinkEvent::Up].map(|event| atcp.on_event(event, standing).sending)
    }

    #[test]
    fn a_sender_with_an_open_window_stops_its_timer_and_one_with_a_full_window_lets_it_run() {
        assert_eq!(sending(SENDS), [Some(StopOrGo::Stop), Some(StopOrGo::Resume)]);
        assert_eq!(sending(FULL), [Some(StopOrGo::StopWithTimer), Some(StopOrGo::ResumeFromLoss)]);
    }

    #[test]
    fn a_timeout_while_disconnected_keeps_the_window_as_the_threshold() {
        let mut window = Window::new(12.0, Some(6.0), 20.0);
        let mut atcp = Atcp::new(Config::default());
        assert_eq!(atcp.on_timeout(&mut window), AtTimeout::Usual);
        assert_eq!((window.cwnd, window.ssthresh), (12.0, 6.0), "connected, it is as any timeout");
        atcp.on_event(LinkEvent::Down, FULL);
        assert_eq!(atcp.on_timeout(&mut window), AtTimeout::Wait);
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 12.0));
    }

    #[test]
    fn a_receiver_stops_the_sender_with_one_byte_and_starts_it_with_the_other() {
        let mut atcp = Atcp::new(Config::default());
        assert_eq!(atcp.on_event(LinkEvent::HandoffBegins, RECEIVES).acknowledge, [None; 2]);
        let acks = atcp.on_event(LinkEvent::HandoffEnds, RECEIVES).acknowledge;
        let expected = [(Advertised::Closed, 1), (Advertised::Real, 0)]
            .map(|(window, less)| Some(Acknowledge { window, less, copies: 1 }));
        assert_eq!(acks, expected);
    }

    #[test]
    fn a_second_report_of_one_disconnection_changes_nothing() {
        let mut atcp = Atcp::new(Config::default());
        atcp.on_event(LinkEvent::Down, FULL);
        assert_eq!(atcp.on_event(LinkEvent::HandoffBegins, SENDS), Deeds::default());
        assert_eq!(atcp.on_event(LinkEvent::Up, SENDS).sending, Some(StopOrGo::ResumeFromLoss));
        assert_eq!(atcp.on_event(LinkEvent::Warning, SENDS), Deeds::default());
    }
}
