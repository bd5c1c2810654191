//! TOML text to settings with line numbers, independent of the meaning of keys.

use super::error::{Fault, Place};
use super::keys::FORMAT;
use super::members::MOST;
use super::plan::is_name;
use std::cell::OnceCell;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value as written, and where.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) raw: Raw,
    pub(super) place: Place,
}

/// A value as written.
#[derive(Clone, Debug)]
pub(super) enum Raw {
    Text(String),
    /// The text of an integer or real number.
    Number(String),
    Bool(bool),
    Date(String),
    List(Vec<Item>),
    Table(Vec<Leaf>),
}

/// A value and the path of its key.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub(super) path: Vec<String>,
    pub(super) item: Item,
}

impl Leaf {
    pub(super) fn key(&self) -> String {
        self.path.join(".")
    }
}

/// A whole file.
#[derive(Clone, Debug, Default)]
pub(super) struct Document {
    /// Everything but sweep and figures, in the order of the file.
    pub(super) settings: Vec<Leaf>,
    /// The tables among them, in the order of the file.
    pub(super) tables: Vec<(Vec<String>, Place)>,
    /// The entries of `[sweep]`; `zip` and `list` as one leaf each.
    pub(super) sweep: Vec<Leaf>,
    /// The `[[figure]]` tables.
    pub(super) figures: Vec<(Place, Vec<Leaf>)>,
    /// Sections of a wrong form.
    pub(super) faults: Vec<Fault>,
    /// The places of the tables in the order of their paths, once they were requested.
    places: OnceCell<Vec<usize>>,
}

impl Document {
    /// Reads a whole file.
    pub(super) fn parse(text: &str) -> Result<Document, Fault> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if let Some(fault) = too_many_headers(text) {
            return Err(fault);
        }
        let lines = Lines::new(text);
        if text.trim().is_empty() {
            let found = "the file is empty; expected a scenario with [run], [nodes], [links] and [flows]";
            return Err(Fault::new(Place::Line(1), "", found));
        }
        let table = DeTable::parse(text).map_err(|error| lines.syntax_fault(&error))?;
        let mut document = Document::default();
        for (name, at, value) in lines.entries(table.get_ref()) {
            if let Some(fault) = too_many(name, at, value.get_ref()) {
                return Err(fault);
            }
            if !["sweep", "figure"].contains(&name) {
                document.add(&lines, &mut vec![name], at, value);
                continue;
            }
            let item = lines.item(value);
            match (name, &item.raw) {
                ("sweep", Raw::Table(leaves)) => document.sweep = sweep_leaves(leaves),
                ("figure", Raw::List(figures))
                    if figures.iter().all(|it| matches!(it.raw, Raw::Table(_))) =>
                {
                    document.add_figures(figures);
                }
                (_, raw) => {
                    let form = if name == "sweep" { "a table [sweep]" } else { "tables [[figure]]" };
                    let found = format!("{}; expected {form}", raw.describe());
                    document.faults.push(Fault::new(at, name, found));
                }
            }
        }
        match document.newer() {
            Some(fault) => Err(fault),
            None => Ok(document),
        }
    }

    /// The error for a file in a newer format, whose other keys may mean anything.
    fn newer(&self) -> Option<Fault> {
        let leaf = self.settings.iter().find(|leaf| leaf.path == ["format"])?;
        let Raw::Number(text) = &leaf.item.raw else { return None };
        let found = format!(
            "{text} is a newer format than lasthop {} reads; expected at most {FORMAT}",
            env!("CARGO_PKG_VERSION")
        );
        (text.parse::<f64>().ok()? > FORMAT.parse().ok()?)
            .then(|| Fault::new(leaf.item.place, "format", found))
    }

    /// Adds a table with all below it, or a value. The place of a table is that of its name.
    fn add<'a>(
        &mut self,
        lines: &Lines,
        path: &mut Vec<&'a str>,
        at: Place,
        value: &'a Spanned<DeValue<'_>>,
    ) {
        let whole = path.iter().map(ToString::to_string).collect();
        let DeValue::Table(table) = value.get_ref() else {
            self.settings.push(Leaf { path: whole, item: lines.item(value) });
            return;
        };
        self.tables.push((whole, at));
        for (name, at, value) in lines.entries(table) {
            path.push(name);
            self.add(lines, path, at, value);
            path.pop();
        }
    }

    fn add_figures(&mut self, figures: &[Item]) {
        for figure in figures {
            if let Raw::Table(leaves) = &figure.raw {
                self.figures.push((figure.place, leaves.clone()));
            }
        }
    }

    /// The line of a table, or else of the nearest table around it.
    pub(super) fn table_place(&self, path: &[&str]) -> Place {
        let places = self.places.get_or_init(|| {
            let mut places: Vec<usize> = (0..self.tables.len()).collect();
            places.sort_by_key(|place| &self.tables[*place].0);
            places
        });
        let find = |path: &[&str]| {
            let own = |place: &usize| self.tables[*place].0.iter().map(String::as_str);
            let found = places.binary_search_by(|place| own(place).cmp(path.iter().copied()));
            found.ok().map(|at| self.tables[places[at]].1)
        };
        (1..=path.len()).rev().find_map(|length| find(&path[..length])).unwrap_or(Place::Line(1))
    }
}

