//! A congestion law of the stack as a controller of `quinn-proto`.
//!
//! **How.** Events of the controller become those of a [`Congestion`] law. Its segments are packets that must be acknowledged,
//! numbered from 0 in the order in which they leave, and its stream offsets are these numbers. Packets acknowledged are found
//! by the time at which they left and their size; those lost are the oldest outstanding ones, of as many bytes: of two packets
//! the older one is lost first, whichever threshold applies (RFC 9002, 6.1).
//!
//! **Choices.** 1. The window after a loss comes from the window before it, and is at least two packets (RFC 9002, 7.2 and
//! 7.3.2). Persistent congestion is a timeout; a probe timeout is nothing (7.5). 2. An acknowledgement counts for all packets
//! that it newly acknowledges. 3. A round trip includes the delay of the acknowledgement, and every acknowledgement gives one:
//! no number is used twice. 4. A law that paces holds packets back by a window of zero until the next may leave; the pacer of
//! `quinn-proto`, at 5/4 of a window per round trip, remains, and paces the other laws. 5. Losses are reported after the
//! acknowledgement that reveals them, since the controller hears them so. 6. `quinn-proto` sends as long as the window is more
//! than what is in flight with the next packet; one byte more makes it as much.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lasthop_stack::hooks::{
    Ack, Congestion, Delivered, Departure, EcnEcho, Loss, LossBase, LossCause, Mark, Progress, Window,
};
use lasthop_stack::registry::{CongestionMachine, LawConfig, Start};
use lasthop_stack::units::{Bytes, Span, Time};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

use super::record::Shared;

/// The first window, in packets and, of packets that are large, in bytes (RFC 9002, 7.2).
const INITIAL: (u64, u64) = (10, 14_720);
/// The least window, in packets (RFC 9002, 7.2).
const LEAST: f64 = 2.0;
/// Bytes that wait to be sent where none are known to.
const UNKNOWN: u64 = 1 << 32;

/// What makes the controllers of an end.
pub(super) struct LawFactory {
    pub(super) law: LawConfig,
    /// Bytes of a full packet.
    pub(super) packet: u16,
    /// A random number for the law's own decisions.
    pub(super) draw: u32,
    pub(super) record: Shared,
}

impl ControllerFactory for LawFactory {
    fn build(self: Arc<Self>, _now: Instant, mtu: u16) -> Box<dyn Controller> {
        let segment = u32::from(self.packet);
        let first = (INITIAL.0 * u64::from(mtu)).min(INITIAL.1.max(2 * u64::from(mtu)));
        let initial = first as f64 / f64::from(segment);
        Box::new(Adapter {
            law: self.law.build(Start { segment, draw: self.draw }),
            window: Window::new(initial, None, f64::from(u32::MAX)),
            segment,
            initial: first,
            outstanding: VecDeque::new(),
            in_flight: 0,
            next: 0,
            departure: None,
            acked: Acked::default(),
            srtt: None,
            reduced: None,
            release: Time::ZERO,
            quantum: 0,
            record: self.record.clone(),
        })
    }
}

/// A packet that has neither been acknowledged nor declared lost.
#[derive(Clone, Copy)]
struct Packet {
    number: u64,
    sent: Time,
    size: u64,
}

/// The data that the present acknowledgement newly acknowledges.
#[derive(Clone, Copy, Default)]
struct Acked {
    delivered: Delivered,
    newest_sent: Option<Time>,
    srtt: Option<Span>,
}

/// A law between the events of a controller and its own.
#[derive(Clone)]
struct Adapter {
    law: CongestionMachine,
    window: Window,
    /// Bytes of a full packet, which is a segment of the window.
    segment: u32,
    initial: u64,
    outstanding: VecDeque<Packet>,
    /// Their bytes.
    in_flight: u64,
    /// Number of the next packet.
    next: u64,
    /// The last packet, which is reported when it is known whether more waited.
    departure: Option<Departure>,
    acked: Acked,
    srtt: Option<Span>,
    /// When the window was last reduced: packets sent before it reduce it no more, and do not let it grow.
    reduced: Option<Time>,
    /// When the next packet may leave, and how many bytes before it.
    release: Time,
    quantum: u32,
    record: Shared,
}

impl Adapter {
    fn time(&self, at: Instant) -> Time {
        self.record.lock().time(at)
    }

    fn base(&self) -> u64 {
        self.outstanding.front().map_or(self.next, |packet| packet.number)
    }

    /// The oldest packet leaves the network.
    fn take_oldest(&mut self) -> Option<Packet> {
        let packet = self.outstanding.pop_front()?;
        self.in_flight -= packet.size;
        Some(packet)
    }

    fn is_answered(&self, sent: Time) -> bool {
        self.reduced.is_some_and(|reduced| sent <= reduced)
    }

    /// Reports the last departure; nothing waited behind it where the application limits the sender.
    fn report_departure(&mut self, app_limited: bool) {
        if let Some(departure) = self.departure.take() {
            let backlog = if app_limited { 0 } else { UNKNOWN };
            self.law.on_sent(&Departure { backlog, ..departure });
        }
    }

    fn depart(&mut self, size: u64, now: Time) {
        self.report_departure(false);
        if self.outstanding.is_empty() {
            self.law.on_restart(now, &mut self.window);
        }
        let (number, pipe) = (self.next, self.outstanding.len() as u32);
        self.next += 1;
        self.outstanding.push_back(Packet { number, sent: now, size });
        self.in_flight += size;
        let (base, outstanding) = (self.base(), self.in_flight);
        self.departure = Some(Departure { now, number, base, pipe, outstanding, backlog: UNKNOWN });
        self.space(size, now);
    }

