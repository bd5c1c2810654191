//! A row of the trace of events, and its columns.

use std::cmp::Ordering;

use lasthop_stack::units::{Span, Time};

use super::vocabulary::{Event, Layer, What, Why};
use crate::probe::columns::{ColumnHead, ints, numbers, words};
use crate::probe::store::Cell;

/// The fields of a packet that a row contains.
#[derive(Clone, Copy, Debug)]
pub(super) struct About {
    pub(super) end: u32,
    pub(super) packet: u32,
    pub(super) seq: i64,
    pub(super) len: i64,
    pub(super) ack: i64,
    pub(super) window: i64,
}

impl Default for About {
    fn default() -> About {
        About { end: NONE, packet: 0, seq: -1, len: 0, ack: -1, window: -1 }
    }
}

/// No node, link or flow: the last word of each list.
pub(super) const NONE: u32 = u32::MAX;

/// One row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) at: Time,
    pub(super) duration: Span,
    pub(super) layer: Layer,
    pub(super) event: Event,
    pub(super) what: What,
    pub(super) why: Why,
    pub(super) node: u32,
    pub(super) peer: u32,
    pub(super) link: u32,
    pub(super) about: About,
    pub(super) frame: u32,
    pub(super) attempt: u32,
    pub(super) slots: i64,
    pub(super) window: (f64, f64),
}

/// A row with a time in the future.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting(pub(super) u64, pub(super) Row);

/// The heads of the columns.
pub(crate) fn heads(flows: &[String], links: &[String], nodes: &[String]) -> Vec<ColumnHead> {
    let or_none = |names: &[String]| [names, &[String::new()]].concat();
    let mut heads = numbers(["time_s", "duration_s"]);
    heads.extend([
        words("layer", Layer::NAMES),
        words("event", Event::NAMES),
        words("what", What::NAMES),
        words("why", Why::NAMES),
        words("node", nodes),
        words("peer", &or_none(nodes)),
        words("link", &or_none(links)),
        words("flow", &or_none(flows)),
    ]);
    heads.extend(ints(["packet", "frame", "seq", "len", "ack", "window", "attempt", "slots"]));
    heads.extend(numbers(["cwnd", "ssthresh"]));
    heads
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> Ordering {
        (self.1.at, self.0).cmp(&(other.1.at, other.0))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiting {}

/// The values of a row, in the order of [`heads`].
pub(super) fn cells(row: &Row) -> [Cell; 20] {
    let About { end, packet, seq, len, ack, window } = row.about;
    [
        Cell::Float(row.at.as_secs()),
        Cell::Float(row.duration.as_secs()),
        Cell::Word(row.layer as u32),
        Cell::Word(row.event as u32),
        Cell::Word(row.what as u32),
        Cell::Word(row.why as u32),
        Cell::Word(row.node),
        Cell::Word(row.peer),
        Cell::Word(row.link),
        Cell::Word(end),
        Cell::Int(i64::from(packet)),
        Cell::Int(i64::from(row.frame)),
        Cell::Int(seq),
        Cell::Int(len),
        Cell::Int(ack),
        Cell::Int(window),
        Cell::Int(i64::from(row.attempt)),
        Cell::Int(row.slots),
        Cell::Float(row.window.0),
        Cell::Float(row.window.1),
    ]
}
