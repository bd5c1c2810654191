//! What a sender does, recorded between it and its congestion controllers.

use std::collections::BTreeMap;
use std::ops::Add;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use lasthop_stack::units::{Span, Time};

use super::PATHS;
use super::frames::Frames;
use super::qlog::{Log, Metrics, Shown};

/// A round trip, with the smoothed value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundTrip {
    /// The path on which it was measured.
    pub(crate) path: usize,
    pub(crate) rtt: Span,
    pub(crate) srtt: Span,
}

/// Counters of an end; all only grow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QuicCounters {
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
    /// The windows of all paths in bytes, integrated over time in seconds.
    pub(crate) window_seconds: f64,
    /// What each path has done of that.
    pub(crate) paths: [PathCounters; PATHS],
}

/// Counters of a path of a sender.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PathCounters {
    /// Packets with data of the application.
    pub(crate) data: u64,
    /// Packets declared lost.
    pub(crate) lost: u64,
    /// The window in bytes, integrated over time in seconds.
    pub(crate) window_seconds: f64,
}

impl Add for PathCounters {
    type Output = PathCounters;

    fn add(self, other: PathCounters) -> PathCounters {
        PathCounters {
            data: self.data + other.data,
            lost: self.lost + other.lost,
            window_seconds: self.window_seconds + other.window_seconds,
        }
    }
}

impl Add for QuicCounters {
    type Output = QuicCounters;

    fn add(self, other: QuicCounters) -> QuicCounters {
        QuicCounters {
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
            paths: [0, 1].map(|path| self.paths[path] + other.paths[path]),
        }
    }
}

/// The window of a path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window {
    pub(crate) bytes: u64,
    since: Time,
    /// The slow-start threshold in bytes, if the law has one.
    pub(crate) threshold: Option<u64>,
}

/// The record of a sender.
pub(crate) struct Record {
    base: Instant,
    pub(super) counters: QuicCounters,
    /// Round trips since they were last taken.
    pub(crate) round_trips: Vec<RoundTrip>,
    /// The windows of its paths.
    pub(crate) windows: [Window; PATHS],
    /// Packets with data before the datagram being sent.
    data_before: u64,
    /// The path whose controller is made next.
    pub(super) opening: usize,
    /// The end of what each stream has sent.
    sent: BTreeMap<u64, u64>,
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
            counters: QuicCounters::default(),
            round_trips: Vec::new(),
            windows: Default::default(),
            data_before: 0,
            opening: 0,
            sent: BTreeMap::new(),
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
        self.data_before = self.counters.data;
    }

    /// The datagram goes by this path.
    pub(super) fn on_way(&mut self, path: usize) {
        self.counters.paths[path].data += self.counters.data - self.data_before;
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
            self.windows[0].bytes = window;
            if let Some(log) = self.log.as_mut().filter(|_| newly > 0) {
                log.on_lost(self.now, newly);
            }
        }
        let is_measured = !self.is_watched || self.latest.is_some();
        let (latest, smoothed) = (self.latest, is_measured.then_some(smoothed));
        let Window { bytes: window, threshold, .. } = self.windows[0];
        let metrics = Metrics { latest, smoothed, window, threshold, pace: self.pace };
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

    fn on_congestion(&mut self, path: usize, window: u64, is_persistent: bool, lost: u64) {
        self.counters.reductions += u64::from(window < self.windows[path].bytes);
        self.counters.persistent += u64::from(is_persistent);
        if let Some(log) = &mut self.log {
            log.on_lost(self.now, lost);
        }
    }

    /// The newest packet of an acknowledgement gave this round trip.
    fn on_round_trip(&mut self, newest: Option<RoundTrip>) {
        self.latest = newest.map(|newest| newest.rtt).or(self.latest);
        self.round_trips.extend(newest);
    }

    fn set_window(&mut self, path: usize, bytes: u64, threshold: Option<u64>, now: Time) {
        self.counters.paths[path].window_seconds = self.window_seconds(path, now);
        self.windows[path] = Window { bytes, since: now, threshold };
    }

    /// The window of a path in bytes, integrated over time in seconds up to now.
    fn window_seconds(&self, path: usize, now: Time) -> f64 {
        let Window { bytes, since, .. } = self.windows[path];
        self.counters.paths[path].window_seconds + bytes as f64 * now.since(since).as_secs()
    }

    /// The counters up to now, without the packets that quinn has lost.
    pub(super) fn counters(&self, now: Time) -> QuicCounters {
        let mut counters = self.counters;
        for (path, of) in counters.paths.iter_mut().enumerate() {
            of.window_seconds = self.window_seconds(path, now);
        }
        QuicCounters { window_seconds: counters.paths.iter().map(|it| it.window_seconds).sum(), ..counters }
    }

    pub(super) fn time(&self, at: Instant) -> Time {
        Time(at.duration_since(self.base).as_nanos() as u64)
    }
}

