//! One direction of a flow: source, reader and results.

use lasthop_stack::hooks::Judge;
use lasthop_stack::packet::{Flags, Segment};
use lasthop_stack::registry::tcp::{Connection, State};
use lasthop_stack::units::{Bytes, Rate, Span, Time};

use super::End;
use crate::engine::queue::Slot;
use crate::model::SinkConfig;
use crate::net::Net;
use crate::probe::judgement::Matrix;
use crate::traffic::Source;
use crate::traffic::{AppConfig, AppKind};

/// One direction of a flow: the source at one end and the reader at the other.
pub(super) struct Way {
    pub(super) source: Source,
    pub(super) reader: Reader,
    pub(super) started: Time,
    pub(super) stopped: bool,
    /// Bytes of the file that the source sends, if it sends one.
    pub(super) file: Option<u64>,
    /// When its last byte, or the end of any other stream, had come to the receiver in order.
    pub(super) completed: Option<Time>,
    /// When the sender had the acknowledgement of that.
    pub(super) acknowledged: Option<Time>,
    /// What each law that judges made of losses.
    pub(super) judged: Vec<(Judge, Matrix)>,
    /// Times the timer fired though nothing was lost.
    pub(super) spurious_timeouts: u64,
    /// Its source never ends, its reader reads at once, and no law judges its losses: nothing follows from what arrives.
    pub(super) is_endless: bool,
}

/// The application that reads what arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    pub(super) sink: Pace,
    pub(super) slot: Slot,
    pub(super) chunk: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Pace {
    /// Reads at once.
    AtOnce,
    /// Reads a chunk at a time at this rate, except for a pause.
    Slow { rate: Option<Rate>, pause: (Time, Time), waiting: bool },
}

/// The directions of a flow in which data goes.
pub(super) struct Ways {
    pub(super) forward: Way,
    pub(super) reverse: Option<Box<Way>>,
}

impl Way {
    pub(super) fn new(
        app: &AppConfig,
        source: Source,
        reader: Reader,
        started: Time,
        judged: Vec<(Judge, Matrix)>,
    ) -> Way {
        let file = match app.kind {
            AppKind::File { size } => Some(size.0),
            _ => None,
        };
        let is_endless =
            matches!(app.kind, AppKind::Bulk) && app.stop.is_none() && matches!(reader.sink, Pace::AtOnce);
        Way {
            source,
            reader,
            started,
            stopped: false,
            file,
            completed: None,
            acknowledged: None,
            is_endless: is_endless && judged.is_empty(),
            judged,
            spurious_timeouts: 0,
        }
    }

    /// The time from the start of the source to an event, if that has happened.
    pub(super) fn since_start(&self, event: Option<Time>) -> Option<Span> {
        event.map(|at| at.since(self.started))
    }

    /// Data may have been acknowledged at the sending end.
    #[inline]
    pub(super) fn on_acknowledgement(&mut self, end: &Connection, now: Time) {
        if self.acknowledged.is_none() {
            let sender = end.sender();
            let is_whole = self.file.map_or(sender.is_done(), |size| sender.board().una() >= size);
            self.acknowledged = is_whole.then_some(now);
        }
    }

    /// Data may have become readable at the receiving end, or the stream have ended.
    #[inline]
    pub(super) fn on_arrival(&mut self, end: &Connection, net: &mut Net) {
        let receiver = end.receiver();
        if self.completed.is_none() {
            let is_whole = self.file.map_or(receiver.finished(), |size| receiver.in_order() >= size);
            self.completed = is_whole.then_some(net.now);
        }
        if let Pace::Slow { waiting, .. } = &mut self.reader.sink
            && let readable @ 1.. = receiver.readable()
            && !*waiting
        {
            *waiting = true;
            let at = self.reader.next_read(net.now, readable);
            net.queue.set(self.reader.slot, at);
        }
    }
}

impl Pace {
    pub(super) fn of(sink: &SinkConfig) -> Pace {
        if sink.read_rate.is_none() && sink.pause_at.is_none() {
            return Pace::AtOnce;
        }
        let pause = sink.pause_at.map_or((Time::NEVER, Time::NEVER), |at| (at, at.after(sink.pause)));
        Pace::Slow { rate: sink.read_rate, pause, waiting: false }
    }
}

impl Reader {
    /// When the next chunk of `readable` bytes will have been read.
    pub(super) fn next_read(&self, now: Time, readable: u64) -> Time {
        let Pace::Slow { rate, pause, .. } = self.sink else {
            return now;
        };
        let taken = Bytes(readable.min(self.chunk));
        let at = now.after(rate.map_or(Span::ZERO, |rate| taken.time_at(rate)));
        if at >= pause.0 && now < pause.1 { at.max(pause.1) } else { at }
    }
}

/// Whether the retransmission timer of one side fires now although the segment that it declares lost was not. Then the
/// first unacknowledged segment is in transit, or its acknowledgement is, or the receiver delays that.
pub(super) fn is_spurious(sockets: &[Connection; 2], side: usize, ends: &[End; 2], net: &Net) -> bool {
    let (sending, receiving) = (&sockets[side], &sockets[1 - side]);
    let sender = sending.sender();
    if sending.state() != State::Established || sender.is_persisting() || sender.board().is_empty() {
        return false;
    }
    let una = sender.board().una();
    let first = sending.sequence_of(una);
    let covers = |segment: &Segment| {
        let before = first.distance_from(segment.seq);
        before >= 0 && before.cast_unsigned() < segment.sequence_len()
    };
    let acknowledges =
        |segment: &Segment| segment.flags.has(Flags::ACK) && segment.ack.distance_from(first) > 0;
    if receiving.receiver().next() > una && receiving.acknowledged() <= una {
        return true;
    }
    net.is_on_its_way(ends[1 - side].node, receiving.port(), covers)
        || net.is_on_its_way(ends[side].node, sending.port(), acknowledges)
}

impl Ways {
    /// The direction of this number: 0 is forward.
    #[inline]
    pub(super) fn of(&mut self, direction: usize) -> Option<&mut Way> {
        if direction == 0 { Some(&mut self.forward) } else { self.reverse.as_deref_mut() }
    }

    /// Counts how the laws of this direction's sender have just classified losses.
    #[inline]
    pub(super) fn count_judged(&mut self, direction: usize, ends: &[Connection; 2], net: &mut Net) {
        if !net.judged.is_empty() {
            self.count_all_judged(direction, ends, net);
        }
    }

    #[cold]
    fn count_all_judged(&mut self, direction: usize, ends: &[Connection; 2], net: &mut Net) {
        let (sending, receiving) = (&ends[direction], &ends[1 - direction]);
        for judged in net.judged.drain(..) {
            let Some(way) = self.of(direction) else { continue };
            let una = sending.sequence_of(judged.una);
            let lost = net.losses.culprit(receiving.port(), una, judged.times, net.now);
            let lost = lost.filter(|_| !receiving.receiver().has(judged.una));
            if let Some((_, matrix)) = way.judged.iter_mut().find(|(judge, _)| *judge == judged.judge) {
                matrix.count(&judged, lost);
            }
        }
    }
}
