//! What a sender does, recorded between it and its congestion controller.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Add;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use lasthop_stack::units::{Span, Time};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

use super::frames::Frames;
use super::qlog::{Log, Metrics, Shown};

/// A round trip, with the smoothed value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundTrip {
    pub(crate) rtt: Span,
    pub(crate) srtt: Span,
}

/// Counters of an end; all only grow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    /// Packets declared lost, probes of the path's MTU left out.
    pub(crate) lost: u64,
    /// Packets with data of the application.
    pub(crate) data: u64,
    /// Those of them with data that had been sent before.
    pub(crate) again: u64,
    /// Bytes of data, and those of them that had been sent before.
    pub(crate) bytes: u64,
    pub(crate) bytes_again: u64,
    /// Packets that need no acknowledgement.
    pub(crate) acks: u64,
    /// Probe timeouts that sent a probe.
    pub(crate) probe_timeouts: u64,
    /// Times a loss or a mark reduced the window.
    pub(crate) reductions: u64,
    /// Times of persistent congestion.
    pub(crate) persistent: u64,
    /// The window in bytes, integrated over time in seconds.
    pub(crate) window_seconds: f64,
}

impl Add for Counters {
    type Output = Counters;

    fn add(self, other: Counters) -> Counters {
        Counters {
            lost: self.lost + other.lost,
            data: self.data + other.data,
            again: self.again + other.again,
            bytes: self.bytes + other.bytes,
            bytes_again: self.bytes_again + other.bytes_again,
            acks: self.acks + other.acks,
            probe_timeouts: self.probe_timeouts + other.probe_timeouts,
            reductions: self.reductions + other.reductions,
            persistent: self.persistent + other.persistent,
            window_seconds: self.window_seconds + other.window_seconds,
        }
    }
}

/// The record of a sender.
pub(crate) struct Record {
    base: Instant,
    pub(super) counters: Counters,
    /// Round trips since they were last taken.
    pub(crate) round_trips: Vec<RoundTrip>,
    /// The window in bytes, and since when.
    pub(crate) window: u64,
    /// The slow-start threshold in bytes, if the law has one.
    pub(crate) threshold: Option<u64>,
    since: Time,
    /// The end of what each stream has sent.
    sent: BTreeMap<u64, u64>,
    /// The round trip of the newest packet of an acknowledgement.
    newest: Option<RoundTrip>,
    /// Whether the first packet of the datagram being sent must be acknowledged; `None` before it.
    is_eliciting: Option<bool>,
    /// Whether the controller was asked for its window before that.
    pub(super) is_asked: bool,
    last_probe: Option<Time>,
    /// The sizes of the packets of that datagram that must be acknowledged.
    pub(super) eliciting: Vec<u64>,
    /// When that datagram is made, and until when a law that paces holds the next packets back.
    pub(super) now: Time,
    pub(super) held_until: Time,
    pub(crate) log: Option<Log>,
    /// Whether its controller is recorded, and if not, the bytes lost that have been logged.
    is_watched: bool,
    lost: u64,
    /// Whether a server issues tickets.
    pub(super) issues_tickets: bool,
    /// The transport parameters of the other end, and those of a connection that this one resumes.
    pub(super) parameters: Option<Vec<u8>>,
    pub(super) remembered: Option<Vec<u8>>,
    /// The last round trip, with the pace of a law that has one.
    latest: Option<Span>,
    pace: Option<u64>,
}

/// A record that the controller, the keys and the simulator share.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<Record>>);

