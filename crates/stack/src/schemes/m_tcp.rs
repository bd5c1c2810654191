//! M-TCP: a base station that ends connections without losing the end-to-end meaning of acknowledgements, and stops the
//! sender while the mobile is away.
//!
//! **Limits.** It saves the sender's window in disconnections and does not repair random losses faster than the link and its
//! own end towards the mobile do. The sender's round trip is that of the whole path. A station that restarts loses the
//! connection, but no byte that was acknowledged.
//!
//! **Source.** Brown and Singh, "M-TCP: TCP for mobile cellular networks", ACM CCR 27(5), 1997, by its abstract and the
//! authors' summary of it; details from secondary descriptions (our reading).
//!
//! **How.** The station has two ends ([`split`](super::split)). To the sender it acknowledges only what the mobile has
//! acknowledged, less the last byte. When the mobile is away it acknowledges that byte with a window of zero: the sender
//! persists, with window and timeout as they are. When the mobile is back the same acknowledgement goes again with the full
//! window.
//!
//! ```text
//!    sender            station                      mobile
//!      ◀── ACK n-1 ──    ◀──────────── ACK n ─────────
//!      ◀── ACK n, 0 ──   link down, or silence         ✕
//!         persists       timer of the hop stopped
//!      ◀── ACK n, w ──   ◀──── greeting: ACK n ───────  resent from n at once
//! ```
//!
//! **Choices.** Those of `split.rs`, and: 1. A disconnection is an event of the station's link, or that nothing comes from the
//! mobile for `silence` while data waits for it. In the first case the end towards the mobile stops its timer; in the second,
//! which may be an error, only the sender is stopped. 2. The mobile is back when it has sent something. Where its link is up
//! and nothing comes for a timeout, the station resends without a greeting. 3. The last byte is acknowledged alone after
//! `delay`, at the end of the stream, and where data waits beyond a hole, since the sender would repeat it. 4. Duplicates
//! wait until all below the hole is acknowledged. 5. For a mobile that sends the same holds: what it sent is acknowledged when
//! the fixed host has acknowledged it, with no byte kept back. 6. Timestamps that the sender gets back are those of the
//! segments acknowledged, so that its timeout has the hop to the mobile in it. 7. After a hand-off the window towards the
//! mobile is the old one. 8. The mobile (`tcp.reaction = "m-tcp"`) stops its own timer while its link is down, and resends at
//! once after it. 9. The paper's division of the station's bandwidth among mobiles is left out.
//!
//! **Checked by** the tests below, `split/tests.rs`, and `crates/sim/tests/split.rs` end to end.

use super::split::config::parameters;
use super::split::{EndToEnd, Settings};
use crate::hooks::parameter::{Described, Domain, LONGEST, Parameter, Setting, Words, words};
use crate::hooks::{Acknowledge, Advertised, Deeds, LinkEvent, Reaction, Standing, StopOrGo};
use crate::transport::tcp::Profile;
use crate::units::Span;

/// The parameters of one station.
#[derive(Clone, Debug, PartialEq)]
pub struct Config<N> {
    /// Its ends and its buffers.
    pub settings: Settings<N>,
    /// Its acknowledgements.
    pub rules: EndToEnd,
}

impl<N: Words> Default for Config<N> {
    fn default() -> Config<N> {
        let rules = EndToEnd { delay: Span::from_millis(100), silence: Some(Span::from_secs(1)) };
        Config { settings: Settings::new("sack"), rules }
    }
}

impl<N: Words> Described for Config<N> {
    const PARAMETERS: &'static [Parameter<Config<N>>] = parameters!(
        Parameter::<Self>::new(
            "delay",
            Domain::Time("ms"),
            "time after which the last byte is acknowledged alone",
            |config| Setting::Time(config.rules.delay),
            |config, value| config.rules.delay = value.time(),
        )
        .source("lasthop: schemes/m_tcp.rs, choice 3")
        .above("0 s")
        .at_most("10 s"),
        Parameter::<Self>::new(
            "silence",
            Domain::Time("ms"),
            "time without a segment of the mobile, while data waits for it, after which it counts as disconnected",
            |config| config.rules.silence.map_or(Setting::Word("never"), Setting::Time),
            |config, value| {
                config.rules.silence = if value.is("never") { None } else { Some(value.time()) };
            },
        )
        .words(&["never"])
        .source("lasthop: schemes/m_tcp.rs, choice 1")
        .above("0 s")
        .at_most(LONGEST),
    );

    fn conflict(&self) -> Option<(&'static str, String)> {
        self.settings.conflict()
    }
}

/// What the mobile does.
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
