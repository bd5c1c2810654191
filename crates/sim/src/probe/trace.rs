//! Traces: tables of events, by column.
//!
//! A trace may exceed the memory. A run stores it in chunks (see `store.rs`) and returns it in the same chunks.

use std::collections::VecDeque;
use std::io;
use std::ops::{Deref, Range};
use std::sync::OnceLock;

use lasthop_stack::hooks::{Jitter, Judge, Note, NoteEvent};
use lasthop_stack::link::dot11::Served;
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::registry::{ArqConfig, CongestionKind};
use lasthop_stack::units::{Span, Time};

use super::arq::{self, ServedRow};
use super::columns::{Cells, ColumnHead, ints, numbers, words};
use super::events::{self, Event, Events, Why};
use super::slots::{SlotAct, SlotRow};
pub use super::store::CHUNK;
use super::store::{Cell, Reader, Values, Writer};
use crate::model::ports::Ports;
use crate::model::{Config, FlowConfig, LinkKind, TransportConfig, WifiConfig};

/// The channels a trace can have, with what each records.
pub const CHANNELS: &[(&str, &str)] = &[
    ("cwnd", "congestion window and slow-start threshold of each flow, on change"),
    ("rtt", "round-trip samples of handshake and data, with the smoothed value and the timeout"),
    ("queue", "packets in the queue of a link or an 802.11 station, after each enqueued packet"),
    ("tcp", "events of TCP senders"),
    ("jitter", "jitter ratio and threshold of each law that uses them, at each advance"),
    ("slots", "transmissions and receptions of each node of a slotted network, by slot"),
    (
        "arq",
        "services of each access point with dynamic ARQ: its queues, the selected unit with the reason, and the outcome",
    ),
    (
        "events",
        "events of applications, transports, agents, links and frames, with numbers that tie a packet to its frames",
    ),
];

/// What a channel of this name records and a run lacks; `None` if there is something to record.
#[must_use]
pub fn missing(channel: &str, config: &Config) -> Option<&'static str> {
    let any_link = |is: fn(&LinkKind) -> bool| config.links.iter().any(|link| is(&link.kind));
    let judges = || config.flows.iter().flat_map(FlowConfig::judges);
    let (there, what) = match channel {
        "cwnd" | "rtt" if config.flows.iter().any(FlowConfig::is_quic) => return None,
        "cwnd" | "rtt" | "tcp" => {
            let is_tcp = |flow: &FlowConfig| matches!(flow.transport, TransportConfig::Tcp(_));
            (config.flows.iter().any(is_tcp), "a flow over tcp")
        }
        "queue" => (any_link(|kind| kind.queue(0).is_some()), "a link of two nodes or of 802.11"),
        "jitter" => (
            judges().any(|(_, law)| CongestionKind::BY_JITTER.contains(&law)),
            "tcp.variant or tcp.judges with jtcp or ejtcp",
        ),
        "slots" => (any_link(|kind| kind.slotted().is_some()), "a link of kind frn"),
        "arq" => {
            let chooses = |wifi: &WifiConfig| wifi.arq.as_ref().is_some_and(ArqConfig::chooses);
            (config.wifi().any(|(_, wifi)| chooses(wifi)), "an 802.11 link with arq.kind = \"dynamic\"")
        }
        _ => return None,
    };
    (!there).then_some(what)
}

/// A column of a trace.
#[derive(Clone, Debug)]
pub enum Column {
    /// Numbers.
    Float(Vec<f64>),
    /// Integers; -1 where there is none.
    Int(Vec<i64>),
    /// Words, by their place in a list.
    Word {
        /// Places in `words`.
        codes: Vec<u32>,
        /// The list.
        words: Vec<String>,
    },
}

/// A trace or some of its rows, as columns of equal length.
#[derive(Clone, Debug)]
pub struct TraceTable {
    /// Name of the channel.
    pub name: &'static str,
    /// Columns with their names.
    pub columns: Vec<(&'static str, Column)>,
}

impl TraceTable {
    /// The values of a column of words.
    ///
    /// # Panics
    /// When there is no such column.
    #[must_use]
    pub fn words(&self, name: &str) -> Vec<&str> {
        match self.column(name) {
            Column::Word { codes, words } => {
                codes.iter().map(|code| words[*code as usize].as_str()).collect()
            }
            other => panic!("words in {name}, found {other:?}"),
        }
    }

    /// The values of a column of integers.
    ///
    /// # Panics
    /// When there is no such column.
    #[must_use]
    pub fn ints(&self, name: &str) -> &[i64] {
        match self.column(name) {
            Column::Int(values) => values,
            other => panic!("integers in {name}, found {other:?}"),
        }
    }

