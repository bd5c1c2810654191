//! The parameters of an ARQ snoop agent in a scenario.

use super::{AckScheme, Config, Mode, OnUndelivered};
use crate::hooks::Criterion;
use crate::hooks::parameter::{Described, LONGEST, parameters, words};
use crate::schemes::flows;
use crate::units::{Bytes, Span};

impl Default for Config {
    fn default() -> Config {
        Config::new(Mode::default(), Criterion::default())
    }
}

words! { Mode: Safe = "safe", Paper = "paper" }

words! {
    OnUndelivered: Nothing = "nothing", ResubmitOnce = "resubmit-once", ThreeDuplicates = "three-duplicates"
}

/// When delivered data is acknowledged; a delayed acknowledgement has its own parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acknowledge {
    EveryPacket,
    Delayed,
}

words! { Acknowledge: EveryPacket = "every-packet", Delayed = "delayed" }

impl AckScheme {
    /// A receiver's usual delay: every second full segment (RFC 5681, 4.2), or ns-2's 100 ms.
    const DELAYED: (u32, Span) = (2, Span::from_millis(100));

    fn delay(self) -> (u32, Span) {
        match self {
            AckScheme::EveryPacket => AckScheme::DELAYED,
            AckScheme::Delayed { every, delay } => (every, delay),
        }
    }
}

impl Described for Config {
    parameters! {
        /// safe: preserves TCP's end-to-end guarantees; paper: follows the paper literally
        "mode": Words("mode") = mode;
        /// when a packet delivered by the link is acknowledged
        "acknowledge": Words("acknowledgement scheme") = (
            |agent| match agent.acknowledge {
                AckScheme::EveryPacket => Acknowledge::EveryPacket,
                AckScheme::Delayed { .. } => Acknowledge::Delayed,
            },
            |agent, acknowledge| {
                let (every, delay) = AckScheme::DELAYED;
                agent.acknowledge = match acknowledge {
                    Acknowledge::EveryPacket => AckScheme::EveryPacket,
                    Acknowledge::Delayed => AckScheme::Delayed { every, delay },
                };
            },
        ), source("lle-tcp/II.B.2");
        /// number of full segments per acknowledgement
        "ack-every": Count = (
            |agent| agent.acknowledge.delay().0,
            |agent, every| agent.acknowledge = AckScheme::Delayed { every, delay: agent.acknowledge.delay().1 },
        ), at_least("1"), at_most("1000"), only(&[("acknowledge", &["delayed"])]), source("RFC 5681 (4.2)");
        /// maximum delay of an acknowledgement
        "ack-delay": Time("ms") = (
            |agent| agent.acknowledge.delay().1,
            |agent, delay| agent.acknowledge = AckScheme::Delayed { every: agent.acknowledge.delay().0, delay },
        ), at_most("10 s"), only(&[("acknowledge", &["delayed"])]), source("ns-2: TCPSink/DelAck");
        /// reaction to a packet that the link gave up
        "on-undelivered": Words("choice") = on_undelivered;
        /// time for which the newest acknowledgement is held if no other follows; grows with the packet spacing of the
        /// flow
        "hold": Time("ms") = hold, at_most(LONGEST), only(&[("mode", &["safe"])]);
        /// maximum of the hold time
        "max-hold": Time("s") = max_hold, at_most(LONGEST), only(&[("mode", &["safe"])]);
        /// time without acknowledgement after which the oldest unconfirmed segment is retransmitted
        "repair": Time("ms") = repair, above("0 s"), at_most(LONGEST), only(&[("mode", &["safe"])]);
        flows::IDLE: Time = idle;
        flows::MOST: Count = max_flows;
        /// maximum payload buffered per flow; segments that do not fit are not acknowledged
        "max-kept": Size = (
            |agent| Bytes(agent.max_kept),
            |agent, Bytes(kept)| agent.max_kept = kept,
        ), at_most("999999999 GB"), only(&[("mode", &["safe"])]);
    }

    fn conflict(&self) -> Option<(&'static str, String)> {
        let (repair, hold) = (self.repair.as_secs(), self.hold.as_secs());
        let conflicts = self.mode == Mode::Safe && self.repair <= self.hold;
        conflicts.then(|| ("repair", format!("{repair} s is not above hold, {hold} s; expected more")))
    }
}
