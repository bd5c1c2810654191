//! The parameters of an ARQ snoop agent in a scenario.

use super::{AckScheme, Config, Mode, OnUndelivered};
use crate::hooks::Criterion;
use crate::hooks::parameter::{Described, Domain, LONGEST, Parameter, Setting, Words, words};
use crate::schemes::flows;
use crate::units::{Bytes, Span};

impl Default for Config {
    fn default() -> Config {
        Config::new(Mode::default(), Criterion::default())
    }
}

impl Words for Mode {
    const WORDS: &'static [(&'static str, Mode)] = &[("safe", Mode::Safe), ("paper", Mode::Paper)];
}

impl Words for OnUndelivered {
    const WORDS: &'static [(&'static str, OnUndelivered)] = &[
        ("nothing", OnUndelivered::Nothing),
        ("resubmit-once", OnUndelivered::ResubmitOnce),
        ("three-duplicates", OnUndelivered::ThreeDuplicates),
    ];
}

/// When delivered data is acknowledged; a delayed acknowledgement has its own parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acknowledge {
    EveryPacket,
    Delayed,
}

impl Words for Acknowledge {
    const WORDS: &'static [(&'static str, Acknowledge)] =
        &[("every-packet", Acknowledge::EveryPacket), ("delayed", Acknowledge::Delayed)];
}

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
    const PARAMETERS: &'static [Parameter<Config>] = &[
        Parameter::<Self>::new(
            "mode",
            Domain::Words("mode", words::<Mode>),
            "safe: preserves TCP's end-to-end guarantees; paper: follows the paper literally",
            |agent| Setting::word(agent.mode),
            |agent, value| agent.mode = value.choice(),
        ),
        Parameter::<Self>::new(
            "acknowledge",
            Domain::Words("acknowledgement scheme", words::<Acknowledge>),
            "when a packet delivered by the link is acknowledged",
            |agent| {
                Setting::word(match agent.acknowledge {
                    AckScheme::EveryPacket => Acknowledge::EveryPacket,
                    AckScheme::Delayed { .. } => Acknowledge::Delayed,
                })
            },
            |agent, value| {
                let (every, delay) = AckScheme::DELAYED;
                agent.acknowledge = match value.choice() {
                    Acknowledge::EveryPacket => AckScheme::EveryPacket,
                    Acknowledge::Delayed => AckScheme::Delayed { every, delay },
                };
            },
        )
        .source("lle-tcp/II.B.2"),
        Parameter::<Self>::new(
            "ack-every",
            Domain::Count,
            "number of full segments per acknowledgement",
            |agent| Setting::Count(agent.acknowledge.delay().0.into()),
            |agent, value| {
                let (_, delay) = agent.acknowledge.delay();
                agent.acknowledge = AckScheme::Delayed { every: value.count() as u32, delay };
            },
        )
        .source("RFC 5681 (4.2)")
        .at_least("1")
        .at_most("1000")
        .only(&[("acknowledge", &["delayed"])]),
        Parameter::<Self>::new(
            "ack-delay",
            Domain::Time("ms"),
            "maximum delay of an acknowledgement",
            |agent| Setting::Time(agent.acknowledge.delay().1),
            |agent, value| {
                let (every, _) = agent.acknowledge.delay();
                agent.acknowledge = AckScheme::Delayed { every, delay: value.time() };
            },
        )
        .source("ns-2: TCPSink/DelAck")
        .at_most("10 s")
        .only(&[("acknowledge", &["delayed"])]),
        Parameter::<Self>::new(
            "on-undelivered",
            Domain::Words("choice", words::<OnUndelivered>),
            "reaction to a packet that the link gave up",
            |agent| Setting::word(agent.on_undelivered),
            |agent, value| agent.on_undelivered = value.choice(),
        ),
        Parameter::<Self>::new(
            "hold",
            Domain::Time("ms"),
            "time for which the newest acknowledgement is held if no other follows; grows with the packet spacing of the flow",
            |agent| Setting::Time(agent.hold),
            |agent, value| agent.hold = value.time(),
        )
        .at_most(LONGEST)
        .only(&[("mode", &["safe"])]),
        Parameter::<Self>::new(
            "max-hold",
            Domain::Time("s"),
            "maximum of the hold time",
            |agent| Setting::Time(agent.max_hold),
            |agent, value| agent.max_hold = value.time(),
        )
        .at_most(LONGEST)
        .only(&[("mode", &["safe"])]),
        Parameter::<Self>::new(
            "repair",
            Domain::Time("ms"),
            "time without acknowledgement after which the oldest unconfirmed segment is retransmitted",
            |agent| Setting::Time(agent.repair),
            |agent, value| agent.repair = value.time(),
        )
        .above("0 s")
        .at_most(LONGEST)
        .only(&[("mode", &["safe"])]),
        flows::idle(|agent| Setting::Time(agent.idle), |agent, value| agent.idle = value.time()),
        flows::most(
            |agent| Setting::Count(agent.max_flows as u64),
            |agent, value| agent.max_flows = value.count() as usize,
        ),
        Parameter::<Self>::new(
            "max-kept",
            Domain::Size,
            "maximum payload buffered per flow; segments that do not fit are not acknowledged",
            |agent| Setting::Size(Bytes(agent.max_kept)),
            |agent, value| agent.max_kept = value.size().0,
        )
        .at_most("999999999 GB")
        .only(&[("mode", &["safe"])]),
    ];

    fn conflict(&self) -> Option<(&'static str, String)> {
        let (repair, hold) = (self.repair.as_secs(), self.hold.as_secs());
        let conflicts = self.mode == Mode::Safe && self.repair <= self.hold;
        conflicts.then(|| ("repair", format!("{repair} s is not above hold, {hold} s; expected more")))
    }
}
