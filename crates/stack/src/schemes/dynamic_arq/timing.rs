//! What the link knows of the TCP sender behind a packet: its round trip, its timeout, and when its timer fires.

use crate::packet::{NodeId, Packet};
use crate::units::{Span, Time};

/// One direction of a connection, by the addresses and ports of the packets that go this way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    /// Where its packets come from.
    pub src: NodeId,
    /// From which port.
    pub src_port: u16,
    /// Where they go.
    pub dst: NodeId,
    /// To which port.
    pub dst_port: u16,
}

impl FlowKey {
    /// The direction in which a packet goes.
    #[must_use]
    pub fn of(packet: &Packet) -> FlowKey {
        let (src_port, dst_port) = packet.ports();
        FlowKey { src: packet.src, src_port, dst: packet.dst, dst_port }
    }

    /// The other direction: that of the data which an acknowledgement of this one is about.
    #[must_use]
    pub fn reversed(self) -> FlowKey {
        FlowKey { src: self.dst, src_port: self.dst_port, dst: self.src, dst_port: self.src_port }
    }
}

/// The timing of the sender of a packet's flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Its round trip, end to end: the smoothed one.
    pub rtt: Span,
    /// Its retransmission timeout (RFC 6298), back-off included.
    pub rto: Span,
    /// When its retransmission timer fires, unless it restarts before; [`Time::NEVER`] while it is off or unknown.
    pub fires_at: Time,
}

impl Timing {
    /// Nothing is known: no timer runs.
    pub const UNKNOWN: Timing = Timing { rtt: Span::ZERO, rto: Span::ZERO, fires_at: Time::NEVER };

    /// How long until the timer fires; zero when it should have fired already.
    #[must_use]
    pub fn left(&self, now: Time) -> Span {
        self.fires_at.since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Body, Segment};

    #[test]
    fn an_acknowledgement_goes_against_the_direction_of_its_data() {
        let segment = |src_port, dst_port| Body::Tcp(Segment { src_port, dst_port, ..Segment::default() });
        let data = Packet { src: NodeId(3), dst: NodeId(7), extra_header: 0, body: segment(80, 4_000) };
        let ack = Packet { src: NodeId(7), dst: NodeId(3), extra_header: 0, body: segment(4_000, 80) };
        assert_eq!(FlowKey::of(&ack).reversed(), FlowKey::of(&data));
        assert_ne!(FlowKey::of(&ack), FlowKey::of(&data));
    }

    #[test]
    fn the_time_left_ends_at_zero_and_never_comes_to_an_end_without_a_timer() {
        let timing = Timing { fires_at: Time(100), ..Timing::UNKNOWN };
        assert_eq!((timing.left(Time(40)), timing.left(Time(140))), (Span(60), Span::ZERO));
        assert!(Timing::UNKNOWN.left(Time(40)) > Span::from_secs(1_000_000_000));
    }
}
