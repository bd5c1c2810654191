//! What there is to choose from, as JSON.

use lasthop_sim::metrics::METRICS;
use lasthop_sim::probe::trace::CHANNELS;
use lasthop_sim::scenario::{APPS, FIGURES, LINKS, LOSS_MODELS, Named, PANELS, STANDARDS};
use lasthop_stack::registry::{
    AgentKind, ArqKind, CongestionKind, Entry, IntervalKind, RecoveryKind, SCHEMES, VARIANTS,
};
use serde_json::{Value, json};

/// Every scheme, variant, recovery, congestion law, agent, retransmission interval, link, 802.11 standard, source, loss model and metric.
pub(crate) fn registry() -> String {
    let tcp: Vec<Value> = VARIANTS
        .iter()
        .map(|variant| {
            json!({
                "name": variant.name,
                "recovery": variant.recovery.entry().name,
                "congestion": variant.congestion.entry().name,
                "summary": variant.summary,
                "paper": variant.source,
                "colour": variant.style.colour,
                "marker": variant.style.marker,
            })
        })
        .collect();
    let metrics: Vec<Value> = METRICS
        .iter()
        .map(|entry| {
            let name = format!("{}{}", entry.scope.prefixes()[0], entry.name);
            json!({ "name": name, "of": entry.scope.name(), "unit": entry.unit.symbol(), "meaning": entry.meaning })
        })
        .collect();
    let schemes = SCHEMES.iter().map(|(name, scheme)| {
        let (entry, (part, key)) = (scheme.entry(), scheme.place());
        json!({
            "name": name,
            "part": part,
            "set": format!("{key} = \"{}\"", entry.name),
            "summary": entry.summary,
            "paper": entry.source,
        })
    });
    let channels = CHANNELS.iter().map(|(name, summary)| json!({ "name": name, "summary": summary }));
    json!({
        "schemes": schemes.collect::<Vec<_>>(),
        "tcp": tcp,
        "recovery": RecoveryKind::ALL.iter().map(|kind| part(kind.entry())).collect::<Vec<_>>(),
        "congestion": CongestionKind::ALL.iter().map(|kind| part(kind.entry())).collect::<Vec<_>>(),
        "agents": AgentKind::ALL.iter().map(|kind| part(kind.entry())).collect::<Vec<_>>(),
        "arq": ArqKind::ALL.iter().map(|kind| part(kind.entry())).collect::<Vec<_>>(),
        "intervals": IntervalKind::ALL.iter().map(|kind| part(kind.entry())).collect::<Vec<_>>(),
        "links": words(LINKS),
        "standards": words(STANDARDS),
        "apps": words(APPS),
        "loss": words(LOSS_MODELS),
        "figures": words(FIGURES),
        "panels": words(PANELS),
        "channels": channels.collect::<Vec<_>>(),
        "metrics": metrics,
    })
    .to_string()
}

fn part(entry: Entry) -> Value {
    json!({ "name": entry.name, "summary": entry.summary, "paper": entry.source })
}

fn words(words: &[Named]) -> Vec<Value> {
    words.iter().map(|word| json!({ "name": word.name, "summary": word.summary })).collect()
}
