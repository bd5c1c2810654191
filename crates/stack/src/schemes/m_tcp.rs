//! M-TCP: a base station that splits connections, preserves the end-to-end meaning of acknowledgements, and stops the
//! sender while the mobile is disconnected.
//!
//! **Limits.** It preserves the sender's window across disconnections; it does not repair random losses faster than the
//! link and its own end towards the mobile do. The sender's round trip is that of the whole path. A station that
//! restarts loses its connections, but no acknowledged byte.
//!
//! **Source.** Brown and Singh, "M-TCP: TCP for mobile cellular networks", ACM CCR 27(5), 1997, by its abstract and the
//! authors' summary of it; details from secondary descriptions (our reading).
//!
//! **How.** The station has two ends ([`split`](super::split)). It acknowledges to the sender only what the mobile has
//! acknowledged, minus the last byte. When the mobile disconnects, it acknowledges that byte with a window of zero: the
//! sender enters persist mode with its window and timeout unchanged. When the mobile reconnects, the station repeats
//! that acknowledgement with the full window.
//!
//! ```text
//!    sender            station                      mobile
//!      ◀── ACK n-1 ──    ◀──────────── ACK n ─────────
//!      ◀── ACK n, 0 ──   link down, or silence         ✕
//!         persists       timer of the hop stopped
//!      ◀── ACK n, w ──   ◀──── greeting: ACK n ───────  resent from n at once
//! ```
//!
//! **Choices.** Those of `split.rs`, and: 1. A disconnection is either an event of the station's link, or silence: no
//! segment from the mobile for `silence` while data waits for it. On a link event the end towards the mobile stops its
//! timer; on silence, which may be a false alarm, only the sender is stopped. 2. The mobile is reconnected when it has
//! sent a segment. If its link is up and nothing arrives for one timeout, the station resends without a greeting. 3.
//! The last byte is acknowledged separately: after `delay`, at the end of the stream, and when data waits beyond a
//! hole, since the sender would otherwise repeat it. 4. Duplicate acknowledgements wait until everything below the hole
//! is acknowledged. 5. The same holds for a mobile that sends: its data is acknowledged when the fixed host has
//! acknowledged it, with no byte held back. 6. The timestamps echoed to the sender are those of the acknowledged
//! segments, so that its timeout includes the hop to the mobile. 7. After a hand-off the window towards the mobile is
//! unchanged. 8. The mobile (`tcp.reaction = "m-tcp"`) stops its own timer while its link is down, and retransmits at
//! once when it comes up. 9. The paper's division of the station's bandwidth among mobiles is not modelled.
//!
//! **Checked by** the tests below, `split/tests.rs`, and `crates/sim/tests/split.rs` end to end.

use super::split::config::parameters;
use super::split::{EndToEnd, Settings};
use crate::hooks::parameter::{Described, LONGEST, Setting, Words};
use crate::hooks::{Acknowledge, Advertised, Deeds, LinkEvent, Reaction, Standing, StopOrGo};
use crate::units::Span;

/// The parameters of one station.
#[derive(Clone, Debug, PartialEq)]
pub struct Config<N> {
    /// The parameters of its ends and its buffers.
    pub settings: Settings<N>,
    /// The rules of its acknowledgements.
    pub rules: EndToEnd,
}

impl<N: Words> Default for Config<N> {
    fn default() -> Config<N> {
        let rules = EndToEnd { delay: Span::from_millis(100), silence: Some(Span::from_secs(1)) };
        Config { settings: Settings::new("sack"), rules }
    }
}

impl<N: Words> Described for Config<N> {
    parameters! {
        /// time after which the last byte is acknowledged alone
        "delay": Time("ms") = rules.delay, above("0 s"), at_most("10 s"), source("lasthop: schemes/m_tcp.rs, choice 3");
        /// time without a segment of the mobile, while data waits for it, after which it counts as disconnected
        "silence": Time("ms") or "never" = rules.silence, above("0 s"), at_most(LONGEST),
            source("lasthop: schemes/m_tcp.rs, choice 1");
    }

    fn conflict(&self) -> Option<(&'static str, String)> {
        self.settings.conflict()
    }
}

/// The behaviour of the mobile.
#[derive(Clone, Copy, Debug, Default)]
pub struct MTcpMobile;

impl Reaction for MTcpMobile {
    fn on_event(&mut self, event: LinkEvent, standing: Standing) -> Deeds {
        if event.begins_silence() {
            return Deeds { sending: Some(StopOrGo::Stop), ..Deeds::default() };
        }
        if !event.ends_silence() {
            return Deeds::default();
        }
        let greeting = Acknowledge { window: Advertised::Real, less: 0, copies: 1 };
        Deeds {
            sending: Some(StopOrGo::ResumeFromLoss),
            acknowledge: [standing.receives.then_some(greeting), None],
            ..Deeds::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mobile_stops_while_it_is_away_and_greets_with_its_highest_number() {
        let receives = Standing { sends: false, is_full: false, receives: true };
        let greeting = Acknowledge { window: Advertised::Real, less: 0, copies: 1 };
        for (begin, end) in
            [(LinkEvent::Down, LinkEvent::Up), (LinkEvent::HandoffBegins, LinkEvent::HandoffEnds)]
        {
            assert_eq!(MTcpMobile.on_event(begin, receives).sending, Some(StopOrGo::Stop));
            let back = MTcpMobile.on_event(end, receives);
            assert_eq!(back.acknowledge, [Some(greeting), None]);
            assert_eq!(back.sending, Some(StopOrGo::ResumeFromLoss));
            let sends = Standing { receives: false, ..receives };
            assert_eq!(MTcpMobile.on_event(end, sends).acknowledge, [None; 2]);
        }
        assert_eq!(MTcpMobile.on_event(LinkEvent::Warning, receives), Deeds::default());
    }
}
