//! What is wrong with a scenario, and where.

use std::collections::BTreeSet;
use std::fmt;

/// The most faults one message lists.
const MOST_FAULTS: usize = 10;
/// After so many faults what remains is not looked at.
pub(super) const ENOUGH_FAULTS: usize = 100;

/// A scenario that cannot be run: one line per fault, each `place: key: found; expected`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    lines: Vec<String>,
}

impl ScenarioError {
    /// A message that belongs to no line of a file.
    pub(super) fn plain(line: impl Into<String>) -> ScenarioError {
        ScenarioError { lines: vec![line.into()] }
    }

    /// The faults of a file in the order of their lines, each once.
    pub(super) fn new(name: &str, overrides: &[(String, String)], mut faults: Vec<Fault>) -> ScenarioError {
        faults.sort_by_key(|fault| fault.place);
        let mut seen = BTreeSet::new();
        let all = faults.iter().map(|fault| fault.line(name, overrides));
        let mut lines: Vec<String> = all.filter(|line| seen.insert(line.clone())).collect();
        if lines.len() > MOST_FAULTS {
            let more = lines.len() - MOST_FAULTS;
            lines.truncate(MOST_FAULTS);
            lines.push(format!("{name}: {more} more like these; expected none"));
        }
        ScenarioError { lines }
    }

    /// The faults, one a line.
    pub(super) fn lines(&self) -> &[String] {
        &self.lines
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines.join("\n"))
    }
}

impl std::error::Error for ScenarioError {}

/// Where a setting stands. Lines of the file come before overrides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// A line of the file, counted from 1.
    Line(usize),
    /// An override, by its place in the list.
    Set(usize),
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    place: Place,
    key: String,
    text: String,
}

impl Fault {
    /// A fault of `key`; `text` is `found; expected`. An empty key stands for the whole file.
    pub(super) fn new(place: Place, key: impl Into<String>, text: impl Into<String>) -> Fault {
        Fault { place, key: key.into(), text: text.into() }
    }

    /// The fault in one line, whatever signs the names in it have.
    fn line(&self, name: &str, overrides: &[(String, String)]) -> String {
        let breaks = |sign: char| sign.is_control() || matches!(sign, '\u{2028}' | '\u{2029}');
        let text = self.text(name, overrides);
        if !text.contains(breaks) {
            return text;
        }
        let escaped = |sign: char| if breaks(sign) { sign.escape_default().collect() } else { sign.to_string() };
        text.chars().map(escaped).collect()
    }

    fn text(&self, name: &str, overrides: &[(String, String)]) -> String {
        let Fault { place, key, text } = self;
        let place = match place {
            Place::Line(line) => format!("{name}:{line}"),
            Place::Set(index) => {
                let Some((set, value)) = overrides.get(*index) else {
                    return format!("--set {key}: {text}");
                };
                if set == key || key.is_empty() {
                    return format!("--set {set}={value}: {text}");
                }
                format!("--set {set}={value}")
            }
        };
        if key.is_empty() { format!("{place}: {text}") } else { format!("{place}: {key}: {text}") }
    }
}

/// Faults found so far.
pub(super) type Faults = Vec<Fault>;

/// The known name nearest to `name`, if it is near enough to be what was meant.
pub(super) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let best = known
        .iter()
        .map(|other| (distance(&lower, &other.to_lowercase()), *other))
        .min_by_key(|(far, _)| *far)?;
    let length = name.chars().count();
    let allowed = (length.max(best.1.chars().count()) / 3).max(1);
    (best.0 <= allowed && best.0 < length).then_some(best.1)
}

/// `unknown WHAT "name"; did you mean …? (known: …)`, or what is expected if no known name is near.
#[must_use]
pub fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let list = known.join(", ");
    match nearest(name, known) {
        Some(near) => {
            format!("unknown {what} \"{name}\"; did you mean \"{near}\"? (known: {list})")
        }
        None if known.is_empty() => format!("unknown {what} \"{name}\"; expected no such name"),
        None => format!("unknown {what} \"{name}\"; expected one of {list}"),
    }
}

/// Edit distance where a swap of neighbours counts once.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut cost = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                cost = cost.min(before[j - 2] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_a_slip_and_a_gap_each_count_once() {
        assert_eq!(distance("delay", "dealy"), 1);
        assert_eq!(distance("reno", "renno"), 1);
        assert_eq!(distance("load-adaptve", "load-adaptive"), 1);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn a_name_far_from_all_known_ones_has_no_nearest() {
        assert_eq!(nearest("newrneo", &["tahoe", "reno", "newreno"]), Some("newreno"));
        assert_eq!(nearest("cubic", &["tahoe", "reno", "newreno"]), None);
        assert_eq!(nearest("x", &[]), None);
    }
}
