//! The fate of every packet, by sending end: delivered, lost, or in transit.
//!
//! Over the whole run, including the warm-up, for packets and for their bytes:
//!
//! ```text
//! entered + made + repeated = delivered + lost + taken + on the way
//! ```
//!
//! *Entered* is counted where an endpoint sends, *delivered* where one receives. *Lost* is counted where a queue, a
//! channel or a link discards a packet that has not been passed on. *On the way* is what remains in queues, on wires
//! and in the air when the run ends. Agents remove packets from the network and add packets: what they *take* and
//! *make* is counted at their borders, whether or not it is the same packet. A slotted network may deliver a packet
//! again: it is *repeated*. Nothing enforces the equation: each term is counted in a different place.

use lasthop_stack::packet::Packet;
use lasthop_stack::units::Bytes;

use crate::engine::ahead;
use crate::model::ports::Ports;

/// Packets and their bytes, headers included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets.
    pub packets: u64,
    /// Bytes of IP packets.
    pub bytes: u64,
}

impl Tally {
    #[inline]
    fn add(&mut self, size: Bytes) {
        self.packets += 1;
        self.bytes += size.0;
    }
}

/// The accounts of the packets that one end of a flow sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The end sent them.
    pub entered: Tally,
    /// Agents inserted them into the network.
    pub made: Tally,
    /// They arrived again at a node where they had been before.
    pub repeated: Tally,
    /// The other end received them.
    pub delivered: Tally,
    /// A queue, a channel or a link lost them.
    pub lost: Tally,
    /// Agents removed them from the network.
    pub taken: Tally,
    /// They are in transit when the run ends.
    pub on_the_way: Tally,
    /// The bytes of the application, where the flow goes over TCP.
    pub stream: Option<Stream>,
}

impl Account {
    /// The terms by name, in the order of the sum.
    #[must_use]
    pub fn terms(&self) -> [(&'static str, Tally); 7] {
        [
            ("entered", self.entered),
            ("made", self.made),
            ("repeated", self.repeated),
            ("delivered", self.delivered),
            ("lost", self.lost),
            ("taken", self.taken),
            ("on the way", self.on_the_way),
        ]
    }
}

/// The progress of the byte stream that one end sends when the run ends, its FIN counted as a byte. Of a user's
/// connections this is the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// Bytes written, and the FIN once it was sent.
    pub written: u64,
    /// Bytes sent at least once.
    pub sent: u64,
    /// Bytes in order at the receiver.
    pub received: u64,
    /// Bytes acknowledged to the sender.
    pub acknowledged: u64,
    /// The sender has something to send or to wait for, but none of its timers is set: it cannot act by itself.
    pub is_stalled: bool,
}

/// The accounts of all ends, during the run.
#[derive(Debug)]
pub(crate) struct Accounts {
    ports: Ports,
    /// By the number of the end that sends.
    ends: Vec<Account>,
}

impl Accounts {
    /// The accounts of this many ends.
    pub(crate) fn new(ports: Ports, ends: usize) -> Accounts {
        Accounts { ports, ends: vec![Account::default(); ends] }
    }

    #[inline]
    fn of(&mut self, packet: &Packet) -> &mut Account {
        &mut self.ends[self.ports.sender(packet) as usize]
    }

    /// An end sends a packet of this size.
    #[inline]
    pub(crate) fn entered(&mut self, end: u32, size: Bytes) {
        self.ends[end as usize].entered.add(size);
    }

    /// The other end receives one.
    #[inline]
    pub(crate) fn delivered(&mut self, end: u32, size: Bytes) {
        self.ends[end as usize].delivered.add(size);
    }

    /// Prefetches the account of an end.
    #[inline]
    pub(crate) fn fetch(&self, end: u32) {
        ahead::fetch(&self.ends[end as usize]);
    }

    /// The packets that an end has sent.
    pub(crate) fn packets_entered(&self, end: u32) -> u64 {
        self.ends[end as usize].entered.packets
    }

    /// The bytes of IP packets of an end that the other end has received, repetitions included.
    pub(crate) fn bytes_delivered(&self, end: u32) -> u64 {
        self.ends[end as usize].delivered.bytes
    }

    pub(crate) fn lost(&mut self, packet: &Packet) {
        self.of(packet).lost.add(packet.size());
    }

    pub(crate) fn repeated(&mut self, packet: &Packet) {
        self.of(packet).repeated.add(packet.size());
    }

    #[inline]
    pub(crate) fn made(&mut self, packet: &Packet) {
        self.of(packet).made.add(packet.size());
    }

    #[inline]
    pub(crate) fn taken(&mut self, packet: &Packet) {
        self.of(packet).taken.add(packet.size());
    }

    /// The run ends with these packets in transit, and with the streams of all ends, in order, at these places.
    pub(crate) fn finish<'a>(
        mut self,
        on_the_way: impl Iterator<Item = (&'a Packet, Bytes)>,
        streams: impl Iterator<Item = Option<Stream>>,
    ) -> Vec<Account> {
        for (packet, size) in on_the_way {
            self.of(packet).on_the_way.add(size);
        }
        for (account, stream) in self.ends.iter_mut().zip(streams) {
            account.stream = stream;
        }
        self.ends
    }
}
