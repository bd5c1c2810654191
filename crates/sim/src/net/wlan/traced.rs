//! What a trace of events and a capture record of an 802.11 link.

use lasthop_stack::link::dot11::{Frame, FrameKind, Load, Mpdu, MpduFate, Outcome, Share};
use lasthop_stack::packet::Packet;

use super::{Fate, Host, Output, Wlan};
use crate::net::pool::PoolId;
use crate::probe::events::{Event, Sending, Why};
use crate::probe::radiotap::Heard;

impl Wlan {
    /// Records the frame that a station begins to send, in the trace of events and in the capture.
    #[cold]
    pub(super) fn record(&mut self, station: usize, host: &mut Host) {
        self.trace_frame(station, host);
        let Some(capture) = &mut self.capture else { return };
        let Output { on_air: (frame, airtime), load, .. } = &self.sites[station].output;
        let packet = |handle| host.pool.packet(PoolId::from_handle(handle));
        let listener = self.radio.station(frame.receiver).unwrap_or(self.observer);
        let signal_dbm = self.radio.power_dbm(station, listener);
        let at = Heard { signal_dbm, now: host.now, outside: host.outside };
        if !load.shares.is_empty() && frame.mpdus > 0 {
            let heard = |to| {
                let listener = self.radio.station(to).unwrap_or(self.observer);
                Heard { signal_dbm: self.radio.power_dbm(station, listener), ..at }
            };
            capture.record_several(frame, *airtime, load, packet, heard);
        } else if frame.mpdus > 0 {
            capture.record_mpdus(frame, *airtime, load, packet, at);
        } else {
            let packet = frame.msdu.map(packet);
            capture.record(frame, *airtime, (packet, load), at);
        }
    }

    fn trace_frame(&mut self, station: usize, host: &mut Host) {
        let Some(events) = &mut host.tracer.events else { return };
        let interface = &mut self.sites[station];
        let (frame, airtime) = &interface.output.on_air;
        let is_attempt = matches!(frame.kind, FrameKind::Rts | FrameKind::MuRts | FrameKind::Data);
        let in_service = interface.mac.in_service().filter(|_| is_attempt);
        let handle = frame.msdu.or(in_service.map(|(handle, _)| handle));
        let sending = Sending {
            link: self.place,
            packet: handle.map(|handle| host.pool.packet(PoolId::from_handle(handle))),
            failed: in_service.map(|(_, failed)| failed),
            slots: if is_attempt { interface.output.slots.take() } else { None },
        };
        let shares = if frame.mpdus > 0 { &interface.output.load.shares[..] } else { &[] };
        for (place, share) in shares.iter().enumerate() {
            let first = interface.output.load.of(share.to).and_then(|(_, mpdus)| mpdus.first());
            let packet = first.map(|first| host.pool.packet(PoolId::from_handle(first.handle)));
            let failed = first.map(|first| u32::from(first.attempts));
            let slots = sending.slots.filter(|_| place == 0);
            let sending = Sending { packet, failed, slots, ..sending };
            events.frame(host.now, &seen_by(frame, share), airtime.total, &sending);
        }
        if shares.is_empty() {
            events.frame(host.now, frame, airtime.total, &sending);
        }
        self.trace_mpdus(
            (&self.sites[station].output.on_air.0, &self.sites[station].output.load),
            None,
            host,
        );
    }

    /// Records the MPDUs of an A-MPDU that begins, or that ends with this fate.
    #[cold]
    fn trace_mpdus(&self, (frame, load): (&Frame, &Load), fate: Option<Fate>, host: &mut Host) {
        for share in &load.shares {
            if let Some((_, mpdus)) = load.of(share.to).filter(|(_, mpdus)| mpdus.len() > 1) {
                self.trace_part((&seen_by(frame, share), mpdus), fate, host);
            }
        }
        if load.shares.is_empty() && frame.mpdus > 1 {
            self.trace_part((frame, &load.mpdus), fate, host);
        }
    }

    /// Records the end of a frame.
    #[cold]
    pub(super) fn trace_end(&self, (frame, load): (&Frame, &Load), fate: Fate, host: &mut Host) {
        let Some(events) = &mut host.tracer.events else { return };
        let shares = if frame.mpdus > 0 { &load.shares[..] } else { &[] };
        for share in shares {
            let (_, mpdus) = load.of(share.to).unwrap_or((share, &[]));
            let any = mpdus.iter().any(|mpdu| mpdu.fate == MpduFate::Received);
            let fate = if any { fate } else { fate.max(Fate::Errored) };
            events.frame_ended(host.now, self.place, &seen_by(frame, share), fate);
        }
        if shares.is_empty() {
            events.frame_ended(host.now, self.place, frame, fate);
        }
        self.trace_mpdus((frame, load), Some(fate), host);
    }

    fn trace_part(&self, (frame, mpdus): (&Frame, &[Mpdu]), fate: Option<Fate>, host: &mut Host) {
        let Some(events) = host.tracer.events.as_mut() else { return };
        for mpdu in mpdus {
            let packet = host.pool.packet(PoolId::from_handle(mpdu.handle));
            events.mpdu(host.now, (self.place, frame), (mpdu, packet), fate);
        }
    }

    /// Records that a station is done with a packet. Returns why it is lost, if it is.
    pub(super) fn trace_done(
        &self,
        station: usize,
        packet: &Packet,
        outcome: Outcome,
        host: &mut Host,
    ) -> Why {
        let Some(events) = &mut host.tracer.events else { return Why::RetryLimit };
        let node = self.sites[station].node;
        let given_up = events.given_up(packet);
        let lost = if outcome == Outcome::Expired { Why::Lifetime } else { given_up };
        let why = match outcome {
            Outcome::Delivered => Why::Delivered,
            Outcome::Undelivered | Outcome::Expired => lost,
            Outcome::Flushed => Why::Flushed,
        };
        events.link(host.now, Event::Done, why, self.place, node, packet);
        lost
    }
}

/// A frame to several stations as one of them sees it.
pub(super) fn seen_by(frame: &Frame, share: &Share) -> Frame {
    Frame { receiver: share.to, mode: Some(share.mode), mpdus: share.mpdus, ..*frame }
}
