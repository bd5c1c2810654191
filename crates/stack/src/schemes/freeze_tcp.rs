//! Freeze-TCP: the mobile receiver stops its sender ahead of a disconnection.
//!
//! **Limits.** It depends on the warning: without one, or with one that comes too late, the sender times out as with
//! any TCP. A false warning stops the sender until it is cleared. It does nothing for a mobile that sends.
//!
//! **Source.** Goff, Moronski, Phatak and Gupta, "Freeze-TCP: A true end-to-end TCP enhancement mechanism for mobile
//! environments", INFOCOM 2000. The rules here are from secondary descriptions (our reading).
//!
//! **How.** The mobile predicts a disconnection from its signal strength and sends an acknowledgement with a window of
//! zero, about a round trip before. The sender persists: its congestion window and timeout do not change. After the
//! disconnection the mobile sends three copies of the acknowledgement of its last byte with the real window (after
//! Caceres and Iftode). The sender continues with its old window.
//!
//! ```text
//!     warning ──▶ ACK n, window 0        down … up ──▶ 3 × ACK n, window w
//!     sender:      persists, probes with back-off       sends what is outstanding and more, cwnd as it was
//! ```
//!
//! **Choices.** 1. The link's predictor sets the lead of the warning and its errors (`links.NAME.outages.warning`); the
//! paper requires a lead of one round trip. 2. All acknowledgements between the warning and the end of the
//! disconnection have a window of zero: one with a window would restart the sender. 3. A hand-off is treated as a
//! disconnection. 4. A warning that proves false is answered with the same three acknowledgements. 5. Without a warning
//! the mobile also sends the three acknowledgements: they can reach a sender that waits for its timer.
//!
//! **Checked by** the tests below, `transport/tcp/connection/tests/frozen.rs`, and `crates/sim/tests/link_events.rs`.

use crate::hooks::parameter::{Described, parameters};
use crate::hooks::{Acknowledge, Advertised, Deeds, LinkEvent, Reaction, Standing};

/// The constants of Freeze-TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Acknowledgements with a window of zero that a warning sends.
    pub closing: u8,
    /// Acknowledgements with the real window after it.
    pub opening: u8,
}

impl Default for Config {
    fn default() -> Config {
        Config { closing: 1, opening: 3 }
    }
}

impl Described for Config {
    parameters! {
        /// number of acknowledgements with a window of zero at a warning
        "closing-acks": Count = closing, at_least("1"), at_most("255"), source("Goff et al. 2000 (our reading)");
        /// number of acknowledgements with the real window after a disconnection
        "opening-acks": Count = opening, at_least("1"), at_most("255"),
            source("Goff et al. 2000; Caceres and Iftode 1995");
    }
}

/// The behaviour of one end of a connection.
#[derive(Clone, Copy, Debug)]
pub struct FreezeTcp {
    config: Config,
}

impl FreezeTcp {
    /// An end that has no warning.
    #[must_use]
    pub fn new(config: Config) -> FreezeTcp {
        FreezeTcp { config }
    }
}

impl Reaction for FreezeTcp {
    fn on_event(&mut self, event: LinkEvent, standing: Standing) -> Deeds {
        if !standing.receives {
            return Deeds::default();
        }
        let all = |window, copies| {
            let acknowledge = Acknowledge { window, less: 0, copies };
            Deeds { window: Some(window), acknowledge: [Some(acknowledge), None], ..Deeds::default() }
        };
        match event {
            LinkEvent::Warning => all(Advertised::Closed, self.config.closing),
            LinkEvent::Cleared | LinkEvent::Up | LinkEvent::HandoffEnds => {
                all(Advertised::Real, self.config.opening)
            }
            LinkEvent::Down | LinkEvent::HandoffBegins => Deeds::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECEIVES: Standing = Standing { sends: false, is_full: false, receives: true };

    fn acks(event: LinkEvent, standing: Standing) -> Option<(Advertised, u8)> {
        let deeds = FreezeTcp::new(Config::default()).on_event(event, standing);
        assert_eq!((deeds.sending, deeds.acknowledge[1]), (None, None));
        let first = deeds.acknowledge[0];
        assert_eq!(deeds.window, first.map(|ack| ack.window), "what lasts is what was said");
        first.map(|ack| (ack.window, ack.copies))
    }

    #[test]
    fn a_warning_closes_the_window_once_and_the_end_opens_it_three_times() {
        assert_eq!(acks(LinkEvent::Warning, RECEIVES), Some((Advertised::Closed, 1)));
        for end in [LinkEvent::Up, LinkEvent::HandoffEnds, LinkEvent::Cleared] {
            assert_eq!(acks(end, RECEIVES), Some((Advertised::Real, 3)));
        }
    }

    #[test]
    fn nothing_is_sent_while_the_link_is_away_or_by_an_end_that_only_sends() {
        for begin in [LinkEvent::Down, LinkEvent::HandoffBegins] {
            assert_eq!(acks(begin, RECEIVES), None);
        }
        let sends = Standing { sends: true, is_full: true, receives: false };
        assert_eq!(acks(LinkEvent::Warning, sends), None);
        assert_eq!(acks(LinkEvent::Up, sends), None);
    }
}
