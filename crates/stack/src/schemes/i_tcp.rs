//! I-TCP: a base station that ends connections, and acknowledges data before the mobile has it.
//!
//! **Limits.** Acknowledgements have no end-to-end meaning: a sender whose data is all acknowledged may have none of the last
//! buffer delivered, and if the station dies it is lost (`unconfirmed`, `lost_bytes`). State moves with each hand-off.
//!
//! **Source.** Bakre and Badrinath, "I-TCP: Indirect TCP for mobile hosts", ICDCS 1995, by its abstract; details from
//! secondary descriptions (our reading).
//!
//! **How.** The station accepts connections in the address of the mobile and has another with the mobile in the address of
//! the fixed host ([`split`](super::split)). It acknowledges what comes at once and copies it; the hop to the mobile has a
//! window, a timer and a recovery of its own. At a hand-off both ends move to the new station, with the bytes that are not
//! delivered: the wired end goes on where it was, the one towards the mobile in slow start.
//!
//! **Choices.** Those of `split.rs`, and: 1. The end towards the mobile does not listen to its link: in a disconnection its
//! timer backs off as any. 2. After a hand-off nothing is known of the path to the mobile; the window begins as at the start
//! of a connection. 3. The paper's mobile has a library of its own that asks the station for each connection; ours has not,
//! and the station recognises connections by their SYN.
//!
//! **Checked by** `split/tests.rs`, and `crates/sim/tests/split.rs` end to end.

use super::split::Settings;
use super::split::config::parameters;
use crate::hooks::parameter::{Described, Domain, LONGEST, Parameter, Setting, Words, words};
use crate::transport::tcp::Profile;
use crate::units::Span;

/// The parameters of one station.
#[derive(Clone, Debug, PartialEq)]
pub struct Config<N> {
    /// Its ends and its buffers.
    pub settings: Settings<N>,
}

impl<N: Words> Default for Config<N> {
    fn default() -> Config<N> {
        Config { settings: Settings::new("sack") }
    }
}

impl<N: Words> Described for Config<N> {
    const PARAMETERS: &'static [Parameter<Config<N>>] = parameters!();

    fn conflict(&self) -> Option<(&'static str, String)> {
        self.settings.conflict()
    }
}
