//! An end of a connection of either stack.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use lasthop_stack::packet::{Ecn, NodeId};
use lasthop_stack::units::Time;

use super::endpoint::Endpoint;
use super::task;
use super::{Log, QuicCounters, Reader, Shared, Stack, Writer, socket};

/// An end with this endpoint.
pub(super) struct Peer<E> {
    endpoint: E,
    remote: SocketAddr,
    base: Instant,
    record: Shared,
    is_logged: bool,
    /// Whether its law may hold packets back.
    paces: bool,
    /// What the endpoint answers by itself to packets without a connection.
    answers: VecDeque<Vec<u8>>,
}

impl<E: Endpoint> Peer<E> {
    /// One that sends to this address.
    pub(super) fn new(
        remote: SocketAddr,
        paces: bool,
        endpoint: impl FnOnce(&Shared, Instant) -> E,
    ) -> Peer<E> {
        let base = instant();
        let record = Shared::new(base);
        let (endpoint, answers) = (endpoint(&record, base), VecDeque::new());
        Peer { endpoint, remote, base, record, is_logged: false, paces, answers }
    }

    /// Logs what has been measured.
    fn log_metrics(&mut self) {
        if self.is_logged
            && let Some((smoothed, path)) = self.endpoint.measured()
        {
            self.record.lock().log_metrics(smoothed, path);
        }
    }

    /// The record gets the time, if something happens by it.
    fn note_time(&self, now: Time) {
        if self.is_logged || self.paces {
            self.record.lock().now = now;
        }
    }

    fn at(&self, now: Time) -> Instant {
        self.base + Duration::from_nanos(now.0)
    }
}

/// The connection begins.
fn log_begin(record: &Shared, remote: SocketAddr, now: Time) {
    if let Some(log) = &mut record.lock().log {
        log.begin(now, remote);
    }
}

impl<E: Endpoint> Stack for Peer<E> {
    fn log(&mut self, log: Log, number: u32, local: (NodeId, u16)) {
        self.record.lock().log = Some(log.continue_with(number, socket(local)));
        self.is_logged = true;
    }

    fn record(&self) -> &Shared {
        &self.record
    }

    fn connect(&mut self, now: Time) {
        log_begin(&self.record, self.remote, now);
        self.endpoint.connect(self.at(now));
    }

    fn up(&mut self, datagram: &[u8], ecn: Ecn, way: [NodeId; 2], now: Time) {
        self.note_time(now);
        let (at, record, remote) = (self.at(now), &self.record, self.remote);
        let begins = || log_begin(record, remote, now);
        let answer = self.endpoint.receive(datagram, ecn, way, at, begins);
        self.answers.extend(answer);
        self.log_metrics();
    }

    fn on_timer(&mut self, now: Time) {
        self.note_time(now);
        self.endpoint.on_timer(self.at(now));
        self.log_metrics();
    }

    fn next_datagram(&mut self, now: Time, into: &mut Vec<u8>) -> Option<Ecn> {
        into.clear();
        if let Some(answer) = self.answers.pop_front() {
            into.extend_from_slice(&answer);
            return Some(Ecn::NotEct);
        }
        self.record.lock().begin(now);
        let ecn = self.endpoint.send(self.at(now), into)?;
        if let Some((_, path)) = self.endpoint.way() {
            self.record.lock().on_way(path);
        }
        Some(ecn)
    }

    fn way(&self) -> Option<[NodeId; 2]> {
        self.endpoint.way().map(|(way, _)| way)
    }

    fn next_at(&mut self) -> Option<Time> {
        let timeout = self.endpoint.deadline();
        let timeout = timeout.map(|at| Time(at.saturating_duration_since(self.base).as_nanos() as u64));
        let held = if self.paces { self.record.lock().held() } else { None };
        timeout.into_iter().chain(held).min()
    }

    fn counters(&self, now: Time) -> QuicCounters {
        let counters = self.record.lock().counters(now);
        QuicCounters { lost: self.endpoint.lost().unwrap_or(counters.lost), ..counters }
    }

    fn work(&mut self, writer: &mut Writer, reader: &mut Reader) -> bool {
        self.endpoint.connection().is_some_and(|connection| task::work(connection, writer, reader))
    }

    fn close(&mut self, now: Time) {
        self.endpoint.close(self.at(now));
    }
}

/// An instant from which simulated times are counted; nothing depends on which.
#[expect(clippy::disallowed_methods, reason = "an instant can only be made from another")]
fn instant() -> Instant {
    Instant::now()
}
