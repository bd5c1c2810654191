//! A station whose fragments an ARQ scheme orders: failed fragments return to the scheme, which selects the next.
//!
//! **How.** A packet is open from its arrival until each of its fragments is acknowledged or one is discarded;
//! discarding one discards the whole packet. First transmissions go in order, in a burst while they are acknowledged; a
//! fragment that is not acknowledged goes to the scheme. At its turn the station sends the unit that the scheme
//! selects, and continues the burst of that packet where it stopped. Each receiver has its own sequence numbers, as at
//! a station with `QoS` (IEEE 802.11-2012, 9.3.2.10). A receiver joins fragments in any order within [`WINDOW`]
//! numbers. With shared numbers, one that received nothing for a while would confuse two packets. While an older packet
//! to a receiver blocks its window, no newer packet to this receiver begins, and the oldest goes first. A packet whose
//! flow has no known timing, such as a TCP acknowledgement, is repeated at once, as by a station without a scheme. An
//! RTS without a CTS is a failed transmission of its unit.

use std::collections::VecDeque;

use super::dcf::{Dcf, Service};
use super::exchange::SEQUENCE_MASK;
use super::frame::{Msdu, Outcome};
use super::retries::Retries;
use super::{MacOut, Served, ServedOutcome};
use crate::hooks::{Arq, ArqVerdict, Choice, Count, Newcomer, Reason, Timing, Unit, Waiting};
use crate::packet::NodeId;
use crate::units::Time;

/// Maximum range of sequence numbers in transit from one station to one receiver.
pub(super) const WINDOW: u16 = 1024;

/// A packet that is neither delivered nor discarded.
#[derive(Clone, Copy, Debug)]
struct Pending {
    msdu: Msdu,
    /// Number of packets that came before it.
    serial: u64,
    fires_at: Time,
    /// When its first transmission began; [`Time::NEVER`] before that.
    begun: Time,
    /// Assigned at its first transmission.
    sequence: Option<u16>,
    fragments: u8,
    /// The first fragment that was never sent.
    next: u8,
    /// The acknowledged fragments, one bit each.
    acknowledged: u32,
    /// Whether the entry is in use.
    is_open: bool,
}

/// The packets of a station with a scheme.
#[derive(Clone, Debug)]
pub(super) struct Units<A> {
    scheme: A,
    packets: Vec<Pending>,
    free: Vec<u32>,
    /// Packets that were not yet sent completely, if the scheme leaves their order to the station.
    fresh: VecDeque<u32>,
    /// The state of each receiver, by its number.
    receivers: Vec<Receiver>,
    /// Number of packets that have come.
    came: u64,
    open: usize,
    /// The unit of the frame in service.
    in_service: Option<Unit>,
    /// The record of this service, for a trace.
    served: Option<Served>,
}

/// The packets to one receiver.
#[derive(Clone, Debug, Default)]
struct Receiver {
    next_sequence: u16,
    /// Packets with a sequence number, in the order of these numbers, from the oldest that may be open.
    begun: VecDeque<(u32, u64)>,
}

impl<A: Arq> Units<A> {
    pub(super) fn new(scheme: A) -> Units<A> {
        Units {
            scheme,
            packets: Vec::new(),
            free: Vec::new(),
            fresh: VecDeque::new(),
            receivers: Vec::new(),
            came: 0,
            open: 0,
            in_service: None,
            served: None,
        }
    }

    /// Packets held, including the one in service.
    pub(super) fn backlog(&self) -> usize {
        self.open
    }

    /// The counters of the scheme.
    pub(super) fn counts(&self) -> Vec<Count> {
        self.scheme.counts()
    }

    /// The timing of a flow's sender has become known, or has changed.
    #[inline]
    pub(super) fn on_timing(&mut self, flow: u32, timing: Timing) {
        self.scheme.on_timing(flow, timing);
    }

