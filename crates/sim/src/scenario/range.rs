//! Ranges of a sweep: `0 % .. 20 % step 2 %` and `1e-6 .. 1e-3 log 4`, exact and with both ends.

use super::decimal::Decimal;
use super::document::Raw;
use super::keys::{Key, Kind};
use super::quantity::{Dim, Quantity, Unread};
use super::value::{Names, Value};

/// An axis has no more values than this.
const MOST_VALUES: usize = 1_000_000;
/// Significant digits of the values between the ends of a logarithmic range.
const LOG_DIGITS: usize = 6;

/// The values of a range of this key; the error is `found; expected`.
pub(super) fn expand(key: &Key, text: &str) -> Result<Vec<Value>, String> {
    let found = format!("\"{}\"", text.escape_debug());
    if !matches!(key.kind, Kind::Quantity(..) | Kind::Integer | Kind::Number) {
        return Err(format!("{found}; expected a list of values in brackets"));
    }
    let form = || format!("{found}; expected a list of values or a range such as \"{}\"", example(key));
    let (first, rest) = text.split_once("..").ok_or_else(form)?;
    let (last, law, amount) = ["step", "log"]
        .iter()
        .find_map(|law| rest.split_once(law).map(|(last, amount)| (last, *law, amount)))
        .ok_or_else(form)?;
    let first = Edge::read(key, first)?;
    let last = Edge::read(key, last)?;
    if first.dim != last.dim {
        return Err(format!("{found} has bounds of two kinds; expected one unit"));
    }
    let numbers = match law {
        "step" => linear(first.base, last.base, Edge::step(key, amount, first.dim)?),
        _ => logarithmic(first.base, last.base, amount.trim()),
    };
    let numbers = numbers.map_err(|problem| format!("{found} {problem}"))?;
    numbers.into_iter().map(|base| first.value(key, base).ok_or_else(form)).collect()
}

/// An end of a range in base units.
struct Edge {
    dim: Option<Dim>,
    base: Decimal,
}

impl Edge {
    fn read(key: &Key, text: &str) -> Result<Edge, String> {
        match key.read(&Raw::Text(text.trim().to_string()), &Names::default())? {
            Value::Quantity(Quantity { dim, base }) => Ok(Edge { dim: Some(dim), base }),
            Value::Number(base) => Ok(Edge { dim: None, base }),
            other => Err(format!("\"{}\" in a range; expected {}", other.text(), key.expected(None))),
        }
    }

    /// A step has the dimension of the ends, but may be negative and has no other limits.
    fn step(key: &Key, text: &str, dim: Option<Dim>) -> Result<Decimal, String> {
        let text = text.trim();
        let found = format!("step \"{}\"", text.escape_debug());
        match dim {
            None => Decimal::parse(text).ok_or_else(|| format!("{found}; expected a number")),
            Some(dim) => match Quantity::parse(text) {
                Ok(step) if step.dim == dim => Ok(step.base),
                Err(Unread::NoUnit(number)) => {
                    Err(format!("{found} has no unit; expected {}", key.expected(Some(&number))))
                }
                _ => Err(format!("{found}; expected {}", dim.noun())),
            },
        }
    }

    fn value(&self, key: &Key, base: Decimal) -> Option<Value> {
        match self.dim {
            Some(dim) => Quantity { dim, base }.rounded().checked().ok().map(Value::Quantity),
            None if matches!(key.kind, Kind::Integer) => {
                Some(Value::Number(base)).filter(|_| base.is_whole())
            }
            None => Some(Value::Number(base)),
        }
    }
}

fn linear(first: Decimal, last: Decimal, step: Decimal) -> Result<Vec<Decimal>, String> {
    let never =
        "never reaches its last value; expected a step from the first value towards the last".to_string();
    if first == last {
        return Ok(vec![first]);
    }
    if step.is_zero() {
        return Err(never);
    }
    let steps = last.minus(first).and_then(|way| way.whole_quotient(step)).ok_or_else(|| {
        if last.minus(first).is_some_and(|way| way.is_negative() == step.is_negative()) {
            "steps over its last value; expected a step that divides the range".to_string()
        } else {
            never.clone()
        }
    })?;
    if steps < 0 {
        return Err(never);
    }
    if steps >= MOST_VALUES as i128 {
        return Err(format!("has more than {MOST_VALUES} values; expected fewer"));
    }
    let mut values = vec![first];
    let mut value = first;
    for _ in 0..steps {
        value = value.plus(step).ok_or("is out of range; expected smaller numbers")?;
        values.push(value);
    }
    Ok(values)
}

fn logarithmic(first: Decimal, last: Decimal, count: &str) -> Result<Vec<Decimal>, String> {
    let count: usize = count
        .parse()
        .ok()
        .filter(|count| (2..=MOST_VALUES).contains(count))
        .ok_or_else(|| format!("has \"{count}\" after log; expected the number of values, at least 2"))?;
    if first <= Decimal::ZERO || last <= Decimal::ZERO {
        return Err("has a bound of zero; expected bounds above zero for log".to_string());
    }
    let ratio = last.as_f64() / first.as_f64();
    let mut values = vec![first];
    for index in 1..count - 1 {
        let value = first.as_f64() * libm::pow(ratio, index as f64 / (count - 1) as f64);
        values.push(Decimal::from_f64(value, LOG_DIGITS).ok_or("is out of range; expected closer bounds")?);
    }
    values.push(last);
    Ok(values)
}

