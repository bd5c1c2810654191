//! The queues of Linux's mac80211: FQ-CoDel for each station, served by airtime, with a limit on what the hardware holds.
//!
//! **Limits.** No multicast, no power save. The expected airtime of a packet is its time at the rate of data, without a share
//! of the headers. The flows of a station have queues of their own, where Linux has 4096 for all stations together. With
//! `slow-codel` slow stations use ECN too.
//!
//! **Source.** Linux 6.12, `net/mac80211/tx.c` and `sta_info.c`, `include/net/fq_impl.h`; Høiland-Jørgensen, Kazior, Täht, Hurtig
//! and Brunstrom, "Ending the Anomaly", USENIX ATC 2017; for the frames that the hardware holds, ath9k.
//!
//! **How.** A packet joins the queue of its *lane*: its receiver and access category. Lanes with packets take turns in a list,
//! one list for each category:
//!
//! ```text
//! arrives ─▶ lane: its law ─▶ [ lanes in turn ] ─ one A-MPDU ─▶ hardware: at most 2 ─▶ air
//!                                 │ deficit < 0: one weight more, goes to the end          │
//!                                 └ 5 or 12 ms in the hardware: goes to the end  ◀─ deficit less the time on the air
//! ```
//!
//! - **Airtime fairness** (`ieee80211_next_txq`). What a station sends and what is sent to it counts against its deficit. A lane is
//!   served while its deficit, less what is in the hardware, is not negative; otherwise the deficit grows by `weight` and the next
//!   lane has its turn. Without it lanes take turns, an A-MPDU each.
//! - **AQL** (`ieee80211_txq_airtime_check`). A lane has at most `aql-low` of expected airtime in the hardware, or `aql-high` while all
//!   together have less than `aql-total`.
//!
//! **Choices.** 1. A turn is one A-MPDU, and the hardware holds `frames` of them for each category, as in ath9k. With
//! none, as with firmware that queues by itself, AQL alone is the limit. 2. A packet that agents send ahead passes the
//! lanes. 3. When the total limit is exceeded, the longest flow of the lane with the most bytes loses packets, at most
//! `drop-batch` at once. 4. `slow-codel` has a target of 50 ms and an interval of 300 ms for rates below 6 Mbit/s times
//! the number of stations; Linux did so until 6.14. 5. With `law = "dualpi2"`, which Linux does not have here, a lane has an L and a
//! C queue in place of the queues of its flows. Sojourns end, and marks are made, when a packet joins an A-MPDU for the hardware.
//!
//! **Checked by** the tests below and `tests/python/test_access_point.py`.

mod config;
mod law;

use std::collections::VecDeque;

pub use config::{Config, Law};
use law::Line;

use crate::hooks::{Backlog, Count, Discipline, QueueHost, Queued, Reach};
use crate::link::dot11::{CATEGORIES, Category};
use crate::units::{Bytes, Rate, Span, Time};

/// CoDel of a slow station (`sta_update_codel_params`).
const SLOW: (Span, Span) = (Span::from_millis(50), Span::from_millis(300));
/// A station is slow below this rate times the number of stations (`STA_SLOW_THRESHOLD`).
const SLOW_BELOW: u64 = 6_000_000;

/// The packets for one receiver in one category.
#[derive(Clone, Debug)]
struct Lane {
    node: u32,
    queue: Line,
    reach: Reach,
    /// The airtime that it may use, ns.
    deficit: i64,
    /// Expected airtime in the hardware.
    pending: Span,
    /// Bytes there.
    held: u64,
    /// Packets of each A-MPDU in the hardware, in order.
    frames: VecDeque<u32>,
    is_listed: bool,
}

/// The lanes of a category with packets, in the order of their turns.
#[derive(Clone, Debug, Default)]
struct Turns {
    active: VecDeque<u32>,
    /// The lane that has its turn, and what its A-MPDU has room for.
    present: Option<(u32, Backlog)>,
    /// A-MPDUs in the hardware.
    frames: u64,
}

/// The queues of one station.
#[derive(Clone, Debug)]
pub struct Mac80211 {
    config: Config,
    salt: u32,
    lanes: Vec<Lane>,
    /// The place of each lane, one more than it; 0 is none.
    places: Vec<u32>,
    turns: [Turns; CATEGORIES],
    total: Backlog,
    /// Expected airtime in the hardware.
    pending: Span,
}

