//! One connection between a fixed host and a mobile at the station: two ends, and the data copied between them.

use super::config::{Settings, Variants};
use super::socket::{Port, Socket};
use super::{EndToEnd, WIRED, WIRELESS, Way};
use crate::hooks::{Acknowledge, Advertised, AgentOut, Deeds, StopOrGo};
use crate::packet::{Body, Flags, NodeId, Packet, Segment};
use crate::state_bytes::{StateBytes, state_bytes};
use crate::transport::tcp::{Connection, Role, State};
use crate::units::{SeqNo, Time};

/// Payload of a segment if the SYN announces no maximum (RFC 9293, 3.7.1).
const DEFAULT_SEGMENT: u16 = 536;

/// The part of a station that a flow needs.
pub(super) struct Station<'a, N> {
    pub(super) settings: &'a Settings<N>,
    /// Set if acknowledgements have an end-to-end meaning.
    pub(super) end_to_end: Option<EndToEnd>,
    /// Counts acknowledgements without data that the ends of the station generated.
    pub(super) made: &'a mut u64,
    pub(super) now: Time,
}

state_bytes! {
    /// A connection.
    #[derive(Clone, Debug)]
    pub(super) struct SplitConnection<P: Variants> {
        /// The end towards the fixed host and the end towards the mobile. The one towards the opener is created second.
        sockets: [Option<Socket<P>>; 2],
        /// The last SYN of the opener.
        syn: Packet,
        /// Bytes written to each end, all read from the other.
        copied: [u64; 2],
        is_closed: [bool; 2],
        last_packet: Time,
        away: Away,
        is_frozen: bool,
        /// When the last byte is to be acknowledged as well.
        last_byte: Option<Time>,
        /// When the mobile will have been silent for long enough to count as disconnected.
        silent: Option<Time>,
        /// The load that the station has counted for this flow.
        pub(super) counted: Load,
    }
}

state_bytes! {
    /// The state of the mobile.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Away {
        /// It is connected.
        No,
        /// It has been silent; the end towards it continues to send.
        Silent,
        /// Its link is down.
        Disconnected,
        /// Its link is up again; the station waits until this time for its greeting.
        Returning(Time),
    }
}

state_bytes! {
    /// The state of a connection.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(super) struct Load {
        /// Bytes received from one host and not yet acknowledged by the other.
        pub(super) held: u64,
        /// Of these, bytes that the station has acknowledged.
        pub(super) unconfirmed: u64,
    }
}

impl<P: Variants> SplitConnection<P> {
    /// A connection opened by a SYN that arrived at the end `from`: the station opens the end towards the addressee.
    pub(super) fn open(
        syn: &Packet,
        segment: &Segment,
        from: Way,
        station: &mut Station<'_, P::Name>,
        out: &mut impl AgentOut,
    ) -> SplitConnection<P> {
        let mut flow = SplitConnection {
            sockets: [None, None],
            syn: *syn,
            copied: [0; 2],
            is_closed: [false; 2],
            last_packet: station.now,
            away: Away::No,
            is_frozen: false,
            last_byte: None,
            silent: None,
            counted: Load::default(),
        };
        let local = (syn.src, segment.src_port);
        let remote = (syn.dst, segment.dst_port);
        flow.add(1 - from, Role::Active, (local, remote, segment.seq), segment, station);
        flow.with(1 - from, station, out, |tcp, now, out| tcp.open(now, out));
        flow
    }

    /// Whether this SYN has the same sequence number as the one that opened the connection.
    pub(super) fn is_of(&self, segment: &Segment) -> bool {
        matches!(&self.syn.body, Body::Tcp(syn) if syn.seq == segment.seq)
    }

    /// Creates an end; both use the sequence numbers of the hosts at the far ends.
    fn add(
        &mut self,
        way: Way,
        role: Role,
        (local, remote, iss): ((NodeId, u16), (NodeId, u16), SeqNo),
        like: &Segment,
        station: &Station<'_, P::Name>,
    ) {
        let packet = u32::from(like.options.mss.unwrap_or(DEFAULT_SEGMENT));
        let config = station.settings.endpoint::<P>(way == WIRED, packet, self.syn.extra_header);
        let mut tcp = Connection::new(&config, role, local, remote, iss);
        tcp.close_by_hand();
        tcp.read_by_hand();
        if station.end_to_end.is_some() {
            tcp.acknowledge_by_hand();
        }
        self.sockets[way] = Some(Socket::new(tcp, way));
    }

