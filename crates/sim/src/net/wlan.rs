//! An 802.11 link: its medium and its stations, some of them with agents.
//!
//! MAC, medium and agents never call each other: each puts its answers into a list here, and the lists are processed
//! until nothing is left to do at this instant.

mod air;
mod answers;
mod arq;
mod build;
mod classes;
mod counters;
mod host;
mod linked;
mod queue;
mod receiving;
mod resting;
mod sending;
mod traced;

use std::collections::VecDeque;
use std::sync::Arc;

use lasthop_stack::hooks::Backlog;
use lasthop_stack::link::dot11::{
    BROADCAST, Bystander, Category, Frame, FrameKind, Load, PcfConfig, PhyRate, Reorder, Rules,
};
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::registry::{Learner, Station};
use lasthop_stack::units::{Span, Time};

use air::Air;
pub(crate) use air::{Handover, News};
use answers::{MacHost, Output, Work};
pub(crate) use arq::ArqCounters;
pub(super) use build::agreements;
use classes::{ack_span, is_uplink, lost_span};
pub(crate) use counters::WlanCounters;
pub(crate) use host::Host;
use linked::Guest;

use super::agents::{Around, Handed, Stack};
use super::aqm::{Managed, Stage};
use super::pool::PoolId;
use crate::engine::queue::Slot;
use crate::medium::radio::{Fate, Heard, Radio};
use crate::model::ports::Ports;
use crate::probe::airtime::Ledger;
use crate::probe::occupancy::Occupancy;
use crate::probe::radiotap::WifiCapture;
use crate::probe::spread::{Spread, Times};

/// The events that can be due at a station.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WlanEvent {
    /// Its frame has been sent.
    Sent(u32),
    /// Its MAC's timer.
    Timer(u32),
    /// A packet in its reorder buffer.
    Release(u32),
    /// The reordering buffers of its MAC.
    Reorder(u32),
}

/// An 802.11 link.
pub(crate) struct Wlan {
    radio: Radio,
    ports: Ports,
    /// The station at which the airtime is booked.
    observer: usize,
    /// The access point.
    ap: Option<usize>,
    ledger: Ledger,
    /// The airtime of stations on the way to the access point, and until when it is counted.
    uplink: (Span, Time),
    rules: Arc<Rules>,
    /// Whether any station has agents.
    has_agents: bool,
    /// Whether the queue of any station knows the receivers of packets.
    any_knows_lanes: bool,
    /// Stations that have something to send.
    contending: u32,
    /// The queue of the observing station, whether it is full, as 0 or 1, and how long packets waited there.
    queue: Occupancy,
    full: Occupancy,
    waits: Times,
    sites: Vec<Interface>,
    heard: Vec<Heard>,
    /// The state of the medium at stations at rest, if any may rest.
    bystander: Option<Bystander>,
    work: Vec<Work>,
    /// The packets that agents pass to the link, in order.
    handed_down: VecDeque<Handed>,
    /// The place of the link in the scenario.
    place: u32,
    /// The access point that polls, and how.
    pcf: Option<(NodeId, PcfConfig)>,
    /// The most packets that a frame carries; of multi-link devices, a frame on each link.
    packets_per_frame: usize,
    /// The link that has the management of the queues of its stations, if that is another one.
    guest: Option<Box<Guest>>,
    /// The access category of each flow, if they differ.
    categories: Vec<Category>,
    /// The multi-link device of each station, on a link of such devices, and the devices with news for their other
    /// links.
    devices: Option<Box<[u32]>>,
    changed: Vec<u32>,
    pub(crate) capture: Option<WifiCapture>,
    /// The stations whose frames come from outside, if there are any.
    air: Option<Box<Air>>,
}

/// A station: its MAC, its agent, their timers. What every frame touches comes first.
#[repr(C, align(64))]
struct Interface {
    /// It leaves the frames of others to the bystander.
    rests: bool,
    node: NodeId,
    mac: Station,
    output: Output,
    /// Packets that the MAC holds, and since when it holds none.
    held: u32,
    emptied: Time,
    management: Management,
    /// The queue knows the receivers of packets, and limits the packets in the MAC.
    knows_lanes: bool,
    /// The agents above it, by their number.
    agents: Option<u32>,
    timing: Option<Learner>,
    /// Packets received out of order, and when the first is passed up.
    reorder: Option<(Reorder<Packet>, Slot)>,
    sent: Slot,
    /// Whether the observer senses its frames, if that is known and stays so.
    is_sensed: Option<bool>,
    counters: InterfaceCounters,
}

