//! Scenarios and results as JSON.

use lasthop_sim::Outcome;
use lasthop_sim::metrics::{MetricEntry, named};
use lasthop_sim::model::Config;
use lasthop_sim::probe::trace::{CHANNELS, Column, Trace, missing};
use lasthop_sim::probe::transfers::Transfer;
use lasthop_sim::scenario::{Axis, Resolved, Scenario};
use serde_json::{Map, Value, json};
use std::io;

/// What a page shows of a scenario before it runs.
pub(crate) fn scenario(it: &Scenario) -> Value {
    let config = it.config(0);
    let estimate = lasthop_sim::estimate(&config);
    let point =
        |point| it.point(point).into_iter().map(|(key, value)| (key, value.into())).collect::<Map<_, _>>();
    let exceptions =
        it.exceptions().iter().map(|it| json!({ "key": it.key, "label": it.label, "meaning": it.meaning }));
    json!({
        "title": it.title(),
        "paper": it.paper(),
        "seed": it.seed(),
        "replications": it.replications(),
        "warnings": it.warnings(),
        "exceptions": exceptions.collect::<Vec<_>>(),
        "axes": it.axes().iter().map(|one| axis(it, one)).collect::<Vec<_>>(),
        "points": (0..it.points()).map(point).collect::<Vec<_>>(),
        "figures": it.figures(),
        "metrics": it.metrics().iter().map(|name| metric(name)).collect::<Vec<_>>(),
        "files": it.files(),
        "duration_s": config.run.duration.as_secs(),
        "events": estimate.events,
        "links": config.links.iter().map(|link| link.name.as_str()).collect::<Vec<_>>(),
        "flows": config.flows.iter().map(|flow| flow.name.as_str()).collect::<Vec<_>>(),
        "channels": channels(&config),
    })
}

fn metric(name: &str) -> Value {
    let entry = named(name).next();
    json!({
        "name": name,
        "unit": entry.map(|entry| entry.unit.symbol()),
        "label": entry.map(MetricEntry::label),
        "meaning": entry.map(|entry| entry.meaning),
    })
}

/// The traces in which a run has something to record.
fn channels(config: &Config) -> Vec<&'static str> {
    CHANNELS.iter().map(|(name, _)| *name).filter(|name| missing(name, config).is_none()).collect()
}

fn axis(scenario: &Scenario, axis: &Axis) -> Value {
    let numbers = |row: &Vec<String>| {
        axis.keys.iter().zip(row).map(|(key, value)| scenario.numeric(key, value)).collect::<Vec<_>>()
    };
    json!({ "keys": axis.keys, "rows": axis.rows, "numbers": axis.rows.iter().map(numbers).collect::<Vec<_>>() })
}

/// Every key of a point.
pub(crate) fn resolved(lines: &[Resolved]) -> Value {
    let line =
        |it: &Resolved| json!({ "key": it.key, "value": it.value, "from": it.from, "source": it.source });
    lines.iter().map(line).collect()
}

/// The results of a run.
///
/// # Errors
/// A trace cannot be read.
pub(crate) fn outcome(it: &Outcome) -> io::Result<Value> {
    let traces = it.traces.iter().map(|one| Ok((one.name.to_string(), trace(one)?)));
    Ok(json!({
        "metrics": it.metrics.iter().map(|(name, value)| (name.clone(), (*value).into())).collect::<Map<_, _>>(),
        "series": it.series.iter().map(|one| (one.name.clone(), json!(one.values))).collect::<Map<_, _>>(),
        "traces": traces.collect::<io::Result<Map<_, _>>>()?,
        "events": it.events,
        "stopped": it.stopped.map(lasthop_sim::Stopped::name),
        "simulated_s": it.simulated.as_secs(),
    }))
}

/// The transfers of users that began in the measured time: flow, its table, class, how long it lasted, and whether it is
/// done. One that is not done lasts to the end of the run.
pub(crate) fn transfers(it: &Outcome, config: &Config) -> Value {
    let row = |one: &Transfer| {
        let flow = &config.flows[one.flow as usize];
        let lasted = match one.ended {
            Some(ended) => ended.since(one.begun).as_secs(),
            None => it.simulated.as_secs() - one.begun.as_secs(),
        };
        json!([flow.name, flow.table(), one.class.name(), lasted, one.ended.is_some()])
    };
    it.transfers.iter().filter(|one| one.begun.0 >= config.run.warmup.0).map(row).collect()
}

fn trace(it: &Trace) -> io::Result<Value> {
    let column = |column: &Column| match column {
        Column::Float(values) => json!(values),
        Column::Int(values) => json!(values),
        Column::Word { codes, words } => codes.iter().map(|code| words[*code as usize].as_str()).collect(),
    };
    let table = it.read(0..it.rows())?;
    Ok(Value::Object(
        table.columns.iter().map(|(name, values)| ((*name).to_string(), column(values))).collect(),
    ))
}
