//! Airtime accounting: assigns each nanosecond of a medium, as observed by one station, to exactly one class.
//!
//! **How.** The host reports the start and the end of every frame of the medium, whether or not the observing station
//! senses it. It also reports the number of stations with something to send whenever it changes. While frames are on
//! the air, a nanosecond belongs to one of them; between frames it is an interframe space, backoff or idle.
//!
//! **Precedence.** If several frames are sensed at once, a nanosecond belongs to the class that comes first in
//! [`AirClass`], so useful time counts as useful. The rest of the overlap is [`Shares::overlapped`], and frames sent
//! out of range of the station are [`Shares::unheard`]: airtime that is not part of the sum of the run.
//!
//! **Rules.**
//! 1. A frame that did not arrive is a collision or an errored frame from its first bit to its last, whatever it
//!    carried. A packet lost for good was an errored frame; one lost above the MAC was a good one.
//! 2. The payload of a data frame is the IP packet in it. It is counted at the end of the frame: the check sequence and
//!    padding that follow it on the air are counted with the headers before it.
//! 3. A gap shorter than DIFS is an interframe space. In a longer gap, a nanosecond in which no station has anything to
//!    send is idle. Of the others, those within DIFS of the last frame are an interframe space. If that frame did not
//!    arrive, EIFS replaces DIFS, which covers the wait for the missing answer. Later ones are backoff.
//! 4. Of an A-MPDU that arrived, the payloads come last: those of packets, of TCP acknowledgements, and of MPDUs that
//!    were lost, which are errored; delimiters and padding are headers. An A-MPDU of which nothing arrived is rule 1's.
//! 5. A frame on the air at the end of the run counts as if it arrived.

use lasthop_stack::link::dot11::{Airtime, Frame, FrameKind, PayloadClass};
use lasthop_stack::units::{Span, Time};

use crate::medium::radio::Fate;

/// A class of airtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AirClass {
    /// IP packets other than pure TCP acknowledgements.
    DataPayload,
    /// IP packets that are pure TCP acknowledgements.
    TcpAckPayload,
    /// Preambles, PHY and MAC headers, LLC, check sequences, padding; polls and beacons.
    Headers,
    /// RTS and CTS with their preambles.
    RtsCts,
    /// ACK with its preamble, or a CF-ACK without data.
    MacAck,
    /// BlockAck, BlockAckReq and triggers with their preambles.
    BlockAck,
    /// SIFS, PIFS, DIFS, EIFS.
    Interframe,
    /// Slots counted down, or waited through, by stations that have something to send.
    Backoff,
    /// Frames spoilt by another frame.
    Collision,
    /// Frames spoilt by chance, or out of range.
    Errored,
    /// No station has anything to send.
    Idle,
}

/// The number of classes.
pub const CLASSES: usize = 11;

impl AirClass {
    /// All classes, in the order in which they are shown and take precedence.
    pub const ALL: [AirClass; CLASSES] = [
        AirClass::DataPayload,
        AirClass::TcpAckPayload,
        AirClass::Headers,
        AirClass::RtsCts,
        AirClass::MacAck,
        AirClass::BlockAck,
        AirClass::Interframe,
        AirClass::Backoff,
        AirClass::Collision,
        AirClass::Errored,
        AirClass::Idle,
    ];

    /// Its name in metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            AirClass::DataPayload => "data_payload",
            AirClass::TcpAckPayload => "tcp_ack_payload",
            AirClass::Headers => "headers",
            AirClass::RtsCts => "rts_cts",
            AirClass::MacAck => "mac_ack",
            AirClass::BlockAck => "block_ack",
            AirClass::Interframe => "interframe",
            AirClass::Backoff => "backoff",
            AirClass::Collision => "collision",
            AirClass::Errored => "errored",
            AirClass::Idle => "idle",
        }
    }
}

/// How the time of a run was used, as one station heard it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    spans: [Span; CLASSES],
    /// Airtime of frames it sensed while another frame had precedence.
    pub overlapped: Span,
    /// Airtime of frames it did not sense.
    pub unheard: Span,
}

