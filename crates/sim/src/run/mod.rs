//! The run: a network built from a scenario, and its event loop.

mod endpoint;
mod error;
mod estimate;
mod link_events;
mod open;
mod request;
mod stepped;
#[cfg(test)]
mod tests;

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::Ordering;

use lasthop_stack::hooks::Timer;
use lasthop_stack::packet::{Form, NodeId, Packet};
use lasthop_stack::units::{Bytes, Span, Time};

use crate::engine::ahead;
use crate::engine::queue::Slot;
use crate::host::{self, Clock};
use crate::metrics::{Measurement, Snapshot};
use crate::model::ports::Ports;
use crate::model::{Config, FlowConfig, LinkKind, TransportConfig};
use crate::net::routes::{NoRoutes, Routes};
use crate::net::slotted::Frn;
use crate::net::wlan::Wlan;
use crate::net::{Channel, Net, NetEvent};
use crate::probe::bins::Bins;
use crate::probe::pcap::{Capture, CodePoints};
use crate::probe::radiotap::WifiCapture;
use crate::probe::trace::Tracer;
use crate::probe::transfers;
use crate::traffic::AppKind;
use endpoint::Flow;
pub use endpoint::logs;
pub use error::RunError;
pub use estimate::{Estimate, estimate};
use link_events::{LinkAct, LinkEvents};
pub(crate) use open::Open;
pub use open::Recorded;
use request::smallest;
pub use request::{Outcome, Request, Stopped};
pub(crate) use stepped::Stepped;

/// How many events pass between looks at the cancel flag and the clock.
const EVENTS_BETWEEN_LOOKS: u64 = 4096;

/// The payload of a panic that ends a run within an event, as its wall-clock limit or its flag would between two.
#[derive(Clone, Copy, Debug)]
pub struct Halt;

/// The action of a slot of the queue that is not the network's; these follow the network's. A number is twice that of
/// the flow, plus one for the receiving end or what goes back from it.
#[derive(Clone, Copy, Debug)]
enum Act {
    Timer(u32, Timer),
    Source(u32),
    Reader(u32),
    StopSource(u32),
    BeginMeasurement,
    EndBin,
    Link(LinkAct),
}

struct World {
    net: Net,
    flows: Vec<Flow>,
    acts: Vec<Act>,
    first_act: u32,
    begin: Time,
    /// The first time at which nothing happens any more, if the run can stop only there and nothing reads its links
    /// before.
    unwatched_until: Option<Time>,
    at_begin: Option<Snapshot>,
    bins: Option<Bins>,
    link_events: LinkEvents,
    /// Events that the loop has taken from the queue.
    events: u64,
}

/// Runs a scenario at one point.
///
/// # Errors
/// When the run is cancelled, cannot start, or cannot write a capture.
pub fn run(request: &Request) -> Result<Outcome, RunError> {
    let started = Clock::start();
    let config = request.config;
    fits(config)?;
    if !request.pcap.is_empty() {
        config.flows.iter().try_for_each(can_be_captured)?;
    }
    let mut world = World::new(request)?;
    let end = Time(config.run.duration.0);
    let max_events = smallest(request.max_events, config.run.max_events);
    let max_wall = request.max_wall();
    let (mut interrupted, mut stopped) = (false, None);
    let is_cancelled = || request.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed));
    let mut look = |now: Time, events| {
        host::reached(now);
        if let Some(reached) = request.reached {
            reached.store(now.0, Ordering::Relaxed);
        }
        let left = max_events.map_or(u64::MAX, |most| most - events);
        if left == 0 {
            stopped = Some(Stopped::MaxEvents);
            return None;
        }
        interrupted = is_cancelled();
        if max_wall.is_some_and(|limit| started.elapsed_s() > limit.as_secs()) {
            stopped = Some(Stopped::MaxWall);
        }
        (!interrupted && stopped.is_none()).then_some(left.min(EVENTS_BETWEEN_LOOKS))
    };
    let advanced = panic::catch_unwind(AssertUnwindSafe(|| world.advance(end, &mut look)));
    let has_ended = advanced.unwrap_or_else(|payload| {
        if !payload.is::<Halt>() {
            panic::resume_unwind(payload);
        }
        interrupted = is_cancelled();
        stopped = Some(Stopped::MaxWall);
        false
    });
    if interrupted {
        return Err(RunError::Interrupted);
    }
    if has_ended {
        world.net.now = end;
    }
    world.finish(request, started, stopped)
}

