//! Errors in scenarios, with their locations.

use std::collections::BTreeSet;
use std::fmt;

/// The most faults one message lists.
const MOST_FAULTS: usize = 10;
/// After this many faults the rest is not checked.
pub(super) const ENOUGH_FAULTS: usize = 100;

/// A scenario that cannot be run: one line per fault, each `place: key: found; expected`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    lines: Vec<String>,
    faults: Vec<Located>,
}

/// A fault and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The line of the file, counted from 1; `None` if an override has the fault.
    pub line: Option<usize>,
    /// The key; empty for the whole file.
    pub key: String,
    /// What was found and expected.
    pub text: String,
}

impl ScenarioError {
    /// A message that belongs to no line of a file.
    pub(super) fn plain(line: impl Into<String>) -> ScenarioError {
        ScenarioError { lines: vec![line.into()], faults: Vec::new() }
    }

    /// The faults of a file in the order of their lines, each once.
    pub(super) fn new(name: &str, overrides: Overrides<'_>, mut faults: Vec<Fault>) -> ScenarioError {
        faults.sort_by_key(|fault| fault.place);
        let mut seen = BTreeSet::new();
        let all = faults.iter().map(|fault| (fault.line(name, overrides), fault.located()));
        let (mut lines, mut faults): (Vec<String>, Vec<Located>) =
            all.filter(|(line, _)| seen.insert(line.clone())).unzip();
        if lines.len() > MOST_FAULTS {
            let more = lines.len() - MOST_FAULTS;
            lines.truncate(MOST_FAULTS);
            faults.truncate(MOST_FAULTS);
            lines.push(format!("{name}: {more} more errors like these"));
        }
        ScenarioError { lines, faults }
    }

    /// The faults of a file, each with its place.
    #[must_use]
    pub fn faults(&self) -> &[Located] {
        &self.faults
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

/// Settings made on top of a file.
#[derive(Clone, Copy, Debug)]
pub struct Overrides<'a> {
    /// Keys and values, in order.
    pub pairs: &'a [(String, String)],
    /// What messages call the argument that gave them: `set`, or `--set` of a command. Where it is `set`, axes of the
    /// sweep are from `vary`.
    pub argument: &'a str,
}

impl<'a> Overrides<'a> {
    /// What messages call the argument of a program that gives overrides.
    const PROGRAM: &'static str = "set";

    /// Overrides given by a program.
    #[must_use]
    pub fn new(pairs: &'a [(String, String)]) -> Overrides<'a> {
        Overrides { pairs, argument: Self::PROGRAM }
    }
}

/// The place of a setting. Lines of the file come before overrides.
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
    /// A fault of `key`; `text` is `found; expected`. An empty key means the whole file.
    pub(super) fn new(place: Place, key: impl Into<String>, text: impl Into<String>) -> Fault {
        Fault { place, key: key.into(), text: text.into() }
    }

    fn located(&self) -> Located {
        let line = if let Place::Line(line) = self.place { Some(line) } else { None };
        Located { line, key: self.key.clone(), text: self.text.clone() }
    }

    /// The fault in one line, whatever characters the names in it have.
    fn line(&self, name: &str, overrides: Overrides<'_>) -> String {
        let breaks = |sign: char| sign.is_control() || matches!(sign, '\u{2028}' | '\u{2029}');
        let text = self.text(name, overrides);
        if !text.contains(breaks) {
            return text;
        }
        let escaped =
            |sign: char| if breaks(sign) { sign.escape_default().collect() } else { sign.to_string() };
        text.chars().map(escaped).collect()
    }

    fn text(&self, name: &str, overrides: Overrides<'_>) -> String {
        let Fault { place, key, text } = self;
        let place = match place {
            Place::Line(line) => format!("{name}:{line}"),
            Place::Set(index) => {
                let argument = overrides.argument;
                let Some((set, value)) = overrides.pairs.get(*index) else {
                    return format!("{argument} {key}: {text}");
                };
                if argument == Overrides::PROGRAM
                    && let Some(axis) = set.strip_prefix("sweep.")
                {
                    let key = if key.is_empty() || key == "sweep" { axis } else { key };
                    return format!("vary: {}: {text}", key.trim_start_matches("sweep."));
                }
                if set == key || key.is_empty() {
                    return format!("{argument} {set}={value}: {text}");
                }
                format!("{argument} {set}={value}")
            }
        };
        if key.is_empty() { format!("{place}: {text}") } else { format!("{place}: {key}: {text}") }
    }
}

/// Faults found so far.
pub(super) type Faults = Vec<Fault>;
