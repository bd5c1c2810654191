//! Congestion control: the events that a law receives, its answers, and the trait [`Congestion`].

use super::Count;
use super::parameter::{Domain, Exception, Spec, Words, words};
use super::scoreboard::{Delivered, Scoreboard};
use super::window::Window;
use crate::packet::{Ecn, Form, Modulation};
use crate::units::{Span, Time};

/// The effect of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It advanced by this many segments, outside recovery, while the window was the limit: the window may grow.
    Open(u32),
    /// It advanced by this many segments while something other than the window limited the sender, or it echoes a mark
    /// (RFC 3168, 6.1.2: the window does not grow then).
    Unlimited(u32),
    /// It advanced by this many segments during recovery.
    Recovering(u32),
    /// It did not advance.
    Duplicate,
}

/// An acknowledgement as a congestion law sees it.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// Its effect.
    pub progress: Progress,
    /// The round trip of the newest segment that it newly reports selectively, of those that were sent once (Linux:
    /// `last_sackt`). Else of the newest one it acknowledged, if every segment it acknowledged was sent only once: the
    /// acknowledgement of a repaired hole has waited for the repair, not in queues. It is exact whatever clock the
    /// retransmission timer reads, because a law may record the time of each segment as Vegas does.
    pub rtt: Option<Span>,
    /// When the newest segment it acknowledged was last sent, even if sent more than once.
    pub newest_sent: Option<Time>,
    /// Smoothed round trip, once known.
    pub srtt: Option<Span>,
    /// First byte not yet acknowledged, after this acknowledgement.
    pub una: u64,
    /// First byte never sent.
    pub sent_end: u64,
    /// Segments outstanding before this acknowledgement.
    pub flight: u32,
    /// Segments estimated to be in the network, after this acknowledgement (RFC 6675, `pipe`).
    pub pipe: u32,
    /// The segments that it newly reports as delivered, cumulatively or selectively.
    pub delivered: Delivered,
    /// The segments that it counts for where the window grows by [`Progress::Open`]: one, or those acknowledged (RFC 3465).
    pub counted: u32,
    /// The content of its header extension, if the law requested one.
    pub extension: Option<Echo>,
    /// Its report of marks.
    pub ecn: EcnEcho,
}

/// The report of an acknowledgement about the marks of queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnEcho {
    /// None, or ECN is not in use.
    #[default]
    Unmarked,
    /// Data was marked, and the receiver does not know yet that the sender has reduced its window (RFC 3168, 6.1.3).
    Marked,
    /// The number of marked packets that arrived since the last acknowledgement (RFC 9768, 3.2.2).
    Counted(u32),
}

/// The content of the header extension of an acknowledgement, in stream offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// When the segment that triggered it was sent, by the data sender's clock.
    pub sent: Time,
    /// When that segment was received, by the receiver's clock.
    pub received: Time,
    /// First byte of that segment.
    pub trigger: u64,
    /// How often that segment had been sent.
    pub sending: Sending,
    /// The modulation of the 802.16 link on the way.
    pub modulation: Option<Modulation>,
}

/// How often a segment had been sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// Once.
    Single,
    /// More than once; any of its copies may have triggered the acknowledgement.
    Repeated,
}

/// A segment that has just been sent.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// When it was sent.
    pub now: Time,
    /// Its number: segments are counted from 0, and a retransmission keeps the number.
    pub number: u64,
    /// Number of the first segment outstanding.
    pub base: u64,
    /// Segments in the network before it was sent.
    pub pipe: u32,
    /// Bytes outstanding, including its own.
    pub outstanding: u64,
    /// Bytes that wait to be sent after it; none if they do not fill a segment.
    pub backlog: u64,
}

/// How a loss was detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossCause {
    /// By duplicate or selective acknowledgements, or by the law itself ([`Congestion::is_overdue`]).
    Duplicates,
    /// By the first timeout of the retransmission timer for this segment.
    Timeout,
    /// By a further timeout, after the timer has already resent the segment.
    RepeatedTimeout,
}

