//! The estimated state of one sender.

use std::collections::VecDeque;

use super::Config;
use crate::estimate::Smoothed;
use crate::hooks::Timing;
use crate::hooks::scoreboard::DUP_THRESH;
use crate::packet::{Flags, Segment};
use crate::transport::tcp::rtt::RttEstimator;
use crate::units::{SeqNo, Span, Time};

/// Maximum number of segments with timestamps that are remembered; further ones measure nothing.
const MOST_PASSAGES: usize = 64;
/// Without timestamps, no acknowledgement is timed within this number of wired round trips after the previous one.
const QUIET: u64 = 2;

/// A segment that has passed; its acknowledgement measures the wireless part.
#[derive(Clone, Copy, Debug)]
struct Passage {
    end: SeqNo,
    at: Time,
    /// Its timestamp, which its acknowledgement echoes.
    stamp: Option<u32>,
}

/// A packet that has passed upwards and is answered at once; the answer measures the wired part.
#[derive(Clone, Copy, Debug)]
struct Question {
    at: Time,
    answer: Answer,
}

/// What counts as the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// Any packet: a SYN is answered by its acknowledgement.
    Anything,
    /// The next data.
    Data,
    /// The repair of the loss that three duplicates report.
    Repair,
    /// Data that echoes this timestamp.
    Stamped(u32),
}

/// The sender of the data that passes in one direction.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    pub(super) last_packet: Time,
    /// The initial sequence numbers of its connection, its own and that of the other direction, from the SYNs.
    syns: [Option<SeqNo>; 2],
    /// Whether any of its sequence numbers was seen.
    begun: bool,
    /// First byte not acknowledged.
    una: SeqNo,
    /// First byte that has not passed.
    end: SeqNo,
    passages: VecDeque<Passage>,
    question: Option<Question>,
    wired: Smoothed,
    /// The last wired sample, until it enters a round-trip sample.
    wired_sample: Option<Span>,
    /// The last wireless sample, until the first wired sample.
    wireless_sample: Option<Span>,
    rtt: RttEstimator,
    restart: bool,
    /// When its timer started, at the sender.
    started: Time,
    /// Duplicate acknowledgements since the last advance.
    duplicates: u32,
    /// Where the repair of a loss ends.
    recovery: Option<SeqNo>,
    /// Whether its first unacknowledged segment has passed again since the last advance.
    repeated: bool,
    /// When data last passed, and when an acknowledgement last passed that may have released data.
    passed: Time,
    released: Option<Time>,
    /// Timestamp and window of the last acknowledgement.
    stamp: Option<u32>,
    window: u16,
    fin: Option<SeqNo>,
    over: bool,
}

impl Sender {
    /// A sender of which nothing has been seen.
    pub(super) fn new(config: &Config) -> Sender {
        Sender {
            last_packet: Time::ZERO,
            syns: [None; 2],
            begun: false,
            una: SeqNo(0),
            end: SeqNo(0),
            passages: VecDeque::with_capacity(MOST_PASSAGES),
            question: None,
            wired: Smoothed::default(),
            wired_sample: None,
            wireless_sample: None,
            rtt: RttEstimator::within(config.rto),
            restart: config.restart,
            started: Time::ZERO,
            duplicates: 0,
            recovery: None,
            repeated: false,
            passed: Time::ZERO,
            released: None,
            stamp: None,
            window: 0,
            fin: None,
            over: false,
        }
    }

    /// The timing as known now.
    pub(super) fn timing(&self) -> Timing {
        let rto = self.rtt.rto();
        let runs = self.begun && self.end != self.una;
        let fires_at = if runs { self.started.after(rto) } else { Time::NEVER };
        Timing { rtt: self.rtt.srtt().unwrap_or_default(), rto, fires_at }
    }

    /// Whether all of its data, including its FIN, was acknowledged.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Whether a SYN from one side (0 is the sender's own) belongs to another connection on the same ports.
    pub(super) fn is_other(&self, side: usize, segment: &Segment) -> bool {
        segment.flags.has(Flags::SYN) && self.syns[side].is_some_and(|seq| seq != segment.seq)
    }

    /// A segment of the sender passes.
    pub(super) fn on_down(&mut self, segment: &Segment, now: Time) {
        let len = segment.sequence_len();
        if len == 0 {
            if self.question.is_some_and(|question| question.answer == Answer::Anything) {
                self.answered(now);
            }
            return;
        }
        if !self.begun {
            (self.begun, self.una, self.end) = (true, segment.seq, segment.seq);
        }
        if segment.flags.has(Flags::SYN) {
            self.syns[0] = Some(segment.seq);
        }
        let end = segment.seq.plus(len);
        if segment.flags.has(Flags::FIN) {
            self.fin = Some(end);
        }
        let sent = Time(now.0.saturating_sub(self.half_wired().0));
        let stamps = segment.options.timestamps;
        let echo = stamps.map(|stamps| stamps.echo);
        let again = segment.seq.distance_from(self.end) < 0;
        if again {
            self.on_repeat(segment.seq, echo, sent, now);
            self.passages.clear();
        } else {
            self.on_new(echo, sent, now);
            self.end = end;
        }
        self.passed = now;
        let room = if stamps.is_some() { MOST_PASSAGES } else { usize::from(!again) };
        if self.passages.len() < room {
            self.passages.push_back(Passage { end, at: now, stamp: stamps.map(|stamps| stamps.value) });
        }
    }

    /// A segment that has not passed before was sent.
    fn on_new(&mut self, echo: Option<u32>, sent: Time, now: Time) {
        if self.question.is_some_and(|question| question.answer != Answer::Repair) {
            self.on_answer(echo, now);
        }
        if !self.restart {
            self.started = sent;
        } else if self.end == self.una {
            self.started = self.started.max(sent);
        }
    }

