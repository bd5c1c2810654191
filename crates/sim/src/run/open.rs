//! A run of which some nodes are bound to programs outside: their packets enter when the caller says so.

use std::path::PathBuf;

use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::units::Time;

use super::{EVENTS_BETWEEN_LOOKS, Outcome, Request, RunError, World, can_be_captured, fits};
use crate::host::Clock;
use crate::metrics::Snapshot;
use crate::model::Config;
use crate::net::wlan::{Handover, News};
use crate::outside::Outside;

/// What a run records besides its metrics.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Traces, by their names.
    pub trace: Vec<String>,
    /// Captures of links (by index), each with its file.
    pub pcap: Vec<(usize, PathBuf)>,
}

/// A run up to the present.
pub(crate) struct Open {
    config: Config,
    seeds: (u64, u64),
    recorded: Recorded,
    world: World,
    started: Clock,
    /// The counters at the last sample, with its time.
    last: Option<(Time, Snapshot)>,
}

impl Open {
    /// A run at its start, whose flows between bound nodes [are outside](crate::model::FlowConfig::is_outside).
    ///
    /// # Errors
    /// The run cannot start.
    pub(crate) fn new(config: Config, seeds: (u64, u64), recorded: Recorded) -> Result<Open, RunError> {
        fits(&config)?;
        if !recorded.pcap.is_empty() {
            config.flows.iter().try_for_each(can_be_captured)?;
        }
        let world = World::new(&request(&config, seeds, &recorded))?;
        Ok(Open { config, seeds, recorded, world, started: Clock::start(), last: None })
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
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
        self.world.net.send_with_bytes(end, packet, bytes);
    }

    /// A bound node whose MAC layer is outside sends a frame of an end, which has these bytes. Returns its number.
    pub(crate) fn hand_over(
        &mut self,
        end: u32,
        packet: Packet,
        bytes: &[u8],
        frame: &Handover,
    ) -> Option<u32> {
        self.world.net.hand_over(end, packet, bytes, frame)
    }

    /// The fates of such frames.
    pub(crate) fn take_news(&mut self, into: &mut Vec<News>) {
        self.world.net.take_news(into);
    }

    /// The next packet that has arrived at a bound node, and when.
    pub(crate) fn arrived(&mut self) -> Option<(NodeId, Packet, Time)> {
        self.world.net.outside.as_mut()?.arrived.pop_front()
    }

    /// The exchange with the programs outside, if a node is bound.
    pub(crate) fn outside(&mut self) -> Option<&mut Outside> {
        self.world.net.outside.as_deref_mut()
    }

    /// The metrics of the time since the last call or, if that is later, since the measurement began.
    pub(crate) fn sample(&mut self) -> Vec<(String, Option<f64>)> {
        let (now, begin) = (self.world.net.now, self.world.begin);
        let at_end = self.world.snapshot();
        let last = self.last.replace((now, at_end.clone()));
        let last = last.filter(|(at, _)| *at >= begin || now < begin);
        let first = self.world.at_begin.clone().map(|at_begin| (begin, at_begin));
        let (begin, at_begin) = last.or(first).unwrap_or_else(|| (now, at_end.clone()));
        self.world.between(&self.config, begin, at_begin, at_end)
    }

    /// The results up to the present.
    ///
    /// # Errors
    /// The traces cannot be written.
    pub(crate) fn finish(self) -> Result<Outcome, RunError> {
        let request = request(&self.config, self.seeds, &self.recorded);
        self.world.finish(&request, self.started, None)
    }
}

fn request<'a>(config: &'a Config, seeds: (u64, u64), recorded: &'a Recorded) -> Request<'a> {
    Request { trace: &recorded.trace, pcap: &recorded.pcap, ..Request::new(config, seeds.0, seeds.1) }
}