    fn admit(&mut self, msdu: Msdu, fragments: u8) {
        let fires_at = msdu.flow.map_or(Time::NEVER, |flow| self.scheme.fires_at(flow));
        let open = Pending {
            msdu,
            serial: self.came,
            fires_at,
            begun: Time::NEVER,
            sequence: None,
            fragments,
            next: 0,
            acknowledged: 0,
            is_open: true,
        };
        self.came += 1;
        self.open += 1;
        let packet = if let Some(place) = self.free.pop() {
            self.packets[place as usize] = open;
            place
        } else {
            self.packets.push(open);
            self.packets.len() as u32 - 1
        };
        if self.is_ordered_by_scheme(packet) {
            self.hold_fresh(packet);
        } else {
            self.fresh.push_back(packet);
        }
    }

    /// Whether the scheme holds a packet's units before their first transmission.
    fn is_ordered_by_scheme(&self, packet: u32) -> bool {
        self.scheme.takes_new() && self.packets[packet as usize].msdu.flow.is_some()
    }

    /// Passes the first fragment that was never sent to the scheme, which never discards it.
    fn hold_fresh(&mut self, packet: u32) {
        let open = &self.packets[packet as usize];
        if open.next < open.fragments {
            let unit = self.unit(packet, open.next, 0);
            self.scheme.hold(unit);
        }
    }

    fn unit(&self, packet: u32, fragment: u8, sent: u8) -> Unit {
        let Pending { msdu, serial, fires_at, .. } = self.packets[packet as usize];
        Unit { packet, fragment, flow: msdu.flow.unwrap_or(u32::MAX), serial, fires_at, sent }
    }

    /// The state of a packet's receiver.
    fn receiver_of(&mut self, packet: u32) -> &mut Receiver {
        let number = self.packets[packet as usize].msdu.next.0 as usize;
        if self.receivers.len() <= number {
            self.receivers.resize(number + 1, Receiver::default());
        }
        &mut self.receivers[number]
    }

    /// The sequence number of a packet, which is assigned at its first transmission.
    fn sequence_of(&mut self, packet: u32) -> u16 {
        let Pending { sequence, serial, .. } = self.packets[packet as usize];
        if let Some(sequence) = sequence {
            return sequence;
        }
        let receiver = self.receiver_of(packet);
        let sequence = receiver.next_sequence;
        receiver.next_sequence = (sequence + 1) & SEQUENCE_MASK;
        receiver.begun.push_back((packet, serial));
        self.packets[packet as usize].sequence = Some(sequence);
        sequence
    }

    /// The oldest packet to the receiver of a packet that is about to begin, if the oldest blocks the window.
    fn oldest_before(&mut self, packet: u32) -> Option<u32> {
        if self.packets[packet as usize].sequence.is_some() {
            return None;
        }
        while let Some(&(oldest, serial)) = self.receiver_of(packet).begun.front() {
            let next_sequence = self.receiver_of(packet).next_sequence;
            let Pending { is_open, serial: present, sequence, .. } = self.packets[oldest as usize];
            if is_open && present == serial {
                let age = next_sequence.wrapping_sub(sequence?) & SEQUENCE_MASK;
                return (age >= WINDOW).then_some(oldest);
            }
            self.receiver_of(packet).begun.pop_front();
        }
        None
    }

    /// The unit to send now and the reason, or the unit to discard and no reason.
    fn choose(&mut self, now: Time) -> Option<(Unit, Option<Reason>)> {
        let newcomer = if self.fresh.is_empty() { Newcomer::Absent } else { Newcomer::Waits };
        let choice = self.scheme.next(newcomer, now)?;
        let unit = match choice {
            Choice::Send(unit, _) => unit,
            Choice::New => {
                let packet = *self.fresh.front()?;
                self.unit(packet, self.packets[packet as usize].next, 0)
            }
            Choice::GiveUp(unit) => return Some((unit, None)),
        };
        if let Some(oldest) = self.oldest_before(unit.packet) {
            let fragments = self.packets[oldest as usize].fragments;
            if let Some(first) = (0..fragments).find_map(|fragment| self.scheme.withdraw(oldest, fragment)) {
                if choice != Choice::New {
                    self.scheme.hold(unit);
                }
                return Some((first, Some(Reason::Oldest)));
            }
        }
        let reason = if let Choice::Send(_, reason) = choice { reason } else { Reason::New };
        Some((unit, Some(reason)))
    }

