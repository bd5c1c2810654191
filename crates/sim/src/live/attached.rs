//! An agent of the stack at an interface of this machine: packets of the machine's own network layer pass it.
//!
//! **How.** What goes to the link comes by [`Attached::from_network`]. What the agent hands to the link is sent by [`Ends::send`],
//! and the link's report about it comes by [`Attached::reported`]: that is the agent's `PACK_DELIVERED` or `PACK_UNDELIVERED`. What
//! comes from the link comes by [`Attached::from_link`], and what the agent hands up goes to [`Ends::pass`].
//!
//! **Limits.** The agent sees whole TCP segments over IPv4 without IP options, and with TCP options of the simulator only. All
//! else passes unchanged. While as many packets are kept as allowed, segments pass unchanged, too. Where an agent changes only flags,
//! all other fields stay; otherwise the IP header is written anew.

mod bytes;
#[cfg(target_os = "linux")]
mod carry;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use lasthop_stack::hooks::{Agent, AgentOut};
use lasthop_stack::packet::{Body, Packet};
use lasthop_stack::registry::AgentMachine;
use lasthop_stack::signal::Signal;
use lasthop_stack::units::{Span, Time};
use lasthop_stack::wire;

use super::network::has_known_options;
use crate::outside::Contents;
use bytes::{Mark, mark_of, with_flags};
#[cfg(target_os = "linux")]
pub use carry::{Carried, Own, Sockets, carry};

/// Packets whose report has not come that are remembered, and for how long.
const MOST_SENT: usize = 4096;
const LONGEST_SENT: Span = Span::from_secs(10);
/// The offset of the packet in the frame of a report: the length of the Ethernet header.
const LINK_HEADER: usize = 14;
/// Of as many packets as are kept at most, this share passes before there is a new look for room.
const REST: usize = 8;
/// At the end, what the agent would send within this time is sent at once: longer than it holds an acknowledgement.
const HELD: Span = Span::from_millis(200);

/// A network of this machine: its first address, its mask, and whether it is behind the interface.
pub type Route = (u32, u32, bool);

/// Whether the link took a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The link took it.
    Yes,
    /// It takes no packets at present.
    Full,
    /// It refuses this one.
    No,
}

/// The two sides of an agent.
pub trait Ends {
    /// Sends a packet over the link, which reports its fate if that `is_reported`.
    fn send(&mut self, bytes: &[u8], is_reported: bool) -> Taken;

    /// Passes a packet to the network layer. `as_it_came` if it is the one that the link has delivered last.
    fn pass(&mut self, bytes: &[u8], as_it_came: bool);

    /// Keeps a segment that the link has delivered, for when the agent ends before its receiver confirms it.
    fn keep(&mut self, _bytes: &[u8]) {}
}

/// What passed so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Packets from the network layer.
    pub from_network: u64,
    /// Packets that the link delivered to this machine.
    pub from_link: u64,
    /// Packets of both directions that the agent did not see.
    pub untouched: u64,
    /// Of these, segments for which there was no room.
    pub without_room: u64,
    /// Packets handed to the link.
    pub sent: u64,
    /// Those that it refused.
    pub refused: u64,
    /// Reports of the link that a packet was acknowledged.
    pub acknowledged: u64,
    /// Reports that it was not.
    pub not_acknowledged: u64,
}

/// What the agent does in a call.
#[derive(Debug, Default)]
struct Deeds {
    down: VecDeque<Packet>,
    up: VecDeque<Packet>,
    timer: Option<Time>,
}

impl AgentOut for Deeds {
    fn down(&mut self, packet: &Packet) {
        self.down.push_back(*packet);
    }

    fn up(&mut self, packet: &Packet) {
        self.up.push_back(*packet);
    }

    fn set_timer(&mut self, at: Time) {
        self.timer = Some(at);
    }

    fn cancel_timer(&mut self) {
        self.timer = None;
    }
}

/// A packet that waits until the link takes it; the agent knows it unless it passes untouched.
#[derive(Debug)]
struct Waiting {
    bytes: Vec<u8>,
    packet: Option<Packet>,
}

/// A packet with the link.
#[derive(Debug)]
struct Sent {
    mark: Mark,
    packet: Packet,
    at: Time,
}

/// An agent at an interface.
#[derive(Debug)]
pub struct Attached {
    agent: AgentMachine,
    routes: Vec<Route>,
    contents: Contents,
    most_kept: usize,
    /// Segments that still pass before there is a new look for room.
    rest: usize,
    waiting: VecDeque<Waiting>,
    sent: VecDeque<Sent>,
    deeds: Deeds,
    identification: u16,
    passed: Passed,
    /// Room for the packet that is written.
    written: Vec<u8>,
}

