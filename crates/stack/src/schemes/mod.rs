//! Cross-layer schemes: one paper, one file. EJTCP is a congestion law and load-adaptive retransmission the interval of a
//! slotted link; the others sit between network and link.

pub mod dynamic_arq;
pub mod ejtcp;
mod flows;
pub mod lle_tcp;
pub mod load_adaptive;
pub mod proxy_tcp;

pub use dynamic_arq::DynamicArq;
pub use ejtcp::Ejtcp;
pub use lle_tcp::LleTcp;
pub use load_adaptive::LoadAdaptive;
pub use proxy_tcp::ProxyTcp;

use crate::hooks::{Agent, AgentOut};
use crate::packet::Packet;
use crate::registry::{AgentKind, AgentMachine};
use crate::signal::Signal;
use crate::units::Time;

/// No agent: every packet passes as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transparent;

impl Agent for Transparent {
    #[inline]
    fn down(&mut self, packet: Packet, _now: Time, out: &mut impl AgentOut) {
        out.down(packet);
    }

    #[inline]
    fn up(&mut self, packet: Packet, _now: Time, out: &mut impl AgentOut) {
        out.up(packet);
    }

    fn on_signal(&mut self, _signal: Signal, _packet: &Packet, _now: Time, _out: &mut impl AgentOut) {}

    fn on_timer(&mut self, _now: Time, _out: &mut impl AgentOut) {}
}

impl AgentKind {
    /// An agent of this kind for one interface; of the configurations its own counts.
    #[must_use]
    pub fn build(self, lle: &lle_tcp::Config, proxy: &proxy_tcp::Config) -> AgentMachine {
        match self {
            AgentKind::None => AgentMachine::None(Transparent),
            AgentKind::LleTcp => AgentMachine::LleTcp(Box::new(LleTcp::new(lle.clone()))),
            AgentKind::ProxyTcp => AgentMachine::ProxyTcp(Box::new(ProxyTcp::new(proxy.clone()))),
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
