//! The load of one direction of a flow.

use lasthop_stack::registry::CongestionKind;
use lasthop_stack::registry::tcp;
use lasthop_stack::transport::acks::AckLaw;
use lasthop_stack::transport::tcp::Pacing;
use lasthop_stack::units::{Span, Time};

use super::way::{HEADERS, SLOTS_PER_PACKET, TCP_HEADERS, Way};
use super::window::{TIMES_SENT, Window, Writes, least_timeout_s, pieces};
use crate::model::{Config, SinkConfig, TransportConfig};
use crate::traffic::sessions::{self, Class};
use crate::traffic::{AppConfig, AppKind, MOST_BURSTS, OnOffLaw, UserConfig};

/// Packets that open and close a connection.
const PACKETS_PER_SESSION: f64 = 6.0;
/// Timers of an agent for each packet that it handles: one to hold it, and one to wait for an answer.
const AGENT_TIMERS: f64 = 2.0;

/// What sends in one direction of a flow, and what reads at the other end.
pub(super) struct Source<'a> {
    pub(super) app: &'a AppConfig,
    pub(super) sink: &'a SinkConfig,
    /// Receive buffer, if it is given.
    pub(super) buffer: Option<u64>,
    /// When the connection is opened, unless that is drawn.
    pub(super) opens: Option<Time>,
}

impl Source<'_> {
    fn buffer_bytes(&self, tcp: &tcp::Config) -> f64 {
        self.buffer.unwrap_or_else(|| tcp.default_buffer_bytes()) as f64
    }

    fn is_read_slowly(&self) -> bool {
        self.sink.read_rate.is_some() || self.sink.pause_at.is_some()
    }

    /// When it starts, if from then on its flow sends without a pause until all is sent.
    fn start_of_rush(&self) -> Option<Time> {
        let rushes = matches!(self.app.kind, AppKind::Bulk | AppKind::File { .. });
        self.opens.filter(|_| rushes && !self.is_read_slowly()).map(|opens| opens.max(self.app.start))
    }
}

/// The demand of one direction of a flow.
pub(super) struct Load {
    /// Packets sent over the whole run.
    packets: f64,
    /// Packets that answer each.
    answers: f64,
    /// Packets that no data causes: those of timers, of a reader that frees room, of a connection's begin and end.
    beside: f64,
    /// The most that its sender may have outstanding, where the transport has a window.
    pub(super) window: Option<Window>,
    /// Times the source or the reader acts.
    acts: f64,
    /// Timers that fire.
    timers: f64,
    /// Transfers that users begin.
    pub(super) transfers: f64,
}

impl Load {
    pub(super) fn of(source: &Source<'_>, transport: &TransportConfig, config: &Config, way: &Way) -> Load {
        let app = source.app;
        let duration = config.run.duration.as_secs();
        let seconds = duration - app.start.as_secs().min(duration);
        let (written, write) = match app.kind {
            AppKind::Bulk => (f64::INFINITY, f64::INFINITY),
            AppKind::File { size } => (size.0 as f64, f64::INFINITY),
            AppKind::Datagrams { size, packet, rate } => {
                let all = size.0 as f64;
                (rate.map_or(all, |rate| all.min(rate.0 as f64 / 8.0 * seconds)), f64::from(packet))
            }
            // Chance may make more of it than its mean: six standard deviations.
            AppKind::Poisson { rate, packet } => {
                let packets = rate.0 as f64 / 8.0 * seconds / f64::from(packet);
                ((packets + 6.0 * packets.sqrt() + 10.0) * f64::from(packet), f64::from(packet))
            }
            // A source that pauses may be on all the time.
            AppKind::Cbr { rate, packet } | AppKind::OnOff { rate, packet, .. } => {
                (rate.0 as f64 / 8.0 * seconds, f64::from(packet))
            }
            AppKind::Ping { interval, packet } => {
                (f64::from(packet) * seconds / interval.as_secs(), f64::from(packet))
            }
            AppKind::User(ref user) => return Load::of_user(user, source, transport, way, seconds),
        };
        let writes = if write.is_finite() { written / write + 1.0 } else { 1.0 };
        let waits = waits(&app.kind, writes, seconds);
        let TransportConfig::Tcp(tcp) = transport else {
            return Load {
                packets: writes,
                answers: if matches!(app.kind, AppKind::Ping { .. }) { 1.0 } else { 0.0 },
                beside: 0.0,
                window: None,
                acts: writes + waits,
                timers: 0.0,
                transfers: 0.0,
            };
        };
        let full = f64::from(tcp.packet);
        let buffer = source.buffer_bytes(tcp);
        // The first write is whole, however little of its time the run has.
        let written = if write.is_finite() { written + write } else { written };
        let of_writes = Writes { bytes: written, each: write };
        let segments = pieces(tcp, of_writes, buffer);
        let size = full.min(write) + TCP_HEADERS;
        let mut sent = TIMES_SENT * way.bottleneck * seconds / (8.0 * size);
        if let Some(slot_s) = way.slot_s {
            // A full window may wait at the node where the slots begin.
            sent = sent.min(TIMES_SENT * seconds / (SLOTS_PER_PACKET * slot_s) + f64::from(tcp.window));
        }
        sent += f64::from(tcp.initial_window);
        let packets = sent.min(TIMES_SENT * way.copies(full + TCP_HEADERS) * segments) + 1.0;
        let timeouts = timeouts(tcp, packets, seconds);
        let held_back = held_back(tcp, packets, seconds);
        let paced = if paces(tcp) { packets } else { 0.0 };
        // A slow reader takes what came with one packet, or a full segment, and may announce the room to the sender.
        let reads = if source.is_read_slowly() { 2.0 * packets } else { 0.0 };
        Load {
            packets,
            answers: 1.0,
            beside: PACKETS_PER_SESSION + timeouts.min(sent) + reads,
            window: Some(Window {
                start: source.start_of_rush(),
                ..Window::of(tcp, way, of_writes, buffer, packets, seconds)
            }),
            acts: writes + waits + reads,
            // The other end repeats its part of the handshake.
            timers: 2.0 * timeouts + held_back + paced + PACKETS_PER_SESSION,
            transfers: 0.0,
        }
    }