/// Whether a run needs no more memory than it may.
fn fits(config: &Config) -> Result<(), RunError> {
    let (needed, allowed) = (estimate(config).memory_bytes as u64, config.run.max_memory.0);
    if needed > allowed { Err(RunError::Memory { needed, allowed }) } else { Ok(()) }
}

/// Whether the headers of a flow's packets have a form in a capture.
fn can_be_captured(flow: &FlowConfig) -> Result<(), RunError> {
    let no = |what, instead| Err(RunError::NoSuchHeader { flow: flow.name.clone(), what, instead });
    if flow.extension() == Some(Form::Paper) {
        return no("the two bytes of the header extension", "its law's header = \"option\"");
    }
    let extra_header = match &flow.transport {
        TransportConfig::Tcp(tcp) => tcp.extra_header,
        TransportConfig::Udp { extra_header } => *extra_header,
        TransportConfig::Quic(_) => 0,
    };
    // It is shown as IP options, which come in words.
    if !extra_header.is_multiple_of(4) {
        return no("the extra header", "a multiple of 4 B");
    }
    Ok(())
}

/// The place of a link in the network.
enum CapturePoint {
    /// The number of its forward channel.
    Channel(usize),
    /// The number of its medium.
    Wlan(usize),
    /// The number of its slotted network.
    Frn(usize),
}

fn capture_point(config: &Config, link: usize) -> CapturePoint {
    let before = &config.links[..link];
    let count = |is: fn(&LinkKind) -> bool| before.iter().filter(|link| is(&link.kind)).count();
    match config.links[link].kind {
        LinkKind::PointToPoint(_) => CapturePoint::Channel(2 * count(|kind| kind.wire().is_some())),
        LinkKind::Wifi(_) => CapturePoint::Wlan(count(|kind| kind.wifi().is_some())),
        LinkKind::Frn(_) => CapturePoint::Frn(count(|kind| kind.slotted().is_some())),
    }
}

impl World {
    fn new(request: &Request) -> Result<World, RunError> {
        let config = request.config;
        let users = config.flows.iter().any(|flow| matches!(flow.app.kind, AppKind::User(_)));
        let bound = config.flows.iter().any(|flow| flow.is_outside);
        let ports = Ports::new(config.flows.len(), users || bound)
            .map_err(|most| RunError::TooManyFlows(config.flows.len(), most))?;
        let routes = Routes::of(config).map_err(|reason| match reason {
            NoRoutes::Unreachable(pair) => RunError::Unreachable(pair),
            NoRoutes::Memory(needed) => RunError::Memory { needed, allowed: config.run.max_memory.0 },
        })?;
        let tracer = Tracer::new(request.trace).map_err(RunError::UnknownTrace)?;
        let initial = if config.has_link_events() { routes.clone() } else { Routes::default() };
        let mut net = Net::new(config, routes, ports, (request.seed, request.replication), tracer);
        net.transfers = transfers::room(users);
        for (link, path) in request.pcap {
            let failed = |error| RunError::Capture(path.clone(), error);
            let file = host::create(path).map_err(failed)?;
            let points = CodePoints::new(config.flows.iter().map(|flow| flow.dscp), ports);
            match capture_point(config, *link) {
                CapturePoint::Channel(channel) => {
                    net.capture(channel, Capture::new(file, points).map_err(failed)?);
                }
                CapturePoint::Wlan(wlan) => {
                    let capture = WifiCapture::new(file, net.wlans[wlan].announced(), points);
                    net.wlans[wlan].capture = Some(capture.map_err(failed)?);
                }
                CapturePoint::Frn(frn) => {
                    net.frns[frn].capture = Some(Capture::new(file, points).map_err(failed)?);
                }
            }
        }
        // Set first, so that what happens at the end of the warm-up is measured.
        let begin = Time(config.run.warmup.0);
        let slot = net.queue.slot();
        net.queue.set(slot, begin);
        let mut acts = vec![Act::BeginMeasurement];
        let bins =
            config.run.bin.map(|width| Bins::new(width, config.run.duration, config.directions().len()));
        if let Some(end) = bins.as_ref().and_then(Bins::end) {
            acts.push(Act::EndBin);
            let slot = net.queue.slot();
            net.queue.set(slot, end);
        }
        let mut flows = Vec::with_capacity(config.flows.len());
        for (number, flow) in config.flows.iter().enumerate() {
            flows.push(Flow::new(number as u32, flow, request, &mut net, &mut acts));
        }
        #[cfg(feature = "quic")]
        endpoint::log(config, &mut flows, request.qlog)?;
        let link_events = LinkEvents::new(request, &initial, &mut net, &mut acts);
        net.begin();
        let limits = (request.max_events.or(config.run.max_events), request.max_wall.or(config.run.max_wall));
        let over = Time(config.run.duration.0).after(Span(1));
        // Where routes change nothing goes ahead of the clock.
        let is_unwatched = limits == (None, None) && !net.is_watched() && !config.has_handoffs() && !bound;
        let unwatched_until = (is_unwatched && !config.run.plain).then_some(over);
        if let Some(over) = unwatched_until {
            net.advance_horizon(begin.min(over));
        }
        Ok(World {
            net,
            flows,
            acts,
            first_act: slot.0,
            begin,
            unwatched_until,
            at_begin: None,
            bins,
            link_events,
            events: 0,
        })
    }