    /// Handles a segment for the end `way`.
    pub(super) fn on_packet(
        &mut self,
        way: Way,
        packet: &Packet,
        segment: &Segment,
        station: &mut Station<'_, P::Name>,
        out: &mut impl AgentOut,
    ) {
        self.last_packet = station.now;
        if self.sockets[way].is_none() {
            if segment.flags.has(Flags::SYN) {
                self.syn = *packet;
            }
            return;
        }
        let room = self.room(way, station);
        self.with(way, station, out, |tcp, now, out| {
            tcp.read_at_once(room);
            tcp.up(packet, now, out);
        });
        if self.sockets[1 - way].is_none() && self.state(way) == Some(State::Established) {
            self.answer(1 - way, segment.seq, station, out);
        }
        if way == WIRELESS {
            self.hear(station, out);
        }
        self.copy(station, out);
    }

    /// The addressee has accepted, with this sequence number: the station accepts towards the opener.
    fn answer(&mut self, way: Way, iss: SeqNo, station: &mut Station<'_, P::Name>, out: &mut impl AgentOut) {
        let (syn, Body::Tcp(segment)) = (self.syn, self.syn.body) else { return };
        let ends = ((syn.dst, segment.dst_port), (syn.src, segment.src_port), iss);
        self.add(way, Role::Passive, ends, &segment, station);
        self.with(way, station, out, |tcp, now, out| tcp.up(&syn, now, out));
    }

    /// Does whatever is due.
    pub(super) fn on_time(&mut self, station: &mut Station<'_, P::Name>, out: &mut impl AgentOut) {
        let now = station.now;
        for socket in self.sockets.iter_mut().flatten() {
            socket.on_time(now, station.made, out);
        }
        if self.last_byte.is_some_and(|at| at <= now) {
            self.last_byte = None;
            self.acknowledge(WIRED, self.delivered(WIRED), station, out);
        }
        if self.silent.is_some_and(|at| at <= now) {
            self.silent = None;
            if self.away == Away::No {
                self.away = Away::Silent;
                self.freeze(station, out);
            }
        }
        if let Away::Returning(at) = self.away
            && at <= now
        {
            self.resume(station, out);
        }
        self.copy(station, out);
    }

    /// When something is next due.
    pub(super) fn deadline(&self, settings: &Settings<P::Name>) -> Time {
        let mut first = self.sockets.iter().flatten().map(Socket::deadline).min().unwrap_or(Time::NEVER);
        for due in [self.last_byte, self.silent].into_iter().flatten() {
            first = first.min(due);
        }
        if let Away::Returning(at) = self.away {
            first = first.min(at);
        }
        if self.is_over() { first.min(self.last_packet.after(settings.linger)) } else { first }
    }

    /// Whether both hosts have received all data of the other, and know that theirs was received.
    pub(super) fn is_over(&self) -> bool {
        self.sockets.iter().all(|socket| socket.as_ref().is_some_and(|socket| socket.tcp.is_done()))
    }

    /// Whether it has ended and may be forgotten.
    pub(super) fn is_forgotten(&self, linger_ends: Time) -> bool {
        self.is_over() && self.last_packet <= linger_ends
    }

    /// Segments that the ends of the station have retransmitted.
    pub(super) fn resent(&self) -> u64 {
        self.sockets.iter().flatten().map(|socket| socket.tcp.sender().resent()).sum()
    }

    /// The current load.
    pub(super) fn load(&self) -> Load {
        let mut load = Load::default();
        for way in [WIRED, WIRELESS] {
            let Some(socket) = &self.sockets[way] else { continue };
            let delivered = self.delivered(way);
            load.held += socket.tcp.receiver().next().saturating_sub(delivered);
            load.unconfirmed += socket.tcp.acknowledged().saturating_sub(delivered);
        }
        load
    }

    /// The bytes of state that move to another station.
    pub(super) fn bytes(&self) -> u64 {
        self.load().held + <Socket<P>>::BYTES * self.sockets.iter().flatten().count() as u64
    }

