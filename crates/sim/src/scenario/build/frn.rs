//! Slotted networks.

use super::Part;
use crate::medium::slots::{Interference, SlotMediumConfig};
use crate::model::{ErrorAt, FrnConfig, Sense};
use crate::scenario::members::Link;
use lasthop_stack::link::slotted::interval::Windows;
use lasthop_stack::link::slotted::{Alternatives, CountScope, Discard, Remembered, Rules, Service, WaitFrom};
use lasthop_stack::registry::{IntervalConfig, IntervalKind};

pub(super) fn frn(link: &Part<'_>, member: &Link) -> FrnConfig {
    let is = |key: &str, word: &str| link.word(key) == word;
    let interference =
        if is("frn.interference", "summed") { Interference::Summed } else { Interference::Pairwise };
    FrnConfig {
        nodes: member.nodes.clone(),
        slot: link.span("frn.slot-length"),
        sense: match link.word("frn.sense") {
            "nothing" => Sense::Nothing,
            "random" => Sense::Random,
            _ => Sense::Committed,
        },
        error_at: if is("frn.error-at", "addressee") { ErrorAt::Addressee } else { ErrorAt::Listeners },
        medium: SlotMediumConfig {
            range_m: link.real("frn.range"),
            carrier_sense_m: link.real("frn.carrier-sense-range"),
            interference_m: link.real("frn.interference-range"),
            capture: link.optional("frn.capture", |link, key| libm::pow(10.0, link.real(key) / 10.0)),
            interference,
            error: link.real("frn.error-rate"),
        },
        rules: rules(link),
        alternatives: match link.word("frn.alternatives") {
            "forward" => Alternatives::Forward,
            "backward" => Alternatives::Backward,
            _ => Alternatives::Sideward,
        },
        interval: interval(link),
        windows: windows(link),
        uppers: link.known("frn.windows").and_then(|_| link.optional("frn.windows", Part::ordinals)),
    }
}

fn rules(link: &Part<'_>) -> Rules {
    let (discard, scope) = if link.word("frn.discard") == "lifetime" {
        (Discard::Lifetime(link.count("frn.max-lifetime")), CountScope::Path)
    } else {
        let scope = if link.word("frn.count-over") == "hop" { CountScope::Hop } else { CountScope::Path };
        (Discard::Count(link.small("frn.max-retransmissions")), scope)
    };
    Rules {
        least_wait: link.small("frn.least-wait"),
        discard,
        scope,
        remembered: link
            .optional("frn.remembered", |link, key| Remembered::Last(link.small(key) as usize))
            .unwrap_or(Remembered::All),
        service: if link.word("frn.service") == "serial" { Service::Serial } else { Service::Parallel },
        wait_from: if link.word("frn.wait-from") == "echo" { WaitFrom::Echo } else { WaitFrom::Transmission },
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
    let longest = link.known("frn.max-window").map_or(shortest, |_| link.small("frn.max-window"));
    Windows { least: link.small("frn.least-wait"), shortest, longest }
}
