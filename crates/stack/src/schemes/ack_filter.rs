//! ACK filter: of the TCP acknowledgements of a flow that wait for the link, the newest alone is kept.
//!
//! **Limits.** It acts where acknowledgements leave over an 802.11 link, and needs no agent at the other end. The sender
//! receives fewer and larger acknowledgements: one that counts acknowledgements instead of bytes grows more slowly, and all
//! send in larger bursts. It cannot remove a packet that is with the link already: one acknowledgement of each flow waits
//! there, and the newest one here.
//!
//! **Source.** Drivers of 802.11 interfaces and queues drop acknowledgements that a newer one makes redundant (Balakrishnan,
//! Padmanabhan and Katz, MOBICOM 1997: ACK filtering; the `ack-filter` of CAKE in Linux). The rules are our own, after the
//! conditions that CAKE checks; the limits by count and time are our choice.
//!
//! **How.** A plain acknowledgement goes to the link if no other of its flow is there. Otherwise it is kept here and replaces
//! the one kept before, until the link has finished with the first, `count` have been replaced, or `delay` has passed.
//!
//! **Choices.** 1. An acknowledgement is plain if it advances the number and carries neither data, nor SACK blocks, nor
//! a flag besides ACK, nor an option other than timestamps. All others are sent at once, behind the one kept. 2. A
//! wider window alone is not plain: it repeats the number, as a duplicate does. 3. The echo of timestamps that goes is
//! that of the newest.
//!
//! **Checked by** the tests below, and `crates/sim/tests/descendants.rs` end to end.

use super::deadlines::Deadlines;
use super::flows::{self, Table};
use super::hack::codec::is_plain;
use crate::hooks::parameter::{Described, LONGEST, parameters};
use crate::hooks::{Activity, Agent, AgentOut, Count, Criterion, Needs};
use crate::packet::{Body, Flags, FlowKey, Packet, Segment};
use crate::signal::Signal;
use crate::state_bytes::{StateBytes, state_bytes};
use crate::units::{SeqNo, Span, Time};

/// The parameters of one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The nodes ahead.
    pub criterion: Criterion,
    /// Acknowledgements that one may replace.
    pub count: u32,
    /// Maximum time for which one is kept.
    pub delay: Span,
    /// A flow without an acknowledgement for this long is forgotten.
    pub idle: Span,
    /// Maximum number of flows; further flows are not handled.
    pub max_flows: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            criterion: Criterion::default(),
            count: 32,
            delay: Span::from_millis(10),
            idle: Span::from_secs(600),
            max_flows: 16_384,
        }
    }
}

impl Config {
    /// The requirements of the agent on its interface.
    #[must_use]
    pub fn needs(&self) -> Needs {
        Needs { reports: true, last_hop: true, on_acknowledgements: true, ..Needs::default() }
    }
}

impl Described for Config {
    parameters! {
        /// maximum number of acknowledgements that one acknowledgement replaces
        "count": Count = count, at_least("1"), at_most("1000000");
        /// maximum time for which an acknowledgement is kept
        "delay": Time("ms") = delay, at_most(LONGEST);
        flows::IDLE: Time = idle;
        flows::MOST: Count = max_flows;
    }
}

/// Whether it acknowledges and does nothing else, besides echoing marks.
fn is_acknowledgement(segment: &Segment) -> bool {
    let others = Flags::SYN.with(Flags::FIN).with(Flags::RST);
    segment.len == 0 && segment.flags.has(Flags::ACK) && segment.flags.without(others) == segment.flags
}

state_bytes! {
    /// The acknowledgements of one flow.
    #[derive(Clone, Debug)]
    struct FlowAcks {
        /// Those with the link.
        outstanding: u32,
        kept: Option<Packet>,
        replaced: u32,
        deadline: Time,
        last: SeqNo,
        used: Time,
    }
}

/// The agent of one interface.
#[derive(Clone, Debug)]
pub struct AckFilter {
    config: Config,
    flows: Table<FlowKey, FlowAcks>,
    deadlines: Deadlines,
    activity: Activity,
}

impl AckFilter {
    /// An agent without flows.
    #[must_use]
    pub fn new(config: Config) -> AckFilter {
        let activity = Activity { unconfirmed: Some(0), ..Activity::default() };
        AckFilter { config, flows: Table::default(), deadlines: Deadlines::default(), activity }
    }