/// A controller of a stack whose sender is recorded: what its methods have besides those of quinn's, and methods that quinn's lack.
macro_rules! watched {
    (
        $proto:ident,
        acked($($number:ident: $of:ty)?),
        congested($($is_ecn:ident: $flag:ty)?; $($largest:ident: $last:ty)?),
        { $($more:tt)* }
    ) => {
        use std::any::Any;

        use $proto::RttEstimator;
        use $proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

        /// A controller whose sender is recorded.
        struct Watched {
            law: Box<dyn Controller>,
            record: Shared,
            path: usize,
            /// The round trip of the newest packet of an acknowledgement.
            newest: Option<RoundTrip>,
        }

        /// What makes it.
        pub(in crate::quic) struct Factory {
            pub(in crate::quic) law: Arc<dyn ControllerFactory + Send + Sync>,
            pub(in crate::quic) record: Shared,
        }

        impl ControllerFactory for Factory {
            fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
                let law = self.law.clone().build(now, mtu);
                let path = self.record.lock().opening;
                let watched = Watched { law, record: self.record.clone(), path, newest: None };
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
                if window != record.windows[self.path].bytes {
                    let now = record.time(now);
                    record.set_window(self.path, window, metrics.ssthresh, now);
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

            fn on_ack(
                &mut self,
                now: Instant,
                sent: Instant,
                bytes: u64,
                $($number: $of,)?
                app_limited: bool,
                rtt: &RttEstimator,
            ) {
                self.law.on_ack(now, sent, bytes, $($number,)? app_limited, rtt);
                let [taken, srtt] =
                    [now.duration_since(sent), rtt.get()].map(|duration| Span(duration.as_nanos() as u64));
                self.newest = Some(RoundTrip { path: self.path, rtt: taken, srtt });
            }

            fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
                self.law.on_end_acks(now, in_flight, app_limited, largest);
                let newest = self.newest.take();
                self.note(now).on_round_trip(newest);
            }

            fn on_congestion_event(
                &mut self,
                now: Instant,
                sent: Instant,
                is_persistent: bool,
                $($is_ecn: $flag,)?
                lost: u64,
                $($largest: $last,)?
            ) {
                self.law.on_congestion_event(now, sent, is_persistent, $($is_ecn,)? lost $(, $largest)?);
                let window = self.law.metrics().congestion_window;
                self.record.lock().on_congestion(self.path, window, is_persistent, lost);
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
                let Watched { law, record, path, newest } = self;
                Box::new(Watched { law: law.clone_box(), record: record.clone(), path: *path, newest: *newest })
            }

            fn initial_window(&self) -> u64 {
                self.law.initial_window()
            }

            fn into_any(self: Box<Self>) -> Box<dyn Any> {
                self
            }

            $($more)*
        }
    };
}

pub(super) mod of_quinn {
    use super::{Arc, Instant, MutexGuard, Record, RoundTrip, Shared, Span};

    watched!(quinn_proto, acked(), congested(;), {});
}

#[cfg(feature = "noq")]
pub(super) mod of_noq {
    use super::{Arc, Instant, MutexGuard, Record, RoundTrip, Shared, Span};

    watched!(noq_proto, acked(number: u64), congested(is_ecn: bool; largest: u64), {
        fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
            self.law.on_packet_sent(now, bytes, number);
        }

        fn on_cwnd_limited(&mut self) {
            self.law.on_cwnd_limited();
        }

        fn on_packet_lost(&mut self, bytes: u16, number: u64, now: Instant) {
            self.law.on_packet_lost(bytes, number, now);
            let counters = &mut self.record.lock().counters;
            counters.lost += 1;
            counters.paths[self.path].lost += 1;
        }

        fn on_spurious_congestion_event(&mut self) {
            self.law.on_spurious_congestion_event();
        }
    });

    impl std::fmt::Debug for Watched {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_struct("Watched")
                .field("law", &self.law)
                .field("path", &self.path)
                .finish_non_exhaustive()
        }
    }
}
