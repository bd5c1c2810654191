//! Slotted networks.

use super::Part;
use crate::model::FrnConfig;
use crate::scenario::members::Link;
use lasthop_stack::registry::{IntervalConfig, IntervalKind};

pub(super) fn frn(link: &Part<'_>, member: &Link) -> FrnConfig {
    let mut frn = FrnConfig { nodes: member.nodes.clone(), ..FrnConfig::default() };
    link.below("frn").parameters(&mut frn);
    frn.interval = interval(link);
    frn.uppers = link.known("frn.windows").and_then(|_| link.optional("frn.windows", Part::counts));
    frn
}

fn interval(link: &Part<'_>) -> IntervalConfig {
    let kind = IntervalKind::named(link.word("frn.interval")).unwrap_or_else(|| link.broken("frn.interval"));
    let mut interval = kind.config();
    link.described("frn", &kind.parameters(), |name, value| interval.set(name, value));
    interval
}