/// The sections of tables by name.
const SECTIONS: [&str; 4] = ["nodes", "links", "flows", "agents"];

/// The error for a section with more tables than a scenario can have nodes, links or flows: none of it is read.
fn too_many(name: &str, at: Place, value: &DeValue<'_>) -> Option<Fault> {
    match value {
        DeValue::Table(table) if SECTIONS.contains(&name) => too_many_tables(name, at, table.len()),
        _ => None,
    }
}

fn too_many_tables(name: &str, at: Place, count: usize) -> Option<Fault> {
    let text = format!("{count} tables; expected at most {MOST} (a table with a count stands for many)");
    (count > MOST).then(|| Fault::new(at, name, text))
}

/// The same, found from the headers of tables, which are counted quickly and without memory. Within multi-line text
/// a line that looks like a header may not be one.
fn too_many_headers(text: &str) -> Option<Fault> {
    if text.contains("\"\"\"") || text.contains("'''") {
        return None;
    }
    let mut counts = SECTIONS.map(|_| (0, 0));
    for (line, header) in
        (1..).zip(text.lines()).filter_map(|(line, text)| Some((line, text.strip_prefix('[')?)))
    {
        let Some((section, name)) = header.split_once('.') else { continue };
        let is_whole = name.split_once(']').is_some_and(|(name, _)| is_name(name));
        if let Some(section) = SECTIONS.iter().position(|known| *known == section).filter(|_| is_whole) {
            let (count, first) = &mut counts[section];
            *count += 1;
            *first = if *first == 0 { line } else { *first };
        }
    }
    let tables = SECTIONS.iter().zip(counts);
    tables.into_iter().find_map(|(name, (count, first))| too_many_tables(name, Place::Line(first), count))
}

/// What an override of `sweep`, `sweep.KEY`, `sweep.zip` or `sweep.list` gives, as `[sweep]` of a file would have it;
/// `None` for an override of another key.
pub(super) fn sweep_override(index: usize, key: &str, text: &str) -> Option<Vec<Leaf>> {
    let rest = key.strip_prefix("sweep").filter(|rest| rest.is_empty() || rest.starts_with('.'))?;
    let raw = match Raw::from_override(text, index) {
        Raw::Text(text) => bare_list(&text, index).unwrap_or(Raw::Text(text)),
        raw => raw,
    };
    let place = Place::Set(index);
    match (rest.strip_prefix('.'), raw) {
        (None, Raw::Table(leaves)) => Some(sweep_leaves(&leaves)),
        (path, raw) => {
            let path = path.map_or_else(Vec::new, |path| path.split('.').map(str::to_string).collect());
            Some(sweep_leaves(&[Leaf { path, item: Item { raw, place } }]))
        }
    }
}

/// A list whose values have no quotes, which an override needs no more than a single value does.
pub(super) fn bare_list(text: &str, index: usize) -> Option<Raw> {
    let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    let item = |text: &str| Item { raw: Raw::from_override(text.trim(), index), place: Place::Set(index) };
    (!inner.contains(['[', '{'])).then(|| Raw::List(inner.split(',').map(item).collect()))
}

