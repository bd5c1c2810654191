//! The ARQ proxy: a TCP acknowledgement that is prepared at the access point and released by a few bytes in the
//! acknowledgement of the link.
//!
//! **Limits.** Both ends of the hop need an agent that saw the connection begin; one that refuses it says so in the SYN, as
//! LLE-TCP's does. The link must be one whose acknowledgements carry riders (802.11 without polling). A flow with one
//! segment at a time gains nothing: its acknowledgement has no later frame to ride with. Not for flows with ECN, a header
//! extension or encrypted transports. Two segments of 2^32 have the same hash; where both are prepared neither is
//! released.
//!
//! **Source.** Kliazovich, Ben Halima and Granelli, "Cross-layer error recovery optimization in `WiFi` networks", 2007;
//! Kliazovich, Redana and Granelli, "Cross-layer error recovery in wireless access networks: the ARQ proxy approach",
//! International Journal of Communication Systems 25(4), 2012. Read in their abstracts: "TCP ACKs are generated based on
//! in-transit traffic analysis and stored at the Access Point. Such TCP ACKs are released towards TCP sender upon a request
//! from the mobile node, encapsulated into link layer acknowledgement frame"; the request is a hash that both compute.
//! The details are our reading.
//!
//! **How.** The proxy notes each data segment on its way to the mobile under a hash of its header fields. When the
//! mobile's TCP makes a plain acknowledgement in order, the client drops it and lets the hash of the newest segment that it
//! covers ride in the next acknowledgement of the link; the proxy then sends that acknowledgement to the sender. Nothing is
//! acknowledged that the mobile's TCP has not acknowledged.
//!
//! ```text
//!    sender ◀── ACK ── proxy: hash known, released     client: plain ACK dropped ◀── ACK ── TCP
//!             data ──▶ noted │                           │ hash
//!                            ▼──── data frame ──────────▶│
//!                            ◀── link ACK + hash ────────┘
//! ```
//!
//! **Choices.** 1. Plain means: nothing but an advance, without SACK blocks, with the window that the last real one had,
//! ending where a segment ended that came over the link. All else goes as it is. 2. The window and the fields of the
//! mobile are those of its last real segment, which must have been delivered before anything is requested: what waits in
//! the client's queue could be overtaken. 3. A request costs four bytes in the link's acknowledgement, and rides with that
//! of the next data frame, since the one for its own frame leaves before TCP has answered. Only the newest waits: it
//! stands for those before it. 4. If no frame comes to ride with, the dropped acknowledgement goes after `wait`, longer
//! on a flow whose segments are further apart; if a frame came and then nothing, after `hold`: the request may be lost or
//! the hash unknown. 5. The proxy swallows a real acknowledgement that it has released. A duplicate of one that is held
//! goes behind that one, so that what is swallowed is not the duplicate. 6. Echoes are those of RFC 7323 (4.3); the
//! mobile's own timestamp is the last that was seen. 7. The FIN's acknowledgement goes as it is.
//!
//! It shares with LLE-TCP how connections are traced, how acknowledgements are made, and how long one is held
//! (`lle_tcp/connections.rs`, `reply.rs`, `hold.rs`).
//!
//! **Checked by** `arq_proxy/tests.rs`, and `crates/sim/tests/stations.rs` end to end.

mod client;
mod prepared;
mod proxy;
#[cfg(test)]
mod tests;

use super::flows::{self, Key};
use super::lle_tcp::connection::{Half, Terms};
use super::lle_tcp::connections::Connections;
use super::lle_tcp::{self, Mode};
use crate::hooks::parameter::{Described, Domain, LONGEST, Parameter, Setting};
use crate::hooks::{Activity, Agent, AgentOut, Count, Criterion, Needs, Rider};
use crate::packet::{Body, Packet};
use crate::signal::Signal;
use crate::units::{Span, Time};
use client::{Client, Fate};
use prepared::{Prepared, hash};
use proxy::Proxy;

/// What a request adds to an acknowledgement of the link.
const REQUEST: u8 = 4;