impl Shared {
    pub(super) fn new(base: Instant) -> Shared {
        Shared(Arc::new(Mutex::new(Record {
            base,
            counters: Counters::default(),
            round_trips: Vec::new(),
            window: 0,
            threshold: None,
            since: Time::ZERO,
            sent: BTreeMap::new(),
            newest: None,
            is_eliciting: None,
            is_asked: false,
            last_probe: None,
            eliciting: Vec::new(),
            now: Time::ZERO,
            held_until: Time::ZERO,
            log: None,
            is_watched: false,
            lost: 0,
            issues_tickets: false,
            parameters: None,
            remembered: None,
            latest: None,
            pace: None,
        })))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Record {
    /// The next datagram is made.
    pub(super) fn begin(&mut self, now: Time) {
        (self.is_eliciting, self.is_asked, self.now) = (None, false, now);
        self.eliciting.clear();
    }

    /// Until when a law that paces holds the next packet back, if it does.
    pub(super) fn held(&self) -> Option<Time> {
        (self.now < self.held_until).then_some(self.held_until)
    }

    /// A packet is sent.
    pub(super) fn on_packet(&mut self, packet: &Shown) {
        let (mut is_eliciting, mut bytes, mut again) = (false, 0, 0);
        for frame in Frames(packet.frames) {
            is_eliciting |= frame.is_eliciting();
            if let Some((id, (begin, end))) = frame.stream() {
                let sent = self.sent.entry(id).or_default();
                bytes += end - begin;
                again += end.min(*sent).saturating_sub(begin);
                *sent = end.max(*sent);
            }
            bytes += frame.datagram().unwrap_or_default();
        }
        let is_probe = self.is_watched && self.is_eliciting.is_none() && !self.is_asked;
        self.is_eliciting.get_or_insert(is_eliciting);
        self.eliciting.extend(is_eliciting.then_some(packet.length as u64));
        self.counters.acks += u64::from(!is_eliciting);
        self.counters.data += u64::from(bytes > 0);
        self.counters.again += u64::from(again > 0);
        self.counters.bytes += bytes;
        self.counters.bytes_again += again;
        if let Some(log) = &mut self.log {
            log.on_sent(self.now, packet, is_probe);
        }
    }

    /// A packet has arrived.
    pub(super) fn on_received(&mut self, packet: &Shown) {
        if let Some(log) = &mut self.log {
            log.on_received(self.now, packet);
        }
    }

    /// Logs what the end has measured; smoothed round trip, bytes lost and window are those of the connection, of which the last
    /// two are needed where no controller is recorded.
    pub(super) fn log_metrics(&mut self, smoothed: Span, (lost, window): (u64, u64)) {
        if !self.is_watched {
            let newly = lost.saturating_sub(std::mem::replace(&mut self.lost, lost));
            self.window = window;
            if let Some(log) = self.log.as_mut().filter(|_| newly > 0) {
                log.on_lost(self.now, newly);
            }
        }
        let is_measured = !self.is_watched || self.latest.is_some();
        let (latest, smoothed) = (self.latest, is_measured.then_some(smoothed));
        let metrics =
            Metrics { latest, smoothed, window: self.window, threshold: self.threshold, pace: self.pace };
        if let Some(log) = &mut self.log {
            log.note(self.now, metrics);
        }
    }

    /// A datagram has been sent. Only one that begins with a probe needs no room in the window (RFC 9002, 7.5).
    pub(super) fn on_sent(&mut self, now: Time) {
        if self.is_eliciting == Some(true) && !self.is_asked && self.last_probe != Some(now) {
            self.counters.probe_timeouts += 1;
            self.last_probe = Some(now);
        }
    }

    pub(super) fn on_congestion(&mut self, window: u64, is_persistent: bool, lost: u64) {
        self.counters.reductions += u64::from(window < self.window);
        self.counters.persistent += u64::from(is_persistent);
        if let Some(log) = &mut self.log {
            log.on_lost(self.now, lost);
        }
    }

    pub(super) fn set_window(&mut self, window: u64, now: Time) {
        self.counters.window_seconds = self.window_seconds(now);
        (self.window, self.since) = (window, now);
    }

    /// The window in bytes, integrated over time in seconds up to now.
    fn window_seconds(&self, now: Time) -> f64 {
        self.counters.window_seconds + self.window as f64 * now.since(self.since).as_secs()
    }

    /// The counters up to now, without the packets lost.
    pub(super) fn counters(&self, now: Time) -> Counters {
        Counters { window_seconds: self.window_seconds(now), ..self.counters }
    }

    pub(super) fn time(&self, at: Instant) -> Time {
        Time(at.duration_since(self.base).as_nanos() as u64)
    }
}

/// A controller whose sender is recorded.
pub(super) struct Watched {
    law: Box<dyn Controller>,
    record: Shared,
}

/// What makes it.
pub(super) struct Factory {
    pub(super) law: Arc<dyn ControllerFactory + Send + Sync>,
    pub(super) record: Shared,
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let law = self.law.clone().build(now, mtu);
        let watched = Watched { law, record: self.record.clone() };
        self.record.lock().is_watched = true;
        drop(watched.note(now));
        Box::new(watched)
    }
}

impl Watched {
    /// Notes the window.
    fn note(&self, now: Instant) -> MutexGuard<'_, Record> {
        let metrics = self.law.metrics();
        let (window, mut record) = (metrics.congestion_window, self.record.lock());
        if window != record.window {
            let now = record.time(now);
            record.set_window(window, now);
            record.threshold = metrics.ssthresh;
            record.pace = metrics.pacing_rate;
        }
        record
    }
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, last: u64) {
        self.law.on_sent(now, bytes, last);
        let mut record = self.note(now);
        let now = record.time(now);
        record.on_sent(now);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.law.on_ack(now, sent, bytes, app_limited, rtt);
        let span = |duration: std::time::Duration| Span(duration.as_nanos() as u64);
        let newest = RoundTrip { rtt: span(now.duration_since(sent)), srtt: span(rtt.get()) };
        self.record.lock().newest = Some(newest);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.law.on_end_acks(now, in_flight, app_limited, largest);
        let mut record = self.note(now);
        let newest = record.newest.take();
        record.latest = newest.map(|newest| newest.rtt).or(record.latest);
        record.round_trips.extend(newest);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, lost: u64) {
        self.law.on_congestion_event(now, sent, is_persistent, lost);
        let window = self.law.metrics().congestion_window;
        self.record.lock().on_congestion(window, is_persistent, lost);
        drop(self.note(now));
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.law.on_mtu_update(mtu);
    }

    fn window(&self) -> u64 {
        self.record.lock().is_asked = true;
        self.law.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.law.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Watched { law: self.law.clone_box(), record: self.record.clone() })
    }

    fn initial_window(&self) -> u64 {
        self.law.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
