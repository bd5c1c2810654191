//! A connection as an agent traces it: what its SYNs negotiated, how it ends, and what the agent does for each of its
//! two directions.

use super::super::flows::{Endpoint, Key};
use super::config::Config;
use crate::packet::{Flags, NodeId, Segment};
use crate::state_bytes::{StateBytes, state_bytes};
use crate::units::{SeqNo, Time};

/// What an agent does for the data of one direction of a connection. Each mode has its own.
pub(in super::super) trait Half: Default + StateBytes {
    /// The data goes to a node one hop ahead: the agent acknowledges it when delivered.
    fn sender(terms: Terms, config: &Config) -> Self;

    /// The data came over this hop: the agent at the other end acknowledges it.
    fn receiver(terms: Terms) -> Self;

    /// When it must be called.
    fn deadline(&self) -> Time;

    /// Bytes acknowledged here that the receiver itself has not acknowledged.
    fn unconfirmed(&self) -> u64;

    /// Bytes of state beyond the type itself.
    fn bytes(&self) -> u64;

    /// Whether it does anything.
    fn acts(&self) -> bool;

    /// Whether it withholds an acknowledgement.
    fn holds(&self) -> bool {
        false
    }
}

state_bytes! {
    /// What the two SYNs of a connection negotiated for the acknowledgements of one direction.
    #[derive(Clone, Copy, Debug)]
    pub(in super::super) struct Terms {
        /// The sender of the data.
        pub(in super::super) sender: Endpoint,
        /// The receiver of the data.
        pub(in super::super) receiver: Endpoint,
        /// Sequence number of the first data byte.
        pub(in super::super) zero: SeqNo,
        /// Sequence number of the receiver's first data byte.
        pub(in super::super) reply_zero: SeqNo,
        /// Shift of the receiver's windows, except in its SYN (RFC 7323, 2.2).
        pub(in super::super) shift: u8,
        /// The sender's and the receiver's first `TSval`, if timestamps are in use.
        pub(in super::super) stamps: Option<(u32, u32)>,
        /// Whether SACK is in use.
        pub(in super::super) sack: bool,
        /// Right edge in the receiver's SYN, if that SYN acknowledged the sender's.
        pub(in super::super) edge: Option<u64>,
        /// Window in the receiver's SYN.
        pub(in super::super) window: u64,
        /// The smaller of the two maximum segment sizes.
        pub(in super::super) mss: u32,
    }
}

/// Maximum segment size of a side whose SYN does not give one (RFC 9293, 3.7.1).
const DEFAULT_MSS: u16 = 536;

state_bytes! {
    /// The contents of one side's SYN.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Syn {
        seq: SeqNo,
        window: u16,
        answers: bool,
        shift: Option<u8>,
        stamp: Option<u32>,
        sack: bool,
        mss: u16,
    }
}

impl Syn {
    fn of(segment: &Segment) -> Syn {
        Syn {
            seq: segment.seq,
            window: segment.window,
            answers: segment.flags.has(Flags::ACK),
            shift: segment.options.window_scale,
            stamp: segment.options.timestamps.map(|stamps| stamps.value),
            sack: segment.options.sack_permitted,
            mss: segment.options.mss.unwrap_or(DEFAULT_MSS),
        }
    }
}

state_bytes! {
    /// A connection. State for the data of a side is indexed by the side's number.
    #[derive(Clone, Debug)]
    pub(in super::super) struct Connection<H: Half> {
        key: Key,
        syns: [Option<Syn>; 2],
        pub(in super::super) halves: [H; 2],
        fins: [Option<SeqNo>; 2],
        closed: [bool; 2],
        pub(in super::super) last_packet: Time,
    }
}

impl<H: Half> Connection<H> {
    /// A connection after the SYN of `side`.
    pub(in super::super) fn new(key: Key, side: usize, segment: &Segment, now: Time) -> Connection<H> {
        let mut syns = [None; 2];
        syns[side] = Some(Syn::of(segment));
        let halves = [H::default(), H::default()];
        Connection { key, syns, halves, fins: [None; 2], closed: [false; 2], last_packet: now }
    }

    /// Its key.
    pub(in super::super) fn key(&self) -> Key {
        self.key
    }

    /// Whether this repeats the SYN that began the connection.
    pub(in super::super) fn began_with(&self, side: usize, segment: &Segment) -> bool {
        self.syns[side].is_some_and(|syn| syn.seq == segment.seq && !syn.answers)
    }

    /// The SYN of `side` that answers the other side's. The agent acts from now on.
    pub(in super::super) fn on_answer(&mut self, side: usize, segment: &Segment, config: &Config) {
        let fits =
            self.syns[1 - side].is_some_and(|first| first.seq.plus(1) == segment.ack && !first.answers);
        let known = self.syns[side].is_some_and(|syn| syn.seq == segment.seq);
        if !fits || known {
            return;
        }
        self.syns[side] = Some(Syn::of(segment));
        for side in 0..2 {
            self.halves[side] = self.half(side, config);
        }
    }

    /// The role of the agent for the data of `side`, by the criterion (lle-tcp/II.C).
    fn half(&self, side: usize, config: &Config) -> H {
        let receiver = self.key.end(1 - side).0;
        match self.terms(side) {
            Some(terms) if config.criterion.is_ahead(receiver) => H::sender(terms, config),
            Some(terms) if config.criterion.is_behind(receiver) => H::receiver(terms),
            _ => H::default(),
        }
    }