    /// The number of events processed, including events that followed others at once.
    fn processed(&self) -> u64 {
        self.events + self.net.crossings
    }

    /// Processes the events up to `end`. `look` is called now and then with the time and the number of events taken from
    /// the queue. It returns after how many more it wants to be called again, or `None` to stop the run; then this returns
    /// false.
    ///
    /// All kinds of runs share this loop, so that the code of the events is compiled once.
    fn advance(&mut self, end: Time, look: &mut dyn FnMut(Time, u64) -> Option<u64>) -> bool {
        let mut next_look = 0;
        while let Some((time, slot)) = self.net.queue.peek() {
            if time > end {
                break;
            }
            if self.processed() >= next_look {
                let Some(more) = look(time, self.events) else { return false };
                next_look = self.processed() + more;
            }
            self.events += 1;
            self.net.set_clock(time);
            self.step(slot);
        }
        true
    }

    #[expect(clippy::inline_always, reason = "one loop calls it, for each event")]
    #[inline(always)]
    fn step(&mut self, slot: Slot) {
        match self.net.event(slot) {
            Some(NetEvent::Channel(channel)) => {
                if let Some((node, id, size)) = self.net.arrive(channel) {
                    let packet = self.net.take(id);
                    if let Some([next, near, far]) = self.net.fetch_soon(channel) {
                        self.flows[next as usize / 2].fetch_oldest(next as usize % 2);
                        self.flows[near as usize / 2].fetch(near as usize % 2, &self.net);
                        ahead::fetch(&self.flows[far as usize / 2]);
                    }
                    self.deliver(node, &packet, size);
                }
            }
            Some(NetEvent::Pull(channel)) => self.net.on_pull(channel),
            Some(NetEvent::Agent(stack, seat)) => self.net.on_agent(stack, seat),
            Some(NetEvent::Wlan(wlan, event)) => self.net.on_wlan(wlan, event),
            Some(NetEvent::Frn(frn, event)) => self.net.on_frn(frn, event),
            None => self.act(slot),
        }
        while let Some((node, packet)) = self.net.inbox.pop_front() {
            self.deliver(node, &packet, packet.size());
        }
    }

    /// A packet has reached a node: it goes to its endpoint, or on.
    #[inline]
    fn deliver(&mut self, node: NodeId, packet: &Packet, length: Bytes) {
        if packet.dst == node {
            let end = self.net.ports.receiver(packet) as usize;
            self.net.accounts.delivered(end as u32 ^ 1, length);
            self.flows[end / 2].up(end % 2, packet, length, &mut self.net);
        } else {
            self.net.send(node, *packet, length);
        }
    }

    fn act(&mut self, slot: Slot) {
        self.net.queue.cancel(slot);
        let now = self.net.now;
        match self.acts[(slot.0 - self.first_act) as usize] {
            Act::Timer(end, timer) => {
                self.flows[end as usize / 2].on_timer(end as usize % 2, timer, &mut self.net);
            }
            Act::Source(way) => {
                self.flows[way as usize / 2].on_source(way as usize % 2, slot, &mut self.net);
            }
            Act::StopSource(way) => self.flows[way as usize / 2].on_stop(way as usize % 2, &mut self.net),
            Act::Reader(way) => {
                self.flows[way as usize / 2].on_reader(way as usize % 2, slot, &mut self.net);
            }
            Act::Link(act) => self.link_events.act(act, &mut self.flows, &mut self.net),
            Act::BeginMeasurement => {
                self.begin_measurement();
                if let Some(over) = self.unwatched_until {
                    self.net.advance_horizon(over);
                }
            }
            Act::EndBin => {
                if let Some(bins) = &mut self.bins {
                    bins.close(now, self.flows.iter().flat_map(Flow::delivered));
                    if let Some(end) = bins.end() {
                        self.net.queue.set(slot, end);
                    }
                }
            }
        }
    }