    /// The flow of an acknowledgement, and whether it is new; none if there is no room.
    fn flow(&mut self, packet: &Packet, segment: &Segment, now: Time) -> Option<(u32, bool)> {
        let key = FlowKey::of(packet);
        let turn = self.flows.turn();
        let idle = self.config.idle;
        let is_idle =
            |flow: &mut FlowAcks| flow.outstanding == 0 && flow.kept.is_none() && flow.used + idle < now;
        if self.flows.get_mut(turn).is_some_and(is_idle) {
            self.flows.remove(turn);
            self.deadlines.remove(turn);
        }
        if let Some(number) = self.flows.find(&key) {
            return Some((number, false));
        }
        (self.flows.len() < self.config.max_flows).then(|| {
            let last = segment.ack;
            let flow =
                FlowAcks { outstanding: 0, kept: None, replaced: 0, deadline: Time::NEVER, last, used: now };
            let number = self.flows.insert(key, flow);
            let bytes = self.flows.len() as u64 * FlowAcks::BYTES;
            self.activity.state_bytes_max = self.activity.state_bytes_max.max(bytes);
            (number, true)
        })
    }

    fn pass(&mut self, number: u32, packet: &Packet, out: &mut impl AgentOut) {
        self.activity.passed += 1;
        if let Some(flow) = self.flows.get_mut(number) {
            flow.outstanding += 1;
        }
        out.down(packet);
    }

    /// Sends the acknowledgement that a flow keeps.
    fn release(&mut self, number: u32, out: &mut impl AgentOut) {
        let Some(flow) = self.flows.get_mut(number) else { return };
        (flow.replaced, flow.deadline) = (0, Time::NEVER);
        if let Some(packet) = flow.kept.take() {
            self.pass(number, &packet, out);
        }
    }

    fn keep(&mut self, number: u32, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        let Config { count, delay, .. } = self.config;
        let Some(flow) = self.flows.get_mut(number) else { return };
        if flow.kept.is_some() && flow.replaced >= count {
            self.release(number, out);
        }
        let Some(flow) = self.flows.get_mut(number) else { return };
        if flow.kept.replace(*packet).is_some() {
            flow.replaced += 1;
            self.activity.suppressed += 1;
            return;
        }
        flow.deadline = now.after(delay);
        self.deadlines.want(number, flow.deadline);
        self.arm(out);
    }

    fn arm(&self, out: &mut impl AgentOut) {
        match self.deadlines.first() {
            Some(first) => out.set_timer(first),
            None => out.cancel_timer(),
        }
    }
}

impl Agent for AckFilter {
    fn down(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        let segment = match &packet.body {
            Body::Tcp(segment) if is_acknowledgement(segment) => segment,
            _ => return out.down(packet),
        };
        let Some((number, is_new)) = self.flow(packet, segment, now) else {
            self.activity.passed += 1;
            return out.down(packet);
        };
        let Some(flow) = self.flows.get_mut(number) else { return };
        flow.used = now;
        let advances = is_new || segment.ack.distance_from(flow.last) > 0;
        if advances {
            flow.last = segment.ack;
        }
        if !advances || !is_plain(segment) {
            self.release(number, out);
            self.pass(number, packet, out);
        } else if flow.outstanding > 0 {
            self.keep(number, packet, now, out);
        } else {
            self.pass(number, packet, out);
        }
    }

    fn up(&mut self, packet: &Packet, _now: Time, out: &mut impl AgentOut) {
        out.up(packet);
    }

    fn on_signal(&mut self, _signal: Signal, packet: &Packet, _now: Time, out: &mut impl AgentOut) {
        let Body::Tcp(segment) = &packet.body else { return };
        if !is_acknowledgement(segment) {
            return;
        }
        let Some(number) = self.flows.find(&FlowKey::of(packet)) else { return };
        let Some(flow) = self.flows.get_mut(number) else { return };
        flow.outstanding = flow.outstanding.saturating_sub(1);
        if flow.outstanding == 0 {
            self.release(number, out);
        }
    }

    fn on_timer(&mut self, now: Time, out: &mut impl AgentOut) {
        while let Some(number) = self.deadlines.pop(now) {
            let Some(deadline) = self.flows.get_mut(number).map(|flow| flow.deadline) else { continue };
            if deadline <= now {
                self.release(number, out);
            } else {
                self.deadlines.want(number, deadline);
            }
        }
        self.arm(out);
    }

