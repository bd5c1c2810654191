//! ILC-TCP: a mobile sender that freezes at a timeout while its link or its IP layer is disconnected.
//!
//! **Limits.** It acts only at a timeout: it does not change the effect of a disconnection shorter than the timeout, or
//! of a timeout after the disconnection has ended. It does nothing for a mobile that receives.
//!
//! **Source.** Chinta, Helal and Lee, "ILC-TCP: An interlayer collaboration protocol for TCP performance improvement in
//! mobile and wireless environments", WCNC 2003, by its abstract. The rules are from secondary descriptions (our
//! reading).
//!
//! **How.** A state manager alongside the mobile's protocol stack tracks the state of the link (good or bad), of IP (a
//! hand-off in progress or done), and of TCP. TCP queries it at each retransmission timeout.
//!
//! | link | IP | at a timeout |
//! | --- | --- | --- |
//! | good | done | as in standard TCP |
//! | bad, or | in progress | freezes: keeps window, threshold and timeout, and stops the timer |
//!
//! When both are good again, a frozen sender retransmits the first unacknowledged segment and the segments after it, as
//! far as the old window allows, and restarts its timer.
//!
//! **Choices.** 1. Until its timeout the sender continues as its window allows, even if the link is bad: only a timeout
//! queries the state. 2. Everything outstanding when the sender froze is assumed lost. 3. Warnings are not used.
//!
//! **Checked by** the tests below, `transport/tcp/connection/tests/frozen.rs`, and `crates/sim/tests/link_events.rs`.

use crate::hooks::{AtTimeout, Deeds, LinkEvent, Reaction, Standing, StopOrGo, Window};

/// The behaviour of one end of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct IlcTcp {
    /// What the state manager reports about link and IP.
    is_bad: bool,
    is_frozen: bool,
}

impl Reaction for IlcTcp {
    fn on_event(&mut self, event: LinkEvent, _: Standing) -> Deeds {
        self.is_bad = (self.is_bad || event.begins_silence()) && !event.ends_silence();
        let resumes = self.is_frozen && !self.is_bad;
        self.is_frozen &= self.is_bad;
        Deeds { sending: resumes.then_some(StopOrGo::ResumeFromLoss), ..Deeds::default() }
    }

    fn on_timeout(&mut self, _: &mut Window) -> AtTimeout {
        self.is_frozen |= self.is_bad;
        if self.is_bad { AtTimeout::Wait } else { AtTimeout::Usual }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENDS: Standing = Standing { sends: true, is_full: true, receives: false };

    #[test]
    fn a_timeout_freezes_while_link_or_ip_is_bad_and_only_then() {
        let mut window = Window::new(12.0, Some(6.0), 20.0);
        for (begin, end) in
            [(LinkEvent::Down, LinkEvent::Up), (LinkEvent::HandoffBegins, LinkEvent::HandoffEnds)]
        {
            let mut tcp = IlcTcp::default();
            assert_eq!(tcp.on_timeout(&mut window), AtTimeout::Usual);
            assert_eq!(tcp.on_event(begin, SENDS), Deeds::default(), "it goes on as its window allows");
            assert_eq!(tcp.on_timeout(&mut window), AtTimeout::Wait);
            assert_eq!((window.cwnd, window.ssthresh), (12.0, 6.0));
            assert_eq!(tcp.on_event(LinkEvent::Warning, SENDS), Deeds::default());
            assert_eq!(tcp.on_event(end, SENDS).sending, Some(StopOrGo::ResumeFromLoss));
            assert_eq!(tcp.on_timeout(&mut window), AtTimeout::Usual);
            assert_eq!(
                [begin, end].map(|event| tcp.on_event(event, SENDS)),
                [Deeds::default(); 2],
                "not frozen"
            );
        }
    }

    #[test]
    fn without_a_timeout_a_disconnection_changes_nothing() {
        let mut tcp = IlcTcp::default();
        for event in [LinkEvent::Down, LinkEvent::Up, LinkEvent::HandoffBegins, LinkEvent::HandoffEnds] {
            assert_eq!(tcp.on_event(event, SENDS), Deeds::default());
        }
    }
}
