//! The sender's requests about acknowledgements: a rate (TARR), or that they follow its round trip (TACK).
//!
//! **Choices.** 1. TARR's draft leaves the rate to the sender. Here it is a quarter of the window, so that each window
//! is acknowledged four times (TACK's beta), and at most what the scenario sets. 2. A request goes with one segment of
//! new data, and again with each retransmission until that segment is acknowledged. 3. The least round trip is that of
//! the whole connection, from the newest segment that an acknowledgement covers, which the receiver has held back
//! least. It is sent again when it has fallen by an eighth.

use super::Sender;
use crate::packet::AckOption;
use crate::transport::acks::AckLaw;
use crate::transport::tcp::Parts;
use crate::units::Span;

/// Acknowledgements that a request leaves in a window.
const IN_A_WINDOW: f64 = 4.0;

/// What is asked, and whether it has arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asking {
    /// What both ends have agreed on.
    law: AckLaw,
    said: Option<AckOption>,
    /// The end of the segment that said it.
    until: u64,
    least: Option<Span>,
}

impl Asking {
    /// Both ends can do this.
    pub(super) fn agree(&mut self, law: AckLaw) {
        self.law = law;
    }

    /// Whether nothing is requested.
    #[inline]
    pub(super) fn is_unused(&self) -> bool {
        self.law == AckLaw::Delayed
    }

    /// The path has changed: nothing is known of it.
    pub(super) fn forget(&mut self) {
        *self = Asking { law: self.law, ..Asking::default() };
    }

    /// A round trip was measured.
    #[inline]
    pub(super) fn measure(&mut self, rtt: Span) {
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
    }

    /// What to ask with the segment of data up to `end`; `una` is the first byte not acknowledged.
    #[inline]
    pub(super) fn on_segment(&mut self, end: u64, is_copy: bool, cwnd: f64, una: u64) -> Option<AckOption> {
        if self.law == AckLaw::Delayed {
            return None;
        }
        let wish = self.wish(cwnd)?;
        if is_news(self.said, wish) {
            self.until = self.until.max(end);
            self.said = Some(wish);
            return self.said;
        }
        self.said.filter(|_| is_copy && una < self.until)
    }

    fn wish(&self, cwnd: f64) -> Option<AckOption> {
        match self.law {
            AckLaw::Delayed => None,
            AckLaw::Requested(most) => {
                let every = (cwnd / IN_A_WINDOW).clamp(1.0, most.clamp(1, AckOption::MOST).into());
                Some(AckOption::Request(every as u8))
            }
            AckLaw::Tack(_) => self.least.map(AckOption::least_round_trip),
        }
    }
}

impl<P: Parts> Sender<P> {
    /// By which law both ends have agreed to acknowledge.
    pub fn agree_on_acks(&mut self, law: AckLaw) {
        self.asking.agree(law);
    }

    /// A round trip for the peer's acknowledgements: that of the handshake.
    pub fn measure_for_acks(&mut self, rtt: Span) {
        self.asking.measure(rtt);
    }
}

fn is_news(said: Option<AckOption>, wish: AckOption) -> bool {
    match (said, wish) {
        (Some(AckOption::LeastRoundTrip(said)), AckOption::LeastRoundTrip(least)) => least < said - said / 8,
        _ => said != Some(wish),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::acks::TackConfig;

    #[test]
    fn a_request_is_a_quarter_of_the_window_and_goes_once() {
        let mut asking = Asking::default();
        asking.agree(AckLaw::Requested(8));
        let asked = [2.0, 10.0, 11.9, 40.0, 400.0, 12.0].map(|cwnd| asking.on_segment(1000, false, cwnd, 0));
        let request = |every| Some(AckOption::Request(every));
        assert_eq!(asked, [request(1), request(2), None, request(8), None, request(3)]);
    }

    #[test]
    fn a_retransmission_asks_again_until_the_segment_that_asked_has_arrived() {
        let mut asking = Asking::default();
        asking.agree(AckLaw::Requested(8));
        assert!(asking.on_segment(2000, false, 20.0, 0).is_some());
        assert_eq!(asking.on_segment(3000, false, 20.0, 0), None);
        assert_eq!(asking.on_segment(1000, true, 20.0, 0), Some(AckOption::Request(5)));
        assert_eq!(asking.on_segment(3000, true, 20.0, 2000), None);
    }

    #[test]
    fn a_round_trip_is_reported_when_it_is_known_and_when_it_has_fallen() {
        let mut asking = Asking::default();
        asking.agree(AckLaw::Tack(TackConfig::PAPER));
        assert_eq!(asking.on_segment(1000, false, 10.0, 0), None);
        let mut after = |millis| {
            asking.measure(Span::from_millis(millis));
            asking.on_segment(1000, false, 10.0, 0)
        };
        let micros = |micros| Some(AckOption::LeastRoundTrip(micros));
        assert_eq!(
            [after(80), after(90), after(75), after(40)],
            [micros(80_000), None, None, micros(40_000)]
        );
    }

    #[test]
    fn nothing_is_asked_where_the_ends_have_not_agreed() {
        let mut asking = Asking::default();
        asking.measure(Span::from_millis(5));
        assert_eq!(asking.on_segment(1000, false, 10.0, 0), None);
    }
}
