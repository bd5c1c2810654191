//! The MAC of a station: DCF, or EDCA with block acknowledgement.

use lasthop_stack::hooks::{Arq, Count, Rider, Timing};
use lasthop_stack::link::dot11::{
    Agreements, Bystander, Counters, Edca, EdcaCounters, EdcaOut, Frame, FrameKind, Load, Mode, Mpdu,
    MpduFate, Msdu, PcfConfig, Plan, Role, Rules, Tries,
};
use lasthop_stack::packet::NodeId;
use lasthop_stack::registry::{ArqMachine, Station};
use lasthop_stack::units::Time;
use std::sync::Arc;

/// A MAC.
#[expect(clippy::large_enum_variant, reason = "one for each station, and DCF without an indirection")]
pub(super) enum Mac {
    Dcf(Station),
    Edca(Box<Edca<ArqMachine>>),
}

impl Mac {
    pub(super) fn new(rules: Arc<Rules>, address: NodeId, role: Role) -> Mac {
        match rules.config.edca {
            Some(_) => Mac::Edca(Box::new(Edca::new(rules, address, role))),
            None => Mac::Dcf(Station::new(rules, address, role)),
        }
    }

    pub(super) fn link_up(&mut self, link: u32, absent: Vec<bool>) {
        if let Mac::Edca(mac) = self {
            mac.link_up(link, absent);
        }
    }

    pub(super) fn take_agreements(&mut self, of: &mut Agreements<ArqMachine>, now: Time) {
        if let Mac::Edca(mac) = self {
            mac.take_agreements(of, now);
        }
    }

    /// Returns whether the other links of its device have something to do.
    pub(super) fn return_agreements(&mut self, to: &mut Agreements<ArqMachine>) -> bool {
        match self {
            Mac::Dcf(_) => false,
            Mac::Edca(mac) => mac.return_agreements(to),
        }
    }

    pub(super) fn notice(&mut self, now: Time, out: &mut impl EdcaOut) {
        if let Mac::Edca(mac) = self {
            mac.notice(now, out);
        }
    }

    #[inline]
    pub(super) fn enqueue(&mut self, msdu: Msdu, now: Time, out: &mut impl EdcaOut) -> bool {
        match self {
            Mac::Dcf(mac) => mac.enqueue(msdu, now, out),
            Mac::Edca(mac) => mac.enqueue(msdu, now, out),
        }
    }

    pub(super) fn enqueue_ahead(&mut self, msdu: Msdu, now: Time, out: &mut impl EdcaOut) -> bool {
        match self {
            Mac::Dcf(mac) => mac.enqueue_ahead(msdu, now, out),
            Mac::Edca(mac) => mac.enqueue_ahead(msdu, now, out),
        }
    }

    /// Accepts a frame with its rates, which with EDCA an agreement covers or not.
    pub(super) fn enqueue_planned(
        &mut self,
        msdu: Msdu,
        (plan, is_covered): (Plan, bool),
        now: Time,
        out: &mut impl EdcaOut,
    ) -> bool {
        match self {
            Mac::Dcf(mac) => mac.enqueue_planned(msdu, plan, now, out),
            Mac::Edca(mac) => mac.enqueue_planned(msdu, (plan, is_covered), now, out),
        }
    }

    /// How often a frame with rates was sent that the MAC has released.
    pub(super) fn take_tries(&mut self, handle: u64) -> Option<Tries> {
        match self {
            Mac::Dcf(mac) => mac.take_tries(handle),
            Mac::Edca(mac) => mac.take_tries(handle),
        }
    }

    pub(super) fn ride(&mut self, to: NodeId, rider: Rider) {
        match self {
            Mac::Dcf(mac) => mac.ride(to, rider),
            Mac::Edca(mac) => mac.ride(to, rider),
        }
    }

    pub(super) fn ride_behind(&mut self, to: NodeId, rider: Rider) {
        match self {
            Mac::Dcf(mac) => mac.ride_behind(to, rider),
            Mac::Edca(mac) => mac.ride_behind(to, rider),
        }
    }

    pub(super) fn unload(&mut self, to: NodeId) {
        match self {
            Mac::Dcf(mac) => mac.unload(to),
            Mac::Edca(mac) => mac.unload(to),
        }
    }

    pub(super) fn flush(&mut self, to: NodeId, out: &mut impl EdcaOut) {
        match self {
            Mac::Dcf(mac) => mac.flush(to, out),
            Mac::Edca(mac) => mac.flush(to, out),
        }
    }

    #[inline]
    pub(super) fn at_rest(&self) -> Option<Bystander> {
        match self {
            Mac::Dcf(mac) => mac.at_rest(),
            Mac::Edca(mac) => mac.at_rest(),
        }
    }

    #[inline]
    pub(super) fn rests_as(&self, bystander: &Bystander) -> bool {
        match self {
            Mac::Dcf(mac) => mac.rests_as(bystander),
            Mac::Edca(mac) => mac.rests_as(bystander),
        }
    }

    pub(super) fn catch_up(&mut self, bystander: &Bystander) {
        match self {
            Mac::Dcf(mac) => mac.catch_up(bystander),
            Mac::Edca(mac) => mac.catch_up(bystander),
        }
    }

    #[inline]
    pub(super) fn on_busy(&mut self, now: Time, out: &mut impl EdcaOut) {
        match self {
            Mac::Dcf(mac) => mac.on_busy(now, out),
            Mac::Edca(mac) => mac.on_busy(now, out),
        }
    }

    /// A frame begins, by its header, at a station that may receive it.
    pub(super) fn on_begun(&mut self, frame: &Frame) {
        if let Mac::Edca(mac) = self {
            mac.on_begun(frame);
        }
    }

