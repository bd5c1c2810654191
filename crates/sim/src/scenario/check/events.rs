//! Checks of outages and of hand-offs.

use super::{Check, secs};
use crate::medium::outages::{HandoffLaw, OutageLaw};
use crate::model::{Config, HandoffConfig};
use crate::net::handoffs::dead_end;
use crate::scenario::build::events::{handoff_script, outage_script};
use crate::scenario::sheet::Sheet;
use crate::scenario::value::Value;
use lasthop_stack::units::Span;

impl Check<'_> {
    /// Outages of links, and hand-offs of nodes.
    pub(super) fn events(&mut self, config: &Config, sheet: &Sheet<'_>) {
        for members in config.links.chunk_by(|one, other| one.table() == other.table()) {
            let name = members[0].table();
            let Some(outages) = &members[0].outages else { continue };
            self.script(&format!("links.{name}.outages.script"), sheet, |text| outage_script(text).err());
            if let OutageLaw::Periodic { every, lasts, .. } = outages.law
                && lasts >= every
            {
                let text = format!(
                    "{} of every {}; expected less than outages.periodic.every",
                    secs(lasts),
                    secs(every)
                );
                self.fault(&format!("links.{name}.outages.periodic.for"), text);
            }
        }
        let mut tables = Vec::new();
        for (number, node) in config.nodes.iter().enumerate() {
            let name = node.group.as_deref().unwrap_or(&node.name);
            let key = |below: &str| format!("nodes.{name}.handoff.{below}");
            if sheet.get(&key("law")).is_none() {
                continue;
            }
            match &node.handoff {
                None => {
                    let text = "a group of links; expected the name of one link".to_string();
                    self.fault(&key("from"), text);
                }
                Some(handoff) => self.handoff(name, (number, handoff), config),
            }
            if tables.last() != Some(&name) {
                tables.push(name);
                self.script(&key("script"), sheet, |text| handoff_script(text).err());
            }
        }
    }

    fn script(&mut self, key: &str, sheet: &Sheet<'_>, wrong: impl Fn(&str) -> Option<String>) {
        if let Some(Value::Text(text)) = sheet.get(key)
            && let Some(wrong) = wrong(text)
        {
            self.fault(key, wrong);
        }
    }

    fn handoff(&mut self, name: &str, (node, handoff): (usize, &HandoffConfig), config: &Config) {
        let key = |below: &str| format!("nodes.{name}.handoff.{below}");
        let [from, to] = handoff.links;
        let of = |link: usize| config.links[link].name.as_str();
        if from == to {
            self.fault(&key("to"), format!("\"{}\" is also handoff.from; expected another link", of(to)));
            return;
        }
        for (link, below) in [(from, "from"), (to, "to")] {
            if !config.nodes_of(link).contains(&node) {
                let text = format!(
                    "\"{}\" is not a link of {}; expected a link that has it among its nodes",
                    of(link),
                    config.nodes[node].name
                );
                self.fault(&key(below), text);
            }
            if !config.links[link].kind.takes_handoffs() {
                let text = format!("\"{}\" is of kind frn; expected a link to one station", of(link));
                self.fault(&key(below), text);
            }
        }
        let least = match &handoff.law {
            HandoffLaw::Periodic { every, .. } => Some(*every),
            HandoffLaw::Script(times) => times.windows(2).map(|pair| pair[1].since(pair[0])).min(),
            HandoffLaw::Random { .. } => None,
        };
        if least.is_some_and(|least: Span| least <= handoff.gap) {
            let text = format!("{}, and hand-offs as close as that; expected less", secs(handoff.gap));
            self.fault(&key("gap"), text);
        }
        if let Some((peer, old)) = dead_end(config, node) {
            let [peer, old, mobile] = [peer, old, node].map(|node| config.nodes[node].name.as_str());
            let text = format!(
                "\"{old}\" drops all packets from {peer} to {mobile} at the other station, as they lead over it; \"forwarded\" passes them on"
            );
            self.remark(&key("late"), text);
        }
    }
}
