//! A law of the registry on the events that the same law in a Linux kernel recorded.
//!
//! Each event of `python/lasthop/kernel/laws/law.h` has what the kernel's law received, and its window before and after. The law here
//! gets the same event and the window before, and is to leave the window after, and the same classification of a loss.
//! Windows are whole numbers, as in Linux.

use std::collections::BTreeMap;

use lasthop_stack::hooks::{
    Ack, Congestion, Delivered, Echo, EcnEcho, Judgement, Loss, LossBase, LossCause, Mark, Progress,
    Reduction, Sending, Window,
};
use lasthop_stack::registry::{CongestionMachine, LawConfig, Start};
use lasthop_stack::units::{Span, Time};

/// Bytes of an event.
const EVENT: usize = 80;
const STAMPED: u32 = 1;
const OPEN: u32 = 2;
const MICROSECONDS: u32 = 4;
const RECOVERING: u32 = 8;
/// The offset of the first timestamp of a connection, so that earlier ones can follow.
const FIRST_STAMP: u64 = 1 << 32;

/// The window of a law: size, credit and threshold, in segments.
pub type Whole = [u32; 3];

/// The first event of a connection that the two laws answered differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its place among all events, from 1.
    pub place: u64,
    /// The connection.
    pub connection: u64,
    /// The event as text.
    pub event: String,
    /// The window after it in the kernel and here.
    pub windows: [Whole; 2],
    /// The classification of the loss in the kernel and here.
    pub judgements: [Option<Judgement>; 2],
}

/// The outcome of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Acknowledgements.
    pub acks: u64,
    /// Losses and marks.
    pub losses: u64,
    /// Connections.
    pub connections: u64,
    /// Events that were not recorded.
    pub missed: u64,
    /// Events that were answered differently.
    pub differences: u64,
    /// The first of them.
    pub first: Option<Difference>,
}

#[derive(Debug)]
struct Connection {
    law: CongestionMachine,
    recorded: u32,
    /// The last timestamps without wrapping, in ticks: of the sender and of the receiver.
    stamps: [u64; 2],
}

/// Gives the events to the law.
#[must_use]
pub fn replay(config: &LawConfig, events: &[u8]) -> Replayed {
    let mut found = Replayed::default();
    let mut connections: BTreeMap<u64, Connection> = BTreeMap::new();
    for (place, raw) in (1..).zip(events.chunks_exact(EVENT)) {
        let event = Event(raw);
        let connection = connections.entry(event.connection()).or_insert_with(|| Connection {
            law: config.build(Start { segment: 1, draw: 0 }),
            recorded: 0,
            stamps: [FIRST_STAMP; 2],
        });
        found.missed += u64::from(event.number().wrapping_sub(connection.recorded.wrapping_add(1)));
        connection.recorded = event.number();
        match event.kind() {
            Kind::Ack => found.acks += 1,
            Kind::Loss(_) | Kind::Mark => found.losses += 1,
            Kind::Start | Kind::Undo => {}
        }
        let (window, judgement) = connection.answer(event);
        let ours = [window.cwnd as u32, window.credit.unwrap_or(0), window.ssthresh as u32];
        if (ours, judgement) != (event.after(), event.judgement()) && event.kind() != Kind::Undo {
            found.differences += 1;
            found.first.get_or_insert_with(|| Difference {
                place,
                connection: event.connection(),
                event: event.text(),
                windows: [event.after(), ours],
                judgements: [event.judgement(), judgement],
            });
        }
    }
    found.connections = connections.len() as u64;
    found
}

