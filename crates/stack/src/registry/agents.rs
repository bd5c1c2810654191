//! All agents between network layer and link.

use super::custom::{BoxedAgent, CustomAgentConfig};
use super::tcp::Parts;
use super::variants::VariantName;
use super::{Entry, kinds};
use crate::hooks::parameter::{Described, Exception, Setting, Spec};
use crate::hooks::{
    Activity, Agent, AgentOut, Answered, Count, Criterion, Exported, LinkEvent, Needs, Rider,
};
use crate::packet::{NodeId, Packet};
#[allow(clippy::wildcard_imports, reason = "every agent is named here; the lint skips tests")]
use crate::schemes::*;
use crate::signal::Signal;
use crate::units::Time;

kinds! {
    each $;
    /// What sits between network and link.
    AgentKind, AgentConfig, AgentMachine;
    None(Transparent), () = "none" as "no agent", "lasthop", "no agent: all packets pass";
    LleTcp(Box<LleTcp>), lle_tcp::Config = "lle-tcp" as "LLE-TCP", "Kliazovich and Granelli 2004", "generates TCP acknowledgements from the acknowledgements of the link";
    ProxyTcp(Box<ProxyTcp>), proxy_tcp::Config = "proxy-tcp" as "Proxy TCP", "Mahmoodi et al. 2007; Balakrishnan et al. 1995", "hides duplicate acknowledgements from the sender while the link can still repair the loss";
    ITcp(Box<Split<Parts>>), i_tcp::Config<VariantName> = "i-tcp" as "I-TCP", "Bakre and Badrinath 1995", "splits each connection in two at the base station, which acknowledges data before the mobile has it";
    MTcp(Box<Split<Parts>>), m_tcp::Config<VariantName> = "m-tcp" as "M-TCP", "Brown and Singh 1997", "splits each connection, acknowledges what the mobile has but its last byte, and stops the sender while the mobile is away";
    Snoop(Box<Snoop>), snoop::Config = "snoop" as "Snoop", "Balakrishnan et al. 1995", "keeps data for a mobile, repairs its losses locally and suppresses the duplicate acknowledgements; marks those for a mobile's own losses (ELN)";
    Wtcp(Box<Wtcp>), wtcp::Config = "wtcp" as "WTCP", "Ratnam and Matta 1998", "keeps data for a mobile, sends it within a window of its own, and takes the time that a segment spent at the station out of the sender's round trip";
    ArqProxy(Box<ArqProxy>), arq_proxy::Config = "arq-proxy" as "ARQ proxy", "Kliazovich et al. 2007, 2012", "prepares TCP acknowledgements at the access point and releases them by a request that rides in the acknowledgement of the link";
    Hack(Box<Hack>), hack::Config = "hack" as "TCP/HACK", "Salameh et al. 2014", "carries TCP acknowledgements compressed in the acknowledgements of the link, one burst late";
    AckFilter(Box<AckFilter>), ack_filter::Config = "ack-filter" as "ACK filter", "Balakrishnan et al. 1997", "of the TCP acknowledgements of a flow that wait for the link keeps the newest";
    Custom(BoxedAgent), CustomAgentConfig = "custom" as "custom", "the host", "an agent from another crate, called through a pointer";
}

impl AgentKind {
    /// Those that a scenario can name: all but an agent of the host's own.
    #[must_use]
    pub fn named_in_scenarios() -> &'static [AgentKind] {
        &AgentKind::ALL[..AgentKind::ALL.len() - 1]
    }

    /// The agents whose TCP acknowledgements ride in those of the link.
    pub const RIDERS: &'static [AgentKind] = &[AgentKind::Hack, AgentKind::ArqProxy];
}

impl AgentConfig {
    /// The counters that only agents of its kind have.
    #[must_use]
    pub fn counts(&self) -> Vec<Count> {
        self.build(&Criterion::default()).counts()
    }

    /// The quantities that only agents of its kind have.
    #[must_use]
    pub fn levels(&self) -> Vec<Count> {
        self.build(&Criterion::default()).levels()
    }

