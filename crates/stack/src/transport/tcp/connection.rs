//! A TCP connection: the box between an application and the network layer (RFC 9293).
//!
//! It opens and closes, and turns the selections of the [`Sender`] into segments and arriving segments into stream
//! offsets. It carries the acknowledgements of the [`Receiver`] on data in the other direction. Simultaneous opening is
//! not supported. A connection never stops retransmitting; only the end of the scenario ends it.

mod agreeing;
mod application;
mod arrivals;
mod consent;
mod ecn;
mod handshake;
mod reacting;
mod segments;

use consent::Consent;
use ecn::EcnEnd;

use super::receiver::Receiver;
use super::sender::{Sender, SenderCounters, Waiting};
use super::{Config, Parts};
use crate::hooks::{Out, Reaction, Timer};
use crate::packet::{Body, Extension, Flags, NodeId, Packet};
use crate::transport::acks::AckLaw;
use crate::units::{SeqNo, Time};

/// Which side opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends the SYN.
    Active,
    /// Waits for it.
    Passive,
}

/// The state of the connection (RFC 9293, 3.3.2, its closing states in one).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not opened, or reset.
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// SYN sent.
    SynSent,
    /// SYN received and answered.
    SynReceived,
    /// Data flows; either side may have closed its direction.
    Established,
}

/// One end of a connection.
#[derive(Clone, Debug)]
pub struct Connection<P: Parts> {
    state: State,
    local: (NodeId, u16),
    remote: (NodeId, u16),
    sender: Sender<P>,
    receiver: Receiver,
    iss: SeqNo,
    irs: SeqNo,
    syn_sent: Time,
    syn_times: u32,
    closes_on_eof: bool,
    /// How many bytes the application reads of each arrival, at once.
    reads_at_once: u64,
    ack_due: AckDue,
    /// What this end offers, and after the handshake what both use.
    law_of_acks: AckLaw,
    /// Acknowledgements sent without data.
    acks_sent: u64,
    peer_shift: u8,
    timestamps: bool,
    sack: bool,
    ts_recent: u32,
    ts_recent_at: Time,
    last_ack_sent: u64,
    /// The same without what was withheld.
    acknowledged: u64,
    echo: Option<Extension>,
    repeats_received: u64,
    reaction: P::Reaction,
    ecn: EcnEnd,
    consent: Option<Box<Consent>>,
    config: Config<P>,
}

/// Whether the receiver owes an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckDue {
    No,
    ByTimer,
    Now,
}

impl<P: Parts> Connection<P> {
    /// A connection that is not yet open. `iss` is the initial send sequence number.
    #[must_use]
    pub fn new(
        config: &Config<P>,
        role: Role,
        local: (NodeId, u16),
        remote: (NodeId, u16),
        iss: SeqNo,
    ) -> Connection<P> {
        let sender = Sender::new(config, iss.0);
        let reaction = config.parts.reaction();
        let mut receiver = Receiver::new(config);
        receiver.offer_share(reaction.share());
        Connection {
            state: if role == Role::Passive { State::Listen } else { State::Closed },
            local,
            remote,
            receiver,
            reaction,
            iss,
            irs: SeqNo(0),
            syn_sent: Time::ZERO,
            syn_times: 0,
            closes_on_eof: role == Role::Passive,
            reads_at_once: u64::MAX,
            ack_due: AckDue::No,
            law_of_acks: config.acks,
            acks_sent: 0,
            peer_shift: 0,
            timestamps: config.timestamps,
            sack: config.sack && config.room_for_blocks(sender.extension()) > 0,
            sender,
            ts_recent: 0,
            ts_recent_at: Time::ZERO,
            last_ack_sent: 0,
            acknowledged: 0,
            echo: None,
            repeats_received: 0,
            ecn: EcnEnd::new(config.ecn),
            consent: None,
            config: config.clone(),
        }
    }

    /// Makes this an end of another connection between the same nodes, which is not yet open. Its counters continue,
    /// and it keeps what the application chose for reading and closing.
    ///
    /// The previous connection is forgotten: it should be done at both ends, and the caller discards its late packets.
    pub fn renew(&mut self, role: Role, ports: (u16, u16), iss: SeqNo) {
        let config = &self.config;
        self.sender.renew(config, iss.0);
        self.receiver.renew(config);
        self.receiver.offer_share(self.reaction.share());
        self.timestamps = config.timestamps;
        self.sack = config.sack && config.room_for_blocks(self.sender.extension()) > 0;
        self.state = if role == Role::Passive { State::Listen } else { State::Closed };
        (self.local.1, self.remote.1) = ports;
        (self.iss, self.irs) = (iss, SeqNo(0));
        (self.syn_sent, self.syn_times) = (Time::ZERO, 0);
        self.ack_due = AckDue::No;
        self.law_of_acks = config.acks;
        self.peer_shift = 0;
        (self.ts_recent, self.ts_recent_at) = (0, Time::ZERO);
        (self.last_ack_sent, self.acknowledged) = (0, 0);
        self.echo = None;
        self.ecn = EcnEnd::new(config.ecn);
        if self.consent.is_some() {
            self.acknowledge_by_hand();
        }
    }

