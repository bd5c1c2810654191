//! Outages of links and hand-offs of nodes.

use lasthop_stack::hooks::parameter::words;
use lasthop_stack::units::{Rate, Span};

use super::Config;
use crate::medium::outages::{HandoffLaw, OutageLaw};
use crate::medium::warnings::WarningConfig;

/// When a link is down.
#[derive(Clone, Debug, PartialEq)]
pub struct OutagesConfig {
    /// When, and for how long.
    pub law: OutageLaw,
    /// The only station concerned; `None` is the whole link.
    pub node: Option<usize>,
    /// Whether what waits at a wire is kept until it is up; otherwise it is sent, and lost.
    pub is_kept: bool,
    /// How well the transports of its nodes are warned, if they are.
    pub warning: Option<WarningConfig>,
}

/// The fate of packets that arrive at the station which a node has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// They are dropped.
    Dropped,
    /// They are forwarded to the other station.
    Forwarded,
}

words! { Late: Dropped = "dropped", Forwarded = "forwarded" }

/// A node that is handed off between two links.
#[derive(Clone, Debug, PartialEq)]
pub struct HandoffConfig {
    /// Indices into [`Config::links`]; it is at the first at the start.
    pub links: [usize; 2],
    /// When.
    pub law: HandoffLaw,
    /// How long it is at neither.
    pub gap: Span,
    /// How well its own transport is warned, if it is.
    pub warning: Option<WarningConfig>,
    /// The fate of packets for it at the station that it has left.
    pub late: Late,
    /// Rate at which the state of agents moves; `None` takes no time for it.
    pub state_rate: Option<Rate>,
    /// Time that moving takes beside that.
    pub state_delay: Span,
}

/// A time when a link does not carry what some node sends or hears, or all.
#[derive(Clone, Debug, PartialEq)]
pub struct Absence {
    /// The node; `None` is all.
    pub node: Option<usize>,
    /// When.
    pub law: OutageLaw,
    /// The name of its random stream.
    pub stream: String,
}

impl Config {
    /// Why a link, by its place, may not carry something: its outages first.
    #[must_use]
    pub fn absences(&self, place: usize) -> Vec<Absence> {
        let link = &self.links[place];
        let stream = format!("links.{}.outages", link.name);
        let own = link.outages.iter().map(|outages| Absence {
            node: outages.node,
            law: outages.law.clone(),
            stream: stream.clone(),
        });
        let away = self.nodes.iter().enumerate().filter_map(|(number, node)| {
            let handoff = node.handoff.as_ref()?;
            let begins_away = match handoff.links {
                [first, _] if first == place => false,
                [_, second] if second == place => true,
                _ => return None,
            };
            let law = OutageLaw::Away { law: handoff.law.clone(), gap: handoff.gap, begins_away };
            Some(Absence { node: Some(number), law, stream: format!("nodes.{}.handoff", node.name) })
        });
        own.chain(away).collect()
    }

    /// Whether anything is ever down or handed off.
    #[must_use]
    pub fn has_link_events(&self) -> bool {
        self.has_handoffs() || self.links.iter().any(|link| link.outages.is_some())
    }

    /// Whether any node is handed off.
    #[must_use]
    pub fn has_handoffs(&self) -> bool {
        self.nodes.iter().any(|node| node.handoff.is_some())
    }

    /// The nodes of a link, by its place.
    #[must_use]
    pub fn nodes_of(&self, place: usize) -> &[usize] {
        self.links[place].nodes()
    }

    /// Takes a node from a link, by its place; a node that is nowhere else stands for it there.
    pub(crate) fn leave(&mut self, node: usize, place: usize) {
        let nobody = self.nodes.len();
        self.nodes.push(self.nodes[node].clone());
        for station in self.links[place].kind.nodes_mut().iter_mut().filter(|station| **station == node) {
            *station = nobody;
        }
    }

    /// The station at the other end of a link of a node that is handed off: the access point of a medium.
    #[must_use]
    pub fn station_of(&self, place: usize, mobile: usize) -> Option<usize> {
        self.links[place].kind.station_of(mobile)
    }
}
