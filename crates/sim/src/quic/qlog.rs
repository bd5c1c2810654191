//! The qlog of an end: draft-ietf-quic-qlog-main-schema and draft-ietf-quic-qlog-quic-events, as JSON text sequences.
//!
//! **How.** `quinn-proto` has a qlog of its own, without frames and with one trigger for all losses; this one comes from what the
//! session without cipher and the congestion controller see. Packets sent and received have their frames. Those lost are the
//! oldest outstanding ones, of as many bytes as the controller hears: of two packets the older one is lost first, whichever
//! threshold applies (RFC 9002, 6.1). Times are simulated.
//!
//! **Limits.** A lost probe of the path's MTU is not among the packets lost, since no controller hears of it.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::SocketAddr;

use lasthop_stack::units::{Span, Time};

use super::Role;
use super::frames::{Frame, Frames};

/// A new text of a sequence (RFC 7464).
const SEPARATOR: char = '\u{1e}';
/// The unit of the delay of an acknowledgement, in milliseconds (RFC 9000, 18.2).
const DELAY_UNIT: f64 = 0.008;
/// kPacketThreshold (RFC 9002, 6.1.1).
const PACKET_THRESHOLD: u64 = 3;
/// The largest datagram that is not a probe of the path's MTU unless the MTU is known.
const LEAST_PACKET: usize = super::LEAST_PACKET as usize;

/// A packet number space (RFC 9000, 12.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    Initial,
    Handshake,
    Data,
}

/// A packet of a datagram: its header, and the frames in it.
pub(super) struct Shown<'a> {
    pub(super) number: u64,
    pub(super) header: &'a [u8],
    pub(super) frames: &'a [u8],
    /// Bytes of the packet, tag included.
    pub(super) length: usize,
}

/// The name of its type, and its space.
fn kind(header: &[u8]) -> (&'static str, Space) {
    let first = header.first().copied().unwrap_or_default();
    // RFC 9000 (17.2)
    match (first & 0x80 > 0, first >> 4 & 0x03) {
        (false, _) => ("1RTT", Space::Data),
        (true, 0) => ("initial", Space::Initial),
        (true, 1) => ("0RTT", Space::Data),
        (true, _) => ("handshake", Space::Handshake),
    }
}

/// What an end has measured, each if known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Metrics {
    pub(super) latest: Option<Span>,
    pub(super) smoothed: Option<Span>,
    pub(super) window: u64,
    pub(super) threshold: Option<u64>,
    pub(super) pace: Option<u64>,
}

/// A packet that has neither been acknowledged nor declared lost.
struct Outstanding {
    space: Space,
    kind: &'static str,
    number: u64,
    size: u64,
}

/// The log of one end.
pub(crate) struct Log {
    file: Box<dyn Write + Send>,
    failed: Option<io::Error>,
    /// Which of its connections, and from where.
    connection: u32,
    local: SocketAddr,
    outstanding: VecDeque<Outstanding>,
    /// The largest number acknowledged of each space.
    largest: [u64; 3],
    metrics: Option<(Metrics, u64)>,
}

impl Log {
    /// A log with the name of its end.
    pub(crate) fn new(file: Box<dyn Write + Send>, name: &str, role: Role) -> Log {
        let mut log = Log {
            file,
            failed: None,
            connection: 0,
            local: SocketAddr::from(([0; 4], 0)),
            outstanding: VecDeque::new(),
            largest: [0; 3],
            metrics: None,
        };
        let role = if role == Role::Client { "client" } else { "server" };
        log.write(&format!(
            concat!(
                r#"{{"file_schema":"urn:ietf:params:qlog:file:sequential","#,
                r#""serialization_format":"application/qlog+json-seq","title":"lasthop","#,
                r#""trace":{{"common_fields":{{"time_format":"relative_to_epoch","#,
                r#""reference_time":{{"clock_type":"monotonic","epoch":"unknown"}}}},"#,
                r#""vantage_point":{{"name":"{name}","type":"{role}"}},"#,
                r#""event_schemas":["urn:ietf:params:qlog:events:quic"]}}}}"#
            ),
            name = name,
            role = role
        ));
        log
    }

