//! One trace of events over all layers, from the write of an application to the frames on the medium.
//!
//! **How.** Each packet gets a number where it is made: by an endpoint, or by an agent. It keeps the number through
//! queues, agents and links, so that the rows with one number are its path; a retransmission is a new packet. Each
//! transmission on a medium gets a number of its own, which its end repeats. RTS, CTS and ACK have the number of the packet
//! that their exchange is for.
//!
//! **Choices**
//! 1. Numbers of bytes count from the first data byte of the stream, as in the channel `tcp`; a SYN is before it, at -1.
//!    A stream is known by the SYN that opens it, also by one that an agent makes.
//! 2. A wire computes the departure of a packet when it accepts it. Rows of later times wait until the clock is there, so
//!    that the times of the trace never go back.
//! 3. An agent that does not pass a packet on *keeps* it: whether it drops or holds it is not known before it *releases*
//!    the packet, if it does. A packet that it has passed on already it sends *again*, as it does what it makes of bytes
//!    that their sender has sent.
//! 4. A segment is sent again because of a timeout or of duplicates until all is acknowledged that was outstanding then.

mod media;
mod row;
mod vocabulary;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use lasthop_stack::hooks::{Note, NoteEvent, Timer};
use lasthop_stack::packet::{Body, Flags, NodeId, Packet, Segment};
use lasthop_stack::units::{SeqNo, Span, Time};

use super::trace::Writer;
use crate::model::ports::Ports;
use crate::model::{Config, TransportConfig};
pub(crate) use media::{Crossing, Sending};
pub(crate) use row::heads;
use row::{About, NONE, Row, Waiting, cells};
pub(crate) use vocabulary::{Event, Layer, What, Why};

/// Records events.
#[derive(Debug)]
pub(crate) struct Events {
    rows: Writer,
    /// Rows of times to come.
    waiting: BinaryHeap<Reverse<Waiting>>,
    pushed: u64,
    ports: Ports,
    /// The ends of flows, by their numbers.
    ends: Vec<End>,
    packets: u32,
    frames: u32,
    /// What each node has on a medium, and for which packet it answers, by its number.
    on_air: Vec<OnAir>,
    /// Packets that agents keep.
    kept: BTreeSet<u32>,
}

/// What is known of an end of a flow.
#[derive(Debug)]
struct End {
    node: NodeId,
    is_tcp: bool,
    /// The streams of its connections: the number of the first byte, and how far it has come.
    streams: Vec<(SeqNo, u64)>,
    shift: Option<u8>,
    /// The end of what it has sent, and what it says of the segment that it is about to send.
    sent: i64,
    said: Option<Note>,
    /// When its retransmission timer fired last.
    fired: Time,
    /// Why it sends again, until this is acknowledged.
    repeats: Option<(Why, i64)>,
    cwnd: f64,
    ssthresh: f64,
}

/// A transmission of a node.
#[derive(Clone, Copy, Debug, Default)]
struct OnAir {
    frame: u32,
    about: About,
    /// What the frame that it received last was about.
    answers: About,
    /// The packet that the medium has lost for good.
    hopeless: u32,
}

impl Events {
    pub(super) fn new(rows: Writer, config: &Config, ports: Ports) -> Events {
        let end = |node: usize, is_tcp| End {
            node: NodeId(node as u32),
            is_tcp,
            streams: Vec::new(),
            shift: None,
            sent: 0,
            said: None,
            fired: Time::NEVER,
            repeats: None,
            cwnd: f64::NAN,
            ssthresh: f64::NAN,
        };
        let ends = config.flows.iter().flat_map(|flow| {
            let is_tcp = matches!(flow.transport, TransportConfig::Tcp(_));
            [end(flow.from, is_tcp), end(flow.to, is_tcp)]
        });
        Events {
            rows,
            waiting: BinaryHeap::new(),
            pushed: 0,
            ports,
            ends: ends.collect(),
            packets: 0,
            frames: 0,
            on_air: vec![OnAir::default(); config.nodes.len()],
            kept: BTreeSet::new(),
        }
    }

    /// All rows up to the end of the run.
    pub(super) fn finish(mut self, end: Time) -> Writer {
        self.flush(end);
        self.rows
    }

