//! Slotted networks.

use super::Part;
use crate::medium::slots::SlotMediumConfig;
use crate::model::FrnConfig;
use crate::scenario::keys::words::{DiscardRule, RoutingRule};
use crate::scenario::members::Link;
use lasthop_stack::link::slotted::interval::Windows;
use lasthop_stack::link::slotted::{CountScope, Discard, Remembered, Routing, Rules};
use lasthop_stack::registry::{IntervalConfig, IntervalKind};

pub(super) fn frn(link: &Part<'_>, member: &Link) -> FrnConfig {
    FrnConfig {
        nodes: member.nodes.clone(),
        slot: link.span("frn.slot-length"),
        sense: link.choice("frn.sense"),
        error_at: link.choice("frn.error-at"),
        medium: SlotMediumConfig {
            range_m: link.real("frn.range"),
            carrier_sense_m: link.real("frn.carrier-sense-range"),
            interference_m: link.real("frn.interference-range"),
            capture: link.optional("frn.capture", |link, key| libm::pow(10.0, link.real(key) / 10.0)),
            interference: link.choice("frn.interference"),
            error: link.real("frn.error-rate"),
        },
        rules: rules(link),
        alternatives: link.choice("frn.alternatives"),
        interval: interval(link),
        windows: windows(link),
        uppers: link.known("frn.windows").and_then(|_| link.optional("frn.windows", Part::counts)),
    }
}

fn rules(link: &Part<'_>) -> Rules {
    let (discard, scope) = match link.choice("frn.discard") {
        DiscardRule::Lifetime => (Discard::Lifetime(link.count("frn.max-lifetime")), CountScope::Path),
        DiscardRule::Count => {
            (Discard::Count(link.small("frn.max-retransmissions")), link.choice("frn.count-over"))
        }
    };
    Rules {
        least_wait: link.small("frn.least-wait"),
        discard,
        scope,
        remembered: link
            .optional("frn.remembered", |link, key| Remembered::Last(link.small(key) as usize))
            .unwrap_or(Remembered::All),
        service: link.choice("frn.service"),
        wait_from: link.choice("frn.wait-from"),
        routing: match link.choice("frn.routing") {
            RoutingRule::Table => Routing::Table,
            RoutingRule::Turn => Routing::Turn,
            RoutingRule::Load => Routing::Load { frames: link.small("frn.heard") },
        },
    }
}

fn interval(link: &Part<'_>) -> IntervalConfig {
    let kind = IntervalKind::named(link.word("frn.interval")).unwrap_or_else(|| link.broken("frn.interval"));
    let mut interval = kind.config();
    link.described("frn", &kind.parameters(), |name, value| interval.set(name, value));
    interval
}

/// A window that cannot grow has no widest one.
fn windows(link: &Part<'_>) -> Windows {
    let shortest = link.small("frn.window");
    let longest = link.given("frn.max-window", Part::small).unwrap_or(shortest);
    Windows { least: link.small("frn.least-wait"), shortest, longest }
}
