//! The controllers of the paths of a sender, recorded.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use lasthop_stack::units::Span;
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

use super::super::record::{RoundTrip, Shared};

/// What makes them.
pub(super) struct Factory {
    law: Arc<dyn ControllerFactory + Send + Sync>,
    record: Shared,
}

impl Factory {
    pub(super) fn new(law: Arc<dyn ControllerFactory + Send + Sync>, record: &Shared) -> Factory {
        Factory { law, record: record.clone() }
    }
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let law = self.law.clone().build(now, mtu);
        let mut watched = Watched { law, window: 0, newest: None, record: self.record.clone() };
        watched.note(now);
        Box::new(watched)
    }
}

/// The controller of a path.
struct Watched {
    law: Box<dyn Controller>,
    /// Its window when it was last noted.
    window: u64,
    newest: Option<RoundTrip>,
    record: Shared,
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched")
            .field("law", &self.law)
            .field("window", &self.window)
            .finish_non_exhaustive()
    }
}

impl Watched {
    /// Notes the windows of all paths together.
    fn note(&mut self, now: Instant) -> u64 {
        let window = self.law.window();
        let mut record = self.record.lock();
        let all = record.window + window - self.window;
        if window != self.window {
            let now = record.time(now);
            record.set_window(all, now);
        }
        self.window = window;
        all
    }
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, largest: u64) {
        self.law.on_sent(now, bytes, largest);
        self.note(now);
        let mut record = self.record.lock();
        let now = record.time(now);
        record.on_sent(now);
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        self.law.on_packet_sent(now, bytes, number);
    }

    fn on_cwnd_limited(&mut self) {
        self.law.on_cwnd_limited();
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        number: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.law.on_ack(now, sent, bytes, number, app_limited, rtt);
        let span = |duration: std::time::Duration| Span(duration.as_nanos() as u64);
        self.newest = Some(RoundTrip { rtt: span(now.duration_since(sent)), srtt: span(rtt.get()) });
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.law.on_end_acks(now, in_flight, app_limited, largest);
        self.note(now);
        self.record.lock().round_trips.extend(self.newest.take());
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent: bool,
        is_ecn: bool,
        lost: u64,
        largest: u64,
    ) {
        self.law.on_congestion_event(now, sent, is_persistent, is_ecn, lost, largest);
        let window = self.record.lock().window + self.law.window() - self.window;
        self.record.lock().on_congestion(window, is_persistent, lost);
        self.note(now);
    }

    fn on_packet_lost(&mut self, bytes: u16, number: u64, now: Instant) {
        self.law.on_packet_lost(bytes, number, now);
        self.record.lock().counters.lost += 1;
    }

    fn on_spurious_congestion_event(&mut self) {
        self.law.on_spurious_congestion_event();
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
        let Watched { law, window, newest, record } = self;
        Box::new(Watched { law: law.clone_box(), window: *window, newest: *newest, record: record.clone() })
    }

    fn initial_window(&self) -> u64 {
        self.law.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
