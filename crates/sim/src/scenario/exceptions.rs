//! Exceptions that no protocol could have: data of a scenario that every table and figure made with it carries.

use crate::model::{Config, TransportConfig};
use lasthop_stack::hooks::parameter;

/// Information or space that a key grants and no real protocol has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// The key.
    pub key: String,
    /// The label of results made with it, in tables and figures.
    pub label: &'static str,
    /// What is granted, and why no real protocol has it.
    pub meaning: &'static str,
}

/// What a point grants, each key once.
#[must_use]
pub fn exceptions(config: &Config) -> Vec<Exception> {
    let mut found: Vec<Exception> = Vec::new();
    // Few schemes have one, and there may be many flows: a key is formatted only for those.
    let mut add = |exception: Option<parameter::Exception>, scheme: &dyn Fn() -> String| {
        let Some(parameter::Exception { parameter, label, meaning }) = exception else { return };
        let exception = Exception { key: format!("{}.{parameter}", scheme()), label, meaning };
        if !found.contains(&exception) {
            found.push(exception);
        }
    };
    for link in &config.links {
        let key = |below: &str| format!("links.{}.{below}", link.table());
        add(link.kind.wifi().and_then(|wifi| wifi.arq.as_ref()?.exception()), &|| key("arq"));
        add(link.kind.slotted().and_then(|frn| frn.interval.exception()), &|| key("frn"));
    }
    for flow in &config.flows {
        let TransportConfig::Tcp(tcp) = &flow.transport else { continue };
        for law in std::iter::once(&tcp.parts.law).chain(&tcp.parts.judges) {
            let key = || format!("flows.{}.tcp.{}", flow.table(), law.kind().entry().name);
            add(law.exception(), &key);
        }
    }
    for agent in &config.agents {
        let key = || format!("agents.{}.{}", agent.name, agent.scheme.kind().entry().name);
        add(agent.scheme.exception(), &key);
    }
    found
}
