//! Checks of the laws of acknowledgement: recoveries, windows and agents that need more acknowledgements.

use super::Check;
use super::groups::different;
use crate::model::{AgentConfig, Config, FlowConfig, TransportConfig};
use crate::scenario::sheet::Sheet;
use lasthop_stack::transport::acks::AckLaw;
use lasthop_stack::transport::tcp::Counting;

/// The word of a law in a scenario, if it is not the receiver's own count.
fn word(flow: &FlowConfig) -> Option<&'static str> {
    let TransportConfig::Tcp(tcp) = &flow.transport else { return None };
    match tcp.acks {
        AckLaw::Delayed => None,
        AckLaw::Requested(_) => Some("requested"),
        AckLaw::Tack(_) => Some("tack"),
    }
}

impl Check<'_> {
    /// What the flows themselves cannot do with their law.
    pub(super) fn acks(&mut self, config: &Config, sheet: &Sheet<'_>) {
        for flow in different(config, sheet) {
            let TransportConfig::Tcp(tcp) = &flow.transport else { continue };
            let Some(word) = word(flow) else { continue };
            let key = |below: &str| format!("flows.{}.tcp.{below}", flow.table());
            let kind = tcp.parts.recovery;
            let has_scoreboard = tcp.has_scoreboard();
            if word == "tack" && !has_scoreboard {
                let text = format!(
                    "\"tack\" reports segments beyond a gap by SACK and not by duplicates, which recovery \"{}\" counts; expected recovery = \"sack\" with sack-pipe = \"scoreboard\", or acks = \"delayed\"",
                    kind.entry().name
                );
                self.fault(&key("acks"), text);
            }
            if tcp.counting == Counting::Acks {
                let text = format!(
                    "\"acks\" with acks = \"{word}\", whose few acknowledgements make the window grow slowly; expected \"segments\""
                );
                self.remark(&key("growth"), text);
            }
        }
    }

    /// What an agent cannot do with the law of a flow that it serves.
    pub(super) fn acks_of_served(&mut self, agent: &AgentConfig, flow: &FlowConfig) {
        let Some(word) = word(flow) else { return };
        let needs = agent.scheme.needs();
        let why = if needs.makes_acknowledgements {
            "acknowledges by its own count"
        } else if needs.terminates {
            "ends the connection without these options"
        } else if word == "tack" {
            "follows a stream of acknowledgements and duplicates"
        } else {
            return;
        };
        let text = format!(
            "\"{}\" has tcp.acks = \"{word}\", and {} {why}; expected flows with \"delayed\"",
            flow.name,
            agent.scheme.kind().entry().name
        );
        self.fault(&format!("agents.{}.flows", agent.name), text);
    }
}