    /// Its state.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// The sending half.
    #[must_use]
    pub fn sender(&self) -> &Sender<P> {
        &self.sender
    }

    /// The receiving half.
    #[must_use]
    pub fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// The port of this end.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.local.1
    }

    /// The sequence number of a byte of the stream that it sends.
    #[must_use]
    pub fn sequence_of(&self, offset: u64) -> SeqNo {
        self.iss.plus(1).plus(offset as u32)
    }

    /// Counters of the sending half up to `now`.
    pub fn counters(&mut self, now: Time) -> SenderCounters {
        self.sender.counters(now)
    }

    /// Starts the interval over which maxima are taken.
    pub fn begin_measurement(&mut self) {
        self.sender.begin_measurement();
    }

    /// Segments of data received that brought nothing new.
    #[must_use]
    pub fn repeats_received(&self) -> u64 {
        self.repeats_received
    }

    /// The number of the peer's byte up to which it has acknowledged all.
    #[must_use]
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Whether both directions are closed and acknowledged.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.sender.is_done() && self.receiver.finished()
    }

    /// Whether it waits for an answer, or has something to send: one of its timers should be set.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        match self.state {
            State::Closed | State::Listen => false,
            State::SynSent | State::SynReceived => true,
            State::Established => self.sender.is_busy() && !self.sender.is_stopped(),
        }
    }

    /// Opens actively.
    pub fn open(&mut self, now: Time, out: &mut impl Out) {
        if self.state == State::Closed {
            self.state = State::SynSent;
            self.send_syn(now, out);
        }
    }

    /// A packet arrived from below.
    pub fn up(&mut self, packet: &Packet, now: Time, out: &mut impl Out) {
        let Body::Tcp(segment) = &packet.body else {
            return;
        };
        if segment.flags.has(Flags::RST) {
            self.state = State::Closed;
            out.cancel(Timer::Retransmit);
            out.cancel(Timer::DelayedAck);
            out.cancel(Timer::Pace);
            return;
        }
        match self.state {
            State::Established => self.on_segment(segment, packet.ecn, now, out),
            State::Closed => {}
            State::Listen => self.on_listen(segment, now, out),
            State::SynSent => self.on_syn_sent(segment, now, out),
            State::SynReceived => self.on_syn_received(segment, packet.ecn, now, out),
        }
    }

    /// A timer fired.
    pub fn on_timer(&mut self, timer: Timer, now: Time, out: &mut impl Out) {
        match timer {
            Timer::DelayedAck => {
                if self.ack_due != AckDue::No {
                    self.send_ack_but(0, now, out);
                }
            }
            Timer::Pace => self.send_what_may_go(now, out),
            Timer::Retransmit => match self.state {
                State::SynSent | State::SynReceived => {
                    self.sender.rtt_mut().back_off();
                    self.send_syn(now, out);
                }
                State::Established if self.sender.waiting() == Waiting::Reordering => {
                    self.sender.on_reordering_over(now, out);
                    self.send_what_may_go(now, out);
                }
                State::Established if self.sender.waiting() == Waiting::Probe => {
                    if let Some(probe) = self.sender.probe_tail(now, out) {
                        self.emit(probe, now, out);
                    }
                }
                State::Established if self.sender.waits_at_timeout(now, &mut self.reaction) => {}
                State::Established => {
                    self.sender.on_timeout(now, out);
                    if self.sender.is_persisting() {
                        let probe = self.sender.probe(now, out);
                        self.emit(probe, now, out);
                    } else {
                        self.send_what_may_go(now, out);
                    }
                }
                State::Closed | State::Listen => {}
            },
        }
    }

    /// Sends the full segments that are predicted. Returns whether the window allows no more.
    #[inline]
    fn send_predicted(&mut self, now: Time, out: &mut impl Out) -> bool {
        let Some(mut left) = self.sender.allows_new() else { return false };
        while left > 0 && self.sender.has_only_data(out) {
            let outgoing = self.sender.send_full(now, out);
            self.emit(outgoing, now, out);
            left -= 1;
        }
        left == 0
    }

    /// Sends the data that the windows allow.
    fn send_data(&mut self, now: Time, out: &mut impl Out) {
        if self.send_predicted(now, out) {
            return;
        }
        let mut left = self.sender.burst_limit();
        while left > 0
            && let Some(outgoing) = self.sender.next_outgoing(now, out)
        {
            self.emit(outgoing, now, out);
            left -= 1;
        }
        self.sender.persist_if_stuck(now, out);
    }

    /// Sends what the windows allow, and an acknowledgement alone if one is due and no data carried it.
    fn send_what_may_go(&mut self, now: Time, out: &mut impl Out) {
        if self.state != State::Established {
            return;
        }
        if self.sender.is_busy() {
            self.send_data(now, out);
            if self.sender.refill() {
                self.send_data(now, out);
            }
            self.sender.on_flushed(now);
        } else {
            self.sender.is_idle(now);
        }
        if self.ack_due == AckDue::Now {
            self.send_ack(now, out);
        }
    }
}

#[cfg(test)]
mod tests;
