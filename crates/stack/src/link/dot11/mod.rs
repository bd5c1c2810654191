//! IEEE 802.11: a station's MAC, without its own clock, medium or random generator.
//!
//! **Limits.** No management (association, beacons outside a contention-free period) and no power saving of its own. Frames to
//! all are those of a layer above that plans rates, see `planned.rs`. Service classes and aggregation are those of EDCA, in `edca`; all other presets have DCF. A station senses a carrier at once, except one that begins at the same
//! instant. Of PCF only polling is modelled, see `pcf.rs`.
//!
//! **Source.** IEEE 802.11-2012, clauses 8 (frames), 9.3 (DCF), 9.4 (PCF), 9.5 and 9.6 (fragments), 16 to 18 (PHYs);
//! ns-2's `mac-802_11.cc` for the departures of the preset `ns2`.
//!
//! **Two MACs.** A [`Station`] has DCF (`dcf`) or EDCA (`edca`). `mac` lists what a host asks of either; `shared` has what both
//! do alike: carrier sense, the steps of an exchange, answers, riders, counters. DCF is not EDCA with one category: it has
//! fragments with their ARQ schemes, polling, and the rules of ns-2, and an idle run of n slots subtracts n from its backoffs,
//! not n + 1. It is also faster: an event of a saturated cell of 802.11n with one MPDU per frame took 1.8, 1.6 and 1.9 times as
//! long as one of 802.11a, for 1, 20 and 200 stations.
//!
//! **How.** A [`Station`] receives the events of its medium and answers through [`MacOut`]. It has one timer, for the
//! end of a backoff, the SIFS before an answer, or a missing answer; these never occur at the same time:
//!
//! ```text
//!              timer            on_sent                 timer
//!   Contend ──────────▶ Sending ───────▶ Await CTS/ACK ───────▶ failed: retry or give up ──▶ Contend
//!      │ frame for me      ▲                  │ on_frame
//!      ▼           timer   │                  ▼
//!     Gap (SIFS) ──────────┘◀── next frame of the exchange, or the MSDU is delivered ──▶ Contend
//! ```
//!
//! **Obligations of the host.**
//! 1. At one instant and one station, [`Station::on_frame`] or [`Station::on_error`] come before [`Station::on_idle`].
//!    Ends of transmissions at an instant come before timers that are due then.
//! 2. [`Station::on_busy`] and [`Station::on_idle`] alternate, beginning with busy. They report only the transmissions
//!    of others, also while the station sends. A station whose timer is due at the instant of `on_busy` keeps it and
//!    sends.
//! 3. A station receives nothing while it sends, nor a frame that began meanwhile: neither `on_frame` nor `on_error`.
//! 4. Nothing is called from inside [`MacOut`]. The host may act on `up` and `done` once the call has returned, also by
//!    enqueueing to the same station at the same instant.
//! 5. [`MacOut::transmit`] occurs at most once per call, and the transmission ends with [`Station::on_sent`] after
//!    `airtime.total`.
//! 6. The timer may fire without effect: it is not moved when a reservation holds a backoff. A medium that loses a
//!    packet for good reports it ([`Station::on_lost_for_good`]) between `transmit` of its data frame and
//!    [`Station::on_sent`].
//! 7. Nodes are numbered from zero without large gaps, because tables are indexed by the number of the node.

mod access;
mod answer;
mod bystander;
mod contend;
mod dcf;
mod edca;
mod exchange;
mod frame;
mod mac;
mod mode;
mod parameters;
mod pcf;
mod planned;
mod rates;
mod receive;
mod reorder;
mod retries;
mod riders;
mod room;
mod ru;
mod shared;
mod standard;
#[cfg(test)]
mod tests;
mod timing;
mod units;

