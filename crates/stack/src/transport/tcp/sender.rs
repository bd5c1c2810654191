//! The sending half: outstanding segments, loss detection, and the next segment.
//!
//! The sender owns the [`Window`] and the [`Scoreboard`]; a [`Congestion`] law edits the former, a [`Recovery`] reads
//! the latter. It handles offsets, not packets: [`super::Connection`] turns its selections into segments.

mod acknowledged;
mod asking;
mod buffer;
mod early;
mod hystart;
mod laws;
mod limits;
mod losses;
mod marks;
mod messages;
mod pacing;
mod persist;
mod predicted;
mod prr;
mod sending;
mod spurious;
mod stopping;
mod timer;
mod unused;
mod usage;

use asking::Asking;
use buffer::SendBuffer;
use early::Early;
pub use early::Waiting;
use hystart::HyStart;
pub use limits::Limit;
use limits::Limits;
use marks::Marks;
pub use messages::{Arrived, Outgoing, SackNews, SenderCounters};
use pacing::Pace;
use prr::Prr;
use spurious::Spurious;
use stopping::Stopped;
use unused::Decay;
use usage::Usage;

use super::rtt::RttEstimator;
use super::{Config, Counting, Halved, Pacing, Parts};
use crate::hooks::scoreboard::Scoreboard;
use crate::hooks::{Congestion, Count, Note, NoteEvent, Out, Recovery, Window};
use crate::packet::Form;
use crate::units::{Span, Time};

/// The sending half of a connection. Offsets count from the first data byte.
#[derive(Clone, Debug)]
pub struct Sender<P: Parts> {
    board: Scoreboard,
    window: Window,
    law: P::Law,
    /// Laws that receive what the law receives, and edit a window that is discarded.
    watching: Vec<P::Law>,
    extension: Option<Form>,
    reads_timestamps: bool,
    recovery: P::Recovery,
    rtt: RttEstimator,
    /// The end of what is in the send buffer.
    written: u64,
    buffer: SendBuffer,
    closed: bool,
    fin_sent: bool,
    edge: u64,
    widest: u64,
    timed: Option<(u64, Time)>,
    /// New segments sent beyond the window by limited transmit since the last advance.
    limited: u32,
    /// The first byte of the segment that the retransmission timer fired for last.
    timed_out: Option<u64>,
    armed: bool,
    persisting: bool,
    /// Where the peer has taken its window back: how often the timeout had been doubled then.
    frozen: Option<u32>,
    stopped: Option<Stopped>,
    marks: Marks,
    /// Where the recovery under way is paced.
    prr: Option<Prr>,
    is_recovery_paced: bool,
    /// Whether the recovery detects losses by time.
    by_time: bool,
    /// Whether nothing is paced or detected by time and no law watches, so that acknowledgements may be predicted.
    is_plain: bool,
    early: Early,
    asking: Asking,
    hystart: HyStart,
    spurious: Spurious,
    /// What was outstanding at the last timeout ends here, where losses are detected by time.
    loss_until: u64,
    /// The unit of timestamps.
    stamp_unit: Span,
    last_sent: Time,
    pace: Pace,
    integrated: Time,
    packet: u32,
    window_limit: u32,
    initial_window: f64,
    nagle: bool,
    usage: Usage,
    decay: Decay,
    mark_floor: f64,
    timestamps: bool,
    loss_ssthresh: Halved,
    timeout_ssthresh: Halved,
    timeout_once: bool,
    whole_ssthresh: bool,
    growth_at_recovery_end: bool,
    echoed_rtt: bool,
    credit_after_random_loss: bool,
    eln: bool,
    counting: Counting,
    /// What only the law counted in earlier connections.
    law_before: Vec<Count>,
    limits: Limits,
    counters: SenderCounters,
}

impl<P: Parts> Sender<P> {
    /// A sender before the handshake; `draw` is a random number for the law's own decisions.
    #[must_use]
    pub fn new(config: &Config<P>, draw: u32) -> Sender<P> {
        let initial_window = f64::from(config.initial_window);
        let recovery = config.parts.recovery(config);
        let by_time = recovery.is_by_time();
        let law = config.parts.law(config, draw);
        let paces = law.paces();
        let hystart = HyStart::new(law.slow_start(config.slow_start));
        let watching = config.parts.judges(config, draw);
        Sender {
            board: Scoreboard::default(),
            window: Window {
                credit: config.whole_window.then_some(0),
                ..Window::new(initial_window, config.initial_ssthresh, f64::from(config.window))
            },
            decay: Decay::new(config, law.governs_recovery()),
            reads_timestamps: law.reads_timestamps(),
            extension: law.extension().or_else(|| (!watching.is_empty()).then_some(Form::Probe)),
            law,
            hystart,
            is_plain: !by_time && watching.is_empty() && config.pacing != Pacing::All,
            watching,
            recovery,
            rtt: RttEstimator::new(config).with_precision(paces),
            written: 0,
            buffer: SendBuffer::new(config),
            closed: false,
            fin_sent: false,
            edge: 0,
            widest: 0,
            timed: None,
            limited: 0,
            timed_out: None,
            armed: false,
            persisting: false,
            frozen: None,
            stopped: None,
            marks: Marks::default(),
            prr: None,
            is_recovery_paced: config.prr,
            by_time,
            early: Early::new(config, by_time),
            asking: Asking::default(),
            spurious: Spurious::new(config, by_time),
            loss_until: 0,
            stamp_unit: config.stamp_unit(),
            last_sent: Time::ZERO,
            pace: Pace::new(config),
            integrated: Time::ZERO,
            packet: config.packet,
            window_limit: config.window,
            initial_window,
            nagle: config.nagle,
            usage: Usage::new(config),
            mark_floor: f64::from(config.mark_floor),
            timestamps: config.timestamps,
            loss_ssthresh: config.loss_ssthresh,
            timeout_ssthresh: config.timeout_ssthresh,
            timeout_once: config.timeout_once,
            whole_ssthresh: config.whole_ssthresh,
            growth_at_recovery_end: config.growth_at_recovery_end,
            echoed_rtt: config.echoed_rtt,
            credit_after_random_loss: config.credit_after_random_loss,
            eln: config.eln,
            counting: config.counting,
            law_before: Vec::new(),
            limits: Limits::default(),
            counters: SenderCounters::default(),
        }
    }

