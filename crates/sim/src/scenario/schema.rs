//! The JSON Schema of scenarios, for editors that complete and check TOML.

use super::keys::{Default, KEYS, Key, Kind};
use super::quantity::Dim;
use serde_json::{Map, Value as Json, json};

/// Names of nodes, links, flows and agents.
const NAME: &str = "^[A-Za-z0-9_-]+$";

/// The schema, in the dialect of 2020-12.
#[must_use]
pub fn schema() -> String {
    let mut root = table();
    for key in KEYS.iter().filter(|key| !key.path.starts_with("figure.")) {
        insert(&mut root, &key.path.split('.').collect::<Vec<_>>(), key);
    }
    let mut figure = table();
    for key in KEYS.iter() {
        if let Some(name) = key.path.strip_prefix("figure.") {
            insert(&mut figure, &[name], key);
        }
    }
    root["properties"]["figure"] =
        json!({ "type": "array", "items": figure, "description": "figures to draw" });
    root["properties"]["sweep"] = sweep();
    root["required"] = json!(["run", "nodes", "links", "flows"]);
    let mut whole = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lasthop scenario",
    });
    if let (Json::Object(whole), Json::Object(root)) = (&mut whole, root) {
        whole.extend(root);
    }
    whole.to_string()
}

fn table() -> Json {
    json!({ "type": "object", "properties": {}, "additionalProperties": false })
}

/// Puts a key into the tree of tables.
fn insert(at: &mut Json, path: &[&str], key: &Key) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    let (below, name) = if *first == "*" { ("patternProperties", NAME) } else { ("properties", *first) };
    if rest.is_empty() {
        at[below][name] = value(key);
        // A key under a condition is required only where the condition holds.
        if matches!(key.default, Default::Required) && key.only.is_empty() {
            match &mut at["required"] {
                Json::Array(required) => required.push(json!(name)),
                other => *other = json!([name]),
            }
        }
        return;
    }
    if at[below].get(name).is_none() {
        at[below][name] = table();
    }
    insert(&mut at[below][name], rest, key);
}

fn value(key: &Key) -> Json {
    let mut value = kind(key);
    if !key.words.is_empty() {
        value = json!({ "anyOf": [{ "enum": key.words }, value] });
    }
    if key.may_differ() {
        let each = json!({ "type": "array", "items": value, "minItems": 1, "description": "one for each member of the group in turn" });
        value = json!({ "anyOf": [value, each] });
    }
    value["description"] = json!(key.meaning);
    if let Default::Text(text) = key.default
        && !matches!(key.kind, Kind::Integer | Kind::Number | Kind::Bool)
    {
        value["default"] = json!(text);
    }
    value
}

fn kind(key: &Key) -> Json {
    match key.kind {
        Kind::Quantity(dims, _) => json!({ "type": "string", "pattern": quantity(dims) }),
        Kind::Integer => {
            let mut integer = Map::from_iter([("type".to_string(), json!("integer"))]);
            for (name, bound) in [("minimum", key.least), ("maximum", key.most)] {
                if let Some(limit) = bound.and_then(|bound| bound.text.parse::<u64>().ok()) {
                    integer.insert(name.to_string(), json!(limit));
                }
            }
            Json::Object(integer)
        }
        Kind::Number => json!({ "type": ["number", "string"] }),
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Word(_, words) => json!({ "enum": words() }),
        Kind::Words(_, words) => {
            json!({ "type": "array", "items": { "enum": words() }, "minItems": 1, "uniqueItems": true })
        }
        Kind::Text | Kind::SweptKey | Kind::Metric => json!({ "type": "string" }),
        Kind::Metrics => json!({ "anyOf": [
            { "type": "string" },
            { "type": "array", "items": { "anyOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" }, "minItems": 1, "uniqueItems": true },
            ] }, "minItems": 1, "uniqueItems": true },
        ] }),
        Kind::Node | Kind::Link => json!({ "type": "string", "pattern": NAME }),
        Kind::Nodes | Kind::Stations | Kind::Flows => {
            json!({ "type": "array", "items": { "type": "string", "pattern": NAME }, "minItems": 1 })
        }
        Kind::Rates => {
            let rate = json!({ "type": "string", "pattern": quantity(&[Dim::Rate]) });
            json!({ "type": "array", "items": rate, "minItems": 1 })
        }
        Kind::Position => {
            let length = json!({ "type": "string", "pattern": quantity(&[Dim::Length]) });
            json!({ "type": "array", "items": length, "minItems": 2, "maxItems": 2 })
        }
        Kind::Ordinals | Kind::Integers => {
            json!({ "type": "array", "items": { "type": "integer", "minimum": 1 }, "minItems": 1 })
        }
        Kind::Where => json!({ "type": "object" }),
        Kind::Names => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
    }
}

fn quantity(dims: &[Dim]) -> String {
    let units = dims.iter().flat_map(|dim| dim.units()).collect::<Vec<_>>().join("|");
    format!(r"^\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*({units})\s*$")
}

fn sweep() -> Json {
    let values = json!({
        "anyOf": [
            { "type": "array", "minItems": 1 },
            { "type": "string", "pattern": r"\.\.", "description": "a range such as 0 % .. 20 % step 2 %" },
            { "type": "object", "description": "the rest of a dotted key" },
        ],
    });
    json!({
        "type": "object",
        "description": "swept keys, each in quotes, with their values; together they form a grid",
        "properties": {
            "zip": { "type": "object", "description": "keys that advance together", "additionalProperties": values },
            "list": { "type": "array", "description": "one point per table", "items": { "type": "object" } },
        },
        "additionalProperties": values,
    })
}