impl Mac80211 {
    /// Empty queues; `salt` is that of the hashes.
    #[must_use]
    pub fn new(config: &Config, salt: u32) -> Mac80211 {
        Mac80211 {
            config: *config,
            salt,
            lanes: Vec::new(),
            places: Vec::new(),
            turns: std::array::from_fn(|_| Turns::default()),
            total: Backlog::default(),
            pending: Span::ZERO,
        }
    }

    /// The counters of all lanes.
    #[must_use]
    pub fn counts(&self) -> Vec<Count> {
        let mut sums = Line::no_counts(&self.config);
        for lane in &self.lanes {
            for (sum, count) in sums.iter_mut().zip(lane.queue.counts()) {
                sum.value += count.value;
            }
        }
        sums
    }

    fn lane(&self, number: u32) -> Option<usize> {
        let place = *self.places.get(number as usize)?;
        place.checked_sub(1).map(|place| place as usize)
    }

    /// Whether a lane may have more in the hardware.
    fn has_room(&self, lane: &Lane) -> bool {
        let Config { aql, aql_low, aql_high, aql_total, .. } = self.config;
        !aql || lane.pending < aql_low || (self.pending < aql_total && lane.pending < aql_high)
    }

    fn list(&mut self, place: usize, category: usize) {
        self.lanes[place].is_listed = true;
        let active = &mut self.turns[category].active;
        if self.config.airtime_fairness {
            active.push_front(place as u32);
        } else {
            active.push_back(place as u32);
        }
    }

    /// Gives the next lane of a category its turn, if the hardware has room.
    fn next_turn(&mut self, category: usize) -> Option<(u32, Backlog)> {
        if self.config.frames.is_some_and(|most| self.turns[category].frames >= most) {
            return None;
        }
        // The first lane since which none was found that may be served.
        let mut first = None;
        while let Some(&place) = self.turns[category].active.front() {
            let lane = &self.lanes[place as usize];
            let is_empty = lane.queue.backlog().packets == 0;
            if !is_empty && first == Some(place) {
                return None;
            }
            let has_room = self.has_room(lane);
            let is_behind = self.config.airtime_fairness && lane.deficit < lane.pending.0.cast_signed();
            let active = &mut self.turns[category].active;
            active.pop_front();
            let lane = &mut self.lanes[place as usize];
            if is_empty {
                lane.is_listed = false;
                continue;
            }
            if is_behind {
                lane.deficit += self.config.weight.0.cast_signed();
            }
            if has_room && !is_behind {
                lane.is_listed = false;
                lane.frames.push_back(0);
                self.turns[category].frames += 1;
                return Some((place, lane.reach.largest));
            }
            active.push_back(place);
            first = if has_room { None } else { first.or(Some(place)) };
        }
        None
    }

    /// The next packet of a category.
    fn dequeue_of(&mut self, category: usize, now: Time, host: &mut dyn QueueHost) -> Option<Queued> {
        loop {
            let (place, room) = match self.turns[category].present {
                Some(present) => present,
                None => self.next_turn(category)?,
            };
            let lane = &mut self.lanes[place as usize];
            let before = lane.queue.backlog();
            let packet = lane.queue.dequeue(now, host);
            let after = lane.queue.backlog();
            self.total.packets -= before.packets - after.packets;
            self.total.bytes -= before.bytes - after.bytes;
            let Some(packet) = packet else {
                self.end_turn(place, category);
                continue;
            };
            let airtime = Bytes(u64::from(packet.bytes)).time_at(lane.reach.rate);
            lane.pending += airtime;
            lane.held += u64::from(packet.bytes);
            self.pending += airtime;
            if let Some(frame) = lane.frames.back_mut() {
                *frame += 1;
            }
            let size = u64::from(packet.bytes);
            let left = Backlog { packets: room.packets - 1, bytes: room.bytes.saturating_sub(size) };
            self.turns[category].present = Some((place, left));
            if left.packets == 0 || left.bytes < size || after.packets == 0 {
                self.end_turn(place, category);
            }
            return Some(packet);
        }
    }

    /// The A-MPDU of a lane is complete.
    fn end_turn(&mut self, place: u32, category: usize) {
        self.turns[category].present = None;
        let lane = &mut self.lanes[place as usize];
        if lane.frames.back() == Some(&0) {
            lane.frames.pop_back();
            self.turns[category].frames -= 1;
        }
        if lane.queue.backlog().packets > 0 {
            self.list(place as usize, category);
        }
    }