    /// A segment was sent that has passed before, or that precedes one that has passed.
    fn on_repeat(&mut self, seq: SeqNo, echo: Option<u32>, sent: Time, now: Time) {
        let first = seq.distance_from(self.una) <= 0;
        if first || !self.restart {
            self.started = sent;
        }
        if !first {
            return;
        }
        let told = !self.repeated && (self.duplicates >= DUP_THRESH || self.recovery.is_some());
        if told {
            self.on_answer(echo, now);
        } else {
            self.question = None;
            self.rtt.back_off();
        }
        self.recovery = self.recovery.filter(|_| told).or(Some(self.end));
        self.repeated = true;
    }

    /// A packet of the client passes. Returns whether it acknowledges new data.
    pub(super) fn on_up(&mut self, segment: &Segment, now: Time) -> bool {
        let opens = segment.flags.has(Flags::SYN);
        // A SYN is answered at once. If it is repeated, it is unknown which copy is answered.
        let asks = opens && self.syns[1].is_none();
        if opens {
            self.question = None;
            self.syns[1] = Some(segment.seq);
        }
        if !segment.flags.has(Flags::ACK) || !self.begun {
            self.question = self.question.or(asks.then_some(Question { at: now, answer: Answer::Anything }));
            return false;
        }
        let stamp = segment.options.timestamps.map(|stamps| stamps.value);
        let (stamp_before, window_before) = (self.stamp, self.window);
        (self.stamp, self.window) = (stamp, segment.window);
        if segment.ack.distance_from(self.una) > 0 {
            self.on_advance(segment, now);
            if asks {
                self.question = Some(Question { at: now, answer: Answer::Anything });
            } else if self.question.is_none() && self.releases(stamp, stamp_before, now) {
                self.ask(stamp, Answer::Data, now);
            }
            self.released = Some(now);
            return true;
        }
        let same = segment.window == window_before || !segment.options.sack.is_empty();
        if same && segment.ack == self.una && segment.sequence_len() == 0 && self.una != self.end {
            self.duplicates += 1;
            if self.duplicates == DUP_THRESH {
                self.ask(stamp, Answer::Repair, now);
            }
        }
        false
    }

    /// Whether the data that an advance releases can be distinguished from data released before.
    fn releases(&self, stamp: Option<u32>, before: Option<u32>, now: Time) -> bool {
        if self.una == self.end {
            return false;
        }
        if stamp.is_some() {
            return stamp != before;
        }
        let wired = self.wired.mean().unwrap_or_default();
        let quiet = self.released.is_none_or(|last| now.since(last) >= wired * QUIET);
        quiet && now.since(self.passed) >= self.half_wired()
    }

    /// The segment acknowledges new data.
    fn on_advance(&mut self, segment: &Segment, now: Time) {
        self.una = segment.ack;
        if self.end.distance_from(self.una) < 0 {
            self.end = self.una;
        }
        let echo = segment.options.timestamps.map(|stamp| stamp.echo);
        let mut wireless = None;
        while let Some(passage) = self.passages.front().filter(|p| p.end.distance_from(self.una) <= 0) {
            if wireless.is_none() && (passage.stamp.is_none() || passage.stamp == echo) {
                wireless = Some(now.since(passage.at));
            }
            self.passages.pop_front();
        }
        if let Some(wireless) = wireless {
            self.on_wireless(wireless);
        }
        if self.restart {
            self.started = now.after(self.half_wired());
        }
        (self.duplicates, self.repeated) = (0, false);
        self.recovery = self.recovery.filter(|end| end.distance_from(self.una) > 0);
        self.over = self.fin.is_some_and(|fin| fin.distance_from(self.una) <= 0);
    }

    /// Times an acknowledgement: the answer is data with its timestamp or, without timestamps, `unstamped`.
    fn ask(&mut self, stamp: Option<u32>, unstamped: Answer, now: Time) {
        let answer = stamp.map_or(unstamped, Answer::Stamped);
        self.question = Some(Question { at: now, answer });
    }

    /// Data passes that an acknowledgement may have released; `echo` is the timestamp that the data echoes.
    fn on_answer(&mut self, echo: Option<u32>, now: Time) {
        let Some(Question { answer, .. }) = self.question else { return };
        match (answer, echo) {
            (Answer::Anything | Answer::Data | Answer::Repair, _) => self.answered(now),
            (Answer::Stamped(asked), Some(echo)) if echo == asked => self.answered(now),
            // An earlier acknowledgement released it.
            (Answer::Stamped(asked), Some(echo)) if echo.wrapping_sub(asked).cast_signed() < 0 => {}
            // The timed acknowledgement has released nothing.
            (Answer::Stamped(_), _) => self.question = None,
        }
    }

    /// The answer has come: a sample of the wired part, unless it is so long that the sender waited for something else.
    fn answered(&mut self, now: Time) {
        let Some(question) = self.question.take() else { return };
        let wired = now.since(question.at);
        if wired > self.rtt.rto() {
            return;
        }
        self.wired.take(wired);
        self.wired_sample = Some(wired);
        if let Some(wireless) = self.wireless_sample.take() {
            self.on_wireless(wireless);
        }
    }

    /// A sample of the wireless part completes a round-trip sample, if there is a wired one.
    fn on_wireless(&mut self, wireless: Span) {
        match self.wired_sample.take().or(self.wired.mean()) {
            Some(wired) => self.rtt.sample(wireless + wired),
            None => self.wireless_sample = Some(wireless),
        }
    }

    fn half_wired(&self) -> Span {
        Span(self.wired.mean().unwrap_or_default().0 / 2)
    }
}
