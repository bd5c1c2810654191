//! One value of one key: read, checked against its kind and limits, and written in its canonical text.

use super::decimal::Decimal;
use super::document::{Item, Raw};
use super::error::Place;
use super::hints::{self, Said};
use super::keys::{Bound, Key, Kind};
use super::nearest::{listed, unknown};
use super::quantity::{Dim, Quantity, Unread};
use super::roster::Roster;
use lasthop_stack::hooks::parameter::Words;
use std::collections::BTreeSet;

/// The names that a scenario gives to what its values refer to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Names<'a> {
    pub(super) nodes: Option<&'a Roster>,
    pub(super) links: Option<&'a Roster>,
    pub(super) flows: Option<&'a Roster>,
}

/// A legal value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Quantity(Quantity),
    Number(Decimal),
    Bool(bool),
    /// A word, a name or free text.
    Text(String),
    List(Vec<Value>),
    /// One value for each member of a group in turn.
    Each(Vec<Value>),
}

impl Value {
    /// The one text of this value.
    pub(super) fn text(&self) -> String {
        match self {
            Value::Quantity(quantity) => quantity.text(),
            Value::Number(number) => number.scientific(),
            Value::Bool(value) => value.to_string(),
            Value::Text(text) => text.clone(),
            Value::List(values) | Value::Each(values) => {
                let quoted = |value: &Value| match value {
                    Value::Quantity(_) | Value::Text(_) => format!("\"{}\"", value.text()),
                    _ => value.text(),
                };
                format!("[{}]", values.iter().map(quoted).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// The value of a member of a group, counted from 0.
    pub(super) fn of_member(&self, number: usize) -> &Value {
        match self {
            Value::Each(values) => &values[number % values.len()],
            _ => self,
        }
    }

    /// The value in SI units, for quantities and numbers.
    pub(super) fn si(&self) -> Option<f64> {
        match self {
            Value::Quantity(quantity) => Some(quantity.si()),
            Value::Number(number) => Some(number.as_f64()),
            _ => None,
        }
    }

    /// The watts of a power, or of the level of one.
    pub(super) fn watts(&self) -> Option<f64> {
        if let Value::Quantity(quantity) = self { Some(quantity.watts()) } else { None }
    }

    /// Whether this is the given word, or has it among others.
    pub(super) fn has(&self, word: &str) -> bool {
        match self {
            Value::List(values) => values.iter().any(|value| value.is(word)),
            _ => self.is(word),
        }
    }

    /// A whole number, or the base units of a quantity.
    pub(super) fn count(&self) -> Option<u64> {
        match self {
            Value::Quantity(quantity) => quantity.base.as_u64(),
            Value::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    /// Whether this is the value of a text in canonical form.
    pub(super) fn is_written(&self, text: &str) -> bool {
        match self {
            Value::Text(own) => own == text,
            _ => self.text() == text,
        }
    }

    /// The choice that this word means.
    pub(super) fn choice<T: Words>(&self) -> Option<T> {
        if let Value::Text(word) = self { T::of_word(word) } else { None }
    }

    /// Whether this is the given word.
    pub(super) fn is(&self, word: &str) -> bool {
        match self {
            Value::Text(text) => text == word,
            Value::Bool(flag) => word == if *flag { "true" } else { "false" },
            _ => false,
        }
    }
}

impl Key {
    /// Reads a value of this key, or a list of values for the members of a group. The error is `found; expected`.
    pub(super) fn read(&self, raw: &Raw, names: &Names<'_>) -> Result<Value, String> {
        let of_members = match raw {
            Raw::List(items) if self.may_differ() => Some(items).filter(|items| self.is_for_each(items)),
            _ => None,
        };
        let Some(items) = of_members else { return self.read_one(raw, names) };
        if items.is_empty() {
            return Err(format!("an empty list; expected {}", self.expected(None)));
        }
        Ok(Value::Each(items.iter().map(|item| self.read_one(&item.raw, names)).collect::<Result<_, _>>()?))
    }

    /// Whether a list has a value for each member of a group: one whose values are lists themselves does if all its items
    /// are lists.
    fn is_for_each(&self, items: &[Item]) -> bool {
        let is_list = |item: &Item| matches!(item.raw, Raw::List(_));
        match self.kind {
            Kind::Position | Kind::Words(..) | Kind::Rates | Kind::Ordinals | Kind::Integers => {
                !items.is_empty() && items.iter().all(is_list)
            }
            _ => true,
        }
    }

    fn read_one(&self, raw: &Raw, names: &Names<'_>) -> Result<Value, String> {
        if let Raw::Text(text) = raw
            && self.words.contains(&text.as_str())
        {
            return Ok(Value::Text(text.clone()));
        }
        match (self.kind, raw) {
            (Kind::Quantity(dims, _), Raw::Text(text)) => self.quantity(text, dims),
            (Kind::Quantity(..), Raw::Number(number)) => {
                Err(format!("{number} has no unit; expected {}", self.expected(Some(number))))
            }
            (Kind::Integer | Kind::Number, Raw::Number(text) | Raw::Text(text)) => self.number(text, raw),
            (Kind::Bool, Raw::Bool(value)) => Ok(Value::Bool(*value)),
            (Kind::Word(noun, words), Raw::Text(text)) => {
                let known = words();
                if known.contains(&text.as_str()) {
                    return Ok(Value::Text(text.clone()));
                }
                Err(match hints::of_word(noun, text, &known) {
                    Some(Said::Meant(word)) => format!(
                        "unknown {noun} \"{text}\"; did you mean \"{word}\"? (known: {})",
                        listed(&word, &known)
                    ),
                    Some(Said::Absent(why)) => {
                        format!("unknown {noun} \"{text}\"; {why} (known: {})", listed(text, &known))
                    }
                    None => unknown(noun, text, &known),
                })
            }
            (Kind::Text | Kind::SweptKey | Kind::Metric | Kind::Metrics, Raw::Text(text)) => {
                Ok(Value::Text(text.clone()))
            }
            (Kind::Metrics, Raw::List(items)) => self.metrics(items),
            (Kind::Node, Raw::Text(_)) => name("node", raw, names.nodes),
            (Kind::Link, Raw::Text(_)) => name("link", raw, names.links),
            (Kind::Nodes | Kind::Stations, Raw::List(items)) => self.nodes(items, names.nodes),
            (Kind::Words(noun, words), Raw::List(items)) => self.several(noun, &words(), items),
            (Kind::Flows, Raw::List(items)) => self.flows(items, names.flows),
            (Kind::Rates, Raw::List(items)) => self.rates(items),
            (Kind::Position, Raw::List(items)) => self.position(items),
            (Kind::Ordinals | Kind::Integers, Raw::List(items)) => self.integers(items),
            _ => Err(format!("{}; expected {}", raw.describe_kind(), self.expected(None))),
        }
    }

    /// Reads the text of a canonical value or default, which is not part of a file.
    pub(super) fn read_text(&self, text: &str) -> Option<Value> {
        let item = |text: &str| Item { raw: Raw::Text(text.to_string()), place: Place::Line(0) };
        let raw = match self.kind {
            Kind::Bool => Raw::Bool(text.parse().ok()?),
            Kind::Rates => Raw::List(text.split(", ").map(item).collect()),
            _ => Raw::Text(text.to_string()),
        };
        self.read(&raw, &Names::default()).ok()
    }

    /// Metrics, each in a panel of its own or several in one.
    fn metrics(&self, items: &[Item]) -> Result<Value, String> {
        let text = |item: &Item| match &item.raw {
            Raw::Text(text) => Ok(Value::Text(text.clone())),
            Raw::List(panel) if panel.iter().all(|item| matches!(item.raw, Raw::Text(_))) => {
                self.metrics(panel)
            }
            other => Err(format!("{}; expected {}", other.describe(), self.expected(None))),
        };
        if items.is_empty() {
            return Err(format!("an empty list; expected {}", self.expected(None)));
        }
        Ok(Value::List(items.iter().map(text).collect::<Result<_, _>>()?))
    }

    fn quantity(&self, text: &str, dims: &[Dim]) -> Result<Value, String> {
        let found = format!("\"{}\"", text.escape_debug());
        let quantity = Quantity::parse(text).map_err(|unread| match unread {
            Unread::NoNumber => format!("{found}; expected {}", self.expected(None)),
            Unread::NoUnit(number) => {
                format!("{found} has no unit; expected {}", self.expected(Some(&number)))
            }
            Unread::NoSuchUnit(number, given) => self.no_such_unit(&found, &number, &given, dims),
            Unread::OutOfRange => {
                format!("{found} is out of range; expected {}", self.expected(None))
            }
            Unread::TooFine(finest) => format!("{found} is too precise; expected {finest}"),
        })?;
        if !dims.contains(&quantity.dim) {
            let number =
                text.trim().split(|c: char| c.is_whitespace() || c.is_alphabetic() || c == '%').next();
            let expected = self.expected(number.filter(|number| !number.is_empty()));
            return Err(format!("{found} is {}; expected {expected}", quantity.dim.noun()));
        }
        if !quantity.dim.is_signed() && quantity.base.is_negative() {
            return Err(format!("{found} is negative; expected {}", self.expected(None)));
        }
        self.within(quantity.base, Some(quantity.dim), &found)?;
        Ok(Value::Quantity(quantity))
    }

    fn no_such_unit(&self, found: &str, number: &str, unit: &str, dims: &[Dim]) -> String {
        let known = listed("", &dims.iter().flat_map(|dim| dim.units()).collect::<Vec<_>>());
        let expected = self.expected(Some(number));
        if unit.strip_prefix(',').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            let meant = format!("{number}.{}", &unit[1..]);
            let number = meant.trim_end_matches(|c: char| !c.is_ascii_digit());
            return match Quantity::parse(&meant) {
                Ok(_) => format!("{found} has a comma; did you mean \"{meant}\"?"),
                Err(_) => format!("{found} has a comma; expected {}", self.expected(Some(number))),
            };
        }
        if unit.strip_suffix("/s").or(unit.strip_suffix("ps")).is_some_and(|unit| unit.ends_with('B')) {
            return format!("{found} counts bytes per second; expected {expected} (units: {known})");
        }
        if let Some(meant) = hints::of_unit(unit, dims) {
            return format!(
                "{found} has an unknown unit; did you mean \"{number} {meant}\"? (units: {known})"
            );
        }
        match hints::dim_of_unit(unit) {
            Some(dim) => format!("{found} is {}; expected {expected} (units: {known})", dim.noun()),
            None => format!("{found} has an unknown unit; expected {expected} (units: {known})"),
        }
    }

    fn number(&self, text: &str, raw: &Raw) -> Result<Value, String> {
        let found = raw.describe();
        let whole = matches!(self.kind, Kind::Integer);
        let Some(number) = Decimal::parse(text.trim()).filter(|number| number.is_whole() || !whole) else {
            return Err(format!("{found}; expected {}", self.expected(None)));
        };
        if number.is_negative() && self.least.is_none() {
            return Err(format!("{found} is negative; expected {}", self.expected(None)));
        }
        self.within(number, None, &found)?;
        Ok(Value::Number(number))
    }

    /// Checks the limits that are given in this dimension; a limit of zero holds in every one.
    fn within(&self, base: Decimal, dim: Option<Dim>, found: &str) -> Result<(), String> {
        let is_signed = dim.is_some_and(Dim::is_signed);
        let limit = |bound: Bound| {
            let same = |limit: &Decimal| {
                bound.dim().is_none() || bound.dim() == dim || (limit.is_zero() && !is_signed)
            };
            bound.base().filter(same)
        };
        if let Some(bound) = self.least
            && let Some(least) = limit(bound)
            && (base < least || (base == least && !bound.included))
        {
            let text = if least.is_zero() { "0" } else { bound.text };
            let expected = if bound.included { "at least" } else { "more than" };
            return Err(format!("{found} is too small; expected {expected} {text}"));
        }
        if let Some(bound) = self.most
            && limit(bound).is_some_and(|most| base > most)
        {
            return Err(format!("{found} is too large; expected at most {}", bound.text));
        }
        Ok(())
    }

    fn nodes(&self, items: &[Item], nodes: Option<&Roster>) -> Result<Value, String> {
        // One name suffices if it denotes several nodes, which is checked when all are known.
        if items.is_empty() {
            return Err(format!("0 names; expected {}", self.expected(None)));
        }
        let found = items.iter().map(|item| name("node", &item.raw, nodes)).collect::<Result<Vec<_>, _>>()?;
        match twice(&found) {
            Some(name) => Err(format!("\"{}\" twice; expected different nodes", name.text())),
            None => Ok(Value::List(found)),
        }
    }

    fn flows(&self, items: &[Item], flows: Option<&Roster>) -> Result<Value, String> {
        if items.is_empty() {
            return Err(format!("an empty list; expected {}", self.expected(None)));
        }
        let found = items.iter().map(|item| name("flow", &item.raw, flows)).collect::<Result<Vec<_>, _>>()?;
        match twice(&found) {
            Some(name) => Err(format!("\"{}\" twice; expected different flows", name.text())),
            None => Ok(Value::List(found)),
        }
    }

    fn several(&self, noun: &str, known: &[&str], items: &[Item]) -> Result<Value, String> {
        if items.is_empty() {
            return Err(format!("an empty list; expected {}", self.expected(None)));
        }
        let word = |item: &Item| match &item.raw {
            Raw::Text(text) if known.contains(&text.as_str()) => Ok(Value::Text(text.clone())),
            Raw::Text(text) => Err(unknown(noun, text, known)),
            other => Err(format!("{}; expected a {noun} ({})", other.describe(), listed("", known))),
        };
        let found = items.iter().map(word).collect::<Result<Vec<_>, _>>()?;
        match twice(&found) {
            Some(word) => Err(format!("\"{}\" twice; expected different words", word.text())),
            None => Ok(Value::List(found)),
        }
    }

    fn rates(&self, items: &[Item]) -> Result<Value, String> {
        if items.is_empty() {
            return Err(format!("an empty list; expected {}", self.expected(None)));
        }
        let rate = |item: &Item| match &item.raw {
            Raw::Text(text) => self.quantity(text, &[Dim::Rate]),
            Raw::Number(number) => {
                Err(format!("{number} has no unit; expected a rate such as \"{number} Mbit/s\""))
            }
            other => Err(format!("{}; expected a rate such as \"1 Mbit/s\"", other.describe())),
        };
        let found = items.iter().map(rate).collect::<Result<Vec<_>, _>>()?;
        match twice(&found) {
            Some(rate) => Err(format!("\"{}\" twice; expected different rates", rate.text())),
            None => Ok(Value::List(found)),
        }
    }

    fn position(&self, items: &[Item]) -> Result<Value, String> {
        if items.len() != 2 {
            return Err(format!("{} values; expected {}", items.len(), self.expected(None)));
        }
        let length = |item: &Item| match &item.raw {
            Raw::Text(text) => self.quantity(text, &[Dim::Length]),
            Raw::Number(number) => {
                Err(format!("{number} has no unit; expected a length such as \"{number} m\""))
            }
            other => Err(format!("{}; expected a length such as \"100 m\"", other.describe())),
        };
        Ok(Value::List(items.iter().map(length).collect::<Result<_, _>>()?))
    }

    fn integers(&self, items: &[Item]) -> Result<Value, String> {
        let mut values = Vec::with_capacity(items.len());
        let mut last = Decimal::ZERO;
        for item in items {
            let Raw::Number(text) = &item.raw else {
                return Err(format!("{} in the list; expected {}", item.raw.describe(), self.expected(None)));
            };
            let number = Decimal::parse(text).filter(|number| number.as_u64().is_some());
            let Some(number) = number.filter(|number| !number.is_zero()) else {
                return Err(format!("{text} in the list; expected integers from 1"));
            };
            if matches!(self.kind, Kind::Ordinals) && number <= last {
                return Err(format!("{number} after {last}; expected an ascending list"));
            }
            last = number;
            values.push(Value::Number(number));
        }
        Ok(Value::List(values))
    }

    /// What is expected, with an example that keeps the number found.
    pub(super) fn expected(&self, number: Option<&str>) -> String {
        let mut forms: Vec<String> = match self.kind {
            Kind::Quantity(dims, unit) => dims.iter().map(|dim| example(*dim, unit, number)).collect(),
            Kind::Integer => vec![match (self.least, self.most) {
                (Some(least), Some(most)) => {
                    format!("an integer from {} to {}", least.text, most.text)
                }
                (Some(least), None) => format!("an integer of at least {}", least.text),
                _ => "an integer".to_string(),
            }],
            Kind::Number => vec!["a number such as 1e-6".to_string()],
            Kind::Bool => vec!["true or false".to_string()],
            Kind::Word(noun, words) => vec![format!("a {noun} ({})", listed("", &words()))],
            Kind::Words(noun, words) => {
                let words = words();
                vec![format!("a list of {noun}s ({}) such as [\"{}\"]", listed("", &words), words[0])]
            }
            Kind::Text => vec!["text".to_string()],
            Kind::Node => vec!["the name of a node".to_string()],
            Kind::Link => vec!["the name of a link".to_string()],
            Kind::Nodes => vec!["the names of two or more nodes such as [\"a\", \"b\"]".to_string()],
            Kind::Stations => vec!["the names of stations such as [\"ap\"]".to_string()],
            Kind::Flows => vec!["the names of flows such as [\"main\"]".to_string()],
            Kind::Rates => vec!["rates such as [\"1 Mbit/s\", \"2 Mbit/s\"]".to_string()],
            Kind::Position => {
                let place = "two lengths such as [\"0 m\", \"100 m\"]".to_string();
                let distance = "distance = \"3 m\" instead".to_string();
                if self.path == "nodes.*.position" { vec![place, distance] } else { vec![place] }
            }
            Kind::Ordinals => {
                vec!["ascending integers from 1 such as [12, 40, 41]".to_string()]
            }
            Kind::Integers => vec!["integers from 1 such as [5, 17, 9]".to_string()],
            Kind::SweptKey => vec!["a swept key in quotes".to_string()],
            Kind::Metric => vec!["a metric in quotes".to_string()],
            Kind::Metrics => vec!["a metric in quotes or a list of metrics".to_string()],
            Kind::Where => vec!["a table of swept keys and values".to_string()],
            Kind::Names => vec!["a table of swept values and names for them".to_string()],
        };
        forms.extend(self.words.iter().map(|word| format!("\"{word}\"")));
        forms.join(" or ")
    }
}

/// A quantity in words: `a rate such as "5 Mbit/s"`.
fn example(dim: Dim, unit: &str, number: Option<&str>) -> String {
    let unit = if dim.units().contains(&unit) { unit } else { dim.unit() };
    let usual = match dim {
        Dim::Time if unit == "ms" => "40",
        Dim::Time if unit == "us" => "20",
        Dim::Time => "10",
        Dim::Rate => "5",
        Dim::Size if unit == "B" => "1000",
        Dim::Size => "4",
        Dim::Packets | Dim::Length => "100",
        Dim::Segments => "20",
        Dim::Share => "1",
        Dim::Power => "280",
        Dim::Level => "-82",
        Dim::Gain => "7",
        Dim::Frequency => "914",
        Dim::Speed => "1.5",
    };
    let number = number.filter(|number| dim.is_signed() || !number.starts_with('-')).unwrap_or(usual);
    // Elsewhere a rate is a bare number of bits per second.
    let is_bare = |number: &Decimal| dim == Dim::Rate && *number >= Decimal::new(1, 5);
    if let Some(rate) = Decimal::parse(number).filter(is_bare)
        && let Ok(rate) = Quantity::parse(&format!("{rate} bit/s"))
    {
        return format!("{} such as \"{}\"", dim.noun(), rate.text());
    }
    // Elsewhere a probability is a bare number below one.
    if let Some(share) =
        Decimal::parse(number).filter(|share| dim == Dim::Share && *share < Decimal::new(1, 0))
        && !share.is_zero()
    {
        return format!("{} such as \"{} %\" for {share}", dim.noun(), share.shifted(2));
    }
    format!("{} such as \"{number} {unit}\"", dim.noun())
}

/// Without any names each is accepted: their absence is reported elsewhere, once.
fn name(what: &str, raw: &Raw, names: Option<&Roster>) -> Result<Value, String> {
    match (raw, names.filter(|names| !names.is_empty())) {
        (Raw::Text(name), Some(names)) if !names.may_hold(name) => {
            Err(unknown(what, name, &names.iter().map(String::as_str).collect::<Vec<_>>()))
        }
        (Raw::Text(name), _) => Ok(Value::Text(name.clone())),
        (other, _) => Err(format!("{}; expected the name of a {what}", other.describe_kind())),
    }
}

/// The first value that a list holds twice.
fn twice(values: &[Value]) -> Option<&Value> {
    let mut seen = BTreeSet::new();
    values.iter().find(|value| !seen.insert(value.text()))
}

impl Raw {
    /// A description of the value, where its kind is the error.
    fn describe_kind(&self) -> String {
        match self {
            Raw::Number(number) => format!("{number} is a number"),
            Raw::Bool(value) => format!("{value} is a boolean"),
            Raw::Date(date) => format!("{date} is a date"),
            _ => self.describe(),
        }
    }
}
