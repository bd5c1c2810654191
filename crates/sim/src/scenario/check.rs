//! Checks of combinations of values at a point.

mod acks;
mod agents;
mod ecn;
mod edca;
mod events;
mod frames;
mod frn;
mod groups;
mod multi_link;
mod ofdma;
mod phase;
mod power;
mod queues;
mod quic;
mod shallow;
mod wifi;
mod wires;

use super::build;
use super::document::Document;
use super::error::{Fault, Faults, Place};
use super::exceptions::{Exception, exceptions};
use super::members::{Astray, Members};
use super::plan::Plan;
use super::sheet::{self, Sheet};
use crate::model::{Config, FlowConfig, TransportConfig};
use crate::net::routes::{NoRoutes, Routes};
use crate::traffic::{AppConfig, AppKind};
use ecn::Marking;
use lasthop_stack::packet::{AckOption, Form};
use lasthop_stack::units::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of an IPv4 packet other than the payload of a segment: IPv4, TCP, and timestamps if used.
const TCP_HEADERS: u32 = 40;
const TIMESTAMPS: u32 = 12;
const LARGEST_PACKET: u32 = 65_535;
/// Bins of goodput over time that a run may keep of each flow.
const MOST_BINS: u64 = 100_000;
/// The largest window that the window scale can announce (RFC 7323, 2.3).
const LARGEST_WINDOW: u64 = 1 << 30;

/// Checks one point and collects its faults and remarks.
pub(super) struct Check<'a> {
    document: &'a Document,
    plan: &'a Plan,
    point: usize,
    pub(super) faults: Faults,
    pub(super) remarks: Faults,
    /// The exceptions that the points grant.
    pub(super) exceptions: Vec<Exception>,
    /// Queues that mark, and whether a flow uses ECN, at any point.
    marking: Marking,
    /// The lists for members of groups, each with its length and the largest number of members.
    lists: BTreeMap<(usize, Place), (usize, usize)>,
    /// Places, keys and texts of the remarks.
    remarked: BTreeSet<(Place, String, String)>,
}

