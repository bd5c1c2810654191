//! Captures of a Wi-Fi link: every frame as its transmitter sent it, with a radiotap header.
//!
//! The format is classic pcap with nanoseconds, link type 127 (IEEE 802.11 with radiotap). The time of a record is the
//! start of the frame, the radiotap timestamp that of its first bit after the preamble. Headers, sequence control,
//! duration and check sequence are real; frames are written whole, including damaged ones.
//!
//! A frame has the layout of the standard, with 24 bytes of header and LLC/SNAP, even if a preset counts other sizes,
//! as ns-2's does. The channel is 1 for DSSS and 36 for OFDM, whatever the frequency of the propagation model.

use std::io::{self, Write};

use lasthop_stack::link::dot11::{
    Airtime, Answering, BROADCAST, CATEGORIES, Category, Distribution, Frame, FrameKind, Load, Mpdu,
    PcfConfig, UNKNOWN,
};
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::units::{Span, Time};

use super::pcap::{self, CodePoints, Shown};
use crate::outside::Outside;
use form::{Form, InAggregate, Ppdu};

mod eht;
mod form;
mod modes;
mod several;

/// Link type of IEEE 802.11 frames with a radiotap header.
const LINKTYPE_RADIOTAP: u32 = 127;
/// Fields present: TSFT, flags, rate, channel.
const PRESENT: u32 = 0b1111;
/// Also present: antenna signal.
const PRESENT_SIGNAL: u32 = 1 << 5;
/// Radiotap flag: sent with the short preamble.
const FLAG_SHORT_PREAMBLE: u8 = 0x02;
/// Radiotap flag: the frame ends with its check sequence.
const FLAG_FCS: u8 = 0x10;
/// The short preamble and header of HR-DSSS (IEEE 802.11-2012, 17.2.2.3).
const SHORT_PREAMBLE: Span = Span::from_micros(96);
/// Centre of channel 1, MHz, and its flags: CCK, 2 GHz.
const CHANNEL_DSSS: (u16, u16) = (2412, 0x00A0);
/// The same with OFDM (ERP).
const CHANNEL_ERP: (u16, u16) = (2412, 0x00C0);
/// Centre of channel 36, MHz, and its flags: OFDM, 5 GHz.
const CHANNEL_OFDM: (u16, u16) = (5180, 0x0140);

/// LLC and SNAP header of an IPv4 packet (RFC 1042).
const LLC_SNAP: [u8; 8] = [0xAA, 0xAA, 0x03, 0, 0, 0, 0x08, 0x00];
/// BSSID of every ad hoc network: a locally administered address of no node.
const AD_HOC_BSSID: [u8; 6] = [0x02, 0x00, 0xFF, 0xFF, 0xFF, 0xFF];
/// Capabilities of an access point: ESS, CF-pollable.
const CAPABILITIES: [u8; 2] = [0x05, 0];
/// SSID "lasthop".
const BEACON_SSID: [u8; 9] = [0, 7, b'l', b'a', b's', b't', b'h', b'o', b'p'];
/// Supported rates of 802.11b, 1 and 2 Mbit/s basic, and the first four of 802.11a, 6 and 12 Mbit/s basic.
const BEACON_RATES: [[u8; 6]; 2] = [[1, 4, 0x82, 0x84, 0x0B, 0x16], [1, 4, 0x8C, 0x12, 0x98, 0x24]];
/// A traffic indication map without traffic.
const BEACON_MAP: [u8; 6] = [5, 4, 0, 1, 0, 0];
/// The time unit of beacons.
const TIME_UNIT: Span = Span::from_micros(1024);

const TO_DS: u8 = 0x01;
const FROM_DS: u8 = 0x02;
const MORE_FRAGMENTS: u8 = 0x04;
const RETRY: u8 = 0x08;

/// A capture file being written.
pub struct WifiCapture {
    file: Box<dyn Write + Send>,
    code_points: CodePoints,
    /// What beacons announce of contention-free periods.
    pcf: PcfConfig,
    /// Whether the rates of the medium are those of 2.4 GHz.
    has_dsss: bool,
    bytes: Vec<u8>,
    /// What each node sends now, by its number.
    packets: Vec<Sending>,
    identification: u16,
    /// PPDUs with MPDUs.
    aggregates: u32,
    /// What the sender of the present frame reports that it holds, by category.
    reports: [u8; CATEGORIES],
    failed: Option<io::Error>,
}