    /// How many of the bytes received by the end `way` the other host has acknowledged.
    fn delivered(&self, way: Way) -> u64 {
        self.sockets[1 - way].as_ref().map_or(0, |other| other.tcp.sender().board().una())
    }

    fn state(&self, way: Way) -> Option<State> {
        self.sockets[way].as_ref().map(|socket| socket.tcp.state())
    }

    /// How many more bytes the end `way` may read from its host.
    fn room(&self, way: Way, station: &Station<'_, P::Name>) -> u64 {
        let waiting = self.copied[1 - way].saturating_sub(self.delivered(way));
        station.settings.buffer.0.saturating_sub(waiting)
    }

    fn with<O: AgentOut>(
        &mut self,
        way: Way,
        station: &mut Station<'_, P::Name>,
        out: &mut O,
        act: impl FnOnce(&mut Connection<P>, Time, &mut Port<'_, O>),
    ) {
        let now = station.now;
        if let Some(socket) = &mut self.sockets[way] {
            socket.act(station.made, out, |tcp, out| act(tcp, now, out));
        }
    }

    /// Copies as much as there is room for, in both directions, and relays the ends of the streams.
    fn copy(&mut self, station: &mut Station<'_, P::Name>, out: &mut impl AgentOut) {
        for way in [WIRED, WIRELESS] {
            let (room, other) = (self.room(way, station), 1 - way);
            let [Some(_), Some(_)] = &self.sockets else { return };
            let Some(socket) = &self.sockets[way] else { return };
            let readable = socket.tcp.receiver().readable();
            if readable > 0 && room > 0 {
                self.with(way, station, out, |tcp, now, out| tcp.read(room, now, out));
            }
            let Some(socket) = &self.sockets[way] else { return };
            let receiver = socket.tcp.receiver();
            let read = receiver.in_order() - receiver.readable();
            let ends = receiver.finished() && receiver.readable() == 0;
            let news = read - std::mem::replace(&mut self.copied[other], read);
            if ends && !std::mem::replace(&mut self.is_closed[other], true) {
                self.with(other, station, out, |tcp, now, out| tcp.write_last(news, now, out));
            } else if news > 0 {
                self.with(other, station, out, |tcp, now, out| tcp.write(news, now, out));
            }
        }
        if let Some(rules) = station.end_to_end {
            self.consent(rules, station, out);
        }
    }
}

/// The rules of a station whose acknowledgements have an end-to-end meaning.
impl<P: Variants> SplitConnection<P> {
    /// Acknowledges what the hosts at the far ends have acknowledged. To the fixed host this is all but the last byte,
    /// unless that byte ends the stream or data waits beyond a hole.
    fn consent(&mut self, rules: EndToEnd, station: &mut Station<'_, P::Name>, out: &mut impl AgentOut) {
        let whole = self.delivered(WIRELESS);
        self.acknowledge(WIRELESS, whole, station, out);
        let whole = self.delivered(WIRED);
        let Some(socket) = &self.sockets[WIRED] else { return };
        let (before, receiver) = (socket.tcp.acknowledged(), socket.tcp.receiver());
        let is_end = receiver.finished() && whole == receiver.next();
        let keeps_one = !self.is_frozen && !is_end && receiver.is_in_order();
        self.acknowledge(WIRED, whole - u64::from(keeps_one && whole > 0), station, out);
        let Some(socket) = &self.sockets[WIRED] else { return };
        if socket.tcp.acknowledged() >= whole {
            self.last_byte = None;
        } else if socket.tcp.acknowledged() > before || self.last_byte.is_none() {
            self.last_byte = Some(station.now.after(rules.delay));
        }
        let waits =
            self.sockets[WIRELESS].as_ref().is_some_and(|socket| !socket.tcp.sender().board().is_empty());
        match rules.silence {
            Some(silence) if waits && self.away == Away::No => {
                self.silent.get_or_insert(station.now.after(silence));
            }
            _ => self.silent = None,
        }
    }