/// A loss indication.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When it was detected.
    pub now: Time,
    /// How it was detected.
    pub cause: LossCause,
    /// First byte of the segment declared lost.
    pub una: u64,
    /// The base of the law's reduction.
    pub base: LossBase,
    /// The least window that it may leave, in segments: that of the base after a loss, the endpoint's choice after a mark.
    pub least: f64,
    /// Segments estimated to be in the network (RFC 6675, `pipe`).
    pub pipe: u32,
    /// Distinct segments sent so far.
    pub sent: u64,
    /// First byte never sent.
    pub sent_end: u64,
    /// When the segment declared lost was last sent.
    pub sent_at: Time,
    /// How often it was sent.
    pub times: u8,
    /// Smoothed round trip, once known.
    pub srtt: Option<Span>,
}

/// The first echo of a mark in a window of data: a queue on the path reports congestion, and nothing is lost.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// When it arrived.
    pub now: Time,
    /// The base of the window after it.
    pub base: LossBase,
    /// The least window that it may leave, in segments: one (RFC 3168, 6.1.2), or two as in Linux.
    pub least: f64,
    /// First byte not yet acknowledged.
    pub una: u64,
    /// Estimated number of segments in the network (RFC 6675, `pipe`).
    pub pipe: u32,
    /// Distinct segments sent so far.
    pub sent: u64,
    /// First byte never sent.
    pub sent_end: u64,
    /// Smoothed round trip, once known.
    pub srtt: Option<Span>,
}

impl Mark {
    /// A loss detected by duplicates in its place, for laws that answer both alike (RFC 3168, 6.1.2).
    #[must_use]
    pub fn as_loss(&self) -> Loss {
        let Mark { now, base, least, una, pipe, sent, sent_end, srtt } = *self;
        let cause = LossCause::Duplicates;
        Loss { now, cause, una, base, least, pipe, sent, sent_end, sent_at: now, times: 1, srtt }
    }
}

/// The base of the window after a loss, in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossBase {
    /// The data outstanding (RFC 5681's `FlightSize`).
    Flight(u32),
    /// The congestion window before the loss, as in ns-2.
    Window(f64),
}

impl LossBase {
    /// The number of segments.
    #[must_use]
    pub fn segments(self) -> f64 {
        match self {
            LossBase::Flight(segments) => f64::from(segments),
            LossBase::Window(segments) => segments,
        }
    }

    /// Minimum window after duplicates: ssthresh, which is two segments (RFC 5681, 3.2), or one.
    #[must_use]
    pub fn least_window(self) -> f64 {
        match self {
            LossBase::Flight(_) => 2.0 * Window::LEAST,
            LossBase::Window(_) => Window::LEAST,
        }
    }
}

/// Whether a law treated a loss as congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// It was congestion: the law has reduced the window.
    Reduced,
    /// It was not: the window is unchanged.
    Kept,
}

/// A law's classification of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// A queue was full.
    Congestion,
    /// The channel lost the segment.
    Random,
}

/// A law's answer to a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossResponse {
    /// Whether it reduced the window.
    pub reduction: Reduction,
    /// How many copies of the lost segment to send.
    pub copies: u8,
    /// The classification of the loss, if the law makes one.
    pub judgement: Option<Judgement>,
}

impl LossResponse {
    /// The answer of a law that does not classify losses.
    pub const REDUCED: LossResponse =
        LossResponse { reduction: Reduction::Reduced, copies: 1, judgement: None };

    /// The answer to a loss of a congestion that was answered before.
    pub const ANSWERED: LossResponse =
        LossResponse { reduction: Reduction::Kept, copies: 1, judgement: None };

    /// The answer to a loss that the network has announced as not caused by congestion: the law is not asked.
    pub const ANNOUNCED: LossResponse =
        LossResponse { reduction: Reduction::Kept, copies: 1, judgement: None };
}

/// The jitter ratio of a law, and the threshold for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter {
    /// Share of the receiving interval by which it exceeds the sending interval.
    pub ratio: f64,
    /// A ratio above it indicates congestion.
    pub threshold: f64,
}

impl Form {
    /// The parameter through which a law offers the choice of form.
    pub(crate) const PARAMETER: Spec = Spec::new(
        "header",
        Domain::Words("form", words::<Form>),
        "timestamps as a TCP option of 20 bytes in whole microseconds, or exact timestamps charged as 2 bytes, as in the paper, or those of tcp.timestamps, as the laws for Linux: of the first segment acknowledged, and of the acknowledgement",
    )
    .source("RFC 6994");

