//! The nodes, links and flows of one point; a table may define a whole group of them.
//!
//! A table of nodes with a `count` is a group, whose members are named by its name and a number from 1. A wired link or
//! a flow that names a group is also a group, whose members join those of its two ends in order. If one end has fewer
//! nodes than the other, each of them is used several times in succession. A medium that names a group has all its
//! nodes.

mod nodes;

use super::error::ENOUGH_FAULTS;
use super::keys::kinds::{ENDS, Kind};
use super::layout::Section;
use super::nearest::unknown;
use super::roster::Roster;
use super::sheet::{Sheet, Table};
use super::value::Value;
use crate::engine::streams::Stream;
use crate::medium::motion::Motion;
use lasthop_stack::units::Metres;
use std::collections::BTreeSet;
use std::ops::Range;

/// More nodes, links or flows than this are considered a mistake.
pub(super) const MOST: usize = 10_000;

/// All nodes, links and flows of a point.
#[derive(Clone, Debug, Default)]
pub(super) struct Members {
    pub(super) nodes: Vec<Node>,
    pub(super) links: Vec<Link>,
    pub(super) flows: Vec<Flow>,
}

/// A node, link or flow by its name.
#[expect(clippy::struct_field_names, reason = "a name has a name and a place in a group")]
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) name: String,
    /// The group it belongs to.
    pub(super) group: Option<String>,
    /// Its number among the members of the group, counted from 0.
    pub(super) number: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) name: Name,
    pub(super) position: Option<(Metres, Metres)>,
    pub(super) motion: Option<Motion>,
}

/// Nodes are numbered by their place in [`Members::nodes`].
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) name: Name,
    /// The place of its table.
    pub(super) table: usize,
    pub(super) nodes: Vec<usize>,
    pub(super) access_point: Option<usize>,
    /// The station whose airtime ledger is requested.
    pub(super) observer: Option<usize>,
    /// The station that its outages concern, if one alone.
    pub(super) silenced: Option<usize>,
    /// The station whose frames a list of losses counts.
    pub(super) counted: Option<usize>,
    /// The stations at which frames are lost, if not at all of them.
    pub(super) lossy: Option<Vec<usize>>,
}

#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) name: Name,
    /// The place of its table.
    pub(super) table: usize,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// A key and what is wrong with it.
pub(super) type Astray = (String, String);

impl Members {
    /// The members at a point whose sheet is complete; or all errors in them.
    pub(super) fn of(sheet: &Sheet<'_>) -> Result<Members, Vec<Astray>> {
        let mut reader =
            Reader { sheet, members: Members::default(), nodes: Tables::default(), faults: Vec::new() };
        reader.all_nodes();
        if reader.faults.is_empty() {
            let links = reader.all_links();
            let flows = reader.all_flows();
            reader.agents(&links, &flows);
        }
        if reader.faults.is_empty() { Ok(reader.members) } else { Err(reader.faults) }
    }

    /// The names of all links and flows, which name the metrics.
    pub(super) fn measured(&self) -> Vec<&str> {
        let links = self.links.iter().map(|link| &link.name);
        links.chain(self.flows.iter().map(|flow| &flow.name)).map(|name| name.name.as_str()).collect()
    }
}

impl Name {
    fn single(name: &str) -> Name {
        Name { name: name.to_string(), group: None, number: 0 }
    }

    /// The name of the table that describes it.
    pub(super) fn table(&self) -> &str {
        self.group.as_deref().unwrap_or(&self.name)
    }

    /// Member `number`, counted from 0.
    fn member(group: &str, number: usize) -> Name {
        Name { name: format!("{group}{}", number + 1), group: Some(group.to_string()), number }
    }

    /// Those of a table: one of its own name, or members if it is a group.
    fn all(table: &str, count: usize, is_group: bool) -> impl Iterator<Item = Name> {
        let name = move |number| if is_group { Name::member(table, number) } else { Name::single(table) };
        (0..count).map(name)
    }
}

/// What the tables of a section define: members by their names, and those of each table.
#[derive(Debug, Default)]
struct Tables {
    members: Roster,
    ranges: Vec<Range<usize>>,
    is_group: Vec<bool>,
}

