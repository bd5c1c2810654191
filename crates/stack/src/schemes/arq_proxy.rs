//! The ARQ proxy: the access point prepares TCP acknowledgements, and a few bytes in a link-layer acknowledgement
//! release them.
//!
//! **Limits.** Both ends of the hop need an agent that saw the connection open; an agent that does not handle the
//! connection signals so in the SYN, as in LLE-TCP. The acknowledgements of the link must be able to carry riders
//! (802.11 without polling). A flow with one segment in flight at a time gains nothing: no later frame arrives whose
//! acknowledgement could carry the request. It does not handle flows with ECN, a header extension or encrypted
//! transports. Two segments have the same hash with probability 2^-32; if both are prepared, neither is released.
//!
//! **Source.** Kliazovich, Ben Halima and Granelli, "Cross-layer error recovery optimization in `WiFi` networks", 2007.
//! Kliazovich, Redana and Granelli, "Cross-layer error recovery in wireless access networks: the ARQ proxy approach",
//! International Journal of Communication Systems 25(4), 2012. Only the abstracts were read: "TCP ACKs are generated
//! based on in-transit traffic analysis and stored at the Access Point. Such TCP ACKs are released towards TCP sender
//! upon a request from the mobile node, encapsulated into link layer acknowledgement frame"; the request is a hash that
//! both sides compute. The details are our reading.
//!
//! **How.** The proxy records each data segment on its way to the mobile under a hash of its header fields. When the
//! mobile's TCP generates a plain, in-order acknowledgement, the client drops it and requests it instead. It puts the
//! hash of the newest segment that it covers into the next link-layer acknowledgement. The proxy then sends the
//! acknowledgement to the sender. Nothing is acknowledged that the mobile's TCP has not acknowledged.
//!
//! ```text
//!    sender ◀── ACK ── proxy: hash known, released     client: plain ACK dropped ◀── ACK ── TCP
//!             data ──▶ noted │                           │ hash
//!                            ▼──── data frame ──────────▶│
//!                            ◀── link ACK + hash ────────┘
//! ```
//!
//! **Choices.** 1. A plain acknowledgement advances and does nothing else: it has no SACK blocks, the window of the
//! last real acknowledgement, and ends where a segment received over the link ended. All others are sent unchanged. 2.
//! The window and the other fields of the mobile are those of its last real segment. This segment must have been
//! delivered before anything is requested, because a request could overtake segments in the client's queue. 3. A
//! request adds four bytes to a link-layer acknowledgement. It is carried by that of the next data frame, since the
//! acknowledgement of its own frame leaves before TCP has responded. Only the newest request is pending: it covers the
//! earlier ones. 4. If no frame arrives to carry the request, the dropped acknowledgement is sent after `wait`, which
//! grows with the spacing of the segments. If a frame arrived and nothing followed, it is sent after `hold`: the
//! request may have been lost or the hash unknown. 5. The proxy drops a real acknowledgement that it has already
//! released. A duplicate of a held acknowledgement is sent after the held one, so that the proxy does not drop the
//! duplicate instead. 6. Echoes follow RFC 7323 (4.3); the mobile's own timestamp is the last one seen. 7. The
//! acknowledgement of a FIN is sent unchanged. 8. An agent that restarts, or to which a node is handed off, does not know
//! the connection: it marks the data that passes, as in LLE-TCP, and the mobile acknowledges that itself.
//!
//! It shares with LLE-TCP the code that traces connections, builds acknowledgements, and decides how long to hold one
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
use crate::hooks::parameter::{Described, LONGEST, parameters};
use crate::hooks::{Activity, Agent, AgentOut, Count, Criterion, Needs, Rider, counts};
use crate::packet::{Body, Flags, Packet};
use crate::signal::Signal;
use crate::state_bytes::state_bytes;
use crate::units::{Span, Time};
use client::{Client, Fate};
use prepared::{Prepared, hash};
use proxy::Proxy;

