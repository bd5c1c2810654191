//! Hand-offs between stations that are alike, and restarts.

use std::collections::VecDeque;

use super::super::super::{Config, LleTcp};
use super::{Event, Plan, World};
use crate::hooks::{Agent, Criterion, Exported};
use crate::packet::NodeId;
use crate::units::Span;

/// The second side, which moves.
const MOBILE: NodeId = NodeId(2);

/// What an agent has to survive.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Upset {
    /// The second side leaves for another station; the state of the agent there arrives after this time.
    Handoff(Span),
    /// The agent of a side loses its state.
    Restart(usize),
}

/// An agent without connections.
pub(super) fn agent(plan: &Plan, side: usize) -> LleTcp {
    let station = if plan.wired.is_some() { NodeId(1) } else { NodeId(0) };
    let (local, ahead) = if side == 0 { (station, MOBILE) } else { (MOBILE, station) };
    LleTcp::new(Config { criterion: Criterion::one_hop(local, [ahead]), ..plan.agents[side].clone() })
}

impl World {
    pub(super) fn upset(&mut self, number: usize) {
        match self.plan.upsets[number].1 {
            Upset::Restart(side) => {
                let now = self.now;
                self.with_agent(side, |agent, out| agent.restart(now, out));
            }
            Upset::Handoff(takes) => {
                // What the link has is lost.
                self.links.iter_mut().for_each(VecDeque::clear);
                let [state, own] = [0, 1].map(|side| self.replace(side));
                self.moving.push_back(state);
                self.at(self.now.after(takes), Event::Arrive);
                self.import(1, own);
            }
        }
    }

    pub(super) fn state_arrives(&mut self) {
        let state = self.moving.pop_front().flatten();
        self.import(0, state);
    }

    /// Another agent at a side, and what the former one exports.
    fn replace(&mut self, side: usize) -> Option<Exported> {
        let now = self.now;
        let mut state = None;
        self.with_agent(side, |agent, out| state = agent.export(MOBILE, now, out));
        self.versions[side][2] += 1;
        self.agents[side] = agent(&self.plan, side);
        state
    }

    fn import(&mut self, side: usize, state: Option<Exported>) {
        let now = self.now;
        if let Some(state) = state {
            self.with_agent(side, |agent, out| agent.import(state, now, out));
        }
    }
}