    /// The exception of a law that selects this form in its parameter `header`.
    #[must_use]
    pub fn exception(self) -> Option<Exception> {
        (self == Form::Paper).then_some(Exception {
            parameter: "header",
            label: "exact timestamps in two bytes",
            meaning: "exact timestamps in two bytes; an exception: a real header could not hold them, and captures cannot show them",
        })
    }
}

/// The forms of the extension that a law may choose from.
impl Words for Form {
    const WORDS: &'static [(&'static str, Form)] =
        &[("option", Form::Option), ("paper", Form::Paper), ("timestamps", Form::Timestamps)];
}

/// The exits from slow start before a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowStart {
    /// Nothing (RFC 5681, 3.1).
    Standard,
    /// A train of acknowledgements as long as half of the least round trip, or longer round trips: `HyStart` of Linux's CUBIC.
    HyStart,
    /// Longer round trips, after some rounds of slower growth: `HyStart++` (RFC 9406).
    HyStartPlusPlus,
}

words! { SlowStart: Standard = "standard", HyStart = "hystart", HyStartPlusPlus = "hystart++" }

/// A congestion control law.
pub trait Congestion {
    /// An acknowledgement arrived. Only [`Progress::Open`] lets the window grow.
    fn on_ack(&mut self, ack: &Ack, window: &mut Window);

    /// How the window grows by what an acknowledgement [counts](Ack::counted) for at [`Progress::Open`], if the law
    /// reads nothing else of any acknowledgement, no departure and no restart. None of these need then be reported.
    fn growth(&self) -> Option<fn(&mut Window, u32)> {
        None
    }

    /// A segment is declared lost. The law sets `window` to the values that apply after recovery.
    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse;

    /// The receiver echoes a mark, the first in this window of data. By default the window falls as at a loss detected by
    /// duplicates (RFC 3168, 6.1.2), and nothing is retransmitted.
    fn on_mark(&mut self, mark: &Mark, window: &mut Window) -> Reduction {
        self.on_loss(&mark.as_loss(), window).reduction
    }

    /// Duplicates declare a segment lost in a window of data in which a mark was answered: it is the same congestion, for
    /// which the window falls once (RFC 3168, 6.1.2).
    fn on_answered_loss(&mut self, _: &Loss, _: &mut Window) -> LossResponse {
        LossResponse::ANSWERED
    }

    /// Of the exits from slow start that the endpoint requests, those that apply to this law: none by default.
    fn slow_start(&self, _asked: SlowStart) -> SlowStart {
        SlowStart::Standard
    }

    /// The last reduction proved not to be needed, and the sender has restored the window.
    fn on_undo(&mut self, _: &mut Window) {}

    /// Whether the law sets a pace itself ([`Window::pacing`]).
    fn paces(&self) -> bool {
        false
    }

    /// The connection is established, with a round trip of the handshake if it measured one, or starts over.
    fn on_start(&mut self, _now: Time, _srtt: Option<Span>, _window: &mut Window) {}

    /// A segment is about to be sent, and none is in the network.
    fn on_restart(&mut self, _now: Time, _window: &mut Window) {}

    /// Whether the law requests [`Congestion::on_lost`].
    fn hears_losses(&self) -> bool {
        false
    }

    /// The segment of this number, or its last copy, is declared lost. All that one acknowledgement or timer declares are
    /// reported one by one, in the order in which they are declared, before the acknowledgement is, and before any is sent again.
    /// Those of a timeout, and the first of a recovery that goes by duplicates, follow [`Congestion::on_loss`].
    fn on_lost(&mut self, _number: u64, _now: Time, _window: &Window) {}

    /// The ECN field of data, where both ends count marks (RFC 9768): ECT(1) for an answer that L4S queues expect (RFC 9331, 4).
    fn codepoint(&self) -> Ecn {
        Ecn::Ect0
    }

    /// A segment was sent.
    fn on_sent(&mut self, _: &Departure) {}

    /// Whether the law sets its window within a recovery and after an idle time itself; the sender then leaves it alone.
    fn governs_recovery(&self) -> bool {
        false
    }

