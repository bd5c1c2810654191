//! LLE-TCP: the ARQ snoop agent, which acknowledges TCP data when the link-layer acknowledgement arrives.
//!
//! **Limits.** An acknowledgement means "delivered to the next hop", not "received by TCP". Paper mode breaks with a
//! slow or dead receiver, with a server that speaks first, with losses above the MAC, and with data in both directions.
//! A standard TCP drops a segment without ACK (RFC 9293, 3.10.7.4). Safe mode repairs losses above the MAC; if a
//! receiver dies, at most one window is acknowledged falsely, and this is counted. The copies move at a hand-off, and are
//! lost if the station restarts, so that a loss above the MAC just before is not repaired. Both ends of the hop need an
//! agent that saw the connection begin. One that refuses it, or does not know it, sets a reserved bit of the SYN and of the
//! data that it passes to the other end ([`Flags::REFUSED`](crate::packet::Flags::REFUSED)), which costs no bytes. The
//! agent does not handle flows with ECN or a header extension, nor encrypted transports.
//!
//! **Source.** Kliazovich and Granelli, "A cross-layer scheme for TCP performance improvement in wireless LANs",
//! University of Trento DIT-04-025, 2004: sections II.B and II.C.
//!
//! **How.** The agent records each data segment for a node one hop away on its way down. When the link reports
//! `Delivered`, it sends a plain TCP acknowledgement of all data delivered in order up to the sender. At the other end
//! of the hop, the agent suppresses the acknowledgement that the receiver's TCP generates for the same data.
//!
//! ```text
//!    network   data │   ▲ acknowledgement           ▲ data    │ acknowledgement: suppressed,
//!     agent         ▼   │ generated here            │         ▼ or forwarded if it says more
//!      link     data ──►  PACK_DELIVERED  ···hop··► data
//! ```
//!
//! **Choices.** There are two modes, which share no rules: `paper.rs` is the paper, with the choices it leaves open;
//! `safe.rs` has the rules that preserve TCP's end-to-end guarantees. Both use the same code to trace connections and
//! to write acknowledgements (`connections.rs`, `reply.rs`).
//!
//! **Checked by** `lle_tcp/tests.rs`: one test per rule, and connections over a faulty hop in both modes.

mod beyond;
pub(super) mod config;
pub(super) mod connection;
pub(super) mod connections;
pub(super) mod hold;
mod paper;
mod parameters;
pub(super) mod reply;
mod safe;
#[cfg(test)]
mod tests;

pub use config::{AckScheme, Config, Counters, Mode, OnUndelivered};
pub use paper::Paper;
pub use safe::Safe;

use crate::hooks::{Activity, Agent, AgentOut, Count, Exported, counts};
use crate::packet::{NodeId, Packet};
use crate::signal::Signal;
use crate::units::Time;

/// The ARQ snoop agent of one interface.
#[derive(Clone, Debug)]
pub enum LleTcp {
    /// With the paper's rules.
    Paper(Paper),
    /// With the rules that an unmodified TCP needs.
    Safe(Safe),
}

impl LleTcp {
    /// An agent without flows.
    #[must_use]
    pub fn new(config: Config) -> LleTcp {
        match config.mode {
            Mode::Paper => LleTcp::Paper(Paper::new(config)),
            Mode::Safe => LleTcp::Safe(Safe::new(config)),
        }
    }

    /// The counters so far, and the state that it holds.
    #[must_use]
    pub fn counters(&self) -> Counters {
        match self {
            LleTcp::Paper(agent) => agent.counters(),
            LleTcp::Safe(agent) => agent.counters(),
        }
    }
}

impl Agent for LleTcp {
    fn down(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        match self {
            LleTcp::Paper(agent) => agent.down(packet, now, out),
            LleTcp::Safe(agent) => agent.down(packet, now, out),
        }
    }

    fn up(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        match self {
            LleTcp::Paper(agent) => agent.up(packet, now, out),
            LleTcp::Safe(agent) => agent.up(packet, now, out),
        }
    }

    fn on_signal(&mut self, signal: Signal, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        match self {
            LleTcp::Paper(agent) => agent.on_signal(signal, packet, now, out),
            LleTcp::Safe(agent) => agent.on_signal(signal, packet, now, out),
        }
    }

    fn on_timer(&mut self, now: Time, out: &mut impl AgentOut) {
        match self {
            LleTcp::Paper(agent) => agent.on_timer(now, out),
            LleTcp::Safe(agent) => agent.on_timer(now, out),
        }
    }

    fn restart(&mut self, now: Time, out: &mut impl AgentOut) {
        match self {
            LleTcp::Paper(agent) => agent.restart(now, out),
            LleTcp::Safe(agent) => agent.restart(now, out),
        }
    }

    fn export(&mut self, mobile: NodeId, now: Time, out: &mut impl AgentOut) -> Option<Exported> {
        match self {
            LleTcp::Paper(agent) => agent.export(mobile, now, out),
            LleTcp::Safe(agent) => agent.export(mobile, now, out),
        }
    }

    fn import(&mut self, state: Exported, now: Time, out: &mut impl AgentOut) {
        match self {
            LleTcp::Paper(agent) => agent.import(state, now, out),
            LleTcp::Safe(agent) => agent.import(state, now, out),
        }
    }

    fn each_kept(&self, visit: &mut dyn FnMut(&Packet)) {
        match self {
            LleTcp::Paper(agent) => agent.each_kept(visit),
            LleTcp::Safe(agent) => agent.each_kept(visit),
        }
    }

    fn activity(&self) -> Activity {
        match self {
            LleTcp::Paper(agent) => agent.activity(),
            LleTcp::Safe(agent) => agent.activity(),
        }
    }

    fn counts(&self) -> Vec<Count> {
        let counters = self.counters();
        counts! {
            /// generated acknowledgements that replace one that was sent over the link
            "relayed": "segments" = counters.relayed;
            /// data segments whose ACK flag was cleared (paper mode)
            "cleared": "segments" = counters.cleared;
            /// segments retransmitted because no acknowledgement arrived; possibly only the acknowledgement was lost
            "probed": "segments" = counters.probed;
            /// segments passed to the link again after it had given them up
            "resubmitted": "segments" = counters.resubmitted;
            /// flows not handled because the table was full
            "flows_refused": "flows" = counters.flows_refused;
        }
    }
}
