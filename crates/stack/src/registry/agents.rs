//! What sits between network and link: every agent.

use super::{Entry, kinds};
use crate::hooks::parameter::{Described, Setting, Spec};
use crate::hooks::{Agent, AgentOut};
use crate::packet::Packet;
use crate::schemes::lle_tcp::Criterion;
use crate::schemes::{LleTcp, ProxyTcp, Transparent, lle_tcp, proxy_tcp};
use crate::signal::Signal;
use crate::units::Time;

kinds! {
    /// What sits between network and link.
    AgentKind, AgentConfig, AgentMachine;
    None(Transparent), () = "none", "lasthop", "no agent: every packet passes";
    LleTcp(Box<LleTcp>), lle_tcp::Config = "lle-tcp", "Kliazovich and Granelli 2004", "TCP acknowledgements made where the link's acknowledgement arrives";
    ProxyTcp(Box<ProxyTcp>), proxy_tcp::Config = "proxy-tcp", "Mahmoodi et al. 2007; Balakrishnan et al. 1995", "duplicate acknowledgements hidden from the sender while the link can still repair";
}

impl AgentConfig {
    /// An agent for one interface, which acts upon the flows that `criterion` names.
    #[must_use]
    pub fn build(&self, criterion: &Criterion) -> AgentMachine {
        let criterion = criterion.clone();
        match self {
            AgentConfig::None(()) => AgentMachine::None(Transparent),
            AgentConfig::LleTcp(config) => {
                let config = lle_tcp::Config { criterion, ..config.clone() };
                AgentMachine::LleTcp(Box::new(LleTcp::new(config)))
            }
            AgentConfig::ProxyTcp(config) => {
                let config = proxy_tcp::Config { criterion, ..config.clone() };
                AgentMachine::ProxyTcp(Box::new(ProxyTcp::new(config)))
            }
        }
    }
}

impl Agent for AgentMachine {
    #[inline]
    fn down(&mut self, packet: Packet, now: Time, out: &mut impl AgentOut) {
        match self {
            AgentMachine::None(agent) => agent.down(packet, now, out),
            AgentMachine::LleTcp(agent) => agent.down(packet, now, out),
            AgentMachine::ProxyTcp(agent) => agent.down(packet, now, out),
        }
    }

    #[inline]
    fn up(&mut self, packet: Packet, now: Time, out: &mut impl AgentOut) {
        match self {
            AgentMachine::None(agent) => agent.up(packet, now, out),
            AgentMachine::LleTcp(agent) => agent.up(packet, now, out),
            AgentMachine::ProxyTcp(agent) => agent.up(packet, now, out),
        }
    }

    #[inline]
    fn on_signal(&mut self, signal: Signal, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        match self {
            AgentMachine::None(agent) => agent.on_signal(signal, packet, now, out),
            AgentMachine::LleTcp(agent) => agent.on_signal(signal, packet, now, out),
            AgentMachine::ProxyTcp(agent) => agent.on_signal(signal, packet, now, out),
        }
    }

    fn on_timer(&mut self, now: Time, out: &mut impl AgentOut) {
        match self {
            AgentMachine::None(agent) => agent.on_timer(now, out),
            AgentMachine::LleTcp(agent) => agent.on_timer(now, out),
            AgentMachine::ProxyTcp(agent) => agent.on_timer(now, out),
        }
    }
}