/// What asks for the acknowledgement of a data packet.
#[must_use]
pub fn request(packet: &Packet) -> Option<Rider> {
    let Body::Tcp(segment) = &packet.body else { return None };
    (segment.len > 0).then(|| Rider { number: hash(packet, segment), bytes: REQUEST })
}

/// The parameters of one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// For which flows it acts: those whose destination is one wireless hop away.
    pub criterion: Criterion,
    /// How long a request waits for a frame to ride with, at least.
    pub wait: Span,
    /// How long an acknowledgement is held after its request has gone.
    pub hold: Span,
    /// Most acknowledgements prepared at once.
    pub prepared: usize,
    /// A flow without a packet for so long is forgotten.
    pub idle: Span,
    /// Most flows known at once; a further flow is left alone.
    pub max_flows: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            criterion: Criterion::default(),
            wait: Span::from_millis(5),
            hold: Span::from_millis(40),
            prepared: 16_384,
            idle: Span::from_secs(600),
            max_flows: 16_384,
        }
    }
}

impl Config {
    /// What it needs of its interface and its flows.
    #[must_use]
    pub fn needs(&self) -> Needs {
        Needs {
            reports: true,
            last_hop: true,
            both_ends: true,
            makes_acknowledgements: true,
            ..Needs::default()
        }
    }
}

impl Described for Config {
    const PARAMETERS: &'static [Parameter<Config>] = &[
        Parameter::<Self>::new(
            "wait",
            Domain::Time("ms"),
            "time after which a suppressed acknowledgement goes if no frame came whose acknowledgement carried the request; grows with the packet spacing of the flow, up to hold",
            |agent| Setting::Time(agent.wait),
            |agent, value| agent.wait = value.time(),
        )
        .at_most(LONGEST),
        Parameter::<Self>::new(
            "hold",
            Domain::Time("ms"),
            "time after which a suppressed acknowledgement goes if nothing follows its request",
            |agent| Setting::Time(agent.hold),
            |agent, value| agent.hold = value.time(),
        )
        .at_most(LONGEST),
        Parameter::<Self>::new(
            "prepared",
            Domain::Count,
            "maximum number of acknowledgements prepared at once",
            |agent| Setting::Count(agent.prepared as u64),
            |agent, value| agent.prepared = value.count() as usize,
        )
        .at_least("1")
        .at_most("1000000"),
        flows::idle(|agent| Setting::Time(agent.idle), |agent, value| agent.idle = value.time()),
        flows::most(
            |agent| Setting::Count(agent.max_flows as u64),
            |agent, value| agent.max_flows = value.count() as usize,
        ),
    ];

    fn conflict(&self) -> Option<(&'static str, String)> {
        let (wait, hold) = (self.wait.as_secs(), self.hold.as_secs());
        (wait > hold).then(|| ("wait", format!("{wait} s is above hold, {hold} s; expected no more")))
    }
}

/// The counters that only this agent has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Requests made.
    pub requested: u64,
    /// Requests whose hash was not known, or was that of several segments.
    pub unknown: u64,
    /// Real acknowledgements that had been released before, and went no further.
    pub swallowed: u64,
}

/// The agent of one interface: proxy for the data that leaves by it, client for the data that comes.
#[derive(Clone, Debug)]
pub struct ArqProxy {
    connections: Connections<Role>,
    prepared: Prepared<Key>,
    counters: Counters,
}

/// On which side of the hop the agent is for the data of one direction.
#[derive(Clone, Debug, Default)]
enum Role {
    #[default]
    None,
    Proxy(Box<Proxy>),
    Client(Box<Client>),
}

impl ArqProxy {
    /// An agent that knows no flow yet.
    #[must_use]
    pub fn new(config: Config) -> ArqProxy {
        let prepared = Prepared::new(config.prepared);
        let traced = lle_tcp::Config {
            hold: config.wait,
            max_hold: config.hold,
            idle: config.idle,
            max_flows: config.max_flows,
            ..lle_tcp::Config::new(Mode::Safe, config.criterion)
        };
        ArqProxy { connections: Connections::new(traced), prepared, counters: Counters::default() }
    }

    /// The counters that only this agent has.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }
}

