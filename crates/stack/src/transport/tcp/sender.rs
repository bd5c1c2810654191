//! The sending half: outstanding segments, loss detection, and the next segment.
//!
//! The sender owns the [`Window`] and the [`Scoreboard`]; a [`Congestion`] law edits the former, a [`Recovery`] reads
//! the latter. It handles offsets, not packets: [`super::Connection`] turns its selections into segments.

mod asking;
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
use early::Early;
pub use early::Waiting;
use hystart::HyStart;
pub use limits::Limit;
use limits::Limits;
use marks::Marks;
pub use messages::{Arrived, Counters, Outgoing, SackNews};
use pacing::Pace;
use prr::Prr;
use spurious::{Doing, Spurious};
use stopping::Stopped;
use unused::Decay;
use usage::Usage;

use super::rtt::RttEstimator;
use super::{Config, Counting, Halved, Pacing, Parts};
use crate::hooks::scoreboard::Scoreboard;
use crate::hooks::{
    Ack, Congestion, Count, EcnEcho, LossResponse, Note, NoteEvent, Out, Progress, Recovery, Verdict, Window,
};
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
    recovery: P::Recovery,
    rtt: RttEstimator,
    written: u64,
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
    eln: bool,
    counting: Counting,
    /// What only the law counted in earlier connections.
    law_before: Vec<Count>,
    limits: Limits,
    counters: Counters,
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
            extension: law.extension().or_else(|| (!watching.is_empty()).then_some(Form::Probe)),
            law,
            hystart,
            is_plain: !by_time && watching.is_empty() && config.pacing != Pacing::All,
            watching,
            recovery,
            rtt: RttEstimator::new(config).with_precision(paces),
            written: 0,
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
            eln: config.eln,
            counting: config.counting,
            law_before: Vec::new(),
            limits: Limits::default(),
            counters: Counters::default(),
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
    pub fn counters(&mut self, now: Time) -> Counters {
        self.integrate(now);
        Counters { limited: self.limits.spent(now), ..self.counters }
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

    /// The application adds `bytes` to the data to be sent.
    pub fn write(&mut self, bytes: u64) {
        self.written = self.written.saturating_add(bytes);
    }

    /// The application has no more data: a FIN follows what was written.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Forgets what was written and not yet sent.
    pub fn truncate(&mut self) {
        if !self.fin_sent {
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
        !self.board.is_empty() || self.written > self.board.sent_end() || self.fin_is_due()
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

    /// An acknowledgement arrives at `now`; its SACK blocks are processed first.
    pub fn hear(&mut self, now: Time) {
        self.board.hear(now);
        if self.by_time {
            self.board.set_srtt(self.rtt.srtt().unwrap_or_default());
        }
    }

    /// Marks what a SACK block covers and returns whether any of it is news.
    pub fn sack(&mut self, left: u64, right: u64) -> bool {
        self.board.sack(left, right)
    }

    /// Takes in an acknowledgement without ECN that does not close the window where nothing is outstanding that it could be
    /// about: an end that only receives has one with each segment. False if it may tell more than the edge of the window.
    #[inline]
    pub fn learns_only_edge(&mut self, ack: u64, edge: u64) -> bool {
        if !self.board.is_empty() || self.persisting || self.by_time || ack != self.board.sent_end() {
            return false;
        }
        self.edge = self.edge.max(edge);
        self.widest = self.widest.max(edge - ack);
        true
    }

    /// An acknowledgement arrived.
    pub fn on_ack(&mut self, arrived: &Arrived, out: &mut impl Out) {
        let old_edge = self.edge;
        if arrived.ack < self.board.una() || arrived.ack > self.board.sent_end() {
            return;
        }
        self.edge = if arrived.closes { arrived.edge } else { self.edge.max(arrived.edge) };
        self.widest = self.widest.max(arrived.edge - arrived.ack);
        let flight = self.board.flight();
        let advanced = arrived.ack > self.board.una();
        let before = self.doing();
        let is_late = advanced && self.by_time && self.is_late(arrived.echo);
        let mut delivered = 0;
        if arrived.twice.is_some() {
            self.recovery.on_duplicate_report(arrived.ack, &self.board);
        }
        if advanced {
            delivered = self.on_advance(arrived, out);
        } else if !self.board.is_empty() && !self.persisting {
            let duplicate = match arrived.sack {
                SackNews::Unused => arrived.pure && arrived.edge == old_edge,
                SackNews::Nothing => false,
                SackNews::Segments => true,
            };
            let heeded = |echo| self.law.heeds(echo, self.board.una());
            if duplicate && arrived.extension.as_ref().is_none_or(heeded) {
                delivered = self.on_duplicate(arrived, out);
            }
        }
        self.on_echo(arrived.ecn, arrived.ack, flight, arrived.now, out);
        if self.by_time {
            let now = arrived.now;
            self.follow_probe(arrived.ack, arrived.twice.map(|range| range.1), advanced, now, out);
            self.review(arrived, (advanced, is_late), (before, flight), out);
            // What is lost beyond a recovery that is over begins the next.
            if before == Doing::Recovering
                && !self.recovery.is_active()
                && self.recovery.on_time(&mut self.board)
            {
                self.tell_losses();
                self.recover(now, self.board.flight(), delivered, out);
            }
            self.refresh_timer(now, out);
        }
        // A probe that was accepted leaves nothing outstanding; if the window is still closed, probing begins again.
        if self.persisting && (self.edge > self.board.una() || self.board.is_empty()) {
            self.end_persist(arrived.now, out);
        }
        if arrived.closes {
            self.freeze(arrived.now, out);
        }
    }

    /// An acknowledgement of new data. How many segments it reports to have arrived.
    fn on_advance(&mut self, arrived: &Arrived, out: &mut impl Out) -> u32 {
        let now = arrived.now;
        self.integrate(now);
        let flight = self.board.flight();
        self.limited = 0;
        let advance = self.board.advance(arrived.ack);
        let newest_sent = advance.newest_sent();
        let rtt = newest_sent.filter(|_| !advance.repaired).map(|sent| now.since(sent));
        let declared = self.board.declared();
        let verdict = self.recovery.on_advance(advance.segments, &mut self.board, &mut self.window);
        let is_sampled = !(self.rtt.is_in_ticks() && self.recovery.is_active());
        if is_sampled {
            self.take_sample(
                (arrived.ack, arrived.echoed_rtt),
                (advance.oldest_sent(), newest_sent),
                now,
                out,
            );
        } else if self.recovery.holds_sacked() {
            self.rtt.set_backoff(0);
        }
        if self.recovery.assumes() && advance.repaired {
            // Which copy of the segment has arrived is unknown, and so is what became of those that left before the second.
            self.board.take_original();
        }
        if !self.recovery.is_active() {
            self.board.forget_assumed();
            if self.prr.is_some() {
                self.end_prr();
            }
        }
        // RFC 3168 (6.1.2): not at an echo.
        let grows = arrived.ecn == EcnEcho::Unmarked || self.is_answered_by_timeout();
        let begins_again = self.by_time && self.board.missing() > 0;
        let arrivals = if self.by_time { self.board.news() } else { advance.segments };
        let progress = match verdict {
            Verdict::Ended if grows && self.growth_at_recovery_end && !begins_again => {
                Progress::Open(arrivals)
            }
            Verdict::Open if grows && self.window_limited(flight) => Progress::Open(advance.segments),
            Verdict::Open => Progress::Unlimited(advance.segments),
            _ => Progress::Recovering(advance.segments),
        };
        let newest_sent = advance.newest_sent_last();
        let ack = Ack { newest_sent, ..self.ack_event(arrived, progress, rtt, flight) };
        self.with_target(|sender| sender.tell(&ack));
        self.pace_recovery(ack.delivered.segments, declared == self.board.declared());
        self.set_pace();
        if self.board.is_empty() {
            self.disarm(out);
        } else if verdict != Verdict::PartialTimerRuns {
            self.arm(now, out);
        }
        if !is_sampled && !self.recovery.holds_sacked() {
            self.skip_sample(arrived.ack);
        }
        if out.is_watching() {
            let partial = matches!(verdict, Verdict::Partial | Verdict::PartialTimerRuns);
            self.note(if partial { NoteEvent::Partial } else { NoteEvent::Ack }, arrived.ack, 0, out);
            if verdict == Verdict::Ended {
                self.note(NoteEvent::Exit, arrived.ack, 0, out);
            }
            self.tell_jitter(out);
        }
        let ends = matches!(verdict, Verdict::Open | Verdict::Ended);
        if verdict == Verdict::Lost || (ends && self.is_overdue(&ack)) {
            self.recover(now, self.board.flight(), ack.delivered.segments, out);
        }
        ack.delivered.segments
    }

    /// A duplicate acknowledgement. How many segments it reports to have arrived.
    fn on_duplicate(&mut self, arrived: &Arrived, out: &mut impl Out) -> u32 {
        let now = arrived.now;
        self.integrate(now);
        let flight = self.board.flight();
        // A recovery by selective acknowledgements counts what it declares lost; the others have no account of their own.
        if arrived.sack == SackNews::Unused && !self.recovery.holds_sacked() && !self.board.is_behind() {
            self.board.assume();
        }
        let verdict = self.recovery.on_duplicate(&mut self.board, &mut self.window);
        let ack = self.ack_event(arrived, Progress::Duplicate, None, flight);
        let delivered = ack.delivered.segments;
        self.with_target(|sender| sender.tell(&ack));
        self.pace_recovery(delivered, false);
        self.set_pace();
        self.note(NoteEvent::DupAck, arrived.ack, 0, out);
        if self.eln && arrived.eln {
            // A copy that is lost, too, is left to the timer.
            if self.board.get(self.board.base()).times == 1 {
                self.repair(LossResponse::ANNOUNCED, delivered, now, out);
            }
        } else if verdict == Verdict::Lost || self.is_overdue(&ack) {
            // What limited transmit sent does not count (RFC 5681, 3.2, step 2).
            self.recover(now, flight - self.limited, delivered, out);
        }
        delivered
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