    #[inline]
    pub(super) fn on_idle(&mut self, now: Time, out: &mut impl EdcaOut) {
        match self {
            Mac::Dcf(mac) => mac.on_idle(now, out),
            Mac::Edca(mac) => mac.on_idle(now, out),
        }
    }

    #[inline]
    pub(super) fn on_frame(&mut self, frame: &Frame, load: &Load, now: Time, out: &mut impl EdcaOut) {
        match self {
            Mac::Dcf(mac) => mac.on_frame(frame, now, out),
            Mac::Edca(mac) => mac.on_frame(frame, load, now, out),
        }
    }

    /// A frame was received, and perhaps the medium turned idle. If that is no more than what a bystander notes, notes it and
    /// returns true.
    #[inline]
    pub(super) fn stands_by(&mut self, frame: &Frame, turns_idle: bool, now: Time) -> bool {
        match self {
            Mac::Dcf(mac) => mac.stands_by(frame, turns_idle, now),
            Mac::Edca(_) => false,
        }
    }

    #[inline]
    pub(super) fn on_error(&mut self, now: Time, out: &mut impl EdcaOut) {
        match self {
            Mac::Dcf(mac) => mac.on_error(now, out),
            Mac::Edca(mac) => mac.on_error(now, out),
        }
    }

    pub(super) fn on_missed(&mut self, end: Time) {
        if let Mac::Dcf(mac) = self {
            mac.on_missed(end);
        }
    }

    #[inline]
    pub(super) fn on_sent(&mut self, now: Time, out: &mut impl EdcaOut) {
        match self {
            Mac::Dcf(mac) => mac.on_sent(now, out),
            Mac::Edca(mac) => mac.on_sent(now, out),
        }
    }

    #[inline]
    pub(super) fn on_timer(&mut self, now: Time, out: &mut impl EdcaOut) {
        match self {
            Mac::Dcf(mac) => mac.on_timer(now, out),
            Mac::Edca(mac) => mac.on_timer(now, out),
        }
    }

    /// The medium has lost the packet of the frame being sent for good, or those of some of its MPDUs.
    pub(super) fn on_lost_for_good(&mut self, (frame, mpdus): (&Frame, &[Mpdu])) {
        match self {
            Mac::Dcf(mac) => mac.on_lost_for_good(),
            // Data outside of agreements has no MPDUs, and is then lost.
            Mac::Edca(mac) if mpdus.is_empty() && frame.kind == FrameKind::Data => {
                mac.on_lost_for_good(0, frame.sequence);
            }
            Mac::Edca(mac) => {
                let lost = mpdus.iter().enumerate().filter(|(_, mpdu)| mpdu.fate == MpduFate::LostForGood);
                lost.for_each(|(place, mpdu)| mac.on_lost_for_good(place, mpdu.sequence));
            }
        }
    }

    pub(super) fn on_release(&mut self, now: Time, out: &mut impl EdcaOut) {
        if let Mac::Edca(mac) = self {
            mac.on_release(now, out);
        }
    }

    pub(super) fn coordinate(
        &mut self,
        pcf: PcfConfig,
        polled: Vec<NodeId>,
        now: Time,
        out: &mut impl EdcaOut,
    ) {
        if let Mac::Dcf(mac) = self {
            mac.coordinate(pcf, polled, now, out);
        }
    }

    pub(super) fn adopt(&mut self, scheme: ArqMachine) {
        match self {
            Mac::Dcf(mac) => mac.adopt(scheme),
            Mac::Edca(mac) => mac.adopt(scheme),
        }
    }

    pub(super) fn on_timing(&mut self, flow: u32, timing: Timing) {
        match self {
            Mac::Dcf(mac) => mac.on_timing(flow, timing),
            Mac::Edca(mac) => mac.on_timing(flow, timing),
        }
    }

    /// The counters of the schemes that select frames.
    pub(super) fn arq_counts(&self) -> Vec<Count> {
        match self {
            Mac::Dcf(mac) => mac.scheme().map_or_else(Vec::new, Arq::counts),
            Mac::Edca(mac) => mac.arq_counts(),
        }
    }

    /// The mode that rate control has chosen last for a receiver, if there is one.
    pub(super) fn chosen_mode(&self, peer: NodeId, category: usize) -> Option<Mode> {
        match self {
            Mac::Dcf(_) => None,
            Mac::Edca(mac) => mac.chosen_mode(peer, category),
        }
    }

    pub(super) fn address(&self) -> NodeId {
        match self {
            Mac::Dcf(mac) => mac.address(),
            Mac::Edca(mac) => mac.address(),
        }
    }

    #[inline]
    pub(super) fn backlog(&self) -> usize {
        match self {
            Mac::Dcf(mac) => mac.backlog(),
            Mac::Edca(mac) => mac.backlog(),
        }
    }

    /// Whether it has no room for another packet, of any category.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        match self {
            Mac::Dcf(mac) => mac.is_full(),
            Mac::Edca(mac) => mac.is_full(),
        }
    }

    pub(super) fn in_service(&self) -> Option<(u64, u32)> {
        match self {
            Mac::Dcf(mac) => mac.in_service(),
            Mac::Edca(mac) => mac.in_service(),
        }
    }

    pub(super) fn counters(&self) -> &Counters {
        match self {
            Mac::Dcf(mac) => mac.counters(),
            Mac::Edca(mac) => mac.counters(),
        }
    }

    /// The counters of block acknowledgement; zero with DCF.
    pub(super) fn edca_counters(&self) -> EdcaCounters {
        match self {
            Mac::Dcf(_) => EdcaCounters::default(),
            Mac::Edca(mac) => *mac.edca_counters(),
        }
    }
}