    /// Whether to declare the first unacknowledged segment lost at this acknowledgement, before duplicates indicate it.
    /// Called after [`Congestion::on_ack`] at each duplicate, and at each advance outside recovery, if any is outstanding.
    fn is_overdue(&self, _ack: &Ack, _board: &Scoreboard) -> bool {
        false
    }

    /// The form of the [`Extension`](crate::packet::Extension) that each segment carries, if any.
    fn extension(&self) -> Option<Form> {
        None
    }

    /// Whether [`Ack::extension`] is to have the timestamps of RFC 7323.
    fn reads_timestamps(&self) -> bool {
        false
    }

    /// The law's own estimate of the rate at which the path carries segments, if it makes one. Unit: segments per
    /// second.
    fn estimate(&mut self, _now: Time) -> Option<f64> {
        None
    }

    /// The jitter ratio, if the law detects queues on the path by it; for traces.
    fn jitter(&self, _: &Window) -> Option<Jitter> {
        None
    }

    /// Whether a duplicate acknowledgement with this extension may count as a duplicate.
    fn heeds(&self, _echo: &Echo, _una: u64) -> bool {
        true
    }

    /// Counters specific to this law, in a fixed order.
    fn counts(&self) -> Vec<Count> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::testing;

    #[test]
    fn the_base_of_a_loss_is_a_number_of_segments_whichever_it_is() {
        assert_eq!(LossBase::Flight(7).segments(), 7.0);
        assert_eq!(LossBase::Window(8.125).segments(), 8.125);
    }

    #[test]
    fn duplicates_leave_two_segments_of_a_flight_and_one_of_a_window() {
        assert_eq!(LossBase::Flight(1).least_window(), 2.0);
        assert_eq!(LossBase::Window(1.0).least_window(), 1.0);
    }

    #[test]
    fn exact_timestamps_in_two_bytes_are_an_exception_and_the_option_is_not() {
        assert_eq!(Form::Option.exception(), None);
        let exception = Form::Paper.exception().expect("an exception");
        assert_eq!(exception.parameter, "header");
        assert!(exception.meaning.contains(exception.label));
    }

    /// A law with only the required methods.
    struct Plain;

    impl Congestion for Plain {
        fn on_ack(&mut self, _: &Ack, _: &mut Window) {}
        fn on_loss(&mut self, _: &Loss, _: &mut Window) -> LossResponse {
            LossResponse::REDUCED
        }
    }

    #[test]
    fn a_law_of_the_required_methods_declares_nothing_early_and_asks_for_nothing() {
        let (mut law, mut window) = (Plain, Window::new(4.0, None, 20.0));
        let mut board = crate::hooks::scoreboard::Scoreboard::default();
        board.push(1_000, false, Time::ZERO);
        assert!(!law.is_overdue(&testing::ack(Progress::Duplicate), &board));
        let echo = Echo {
            sent: Time::ZERO,
            received: Time::ZERO,
            trigger: 0,
            sending: Sending::Repeated,
            modulation: None,
        };
        assert!(law.heeds(&echo, 0));
        assert_eq!((law.extension(), law.estimate(Time::ZERO)), (None, None));
        assert_eq!((law.jitter(&window), law.counts().len()), (None, 0));
        let answer = law.on_loss(&testing::loss(LossCause::Duplicates, 10), &mut window);
        assert_eq!((answer.reduction, answer.copies, answer.judgement), (Reduction::Reduced, 1, None));
    }

    #[test]
    fn a_mark_is_answered_as_a_loss_and_a_loss_of_the_same_congestion_with_a_copy_only() {
        let (mut law, mut window) = (Plain, Window::new(4.0, None, 20.0));
        let mark = testing::mark(10);
        assert_eq!(law.on_mark(&mark, &mut window), Reduction::Reduced);
        let loss = mark.as_loss();
        assert_eq!((loss.cause, loss.base, loss.times), (LossCause::Duplicates, LossBase::Flight(10), 1));
        assert_eq!(law.on_answered_loss(&loss, &mut window), LossResponse::ANSWERED);
        assert_eq!(LossResponse::ANSWERED.reduction, Reduction::Kept);
    }
}
