//! The client at the mobile: decides which acknowledgements of its TCP are requested instead of being sent.

use std::collections::VecDeque;

use super::super::lle_tcp::connection::{Terms, is_pure};
use super::super::lle_tcp::connections::Turn;
use super::super::lle_tcp::hold::Spacing;
use crate::hooks::{AgentOut, Rider};
use crate::packet::{Body, Flags, Packet, Segment};
use crate::signal::Signal;
use crate::state_bytes::{StateBytes, of_all, state_bytes};
use crate::units::{SeqNo, Time};

/// Maximum number of segments remembered that TCP has not acknowledged.
const MOST: usize = 4_096;

/// The treatment of a packet on its way to the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is forwarded.
    Pass,
    /// It is held or dropped here.
    Stop,
}

state_bytes! {
    /// The state of one direction of a connection, at its receiver.
    #[derive(Clone, Debug)]
    pub(super) struct Client {
        terms: Terms,
        /// Ends of the segments received, in order of arrival, with their hashes.
        come: VecDeque<(u64, u32)>,
        /// The last acknowledgement number of TCP, as an offset.
        said: u64,
        /// The window that the proxy knows, unscaled; `None` if it may not know the latest one.
        told: Option<u16>,
        /// The last segment forwarded: its numbers and its window.
        passed: Option<(SeqNo, SeqNo, u16)>,
        held: Option<Packet>,
        /// Whether a frame has arrived whose acknowledgement carried the request for the held acknowledgement.
        has_ridden: bool,
        release_at: Time,
        spacing: Spacing,
    }
}

impl Client {
    pub(super) fn new(terms: Terms) -> Client {
        Client {
            terms,
            come: VecDeque::new(),
            said: 0,
            told: None,
            passed: None,
            held: None,
            has_ridden: false,
            release_at: Time::NEVER,
            spacing: Spacing::default(),
        }
    }

    /// When it needs to be called.
    pub(super) fn deadline(&self) -> Time {
        self.release_at
    }

    /// Bytes of state.
    pub(super) fn bytes(&self) -> u64 {
        Self::BYTES + of_all(&self.come.iter())
    }

    /// Handles a data segment received over the link, whose acknowledgement carried the pending request.
    pub(super) fn on_data<O>(&mut self, hash: u32, segment: &Segment, turn: &Turn<'_, O>) {
        self.spacing.step(turn.now, turn.config);
        if self.held.is_some() {
            self.has_ridden = true;
            self.release_at = turn.now.after(turn.config.max_hold);
        }
        let Some(start) = segment.seq.unwrap_near(self.terms.zero, self.said) else { return };
        let end = start + u64::from(segment.len);
        if end > self.said && self.come.len() < MOST {
            self.come.push_back((end, hash));
        }
    }

    /// Handles a segment of TCP on its way to the link; `ends` means that it acknowledges the sender's FIN.
    pub(super) fn judge<O: AgentOut>(
        &mut self,
        packet: &Packet,
        segment: &Segment,
        ends: bool,
        turn: &mut Turn<'_, O>,
    ) -> Fate {
        let ack =
            segment.ack.unwrap_near(self.terms.zero, self.said).filter(|_| segment.flags.has(Flags::ACK));
        let Some(ack) = ack else { return Fate::Pass };
        let is_plain = is_pure(segment)
            && !ends
            && ack > self.said
            && segment.options.sack.is_empty()
            && self.told == Some(segment.window);
        let hash = self.come.iter().find(|come| come.0 == ack).map(|come| come.1);
        let repeats = ack == self.said;
        if ack > self.said {
            self.said = ack;
            while self.come.front().is_some_and(|come| come.0 <= ack) {
                self.come.pop_front();
            }
        }
        if let Some(number) = hash.filter(|_| is_plain) {
            turn.out.ride(self.terms.sender.0, Rider::new(&number.to_be_bytes()));
            turn.counters.suppressed += 1;
            turn.counters.held += u64::from(self.held.is_none());
            self.held = Some(*packet);
            self.has_ridden = false;
            self.release_at = turn.now.after(self.spacing.wait(turn.config));
            return Fate::Stop;
        }
        turn.counters.passed += u64::from(is_pure(segment));
        match self.held.take() {
            // If the proxy has released this number, it drops the first acknowledgement that carries it.
            Some(held) if repeats && is_pure(segment) && segment.options.sack.is_empty() => {
                self.send(&held, turn);
            }
            Some(_) => turn.counters.held -= 1,
            None => {}
        }
        self.release_at = Time::NEVER;
        self.pass(segment);
        Fate::Pass
    }

    /// Sends a held acknowledgement after all.
    fn send<O: AgentOut>(&mut self, held: &Packet, turn: &mut Turn<'_, O>) {
        turn.counters.suppressed -= 1;
        turn.counters.held -= 1;
        turn.counters.passed += 1;
        if let Body::Tcp(segment) = &held.body {
            self.pass(segment);
        }
        turn.out.down(held);
    }

    /// Records a segment sent to the link: until it is delivered the proxy does not know its window.
    fn pass(&mut self, segment: &Segment) {
        self.told = None;
        self.passed = Some((segment.seq, segment.ack, segment.window));
    }

    /// Handles the link's report on a segment that was sent: whether the proxy has seen it.
    pub(super) fn on_fate(&mut self, signal: Signal, segment: &Segment) {
        // The fate of an older segment does not affect the latest window.
        if self.passed == Some((segment.seq, segment.ack, segment.window)) {
            self.told = (signal == Signal::Delivered).then_some(segment.window);
        }
    }

    /// Sends the held acknowledgement if its time is up: no frame carried the request, or nothing followed it.
    pub(super) fn on_timer<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        if self.release_at > turn.now {
            return;
        }
        self.release_at = Time::NEVER;
        if let Some(held) = self.held.take() {
            self.send(&held, turn);
        }
    }
}