pub use bystander::Bystander;
pub use dcf::Dcf;
pub use edca::{
    Acknowledgement, AfterLoss, Aggregate, Agreements, Answering, BlockAck, CATEGORIES, Category, Confirmed,
    DELIMITER, Edca, EdcaAccess, EdcaConfig, EdcaCounters, Load, Mpdu, MpduFate, MuEdca, Ofdma, RateControl,
    Scheduler, Share, SingleRadio, UNKNOWN, Uplink, WINDOWS,
};
pub use frame::{
    BROADCAST, Distribution, Frame, FrameKind, Msdu, Outcome, PayloadClass, Served, ServedOutcome,
};
pub use mac::Station;
pub use mode::{DataRate, Family, Guard, LONGEST_PPDU, Mode, WIDTHS};
pub use parameters::{ParameterSet, Timeout};
pub use pcf::PcfConfig;
pub use planned::{Plan, STAGES, Tries};
pub use rates::{Airtime, PhyRate, PhyTiming, RATES, RateSet};
pub use reorder::Reorder;
pub use ru::Ru;
pub use shared::{Counters, Role};
pub use standard::{
    AccessRules, BackoffDraw, Buffer, BufferScope, BufferUnit, MacConfig, Preset, Protection, Reassembly,
    ResponseTimeout,
};
pub use timing::{LARGEST_FRAME, LARGEST_MSDU, Rules};

use crate::hooks::Rider;
use crate::packet::NodeId;
use crate::units::Time;

/// What a station asks of its host.
pub trait MacOut {
    /// Starts to send a frame now. It ends with [`Station::on_sent`].
    fn transmit(&mut self, frame: Frame, airtime: Airtime);
    /// Sets the station's timer, in place of what it was set to.
    fn set_timer(&mut self, at: Time);
    /// Cancels the timer, if it is set.
    fn cancel_timer(&mut self);
    /// Passes up a packet that was received whole, once, with its sequence number.
    fn up(&mut self, handle: u64, sequence: u16);
    /// Releases a packet that [`Station::enqueue`] accepted, once.
    fn done(&mut self, handle: u64, outcome: Outcome);
    /// What rode in an acknowledgement for this station.
    fn rider(&mut self, _: Rider) {}
    /// The station acknowledges a frame of a neighbour that may have more data for it, and so many riders go along.
    fn answered(&mut self, _more: Option<bool>, _boarded: u32) {}
    /// Draws a number from 0 to `bound`, both included, uniformly, from a stream of this station's own.
    fn draw(&mut self, bound: u32) -> u32;
    /// Whether it receives a report of what a scheme has served.
    fn is_watching(&self) -> bool {
        false
    }
    /// The choice of a scheme, and its outcome.
    fn served(&mut self, _: &Served) {}

    // What only EDCA asks for; a host of DCF alone needs none of it.

    /// Where to put what the frame carries that is transmitted next.
    fn load(&mut self) -> &mut Load {
        unreachable!("only EDCA asks for it")
    }
    /// A packet was received before one that is missing: keeps a copy, and returns its handle.
    fn hold(&mut self, _handle: u64) -> u64 {
        unreachable!("only EDCA asks for it")
    }
    /// Passes up a copy that was kept.
    fn up_held(&mut self, _handle: u64) {
        unreachable!("only EDCA asks for it")
    }
    /// A packet was received after the window had passed it: it is discarded.
    fn late(&mut self, _handle: u64) {
        unreachable!("only EDCA asks for it")
    }
    /// Sets the timer of the reordering buffer.
    fn set_release(&mut self, _at: Time) {
        unreachable!("only EDCA asks for it")
    }
    /// The ratio of signal to noise at which a station hears this one now.
    fn signal_to_noise(&mut self, _at: NodeId) -> f64 {
        unreachable!("only EDCA asks for it")
    }
    /// The probability that an MPDU of these bytes fails in a mode, at a ratio of signal to noise.
    fn mpdu_failure(&mut self, _mode: Mode, _bytes: u32, _ratio: f64) -> f64 {
        unreachable!("only EDCA asks for it")
    }
}
