//! A load for a congestion law alone: the cost of the law itself for each acknowledgement.
//!
//! Every law receives the same events: a window of 60 segments circulates on a path of 90 ms whose queue grows and
//! shrinks. One segment is acknowledged every 1.5 ms and releases the next; one in 500 is lost, which three duplicates
//! report. The timestamps of the header extension are present for laws that read them. The answer of a law affects only
//! its own window. Nothing here reads a clock; the caller does.

use std::hint::black_box;

use lasthop_stack::hooks::scoreboard::Scoreboard;
use lasthop_stack::hooks::{
    Ack, Congestion, Delivered, Departure, Echo, EcnEcho, Loss, LossBase, LossCause, Progress, Sending,
    Window,
};
use lasthop_stack::registry::{CongestionKind, CongestionMachine, Start};
use lasthop_stack::transport::tcp::Profile;
use lasthop_stack::units::{Span, Time};

const LEN: u64 = 1000;
/// Segments outstanding.
const FLIGHT: u64 = 60;
/// Between two acknowledgements.
const STEP: Span = Span::from_micros(1500);
/// Round trip without a queue.
const BASE: Span = Span::from_millis(90);
/// One segment in this many is lost.
const LOST: u64 = 500;
/// Segments of the greatest queue, which grows by one in a round trip.
const QUEUE: u64 = 40;

/// A law and the acknowledgements it receives.
#[derive(Debug)]
pub struct LawLoad {
    law: Option<CongestionMachine>,
    window: Window,
    board: Scoreboard,
    /// Segments acknowledged.
    acknowledged: u64,
    losses: u64,
    now: Time,
}

impl LawLoad {
    /// A law of this kind, or none: what it costs to make the acknowledgements.
    #[must_use]
    pub fn new(kind: Option<CongestionKind>) -> LawLoad {
        let config = Profile::Modern.config();
        let mut board = Scoreboard::default();
        board.push(LEN as u32, false, Time::ZERO);
        let mut load = LawLoad {
            law: kind.map(|kind| kind.config().build(Start { segment: config.packet, draw: 0 })),
            window: Window::new(FLIGHT as f64, Some(FLIGHT as f64 / 2.0), FLIGHT as f64),
            board,
            acknowledged: 0,
            losses: 0,
            now: Time::ZERO.after(BASE),
        };
        for number in 0..FLIGHT {
            load.depart(number);
        }
        load
    }

    /// Reports this many acknowledgements.
    pub fn run(&mut self, acks: u64) {
        for _ in 0..acks {
            self.now = self.now.after(STEP);
            let number = self.acknowledged;
            match number % LOST {
                // The loss, its three duplicates and the acknowledgement that ends them.
                1..=3 => self.tell(Progress::Duplicate, number),
                4 => {
                    self.lose();
                    self.tell(Progress::Recovering(1), number);
                }
                _ => self.tell(Progress::Open(1), number),
            }
            self.acknowledged += 1;
            self.depart(number + FLIGHT);
        }
    }

    /// The window that the law has left, in segments.
    #[must_use]
    pub fn window(&self) -> f64 {
        self.window.cwnd
    }

    /// Losses reported so far.
    #[must_use]
    pub fn losses(&self) -> u64 {
        self.losses
    }

    /// The round trip of a segment.
    fn rtt(number: u64) -> Span {
        BASE + STEP * (number / FLIGHT % QUEUE)
    }

    fn tell(&mut self, progress: Progress, number: u64) {
        let rtt = LawLoad::rtt(number);
        let sent = Time(self.now.0 - rtt.0);
        let una = (number + 1) * LEN;
        let echo = Echo {
            sent,
            received: Time(self.now.0 - BASE.0 / 2),
            trigger: number * LEN,
            sending: Sending::Single,
            modulation: None,
        };
        let advances = progress != Progress::Duplicate;
        let ack = Ack {
            now: self.now,
            progress,
            rtt: advances.then_some(rtt),
            newest_sent: advances.then_some(sent),
            srtt: Some(rtt),
            una,
            sent_end: una + FLIGHT * LEN,
            flight: FLIGHT as u32,
            pipe: FLIGHT as u32 - 1,
            delivered: Delivered { bytes: LEN, segments: 1, newest: Some(number) },
            counted: 1,
            extension: Some(echo),
            ecn: EcnEcho::Unmarked,
        };
        let ack = black_box(ack);
        if let Some(law) = &mut self.law {
            law.on_ack(&ack, &mut self.window);
            black_box(law.is_overdue(&ack, &self.board));
        }
        self.hold();
    }

    fn lose(&mut self) {
        self.losses += 1;
        let loss = Loss {
            now: self.now,
            cause: LossCause::Duplicates,
            una: self.acknowledged * LEN,
            base: LossBase::Flight(FLIGHT as u32),
            least: 2.0,
            pipe: FLIGHT as u32,
            sent: self.acknowledged + FLIGHT,
            sent_end: (self.acknowledged + FLIGHT) * LEN,
            sent_at: Time(self.now.0 - BASE.0),
            times: 1,
            srtt: Some(BASE),
        };
        let loss = black_box(loss);
        if let Some(law) = &mut self.law {
            black_box(law.on_loss(&loss, &mut self.window));
        }
        self.hold();
    }

    fn depart(&mut self, number: u64) {
        let departure = black_box(Departure {
            now: self.now,
            number,
            base: self.acknowledged,
            pipe: FLIGHT as u32 - 1,
            outstanding: FLIGHT * LEN,
            backlog: u64::MAX / 2,
        });
        if let Some(law) = &mut self.law {
            law.on_sent(&departure);
        }
    }

    /// Holds the window within its bounds, as a sender does.
    fn hold(&mut self) {
        self.window.cwnd = self.window.cwnd.clamp(1.0, self.window.limit);
        self.window.ssthresh = self.window.ssthresh.max(2.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_law_is_told_the_same_and_acts_on_it() {
        for kind in CongestionKind::named_in_scenarios() {
            let mut load = LawLoad::new(Some(*kind));
            load.run(5 * LOST);
            assert_eq!(load.losses(), 5, "{kind:?}");
            assert!((1.0..=FLIGHT as f64).contains(&load.window()), "{kind:?}: {}", load.window());
        }
        let mut none = LawLoad::new(None);
        none.run(5 * LOST);
        assert_eq!((none.losses(), none.window()), (5, FLIGHT as f64));
        // After a loss Reno has half the window, and grows back.
        let mut reno = LawLoad::new(Some(CongestionKind::Reno));
        reno.run(5);
        assert_eq!(reno.window(), FLIGHT as f64 / 2.0);
        reno.run(LOST - 5);
        assert!(reno.window() > FLIGHT as f64 / 2.0 + 5.0);
    }
}