    /// The measurement begins: the counters of the measured time start at zero.
    fn begin_measurement(&mut self) {
        let now = self.net.now;
        for channel in &mut self.net.channels {
            channel.begin_measurement(now);
        }
        self.net.wlans.iter_mut().for_each(Wlan::begin_measurement);
        self.net.frns.iter_mut().for_each(Frn::begin_measurement);
        for flow in &mut self.flows {
            flow.begin_measurement(&mut self.net);
        }
        self.at_begin = Some(self.snapshot());
    }

    fn snapshot(&mut self) -> Snapshot {
        let now = self.net.now;
        Snapshot {
            flows: self.flows.iter_mut().flat_map(|flow| flow.samples(&self.net)).collect(),
            channels: self.net.channels.iter().map(|channel| channel.counters(now)).collect(),
            aqms: self.net.channels.iter().map(Channel::aqm_counters).collect(),
            staged: self.net.channels.iter().map(|channel| channel.staged(now)).collect(),
            wlans: self.net.wlans.iter().map(|wlan| wlan.counters(now)).collect(),
            frns: self.net.frns.iter().map(Frn::counters).collect(),
            agents: self.net.agents.samples(),
            outages: self.link_events.outages(now),
            handoffs: self.link_events.handoffs(&self.net),
        }
    }

    /// The metrics of the time from a snapshot to one of the present.
    fn between(
        &self,
        config: &Config,
        begin: Time,
        at_begin: Snapshot,
        at_end: Snapshot,
    ) -> Vec<(String, Option<f64>)> {
        let measured = Measurement {
            config,
            begin,
            end: self.net.now,
            at_begin,
            at_end,
            channels: &self.net.channels,
            transfers: &self.net.transfers,
            round_trips: &self.net.round_trips,
        };
        measured.metrics()
    }

    fn finish(
        mut self,
        request: &Request,
        started: Clock,
        stopped: Option<Stopped>,
    ) -> Result<Outcome, RunError> {
        let (end, events) = (self.net.now, self.processed());
        // A run stopped within its warm-up has measured nothing: its measurement begins and ends here.
        if self.at_begin.is_none() {
            self.begin_measurement();
        }
        let at_end = self.snapshot();
        let at_begin = self.at_begin.take().expect("the measurement has begun");
        let metrics = self.between(request.config, self.begin, at_begin, at_end);
        let streams: Vec<_> = self.flows.iter().flat_map(|flow| flow.streams(&self.net)).collect();
        let accounts = self.net.close_accounts(streams.into_iter());
        let mut captures = self.net.captures.into_iter();
        for (link, path) in request.pcap {
            let finished = match capture_point(request.config, *link) {
                CapturePoint::Channel(_) => captures.next().map(|capture| capture.finish(end)),
                CapturePoint::Wlan(wlan) => self.net.wlans[wlan].capture.take().map(WifiCapture::finish),
                CapturePoint::Frn(frn) => {
                    self.net.frns[frn].capture.take().map(|capture| capture.finish(end))
                }
            };
            finished.transpose().map_err(|error| RunError::Capture(path.clone(), error))?;
        }
        #[cfg(feature = "quic")]
        self.flows.iter_mut().try_for_each(Flow::finish_logs)?;
        let flows = endpoint::trace_names(request.config);
        let delivered = self.flows.iter().flat_map(Flow::delivered);
        let names = request.config.directions();
        let series = self.bins.map_or_else(Vec::new, |bins| bins.finish(end, delivered, &names));
        let links: Vec<String> = request.config.links.iter().map(|link| link.name.clone()).collect();
        let nodes: Vec<String> = request.config.nodes.iter().map(|node| node.name.clone()).collect();
        let law = |end, judge| endpoint::judging(request.config, end, judge);
        let traces = self.net.tracer.finish(end, &flows, &links, &nodes, law).map_err(RunError::Trace)?;
        Ok(Outcome {
            metrics,
            events,
            wall_s: started.elapsed_s(),
            stopped,
            simulated: end,
            traces,
            series,
            transfers: self.net.transfers,
            accounts: flows.into_iter().zip(accounts).collect(),
        })
    }
}
