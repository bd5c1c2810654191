//! Groups whose members differ.

use super::Check;
use crate::model::{Config, FlowConfig, NodeConfig};
use crate::scenario::error::Fault;
use crate::scenario::layout::Section;
use crate::scenario::members::Members;
use crate::scenario::sheet::Sheet;

impl Check<'_> {
    /// Checks each node by number. A group has the faults of one member, whichever is wrong.
    pub(super) fn each_node(&mut self, config: &Config, check: impl Fn(&mut Self, usize, &NodeConfig)) {
        let mut found = self.faults.len();
        let mut last = None;
        for (number, node) in config.nodes.iter().enumerate() {
            if last.replace(node.table()) != Some(node.table()) {
                found = self.faults.len();
            }
            if self.faults.len() == found {
                check(self, number, node);
            }
        }
    }

    /// What a group of flows cannot have, and how many members the lists of each group are for.
    pub(super) fn groups(&mut self, config: &Config, members: &Members, sheet: &Sheet<'_>) {
        for group in config.flows.chunk_by(|one, other| one.table() == other.table()) {
            if group.iter().any(|flow| flow.is_probe() != group[0].is_probe()) {
                let text =
                    "\"ping\" beside other sources; expected it for all flows of the group, or for none";
                self.fault(&format!("flows.{}.app.kind", group[0].table()), text.to_string());
            }
        }
        if !sheet.has_lists() {
            return;
        }
        for (table, name) in self.plan.layout.nodes.iter().enumerate() {
            let count = members.nodes.iter().filter(|node| node.name.table() == name).count();
            self.lists(Section::Nodes, table, count, sheet);
        }
        for table in 0..self.plan.layout.links.len() {
            let count = members.links.iter().filter(|link| link.table == table).count();
            self.lists(Section::Links, table, count, sheet);
        }
        for table in 0..self.plan.layout.flows.len() {
            let count = members.flows.iter().filter(|flow| flow.table == table).count();
            self.lists(Section::Flows, table, count, sheet);
        }
    }

    fn lists(&mut self, section: Section, table: usize, count: usize, sheet: &Sheet<'_>) {
        for &(slot, length) in sheet.lists(section, table) {
            let place = self.place(&self.plan.layout.key(slot));
            let (_, most) = self.lists.entry((slot, place)).or_insert((length, 0));
            *most = count.max(*most);
        }
    }

    /// Lists that are longer than their group at every point.
    pub(in super::super) fn spare(&mut self) {
        for ((slot, place), (length, most)) in std::mem::take(&mut self.lists) {
            if length > most {
                let text =
                    format!("a list of {length} for a group of {most}; expected at most {most} values");
                self.remarks.push(Fault::new(place, self.plan.layout.key(slot), text));
            }
        }
    }
}

/// The flows of which the others of their tables are copies with other ends.
pub(super) fn different<'c>(config: &'c Config, sheet: &Sheet<'_>) -> Vec<&'c FlowConfig> {
    let groups = config.flows.chunk_by(|one, other| one.table() == other.table());
    let kinds = |name: &str| {
        sheet.plan.layout.flows.place(name).map_or(1, |table| sheet.kinds(Section::Flows, table))
    };
    groups.flat_map(|group| group.iter().take(kinds(group[0].table()))).collect()
}
