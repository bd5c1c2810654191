//! Two loads: the first packets after a pause have opportunities of their own, those behind them these of a loaded link.
//!
//! **Limits.** No offset of the delay by the size of a packet. The queue of the link shows packets from their arrival on, also
//! while they are delayed; its limit counts those that wait for the loaded link alone.
//!
//! **Source.** CellReplay (Sentosa et al., NSDI 2025), `cellular_queue.cc`: `get_pkt_release_time_from_trace`, `read_packet` and
//! `write_packets`.
//!
//! **How.** A line of the light record is a train: when it was recorded, the delay of its first packet, and its opportunities
//! after this packet, of which the first is its own, all in milliseconds. A packet at `t` begins a train if `t + base` is later
//! than the last release and a pause; its base delay is on a straight line between the delays of the two lines around `t`. The
//! packets behind it take the opportunities, each of a fixed size, and are released a base delay after them. When
//! these are used up, packets go to the loaded link after their base delay, which has Mahimahi's opportunities. A packet that
//! is released while others wait there joins them.
//!
//! **Choices.** 1. Times are exact; CellReplay rounds them down to milliseconds. 2. The records begin with the run; CellReplay's
//! with the first packet. 3. Each packet takes `header` bytes besides its own, as at the opportunities of Mahimahi.
//!
//! **Checked by** the tests below, and by a reading of CellReplay's rules in `tests/python/test_recorded.py`.

use std::sync::Arc;

use super::{Opportunities, Unreadable, opportunities};
use crate::link::queue::{DropTail, QueueLimit};
use crate::link::transmitter::Transmitter;
use crate::units::{Bytes, Span, Time};

const NS_PER_MS: u64 = 1_000_000;
/// The last millisecond that a record may have.
const LATEST_MS: u32 = 1_000_000_000;

/// A train of packets that was recorded on an idle link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Train {
    at: Time,
    base: Span,
    offsets: Box<[Span]>,
}

/// Trains in the order of their times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trains(Box<[Train]>);

impl Trains {
    /// Reads a file: on each line a time, the delay of the first packet, and the opportunities after it, its own before others.
    ///
    /// # Errors
    /// A line is not such a list of milliseconds, times descend, or there are fewer than two lines.
    pub fn read(text: &str) -> Result<Trains, Unreadable> {
        let mut trains: Vec<Train> = Vec::new();
        for (place, found) in text.lines().enumerate() {
            let refused = |text: String| Err(Unreadable { line: place + 1, text });
            let numbers: Option<Vec<u64>> = found
                .split_whitespace()
                .map(|word| word.parse().ok().filter(|ms: &u32| *ms <= LATEST_MS))
                .map(|ms| ms.map(|ms| u64::from(ms) * NS_PER_MS))
                .collect();
            let expected = "expected milliseconds such as 120 35 0 2 4: a time, a delay, and opportunities";
            let Some([at, base, offsets @ ..]) = numbers.as_deref().filter(|all| all.len() > 2) else {
                let found = if found.is_empty() { "an empty line".to_string() } else { super::quoted(found) };
                return refused(format!("{found}; {expected}"));
            };
            let is_late = trains.last().is_some_and(|before| before.at.0 >= *at);
            if is_late || !offsets.is_sorted() {
                return refused(format!("{}; expected ascending times", super::quoted(found)));
            }
            trains.push(Train {
                at: Time(*at),
                base: Span(*base),
                offsets: offsets.iter().copied().map(Span).collect(),
            });
        }
        if trains.len() < 2 {
            let text = "fewer than two lines; expected a train on each".to_string();
            return Err(Unreadable { line: trains.len().max(1), text });
        }
        Ok(Trains(trains.into()))
    }

    /// Two trains without delay, each of one packet.
    #[must_use]
    pub fn none() -> Trains {
        let train = |at| Train { at: Time(at), base: Span::ZERO, offsets: [Span::ZERO].into() };
        Trains([train(0), train(NS_PER_MS)].into())
    }

    /// The trains.
    pub fn iter(&self) -> std::slice::Iter<'_, Train> {
        self.0.iter()
    }

    /// The train at a time, and the base delay of a packet that begins it.
    fn at(&self, now: Time) -> (usize, Span) {
        let last = self.0.len() - 1;
        let within = now.0 % self.0[last].at.0;
        let place = self.0.partition_point(|train| train.at.0 <= within).saturating_sub(1).min(last - 1);
        let (here, next) = (&self.0[place], &self.0[place + 1]);
        let part = u128::from(within.saturating_sub(here.at.0));
        let more =
            u128::from(here.base.0.abs_diff(next.base.0)) * part / u128::from(next.at.since(here.at).0);
        let (base, more) = (here.base.0, more as u64);
        let base = Span(if next.base < here.base { base - more } else { base + more });
        (place, base)
    }
}

impl<'a> IntoIterator for &'a Trains {
    type Item = &'a Train;
    type IntoIter = std::slice::Iter<'a, Train>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The loads of a direction.
#[derive(Clone, Debug)]
pub struct Loads {
    /// The trains on the idle link.
    pub light: Arc<Trains>,
    /// The opportunities of the loaded link.
    pub heavy: Opportunities,
    /// The time without a release after which a packet begins a train.
    pub pause: Span,
}

impl Loads {
    /// The longest base delay.
    #[must_use]
    pub fn longest(&self) -> Span {
        self.light.iter().map(|train| train.base).max().unwrap_or(Span::ZERO)
    }
}

/// A train that packets follow now.
#[derive(Clone, Copy, Debug)]
struct Following {
    train: usize,
    began: Time,
    base: Span,
    /// The opportunity that has room, and for how many bytes.
    next: usize,
    room: u32,
    /// When the last packet was released, by the train alone.
    released: Time,
}

/// A direction.
#[derive(Clone, Debug)]
pub struct Line {
    loads: Loads,
    heavy: opportunities::Line,
    queue: DropTail,
    following: Option<Following>,
    released: Time,
}

impl Line {
    /// An idle direction.
    #[must_use]
    pub fn new(loads: Loads, limit: QueueLimit) -> Line {
        let heavy = opportunities::Line::new(loads.heavy.clone(), limit, false);
        let queue = DropTail::new(QueueLimit::Unlimited);
        Line { loads, heavy, queue, following: None, released: Time::ZERO }
    }

