//! Agents from outside this crate, called through a pointer.

use std::fmt;
use std::sync::Arc;

use crate::hooks::parameter::{Described, parameters};
use crate::hooks::{
    Activity, Agent, AgentOut, Answered, Count, Criterion, Exported, LinkEvent, Needs, Rider,
};
use crate::packet::{NodeId, Packet};
use crate::signal::Signal;
use crate::units::Time;

/// An agent from outside this crate: every [`Agent`] that can be copied is one.
pub trait CustomAgent: fmt::Debug + Send + Sync {
    /// [`Agent::down`].
    fn down(&mut self, packet: &Packet, now: Time, out: &mut dyn AgentOut);
    /// [`Agent::up`].
    fn up(&mut self, packet: &Packet, now: Time, out: &mut dyn AgentOut);
    /// [`Agent::on_signal`].
    fn on_signal(&mut self, signal: Signal, packet: &Packet, now: Time, out: &mut dyn AgentOut);
    /// [`Agent::on_timer`].
    fn on_timer(&mut self, now: Time, out: &mut dyn AgentOut);
    /// [`Agent::on_rider`].
    fn on_rider(&mut self, rider: Rider, now: Time, out: &mut dyn AgentOut);
    /// [`Agent::on_answer`].
    fn on_answer(&mut self, answer: Answered, now: Time, out: &mut dyn AgentOut);
    /// [`Agent::each_kept`].
    fn each_kept(&self, visit: &mut dyn FnMut(&Packet));
    /// [`Agent::activity`].
    fn activity(&self) -> Activity;
    /// [`Agent::counts`].
    fn counts(&self) -> Vec<Count>;
    /// [`Agent::levels`].
    fn levels(&self) -> Vec<Count>;
    /// [`Agent::on_link`].
    fn on_link(&mut self, event: LinkEvent, node: Option<NodeId>, now: Time, out: &mut dyn AgentOut);
    /// [`Agent::restart`].
    fn restart(&mut self, now: Time, out: &mut dyn AgentOut);
    /// [`Agent::export`].
    fn export(&mut self, mobile: NodeId, now: Time, out: &mut dyn AgentOut) -> Option<Exported>;
    /// [`Agent::expect`].
    fn expect(&mut self, mobile: NodeId);
    /// [`Agent::import`].
    fn import(&mut self, state: Exported, now: Time, out: &mut dyn AgentOut);
    /// A copy of its state.
    fn duplicate(&self) -> Box<dyn CustomAgent>;
}

/// An agent behind a pointer.
pub type BoxedAgent = Box<dyn CustomAgent>;

/// What takes the answers of an agent, behind a pointer.
struct Pointed<'a>(&'a mut dyn AgentOut);

impl AgentOut for Pointed<'_> {
    fn down(&mut self, packet: &Packet) {
        self.0.down(packet);
    }

    fn up(&mut self, packet: &Packet) {
        self.0.up(packet);
    }

    fn ahead(&mut self, packet: &Packet) {
        self.0.ahead(packet);
    }

    fn ride(&mut self, towards: NodeId, rider: Rider) {
        self.0.ride(towards, rider);
    }

    fn ride_behind(&mut self, towards: NodeId, rider: Rider) {
        self.0.ride_behind(towards, rider);
    }

    fn unload(&mut self, towards: NodeId) {
        self.0.unload(towards);
    }

    fn set_timer(&mut self, at: Time) {
        self.0.set_timer(at);
    }

    fn cancel_timer(&mut self) {
        self.0.cancel_timer();
    }
}

impl<T: Agent + fmt::Debug + Clone + Send + Sync + 'static> CustomAgent for T {
    fn down(&mut self, packet: &Packet, now: Time, out: &mut dyn AgentOut) {
        Agent::down(self, packet, now, &mut Pointed(out));
    }

    fn up(&mut self, packet: &Packet, now: Time, out: &mut dyn AgentOut) {
        Agent::up(self, packet, now, &mut Pointed(out));
    }

    fn on_signal(&mut self, signal: Signal, packet: &Packet, now: Time, out: &mut dyn AgentOut) {
        Agent::on_signal(self, signal, packet, now, &mut Pointed(out));
    }

    fn on_timer(&mut self, now: Time, out: &mut dyn AgentOut) {
        Agent::on_timer(self, now, &mut Pointed(out));
    }

    fn on_rider(&mut self, rider: Rider, now: Time, out: &mut dyn AgentOut) {
        Agent::on_rider(self, rider, now, &mut Pointed(out));
    }

    fn on_answer(&mut self, answer: Answered, now: Time, out: &mut dyn AgentOut) {
        Agent::on_answer(self, answer, now, &mut Pointed(out));
    }

    fn each_kept(&self, visit: &mut dyn FnMut(&Packet)) {
        Agent::each_kept(self, visit);
    }

    fn activity(&self) -> Activity {
        Agent::activity(self)
    }

    fn counts(&self) -> Vec<Count> {
        Agent::counts(self)
    }

    fn levels(&self) -> Vec<Count> {
        Agent::levels(self)
    }

    fn on_link(&mut self, event: LinkEvent, node: Option<NodeId>, now: Time, out: &mut dyn AgentOut) {
        Agent::on_link(self, event, node, now, &mut Pointed(out));
    }

    fn restart(&mut self, now: Time, out: &mut dyn AgentOut) {
        Agent::restart(self, now, &mut Pointed(out));
    }

    fn export(&mut self, mobile: NodeId, now: Time, out: &mut dyn AgentOut) -> Option<Exported> {
        Agent::export(self, mobile, now, &mut Pointed(out))
    }

    fn expect(&mut self, mobile: NodeId) {
        Agent::expect(self, mobile);
    }

    fn import(&mut self, state: Exported, now: Time, out: &mut dyn AgentOut) {
        Agent::import(self, state, now, &mut Pointed(out));
    }

    fn duplicate(&self) -> Box<dyn CustomAgent> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn CustomAgent> {
    fn clone(&self) -> Self {
        (**self).duplicate()
    }
}

/// How an agent from outside this crate is made for an interface, and what it needs there; without one it is none.
#[derive(Clone, Default)]
pub struct CustomAgentConfig(Option<(MakeAgent, Needs)>);

type MakeAgent = Arc<dyn Fn(&Criterion) -> Box<dyn CustomAgent> + Send + Sync>;

impl CustomAgentConfig {
    /// An agent that `make` makes for the nodes of each interface.
    #[must_use]
    pub fn new<T: CustomAgent + 'static>(
        needs: Needs,
        make: impl Fn(&Criterion) -> T + Send + Sync + 'static,
    ) -> CustomAgentConfig {
        CustomAgentConfig(Some((Arc::new(move |criterion| Box::new(make(criterion))), needs)))
    }

    pub(super) fn make(&self, criterion: &Criterion) -> Option<BoxedAgent> {
        self.0.as_ref().map(|(make, _)| make(criterion))
    }

    pub(super) fn needs(&self) -> Needs {
        self.0.as_ref().map_or(Needs::default(), |(_, needs)| *needs)
    }
}

impl fmt::Debug for CustomAgentConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CustomAgentConfig")
    }
}

/// Two are equal when they are made by the same function.
impl PartialEq for CustomAgentConfig {
    fn eq(&self, other: &CustomAgentConfig) -> bool {
        match (&self.0, &other.0) {
            (Some((one, _)), Some((other, _))) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl Described for CustomAgentConfig {
    parameters! {}
}