impl Agent for ArqProxy {
    fn down(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        let (prepared, counters) = (&mut self.prepared, &mut self.counters);
        let fate = self.connections.trace(packet, now, out, |connection, side, segment, turn| {
            let key = connection.key();
            if let Role::Proxy(proxy) = &mut connection.halves[side]
                && segment.len > 0
            {
                proxy.on_data(hash(packet, segment), segment, |number| prepared.enter(number, key));
            }
            let ends = connection.acknowledges_fin(side, segment);
            match &mut connection.halves[1 - side] {
                Role::Client(client) => {
                    let fate = client.judge(packet, segment, ends, turn);
                    counters.requested += u64::from(fate == Fate::Stop);
                    fate
                }
                Role::None | Role::Proxy(_) => Fate::Pass,
            }
        });
        if fate != Some(Fate::Stop) {
            self.connections.pass_down(packet, out);
        }
    }

    fn up(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        let (prepared, counters) = (&mut self.prepared, &mut self.counters);
        let traced = self.connections.trace(packet, now, out, |connection, side, segment, turn| {
            if let Role::Client(client) = &mut connection.halves[side]
                && segment.len > 0
            {
                client.on_data(hash(packet, segment), segment, turn);
            }
            if let Role::Proxy(proxy) = &mut connection.halves[1 - side] {
                let passes = proxy.on_reply(packet, segment, |number| prepared.remove(number));
                counters.swallowed += u64::from(!passes);
                if !passes {
                    return;
                }
            }
            turn.out.up(packet);
        });
        if traced.is_none() {
            Connections::<Role>::pass_up(packet, out);
        }
    }

    fn on_signal(&mut self, signal: Signal, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        self.connections.on_signal(packet, now, out, |connection, side, segment, _| {
            if let Role::Client(client) = &mut connection.halves[1 - side] {
                client.on_fate(signal, segment);
            }
        });
    }

    fn on_rider(&mut self, rider: Rider, now: Time, out: &mut impl AgentOut) {
        let prepared = &mut self.prepared;
        let found = prepared.find(rider.number);
        let released = found.and_then(|key| {
            self.connections.with(&key, now, out, |connection, turn| {
                let of = |half: &mut Role| {
                    let Role::Proxy(proxy) = half else { return false };
                    proxy.release(rider.number, turn, |number| prepared.remove(number))
                };
                connection.halves.iter_mut().any(of)
            })
        });
        self.counters.unknown += u64::from(released != Some(true));
    }

    fn on_timer(&mut self, now: Time, out: &mut impl AgentOut) {
        self.connections.on_timer(now, out, |role, turn| {
            if let Role::Client(client) = role {
                client.on_timer(turn);
            }
        });
    }

    fn activity(&self) -> Activity {
        let activity = self.connections.counters().activity();
        Activity {
            unconfirmed: Some(0),
            state_bytes_max: activity.state_bytes_max + self.prepared.bytes_max(),
            ..activity
        }
    }

    fn counts(&self) -> Vec<Count> {
        let count = |name, unit, meaning, value| Count { name, unit, meaning, value };
        let Counters { requested, unknown, swallowed } = self.counters;
        vec![
            count(
                "requested",
                "segments",
                "acknowledgements that were requested instead of being sent",
                requested,
            ),
            count("unknown", "segments", "requests for an acknowledgement that was not prepared", unknown),
            count(
                "swallowed",
                "segments",
                "acknowledgements sent after all that the proxy had released already",
                swallowed,
            ),
        ]
    }
}

impl Half for Role {
    fn sender(terms: Terms, _: &lle_tcp::Config) -> Role {
        Role::Proxy(Box::new(Proxy::new(terms)))
    }

    fn receiver(terms: Terms) -> Role {
        Role::Client(Box::new(Client::new(terms)))
    }

    fn deadline(&self) -> Time {
        if let Role::Client(client) = self { client.deadline() } else { Time::NEVER }
    }

    fn unconfirmed(&self) -> u64 {
        0
    }

    fn bytes(&self) -> u64 {
        match self {
            Role::None => 0,
            Role::Proxy(proxy) => proxy.bytes(),
            Role::Client(client) => client.bytes(),
        }
    }
}