    /// A user who transfers, without round trips in between, the class that makes most packets in its time.
    fn of_user(
        user: &UserConfig,
        source: &Source<'_>,
        transport: &TransportConfig,
        way: &Way,
        seconds: f64,
    ) -> Load {
        let TransportConfig::Tcp(tcp) = transport else { unreachable!("users need TCP") };
        let mut load = Load {
            packets: 1.0,
            answers: 1.0,
            beside: 0.0,
            window: None,
            acts: 1.0,
            timers: 1.0,
            transfers: 1.0,
        };
        for (class, share) in Class::ALL.into_iter().zip(user.shares) {
            if share == 0.0 {
                continue;
            }
            let session = sessions::mean_session(user, class);
            let packets = PACKETS_PER_SESSION + 2.0 * session.objects + session.bytes / f64::from(tcp.packet);
            let sending = 8.0 * (session.bytes + HEADERS * packets) / way.bottleneck;
            let slots = way.slot_s.map_or(0.0, |slot_s| SLOTS_PER_PACKET * slot_s * packets);
            let sessions = seconds / (session.pauses_s + sending.max(slots)).max(1e-9) + 1.0;
            // Everything may be sent twice, half of the sessions may be twice as long as the mean of their law, and some
            // pages much longer.
            let longer = 6.0 * sessions.sqrt() * session.deviation / f64::from(tcp.packet);
            load.packets = load.packets.max(4.0 * sessions * packets + 2.0 * longer);
            load.acts = load.acts.max(sessions * (2.0 + 2.0 * session.objects));
            load.transfers = load.transfers.max(sessions * f64::from(session.transfers));
        }
        let timeouts = timeouts(tcp, load.packets, seconds);
        load.timers = 2.0 * timeouts + held_back(tcp, load.packets, seconds) + 1.0;
        load.beside = timeouts;
        let buffer = source.buffer_bytes(tcp);
        load.window = Some(Window::of(tcp, way, Writes::ENDLESS, buffer, load.packets, seconds));
        load
    }

    /// Packets that no window bounds.
    pub(super) fn unbounded(&self) -> f64 {
        if self.window.is_none() { self.packets } else { 0.0 }
    }

    /// The events of all its packets; with `agents`, that acknowledge instead of receivers, too.
    pub(super) fn events(&self, way: &Way, agents: Option<&Agents>) -> f64 {
        let repeats = agents.map_or(0.0, |agents| agents.repeats);
        let there = self.packets + self.beside + repeats;
        let by_agents = if agents.is_some() { self.packets } else { 0.0 };
        let back = self.answers * (self.packets + repeats) + by_agents + self.beside;
        let timers = self.timers + AGENT_TIMERS * by_agents + repeats;
        // A slotted network may deliver a packet more than once.
        let copies = if way.slot_s.is_some() { TIMES_SENT } else { 1.0 };
        copies * (there * way.events + back * way.events_back) + timers + self.acts + super::EVENTS_OF_ALL
    }
}

/// What the agents of a scenario do beside the ends of a flow.
pub(super) struct Agents {
    /// Packets that their timers send again.
    pub(super) repeats: f64,
}

/// How often a source acts without a packet while `writes` packets are due, since the bursts before the next one are too many to go
/// through at once. Those of Pareto are never drawn together, and may all be the shortest.
fn waits(app: &AppKind, writes: f64, seconds: f64) -> f64 {
    let AppKind::OnOff { on, off, law, .. } = *app else { return 0.0 };
    let bursts = seconds / (on + off).as_secs();
    match law {
        OnOffLaw::Pareto(shape) => bursts * shape / (shape - 1.0) / f64::from(MOST_BURSTS),
        OnOffLaw::Fixed | OnOffLaw::Exponential => writes.min(2.0 * bursts / f64::from(MOST_BURSTS)),
    }
}

/// Whether a sender waits for its pace.
fn paces(tcp: &tcp::Config) -> bool {
    match tcp.pacing {
        Pacing::All => true,
        Pacing::ByLaw => CongestionKind::PACED.contains(&tcp.parts.law.kind()),
        Pacing::None => false,
    }
}

/// How often the timer of acknowledgements may fire in `seconds` while `packets` arrive.
fn held_back(tcp: &tcp::Config, packets: f64, seconds: f64) -> f64 {
    match tcp.acks {
        AckLaw::Delayed if tcp.ack_every <= 1 => 0.0,
        AckLaw::Delayed | AckLaw::Requested(_) => packets.min(expiries(tcp.ack_delay, seconds)),
        AckLaw::Tack(_) => packets,
    }
}

/// How often the timer of a sender may fire in `seconds` seconds. It doubles from the least timeout to the longest, and
/// starts anew when one of `packets` packets was acknowledged.
fn timeouts(tcp: &tcp::Config, packets: f64, seconds: f64) -> f64 {
    let least = least_timeout_s(tcp);
    let most = tcp.max_rto.as_secs().max(least);
    let of_a_series = libm::log2(most / least) + 2.0;
    (seconds / least + 1.0).min((packets + 1.0) * of_a_series + seconds / most)
}

/// How often a timer may fire that takes at least so long.
pub(super) fn expiries(least: Span, seconds: f64) -> f64 {
    seconds / least.max(Span(1)).as_secs() + 1.0
}
