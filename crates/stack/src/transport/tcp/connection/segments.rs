//! The segments that an established connection sends: data, and acknowledgements of received data.

use super::{AckDue, Connection};
use crate::hooks::{Out, Timer};
use crate::packet::{AckOption, Body, Ecn, Extension, Flags, Options, Packet, Segment, Timestamps};
use crate::transport::tcp::sender::Outgoing;
use crate::transport::tcp::{Parts, stamp_at};
use crate::units::{SeqNo, Span, Time};

impl<P: Parts> Connection<P> {
    #[inline]
    pub(super) fn send_ack(&mut self, now: Time, out: &mut impl Out) {
        self.send_ack_less(self.withheld(), now, out);
        self.acknowledge_rest_later(now, out);
    }

    /// Acknowledges all that has come in order but the last `less` bytes.
    #[inline(never)]
    pub(super) fn send_ack_but(&mut self, less: u64, now: Time, out: &mut impl Out) {
        self.send_ack_less(less, now, out);
    }

    #[inline]
    fn send_ack_less(&mut self, less: u64, now: Time, out: &mut impl Out) {
        let seq = self.iss.plus(1).plus(self.sender.board().sent_end() as u32);
        let segment = self.acknowledging(seq, less, (self.echo, None), now, out);
        self.acks_sent += 1;
        self.transmit(segment, Ecn::NotEct, out);
    }

    #[inline]
    pub(super) fn emit(&mut self, outgoing: Outgoing, now: Time, out: &mut impl Out) {
        if self.echo.is_some() {
            // A header has room for the stamps of its own segment only, so that an acknowledgement with stamps goes
            // before it.
            self.send_ack(now, out);
        }
        let seq = self.iss.plus(1).plus(outgoing.start as u32);
        let extension = self.sender.extension().map(|form| {
            let sent = form.stamp(now);
            Extension { form, sent, received: sent, trigger: seq, modulation: None }
        });
        let options = (extension, outgoing.asks);
        let mut segment = self.acknowledging(seq, self.withheld(), options, now, out);
        segment.len = outgoing.len;
        if outgoing.fin {
            segment.flags = segment.flags.with(Flags::FIN);
        }
        if outgoing.push {
            segment.flags = segment.flags.with(Flags::PSH);
        }
        if outgoing.cwr {
            segment.flags = segment.flags.with(Flags::CWR);
        }
        self.transmit(segment, outgoing.ecn, out);
        self.acknowledge_rest_later(now, out);
    }

    /// A segment at `seq` that acknowledges what was received so far but the last `less` bytes, and no less than the one
    /// before; what was due is paid with it.
    #[expect(
        clippy::inline_always,
        reason = "a call copies the segment: 4 % of the time of a run over wires"
    )]
    #[inline(always)]
    fn acknowledging(
        &mut self,
        seq: SeqNo,
        less: u64,
        (extension, acks): (Option<Extension>, Option<AckOption>),
        now: Time,
        out: &mut impl Out,
    ) -> Segment {
        if self.ack_due == AckDue::ByTimer {
            out.cancel(Timer::DelayedAck);
        }
        self.ack_due = AckDue::No;
        // Timestamps go by what could have been acknowledged (RFC 7323, 4.3).
        self.last_ack_sent = self.receiver.next();
        let whole = self.last_ack_sent.saturating_sub(less);
        let window_from = if self.consent.is_some() {
            self.acknowledge_consented(whole)
        } else {
            self.acknowledged = whole.max(self.acknowledged);
            self.last_ack_sent
        };
        self.echo = None;
        let zero = self.irs.plus(1);
        // Made whole and in its place: a copy of what was just written field by field stalls the processor.
        let mut segment = Segment {
            src_port: self.local.1,
            dst_port: self.remote.1,
            seq,
            ack: zero.plus(self.acknowledged as u32),
            flags: self.ecn.acknowledges_with(),
            window: self.receiver.advertise(window_from),
            len: 0,
            options: Options { timestamps: self.stamps(now), extension, acks, ..Options::default() },
        };
        self.receiver.acknowledged_at(now);
        if self.sack && self.receiver.has_blocks() {
            let room = segment.options.room_for_blocks();
            segment.options.sack = self.receiver.sack_blocks(zero, room);
        }
        segment
    }

    #[inline]
    pub(super) fn transmit(&self, segment: Segment, ecn: Ecn, out: &mut impl Out) {
        out.down(Packet {
            src: self.local.0,
            dst: self.remote.0,
            extra_header: self.config.extra_header,
            id: 0,
            ecn,
            body: Body::Tcp(segment),
        });
    }

    /// The timestamp clock ticks with the clock that measures round trips, or each microsecond if that is exact.
    pub(super) fn clock_unit(&self) -> Span {
        self.config.stamp_unit()
    }

    pub(super) fn clock(&self, now: Time) -> u32 {
        stamp_at(now, self.clock_unit())
    }

    pub(super) fn stamps(&self, now: Time) -> Option<Timestamps> {
        self.timestamps.then(|| Timestamps { value: self.clock(now), echo: self.ts_recent })
    }
}