/// Where a transmitter is in its packet.
#[derive(Clone, Copy, Debug, Default)]
struct Sending {
    identification: u16,
    sequence: u16,
    fragment: u8,
    /// IP bytes before this fragment, and in it.
    offset: usize,
    length: usize,
}

/// What a frame carries: the bytes of a packet, and the load of a PPDU.
#[derive(Clone, Copy)]
struct Carried<'a> {
    packet: Option<&'a Packet>,
    length: usize,
    load: &'a Load,
}

/// When a frame begins, its power at the observer, and the programs outside whose packets it may carry.
#[derive(Clone, Copy)]
pub(crate) struct Heard<'a> {
    pub(crate) signal_dbm: Option<f64>,
    pub(crate) now: Time,
    pub(crate) outside: Option<&'a Outside>,
}

impl WifiCapture {
    /// Begins a capture with the file header, of a medium with such contention-free periods, if it has any, and with rates of
    /// DSSS or without.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn new(
        mut file: Box<dyn Write + Send>,
        (pcf, has_dsss): (PcfConfig, bool),
        code_points: CodePoints,
    ) -> io::Result<WifiCapture> {
        pcap::write_file_header(&mut file, LINKTYPE_RADIOTAP)?;
        let (bytes, packets) = (Vec::new(), Vec::new());
        let (identification, aggregates, failed) = (0, 0, None);
        Ok(WifiCapture {
            file,
            code_points,
            pcf,
            has_dsss,
            bytes,
            packets,
            identification,
            aggregates,
            reports: [UNKNOWN; CATEGORIES],
            failed,
        })
    }

    /// Records a frame that begins now, with the packet it carries, if any.
    pub(crate) fn record(
        &mut self,
        frame: &Frame,
        airtime: Airtime,
        (packet, load): (Option<&Packet>, &Load),
        heard: Heard<'_>,
    ) {
        let length = payload_bytes(frame, airtime);
        self.reports = load.reports;
        let carried = Carried { packet, length, load };
        let ppdu = Ppdu { form: if frame.together { Form::Together } else { Form::Single }, place: None };
        if frame.kind == FrameKind::Null && frame.together {
            let reported = Category::ALL.into_iter().filter(|it| load.reports[*it as usize] != UNKNOWN);
            for category in reported {
                let alone = Frame { category, ..*frame };
                self.record_part(&alone, airtime, carried, ppdu, heard);
            }
            return;
        }
        self.record_part(frame, airtime, carried, ppdu, heard);
    }

    /// Records a frame to several stations that begins now: the A-MPDU for each, with its trigger if it has one.
    pub(crate) fn record_several<'a>(
        &mut self,
        frame: &Frame,
        airtime: Airtime,
        load: &Load,
        packet: impl Fn(u64) -> &'a Packet + Copy,
        mut heard: impl FnMut(NodeId) -> Heard<'a>,
    ) {
        self.reports = load.reports;
        let sig_b_mcs = load.shares.iter().map(|share| share.mode.mcs).min().unwrap_or(0);
        for (place, share) in load.shares.iter().enumerate() {
            let Some((_, mpdus)) = load.of(share.to) else { continue };
            let to = share.to;
            let alone = Frame { receiver: to, mode: Some(share.mode), mpdus: share.mpdus, ..*frame };
            let form = Form::Several { to, place, sig_b_mcs };
            let has_trigger = share.answering == Answering::Together;
            self.record_aggregate(&alone, airtime, (mpdus, has_trigger), packet, (form, heard(to)));
            if has_trigger {
                let bytes = 0;
                let trigger = Frame { kind: FrameKind::Trigger, mpdus: 0, msdu: None, bytes, ..alone };
                let load = Load { shares: vec![*share], together: load.together, ..Load::default() };
                let place = Some(InAggregate { number: self.aggregates, is_last: true });
                let carried = Carried { packet: None, length: 0, load: &load };
                self.record_part(&trigger, airtime, carried, Ppdu { form, place }, heard(to));
            }
        }
    }

    /// Records the MPDUs of a frame that begins now: each is a record, and those of an A-MPDU have its number.
    pub(crate) fn record_mpdus<'a>(
        &mut self,
        frame: &Frame,
        airtime: Airtime,
        load: &Load,
        packet: impl Fn(u64) -> &'a Packet,
        heard: Heard<'_>,
    ) {
        self.reports = load.reports;
        let form = if frame.together { Form::Together } else { Form::Single };
        self.record_aggregate(frame, airtime, (&load.mpdus, false), packet, (form, heard));
    }

    fn record_aggregate<'a>(
        &mut self,
        frame: &Frame,
        airtime: Airtime,
        (mpdus, goes_on): (&[Mpdu], bool),
        packet: impl Fn(u64) -> &'a Packet,
        (form, heard): (Form, Heard<'_>),
    ) {
        self.aggregates = self.aggregates.wrapping_add(1);
        for (place, mpdu) in mpdus.iter().enumerate() {
            let Mpdu { bytes, sequence, class, handle, .. } = *mpdu;
            let (retry, msdu) = (mpdu.attempts > 0, Some(handle));
            let alone = Frame { bytes, sequence, class, retry, msdu, ..*frame };
            let is_last = place + 1 == mpdus.len() && !goes_on;
            let is_aggregate = frame.mpdus > 1 || goes_on;
            let place = is_aggregate.then_some(InAggregate { number: self.aggregates, is_last });
            let (packet, length) = (Some(packet(handle)), mpdu.payload as usize);
            let carried = Carried { packet, length, load: &Load::default() };
            self.record_part(&alone, airtime, carried, Ppdu { form, place }, heard);
        }
    }

    fn record_part(
        &mut self,
        frame: &Frame,
        airtime: Airtime,
        Carried { packet, length, load }: Carried<'_>,
        ppdu: Ppdu,
        Heard { signal_dbm, now, outside }: Heard<'_>,
    ) {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        match frame.mode {
            None => radiotap(frame, airtime, signal_dbm, self.has_dsss, now, &mut bytes),
            Some(mode) => modes::radiotap(mode, airtime, signal_dbm, ppdu, now, &mut bytes),
        }
        let begin = bytes.len();
        let foreign = packet.zip(outside).and_then(|(packet, outside)| outside.frame(packet));
        match foreign {
            Some(foreign) => repeat(frame, foreign, &mut bytes),
            None => header(frame, packet, self.reports[frame.category as usize], &mut bytes),
        }
        match frame.kind {
            _ if foreign.is_some() => {}
            FrameKind::Data => {
                if let Some(packet) = packet {
                    self.body(frame, length, packet, outside, &mut bytes);
                }
            }
            FrameKind::Beacon => beacon(frame, &self.pcf, self.has_dsss, now, &mut bytes),
            FrameKind::BlockAck if !load.confirmed.is_empty() => {
                several::block_ack(frame, &load.confirmed, &mut bytes);
            }
            FrameKind::BlockAck | FrameKind::BlockAckReq => modes::block_ack(frame, &load.block, &mut bytes),
            FrameKind::Trigger => several::trigger(frame, load, &mut bytes),
            FrameKind::MuRts => several::mu_rts(frame, load, begin, &mut bytes),
            _ => {}
        }
        if matches!(frame.kind, FrameKind::Ack | FrameKind::BlockAck) {
            let riders = load.riders.iter().chain(&frame.rider);
            riders.for_each(|rider| bytes.extend(rider.as_slice()));
        }
        let check = crc32(&bytes[begin..]);
        bytes.extend(check.to_le_bytes());
        if self.failed.is_none() {
            self.failed = pcap::write_record(&mut self.file, now, &bytes, 0).err();
        }
        self.bytes = bytes;
    }

    /// Closes the file.
    ///
    /// # Errors
    /// The first error met while writing.
    pub fn finish(mut self) -> io::Result<()> {
        match self.failed {
            Some(error) => Err(error),
            None => self.file.flush(),
        }
    }

    /// The part of the packet that a data frame carries.
    fn body(
        &mut self,
        frame: &Frame,
        length: usize,
        packet: &Packet,
        outside: Option<&Outside>,
        bytes: &mut Vec<u8>,
    ) {
        let node = frame.transmitter.0 as usize;
        if node >= self.packets.len() {
            self.packets.resize(node + 1, Sending::default());
        }
        let sending = &mut self.packets[node];
        if frame.fragment == 0 {
            bytes.extend(LLC_SNAP);
            if !frame.retry || sending.sequence != frame.sequence {
                self.identification = self.identification.wrapping_add(1);
                sending.identification = self.identification;
            }
            (sending.sequence, sending.offset) = (frame.sequence, 0);
        } else if frame.fragment != sending.fragment {
            sending.offset += sending.length;
        }
        (sending.fragment, sending.length) = (frame.fragment, length);
        match self.code_points.shown(packet, sending.identification, outside) {
            Ok(shown) => part(&shown, sending.offset, length, bytes),
            Err(unfit) => self.failed = self.failed.take().or(Some(io::Error::other(unfit))),
        }
    }
}