    /// The values of a column of numbers.
    ///
    /// # Panics
    /// When there is no such column.
    #[must_use]
    pub fn floats(&self, name: &str) -> &[f64] {
        match self.column(name) {
            Column::Float(values) => values,
            other => panic!("numbers in {name}, found {other:?}"),
        }
    }

    fn column(&self, name: &str) -> &Column {
        let found = self.columns.iter().find(|(known, _)| *known == name);
        &found.unwrap_or_else(|| panic!("no column {name} in {}", self.name)).1
    }
}

/// The segment on which a round trip was measured. The metrics of a flow count those of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoundTripOf {
    /// A segment of data, or a FIN.
    Data,
    /// A SYN.
    Handshake,
}

impl RoundTripOf {
    /// In the order of their codes.
    const NAMES: [&'static str; 2] = ["data", "handshake"];
}

/// A round trip measured, the smoothed value and the timeout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundTrip {
    pub(crate) of: RoundTripOf,
    pub(crate) rtt: Span,
    pub(crate) srtt: Span,
    /// `None` of a transport that does not say.
    pub(crate) rto: Option<Span>,
}

/// What a run recorded on one channel. As a [`TraceTable`] it is read whole, when it is first looked at.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Name of the channel.
    pub name: &'static str,
    heads: Vec<ColumnHead>,
    rows: Reader,
    whole: OnceLock<TraceTable>,
}

impl Trace {
    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Some of the rows.
    ///
    /// # Errors
    /// When the file in which they wait cannot be read.
    ///
    /// # Panics
    /// When there are no such rows.
    pub fn read(&self, rows: Range<usize>) -> io::Result<TraceTable> {
        let column = |((name, cells), values): (&ColumnHead, Values)| {
            let column = match values {
                Values::Float(values) => Column::Float(values),
                Values::Int(values) => Column::Int(values),
                Values::Word(mut codes) => {
                    let words = if let Cells::Word(words) = cells { words.clone() } else { Vec::new() };
                    let last = (words.len() as u32).saturating_sub(1);
                    for code in &mut codes {
                        *code = last.min(*code);
                    }
                    Column::Word { codes, words }
                }
            };
            (*name, column)
        };
        let columns = self.heads.iter().zip(self.rows.read(rows)?).map(column).collect();
        Ok(TraceTable { name: self.name, columns })
    }
}

impl Deref for Trace {
    type Target = TraceTable;

    fn deref(&self) -> &TraceTable {
        let read = || self.read(0..self.rows()).expect("what a run wrote can be read while it is open");
        self.whole.get_or_init(read)
    }
}

/// Records the requested channels.
#[derive(Debug, Default)]
pub struct Tracer {
    cwnd: Option<Writer>,
    rtt: Option<Writer>,
    tcp: Option<Writer>,
    jitter: Option<Writer>,
    queue_rows: Option<Writer>,
    slot_rows: Option<Writer>,
    served_rows: Option<Writer>,
    event_rows: Option<Writer>,
    pub(crate) events: Option<Box<Events>>,
    pub(crate) queue: bool,
    pub(crate) slots: bool,
    pub(crate) arq: bool,
    /// Whether notes of TCP senders are wanted.
    pub(crate) senders: bool,
    /// Whether each packet on a wire is recorded.
    pub(crate) links: bool,
    /// The place among the links of each that has channels, with its ends.
    pub(crate) wires: Vec<(u32, [NodeId; 2])>,
    /// The last windows that were recorded, each with its flow and threshold.
    windows: VecDeque<(u32, f64, f64)>,
}

/// The directions of a link of two nodes; an 802.11 link has none.
const DIRECTIONS: [&str; 3] = ["forward", "reverse", "-"];
const NO_DIRECTION: u32 = 2;
/// How many entries back a window of the same flow is searched.
const RECENT_WINDOWS: usize = 8;
/// The most laws that may judge one flow, including the one in force.
const JUDGES: u32 = CongestionKind::ALL.len() as u32 + 1;

impl Tracer {
    /// A tracer of these channels.
    ///
    /// # Errors
    /// The name that is not one of [`CHANNELS`].
    pub fn new(channels: &[String]) -> Result<Tracer, String> {
        let mut tracer = Tracer::default();
        for name in channels {
            let rows = match name.as_str() {
                "cwnd" => &mut tracer.cwnd,
                "rtt" => &mut tracer.rtt,
                "queue" => &mut tracer.queue_rows,
                "tcp" => &mut tracer.tcp,
                "slots" => &mut tracer.slot_rows,
                "arq" => &mut tracer.served_rows,
                "events" => &mut tracer.event_rows,
                "jitter" => &mut tracer.jitter,
                _ => return Err(name.clone()),
            };
            *rows = Some(Writer::default());
        }
        tracer.queue = tracer.queue_rows.is_some();
        tracer.slots = tracer.slot_rows.is_some();
        tracer.arq = tracer.served_rows.is_some();
        tracer.senders = tracer.tcp.is_some()
            || tracer.cwnd.is_some()
            || tracer.jitter.is_some()
            || tracer.event_rows.is_some();
        tracer.links = tracer.queue || tracer.event_rows.is_some();
        Ok(tracer)
    }