    /// Records the start of a service; `waiting` is present only if a trace requested it.
    fn note(&mut self, unit: Unit, reason: Reason, now: Time, waiting: Option<Waiting>) {
        self.served = waiting.map(|waiting| Served {
            at: now,
            waiting,
            handle: self.packets[unit.packet as usize].msdu.handle,
            unit,
            reason,
            outcome: ServedOutcome::Failed,
        });
    }

    /// Reports the end of the recorded service.
    fn settle(&mut self, outcome: ServedOutcome, out: &mut impl MacOut) {
        if let Some(served) = self.served.take() {
            out.served(&Served { outcome, ..served });
        }
    }

    /// A fragment is sent for the first time.
    fn begin(&mut self, packet: u32) {
        let open = &mut self.packets[packet as usize];
        open.next += 1;
        if open.next == open.fragments && self.fresh.front() == Some(&packet) {
            self.fresh.pop_front();
        }
    }

    /// Removes a packet that is delivered or discarded.
    fn close(&mut self, packet: u32) -> Msdu {
        let Pending { fragments, msdu, .. } = self.packets[packet as usize];
        for fragment in 0..fragments {
            self.scheme.withdraw(packet, fragment);
        }
        if self.fresh.front() == Some(&packet) {
            self.fresh.pop_front();
        }
        self.packets[packet as usize].is_open = false;
        self.free.push(packet);
        self.open -= 1;
        msdu
    }
}

impl<A: Arq> Dcf<A> {
    /// Whether there is something to send.
    #[inline]
    pub(super) fn has_work(&self) -> bool {
        self.service.is_some() || self.units.as_ref().is_some_and(|units| units.open > 0)
    }

    /// Accepts a packet at a station with a scheme.
    pub(super) fn admit(&mut self, msdu: Msdu) {
        let body = self.core.rules.config.llc + msdu.bytes;
        let fragments = body.div_ceil(self.core.rules.longest_body).max(1) as u8;
        if let Some(units) = &mut self.units {
            units.admit(msdu, fragments);
        }
    }

    /// Number of failed attempts at the frame in service.
    #[inline]
    pub(super) fn attempts_before(&self) -> u32 {
        match self.units.as_ref().and_then(|units| units.in_service) {
            Some(unit) => u32::from(unit.sent),
            None => self.retries.all(),
        }
    }

    /// Puts the unit that the scheme selects into service, unless one is in service.
    pub(super) fn take_up(&mut self, now: Time, out: &mut impl MacOut) {
        if self.service.is_some() {
            return;
        }
        let Some(mut units) = self.units.take() else { return };
        let waiting = out.is_watching().then(|| units.scheme.waiting(now));
        while let Some((unit, reason)) = units.choose(now) {
            units.note(unit, reason.unwrap_or(Reason::Hopeless), now, waiting);
            let is_over = self.core.rules.is_over(units.packets[unit.packet as usize].begun, now);
            if reason.is_some() && !is_over {
                self.serve(&mut units, unit, now);
                break;
            }
            units.settle(ServedOutcome::GivenUp, out);
            self.give_up(&mut units, unit.packet, out);
        }
        self.units = Some(units);
    }

    /// Puts a unit into service.
    fn serve(&mut self, units: &mut Units<A>, unit: Unit, now: Time) {
        if unit.sent == 0 {
            units.begin(unit.packet);
        }
        let sequence = units.sequence_of(unit.packet);
        let open = &mut units.packets[unit.packet as usize];
        open.begun = open.begun.min(now);
        let offset = u32::from(unit.fragment) * self.core.rules.longest_body;
        let service = self.fragment_at(open.msdu, sequence, unit.fragment, offset);
        // In a burst the next fragment follows, if it was never sent.
        let is_last_of_burst = open.next != unit.fragment + 1;
        let (begun, sent) = (open.begun, unit.sent > 0);
        self.service = Some(Service { begun, sent, is_last_of_burst, ..service });
        units.in_service = Some(unit);
    }

