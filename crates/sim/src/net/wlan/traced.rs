//! What a trace of events and a capture record of an 802.11 link.

use lasthop_stack::link::dot11::{Frame, FrameKind, Mpdu, Outcome};
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
        if frame.mpdus > 0 {
            capture.record_mpdus(frame, *airtime, &load.mpdus, packet, at);
        } else {
            let packet = frame.msdu.map(packet);
            capture.record(frame, *airtime, (packet, load), at);
        }
    }

    fn trace_frame(&mut self, station: usize, host: &mut Host) {
        let Some(events) = &mut host.tracer.events else { return };
        let interface = &mut self.sites[station];
        let (frame, airtime) = &interface.output.on_air;
        let is_attempt = matches!(frame.kind, FrameKind::Rts | FrameKind::Data);
        let in_service = interface.mac.in_service().filter(|_| is_attempt);
        let handle = frame.msdu.or(in_service.map(|(handle, _)| handle));
        let sending = Sending {
            link: self.place,
            packet: handle.map(|handle| host.pool.packet(PoolId::from_handle(handle))),
            failed: in_service.map(|(_, failed)| failed),
            slots: if is_attempt { interface.output.slots.take() } else { None },
        };
        events.frame(host.now, frame, airtime.total, &sending);
        self.trace_mpdus(
            (&self.sites[station].output.on_air.0, &self.sites[station].output.load.mpdus),
            None,
            host,
        );
    }

    /// Records the MPDUs of an A-MPDU that begins, or that ends with this fate.
    #[cold]
    pub(super) fn trace_mpdus(&self, (frame, mpdus): (&Frame, &[Mpdu]), fate: Option<Fate>, host: &mut Host) {
        let Some(events) = host.tracer.events.as_mut().filter(|_| frame.mpdus > 1) else { return };
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