fn example(key: &Key) -> &'static str {
    match key.kind {
        Kind::Quantity([Dim::Share, ..], _) => "0 % .. 20 % step 2 %",
        Kind::Quantity([Dim::Rate, ..], _) => "1 Mbit/s .. 5 Mbit/s step 1 Mbit/s",
        Kind::Quantity([Dim::Time, ..], _) => "10 ms .. 50 ms step 10 ms",
        Kind::Quantity([Dim::Size, ..], _) => "100 B .. 1000 B step 100 B",
        Kind::Quantity([Dim::Packets, ..], _) => "10 packets .. 100 packets step 10 packets",
        Kind::Quantity([Dim::Segments, ..], _) => "10 segments .. 50 segments step 10 segments",
        Kind::Integer => "1 .. 10 step 1",
        _ => "1e-6 .. 1e-3 log 4",
    }
}

#[cfg(test)]
mod tests {
    use super::super::keys;
    use super::*;

    fn texts(path: &str, range: &str) -> Vec<String> {
        let key = keys::find(&path.split('.').collect::<Vec<_>>()).unwrap();
        match expand(key, range) {
            Ok(values) => values.iter().map(Value::text).collect(),
            Err(problem) => vec![problem],
        }
    }

    #[test]
    fn a_range_holds_both_ends_and_every_step_exactly() {
        let loss = texts("links.a.loss.rate", "0 % .. 20 % step 2 %");
        assert_eq!(loss, ["0 %", "2 %", "4 %", "6 %", "8 %", "10 %", "12 %", "14 %", "16 %", "18 %", "20 %"]);
        let tenths = texts("links.a.loss.rate", "0% .. 0.3% step 0.1%");
        assert_eq!(tenths, ["0 %", "0.1 %", "0.2 %", "0.3 %"]);
        let down = texts("links.a.delay", "1 ms .. 998 us step -1 us");
        assert_eq!(down, ["1 ms", "999 us", "998 us"]);
        assert_eq!(texts("flows.f.tcp.ack-every", "1 .. 3 step 1"), ["1", "2", "3"]);
        assert_eq!(texts("links.a.queue", "8 kB .. 16 kB step 4 kB"), ["8000 B", "12 kB", "16 kB"]);
        assert_eq!(texts("links.a.delay", "5 ms .. 5 ms step 1 ms"), ["5 ms"]);
    }

    #[test]
    fn a_logarithmic_range_has_exact_ends_and_as_many_values_as_asked() {
        assert_eq!(texts("links.a.loss.bit.ber", "1e-6 .. 1e-3 log 4"), ["1e-6", "1e-5", "0.0001", "0.001"]);
        let loss = texts("links.a.loss.rate", "0.1 % .. 10 % log 5");
        assert_eq!(loss, ["0.1 %", "0.316228 %", "1 %", "3.16228 %", "10 %"]);
        let rates = texts("links.a.rate", "1 Mbit/s .. 7 Mbit/s log 3");
        assert_eq!(rates, ["1 Mbit/s", "2.64575 Mbit/s", "7 Mbit/s"]);
    }

    #[test]
    fn a_step_that_never_arrives_is_told() {
        for range in ["0 % .. 20 % step -2 %", "20 % .. 0 % step 2 %", "0 % .. 20 % step 0 %"] {
            assert!(texts("links.a.loss.rate", range)[0].contains("never reaches its last value"), "{range}");
        }
        let over = &texts("links.a.loss.rate", "0 % .. 20 % step 3 %")[0];
        assert!(over.contains("steps over its last value"), "{over}");
        let many = &texts("links.a.loss.rate", "0 % .. 100 % step 0.00001 %")[0];
        assert!(many.contains("more than 1000000 values"), "{many}");
    }

    #[test]
    fn a_range_without_units_or_of_words_is_told() {
        let bare = &texts("links.a.loss.rate", "0 .. 20 step 2")[0];
        assert!(bare.starts_with("\"0\" has no unit; expected a percentage such as \"0 %\""), "{bare}");
        let step = &texts("links.a.loss.rate", "0 % .. 20 % step 2")[0];
        assert!(step.starts_with("step \"2\" has no unit"), "{step}");
        let words = &texts("flows.f.tcp.variant", "tahoe .. sack step 1")[0];
        assert!(words.contains("expected a list of values"), "{words}");
        let zero = &texts("links.a.loss.rate", "0 % .. 20 % log 5")[0];
        assert!(zero.contains("expected bounds above zero"), "{zero}");
        let mixed = &texts("links.a.queue", "8 kB .. 16 packets step 4 kB")[0];
        assert!(mixed.contains("bounds of two kinds"), "{mixed}");
    }
}
