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
        .map(|metric| {
            let before = match metric.of {
                "link" | "drawn link" | "wifi" | "arq" | "dynamic arq" | "frn" => "links.<l>.",
                "agent" => "agents.<a>.",
                "run" | "tcp run" => "",
                _ => "flows.<f>.",
            };
            let name = format!("{before}{}", metric.name);
            json!({ "name": name, "of": metric.of, "unit": metric.unit, "meaning": metric.meaning })
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
        "agents": AgentKind::named_in_scenarios().iter().map(|kind| part(kind.entry())).collect::<Vec<_>>(),
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
