//! Counts of failed attempts: those of the frame in service, and those of the station.
//!
//! **Source.** IEEE 802.11-1999 (9.2.4), 802.11-2007 (9.2.4; 9.9.1.5 for an access category), 802.11-2012 (9.3.3). A
//! failed attempt increments a short or long retry count of the frame, and the count of the station (SSRC, SLRC) for
//! all of its frames. The contention window widens at each increment of a count of the station. It is reset by a
//! success, and when a count of the station reaches its limit, whether or not a packet is discarded then. A station
//! that serves one frame at a time discards its packet at the same attempt; one whose frames a scheme orders does not.
//!
//! **Choice.** In the text only a CTS or an ACK resets a count of the station to zero. The count would then reach its
//! limit once, and the window would widen until a success. Both ns-2 (`mac-802_11.cc`) and ns-3
//! (`WifiRemoteStationManager`) reset the count together with the window, and so does this code.

use super::standard::MacConfig;

/// Failed attempts since the counts were last zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Retries {
    /// Of RTS, and of data up to the RTS threshold.
    pub(super) short: u32,
    /// Of data above it.
    pub(super) long: u32,
}

impl Retries {
    /// Counts a failed attempt. Returns whether its count has reached the limit.
    pub(super) fn count(&mut self, is_short: bool, config: &MacConfig) -> bool {
        let (count, limit) = if is_short {
            (&mut self.short, config.short_retry)
        } else {
            (&mut self.long, config.long_retry)
        };
        *count = count.saturating_add(1);
        limit.is_some_and(|limit| *count >= limit)
    }

    /// All of them.
    pub(super) fn all(self) -> u32 {
        self.short.saturating_add(self.long)
    }
}