impl Attached {
    /// An agent without flows, for a machine with these routes, that keeps at most `most_kept` packets.
    #[must_use]
    pub fn new(agent: AgentMachine, mut routes: Vec<Route>, most_kept: usize) -> Attached {
        routes.sort_by_key(|(_, mask, _)| std::cmp::Reverse(*mask));
        Attached {
            agent,
            routes,
            contents: Contents::default(),
            most_kept,
            rest: 0,
            waiting: VecDeque::new(),
            sent: VecDeque::new(),
            deeds: Deeds::default(),
            identification: 0,
            passed: Passed::default(),
            written: Vec::new(),
        }
    }

    /// What passed so far.
    #[must_use]
    pub fn passed(&self) -> Passed {
        self.passed
    }

    /// The agent.
    #[must_use]
    pub fn agent(&self) -> &AgentMachine {
        &self.agent
    }

    /// Bytes of packets that it keeps.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.contents.bytes()
    }

    /// When to call [`Attached::wake`].
    #[must_use]
    pub fn timer(&self) -> Time {
        self.deeds.timer.unwrap_or(Time::NEVER)
    }

    /// Whether packets wait until the link takes them.
    #[must_use]
    pub fn is_blocked(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The network layer sends a packet.
    pub fn from_network(&mut self, bytes: &[u8], now: Time, ends: &mut impl Ends) {
        self.passed.from_network += 1;
        if let Some(packet) = self.understood(bytes, now) {
            self.agent.down(&packet, now, &mut self.deeds);
            self.settle(now, None, ends);
        } else {
            self.offer(bytes, None, now, ends);
            self.settle(now, None, ends);
        }
    }

    /// The link has delivered a packet to this machine. Packets from elsewhere than behind the interface are not this agent's.
    pub fn from_link(&mut self, bytes: &[u8], now: Time, ends: &mut impl Ends) {
        if !self.is_behind(bytes) {
            return;
        }
        self.passed.from_link += 1;
        if let Some(packet) = self.understood(bytes, now) {
            self.agent.up(&packet, now, &mut self.deeds);
            self.settle(now, Some(&packet), ends);
        } else {
            ends.pass(bytes, true);
        }
    }

    /// The link reports whether the packet of this frame was acknowledged.
    pub fn reported(&mut self, frame: &[u8], is_acknowledged: bool, now: Time, ends: &mut impl Ends) {
        let mark = frame.get(LINK_HEADER..).and_then(mark_of);
        let Some(place) = mark.and_then(|mark| self.sent.iter().position(|sent| sent.mark == mark)) else {
            return;
        };
        let Some(Sent { packet, .. }) = self.sent.remove(place) else { return };
        let (count, signal) = if is_acknowledged {
            (&mut self.passed.acknowledged, Signal::Delivered)
        } else {
            (&mut self.passed.not_acknowledged, Signal::Undelivered)
        };
        *count += 1;
        if is_acknowledged && let Some(content) = self.contents.get(packet.id) {
            ends.keep(&content.bytes);
        }
        self.agent.on_signal(signal, &packet, now, &mut self.deeds);
        self.settle(now, None, ends);
    }

    /// Lets the agent do what is due.
    pub fn wake(&mut self, now: Time, ends: &mut impl Ends) {
        if self.timer() <= now {
            self.deeds.timer = None;
            self.agent.on_timer(now, &mut self.deeds);
            self.settle(now, None, ends);
        }
    }

    /// Sends what the agent holds, since it ends.
    pub fn finish(&mut self, now: Time, ends: &mut impl Ends) {
        self.wake(now.after(HELD), ends);
    }

    /// Sends what waits, as far as the link takes it.
    pub fn resume(&mut self, now: Time, ends: &mut impl Ends) {
        self.flush(now, ends);
        self.settle(now, None, ends);
    }

    fn flush(&mut self, now: Time, ends: &mut impl Ends) {
        while let Some(first) = self.waiting.pop_front() {
            if !self.send(&first.bytes, first.packet, now, ends) {
                self.waiting.push_front(first);
                return;
            }
        }
    }

    /// Sends a packet, behind those that wait until the link takes them.
    fn offer(&mut self, bytes: &[u8], packet: Option<Packet>, now: Time, ends: &mut impl Ends) {
        self.flush(now, ends);
        if self.is_blocked() || !self.send(bytes, packet, now, ends) {
            self.waiting.push_back(Waiting { bytes: bytes.to_vec(), packet });
        }
    }

    /// Sends a packet; false if the link takes none at present.
    fn send(&mut self, bytes: &[u8], packet: Option<Packet>, now: Time, ends: &mut impl Ends) -> bool {
        let mark = packet.and_then(|_| mark_of(bytes));
        match ends.send(bytes, mark.is_some()) {
            Taken::Full => return false,
            Taken::Yes => {
                self.passed.sent += 1;
                if let Some((packet, mark)) = packet.zip(mark) {
                    self.remember(Sent { mark, packet, at: now });
                }
            }
            Taken::No => {
                self.passed.refused += 1;
                if let Some(packet) = packet {
                    self.agent.on_signal(Signal::Refused, &packet, now, &mut self.deeds);
                }
            }
        }
        true
    }

    fn remember(&mut self, sent: Sent) {
        while let Some(first) = self.sent.front()
            && (self.sent.len() >= MOST_SENT || sent.at.since(first.at) > LONGEST_SENT)
        {
            self.sent.pop_front();
        }
        self.sent.push_back(sent);
    }

    /// Does what the agent has asked for. `came` is the packet that the link has just delivered.
    fn settle(&mut self, now: Time, came: Option<&Packet>, ends: &mut impl Ends) {
        let mut bytes = std::mem::take(&mut self.written);
        loop {
            if let Some(packet) = self.deeds.up.pop_front() {
                if self.write(&packet, &mut bytes) {
                    ends.pass(&bytes, came == Some(&packet));
                }
            } else if let Some(packet) = self.deeds.down.pop_front() {
                if self.write(&packet, &mut bytes) {
                    self.offer(&bytes, Some(packet), now, ends);
                }
            } else {
                break;
            }
        }
        self.written = bytes;
    }

    /// Writes the bytes of a packet; false if it has none.
    fn write(&mut self, packet: &Packet, into: &mut Vec<u8>) -> bool {
        if let Some(content) = self.contents.get(packet.id)
            && with_flags(content, packet, into)
        {
            return true;
        }
        let identification = self.identification.wrapping_add(1);
        let Ok(is_rewritten) = self.contents.write(packet, identification, |_| (), into) else {
            return false;
        };
        if is_rewritten {
            self.identification = identification;
        }
        true
    }

    /// The packet of these bytes, if the agent understands it and there is room for it.
    fn understood(&mut self, bytes: &[u8], now: Time) -> Option<Packet> {
        let packet = understood(bytes, now);
        let has_room = packet.is_some() && self.has_room();
        self.passed.untouched += u64::from(!has_room);
        self.passed.without_room += u64::from(packet.is_some() && !has_room);
        let mut packet = packet.filter(|_| has_room)?;
        self.contents.keep(&mut packet, bytes, now);
        Some(packet)
    }

    fn has_room(&mut self) -> bool {
        if self.rest > 0 {
            self.rest -= 1;
            return false;
        }
        if !self.contents.is_full() && self.contents.len() < self.most_kept {
            return true;
        }
        let waiting = self.waiting.iter().filter_map(|waiting| Some(waiting.packet?.id));
        let mut used: Vec<u32> = self.sent.iter().map(|sent| sent.packet.id).chain(waiting).collect();
        self.agent.each_kept(&mut |packet| used.push(packet.id));
        self.contents.retain(used.into_iter());
        // Little room would have the next packets look for more again.
        let some = self.most_kept / REST;
        self.rest = if self.contents.len() + some < self.most_kept { 0 } else { some };
        self.contents.len() < self.most_kept
    }

    /// Whether a packet comes from behind the interface.
    fn is_behind(&self, bytes: &[u8]) -> bool {
        let Some(source) = bytes.get(12..).and_then(<[u8]>::first_chunk) else { return false };
        let source = u32::from_be_bytes(*source);
        let mut routes = self.routes.iter();
        routes
            .find(|(network, mask, _)| source & mask == *network)
            .is_some_and(|(_, _, is_behind)| *is_behind)
    }
}

/// The packet of these bytes, if it is a segment that an agent understands.
fn understood(bytes: &[u8], now: Time) -> Option<Packet> {
    let (packet, payload) = wire::parse(bytes, now).ok()?;
    let length = usize::from(u16::from_be_bytes([bytes[2], bytes[3]]));
    let headers = bytes.get(..bytes.len().checked_sub(payload.len())?)?;
    let is_known = matches!(packet.body, Body::Tcp(_)) && packet.extra_header == 0 && length == bytes.len();
    (is_known && has_known_options(&packet, headers)).then_some(packet)
}
