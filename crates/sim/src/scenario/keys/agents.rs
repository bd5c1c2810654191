//! The keys of agents.

use super::super::quantity::Dim;
use super::table::{LONGEST, SIZE, TIME_MS, TIME_S, quantity, time};
use super::{Default, Key, Kind, Only};
use lasthop_stack::registry::AgentKind;
use lasthop_stack::schemes::lle_tcp::{AckScheme, Config, Mode, OnUndelivered};

const LLE_TCP: &[Only] = &[Only::Is("agents.*.kind", &["lle-tcp"])];
const PROXY_TCP: &[Only] = &[Only::Is("agents.*.kind", &["proxy-tcp"])];
const ANY: &[Only] = &[Only::Is("agents.*.kind", &["lle-tcp", "proxy-tcp"])];
const SAFE: &[Only] = &[Only::Is("agents.*.mode", &["safe"])];
const DELAYED: &[Only] = &[Only::Is("agents.*.acknowledge", &["delayed"])];

impl Key {
    /// A default of the agent itself.
    const fn agent(self, value: fn(&Config) -> String) -> Key {
        Key { default: Default::Agent(value), ..self }
    }
}

/// The keys under `[agents.NAME]`.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "agents.*.kind",
        Kind::Word("kind of agent", || AgentKind::ALL.iter().map(|kind| kind.entry().name).collect()),
        "what sits between network and link",
    ),
    Key::new(
        "agents.*.flows",
        Kind::Flows,
        "flows it serves; all is every flow over TCP that ends with a wifi hop",
    )
    .or(&["all"])
    .default("all"),
    Key::new(
        "agents.*.mode",
        Kind::Word("mode", || vec!["safe", "paper"]),
        "the rules under which an unmodified TCP keeps its promises, or the paper's to the letter",
    )
    .agent(|agent| {
        match agent.mode {
            Mode::Safe => "safe",
            Mode::Paper => "paper",
        }
        .to_string()
    })
    .only(LLE_TCP),
    Key::new(
        "agents.*.acknowledge",
        Kind::Word("acknowledgement scheme", || vec!["every-packet", "delayed"]),
        "when a packet that the link delivered is acknowledged",
    )
    .agent(|agent| {
        match agent.acknowledge {
            AckScheme::EveryPacket => "every-packet",
            AckScheme::Delayed { .. } => "delayed",
        }
        .to_string()
    })
    .source("lle-tcp/II.B.2")
    .only(LLE_TCP),
    Key::new("agents.*.ack-every", Kind::Integer, "full segments that one acknowledgement answers")
        .default("2")
        .source("RFC 5681 (4.2)")
        .at_least("1")
        .at_most("1000")
        .only(DELAYED),
    Key::new("agents.*.ack-delay", TIME_MS, "longest time an acknowledgement is held back")
        .default("100 ms")
        .source("ns-2: TCPSink/DelAck")
        .at_most("10 s")
        .only(DELAYED),
    Key::new(
        "agents.*.on-undelivered",
        Kind::Word("choice", || vec!["nothing", "resubmit-once", "three-duplicates"]),
        "the answer to a packet that the link gave up",
    )
    .agent(|agent| {
        match agent.on_undelivered {
            OnUndelivered::Nothing => "nothing",
            OnUndelivered::ResubmitOnce => "resubmit-once",
            OnUndelivered::ThreeDuplicates => "three-duplicates",
        }
        .to_string()
    })
    .only(LLE_TCP),
    Key::new(
        "agents.*.hold",
        TIME_MS,
        "time the newest acknowledgement is kept from the air if no other comes; grows with the flow's spacing",
    )
    .agent(|agent| time(agent.hold))
    .at_most(LONGEST)
    .only(SAFE),
    Key::new("agents.*.max-hold", TIME_S, "longest time that agents.NAME.hold grows to")
        .agent(|agent| time(agent.max_hold))
        .at_most(LONGEST)
        .only(SAFE),
    Key::new(
        "agents.*.repair",
        TIME_MS,
        "silence after which the oldest segment not confirmed is sent again",
    )
    .agent(|agent| time(agent.repair))
    .above("0 s")
    .at_most(LONGEST)
    .only(SAFE),
    Key::new(
        "agents.*.duplicates",
        Kind::Word("choice", || vec!["while-trying", "held", "resend"]),
        "which duplicate acknowledgements are hidden: while the link has the segment they ask for, as long as the agent \
         remembers it, or the same with the segment sent again",
    )
    .default("while-trying")
    .source("lasthop: schemes/proxy_tcp.rs, choices 1 to 3")
    .only(PROXY_TCP),
    Key::new("agents.*.segments", Kind::Integer, "most segments remembered of one flow")
        .default("100")
        .source("ns-2: Snoop")
        .at_least("1")
        .at_most("1000000")
        .only(PROXY_TCP),
    Key::new("agents.*.idle", TIME_S, "silence after which a flow is forgotten")
        .agent(|agent| time(agent.idle))
        .above("0 s")
        .at_most(LONGEST)
        .only(ANY),
    Key::new("agents.*.max-flows", Kind::Integer, "most flows known at once; further ones are left alone")
        .agent(|agent| agent.max_flows.to_string())
        .at_least("1")
        .at_most("1000000000")
        .only(ANY),
    Key::new(
        "agents.*.max-kept",
        SIZE,
        "most payload kept for one flow; what finds no room is not acknowledged",
    )
    .agent(|agent| quantity(Dim::Size, agent.max_kept))
    .at_most(MAX_KEPT)
    .only(SAFE),
];

/// The greatest number of bytes that is read exactly.
const MAX_KEPT: &str = "999999999 GB";
