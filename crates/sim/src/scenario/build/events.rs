//! Outages of links and hand-offs of nodes.

use super::Part;
use crate::medium::outages::{HandoffLaw, OutageLaw};
use crate::medium::warnings::WarningConfig;
use crate::model::{HandoffConfig, LinkConfig, OutagesConfig};
use crate::scenario::keys::words::{DuringOutage, EventLaw};
use crate::scenario::quantity::{Dim, Quantity};
use crate::scenario::value::Value;
use lasthop_stack::registry::{ReactionConfig, ReactionKind};
use lasthop_stack::units::{Span, Time};

/// When a link is down. The check reports an invalid script; it needs a configuration to do so.
pub(super) fn outages(link: &Part<'_>, node: Option<usize>) -> Option<OutagesConfig> {
    let law = match link.given("outages.law", Part::choice)? {
        EventLaw::Script => OutageLaw::Script(outage_script(link.word("outages.script")).unwrap_or_default()),
        EventLaw::Periodic => OutageLaw::Periodic {
            first: link.time("outages.periodic.first"),
            every: link.span("outages.periodic.every"),
            lasts: link.span("outages.periodic.for"),
        },
        EventLaw::Random => OutageLaw::Random {
            mean_up: link.span("outages.random.mean-up"),
            mean_down: link.span("outages.random.mean-down"),
        },
    };
    let is_kept = match link.given("outages.queue", Part::choice) {
        Some(DuringOutage::Kept) => true,
        Some(DuringOutage::Sent) | None => false,
    };
    Some(OutagesConfig { law, node, is_kept, warning: warning(link, "outages.warning") })
}

/// The predictions that the keys below `prefix` describe.
fn warning(part: &Part<'_>, prefix: &str) -> Option<WarningConfig> {
    let key = |below: &str| format!("{prefix}.{below}");
    let span = |below: &str| part.given(&key(below), Part::span);
    let (lead, false_every) = (span("lead"), span("false-every"));
    if lead.is_none() && false_every.is_none() {
        return None;
    }
    let missed = part.given(&key("missed"), Part::real);
    Some(WarningConfig {
        lead: lead.unwrap_or_default(),
        deviation: span("deviation").unwrap_or_default(),
        missed: missed.unwrap_or(1.0),
        false_every,
        false_for: span("false-for").unwrap_or_default(),
    })
}

/// Between which of these links a node is handed off. The check reports what is wrong with it.
pub(super) fn handoff(node: &Part<'_>, links: &[LinkConfig]) -> Option<HandoffConfig> {
    let law = match node.given("handoff.law", Part::choice)? {
        EventLaw::Script => {
            HandoffLaw::Script(handoff_script(node.word("handoff.script")).unwrap_or_default())
        }
        EventLaw::Periodic => HandoffLaw::Periodic {
            first: node.time("handoff.periodic.first"),
            every: node.span("handoff.periodic.every"),
        },
        EventLaw::Random => HandoffLaw::Random { mean: node.span("handoff.random.mean") },
    };
    let link = |key: &str| {
        let name = node.known(key).map(Value::text)?;
        links.iter().position(|link| link.name == name)
    };
    Some(HandoffConfig {
        links: [link("handoff.from")?, link("handoff.to")?],
        law,
        gap: node.span("handoff.gap"),
        warning: warning(node, "handoff.warning"),
        late: node.choice("handoff.late"),
        state_rate: node.optional("handoff.state-rate", Part::rate),
        state_delay: node.span("handoff.state-delay"),
    })
}

fn read(text: &str) -> Option<u64> {
    Quantity::parse(text.trim()).ok().filter(|time| time.dim == Dim::Time)?.base.as_u64()
}

/// The outages of a script, or what is wrong with it.
pub(in super::super) fn outage_script(text: &str) -> Result<Vec<(Time, Span)>, String> {
    let mut lines: Vec<(Time, Span)> = Vec::new();
    for line in text.split(',') {
        let line = line.trim();
        let found =
            line.split_once(" at ").and_then(|(lasts, at)| Some((Time(read(at)?), Span(read(lasts)?))));
        let Some(found) = found.filter(|(_, lasts)| *lasts > Span::ZERO) else {
            return Err(format!("\"{line}\"; expected a duration and a time such as \"2 s at 10 s\""));
        };
        if lines.last().is_some_and(|(at, lasts)| at.after(*lasts) >= found.0) {
            return Err(format!(
                "\"{line}\" does not begin after the end of the outage before it; expected ascending times"
            ));
        }
        lines.push(found);
    }
    Ok(lines)
}

/// The hand-offs of a script, or what is wrong with it.
pub(in super::super) fn handoff_script(text: &str) -> Result<Vec<Time>, String> {
    let mut times: Vec<Time> = Vec::new();
    for line in text.split(',') {
        let line = line.trim();
        let Some(at) = read(line).map(Time) else {
            return Err(format!("\"{line}\"; expected times such as \"10 s, 25 s\""));
        };
        if times.last().is_some_and(|last| *last >= at) {
            return Err(format!(
                "\"{line}\" is not later than the hand-off before it; expected ascending times"
            ));
        }
        times.push(at);
    }
    Ok(times)
}

/// What an end does at events of its link.
pub(super) fn reaction(flow: &Part<'_>) -> ReactionConfig {
    let Some(name) = flow.known("tcp.reaction") else { return ReactionConfig::None(()) };
    let kind = ReactionKind::named(&name.text()).unwrap_or_else(|| flow.broken("tcp.reaction"));
    let mut reaction = kind.config();
    let prefix = format!("tcp.{}", kind.entry().name);
    flow.described(&prefix, &kind.parameters(), |name, value| reaction.set(name, value));
    reaction
}
