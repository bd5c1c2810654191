//! The answers of a MAC, and the list in which they wait to be processed.

use lasthop_stack::hooks::{Answered, Rider};
use lasthop_stack::link::dot11::{Airtime, Frame, Load, MacOut, Mode, Outcome, Served};
use lasthop_stack::packet::NodeId;
use lasthop_stack::units::Time;

use super::{Host, Wlan};
use crate::engine::queue::Slot;
use crate::engine::streams::Stream;
use crate::medium::radio::Radio;
use crate::medium::radio::modulation::mpdu_failure;
use crate::net::agents::{Around, Stack};
use crate::net::pool::PoolId;

/// A pending action of this instant at a station. Frames and packets are stored apart from it, since an entry of a list
/// is moved twice.
#[derive(Clone, Copy)]
pub(super) enum Work {
    /// The MAC starts to send the frame on its air.
    Transmit(u32),
    /// The MAC passes up a packet, with its transmitter, and with its sequence number unless it has held a copy.
    Up(u32, PoolId, Option<u16>, NodeId),
    /// The MAC discards a packet that came too late.
    Late(u32, PoolId),
    /// The MAC has released a packet.
    Done(u32, PoolId, Outcome),
    /// The agent passes a packet to the link, the first of those passed down.
    Down(u32),
    /// Something rode in an acknowledgement.
    Rider(u32, Rider),
    /// The MAC acknowledges a frame.
    Answered(u32, Answered),
}

/// What the answers of a station's MAC act on, apart from the network around it.
pub(super) struct Output {
    pub(super) station: u32,
    pub(super) timer: Slot,
    /// The timer of the reordering buffers.
    pub(super) reordering: Option<Slot>,
    /// The frame that it begins to send, or sent last.
    pub(super) on_air: (Frame, Airtime),
    /// The contents of that frame, with EDCA.
    pub(super) load: Load,
    pub(super) backoff: Stream,
    /// The slots that it has drawn last, until it sends.
    pub(super) slots: Option<u32>,
    /// Whether agents ask what is acknowledged.
    pub(super) hears_answers: bool,
}

/// Receives the answers of a MAC. It is made for each visit of a station, so that it has few fields.
pub(super) struct MacHost<'a, 'net> {
    pub(super) host: &'a mut Host<'net>,
    pub(super) radio: &'a mut Radio,
    pub(super) output: &'a mut Output,
    pub(super) work: &'a mut Vec<Work>,
    pub(super) link: u32,
    pub(super) from: NodeId,
    /// Whether the MAC is done with a packet.
    pub(super) has_finished: bool,
}

impl MacOut for MacHost<'_, '_> {
    #[inline]
    fn transmit(&mut self, frame: Frame, airtime: Airtime) {
        self.output.on_air = (frame, airtime);
        self.work.push(Work::Transmit(self.output.station));
    }

    #[inline]
    fn set_timer(&mut self, at: Time) {
        // The frames that end in this instant come first.
        self.host.queue.set_late(self.output.timer, at);
    }

    #[inline]
    fn cancel_timer(&mut self) {
        self.host.queue.cancel(self.output.timer);
    }

    #[inline]
    fn up(&mut self, handle: u64, sequence: u16) {
        let id = PoolId::from_handle(handle);
        self.work.push(Work::Up(self.output.station, id, Some(sequence), self.from));
    }

    #[inline]
    fn done(&mut self, handle: u64, outcome: Outcome) {
        self.has_finished = true;
        self.work.push(Work::Done(self.output.station, PoolId::from_handle(handle), outcome));
    }

    fn rider(&mut self, rider: Rider) {
        self.work.push(Work::Rider(self.output.station, rider));
    }

    #[inline]
    fn answered(&mut self, more: Option<bool>, boarded: u32) {
        if self.output.hears_answers {
            self.work.push(Work::Answered(self.output.station, Answered { to: self.from, more, boarded }));
        }
    }

    #[inline]
    fn draw(&mut self, bound: u32) -> u32 {
        let slots = self.output.backoff.up_to(bound);
        self.output.slots = Some(slots);
        slots
    }

    #[inline]
    fn is_watching(&self) -> bool {
        self.host.tracer.arq
    }

    fn served(&mut self, served: &Served) {
        self.host.tracer.served(self.link, *served);
    }

    fn load(&mut self) -> &mut Load {
        &mut self.output.load
    }

    fn hold(&mut self, handle: u64) -> u64 {
        let id = PoolId::from_handle(handle);
        let (packet, size) = self.host.pool.get(id);
        let packet = *packet;
        self.host.pool.pass_on(id);
        self.host.pool.insert_sized(packet, size).handle()
    }

    fn up_held(&mut self, handle: u64) {
        self.work.push(Work::Up(self.output.station, PoolId::from_handle(handle), None, self.from));
    }

    fn late(&mut self, handle: u64) {
        self.work.push(Work::Late(self.output.station, PoolId::from_handle(handle)));
    }

    fn set_release(&mut self, at: Time) {
        if let Some(slot) = self.output.reordering {
            self.host.queue.set(slot, at);
        }
    }

    fn signal_to_noise(&mut self, at: NodeId) -> f64 {
        self.radio.signal_to_noise(self.output.station as usize, at, self.host.now)
    }

    fn mpdu_failure(&mut self, mode: Mode, bytes: u32, ratio: f64) -> f64 {
        mpdu_failure(mode, bytes, ratio)
    }
}

impl Wlan {
    /// Lets the agents of a station act, and carries out their requests.
    pub(in crate::net) fn let_agents_act(
        &mut self,
        station: usize,
        host: &mut Host,
        act: impl FnOnce(&mut Stack, &mut Around),
    ) {
        self.with_agents(station, host, act);
        self.settle(host);
    }
}
