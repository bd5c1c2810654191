//! The directions of flows: what has the metrics of a flow.

use crate::model::{Config, FlowConfig, TransportConfig};

/// Data in one direction: a flow, or the reverse data of its connection.
pub(super) struct Direction<'a> {
    pub(super) flow: &'a FlowConfig,
    /// The place of the flow in the scenario.
    pub(super) number: usize,
    pub(super) is_reverse: bool,
    /// The prefix of its metrics.
    pub(super) name: String,
    /// The same of the group it belongs to.
    pub(super) group: Option<String>,
}

impl Direction<'_> {
    /// The number of the end that sends.
    pub(super) fn end(&self) -> usize {
        2 * self.number + usize::from(self.is_reverse)
    }

    pub(super) fn is_probe(&self) -> bool {
        self.flow.is_probe()
    }

    pub(super) fn is_tcp(&self) -> bool {
        matches!(self.flow.transport, TransportConfig::Tcp(_))
    }
}

/// The directions of all flows, in the order of their samples.
pub(super) fn directions(config: &Config) -> Vec<Direction<'_>> {
    let mut directions = Vec::new();
    for (number, flow) in config.flows.iter().enumerate() {
        let ways = if flow.reverse.is_some() { &["", ".reverse"][..] } else { &[""] };
        directions.extend(ways.iter().map(|way| {
            let name = |flow: &String| format!("flows.{flow}{way}");
            let group = flow.group.as_ref().map(name);
            Direction { flow, number, is_reverse: !way.is_empty(), name: name(&flow.name), group }
        }));
    }
    directions
}
