//! The bytes of packets, by the numbers of the packets.
//!
//! **How.** A packet keeps its number through queues, media, agents and copies. The bytes of packets that have left the network,
//! by whatever way, stay until [`Contents::is_full`]; then the network says which numbers are still in transit.

use std::collections::{HashMap, HashSet};

use lasthop_stack::packet::{Body, Flags, Packet};
use lasthop_stack::units::Time;
use lasthop_stack::wire::{Headers, Unfit};

use super::mark;

/// Room for this many packets is made at first.
const LEAST: usize = 64;

/// A packet as it entered the network.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    /// The packet as the network sees it.
    pub(crate) packet: Packet,
    /// When it entered.
    pub(crate) entered: Time,
    /// Its bytes: the whole of a packet from outside, else its payload.
    pub(crate) bytes: Vec<u8>,
    /// Whether they are those of a frame.
    pub(crate) is_frame: bool,
}

/// The contents of packets.
#[derive(Debug)]
pub(crate) struct Contents {
    places: HashMap<u32, usize>,
    kept: Vec<Content>,
    free: Vec<usize>,
    last: u32,
    /// The number of packets at which departed ones are removed.
    most: usize,
}

impl Default for Contents {
    fn default() -> Contents {
        Contents { places: HashMap::new(), kept: Vec::new(), free: Vec::new(), last: 0, most: LEAST }
    }
}

impl Contents {
    /// Whether departed packets must be removed before the next packet enters.
    pub(crate) fn is_full(&self) -> bool {
        self.places.len() >= self.most
    }

    /// Removes all but these numbers, and makes room for twice as many.
    pub(crate) fn retain(&mut self, in_transit: impl Iterator<Item = u32>) {
        let in_transit: HashSet<u32> = in_transit.collect();
        self.places.retain(|number, _| in_transit.contains(number));
        let used: HashSet<usize> = self.places.values().copied().collect();
        self.free.clear();
        self.free.extend((0..self.kept.len()).filter(|place| !used.contains(place)));
        self.most = (2 * self.places.len()).max(LEAST);
    }

    /// Keeps the bytes of a packet that enters now. It gets a number if it has none.
    pub(crate) fn keep(&mut self, packet: &mut Packet, bytes: &[u8], now: Time) {
        while packet.id == 0 || self.places.contains_key(&packet.id) {
            self.last = self.last.wrapping_add(1);
            packet.id = self.last;
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.kept.push(Content { packet: *packet, entered: now, bytes: Vec::new(), is_frame: false });
            self.kept.len() - 1
        });
        let content = &mut self.kept[place];
        (content.packet, content.entered, content.is_frame) = (*packet, now, false);
        content.bytes.clear();
        content.bytes.extend_from_slice(bytes);
        self.places.insert(packet.id, place);
    }

    /// Keeps the bytes of a frame, as those of a packet.
    pub(crate) fn keep_frame(&mut self, packet: &mut Packet, bytes: &[u8], now: Time) {
        self.keep(packet, bytes, now);
        if let Some(place) = self.places.get(&packet.id) {
            self.kept[*place].is_frame = true;
        }
    }

    /// A copy of a packet has this number, and the same content.
    pub(crate) fn copy(&mut self, number: u32, of: u32) {
        if let Some(place) = self.places.get(&of) {
            self.places.insert(number, *place);
        }
    }

    /// What a packet with this number was when it entered; `None` if it did not come from outside.
    pub(crate) fn get(&self, number: u32) -> Option<&Content> {
        self.places.get(&number).map(|place| &self.kept[*place])
    }

    /// How many packets have content.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Bytes of the room for packets.
    pub(crate) fn bytes(&self) -> u64 {
        self.kept.iter().map(|content| (size_of::<Content>() + content.bytes.capacity()) as u64).sum()
    }

    /// Writes the bytes of a packet, and returns whether they are not those with which it came: an agent changed its headers, or
    /// made it. Then its IP header has this identification, and `leave` gives it its addresses and ports.
    ///
    /// # Errors
    /// It has no bytes: an agent made a packet with payload, or one that has no form.
    pub(crate) fn write(
        &self,
        packet: &Packet,
        identification: u16,
        leave: impl FnOnce(&mut Packet),
        into: &mut Vec<u8>,
    ) -> Result<bool, Unfit> {
        into.clear();
        let content = self.get(packet.id);
        if let Some(content) = content.filter(|content| content.packet.body == packet.body) {
            into.extend_from_slice(&content.bytes);
            mark(into, packet.ecn);
            return Ok(false);
        }
        let payload = content.and_then(|content| part(content, packet)).unwrap_or_default();
        let mut packet = *packet;
        leave(&mut packet);
        into.extend_from_slice(Headers::over(&packet, identification, payload)?.as_bytes());
        into.extend_from_slice(payload);
        Ok(true)
    }
}

/// The payload of a packet that is a part of another's.
fn part<'a>(content: &'a Content, packet: &Packet) -> Option<&'a [u8]> {
    let payload = &content.bytes[content.bytes.len() - content.packet.payload() as usize..];
    let begin = match (&content.packet.body, &packet.body) {
        (Body::Tcp(whole), Body::Tcp(part)) => {
            let [whole, part] =
                [whole, part].map(|segment| segment.seq.plus(u32::from(segment.flags.has(Flags::SYN))));
            part.distance_from(whole)
        }
        _ => 0,
    };
    payload.get(usize::try_from(begin).ok()?..)?.get(..packet.payload() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_stack::packet::{Body, Datagram, NodeId};

    fn entering(contents: &mut Contents, byte: u8) -> u32 {
        let mut packet = Packet::new(NodeId(1), NodeId(2), Body::Udp(Datagram::default()));
        contents.keep(&mut packet, &[byte], Time(u64::from(byte)));
        packet.id
    }

    #[test]
    fn places_of_packets_that_have_left_are_used_again_and_there_is_room_for_those_in_transit() {
        let mut contents = Contents::default();
        let mut held = Vec::new();
        for round in 0..40_u8 {
            while !contents.is_full() {
                let number = entering(&mut contents, round);
                // One in seven stays, some of them as a copy only.
                if number.is_multiple_of(21) {
                    contents.copy(1 << 31 | number, number);
                    held.push((1 << 31 | number, round));
                } else if number.is_multiple_of(7) {
                    held.push((number, round));
                }
            }
            contents.retain(held.iter().map(|(number, _)| *number));
        }
        assert!(held.len() > LEAST, "more stay than there was room for at first");
        for (number, byte) in &held {
            let content = contents.get(*number).expect("it is in transit");
            assert_eq!((content.bytes.as_slice(), content.entered), (&[*byte][..], Time(u64::from(*byte))));
        }
        assert!(contents.kept.len() <= 4 * held.len(), "{} for {}", contents.kept.len(), held.len());
        contents.retain(std::iter::empty());
        assert!(held.iter().all(|(number, _)| contents.get(*number).is_none()));
        assert!(contents.get(0).is_none());
    }

    #[test]
    fn a_packet_keeps_the_number_that_a_trace_gave_it() {
        let mut contents = Contents::default();
        let mut packet = Packet::new(NodeId(1), NodeId(2), Body::Udp(Datagram::default()));
        packet.id = 12;
        contents.keep(&mut packet, &[7], Time(0));
        assert_eq!((packet.id, &contents.get(12).expect("kept").bytes[..]), (12, &[7][..]));
    }
}
