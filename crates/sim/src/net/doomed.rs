//! Packets whose loss is computed ahead of the clock, or happens in this instant: for all others they are in transit.

use lasthop_stack::packet::Packet;
use lasthop_stack::units::Time;

/// Packets that cost nothing to keep.
const FEW: usize = 16;

/// Packets with the times at which they are lost.
#[derive(Debug, Default)]
pub(super) struct Doomed {
    packets: Vec<(Time, Packet)>,
    /// The number of packets at which the expired ones are removed.
    limit: usize,
}

impl Doomed {
    /// A packet is lost at this time, which may be past `now`.
    pub(super) fn add(&mut self, packet: Packet, at: Time, now: Time) {
        if self.packets.len() >= self.limit {
            self.packets.retain(|(lost, _)| *lost >= now);
            self.limit = 2 * self.packets.len() + FEW;
        }
        self.packets.push((at, packet));
    }

    /// Those that are not lost before `now`.
    pub(super) fn at(&self, now: Time) -> impl Iterator<Item = &Packet> {
        self.packets.iter().filter(move |(lost, _)| *lost >= now).map(|(_, packet)| packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_of_the_past_are_gone_and_the_rest_is_kept_whatever_its_number() {
        let mut doomed = Doomed::default();
        for number in 0..1000 {
            doomed.add(
                Packet { id: number, ..Packet::NONE },
                Time(u64::from(number / 10) + 5),
                Time(u64::from(number / 10)),
            );
        }
        let ids: Vec<u32> = doomed.at(Time(100)).map(|packet| packet.id).collect();
        assert_eq!(ids, (950..1000).collect::<Vec<u32>>());
        assert!(doomed.packets.len() < 2 * 60 + 2 * FEW, "{} are kept", doomed.packets.len());
    }
}
