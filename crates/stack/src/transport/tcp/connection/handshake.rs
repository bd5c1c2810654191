//! The opening of a connection (RFC 9293, 3.5): the SYNs, their options, and the first round trip.

use super::ecn::Use;
use super::{AckDue, Connection, State};
use crate::hooks::{Out, Timer};
use crate::packet::{Ecn, Flags, Options, Segment};
use crate::transport::tcp::Parts;
use crate::units::{SeqNo, Span, Time};

/// Retransmission timeout with which data starts when a SYN was lost (RFC 6298, 5.7).
const RTO_AFTER_LOST_SYN: Span = Span::from_secs(3);

/// A peer that offers more means this (RFC 7323, 2.3).
const MAX_WINDOW_SCALE: u8 = 14;

impl<P: Parts> Connection<P> {
    pub(super) fn on_listen(&mut self, segment: &Segment, now: Time, out: &mut impl Out) {
        if segment.flags.has(Flags::SYN) {
            self.learn_syn(segment);
            self.state = State::SynReceived;
            self.send_syn(now, out);
        }
    }

    pub(super) fn on_syn_sent(&mut self, segment: &Segment, now: Time, out: &mut impl Out) {
        let answers = segment.flags.has(Flags::SYN.with(Flags::ACK)) && segment.ack == self.iss.plus(1);
        if answers {
            self.learn_syn(segment);
            // The window of a SYN is not scaled (RFC 7323, 2.2).
            self.establish(u64::from(segment.window), now, out);
            self.ack_due = AckDue::Now;
            self.send_what_may_go(now, out);
        }
    }

    pub(super) fn on_syn_received(&mut self, segment: &Segment, ecn: Ecn, now: Time, out: &mut impl Out) {
        if segment.flags.has(Flags::SYN) {
            self.send_syn(now, out);
        } else if segment.flags.has(Flags::ACK) && self.ack_offset(segment).is_some() {
            self.establish(u64::from(segment.window) << self.peer_shift, now, out);
            if self.ecn.is_answered() {
                self.sender.ignore_count();
            }
            self.on_segment(segment, ecn, now, out);
        }
    }

    /// Records what the peer's SYN offers; what only one side offers is not used.
    fn learn_syn(&mut self, segment: &Segment) {
        self.irs = segment.seq;
        self.peer_shift = segment.options.window_scale.unwrap_or(0).min(MAX_WINDOW_SCALE);
        self.timestamps &= segment.options.timestamps.is_some();
        self.sender.set_timestamps(self.timestamps);
        self.sack &= segment.options.sack_permitted;
        self.agree_on_acks(segment);
        self.ecn.learn_syn(segment.flags);
        self.ts_recent = segment.options.timestamps.map_or(0, |stamps| stamps.value);
        if segment.options.window_scale.is_some() {
            self.receiver.set_scale(self.config.window_scale_shift());
        }
    }

    fn establish(&mut self, edge: u64, now: Time, out: &mut impl Out) {
        self.state = State::Established;
        out.cancel(Timer::Retransmit);
        let lost = self.syn_times > 1;
        let rtt = self.sender.rtt_mut();
        if lost && rtt.is_in_ticks() {
            // ns-2 takes no sample of it, and the back-off stays until data gives one.
        } else if lost {
            rtt.restart(rtt.initial().max(RTO_AFTER_LOST_SYN));
        } else {
            let sample = rtt.read_clock(self.syn_sent, now);
            rtt.sample_read(sample, now.since(self.syn_sent));
            self.sender.measure_for_acks(now.since(self.syn_sent));
            let rtt = self.sender.rtt();
            out.measured_handshake(now.since(self.syn_sent), rtt.srtt().unwrap_or_default(), rtt.rto());
        }
        match self.ecn.used() {
            Use::Nothing => {}
            Use::Classic => self.sender.use_ecn(false),
            Use::Accurate => self.sender.use_ecn(true),
        }
        self.sender.established(now, edge, lost);
    }

    pub(super) fn send_syn(&mut self, now: Time, out: &mut impl Out) {
        self.syn_times += 1;
        if self.syn_times > 1 {
            self.sender.count_syn_again();
        }
        self.syn_sent = now;
        let answering = self.state == State::SynReceived;
        let flags = if answering { Flags::SYN.with(Flags::ACK) } else { Flags::SYN };
        let flags = flags.with(self.ecn.offer(answering));
        let options = Options {
            mss: Some(self.config.packet.min(u32::from(u16::MAX)) as u16),
            window_scale: Some(self.config.window_scale_shift()),
            sack_permitted: self.sack,
            timestamps: self.stamps(now),
            acks: self.offered_acks(),
            ..Options::default()
        };
        let ack = if answering { self.irs.plus(1) } else { SeqNo(0) };
        let window = self.receiver.buffer().min(u64::from(u16::MAX)) as u16;
        let (src_port, dst_port) = (self.local.1, self.remote.1);
        let seq = self.iss;
        let segment = Segment { src_port, dst_port, seq, ack, flags, window, len: 0, options };
        out.down(self.packet(segment, Ecn::NotEct));
        out.set(Timer::Retransmit, now.after(self.sender.rtt().rto()));
    }
}