/// Flattens the tables of a sweep, so that quoted and bare dotted keys mean the same.
fn sweep_leaves(leaves: &[Leaf]) -> Vec<Leaf> {
    let mut flat = Vec::new();
    for leaf in leaves {
        match &leaf.item.raw {
            Raw::Table(_) | Raw::List(_) if leaf.path == ["zip"] || leaf.path == ["list"] => {
                flat.push(leaf.clone());
            }
            _ => flat.extend(flatten(std::slice::from_ref(leaf))),
        }
    }
    flat
}

/// The leaves below these, with their whole paths.
pub(super) fn flatten(leaves: &[Leaf]) -> Vec<Leaf> {
    let mut flat = Vec::new();
    for leaf in leaves {
        match &leaf.item.raw {
            Raw::Table(below) => flat.extend(flatten(below).into_iter().map(|inner| Leaf {
                path: [leaf.path.as_slice(), inner.path.as_slice()].concat(),
                item: inner.item,
            })),
            _ => flat.push(leaf.clone()),
        }
    }
    flat
}

impl Raw {
    /// What was found, for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Raw::Text(text) => format!("\"{}\"", text.escape_debug()),
            Raw::Number(number) => number.clone(),
            Raw::Bool(value) => value.to_string(),
            Raw::Date(date) => format!("the date {date}"),
            Raw::List(_) => "a list".to_string(),
            Raw::Table(_) => "a table".to_string(),
        }
    }

    /// Reads the value of an override: TOML if it is that, else plain text.
    pub(super) fn from_override(text: &str, index: usize) -> Raw {
        let lines = Lines { starts: Vec::new(), end: 0, fixed: Some(Place::Set(index)) };
        match DeValue::parse(text) {
            Ok(value) => lines.item(&value).raw,
            Err(_) => Raw::Text(text.to_string()),
        }
    }
}

/// Finds the line of an offset.
struct Lines {
    starts: Vec<usize>,
    end: usize,
    /// Set for text that is not part of the file.
    fixed: Option<Place>,
}

impl Lines {
    fn new(text: &str) -> Lines {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        Lines { starts, end: text.trim_end().len(), fixed: None }
    }

    fn at(&self, offset: usize) -> Place {
        self.fixed
            .unwrap_or_else(|| Place::Line(self.starts.partition_point(|start| *start <= offset).max(1)))
    }

    /// The entries of a table in the order of the file.
    fn entries<'a>(&self, table: &'a DeTable<'_>) -> Vec<(&'a str, Place, &'a Spanned<DeValue<'a>>)> {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        entries
            .into_iter()
            .map(|(key, value)| (key.get_ref().as_ref(), self.at(key.span().start), value))
            .collect()
    }

    fn item(&self, value: &Spanned<DeValue<'_>>) -> Item {
        let raw = match value.get_ref() {
            DeValue::String(text) => Raw::Text(text.to_string()),
            DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Raw::Number(number.to_string()),
                Err(_) => Raw::Number(number.as_str().to_string()),
            },
            DeValue::Float(number) => Raw::Number(number.as_str().to_string()),
            DeValue::Boolean(value) => Raw::Bool(*value),
            DeValue::Datetime(date) => Raw::Date(date.to_string()),
            DeValue::Array(items) => Raw::List(items.iter().map(|item| self.item(item)).collect()),
            DeValue::Table(table) => Raw::Table(self.leaves(table)),
        };
        Item { raw, place: self.at(value.span().start) }
    }

    fn leaves(&self, table: &DeTable<'_>) -> Vec<Leaf> {
        let leaf = |(name, place, value): (&str, Place, &Spanned<DeValue<'_>>)| {
            let mut item = self.item(value);
            // A table that only dotted keys and headers imply has no line of its own.
            if matches!(item.raw, Raw::Table(_)) {
                item.place = place;
            }
            Leaf { path: vec![name.to_string()], item }
        };
        self.entries(table).into_iter().map(leaf).collect()
    }

    fn syntax_fault(&self, error: &toml::de::Error) -> Fault {
        let offset = error.span().map_or(self.end, |span| span.start);
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        let (found, expected) = match message.split_once(", expected ") {
            Some((found, expected)) => (found, expected),
            None => (message.as_str(), "valid TOML"),
        };
        let ended = if offset >= self.end { " at the end of the file" } else { "" };
        Fault::new(self.at(offset.min(self.end)), "", format!("{found}{ended}; expected {expected}"))
    }
}
