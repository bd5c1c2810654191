//! The retransmission timers of all TCP senders: the oracle of dynamic ARQ.
//!
//! It is a labelled exception to "a signal never leaves its node". Nothing is kept in a run in which no link asks for it.

use std::collections::VecDeque;

use lasthop_stack::hooks::Timing;
use lasthop_stack::packet::{Body, Packet};
use lasthop_stack::registry::{ArqConfig, Learner};
use lasthop_stack::units::{SeqNo, Span, Time};

use crate::model::Config;

/// What links may learn of TCP senders.
#[derive(Debug)]
pub(crate) struct Timers {
    /// By the number of the end: twice that of its flow, plus one for the receiving one.
    timings: Vec<Timing>,
    /// Where packets have deadlines of their own: when each segment was sent that may still come to the link, by end.
    sent: Option<Vec<VecDeque<(SeqNo, Time)>>>,
    /// The media with a link that asks.
    pub(super) media: Vec<usize>,
}

/// More segments of one sender than are ever on the way to a link; of older ones nothing is kept.
const MOST_ON_THE_WAY: usize = 1 << 16;

impl Timers {
    /// Timers for the links of a scenario that ask for them; none where no link does.
    pub(super) fn of(config: &Config) -> Option<Box<Timers>> {
        let mut media = Vec::new();
        let mut of_packets = false;
        for (number, (_, wifi)) in config.wifi().enumerate() {
            match wifi.arq.as_ref().and_then(ArqConfig::learner) {
                Some(Learner::Oracle) => media.push(number),
                Some(Learner::OracleOfPackets) => {
                    media.push(number);
                    of_packets = true;
                }
                Some(Learner::Nothing | Learner::Packets(_)) | None => {}
            }
        }
        Timers::new(media, 2 * config.flows.len(), of_packets)
    }

    /// Timers for these media, of so many ends; none where there are no such media.
    fn new(media: Vec<usize>, ends: usize, of_packets: bool) -> Option<Box<Timers>> {
        let timings = vec![Timing::UNKNOWN; ends];
        let sent = of_packets.then(|| vec![VecDeque::new(); ends]);
        (!media.is_empty()).then(|| Box::new(Timers { timings, sent, media }))
    }

    /// An end has set its timer at `now`. The timeout in force is how far ahead it is set.
    pub(super) fn set(&mut self, end: u32, at: Time, now: Time) -> Timing {
        let timing = &mut self.timings[end as usize];
        (timing.rto, timing.fires_at) = (at.since(now), at);
        *timing
    }

    /// An end has cancelled its timer.
    pub(super) fn cancel(&mut self, end: u32) -> Timing {
        self.timings[end as usize].fires_at = Time::NEVER;
        self.timings[end as usize]
    }

    /// An end is now that of another connection.
    pub(super) fn forget(&mut self, end: u32) -> Timing {
        if let Some(sent) = &mut self.sent {
            sent[end as usize].clear();
        }
        self.timings[end as usize] = Timing::UNKNOWN;
        Timing::UNKNOWN
    }

    /// An end has measured a round trip; its timer restarts by itself.
    pub(super) fn measured(&mut self, end: u32, srtt: Span) {
        self.timings[end as usize].rtt = srtt;
    }

    /// An end sends a packet.
    pub(super) fn on_sent(&mut self, end: u32, packet: &Packet, now: Time) {
        let (Some(sent), Body::Tcp(segment)) = (&mut self.sent, &packet.body) else { return };
        if segment.sequence_len() == 0 {
            return;
        }
        let sent = &mut sent[end as usize];
        if sent.len() == MOST_ON_THE_WAY {
            sent.pop_front();
        }
        sent.push_back((segment.seq, now));
    }

    /// The timing of the sender of a packet that has come to a link, with a deadline of its own: the timeout in force after
    /// it was sent. Packets of one sender come in the order in which they were sent, less those that were lost.
    pub(super) fn of_packet(&mut self, end: u32, packet: &Packet, now: Time) -> Timing {
        let timing = self.timings[end as usize];
        let mut since = now;
        if let (Some(sent), Body::Tcp(segment)) = (&mut self.sent, &packet.body) {
            let sent = &mut sent[end as usize];
            if let Some(place) = sent.iter().position(|(seq, _)| *seq == segment.seq) {
                since = sent[place].1;
                sent.drain(..=place);
            }
        }
        Timing { fires_at: since.after(timing.rto), ..timing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_stack::packet::{NodeId, Segment};

    fn segment(seq: u32) -> Packet {
        let body = Body::Tcp(Segment { seq: SeqNo(seq), len: 100, ..Segment::default() });
        Packet::new(NodeId(0), NodeId(1), body)
    }

    #[test]
    fn a_timer_that_is_set_tells_the_timeout_and_one_that_is_off_never_fires() {
        let mut timers = Timers::new(vec![0], 2, false).expect("a medium asks");
        timers.measured(1, Span(7));
        let expected = Timing { rtt: Span(7), rto: Span(40), fires_at: Time(140) };
        assert_eq!(timers.set(1, Time(140), Time(100)), expected);
        assert_eq!(timers.cancel(1), Timing { fires_at: Time::NEVER, ..expected });
        assert!(Timers::new(Vec::new(), 2, true).is_none());
        assert_eq!(timers.forget(1), Timing::UNKNOWN);
        assert_eq!(timers.cancel(1), Timing { fires_at: Time::NEVER, ..Timing::UNKNOWN });
    }

    #[test]
    fn a_packet_has_the_timeout_since_it_was_sent_whatever_was_lost_before_it() {
        let mut timers = Timers::new(vec![0], 2, true).expect("a medium asks");
        timers.set(0, Time(1_000), Time(0));
        for (seq, now) in [(0, 10), (100, 20), (200, 30), (0, 40)] {
            timers.on_sent(0, &segment(seq), Time(now));
        }
        let mut fires = |seq| timers.of_packet(0, &segment(seq), Time(500)).fires_at;
        // The first was lost on the way, and comes again last.
        assert_eq!([fires(100), fires(200), fires(0)], [1_020, 1_030, 1_010 + 30].map(Time));
    }
}
