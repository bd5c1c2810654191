//! The delivery rate of the path, one sample per acknowledgement.
//!
//! **Limits.** Segments acknowledged for a reason other than their arrival (a snoop agent, thinned acknowledgements)
//! count as delivered.
//!
//! **Source.** draft-cheng-iccrg-delivery-rate-estimation-02.
//!
//! **How.** Each segment leaves with the count of bytes delivered so far and the time of the last delivery. When it is
//! acknowledged, the rate is the number of bytes delivered since, divided by the time they took to be sent or to be
//! acknowledged, whichever is longer; acknowledgements may arrive compressed.
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
}

/// The rate sample of one acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Bytes per second.
    pub rate: f64,
    /// Bytes delivered when the segment that gives the sample left.
    pub prior_delivered: u64,
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
        if pipe == 0 {
            self.first_sent = now;
            self.delivered_at = now;
        }
        if backlog == 0 {
            self.app_limited_until = Some(self.delivered + outstanding);
        }
        while self.records.front().is_some_and(|record| record.number < base) {
            self.records.pop_front();
        }
        let record = Record {
            number,
            sent: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            app_limited: self.app_limited_until.is_some(),
        };
        match self.records.front().map(|first| (number - first.number) as usize) {
            Some(again) if again < self.records.len() => self.records[again] = record,
            _ => self.records.push_back(record),
        }
    }

    /// An acknowledgement arrived. A sample shorter than `least`, the minimum round trip, is discarded:
    /// acknowledgements that arrive together carry no information about the path.
    pub fn on_ack(&mut self, ack: &Ack, least: Option<Span>) -> Option<RateSample> {
        let newest = ack.delivered.newest?;
        self.delivered += ack.delivered.bytes;
        self.delivered_at = ack.now;
        if self.app_limited_until.is_some_and(|until| self.delivered > until) {
            self.app_limited_until = None;
        }
        let first = self.records.front()?.number;
        let record = *self.records.get(newest.checked_sub(first)? as usize)?;
        self.first_sent = record.sent;
        let interval = record.sent.since(record.first_sent).max(self.delivered_at.since(record.delivered_at));
        if interval == Span::ZERO || least.is_some_and(|least| interval < least) {
            return None;
        }
        Some(RateSample {
            rate: (self.delivered - record.delivered) as f64 / interval.as_secs(),
            prior_delivered: record.delivered,
            app_limited: record.app_limited,
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
            base: 0,
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
        assert_eq!(rate.on_ack(&ack(100, 0), None).map(|sample| sample.rate), Some(10_000.0));
        rate.on_sent(&departure(100, 4, 3, 9000));
        for number in 1..4 {
            rate.on_ack(&ack(100 + 10 * number, number), None);
        }
        // Segment 4 left after 1000 bytes were delivered at 100 ms; its delivery makes 5000 at 200 ms.
        let sample = rate.on_ack(&ack(200, 4), None).expect("a sample");
        assert!((sample.rate - 40_000.0).abs() < 1e-6);
        assert_eq!((sample.prior_delivered, sample.app_limited), (1000, false));
    }

    #[test]
    fn acknowledgements_that_arrive_together_do_not_raise_the_rate() {
        let mut rate = DeliveryRate::default();
        for number in 0..3 {
            rate.on_sent(&departure(20 * number, number, number as u32, 9000));
        }
        rate.on_ack(&ack(100, 0), None);
        rate.on_ack(&ack(100, 1), None);
        // Sent over 40 ms: the 2000 bytes since the first was sent are divided by at least this time.
        let sample = rate.on_ack(&ack(100, 2), None).expect("a sample");
        assert!(sample.rate <= 3000.0 / 0.04, "{}", sample.rate);
        let mut rate = DeliveryRate::default();
        rate.on_sent(&departure(0, 0, 0, 9000));
        assert_eq!(rate.on_ack(&ack(50, 0), Some(Span::from_millis(80))), None);
    }

    #[test]
    fn a_sender_with_nothing_behind_marks_its_samples() {
        let mut rate = DeliveryRate::default();
        rate.on_sent(&departure(0, 0, 0, 0));
        assert!(rate.on_ack(&ack(100, 0), None).is_some_and(|sample| sample.app_limited));
        rate.on_sent(&departure(100, 1, 0, 5000));
        rate.on_ack(&ack(200, 1), None);
        rate.on_sent(&departure(200, 2, 0, 5000));
        assert!(rate.on_ack(&ack(300, 2), None).is_some_and(|sample| !sample.app_limited));
    }

    #[test]
    fn a_segment_sent_again_is_measured_from_its_second_departure() {
        let mut rate = DeliveryRate::default();
        rate.on_sent(&departure(0, 0, 0, 9000));
        rate.on_sent(&departure(0, 1, 1, 9000));
        rate.on_sent(&departure(500, 0, 1, 9000));
        let sample = rate.on_ack(&ack(600, 0), None).expect("a sample");
        assert_eq!(sample.rate, 1000.0 / 0.6);
    }
}
