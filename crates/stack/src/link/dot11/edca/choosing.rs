//! An agreement whose packets an ARQ scheme orders: which of them the next A-MPDU carries.
//!
//! **How.** Each agreement has a scheme of its own. A packet is one unit. It goes to the scheme when it arrives, or
//! waits in order of arrival if the scheme takes no new ones. It returns to the scheme when a BlockAck does not report
//! it. An A-MPDU is filled with the units that the scheme selects, one after the other. A packet gets its number when
//! it is first sent, so that the order of the scheme is that of the numbers too.
//!
//! **Choices.** 1. While the window is full, the oldest packets of it are sent instead of a new one, and the new one goes
//! first afterwards. 2. What was selected but does not fit goes first in the next A-MPDU. 3. Until a BlockAck reports the fate of
//! an A-MPDU its packets are with nobody. 4. A packet whose flow has no timing is repeated before all others.

use std::collections::VecDeque;

use super::super::frame::Msdu;
use crate::hooks::{Arq, ArqVerdict, Choice, Newcomer, Timing, Unit};
use crate::units::Time;

/// A packet.
#[derive(Clone, Copy, Debug)]
struct Packet {
    msdu: Msdu,
    order: u64,
    fires_at: Time,
    sequence: Option<u16>,
    is_open: bool,
}

/// The packets of an agreement with a scheme.
#[derive(Clone, Debug)]
pub(super) struct Choosing<A> {
    pub(super) scheme: A,
    packets: Vec<Packet>,
    free: Vec<u32>,
    /// Packets without a number that the scheme does not hold.
    fresh: VecDeque<u32>,
    /// Failed units of flows without timing.
    again: VecDeque<Unit>,
    /// A unit that was selected and could not be sent.
    carried: Option<Unit>,
    /// What was sent and neither acknowledged nor returned.
    in_flight: Vec<Unit>,
    /// Units that the scheme has discarded instead of sending them, again or at all.
    given_up: Vec<Unit>,
    /// In order of arrival, with their order; the first may be gone.
    ages: VecDeque<(u32, u64)>,
    /// By number modulo the window.
    of_sequence: Vec<u32>,
    /// Packets without a number.
    pub(super) waiting: u32,
}

impl<A: Arq> Choosing<A> {
    pub(super) fn new(scheme: A, window: u32) -> Choosing<A> {
        Choosing {
            scheme,
            packets: Vec::new(),
            free: Vec::new(),
            fresh: VecDeque::new(),
            again: VecDeque::new(),
            carried: None,
            in_flight: Vec::new(),
            given_up: Vec::new(),
            ages: VecDeque::new(),
            of_sequence: vec![0; window as usize],
            waiting: 0,
        }
    }

    /// A packet has come.
    pub(super) fn admit(&mut self, msdu: Msdu, order: u64) {
        let fires_at = msdu.flow.map_or(Time::NEVER, |flow| self.scheme.fires_at(flow));
        let packet = Packet { msdu, order, fires_at, sequence: None, is_open: true };
        let place = self.free.pop().unwrap_or(self.packets.len() as u32);
        if place as usize == self.packets.len() {
            self.packets.push(packet);
        } else {
            self.packets[place as usize] = packet;
        }
        self.waiting += 1;
        self.ages.push_back((place, order));
        if self.scheme.takes_new() && msdu.flow.is_some() {
            self.scheme.hold(self.unit(place));
        } else {
            self.fresh.push_back(place);
        }
    }

    fn unit(&self, place: u32) -> Unit {
        let Packet { msdu, order, fires_at, .. } = self.packets[place as usize];
        Unit {
            packet: place,
            fragment: 0,
            flow: msdu.flow.unwrap_or(u32::MAX),
            serial: order,
            fires_at,
            sent: 0,
        }
    }

