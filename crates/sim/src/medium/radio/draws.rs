//! The random draws of frame losses.
//!
//! Two schemes at the same replication must see the same channel although they send different frames. Therefore each
//! direction (transmitter and receiver) and class of packet has a stream with one section per packet. Attempt j at
//! packet k of a class and direction uses draw j of section k. It does so regardless of what else is sent, how often
//! earlier packets were tried, and whether the other direction carries TCP acknowledgements. A frame that no law can
//! lose uses no draw.

use lasthop_stack::link::dot11::{Frame, FrameKind, PayloadClass};

use crate::engine::streams::Stream;

/// Where the streams of a medium come from.
#[derive(Clone, Debug)]
pub struct StreamBase {
    /// The study's seed.
    pub seed: u64,
    /// The replication.
    pub replication: u64,
    /// Name of the link, which begins the name of each stream: `links.wifi.a.b.data.loss`.
    pub link: String,
}

impl StreamBase {
    pub(super) fn stream(&self, name: &str) -> Stream {
        Stream::named(self.seed, self.replication, &format!("links.{}.{name}", self.link))
    }
}

/// Kinds of frames with separate draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Data,
    TcpAck,
    Other,
    Control,
}

impl Class {
    fn of(class: PayloadClass) -> Class {
        match class {
            PayloadClass::Data => Class::Data,
            PayloadClass::TcpAck => Class::TcpAck,
            PayloadClass::Other => Class::Other,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Class::Data => "data",
            Class::TcpAck => "tcp-ack",
            Class::Other => "other",
            Class::Control => "control",
        }
    }
}

/// What distinguishes a packet on the air: the host's handle may recur, and so may the sequence number.
type PacketId = (u64, u16);

#[derive(Clone, Debug)]
struct Direction {
    to: u32,
    class: Class,
    stream: Stream,
    packets: u64,
    current: Option<PacketId>,
    /// The first draw of the packet's section.
    first: f64,
    /// The sections of the packets sent in MPDUs, by category and sequence number.
    sections: Vec<u32>,
}

/// The streams of a medium, made when first used.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    base: StreamBase,
    names: Vec<String>,
    /// For each transmitter, sorted by receiver and class.
    directions: Vec<Vec<Direction>>,
    overheard: Vec<Stream>,
}

/// The draws for one attempt at a frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attempt {
    /// Drawn anew for each attempt.
    pub(super) frame: f64,
    /// Drawn once for the packet.
    pub(super) packet: f64,
    /// A list names it.
    pub(super) listed: bool,
}

impl Draws {
    pub(super) fn new(base: StreamBase, names: Vec<String>) -> Draws {
        let overheard = names.iter().map(|name| base.stream(&format!("{name}.overheard"))).collect();
        Draws { base, directions: vec![Vec::new(); names.len()], names, overheard }
    }

    /// The draws for a frame from station `from` to station `to`.
    pub(super) fn attempt(&mut self, from: usize, to: usize, frame: &Frame) -> Attempt {
        let Some(handle) = frame.msdu.filter(|_| frame.kind == FrameKind::Data) else {
            let draw = self.direction(from, to, Class::Control, "loss").stream.uniform();
            return Attempt { frame: draw, packet: draw, listed: false };
        };
        let direction = self.direction(from, to, Class::of(frame.class), "loss");
        let id = (handle, frame.sequence);
        let first_attempt = frame.fragment == 0 && !frame.retry;
        if first_attempt || direction.current != Some(id) {
            direction.current = Some(id);
            direction.stream.seek(direction.packets);
            direction.packets += 1;
            direction.first = direction.stream.uniform();
            return Attempt { frame: direction.first, packet: direction.first, listed: false };
        }
        Attempt { frame: direction.stream.uniform(), packet: direction.first, listed: false }
    }

    /// The draws for an MPDU that was sent so often before. MPDUs of several packets are sent again together, so that each
    /// finds its section by its number.
    pub(super) fn mpdu(&mut self, from: usize, to: usize, frame: &Frame, before: u8) -> Attempt {
        let direction = self.direction(from, to, Class::of(frame.class), "loss");
        let place = usize::from(frame.sequence) | (frame.category as usize) << 12;
        if place >= direction.sections.len() {
            direction.sections.resize((place | 0xFFF) + 1, 0);
        }
        if before == 0 {
            direction.sections[place] = direction.packets as u32;
            direction.packets += 1;
        }
        direction.stream.seek(u64::from(direction.sections[place]));
        let packet = direction.stream.uniform();
        let frame = (0..before).fold(packet, |_, _| direction.stream.uniform());
        Attempt { frame, packet, listed: false }
    }

