//! The active queue management of one queue of a link.
//!
//! A law that decides at arrivals ([`Managed`]) leaves the packets in the link's own queue, which knows their departures. One
//! that keeps the packets ([`Stage`]) is in front of a link, which takes a packet when it can send it.

use std::collections::VecDeque;

use lasthop_stack::hooks::{
    Admission, Aqm, Arrival, Backlog, Count, Discipline, DropCause, QueueHost, Queued, Reach,
};
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::packet::{Body, Ecn, Packet};
use lasthop_stack::registry::{AqmConfig, AqmMachine};
use lasthop_stack::units::{Bytes, Rate, Span, Time};

use super::pool::PoolId;
use crate::engine::streams::Stream;
use crate::probe::occupancy::Occupancy;
use crate::probe::spread::{Summary, Times};

/// The counts of a management.
#[derive(Clone, Debug, Default)]
pub(crate) struct AqmCounters {
    /// Packets marked since the start, and packets dropped by the law.
    pub(crate) marks: u64,
    pub(crate) drops: u64,
    /// The counters of the law.
    pub(crate) counts: Vec<Count>,
    /// How long packets waited before they were sent, of the measured time only.
    pub(crate) waits: Summary,
}

/// The state common to both kinds.
#[derive(Debug)]
struct Law {
    machine: AqmMachine,
    /// Its random numbers.
    stream: Stream,
    marks: u64,
    drops: u64,
    waits: Times,
}

impl Law {
    fn new(config: &AqmConfig, mut stream: Stream) -> Law {
        let machine = config.build((stream.next_u64() >> 32) as u32);
        Law { machine, stream, marks: 0, drops: 0, waits: Times::default() }
    }

    fn mark(&mut self, packet: &mut Packet) {
        if packet.ecn.is_capable() && packet.ecn != Ecn::Ce {
            packet.ecn = Ecn::Ce;
            self.marks += 1;
        }
    }
}

/// A queue of a link whose management decides at arrivals.
#[derive(Debug)]
pub(super) struct Managed {
    law: Law,
    /// The nominal rate of the link.
    rate: Rate,
}

impl Managed {
    /// An empty queue of a link with this rate.
    pub(super) fn new(config: &AqmConfig, rate: Rate, stream: Stream) -> Managed {
        Managed { law: Law::new(config, stream), rate }
    }

    /// Decides on a packet of this size that arrives at the queue, given the queue length and idle time. A drop is counted.
    pub(super) fn on_arrival(
        &mut self,
        (size, ecn): (Bytes, Ecn),
        (held, idle): (u32, Span),
        now: Time,
    ) -> Admission {
        let Law { machine, stream, .. } = &mut self.law;
        let arrival = Arrival { now, held, idle, transmission: size.time_at(self.rate), ecn };
        let admission = machine.on_arrival(&arrival, &mut || stream.uniform());
        self.law.drops += u64::from(admission == Admission::Drop);
        admission
    }

    /// Marks an accepted packet if the decision requires it and its transport uses ECN.
    pub(super) fn admit(&mut self, packet: &mut Packet, admission: Admission) {
        if admission == Admission::Mark {
            self.law.mark(packet);
        }
    }

    /// An accepted packet waits for this long.
    pub(super) fn waits(&mut self, time: Span) {
        self.law.waits.take(time);
    }
}

/// The report common to both kinds.
pub(super) trait Reports {
    /// Starts to measure.
    fn begin_measurement(&mut self);
    /// Adds its counts to a sum, and its waits to others.
    fn report(&self, sum: &mut AqmCounters, waits: &mut Times);
}

impl Reports for Managed {
    fn begin_measurement(&mut self) {
        self.law.waits.clear();
    }

    fn report(&self, sum: &mut AqmCounters, waits: &mut Times) {
        self.law.report(sum, waits);
    }
}

impl Reports for Stage {
    fn begin_measurement(&mut self) {
        self.law.waits.clear();
        self.longest = self.waiting().packets;
    }

    fn report(&self, sum: &mut AqmCounters, waits: &mut Times) {
        self.law.report(sum, waits);
    }
}

impl Law {
    fn report(&self, sum: &mut AqmCounters, waits: &mut Times) {
        sum.marks += self.marks;
        sum.drops += self.drops;
        waits.add(&self.waits);
        let counts = self.machine.counts();
        if sum.counts.is_empty() {
            sum.counts = counts;
        } else {
            for (all, one) in sum.counts.iter_mut().zip(counts) {
                all.value += one.value;
            }
        }
    }
}

