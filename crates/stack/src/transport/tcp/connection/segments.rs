//! The segments that an established connection sends: data, and acknowledgements of received data.

use super::{AckDue, Connection};
use crate::hooks::{Out, Timer};
use crate::packet::{
    AckOption, Body, Ecn, Extension, Flags, IP_HEADER, NodeId, Options, Packet, Segment, TCP_HEADER,
    Timestamps,
};
use crate::transport::tcp::sender::Outgoing;
use crate::transport::tcp::{Parts, stamp_at};
use crate::units::{Bytes, SeqNo, Span, Time};

/// A segment before anything is written into it.
static BLANK: Packet = Packet::new(NodeId(0), NodeId(0), Body::Tcp(Segment::EMPTY));

/// The contents of a segment besides its acknowledgement.
#[derive(Clone, Copy, Default)]
struct Carried {
    len: u32,
    /// In addition to those of the acknowledgement.
    flags: Flags,
    ecn: Ecn,
    extension: Option<Extension>,
    acks: Option<AckOption>,
}

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
        self.pay_ack(out);
        let carried = Carried { extension: self.echo, ..Carried::default() };
        out.down_made(|packet| self.make(packet, seq, less, carried, now));
        self.acks_sent += 1;
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
        let mut flags = Flags::default();
        for (is_set, flag) in
            [(outgoing.fin, Flags::FIN), (outgoing.push, Flags::PSH), (outgoing.cwr, Flags::CWR)]
        {
            if is_set {
                flags = flags.with(flag);
            }
        }
        let Outgoing { len, ecn, asks, .. } = outgoing;
        let less = self.withheld();
        self.pay_ack(out);
        let carried = Carried { len, flags, ecn, extension, acks: asks };
        out.down_made(|packet| self.make(packet, seq, less, carried, now));
        self.acknowledge_rest_later(now, out);
    }

    /// The next segment pays the acknowledgement that was due.
    #[inline]
    fn pay_ack(&mut self, out: &mut impl Out) {
        if self.ack_due == AckDue::ByTimer {
            out.cancel(Timer::DelayedAck);
        }
        self.ack_due = AckDue::No;
    }

    /// Makes a segment at `seq` in its place, that acknowledges what was received so far but the last `less` bytes, and no
    /// less than the one before. Returns its size.
    #[expect(clippy::inline_always, reason = "in place, once for data and once for acknowledgements")]
    #[inline(always)]
    fn make(&mut self, packet: &mut Packet, seq: SeqNo, less: u64, carried: Carried, now: Time) -> Bytes {
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
        let Carried { len, flags, ecn, extension, acks } = carried;
        // Copied from a constant and then written field by field: a segment made elsewhere so and copied stalls the processor.
        *packet = BLANK;
        (packet.src, packet.dst) = (self.local.0, self.remote.0);
        (packet.extra_header, packet.ecn) = (self.config.extra_header, ecn);
        let timestamps = self.stamps(now);
        if let Body::Tcp(segment) = &mut packet.body {
            (segment.src_port, segment.dst_port) = (self.local.1, self.remote.1);
            (segment.seq, segment.ack) = (seq, zero.plus(self.acknowledged as u32));
            segment.flags = self.ecn.acknowledges_with().with(flags);
            segment.window = self.receiver.advertise(window_from);
            segment.len = len;
            segment.options.timestamps = timestamps;
        }
        self.receiver.acknowledged_at(now);
        let has_blocks = self.sack && self.receiver.has_blocks();
        if has_blocks || extension.is_some() || acks.is_some() {
            self.add_options(packet, extension, acks, has_blocks);
            return packet.size();
        }
        let options = Options { timestamps, ..Options::NONE };
        let header = IP_HEADER + u32::from(self.config.extra_header) + TCP_HEADER + options.size();
        Bytes(u64::from(header + len))
    }

    /// Adds options that most segments do not have, and the SACK blocks for which these leave room. Not inlined: a segment
    /// without them is written at once, of constants.
    #[inline(never)]
    fn add_options(
        &mut self,
        packet: &mut Packet,
        extension: Option<Extension>,
        acks: Option<AckOption>,
        has_blocks: bool,
    ) {
        if let Body::Tcp(segment) = &mut packet.body {
            (segment.options.extension, segment.options.acks) = (extension, acks);
            if has_blocks {
                let room = segment.options.room_for_blocks();
                segment.options.sack = self.receiver.sack_blocks(self.irs.plus(1), room);
            }
        }
    }

    /// The packet of a segment.
    #[inline]
    pub(super) fn packet(&self, segment: Segment, ecn: Ecn) -> Packet {
        Packet {
            src: self.local.0,
            dst: self.remote.0,
            extra_header: self.config.extra_header,
            id: 0,
            ecn,
            body: Body::Tcp(segment),
        }
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