/// The losses of a station since the start, in addition to those that its MAC counts.
#[derive(Clone, Copy, Debug, Default)]
struct InterfaceCounters {
    drops_queue: u64,
    drops_retry: u64,
    lost_above: u64,
    /// From the arrival of a packet in its queue to the link's acknowledgement.
    service: Spread,
}

/// The management of a queue.
#[derive(Debug, Default)]
struct Management {
    /// The law that decides at arrivals, or the managed queue in front of the MAC, and the packets that the MAC has
    /// taken from it.
    aqm: Option<Box<Managed>>,
    stage: Option<Box<Stage>>,
    below: Backlog,
}

impl Wlan {
    /// The run begins: a coordinating access point begins to poll all others.
    pub(super) fn begin(&mut self, host: &mut Host) {
        let Some((ap, pcf)) = self.pcf else { return };
        let Some(station) = self.radio.station(ap) else { return };
        let polled = self.sites.iter().map(|site| site.node).filter(|node| *node != ap).collect();
        self.with_mac(station, host, ap, |mac, now, out| {
            if let Station::Dcf(mac) = mac {
                mac.coordinate(pcf, polled, now, out);
            }
        });
        self.settle(host);
    }

    /// Whether an event may reach more than the medium: through agents, or another link of a station.
    #[inline]
    pub(super) fn reaches_out(&self) -> bool {
        self.has_agents || self.devices.is_some()
    }

    /// What beacons announce: the contention-free periods, without which there are no beacons, and whether there are rates of
    /// DSSS.
    pub(crate) fn announced(&self) -> (PcfConfig, bool) {
        let has_dsss = self.rules.config.basic_rates.has(PhyRate::Dsss1);
        (self.pcf.map(|(_, pcf)| pcf).unwrap_or_default(), has_dsss)
    }

    /// A packet leaves the node of a station over this link.
    pub(super) fn send(&mut self, station: usize, packet: Packet, host: &mut Host) {
        if !self.with_agents(station, host, |agents, around| agents.down(&packet, around)) {
            self.enqueue(station, packet, false, host);
        }
        self.settle(host);
    }

    /// The same for a packet that was made at the node, and has its place in the pool.
    pub(super) fn send_held(&mut self, station: usize, id: PoolId, host: &mut Host) {
        if self.sites[station].agents.is_some() {
            let packet = host.pool.remove(id);
            self.send(station, packet, host);
            return;
        }
        let next = host.routes.next_hop(self.sites[station].node, host.pool.packet(id).dst).next;
        self.take_in(station, id, (next, false), host);
        self.settle(host);
    }

    /// An event is due.
    pub(super) fn on_event(&mut self, event: WlanEvent, host: &mut Host) {
        match event {
            WlanEvent::Sent(station) => self.on_sent(station as usize, host),
            WlanEvent::Timer(station) => {
                let station = station as usize;
                host.queue.cancel(self.sites[station].output.timer);
                self.with_mac(station, host, NodeId::default(), |mac, now, out| mac.on_timer(now, out));
            }
            WlanEvent::Release(station) => self.release(station as usize, host),
            WlanEvent::Reorder(station) => self.on_reorder(station as usize, host),
        }
        self.settle(host);
    }

    fn on_sent(&mut self, station: usize, host: &mut Host) {
        let Interface { output, sent, .. } = &mut self.sites[station];
        host.queue.cancel(*sent);
        let frame = output.on_air.0;
        let has_load = frame.mpdus > 0
            || frame.together
            || matches!(frame.kind, FrameKind::BlockAck | FrameKind::Trigger)
            || (frame.kind == FrameKind::Ack && !output.load.riders.is_empty());
        if has_load {
            let mut load = std::mem::take(&mut output.load);
            self.end((station, &frame), &mut load, host);
            self.sites[station].output.load = load;
        } else {
            let mut nothing = Load::NOTHING;
            self.end((station, &frame), &mut nothing, host);
        }
        if self.radio.may_rest() {
            self.dismiss(&frame, host.now);
        }
    }

