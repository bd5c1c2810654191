//! Congestion control: the events that a law receives, its answers, and the trait [`Congestion`].

use super::Count;
use super::parameter::{Domain, Exception, Parameter, Setting, Words, words};
use super::scoreboard::Sent;
use super::window::Window;
use crate::packet::{Form, Modulation};
use crate::units::{Span, Time};

/// What an acknowledgement did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It advanced by this many segments, outside recovery, while the window was the limit: the window may grow.
    Open(u32),
    /// It advanced by this many segments while something other than the window limited the sender.
    Unlimited(u32),
    /// It advanced by this many segments during recovery.
    Recovering(u32),
    /// It advanced nothing.
    Duplicate,
}

/// An acknowledgement, as a congestion law sees it.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// What it did.
    pub progress: Progress,
    /// The round trip of the newest segment it acknowledged, if all that it acknowledged was sent once only: an
    /// acknowledgement of a repaired hole has waited for the repair, not in queues. It is exact whatever clock the
    /// retransmission timer reads, since a law may keep the time of each segment as Vegas does.
    pub rtt: Option<Span>,
    /// When the newest segment it acknowledged was sent last, however often.
    pub newest_sent: Option<Time>,
    /// Smoothed round trip, once known.
    pub srtt: Option<Span>,
    /// First byte not yet acknowledged, after this acknowledgement.
    pub una: u64,
    /// First byte never sent.
    pub sent_end: u64,
    /// Segments outstanding before this acknowledgement.
    pub flight: u32,
    /// Segments thought to be in the network, after this acknowledgement (RFC 6675, `pipe`).
    pub pipe: u32,
    /// The segments that it newly reports as delivered, cumulatively or selectively.
    pub delivered: Delivered,
    /// The content of its header extension, if the law requested one.
    pub extension: Option<Echo>,
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
    /// More than once: it may be any of its copies.
    Repeated,
}

/// The segments that an acknowledgement newly reports as delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Their bytes.
    pub bytes: u64,
    /// The number of the one among them that was sent last.
    pub newest: Option<u64>,
}

/// A segment that has just left.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// When.
    pub now: Time,
    /// Its number: segments are counted from 0, and one that is sent again keeps its own.
    pub number: u64,
    /// Number of the first segment outstanding.
    pub base: u64,
    /// Segments in the network before it.
    pub pipe: u32,
    /// Bytes outstanding, its own included.
    pub outstanding: u64,
    /// Bytes that wait to be sent behind it.
    pub backlog: u64,
}

/// How a loss was detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossCause {
    /// By duplicate or selective acknowledgements, or by the law itself ([`Congestion::is_overdue`]).
    Duplicates,
    /// By the retransmission timer, for the first time for this segment.
    Timeout,
    /// By the retransmission timer again, which has resent the segment already.
    RepeatedTimeout,
}

/// A loss indication.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When it was detected.
    pub now: Time,
    /// How.
    pub cause: LossCause,
    /// First byte of the segment declared lost.
    pub una: u64,
    /// What a law keeps a share of.
    pub base: LossBase,
    /// Segments thought to be in the network (RFC 6675, `pipe`).
    pub pipe: u32,
    /// Distinct segments sent so far.
    pub sent: u64,
    /// First byte never sent.
    pub sent_end: u64,
    /// When the segment declared lost was sent last.
    pub sent_at: Time,
    /// How often it was sent.
    pub times: u8,
    /// Smoothed round trip, once known.
    pub srtt: Option<Span>,
}

/// What the window after a loss is a share of, in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossBase {
    /// What is outstanding (RFC 5681's `FlightSize`).
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

    /// Least window that duplicates leave: ssthresh, and so two segments (RFC 5681, 3.2), or one.
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

/// The classification of a loss, by a law that makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// A queue had no room.
    Congestion,
    /// The channel lost it.
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

    /// The answer to a loss that the network announced as none of congestion: no law is asked.
    pub const ANNOUNCED: LossResponse =
        LossResponse { reduction: Reduction::Kept, copies: 1, judgement: None };
}

/// The jitter ratio of a law, and the threshold that it is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter {
    /// By how much packets arrive further apart than they were sent, as a share.
    pub ratio: f64,
    /// A ratio above it indicates congestion.
    pub threshold: f64,
}

impl Form {
    /// The parameter by which a law offers the choice.
    pub(crate) const fn parameter<C>(get: fn(&C) -> Setting, set: fn(&mut C, Setting)) -> Parameter<C> {
        let meaning = "timestamps as a TCP option of 20 bytes in whole microseconds, or exact timestamps charged as 2 bytes, as in the paper";
        Parameter::new("header", Domain::Words("form", words::<Form>), meaning, get, set).source("RFC 6994")
    }

    /// The exception of a law that uses this form in its parameter `header`.
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
    const WORDS: &'static [(&'static str, Form)] = &[("option", Form::Option), ("paper", Form::Paper)];
}

/// The window law.
pub trait Congestion {
    /// An acknowledgement arrived. Only [`Progress::Open`] lets the window grow.
    fn on_ack(&mut self, ack: &Ack, window: &mut Window);

    /// A segment is declared lost. The law leaves in `window` the values for the time after recovery.
    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse;

    /// A segment has left.
    fn on_sent(&mut self, _: &Departure) {}

    /// Whether to declare the first unacknowledged segment lost at this acknowledgement, before duplicates indicate it.
    /// Called after [`Congestion::on_ack`] at each duplicate, and at each advance outside recovery.
    fn is_overdue(&self, _ack: &Ack, _head: &Sent) -> bool {
        false
    }

    /// The form of the [`Extension`](crate::packet::Extension) that each segment carries, if any.
    fn extension(&self) -> Option<Form> {
        None
    }

    /// The rate at which the path carries segments by the law's own measurement, if it makes one. Unit: segments a second.
    fn estimate(&mut self, _now: Time) -> Option<f64> {
        None
    }

    /// The jitter ratio, if the law measures queues on the path by it; for traces.
    fn jitter(&self, _: &Window) -> Option<Jitter> {
        None
    }

    /// Whether a duplicate acknowledgement with this extension may count as a duplicate.
    fn heeds(&self, _echo: &Echo, _una: u64) -> bool {
        true
    }

    /// The counters that only this law has, in a fixed order.
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

    /// A law with the required methods only.
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
        assert!(!law.is_overdue(&testing::ack(Progress::Duplicate), board.get(0)));
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
}