/// A frame that a MAC layer outside wrote, with what ours adds: its duration, and whether it was sent before.
fn repeat(frame: &Frame, foreign: &[u8], bytes: &mut Vec<u8>) {
    let begin = bytes.len();
    bytes.extend(foreign);
    if let Some([_, flags, duration @ ..]) = bytes[begin..].first_chunk_mut::<4>() {
        *flags |= if frame.retry { RETRY } else { 0 };
        *duration = frame.duration_field().to_le_bytes();
    }
}

/// Up to `length` bytes of a packet from `offset` on.
fn part(packet: &Shown, offset: usize, length: usize, bytes: &mut Vec<u8>) {
    let headers = packet.as_bytes();
    let whole = headers.len() + packet.zeros();
    let from = offset.min(whole);
    let end = (from + length).min(whole);
    let begin = bytes.len();
    bytes.extend(&headers[from.min(headers.len())..end.min(headers.len())]);
    bytes.resize(begin + end - from, 0);
}

/// Bytes of the packet in a data frame: its airtime was rounded up to a nanosecond, which is less than a bit.
fn payload_bytes(frame: &Frame, airtime: Airtime) -> usize {
    (u128::from(airtime.payload.0) * u128::from(frame.rate.rate().0) / 8_000_000_000) as usize
}

