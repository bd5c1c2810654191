//! The load of one direction of a flow, and how much of it the path carries and holds.

use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::link::recorded::{Delaying, Recorded};
use lasthop_stack::registry::CongestionKind;
use lasthop_stack::registry::tcp;
use lasthop_stack::transport::acks::AckLaw;
use lasthop_stack::transport::tcp::Pacing;
use lasthop_stack::units::{Bytes, Span, Time};

use super::window::{Window, pieces};
use crate::medium::loss::LossConfig;
use crate::medium::radio::config::ErrorLaw;
use crate::model::{Config, FrnConfig, PointToPoint, SinkConfig, TransportConfig, WifiConfig};
use crate::traffic::sessions::{self, Class};
use crate::traffic::{AppConfig, AppKind, MOST_BURSTS, OnOffLaw, UserConfig};

/// Bytes of the headers that every packet has.
pub(super) const HEADERS: f64 = 28.0;
/// The same of a TCP segment.
pub(super) const TCP_HEADERS: f64 = 40.0;
/// Segments that an acknowledgement may set free, and copies that a segment may have without a loss by chance.
pub(super) const TIMES_SENT: f64 = 2.0;
/// Packets that open and close a connection.
const PACKETS_PER_SESSION: f64 = 6.0;
/// Slots from one packet of a node's own to the next: in the one between them it listens for the echo.
const SLOTS_PER_PACKET: f64 = 2.0;
/// Timers of an agent for each packet that it handles: one to hold it, and one to wait for an answer.
const AGENT_TIMERS: f64 = 2.0;

/// The capacity that a hop offers to flows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Bits per second, infinite where packets go in slots.
    rate: f64,
    /// Seconds of a slot, which holds a packet of any length.
    slot_s: Option<f64>,
    /// Events of a packet: its arrival, and its turn in a managed queue in front of the link. Slots are counted by themselves.
    events: f64,
    /// Bits on the way at a time.
    bits: f64,
    queue: QueueLimit,
    loss: Loss,
    /// Packets that may come of one.
    copies: f64,
}

/// The probability that a hop loses a packet for good.
#[derive(Clone, Copy, Debug)]
enum Loss {
    Share(f64),
    /// For each bit.
    Bit(f64),
    Unknown,
}

impl Pace {
    /// A direction of a link in a run of this duration.
    pub(super) fn of_wire(link: &PointToPoint, direction: usize, duration: Span) -> Pace {
        let drawn = link.rtt.map_or(0.0, |law| law.longest().as_secs() / 2.0);
        let recorded = link.sends.recorded(direction);
        let direction = &link.directions[direction];
        let varying = direction.delays.as_ref().map_or(Span::ZERO, Delaying::longest)
            + recorded.map_or(Span::ZERO, Recorded::longest);
        let delay_s =
            (direction.delay + varying).as_secs() + drawn + direction.impairments.longest().as_secs();
        let (rate, bits) = match recorded {
            None => (direction.rate.0 as f64, direction.rate.0 as f64 * delay_s),
            Some(recorded) => (
                (recorded.bits_until(Time(duration.0)) + recorded.most_bits_within(Span::ZERO))
                    / duration.as_secs(),
                recorded.most_bits_within(Span::from_secs_f64(delay_s)),
            ),
        };
        let loss = match &direction.loss {
            LossConfig::None => Loss::Share(0.0),
            LossConfig::Packet { rate } => Loss::Share(*rate),
            LossConfig::Bit { ber } => Loss::Bit(*ber),
            LossConfig::GilbertElliott { .. } | LossConfig::List { .. } => Loss::Unknown,
        };
        // The sender repeats dropped or late packets as often as the links have room for them.
        let is_plain =
            direction.policer.is_none() && direction.impairments.is_none() && direction.delays.is_none();
        let loss = if is_plain { loss } else { Loss::Unknown };
        let copies = if direction.impairments.duplicate.is_some() { 2.0 } else { 1.0 };
        Pace { rate, slot_s: None, events: 1.0, bits, queue: direction.queue, loss, copies }
    }

    /// The same behind a managed queue.
    pub(super) fn managed(self) -> Pace {
        Pace { events: 2.0, ..self }
    }

    pub(super) fn of_medium(wifi: &WifiConfig) -> Pace {
        let mac = &wifi.mac;
        let queue = match mac.buffer {
            Some(buffer) => QueueLimit::Bytes(Bytes(u64::from(buffer.bytes))),
            None => QueueLimit::Packets(mac.queue),
        };
        let loss = if wifi.radio.errors.law == ErrorLaw::None { Loss::Share(0.0) } else { Loss::Unknown };
        let rate = wifi.fastest_bps();
        Pace { rate, slot_s: None, events: 1.0, bits: 0.0, queue, loss, copies: 1.0 }
    }

