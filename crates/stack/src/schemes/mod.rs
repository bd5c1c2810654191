//! Cross-layer schemes: one file per paper. EJTCP and TCP-Jersey are congestion laws, and
//! congestion warning manages a queue. Load-adaptive retransmission is the interval of a slotted
//! link, dynamic ARQ the ARQ of a link. Freeze-TCP, ATCP and ILC-TCP are reactions of an
//! endpoint to events of its link. M-TCP is both a reaction and an agent; the others are agents
//! between network and link.

pub mod ack_filter;
pub mod arq_proxy;
pub mod atcp;
pub mod congestion_warning;
mod deadlines;
pub mod dynamic_arq;
pub mod ejtcp;
mod flows;
pub mod freeze_tcp;
pub mod hack;
mod held;
pub mod i_tcp;
pub mod ilc_tcp;
pub mod jersey;
pub mod lle_tcp;
pub mod load_adaptive;
pub mod m_tcp;
pub mod proxy_tcp;
pub mod snoop;
pub mod split;
pub mod wtcp;

pub use ack_filter::AckFilter;
pub use arq_proxy::ArqProxy;
pub use atcp::Atcp;
pub use congestion_warning::CongestionWarning;
pub use dynamic_arq::DynamicArq;
pub use ejtcp::Ejtcp;
pub use freeze_tcp::FreezeTcp;
pub use hack::Hack;
pub use ilc_tcp::IlcTcp;
pub use jersey::Jersey;
pub use lle_tcp::LleTcp;
pub use load_adaptive::LoadAdaptive;
pub use m_tcp::MTcpMobile;
pub use proxy_tcp::ProxyTcp;
pub use snoop::Snoop;
pub use split::Split;
pub use wtcp::Wtcp;

use crate::hooks::{Activity, Agent, AgentOut};
use crate::packet::Packet;
use crate::signal::Signal;
use crate::units::Time;

/// No agent: every packet passes as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transparent;

impl Agent for Transparent {
    #[inline]
    fn down(&mut self, packet: &Packet, _now: Time, out: &mut impl AgentOut) {
        out.down(packet);
    }

    #[inline]
    fn up(&mut self, packet: &Packet, _now: Time, out: &mut impl AgentOut) {
        out.up(packet);
    }

    fn on_signal(&mut self, _signal: Signal, _packet: &Packet, _now: Time, _out: &mut impl AgentOut) {}

    fn on_timer(&mut self, _now: Time, _out: &mut impl AgentOut) {}

    fn activity(&self) -> Activity {
        Activity { unconfirmed: Some(0), ..Activity::default() }
    }
}