impl Shares {
    /// The time in a class.
    #[must_use]
    pub fn of(&self, class: AirClass) -> Span {
        self.spans[class as usize]
    }

    /// All classes together: the length of the measured time.
    #[must_use]
    pub fn total(&self) -> Span {
        Span(self.spans.iter().map(|span| span.0).sum())
    }

    /// Airtime used by several at once, here or elsewhere.
    #[must_use]
    pub fn concurrent(&self) -> Span {
        self.overlapped + self.unheard
    }
}

/// A frame in the ledger: one class up to `split`, another after it, and two more at the end of an A-MPDU.
#[derive(Clone, Copy, Debug)]
struct Entry {
    station: usize,
    begin: Time,
    split: Time,
    /// Here the TCP acknowledgements of an A-MPDU begin, and its lost MPDUs.
    acks: Time,
    lost: Time,
    end: Time,
    first: AirClass,
    second: AirClass,
}

impl Entry {
    /// The class at a time while the frame is on the air.
    fn class_at(&self, now: Time) -> AirClass {
        if now < self.split {
            self.first
        } else if now < self.acks {
            self.second
        } else if now < self.lost {
            AirClass::TcpAckPayload
        } else {
            AirClass::Errored
        }
    }
}

/// The time between frames, as far as it is counted.
#[derive(Clone, Copy, Debug)]
struct Gap {
    begin: Time,
    /// Until here it is an interframe space if a station has something to send.
    space_until: Time,
    counted: Time,
    interframe: Span,
    backoff: Span,
    idle: Span,
}

/// The ledger of one observing station.
#[derive(Clone, Debug)]
pub struct Ledger {
    difs: Span,
    eifs: Span,
    /// Nothing before it is counted.
    begin: Time,
    contenders: u32,
    /// Sensed frames on the air.
    on_air: Vec<Entry>,
    /// Frames on the air that are not sensed: their station and start.
    unheard: Vec<(usize, Time)>,
    /// Sensed frames that have ended but overlap with one that has not.
    ended: Vec<Entry>,
    /// Everything before it is in the ledger, except for the gap.
    settled: Time,
    gap: Option<Gap>,
    cuts: Vec<Time>,
    shares: Shares,
}

impl Ledger {
    /// An empty ledger that counts from `begin` on; the medium was idle before. `eifs` equals `difs` where there is none.
    #[must_use]
    pub fn new(difs: Span, eifs: Span, begin: Time) -> Ledger {
        Ledger {
            difs,
            eifs,
            begin,
            contenders: 0,
            on_air: Vec::new(),
            unheard: Vec::new(),
            ended: Vec::new(),
            settled: Time::ZERO,
            gap: Some(Gap::opened(Time::ZERO, Span::ZERO)),
            cuts: Vec::new(),
            shares: Shares::default(),
        }
    }

    /// This many stations of the medium now have something to send.
    #[inline]
    pub fn contenders(&mut self, count: u32, now: Time) {
        if let Some(gap) = &mut self.gap {
            gap.count(now, self.contenders, self.begin);
        }
        self.contenders = count;
    }

    /// A station begins to send a frame, which the observer senses (or sends) or not.
    ///
    /// Of the payload of an A-MPDU, `acks` is that of TCP acknowledgements.
    pub fn start(
        &mut self,
        station: usize,
        sensed: bool,
        frame: &Frame,
        (airtime, acks): (Airtime, Span),
        now: Time,
    ) {
        if !sensed {
            self.unheard.push((station, now));
            return;
        }
        if let Some(gap) = self.gap {
            self.gap = None;
            self.close(gap, now);
        }
        let (first, second) = classes(frame);
        let payload = if frame.kind == FrameKind::Data { airtime.payload } else { Span::ZERO };
        let end = now + airtime.total;
        let split = Time(end.0.saturating_sub(payload.0).max(now.0));
        let (first, second) = if frame.mpdus > 0 { (first, AirClass::DataPayload) } else { (first, second) };
        let acks = Time(end.0 - acks.0);
        self.on_air.push(Entry { station, begin: now, split, acks, lost: end, end, first, second });
    }

