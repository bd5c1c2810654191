//! All values of one point: settings, swept values and defaults, each with its origin.

use super::error::Place;
use super::hosted;
use super::keys::kinds::Kind;
use super::keys::{App, Chooser, Part};
use super::layout::{self, ByProfile, Keys, Presets, Section, SlotDefault, SlotOnly};
use super::members::MOST;
use super::placement;
use super::plan::{Plan, Setting};
use super::value::Value;
use lasthop_stack::hooks::parameter::Words;
use lasthop_stack::transport::tcp::Profile;
use std::borrow::Cow;

/// The values of one point by slot; a slot without a meaning at this point has none.
///
/// No value is copied: each is borrowed from what sets it, or from the form that has the default.
#[derive(Debug)]
pub(super) struct Sheet<'a> {
    pub(super) plan: &'a Plan,
    values: Vec<Option<&'a Value>>,
    /// Slots that must be set and are not.
    pub(super) missing: Vec<usize>,
    /// What the sweep sets at this point, by slot.
    swept: Vec<(usize, &'a Value)>,
    /// The tables whose members differ, in order; `values` has those of the first member.
    mixed: Vec<Mixed<'a>>,
}

/// A table that gives values to the members of its group in turn.
#[derive(Debug)]
struct Mixed<'a> {
    first: usize,
    /// The slots with lists, and the length of each.
    lists: Vec<(usize, usize)>,
    /// The values of the members by number; then they repeat.
    rows: Vec<Vec<Option<&'a Value>>>,
}

/// A value and where it comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell<'a> {
    pub(super) value: &'a Value,
    pub(super) from: From,
    pub(super) source: &'static str,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    File,
    Set,
    Sweep,
    Default,
    Profile(&'static str),
    /// It is that of another slot.
    Like(usize),
    /// It follows from the value of another slot.
    Slot(usize),
}

/// The content of a slot that has a meaning.
enum Found<'a> {
    Cell(Cell<'a>),
    Nothing,
    /// It must be set.
    Missing,
}

/// The transport of a flow's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Transport {
    Tcp,
    Udp,
    Quic,
}

/// What sets a slot, other than its default.
#[derive(Clone, Copy, Default)]
struct Given<'a> {
    swept: Option<&'a Value>,
    set: Option<&'a Setting>,
}

impl<'a> Given<'a> {
    /// The value in force, and where it comes from.
    fn cell(self) -> Option<Cell<'a>> {
        if let Some(value) = self.swept {
            return Some(Cell { value, from: From::Sweep, source: "" });
        }
        let Setting { value, place } = self.set?;
        let from = if matches!(place, Place::Set(_)) { From::Set } else { From::File };
        Some(Cell { value, from, source: "" })
    }

    /// The length of its list, if it has one.
    fn list(self) -> Option<usize> {
        match self.cell()?.value {
            Value::Each(values) => Some(values.len()),
            _ => None,
        }
    }
}

impl<'a> Sheet<'a> {
    /// The values at a point.
    pub(super) fn new(plan: &'a Plan, point: usize) -> Sheet<'a> {
        let mut swept: Vec<(usize, &Value)> = Vec::new();
        for (axis, row) in plan.axes.iter().zip(rows(plan, point)) {
            swept.extend(axis.slots.iter().copied().zip(axis.rows[row].iter().map(|(value, _)| value)));
        }
        swept.sort_by_key(|(slot, _)| *slot);
        let values = Vec::with_capacity(plan.layout.len());
        let mut sheet = Sheet { plan, values, missing: Vec::new(), swept, mixed: Vec::new() };
        let (mut sweeps, mut settings) = (0, plan.base.iter().peekable());
        for (section, table, first) in plan.layout.tables() {
            let mut lists = Vec::new();
            for place in 0..section.slots().len() {
                let slot = first + place;
                let mut given = Given::default();
                while let Some((_, value)) = sheet.swept.get(sweeps).filter(|(other, _)| *other == slot) {
                    (given.swept, sweeps) = (Some(*value), sweeps + 1);
                }
                if let Some((_, setting)) = settings.next_if(|(other, _)| **other == slot) {
                    given.set = Some(setting);
                }
                lists.extend(given.list().map(|length| (slot, length)));
                let found = sheet.found((section, table, first), place, given, (0, &sheet.values[first..]));
                if matches!(found, Found::Missing) {
                    sheet.missing.push(slot);
                }
                sheet.values.push(if let Found::Cell(cell) = found { Some(cell.value) } else { None });
            }
            if !lists.is_empty() {
                sheet.mix((section, table, first), lists);
            }
        }
        sheet
    }

    /// Adds a table with lists, whose first row is done.
    fn mix(&mut self, table: (Section, usize, usize), lists: Vec<(usize, usize)>) {
        let (section, _, first) = table;
        let count = lists.iter().fold(1, |all, (_, length)| (all * length / common(all, *length)).min(MOST));
        let mut rows = vec![self.values[first..].to_vec()];
        for number in 1..count {
            let mut row = Vec::with_capacity(rows[0].len());
            for place in 0..section.slots().len() {
                let slot = first + place;
                let found = self.found(table, place, self.given(slot), (number, &row));
                if matches!(found, Found::Missing) && !self.missing.contains(&slot) {
                    self.missing.push(slot);
                }
                row.push(if let Found::Cell(cell) = found { Some(cell.value) } else { None });
            }
            rows.push(row);
        }
        self.mixed.push(Mixed { first, lists, rows });
    }

    /// What sets a slot at this point.
    fn given(&self, slot: usize) -> Given<'a> {
        let swept = self.swept.iter().rfind(|(other, _)| *other == slot).map(|(_, value)| *value);
        Given { swept, set: self.plan.base.get(&slot) }
    }