impl Tables {
    /// Adds the next table; the error is the name that is already in use.
    fn add(&mut self, names: &[&Name], is_group: bool) -> Result<(), String> {
        let begin = self.members.len();
        for name in names {
            if !self.members.add(name.name.clone()) {
                return Err(format!("\"{}\" twice; expected different names", name.name));
            }
        }
        self.ranges.push(begin..begin + names.len());
        self.is_group.push(is_group);
        Ok(())
    }

    /// The members that a name denotes, and whether they are a group; an error is `found; expected`.
    fn find(&self, what: &str, roster: &Roster, name: &str) -> Result<(Range<usize>, bool), String> {
        if let Some(table) = roster.place(name) {
            return Ok((self.ranges[table].clone(), self.is_group[table]));
        }
        if let Some(place) = self.members.place(name) {
            return Ok((place..place + 1, false));
        }
        let mut groups = roster.groups_of(name).map(|(table, _)| table);
        // Later tables may not have been read yet.
        let Some(table) = groups.find(|table| self.is_group.get(*table) == Some(&true)) else {
            let known: Vec<&str> = roster.iter().map(String::as_str).collect();
            return Err(unknown(what, name, &known));
        };
        let (group, count) = (&roster[table], self.ranges[table].len());
        Err(format!(
            "\"{name}\" does not exist, {group} has {count} members; expected {group}1 to {group}{count}"
        ))
    }
}

struct Reader<'a> {
    sheet: &'a Sheet<'a>,
    members: Members,
    nodes: Tables,
    faults: Vec<Astray>,
}

impl<'a> Reader<'a> {
    /// Whether the limit of reported errors is reached, so that checking ends.
    fn gives_up(&self) -> bool {
        self.faults.len() > ENOUGH_FAULTS
    }

    fn fault(&mut self, key: impl Into<String>, text: impl Into<String>) {
        self.faults.push((key.into(), text.into()));
    }

    /// Whether this many more can be added.
    fn fits(&mut self, there: usize, more: usize, table: Table<'_>, key: &str) -> bool {
        let all = there.saturating_add(more);
        if all > MOST {
            self.fault(table.key(key), format!("{all} in total; expected at most {MOST}"));
        }
        all <= MOST
    }

    /// A table that is not a group has no lists.
    fn one_of_each(&mut self, section: Section, table: usize, name: &str) {
        let layout = &self.sheet.plan.layout;
        for (slot, _) in self.sheet.lists(section, table) {
            let expected = layout.def(*slot).expected(None);
            let text = format!("a list, and \"{name}\" is not a group; expected {expected}");
            self.fault(layout.key(*slot), text);
        }
    }

    /// The nodes that a value names, and whether they are a group.
    fn named(&mut self, table: Table<'_>, key: &str, name: &Value) -> Option<(Range<usize>, bool)> {
        match self.nodes.find("node", &self.sheet.plan.layout.nodes, &name.text()) {
            Ok(found) => Some(found),
            Err(text) => {
                self.fault(table.key(key), text);
                None
            }
        }
    }

    fn all_links(&mut self) -> Tables {
        let mut tables = Tables::default();
        for (table, name) in self.sheet.plan.layout.links.iter().enumerate() {
            if self.gives_up() {
                break;
            }
            let link = self.sheet.table(Section::Links, table);
            let Some(Value::List(values)) = link.get("nodes") else { continue };
            let ends: Option<Vec<_>> = values.iter().map(|value| self.named(link, "nodes", value)).collect();
            let Some(ends) = ends else { continue };
            let kind = link.get("kind").and_then(Value::choice::<Kind>);
            let links = if kind.is_some_and(|kind| !kind.has(ENDS)) {
                self.medium((table, link), name, ends)
            } else {
                self.cables((table, link), name, &ends)
            };
            let names: Vec<&Name> = links.iter().map(|link| &link.name).collect();
            let is_group = links.iter().any(|link| link.name.group.is_some());
            if links.len() == 1 && !is_group {
                self.one_of_each(Section::Links, table, name);
            }
            if let Err(text) = tables.add(&names, is_group) {
                self.fault(format!("links.{name}"), text);
            } else if self.fits(self.members.links.len(), links.len(), link, "nodes") {
                self.members.links.extend(links);
            }
        }
        tables
    }

