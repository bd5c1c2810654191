//! The free space of a station's buffer that is limited in bytes.

use super::frame::Msdu;
use super::standard::{Buffer, BufferScope, BufferUnit};
use super::timing::Rules;

/// The used room of a buffer.
#[derive(Clone, Debug, Default)]
pub(super) struct Room {
    /// By the number of the receiver, or all at the first place.
    taken: Vec<u32>,
}

impl Room {
    /// Takes room for a packet, if there is enough.
    pub(super) fn take(&mut self, msdu: &Msdu, rules: &Rules) -> bool {
        let Some(buffer) = rules.config.buffer else { return true };
        let place = place(msdu, buffer);
        if self.taken.len() <= place {
            self.taken.resize(place + 1, 0);
        }
        let after = self.taken[place] + size(msdu, buffer, rules);
        if after > buffer.bytes {
            return false;
        }
        self.taken[place] = after;
        true
    }

    /// Gives back the room of a packet.
    pub(super) fn release(&mut self, msdu: &Msdu, rules: &Rules) {
        if let Some(buffer) = rules.config.buffer {
            self.taken[place(msdu, buffer)] -= size(msdu, buffer, rules);
        }
    }
}

fn place(msdu: &Msdu, buffer: Buffer) -> usize {
    match buffer.scope {
        BufferScope::Shared => 0,
        BufferScope::PerReceiver => msdu.next.0 as usize,
    }
}

fn size(msdu: &Msdu, buffer: Buffer, rules: &Rules) -> u32 {
    match buffer.unit {
        BufferUnit::Packets => msdu.bytes,
        BufferUnit::Frames => {
            let body = rules.config.llc + msdu.bytes;
            body + rules.overhead * body.div_ceil(rules.longest_body)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Category, MacConfig, PayloadClass, Preset};
    use super::*;
    use crate::packet::NodeId;

    fn rules(scope: BufferScope, unit: BufferUnit) -> Rules {
        let buffer = Some(Buffer { bytes: 32_000, scope, unit });
        Rules::new(MacConfig { buffer, fragment_threshold: Some(320), ..Preset::Dot11a.config() })
    }

    fn to(receiver: u32) -> Msdu {
        let category = Category::BestEffort;
        Msdu {
            handle: 0,
            bytes: 1_500,
            next: NodeId(receiver),
            class: PayloadClass::Data,
            category,
            flow: None,
        }
    }

    fn taken(rules: &Rules, receivers: &[u32]) -> usize {
        let mut room = Room::default();
        (0..1_000).filter(|count| room.take(&to(receivers[count % receivers.len()]), rules)).count()
    }

    #[test]
    fn a_buffer_of_32_kb_holds_21_packets_or_the_frames_of_19_for_all_or_for_each_receiver() {
        assert_eq!(taken(&rules(BufferScope::Shared, BufferUnit::Packets), &[1, 2]), 21);
        // 1 508 bytes in six frames with 28 bytes each around them: 1 676.
        assert_eq!(taken(&rules(BufferScope::Shared, BufferUnit::Frames), &[1, 2]), 19);
        assert_eq!(taken(&rules(BufferScope::PerReceiver, BufferUnit::Packets), &[1, 2]), 42);
    }

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let rules = rules(BufferScope::Shared, BufferUnit::Packets);
        let mut room = Room::default();
        while room.take(&to(1), &rules) {}
        room.release(&to(2), &rules);
        assert!(room.take(&to(1), &rules) && !room.take(&to(1), &rules));
    }
}
