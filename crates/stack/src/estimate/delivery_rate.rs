//! The delivery rate of the path, one sample per acknowledgement, and what was lost of the segments that it is taken from.
//!
//! **Limits.** Segments acknowledged for a reason other than their arrival (a snoop agent, thinned acknowledgements)
//! count as delivered.
//!
//! **Source.** draft-cheng-iccrg-delivery-rate-estimation-02; draft-ietf-ccwg-bbr-06 (4.1.2), which also keeps what was in
//! flight and lost when a segment left.
//!
//! **How.** Each segment leaves with the count of bytes delivered so far and the time of the last delivery. When it is
//! acknowledged, the rate is the number of bytes delivered since, divided by a time. That is the time in which they
//! were sent or the time in which they were acknowledged, whichever is longer: acknowledgements may arrive compressed.
//!
//! **Choices.** 1. Lost and in flight are counted in segments. A loss that proves spurious stays counted, as in Linux. 2. The
//! interval begins anew with a segment that leaves when nothing is unacknowledged. The draft (4.1.2.2) says when
//! nothing is in flight, since all that is acknowledged after that was sent after it. But a segment declared lost is
//! not in flight, and may still arrive. After a spurious timeout, the acknowledgement of one copy covers data delivered
//! since long before it. The draft before it (`SND.NXT == SND.UNA`) and Linux (`packets_out`) go by what is
//! unacknowledged. 3. Of the samples from copies, only those shorter than the least round trip are discarded (4.1.3.5,
//! the first approach), as in Linux.
//!
//! **Checked by** the tests below and those of BBR.

use std::collections::VecDeque;

use crate::hooks::{Ack, Departure};
use crate::units::{Span, Time};

/// The state of the connection when a segment left.
#[derive(Clone, Copy, Debug)]
struct Record {
    number: u64,
    sent: Time,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    app_limited: bool,
    /// Segments in the network, its own included, and segments lost so far.
    in_flight: u32,
    lost: u64,
    /// Whether it has been sent before.
    is_copy: bool,
}

/// The state of the estimate, with one record per segment outstanding.
#[derive(Clone, Debug, Default)]
pub struct DeliveryRate {
    records: VecDeque<Record>,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    /// The sender has too little to send until this number of bytes is delivered.
    app_limited_until: Option<u64>,
    /// Segments and copies declared lost so far.
    lost: u64,
    /// The least round trip measured.
    least: Option<Span>,
}

/// The rate sample of one acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Bytes per second, if the time that it is taken over is not too short.
    pub rate: Option<f64>,
    /// Bytes delivered in that time.
    pub delivered: u64,
    /// The round trip of the segment that gives the sample, if it was sent once.
    pub rtt: Option<Span>,
    /// How that segment left, and what was lost since.
    pub sending: Sending,
    /// Bytes delivered when the segment that gives the sample left.
    pub prior_delivered: u64,
}

/// The departure of a segment that has arrived or is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sending {
    /// Segments in the network when it left, its own included.
    pub in_flight: u32,
    /// Segments lost since; its own included if it is lost.
    pub lost: u64,
    /// Whether the sender, not the path, may have limited the rate.
    pub app_limited: bool,
}

impl DeliveryRate {
    /// Bytes delivered so far.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// A segment was sent.
    pub fn on_sent(&mut self, departure: &Departure) {
        let Departure { now, number, base, pipe, outstanding, backlog } = *departure;
        if backlog == 0 {
            self.app_limited_until = Some(self.delivered + outstanding);
        }
        while self.records.front().is_some_and(|record| record.number < base) {
            self.records.pop_front();
        }
        let (first, len) = (self.records.front().map(|first| first.number), self.records.len());
        let again = first.map(|first| (number - first) as usize).filter(|again| *again < len);
        if number == base && again.is_none() {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let record = Record {
            number,
            sent: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            app_limited: self.app_limited_until.is_some(),
            in_flight: pipe + 1,
            lost: self.lost,
            is_copy: again.is_some(),
        };
        match again {
            Some(again) => self.records[again] = record,
            None => self.records.push_back(record),
        }
    }

    /// Samples count as limited by the sender until this many more bytes are delivered.
    pub fn limit(&mut self, bytes: u64) {
        self.app_limited_until = Some(self.delivered + bytes);
    }

    /// Whether the sender has too little to send.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.app_limited_until.is_some()
    }

    /// A segment, or a copy of it, is declared lost.
    pub fn on_lost(&mut self, number: u64) -> Option<Sending> {
        self.lost += 1;
        self.record(number).map(|record| self.sending(&record))
    }

