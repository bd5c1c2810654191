//! Loss processes of a link.
//!
//! Each takes one draw per packet (Gilbert–Elliott two), whatever its rates, so schemes and sweeps at the same
//! replication see the same channel.

use lasthop_stack::hooks::parameter::words;
use lasthop_stack::packet::{Body, Packet};

use crate::engine::streams::Stream;

/// A loss process.
#[derive(Clone, Debug, PartialEq)]
pub enum LossConfig {
    /// Nothing is lost.
    None,
    /// Each packet with this probability, independently.
    Packet {
        /// Probability of loss.
        rate: f64,
    },
    /// Each bit with this probability; a packet with a bit error is lost.
    Bit {
        /// Bit error rate.
        ber: f64,
    },
    /// Two states that change per packet, each with a loss probability of its own (Gilbert 1960, Elliott 1963).
    GilbertElliott {
        /// Loss probability in the good state.
        loss_good: f64,
        /// Loss probability in the bad state.
        loss_bad: f64,
        /// Probability per packet of turning bad.
        good_to_bad: f64,
        /// Probability per packet of turning good.
        bad_to_good: f64,
    },
    /// Exactly these packets, counted from 1 among those of the named class.
    List {
        /// Ordinals, ascending.
        drop: Vec<u64>,
        /// Which packets are counted.
        of: PacketClass,
    },
}

/// A class of packets that a loss list counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketClass {
    /// Packets with payload.
    Data,
    /// TCP segments without payload.
    Ack,
    /// Every packet.
    All,
}

words! { PacketClass: Data = "data", Ack = "ack", All = "all" }

/// A loss process with its stream and state.
#[derive(Clone, Debug)]
pub struct LossProcess {
    law: LossConfig,
    stream: Stream,
    bad: bool,
    counted: u64,
    next_listed: usize,
}

impl LossProcess {
    /// A process at its start; Gilbert–Elliott starts in the good state.
    #[must_use]
    pub fn new(law: LossConfig, stream: Stream) -> LossProcess {
        // A process without losses needs no draw.
        let law = if law == (LossConfig::Packet { rate: 0.0 }) { LossConfig::None } else { law };
        LossProcess { law, stream, bad: false, counted: 0, next_listed: 0 }
    }

    /// Whether this packet is lost.
    #[inline]
    pub fn loses(&mut self, packet: &Packet) -> bool {
        match &self.law {
            LossConfig::None => false,
            LossConfig::Packet { rate } => self.stream.chance(*rate),
            _ => self.loses_by_more(packet),
        }
    }

    /// The same by a law that counts packets, has a state, or depends on their size.
    fn loses_by_more(&mut self, packet: &Packet) -> bool {
        match &self.law {
            LossConfig::None | LossConfig::Packet { .. } => false,
            LossConfig::Bit { ber } => {
                let bits = packet.size().0 as f64 * 8.0;
                let intact = libm::exp(bits * libm::log1p(-ber));
                self.stream.uniform() >= intact
            }
            LossConfig::GilbertElliott { loss_good, loss_bad, good_to_bad, bad_to_good } => {
                let lost = self.stream.chance(if self.bad { *loss_bad } else { *loss_good });
                let turns = self.stream.chance(if self.bad { *bad_to_good } else { *good_to_bad });
                self.bad ^= turns;
                lost
            }
            LossConfig::List { drop, of } => {
                if !is_of(packet, *of) {
                    return false;
                }
                self.counted += 1;
                let listed = drop.get(self.next_listed) == Some(&self.counted);
                self.next_listed += usize::from(listed);
                listed
            }
        }
    }
}

fn is_of(packet: &Packet, class: PacketClass) -> bool {
    match class {
        PacketClass::Data => packet.payload() > 0,
        PacketClass::Ack => packet.payload() == 0 && matches!(packet.body, Body::Tcp(_)),
        PacketClass::All => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_stack::packet::{NodeId, Segment};

    fn packet(len: u32) -> Packet {
        let body = Body::Tcp(Segment { len, ..Segment::default() });
        Packet::new(NodeId(0), NodeId(1), body)
    }

    fn lost_of(law: LossConfig, packets: u32) -> f64 {
        let mut process = LossProcess::new(law, Stream::named(3, 0, "loss"));
        let data = packet(960);
        f64::from((0..packets).filter(|_| process.loses(&data)).count() as u32) / f64::from(packets)
    }

    #[test]
    fn the_packet_law_loses_at_its_rate() {
        let lost = lost_of(LossConfig::Packet { rate: 0.1 }, 100_000);
        assert!((lost - 0.1).abs() < 0.004, "{lost}");
    }

    #[test]
    fn the_bit_law_loses_a_packet_of_8000_bits_by_its_length() {
        let lost = lost_of(LossConfig::Bit { ber: 1e-5 }, 200_000);
        let expected = 1.0 - libm::pow(1.0 - 1e-5, 8000.0);
        assert!((lost - expected).abs() < 0.003, "{lost} {expected}");
    }

    #[test]
    fn gilbert_elliott_loses_by_the_stationary_share_of_its_states() {
        let law = LossConfig::GilbertElliott {
            loss_good: 0.0,
            loss_bad: 0.5,
            good_to_bad: 0.01,
            bad_to_good: 0.09,
        };
        let lost = lost_of(law, 400_000);
        assert!((lost - 0.05).abs() < 0.004, "{lost}");
    }

    #[test]
    fn a_list_drops_exactly_the_packets_it_names() {
        let law = LossConfig::List { drop: vec![2, 3, 5], of: PacketClass::Data };
        let mut process = LossProcess::new(law, Stream::named(1, 0, "list"));
        let mut dropped = Vec::new();
        for ordinal in 1..=6 {
            assert!(!process.loses(&packet(0)));
            if process.loses(&packet(100)) {
                dropped.push(ordinal);
            }
        }
        assert_eq!(dropped, [2, 3, 5]);
    }
}