impl Connection {
    /// What the law makes of an event.
    fn answer(&mut self, event: Event<'_>) -> (Window, Option<Judgement>) {
        let mut window = event.window();
        let mut judgement = None;
        match event.kind() {
            Kind::Start => self.law.on_start(event.now(), None, &mut window),
            Kind::Ack => {
                let extension = event.echo(&mut self.stamps);
                self.law.on_ack(&event.ack(extension), &mut window);
            }
            Kind::Loss(cause) => {
                let answer = self.law.on_loss(&event.loss(cause), &mut window);
                judgement = answer.judgement;
                if answer.reduction == Reduction::Reduced {
                    window.round();
                }
            }
            Kind::Mark => {
                self.law.on_mark(&event.mark(), &mut window);
                window.round();
            }
            Kind::Undo => self.law.on_undo(&mut window),
        }
        window.clamp();
        (window, judgement)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Start,
    Ack,
    Loss(LossCause),
    Mark,
    Undo,
}

/// The bytes of an event.
#[derive(Clone, Copy, Debug)]
struct Event<'a>(&'a [u8]);

impl Event<'_> {
    fn word(self, at: usize) -> u32 {
        u32::from_le_bytes(self.0[at..at + 4].try_into().expect("four bytes"))
    }

    fn long(self, at: usize) -> u64 {
        u64::from(self.word(at)) | u64::from(self.word(at + 4)) << 32
    }

    fn now(self) -> Time {
        Time(self.long(0))
    }

    fn connection(self) -> u64 {
        self.long(8)
    }

    fn kind(self) -> Kind {
        match self.word(16) {
            0 => Kind::Start,
            1 => Kind::Ack,
            2 => Kind::Loss(LossCause::Duplicates),
            3 => Kind::Loss(LossCause::Timeout),
            4 => Kind::Loss(LossCause::RepeatedTimeout),
            5 => Kind::Mark,
            _ => Kind::Undo,
        }
    }

    fn has(self, flag: u32) -> bool {
        self.word(20) & flag != 0
    }

    fn acked(self) -> u32 {
        self.word(24)
    }

    fn rtt(self) -> Option<Span> {
        u64::try_from(self.word(28).cast_signed()).ok().map(Span::from_micros)
    }

    fn srtt(self) -> Option<Span> {
        Some(self.word(40)).filter(|srtt| *srtt > 0).map(|srtt| Span::from_micros(u64::from(srtt)))
    }

    fn after(self) -> Whole {
        [60, 64, 68].map(|at| self.word(at))
    }

    fn judgement(self) -> Option<Judgement> {
        match self.word(72) {
            0 => Some(Judgement::Random),
            1 => Some(Judgement::Congestion),
            _ => None,
        }
    }

    fn number(self) -> u32 {
        self.word(76)
    }

    fn window(self) -> Window {
        let [cwnd, credit, ssthresh] = [48, 52, 56].map(|at| self.word(at));
        let limit = f64::from(self.word(44));
        let window = Window::new(f64::from(cwnd), Some(f64::from(ssthresh)), limit);
        Window { credit: Some(credit), ..window }
    }

    /// The timestamps as the extension that the law reads: departure and arrival.
    fn echo(self, last: &mut [u64; 2]) -> Option<Echo> {
        if !self.has(STAMPED) || self.acked() == 0 {
            return None;
        }
        let tick = if self.has(MICROSECONDS) { 1_000 } else { 1_000_000 };
        let [sent, received] = [(0, 36), (1, 32)].map(|(which, at)| {
            let step = self.word(at).wrapping_sub(last[which] as u32).cast_signed();
            last[which] = last[which].wrapping_add_signed(i64::from(step));
            Time(last[which] * tick)
        });
        // Each copy of a segment has a time of its own.
        Some(Echo { sent, received, trigger: 0, sending: Sending::Single, modulation: None })
    }

    fn ack(self, extension: Option<Echo>) -> Ack {
        let acked = self.acked();
        let progress = match acked {
            0 => Progress::Duplicate,
            _ if self.has(OPEN) => Progress::Open(acked),
            _ if self.has(RECOVERING) => Progress::Recovering(acked),
            _ => Progress::Unlimited(acked),
        };
        Ack {
            now: self.now(),
            progress,
            rtt: self.rtt(),
            newest_sent: extension.map(|echo| echo.sent),
            srtt: self.srtt(),
            una: 0,
            sent_end: 0,
            flight: 0,
            pipe: 0,
            delivered: Delivered::default(),
            counted: acked,
            extension,
            ecn: EcnEcho::Unmarked,
        }
    }

    fn mark(self) -> Mark {
        let base = LossBase::Window(self.window().cwnd);
        Mark { now: self.now(), base, least: 1.0, una: 0, pipe: 0, sent: 0, sent_end: 0, srtt: self.srtt() }
    }

    fn loss(self, cause: LossCause) -> Loss {
        Loss { cause, ..self.mark().as_loss() }
    }

    fn text(self) -> String {
        match self.kind() {
            Kind::Ack => format!("{:?}", self.ack(None).progress),
            other => format!("{other:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_stack::registry::CongestionKind;

    /// An event with these words after its time and connection.
    fn event(ms: u64, words: &[u32]) -> Vec<u8> {
        let mut bytes = [ms * 1_000_000, 0].map(u64::to_le_bytes).concat();
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes
    }

    const UNJUDGED: u32 = 2;

    /// An acknowledgement of a segment that was sent and received at these times in ms, under a window of 20 segments.
    fn ack(number: u32, sent: u32, received: u32, credit: [u32; 2]) -> Vec<u8> {
        let [before, after] = credit;
        let head = [1, 3, 1, 50_000, received, sent, 50_000, 1000];
        let words = [&head[..], &[20, before, 10, 20, after, 10, UNJUDGED, number]].concat();
        event(u64::from(received), &words)
    }

    fn loss(number: u32, after: [u32; 3], judgement: u32) -> Vec<u8> {
        let head = [2, 0, 0, u32::MAX, 0, 0, 50_000, 1000, 20, 9, 10];
        event(900, &[&head[..], &after, &[judgement, number]].concat())
    }

    /// Nine segments that were sent 10 ms apart and received `apart` ms apart, and a loss.
    fn recorded(apart: u32, after: [u32; 3], judgement: u32) -> Vec<u8> {
        let acks = (0..9).flat_map(|n| ack(n + 1, 10 * n, 50 + apart * n, [n, n + 1]));
        acks.chain(loss(10, after, judgement)).collect()
    }

    fn jtcp(events: &[u8]) -> Replayed {
        replay(&CongestionKind::Jtcp.config(), events)
    }

    #[test]
    fn the_law_answers_recorded_events_as_the_kernel_did() {
        let same = Replayed { acks: 9, losses: 1, connections: 1, ..Replayed::default() };
        assert_eq!(jtcp(&recorded(12, [10, 0, 10], 1)), same);
        assert_eq!(jtcp(&recorded(10, [20, 9, 10], 0)), same);
    }

    #[test]
    fn the_first_other_decision_is_reported_with_both() {
        let found = jtcp(&recorded(12, [20, 9, 10], 0));
        let first = found.first.expect("a difference");
        assert_eq!((found.differences, first.place), (1, 10));
        assert_eq!(first.windows, [[20, 9, 10], [10, 0, 10]]);
        assert_eq!(first.judgements, [Some(Judgement::Random), Some(Judgement::Congestion)]);
    }

    #[test]
    fn timestamps_may_wrap_and_events_may_be_missing() {
        let whole = recorded(12, [10, 0, 10], 1);
        let mut wrapping = whole.clone();
        for event in wrapping.chunks_exact_mut(EVENT).take(9) {
            for at in [32, 36] {
                let word = u32::from_le_bytes(event[at..at + 4].try_into().expect("four bytes"));
                event[at..at + 4].copy_from_slice(&word.wrapping_sub(60).to_le_bytes());
            }
        }
        assert_eq!(jtcp(&wrapping), jtcp(&whole));
        assert_eq!(jtcp(&whole[EVENT..]).missed, 1);
    }
}