    /// The agent's requirements on its interface and on the flows it serves.
    #[must_use]
    pub fn needs(&self) -> Needs {
        match self {
            AgentConfig::None(()) => Needs::default(),
            AgentConfig::LleTcp(config) => config.needs(),
            AgentConfig::ProxyTcp(config) => config.needs(),
            AgentConfig::ITcp(config) => split::needs(&config.settings),
            AgentConfig::MTcp(config) => split::needs(&config.settings),
            AgentConfig::ArqProxy(config) => config.needs(),
            AgentConfig::Snoop(config) => config.needs(),
            AgentConfig::Wtcp(config) => config.needs(),
            AgentConfig::Hack(config) => config.needs(),
            AgentConfig::AckFilter(config) => config.needs(),
            AgentConfig::Custom(config) => config.needs(),
        }
    }

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
            AgentConfig::ITcp(config) => {
                let settings = split::Settings { criterion, ..config.settings.clone() };
                AgentMachine::ITcp(Box::new(Split::new(settings, None)))
            }
            AgentConfig::MTcp(config) => {
                let settings = split::Settings { criterion, ..config.settings.clone() };
                AgentMachine::MTcp(Box::new(Split::new(settings, Some(config.rules))))
            }
            AgentConfig::Snoop(config) => {
                let config = snoop::Config { criterion, ..config.clone() };
                AgentMachine::Snoop(Box::new(Snoop::new(config)))
            }
            AgentConfig::Wtcp(config) => {
                let config = wtcp::Config { criterion, ..config.clone() };
                AgentMachine::Wtcp(Box::new(Wtcp::new(config)))
            }
            AgentConfig::ArqProxy(config) => {
                let config = arq_proxy::Config { criterion, ..config.clone() };
                AgentMachine::ArqProxy(Box::new(ArqProxy::new(config)))
            }
            AgentConfig::Hack(config) => {
                let config = hack::Config { criterion, ..config.clone() };
                AgentMachine::Hack(Box::new(Hack::new(config)))
            }
            AgentConfig::AckFilter(config) => {
                let config = ack_filter::Config { criterion, ..config.clone() };
                AgentMachine::AckFilter(Box::new(AckFilter::new(config)))
            }
            AgentConfig::Custom(config) => match config.make(&criterion) {
                Some(agent) => AgentMachine::Custom(agent),
                None => AgentMachine::None(Transparent),
            },
        }
    }
}

impl Agent for AgentMachine {
    #[inline]
    fn down(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        each!(self, agent => agent.down(packet, now, out));
    }

    #[inline]
    fn up(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        each!(self, agent => agent.up(packet, now, out));
    }

    #[inline]
    fn on_signal(&mut self, signal: Signal, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        each!(self, agent => agent.on_signal(signal, packet, now, out));
    }

    fn on_timer(&mut self, now: Time, out: &mut impl AgentOut) {
        each!(self, agent => agent.on_timer(now, out));
    }

    fn on_rider(&mut self, rider: Rider, now: Time, out: &mut impl AgentOut) {
        each!(self, agent => agent.on_rider(rider, now, out));
    }

    fn on_answer(&mut self, answer: Answered, now: Time, out: &mut impl AgentOut) {
        each!(self, agent => agent.on_answer(answer, now, out));
    }

    fn each_kept(&self, visit: &mut dyn FnMut(&Packet)) {
        each!(self, agent => agent.each_kept(visit));
    }

    fn activity(&self) -> Activity {
        each!(self, agent => agent.activity())
    }

    fn counts(&self) -> Vec<Count> {
        each!(self, agent => agent.counts())
    }

    fn levels(&self) -> Vec<Count> {
        each!(self, agent => agent.levels())
    }

    fn on_link(&mut self, event: LinkEvent, node: Option<NodeId>, now: Time, out: &mut impl AgentOut) {
        each!(self, agent => agent.on_link(event, node, now, out));
    }

    fn restart(&mut self, now: Time, out: &mut impl AgentOut) {
        each!(self, agent => agent.restart(now, out));
    }

    fn export(&mut self, mobile: NodeId, now: Time, out: &mut impl AgentOut) -> Option<Exported> {
        each!(self, agent => agent.export(mobile, now, out))
    }

    fn expect(&mut self, mobile: NodeId) {
        each!(self, agent => agent.expect(mobile));
    }

    fn import(&mut self, state: Exported, now: Time, out: &mut impl AgentOut) {
        each!(self, agent => agent.import(state, now, out));
    }
}