    /// An end sends a packet, which gets a number.
    pub(crate) fn sent(&mut self, now: Time, end: u32, packet: &mut Packet) {
        packet.id = self.number();
        let is_first = match &packet.body {
            Body::Tcp(segment) if segment.flags.has(Flags::SYN) => self.open(end, segment, true),
            _ => false,
        };
        let about = self.about(packet);
        let what = what(packet);
        let layer = self.layer(end);
        let state = &mut self.ends[end as usize];
        let said = state.said.take_if(|note| what != What::Ack && note.seq.cast_signed() == about.seq);
        let is_again = about.seq < state.sent;
        let why = match said.map(|note| note.event) {
            _ if is_first => Why::New,
            _ if matches!(what, What::Syn | What::SynAck) && state.fired == now => Why::Timeout,
            Some(NoteEvent::Probe) => Why::Probe,
            Some(NoteEvent::Resend) => state.repeats.map_or(Why::Again, |(why, _)| why),
            _ if what == What::Ack => Why::Nothing,
            _ if is_again => Why::Again,
            _ => Why::New,
        };
        state.sent = state.sent.max(about.seq + about.len + i64::from(what == What::Fin));
        let node = state.node;
        let row = self.row(now, layer, Event::Send, (what, why), node, about);
        self.push(row);
    }

    /// A packet has come to an end, which has received all before `next`; `holds` answers whether it has a stretch.
    pub(crate) fn received(
        &mut self,
        now: Time,
        end: u32,
        packet: &Packet,
        next: u64,
        holds: impl Fn(u64, u64) -> bool,
    ) {
        let (about, what) = (self.about(packet), what(packet));
        let why = match (what, u64::try_from(about.seq)) {
            (What::Data | What::Fin, Ok(seq)) => {
                let end = seq + about.len as u64 + u64::from(what == What::Fin);
                if holds(seq, end) {
                    Why::Repeat
                } else if seq > next {
                    Why::Early
                } else {
                    Why::InOrder
                }
            }
            _ => Why::Nothing,
        };
        let (layer, node) = (self.layer(end), self.ends[end as usize].node);
        let row = self.row(now, layer, Event::Receive, (what, why), node, about);
        self.push(row);
    }

    /// A sender of TCP says what happened. What it says of a segment belongs to the segment that follows.
    pub(super) fn note(&mut self, now: Time, end: u32, note: Note) {
        let state = &mut self.ends[end as usize];
        (state.cwnd, state.ssthresh) = (note.cwnd, note.ssthresh);
        let event = match note.event {
            NoteEvent::Send | NoteEvent::Resend | NoteEvent::Probe => {
                state.said = Some(note);
                return;
            }
            NoteEvent::Ack => Event::Ack,
            NoteEvent::Partial => Event::Partial,
            NoteEvent::DupAck => Event::DupAck,
            NoteEvent::Enter => Event::Enter,
            NoteEvent::Exit | NoteEvent::Undo => Event::Exit,
            NoteEvent::Timeout => Event::Timeout,
        };
        match event {
            Event::Enter => state.repeats = Some((Why::FastRetransmit, state.sent)),
            Event::Timeout => state.repeats = Some((Why::Timeout, state.sent)),
            _ => state.repeats = state.repeats.filter(|(_, until)| note.ack.cast_signed() < *until),
        }
        let (seq, len, ack) = (note.seq.cast_signed(), i64::from(note.len), note.ack.cast_signed());
        let (at, about) = (state.node, About { end, seq, len, ack, ..About::default() });
        let row = self.row(now, Layer::Tcp, event, (What::Nothing, Why::Nothing), at, about);
        self.push(row);
    }

    /// A timer of an end is set for a time, or cancelled.
    pub(crate) fn timer(&mut self, now: Time, end: u32, timer: Timer, at: Option<Time>) {
        self.of_timer(now, end, timer, if at.is_some() { Event::Set } else { Event::Cancel }, at);
    }

    /// A timer of an end has fired.
    pub(crate) fn fired(&mut self, now: Time, end: u32, timer: Timer) {
        if timer == Timer::Retransmit {
            self.ends[end as usize].fired = now;
        }
        self.of_timer(now, end, timer, Event::Fire, None);
    }

    fn of_timer(&mut self, now: Time, end: u32, timer: Timer, event: Event, at: Option<Time>) {
        let what = match timer {
            Timer::Retransmit => What::Retransmit,
            Timer::DelayedAck => What::DelayedAck,
            Timer::Pace => What::Pace,
        };
        let about = About { end, ..About::default() };
        let row = self.row(now, Layer::Tcp, event, (what, Why::Nothing), self.ends[end as usize].node, about);
        self.push(Row { duration: at.map_or(Span::ZERO, |at| at.since(now)), ..row });
    }

