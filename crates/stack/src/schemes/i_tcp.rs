//! I-TCP: a base station that splits connections and acknowledges data before the mobile has received it.
//!
//! **Limits.** Acknowledgements lose their end-to-end meaning. After all of a sender's data has been acknowledged, the
//! last buffer of it may still be undelivered, and it is lost if the station fails (`unconfirmed`, `lost_bytes`). State
//! moves at each hand-off.
//!
//! **Source.** Bakre and Badrinath, "I-TCP: Indirect TCP for mobile hosts", ICDCS 1995, by its abstract; details from
//! secondary descriptions (our reading).
//!
//! **How.** The station accepts connections under the address of the mobile and opens a second connection to the mobile
//! under the address of the fixed host ([`split`](super::split)). It acknowledges arriving data at once and copies it;
//! the hop to the mobile has a window, a timer and loss recovery of its own. At a hand-off both ends move to the new
//! station with the undelivered bytes: the wired end continues unchanged, and the end towards the mobile enters slow
//! start.
//!
//! **Choices.** Those of `split.rs`, and: 1. The end towards the mobile ignores events of its link: its timer backs off
//! during a disconnection as usual. 2. After a hand-off nothing is known about the path to the mobile; the window
//! restarts as at the beginning of a connection. 3. In the paper the mobile has a library that requests each connection
//! from the station; here there is no such library, and the station recognises connections by their SYN.
//!
//! **Checked by** `split/tests.rs`, and `crates/sim/tests/split.rs` end to end.

use super::split::Settings;
use super::split::config::parameters;
use crate::hooks::parameter::{Described, LONGEST, Setting, Words};
use crate::units::Span;

/// The parameters of one station.
#[derive(Clone, Debug, PartialEq)]
pub struct Config<N> {
    /// The parameters of its ends and its buffers.
    pub settings: Settings<N>,
}

impl<N: Words> Default for Config<N> {
    fn default() -> Config<N> {
        Config { settings: Settings::new("sack") }
    }
}

impl<N: Words> Described for Config<N> {
    parameters! {}

    fn conflict(&self) -> Option<(&'static str, String)> {
        self.settings.conflict()
    }
}
