//! The description of each key, as JSON.

use super::error::ScenarioError;
use super::hints;
use super::keys::{self, Bound, Default, KEYS, Key, Kind, Only, Preferred, Profiled, Unless, text_of};
use super::layout::unknown_key;
use super::nearest::{listed, nearest};
use super::quantity::Dim;
use lasthop_stack::transport::tcp::Profile;
use serde_json::{Value as Json, json};

/// Everything about a key, given as `links.r2-d.rate`, as `links.NAME.rate`, or by a unique end such as `min-rto`.
///
/// # Errors
/// The key is not known, or names several.
pub fn explain(key: &str) -> Result<String, ScenarioError> {
    let path: Vec<&str> = key.trim().split('.').collect();
    find(&path)
        .map(|found| entry(found).to_string())
        .map_err(|text| ScenarioError::plain(format!("{key}: {text}")))
}

/// Everything about all keys, in the order of listings.
#[must_use]
pub fn keys() -> String {
    Json::Array(KEYS.iter().map(entry).collect()).to_string()
}

fn find(path: &[&str]) -> Result<&'static Key, String> {
    if let Some(key) = keys::find(path) {
        return Ok(key);
    }
    let end = format!(".{}", path.join("."));
    let ends: Vec<&Key> = KEYS.iter().filter(|key| key.path.ends_with(&end)).collect();
    match ends.as_slice() {
        [key] => return Ok(key),
        [] => {}
        several => {
            let names: Vec<String> = several.iter().map(|key| key.shown()).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            return Err(format!("several keys; expected one of {}", listed("", &names)));
        }
    }
    for depth in 0..path.len() {
        let known = keys::children(&path[..depth]);
        if !known.contains(&"*") && !known.contains(&path[depth]) {
            if depth == 0 && hints::of_key(path, 0).is_none() {
                if let Some(table) = table(path) {
                    let name = table.join(".").replace('*', "NAME");
                    let keys = listed("", &keys::children(&table)).replace('*', "NAME");
                    return Err(format!("a table of keys, {name}; expected one of them ({keys})"));
                }
                let names: Vec<String> = KEYS.iter().map(Key::shown).collect();
                let last: Vec<&str> = names.iter().filter_map(|name| name.rsplit('.').next()).collect();
                let near = nearest(path[path.len() - 1], &last);
                if let Some(near) =
                    near.and_then(|near| names.iter().find(|name| name.rsplit('.').next() == Some(near)))
                {
                    return Err(format!("unknown key; did you mean \"{near}\"?"));
                }
            }
            return Err(unknown_key(path, depth, &known));
        }
    }
    Err(format!(
        "a table of keys; expected one of them ({})",
        listed("", &keys::children(path)).replace('*', "NAME")
    ))
}

/// The first table within others whose name ends so.
fn table(path: &[&str]) -> Option<Vec<&'static str>> {
    let name = format!(".{}.", path.join("."));
    let ends = KEYS.iter().find_map(|key| Some((key.path, key.path.find(&name)? + name.len() - 1)));
    ends.map(|(key, end)| key[..end].split('.').collect())
}

fn entry(key: &Key) -> Json {
    let (kind, unit) = kind(key.kind);
    let mut values: Vec<&str> = match key.kind {
        Kind::Word(_, words) | Kind::Words(_, words) => words(),
        _ => Vec::new(),
    };
    values.extend(key.words);
    let only: Vec<String> = key.only.iter().map(|only| Only::text(*only)).collect();
    let (default, source) = default(key);
    let limit = |bound: Option<Bound>, included| {
        bound.filter(|bound| bound.included == included).map(|bound| bound.text)
    };
    json!({
        "key": key.shown(), "meaning": key.meaning, "kind": kind, "unit": unit, "default": default,
        "source": source, "values": values,
        "above": limit(key.least, false), "at_least": limit(key.least, true),
        "below": limit(key.most, false), "at_most": limit(key.most, true),
        "only_for": only.join(" and "), "may_differ": key.may_differ(),
    })
}