    pub(super) fn of_slots(frn: &FrnConfig) -> Pace {
        let slot_s = Some(frn.slot.as_secs());
        let (queue, loss) = (QueueLimit::Unlimited, Loss::Unknown);
        Pace { rate: f64::INFINITY, slot_s, events: 0.0, bits: 0.0, queue, loss, copies: 1.0 }
    }

    /// The number of packets of this many bytes, headers included, that it holds.
    pub(super) fn holds(&self, bytes: f64) -> f64 {
        let queued = match self.queue {
            QueueLimit::Packets(packets) => f64::from(packets),
            QueueLimit::Bytes(limit) => limit.0 as f64 / bytes,
            QueueLimit::Unlimited => f64::INFINITY,
        };
        queued + self.bits / (8.0 * bytes) + 1.0
    }

    /// The number of packets of `bytes` bytes that it carries in `seconds` seconds.
    pub(super) fn carries(&self, bytes: f64, seconds: f64) -> f64 {
        let in_slots = self.slot_s.map_or(f64::INFINITY, |slot_s| seconds / (SLOTS_PER_PACKET * slot_s));
        (self.rate * seconds / (8.0 * bytes)).min(in_slots)
    }

    /// How often a packet of this many bytes is sent until one arrives, on average.
    fn copies(&self, bytes: f64) -> f64 {
        match self.loss {
            Loss::Share(share) => 1.0 / (1.0 - share).max(0.0),
            Loss::Bit(ber) => libm::exp(-8.0 * bytes * libm::log1p(-ber)),
            Loss::Unknown => f64::INFINITY,
        }
    }
}

/// The way of data, and back.
pub(super) struct Way {
    /// Events of a packet there.
    pub(super) events: f64,
    /// The same of one on the way back.
    pub(super) events_back: f64,
    /// The least bit rate there, infinite where all hops are in slots.
    pub(super) bottleneck: f64,
    /// The longest slot, if there are any.
    slot_s: Option<f64>,
    there: Vec<Pace>,
    back: Vec<Pace>,
}

impl Way {
    pub(super) fn over(there: impl Iterator<Item = Pace>, back: impl Iterator<Item = Pace>) -> Way {
        let (there, back): (Vec<Pace>, Vec<Pace>) = (there.collect(), back.collect());
        let events = |hops: &[Pace]| hops.iter().map(|hop| hop.events).sum();
        Way {
            events: events(&there),
            events_back: events(&back),
            bottleneck: there.iter().map(|hop| hop.rate).fold(f64::INFINITY, f64::min),
            slot_s: there.iter().filter_map(|hop| hop.slot_s).reduce(f64::max),
            there,
            back,
        }
    }

    /// How often a packet is sent until it has come through and so has its acknowledgement, on average.
    fn copies(&self, bytes: f64) -> f64 {
        let there = self.there.iter().map(|hop| hop.copies(bytes));
        there.chain(self.back.iter().map(|hop| hop.copies(TCP_HEADERS))).product()
    }

    /// Packets that may come of one, or of its acknowledgement.
    pub(super) fn duplicates(&self) -> f64 {
        self.there.iter().chain(&self.back).map(|hop| hop.copies).product()
    }

    /// The number of packets of this many bytes that it holds.
    pub(super) fn holds(&self, bytes: f64) -> f64 {
        self.there.iter().map(|hop| hop.holds(bytes)).sum()
    }
}

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
            AppKind::User(ref user) => return Load::of_user(user, source, transport, (seconds, way)),
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
        let segments = pieces(tcp, (written, write), buffer);
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
                ..Window::of(tcp, way, (written, write), (buffer, packets, seconds))
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
        (seconds, way): (f64, &Way),
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
        let any = (f64::INFINITY, f64::INFINITY);
        let buffer = source.buffer_bytes(tcp);
        load.window = Some(Window::of(tcp, way, any, (buffer, load.packets, seconds)));
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

/// The shortest time after which the timer of a sender fires, s: after a sample the timeout is at least a tick, but never above the longest.
pub(super) fn least_timeout_s(tcp: &tcp::Config) -> f64 {
    tcp.min_rto.max(tcp.tick).min(tcp.initial_rto).min(tcp.max_rto).max(Span(1)).as_secs()
}

/// How often a timer may fire that takes at least so long.
pub(super) fn expiries(least: Span, seconds: f64) -> f64 {
    seconds / least.max(Span(1)).as_secs() + 1.0
}
