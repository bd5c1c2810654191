//! All reactions of an endpoint to events of its link.

use super::{Entry, kinds};
use crate::hooks::parameter::{Described, Exception, Setting, Spec};
use crate::hooks::{AtTimeout, Deeds, LinkEvent, Reaction, Standing, Window};
use crate::schemes::{Atcp, FreezeTcp, IlcTcp, MTcpMobile, atcp, freeze_tcp};
use crate::units::Span;

kinds! {
    each $;
    /// What an endpoint does at events of its link.
    ReactionKind, ReactionConfig, ReactionMachine;
    None(()), () = "none" as "no reaction", "lasthop", "the endpoint does not listen to its link";
    FreezeTcp(FreezeTcp), freeze_tcp::Config = "freeze-tcp" as "Freeze-TCP", "Goff et al. 2000", "the mobile receiver closes its window ahead of a disconnection, and opens it with three acknowledgements after it";
    Atcp(Atcp), atcp::Config = "atcp" as "ATCP", "Singh and Iyer 2002; Raisinghani et al. 2002", "the mobile stops its timer while disconnected, or as receiver keeps back two bytes to stop and restart the sender";
    IlcTcp(IlcTcp), () = "ilc-tcp" as "ILC-TCP", "Chinta et al. 2003", "the mobile sender freezes at a timeout while its link is down or it is handed off, and resumes at its old window";
    MTcp(MTcpMobile), () = "m-tcp" as "M-TCP", "Brown and Singh 1997", "the mobile stops its timers while disconnected and greets the base station after it";
}

impl ReactionConfig {
    /// The reaction at the start of a connection.
    #[must_use]
    pub fn build(&self) -> ReactionMachine {
        match self {
            ReactionConfig::None(()) => ReactionMachine::None(()),
            ReactionConfig::FreezeTcp(config) => ReactionMachine::FreezeTcp(FreezeTcp::new(*config)),
            ReactionConfig::Atcp(config) => ReactionMachine::Atcp(Atcp::new(*config)),
            ReactionConfig::IlcTcp(()) => ReactionMachine::IlcTcp(IlcTcp::default()),
            ReactionConfig::MTcp(()) => ReactionMachine::MTcp(MTcpMobile),
        }
    }
}

impl Reaction for ReactionMachine {
    fn on_event(&mut self, event: LinkEvent, standing: Standing) -> Deeds {
        each!(self, reaction => reaction.on_event(event, standing))
    }

    fn on_timeout(&mut self, window: &mut Window) -> AtTimeout {
        each!(self, reaction => reaction.on_timeout(window))
    }

    #[inline]
    fn withholds(&self) -> Option<(u32, Span)> {
        each!(self, reaction => reaction.withholds())
    }

    fn share(&self) -> f64 {
        each!(self, reaction => reaction.share())
    }
}