    /// An application writes or reads bytes, or closes its direction. A write without end has no length.
    pub(crate) fn app(&mut self, now: Time, end: u32, event: Event, bytes: Option<u64>) {
        let len = bytes.map_or(-1, u64::cast_signed);
        let why = if bytes.is_none() && event == Event::Write { Why::Endless } else { Why::Nothing };
        let about = About { end, len: if event == Event::Close { 0 } else { len }, ..About::default() };
        let node = self.ends[end as usize].node;
        let row = self.row(now, Layer::App, event, (What::Nothing, why), node, about);
        self.push(row);
    }

    /// An agent at a node passes on `packet`. It came from the other side, unless the agent has made it or had it.
    /// Returns the packet with its number.
    pub(crate) fn passed_on(
        &mut self,
        now: Time,
        node: NodeId,
        packet: &Packet,
        came: Option<&Packet>,
    ) -> Packet {
        let mut packet = *packet;
        let mut why = Why::Nothing;
        let event = match came {
            Some(came) if packet.id != 0 && came.id == packet.id => match change(came, &packet) {
                None => return packet,
                Some(field) => {
                    why = field;
                    Event::Change
                }
            },
            _ if packet.id == 0 => {
                packet.id = self.number();
                self.open_if_syn(&packet);
                let about = self.about(&packet);
                let is_sent = what(&packet) == What::Data
                    && about.end != NONE
                    && about.seq + about.len <= self.ends[about.end as usize].sent;
                if is_sent { Event::Again } else { Event::Make }
            }
            _ if self.kept.remove(&packet.id) => Event::Release,
            _ => Event::Again,
        };
        self.of_agent(now, node, event, why, &packet);
        packet
    }

    /// An agent at a node does not pass on a packet.
    pub(crate) fn kept(&mut self, now: Time, node: NodeId, packet: &Packet) {
        self.kept.insert(packet.id);
        self.of_agent(now, node, Event::Keep, Why::Nothing, packet);
    }

    fn of_agent(&mut self, now: Time, node: NodeId, event: Event, why: Why, packet: &Packet) {
        let about = self.about(packet);
        let row = self.row(now, Layer::Agent, event, (what(packet), why), node, about);
        self.push(row);
    }

    /// A packet enters the queue of a link, leaves the link for the layers above, is done with or lost.
    pub(crate) fn link(
        &mut self,
        now: Time,
        event: Event,
        why: Why,
        link: u32,
        node: NodeId,
        packet: &Packet,
    ) {
        let about = self.about(packet);
        let row = self.row(now, Layer::Link, event, (what(packet), why), node, about);
        self.push(Row { link, ..row });
    }

    /// A packet is lost at a node from which no way leads on.
    pub(crate) fn lost_at(&mut self, now: Time, node: NodeId, packet: &Packet) {
        self.link(now, Event::Lost, Why::NoRoute, NONE, node, packet);
    }

    fn number(&mut self) -> u32 {
        self.packets = self.packets.wrapping_add(1).max(1);
        self.packets
    }

    fn next_frame(&mut self) -> u32 {
        self.frames = self.frames.wrapping_add(1).max(1);
        self.frames
    }

    /// A SYN begins the stream of an end. One of the end itself ends those before, which were of other connections.
    /// Returns whether it is the first of its stream.
    fn open(&mut self, end: u32, segment: &Segment, is_its_own: bool) -> bool {
        let End { streams, shift, sent, repeats, .. } = &mut self.ends[end as usize];
        let zero = segment.seq.plus(1);
        if streams.iter().any(|(known, _)| *known == zero) {
            return false;
        }
        if is_its_own {
            streams.clear();
            (*sent, *repeats) = (0, None);
            *shift = segment.options.window_scale;
        }
        streams.push((zero, 0));
        true
    }

    fn open_if_syn(&mut self, packet: &Packet) {
        if let Body::Tcp(segment) = &packet.body
            && segment.flags.has(Flags::SYN)
        {
            self.open(self.ports.sender(packet), segment, false);
        }
    }

    fn layer(&self, end: u32) -> Layer {
        if self.ends[end as usize].is_tcp { Layer::Tcp } else { Layer::Udp }
    }