    /// The table with this first slot, if its members differ.
    fn mixed(&self, first: usize) -> Option<&Mixed<'a>> {
        let found = self.mixed.binary_search_by_key(&first, |mixed| mixed.first);
        found.ok().map(|place| &self.mixed[place])
    }

    /// The number of members of a table after which values repeat.
    pub(super) fn kinds(&self, section: Section, table: usize) -> usize {
        self.mixed(self.plan.layout.first(section, table)).map_or(1, |mixed| mixed.rows.len())
    }

    /// Whether any table has lists for the members of its group.
    pub(super) fn has_lists(&self) -> bool {
        !self.mixed.is_empty()
    }

    /// The lists of a table, by slot, with their lengths.
    pub(super) fn lists(&self, section: Section, table: usize) -> &[(usize, usize)] {
        self.mixed(self.plan.layout.first(section, table)).map_or(&[], |mixed| &mixed.lists)
    }

    /// Whether a slot has a value, if only for some members.
    pub(super) fn is_used(&self, slot: usize) -> bool {
        self.at(slot).is_some() || (!self.mixed.is_empty() && self.every(slot).iter().any(Option::is_some))
    }

    /// The values of a slot, one for each kind of member.
    pub(super) fn every(&self, slot: usize) -> Vec<Option<&'a Value>> {
        let (_, _, place) = self.plan.layout.split(slot);
        match self.mixed(slot - place) {
            Some(mixed) => mixed.rows.iter().map(|row| row[place]).collect(),
            None => vec![self.at(slot)],
        }
    }

    /// The value of a slot.
    pub(super) fn at(&self, slot: usize) -> Option<&'a Value> {
        *self.values.get(slot)?
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.at(self.plan.layout.slot(key)?)
    }

    /// The keys of a table by its place in its section, and what they hold.
    pub(super) fn table(&self, section: Section, table: usize) -> Table<'_> {
        self.member(section, table, 0)
    }

    /// The same for a member of its group by number.
    pub(super) fn member(&self, section: Section, table: usize, number: usize) -> Table<'_> {
        let first = self.plan.layout.first(section, table);
        let row = self.mixed(first).map(|mixed| mixed.rows[number % mixed.rows.len()].as_slice());
        Table { sheet: self, keys: self.plan.layout.keys(section, table), first, row }
    }

    /// A slot's value with where it comes from; where members differ in it, their values in turn.
    pub(super) fn cell(&self, slot: usize) -> Option<(Cow<'a, Value>, Cell<'a>)> {
        let (section, table, place) = self.plan.layout.split(slot);
        let (first, given) = (slot - place, self.given(slot));
        let of = |number: usize, row: &[Option<&'a Value>]| match self.found(
            (section, table, first),
            place,
            given,
            (number, row),
        ) {
            Found::Cell(cell) => Some(cell),
            Found::Nothing | Found::Missing => None,
        };
        let Some(mixed) = self.mixed(first) else {
            return of(0, &self.values[first..]).map(|cell| (Cow::Borrowed(cell.value), cell));
        };
        let cells: Vec<_> = mixed.rows.iter().enumerate().map(|(number, row)| of(number, row)).collect();
        let cell = cells.iter().flatten().next().copied()?;
        if let Some(given) = given.cell() {
            return Some((Cow::Borrowed(given.value), given));
        }
        let values: Vec<_> = cells.iter().map(|cell| cell.map(|cell| cell.value)).collect();
        if values.iter().flatten().all(|value| *value == cell.value) {
            return Some((Cow::Borrowed(cell.value), cell));
        }
        let value = |value: Option<&Value>| value.cloned().unwrap_or(Value::Text("-".to_string()));
        Some((Cow::Owned(Value::Each(values.into_iter().map(value).collect())), cell))
    }

    /// The transport of a flow with this kind of source.
    pub(super) fn transport(&self, flow: usize, kind: Option<&Value>) -> Transport {
        match self.plan.transports[flow] {
            [true, _, _] => Transport::Tcp,
            [_, true, _] => Transport::Udp,
            [_, _, true] => Transport::Quic,
            [false, false, false] => {
                let reliable = kind.is_none_or(|kind| kind.choice().is_some_and(App::is_reliable));
                if reliable { Transport::Tcp } else { Transport::Udp }
            }
        }
    }

    /// Whether a key has a meaning in a table with these values so far: all conditions of its definition hold.
    fn has_meaning(&self, number: usize, row: &[Option<&'a Value>], slot: &layout::Slot) -> bool {
        let at = |place: usize| row[place];
        slot.only.iter().all(|only| match only {
            SlotOnly::Is(other, values) => {
                at(*other).is_some_and(|value| values.iter().any(|word| value.is(word)))
            }
            SlotOnly::Law(places, law) => {
                places.iter().any(|place| at(*place).is_some_and(|value| value.has(law)))
            }
            SlotOnly::Given(other) => at(*other).is_some(),
            SlotOnly::Without(other) => at(*other).is_none(),
            SlotOnly::Tcp(kind) => self.transport(number, at(*kind)) == Transport::Tcp,
            SlotOnly::Udp(kind) => self.transport(number, at(*kind)) == Transport::Udp,
            SlotOnly::Quic(kind) => self.transport(number, at(*kind)) == Transport::Quic,
        })
    }

    /// The content at a place of a table for a member of it. The table is given by its section, its place there and its
    /// first slot, the member by its number and its values at earlier places.
    fn found(
        &self,
        table: (Section, usize, usize),
        place: usize,
        given: Given<'a>,
        (member, row): (usize, &[Option<&'a Value>]),
    ) -> Found<'a> {
        let (section, number, first) = table;
        let slot = &section.slots()[place];
        let at = |place: usize| row[place];
        if !self.has_meaning(number, row, slot) {
            return Found::Nothing;
        }
        if let Some(cell) = given.cell() {
            return Found::Cell(Cell { value: cell.value.of_member(member), ..cell });
        }
        let source = slot.def.source;
        let cell = |value, from| Some(Cell { value, from, source });
        let found = match &slot.default {
            SlotDefault::Required => return Found::Missing,
            SlotDefault::Absent => None,
            SlotDefault::Always(value) => cell(value, From::Default),
            SlotDefault::Like(other, own) => match at(*other) {
                Some(value) => cell(value, From::Like(first + other)),
                None => own.as_ref().and_then(|value| cell(value, From::Default)),
            },
            SlotDefault::Profile { profile, values } => of_profile(at(*profile), values),
            SlotDefault::Variant { variant, part, values, named } => {
                let own = named.filter(|(name, _)| at(*variant).is_some_and(|variant| variant.is(name)));
                match own {
                    Some((_, key)) => at(key).and_then(|value| cell(value, From::Like(first + key))),
                    None => of_variant(at(*variant), *part, values, From::Slot(first + variant)),
                }
            }
            SlotDefault::Preset { kind, words, presets, otherwise, unplaced, managed } => {
                let limit = managed.as_ref().and_then(|(law, limits)| {
                    let (_, value, source) =
                        limits.iter().find(|it| at(*law).is_some_and(|law| law.is(it.0)))?;
                    Some(Cell { value, from: From::Slot(first + law), source })
                });
                if limit.is_some() {
                    limit
                } else if at(*kind).and_then(Value::choice) == Some(Kind::Wifi) {
                    let unplaced = unplaced.as_ref().filter(|(nodes, _)| !self.is_any_placed(at(*nodes)));
                    match unplaced {
                        Some((_, value)) => cell(value, From::Default),
                        None => of_preset(words.map(at), presets).map(|(value, word, source)| Cell {
                            value,
                            from: From::Slot(first + words[word]),
                            source,
                        }),
                    }
                } else {
                    let Some(value) = otherwise else { return Found::Missing };
                    cell(value, From::Default)
                }
            }
            SlotDefault::Follows { key, value, then, or } => {
                let follows = at(*key).is_some_and(|found| found.is_written(value));
                if follows { cell(then, From::Slot(first + key)) } else { cell(or, From::Default) }
            }
            SlotDefault::Unless { profile, values, key, unless, then } => of_profile(at(*profile), values)
                .map(|cell| {
                    let found = at(*key).filter(|_| unless.concerns(at(*profile)));
                    match found.and_then(|value| unless.case(value)) {
                        Some(place) if *cell.value != then[place] => Cell {
                            value: &then[place],
                            from: From::Slot(first + key),
                            source: unless.cases[place].source,
                        },
                        _ => cell,
                    }
                }),
        };
        found.map_or(Found::Nothing, Found::Cell)
    }

    /// Whether any of these nodes has a position.
    fn is_any_placed(&self, nodes: Option<&Value>) -> bool {
        let Some(Value::List(nodes)) = nodes else { return false };
        nodes.iter().any(|node| match node {
            Value::Text(node) => placement::is_given(self, node),
            _ => false,
        })
    }

    /// Where a cell comes from, in words.
    pub(super) fn origin(&self, from: From) -> String {
        match from {
            From::File => "file".to_string(),
            From::Set => "set".to_string(),
            From::Sweep => "sweep".to_string(),
            From::Default => "default".to_string(),
            From::Profile(name) => format!("profile {name}"),
            From::Like(slot) => self.plan.layout.key(slot),
            From::Slot(slot) => {
                let key = self.plan.layout.key(slot);
                let word = key.rsplit('.').next().unwrap_or(&key);
                match self.at(slot) {
                    Some(value) => format!("{word} {}", value.text()),
                    None => word.to_string(),
                }
            }
        }
    }
}

/// The keys of one table, or those of them below one name, with their values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a> {
    pub(super) sheet: &'a Sheet<'a>,
    keys: Keys,
    first: usize,
    /// The values of a member, where members differ.
    row: Option<&'a [Option<&'a Value>]>,
}