    fn acknowledge(
        &mut self,
        way: Way,
        up_to: u64,
        station: &mut Station<'_, P::Name>,
        out: &mut impl AgentOut,
    ) {
        self.with(way, station, out, |tcp, now, out| tcp.acknowledge(up_to, now, out));
    }

    /// Acknowledges the last byte as well, with a window of zero: the sender persists with its window and timeout
    /// unchanged.
    fn freeze(&mut self, station: &mut Station<'_, P::Name>, out: &mut impl AgentOut) {
        self.is_frozen = true;
        self.last_byte = None;
        self.show_window(Advertised::Closed, station, out, |flow, station, out| {
            flow.acknowledge(WIRED, flow.delivered(WIRED), station, out);
        });
    }

    /// Advertises this window to the fixed host from now on. Sends it at once, with the acknowledgement that `act`
    /// causes or else by repeating the last one.
    fn show_window<O: AgentOut>(
        &mut self,
        window: Advertised,
        station: &mut Station<'_, P::Name>,
        out: &mut O,
        act: impl FnOnce(&mut Self, &mut Station<'_, P::Name>, &mut O),
    ) {
        let acknowledged = |flow: &Self| flow.sockets[WIRED].as_ref().map(|socket| socket.tcp.acknowledged());
        let mut deeds = Deeds { window: Some(window), ..Deeds::default() };
        self.with(WIRED, station, out, |tcp, now, out| tcp.act(deeds, now, out));
        let before = acknowledged(self);
        act(self, station, out);
        if acknowledged(self) == before {
            deeds.acknowledge[0] = Some(Acknowledge { window, less: 0, copies: 1 });
            self.with(WIRED, station, out, |tcp, now, out| tcp.act(deeds, now, out));
        }
    }

    /// The link of the mobile is down. Returns false if the sender was already frozen.
    pub(super) fn disconnect(&mut self, station: &mut Station<'_, P::Name>, out: &mut impl AgentOut) -> bool {
        let is_news = !self.is_frozen;
        if is_news {
            self.freeze(station, out);
        }
        self.away = Away::Disconnected;
        self.silent = None;
        let deeds = Deeds { sending: Some(StopOrGo::Stop), ..Deeds::default() };
        self.with(WIRELESS, station, out, |tcp, now, out| tcp.act(deeds, now, out));
        is_news
    }

    /// The link of the mobile is up again: sending resumes at its greeting, or after one timeout without it.
    pub(super) fn reconnect(&mut self, now: Time) {
        if self.away == Away::Disconnected
            && let Some(socket) = &self.sockets[WIRELESS]
        {
            self.away = Away::Returning(now.after(socket.tcp.sender().rtt().rto()));
        }
    }

    /// Whether the mobile counts as disconnected because of its silence.
    pub(super) fn is_silent(&self) -> bool {
        self.away == Away::Silent
    }

    /// The mobile has sent a segment.
    fn hear(&mut self, station: &mut Station<'_, P::Name>, out: &mut impl AgentOut) {
        self.silent = None;
        if self.away != Away::No {
            self.resume(station, out);
        }
    }

    /// The mobile is reconnected: unacknowledged data is retransmitted at once, and the window towards the fixed host
    /// opens.
    fn resume(&mut self, station: &mut Station<'_, P::Name>, out: &mut impl AgentOut) {
        self.away = Away::No;
        let deeds = Deeds { sending: Some(StopOrGo::ResumeFromLoss), ..Deeds::default() };
        self.with(WIRELESS, station, out, |tcp, now, out| tcp.act(deeds, now, out));
        self.thaw(station, out);
    }

    fn thaw(&mut self, station: &mut Station<'_, P::Name>, out: &mut impl AgentOut) {
        self.is_frozen = false;
        let Some(rules) = station.end_to_end else { return };
        self.show_window(Advertised::Real, station, out, |flow, station, out| {
            flow.consent(rules, station, out);
        });
    }

    /// The flow has moved here from another station.
    pub(super) fn arrive(&mut self, station: &mut Station<'_, P::Name>, out: &mut impl AgentOut) {
        self.last_packet = station.now;
        if station.end_to_end.is_some() {
            self.resume(station, out);
        } else {
            self.with(WIRELESS, station, out, |tcp, now, out| tcp.start_over(now, out));
        }
        self.copy(station, out);
    }
}
