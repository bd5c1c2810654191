//! The names of flows in traces and logs.

use lasthop_stack::hooks::Judge;
use lasthop_stack::registry::CongestionKind;

use crate::model::{Config, FlowConfig, QuicStack, TransportConfig};

/// The names of the two ends of each flow in traces. The receiving end has a window and round trips too: those of the
/// reverse data, or of its SYN and FIN. The paths of flows that have several follow.
pub(in crate::run) fn trace_names(config: &Config) -> Vec<String> {
    let names = |flow: &FlowConfig| [flow.name.clone(), format!("{}.reverse", flow.name)];
    let paths = config
        .flows
        .iter()
        .flat_map(|flow| flow.paths().map(|node| format!("{}.paths.{}", flow.name, config.nodes[node].name)));
    config.flows.iter().flat_map(names).chain(paths).collect()
}

/// The number among [`trace_names`] of the first path of a flow.
#[cfg(feature = "quic")]
pub(super) fn first_path(config: &Config, flow: usize) -> u32 {
    let before = config.flows[..flow].iter().flat_map(FlowConfig::paths).count();
    (2 * config.flows.len() + before) as u32
}

/// The names of the qlogs of a flow, of its sender and its receiver; none of one that does not run over quinn.
#[must_use]
pub fn logs(flow: &FlowConfig) -> Option<[String; 2]> {
    let is_quinn = matches!(&flow.transport, TransportConfig::Quic(quic) if quic.stack == QuicStack::Quinn);
    let is_logged = is_quinn && !flow.is_outside;
    is_logged.then(|| ["sender", "receiver"].map(|end| format!("{}-{end}.sqlog", flow.name)))
}

/// The law that judges instead of this one among [`trace_names`].
pub(in crate::run) fn judging(config: &Config, trace_name: u32, judge: Judge) -> Option<CongestionKind> {
    config.flows.get(trace_name as usize / 2)?.judges().find(|(known, _)| *known == judge).map(|(_, law)| law)
}
