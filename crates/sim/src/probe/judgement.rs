//! Loss classification by laws against ground truth.
//!
//! The network knows each packet that it drops. A law's judgement of a loss refers to one segment. Either all of its
//! copies so far were dropped, or nothing was lost, whatever the sender believes: a copy has arrived or is in transit.
//! A packet that is sent ahead of the clock counts from the time at which it is lost; a loss at the instant of a
//! judgement is not known yet.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use lasthop_stack::hooks::{Judged, Judgement, LossCause};
use lasthop_stack::packet::{Body, Flags, Packet};
use lasthop_stack::units::{SeqNo, Time};

/// The cause of the loss of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Culprit {
    /// A queue without room.
    Queue,
    /// The channel, by chance or by a link that discarded the packet.
    Channel,
    /// A link that was down, or a node that had left its station.
    Outage,
}

/// The data segments that the network has lost, of the directions that are judged.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    /// By the port that the data goes to, and the sequence number: the number of lost copies, and what lost the last.
    lost: BTreeMap<u16, BTreeMap<u32, (u8, Culprit)>>,
    /// Losses that were not in the past when the last one was reported, the next one first.
    ahead: BinaryHeap<Reverse<(Time, u16, u32, Culprit)>>,
}

impl Losses {
    /// Keeps a record of the data that goes to this port.
    pub(crate) fn watch(&mut self, port: u16) {
        self.lost.entry(port).or_default();
    }

    /// Data for one port now goes to another, over another connection.
    pub(crate) fn follow(&mut self, from: u16, to: u16) {
        if let Some(mut lost) = self.lost.remove(&from) {
            lost.clear();
            self.lost.insert(to, lost);
        }
    }

    /// A packet is lost now.
    pub(crate) fn enter(&mut self, packet: &Packet, culprit: Culprit, now: Time) {
        self.enter_ahead(packet, culprit, now, now);
    }

    /// A packet is lost at this time, which is not before `now`.
    pub(crate) fn enter_ahead(&mut self, packet: &Packet, culprit: Culprit, at: Time, now: Time) {
        let Body::Tcp(segment) = &packet.body else { return };
        if segment.sequence_len() == 0 || segment.flags.has(Flags::SYN) {
            return;
        }
        if self.lost.contains_key(&segment.dst_port) {
            self.advance(now);
            self.ahead.push(Reverse((at, segment.dst_port, segment.seq.0, culprit)));
        }
    }

    /// Counts the losses before `now`.
    fn advance(&mut self, now: Time) {
        while let Some(&Reverse((at, port, seq, culprit))) = self.ahead.peek()
            && at < now
        {
            self.ahead.pop();
            if let Some(lost) = self.lost.get_mut(&port) {
                let (count, last) = lost.entry(seq).or_insert((0, culprit));
                (*count, *last) = (count.saturating_add(1), culprit);
            }
        }
    }

    /// What lost the last copy of a segment that was sent this many times, if all of them were lost. Segments before it
    /// are acknowledged, and forgotten here.
    pub(crate) fn culprit(&mut self, port: u16, seq: SeqNo, times: u8, now: Time) -> Option<Culprit> {
        self.advance(now);
        let lost = self.lost.get_mut(&port)?;
        // Those below in the circle of sequence numbers.
        let (lowest, own) = (seq.0.wrapping_sub(1 << 31), seq.0);
        while let Some(below) = below(lost, lowest, own) {
            lost.remove(&below);
        }
        lost.get(&own).filter(|(copies, _)| *copies >= times).map(|(_, culprit)| *culprit)
    }
}

/// A lost segment from `lowest` to before `own`, in the circle of sequence numbers.
fn below<T>(lost: &BTreeMap<u32, T>, lowest: u32, own: u32) -> Option<u32> {
    let first = |from, to| lost.range(from..to).next().map(|(seq, _)| *seq);
    if lowest <= own {
        return first(lowest, own);
    }
    first(0, own).or_else(|| lost.range(lowest..).next().map(|(seq, _)| *seq))
}

/// How a loss was detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noticed {
    /// By duplicate or selective acknowledgements.
    Fast,
    /// By the retransmission timer.
    Timeout,
}

/// The cause of a loss, and how it was classified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    RandomAsRandom,
    RandomAsCongestion,
    CongestionAsRandom,
    CongestionAsCongestion,
    /// Nothing was lost.
    Spurious,
}

/// How often each verdict was given on each kind of loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Matrix([[u64; 5]; 2]);

impl Matrix {
    /// Counts a verdict.
    pub(crate) fn count(&mut self, judged: &Judged, culprit: Option<Culprit>) {
        let noticed = match judged.cause {
            LossCause::Duplicates => Noticed::Fast,
            LossCause::Timeout | LossCause::RepeatedTimeout => Noticed::Timeout,
        };
        let verdict = match (culprit, judged.judgement) {
            (Some(Culprit::Channel | Culprit::Outage), Judgement::Random) => Verdict::RandomAsRandom,
            (Some(Culprit::Channel | Culprit::Outage), Judgement::Congestion) => Verdict::RandomAsCongestion,
            (Some(Culprit::Queue), Judgement::Random) => Verdict::CongestionAsRandom,
            (Some(Culprit::Queue), Judgement::Congestion) => Verdict::CongestionAsCongestion,
            (None, _) => Verdict::Spurious,
        };
        self.0[noticed as usize][verdict as usize] += 1;
    }

