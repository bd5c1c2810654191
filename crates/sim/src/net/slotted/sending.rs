//! Selects the senders of a slot: nodes that forward or acknowledge, and those of the others that sense no
//! transmission. If all nodes draw the instant at which they begin, those that forward or acknowledge sense the channel
//! too.

use std::cmp::Reverse;

use lasthop_stack::link::slotted::{FrameKind, Intent, NodeOut, SlotNo};
use lasthop_stack::units::Time;

use super::{Frn, Host, NEVER};
use crate::model::Sense;
use crate::probe::slots::SlotAct;

/// Number of instants from which a station draws: the contention window of 802.11, whose broadcast the paper used.
const INSTANTS: u32 = 32;

impl Frn {
    /// Asks the stations that are due in the slot, and lets those send that may.
    pub(super) fn begin(&mut self, slot: SlotNo, host: &mut Host) {
        self.begun = Some(slot);
        self.frames.clear();
        self.numbers.clear();
        self.transmitters.clear();
        let mut ordinary = std::mem::take(&mut self.ordinary);
        ordinary.clear();
        while let Some(&Reverse((due, number))) = self.agenda.peek()
            && due <= slot
        {
            self.agenda.pop();
            let station = number as usize;
            if self.stations[station].planned != due {
                continue;
            }
            self.stations[station].planned = NEVER;
            let intent = self.with_mac(station, |mac, out| mac.begin(slot, out));
            self.settle(station, slot, host);
            match intent {
                Intent::Silent => self.plan_next(station, slot),
                Intent::Committed if self.sense == Sense::Random => self.draw(number, true),
                Intent::Ordinary if self.sense == Sense::Random => self.draw(number, false),
                Intent::Committed => self.transmit(station, slot, true, host),
                Intent::Ordinary => ordinary.push(number),
            }
        }
        if self.sense == Sense::Committed {
            self.spread(0, slot);
        }
        self.take_turns(slot, host);
        for &number in &ordinary {
            self.transmit_if_idle(number as usize, slot, false, host);
        }
        self.ordinary = ordinary;
        if !self.frames.is_empty() {
            self.counters.slots += 1;
            host.queue.set(self.end, Time((slot.0 + 1) * self.slot.0));
        }
    }

    /// Draws the instant of the slot at which a station begins.
    fn draw(&mut self, number: u32, forwards: bool) {
        let instant = self.with_mac(number as usize, |_, out| out.draw(INSTANTS - 1));
        self.drawn.push((instant, number, forwards));
    }

    /// Lets the stations begin in the order drawn; stations of the same instant do not hear each other.
    fn take_turns(&mut self, slot: SlotNo, host: &mut Host) {
        let mut drawn = std::mem::take(&mut self.drawn);
        drawn.sort_unstable();
        for turn in drawn.chunk_by(|one, next| one.0 == next.0) {
            let before = self.transmitters.len();
            for &(_, number, forwards) in turn {
                self.transmit_if_idle(number as usize, slot, forwards, host);
            }
            self.spread(before, slot);
        }
        drawn.clear();
        self.drawn = drawn;
    }

    /// Marks the stations that sense the transmitters of the slot, from index `from` on.
    fn spread(&mut self, from: usize, slot: SlotNo) {
        for &transmitter in &self.transmitters[from..] {
            for near in self.medium.sensing(transmitter) {
                self.stations[near as usize].sensed = slot.0 + 1;
            }
        }
    }

    fn transmit_if_idle(&mut self, station: usize, slot: SlotNo, forwards: bool, host: &mut Host) {
        if self.stations[station].sensed == slot.0 + 1 {
            self.counters.deferred += 1;
            self.plan_next(station, slot);
        } else {
            self.transmit(station, slot, forwards, host);
        }
    }

    fn transmit(&mut self, station: usize, slot: SlotNo, forwards: bool, host: &mut Host) {
        if let Some(frame) = self.with_mac(station, |mac, out| mac.transmit(slot, out)) {
            self.stations[station].forwards = forwards;
            match frame.kind {
                FrameKind::Ack => self.counters.acks += 1,
                FrameKind::Packet => {
                    self.counters.sent += 1;
                    self.counters.sent_again += u64::from(!forwards && frame.header.retransmissions > 0);
                    if let Some(capture) = &mut self.capture {
                        let packet = host.pool.packet(self.copies.packet(frame.handle));
                        capture.record(host.now.after(self.slot), host.now, packet, host.outside);
                    }
                }
            }
            self.note(host, slot, station, SlotAct::of(frame.kind), &frame, frame.receiver);
            if host.tracer.events.is_some() {
                self.trace_sent(station, &frame, host);
            }
            self.frames.push(frame);
            self.transmitters.push(station as u32);
        }
        self.plan_next(station, slot);
    }
}