    /// The draw for a packet on its way up from the MAC: one a packet, since a MAC passes each up once.
    pub(super) fn above(&mut self, from: usize, to: usize, class: PayloadClass) -> f64 {
        self.direction(from, to, Class::of(class), "above").stream.uniform()
    }

    /// The draw for a station that hears a frame not addressed to it.
    pub(super) fn overheard(&mut self, station: usize) -> f64 {
        self.overheard[station].uniform()
    }

    fn direction(&mut self, from: usize, to: usize, class: Class, purpose: &str) -> &mut Direction {
        let directions = &mut self.directions[from];
        let place =
            match directions.binary_search_by_key(&(to as u32, class), |entry| (entry.to, entry.class)) {
                Ok(place) => place,
                Err(place) => {
                    let name = format!("{}.{}.{}.{purpose}", self.names[from], self.names[to], class.name());
                    let stream = self.base.stream(&name);
                    let to = to as u32;
                    let direction = Direction {
                        to,
                        class,
                        stream,
                        packets: 0,
                        current: None,
                        first: 0.0,
                        sections: Vec::new(),
                    };
                    directions.insert(place, direction);
                    place
                }
            };
        &mut directions[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_stack::link::dot11::PhyRate;
    use lasthop_stack::packet::NodeId;

    fn draws() -> Draws {
        let base = StreamBase { seed: 1, replication: 0, link: "wifi".into() };
        Draws::new(base, vec!["a".into(), "b".into(), "c".into()])
    }

    fn data(sequence: u16, class: PayloadClass, retry: bool) -> Frame {
        let frame = Frame::new(FrameKind::Data, NodeId(1), NodeId(0), 1000, PhyRate::Dsss1);
        Frame { sequence, class, retry, msdu: Some(7), ..frame }
    }

    #[test]
    fn packet_k_meets_the_same_draw_however_often_those_before_it_were_tried() {
        let (mut calm, mut busy) = (draws(), draws());
        for sequence in 0..20 {
            let first = calm.attempt(0, 1, &data(sequence, PayloadClass::Data, false));
            assert_eq!(first.frame, busy.attempt(0, 1, &data(sequence, PayloadClass::Data, false)).frame);
            for _ in 0..sequence % 7 {
                let again = busy.attempt(0, 1, &data(sequence, PayloadClass::Data, true));
                assert_eq!(again.packet, first.packet);
                assert_ne!(again.frame, first.frame);
            }
        }
    }

    #[test]
    fn data_meets_the_same_draws_with_and_without_acknowledgements_and_other_traffic() {
        let (mut alone, mut mixed) = (draws(), draws());
        for sequence in 0..20 {
            let frame = data(sequence, PayloadClass::Data, false);
            mixed.attempt(1, 0, &data(sequence, PayloadClass::TcpAck, false));
            mixed.attempt(0, 2, &frame);
            mixed.attempt(0, 1, &Frame::new(FrameKind::Rts, NodeId(1), NodeId(0), 20, PhyRate::Dsss1));
            mixed.attempt(0, 1, &data(100 + sequence, PayloadClass::TcpAck, false));
            assert_eq!(alone.attempt(0, 1, &frame).frame, mixed.attempt(0, 1, &frame).frame);
        }
    }

    #[test]
    fn the_attempts_at_one_packet_and_first_attempts_of_all_are_independent_draws() {
        let mut draws = draws();
        let mut seen: Vec<u64> = Vec::new();
        for sequence in 0..50 {
            for retry in [false, true, true, true, true, true] {
                seen.push(draws.attempt(0, 1, &data(sequence, PayloadClass::Data, retry)).frame.to_bits());
            }
        }
        let all = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), all);
    }

    #[test]
    fn a_packet_whose_handle_and_sequence_number_come_again_is_another_packet() {
        let mut draws = draws();
        let first = draws.attempt(0, 1, &data(9, PayloadClass::Data, false));
        assert_ne!(draws.attempt(0, 1, &data(9, PayloadClass::Data, false)).packet, first.packet);
    }
}