    /// How often a verdict was given on losses detected in this way.
    pub(crate) fn of(&self, noticed: Noticed, verdict: Verdict) -> u64 {
        self.0[noticed as usize][verdict as usize]
    }

    /// The counts since `begin`.
    pub(crate) fn since(&self, begin: &Matrix) -> Matrix {
        let mut counts = self.0;
        for (now, then) in counts.iter_mut().flatten().zip(begin.0.iter().flatten()) {
            *now -= then;
        }
        Matrix(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_stack::hooks::Judge;
    use lasthop_stack::packet::{NodeId, Segment};

    const PORT: u16 = 7;

    fn data(seq: u32) -> Packet {
        let segment = Segment { seq: SeqNo(seq), dst_port: PORT, len: 100, ..Segment::default() };
        Packet::new(NodeId(0), NodeId(1), Body::Tcp(segment))
    }

    #[test]
    fn a_segment_is_lost_if_all_of_its_copies_are_and_the_last_one_names_the_culprit() {
        let mut losses = Losses::default();
        losses.watch(PORT);
        losses.enter(&data(100), Culprit::Channel, Time(1));
        let culprit = |losses: &mut Losses, times, now| losses.culprit(PORT, SeqNo(100), times, Time(now));
        assert_eq!(culprit(&mut losses, 1, 2), Some(Culprit::Channel));
        assert_eq!(culprit(&mut losses, 2, 2), None, "a copy is on its way");
        losses.enter_ahead(&data(100), Culprit::Queue, Time(9), Time(3));
        // Two more copies, lost before the other though reported later, because the other was lost further on its way.
        losses.enter_ahead(&data(100), Culprit::Channel, Time(5), Time(4));
        losses.enter_ahead(&data(100), Culprit::Outage, Time(7), Time(4));
        assert_eq!(culprit(&mut losses, 2, 5), None, "it is not lost yet");
        assert_eq!(culprit(&mut losses, 2, 6), Some(Culprit::Channel));
        assert_eq!(culprit(&mut losses, 3, 8), Some(Culprit::Outage));
        assert_eq!(culprit(&mut losses, 4, 9), None);
        assert_eq!(culprit(&mut losses, 4, 10), Some(Culprit::Queue));
        assert_eq!(losses.culprit(PORT, SeqNo(0), 1, Time(10)), None);
    }

    #[test]
    fn what_is_acknowledged_is_forgotten_across_the_wrap_of_sequence_numbers() {
        let mut losses = Losses::default();
        losses.watch(PORT);
        for seq in [u32::MAX - 50, 49, 149] {
            losses.enter(&data(seq), Culprit::Queue, Time(1));
        }
        assert_eq!(losses.culprit(PORT, SeqNo(49), 1, Time(2)), Some(Culprit::Queue));
        assert_eq!(losses.lost[&PORT].len(), 2);
    }

    #[test]
    fn nothing_is_kept_of_flows_that_nobody_judges_nor_of_bare_acknowledgements() {
        let mut losses = Losses::default();
        losses.enter(&data(1), Culprit::Queue, Time(1));
        assert!(losses.ahead.is_empty());
        losses.watch(PORT);
        let Body::Tcp(segment) = data(1).body else { panic!("a segment") };
        losses.enter(
            &Packet { body: Body::Tcp(Segment { len: 0, ..segment }), ..data(1) },
            Culprit::Queue,
            Time(1),
        );
        assert!(losses.ahead.is_empty());
    }

    #[test]
    fn each_verdict_has_a_place_of_its_own() {
        let mut matrix = Matrix::default();
        for cause in [LossCause::Duplicates, LossCause::Timeout] {
            for culprit in [Some(Culprit::Channel), Some(Culprit::Queue), None] {
                for judgement in [Judgement::Random, Judgement::Congestion] {
                    let judged = Judged { judge: Judge::Law, cause, judgement, una: 0, times: 1 };
                    matrix.count(&judged, culprit);
                }
            }
        }
        let since = matrix.since(&Matrix::default());
        for noticed in [Noticed::Fast, Noticed::Timeout] {
            for verdict in [
                Verdict::RandomAsRandom,
                Verdict::RandomAsCongestion,
                Verdict::CongestionAsRandom,
                Verdict::CongestionAsCongestion,
            ] {
                assert_eq!(since.of(noticed, verdict), 1);
            }
            assert_eq!(since.of(noticed, Verdict::Spurious), 2);
        }
        assert_eq!(matrix.since(&matrix), Matrix::default());
    }
}
