//! A run of which some nodes are bound to programs outside: their packets enter when the caller says so.

use std::time::Instant;

use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::units::Time;

use super::{EVENTS_BETWEEN_LOOKS, Outcome, Request, RunError, World, fits, wall_clock};
use crate::model::Config;
use crate::model::ports::Ports;
use crate::net::outside::Outside;

/// A run up to the present.
pub(crate) struct Open {
    config: Config,
    seeds: (u64, u64),
    world: World,
    started: Instant,
}

impl Open {
    /// A run at its start, whose flows between bound nodes [are outside](crate::model::FlowConfig::is_outside).
    ///
    /// # Errors
    /// The run cannot start.
    pub(crate) fn new(config: Config, seeds: (u64, u64)) -> Result<Open, RunError> {
        fits(&config)?;
        let world = World::new(&Request::new(&config, seeds.0, seeds.1))?;
        Ok(Open { config, seeds, world, started: wall_clock() })
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn ports(&self) -> Ports {
        self.world.net.ports
    }

    /// When something happens next.
    pub(crate) fn next_at(&mut self) -> Option<Time> {
        self.world.net.queue.peek().map(|(at, _)| at)
    }

    /// Processes the events up to now.
    pub(crate) fn advance(&mut self, now: Time) {
        self.world.advance(now, &mut |_, _| Some(EVENTS_BETWEEN_LOOKS));
        self.world.net.set_clock(now);
    }

    /// A bound node sends a packet of an end, which has these bytes.
    pub(crate) fn send(&mut self, end: u32, packet: Packet, bytes: &[u8]) {
        self.world.net.send_outer(end, packet, bytes);
    }

    /// The next packet that has arrived at a bound node, and when.
    pub(crate) fn arrived(&mut self) -> Option<(NodeId, Packet, Time)> {
        self.world.net.outside.as_mut()?.arrived.pop_front()
    }

    /// The exchange with the programs outside, if a node is bound.
    pub(crate) fn outside(&self) -> Option<&Outside> {
        self.world.net.outside.as_deref()
    }

    /// The results up to the present.
    ///
    /// # Errors
    /// The traces cannot be written.
    pub(crate) fn finish(self) -> Result<Outcome, RunError> {
        let request = Request::new(&self.config, self.seeds.0, self.seeds.1);
        self.world.finish(&request, self.started, None)
    }
}