impl<'a> Table<'a> {
    /// The value of a key, given by what follows the name of the table.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        let slot = self.keys.slot(key)?;
        self.row.map_or_else(|| self.sheet.at(slot), |row| row[slot - self.first])
    }

    /// The keys below a name that is not itself a key.
    pub(super) fn below(&self, name: &'static str) -> Table<'a> {
        Table { keys: self.keys.below(name), ..*self }
    }

    /// The whole of a key, for messages.
    pub(super) fn key(&self, key: &str) -> String {
        self.keys.slot(key).map_or_else(|| key.to_string(), |slot| self.sheet.plan.layout.key(slot))
    }
}

/// The greatest common divisor of two positive numbers.
fn common(one: usize, other: usize) -> usize {
    if other == 0 { one } else { common(other, one % other) }
}

fn of_profile<'a>(profile: Option<&Value>, values: &'a ByProfile) -> Option<Cell<'a>> {
    let profile = profile?.choice::<Profile>()?;
    let (value, source) = match profile {
        Profile::Ns2Of2004 => &values.ns2,
        Profile::Rfc => &values.rfc,
        Profile::Modern => &values.modern,
    };
    Some(Cell { value, from: From::Profile(profile.word()), source })
}

/// The values of the variant that this place names.
fn of_variant<'a>(
    variant: Option<&Value>,
    part: Part,
    values: &'a [(&'static str, Value, &'static str)],
    from: From,
) -> Option<Cell<'a>> {
    let name = variant?;
    if let Some((_, value, source)) = values.iter().find(|value| name.is(value.0)) {
        return Some(Cell { value, from, source });
    }
    let Value::Text(name) = name else { return None };
    let (recovery, congestion) = hosted::of_variant(name)?;
    let value = if part == Part::Recovery { recovery } else { congestion };
    Some(Cell { value, from, source: "the host" })
}