    /// Sets CoDel of each lane by the rate of its station.
    fn set_codel(&mut self) {
        let mut nodes: Vec<u32> = self.lanes.iter().map(|lane| lane.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let slow = Rate(SLOW_BELOW * nodes.len() as u64);
        for lane in &mut self.lanes {
            let mut codel = self.config.queue.codel;
            if self.config.slow_codel && lane.reach.rate < slow {
                (codel.target, codel.interval) = SLOW;
            }
            if let Line::FqCodel(law) = &mut lane.queue {
                law.set_codel(codel);
            }
        }
    }
}

impl Discipline for Mac80211 {
    fn enqueue(&mut self, packet: Queued, room: Backlog, host: &mut dyn QueueHost) {
        let place = self.lane(packet.lane).expect("the host reports how a receiver is reached first");
        self.lanes[place].queue.enqueue(packet, host);
        self.total.packets += 1;
        self.total.bytes += u64::from(packet.bytes);
        let category = packet.lane as usize % CATEGORIES;
        let has_turn = self.turns[category].present.is_some_and(|(of, _)| of as usize == place);
        if !self.lanes[place].is_listed && !has_turn {
            self.list(place, category);
        }
        while self.total.packets > room.packets || self.total.bytes > room.bytes {
            let Some(longest) = self.lanes.iter_mut().max_by_key(|lane| lane.queue.backlog().bytes) else {
                return;
            };
            let before = longest.queue.backlog();
            longest.queue.drop_batch(self.config.queue.drop_batch, host);
            let after = longest.queue.backlog();
            if before.packets == after.packets {
                return;
            }
            self.total.packets -= before.packets - after.packets;
            self.total.bytes -= before.bytes - after.bytes;
        }
    }

    fn dequeue(&mut self, now: Time, host: &mut dyn QueueHost) -> Option<Queued> {
        Category::BY_PRIORITY.iter().find_map(|category| self.dequeue_of(*category as usize, now, host))
    }

    fn backlog(&self) -> Backlog {
        self.total
    }

    fn limits_station(&self) -> bool {
        true
    }

    fn on_reach(&mut self, lane: u32, reach: &Reach) {
        if let Some(place) = self.lane(lane) {
            let lane = &mut self.lanes[place];
            if lane.reach != *reach {
                lane.reach = *reach;
                let pending = Bytes(lane.held).time_at(reach.rate);
                self.pending = Span(self.pending.0 - lane.pending.0 + pending.0);
                lane.pending = pending;
                if self.config.slow_codel {
                    self.set_codel();
                }
            }
            return;
        }
        if lane as usize >= self.places.len() {
            self.places.resize(lane as usize + 1, 0);
        }
        let salt = self.salt.wrapping_add(lane.wrapping_mul(0x9E37_79B9));
        self.lanes.push(Lane {
            node: lane / CATEGORIES as u32,
            queue: Line::new(&self.config, salt),
            reach: *reach,
            deficit: self.config.weight.0.cast_signed(),
            pending: Span::ZERO,
            held: 0,
            frames: VecDeque::new(),
            is_listed: false,
        });
        self.places[lane as usize] = self.lanes.len() as u32;
        self.set_codel();
    }

    fn on_done(&mut self, lane: u32, bytes: u32) {
        let Some(place) = self.lane(lane) else { return };
        let lane_state = &mut self.lanes[place];
        let airtime = Bytes(u64::from(bytes)).time_at(lane_state.reach.rate).min(lane_state.pending);
        lane_state.pending = Span(lane_state.pending.0 - airtime.0);
        lane_state.held = lane_state.held.saturating_sub(bytes.into());
        self.pending = Span(self.pending.0 - airtime.0);
        let turns = &mut self.turns[lane as usize % CATEGORIES];
        let is_filled =
            lane_state.frames.len() > 1 || turns.present.is_none_or(|(present, _)| present as usize != place);
        let Some(frame) = lane_state.frames.front_mut() else { return };
        *frame = frame.saturating_sub(1);
        if *frame == 0 && is_filled {
            lane_state.frames.pop_front();
            turns.frames -= 1;
        }
    }

    fn on_airtime(&mut self, lane: u32, airtime: Span) {
        if let Some(place) = self.lane(lane) {
            self.lanes[place].deficit -= airtime.0.cast_signed();
        }
    }
}

#[cfg(test)]
mod tests;
