//! Traces: tables of what happened, column by column.

use lasthop_stack::hooks::{Jitter, Judge, Note, NoteEvent};
use lasthop_stack::link::dot11::Served;
use lasthop_stack::registry::CongestionKind;
use lasthop_stack::units::{Span, Time};

use super::arq::{self, ServedRow};
use super::slots::{SlotAct, SlotRow};
use crate::scenario::config::{ArqConfig, Config, FlowConfig, LinkKind, TransportConfig};

/// The channels a trace can have, with what each records.
pub const CHANNELS: &[(&str, &str)] = &[
    ("cwnd", "congestion window and threshold of each flow, on change"),
    ("rtt", "each round trip measured, of the handshake or of data, with the smoothed value and the timeout"),
    ("queue", "packets in a link's queue after each that it took in"),
    ("tcp", "each event of each TCP sender"),
    ("jitter", "the jitter ratio of each law that judges by it, and its threshold, at each advance"),
    ("slots", "what each node of a slotted network sent and met with in each slot"),
    ("arq", "what each access point with dynamic ARQ held, served and why, and what came of it"),
];

/// What a channel of this name would record and a run has not; `None` where there is something to record.
#[must_use]
pub fn missing(channel: &str, config: &Config) -> Option<&'static str> {
    let any_link = |is: fn(&LinkKind) -> bool| config.links.iter().any(|link| is(&link.kind));
    let judges = || config.flows.iter().flat_map(FlowConfig::judges);
    let (there, what) = match channel {
        "cwnd" | "rtt" | "tcp" => {
            let is_tcp = |flow: &FlowConfig| matches!(flow.transport, TransportConfig::Tcp(_));
            (config.flows.iter().any(is_tcp), "a flow over tcp")
        }
        "queue" => (any_link(|kind| matches!(kind, LinkKind::PointToPoint(_))), "a link of two nodes"),
        "jitter" => {
            let by_jitter = |law: CongestionKind| matches!(law, CongestionKind::Jtcp | CongestionKind::Ejtcp);
            (judges().any(|(_, law)| by_jitter(law)), "tcp.variant or tcp.judges with jtcp or ejtcp")
        }
        "slots" => (any_link(|kind| matches!(kind, LinkKind::Frn(_))), "a link of kind frn"),
        "arq" => {
            let is_dynamic = |kind: &LinkKind| matches!(kind, LinkKind::Wifi(wifi) if matches!(wifi.arq, Some(ArqConfig::Dynamic { .. })));
            (any_link(is_dynamic), "an 802.11 link with arq.kind = \"dynamic\"")
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
    /// Words, by their place in a list.
    Word {
        /// Places in `words`.
        codes: Vec<u32>,
        /// The list.
        words: Vec<String>,
    },
}

/// A trace as columns of equal length.
#[derive(Clone, Debug)]
pub struct TraceTable {
    /// Name of the channel.
    pub name: &'static str,
    /// Columns with their names.
    pub columns: Vec<(&'static str, Column)>,
}

/// What a round trip was measured by. The metrics of a flow count those of data.
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
    pub(crate) rto: Span,
}

/// Collects what is asked for.
#[derive(Debug, Default)]
pub struct Tracer {
    cwnd: bool,
    rtt: bool,
    tcp: bool,
    pub(crate) queue: bool,
    pub(crate) slots: bool,
    pub(crate) arq: bool,
    jitter: bool,
    /// The place among the links of each that has channels.
    pub(crate) wires: Vec<u32>,
    cwnd_rows: Vec<(Time, u32, f64, f64)>,
    rtt_rows: Vec<(Time, u32, RoundTrip)>,
    queue_rows: Vec<(Time, usize, usize)>,
    tcp_rows: Vec<(Time, u32, Note)>,
    slot_rows: Vec<SlotRow>,
    served_rows: Vec<ServedRow>,
    jitter_rows: Vec<(Time, u32, Judge, Jitter)>,
}

impl Tracer {
    /// A tracer of these channels.
    ///
    /// # Errors
    /// The name that is none of [`CHANNELS`].
    pub fn new(channels: &[String]) -> Result<Tracer, String> {
        let mut tracer = Tracer::default();
        for name in channels {
            match name.as_str() {
                "cwnd" => tracer.cwnd = true,
                "rtt" => tracer.rtt = true,
                "queue" => tracer.queue = true,
                "tcp" => tracer.tcp = true,
                "slots" => tracer.slots = true,
                "arq" => tracer.arq = true,
                "jitter" => tracer.jitter = true,
                _ => return Err(name.clone()),
            }
        }
        Ok(tracer)
    }

    /// Whether notes of TCP senders are wanted.
    #[inline]
    pub(crate) fn watches_tcp(&self) -> bool {
        self.tcp || self.cwnd || self.jitter
    }

    pub(crate) fn note(&mut self, now: Time, flow: u32, note: Note) {
        if self.tcp {
            self.tcp_rows.push((now, flow, note));
        }
        if self.cwnd {
            let same = self.cwnd_rows.iter().rev().take(8).find(|row| row.1 == flow);
            if same.is_none_or(|row| (row.2, row.3) != (note.cwnd, note.ssthresh)) {
                self.cwnd_rows.push((now, flow, note.cwnd, note.ssthresh));
            }
        }
    }

    #[inline]
    pub(crate) fn rtt(&mut self, now: Time, flow: u32, round_trip: RoundTrip) {
        if self.rtt {
            self.rtt_rows.push((now, flow, round_trip));
        }
    }

    pub(crate) fn queue(&mut self, now: Time, channel: usize, packets: usize) {
        self.queue_rows.push((now, channel, packets));
    }

    pub(crate) fn jitter(&mut self, now: Time, flow: u32, judge: Judge, jitter: Jitter) {
        if self.jitter {
            self.jitter_rows.push((now, flow, judge, jitter));
        }
    }

    pub(crate) fn served(&mut self, link: u32, served: Served) {
        self.served_rows.push(ServedRow { link, served });
    }

    pub(crate) fn slot(&mut self, row: SlotRow) {
        self.slot_rows.push(row);
    }

    /// The tables, with the names of flows, links and nodes put in, and of the law that judges at an end.
    #[must_use]
    pub fn into_tables(
        self,
        flows: &[String],
        links: &[String],
        nodes: &[String],
        law: impl Fn(u32, Judge) -> Option<CongestionKind>,
    ) -> Vec<TraceTable> {
        let mut tables = Vec::new();
        if self.cwnd {
            let rows = &self.cwnd_rows;
            tables.push(TraceTable {
                name: "cwnd",
                columns: vec![
                    floats("time_s", rows, |row| row.0.as_secs()),
                    words("flow", rows, flows, |row| row.1),
                    floats("cwnd", rows, |row| row.2),
                    floats("ssthresh", rows, |row| row.3),
                ],
            });
        }
        if self.rtt {
            let rows = &self.rtt_rows;
            let of = RoundTripOf::NAMES.map(str::to_owned);
            tables.push(TraceTable {
                name: "rtt",
                columns: vec![
                    floats("time_s", rows, |row| row.0.as_secs()),
                    words("flow", rows, flows, |row| row.1),
                    floats("rtt_s", rows, |row| row.2.rtt.as_secs()),
                    floats("srtt_s", rows, |row| row.2.srtt.as_secs()),
                    floats("rto_s", rows, |row| row.2.rto.as_secs()),
                    words("of", rows, &of, |row| row.2.of as u32),
                ],
            });
        }
        if self.queue {
            let rows = &self.queue_rows;
            let directions = ["forward", "reverse"].map(str::to_owned);
            tables.push(TraceTable {
                name: "queue",
                columns: vec![
                    floats("time_s", rows, |row| row.0.as_secs()),
                    words("link", rows, links, |row| self.wires[row.1 / 2]),
                    words("direction", rows, &directions, |row| (row.1 % 2) as u32),
                    floats("packets", rows, |row| row.2 as f64),
                ],
            });
        }
        if self.tcp {
            tables.push(tcp_table(&self.tcp_rows, flows));
        }
        if self.jitter {
            let rows = &self.jitter_rows;
            let laws: Vec<String> =
                CongestionKind::ALL.iter().map(|law| law.entry().name.to_string()).collect();
            let place = |end, judge| law(end, judge).map_or(0, |law| law as u32);
            tables.push(TraceTable {
                name: "jitter",
                columns: vec![
                    floats("time_s", rows, |row| row.0.as_secs()),
                    words("flow", rows, flows, |row| row.1),
                    words("law", rows, &laws, |row| place(row.1, row.2)),
                    floats("ratio", rows, |row| row.3.ratio),
                    floats("threshold", rows, |row| row.3.threshold),
                ],
            });
        }
        if self.slots {
            tables.push(slot_table(&self.slot_rows, links, nodes));
        }
        if self.arq {
            tables.push(arq::table(&self.served_rows, links, flows));
        }
        tables
    }
}

fn tcp_table(rows: &[(Time, u32, Note)], flows: &[String]) -> TraceTable {
    let events = NoteEvent::NAMES.map(str::to_owned);
    TraceTable {
        name: "tcp",
        columns: vec![
            floats("time_s", rows, |row| row.0.as_secs()),
            words("flow", rows, flows, |row| row.1),
            words("event", rows, &events, |row| row.2.event as u32),
            floats("seq", rows, |row| row.2.seq as f64),
            floats("len", rows, |row| f64::from(row.2.len)),
            floats("ack", rows, |row| row.2.ack as f64),
            floats("cwnd", rows, |row| row.2.cwnd),
            floats("ssthresh", rows, |row| row.2.ssthresh),
        ],
    }
}

/// Where a row has no other node, its own stands there; where it has no count, -1.
fn slot_table(rows: &[SlotRow], links: &[String], nodes: &[String]) -> TraceTable {
    let acts = SlotAct::NAMES.map(str::to_owned);
    TraceTable {
        name: "slots",
        columns: vec![
            words("link", rows, links, |row| row.link),
            floats("slot", rows, |row| row.slot.0 as f64),
            words("node", rows, nodes, |row| row.node.0),
            words("event", rows, &acts, |row| row.act as u32),
            words("source", rows, nodes, |row| row.packet.source.0),
            floats("packet", rows, |row| row.packet.number as f64),
            words("peer", rows, nodes, |row| row.peer.unwrap_or(row.node).0),
            floats("retransmissions", rows, |row| row.retransmissions.map_or(-1.0, f64::from)),
        ],
    }
}

fn floats<R>(name: &'static str, rows: &[R], value: impl Fn(&R) -> f64) -> (&'static str, Column) {
    (name, Column::Float(rows.iter().map(value).collect()))
}

fn words<R>(
    name: &'static str,
    rows: &[R],
    words: &[String],
    code: impl Fn(&R) -> u32,
) -> (&'static str, Column) {
    (name, Column::Word { codes: rows.iter().map(code).collect(), words: words.to_vec() })
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
        let tables = tracer.into_tables(&["main".into()], &[], &[], |_, _| None);
        let Column::Float(cwnd) = &tables[0].columns[2].1 else { panic!("a column of numbers") };
        assert_eq!(cwnd, &[2.0, 3.0]);
    }
}