    fn write(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = writeln!(self.file, "{SEPARATOR}{text}").err();
        }
    }

    fn event(&mut self, now: Time, name: &str, data: &str) {
        let (time, connection) = (now.0 as f64 / 1e6, self.connection);
        let text =
            format!(r#"{{"time":{time},"name":"quic:{name}","group_id":"{connection}","data":{{{data}}}}}"#);
        self.write(&text);
    }

    /// The next connection is this one.
    pub(crate) fn continue_with(self, connection: u32, local: SocketAddr) -> Log {
        Log { connection, local, outstanding: VecDeque::new(), largest: [0; 3], metrics: None, ..self }
    }

    /// The connection begins.
    pub(super) fn begin(&mut self, now: Time, remote: SocketAddr) {
        let end = |at: SocketAddr| format!(r#"{{"ip_v4":"{}","port_v4":{}}}"#, at.ip(), at.port());
        let data = format!(r#""local":{},"remote":{}"#, end(self.local), end(remote));
        self.event(now, "connection_started", &data);
    }

    /// A packet is sent; `is_probe` if it begins a datagram for which the window was not asked (RFC 9002, 7.5).
    pub(super) fn on_sent(&mut self, now: Time, packet: &Shown, is_probe: bool) {
        let (kind, space) = kind(packet.header);
        let mut data = shown(packet, kind);
        let mut eliciting = Frames(packet.frames).filter(Frame::is_eliciting).peekable();
        if eliciting.peek().is_some() {
            let is_of_mtu = packet.length > LEAST_PACKET && eliciting.all(|frame| is_ping(&frame));
            data.push_str(match (is_of_mtu, is_probe) {
                (true, _) => r#","is_mtu_probe_packet":true"#,
                (false, true) => r#","trigger":"pto_probe""#,
                (false, false) => "",
            });
            if !is_of_mtu {
                let (number, size) = (packet.number, packet.length as u64);
                self.outstanding.push_back(Outstanding { space, kind, number, size });
            }
        }
        self.event(now, "packet_sent", &data);
    }

    /// A packet has arrived.
    pub(super) fn on_received(&mut self, now: Time, packet: &Shown) {
        let (kind, space) = kind(packet.header);
        self.event(now, "packet_received", &shown(packet, kind));
        let acks = Frames(packet.frames).filter(|frame| matches!(frame.kind, Frame::ACK | Frame::ACK_ECN));
        for ack in acks {
            let acked = ranges(&ack);
            let largest = &mut self.largest[space as usize];
            *largest = ack.numbers[0].max(*largest);
            let is_acked = |number: u64| acked.iter().any(|(from, to)| (*from..=*to).contains(&number));
            self.outstanding.retain(|packet| packet.space != space || !is_acked(packet.number));
        }
        // An acknowledgement of data ends the handshake and its packets.
        if space == Space::Data {
            self.outstanding.retain(|packet| packet.space == Space::Data);
        }
    }

    /// Packets are declared lost, of this many bytes.
    pub(super) fn on_lost(&mut self, now: Time, mut bytes: u64) {
        while bytes > 0
            && let Some(packet) = self.outstanding.pop_front()
        {
            bytes = bytes.saturating_sub(packet.size);
            let Outstanding { space, kind, number, .. } = packet;
            let is_by_number = number + PACKET_THRESHOLD <= self.largest[space as usize];
            let trigger = if is_by_number { "reordering_threshold" } else { "time_threshold" };
            let header = format!(r#"{{"packet_type":"{kind}","packet_number":{number}}}"#);
            self.event(now, "packet_lost", &format!(r#""header":{header},"trigger":"{trigger}""#));
        }
    }

    /// Writes what the end has measured, if that is new.
    pub(super) fn note(&mut self, now: Time, metrics: Metrics) {
        let in_flight = self.outstanding.iter().map(|packet| packet.size).sum();
        if self.metrics.replace((metrics, in_flight)) == Some((metrics, in_flight)) {
            return;
        }
        let mut data = format!(
            r#""congestion_window":{},"bytes_in_flight":{in_flight},"packets_in_flight":{}"#,
            metrics.window,
            self.outstanding.len()
        );
        for (name, span) in [("latest_rtt", metrics.latest), ("smoothed_rtt", metrics.smoothed)] {
            if let Some(span) = span {
                _ = write!(data, r#","{name}":{}"#, span.0 as f64 / 1e6);
            }
        }
        let threshold = metrics.threshold.filter(|threshold| *threshold < u64::MAX);
        for (name, value) in [("ssthresh", threshold), ("pacing_rate", metrics.pace)] {
            if let Some(value) = value {
                _ = write!(data, r#","{name}":{value}"#);
            }
        }
        self.event(now, "recovery_metrics_updated", &data);
    }

    /// Ends the file.
    ///
    /// # Errors
    /// When it could not be written.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.failed.take().map_or(Ok(()), Err)?;
        self.file.flush()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        _ = write!(text, "{byte:02x}");
        text
    })
}

/// Header, length and frames of a packet.
fn shown(packet: &Shown, kind: &str) -> String {
    let mut text = format!(r#""header":{{"packet_type":"{kind}","packet_number":{}"#, packet.number);
    if let Some((destination, source)) = ids(packet.header) {
        for (end, id) in [("s", source), ("d", destination)] {
            _ = write!(text, r#","{end}cil":{},"{end}cid":"{}""#, id.len(), hex(id));
        }
        text.push_str(r#","version":"00000001""#);
    }
    let payload = packet.frames.len();
    _ = write!(text, r#"}},"raw":{{"length":{},"payload_length":{payload}}},"frames":["#, packet.length);
    let mut frames = Frames(packet.frames).peekable();
    let mut separator = "";
    while let Some(first) = frames.next() {
        let mut length = first.length;
        while first.kind == Frame::PADDING && frames.next_if(|next| next.kind == Frame::PADDING).is_some() {
            length += 1;
        }
        _ = write!(text, "{separator}{{{}}}", frame(&first, length));
        separator = ",";
    }
    text.push(']');
    text
}

/// The connection IDs of a long header (RFC 9000, 17.2): destination and source.
fn ids(header: &[u8]) -> Option<(&[u8], &[u8])> {
    let (long, rest) = header.split_at_checked(5)?;
    let id = |bytes: &'_ [u8]| bytes.split_first().map(|(length, _)| 1 + usize::from(*length));
    let (destination, rest) = rest.split_at_checked(id(rest)?)?;
    let source = rest.get(..id(rest)?)?;
    (long[0] & 0x80 > 0).then_some((&destination[1..], &source[1..]))
}

fn is_ping(frame: &Frame) -> bool {
    matches!(frame.kind, Frame::PING | 0x1f)
}

/// The packets of an acknowledgement, from and to (RFC 9000, 19.3.1).
fn ranges(ack: &Frame) -> Vec<(u64, u64)> {
    let [largest, _, further, first] = ack.numbers;
    let mut rest = Frames(ack.rest);
    let mut least = largest.saturating_sub(first);
    let mut found = vec![(least, largest)];
    for _ in 0..further {
        let (Some(gap), Some(length)) = (rest.integer(), rest.integer()) else { break };
        let to = least.saturating_sub(gap + 2);
        least = to.saturating_sub(length);
        found.push((least, to));
    }
    found
}

/// A frame with its fields.
fn frame(frame: &Frame, length: usize) -> String {
    let [first, second, third, _] = frame.numbers;
    let raw = format!(r#""raw":{{"length":{length},"payload_length":{}}}"#, frame.rest.len());
    let stream_type =
        |unidirectional| if frame.kind == unidirectional { "unidirectional" } else { "bidirectional" };
    let named = |name: &str, fields: String| format!(r#""frame_type":"{name}"{fields}"#);
    match frame.kind {
        Frame::PADDING => format!(r#""frame_type":"padding","raw":{{"payload_length":{length}}}"#),
        Frame::PING => named("ping", String::new()),
        Frame::ACK | Frame::ACK_ECN => named("ack", acknowledgement(frame)),
        0x04 => named(
            "reset_stream",
            format!(r#","stream_id":{first},"error":"unknown","error_code":{second},"final_size":{third}"#),
        ),
        0x05 => {
            named("stop_sending", format!(r#","stream_id":{first},"error":"unknown","error_code":{second}"#))
        }
        Frame::CRYPTO => named("crypto", format!(r#","offset":{first},{raw}"#)),
        0x07 => named("new_token", format!(r#","token":{{"type":"resumption"}},{raw}"#)),
        0x08..=0x0f => {
            let fin = frame.kind & 0x01 > 0;
            named("stream", format!(r#","stream_id":{first},"offset":{second},"fin":{fin},{raw}"#))
        }
        0x10 => named("max_data", format!(r#","maximum":{first}"#)),
        0x11 => named("max_stream_data", format!(r#","stream_id":{first},"maximum":{second}"#)),
        0x12 | 0x13 => {
            named("max_streams", format!(r#","stream_type":"{}","maximum":{first}"#, stream_type(0x13)))
        }
        0x14 => named("data_blocked", format!(r#","limit":{first}"#)),
        0x15 => named("stream_data_blocked", format!(r#","stream_id":{first},"limit":{second}"#)),
        0x16 | 0x17 => {
            named("streams_blocked", format!(r#","stream_type":"{}","limit":{first}"#, stream_type(0x17)))
        }
        Frame::NEW_CONNECTION_ID => named("new_connection_id", {
            let (id, token) = frame.rest[1..].split_at(frame.rest.len() - 17);
            let (id, token) = (hex(id), hex(token));
            format!(
                r#","sequence_number":{first},"retire_prior_to":{second},"connection_id":"{id}","stateless_reset_token":"{token}""#
            )
        }),
        0x19 => named("retire_connection_id", format!(r#","sequence_number":{first}"#)),
        0x1a => named("path_challenge", format!(r#","data":"{}""#, hex(frame.rest))),
        0x1b => named("path_response", format!(r#","data":"{}""#, hex(frame.rest))),
        0x1c | 0x1d => {
            let space = if frame.kind == 0x1c { "transport" } else { "application" };
            named(
                "connection_close",
                format!(r#","error_space":"{space}","error":"unknown","error_code":{first}"#),
            )
        }
        0x1e => named("handshake_done", String::new()),
        0x30 | 0x31 => named("datagram", format!(",{raw}")),
        kind => named("unknown", format!(r#","frame_type_bytes":{kind},{raw}"#)),
    }
}

/// The fields of an acknowledgement.
fn acknowledgement(ack: &Frame) -> String {
    let mut text = format!(r#","ack_delay":{},"acked_ranges":["#, ack.numbers[1] as f64 * DELAY_UNIT);
    for (place, (from, to)) in ranges(ack).into_iter().enumerate() {
        let separator = if place == 0 { "" } else { "," };
        _ = if from == to {
            write!(text, "{separator}[{to}]")
        } else {
            write!(text, "{separator}[{from},{to}]")
        };
    }
    text.push(']');
    if ack.kind == Frame::ACK_ECN {
        let mut counts = Frames(ack.rest);
        for _ in 0..2 * ack.numbers[2] {
            _ = counts.integer();
        }
        for name in ["ect0", "ect1", "ce"] {
            _ = write!(text, r#","{name}":{}"#, counts.integer().unwrap_or_default());
        }
    }
    text
}