fn radiotap(
    frame: &Frame,
    airtime: Airtime,
    signal_dbm: Option<f64>,
    has_dsss: bool,
    now: Time,
    bytes: &mut Vec<u8>,
) {
    let length = 22 + u16::from(signal_dbm.is_some());
    bytes.extend([0, 0]);
    bytes.extend(length.to_le_bytes());
    bytes.extend((PRESENT | if signal_dbm.is_some() { PRESENT_SIGNAL } else { 0 }).to_le_bytes());
    bytes.extend((now.after(airtime.preamble).0 / 1_000).to_le_bytes());
    let is_short = !frame.rate.is_ofdm() && airtime.preamble == SHORT_PREAMBLE;
    bytes.push(FLAG_FCS | if is_short { FLAG_SHORT_PREAMBLE } else { 0 });
    bytes.push(frame.rate.half_megabits());
    let (frequency, flags) = match (frame.rate.is_ofdm(), has_dsss) {
        (false, _) => CHANNEL_DSSS,
        (true, true) => CHANNEL_ERP,
        (true, false) => CHANNEL_OFDM,
    };
    bytes.extend(frequency.to_le_bytes());
    bytes.extend(flags.to_le_bytes());
    bytes.extend(signal_dbm.map(|dbm| libm::round(dbm).clamp(-128.0, 127.0) as i8 as u8));
}

/// The body of a beacon (IEEE 802.11-2012, 8.3.3.2), 44 bytes. Times are rounded down to time units of 1 024 µs.
fn beacon(frame: &Frame, pcf: &PcfConfig, has_dsss: bool, now: Time, bytes: &mut Vec<u8>) {
    let units = |span: Span| (span.0 / TIME_UNIT.0).min(u64::from(u16::MAX)) as u16;
    bytes.extend((now.0 / 1_000).to_le_bytes());
    bytes.extend(units(pcf.interval).max(1).to_le_bytes());
    bytes.extend(CAPABILITIES);
    bytes.extend(BEACON_SSID);
    bytes.extend(BEACON_RATES[usize::from(frame.rate.is_ofdm())]);
    let channel = if has_dsss { 1 } else { 36 };
    bytes.extend([3, 1, channel]);
    // The CF parameter set: the next period, one in each interval, its longest and its remaining length.
    bytes.extend([4, 6, 0, 1]);
    bytes.extend(units(pcf.duration).to_le_bytes());
    bytes.extend(units(frame.duration).to_le_bytes());
    bytes.extend(BEACON_MAP);
}