/// The kind of value in a word or two, and its usual unit.
fn kind(kind: Kind) -> (String, &'static str) {
    let name = match kind {
        Kind::Quantity(dims, unit) => {
            let names: Vec<&str> = dims.iter().map(|dim| dimension(*dim)).collect();
            return (names.join(" or "), unit);
        }
        Kind::Integer => "integer",
        Kind::Number => "number",
        Kind::Bool => "boolean",
        Kind::Word(..) => "word",
        Kind::Text => "text",
        Kind::Node => "node",
        Kind::Link => "link",
        Kind::Nodes => "nodes",
        Kind::Stations => "stations",
        Kind::Words(..) => "list of words",
        Kind::Flows => "flows",
        Kind::Rates => return ("list of rates".to_string(), "Mbit/s"),
        Kind::Position => return ("two lengths".to_string(), "m"),
        Kind::Ordinals | Kind::Integers => "list of integers",
        Kind::SweptKey => "swept key",
        Kind::Metric => "metric",
        Kind::Metrics => "metric or list of metrics",
        Kind::Where | Kind::Names => "table",
    };
    (name.to_string(), "")
}

fn dimension(dim: Dim) -> &'static str {
    match dim {
        Dim::Time => "time",
        Dim::Rate => "rate",
        Dim::Size => "size",
        Dim::Packets => "packets",
        Dim::Segments => "segments",
        Dim::Share => "percentage",
        Dim::Length => "length",
        Dim::Power => "power",
        Dim::Level => "level",
        Dim::Gain => "gain",
        Dim::Frequency => "frequency",
        Dim::Speed => "speed",
    }
}

fn default(key: &Key) -> (Option<String>, String) {
    let source = key.source.to_string();
    match key.default {
        Default::Required => (Some("required".to_string()), source),
        Default::Absent => (None, source),
        Default::Text(text) => (Some(text.to_string()), source),
        Default::Like(other) => (Some(format!("as {}", keys::shown(other))), source),
        Default::Variant(_) => (Some("as flows.NAME.tcp.variant".to_string()), source),
        Default::Profile(by) => profiled(by, ""),
        Default::Preset(by) => preset(&by, key),
        Default::Follows { key, value, then, or } => {
            (Some(format!("{or}; {then} where {} is {value}", keys::shown(key))), source)
        }
        Default::Unless(Unless { by, key, cases, under }) => {
            let of = key.rsplit('.').next().unwrap_or(key);
            let under = under.map_or_else(String::new, |word| format!(" ({word})"));
            let cases = cases
                .iter()
                .map(|case| format!("; {} for {of} {}{under}", text_of(case.then), case.words.join(" and ")));
            profiled(by, &cases.collect::<String>())
        }
    }
}

fn preset(by: &Preferred, key: &Key) -> (Option<String>, String) {
    // A key that depends on anything else is one of 802.11 links only.
    let on_other_links = |only: &Only| matches!(only, Only::Is("links.*.kind", kinds) if *kinds != ["wifi"]);
    let (value, source) = by.summary(key.only.is_empty() || key.only.iter().any(on_other_links));
    (Some(value), source)
}

/// Of the profiles `modern`, `rfc` and `ns2-2004`; the second is left out where it is the first.
fn by_profile([modern, rfc, ns2]: [String; 3]) -> String {
    match (modern == rfc, modern == ns2) {
        (true, true) => modern,
        (true, false) => format!("{modern} (modern); {ns2} (ns2-2004)"),
        (false, _) => format!("{modern} (modern); {rfc} (rfc); {ns2} (ns2-2004)"),
    }
}

fn profiled(by: Profiled, more: &str) -> (Option<String>, String) {
    let profiles = [Profile::Modern, Profile::Rfc, Profile::Ns2Of2004].map(|profile| by.of(profile));
    let value = by_profile(profiles.clone().map(|(value, _)| value));
    let source = by_profile(profiles.map(|(_, source)| source.to_string()));
    (Some(format!("{value}{more}")), source)
}