/// The sum of what managements report.
pub(super) fn sum<'a>(all: impl Iterator<Item = &'a dyn Reports>) -> AqmCounters {
    let (mut sum, mut waits) = (AqmCounters::default(), Times::default());
    for one in all {
        one.report(&mut sum, &mut waits);
    }
    sum.waits = waits.summary();
    sum
}

/// A queue in front of a link, whose management keeps the packets.
#[derive(Debug)]
pub(super) struct Stage {
    law: Law,
    limit: QueueLimit,
    /// Packets that precede those of the law.
    ahead: VecDeque<Queued>,
    ahead_bytes: u64,
    /// Packets that were dropped and are not taken away yet.
    dropped: VecDeque<(PoolId, DropCause)>,
    /// Packets that wait here over time, and the most held at once with those that the link has.
    over_time: Occupancy,
    longest: u32,
}

/// What a law may do while it handles a packet.
struct Host<'a> {
    stream: &'a mut Stream,
    drops: &'a mut u64,
    dropped: &'a mut VecDeque<(PoolId, DropCause)>,
}

impl QueueHost for Host<'_> {
    fn drop(&mut self, packet: &Queued, cause: DropCause) {
        *self.drops += u64::from(cause == DropCause::Early);
        self.dropped.push_back((PoolId::from_handle(u64::from(packet.handle)), cause));
    }

    fn draw(&mut self) -> f64 {
        self.stream.uniform()
    }
}

/// The lane of a packet that goes ahead: the law is not notified of it.
const PAST_THE_LAW: u32 = u32::MAX;

impl Stage {
    /// An empty queue.
    pub(super) fn new(config: &AqmConfig, limit: QueueLimit, stream: Stream) -> Stage {
        Stage {
            law: Law::new(config, stream),
            limit,
            ahead: VecDeque::new(),
            ahead_bytes: 0,
            dropped: VecDeque::new(),
            over_time: Occupancy::default(),
            longest: 0,
        }
    }

    /// How much may wait while the link has `below`.
    fn room(&self, below: Backlog) -> Backlog {
        let (packets, bytes) = match self.limit {
            QueueLimit::Packets(packets) => (packets, u64::MAX),
            QueueLimit::Bytes(bytes) => (u32::MAX, bytes.0),
            QueueLimit::Unlimited => (u32::MAX, u64::MAX),
        };
        let ahead = self.ahead.len() as u32;
        Backlog {
            packets: packets.saturating_sub(below.packets + ahead),
            bytes: bytes.saturating_sub(below.bytes + self.ahead_bytes),
        }
    }

    fn law(&mut self) -> (&mut dyn Discipline, Host<'_>) {
        let Law { machine, stream, drops, .. } = &mut self.law;
        let law = machine.discipline().expect("a law that keeps the packets has a stage");
        (law, Host { stream, drops, dropped: &mut self.dropped })
    }

    /// A packet arrives while the link has `below`. What is dropped is in [`Stage::next_dropped`].
    pub(super) fn enqueue(
        &mut self,
        (id, packet, size): (PoolId, &Packet, Bytes),
        lane: u32,
        is_ahead: bool,
        below: Backlog,
        now: Time,
    ) {
        let (handle, bytes) = (id.handle() as u32, size.0 as u32);
        let lane = if is_ahead { PAST_THE_LAW } else { lane };
        let queued = Queued { handle, bytes, flow: flow_of(packet), lane, ecn: packet.ecn, came: now };
        let room = self.room(below);
        if !is_ahead {
            let (law, mut host) = self.law();
            law.enqueue(queued, room, &mut host);
        } else if self.waiting().fits(bytes, self.room_of_all(below)) {
            self.ahead.push_back(queued);
            self.ahead_bytes += size.0;
        } else {
            self.dropped.push_back((id, DropCause::Full));
        }
        let waiting = self.waiting().packets;
        self.over_time.hold(waiting, now);
        self.longest = self.longest.max(waiting + below.packets);
    }

    fn room_of_all(&self, below: Backlog) -> Backlog {
        let room = self.room(below);
        let ahead = self.ahead.len() as u32;
        Backlog {
            packets: room.packets.saturating_add(ahead),
            bytes: room.bytes.saturating_add(self.ahead_bytes),
        }
    }

