//! What an access point with dynamic ARQ served, a row for each transmission, and why.

use lasthop_stack::hooks::{Head, QUEUES, Reason};
use lasthop_stack::link::dot11::{Served, ServedOutcome};
use lasthop_stack::units::Span;

use super::trace::{Column, TraceTable};

/// A service at a link, by its place in the scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServedRow {
    pub(crate) link: u32,
    pub(crate) served: Served,
}

/// What stands for a time that is not: of an empty queue, or of a timer that is off.
const NONE: f64 = -1.0;
/// A timer that fires no sooner is off.
const OFF: Span = Span::from_secs(1_000_000);

/// The table of services. Flows are named by the end that sends, those whose timing is not known by a dash.
pub(crate) fn table(rows: &[ServedRow], links: &[String], ends: &[String]) -> TraceTable {
    let mut flows = ends.to_vec();
    flows.push("-".to_string());
    let unknown = ends.len() as u32;
    let float =
        |name, value: &dyn Fn(&ServedRow) -> f64| (name, Column::Float(rows.iter().map(value).collect()));
    let word = |name, words: &[String], code: &dyn Fn(&ServedRow) -> u32| {
        (name, Column::Word { codes: rows.iter().map(code).collect(), words: words.to_vec() })
    };
    let count = |queue: usize| move |row: &ServedRow| f64::from(row.served.waiting.units[queue]);
    let head =
        |queue: usize| move |row: &ServedRow| seconds(row.served.waiting.heads[queue].map(|head| head.left));
    let first = |row: &ServedRow| first_to_fire(&row.served);
    let reasons = Reason::NAMES.map(str::to_owned);
    let outcomes = ServedOutcome::NAMES.map(str::to_owned);
    let columns = vec![
        float("time_s", &|row| row.served.at.as_secs()),
        word("link", links, &|row| row.link),
        float("q1", &count(0)),
        float("q2", &count(1)),
        float("q3", &count(2)),
        float("q1_left_s", &head(0)),
        float("q2_left_s", &head(1)),
        float("q3_left_s", &head(2)),
        word("next_timer", &flows, &|row| first(row).map_or(unknown, |head| head.flow.min(unknown))),
        float("next_timer_s", &|row| seconds(first(row).map(|head| head.left))),
        float("next_timer_rtt_s", &|row| first(row).map_or(NONE, |head| head.rtt.as_secs())),
        word("served", &flows, &|row| row.served.unit.flow.min(unknown)),
        float("packet", &|row| row.served.unit.serial as f64),
        float("fragment", &|row| f64::from(row.served.unit.fragment)),
        float("sent_before", &|row| f64::from(row.served.unit.sent)),
        word("reason", &reasons, &|row| row.served.reason as u32),
        word("outcome", &outcomes, &|row| row.served.outcome as u32),
    ];
    TraceTable { name: "arq", columns }
}

/// The head whose timer fires first; what has no timer fires last.
fn first_to_fire(served: &Served) -> Option<Head> {
    (0..QUEUES).filter_map(|queue| served.waiting.heads[queue]).min_by_key(|head| head.left)
}

fn seconds(left: Option<Span>) -> f64 {
    left.filter(|left| *left < OFF).map_or(NONE, Span::as_secs)
}