    /// When a packet is released, and whether it is one of the train.
    fn release(&mut self, bytes: u32, now: Time) -> (Time, bool) {
        let opportunity = self.loads.heavy.opportunity;
        let Some(following) =
            self.following.as_mut().filter(|it| now + it.base <= it.released + self.loads.pause)
        else {
            let (train, base) = self.loads.light.at(now);
            let room = opportunity.saturating_sub(bytes);
            let released = now + base;
            self.following = Some(Following { train, began: now, base, next: 0, room, released });
            return (released, true);
        };
        let offsets = &self.loads.light.0[following.train].offsets;
        let since = now.since(following.began).0;
        while offsets.get(following.next).is_some_and(|offset| offset.0 < since) {
            (following.next, following.room) = (following.next + 1, opportunity);
        }
        if following.room < bytes {
            (following.next, following.room) = (following.next + 1, opportunity);
        }
        following.room = following.room.saturating_sub(bytes);
        let light = offsets.get(following.next).map(|offset| now + following.base + Span(offset.0 - since));
        let last = offsets.last().copied().unwrap_or(Span::ZERO);
        following.released = light.unwrap_or(now + following.base.max(last));
        (following.released, light.is_some())
    }
}

impl Transmitter for Line {
    fn offer(&mut self, size: Bytes, now: Time) -> Option<Time> {
        self.queue.advance(now);
        let bytes = size.0 as u32 + self.loads.heavy.header;
        let (released, is_light) = self.release(bytes, now);
        let is_behind = released < self.released;
        self.released = self.released.max(released);
        let released = self.released;
        let is_idle = self.heavy.queue_at(released).is_empty();
        let departure =
            if is_light && !is_behind && is_idle { released } else { self.heavy.offer(size, released)? };
        self.queue.push(now, departure, size);
        Some(departure)
    }

    fn ready_at(&self, now: Time) -> Time {
        now
    }

    fn queue(&self) -> &DropTail {
        &self.queue
    }

    fn queue_mut(&mut self) -> &mut DropTail {
        &mut self.queue
    }

    /// The opportunities of the loaded link alone.
    fn used(&self, now: Time) -> (u64, u64) {
        let (used, offered) = self.heavy.used(now);
        (used.min(offered), offered)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Schedule;
    use super::*;

    fn ms(ms: u64) -> Time {
        Time(ms * NS_PER_MS)
    }

    fn line(light: &str, heavy: &str) -> Line {
        let schedule = Arc::new(Schedule::read(heavy).expect("opportunities"));
        let heavy = Opportunities { schedule, opportunity: 1400, header: 0, is_once: false };
        let light = Arc::new(Trains::read(light).expect("trains"));
        Line::new(Loads { light, heavy, pause: Span::ZERO }, QueueLimit::Packets(2))
    }

    #[test]
    fn a_train_goes_by_its_own_opportunities_and_then_by_those_of_the_loaded_link() {
        let mut line = line("0 20 0 1 3\n1000 40 0 1 3\n", "7\n100\n");
        let left: Vec<_> =
            (0..4).map(|_| line.offer(Bytes(1400), ms(0)).map(|at| at.0 / NS_PER_MS)).collect();
        // The first after the base delay, two with the train, the next at an opportunity after that.
        assert_eq!(left, [Some(20), Some(21), Some(23), Some(100)]);
    }

    #[test]
    fn after_a_pause_a_packet_begins_a_train_whose_delay_is_between_two_lines() {
        let mut line = line("0 20 0 1 3\n1000 40 0 1 3\n", "7\n100\n");
        assert_eq!(line.offer(Bytes(1400), ms(0)), Some(ms(20)));
        assert_eq!(line.offer(Bytes(1400), ms(500)), Some(ms(530)));
        assert_eq!(line.offer(Bytes(1400), ms(1250)), Some(ms(1275)));
    }

    #[test]
    fn the_queue_of_the_loaded_link_is_full_and_drops() {
        let mut line = line("0 20 0 1\n1000 20 0 1\n", "500\n1000\n");
        let left: Vec<_> =
            (0..5).map(|_| line.offer(Bytes(1400), ms(0)).map(|at| at.0 / NS_PER_MS)).collect();
        assert_eq!(left, [Some(20), Some(21), Some(500), Some(1000), None]);
    }

    #[test]
    fn a_line_that_is_no_train_is_refused_with_its_number() {
        for (text, line) in [("", 1), ("0 20 1\n", 1), ("0 20 1\n5 20\n", 2), ("0 20 1\n5 x 1\n", 2)] {
            assert_eq!(Trains::read(text).expect_err("no trains").line, line, "{text:?}");
        }
        let descending = Trains::read("5 20 1\n4 20 1\n").expect_err("descending");
        assert_eq!(descending.text, "\"4 20 1\"; expected ascending times");
        assert!(Trains::read("0 20 3 1\n5 20 1\n").is_err());
    }
}
