//! A connection as an agent sees it: what its SYNs settled, and what is done for each of its two directions.

use super::super::flows::Key;
use super::config::{Config, Counters};
use super::filter::{Fate, Filter};
use super::generator::Generator;
use super::reply::Terms;
use crate::hooks::AgentOut;
use crate::packet::{Flags, Packet, Segment};
use crate::signal::Signal;
use crate::units::{SeqNo, Time};

/// One call into the agent: what holds for it, and where its answers go.
#[derive(Debug)]
pub(super) struct Turn<'a, O> {
    pub(super) now: Time,
    pub(super) config: &'a Config,
    pub(super) counters: &'a mut Counters,
    pub(super) out: &'a mut O,
}

/// Whether a segment does nothing but acknowledge.
pub(super) fn is_pure(segment: &Segment) -> bool {
    segment.len == 0 && segment.flags.without(Flags::PSH) == Flags::ACK
}

/// Maximum segment size of a side that told none (RFC 9293, 3.7.1).
const DEFAULT_MSS: u16 = 536;

/// What one side's SYN told.
#[derive(Clone, Copy, Debug)]
struct Syn {
    seq: SeqNo,
    window: u16,
    answers: bool,
    shift: Option<u8>,
    stamp: Option<u32>,
    sack: bool,
    mss: u16,
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

/// What the agent does for the data of one direction.
#[derive(Clone, Debug)]
enum Half {
    /// Nothing.
    Passive,
    /// Acknowledges it when delivered.
    Generator(Box<Generator>),
    /// Holds back its acknowledgements.
    Filter(Box<Filter>),
}

/// A connection. What belongs to a side's data has the side's number.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    key: Key,
    syns: [Option<Syn>; 2],
    halves: [Half; 2],
    fins: [Option<SeqNo>; 2],
    closed: [bool; 2],
    last_packet: Time,
}

impl Flow {
    /// A connection of which the SYN of `side` was seen.
    pub(super) fn new(key: Key, side: usize, segment: &Segment, now: Time) -> Flow {
        let mut syns = [None; 2];
        syns[side] = Some(Syn::of(segment));
        Flow {
            key,
            syns,
            halves: [Half::Passive, Half::Passive],
            fins: [None; 2],
            closed: [false; 2],
            last_packet: now,
        }
    }

    /// Whether this is the SYN that began the connection, once more.
    pub(super) fn began_with(&self, side: usize, segment: &Segment) -> bool {
        self.syns[side].is_some_and(|syn| syn.seq == segment.seq && !syn.answers)
    }

    /// The SYN of `side` that answers the other's. From here on the agent acts.
    pub(super) fn on_answer(&mut self, side: usize, segment: &Segment, config: &Config) {
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

    /// What the criterion (lle-tcp/II.C) says of the data that `side` sends.
    fn half(&self, side: usize, config: &Config) -> Half {
        let receiver = self.key.end(1 - side);
        match self.terms(side) {
            Some(terms) if config.criterion.generates_for(receiver.0) => {
                let local = config.criterion.filters_for(self.key.end(side).0);
                Half::Generator(Box::new(Generator::new(terms, local, config.repair)))
            }
            Some(terms) if config.criterion.filters_for(receiver.0) => {
                Half::Filter(Box::new(Filter::new(terms)))
            }
            _ => Half::Passive,
        }
    }

    /// What both SYNs settled for the data of `side`; what one side offers alone is not used.
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

    /// A segment of `side` comes from above.
    pub(super) fn down<O: AgentOut>(
        &mut self,
        side: usize,
        packet: &Packet,
        segment: &Segment,
        turn: &mut Turn<'_, O>,
    ) -> Fate {
        self.watch_end(side, segment, turn.now);
        if let Half::Generator(generator) = &mut self.halves[side] {
            generator.on_data(packet, segment, turn);
        }
        match &mut self.halves[1 - side] {
            Half::Filter(filter) => filter.judge(packet, segment, turn),
            Half::Passive | Half::Generator(_) => Fate::Pass,
        }
    }

    /// A segment of `side` came over the link.
    pub(super) fn up<O: AgentOut>(
        &mut self,
        side: usize,
        packet: Packet,
        segment: &Segment,
        turn: &mut Turn<'_, O>,
    ) {
        self.watch_end(side, segment, turn.now);
        if let Half::Filter(filter) = &mut self.halves[side] {
            filter.on_data(segment);
        }
        match &mut self.halves[1 - side] {
            Half::Generator(generator) => generator.on_reply(packet, segment, turn),
            Half::Passive | Half::Filter(_) => turn.out.up(packet),
        }
    }

    /// The link tells of a segment of `side`.
    pub(super) fn on_signal<O: AgentOut>(
        &mut self,
        side: usize,
        signal: Signal,
        packet: &Packet,
        segment: &Segment,
        turn: &mut Turn<'_, O>,
    ) {
        if let Half::Generator(generator) = &mut self.halves[side] {
            generator.on_signal(signal, packet, segment, turn);
        }
        if let Half::Filter(filter) = &mut self.halves[1 - side]
            && signal == Signal::Undelivered
        {
            filter.on_undelivered();
        }
    }

    /// A deadline may have passed.
    pub(super) fn on_timer<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        for half in &mut self.halves {
            match half {
                Half::Passive => {}
                Half::Generator(generator) => generator.on_timer(turn),
                Half::Filter(filter) => filter.on_timer(turn),
            }
        }
    }

