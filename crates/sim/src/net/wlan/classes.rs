//! The classes to which the airtime ledger assigns the contents of frames.

use lasthop_stack::link::dot11::{
    Airtime, Answering, BROADCAST, Frame, FrameKind, Load, Mpdu, MpduFate, PayloadClass,
};
use lasthop_stack::packet::{Body, Flags, Packet};
use lasthop_stack::units::Span;

/// The airtime of the payloads of an A-MPDU that are TCP acknowledgements.
pub(super) fn ack_span(load: &Load, frame: &Frame, airtime: &Airtime) -> Span {
    if frame.mpdus == 0 {
        return Span::ZERO;
    }
    let acks = load.mpdus.iter().filter(|mpdu| mpdu.class == PayloadClass::TcpAck);
    part_of(airtime.payload, acks.map(|mpdu| mpdu.payload).sum(), &load.mpdus)
}

/// The airtime of the payloads that were lost of an A-MPDU that arrived.
pub(super) fn lost_span(frame: &Frame, mpdus: &[Mpdu], airtime: &Airtime) -> Span {
    if frame.mpdus == 0 {
        return Span::ZERO;
    }
    let lost = mpdus.iter().filter(|mpdu| mpdu.fate != MpduFate::Received);
    part_of(airtime.payload, lost.map(|mpdu| mpdu.payload).sum(), mpdus)
}

fn part_of(payload: Span, bytes: u32, mpdus: &[Mpdu]) -> Span {
    let all: u32 = mpdus.iter().map(|mpdu| mpdu.payload).sum();
    if bytes == 0 { Span::ZERO } else { Span(payload.0 * u64::from(bytes) / u64::from(all.max(1))) }
}

/// Whether a frame of the access point, or of a station, belongs to what stations send to the access point.
pub(super) fn is_uplink(is_of_ap: bool, frame: &Frame, load: &Load) -> bool {
    let solicits = |answering| matches!(answering, Answering::WithData | Answering::WithReport);
    match frame.kind {
        FrameKind::Data | FrameKind::Null | FrameKind::Rts | FrameKind::BlockAckReq => !is_of_ap,
        FrameKind::Ack | FrameKind::BlockAck => is_of_ap,
        FrameKind::Cts => is_of_ap != (frame.receiver == BROADCAST),
        FrameKind::Trigger => load.shares.first().is_some_and(|share| solicits(share.answering)),
        FrameKind::Beacon | FrameKind::CfEnd | FrameKind::MuRts => false,
    }
}

/// The class of a packet in the airtime ledger.
pub(super) fn class_of(packet: &Packet) -> PayloadClass {
    match &packet.body {
        Body::Tcp(segment) if segment.len > 0 => PayloadClass::Data,
        Body::Tcp(segment)
            if segment.flags.without(Flags::ECE.with(Flags::CWR).with(Flags::AE)).without(Flags::ELN)
                == Flags::ACK =>
        {
            PayloadClass::TcpAck
        }
        Body::Tcp(_) => PayloadClass::Other,
        Body::Udp(_) => PayloadClass::Data,
    }
}
