//! What is measured of a flow: its samples, and how far its streams have come.

use std::iter;

use lasthop_stack::registry::tcp::Connection;

use super::{Flow, Resuming, Sockets};
use crate::metrics::{FlowSample, TcpSample};
use crate::net::Net;
use crate::probe::accounts::Stream;

impl Flow {
    pub(in crate::run) fn begin_measurement(&mut self, net: &mut Net) {
        for end in &self.ends {
            net.round_trips[end.trace_name as usize].clear();
        }
        self.resuming.iter_mut().flat_map(|both| both.iter_mut()).for_each(Resuming::begin_measurement);
        match &mut self.sockets {
            Sockets::Tcp(ends) => ends.iter_mut().for_each(Connection::begin_measurement),
            Sockets::Udp(ends) => ends.begin_measurement(),
            Sockets::Outside(ends) => ends.begin_measurement(),
            #[cfg(feature = "quic")]
            Sockets::Quic(ends) => ends.begin_measurement(),
        }
    }

    /// Application bytes that have reached the other end in each direction, in order where the transport keeps order.
    pub(in crate::run) fn delivered(&self) -> impl Iterator<Item = u64> {
        let arrived = |side: usize| match (&self.sockets, &self.user) {
            (Sockets::Tcp(ends), Some(user)) => user.delivered(&**ends),
            (Sockets::Tcp(ends), None) => ends[side].receiver().in_order(),
            (Sockets::Udp(ends), _) => ends.received(side),
            (Sockets::Outside(ends), _) => ends.received(side),
            #[cfg(feature = "quic")]
            (Sockets::Quic(ends), Some(user)) => user.delivered(&**ends),
            #[cfg(feature = "quic")]
            (Sockets::Quic(ends), None) => super::user::Ends::received(&**ends, side),
        };
        iter::once(arrived(1)).chain(self.ways.reverse.is_some().then(|| arrived(0)))
    }

    /// How far the streams of both ends have come.
    pub(in crate::run) fn streams(&self, net: &Net) -> [Option<Stream>; 2] {
        [0, 1].map(|side| {
            let Sockets::Tcp(ends) = &self.sockets else { return None };
            let (sending, end) = (&ends[side], &self.ends[side]);
            let board = sending.sender().board();
            let timers = [end.retransmit, end.pace].map(|timer| net.queue.is_set(timer));
            Some(Stream {
                written: board.sent_end() + sending.sender().backlog(),
                sent: board.sent_end(),
                received: ends[1 - side].receiver().next(),
                acknowledged: board.una(),
                is_stalled: sending.is_waiting() && timers == [false, false],
            })
        })
    }

    /// What each direction of the flow has done up to now.
    pub(in crate::run) fn samples(&mut self, net: &Net) -> impl Iterator<Item = FlowSample> {
        let forward = self.sample(0, net);
        let reverse = self.ways.reverse.is_some().then(|| self.sample(1, net));
        iter::once(forward).chain(reverse)
    }

    fn sample(&mut self, direction: usize, net: &Net) -> FlowSample {
        let round_trips = &net.round_trips[self.ends[direction].trace_name as usize];
        let way = self.ways.of(direction);
        match &mut self.sockets {
            Sockets::Tcp(ends) => {
                let ends = &mut **ends;
                let of_user = self.user.as_ref().map(|user| (user.delivered(ends), user.by_class(ends)));
                let receiving = &ends[1 - direction];
                FlowSample::Tcp(TcpSample {
                    spurious_timeouts: way.as_ref().map_or(0, |way| way.spurious_timeouts),
                    repeats_received: receiving.repeats_received(),
                    acks_sent: receiving.acks_sent(),
                    rtt: round_trips.summary(),
                    judged: way
                        .as_ref()
                        .map_or_else(Vec::new, |way| way.judged.iter().map(|(_, matrix)| *matrix).collect()),
                    delivered: of_user.map_or(receiving.receiver().in_order(), |(all, _)| all),
                    by_class: of_user.map_or([0; 3], |(_, by_class)| by_class),
                    bytes_received: net.accounts.bytes_delivered(self.ends[direction].trace_name)
                        - self.late[1 - direction],
                    file: way.as_ref().and_then(|way| way.file),
                    completion: way.as_ref().and_then(|way| way.since_start(way.completed)),
                    acknowledged: way.as_ref().and_then(|way| way.since_start(way.acknowledged)),
                    falsely_acknowledged: receiving.receiver().lacks(ends[direction].sender().board().una()),
                    resumed: self
                        .resuming
                        .as_ref()
                        .map_or_else(Default::default, |both| both[direction].resumed),
                    law: ends[direction].sender().law_counts(),
                    sender: ends[direction].counters(net.now),
                })
            }
            Sockets::Udp(ends) => FlowSample::Udp(ends.sample(net)),
            Sockets::Outside(ends) => {
                let sent = net.accounts.packets_entered(self.ends[direction].trace_name);
                FlowSample::Udp(ends.sample(direction, sent))
            }
            #[cfg(feature = "quic")]
            Sockets::Quic(ends) => {
                let (ends, user) = (&**ends, self.user.as_ref());
                let received = user.map(|user| (user.delivered(ends), user.by_class(ends)));
                FlowSample::Quic(ends.sample(&self.ends, &self.ways.forward, received, net))
            }
        }
    }
}