    /// The run begins: what the nodes and links of its events are.
    pub(crate) fn begin(&mut self, config: &Config, ports: Ports) {
        self.wires = wires(config);
        self.events = self.event_rows.take().map(|rows| Box::new(Events::new(rows, config, ports)));
    }

    pub(crate) fn note(&mut self, now: Time, flow: u32, note: Note) {
        let float = Cell::Float;
        if let Some(events) = &mut self.events {
            events.note(now, flow, note);
        }
        if let Some(rows) = &mut self.tcp {
            rows.push(&[
                float(now.as_secs()),
                Cell::Word(flow),
                Cell::Word(note.event as u32),
                Cell::Int(note.seq.cast_signed()),
                Cell::Int(i64::from(note.len)),
                Cell::Int(note.ack.cast_signed()),
                float(note.cwnd),
                float(note.ssthresh),
            ]);
        }
        self.window(now, flow, note.cwnd, note.ssthresh);
    }

    /// Records the window and the threshold of a sender, if they have changed.
    #[inline]
    pub(crate) fn window(&mut self, now: Time, flow: u32, cwnd: f64, ssthresh: f64) {
        let Some(rows) = &mut self.cwnd else { return };
        let same = self.windows.iter().rev().find(|row| row.0 == flow);
        if same.is_none_or(|row| (row.1, row.2) != (cwnd, ssthresh)) {
            if self.windows.len() == RECENT_WINDOWS {
                self.windows.pop_front();
            }
            self.windows.push_back((flow, cwnd, ssthresh));
            let [now, cwnd, ssthresh] = [now.as_secs(), cwnd, ssthresh].map(Cell::Float);
            rows.push(&[now, Cell::Word(flow), cwnd, ssthresh]);
        }
    }

    #[inline]
    pub(crate) fn rtt(&mut self, now: Time, flow: u32, round_trip: RoundTrip) {
        if let Some(rows) = &mut self.rtt {
            let RoundTrip { of, rtt, srtt, rto } = round_trip;
            let rto = rto.map_or(f64::NAN, Span::as_secs);
            let [now, rtt, srtt, rto] = [now.as_secs(), rtt.as_secs(), srtt.as_secs(), rto].map(Cell::Float);
            rows.push(&[now, Cell::Word(flow), rtt, srtt, rto, Cell::Word(of as u32)]);
        }
    }

    pub(crate) fn queue(&mut self, now: Time, channel: usize, packets: usize) {
        if let Some(rows) = &mut self.queue_rows {
            let ((link, ends), direction) = (self.wires[channel / 2], channel % 2);
            let [link, way, node] = [link, direction as u32, ends[direction].0].map(Cell::Word);
            rows.push(&[
                Cell::Float(now.as_secs()),
                link,
                way,
                Cell::Int((packets as u64).cast_signed()),
                node,
            ]);
        }
    }

    /// Records a packet that a wire does not take, because of its queue or its policer.
    pub(crate) fn refused(&mut self, now: Time, channel: usize, packet: &Packet, why: Why) {
        if let Some(events) = &mut self.events {
            let (link, ends) = self.wires[channel / 2];
            events.link(now, Event::Lost, why, link, ends[channel % 2], packet);
        }
    }

    /// Records the queue length of an 802.11 station that has accepted a packet.
    pub(crate) fn station(&mut self, now: Time, link: u32, node: NodeId, packets: usize) {
        if let Some(rows) = &mut self.queue_rows {
            let [link, way, node] = [link, NO_DIRECTION, node.0].map(Cell::Word);
            rows.push(&[
                Cell::Float(now.as_secs()),
                link,
                way,
                Cell::Int((packets as u64).cast_signed()),
                node,
            ]);
        }
    }

    pub(crate) fn jitter(&mut self, now: Time, flow: u32, judge: Judge, jitter: Jitter) {
        if let Some(rows) = &mut self.jitter {
            let [now, ratio, threshold] = [now.as_secs(), jitter.ratio, jitter.threshold].map(Cell::Float);
            rows.push(&[now, Cell::Word(flow), Cell::Word(flow * JUDGES + place(judge)), ratio, threshold]);
        }
    }

    pub(crate) fn served(&mut self, link: u32, served: Served) {
        if let Some(rows) = &mut self.served_rows {
            rows.push(&arq::cells(&ServedRow { link, served }));
        }
    }