    /// When it wants to be called, at the latest when it has been idle for too long.
    pub(super) fn deadline(&self, config: &Config) -> Time {
        self.halves.iter().fold(self.idle_at(config), |first, half| match half {
            Half::Passive => first,
            Half::Generator(generator) => first.min(generator.deadline()),
            Half::Filter(filter) => first.min(filter.deadline()),
        })
    }

    /// When it is to be forgotten.
    pub(super) fn idle_at(&self, config: &Config) -> Time {
        self.last_packet.after(config.idle)
    }

    /// Whether both directions have ended and each side knows that the other knows.
    pub(super) fn is_over(&self) -> bool {
        self.closed == [true, true]
    }

    /// Whether the agent acts for it, or still may.
    pub(super) fn is_wanted(&self, config: &Config) -> bool {
        (0..2).any(|side| {
            let node = self.key.end(side).0;
            config.criterion.generates_for(node) || config.criterion.filters_for(node)
        })
    }

    /// Bytes acknowledged here that the receivers have not acknowledged.
    pub(super) fn unconfirmed(&self) -> u64 {
        self.halves.iter().map(|half| if let Half::Generator(it) = half { it.unconfirmed() } else { 0 }).sum()
    }

    /// Bytes of state.
    pub(super) fn bytes(&self) -> u64 {
        let halves = self.halves.iter().map(|half| match half {
            Half::Passive => 0,
            Half::Generator(generator) => generator.bytes(),
            Half::Filter(_) => Filter::bytes(),
        });
        size_of::<Flow>() as u64 + halves.sum::<u64>()
    }

    /// Notes a FIN of `side`, and whether the other's is acknowledged.
    fn watch_end(&mut self, side: usize, segment: &Segment, now: Time) {
        self.last_packet = now;
        if segment.flags.has(Flags::FIN) {
            self.fins[side] = Some(segment.seq.plus(segment.len));
        }
        if let Some(fin) = self.fins[1 - side]
            && segment.flags.has(Flags::ACK)
            && segment.ack.distance_from(fin) > 0
        {
            self.closed[1 - side] = true;
        }
    }
}

/// Whether the agent leaves the connection of this segment alone: what it cannot answer for in the receiver's place.
pub(super) fn is_beyond_it(segment: &Segment) -> bool {
    // A header extension of the congestion law speaks to the sender in each acknowledgement.
    let extended = segment.options.extension.is_some_and(|extension| extension.form.bytes() > 0);
    // With ECN the receiver echoes marks that only it sees (RFC 3168, 6.1); it is settled by the SYN.
    let known = Flags::FIN.with(Flags::SYN).with(Flags::RST).with(Flags::PSH).with(Flags::ACK);
    let marked = segment.flags.has(Flags::SYN) && segment.flags.without(known) != Flags::default();
    extended || marked
}