/// The default under the words of standard, flavour and radio, which of these it comes from, and where it is published.
fn of_preset<'a>(
    words: [Option<&Value>; 3],
    presets: &'a Presets,
) -> Option<(&'a Value, usize, &'static str)> {
    let [standard, flavour, radio] = words;
    let (value, chooser, source) = presets.of(standard?.choice()?, flavour?.choice()?, radio?.choice()?)?;
    let word = match chooser {
        Chooser::Standard => 0,
        Chooser::Flavour => 1,
        Chooser::Radio => 2,
    };
    Some((value, word, source))
}

/// The row of each axis at a point: the first axis is the slowest.
pub(super) fn rows(plan: &Plan, point: usize) -> Vec<usize> {
    let mut rest = point;
    let mut rows = vec![0; plan.axes.len()];
    for (row, axis) in rows.iter_mut().zip(&plan.axes).rev() {
        let count = axis.rows.len().max(1);
        *row = rest % count;
        rest /= count;
    }
    rows
}

/// The place of the setting that sets a slot at a point, if any.
pub(super) fn place(plan: &Plan, slot: usize, point: usize) -> Option<Place> {
    let swept = plan.axes.iter().zip(rows(plan, point)).find_map(|(axis, row)| {
        let column = axis.slots.iter().position(|other| *other == slot)?;
        Some(axis.rows[row][column].1)
    });
    swept.or_else(|| plan.base.get(&slot).map(|setting| setting.place))
}
