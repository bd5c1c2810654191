//! DCTCP: a mark reduces the window by half of the share of packets that are marked. Prague is the same law for L4S queues.
//!
//! **Limits.** At a queue that drops DCTCP is Reno. At one that marks for classic flows it takes more than they do (RFC 8257,
//! 5). `prague` implements the codepoint and the reduction of draft-briscoe-iccrg-prague-congestion-control, but not its pacing,
//! its reduced dependence on the round-trip time, or its fall-back at classic queues.
//!
//! **Source.** RFC 8257; RFC 9331 (4.1) for the codepoint ECT(1).
//!
//! **How.** Once in a window of data, `alpha` moves by the gain `g` towards the share `M` of its packets that were
//! marked. At the first mark of a window of data the window falls (3.3):
//!
//! ```text
//! alpha = (1 - g) alpha + g M        cwnd = cwnd (1 - alpha / 2)
//! ```
//!
//! **Choices.** 1. Packets are counted, and not bytes. 2. `alpha` begins with 1, so that the first mark halves the window (4.2).
//! 3. With classic ECN all segments of an acknowledgement with ECE count as marked, which overestimates `M`: the receiver echoes
//! each mark for a round trip. 4. A loss is answered as by Reno (3.5).
//! 5. A mark may leave one segment, at which further marks wait for the timer (RFC 3168, 6.1.2). Prague does not go below two
//! segments, as its Linux: windows of less than that are a plan of the draft.
//!
//! **Checked by** the tests below and `crates/sim/tests/l4s.rs`.

use super::reno::Reno;
use crate::hooks::parameter::{Described, parameters};
use crate::hooks::{Ack, Congestion, EcnEcho, Loss, LossResponse, Mark, Reduction, Window};
use crate::packet::Ecn;

/// Least ssthresh (RFC 5681, equation 4), and the least window of Prague, in segments.
const LEAST: f64 = 2.0;

/// The constants of DCTCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DctcpConfig {
    /// Weight of a window of data in the share of marked packets (g).
    pub gain: f64,
}

impl Default for DctcpConfig {
    fn default() -> DctcpConfig {
        DctcpConfig { gain: 1.0 / 16.0 }
    }
}

impl Described for DctcpConfig {
    parameters! {
        /// weight of one window of data in the estimated share of marked packets
        "gain": Number = gain, above("0"), at_most("1"), source("RFC 8257 (4.2): 1/16");
    }
}

/// The state of DCTCP.
#[derive(Clone, Debug)]
pub struct Dctcp {
    gain: f64,
    codepoint: Ecn,
    /// Estimated share of marked packets.
    alpha: f64,
    /// Segments delivered in this window of data, and marked.
    delivered: u64,
    marked: u64,
    /// First byte after this window of data, once it is known.
    window_end: Option<u64>,
}

impl Dctcp {
    /// The state at the start of a connection whose data has this codepoint.
    #[must_use]
    pub fn new(config: &DctcpConfig, codepoint: Ecn) -> Dctcp {
        let DctcpConfig { gain } = *config;
        Dctcp { gain, codepoint, alpha: 1.0, delivered: 0, marked: 0, window_end: None }
    }

    /// A window of data has ended (RFC 8257, 3.3).
    fn estimate(&mut self) {
        if self.delivered > 0 {
            let share = (self.marked as f64 / self.delivered as f64).min(1.0);
            self.alpha += self.gain * (share - self.alpha);
        }
        (self.delivered, self.marked) = (0, 0);
    }
}

impl Congestion for Dctcp {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        self.delivered += u64::from(ack.delivered.segments);
        self.marked += match ack.ecn {
            EcnEcho::Unmarked => 0,
            EcnEcho::Marked => u64::from(ack.delivered.segments),
            EcnEcho::Counted(marks) => u64::from(marks),
        };
        let window_end = *self.window_end.get_or_insert(ack.sent_end);
        if ack.una > window_end {
            self.estimate();
            self.window_end = Some(ack.sent_end);
        }
        Reno.on_ack(ack, window);
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        Reno.on_loss(loss, window)
    }

    fn on_mark(&mut self, mark: &Mark, window: &mut Window) -> Reduction {
        let left = window.cwnd * (1.0 - self.alpha / 2.0);
        let least = if self.codepoint == Ecn::Ect1 { LEAST } else { mark.least };
        window.ssthresh = left.max(LEAST);
        window.cwnd = window.cwnd.min(left.max(least));
        Reduction::Reduced
    }

    fn codepoint(&self) -> Ecn {
        self.codepoint
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::testing::{ack, mark};
    use crate::hooks::{Delivered, Progress};

    fn window(cwnd: f64) -> Window {
        Window { cwnd, ssthresh: cwnd, ..Window::new(cwnd, None, 1_000.0) }
    }

    /// A law after windows of ten segments, with the number of marked segments of each.
    fn after(windows: &[u32]) -> Dctcp {
        let mut law = Dctcp::new(&DctcpConfig::default(), Ecn::Ect0);
        let mut window = window(10.0);
        for (number, marked) in windows.iter().enumerate() {
            for segment in 0..10 {
                let ecn = if segment < *marked { EcnEcho::Counted(1) } else { EcnEcho::Unmarked };
                let una = (number * 10) as u64 + u64::from(segment) + 1;
                let delivered = Delivered { segments: 1, ..Delivered::default() };
                let ack = Ack { una, sent_end: una + 10, ecn, delivered, ..ack(Progress::Unlimited(1)) };
                law.on_ack(&ack, &mut window);
            }
        }
        law
    }

    #[test]
    fn alpha_moves_a_sixteenth_towards_the_share_of_marked_packets() {
        // The first window of data ends with the twelfth acknowledgement: of its twelve segments five were marked.
        let law = after(&[5, 0]);
        let expected = 1.0 + (5.0 / 12.0 - 1.0) / 16.0;
        assert!((law.alpha - expected).abs() < 1e-12, "{} {expected}", law.alpha);
        let unmarked = after(&[0; 200]);
        assert!(unmarked.alpha < 0.001, "{}", unmarked.alpha);
    }

    #[test]
    fn a_mark_reduces_the_window_by_half_of_alpha() {
        for (alpha, left) in [(1.0, 20.0), (0.25, 35.0), (0.0, 40.0)] {
            let mut law = Dctcp::new(&DctcpConfig::default(), Ecn::Ect1);
            let mut window = window(40.0);
            law.alpha = alpha;
            assert_eq!(law.on_mark(&mark(40), &mut window), Reduction::Reduced);
            assert_eq!((window.cwnd, window.ssthresh), (left, left));
        }
    }
}