    fn restart(&mut self, _now: Time, out: &mut impl AgentOut) {
        (self.flows, self.deadlines) = (Table::default(), Deadlines::default());
        out.cancel_timer();
    }

    fn activity(&self) -> Activity {
        self.activity
    }

    fn counts(&self) -> Vec<Count> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{NodeId, SackBlocks};

    #[derive(Default)]
    struct Link {
        down: Vec<u32>,
        timer: Option<Time>,
    }

    impl AgentOut for Link {
        fn down(&mut self, packet: &Packet) {
            let Body::Tcp(segment) = &packet.body else { panic!("a segment") };
            self.down.push(segment.ack.0);
        }
        fn up(&mut self, _: &Packet) {}
        fn set_timer(&mut self, at: Time) {
            self.timer = Some(at);
        }
        fn cancel_timer(&mut self) {
            self.timer = None;
        }
    }

    fn ack(number: u32) -> Packet {
        let segment = Segment { dst_port: 80, ack: SeqNo(number), flags: Flags::ACK, ..Segment::default() };
        Packet::new(NodeId(1), NodeId(0), Body::Tcp(segment))
    }

    fn changed(number: u32, change: impl FnOnce(&mut Segment)) -> Packet {
        let mut packet = ack(number);
        let Body::Tcp(segment) = &mut packet.body else { panic!("a segment") };
        change(segment);
        packet
    }

    fn filter(count: u32) -> (AckFilter, Link) {
        (AckFilter::new(Config { count, ..Config::default() }), Link::default())
    }

    #[test]
    fn the_newest_follows_when_the_link_has_finished_with_the_one_before() {
        let (mut filter, mut link) = filter(32);
        (1..6).for_each(|number| filter.down(&ack(number), Time::ZERO, &mut link));
        assert_eq!(link.down, [1]);
        filter.on_signal(Signal::Undelivered, &ack(1), Time::ZERO, &mut link);
        assert_eq!(link.down, [1, 5]);
        filter.on_signal(Signal::Delivered, &ack(5), Time::ZERO, &mut link);
        filter.down(&ack(6), Time::ZERO, &mut link);
        assert_eq!(link.down, [1, 5, 6]);
        assert_eq!((filter.activity().suppressed, filter.activity().passed), (3, 3));
    }

    #[test]
    fn one_replaces_so_many_and_waits_so_long() {
        let (mut filter, mut link) = filter(2);
        (1..7).for_each(|number| filter.down(&ack(number), Time::ZERO, &mut link));
        // 4 has replaced 2 and 3; 6 has replaced 5.
        assert_eq!(link.down, [1, 4]);
        let due = link.timer.expect("a timer");
        assert_eq!(due, Time::ZERO + Span::from_millis(10));
        filter.on_timer(due, &mut link);
        assert_eq!(link.down, [1, 4, 6]);
    }

    #[test]
    fn duplicates_blocks_and_flags_pass_behind_the_one_kept() {
        let mut blocks = SackBlocks::default();
        blocks.push(SeqNo(9), SeqNo(10));
        let cases = [
            ack(2),
            changed(2, |segment| segment.window = 7),
            changed(3, |segment| segment.options.sack = blocks),
            changed(3, |segment| segment.flags = Flags::ACK.with(Flags::ECE)),
        ];
        for case in cases {
            let (mut filter, mut link) = filter(32);
            (1..3).for_each(|number| filter.down(&ack(number), Time::ZERO, &mut link));
            assert_eq!(link.down, [1]);
            filter.down(&case, Time::ZERO, &mut link);
            assert_eq!(link.down[..2], [1, 2]);
            assert_eq!((link.down.len(), filter.activity().suppressed), (3, 0));
        }
    }

    #[test]
    fn other_flows_and_data_are_not_touched() {
        let (mut filter, mut link) = filter(32);
        filter.down(&ack(1), Time::ZERO, &mut link);
        filter.down(&changed(2, |segment| segment.src_port = 9), Time::ZERO, &mut link);
        filter.down(&changed(3, |segment| segment.len = 1), Time::ZERO, &mut link);
        assert_eq!(link.down, [1, 2, 3]);
    }
}