    /// The link takes the next packet. The packet in the pool is to be marked by [`Stage::leaves`].
    pub(super) fn dequeue(&mut self, now: Time) -> Option<Queued> {
        let ahead = self.ahead.pop_front();
        let next = if let Some(next) = ahead {
            self.ahead_bytes -= u64::from(next.bytes);
            ahead
        } else {
            let (law, mut host) = self.law();
            law.dequeue(now, &mut host)
        };
        let waiting = self.waiting().packets;
        self.over_time.hold(waiting, now);
        next
    }

    /// A packet that the law has passed leaves: it is marked if the law marked it.
    pub(super) fn leaves(&mut self, queued: &Queued, packet: &mut Packet, now: Time) {
        self.law.waits.take(queued.waited(now));
        if queued.ecn == Ecn::Ce {
            self.law.mark(packet);
        }
    }

    /// Whether its law limits what an 802.11 station has taken and not sent.
    pub(super) fn limits_station(&mut self) -> bool {
        self.law().0.limits_station()
    }

    /// The law learns how the receiver of a lane is reached.
    pub(super) fn on_reach(&mut self, lane: u32, reach: &Reach) {
        self.law().0.on_reach(lane, reach);
    }

    /// The station no longer has a packet of this lane and size.
    pub(super) fn on_done(&mut self, lane: u32, size: Bytes) {
        if lane != PAST_THE_LAW {
            self.law().0.on_done(lane, size.0 as u32);
        }
    }

    /// The station has used the medium with the receiver of a lane for this long.
    pub(super) fn on_airtime(&mut self, lane: u32, airtime: Span) {
        self.law().0.on_airtime(lane, airtime);
    }

    /// The next packet that was dropped.
    pub(super) fn next_dropped(&mut self) -> Option<(PoolId, DropCause)> {
        self.dropped.pop_front()
    }

    /// Packets and bytes that wait.
    pub(super) fn waiting(&mut self) -> Backlog {
        let (law, _) = self.law();
        let held = law.backlog();
        Backlog { packets: held.packets + self.ahead.len() as u32, bytes: held.bytes + self.ahead_bytes }
    }

    /// The measurement begins while the link holds this many packets.
    pub(super) fn begin_above(&mut self, below: u32) {
        self.longest += below;
    }

    /// Packets that wait here over time, and the most held at once with those that the link had.
    pub(super) fn over_time(&self, now: Time) -> (Occupancy, u32) {
        (self.over_time.up_to(now), self.longest)
    }
}

/// A hash of addresses, ports and protocol (RFC 8290, 4.1).
fn flow_of(packet: &Packet) -> u32 {
    let protocol = match &packet.body {
        Body::Tcp(_) => 6,
        Body::Udp(_) => 17,
    };
    let (from, to) = packet.ports();
    let words = [packet.src.0, packet.dst.0, u32::from(from) << 16 | u32::from(to), protocol];
    words.iter().fold(0x811C_9DC5, |hash: u32, word| (hash ^ word).wrapping_mul(0x0100_0193).rotate_left(13))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_stack::packet::{Datagram, NodeId};

    #[test]
    fn a_packet_that_went_ahead_makes_no_room_in_the_hardware_for_those_of_the_law() {
        let config = AqmConfig::Mac80211(lasthop_stack::link::managed::mac80211::Config::default());
        let mut stage = Stage::new(&config, QueueLimit::Unlimited, Stream::named(1, 0, "aqm"));
        let alone = Backlog { packets: 1, bytes: u64::MAX };
        stage.on_reach(0, &Reach { rate: Rate(54_000_000), largest: alone });
        let packet = Packet::new(NodeId(0), NodeId(1), Body::Udp(Datagram::default()));
        let join = |stage: &mut Stage, number: u64, is_ahead: bool| {
            let id = PoolId::from_handle(number);
            stage.enqueue((id, &packet, Bytes(1500)), 0, is_ahead, Backlog::default(), Time(0));
        };
        (0..3).for_each(|number| join(&mut stage, number, false));
        let first = stage.dequeue(Time(0)).expect("the hardware holds two frames");
        assert!(stage.dequeue(Time(0)).is_some());
        assert!(stage.dequeue(Time(0)).is_none(), "and no third");
        join(&mut stage, 3, true);
        let ahead = stage.dequeue(Time(0)).expect("it passes all that wait");
        stage.on_done(ahead.lane, Bytes(1500));
        assert!(stage.dequeue(Time(0)).is_none(), "what went ahead was not of the two");
        stage.on_done(first.lane, Bytes(1500));
        assert!(stage.dequeue(Time(0)).is_some());
    }
}
