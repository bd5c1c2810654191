//! The registry, keys and metrics as JSON.

use crate::metrics::{METRICS, MetricEntry, named};
use crate::probe::trace::CHANNELS;
use crate::scenario::{APPS, FIGURES, LOSS_MODELS, Named, PANELS, STANDARDS, kinds};
use lasthop_stack::hooks::parameter::Words;
use lasthop_stack::registry::{
    AgentKind, AqmKind, ArqKind, CongestionKind, Entry, IntervalKind, ReactionKind, RecoveryKind, Scheme,
    VARIANTS,
};
use serde_json::{Value, json};

/// Every scheme, variant, recovery, congestion law, agent, retransmission interval, link, 802.11 standard, source, loss
/// model and metric.
#[must_use]
pub fn registry() -> String {
    let tcp: Vec<Value> = VARIANTS
        .iter()
        .map(|variant| {
            json!({
                "name": variant.name,
                "title": variant.title,
                "recovery": variant.recovery.entry().name,
                "congestion": variant.congestion.entry().name,
                "summary": variant.summary,
                "paper": variant.source,
                "style": [variant.style.colour, variant.style.marker, variant.style.dashes],
            })
        })
        .collect();
    let metrics = METRICS.iter().map(|entry| {
        let mut described = json!({ "name": format!("{}{}", entry.scope.prefixes()[0], entry.name) });
        describe(entry, &mut described);
        described
    });
    let schemes = Scheme::all().map(|scheme| {
        let (entry, (part, key)) = (scheme.entry(), scheme.place());
        json!({
            "name": entry.name,
            "part": part,
            "set": format!("{key} = \"{}\"", entry.name),
            "summary": entry.summary,
            "paper": entry.source,
        })
    });
    let channels = CHANNELS.iter().map(|(name, summary)| json!({ "name": name, "summary": summary }));
    let drawn = kinds::Kind::WORDS.iter().map(|(name, kind)| {
        let [ends, wires, losses] = [kinds::ENDS, kinds::WIRES, kinds::LOSSES].map(|it| kind.has(it));
        json!({ "name": name, "title": kind.title(), "ends": ends, "wires": wires, "losses": losses })
    });
    json!({
        "schemes": schemes.collect::<Vec<_>>(),
        "tcp": tcp,
        "recovery": RecoveryKind::ALL.iter().map(|kind| part(kind.entry())).collect::<Vec<_>>(),
        "congestion": CongestionKind::ALL.iter().map(|kind| part(kind.entry())).collect::<Vec<_>>(),
        "agents": AgentKind::named_in_scenarios().iter().map(|kind| part(kind.entry())).collect::<Vec<_>>(),
        "aqm": AqmKind::ALL.iter().map(|kind| part(kind.entry())).collect::<Vec<_>>(),
        "arq": ArqKind::ALL.iter().map(|kind| part(kind.entry())).collect::<Vec<_>>(),
        "intervals": IntervalKind::ALL.iter().map(|kind| part(kind.entry())).collect::<Vec<_>>(),
        "reactions": ReactionKind::ALL.iter().map(|kind| part(kind.entry())).collect::<Vec<_>>(),
        "links": words(kinds::KINDS),
        "drawn": drawn.collect::<Vec<_>>(),
        "standards": words(STANDARDS),
        "apps": words(APPS),
        "loss": words(LOSS_MODELS),
        "figures": words(FIGURES),
        "panels": words(PANELS),
        "channels": channels.collect::<Vec<_>>(),
        "metrics": metrics.collect::<Vec<_>>(),
    })
    .to_string()
}

/// The metrics that can have this name in the results of a scenario, as a JSON list.
#[must_use]
pub fn metric(name: &str) -> String {
    let entry = |entry| {
        let mut described = json!({});
        describe(entry, &mut described);
        described
    };
    Value::Array(named(name).map(entry).collect()).to_string()
}

fn describe(entry: &MetricEntry, into: &mut Value) {
    into["of"] = entry.scope.name().into();
    into["unit"] = entry.unit.symbol().into();
    into["label"] = entry.label().into();
    into["meaning"] = entry.meaning.into();
}

fn part(entry: Entry) -> Value {
    json!({ "name": entry.name, "title": entry.title, "summary": entry.summary, "paper": entry.source })
}

fn words(words: &[Named]) -> Vec<Value> {
    words.iter().map(|word| json!({ "name": word.name, "summary": word.summary })).collect()
}
