//! Cross-layer schemes: one paper, one file. EJTCP is a congestion law, load-adaptive retransmission the interval of a
//! slotted link, and Freeze-TCP and ATCP are what an endpoint does at events of its link; the others sit between network
//! and link.

pub mod arq_proxy;
pub mod atcp;
mod deadlines;
pub mod dynamic_arq;
pub mod ejtcp;
mod flows;
pub mod freeze_tcp;
mod held;
pub mod lle_tcp;
pub mod load_adaptive;
pub mod proxy_tcp;
pub mod snoop;
pub mod wtcp;

pub use arq_proxy::ArqProxy;
pub use atcp::Atcp;
pub use dynamic_arq::DynamicArq;
pub use ejtcp::Ejtcp;
pub use freeze_tcp::FreezeTcp;
pub use lle_tcp::LleTcp;
pub use load_adaptive::LoadAdaptive;
pub use proxy_tcp::ProxyTcp;
pub use snoop::Snoop;
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