    /// A frame has ended, with its contents: the stations that hear it are notified.
    fn end(&mut self, (station, frame): (usize, &Frame), load: &mut Load, host: &mut Host) {
        let Some(fate) = self.radio.end_load(station, frame, &mut load.mpdus, host.now, &mut self.heard)
        else {
            return;
        };
        if !load.shares.is_empty() {
            self.note_unreached(load);
        }
        let mpdus = &mut load.mpdus[..];
        let lost = lost_span(frame, mpdus, &self.sites[station].output.on_air.1);
        self.ledger.end(station, fate, lost, host.now);
        if host.tracer.events.is_some() {
            self.trace_end((frame, load), fate, host);
        }
        if fate == Fate::LostForGood || !load.mpdus.is_empty() {
            self.note_lost_for_good(station, (frame, &load.mpdus), host);
        }
        let (from, load) = (frame.transmitter, &*load);
        self.note_airtime(station, frame, &load.shares);
        self.with_mac(station, host, from, |mac, now, out| mac.on_sent(now, out));
        let mut next = 0;
        while let Some(&learnt) = self.heard.get(next) {
            next += 1;
            match learnt {
                Heard::Received(at) | Heard::Error(at) => {
                    let turns_idle = self.heard.get(next) == Some(&Heard::Idle(at));
                    next += usize::from(turns_idle);
                    let is_received = learnt == Heard::Received(at);
                    self.rouse(at);
                    if is_received && self.sites[at].mac.stands_by(frame, turns_idle, host.now) {
                        continue;
                    }
                    self.with_mac(at, host, from, move |mac, now, out| {
                        if is_received {
                            mac.on_frame(frame, load, now, out);
                        } else {
                            mac.on_error(now, out);
                        }
                        if turns_idle {
                            mac.on_idle(now, out);
                        }
                    });
                }
                Heard::Idle(at) => self.with_mac(at, host, from, |mac, now, out| mac.on_idle(now, out)),
                Heard::Missed(at) => self.sites[at].mac.on_missed(host.now),
                Heard::Busy(_) => {}
            }
        }
        self.heard.clear();
        if self.air.is_some() && frame.receiver == BROADCAST {
            self.release_last(frame);
        }
    }

    fn with_mac(
        &mut self,
        station: usize,
        host: &mut Host,
        from: NodeId,
        act: impl FnOnce(&mut Station, Time, &mut MacHost),
    ) {
        self.rouse(station);
        self.take_agreements(station, host);
        let interface = &mut self.sites[station];
        let now = host.now;
        debug_assert!(
            interface.held as usize == interface.mac.backlog()
                || interface.management.stage.is_some()
                || self.devices.is_some()
        );
        let mut out = MacHost {
            host,
            radio: &mut self.radio,
            output: &mut interface.output,
            work: &mut self.work,
            link: self.place,
            from,
            has_finished: false,
        };
        act(&mut interface.mac, now, &mut out);
        if out.has_finished | self.return_agreements(station, host) {
            self.count_held(station, now);
        }
    }

    /// A station has accepted a packet or finished one.
    fn count_held(&mut self, station: usize, now: Time) {
        let interface = &mut self.sites[station];
        let waiting = interface.management.stage.as_mut().map_or(0, |stage| stage.waiting().packets);
        let holds = interface.mac.backlog() as u32 + waiting;
        let held = std::mem::replace(&mut interface.held, holds);
        if station == self.observer {
            // A category may turn full while others lose as many packets as it gets.
            let is_full = holds > self.rules.config.queue && interface.mac.is_full();
            self.full.hold(u32::from(is_full), now);
        }
        if holds == held {
            return;
        }
        if interface.management.stage.is_some()
            && let Some(devices) = &self.devices
        {
            self.changed.push(devices[station]);
        }
        if holds == 0 {
            interface.emptied = now;
        }
        if station == self.observer {
            self.queue.hold(holds, now);
        }
        if (holds > 0) != (held > 0) {
            self.contending = self.contending + u32::from(holds > 0) - u32::from(held > 0);
            self.ledger.contenders(self.contending, now);
        }
    }

    /// Lets the agents of a station act. False when there are none.
    fn with_agents(
        &mut self,
        station: usize,
        host: &mut Host,
        act: impl FnOnce(&mut Stack, &mut Around),
    ) -> bool {
        let Some(stack) = self.sites[station].agents else { return false };
        let (handed_down, work) = (&mut self.handed_down, &mut self.work);
        let mut around = Around {
            queue: host.queue,
            inbox: host.inbox,
            accounts: host.accounts,
            tracer: host.tracer,
            ports: self.ports,
            now: host.now,
            to_link: &mut |handed| {
                handed_down.push_back(handed);
                work.push(Work::Down(station as u32));
            },
        };
        act(host.agents.stack(stack), &mut around);
        true
    }