    fn record(&self, number: u64) -> Option<Record> {
        let first = self.records.front()?.number;
        self.records.get(number.checked_sub(first)? as usize).copied()
    }

    fn sending(&self, record: &Record) -> Sending {
        let Record { in_flight, app_limited, .. } = *record;
        Sending { in_flight, lost: self.lost - record.lost, app_limited }
    }

    /// An acknowledgement arrived. A sample shorter than the least round trip of the connection has no rate:
    /// acknowledgements that arrive together carry no information about the path.
    pub fn on_ack(&mut self, ack: &Ack) -> Option<RateSample> {
        self.least = self.least.into_iter().chain(ack.rtt).min();
        if ack.delivered.bytes == 0 {
            return None;
        }
        // A duplicate without selective acknowledgements delivers a segment that nobody knows.
        self.delivered += ack.delivered.bytes;
        self.delivered_at = ack.now;
        if self.app_limited_until.is_some_and(|until| self.delivered > until) {
            self.app_limited_until = None;
        }
        let record = self.record(ack.delivered.newest?)?;
        self.first_sent = record.sent;
        let interval = record.sent.since(record.first_sent).max(self.delivered_at.since(record.delivered_at));
        let is_short = interval == Span::ZERO || self.least.is_some_and(|least| interval < least);
        let delivered = self.delivered - record.delivered;
        Some(RateSample {
            rate: (!is_short).then(|| delivered as f64 / interval.as_secs()),
            delivered,
            rtt: (!record.is_copy).then(|| ack.now.since(record.sent)),
            sending: self.sending(&record),
            prior_delivered: record.delivered,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::testing;
    use crate::hooks::{Delivered, Progress};

    fn departure(ms: u64, number: u64, pipe: u32, backlog: u64) -> Departure {
        Departure {
            now: Time(ms * 1_000_000),
            number,
            base: number.saturating_sub(pipe.into()),
            pipe,
            outstanding: u64::from(pipe + 1) * 1000,
            backlog,
        }
    }

    fn ack(ms: u64, newest: u64) -> Ack {
        Ack {
            now: Time(ms * 1_000_000),
            delivered: Delivered { bytes: 1000, segments: 1, newest: Some(newest) },
            counted: 1,
            ..testing::ack(Progress::Open(1))
        }
    }

    #[test]
    fn the_rate_is_what_was_delivered_while_the_segment_was_under_way() {
        let mut rate = DeliveryRate::default();
        for number in 0..4 {
            rate.on_sent(&departure(0, number, number as u32, 9000));
        }
        // One segment every 10 ms from 100 ms on.
        assert_eq!(rate.on_ack(&ack(100, 0)).and_then(|sample| sample.rate), Some(10_000.0));
        rate.on_sent(&departure(100, 4, 3, 9000));
        for number in 1..4 {
            rate.on_ack(&ack(100 + 10 * number, number));
        }
        // Segment 4 left after 1000 bytes were delivered at 100 ms; its delivery makes 5000 at 200 ms.
        let sample = rate.on_ack(&ack(200, 4)).expect("a sample");
        assert_eq!((sample.rate, sample.delivered, sample.prior_delivered), (Some(40_000.0), 4000, 1000));
        assert_eq!(sample.rtt, Some(Span::from_millis(100)));
        assert_eq!(sample.sending, Sending { in_flight: 4, lost: 0, app_limited: false });
    }

    #[test]
    fn a_duplicate_that_names_no_segment_counts_in_the_next_sample() {
        let mut rate = DeliveryRate::default();
        for number in 0..4 {
            rate.on_sent(&departure(0, number, number as u32, 9000));
        }
        let unknown = Delivered { newest: None, ..ack(80, 0).delivered };
        for ms in [80, 90] {
            assert_eq!(rate.on_ack(&Ack { delivered: unknown, ..ack(ms, 0) }), None);
        }
        let sample = rate.on_ack(&ack(100, 0)).expect("a sample");
        assert_eq!((sample.delivered, sample.rate), (3000, Some(30_000.0)));
    }

    #[test]
    fn acknowledgements_that_arrive_together_do_not_raise_the_rate() {
        let mut rate = DeliveryRate::default();
        for number in 0..3 {
            rate.on_sent(&departure(20 * number, number, number as u32, 9000));
        }
        rate.on_ack(&ack(100, 0));
        rate.on_ack(&ack(100, 1));
        // Sent over 40 ms: the 2000 bytes since the first was sent are divided by at least this time.
        let sample = rate.on_ack(&ack(100, 2)).and_then(|sample| sample.rate).expect("a rate");
        assert!(sample <= 3000.0 / 0.04, "{sample}");
    }

    #[test]
    fn an_interval_shorter_than_the_least_round_trip_of_the_connection_has_no_rate() {
        let mut rate = DeliveryRate::default();
        let measured = |ms, newest, rtt| Ack { rtt: Some(Span::from_millis(rtt)), ..ack(ms, newest) };
        for number in 0..3 {
            rate.on_sent(&departure(0, number, number as u32, 9000));
        }
        let short = rate.on_ack(&measured(50, 0, 80)).expect("a sample");
        assert_eq!((short.rate, short.delivered), (None, 1000));
        assert!(rate.on_ack(&measured(90, 1, 90)).is_some_and(|sample| sample.rate.is_some()));
        // A longer round trip later, however long it stays, takes no rate from a path whose queue has drained.
        rate.on_ack(&measured(120, 2, 120));
        rate.on_sent(&departure(120, 3, 0, 9000));
        assert!(rate.on_ack(&measured(205, 3, 120)).is_some_and(|sample| sample.rate.is_some()));
    }

    #[test]
    fn a_sender_with_nothing_behind_marks_its_samples() {
        let mut rate = DeliveryRate::default();
        rate.on_sent(&departure(0, 0, 0, 0));
        assert!(rate.on_ack(&ack(100, 0)).is_some_and(|sample| sample.sending.app_limited));
        // Until more is delivered than there was to send.
        rate.on_sent(&departure(100, 1, 0, 5000));
        assert!(rate.on_ack(&ack(200, 1)).is_some_and(|sample| sample.sending.app_limited));
        rate.on_sent(&departure(200, 2, 0, 5000));
        assert!(rate.on_ack(&ack(300, 2)).is_some_and(|sample| !sample.sending.app_limited));
    }

    /// Linux: `packets_out` in `tcp_rate_skb_sent`. Nothing is in flight by the sender's account, and all has arrived.
    #[test]
    fn a_copy_sent_when_all_is_declared_lost_is_measured_from_the_last_delivery() {
        let mut rate = DeliveryRate::default();
        for number in 0..300 {
            rate.on_sent(&departure(number, number, number as u32, 9000));
        }
        rate.on_ack(&ack(300, 0));
        rate.on_sent(&departure(1300, 1, 0, 9000));
        let delivered = Delivered { bytes: 299_000, segments: 299, newest: Some(1) };
        let sample = rate.on_ack(&Ack { delivered, ..ack(1400, 1) }).and_then(|sample| sample.rate);
        // The copy left 1.3 s after the segment that was delivered before, and 1.1 s have passed since that delivery.
        assert_eq!(sample, Some(299_000.0 / 1.3));
        // With nothing outstanding the time in which nothing was sent does not count.
        rate.on_sent(&departure(9000, 300, 0, 9000));
        assert_eq!(rate.on_ack(&ack(9100, 300)).and_then(|sample| sample.rate), Some(10_000.0));
    }

    #[test]
    fn a_segment_sent_again_is_measured_from_its_second_departure() {
        let mut rate = DeliveryRate::default();
        rate.on_sent(&departure(0, 0, 0, 9000));
        rate.on_sent(&departure(0, 1, 1, 9000));
        rate.on_sent(&departure(500, 0, 1, 9000));
        let sample = rate.on_ack(&ack(600, 0)).expect("a sample");
        assert_eq!((sample.rate, sample.rtt), (Some(1000.0 / 0.6), None));
    }

    /// draft-ietf-ccwg-bbr-06 (4.1.2.1.2): what was lost since a segment left, its own loss included.
    #[test]
    fn a_lost_segment_tells_what_was_in_flight_when_it_left_and_lost_since() {
        let mut rate = DeliveryRate::default();
        for number in 0..4 {
            rate.on_sent(&departure(0, number, number as u32, 9000));
        }
        let lost = |in_flight, lost| Some(Sending { in_flight, lost, app_limited: false });
        assert_eq!([rate.on_lost(1), rate.on_lost(2)], [lost(2, 1), lost(3, 2)]);
        assert_eq!(rate.on_ack(&ack(100, 3)).map(|sample| sample.sending), lost(4, 2));
        // The copy left after both, and its loss is the only one since.
        rate.on_sent(&departure(100, 1, 1, 9000));
        assert_eq!(rate.on_lost(1), lost(2, 1));
        assert_eq!(rate.on_lost(77), None);
    }
}