    /// A row without another node has its own node in that column; a row without a count has -1.
    pub(crate) fn slot(&mut self, row: SlotRow) {
        if let Some(rows) = &mut self.slot_rows {
            rows.push(&[
                Cell::Word(row.link),
                Cell::Int(row.slot.0.cast_signed()),
                Cell::Word(row.node.0),
                Cell::Word(row.act as u32),
                Cell::Word(row.packet.source.0),
                Cell::Int(row.packet.number.cast_signed()),
                Cell::Word(row.peer.unwrap_or(row.node).0),
                Cell::Int(row.retransmissions.map_or(-1, i64::from)),
            ]);
        }
    }

    /// What was recorded, with the names of flows, links and nodes, and of the law that classifies losses at an end.
    ///
    /// # Errors
    /// When rows could not be written to the file in which they wait.
    pub fn finish(
        self,
        now: Time,
        flows: &[String],
        links: &[String],
        nodes: &[String],
        law: impl Fn(u32, Judge) -> Option<CongestionKind>,
    ) -> io::Result<Vec<Trace>> {
        let mut traces = Vec::new();
        let mut add = |name, rows: Option<Writer>, heads: &dyn Fn() -> Vec<ColumnHead>| {
            if let Some(rows) = rows {
                let heads = heads();
                let rows = rows.finish(heads.iter().map(|(_, cells)| cells.kind()))?;
                traces.push(Trace { name, heads, rows, whole: OnceLock::new() });
            }
            io::Result::Ok(())
        };
        let of_flow = || [numbers(["time_s"]), vec![words("flow", flows)]].concat();
        add("cwnd", self.cwnd, &|| [of_flow(), numbers(["cwnd", "ssthresh"])].concat())?;
        add("rtt", self.rtt, &|| {
            let of = words("of", &RoundTripOf::NAMES);
            [of_flow(), numbers(["rtt_s", "srtt_s", "rto_s"]), vec![of]].concat()
        })?;
        add("queue", self.queue_rows, &|| {
            let place = vec![words("link", links), words("direction", &DIRECTIONS)];
            [numbers(["time_s"]), place, ints(["packets"]), vec![words("node", nodes)]].concat()
        })?;
        add("tcp", self.tcp, &|| {
            let event = vec![words("event", &NoteEvent::NAMES)];
            [of_flow(), event, ints(["seq", "len", "ack"]), numbers(["cwnd", "ssthresh"])].concat()
        })?;
        add("jitter", self.jitter, &|| {
            let name = |end, judge| law(end, judge).map_or("", |law| law.entry().name);
            let judges =
                (0..flows.len() as u32).flat_map(|end| (0..JUDGES).map(move |place| (end, judge(place))));
            let laws: Vec<_> = judges.map(|(end, judge)| name(end, judge)).collect();
            [of_flow(), vec![words("law", &laws)], numbers(["ratio", "threshold"])].concat()
        })?;
        add("slots", self.slot_rows, &|| {
            let act = vec![words("node", nodes), words("event", &SlotAct::NAMES), words("source", nodes)];
            let (link, peer) = (vec![words("link", links)], vec![words("peer", nodes)]);
            [link, ints(["slot"]), act, ints(["packet"]), peer, ints(["retransmissions"])].concat()
        })?;
        add("arq", self.served_rows, &|| arq::heads(links, flows))?;
        let events = self.events.map(|events| events.finish(now));
        add("events", events, &|| events::heads(flows, links, nodes))?;
        Ok(traces)
    }
}

/// The links of two nodes, by their places.
fn wires(config: &Config) -> Vec<(u32, [NodeId; 2])> {
    let wires = config.point_to_point();
    wires.map(|(place, link)| (place as u32, link.nodes.map(|node| NodeId(node as u32)))).collect()
}

/// The place of a judge among those of a flow.
fn place(judge: Judge) -> u32 {
    match judge {
        Judge::Law => 0,
        Judge::Watching(place) => 1 + place as u32,
    }
}

fn judge(place: u32) -> Judge {
    place.checked_sub(1).map_or(Judge::Law, |place| Judge::Watching(place as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_channel_is_named() {
        assert_eq!(Tracer::new(&["cwnd".into(), "cwdn".into()]).expect_err("unknown"), "cwdn");
    }

    #[test]
    fn the_window_is_traced_on_change_only() {
        let mut tracer = Tracer::new(&["cwnd".into()]).expect("known");
        let note = Note { event: NoteEvent::Ack, seq: 0, len: 0, ack: 0, cwnd: 2.0, ssthresh: 9.0 };
        tracer.note(Time(1), 0, note);
        tracer.note(Time(2), 0, note);
        tracer.note(Time(3), 0, Note { cwnd: 3.0, ..note });
        let tables = tracer.finish(Time(3), &["main".into()], &[], &[], |_, _| None).expect("room");
        let Column::Float(cwnd) = &tables[0].columns[2].1 else { panic!("a column of numbers") };
        assert_eq!(cwnd, &[2.0, 3.0]);
    }
}