    /// A packet leaves at the pace of the law, if it has one.
    fn space(&mut self, size: u64, now: Time) {
        let Some(rate) = self.window.pacing else { return };
        let quantum = if now < self.release { self.quantum } else { self.window.quantum };
        self.quantum = quantum.saturating_sub(size as u32);
        self.release = now.max(self.release).after(Bytes(size).time_at(rate));
        let held = if self.quantum == 0 { self.release } else { Time::ZERO };
        self.record.lock().held_until = held;
    }

    /// The last acknowledgement goes to the law.
    fn acknowledge(&mut self, now: Time, app_limited: bool) {
        let Acked { delivered, newest_sent: Some(sent), srtt } = std::mem::take(&mut self.acked) else {
            return;
        };
        let rtt = now.since(sent);
        if self.srtt.is_none() {
            self.law.on_start(now, Some(rtt), &mut self.window);
        }
        // Before the first sample the estimator of the connection has none.
        let srtt = self.srtt.and(srtt).unwrap_or(rtt);
        self.srtt = Some(srtt);
        let segments = delivered.segments;
        let progress = match () {
            () if self.is_answered(sent) => Progress::Recovering(segments),
            () if app_limited => Progress::Unlimited(segments),
            () => Progress::Open(segments),
        };
        let pipe = self.outstanding.len() as u32;
        let ack = Ack {
            now,
            progress,
            rtt: Some(rtt),
            newest_sent: Some(sent),
            srtt: self.srtt,
            una: self.base(),
            sent_end: self.next,
            flight: pipe + segments,
            pipe,
            delivered,
            counted: segments,
            extension: None,
            ecn: EcnEcho::Unmarked,
        };
        self.law.on_ack(&ack, &mut self.window);
        self.bound();
    }

    /// The law answers a loss, or a mark if nothing is lost.
    fn answer(&mut self, now: Time, sent: Time, is_persistent: bool, is_mark: bool) {
        let (base, least) = (LossBase::Window(self.window.cwnd), LEAST);
        let mark = Mark {
            now,
            base,
            least,
            una: self.base(),
            pipe: self.outstanding.len() as u32,
            sent: self.next,
            sent_end: self.next,
            srtt: self.srtt,
        };
        if is_mark {
            self.law.on_mark(&mark, &mut self.window);
        } else {
            let cause = if is_persistent { LossCause::Timeout } else { LossCause::Duplicates };
            self.law.on_loss(&Loss { cause, sent_at: sent, ..mark.as_loss() }, &mut self.window);
        }
        self.reduced = Some(now);
        self.bound();
    }

    fn bound(&mut self) {
        self.window.cwnd = self.window.cwnd.clamp(LEAST, self.window.limit);
        self.window.ssthresh = self.window.ssthresh.max(LEAST);
    }

    /// The oldest packets are lost, of this many bytes; returns their numbers.
    fn lose(&mut self, mut bytes: u64) -> Vec<u64> {
        let mut lost = Vec::new();
        while bytes > 0
            && let Some(packet) = self.take_oldest()
        {
            bytes = bytes.saturating_sub(packet.size);
            lost.push(packet.number);
        }
        lost
    }

    fn bytes(&self, segments: f64) -> u64 {
        (segments * f64::from(self.segment)) as u64
    }
}

impl Controller for Adapter {
    fn on_sent(&mut self, now: Instant, _bytes: u64, _last: u64) {
        let now = self.time(now);
        let sizes = std::mem::take(&mut self.record.lock().eliciting);
        for size in sizes {
            self.depart(size, now);
        }
    }

    fn on_ack(&mut self, _now: Instant, sent: Instant, bytes: u64, _app_limited: bool, rtt: &RttEstimator) {
        let sent = self.time(sent);
        // A probe of the path's MTU is not found: it is not sent by the window.
        let is_it = |packet: &Packet| packet.sent == sent && packet.size == bytes;
        let Some(place) = self.outstanding.iter().position(is_it) else { return };
        let number = self.outstanding.remove(place).map(|packet| packet.number);
        self.in_flight -= bytes;
        let Delivered { bytes: before, segments, newest } = self.acked.delivered;
        let newest = newest.max(number);
        self.acked = Acked {
            delivered: Delivered { bytes: before + bytes, segments: segments + 1, newest },
            newest_sent: self.acked.newest_sent.max(Some(sent)),
            srtt: Some(span(rtt.get())),
        };
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _largest: Option<u64>) {
        // Packets of a handshake whose keys are discarded are neither acknowledged nor lost.
        while self.in_flight > in_flight && self.take_oldest().is_some() {}
        self.report_departure(app_limited);
        self.acknowledge(self.time(now), app_limited);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, lost: u64) {
        let (now, sent) = (self.time(now), self.time(sent));
        self.report_departure(false);
        let numbers = self.lose(lost);
        if is_persistent || !self.is_answered(sent) {
            self.answer(now, sent, is_persistent, lost == 0);
        }
        if self.law.hears_losses() {
            for number in numbers {
                self.law.on_lost(number, now, &self.window);
            }
        }
    }

    /// Packets keep the size that the law learns at the start.
    fn on_mtu_update(&mut self, _mtu: u16) {}

    fn window(&self) -> u64 {
        let is_held = self.window.pacing.is_some() && self.record.lock().held().is_some();
        if is_held { 0 } else { self.bytes(self.window.cwnd) + 1 }
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.bytes(self.window.cwnd);
        let has_threshold = self.window.ssthresh < self.window.limit;
        metrics.ssthresh = has_threshold.then(|| self.bytes(self.window.ssthresh));
        metrics.pacing_rate = self.window.pacing.map(|rate| rate.0);
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.initial
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

fn span(duration: Duration) -> Span {
    Span(duration.as_nanos() as u64)
}
