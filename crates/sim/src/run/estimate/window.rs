//! Bounds on the outstanding data and the packets in transit of a sender.

use lasthop_stack::registry::CongestionKind;
use lasthop_stack::registry::tcp;
use lasthop_stack::units::{Span, Time};

use super::way::{TCP_HEADERS, Way};

/// Segments that an acknowledgement may set free, and copies that a segment may have without a loss by chance.
pub(super) const TIMES_SENT: f64 = 2.0;
/// How many times the capacity of a path a sender may have outstanding, plus some segments. Slow start doubles a window
/// once more before the first loss is known, and as much may be sent before that loss is repaired.
pub(super) const FILLS: f64 = 4.0;
const SEGMENTS_BESIDE: f64 = 16.0;
/// Outstanding segments that neither a write nor room of the receiver allows: window probes, and a FIN.
const SEGMENTS_OF_NO_WRITE: f64 = 2.0;

/// What is written into a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writes {
    /// Bytes in all; infinite without an end.
    pub(super) bytes: f64,
    /// Bytes of each write; infinite if there is a single one.
    pub(super) each: f64,
}

impl Writes {
    /// One write without an end.
    pub(super) const ENDLESS: Writes = Writes { bytes: f64::INFINITY, each: f64::INFINITY };
}

/// The most that a sender may have outstanding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Most segments, each counted once.
    pub(super) segments: f64,
    /// Most packets on their way, copies included.
    pub(super) on_the_way: f64,
    /// How many copies of a segment may be on the way at a time.
    pub(super) copies: f64,
    /// Segments that it sends before the first acknowledgement.
    pub(super) initial: f64,
    /// The segments that it may have beyond what its path holds, if its law stays near that.
    pub(super) beside: Option<f64>,
    /// Bytes of the smallest packet with data.
    pub(super) packet: f64,
    /// When it starts to send as fast as it may, if it does so until it has sent everything.
    pub(super) start: Option<Time>,
}

impl Window {
    /// The bound for a sender with these writes, to a receiver with room for `buffer` bytes; it sends at most `packets`
    /// packets in `seconds` seconds.
    pub(super) fn of(
        tcp: &tcp::Config,
        way: &Way,
        writes: Writes,
        buffer: f64,
        packets: f64,
        seconds: f64,
    ) -> Window {
        let smallest = f64::from(tcp.packet).min(writes.each);
        let packet = smallest + TCP_HEADERS;
        let allowed = f64::from(tcp.window) * f64::from(tcp.packet) / smallest;
        let initial = f64::from(tcp.initial_window);
        let beside = heeds_losses(tcp.parts.law.kind()).then_some(FILLS * initial + SEGMENTS_BESIDE);
        let near = beside.map_or(f64::INFINITY, |beside| FILLS * way.holds(packet) + beside);
        let sent = allowed.min(near).min(packets);
        // A segment counts once, however often it is sent. The outstanding data was written and has room at its
        // receiver. Its segments are at most those of the window, however small they are.
        let outstanding = pieces(tcp, Writes { bytes: writes.bytes.min(buffer), ..writes }, buffer)
            .min(f64::from(tcp.window));
        let segments = sent.min(outstanding + SEGMENTS_OF_NO_WRITE);
        let copies = times_at_once(tcp, seconds);
        let on_the_way = sent.min(segments * copies);
        Window { segments, on_the_way, copies, initial, beside, packet, start: None }
    }
}

/// The most segments that consecutive bytes make, to a receiver with room for `buffer` bytes.
pub(super) fn pieces(tcp: &tcp::Config, Writes { bytes, each }: Writes, buffer: f64) -> f64 {
    let full = f64::from(tcp.packet);
    let writes = if each.is_finite() { bytes / each + 1.0 } else { 1.0 };
    // The last segment of a write may be smaller; Nagle sends it when no data is outstanding.
    let ends = if each < full { writes } else { 2.0 * writes };
    // One that fills the receiver's window is at least half as large as the widest window.
    bytes / full + ends + 2.0 * bytes / buffer
}

/// How many copies of a segment may be in transit at a time. Each series of timeouts makes one of each segment, and
/// each timeout one of the first. A timeout is twice as long as the one before it. A loss detected by duplicates makes
/// as many.
fn times_at_once(tcp: &tcp::Config, seconds: f64) -> f64 {
    let (least, most) = (least_timeout_s(tcp), tcp.max_rto.as_secs());
    let doubled = libm::log2((most.min(seconds) / least).max(1.0));
    TIMES_SENT * (2.0 + doubled + seconds / most.max(least))
}

/// The shortest time after which the timer of a sender fires, s: after a sample the timeout is at least a tick, but never above the longest.
pub(super) fn least_timeout_s(tcp: &tcp::Config) -> f64 {
    tcp.min_rto.max(tcp.tick).min(tcp.initial_rto).min(tcp.max_rto).max(Span(1)).as_secs()
}

/// Whether a law reduces its window whenever packets are lost, so that it stays near what its path holds.
fn heeds_losses(law: CongestionKind) -> bool {
    !CongestionKind::BY_JITTER.contains(&law)
}