    fn too_few(&mut self, link: Table<'_>, found: usize) {
        let names = "the names of two or more nodes such as [\"a\", \"b\"]";
        self.fault(link.key("nodes"), format!("{found} names; expected {names}"));
    }

    fn medium(
        &mut self,
        (table, link): (usize, Table<'a>),
        name: &str,
        ends: Vec<(Range<usize>, bool)>,
    ) -> Vec<Link> {
        let nodes: Vec<usize> = ends.into_iter().flat_map(|(range, _)| range).collect();
        let mut seen = BTreeSet::new();
        if let Some(twice) = nodes.iter().find(|node| !seen.insert(**node)) {
            let text =
                format!("\"{}\" twice; expected different nodes", self.members.nodes[*twice].name.name);
            self.fault(link.key("nodes"), text);
        } else if nodes.len() < 2 {
            self.too_few(link, nodes.len());
        }
        let access_point = self.one_node(link, "access-point", "none");
        let observer = self.one_node(link, "observer", "auto");
        let counted = self.one_node(link, "loss.list.from", "");
        self.stations(link, "loss.list.from", &seen, counted.as_slice());
        let lossy = self.several_nodes(link, "loss.at");
        self.stations(link, "loss.at", &seen, lossy.as_deref().unwrap_or_default());
        let silenced = self.one_node(link, "outages.node", "");
        self.stations(link, "outages.node", &seen, silenced.as_slice());
        let name = Name::single(name);
        vec![Link { name, table, nodes, access_point, observer, silenced, counted, lossy }]
    }

    /// Nodes that a key names must be stations of the link.
    fn stations(&mut self, link: Table<'a>, key: &str, stations: &BTreeSet<usize>, named: &[usize]) {
        let Some(stranger) = named.iter().find(|node| !stations.contains(node)) else { return };
        let name = |node: &usize| self.members.nodes[*node].name.name.as_str();
        let known: Vec<&str> = stations.iter().map(name).collect();
        let text = unknown("station of the link", name(stranger), &known);
        self.fault(link.key(key), text);
    }

    /// The nodes that a list of names denotes; `None` if it is a word instead.
    fn several_nodes(&mut self, link: Table<'a>, key: &str) -> Option<Vec<usize>> {
        let Some(Value::List(names)) = link.get(key) else { return None };
        let ranges: Vec<_> = names.iter().filter_map(|name| self.named(link, key, name)).collect();
        Some(ranges.into_iter().flat_map(|(range, _)| range).collect())
    }

    /// The one node that a key names, unless its value is a word instead of a name.
    fn one_node(&mut self, link: Table<'a>, key: &str, word: &str) -> Option<usize> {
        let value = link.get(key).filter(|value| !value.is(word))?;
        let (range, _) = self.named(link, key, value)?;
        if range.len() != 1 {
            let text = format!("\"{}\" is {} nodes; expected one", value.text(), range.len());
            self.fault(link.key(key), text);
            return None;
        }
        Some(range.start)
    }

    fn cables(
        &mut self,
        (table, link): (usize, Table<'a>),
        name: &str,
        ends: &[(Range<usize>, bool)],
    ) -> Vec<Link> {
        // The check reports more than two.
        let [from, to, ..] = ends else {
            self.too_few(link, ends.len());
            return Vec::new();
        };
        let Some(pairs) = self.pairs(link, "nodes", &from.0, &to.0) else { return Vec::new() };
        if let Some((node, _)) = pairs.iter().find(|(one, other)| one == other) {
            let text =
                format!("\"{}\" at both ends; expected different nodes", self.members.nodes[*node].name.name);
            self.fault(link.key("nodes"), text);
        }
        let names = Name::all(name, pairs.len(), from.1 || to.1);
        let link = |(name, (one, other))| {
            let nodes = vec![one, other];
            Link {
                name,
                table,
                nodes,
                access_point: None,
                observer: None,
                silenced: None,
                counted: None,
                lossy: None,
            }
        };
        names.zip(pairs).map(link).collect()
    }

    /// Joins two lists of nodes in order: each node of the shorter one with equally many consecutive nodes of the
    /// other.
    fn pairs(
        &mut self,
        table: Table<'_>,
        key: &str,
        from: &Range<usize>,
        to: &Range<usize>,
    ) -> Option<Vec<(usize, usize)>> {
        let (fewer, more) = (from.len().min(to.len()), from.len().max(to.len()));
        if fewer == 0 {
            return Some(Vec::new());
        }
        if !more.is_multiple_of(fewer) {
            let text = format!(
                "{} nodes and {} nodes; expected one number to be a multiple of the other",
                from.len(),
                to.len()
            );
            self.fault(table.key(key), text);
            return None;
        }
        let of = |end: &Range<usize>, pair: usize| end.start + pair / (more / end.len());
        Some((0..more).map(|pair| (of(from, pair), of(to, pair))).collect())
    }

    fn all_flows(&mut self) -> Tables {
        let mut tables = Tables::default();
        for (table, name) in self.sheet.plan.layout.flows.iter().enumerate() {
            if self.gives_up() {
                break;
            }
            let keys = self.sheet.table(Section::Flows, table);
            let ends = ["from", "to"].map(|end| {
                let value = keys.get(end)?;
                self.named(keys, end, value)
            });
            let [Some(from), Some(to)] = ends else { continue };
            let count = keys.get("count").and_then(Value::count);
            let pairs = match count {
                Some(count) => self.random_pairs((name, keys), count, &from.0, &to.0),
                None => self.pairs(keys, "to", &from.0, &to.0),
            };
            let Some(pairs) = pairs else { continue };
            let is_group = from.1 || to.1 || count.is_some();
            if !is_group {
                self.one_of_each(Section::Flows, table, name);
            }
            let names: Vec<Name> = Name::all(name, pairs.len(), is_group).collect();
            if let Err(text) = tables.add(&names.iter().collect::<Vec<_>>(), is_group) {
                self.fault(format!("flows.{name}"), text);
            } else if self.fits(self.members.flows.len(), pairs.len(), keys, "to") {
                let flow = |(name, (from, to))| Flow { name, table, from, to };
                self.members.flows.extend(names.into_iter().zip(pairs).map(flow));
            }
        }
        tables
    }

    /// Random pairs of different nodes. A pair does not depend on how many others there are.
    fn random_pairs(
        &mut self,
        (name, flow): (&str, Table<'_>),
        count: u64,
        from: &Range<usize>,
        to: &Range<usize>,
    ) -> Option<Vec<(usize, usize)>> {
        if from.len() == 1 && from == to {
            self.fault(format!("flows.{name}.to"), "also the only sender; expected another node");
            return None;
        }
        if from.is_empty() || to.is_empty() {
            return Some(Vec::new());
        }
        let seed = flow.get("seed").and_then(Value::count).unwrap_or(1);
        let mut stream = Stream::named(seed, 0, &format!("flows.{name}.ends"));
        let mut draw = |end: &Range<usize>| end.start + drawn(&mut stream, end.len());
        let mut pairs = Vec::new();
        for _ in 0..count {
            pairs.push(loop {
                let pair = (draw(from), draw(to));
                if pair.0 != pair.1 {
                    break pair;
                }
            });
        }
        Some(pairs)
    }

    /// Agents may name nodes, links and flows that are members of a group.
    fn agents(&mut self, links: &Tables, flows: &Tables) {
        let layout = &self.sheet.plan.layout;
        // If a flow is invalid the others cannot be numbered.
        if !self.faults.is_empty() {
            return;
        }
        for table in 0..layout.agents.len() {
            let agent = self.sheet.table(Section::Agents, table);
            if let Some(node) = agent.get("node") {
                self.named(agent, "node", node);
            }
            if let Some(link) = agent.get("link")
                && let Err(text) = links.find("link", &layout.links, &link.text())
            {
                self.fault(agent.key("link"), text);
            }
            let Some(Value::List(names)) = agent.get("flows") else { continue };
            for name in names {
                if self.gives_up() {
                    break;
                }
                if let Err(text) = flows.find("flow", &layout.flows, &name.text()) {
                    self.fault(agent.key("flows"), text);
                }
            }
        }
    }
}

/// An index below `count`, uniform to within `count` parts in 2^53.
fn drawn(stream: &mut Stream, count: usize) -> usize {
    ((stream.uniform() * count as f64) as usize).min(count - 1)
}