    /// What both SYNs negotiated for the data of `side`; an option that only one side offers is not used.
    fn terms(&self, side: usize) -> Option<Terms> {
        let (sender, receiver) = (self.syns[side]?, self.syns[1 - side]?);
        Some(Terms {
            sender: self.key.end(side),
            receiver: self.key.end(1 - side),
            zero: sender.seq.plus(1),
            reply_zero: receiver.seq.plus(1),
            shift: if sender.shift.is_some() { receiver.shift.unwrap_or(0).min(14) } else { 0 },
            stamps: sender.stamp.zip(receiver.stamp),
            sack: sender.sack && receiver.sack,
            edge: receiver.answers.then_some(u64::from(receiver.window)),
            window: u64::from(receiver.window),
            mss: u32::from(sender.mss.min(receiver.mss)),
        })
    }

    /// Records a FIN of `side`, and an acknowledgement of the other side's FIN.
    pub(in super::super) fn on_segment(&mut self, side: usize, segment: &Segment, now: Time) {
        self.last_packet = now;
        if segment.flags.has(Flags::FIN) {
            self.fins[side] = Some(segment.seq.plus(segment.len));
        }
        self.closed[1 - side] |= self.acknowledges_fin(side, segment);
    }

    /// Whether a segment of `side` acknowledges the FIN of the other side.
    pub(in super::super) fn acknowledges_fin(&self, side: usize, segment: &Segment) -> bool {
        let after = |fin| segment.ack.distance_from(fin) > 0;
        segment.flags.has(Flags::ACK) && self.fins[1 - side].is_some_and(after)
    }

    /// Whether both directions have ended: each side has acknowledged the other's FIN.
    pub(in super::super) fn is_over(&self) -> bool {
        self.closed == [true, true]
    }

    /// When it is forgotten if no packet passes.
    pub(in super::super) fn idle_at(&self, config: &Config) -> Time {
        self.last_packet.after(config.idle)
    }

    /// When it must be called, at the latest when it has been idle for too long.
    pub(in super::super) fn deadline(&self, config: &Config) -> Time {
        self.halves.iter().fold(self.idle_at(config), |first, half| first.min(half.deadline()))
    }

    /// Whether the criterion holds for one of its directions.
    pub(in super::super) fn is_wanted(&self, config: &Config) -> bool {
        (0..2).any(|side| {
            let node = self.key.end(side).0;
            config.criterion.is_ahead(node) || config.criterion.is_behind(node)
        })
    }

    /// Whether the agent does anything for it.
    pub(in super::super) fn acts(&self) -> bool {
        self.halves.iter().any(Half::acts)
    }

    /// The same connection, for which nothing is done.
    pub(in super::super) fn without_halves(&self) -> Connection<H> {
        let Connection { key, syns, fins, closed, last_packet, .. } = *self;
        Connection { key, syns, halves: Default::default(), fins, closed, last_packet }
    }

    /// Removes and returns what is done for the data to one of its nodes, or for all data.
    pub(in super::super) fn part_for(&mut self, receiver: NodeId, is_all: bool) -> Connection<H> {
        let mut part = self.without_halves();
        for side in 0..2 {
            if is_all || self.key.end(1 - side).0 == receiver {
                part.halves[side] = std::mem::take(&mut self.halves[side]);
            }
        }
        part
    }

    /// Takes over a part of the same connection, where nothing is done yet; `arrive` is called for what is taken.
    pub(in super::super) fn join(&mut self, part: Connection<H>, now: Time, mut arrive: impl FnMut(&mut H)) {
        if self.syns != part.syns {
            return;
        }
        self.last_packet = now;
        for (own, moved) in self.halves.iter_mut().zip(part.halves) {
            if moved.acts() && !own.acts() {
                *own = moved;
                arrive(own);
            }
        }
    }

    /// Bytes acknowledged here that the receivers have not acknowledged.
    pub(in super::super) fn unconfirmed(&self) -> u64 {
        self.halves.iter().map(Half::unconfirmed).sum()
    }

    /// Bytes of state.
    pub(in super::super) fn bytes(&self) -> u64 {
        Self::BYTES + self.halves.iter().map(Half::bytes).sum::<u64>()
    }
}

/// Whether a segment is only an acknowledgement.
pub(in super::super) fn is_pure(segment: &Segment) -> bool {
    segment.len == 0 && segment.flags.without(Flags::PSH) == Flags::ACK
}

/// Whether the agent leaves the connection of this segment alone, because it cannot answer in the receiver's place.
pub(in super::super) fn is_beyond_it(segment: &Segment) -> bool {
    // A header extension of the congestion law carries information for the sender in each acknowledgement.
    let extended = segment.options.extension.is_some_and(|extension| extension.form.bytes() > 0);
    // With ECN the receiver echoes marks that only it sees (RFC 3168, 6.1). The SYN negotiates ECN, and carries the
    // refusal of the agent at the other end of the hop (`Flags::REFUSED`).
    let known = Flags::FIN.with(Flags::SYN).with(Flags::RST).with(Flags::PSH).with(Flags::ACK);
    let marked = segment.flags.has(Flags::SYN) && segment.flags.without(known) != Flags::default();
    extended || marked
}
