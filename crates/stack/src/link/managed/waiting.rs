//! The packets that wait in one queue of a managed link, first come, first served.

use std::collections::VecDeque;

use crate::hooks::{Backlog, Queued};
use crate::units::{Span, Time};

/// The waiting packets.
#[derive(Clone, Debug, Default)]
pub struct WaitingLine {
    packets: VecDeque<Queued>,
    bytes: u64,
}

impl WaitingLine {
    /// Adds a packet behind all others.
    pub fn push(&mut self, packet: Queued) {
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
    }

    /// Removes the first packet.
    pub fn pop(&mut self) -> Option<Queued> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    /// The first packet.
    #[must_use]
    pub fn first(&self) -> Option<&Queued> {
        self.packets.front()
    }

    /// How long the first packet has waited; zero if there is none.
    #[must_use]
    pub fn delay(&self, now: Time) -> Span {
        self.first().map_or(Span::ZERO, |first| first.waited(now))
    }

    /// Packets and bytes.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u32, bytes: self.bytes }
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }
}