/// The MAC header (IEEE 802.11-2012, 8.2 and 8.3).
fn header(frame: &Frame, packet: Option<&Packet>, report: u8, bytes: &mut Vec<u8>) {
    bytes.extend(frame_control(frame));
    bytes.extend(frame.duration_field().to_le_bytes());
    let transmitter = address(frame.transmitter);
    let is_to_self = frame.kind == FrameKind::Cts && frame.receiver == BROADCAST;
    let receiver = if is_to_self { transmitter } else { address(frame.receiver) };
    bytes.extend(receiver);
    match frame.kind {
        FrameKind::Cts | FrameKind::Ack => return,
        FrameKind::Rts
        | FrameKind::CfEnd
        | FrameKind::BlockAck
        | FrameKind::BlockAckReq
        | FrameKind::Trigger
        | FrameKind::MuRts => {
            bytes.extend(transmitter);
            return;
        }
        FrameKind::Data | FrameKind::Null | FrameKind::Beacon => bytes.extend(transmitter),
    }
    bytes.extend(match (frame.kind, frame.distribution) {
        (FrameKind::Beacon, _) => transmitter,
        (_, Distribution::AdHoc) => AD_HOC_BSSID,
        (_, Distribution::ToAp) => packet.map_or(receiver, |packet| address(packet.dst)),
        (_, Distribution::FromAp) => packet.map_or(transmitter, |packet| address(packet.src)),
    });
    bytes.extend(frame.sequence_control().to_le_bytes());
    if has_qos(frame) {
        bytes.extend(modes::qos_control(frame, report));
    }
}

fn has_qos(frame: &Frame) -> bool {
    frame.mpdus > 0 || frame.kind == FrameKind::Null && frame.together
}

fn frame_control(frame: &Frame) -> [u8; 2] {
    let (kind, subtype) = match frame.kind {
        FrameKind::Beacon => (0, 8),
        FrameKind::Rts => (1, 11),
        FrameKind::Cts => (1, 12),
        FrameKind::Trigger | FrameKind::MuRts => (1, 2),
        FrameKind::BlockAckReq => (1, 8),
        FrameKind::BlockAck => (1, 9),
        FrameKind::Ack => (1, 13),
        FrameKind::CfEnd => (1, 14 + u8::from(frame.cf_ack)),
        FrameKind::Data | FrameKind::Null => {
            let riding = u8::from(frame.cf_ack) | u8::from(frame.poll) << 1;
            let qos = if has_qos(frame) { 8 } else { 0 };
            (2, riding | qos | if frame.kind == FrameKind::Null { 4 } else { 0 })
        }
    };
    let mut flags = 0;
    if matches!(frame.kind, FrameKind::Data | FrameKind::Null) {
        flags |= match frame.distribution {
            Distribution::AdHoc => 0,
            Distribution::ToAp => TO_DS,
            Distribution::FromAp => FROM_DS,
        };
    }
    if frame.more_fragments {
        flags |= MORE_FRAGMENTS;
    }
    if frame.retry {
        flags |= RETRY;
    }
    [kind << 2 | subtype << 4, flags]
}

/// The number of no node.
const NO_NODE: u32 = u32::MAX - 1;

/// Node `n` has the locally administered address 02:00 and then n + 1, as its IP address ends.
pub(crate) fn address(node: NodeId) -> [u8; 6] {
    if node == BROADCAST {
        return [0xFF; 6];
    }
    let [a, b, c, d] = (node.0 + 1).to_be_bytes();
    [0x02, 0x00, a, b, c, d]
}

/// The node of an address; one that is none of a node gives a number of no node.
pub(crate) fn node(address: [u8; 6]) -> Option<NodeId> {
    let [0x02, 0x00, a, b, c, d] = address else { return Some(NodeId(NO_NODE)) };
    u32::from_be_bytes([a, b, c, d]).checked_sub(1).map(NodeId)
}

/// What a byte adds to the check sequence.
const CRC_TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut rest = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            rest = if rest & 1 == 1 { rest >> 1 ^ 0xEDB8_8320 } else { rest >> 1 };
            bit += 1;
        }
        table[byte] = rest;
        byte += 1;
    }
    table
};

/// The frame check sequence (IEEE 802.11-2012, 8.2.4.8).
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |rest, byte| CRC_TABLE[usize::from(rest as u8 ^ byte)] ^ rest >> 8)
}

#[cfg(test)]
mod tests;