    /// What a packet says.
    fn about(&mut self, packet: &Packet) -> About {
        let end = self.ports.sender(packet);
        let (packet_number, len) = (packet.id, i64::from(packet.payload()));
        match &packet.body {
            Body::Udp(datagram) => {
                About { end, packet: packet_number, seq: i64::from(datagram.number), len, ..About::default() }
            }
            Body::Tcp(segment) => {
                let other = end ^ 1;
                let is_syn = segment.flags.has(Flags::SYN);
                let has_ack = segment.flags.has(Flags::ACK);
                let both = self.ends[end as usize].shift.zip(self.ends[other as usize].shift);
                let shift = both.filter(|_| !is_syn).map_or(0, |(own, _)| own);
                About {
                    end,
                    packet: packet_number,
                    seq: self.ends[end as usize].offset(segment.seq),
                    len,
                    ack: if has_ack { self.ends[other as usize].offset(segment.ack) } else { -1 },
                    window: i64::from(segment.window) << shift,
                }
            }
        }
    }

    fn row(
        &self,
        at: Time,
        layer: Layer,
        event: Event,
        (what, why): (What, Why),
        node: NodeId,
        about: About,
    ) -> Row {
        let window = match layer {
            Layer::Tcp => {
                let state = &self.ends[self.end_at(node, about.end) as usize];
                (state.cwnd, state.ssthresh)
            }
            _ => (f64::NAN, f64::NAN),
        };
        Row {
            at,
            duration: Span::ZERO,
            layer,
            event,
            what,
            why,
            node: node.0,
            peer: NONE,
            link: NONE,
            about,
            frame: 0,
            attempt: 0,
            slots: -1,
            window,
        }
    }

    /// The end of a flow that is at a node, of the two.
    fn end_at(&self, node: NodeId, end: u32) -> u32 {
        if self.ends[end as usize].node == node { end } else { end ^ 1 }
    }

    /// A row of this instant.
    fn push(&mut self, row: Row) {
        self.later(row);
        self.flush(row.at);
    }

    /// A row of a time to come.
    fn later(&mut self, row: Row) {
        self.pushed += 1;
        self.waiting.push(Reverse(Waiting(self.pushed, row)));
    }

    /// Writes the rows up to this time.
    fn flush(&mut self, now: Time) {
        while let Some(Reverse(Waiting(_, row))) = self.waiting.peek().copied()
            && row.at <= now
        {
            self.waiting.pop();
            self.rows.push(&cells(&row));
        }
    }
}

impl End {
    /// A sequence number as an offset in the stream to which it is nearest; -1 if no stream is known.
    fn offset(&mut self, seq: SeqNo) -> i64 {
        let distance = |(zero, near): &(SeqNo, u64)| i64::from(seq.distance_from(zero.plus(*near as u32)));
        let nearest = self.streams.iter_mut().min_by_key(|stream| distance(stream).abs());
        let Some(stream) = nearest else { return -1 };
        let offset = stream.1.cast_signed() + distance(stream);
        stream.1 = stream.1.max(u64::try_from(offset).unwrap_or(0));
        offset
    }
}

/// What a packet carries.
fn what(packet: &Packet) -> What {
    let Body::Tcp(segment) = &packet.body else { return What::Datagram };
    let flags = segment.flags;
    if flags.has(Flags::RST) {
        What::Reset
    } else if flags.has(Flags::SYN) {
        if flags.has(Flags::ACK) { What::SynAck } else { What::Syn }
    } else if flags.has(Flags::FIN) {
        What::Fin
    } else if segment.len > 0 {
        What::Data
    } else {
        What::Ack
    }
}

/// The first field in which a packet differs from what it was.
fn change(was: &Packet, is: &Packet) -> Option<Why> {
    let (Body::Tcp(old), Body::Tcp(new)) = (&was.body, &is.body) else {
        return (was != is).then_some(Why::Length);
    };
    let changes = [
        (old.flags.has(Flags::ACK) != new.flags.has(Flags::ACK), Why::AckFlag),
        (old.flags != new.flags, Why::Flags),
        ((old.seq, old.ack) != (new.seq, new.ack), Why::Numbers),
        (old.window != new.window, Why::Window),
        (old.len != new.len, Why::Length),
        (was != is, Why::Options),
    ];
    changes.into_iter().find_map(|(differs, field)| differs.then_some(field))
}
