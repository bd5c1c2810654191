//! What a scenario grants that no protocol could have: data that every table and figure made with it carries.

use crate::model::{Config, LinkKind, TransportConfig};
use lasthop_stack::hooks::parameter;
use lasthop_stack::registry::ArqConfig;

/// Knowledge or room that a key grants and nothing real has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// The key.
    pub key: String,
    /// What tables and figures say of results made with it.
    pub label: &'static str,
    /// What is granted, and why nothing real has it.
    pub meaning: &'static str,
}

/// What a point grants, each key once.
pub(super) fn exceptions(config: &Config) -> Vec<Exception> {
    let mut found: Vec<Exception> = Vec::new();
    let mut add = |scheme: &str, exception: Option<parameter::Exception>| {
        let Some(parameter::Exception { parameter, label, meaning }) = exception else { return };
        let exception = Exception { key: format!("{scheme}.{parameter}"), label, meaning };
        if !found.contains(&exception) {
            found.push(exception);
        }
    };
    for link in &config.links {
        let key = |below: &str| format!("links.{}.{below}", link.table());
        match &link.kind {
            LinkKind::Wifi(wifi) => add(&key("arq"), wifi.arq.as_ref().and_then(ArqConfig::exception)),
            LinkKind::Frn(frn) => add(&key("frn"), frn.interval.exception()),
            LinkKind::PointToPoint(_) => {}
        }
    }
    for flow in &config.flows {
        let TransportConfig::Tcp(tcp) = &flow.transport else { continue };
        for law in std::iter::once(&tcp.parts.law).chain(&tcp.parts.judges) {
            let key = format!("flows.{}.tcp.{}", flow.table(), law.kind().entry().name);
            add(&key, law.exception());
        }
    }
    for agent in &config.agents {
        add(&format!("agents.{}.{}", agent.name, agent.scheme.kind().entry().name), agent.scheme.exception());
    }
    found
}