    /// The unit in service was acknowledged. Returns whether the burst continues.
    pub(super) fn unit_acknowledged(&mut self, now: Time, out: &mut impl MacOut) -> bool {
        self.reset_window();
        self.retries = Retries::default();
        let Some(mut units) = self.units.take() else { return false };
        let goes_on = self.settle_acknowledged(&mut units, now, out);
        self.units = Some(units);
        goes_on
    }

    fn settle_acknowledged(&mut self, units: &mut Units<A>, now: Time, out: &mut impl MacOut) -> bool {
        let (Some(service), Some(unit)) = (self.service.take(), units.in_service.take()) else {
            return false;
        };
        units.settle(ServedOutcome::Delivered, out);
        let open = &mut units.packets[unit.packet as usize];
        open.acknowledged |= 1 << unit.fragment;
        if open.acknowledged == (1 << open.fragments) - 1 {
            self.core.counters.delivered += 1;
            let msdu = units.close(unit.packet);
            self.room.release(&msdu, &self.core.rules);
            out.done(msdu.handle, Outcome::Delivered);
            return false;
        }
        if service.is_last_of_burst || open.next == open.fragments {
            return false;
        }
        let next = open.next;
        let waiting = out.is_watching().then(|| units.scheme.waiting(now));
        units.scheme.withdraw(unit.packet, next);
        let unit = units.unit(unit.packet, next, 0);
        units.note(unit, Reason::New, now, waiting);
        self.serve(units, unit, now);
        true
    }

    /// The unit in service failed: it returns to the scheme, which may discard it. Returns false if the frame stays in
    /// service under its own retry limits.
    pub(super) fn unit_failed(&mut self, is_lost: bool, out: &mut impl MacOut) -> bool {
        let Some(mut units) = self.units.take() else { return false };
        let is_settled = self.settle_failed(&mut units, is_lost, out);
        self.units = Some(units);
        is_settled
    }

    fn settle_failed(&mut self, units: &mut Units<A>, is_lost: bool, out: &mut impl MacOut) -> bool {
        let Some(mut unit) = units.in_service else { return false };
        unit.sent = unit.sent.saturating_add(1);
        let is_of_flow = units.packets[unit.packet as usize].msdu.flow.is_some();
        if !is_lost && !is_of_flow {
            units.in_service = Some(unit);
            return false;
        }
        (units.in_service, self.service) = (None, None);
        if is_lost || units.scheme.hold(unit) == ArqVerdict::GivenUp {
            units.settle(ServedOutcome::GivenUp, out);
            self.give_up(units, unit.packet, out);
        } else {
            units.settle(ServedOutcome::Failed, out);
            if unit.sent == 1 && units.is_ordered_by_scheme(unit.packet) {
                units.hold_fresh(unit.packet);
            }
        }
        true
    }

    /// The station's own retry limit ends the packet in service. Returns false if no scheme is used for it.
    pub(super) fn part_with_unit(&mut self, outcome: Outcome, out: &mut impl MacOut) -> bool {
        let Some(units) = &mut self.units else { return false };
        let Some(unit) = units.in_service.take() else { return false };
        self.service = None;
        units.settle(ServedOutcome::GivenUp, out);
        let msdu = units.close(unit.packet);
        self.room.release(&msdu, &self.core.rules);
        out.done(msdu.handle, outcome);
        true
    }

    /// Discards a packet and all its units.
    fn give_up(&mut self, units: &mut Units<A>, packet: u32, out: &mut impl MacOut) {
        self.core.counters.undelivered += 1;
        let msdu = units.close(packet);
        self.room.release(&msdu, &self.core.rules);
        out.done(msdu.handle, Outcome::Undelivered);
    }

    /// Removes every packet for a neighbour of which nothing was sent yet.
    pub(super) fn flush_units(&mut self, to: NodeId, out: &mut impl MacOut) {
        let Some(mut units) = self.units.take() else { return };
        for packet in 0..units.packets.len() as u32 {
            let Pending { is_open, sequence, msdu, .. } = units.packets[packet as usize];
            if is_open && sequence.is_none() && msdu.next == to {
                units.fresh.retain(|other| *other != packet);
                let msdu = units.close(packet);
                self.room.release(&msdu, &self.core.rules);
                out.done(msdu.handle, Outcome::Flushed);
            }
        }
        self.units = Some(units);
    }
}
