//! TCP with the registered laws and recoveries: the endpoint of [`crate::transport::tcp`] for [`Parts`].

mod parameters;

use super::{
    CongestionKind, CongestionMachine, LawConfig, ReactionConfig, ReactionMachine, RecoveryKind,
    RecoveryMachine, Start,
};
use crate::hooks::Congestion;
use crate::packet::Form;
use crate::transport::congestion::CubicConfig;
use crate::transport::tcp;

pub use crate::transport::tcp::{Profile, Role, State};

/// The parameters of an endpoint.
pub type Config = tcp::Config<Parts>;

/// One end of a connection.
pub type Connection = tcp::Connection<Parts>;

/// The same for a host with one clock.
pub type Endpoint = tcp::Endpoint<Parts>;

impl Config {
    /// Whether its recovery finds losses by the scoreboard, and does not count duplicates.
    #[must_use]
    pub fn has_scoreboard(&self) -> bool {
        self.parts.recovery == RecoveryKind::Sack && self.sack_pipe == tcp::SackPipe::Scoreboard
    }
}

/// Which law and which recovery a sender has.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// What is resent and when recovery ends.
    pub recovery: RecoveryKind,
    /// How large the window is.
    pub law: LawConfig,
    /// Laws that judge each loss without influence on the window.
    pub judges: Vec<LawConfig>,
    /// What it does at events of its link.
    pub reaction: ReactionConfig,
}

impl Parts {
    /// These two, no judges and no reaction.
    #[must_use]
    pub fn new(recovery: RecoveryKind, law: LawConfig) -> Parts {
        Parts { recovery, law, judges: Vec::new(), reaction: ReactionConfig::None(()) }
    }
}

impl tcp::Parts for Parts {
    type Law = CongestionMachine;
    type Recovery = RecoveryMachine;
    type Reaction = ReactionMachine;

    fn law(&self, config: &Config, draw: u32) -> CongestionMachine {
        match &self.law {
            LawConfig::Cubic(law) => {
                let as_linux = config.cubic_as_linux;
                LawConfig::Cubic(CubicConfig { as_linux, ..*law })
                    .build(Start { segment: config.packet, draw })
            }
            law => law.build(Start { segment: config.packet, draw }),
        }
    }

    fn judges(&self, config: &Config, draw: u32) -> Vec<CongestionMachine> {
        self.judges.iter().map(|law| law.build(Start { segment: config.packet, draw })).collect()
    }

    fn recovery(&self, config: &Config) -> RecoveryMachine {
        self.recovery.build(config)
    }

    fn reaction(&self) -> ReactionMachine {
        self.reaction.build()
    }
}

impl Profile {
    /// All parameters of this profile.
    #[must_use]
    pub fn config(self) -> Config {
        let (recovery, law) = match self {
            Profile::Ns2Of2004 => (RecoveryKind::NewReno, CongestionKind::Reno),
            Profile::Modern | Profile::Rfc => (RecoveryKind::Sack, CongestionKind::Cubic),
        };
        self.with(Parts::new(recovery, law.config()))
    }
}

impl Config {
    /// The form in which segments carry the extension of the law, if it has one.
    #[must_use]
    pub fn extension(&self) -> Option<Form> {
        self.law().extension()
    }

    /// Whether the law reads the timestamps of RFC 7323.
    #[must_use]
    pub fn reads_timestamps(&self) -> bool {
        self.law().reads_timestamps()
    }

    fn law(&self) -> CongestionMachine {
        self.parts.law.build(Start { segment: self.packet, draw: 0 })
    }
}