    /// A station has sent its frame; of the payload of an A-MPDU that arrived, `lost` did not.
    #[inline]
    pub fn end(&mut self, station: usize, fate: Fate, lost: Span, now: Time) {
        if let [only] = &self.on_air[..]
            && only.station == station
            && only.begin >= self.settled
            && only.acks == now
            && (fate, lost) == (Fate::Received, Span::ZERO)
            && self.ended.is_empty()
        {
            let Entry { first, second, begin, split, .. } = *only;
            self.on_air.clear();
            self.add(first, begin, split);
            self.add(second, split, now);
            self.settled = now;
            self.gap = Some(Gap::opened(now, self.difs));
        } else {
            self.end_any(station, fate, lost, now);
        }
    }

    #[inline(never)]
    fn end_any(&mut self, station: usize, fate: Fate, lost: Span, now: Time) {
        let Some(place) = self.on_air.iter().position(|entry| entry.station == station) else {
            self.end_unheard(station, now);
            return;
        };
        let mut entry = self.on_air.swap_remove(place);
        entry.end = now;
        let failed = match fate {
            Fate::Received => None,
            Fate::Collided => Some(AirClass::Collision),
            Fate::Errored | Fate::LostForGood | Fate::CutOff | Fate::OutOfReach => Some(AirClass::Errored),
        };
        if let Some(class) = failed {
            (entry.first, entry.second) = (class, class);
            (entry.acks, entry.lost) = (now, now);
        } else if lost > Span::ZERO {
            entry.lost = Time(now.0 - lost.0);
            (entry.acks, entry.split) = (entry.acks.min(entry.lost), entry.split.min(entry.lost));
        }
        if let Some(open) = self.on_air.iter().map(|entry| entry.begin).min() {
            self.ended.push(entry);
            self.settle(open);
            return;
        }
        if self.ended.is_empty() && entry.begin >= self.settled {
            self.add_alone(&entry);
            self.settled = now;
        } else {
            self.ended.push(entry);
            self.settle(now);
        }
        let space = if failed.is_some() { self.eifs } else { self.difs };
        self.gap = Some(Gap::opened(now, space));
    }

    fn end_unheard(&mut self, station: usize, now: Time) {
        if let Some(place) = self.unheard.iter().position(|(from, _)| *from == station) {
            let (_, started) = self.unheard.swap_remove(place);
            self.shares.unheard += self.clipped(started, now);
        }
    }

    /// How the time up to `end`, the end of the run, was used.
    #[must_use]
    pub fn finish(mut self, end: Time) -> Shares {
        for (_, started) in std::mem::take(&mut self.unheard) {
            self.shares.unheard += self.clipped(started, end);
        }
        if let Some(mut gap) = self.gap.take() {
            gap.count(end, self.contenders, self.begin);
            self.enter(&gap);
        }
        for entry in std::mem::take(&mut self.on_air) {
            let [split, acks, lost] = [entry.split, entry.acks, entry.lost].map(|at| at.min(end));
            self.ended.push(Entry { end: entry.end.min(end), split, acks, lost, ..entry });
        }
        self.settle(end);
        self.shares
    }

    #[inline]
    fn close(&mut self, mut gap: Gap, now: Time) {
        if now.since(gap.begin) < self.difs {
            self.add(AirClass::Interframe, gap.begin, now);
        } else {
            gap.count(now, self.contenders, self.begin);
            self.enter(&gap);
        }
        self.settled = now;
    }

    fn enter(&mut self, gap: &Gap) {
        self.shares.spans[AirClass::Interframe as usize] += gap.interframe;
        self.shares.spans[AirClass::Backoff as usize] += gap.backoff;
        self.shares.spans[AirClass::Idle as usize] += gap.idle;
    }