    /// The place in the order of arrival of the oldest packet.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.ages.front().map(|(_, order)| *order)
    }

    /// A unit for the A-MPDU that is being filled, if there is one.
    pub(super) fn draw(&mut self, now: Time) -> Option<Unit> {
        if let Some(unit) = self.carried.take().or_else(|| self.again.pop_front()) {
            return Some(unit);
        }
        let newcomer = if self.fresh.is_empty() { Newcomer::Absent } else { Newcomer::Waits };
        loop {
            match self.scheme.next(newcomer, now)? {
                Choice::New => return self.fresh.pop_front().map(|place| self.unit(place)),
                Choice::Send(unit, _) => return Some(unit),
                Choice::GiveUp(unit) => self.given_up.push(unit),
            }
        }
    }

    /// A unit that was drawn cannot be sent now: it is drawn first afterwards.
    pub(super) fn put_back(&mut self, unit: Unit) {
        if self.carried.is_none() {
            self.carried = Some(unit);
        } else if self.packets[unit.packet as usize].msdu.flow.is_none() {
            self.again.push_front(unit);
        } else {
            self.scheme.hold(unit);
        }
    }

    /// Takes the unit of a number, if nobody has sent it since its fate was known.
    pub(super) fn take(&mut self, sequence: u16) -> Option<Unit> {
        let place = self.of_sequence[usize::from(sequence) % self.of_sequence.len()];
        let again = self.again.iter().position(|unit| unit.packet == place);
        again.and_then(|at| self.again.remove(at)).or_else(|| self.scheme.withdraw(place, 0))
    }

    /// The packet of a unit and its number, if it has one.
    pub(super) fn packet(&self, unit: &Unit) -> (Msdu, u64, Option<u16>) {
        let Packet { msdu, order, sequence, .. } = self.packets[unit.packet as usize];
        (msdu, order, sequence)
    }

    /// A unit goes into the A-MPDU, with this number.
    pub(super) fn send(&mut self, unit: Unit, sequence: u16) {
        let packet = &mut self.packets[unit.packet as usize];
        self.waiting -= u32::from(packet.sequence.is_none());
        packet.sequence = Some(sequence);
        let place = usize::from(sequence) % self.of_sequence.len();
        self.of_sequence[place] = unit.packet;
        self.in_flight.push(Unit { sent: unit.sent.saturating_add(1), ..unit });
    }

    /// The packet with this number is acknowledged or discarded.
    pub(super) fn close(&mut self, sequence: u16) {
        let place = self.of_sequence[usize::from(sequence) % self.of_sequence.len()];
        self.close_place(place);
    }

    fn close_place(&mut self, place: u32) {
        self.scheme.withdraw(place, 0);
        self.again.retain(|unit| unit.packet != place);
        self.carried = self.carried.filter(|unit| unit.packet != place);
        self.packets[place as usize].is_open = false;
        self.free.push(place);
        while let Some((place, order)) = self.ages.front().copied()
            && !(self.packets[place as usize].is_open && self.packets[place as usize].order == order)
        {
            self.ages.pop_front();
        }
    }

    /// The fate of what was sent is known: what is left of it returns. Calls `gives_up` with the number of each packet
    /// that the scheme discards.
    pub(super) fn return_failed(&mut self, mut gives_up: impl FnMut(u16)) {
        for place in 0..self.in_flight.len() {
            let unit = self.in_flight[place];
            let packet = &self.packets[unit.packet as usize];
            if !packet.is_open || packet.order != unit.serial {
                continue;
            }
            if packet.msdu.flow.is_none() {
                self.again.push_back(unit);
            } else if self.scheme.hold(unit) == ArqVerdict::GivenUp
                && let Some(sequence) = packet.sequence
            {
                gives_up(sequence);
            }
        }
        self.in_flight.clear();
    }

    /// A packet that the scheme discarded while it selected, with its number: with one, it stays until the number is
    /// closed.
    pub(super) fn take_given_up(&mut self) -> Option<(Msdu, Option<u16>)> {
        let Unit { packet: place, .. } = self.given_up.pop()?;
        let Packet { msdu, sequence, .. } = self.packets[place as usize];
        if sequence.is_none() {
            self.close_place(place);
            self.waiting -= 1;
        }
        Some((msdu, sequence))
    }

    /// Removes the packets that were never sent.
    pub(super) fn flush(&mut self, mut each: impl FnMut(Msdu)) {
        self.fresh.clear();
        for place in 0..self.packets.len() as u32 {
            let Packet { is_open, sequence, msdu, .. } = self.packets[place as usize];
            if is_open && sequence.is_none() {
                self.close_place(place);
                self.waiting -= 1;
                each(msdu);
            }
        }
    }

    pub(super) fn on_timing(&mut self, flow: u32, timing: Timing) {
        self.scheme.on_timing(flow, timing);
    }
}