    /// The timer of an agent of a station has fired.
    pub(super) fn on_agent_timer(&mut self, station: usize, seat: usize, host: &mut Host) {
        self.with_agents(station, host, |agents, around| agents.on_timer(seat, around));
        self.settle(host);
    }

    /// Executes what the boxes have requested, in order, until nothing is left. Mostly that is nothing, or a frame to send.
    #[inline]
    fn settle(&mut self, host: &mut Host) {
        if let [Work::Transmit(station)] = self.work[..] {
            self.work.clear();
            self.transmit(station as usize, host);
        }
        if !self.work.is_empty() {
            self.settle_all(host);
        }
    }

    #[inline(never)]
    fn settle_all(&mut self, host: &mut Host) {
        let mut next = 0;
        while let Some(&work) = self.work.get(next) {
            next += 1;
            match work {
                Work::Transmit(station) => self.transmit(station as usize, host),
                Work::Down(station) => {
                    let station = station as usize;
                    match self.handed_down.pop_front() {
                        Some(Handed::Last(packet)) => self.enqueue(station, packet, false, host),
                        Some(Handed::Ahead(packet)) => self.enqueue(station, packet, true, host),
                        Some(Handed::Ride(towards, rider)) => {
                            let next = host.routes.next_hop(self.sites[station].node, towards).next;
                            self.sites[station].mac.ride(next, rider);
                        }
                        Some(Handed::RideBehind(towards, rider)) => {
                            let next = host.routes.next_hop(self.sites[station].node, towards).next;
                            self.sites[station].mac.ride_behind(next, rider);
                        }
                        Some(Handed::Unload(towards)) => {
                            let next = host.routes.next_hop(self.sites[station].node, towards).next;
                            self.sites[station].mac.unload(next);
                        }
                        None => {}
                    }
                }
                Work::Rider(station, rider) => {
                    self.with_agents(station as usize, host, |agents, around| agents.on_rider(rider, around));
                }
                Work::Answered(station, answer) => {
                    self.with_agents(station as usize, host, |agents, around| {
                        agents.on_answer(answer, around);
                    });
                }
                Work::Up(station, id, sequence, from) => {
                    self.up(station as usize, id, (sequence, from), host);
                }
                Work::Late(station, id) => self.late(station as usize, id, host),
                Work::Done(station, id, outcome) => {
                    self.done(station as usize, id, outcome, host);
                    self.refill(station as usize, host);
                }
            }
        }
        self.work.clear();
    }

    #[inline(never)]
    fn transmit(&mut self, station: usize, host: &mut Host) {
        self.note_wait(station, host);
        if self.radio.may_rest() {
            self.rouse_for(self.sites[station].output.on_air.0.receiver);
        }
        let Output { on_air: (frame, airtime), load, .. } = &self.sites[station].output;
        let (airtime, from) = (*airtime, frame.transmitter);
        self.radio.load(station, frame, load);
        self.radio.start(station, frame, airtime, host.now, &mut self.heard);
        self.pass_by(host.now);
        if host.tracer.events.is_some() || self.capture.is_some() {
            self.record(station, host);
        }
        let sensed = self.is_sensed(station);
        let Interface { output: Output { on_air: (frame, _), load, .. }, sent, .. } = &self.sites[station];
        let acks = ack_span(load, frame, &airtime);
        self.ledger.start(station, sensed, frame, (airtime, acks), host.now);
        if self.rules.config.edca.is_some()
            && let Some(ap) = self.ap
            && is_uplink(station == ap, frame, load)
        {
            let ends = host.now.after(airtime.total);
            let (sum, until) = &mut self.uplink;
            *sum += ends.since(host.now.max(*until));
            *until = ends.max(*until);
        }
        let begun = self.devices.is_some().then_some(*frame);
        host.queue.set(*sent, host.now.after(airtime.total));
        let mut next = 0;
        while let Some(&learnt) = self.heard.get(next) {
            next += 1;
            match learnt {
                Heard::Busy(at) => self.with_mac(at, host, from, |mac, now, out| {
                    mac.on_busy(now, out);
                    if let (Some(frame), Station::Edca(mac)) = (&begun, mac) {
                        mac.on_begun(frame);
                    }
                }),
                Heard::Missed(at) => self.sites[at].mac.on_missed(host.now.after(airtime.total)),
                Heard::Idle(_) | Heard::Received(_) | Heard::Error(_) => {}
            }
        }
        self.heard.clear();
    }
}