    /// Enters the time before `until`; every frame on the air in it has ended.
    fn settle(&mut self, until: Time) {
        if let [only] = self.ended[..]
            && only.begin >= self.settled
            && only.end <= until
        {
            self.add_alone(&only);
            self.ended.clear();
        } else if until > self.settled {
            self.settle_overlap(until);
        }
        self.settled = self.settled.max(until);
    }

    /// Enters a frame that overlaps with no other.
    #[inline]
    fn add_alone(&mut self, only: &Entry) {
        self.add(only.first, only.begin, only.split);
        self.add(only.second, only.split, only.acks);
        if only.acks < only.end {
            self.add(AirClass::TcpAckPayload, only.acks, only.lost);
            self.add(AirClass::Errored, only.lost, only.end);
        }
    }

    fn settle_overlap(&mut self, until: Time) {
        let mut cuts = std::mem::take(&mut self.cuts);
        cuts.extend(
            self.ended.iter().flat_map(|entry| [entry.begin, entry.split, entry.acks, entry.lost, entry.end]),
        );
        cuts.retain(|cut| (self.settled..until).contains(cut));
        cuts.extend([self.settled, until]);
        cuts.sort_unstable();
        cuts.dedup();
        for window in cuts.windows(2) {
            let (from, to) = (window[0], window[1]);
            let at = |entry: &Entry| {
                let on_air = entry.begin <= from && from < entry.end;
                on_air.then_some(entry.class_at(from))
            };
            let frames = self.ended.iter().filter_map(at).count() as u64;
            if let Some(class) = self.ended.iter().filter_map(at).min() {
                self.add(class, from, to);
                self.shares.overlapped += self.clipped(from, to) * (frames - 1);
            }
        }
        self.ended.retain(|entry| entry.end > until);
        cuts.clear();
        self.cuts = cuts;
    }

    #[inline]
    fn add(&mut self, class: AirClass, from: Time, to: Time) {
        self.shares.spans[class as usize] += self.clipped(from, to);
    }

    #[inline]
    fn clipped(&self, from: Time, to: Time) -> Span {
        to.since(from.max(self.begin))
    }
}

impl Gap {
    fn opened(begin: Time, space: Span) -> Gap {
        let none = Span::ZERO;
        Gap { begin, space_until: begin + space, counted: begin, interframe: none, backoff: none, idle: none }
    }

    /// Counts the gap up to `now`, during which this many stations had something to send; nothing before `begin`.
    fn count(&mut self, now: Time, contenders: u32, begin: Time) {
        let from = self.counted.max(begin);
        self.counted = now;
        if contenders == 0 {
            self.idle += now.since(from);
            return;
        }
        self.interframe += now.min(self.space_until).since(from);
        self.backoff += now.since(from.max(self.space_until));
    }
}

/// The classes of a frame's headers and of its payload.
fn classes(frame: &Frame) -> (AirClass, AirClass) {
    match frame.kind {
        FrameKind::Rts | FrameKind::MuRts | FrameKind::Cts => (AirClass::RtsCts, AirClass::RtsCts),
        FrameKind::Ack => (AirClass::MacAck, AirClass::MacAck),
        FrameKind::BlockAck | FrameKind::BlockAckReq | FrameKind::Trigger => {
            (AirClass::BlockAck, AirClass::BlockAck)
        }
        FrameKind::Null if frame.cf_ack && !frame.poll => (AirClass::MacAck, AirClass::MacAck),
        FrameKind::Null | FrameKind::Beacon | FrameKind::CfEnd => (AirClass::Headers, AirClass::Headers),
        FrameKind::Data => match frame.class {
            PayloadClass::TcpAck => (AirClass::Headers, AirClass::TcpAckPayload),
            PayloadClass::Data | PayloadClass::Other => (AirClass::Headers, AirClass::DataPayload),
        },
    }
}

#[cfg(test)]
mod tests;
