//! The frame of a time-division duplex 802.16 link, and the rates of its modulations.

use crate::packet::Modulation;
use crate::units::{Rate, Span, Time};

/// A direction of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the base station.
    Down,
    /// To it.
    Up,
}

/// How a frame is divided: preamble and maps, downlink bursts, then requests and uplink bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Length of a frame (0.5, 1 or 2 ms; IEEE 802.16-2004, table 8.1).
    pub length: Span,
    /// Length of its downlink sub-frame.
    pub down: Span,
    /// Preamble, DL-MAP and UL-MAP at its head.
    pub maps: Span,
    /// Gap and request region at the head of the uplink sub-frame.
    pub requests: Span,
}

impl Frame {
    /// When the frame that contains `at` begins.
    #[must_use]
    pub fn begins(&self, at: Time) -> Time {
        Time(at.0 - at.0 % self.length.0)
    }

    /// When the bursts of a direction may begin and must end, in the frame that begins at `begins`.
    #[must_use]
    pub fn subframe(&self, direction: Direction, begins: Time) -> (Time, Time) {
        let turn = begins.after(self.down);
        match direction {
            Direction::Down => (begins.after(self.maps), turn),
            Direction::Up => (turn.after(self.requests), begins.after(self.length)),
        }
    }

    /// The beginning of the first frame whose maps can announce a packet that comes `now`.
    #[must_use]
    pub fn earliest(&self, direction: Direction, now: Time) -> Time {
        let begins = self.begins(now);
        let next = begins.after(self.length);
        match direction {
            // The maps of the present frame have gone out, unless it begins now.
            Direction::Down if begins == now => now,
            Direction::Down => next,
            // Requested in this uplink sub-frame if it has not begun, otherwise in the next; granted one frame later.
            Direction::Up if now <= begins.after(self.down) => next,
            Direction::Up => next.after(self.length),
        }
    }
}

/// The bit rate of each modulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// QPSK.
    pub qpsk: Rate,
    /// 16-QAM.
    pub qam16: Rate,
    /// 64-QAM.
    pub qam64: Rate,
}

impl Rates {
    /// Single carrier in 20 MHz (EJTCP, 1.2; Eklund et al. 2002).
    pub const SINGLE_CARRIER_20_MHZ: Rates =
        Rates { qpsk: Rate(32_000_000), qam16: Rate(64_000_000), qam64: Rate(96_000_000) };

    /// The rate of a modulation.
    #[must_use]
    pub fn of(&self, modulation: Modulation) -> Rate {
        match modulation {
            Modulation::Qpsk => self.qpsk,
            Modulation::Qam16 => self.qam16,
            Modulation::Qam64 => self.qam64,
        }
    }
}
