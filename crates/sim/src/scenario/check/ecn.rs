//! Checks of marks: queues that mark nothing, and flows that are never warned.

use super::Check;
use super::groups::different;
use crate::model::{Config, FlowConfig, LinkConfig, LinkKind, TransportConfig};
use crate::scenario::sheet::Sheet;
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::registry::{AqmConfig, CongestionKind};
use lasthop_stack::transport::tcp::EcnMode;
use std::collections::BTreeSet;

/// Who marks, and for whom.
#[derive(Debug, Default)]
pub(super) struct Marking {
    /// The key of the management of each queue that has one, and its law.
    queues: BTreeSet<(String, &'static str)>,
    /// Whether a flow uses ECN.
    is_used: bool,
}

impl Check<'_> {
    /// The management of queues, and the flows whose law listens to it.
    pub(super) fn ecn(&mut self, config: &Config, sheet: &Sheet<'_>) {
        self.marking.is_used |= config.flows.iter().any(FlowConfig::uses_ecn);
        for members in config.links.chunk_by(|one, other| one.table() == other.table()) {
            self.managed_queue(&members[0]);
        }
        for flow in different(config, sheet) {
            self.warned(flow, config);
        }
    }

    fn managed_queue(&mut self, link: &LinkConfig) {
        let Some(aqm) = &link.aqm else { return };
        let (name, law) = (link.table(), aqm.kind().entry().name);
        if !aqm.drops() {
            self.marking.queues.insert((format!("links.{name}.aqm.law"), law));
        }
        let Some((above, parameter)) = aqm.acts_above() else { return };
        if let Some(room) = packets(link).filter(|room| above >= f64::from(*room)) {
            let text = format!(
                "{above} in a queue of {room} packets, so that nothing is marked; expected less than the queue holds"
            );
            self.remark(&format!("links.{name}.aqm.{law}.{parameter}"), text);
        }
    }

    /// All points are checked: queues that mark where no flow uses ECN at any of them.
    pub(in super::super) fn unmarked(&mut self) {
        let Marking { queues, is_used } = std::mem::take(&mut self.marking);
        for (key, law) in queues.into_iter().filter(|_| !is_used) {
            let text =
                format!("\"{law}\" where no flow uses ECN, so that nothing is marked; expected tcp.ecn");
            self.remark(&key, text);
        }
    }

    /// A law that classifies losses without a warning as random needs a queue that warns.
    fn warned(&mut self, flow: &FlowConfig, config: &Config) {
        let TransportConfig::Tcp(tcp) = &flow.transport else { return };
        let law = tcp.parts.law.kind();
        if CongestionKind::COUNTING.contains(&law) && tcp.ecn != EcnMode::Accurate {
            let text = format!(
                "not \"accurate\" with tcp.congestion \"{}\", which needs a count of the marks",
                law.entry().name
            );
            self.remark(&format!("flows.{}.tcp.ecn", flow.table()), text);
        }
        if !CongestionKind::MARKED.contains(&law) {
            return;
        }
        let (name, law) = (flow.table(), law.entry());
        if !flow.uses_ecn() {
            let text = format!(
                "\"off\" with tcp.congestion \"{}\", which takes each loss for random then",
                law.name
            );
            self.remark(&format!("flows.{name}.tcp.ecn"), text);
        } else if config.links.iter().all(|link| !link.aqm.as_ref().is_some_and(AqmConfig::is_early)) {
            let text = format!(
                "{} where no queue marks packets, so that it takes each loss for random; expected links.NAME.aqm",
                law.title
            );
            self.remark(&format!("flows.{name}.tcp"), text);
        }
    }
}

/// The room of the largest queue of a link, if it is counted in packets.
fn packets(link: &LinkConfig) -> Option<u32> {
    let of = |limit: &QueueLimit| match limit {
        QueueLimit::Packets(packets) => Some(*packets),
        QueueLimit::Bytes(_) | QueueLimit::Unlimited => None,
    };
    match &link.kind {
        LinkKind::PointToPoint(ends) => {
            let [forward, reverse] = [0, 1].map(|way| of(&ends.directions[way].queue));
            Some(forward?.max(reverse?))
        }
        // The packet in service is not among those of the queue.
        LinkKind::Wifi(wifi) => wifi.mac.buffer.is_none().then_some(wifi.mac.queue + 1),
        LinkKind::Frn(_) => None,
    }
}