impl<'a> Check<'a> {
    pub(super) fn new(document: &'a Document, plan: &'a Plan) -> Check<'a> {
        let (faults, remarks) = (Faults::new(), Faults::new());
        Check {
            document,
            plan,
            point: 0,
            faults,
            remarks,
            exceptions: Vec::new(),
            marking: Marking::default(),
            lists: BTreeMap::new(),
            remarked: BTreeSet::new(),
        }
    }

    /// Checks what no sweep changes.
    pub(super) fn structure(&mut self) {
        for (section, example) in [("nodes", "a = {}"), ("links", "[links.a-b]"), ("flows", "[flows.main]")] {
            let none = match section {
                "nodes" => self.plan.layout.nodes.is_empty(),
                "links" => self.plan.layout.links.is_empty(),
                _ => self.plan.layout.flows.is_empty(),
            };
            if none {
                let place = self.document.table_place(&[section]);
                self.faults.push(Fault::new(
                    place,
                    section,
                    format!("missing; expected at least one such as {example}"),
                ));
            }
        }
        for (flow, name) in self.plan.layout.flows.iter().enumerate() {
            let given: Vec<&str> = ["tcp", "udp", "quic"]
                .into_iter()
                .zip(self.plan.transports[flow])
                .filter_map(|(table, is_given)| is_given.then_some(table))
                .collect();
            if let [one, other, ..] = given[..] {
                let place = self.document.table_place(&["flows", name, other]);
                let text = format!("both {one} and {other}; expected one of them");
                self.faults.push(Fault::new(place, format!("flows.{name}"), text));
            }
        }
    }

    /// Checks one point. Its members are known if nothing is missing.
    pub(super) fn point(
        &mut self,
        point: usize,
        sheet: &Sheet<'_>,
        members: Option<Result<Members, Vec<Astray>>>,
    ) {
        self.point = point;
        for slot in &sheet.missing {
            let expected = self.plan.layout.def(*slot).expected(None);
            self.fault(&self.plan.layout.key(*slot), format!("missing; expected {expected}"));
        }
        let members = match members {
            Some(Ok(members)) => members,
            Some(Err(found)) => {
                for (key, text) in found {
                    self.fault(&key, text);
                }
                return;
            }
            None => return,
        };
        let config = build::config(sheet, &members);
        for exception in exceptions(&config) {
            self.remark(&exception.key, exception.meaning.to_string());
            if !self.exceptions.contains(&exception) {
                self.exceptions.push(exception);
            }
        }
        self.run(&config);
        self.links(&config, sheet);
        self.own_rates(&config, sheet);
        self.own_ofdma(&config, sheet);
        self.own_powers(&config);
        self.multi_link(&config);
        self.single_radios(&config);
        self.movers(&config, sheet);
        self.events(&config, sheet);
        self.groups(&config, &members, sheet);
        self.ecn(&config, sheet);
        self.acks(&config, sheet);
        self.seconds(&config, sheet);
        let routes = Routes::of(&config);
        if let Err(NoRoutes::Memory(needed)) = routes {
            let text = format!(
                "the routes of its flows need more than {} MB; expected more memory, or fewer flows",
                needed / 1_000_000
            );
            self.fault("run.max-memory", text);
            return;
        }
        let routes = routes.ok();
        self.agents(&config, routes.as_ref(), sheet);
        if let Some(routes) = &routes {
            self.frames(&config, routes);
            self.queues(&config, routes);
            self.phase(&config, routes);
            self.shallow(&config, routes);
        }
        let unjoined = if routes.is_some() { BTreeSet::new() } else { Routes::unjoined(&config) };
        for flow in &config.flows {
            self.route(&config, flow, &unjoined);
        }
        for flow in groups::different(&config, sheet) {
            self.stop(&format!("flows.{}.app", flow.table()), &flow.app);
            self.start(&config, flow);
            self.user(flow);
            self.reverse(&config, flow);
            match &flow.transport {
                TransportConfig::Tcp(_) => self.tcp(flow),
                TransportConfig::Udp { .. } => self.udp(flow),
                TransportConfig::Quic(quic) => self.quic(flow, quic),
            }
        }
    }

    fn run(&mut self, config: &Config) {
        let run = &config.run;
        if run.warmup >= run.duration {
            let text =
                format!("{} of {}; expected less than run.duration", secs(run.warmup), secs(run.duration));
            self.fault("run.warmup", text);
        }
        if let Some(bin) = run.bin {
            let bins = run.duration.0.div_ceil(bin.0);
            if bins > MOST_BINS {
                let text = format!("{} gives {bins} bins; expected at most {MOST_BINS}", secs(bin));
                self.fault("run.bin", text);
            }
        }
    }

    fn route(&mut self, config: &Config, flow: &FlowConfig, unjoined: &BTreeSet<(usize, usize)>) {
        let name = flow.table();
        for (key, (from, to)) in ["to", "quic.second"].into_iter().zip(flow.pairs()) {
            let key = format!("flows.{name}.{key}");
            let [first, last] = [from, to].map(|node| config.nodes[node].name.as_str());
            if from == to {
                self.fault(&key, format!("\"{last}\" is also the sender; expected another node"));
            } else if unjoined.contains(&(from, to)) {
                let reach = if config.wifi().next().is_some() { ", with stations in range" } else { "" };
                let text = format!(
                    "no path from \"{first}\" to \"{last}\"; expected links that connect them{reach}"
                );
                self.fault(&key, text);
            }
        }
    }

    /// The stop time of the source whose keys are below `prefix`.
    fn stop(&mut self, prefix: &str, app: &AppConfig) {
        if let Some(stop) = app.stop.filter(|stop| *stop <= app.start) {
            let name = prefix.splitn(3, '.').last().unwrap_or_default();
            let text =
                format!("{} is not after {name}.start, {}; expected a later time", at(stop), at(app.start));
            self.fault(&format!("{prefix}.stop"), text);
        }
    }

    fn start(&mut self, config: &Config, flow: &FlowConfig) {
        if flow.app.start.0 >= config.run.duration.0 {
            let text = format!(
                "the flow starts at {}, after the end of the run; expected an earlier time",
                at(flow.app.start)
            );
            self.remark(&format!("flows.{}.app.start", flow.table()), text);
        }
        let latest = flow.app.start.after(flow.app.spread);
        if let Some(stop) = flow.app.stop.filter(|stop| *stop > flow.app.start && *stop <= latest) {
            let text = format!(
                "the flow may start as late as {}, within app.spread of app.start; if it starts after {}, its stop time, it sends nothing",
                at(latest),
                at(stop)
            );
            self.remark(&format!("flows.{}.app.spread", flow.table()), text);
        }
    }

    /// What a user reads at once, and the shares of its classes.
    fn user(&mut self, flow: &FlowConfig) {
        let AppKind::User(user) = &flow.app.kind else {
            return;
        };
        let key = |below: &str| format!("flows.{}.{below}", flow.table());
        let sum: f64 = user.shares.iter().sum();
        if (sum - 1.0).abs() > 1e-9 {
            let text = format!("the shares add up to {:.6} %; expected 100 %", sum * 100.0);
            self.fault(&key("app.mix"), text);
        }
        for (below, set) in
            [("read-rate", flow.sink.read_rate.is_some()), ("pause-at", flow.sink.pause_at.is_some())]
        {
            if set {
                let text = "a user reads without delay; expected a flow without this key".to_string();
                self.fault(&key(&format!("sink.{below}")), text);
            }
        }
    }

    /// The reverse data of the connection, which the sending node opens.
    fn reverse(&mut self, config: &Config, flow: &FlowConfig) {
        let Some(reverse) = &flow.reverse else {
            return;
        };
        let prefix = format!("flows.{}.app.reverse", flow.table());
        self.stop(&prefix, &reverse.app);
        let (start, opens) = (reverse.app.start, flow.app.start);
        if start < opens {
            let (start, opens) = (at(start), at(opens));
            let text = format!(
                "{start} is before app.start, {opens}, when the connection opens; expected no earlier time"
            );
            self.fault(&format!("{prefix}.start"), text);
        } else if start > opens && start.0 >= config.run.duration.0 {
            let text = format!(
                "the source starts at {}, after the end of the run; expected an earlier time",
                at(start)
            );
            self.remark(&format!("{prefix}.start"), text);
        }
    }

    fn udp(&mut self, flow: &FlowConfig) {
        let what = match flow.app.kind {
            AppKind::Bulk => "bulk",
            AppKind::User(_) => "sessions",
            AppKind::File { .. }
            | AppKind::Datagrams { .. }
            | AppKind::Cbr { .. }
            | AppKind::Poisson { .. }
            | AppKind::OnOff { .. }
            | AppKind::Ping { .. } => return,
        };
        let text =
            format!("{what} over udp; expected tcp, or a source of kind file, cbr, poisson, on-off or ping");
        self.fault(&format!("flows.{}.udp", flow.table()), text);
    }

    fn tcp(&mut self, flow: &FlowConfig) {
        let TransportConfig::Tcp(tcp) = &flow.transport else {
            return;
        };
        let key = |below: &str| format!("flows.{}.{below}", flow.table());
        if flow.is_probe() {
            self.fault(&key("tcp"), "ping over tcp; expected udp, or another source".to_string());
        }
        if tcp.min_rto > tcp.max_rto {
            let text =
                format!("{} is above tcp.max-rto, {}; expected less", secs(tcp.min_rto), secs(tcp.max_rto));
            self.fault(&key("tcp.min-rto"), text);
        }
        for law in std::iter::once(&tcp.parts.law).chain(&tcp.parts.judges) {
            if let Some((parameter, text)) = law.conflict() {
                self.fault(&key(&format!("tcp.{}.{parameter}", law.kind().entry().name)), text);
            }
        }
        let recovery = tcp.parts.recovery.entry().name;
        if !tcp.sack && matches!(recovery, "sack" | "fack") {
            let text =
                format!("false with recovery \"{recovery}\", which works on SACK blocks; expected true");
            self.fault(&key("tcp.sack"), text);
        }
        let extension = tcp.extension();
        if tcp.room_for_blocks(extension) == 0 && matches!(recovery, "sack" | "fack") {
            let text = format!(
                "a SACK block of recovery \"{recovery}\" does not fit into the header with timestamps and the law's option; expected false"
            );
            self.fault(&key("tcp.timestamps"), text);
        }
        if tcp.reads_timestamps() && !tcp.timestamps {
            let text = "false with a law that reads them (header \"timestamps\"); expected true".to_string();
            self.fault(&key("tcp.timestamps"), text);
        }
        if extension.is_none() && !tcp.parts.judges.is_empty() && flow.reverse.is_some() {
            // A header has room for the stamps of one segment, so that stamps of data replace those of
            // acknowledgements.
            let text = "judges see no timestamps of acknowledgements piggybacked on data, and app.reverse sends data back; expected \"none\", or a controlling law whose timestamps are sent separately";
            self.fault(&key("tcp.judges"), text.to_string());
        }
        let options = if tcp.timestamps { TIMESTAMPS } else { 0 }
            + extension.map_or(0, Form::bytes)
            + tcp.acks.asks().map_or(0, AckOption::bytes);
        let largest = LARGEST_PACKET - TCP_HEADERS - options - u32::from(tcp.extra_header);
        if tcp.packet > largest {
            let text = format!(
                "{} B and headers do not fit into an IP packet; expected at most {largest} B",
                tcp.packet
            );
            self.fault(&key("tcp.packet"), text);
        }
        let window = u64::from(tcp.window) * u64::from(tcp.packet);
        if window > LARGEST_WINDOW {
            let most = LARGEST_WINDOW / u64::from(tcp.packet);
            let text = format!(
                "{} segments exceed 1 GiB, the maximum window of TCP; expected at most {most} segments",
                tcp.window
            );
            self.fault(&key("tcp.window"), text);
        }
        let back = flow.reverse.as_ref().and_then(|reverse| reverse.buffer);
        for (below, buffer) in [("sink.buffer", tcp.receive_buffer), ("sink.reverse.buffer", back)] {
            if let Some(buffer) = buffer.filter(|buffer| *buffer < u64::from(tcp.packet)) {
                let packet = tcp.packet;
                let text = format!(
                    "{buffer} B cannot hold a full segment; expected at least tcp.packet, {packet} B"
                );
                self.fault(&key(below), text);
            }
        }
    }

    fn fault(&mut self, key: &str, text: String) {
        let fault = Fault::new(self.place(key), key, text);
        self.faults.push(fault);
    }

    fn remark(&mut self, key: &str, text: String) {
        let place = self.place(key);
        if self.remarked.insert((place, key.to_string(), text.clone())) {
            self.remarks.push(Fault::new(place, key, text));
        }
    }

    /// Where a key is set at this point.
    fn set_at(&self, key: &str) -> Option<Place> {
        self.plan.layout.slot(key).and_then(|slot| sheet::place(self.plan, slot, self.point))
    }

    /// Where a key is set at this point; else the table it belongs to.
    fn place(&self, key: &str) -> Place {
        self.set_at(key).unwrap_or_else(|| self.document.table_place(&key.split('.').collect::<Vec<_>>()))
    }
}

fn secs(span: Span) -> String {
    format!("{} s", span.as_secs())
}

fn at(time: Time) -> String {
    format!("{} s", time.as_secs())
}
