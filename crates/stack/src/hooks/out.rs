//! The actions of a transport endpoint: the trait [`Out`] and its data.

use super::congestion::{Jitter, Judgement, LossCause};
use crate::packet::Packet;
use crate::units::{Bytes, Span, Time};

/// A timer of a transport endpoint. Setting it again replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// Retransmission, or persist while the peer's window is closed.
    Retransmit,
    /// A delayed acknowledgement.
    DelayedAck,
    /// The next segment, where the law spaces them.
    Pace,
}

/// An event for a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Note {
    /// The event.
    pub event: NoteEvent,
    /// First byte of the segment it is about, from 0 for the first data byte.
    pub seq: u64,
    /// Its payload in bytes.
    pub len: u32,
    /// First byte not yet acknowledged.
    pub ack: u64,
    /// Congestion window with inflation, in segments.
    pub cwnd: f64,
    /// Slow-start threshold, in segments.
    pub ssthresh: f64,
}

/// The events of a TCP sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteEvent {
    /// A segment left for the first time.
    Send,
    /// A segment left again.
    Resend,
    /// An acknowledgement advanced.
    Ack,
    /// An acknowledgement advanced within recovery without ending it.
    Partial,
    /// A duplicate acknowledgement.
    DupAck,
    /// Recovery began.
    Enter,
    /// Recovery ended.
    Exit,
    /// The retransmission timer fired.
    Timeout,
    /// A probe of a closed window left.
    Probe,
    /// A reduction of the window was not needed; it was taken back, unless marks called for it.
    Undo,
    /// An acknowledgement reported marks, which were answered if they were the first in a window of data.
    Mark,
}

impl NoteEvent {
    /// All events, in the order of their codes.
    pub const NAMES: [&'static str; 11] =
        ["send", "resend", "ack", "partial", "dupack", "enter", "exit", "timeout", "probe", "undo", "mark"];
}

/// A loss, and its classification by a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Which law.
    pub judge: Judge,
    /// How the loss was detected.
    pub cause: LossCause,
    /// The classification.
    pub judgement: Judgement,
    /// First byte of the segment declared lost.
    pub una: u64,
    /// How often that segment had been sent.
    pub times: u8,
}

/// Which law judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judge {
    /// The one that governs the window.
    Law,
    /// One that only observes, by its place in the configuration.
    Watching(usize),
}

/// Whether what waits of a connection below it leaves room for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// It does.
    Now,
    /// It will at this time.
    At(Time),
    /// It will, and [`Timer::Pace`] fires then.
    Later,
}

/// Receives the answers of a transport endpoint. The host empties it and calls the next box.
pub trait Out {
    /// A packet goes to the layer below.
    fn down(&mut self, packet: Packet);

    /// Sends a packet to the layer below. `make` writes it into the room that the host has for it, and returns its
    /// size; the previous contents of the room have no meaning. A host that stores packets saves the copy.
    #[inline]
    fn down_made(&mut self, make: impl FnOnce(&mut Packet) -> Bytes) {
        let mut packet = Packet::NONE;
        make(&mut packet);
        self.down(packet);
    }

    /// Sets (or moves) a timer.
    fn set(&mut self, timer: Timer, at: Time);

    /// Cancels a timer, if it is set.
    fn cancel(&mut self, timer: Timer);

    /// Whether a segment may join what waits below, of which `limit` bytes, or two packets, may belong to the connection. Asked
    /// before each segment if there is such a bound. A host that does not record what waits always has room.
    fn room_below(&mut self, _limit: u64) -> Room {
        Room::Now
    }

    /// Whether notes are wanted; asked before one is made.
    fn is_watching(&self) -> bool {
        false
    }

    /// A note for the trace.
    fn note(&mut self, _: Note) {}

    /// A round trip was measured: the sample, the smoothed value, and the timeout in force.
    fn measured(&mut self, _rtt: Span, _srtt: Span, _rto: Span) {}

    /// The same of the handshake, which gives the timer its first sample: a round trip of a SYN, not of data.
    fn measured_handshake(&mut self, _rtt: Span, _srtt: Span, _rto: Span) {}

    /// A law has judged a loss.
    fn judged(&mut self, _: Judged) {}

    /// A law has a new jitter ratio; reported only while notes are wanted.
    fn jitter(&mut self, _: Judge, _: Jitter) {}
}