/// The request for the acknowledgement of a data packet.
#[must_use]
pub fn request(packet: &Packet) -> Option<Rider> {
    let Body::Tcp(segment) = &packet.body else { return None };
    (segment.len > 0).then(|| Rider::new(&hash(packet, segment).to_be_bytes()))
}

/// The parameters of one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The flows on which it acts: those whose destination is one wireless hop away.
    pub criterion: Criterion,
    /// Minimum time that a request waits for a frame whose acknowledgement can carry it.
    pub wait: Span,
    /// How long an acknowledgement is held after its request was sent.
    pub hold: Span,
    /// Maximum number of acknowledgements prepared at once.
    pub prepared: usize,
    /// A flow without a packet for this long is forgotten.
    pub idle: Span,
    /// Maximum number of flows; further flows are not handled.
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
    /// The requirements of the agent on its interface and its flows.
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
    parameters! {
        /// time after which a suppressed acknowledgement goes if no frame came whose acknowledgement carried the
        /// request; grows with the packet spacing of the flow, up to hold
        "wait": Time("ms") = wait, at_most(LONGEST);
        /// time after which a suppressed acknowledgement goes if nothing follows its request
        "hold": Time("ms") = hold, at_most(LONGEST);
        /// maximum number of acknowledgements prepared at once
        "prepared": Count = prepared, at_least("1"), at_most("1000000");
        flows::IDLE: Time = idle;
        flows::MOST: Count = max_flows;
    }

    fn conflict(&self) -> Option<(&'static str, String)> {
        let (wait, hold) = (self.wait.as_secs(), self.hold.as_secs());
        (wait > hold).then(|| ("wait", format!("{wait} s is above hold, {hold} s; expected no more")))
    }
}

/// The counters specific to this agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Requests made.
    pub requested: u64,
    /// Requests that released nothing: the hash was unknown or that of several segments, or no window was known.
    pub unknown: u64,
    /// Real acknowledgements dropped because they had already been released.
    pub swallowed: u64,
}

/// The agent of one interface: proxy for the data that it sends, client for the data that it receives.
#[derive(Clone, Debug)]
pub struct ArqProxy {
    connections: Connections<Role>,
    prepared: Prepared<Key>,
    counters: Counters,
}

state_bytes! {
    /// The side of the hop on which the agent is, for one direction of data.
    #[derive(Clone, Debug, Default)]
    enum Role {
        #[default]
        None,
        Proxy(Box<Proxy>),
        Client(Box<Client>),
    }
}

impl ArqProxy {
    /// An agent without flows.
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

    /// The counters specific to this agent.
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
        match fate {
            Some(Fate::Stop) => {}
            Some(Fate::Pass) => out.down(packet),
            None => self.connections.pass_down(packet, out),
        }
    }

    fn up(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        let (prepared, counters) = (&mut self.prepared, &mut self.counters);
        let traced = self.connections.trace(packet, now, out, |connection, side, segment, turn| {
            // A segment that a proxy marks is not in its table.
            if let Role::Client(client) = &mut connection.halves[side]
                && segment.len > 0
                && !segment.flags.has(Flags::REFUSED)
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
            Connections::<Role>::pass_up(packet, turn.out);
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
        let Ok(number) = rider.as_slice().try_into().map(u32::from_be_bytes) else { return };
        let found = prepared.find(number);
        let released = found.and_then(|key| {
            self.connections.with(&key, now, out, |connection, turn| {
                let of = |half: &mut Role| {
                    let Role::Proxy(proxy) = half else { return false };
                    proxy.release(number, turn, |number| prepared.remove(number))
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

    fn restart(&mut self, _: Time, out: &mut impl AgentOut) {
        self.connections.restart(out);
        self.prepared.clear();
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
        let Counters { requested, unknown, swallowed } = self.counters;
        counts! {
            /// acknowledgements that were requested instead of being sent
            "requested": "segments" = requested;
            /// requests for an acknowledgement that was not prepared
            "unknown": "segments" = unknown;
            /// acknowledgements sent after all that the proxy had released already
            "swallowed": "segments" = swallowed;
        }
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

    fn acts(&self) -> bool {
        !matches!(self, Role::None)
    }
}
