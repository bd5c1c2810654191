//! The transmissions of an access point with dynamic ARQ: one row each, with the reason.

use lasthop_stack::hooks::{Head, QUEUES, Reason};
use lasthop_stack::link::dot11::{Served, ServedOutcome};
use lasthop_stack::units::Span;

use super::columns::{ColumnHead, ints, numbers, words};
use super::store::Cell;

/// A service by a link, which is given by its index in the scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServedRow {
    pub(crate) link: u32,
    pub(crate) served: Served,
}

/// Stands for a missing time: of an empty queue, or of a timer that is off.
const NONE: f64 = -1.0;
/// A timer with at least this time left is off.
const OFF: Span = Span::from_secs(1_000_000);

/// The values of a row, in the order of [`heads`]. A flow without a name has a number above all others.
pub(crate) fn cells(row: &ServedRow) -> [Cell; 17] {
    let served = &row.served;
    let first = first_to_fire(served);
    let count = |queue: usize| Cell::Int(i64::from(served.waiting.units[queue]));
    let head = |queue: usize| Cell::Float(seconds(served.waiting.heads[queue].map(|head| head.left)));
    [
        Cell::Float(served.at.as_secs()),
        Cell::Word(row.link),
        count(0),
        count(1),
        count(2),
        head(0),
        head(1),
        head(2),
        Cell::Word(first.map_or(u32::MAX, |head| head.flow)),
        Cell::Float(seconds(first.map(|head| head.left))),
        Cell::Float(first.map_or(NONE, |head| head.rtt.as_secs())),
        Cell::Word(served.unit.flow),
        Cell::Int(served.unit.serial.cast_signed()),
        Cell::Int(i64::from(served.unit.fragment)),
        Cell::Int(i64::from(served.unit.sent)),
        Cell::Word(served.reason as u32),
        Cell::Word(served.outcome as u32),
    ]
}

/// The columns of the table of services. A flow is named by its sending end; one without known timing is a dash.
pub(crate) fn heads(links: &[String], ends: &[String]) -> Vec<ColumnHead> {
    let mut flows = ends.to_vec();
    flows.push("-".to_string());
    let mut heads = numbers(["time_s"]);
    heads.push(words("link", links));
    heads.extend(ints(["q1", "q2", "q3"]));
    heads.extend(numbers(["q1_left_s", "q2_left_s", "q3_left_s"]));
    heads.push(words("next_timer", &flows));
    heads.extend(numbers(["next_timer_s", "next_timer_rtt_s"]));
    heads.push(words("served", &flows));
    heads.extend(ints(["packet", "fragment", "sent_before"]));
    heads.extend([words("reason", &Reason::NAMES), words("outcome", &ServedOutcome::NAMES)]);
    heads
}

/// The head whose timer fires first; a head without a timer comes last.
fn first_to_fire(served: &Served) -> Option<Head> {
    (0..QUEUES).filter_map(|queue| served.waiting.heads[queue]).min_by_key(|head| head.left)
}

fn seconds(left: Option<Span>) -> f64 {
    left.filter(|left| *left < OFF).map_or(NONE, Span::as_secs)
}