    /// Makes this the sender of another connection, before the handshake. Its counters continue, and it keeps its
    /// memory, except for that of laws that own some.
    pub fn renew(&mut self, config: &Config<P>, draw: u32) {
        let mut board = std::mem::take(&mut self.board);
        board.clear();
        let law_before = self.law_counts();
        *self = Sender {
            board,
            law_before,
            counters: self.counters,
            limits: self.limits,
            ..Sender::new(config, draw)
        };
    }

    /// What only the law counts, over all connections of this sender.
    #[must_use]
    pub fn law_counts(&self) -> Vec<Count> {
        let mut counts = self.law.counts();
        for (count, before) in counts.iter_mut().zip(&self.law_before) {
            count.value += before.value;
        }
        counts
    }

    /// The scoreboard.
    #[must_use]
    pub fn board(&self) -> &Scoreboard {
        &self.board
    }

    /// The congestion window.
    #[must_use]
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The round-trip estimate.
    #[must_use]
    pub fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// The round-trip estimate, for the handshake's sample.
    pub fn rtt_mut(&mut self) -> &mut RttEstimator {
        &mut self.rtt
    }

    /// A SYN is sent again.
    pub fn count_syn_again(&mut self) {
        self.counters.syns_again += 1;
    }

    /// Its counters, the window's integral brought up to `now`.
    pub fn counters(&mut self, now: Time) -> SenderCounters {
        self.integrate(now);
        SenderCounters { limited: self.limits.spent(now), ..self.counters }
    }

    /// Retransmission timeouts so far.
    #[must_use]
    pub fn timeouts(&self) -> u64 {
        self.counters.timeouts
    }

    /// Segments sent again so far, whether they have data or not.
    #[must_use]
    pub fn resent(&self) -> u64 {
        self.counters.all_again()
    }

    /// Starts the interval over which `rtt_max` is taken.
    pub fn begin_measurement(&mut self) {
        self.counters.rtt_max = Span::ZERO;
    }

    /// The law that sets the window.
    #[must_use]
    pub fn law(&self) -> &P::Law {
        &self.law
    }

    /// The form in which each segment carries an extension, if any: the law's, or a free one for laws that only
    /// observe.
    #[must_use]
    #[inline]
    pub fn extension(&self) -> Option<Form> {
        self.extension
    }

    /// Whether the law reads the timestamps of acknowledgements.
    #[must_use]
    #[inline]
    pub fn reads_timestamps(&self) -> bool {
        self.reads_timestamps
    }

    /// The application has no more data: a FIN follows what was written.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Forgets what was written and not yet sent.
    pub fn truncate(&mut self) {
        if !self.fin_sent {
            self.buffer.forget();
            self.written = self.board.sent_end();
        }
    }

    /// Whether a FIN was sent and acknowledged.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.fin_sent && self.board.is_empty()
    }

    /// Bytes written and not yet sent.
    #[must_use]
    pub fn backlog(&self) -> u64 {
        (self.written + u64::from(self.fin_sent)).saturating_sub(self.board.sent_end())
    }

    /// Whether it has anything to do: data outstanding or to be sent, or a FIN. An end that only receives does not.
    #[must_use]
    #[inline]
    pub fn is_busy(&self) -> bool {
        !self.board.is_empty()
            || self.written > self.board.sent_end()
            || self.fin_is_due()
            || self.buffer.is_waited_for()
    }

    /// The handshake is over: the peer's first window is known. A lost SYN leaves a window of one segment
    /// (RFC 5681, 3.1); where a timeout halves the window, ssthresh is that of a window of one segment.
    pub fn established(&mut self, now: Time, edge: u64, syn_lost: bool) {
        self.edge = edge;
        self.widest = edge;
        self.integrated = now;
        self.last_sent = now;
        self.decay.begin(now);
        self.limits.begin(now);
        if syn_lost {
            self.window.cwnd = 1.0;
            if self.timeout_ssthresh == Halved::Window {
                self.window.ssthresh = 0.5;
                self.window.clamp();
            }
        }
        self.begin_law(now);
    }

    /// Whether the peer has offered to take all below this offset, and more than rounding can take back of it.
    #[must_use]
    #[inline]
    pub fn offers_beyond(&self, offset: u64) -> bool {
        self.edge >= offset
    }

    fn integrate(&mut self, now: Time) {
        self.counters.cwnd_seconds += now.since(self.integrated).as_secs() * self.window.cwnd;
        self.integrated = now;
    }

    /// Most segments one arrival may release.
    #[must_use]
    pub fn burst_limit(&self) -> u32 {
        self.window.burst_limit.unwrap_or(u32::MAX)
    }

    fn note(&self, event: NoteEvent, seq: u64, len: u32, out: &mut impl Out) {
        if out.is_watching() {
            let cwnd = self.window.inflated(self.recovery.inflation());
            let ack = self.board.una();
            out.note(Note { event, seq, len, ack, cwnd, ssthresh: self.window.ssthresh });
        }
    }
}
